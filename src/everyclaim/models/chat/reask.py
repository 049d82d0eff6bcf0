"""Ask a chat model about several things by id, and go on until it said something usable about each, or fail."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Protocol, TypeVar

from everyclaim.core.errors import JudgeError
from everyclaim.core.gather import gather
from everyclaim.core.protocols import ChatModel, Message
from everyclaim.models.chat.structured_call import TOO_MUCH, Asking

AT_ONCE = 20  # questions, sentences or pairs in one request
_Item = TypeVar("_Item")
_Found_co = TypeVar("_Found_co", covariant=True)
_Found = TypeVar("_Found")
_Writer = Callable[[Mapping[str, _Item]], list[Message]]


class _Form(Protocol[_Found_co]):
    """A prompt as far as a reply is concerned."""

    @property
    def version(self) -> str: ...

    @property
    def schema(self) -> Mapping[str, Any]: ...

    def parse(self, reply: Mapping[str, Any], asked: Mapping[str, Any]) -> Mapping[str, _Found_co]: ...


async def ask_for_all(
    chat: ChatModel, items: Mapping[str, _Item], write: _Writer[_Item], form: _Form[_Found]
) -> dict[str, _Found]:
    """Return what the model says of every item, by id; what a reply leaves out is asked for once more.

    Raises `JudgeError` when the model cannot be reached, declines, or twice leaves something out.
    """
    answers = await gather(_ask(chat, part, write, form) for part in _portions(items))
    return {key: found for answer in answers for key, found in answer.items()}


async def _ask(
    chat: ChatModel, items: Mapping[str, _Item], write: _Writer[_Item], form: _Form[_Found]
) -> dict[str, _Found]:
    found: dict[str, _Found] = {}
    asking = Asking(chat)
    for attempt in (1, 2):
        missing = {key: item for key, item in items.items() if key not in found}
        tag = form.version if attempt == 1 else f"{form.version}#2"
        try:
            reply = await asking.for_object(write(missing), schema=form.schema, tag=tag)
            found |= form.parse(reply, missing)
        except JudgeError as error:
            if error.code in TOO_MUCH and len(missing) > 1:
                middle = len(missing) // 2
                halves = (dict(list(missing.items())[:middle]), dict(list(missing.items())[middle:]))
                first, second = await gather(_ask(chat, half, write, form) for half in halves)
                return found | first | second
            if not asking.may_go_better(error) or attempt == 2:
                asking.evict(error)
                raise
        if len(found) == len(items):
            return found
    asking.evict()
    absent = ", ".join(key for key in items if key not in found)
    raise JudgeError("missing_answer", f"{chat.spec} said nothing usable to {absent}, asked twice ({form.version})")


def _portions(items: Mapping[str, _Item]) -> Iterator[dict[str, _Item]]:
    keys = list(items)
    for start in range(0, len(keys), AT_ONCE):
        yield {key: items[key] for key in keys[start : start + AT_ONCE]}
