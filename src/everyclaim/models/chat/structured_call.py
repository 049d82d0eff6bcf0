"""Ask a chat model for one JSON object or a few words, and account for it: where judges' replies come in."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from everyclaim.core.accounting import account
from everyclaim.core.errors import JudgeError
from everyclaim.core.protocols import ChatModel, ChatReply, Message
from everyclaim.models.chat.replies import check_finish, read_reply

# Codes of a reply that may be better the second time; what a provider declines it declines again.
# A call that failed is not asked again here: whoever makes the calls retried it already.
WORTH_ASKING_AGAIN = frozenset({"malformed", "empty_reply", "bad_reply"})
# Codes that say: less at once would do.
TOO_MUCH = frozenset({"truncated", "too_long"})


class Asking:
    """One thing wanted from a chat model, in one request or several.

    When it cannot be had, `evict` takes the replies out of the cache: they came in due form and were of no
    use, and would be of none the next time.
    """

    def __init__(self, chat: ChatModel) -> None:
        self._chat = chat
        self._failed: JudgeError | None = None  # the last call's failure, as opposed to a reply of no use
        self._forget: list[Callable[[], None]] = []

    async def for_object(self, messages: Sequence[Message], *, schema: Mapping[str, Any], tag: str) -> dict[str, Any]:
        """Return the JSON object the model replies with; what it took is added to the open tallies.

        Raises `JudgeError` when the call fails (then with what it cost accounted all the same), is declined or
        cut, or when the reply is not one JSON object.
        """
        return read_reply(await self._reply(messages, schema, tag))

    async def for_words(self, messages: Sequence[Message], *, tag: str) -> str:
        """Return the text the model replies with; as `for_object`, but a reply that was cut is still its beginning."""
        reply = await self._reply(messages, None, tag)
        if reply.finish != "length":
            check_finish(reply)
        return reply.content

    async def _reply(self, messages: Sequence[Message], schema: Mapping[str, Any] | None, tag: str) -> ChatReply:
        try:
            reply = await self._chat.complete(messages, schema=schema, tag=tag)
        except JudgeError as error:
            if error.usage:
                account(error.usage)
            self._failed = error
            raise
        account(reply.usage)
        forget = getattr(self._chat, "forget", None)
        if forget:
            self._forget.append(lambda: forget(messages, schema=schema, tag=tag))
        return reply

    def may_go_better(self, error: JudgeError) -> bool:
        """Whether to ask once more after this error: there was a reply, and another one may be of use."""
        return error is not self._failed and error.code in WORTH_ASKING_AGAIN

    def evict(self, error: JudgeError | None = None) -> None:
        """Let what was asked be asked again some day; not where the error is no fault of the replies."""
        if error and error.code not in WORTH_ASKING_AGAIN:
            return
        for forget in self._forget:
            forget()
        self._forget.clear()
