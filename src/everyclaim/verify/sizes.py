"""How much goes into one call of a language model: claims by what their verdicts will take, passages by what it reads.

Sizes are estimates, four bytes a token. They decide how a request is cut and nothing else; a reply that is cut all the
same is asked for in halves.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from everyclaim.core.types import Claim, Passage

REPLY_TOKENS = 2_500  # of one call's reply, about 25 claims: more has not been measured
INPUT_TOKENS = 24_000  # of one call's passages
_VERDICT = 70  # tokens of a verdict beside its quote, which is about as long as its claim
_QUOTE = 150  # of the longest; a claim of pages is still shown by a few words


def tokens(text: str) -> int:
    """Estimate the tokens of a text."""
    return len(text.encode("utf-8", "surrogatepass")) // 4 + 1


def by_reply(claims: Sequence[Claim], reply_tokens: int, at_most: int | None) -> Iterator[list[Claim]]:
    """Cut claims into calls whose replies stay within so many tokens, evenly; with `at_most` also by number.

    A call has one claim at least.
    """
    sizes = [_VERDICT + min(tokens(claim.text), _QUOTE) for claim in claims]
    calls = max(1, -(-sum(sizes) // reply_tokens))
    share = sum(sizes) / calls if at_most is None else reply_tokens
    part: list[Claim] = []
    size = 0
    for claim, takes in zip(claims, sizes, strict=True):
        if part and (size + takes / 2 > share or size + takes > reply_tokens or len(part) == at_most):
            yield part
            part, size = [], 0
        part.append(claim)
        size += takes
    if part:
        yield part


def by_input(passages: Sequence[Passage], input_tokens: int) -> list[list[Passage]]:
    """Cut passages, in order, into parts of so many tokens; a longer passage is a part by itself."""
    parts: list[list[Passage]] = []
    size = 0
    for passage in passages:
        takes = tokens(passage.text) + tokens(passage.title)
        if not parts or size + takes > input_tokens:
            parts.append([])
            size = 0
        parts[-1].append(passage)
        size += takes
    return parts
