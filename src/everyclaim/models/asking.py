"""Ask a chat model for one JSON object, and account for it: the one place where judges' replies come in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from everyclaim.core.accounting import account
from everyclaim.core.errors import JudgeError
from everyclaim.core.protocols import ChatModel, Message
from everyclaim.models.replies import read_reply

# Codes of a reply that may be better the second time; what a provider declines it declines again.
WORTH_ASKING_AGAIN = frozenset({"malformed", "empty_reply", "bad_reply"})
# Codes that say: less at once would do.
TOO_MUCH = frozenset({"truncated", "too_long"})


async def ask_object(
    chat: ChatModel, messages: Sequence[Message], *, schema: Mapping[str, Any], tag: str
) -> dict[str, Any]:
    """Return the JSON object the model replies with; what it took is added to the open tallies.

    Raises `JudgeError` when the call fails (then with what it cost accounted all the same), is declined or
    cut, or when the reply is not one JSON object.
    """
    try:
        reply = await chat.complete(messages, schema=schema, tag=tag)
    except JudgeError as error:
        if error.usage:
            account(error.usage)
        raise
    account(reply.usage)
    return read_reply(reply)
