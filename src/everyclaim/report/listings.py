"""The smaller pages: a decomposition, passages that were found, the runs in a store, the verdicts on given claims."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from rich.console import Group as Stack
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from everyclaim.analysis.estimates import percent, span
from everyclaim.analysis.estimates import score as score_text
from everyclaim.core.bands import band_of
from everyclaim.core.plaintext import counted, words
from everyclaim.core.types import Decomposition, Label, Outcome, Passage, Sample, Usage, Verdict
from everyclaim.report.findings import claim_findings
from everyclaim.report.style import (
    BAND_STYLE,
    LABEL_FILL,
    LABEL_STYLE,
    LabelBar,
    Page,
    data,
    house_table,
    indented,
    joined,
    usage_line,
)
from everyclaim.stats.intervals import Estimate

if TYPE_CHECKING:
    from everyclaim.store.records import RunRecord

_UNCHECKED = Text(" (not checked)", style="bold yellow")


def decomposition_page(decomposition: Decomposition, response: str) -> Page:
    """Show the claims of a response with their offsets, then what is not a claim and why."""
    parts: list[RenderableType] = []
    if decomposition.claims:
        claims = _listing("", "offsets", "claim")
        for claim in decomposition.claims:
            claims.add_row(data(claim.id), f"{claim.span.start}:{claim.span.end}", data(claim.text))
        parts += [claims, Text()]
    if decomposition.skipped:
        skipped = _listing("skipped", "offsets", "text")
        for piece in decomposition.skipped:
            skipped.add_row(
                data(words(piece.reason)),
                f"{piece.span.start}:{piece.span.end}",
                data(piece.text, "yellow" if piece.unchecked else "dim", 200) + (_UNCHECKED if piece.unchecked else ""),
            )
        parts += [skipped, Text()]
    parts.append(_tally(decomposition, response))
    return Page(Stack(*parts))


def _tally(decomposition: Decomposition, response: str) -> Text:
    count = sum(piece.unchecked for piece in decomposition.skipped)
    unchecked = Text(f"{count:,} of them not checked" if count else "", style="yellow")
    if decomposition.abstained:
        return joined([Text("the response declines to answer"), unchecked])
    if not decomposition.claims:
        if not decomposition.skipped:
            return Text("no claims: nothing to check" if response.strip() else "no claims: the response is empty")
        return joined([Text("no claims: every sentence was skipped, nothing is checked", style="yellow"), unchecked])
    skipped = counted(len(decomposition.skipped), "piece skipped", "pieces skipped")
    return joined([counted(len(decomposition.claims), "claim"), skipped if decomposition.skipped else "", unchecked])


def _listing(*headings: str) -> Table:
    """Return a table whose last column takes the room that is left."""
    made = house_table(*headings, numbers_from=len(headings))
    for column in made.columns[:-1]:
        column.no_wrap = True
    return made


def passages_page(passages: Sequence[Passage]) -> Page:
    """Show passages that were found, as given."""
    made = _listing("passage", "text")
    for passage in passages:
        title = Text.assemble(data(passage.title, "bold", 80), ": ") if passage.title else Text()
        made.add_row(data(passage.id, limit=40), Text.assemble(title, data(passage.text, limit=300)))
    return Page(made)


def runs_page(records: Sequence[RunRecord], scores: Sequence[Estimate], store: str) -> Page:
    """Show the runs of a store, as given, with their mean scores.

    Names and failures have a column where there are any, metrics where they differ. The answers
    that are neither scored nor failed made no claim or declined to answer.
    """
    if not records:
        return Page(joined([Text("no runs yet in"), data(store)], " "))
    named = any(record.name or record.status != "finished" for record in records)
    failing = any(record.counts[Outcome.FAILED] for record in records)
    several = len({_metric(record) for record in records}) > 1
    judges = {record.provenance.verifier for record in records}
    texts = ["run", *(["name"] if named else []), "started (UTC)", *(["judge"] if len(judges) > 1 else [])]
    texts += ["metric"] if several else []
    numbers = ["score", "95 % interval", "scored", *(["failed"] if failing else [])]
    made = house_table(*texts, *numbers, numbers_from=len(texts))
    for column in made.columns[: len(texts)]:
        column.no_wrap = True
    for record, score in zip(records, scores, strict=True):
        failed = record.counts[Outcome.FAILED]
        status = "" if record.status == "finished" else Text(f"({record.status})", style="yellow")
        band = None if score.value is None else band_of(record.provenance.quality(score.value))
        made.add_row(
            data(record.id),
            *([joined([data(record.name, limit=60), status], " ")] if named else []),
            record.created[:16].replace("T", " "),
            *([data(record.provenance.verifier, limit=120)] if len(judges) > 1 else []),
            *([data(_metric(record))] if several else []),
            Text(score_text(score), style=BAND_STYLE[band] if band else ""),
            span(score),
            f"{record.counts[Outcome.SCORED]:,}/{_total(record)}",
            *([Text(f"{failed:,}", style="bold red" if failed else "")] if failing else []),
        )
    shared: list[RenderableType] = (
        [] if len(judges) > 1 else [joined([Text("judge", "dim"), data(judges.pop(), limit=120)], " ")]
    )
    return Page(Stack(made, *shared))


def _total(record: RunRecord) -> str:
    """Return the number of rows in the data set; of a run that has not read it to its end it may be unknown."""
    if record.status == "finished" and (record.reading or record.total is None):
        return f"{record.kept + record.bad_rows:,}"
    return "?" if record.total is None else f"{record.total:,}"


def _metric(record: RunRecord) -> str:
    return record.provenance.metric.partition("?")[0]


def verdicts_page(
    labels: Mapping[Label, int],
    failures: Mapping[str, int],
    *,
    bad_rows: int = 0,
    usage: Usage | None = None,
    worst: Sequence[tuple[Sample, Verdict]] = (),
) -> Page:
    """Show what judging given claims came to, then the `worst` of them; `failures` counts failed claims by code."""
    judged = sum(labels.values())
    failed = sum(failures.values())
    counts = {label: labels.get(label, 0) for label in Label}
    first = [
        Text(f"{judged:,} judged of {judged + failed:,}", style="bold"),
        Text(f"{failed:,} failed", style="bold red" if failed else ""),
        Text(f"{counted(bad_rows, 'row')} unreadable", style="bold red") if bad_rows else "",
    ]
    parts: list[RenderableType] = [joined([Text("claims"), joined([*first])], "   "), Text()]
    if judged:
        made = house_table("", "count", "share")
        for label, count in counts.items():
            name = Text(f"{LABEL_FILL[label]} {label.value.lower()}", style=LABEL_STYLE[label])
            made.add_row(name, f"{count:,}", percent(count / judged))
        parts += [LabelBar(counts), Text(), made]
    for code, count in sorted(failures.items(), key=lambda item: (-item[1], item[0])):
        parts.append(Text.assemble((f"{count:,} failed: ", LABEL_STYLE[Label.CONTRADICTED]), data(words(code))))
    if usage and (usage.calls or usage.cache_hits):
        parts += [Text(), joined([Text("usage", style="dim"), usage_line(usage)], "   ")]
    page: list[RenderableType] = [indented(Stack(*parts), 2)]
    if worst:
        page += [Text(), Text("Worst claims", style="bold"), claim_findings(worst)]
    return Page(Stack(*page))
