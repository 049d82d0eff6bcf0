"""How a result is told: the four words for a score, and what `print` and a notebook show."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import Any

from everyclaim.core.plaintext import counted, listed, metric_title, number, one_line, quoted, words, wrapped

_ROUNDING = 1e-9  # a mean of exact fractions may come out one rounding below a bound; it counts as on it


class Band(StrEnum):
    """How good a score is, best first."""

    HIGH = "high"
    GOOD = "good"
    MODERATE = "moderate"
    LOW = "low"


LOWER_BOUNDS = {Band.HIGH: 0.9, Band.GOOD: 0.7, Band.MODERATE: 0.5, Band.LOW: 0.0}


def band_of(score: float) -> Band:
    """Return the band of a score within [0, 1]."""
    return next((band for band, bound in LOWER_BOUNDS.items() if score >= bound - _ROUNDING), Band.LOW)


_CLAIMS_SHOWN, _FAILING_SHOWN, _WARNINGS_SHOWN = 20, 5, 3
html_writers: list[Callable[[Any], str]] = []  # of a result, for notebooks: the last one; without any they print it


def decomposition(found: Any) -> str:
    """Tell what a response was split into."""
    head = "the response declines to answer" if found.abstained else counted(len(found.claims), "claim")
    skipped = f", {counted(len(found.skipped), 'piece')} skipped" if found.skipped else ""
    claims = [f"{one_line(claim.id)}  {one_line(claim.text, 240)}" for claim in found.claims]
    others = [
        f"skipped ({one_line(piece.display_name, 60)})  {one_line(piece.text, 120)}"
        + (" (not checked)" if piece.unchecked else "")
        for piece in found.skipped
    ]
    shown = [*listed(claims, _CLAIMS_SHOWN, "claim"), *listed(others, _CLAIMS_SHOWN, "piece")]
    return "\n".join([head + skipped, *(wrapped(line, 2) for line in shown)])


def judged_claim(claim: Any, indent: int = 0) -> str:
    """Tell the finding on a claim: label and claim, why, and the place that speaks to it most."""
    verdict, name = claim.verdict, claim.verdict.label.value.lower()
    sure = f" ({getattr(verdict.probabilities, name):.2f})" if verdict.probabilities else ""
    kind = verdict.told_mode
    flags = "" if verdict.rationale or kind else ", ".join(map(words, verdict.flags))
    why = [part for part in (kind, one_line(verdict.rationale, 240), one_line(flags)) if part]
    torn = ["passages disagree"] if verdict.conflict else []
    places = [quoted(verdict.evidence_name, one.passage_id, one.quote) for one in verdict.telling_evidence[:1]]
    below = [*torn, ": ".join(why), *places]
    first = wrapped(f"{name}{sure}  {one_line(claim.text, 240)}", indent)
    return "\n".join([first, *(wrapped(line, indent + 2) for line in below if line)])


def summary(found: Any) -> str:
    """Tell score, outcome and counts of a result in one line."""
    counts = ", ".join(f"{count:,} {label.value.lower()}" for label, count in found.counts.items() if count)
    claims = f"{counted(len(found.claims), 'claim')}: {counts}" if found.claims else ""
    parts = [f"{words(one_line(name, 60))} {number(part)}" for name, part in found.components.items()]
    metric = metric_title(one_line(found.provenance.metric, 120))
    band = f" ({found.band})" if found.band else ""
    score = "no score" if found.score is None else f"{metric} {number(found.score)}{band}"
    if found.outcome != "scored":
        score = ", ".join([score if found.score is None else f"{score} by policy", found.outcome.display_name])
        score = f"{score}: {one_line(found.reason, 240)}" if found.reason else score
    return " · ".join(part for part in (score, claims, *parts) if part)


def result(found: Any) -> str:
    """Tell what was found: the score, and every failing claim with its reason and evidence."""
    failing = [judged_claim(claim, 2) for claim in found.failing[:_FAILING_SHOWN]]
    more = len(found.failing) - _FAILING_SHOWN
    torn = sum(claim.verdict.conflict for claim in found.claims)
    unchecked = [f"not checked: {one_line(piece.text, 120)}" for piece in found.unchecked]
    warnings = [f"warning: {one_line(text, 240)}" for text in found.warnings]
    remarks = [
        f"… and {counted(more, 'more failing claim')}" if more > 0 else "",
        f"{counted(torn, 'claim')} supported by one passage and contradicted by another" if torn else "",
        *listed(unchecked, _WARNINGS_SHOWN, "piece"),
        *listed(warnings, _WARNINGS_SHOWN, "warning"),
    ]
    head = wrapped(f"{one_line(found.id, 60)} · {summary(found)}")
    return "\n".join([head, *failing, *(wrapped(line, 2) for line in remarks if line)])
