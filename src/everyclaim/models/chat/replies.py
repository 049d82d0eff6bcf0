"""Read the one JSON value out of a model's reply. Strictly: what is cut or ambiguous is an error, never half kept.

Accepted: the value alone, in a code fence, or with prose around it, also with a comma too many or keys without quotes;
and rows (objects with an `id` or a `sentence`) one after the other, in a list of their own or without. A reply is
parsed, never evaluated. Beside its words there may be the chances of its tokens, in OpenAI's format, which vLLM
shares: see `read_forks`.
"""

from __future__ import annotations

import json
import math
import re
from codecs import getincrementaldecoder
from typing import Any

from everyclaim.core.errors import JudgeError
from everyclaim.core.protocols import ChatReply, Fork

MAX_CHARS = 10_000_000
MAX_DEPTH = 64
_SURE = 0.9995  # a token with such a chance is no fork

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
    infinite numbers, nesting beyond 64 levels and texts beyond ten million characters.
    """
    if len(text) > MAX_CHARS:
        raise _malformed(f"the reply has {len(text)} characters, more than {MAX_CHARS}", text)
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
    value = json.loads(
        text, object_pairs_hook=_unique, parse_constant=_no_constant, parse_float=_finite, parse_int=_bounded
    )
    assert isinstance(value, dict)  # it starts with a brace
    return value


def _mended(text: str) -> str:
    """Take out commas behind the last member, and put keys that stand bare into quotes: nothing is lost by either."""
    return _SLIP.sub(lambda slip: slip[0] if slip[0][0] == '"' else f'{slip[1]}"{slip[2]}"' if slip[2] else "", text)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    row = dict(pairs)
    if len(row) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the key {twice[:50]!r} appears twice in one object")
    return row


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _finite(digits: str) -> float:
    value = float(digits)
    if math.isfinite(value):
        return value
    raise ValueError(f"the number {digits[:30]} is out of range")


def _bounded(digits: str) -> int:
    if len(digits) > 40:
        raise ValueError("a number has more than 40 digits")
    return int(digits)


def _malformed(why: str, text: str) -> JudgeError:
    return JudgeError("malformed", f"the reply is not the requested JSON, {why}: {_shown(text)}")


def _shown(text: str) -> str:
    return repr(text if len(text) <= 120 else f"{text[:80]} … {text[-30:]}")


def read_forks(content: str, told: Any) -> tuple[Fork, ...] | None:
    """Return the forks of a reply; None where what is told is not about this text, byte for byte."""
    if not isinstance(told, list) or not all(isinstance(token, dict) for token in told):
        return None
    parts = [_bytes(token) for token in told]
    if b"".join(parts) != content.encode("utf-8", "surrogatepass"):
        return None
    forks: list[Fork] = []
    reader = getincrementaldecoder("utf-8")("surrogatepass")  # a token may be a part of a character
    start = 0
    for token, part in zip(told, parts, strict=True):
        words = reader.decode(part)
        others = token.get("top_logprobs")
        if words.encode("utf-8", "surrogatepass") == part and isinstance(others, list) and 0 < _chance(token) < _SURE:
            chances = {_bytes(one).decode("utf-8", "ignore"): _chance(one) for one in others if isinstance(one, dict)}
            forks.append(Fork(start, start + len(words), tuple(({words: _chance(token)} | chances).items())))
        start += len(words)
    return tuple(forks)


def forks_from_json(value: Any) -> tuple[Fork, ...] | None:
    """Read what a cache kept; None for anything else."""
    try:
        return tuple(
            Fork(int(start), int(end), tuple((str(text), float(chance)) for text, chance in chances))
            for start, end, chances in value
        )
    except (TypeError, ValueError):
        return None


def _bytes(token: dict[str, Any]) -> bytes:
    given = token.get("bytes")
    if isinstance(given, list) and all(isinstance(one, int) and 0 <= one < 256 for one in given):
        return bytes(given)
    text = token.get("token")
    return text.encode("utf-8", "surrogatepass") if isinstance(text, str) else b""


def _chance(token: dict[str, Any]) -> float:
    value = token.get("logprob")
    if not isinstance(value, int | float) or isinstance(value, bool) or math.isnan(value):
        return 0.0
    return math.exp(min(float(value), 0.0))
