"""A run in the terminal: the headline, what the claims came to, the slices, then the answers to look at first.

Every function returns something rich can print, wrapped as a `Page`; printing is the caller's. Behind them is what
build servers read: JUnit XML, GitHub's annotations, and the page as Markdown, made of the same pieces.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from xml.etree import ElementTree as ET

from rich.console import Group as Stack
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from everyclaim.analysis import NO_NUMBER, interval, percent, share_of, span
from everyclaim.analysis import score as score_text
from everyclaim.analysis.calibration import Calibration
from everyclaim.analysis.gate import GateResult, GateStatus, is_less_likely, is_worse
from everyclaim.analysis.slices import FEW, JudgingSummary, shown_name
from everyclaim.analysis.summary import TEXTS_KEPT, Group, Summary
from everyclaim.core.cited import citation_line, failing_lines
from everyclaim.core.plaintext import counted, number, one_line, words
from everyclaim.core.printing import LOWER_BOUNDS, Band
from everyclaim.core.protocols import Kept
from everyclaim.core.types import FailureMode, Label, Outcome, Provenance, Result
from everyclaim.report.findings import findings
from everyclaim.report.judge import corrected_table
from everyclaim.report.style import (
    BAND_STYLE,
    LABEL_FILL,
    LABEL_STYLE,
    LabelBar,
    Page,
    data,
    dollars,
    hanging,
    headline,
    house_table,
    indented,
    joined,
    left_out,
    markdown,
    md,
    refusal_words,
    usage_line,
)
from everyclaim.store.records import RunRecord

WARNINGS_SHOWN = 3
_BANDS_OF_LOWER = {Band.HIGH: "best", Band.LOW: "worst"}  # names where a lower score is better

_PARTS = re.compile(r"/(?=\w+=)")  # of a prompt's version: what it was asked with
_METHODS = {
    "wilson": "Wilson interval, for few answers or scores near 0 or 1",
    "wilson_effective": "Wilson interval, for few answers or scores near 0 or 1",
    "bootstrap": "bootstrap",
    "clustered_clt": "clustered standard error",
    "one_cluster": "no interval for a single answer",
    "none": "",
}


def run_page(
    record: RunRecord,
    summary: Summary,
    worst: Sequence[Kept],
    calibration: Calibration | None = None,
    known_error: str = "",
) -> Page:
    """Show a run: its summary, what is known of its judge's error, then its worst answers with their findings."""
    parts: list[RenderableType] = [_heading(record), Text(), *_summary(summary)]
    if calibration:
        parts += [Text(), indented(corrected_table(calibration), 2)]
    elif known_error and summary.overall.claims:
        parts += [Text(), indented(hanging(Text("accuracy  ", "dim"), Text(known_error)), 2)]
    if worst:
        first = "highest" if summary.overall.lower_is_better else "lowest"
        parts += [Text(), Text(f"Worst answers · {first} score first", "bold"), findings(worst)]
    parts += [Text(), provenance_line(record.provenance)]
    return Page(Stack(*parts))


def _heading(record: RunRecord) -> RenderableType:
    name = data(record.name, "bold") if record.name else ""
    started = record.created[:16].replace("T", " ") + " UTC"
    status = (
        "" if record.status == "finished" else Text(f"{record.status}: not all samples were scored", style="yellow")
    )
    if record.reading and record.reading.incomplete:
        status = Text("input incomplete: it could not be read to the end", style="bold red")
    return joined([Text(f"run {record.id}", style="bold"), name, started, data(record.dataset), status])


def provenance_line(provenance: Provenance) -> Text:
    """Say in one line what made the numbers."""
    named = {"judge": provenance.verifier, "decomposer": provenance.decomposer, "strategy": provenance.strategy}
    named |= dict(sorted(provenance.parameters.items()))
    parts = [data(provenance.metric), *(data(f"{key}={_PARTS.sub(' ', value)}") for key, value in named.items())]
    parts.append(data(f"everyclaim={provenance.version}"))
    line = joined([*parts])
    line.stylize("dim")
    return line


def _summary(summary: Summary) -> list[RenderableType]:
    shown = (piece for part in overview(summary) for piece in (indented(part, 2), Text()))
    lines = Table.grid(padding=(0, 2, 0, 0))
    for heading, content, style in remarks(summary):
        lines.add_row(Text(heading, style=style), content)
    return [*shown, indented(lines, 2), *slice_tables(summary.slices)]


def overview(summary: Summary) -> list[RenderableType]:
    """Show the numbers of all answers: rates, means, and how many claims have each label."""
    group = summary.overall
    parts: list[RenderableType] = [_headline(group, summary.bad_rows)]
    if group.components:
        made = house_table("part of the score", "mean", "95 % interval", "answers")
        for name, part in group.components.items():
            made.add_row(data(words(name), limit=60), score_text(part), span(part), f"{part.n:,}")
        parts.append(made)
    if group.claims:
        parts += [LabelBar(dict(group.labels)), _rates(group)]
    return parts


def _headline(group: Group, bad_rows: int) -> RenderableType:
    """Lead with the rate per claim and the share of answers that are not whole, beside the mean per answer."""
    made = house_table("", "", "95 % interval", "")
    for title, rate in (("claims supported", group.supported), (group.imperfect, group.below_one)):
        if rate.n:
            made.add_row(Text(title), Text(percent(rate.value), "bold"), interval(rate), share_of(rate))
    score = group.score
    if score.value is not None and group.band is not None:
        style = BAND_STYLE[group.band]
        made.add_row("mean score", Text(score_text(score), style), span(score), counted(score.n, "answer"))
    unread = Text(f"{counted(bad_rows, 'row')} unreadable", style="bold red") if bad_rows else ""
    answers = joined([_outcomes(group), unread])
    if not made.rows:
        none = joined([Text("score", "bold"), Text("none: no answer was scored", style="bold")], "   ")
        return Stack(none, joined(["answers", answers], "   "))
    return Stack(made, Text(), joined(["answers", answers], "   "))


def _outcomes(group: Group) -> Text:
    counts = [(outcome, group.outcomes[outcome]) for outcome in other_outcomes(group)]
    rest = [
        Text(f"{count:,} {outcome.display_name}", "bold red" if outcome is Outcome.FAILED and count else "")
        for outcome, count in counts
    ]
    return joined([Text(f"{group.scored:,} scored of {group.total:,}"), *rest])


def other_outcomes(group: Group) -> list[Outcome]:
    """Return the outcomes without a score; the rare ones where there are any."""
    always = (Outcome.NO_CLAIMS, Outcome.ABSTAINED, Outcome.FAILED)
    return [one for one in Outcome if one in always or (one is not Outcome.SCORED and group.outcomes[one])]


def _rates(group: Group) -> Table:
    made = house_table("", "count", "share", "95 % interval")
    for label in Label:
        shown = Text(f"{LABEL_FILL[label]} {label.value.lower()} claims", style=LABEL_STYLE[label])
        rate = group.rates[label]
        made.add_row(shown, f"{group.labels[label]:,}", percent(rate.value), interval(rate))
    for name, share in (
        ("answers with an unsupported claim", group.any_unsupported),
        ("answers with a contradicted claim", group.any_contradicted),
    ):
        made.add_row(name, f"{round((share.value or 0) * share.n):,}", percent(share.value), interval(share))
    return made


def remarks(summary: Summary) -> list[tuple[str, Text, str]]:
    """Return what is to be said beside the rates: what it is of, the words, and the style of the former.

    Further lines of the same have no name.
    """
    group = summary.overall
    lines: list[tuple[str, Text, str]] = []

    def line(name: str, content: Text | str, *, when: object, style: str = "dim") -> None:
        if when:
            lines.append((name, content if isinstance(content, Text) else Text(content), style))

    line("scores", joined([_band(band, count, group) for band, count in group.bands.items()]), when=group.score.n)
    line("length", _length(group), when=group.claims_per_answer)
    line("why", _counts(summary.failure_modes), when=summary.failure_modes)
    line("flags", _counts(summary.flags), when=summary.flags)
    torn = f"{counted(summary.conflicts, 'claim')} supported by one passage and contradicted by another"
    line("conflicts", torn, when=summary.conflicts)
    line("refusals", _refusals(summary), when=summary.refusals)
    line("citations", citation_line(summary.citations), when=summary.citations)
    example = data(f"for example {summary.failed_example}", limit=240)
    line("failed", joined([_counts(summary.failures), example]), when=summary.failures, style="bold red")
    for place, said in enumerate(_warnings(summary.warning_texts, summary.warned_examples)):
        line("" if place else "warnings", said, when=True, style="yellow")
    by_policy = f"the mean includes {counted(group.counted_unscored, 'answer')} without a score"
    line("policy", by_policy, when=group.counted_unscored)
    for name, said in _judging(summary.judging):
        line(name, said, when=True)
    line("usage", usage_line(summary.usage), when=summary.usage.calls or summary.usage.cache_hits)
    line("intervals", _how(summary), when=group.score.n)
    return lines


def plain_remarks(summary: Summary, leave_out: Collection[str]) -> list[tuple[str, str]]:
    """Return the same for a page in HTML: one text for each name."""
    rows: dict[str, list[str]] = {}
    for name, text, _ in remarks(summary):
        rows.setdefault(name or list(rows)[-1], []).append(text.plain)
    return [(name, " · ".join(texts)) for name, texts in rows.items() if name not in leave_out]


def _warnings(texts: Mapping[str, int], examples: Mapping[str, str]) -> Iterator[Text]:
    """Tell the warnings of most answers, then how many other kinds there are."""
    kinds = most_frequent(texts)
    for text, count in kinds[:WARNINGS_SHOWN]:
        such = data(examples[text], limit=60)
        answers = Text.assemble(counted(count, "answer"), " (" if count == 1 else " (such as ", such, ")")
        yield joined([answers, data(text)], ": ")
    if rest := kinds[WARNINGS_SHOWN:]:
        more = " or more" if len(kinds) >= TEXTS_KEPT else ""
        yield Text(f"… and {counted(len(rest), 'other kind')} of warning{more}")


def _band(band: Band, count: int, group: Group) -> Text:
    bound = LOWER_BOUNDS[band]
    side = f" (≤ {1 - bound:.3g})" if group.lower_is_better else f" (≥ {bound:g})"
    name = _BANDS_OF_LOWER.get(band, band.value) if group.lower_is_better else band.value
    return Text(f"{count:,} {name}{side if bound else ''}", style=BAND_STYLE[band] if count else "dim")


def _length(group: Group) -> Text:
    text = f"{group.claims_per_answer or 0:.1f} claims per answer"
    if group.failing:
        text += (
            f" · an answer with a failing claim has on average {group.unsupported_per_failing:.1f} unsupported and "
            f"{group.contradicted_per_failing:.1f} contradicted claims"
        )
    return Text(text)


def _counts(counts: Mapping[str, int]) -> Text:
    return joined([data(f"{words(name)} {count:,}") for name, count in most_frequent(counts)])


def most_frequent(counts: Mapping[str, int]) -> list[tuple[str, int]]:
    """Return what was counted, the most frequent first; what has no name comes last."""
    return sorted(counts.items(), key=lambda item: (item[0] == "other", -item[1], item[0]))


def _judging(judging: JudgingSummary) -> Iterator[tuple[str, Text]]:
    """Say how the judging went, where there is something to say."""
    cascade = judging.cascade
    if cascade and cascade.settled.n:
        audit: Text | str = "no settled claim was audited"
        if cascade.agreement.n:
            audit = f"audit: {share_of(cascade.agreement)} agree ({interval(cascade.agreement)})"
        saved = "savings unknown" if cascade.saved is None else f"about {dollars(cascade.saved)} saved"
        settled = f"{percent(cascade.settled.value)} of {counted(cascade.settled.n, 'claim')} settled by "
        told = Text.assemble(settled, data(cascade.first), f" ({interval(cascade.settled)})")
        yield "cascade", joined([told, audit])
        spared = joined([f"{counted(cascade.spared, 'answer')} settled by the first judge alone", saved])
        yield "", spared if cascade.spared else Text("no answer was settled by the first judge alone")
    if judging.disagreement and judging.disagreement.n:
        torn = f"judges disagree on {share_of(judging.disagreement)} claims ({interval(judging.disagreement)})"
        yield "panel", Text(torn)
    if judging.flips:
        yield "repeats", Text(f"{share_of(judging.flips)} claims changed their label ({interval(judging.flips)})")


def _refusals(summary: Summary) -> Text:
    whole = summary.overall.outcomes[Outcome.ABSTAINED]
    partial = sum(summary.refusals.values()) - whole
    found = most_frequent(summary.refusals)
    shares = [f"{count:,} {refusal_words(finding)}" for finding, count in found]
    extent = f": {whole:,} of the whole answer, {partial:,} of a part" if partial > 0 else ""
    return Text(f"{', '.join(shares)}{extent}")


def _how(summary: Summary) -> Text:
    score = summary.overall.score
    by = {"sample": "answer"}.get(summary.cluster_by, summary.cluster_by)
    seed = f"seed {summary.sampling.seed}" if score.method == "bootstrap" else ""
    return joined([Text(f"clustered by {by} · mean score: {_METHODS[score.method]}"), seed], ", ")


SLICES_SHOWN = 20
_COLUMNS = 4  # values beside each other in the table of failure modes


def slice_tables(slices: Mapping[str, Mapping[str, Group]]) -> Iterator[RenderableType]:
    """Show a table for each slice, and one of failure modes by its largest values."""
    for tag, groups in slices.items():
        shown = by_size(groups)
        yield from (Text(), indented(_slice_rates(tag, shown), 2))
        values, modes = mode_shares(shown, SLICES_SHOWN)
        more = sum(1 for _, group in shown if group.claims and not group.is_tiny) - len(values)
        for at in range(0, len(values) if modes else 0, _COLUMNS):
            some = slice(at, at + _COLUMNS)
            rest = more if at + _COLUMNS >= len(values) else 0
            part = [(mode, shares[some]) for mode, shares in modes]
            yield from (Text(), indented(_modes(tag, values[some], part, rest), 2))


def by_size(groups: Mapping[str, Group]) -> list[tuple[str, Group]]:
    """Return the values of a slice, those with the most answers first."""
    return sorted(groups.items(), key=lambda item: (-item[1].total, item[0]))


def mode_shares(
    groups: Sequence[tuple[str, Group]], most: int
) -> tuple[tuple[str, ...], tuple[tuple[str, tuple[float, ...]], ...]]:
    """Return the first values that have claims, and by failure mode its share of these; no mode of one value alone."""
    shown = [(value, group) for value, group in groups if group.claims and not group.is_tiny][:most]
    there = {mode for _, group in shown for mode in group.failure_modes} if len(shown) > 1 else set()
    modes = (mode.value for mode in FailureMode if mode.value in there)
    return tuple(value for value, _ in shown), tuple(
        (mode, tuple(group.failure_modes.get(mode, 0) / group.claims for _, group in shown)) for mode in modes
    )


def _slice_rates(tag: str, groups: Sequence[tuple[str, Group]]) -> RenderableType:
    made = house_table(data(shown_name(tag), limit=60), "scored", "score", "95 % interval", "unsupp.", "contrad.")
    for value, group in groups[:SLICES_SHOWN]:
        if group.is_tiny:
            made.add_row(_value(value), f"{group.scored:,}/{group.total:,}  ", NO_NUMBER, "too few answers")
            continue
        made.add_row(
            _value(value),
            Text.assemble(f"{group.scored:,}/{group.total:,}", (" !", "yellow") if group.is_rough else "  "),
            Text(score_text(group.score), style=BAND_STYLE[group.band] if group.band else ""),
            span(group.score),
            percent(group.rates[Label.UNSUPPORTED].value),
            percent(group.rates[Label.CONTRADICTED].value),
        )
    parts: list[RenderableType] = [made, *left_out(len(groups) - SLICES_SHOWN, "value", "; --json has them all")]
    if any(group.is_rough for _, group in groups[:SLICES_SHOWN]):
        parts.append(Text(f"! fewer than {FEW} scored answers: read the interval, not the number", style="yellow"))
    return Stack(*parts)


def _modes(tag: str, values: Sequence[str], modes: Sequence[tuple[str, Sequence[float]]], more: int) -> RenderableType:
    """Show the share of all claims that fail in each way, values beside each other."""
    made = house_table(data(f"% of claims by {shown_name(tag)}", limit=60), *(_value(value) for value in values))
    for mode, shares in (row for row in modes if any(row[1])):
        made.add_row(words(mode), *(percent(share) if share else NO_NUMBER for share in shares))
    return Stack(made, *left_out(more, "value", "; --json has them all"))


def _value(value: str) -> Text:
    return data(value, limit=60) if value else Text("(not given)", style="dim")


_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit(
    results: Iterable[Result], gate: GateResult, name: str, bar: float | None = None, least: float | None = None
) -> bytes:
    """Write one test case per answer and one for the gate; cases fail only where the gate does.

    Then an answer fails that scores worse than `bar` or has a probability below `least`, or without both one that has a
    claim that is not supported; and one whose judging failed is an error. Otherwise the failing claims are the output
    of a case that passes. An answer without a score is skipped.
    """
    is_failed = gate.status in (GateStatus.FAILED, GateStatus.TOO_MANY_FAILURES)
    suite = ET.Element("testsuite", package="everyclaim", name=_xml(name))
    for result in results:
        case = ET.SubElement(suite, "testcase", classname=_xml(name), name=_xml(result.id))
        lines = "\n".join(failing_lines(result))
        if result.outcome is Outcome.FAILED:
            _child(case, "error" if is_failed else "skipped", result.reason)
        elif result.outcome is not Outcome.SCORED:
            _child(case, "skipped", result.outcome.value)
        elif is_failed and _fails(result, bar, least):
            _child(case, "failure", f"failing claims: {len(result.failing)} of {len(result.claims)}", lines)
        elif lines:
            ET.SubElement(case, "system-out").text = _xml(lines)
    case = ET.SubElement(suite, "testcase", classname=_xml(name), name="gate")
    if gate.status is not GateStatus.PASSED:
        _child(case, "failure", gate.message)
    for kinds, kind in (("tests", "."), ("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        suite.set(kinds, str(len(suite.findall(f"testcase/{kind}"))))
    return bytes(ET.tostring(suite, encoding="utf-8", xml_declaration=True))


def _fails(result: Result, bar: float | None, least: float | None) -> bool:
    if bar is None and least is None:
        return bool(result.failing)
    return is_less_likely(result, least) or (bar is not None and is_worse(result, bar))


def github_lines(results: Iterable[Result], gate: GateResult) -> Iterator[str]:
    """Yield GitHub's commands: an error or a notice of each gate, a warning for every answer given."""
    for part in gate.gates:
        kind = "notice" if part.status is GateStatus.PASSED else "error"
        yield f"::{kind} title=everyclaim {part.title}::{_github(part.message)}"
    for result in results:
        title = _github(one_line(result.id, 80)).replace(":", "%3A").replace(",", "%2C")
        yield f"::warning title={title}::{_github('; '.join(failing_lines(result)))}"


def run_markdown(summary: Summary, worst: Sequence[Result], gate: GateResult, name: str) -> str:
    """Write the gate's word, the rates with their intervals, and the answers to look at first."""
    told = [Text.assemble((part.title, "bold"), f": {one_line(part.message)}") for part in gate.gates]
    parts = [f"## everyclaim: {md(name)}", *told, *overview(summary)]  # files that begin so may be replaced
    if worst:
        parts.append(headline("Worst answers", 3))
    for result in worst:
        parts.append(joined([data(result.id, "bold", 80), number(result.score)], " "))
        parts += [hanging(Text("-"), Text(line)) for line in failing_lines(result)]
    return markdown(parts)


def _child(case: ET.Element, kind: str, message: str, text: str = "") -> None:
    ET.SubElement(case, kind, message=_xml(message)).text = _xml(text)


def _xml(text: str) -> str:
    return _NOT_IN_XML.sub("\ufffd", text)


def _github(text: str) -> str:
    return one_line(text).replace("%", "%25")
