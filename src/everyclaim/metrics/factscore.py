"""FActScore: the share of the response's claims that a knowledge source supports, with a penalty for short answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from everyclaim.core.errors import JudgeError
from everyclaim.core.gather import gather
from everyclaim.core.types import Claim, JudgedClaim, Passage, Sample, tag_values
from everyclaim.metrics.context import MetricContext, Score, supported
from everyclaim.metrics.penalty import Penalty
from everyclaim.retrieve.queries import Around
from everyclaim.retrieve.sources import AnswerShelf


@dataclass(frozen=True, slots=True)
class FActScore:
    """Score a response by supported claims / claims × a penalty for length (Min et al., arXiv 2305.14251).

    Range [0, 1], best 1. Every claim is judged against the `k` passages that the knowledge source finds for it; the
    sample's own passages play no part. `topic` restricts the search to one subject: ``question`` takes it from the
    question, ``tag:NAME`` from a tag, empty searches everything. Components: `factscore` (the score),
    `factscore_unpenalised`, `length_penalty`. A response without claims is `no_claims`, one that declines `abstained`;
    both stay out of the mean, and the share that remains is the response ratio of the paper.

    `details`: `counts`, `retrieved` (claim id → passage ids, best first), `passages` (id → title, text), `topic`.

    >>> import everyclaim as ec
    >>> result = ec.score(
    ...     response="The guild was founded in 1643. The recipe is from 1795.",
    ...     metric="factscore?gamma=0",
    ...     knowledge=lambda query: ["The guild was founded in 1643.", "The recipe is from 1395."],
    ... )
    >>> result.score
    0.5
    """

    k: int = 5
    topic: str = ""
    penalty: Penalty = field(default_factory=Penalty)

    async def score(self, sample: Sample, ctx: MetricContext) -> Score:
        """Decompose, search for every claim, verify, and reduce."""
        parts = await ctx.claims(sample.response)
        factor = self.penalty.of(sample, len(parts.claims))
        topic = sample_topic(sample, self.topic)
        around = Around.of(parts.claims, sample.question)
        queries = [around.query(claim) for claim in parts.claims]
        answers = await gather(ctx.knowledge.search(query, self.k, topic=topic) for query in queries)
        shelf = AnswerShelf()
        found = [shelf.put(answer) for answer in answers]
        claims = await _judged(parts.claims, found, ctx)
        share = supported(claims) / len(claims)
        return Score(
            share * factor,
            {"factscore": share * factor, "factscore_unpenalised": share, "length_penalty": factor},
            {
                "counts": {"claims": len(claims), "supported": supported(claims)},
                "topic": topic,
                "retrieved": {c.id: [p.id for p in passages] for c, passages in zip(claims, found, strict=True)},
                "passages": shelf.written(),
            },
        )


async def _judged(
    claims: Sequence[Claim], found: Sequence[Sequence[Passage]], ctx: MetricContext
) -> tuple[JudgedClaim, ...]:
    """Judge each claim by its own passages; claims with the same passages go together."""
    groups: dict[tuple[str, ...], list[int]] = {}
    for i, passages in enumerate(found):
        groups.setdefault(tuple(passage.id for passage in passages), []).append(i)
    answers = await gather(ctx.judge([claims[i] for i in group], found[group[0]]) for group in groups.values())
    by_id = {claim.id: claim for answer in answers for claim in answer}
    return tuple(by_id[claim.id] for claim in claims)


def sample_topic(sample: Sample, where: str) -> str | None:
    """Return the topic of a sample: its question, or a tag. Raises `JudgeError` when it is not there."""
    if not where:
        return None
    given = sample.question if where == "question" else sample.tags.get(where.removeprefix("tag:"), "")
    values = tag_values(given)
    topic = values[0] if len(values) == 1 else ""
    if not topic.strip():
        raise JudgeError("no_topic", f"the sample has no {where.replace('tag:', 'tag ')} to take the topic from")
    return topic
