"""Lists in the terminal: the answers and claims to look at first, a decomposition, passages, runs, given claims.

Each failing claim has the places in the passages that speak to it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import compress
from typing import TYPE_CHECKING, TypeVar

from rich.console import Group as Stack
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from everyclaim.core.cited import citation_faults
from everyclaim.core.plaintext import counted, one_line, words
from everyclaim.core.printing import band_of
from everyclaim.core.protocols import Kept
from everyclaim.core.types import (
    REFERENCE,
    RESPONSE,
    Decomposition,
    Evidence,
    JudgedClaim,
    Label,
    Outcome,
    Passage,
    Result,
    Sample,
    Span,
    Usage,
    Verdict,
    tag_values,
)
from everyclaim.report.style import (
    BAND_STYLE,
    LABEL_FILL,
    LABEL_SIGN,
    LABEL_STYLE,
    LabelBar,
    Page,
    data,
    hanging,
    house_table,
    indented,
    joined,
    left_out,
    usage_line,
)

if TYPE_CHECKING:
    from everyclaim.stats.intervals import Estimate
    from everyclaim.store.records import RunRecord

CLAIMS_SHOWN = 5
EVIDENCE_SHOWN = 2
CONTEXT = 60  # characters of the passage on either side of a quote
_LONG = 400  # characters of a claim, a question or a quote that are shown

_Row = TypeVar("_Row")

_ORDER = {Label.CONTRADICTED: 0, Label.UNSUPPORTED: 1, Label.SUPPORTED: 2}


def findings(records: Sequence[Kept]) -> RenderableType:
    """List answers with what is wrong with them, contradicted claims first."""
    parts: list[RenderableType] = []
    for number, record in _numbered(records):
        body = indented(Stack(*_answer(record)), len(number) + 1)
        parts += [Text(), hanging(Text(number, "dim"), _heading(record.result)), body]
    return Stack(*parts)


def answers(records: Sequence[Kept]) -> RenderableType:
    """Show answers with every claim in the order of the text, and what is no claim."""
    parts: list[RenderableType] = []
    for record in records:
        result = record.result
        texts = {name: text for name, (_, text) in texts_of(record.sample, result).items()}
        reason = f"{result.outcome.display_name}: {result.reason}" if result.reason else ""
        rows = {"question": [result.question], "answer": [record.sample.response], "no score": [reason]}
        rows |= {"not a claim": [f"{piece.text} ({piece.display_name})" for piece in result.skipped]}
        rows |= {"warning": list(result.warnings)}
        about: list[RenderableType] = [
            Text.assemble((f"{name} ", "dim"), data(text)) for name, listed in rows.items() for text in listed if text
        ]
        texts[RESPONSE] = record.sample.response
        claims = (_claim(claim, texts) for claim in (*result.claims, *result.reference_claims))
        shown = [indented(line, level) for lines in claims for level, line in lines]
        parts += [_heading(result), indented(Stack(*about, Text(), *shown, *_citations(result)), 2)]
    return Stack(*parts)


def claim_findings(rows: Sequence[tuple[Sample, Verdict]]) -> RenderableType:
    """List given claims with what is wrong with them; each is the response of its sample."""
    parts: list[RenderableType] = []
    for number, (sample, verdict) in _numbered(rows):
        claim = JudgedClaim(verdict.claim_id, sample.response, Span(0, len(sample.response)), "", verdict)
        body: list[RenderableType] = [_question(sample.question)] if sample.question else []
        body += _failing([claim], {passage.id: passage.text for passage in sample.passages})
        parts += [Text(), hanging(Text(number, "dim"), data(sample.id, "bold", 120))]
        parts.append(indented(Stack(*body), len(number) + 1))
    return Stack(*parts)


def _numbered(rows: Sequence[_Row]) -> Iterator[tuple[str, _Row]]:
    """Number the entries of a list, all numbers as wide as the last."""
    width = len(f"{len(rows)}.")
    return ((f"{place}.".rjust(width), row) for place, row in enumerate(rows, 1))


def _question(text: str) -> Text:
    return Text.assemble(("question ", "dim"), data(text, limit=_LONG))


def is_failing(verdict: Verdict) -> bool:
    """Whether a claim is worth a look: it is not supported, or its passages disagree."""
    return verdict.label is not Label.SUPPORTED or verdict.conflict


def how_bad(verdict: Verdict) -> tuple[int, float]:
    """Order failing claims: contradicted ones first, then by how probable support is."""
    probability = verdict.probabilities.supported if verdict.probabilities else 0.0
    return _ORDER[verdict.label], probability


def _heading(result: Result) -> Text:
    score = "no score" if result.score is None else f"{result.score:.3f}"
    tags = [data(f"{key}={', '.join(tag_values(tag))}", "dim", 60) for key, tag in sorted(result.tags.items())]
    tags = [Text.assemble(("tags: ", "dim"), joined([*tags], ", "))] if tags else []
    whole = [] if result.probability is None else [f"P(faithful) {result.probability:.2f}"]
    return joined([data(result.id, "bold", 120), score, _claim_counts(result), *whole, *tags])


def _answer(record: Kept) -> Iterator[RenderableType]:
    result = record.result
    if result.question:
        yield _question(result.question)
    if result.components:
        named = {
            words(name): "undefined" if part is None else f"{part:.3f}" for name, part in result.components.items()
        }
        yield Text.assemble(("parts ", "dim"), joined([data(f"{name} {part}") for name, part in named.items()]))
    texts = texts_of(record.sample, result)
    yield from _failing(result.claims, {name: text for name, (_, text) in texts.items()})
    yield from _citations(result)
    missing = [claim for claim in result.reference_claims if is_failing(claim.verdict)]
    if missing:
        of = counted(len(result.reference_claims), "reference claim")
        yield Text(f"{len(missing):,} of {of} not stated in the response:", style="dim")
        yield from _failing(missing, {RESPONSE: record.sample.response})


def texts_of(sample: Sample, result: Result) -> dict[str, tuple[str, str]]:
    """Return title and text of what claims were judged against, by id, in order: passages, what a metric found."""
    found = {passage.id: (passage.title, passage.text) for passage in sample.passages}
    searched = result.details.get("passages", {})
    if isinstance(searched, Mapping):
        for name, row in searched.items():
            if isinstance(row, Mapping) and isinstance(text := row.get("text"), str):  # a metric's own may be otherwise
                found.setdefault(name, (str(row.get("title", "")), text))
    if sample.reference:
        found.setdefault(REFERENCE, ("Reference answer", sample.reference))
    return found


def _failing(claims: Sequence[JudgedClaim], texts: Mapping[str, str]) -> Iterator[RenderableType]:
    failing = sorted(
        (claim for claim in claims if is_failing(claim.verdict)), key=lambda claim: _ORDER[claim.verdict.label]
    )
    for claim in failing[:CLAIMS_SHOWN]:
        yield from (indented(line, level) for level, line in _claim(claim, texts))
    yield from left_out(len(failing) - CLAIMS_SHOWN, "claim")


def _citations(result: Result) -> Iterator[RenderableType]:
    """Tell which citations are not right, and what to cite instead."""
    faults = citation_faults(result)
    for text, found in faults[:CLAIMS_SHOWN]:
        name = Text(f"citation {found.finding.value}  ", "bold yellow")
        yield hanging(Text("¶", "bold yellow"), name + data(text, limit=_LONG))
        yield indented(data(found.told(), "dim", _LONG), 2)
    yield from left_out(len(faults) - CLAIMS_SHOWN, "citation")


def _claim_counts(result: Result) -> Text:
    if not result.claims:
        return Text("")
    counts = [(label, result.count(label)) for label in Label]
    parts: list[Text | str] = [
        Text(f"{count} {label.value.lower()}", style=LABEL_STYLE[label]) for label, count in counts if count
    ]
    return Text.assemble(f"{counted(len(result.claims), 'claim')}: ", joined(parts, ", "))


def _claim(claim: JudgedClaim, texts: Mapping[str, str]) -> Iterator[tuple[int, RenderableType]]:
    """Yield the claim's lines, each with how far it is moved to the right."""
    verdict = claim.verdict
    style = LABEL_STYLE[verdict.label]
    name = Text(f"{verdict.label.value.lower()}  ", f"bold {style}")
    yield 0, hanging(Text(LABEL_SIGN[verdict.label], f"bold {style}"), name + data(claim.text, limit=_LONG))
    if remarks := _remarks(verdict):
        yield 2, joined([*remarks])
    if verdict.conflict:
        yield 2, _conflict(verdict)
    for evidence in verdict.evidence[:EVIDENCE_SHOWN]:
        yield 2, _in_context(evidence, texts.get(evidence.passage_id), style)
    yield from ((2, line) for line in left_out(len(verdict.evidence) - EVIDENCE_SHOWN, "place"))
    if reason := reason_beside(verdict):
        yield 2, Text.assemble(("because ", "dim"), data(reason, limit=_LONG))


def reason_beside(verdict: Verdict) -> str:
    """Return the reason of a verdict that is shown with its evidence; nothing where it only repeats that."""
    is_shown = verdict.label is Label.SUPPORTED and any(
        one_line(evidence.quote) in verdict.rationale for evidence in verdict.evidence[:EVIDENCE_SHOWN]
    )
    return "" if is_shown else verdict.rationale


def _remarks(verdict: Verdict) -> list[Text]:
    remarks = [Text(verdict.told_mode, style="italic")] if verdict.told_mode else []
    if verdict.probability is not None:
        remarks.append(Text(f"{verdict.probability_name} {verdict.probability:.2f}"))
    shown = verdict.failure_mode.value if verdict.failure_mode else ""
    return remarks + [data(words(flag)) for flag in verdict.flags if flag != shown]


def _conflict(verdict: Verdict) -> Text:
    verbs = {Label.SUPPORTED: "supports", Label.CONTRADICTED: "contradicts"}
    named = [
        Text.assemble(data(one.passage_id, limit=60), f" {verbs[one.label]} it")
        for one in verdict.per_passage
        if one.label in verbs
    ]
    line = Text.assemble("passages disagree", ": " if named else "", joined([*named], ", "))
    line.stylize("bold magenta")
    return line


def _in_context(evidence: Evidence, text: str | None, style: str) -> Text:
    """Show a quote where it stands, marked also for those who see no colour."""
    before = after = ""
    if text is not None and text[evidence.start : evidence.end] == evidence.quote:
        before = _edge(text[max(0, evidence.start - CONTEXT) : evidence.start], cut_left=evidence.start > CONTEXT)
        rest = len(text) - evidence.end
        after = _edge(text[evidence.end : evidence.end + CONTEXT], cut_right=rest > CONTEXT)
    return Text.assemble(
        (f"{one_line(evidence.passage_id, 60)} [{evidence.start}:{evidence.end}] ", "cyan"),
        (before, "dim"),
        (f"«{one_line(evidence.quote, _LONG)}»", f"bold {style}"),
        (after, "dim"),
    )


def _edge(text: str, *, cut_left: bool = False, cut_right: bool = False) -> str:
    """Make one side of a quote readable: on one line, whole words, its spaces at the quote kept, cuts said."""
    if cut_left:
        text = text.partition(" ")[2]
    if cut_right:
        text = text.rpartition(" ")[0]
    shown = one_line(text)
    if not shown:
        return " " if text else ""
    left = " " if text[0].isspace() else ""
    right = " " if text[-1].isspace() else ""
    return f"{'… ' if cut_left else ''}{'' if cut_left else left}{shown}{right}{' …' if cut_right else ''}"


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
                data(piece.display_name),
                f"{piece.span.start}:{piece.span.end}",
                data(piece.text, "yellow" if piece.unchecked else "dim", 200) + (_UNCHECKED if piece.unchecked else ""),
            )
        parts += [skipped, Text()]
    parts.append(_decomposition_counts(decomposition, response))
    return Page(Stack(*parts))


def _decomposition_counts(decomposition: Decomposition, response: str) -> Text:
    count = sum(piece.unchecked for piece in decomposition.skipped)
    unchecked = Text(f"{count:,} of them not checked" if count else "", style="yellow")
    if decomposition.abstained:
        return joined([Text("the response declines to answer"), unchecked])
    if not decomposition.claims:
        if not decomposition.skipped:
            return Text("no claims: nothing to check" if response.strip() else "no claims: the text is empty")
        return joined([Text("no claims: every sentence was skipped, nothing is checked", style="yellow"), unchecked])
    skipped = counted(len(decomposition.skipped), "sentence skipped", "sentences skipped")
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
    from everyclaim.analysis import score as score_text  # loads the statistics, as few lists do
    from everyclaim.analysis import span

    if not records:
        return Page(joined([Text("no runs yet in"), data(store)], " "))
    named = any(record.name or record.status != "finished" for record in records)
    failing = any(record.counts[Outcome.FAILED] for record in records)
    several = len({record.provenance.metric_name for record in records}) > 1
    judges = {record.provenance.verifier for record in records}
    texts = {"run": True, "name": named, "started (UTC)": True, "judge": len(judges) > 1, "metric": several}
    shown = texts | {"score": True, "95 % interval": True, "scored": True, "failed": failing}
    made = house_table(*compress(shown, shown.values()), numbers_from=sum(texts.values()))
    made.columns[0].no_wrap = True
    for record, score in zip(records, scores, strict=True):
        failed = record.counts[Outcome.FAILED]
        status = "" if record.status == "finished" else Text(f"({record.status})", style="yellow")
        band = None if score.value is None else band_of(record.provenance.quality(score.value))
        cells: list[Text | str] = [
            data(record.id),
            joined([data(record.name, limit=60), status], " "),
            record.created[:16].replace("T", " "),
            data(record.provenance.verifier, limit=120),
            data(record.provenance.metric_name),
            Text(score_text(score), style=BAND_STYLE[band] if band else ""),
            span(score),
            f"{record.counts[Outcome.SCORED]:,}/{_total(record)}",
            Text(f"{failed:,}", style="bold red" if failed else ""),
        ]
        made.add_row(*compress(cells, shown.values()))
    shared: list[RenderableType] = (
        [] if len(judges) > 1 else [joined([Text("judge", "dim"), data(judges.pop(), limit=120)], " ")]
    )
    return Page(Stack(made, *shared))


def _total(record: RunRecord) -> str:
    """Return the number of rows in the data set; of a run that has not read it to its end it may be unknown."""
    if record.status == "finished" and (record.reading or record.total is None):
        return f"{record.kept + record.bad_rows:,}"
    return "?" if record.total is None else f"{record.total:,}"


def verdicts_page(
    labels: Mapping[Label, int],
    failures: Mapping[str, int],
    *,
    bad_rows: int = 0,
    usage: Usage | None = None,
    worst: Sequence[tuple[Sample, Verdict]] = (),
) -> Page:
    """Show what judging given claims came to, then the `worst` of them; `failures` counts failed claims by code."""
    from everyclaim.analysis import percent

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
