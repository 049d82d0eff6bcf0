"""Claims judged by what is found for each of them: FActScore in a knowledge source, SAFE by a search step by step."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import median
from typing import Any, Literal

from everyclaim.core.errors import JudgeError
from everyclaim.core.lifetime import gather
from everyclaim.core.types import Claim, JudgedClaim, Label, Outcome, Passage, Result, Sample, Skipped, tag_values
from everyclaim.decompose.decontextualize import Prepared, Preparer, WordPreparer, tied
from everyclaim.metrics.context import MetricContext, Score, supported
from everyclaim.metrics.faithfulness import Penalty
from everyclaim.prompts.writing import Searched
from everyclaim.retrieve.queries import Around, QueryWriter, WordQueries
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
        claims = await ctx.judge_each(zip(parts.claims, found, strict=True))
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


K = 64  # the paper's median number of relevant facts
OverSet = Literal["median", "max"]
_NOTHING_RELEVANT = "no claim of the response is relevant to the question, so its precision is undefined"


def at_k(supported: int, not_supported: int, k: float) -> tuple[float | None, float, float]:
    """Return S/(S + NS), min(1, S/K) and their harmonic mean: precision (None without a relevant claim), recall, F1."""
    relevant = supported + not_supported
    precision = supported / relevant if relevant else None
    recall = min(1.0, supported / k) if k > 0 else 0.0
    if not precision or not recall:
        return precision, recall, 0.0
    return precision, recall, 2 * precision * recall / (precision + recall)


@dataclass(frozen=True, slots=True)
class Safe:
    """Score a response by F1@K over searched claims (Wei et al., SAFE, arXiv 2403.18802).

    Range [0, 1], best 1. Claims are made to stand alone; those that do not bear on the question leave the denominator
    and are among `skipped`, with the reason `irrelevant`. The others are searched for, each query in the light of what
    the earlier ones found, and judged by what was found; the sample's own passages play no part. S supported claims of
    S + NS give precision S/(S + NS) and recall min(1, S/K). `k` is a number, or `median` or `max`: over the relevant
    claims per answer of the set, which for one answer alone is itself, and of a run is worked out at its end. S = 0
    gives 0. A response without claims is `no_claims`, one that declines `abstained`.

    Components: `f1_at_k` (the score), `precision`, `recall_at_k`. `details`: `counts` (`supported`, `not_supported`
    and of these `contradicted`, `irrelevant`), `k` (over a set with `k_of`: this answer alone, or the run), `searches`
    (claim, query, ids of the results, in order), `passages` (id → title, text), `rewritten` (claim id → its text
    before), `irrelevant` (claim id → text, why).

    >>> import everyclaim as ec
    >>> result = ec.score(
    ...     question="How old are the guild and the recipe?",
    ...     response="The guild was founded in 1643. The recipe is from 1795.",
    ...     metric="safe?k=2",
    ...     knowledge=lambda query: ["The guild was founded in 1643.", "The recipe is from 1395."],
    ... )
    >>> result.score
    0.5
    """

    preparer: Preparer = field(default_factory=WordPreparer)
    writer: QueryWriter = field(default_factory=WordQueries)
    k: int | OverSet = K
    queries: int = 5  # per claim
    results: int = 3  # of each
    settle: bool = True  # end a claim's search once it is supported or contradicted, else judge it when all are made

    @property
    def parameters(self) -> Mapping[str, str]:
        """Who prepares claims and writes queries, for the result's provenance."""
        return {**self.preparer.parameters, **self.writer.parameters}

    async def score(self, sample: Sample, ctx: MetricContext) -> Score:
        """Decompose, prepare, search, verify, and reduce."""
        parts = await ctx.claims(sample.response)
        prepared = await self.preparer.prepare(parts.claims, sample.response, sample.question)
        search = _Search(self, ctx, Around.of([one.claim for one in prepared], sample.question))
        checked = await search.settled([one.claim for one in prepared if one.relevant is not False])
        prepared = [search.decided(one) for one in prepared]
        irrelevant = [one for one in prepared if not one.relevant]
        left = {one.claim.id for one in irrelevant}
        claims = tuple(claim for claim in checked if claim.id not in left)
        left_out = [Skipped(one.claim.text, one.claim.span, "irrelevant") for one in irrelevant]
        k = _of_set([len(claims)], self.k) if isinstance(self.k, str) else self.k
        components, details = _numbers(claims, k, _details(prepared, search))
        return Score(
            components["f1_at_k"],
            components,
            details | ({"k_of": "this answer alone"} if isinstance(self.k, str) else {}),
            () if claims else (_NOTHING_RELEVANT,),
            claims=claims,
            skipped=sorted((*parts.skipped, *left_out), key=lambda skipped: skipped.span),
        )

    def over_run(self, results: Callable[[], Iterator[Result]]) -> Iterator[Result] | None:
        """Give the results of a run their numbers at the run's K, without calling any model; None for a K of its own.

        K is the median or the largest number of relevant claims per scored answer. `results` is called twice.
        """
        if not isinstance(self.k, str):
            return None
        k = _of_set([len(result.claims) for result in results() if result.outcome is Outcome.SCORED], self.k)
        return (_at(result, k) if result.outcome is Outcome.SCORED else result for result in results())


def _at(result: Result, k: float) -> Result:
    components, details = _numbers(result.claims, k, result.details)
    whole = {**details, "k_of": "the run"}
    return replace(result, score=components["f1_at_k"], components=components, details=whole)


def _numbers(
    claims: Sequence[JudgedClaim], k: float, details: Mapping[str, Any]
) -> tuple[dict[str, float | None], dict[str, Any]]:
    """Return the components at a K, and the details with K and the counts; the verdicts are all that is needed."""
    true = supported(claims)
    precision, recall, f1 = at_k(true, len(claims) - true, k)
    counts = {
        "supported": true,
        "not_supported": len(claims) - true,
        "contradicted": sum(claim.verdict.label is Label.CONTRADICTED for claim in claims),
        "irrelevant": len(details.get("irrelevant", {})),
    }
    components = {"f1_at_k": f1, "precision": precision, "recall_at_k": recall}
    return components, {**details, "k": k, "counts": counts}


def _of_set(relevant: Sequence[int], how: OverSet) -> float:
    if not relevant:
        return 0.0
    return float(median(relevant)) if how == "median" else float(max(relevant))


class _Search:
    def __init__(self, metric: Safe, ctx: MetricContext, around: Around) -> None:
        self._metric, self._ctx = metric, ctx
        self._around = around
        self._trails: dict[str, list[Searched]] = {}
        self.made: list[dict[str, Any]] = []
        self.shelf = AnswerShelf()
        self._first_found: dict[str, list[str]] = {}  # texts by claim
        self._found: dict[str, dict[str, Passage]] = {}  # by claim and passage id

    async def settled(self, claims: Sequence[Claim]) -> tuple[JudgedClaim, ...]:
        """Search in rounds, one query for every claim that is still open, and return all judged, in order."""
        self._trails = {claim.id: [] for claim in claims}
        self._found = {claim.id: {} for claim in claims}
        found: dict[str, JudgedClaim] = {}
        open_claims = list(claims)
        for _ in range(self._metric.queries if claims else 0):
            queries = await self._metric.writer.queries(open_claims, self._trails, self._around)
            open_claims = [claim for claim in open_claims if queries.get(claim.id)]
            if not open_claims:
                break
            answers = await gather(
                self._ctx.knowledge.search(queries[claim.id], self._metric.results) for claim in open_claims
            )
            fresh = [
                claim
                for claim, answer in zip(open_claims, answers, strict=True)
                if self._keep(claim, queries[claim.id], answer)
            ]
            if self._metric.settle:
                found |= await self._judged(fresh)
                settled = {name for name, one in found.items() if one.verdict.label is not Label.UNSUPPORTED}
                open_claims = [claim for claim in open_claims if claim.id not in settled]
        found |= await self._judged([claim for claim in claims if claim.id not in found])
        return tuple(found[claim.id] for claim in claims)

    def decided(self, one: Prepared) -> Prepared:
        """Say whether a claim is relevant where its own words did not: by those of what its first search found.

        Only what is found and has nothing to do with the question makes it irrelevant; nothing found tells nothing.
        """
        if one.relevant is not None:
            return one
        texts = self._first_found.get(one.claim.id, ())
        if not texts or any(tied(text, self._around.question) for text in texts):
            return one._replace(relevant=True)
        return one._replace(relevant=False, why="not relevant to the question")

    def _keep(self, claim: Claim, query: str, answer: Sequence[Passage]) -> bool:
        """Keep what a search found for a claim; say whether any of it is new."""
        passages = self.shelf.put(answer)
        known = self._found[claim.id]
        before = len(known)
        self._first_found.setdefault(claim.id, [f"{passage.title}\n{passage.text}" for passage in passages])
        known |= {passage.id: passage for passage in passages}
        self._trails[claim.id].append(Searched(query, tuple(passage.text for passage in passages)))
        self.made.append({"claim": claim.id, "query": query, "results": [passage.id for passage in passages]})
        return len(known) > before

    async def _judged(self, claims: Sequence[Claim]) -> dict[str, JudgedClaim]:
        """Judge each claim by all that was found for it so far."""
        answers = await gather(self._ctx.judge([claim], list(self._found[claim.id].values())) for claim in claims)
        return {answer[0].id: answer[0] for answer in answers}


def _details(prepared: Sequence[Prepared], search: _Search) -> Mapping[str, Any]:
    place = {one.claim.id: i for i, one in enumerate(prepared)}
    return {
        "searches": sorted(search.made, key=lambda made: place[made["claim"]]),
        "passages": search.shelf.written(),
        "rewritten": {one.claim.id: one.was for one in prepared if one.was},
        "irrelevant": {one.claim.id: {"claim": one.claim.text, "why": one.why} for one in prepared if not one.relevant},
    }
