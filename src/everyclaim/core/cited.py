"""What is wrong with an answer, read by all that show it: failing claims, and citations that are not right."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Any, NamedTuple

from everyclaim.core.plaintext import one_line, quoted
from everyclaim.core.types import Outcome, Result, Source, Span
from everyclaim.core.wire import declare, from_json

_SHOWN = 60  # characters of a source
_PASSAGES_SHOWN = 3


class CitationStatus(StrEnum):
    """What a citation does for a claim."""

    RIGHT = "right"  # the claim follows from what it cites, and this passage is needed for it
    UNNEEDED = "unneeded"  # it follows from what else it cites
    MISATTRIBUTED = "misattributed"  # it follows from another passage
    UNSUPPORTED = "unsupported"  # it follows from no passage
    DEAD = "dead"  # no passage is the source
    MISSING = "missing"  # the claim cites nothing


_TOLD = {
    CitationStatus.RIGHT: "{} supports the claim",
    CitationStatus.UNNEEDED: "{} is not needed",
    CitationStatus.MISATTRIBUTED: "{} does not support the claim",
    CitationStatus.UNSUPPORTED: "neither {} nor another passage supports the claim",
    CitationStatus.DEAD: "{} does not refer to any passage",
    CitationStatus.MISSING: "no citation",
}


class Cited(NamedTuple):
    """A source that a claim cites, and the passage that it is; None where it is none."""

    span: Span
    source: Source
    passage: str | None

    def __str__(self) -> str:
        source = self.source
        return f"[{source.number}]" if source.number else one_line(source.name or source.address or source.page, _SHOWN)


class CitationFinding(NamedTuple):
    """A finding: the claim, what it cites (`Cited`; None where that is missing), and the passages to cite instead."""

    claim: str
    finding: CitationStatus
    span: Span | None = None
    source: Source | None = None
    passage: str | None = None
    instead: tuple[str, ...] = ()

    @property
    def cited(self) -> Cited | None:
        """What the claim cites."""
        return None if self.span is None or self.source is None else Cited(self.span, self.source, self.passage)

    def told(self, name: Callable[[str], str] = str) -> str:
        """Tell it in words; `name` names passages by their ids."""
        better = [name(passage) for passage in self.instead[:_PASSAGES_SHOWN]]
        told = _TOLD[self.finding].format(self.cited)
        return f"{told}; {', '.join(better)} {'supports' if len(better) == 1 else 'support'} it" if better else told


declare({CitationFinding: "claim finding | span source passage instead"})


def citation_findings(result: Result) -> list[CitationFinding]:
    """Return what a result says of its citations; nothing where its metric is another."""
    rows = result.details.get("citations")
    if result.provenance.metric_name != "attribution" or not isinstance(rows, list | tuple):
        return []
    return [from_json(CitationFinding, row) for row in rows]


def citation_counts(result: Result) -> Mapping[str, int]:
    """Return how many citations of a result have each status, as its metric or faithfulness counted them."""
    counts = result.details.get("citation_counts")
    return counts if isinstance(counts, Mapping) else Counter(one.finding.value for one in citation_findings(result))


_COUNTED: Mapping[str, str] = {
    CitationStatus.UNNEEDED: "not needed",
    CitationStatus.MISATTRIBUTED: "to the wrong passage",
    CitationStatus.UNSUPPORTED: "for claims that no passage supports",
    CitationStatus.DEAD: "to no passage",
    CitationStatus.MISSING: "claims without a citation",
}


def citation_line(counts: Mapping[str, int]) -> str:
    """Say how many citations have each status, the most frequent first; then, how many claims have none."""
    missing = CitationStatus.MISSING.value
    found = sorted((-count, status) for status, count in counts.items() if status != missing)
    line = ", ".join(f"{-count:,} {_COUNTED.get(status, status)}" for count, status in found)
    return "; ".join(filter(None, [line, f"{counts[missing]:,} {_COUNTED[missing]}" if counts.get(missing) else ""]))


def refusal_of(result: Result) -> Mapping[str, Any] | None:
    """Return what is known of an answer that declines: `finding` (right, wrong), and where it is wrong the passage.

    Of one that declines a part of what was asked, `declined` is that part.
    """
    found = result.details.get("refusal")
    is_refusal = isinstance(found, Mapping) and (result.outcome is Outcome.ABSTAINED or "declined" in found)
    return found if is_refusal else None


def citation_faults(result: Result) -> list[tuple[str, CitationFinding]]:
    """Return the findings that are not `right`, each with the text of its claim."""
    texts = {claim.id: claim.text for claim in result.claims}
    found = citation_findings(result)
    return [(texts.get(one.claim, ""), one) for one in found if one.finding is not CitationStatus.RIGHT]


def failing_lines(result: Result) -> list[str]:
    """Return a line for each claim that is not supported: label, claim, how it differs, and the place.

    Then one for each citation that is not right.
    """
    faults = [
        f"{fault.finding.value.upper()} citation: {one_line(text, 200)} ({one_line(fault.told(), 300)})"
        for text, fault in citation_faults(result)
    ]
    lines = []
    for claim in result.failing:
        verdict = claim.verdict
        why = verdict.difference.reason if verdict.difference else verdict.rationale
        told = ": ".join(one_line(part, 160) for part in (verdict.told_mode, why) if part)
        places = [quoted(verdict.evidence_name, one.passage_id, one.quote) for one in verdict.telling_evidence[:1]]
        beside = "; ".join(filter(None, [told, *places]))
        lines.append(f"{verdict.label.value}: {one_line(claim.text, 200)}" + (f" ({beside})" if beside else ""))
    return lines + faults
