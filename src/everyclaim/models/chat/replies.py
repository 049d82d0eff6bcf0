"""Ask a chat model about several things by id, read its replies, and ask once more for what they left out.

Every request of a judge, decomposer or metric to a chat model goes through `ask_for_each`. Replies are read strictly;
what is missing or unusable is asked for again, alone; a reply that was cut is not used and the request is halved. When
it cannot be had, the first reason is raised, and the replies leave the cache: they came in due form and were of no use,
and would be of none the next time.

What is cut or ambiguous is an error, never half kept. Accepted: the JSON value alone, in a code fence, or with prose
around it, also with a comma too many or keys without quotes; and rows (objects with an `id` or a `sentence`) one after
the other, in a list of their own or without. A reply is parsed, never evaluated.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Literal, Protocol, TypeVar
from zlib import crc32

from everyclaim.core.errors import JudgeError
from everyclaim.core.events import accounted
from everyclaim.core.lifetime import gather
from everyclaim.core.protocols import ChatModel, ChatReply, Message
from everyclaim.core.wire import json_object

MAX_DEPTH = 64

_THOUGHT = re.compile(r"\s*<think>.*?</think>", re.DOTALL)
_KEY = re.compile(r"""["'\w]\s*:""")  # of an object, however broken, as opposed to braces in prose
_STOPS = re.compile(r'["{}\[\]]')
_SLIP = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|,(?=\s*[}\]])|([{,]\s*)([A-Za-z_]\w*)(?=\s*:)', re.DOTALL)
_STRING_END = re.compile(r'[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL)


def read_reply(reply: ChatReply) -> dict[str, Any]:
    """Return the JSON object of a reply.

    Raises `JudgeError` with the code `truncated`, `refused`, `filtered`, `empty_reply` or `malformed`; it
    carries the reply's usage, which was paid.
    """
    try:
        check_finish(reply)
        return parse_object(reply.content)
    except JudgeError as error:
        error.usage = reply.usage
        raise


def check_finish(reply: ChatReply) -> None:
    """Raise `JudgeError` for a reply that did not end by itself: `truncated`, `refused` or `filtered`."""
    if reply.finish == "length":
        raise JudgeError(
            "truncated",
            "the reply was cut at the output limit; raise reply_tokens or lower claims_per_call in the spec",
        )
    if reply.finish == "refusal":
        raise JudgeError("refused", f"the model declined: {_shown(reply.content)}")
    if reply.finish == "filtered":
        raise JudgeError("filtered", "the provider's content filter stopped the reply")


def parse_object(text: str) -> dict[str, Any]:
    """Return the one JSON object in a text. Several that all name what they answer to become ``{"rows": [...]}``.

    Raises `JudgeError`: `empty_reply` for blank text; `truncated` when an object is opened and never closed;
    `malformed` when there is none, when there are several that differ, and for duplicate keys, NaN,
    infinite numbers and nesting beyond 64 levels.
    """
    if thought := _THOUGHT.match(text):
        text = text[thought.end() :]
    text = text.strip("\ufeff \t\r\n")
    if not text:
        raise JudgeError("empty_reply", "the model returned an empty reply")
    if (alone := _alone(text)) is not None:
        return alone
    found: list[dict[str, Any]] = []
    fault = "it contains no JSON object"
    is_broken = False
    position = text.find("{")
    while position >= 0:
        end = _closing(text, position)
        piece = text[position:end]
        try:
            found.append(_decode(piece))
        except ValueError as error:
            fault = str(error)
            try:
                found.append(_decode(_mended(piece)))
            except ValueError:
                is_broken = is_broken or bool(_KEY.search(piece))  # it may be the reply that was meant
        position = text.find("{", end)
    if found and is_broken:
        raise _malformed(fault, text)
    if len(found) > 1 and all({"id", "sentence"} & value.keys() for value in found):
        return {"rows": found}
    if found and all(value == found[0] for value in found):
        return found[0]
    raise _malformed("it contains several different JSON objects" if found else fault, text)


def _alone(text: str) -> dict[str, Any] | None:
    """Return the object that is the whole text, the usual case, without looking for where it ends; None if it is not.

    A text with more brackets than levels are allowed goes the long way, which knows how deep they nest.
    """
    if text[0] != "{" or text[-1] != "}" or text.count("{") + text.count("[") > MAX_DEPTH:
        return None
    try:
        return _decode(text)
    except (ValueError, RecursionError):
        return None


def _closing(text: str, start: int) -> int:
    """Return the offset just past the bracket that closes the one at `start`; brackets in strings do not count."""
    depth = 0
    position = start
    while stop := _STOPS.search(text, position):
        position = stop.end()
        if stop[0] == '"':
            string = _STRING_END.match(text, position)
            if not string:
                break
            position = string.end()
        elif stop[0] in "{[":
            depth += 1
            if depth > MAX_DEPTH:
                raise _malformed(f"it is nested deeper than {MAX_DEPTH} levels", text)
        else:
            depth -= 1
            if depth == 0:
                return position
    raise JudgeError("truncated", f"the JSON in the reply is incomplete: {_shown(text)}")


def _decode(text: str) -> dict[str, Any]:
    value = json.loads(text, object_pairs_hook=json_object, parse_constant=_finite, parse_float=_finite)
    assert isinstance(value, dict)  # it starts with a brace
    return value


def _mended(text: str) -> str:
    """Take out commas behind the last member, and put keys that stand bare into quotes: nothing is lost by either."""
    return _SLIP.sub(lambda slip: slip[0] if slip[0][0] == '"' else f'{slip[1]}"{slip[2]}"' if slip[2] else "", text)


def _finite(digits: str) -> float:
    value = float(digits)
    if math.isfinite(value):
        return value
    raise ValueError(f"the number {digits[:30]} is out of range")


def _malformed(why: str, text: str) -> JudgeError:
    return JudgeError("malformed", f"the reply is not the requested JSON, {why}: {_shown(text)}")


def _shown(text: str) -> str:
    return repr(text if len(text) <= 120 else f"{text[:80]} … {text[-30:]}")


AGAIN = "#2"  # at the end of the tag of what is asked a second time, as the first reply was of no use
# Codes of a reply that may be better the second time; what a provider declines it declines again.
# A call that failed is not asked again here: whoever makes the calls retried it already.
WORTH_ASKING_AGAIN = frozenset({"malformed", "empty_reply", "bad_reply"})
# Codes that say: less at once would do.
TOO_MUCH = frozenset({"truncated", "too_long"})
AT_ONCE = 20  # things in one request, where nothing else is said

Key = TypeVar("Key", bound=Hashable)
Item = TypeVar("Item")
Answer = TypeVar("Answer")
Answer_co = TypeVar("Answer_co", covariant=True)


class ReplyForm(Protocol[Answer_co]):
    """A prompt as far as a reply is concerned."""

    @property
    def version(self) -> str:
        """Name the wording; the tag of its calls begins with it."""

    @property
    def schema(self) -> Mapping[str, Any] | None:
        """The form of a reply; None for plain words, which `parse` is given as ``{"words": …}``."""

    def parse(self, reply: Mapping[str, Any], asked: Sequence[str]) -> Mapping[str, Answer_co]:
        """Read a reply, by id; what says nothing usable is left out. Raises `JudgeError` (`bad_reply`)."""


@dataclass(frozen=True, slots=True)
class Inquiry(Generic[Item, Answer]):
    """What is asked about each of several things.

    `write` makes a request about some of them, by id; its second argument says whether others follow with the same
    beginning. With `ids` such as "c" every request has ids of its own, `c482`, `c483`, …, counted from a number of its
    texts, each of two tokens; so no text can speak for another thing, and no reply for another request's. Else
    the ids are those of the things. `needs`: whether an answer about `all` must be had, about `some` in a request, or
    `none`. `is_enough` says whether a first answer will do; the second has to. `code` is that of the error
    when an answer is missing. `add` puts to the answers what a reply says beside its words.
    """

    chat: ChatModel
    form: ReplyForm[Answer]
    write: Callable[[Mapping[str, Item], bool], Sequence[Message]]
    ids: str = ""
    needs: Literal["all", "some", "none"] = "all"
    is_enough: Callable[[Answer], bool] | None = None
    code: str = "missing_answer"
    add: Callable[[dict[str, Answer], ChatReply], dict[str, Answer]] | None = None
    tag: str = ""  # behind the version, to keep calls apart that send the same


async def ask_for_each(
    inquiry: Inquiry[Item, Answer], parts: Iterable[Mapping[Key, Item]], *, shared: bool | None = None
) -> dict[Key, Answer]:
    """Return what the model says of every thing, by key. Each of the `parts` is a request; see `portions`.

    `shared`: requests have a beginning in common, as several parts do unless something else is said. Raises
    `JudgeError` when the model cannot be reached or declines, or when what is needed is missing twice.
    """
    requests = list(parts)
    common = len(requests) > 1 if shared is None else shared
    answers = await gather(_ask(inquiry, part, shared=common) for part in requests)
    return {key: answer for found in answers for key, answer in found.items()}


async def ask_once(inquiry: Inquiry[Item, Answer], items: Mapping[Key, Item]) -> dict[Key, Answer]:
    """Return what one request brings. Raises `JudgeError` when that is nothing that can be read."""
    reply, keys = await _called(inquiry, items, "", shared=False)
    return _answers(inquiry, reply, keys)


def portions(items: Mapping[Key, Item], at_most: int = AT_ONCE) -> Iterator[dict[Key, Item]]:
    """Cut things into requests of so many at most."""
    keys = list(items)
    for start in range(0, len(keys), at_most):
        yield {key: items[key] for key in keys[start : start + at_most]}


async def _ask(inquiry: Inquiry[Item, Answer], items: Mapping[Key, Item], *, shared: bool) -> dict[Key, Answer]:
    """Ask for these things, once more for those left out, in halves where a reply is too long."""
    answers: dict[Key, Answer] = {}
    reason: JudgeError | None = None
    forget: list[Callable[[], object]] = []  # drop a reply, so that it is asked again some day
    for again in ("", AGAIN):
        missing = {key: item for key, item in items.items() if key not in answers}
        is_answered = False
        try:
            reply, keys = await _called(inquiry, missing, again, shared=shared)
            is_answered = True
            forget += [reply.forget] if reply.forget else []
            usable = _answers(inquiry, reply, keys)
        except JudgeError as error:
            if error.code in TOO_MUCH and len(missing) > 1:
                rows, middle = list(missing.items()), len(missing) // 2
                halves = [dict(rows[:middle]), dict(rows[middle:])]
                return answers | await ask_for_each(inquiry, halves, shared=True)
            if error.code not in WORTH_ASKING_AGAIN:
                raise
            reason = reason or error
            if not is_answered:
                break
        else:
            is_enough = None if again else inquiry.is_enough
            answers |= {key: answer for key, answer in usable.items() if is_enough is None or is_enough(answer)}
            if len(answers) == len(items):
                return answers
    if inquiry.needs == "none" or (inquiry.needs == "some" and answers):
        return answers
    for drop_one in forget:
        drop_one()
    if reason:
        raise reason
    absent = ", ".join(str(key) for key in items if key not in answers)
    raise JudgeError(inquiry.code, f"{inquiry.chat.spec} gave no usable result for {absent} after two requests")


async def _called(
    inquiry: Inquiry[Item, Answer], items: Mapping[Key, Item], again: str, *, shared: bool
) -> tuple[ChatReply, dict[str, Key]]:
    """Make one request; return its reply, and the things by the ids they have in it."""
    keys = {str(key): key for key in items}
    if inquiry.ids:
        draft = {f"{inquiry.ids}{place}": item for place, item in enumerate(items.values())}
        texts = (message.content for message in inquiry.write(draft, shared))
        first = 100 + crc32("\0".join(texts).encode("utf-8", "replace")) % 800
        keys = {f"{inquiry.ids}{number}": key for number, key in enumerate(items, start=first)}
    messages = inquiry.write({name: items[key] for name, key in keys.items()}, shared)
    schema, tag = inquiry.form.schema, inquiry.form.version + inquiry.tag + again
    chat = accounted(inquiry.chat)  # what it took is added to the open tallies
    return await chat.complete(messages, schema=schema, tag=tag), keys


def _answers(inquiry: Inquiry[Item, Answer], reply: ChatReply, keys: Mapping[str, Key]) -> dict[Key, Answer]:
    """Read the answers of a reply that can be used."""
    if inquiry.form.schema is not None:
        content: Mapping[str, Any] = read_reply(reply)
    else:
        if reply.finish != "length":  # words that were cut are still a beginning
            check_finish(reply)
        content = {"words": reply.content}
    answers = dict(inquiry.form.parse(content, list(keys)))
    if inquiry.add:
        answers = inquiry.add(answers, reply)
    return {keys[name]: answer for name, answer in answers.items()}
