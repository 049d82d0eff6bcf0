"""Fitting a rubric for a language model that judges: a session's judge asked with examples of a team's labels."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import TYPE_CHECKING, cast

from everyclaim.api.claims import GivenClaims, given_claim, label_of
from everyclaim.api.session import Session
from everyclaim.core.errors import ConfigError
from everyclaim.core.lifetime import gather
from everyclaim.core.types import Label, Outcome, Passage, Sample, Verdict
from everyclaim.io import ClaimRow
from everyclaim.prompts import Domain, VerdictPrompt, read_domain
from everyclaim.retrieve import Bm25Ranker
from everyclaim.verify.llm import LlmVerifier

if TYPE_CHECKING:
    from everyclaim.analysis.tuning import RubricFit

_FARTHEST = 0.999  # from 0 to 1, a probability that is taken at its word
Told = Callable[[bool], object]  # whether a claim failed


async def fitted_rubric(
    session: Session, rows: Sequence[ClaimRow], documents: Sequence[bytes], tell: Told
) -> RubricFit:
    """Fit a rubric for the judge of a session to labelled claims; `documents` names the passages of each.

    Raises `ConfigError` for a judge that takes no rubric, or has one.
    """
    from everyclaim.analysis.tuning import ExampleClaim, fit_rubric

    asked = _RubricJudge(session, [row for row in rows if row.passages], tell)
    found = [
        ExampleClaim(
            row.claim, row.passages[Bm25Ranker().rank(row.claim, row.passages)[0]].text, label_of(row), document
        )
        for row, document in zip(rows, documents, strict=True)
        if row.passages
    ]
    fit = await fit_rubric(found, asked.odds, asked.judge.spec)
    return replace(fit, left_out=len(rows) - len(found), usage=session.usage)


@dataclass(frozen=True, slots=True)
class _RubricJudge:
    """The judge of a session, asked about labelled claims under one rubric after the other."""

    session: Session
    rows: Sequence[ClaimRow]
    tell: Told

    @property
    def judge(self) -> LlmVerifier:
        judge = self.session.judge.alone
        if not isinstance(judge, LlmVerifier) or not isinstance(judge.prompt, VerdictPrompt):
            raise ConfigError(
                f"{judge.spec!r} takes no rubric: tune 'embedded', or a language model such as 'openai:…'"
            )
        if judge.prompt.domain.version:
            raise ConfigError("tuning makes a rubric: pass a judge without one")
        return judge

    def judge_under(self, rubric: str) -> LlmVerifier:
        """Return the judge with a rubric."""
        judge = self.judge
        domain = read_domain(rubric, name="the rubric") if rubric else Domain()
        return replace(judge, prompt=replace(cast("VerdictPrompt", judge.prompt), domain=domain))

    async def odds(self, rubric: str, places: Sequence[int]) -> list[float | None]:
        """Judge the claims at these places; None where no verdict came. Claims of the same passages go together."""
        judging = replace(GivenClaims.of(self.session, "tune", labels_only=True), judge=self.judge_under(rubric))
        groups = groupby(places, key=lambda place: (self.rows[place].passages, self.rows[place].question))
        found = await gather(
            self._group(judging, passages, question, list(group)) for (passages, question), group in groups
        )
        return [one for group in found for one in group]

    async def _group(
        self, judging: GivenClaims, passages: tuple[Passage, ...], question: str, places: Sequence[int]
    ) -> list[float | None]:
        rows = [self.rows[place] for place in places]
        claims = [given_claim(number, row.claim, row.sentence) for number, row in enumerate(rows, start=1)]
        result = await judging.result(Sample("", "\n".join(row.claim for row in rows), passages, question), claims)
        is_judged = result.outcome is Outcome.SCORED
        for _ in places:
            self.tell(not is_judged)
        return [log_odds_of(claim.verdict) for claim in result.claims] if is_judged else [None] * len(places)


def log_odds_of(verdict: Verdict) -> float:
    """Return a verdict's log-odds of support, on the side of its label."""
    is_supported = verdict.label is Label.SUPPORTED
    stated = verdict.probabilities.supported if verdict.probabilities else float(is_supported)
    held = min(max(stated, 1 - _FARTHEST), _FARTHEST)
    odds = math.log(held / (1 - held))
    return max(odds, 1e-6) if is_supported else min(odds, 0.0)
