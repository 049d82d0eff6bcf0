"""The pages of a judge: what labels say of it and of the rate, its test, its check over time, and what is fitted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from rich.console import Group as Stack
from rich.console import RenderableType
from rich.text import Text

from everyclaim.analysis import NO_NUMBER, interval, is_too_few, minus, percent, points, share_of, shown_rate
from everyclaim.analysis.calibration import (
    AT_LEAST,
    FEW,
    Calibration,
    Corrected,
    JudgeRates,
    inference_cells,
    standing_text,
)
from everyclaim.analysis.judge_eval import RULE, Drift, JudgeCheck, JudgeTest, OtherJudge
from everyclaim.analysis.labels import AnnotatorAgreement
from everyclaim.analysis.slices import shown_name
from everyclaim.analysis.splits import SplitCheck, SplitSentence
from everyclaim.core.plaintext import counted, words
from everyclaim.core.types import Label, SplitMark
from everyclaim.report.style import (
    Page,
    data,
    hanging,
    house_table,
    indented,
    joined,
    left_out,
    page,
    usage_block,
    whole,
)
from everyclaim.stats.intervals import Estimate
from everyclaim.stats.types import Inference

if TYPE_CHECKING:
    from everyclaim.analysis.deferral import BandFit
    from everyclaim.analysis.tuning import TuningFit

_WRONG_SHOWN = 25
_NAMES = {
    "balanced_accuracy": "balanced accuracy",
    "sensitivity": "supported claims recognised",
    "specificity": "other claims recognised",
    "roc_auc": "ROC-AUC",
}


def judge_test_page(test: JudgeTest) -> Page:
    """Show accuracy by kind beside that of the offline judge, what is wrong, what it took, and the word on it."""
    sets = len({one.passages for one in test.answered})
    head = joined([Text("judge test", "bold"), data(test.judge), _basis("claim", len(test.answered), sets)])
    verdict = Text("fit to judge", "bold green") if test.is_fit else Text("not fit to judge", "bold red")
    return page(
        head,
        _table(test),
        _unjudged(test.unjudged),
        _wrong(test) if test.wrong else None,
        usage_block(test.usage),
        Stack(verdict, *(hanging(Text("-"), Text(why)) for why in test.why_not)),
        Text(f"{RULE}.", "dim"),
    )


def _unjudged(claims: int) -> Text | None:
    return Text(f"{counted(claims, 'claim')} without a usable verdict", "yellow") if claims else None


def _basis(what: str, claims: int, sets: int) -> str:
    return f"{counted(claims, what)} on {counted(sets, 'set of passages', 'sets of passages')}"


def _table(test: JudgeTest) -> RenderableType:
    beside = test.beside
    made = house_table("", "right", "95 % interval", *([beside.judge] if beside else []))
    rows = [(Text(kind), share, beside and beside.kinds[kind]) for kind, share in test.kinds.items()]
    measures = [
        (Text("all kinds", style="bold"), "accuracy"),
        (Text("supported claims"), "supported"),
        (Text("unsupported and contradicted claims"), "not_supported"),
        (Text("unsupported vs. contradicted"), "told_apart"),
        (Text("verdicts with verified quotes only"), "quotes_found"),
    ]
    rows += [(title, getattr(test, name), beside and getattr(beside, name)) for title, name in measures]
    for title, share, other in rows:
        right = NO_NUMBER if share.value is None else share_of(share)
        made.add_row(title, right, interval(share), *([percent(other.value)] if other else []))
    return made


def _wrong(test: JudgeTest) -> RenderableType:
    rows: list[RenderableType] = [Text(f"wrong: {counted(len(test.wrong), 'claim')}", style="dim")]
    for one in test.wrong[:_WRONG_SHOWN]:
        given = f"judged {one.given.value.lower()}" if one.given else "no verdict"
        said = f"{one.kind}: {given}, should be {one.expected.value.lower()}"
        rows.append(hanging(Text("-"), joined([data(one.claim), Text(said, style="dim")])))
    return Stack(*rows, *left_out(len(test.wrong) - _WRONG_SHOWN, "claim", "; --json has them all"))


def judge_check_page(found: JudgeCheck) -> Page:
    """Lay a check out: rates, repeating, order, length, drift, the other judge, then what is shown to be wrong."""
    head = joined([data(found.judge, "bold", 60), counted(len(found.asked), "labelled claim")])
    made = house_table("share of claims", "", "95 % interval", "")
    rows = [
        ("supported claims recognised (TPR)", found.supported_called_so),
        ("failing claims recognised (TNR)", found.failing_called_so),
        ("label changes on repetition", found.flips),
        ("label changes with reversed passages", found.turned),
    ]
    for name, rate in rows:
        if rate.n:
            made.add_row(name, percent(rate.value), interval(rate), share_of(rate))
    unjudged = f"no verdict for {percent(found.unjudged)} of the requests"
    verdict = Text(found.verdict, "" if found.shortfalls else "green")
    return page(
        head,
        Stack(made, Text(unjudged, "yellow")) if found.unjudged else made,
        _lengths(found) if found.lengths else None,
        _drift(found.drift),
        _against(found.against) if found.against else None,
        Stack(
            *(hanging(Text("!", "bold red"), Text(told)) for told in (*found.findings, *found.shortfalls)),
            *([verdict] if found.verdict else []),
        ),
        usage_block(found.usage) if found.usage.calls else None,
    )


def _lengths(found: JudgeCheck) -> RenderableType:
    made = house_table("recognised", "shorter", "longer", "points", "")
    for one in found.lengths:
        made.add_row(
            f"{one.rate.partition('_')[0]} claims, by {one.of} length",
            percent(one.shorter.value),
            percent(one.longer.value),
            _points(one.difference),
            Text("differs", "bold red") if one.is_shown else "",
        )
    return made


def _drift(drift: Drift | None) -> RenderableType:
    if drift is None:
        return Text("drift: first check of this judge on these claims; later ones are compared with it", "dim")
    last = "" if drift.changed_last is None else f", {drift.changed_last:,} since the last check"
    told = (
        f"drift since {drift.since[:10]} ({counted(drift.checks, 'earlier check')}): {drift.changed:,} of "
        f"{drift.claims:,} labels changed{last}; accuracy {_points(drift.difference)} points, p {drift.p_value:.3f} "
        f"(threshold {drift.alpha:.4f} keeps false alarms over all checks at 5 %)"
    )
    changed = [Text.assemble(("changed since: ", "yellow"), data("; ".join(drift.differs), limit=400))]
    return Stack(Text(told), *(changed if drift.differs else []))


def _against(one: OtherJudge) -> RenderableType:
    kappa = "" if one.kappa is None else f", kappa {one.kappa:.2f}"
    alike = f"same label for {percent(one.agreeing.value)} of {counted(one.claims, 'claim')} ({interval(one.agreeing)})"
    told = f"; accuracy {_points(one.difference)} points"
    return Text.assemble("compared with ", data(one.judge, "bold", 60), f": {alike}{kappa}{told}")


def _points(one: Inference) -> str:
    sign = "+" if one.value > 0 else ""
    return f"{sign}{points(one.value)} ({points(one.interval.low)} … {points(one.interval.high)})"


def band_page(fit: BandFit, judge: str, spec: str) -> Page:
    """Show what the judge may settle and how often it is wrong there; `spec` is the cascade."""
    basis = _basis("labelled claim", fit.claims, fit.clusters)
    head = joined([Text("deferral zone", style="bold"), data(judge), basis])
    made = house_table("", "P(supported)", "settled", "wrong", f"upper bound ({percent(fit.confidence, 0)} confidence)")
    rows = (
        ("as supported", f"≥ {fit.high:g}", fit.as_supported),
        ("as not supported", f"≤ {fit.low:g}", fit.as_not_supported),
        ("total", "", fit.settled),
    )
    for name, edge, one in rows:
        if one.claims:
            wrong = f"{one.wrong:,} ({percent(one.wrong / one.claims)})"
            made.add_row(name, edge, f"{one.claims:,}", wrong, percent(one.at_most))
        else:
            made.add_row(name, NO_NUMBER, "0", NO_NUMBER, NO_NUMBER)
    if not fit.settled.claims:
        return page(head, made, Text(fit.why_nothing, "yellow"))
    doubt = fit.claims - fit.settled.claims
    share = f"uncertain: {doubt:,} of {fit.claims:,} claims ({percent(doubt / fit.claims)})"
    few = "" if fit.needs_second else ": no second judge is worth it; a lower --max-error leaves more claims uncertain"
    return page(head, made, Text(share + few), _use(spec if fit.needs_second else judge))


def tuning_page(fit: TuningFit, written: str | None) -> Page:
    """Show what a fit gains on documents that it did not see; `written` is the file, where there is one."""
    use: RenderableType = Text(fit.why_not, "" if fit.helps else "yellow")
    if written and fit.judge:
        use = _use(fit.judge, f" --rubric {written}")
    elif written:
        alarm = [Text("the threshold for contradicted claims is fitted, too")] if fit.alarm is not None else []
        use = Stack(*alarm, _use(f"embedded?tuned={written}"))
    rule = f", and a rule to be {fit.rule}" if fit.rule else ""
    rubric = f"the rubric has {counted(fit.examples, 'worked example')}{rule}"
    return page(
        *_fit_blocks(fit),
        _unjudged(fit.unjudged),
        Text(rubric) if fit.judge and fit.helps else None,
        usage_block(fit.usage) if fit.usage.calls else None,
        use,
    )


def _fit_blocks(fit: TuningFit) -> Iterator[RenderableType]:
    basis = _basis("labelled claim", fit.claims, fit.documents)
    by = [] if fit.labelled_by == "labels" else [joined([Text("labels by"), data(fit.labelled_by)], " ")]
    labels = " · ".join(f"{count:,} {label.lower().replace('_', ' ')}" for label, count in sorted(fit.labels.items()))
    skipped = f"{counted(fit.left_out, 'labelled claim')} skipped: no passages, or too long"
    yield Stack(
        joined([Text("tuning", style="bold"), basis, *by]),
        Text(labels, style="dim"),
        *([Text(skipped, style="yellow")] if fit.left_out else []),
    )
    if fit.table:
        made = house_table("held-out documents", "before", "after", "change", "95 %")
        for name, one in fit.table.items():
            made.add_row(
                _NAMES[name], f"{one.before:.3f}", f"{one.after:.3f}", _signed(one.after - one.before),
                f"{_signed(one.low)} to {_signed(one.high)}"
            )  # fmt: skip
        yield made


def _signed(value: float) -> str:
    return minus(f"{value:+.3f}")


def _use(spec: str, more: str = "") -> Text:
    """Show the judge to use, on one line, since it is there to be copied."""
    use = joined([Text("use", style="dim"), Text("--judge"), data(f"'{spec}'{more}", "bold")], " ")
    use.no_wrap, use.overflow = True, "ignore"
    return use


GROUPS_SHOWN = 12
_STYLE = {"met": "green", "missed": "bold red", "inconclusive": "yellow"}
_TARGET = f"target {AT_LEAST}"
_TARGET_NOTE = f"target: at least {AT_LEAST}; inconclusive: the interval contains {AT_LEAST}"


def calibration_page(found: Calibration) -> Page:
    """Lay a calibration out."""
    people = counted(len(found.annotators), "annotator")
    head = joined([Text(f"run {found.run}", "bold"), found.extent, people])
    stated = found.reliability
    error = stated and f"probabilities: calibration error {stated.ece:.3f}, Brier score {stated.brier:.3f} (0 is best)"
    return page(
        head,
        _rates_table(found),
        _corrected_table(found.corrected),
        _confusion(found),
        _agreement(found.agreement) if found.agreement else None,
        *(_groups(name, groups, _plain(found)) for name, groups in found.groups.items() if len(groups) > 1),
        _shares(f"failing claims by mode (people){_plain(found)}", "caught by the judge", found.modes)
        if found.modes.keys() - {"not stated"}
        else None,
        _shares(f"failing claims by mode (judge){_plain(found)}", "confirmed by people", found.judged_modes)
        if found.judged_modes
        else None,
        Text(error) if error else None,
        Stack(
            *([hanging(Text("✓", "green"), Text(f"promise: {found.promise}"))] if found.promise else []),
            *(hanging(Text("·", "dim"), Text(note)) for note in found.notes),
            *(hanging(Text("→", "bold"), Text(text)) for text in found.advice),
        ),
    )


def corrected_rows(found: Corrected) -> list[tuple[str, str, str, str]]:
    """Return the rows of raw and corrected rate: what, value, interval, how."""
    rows = [("called supported by the judge", percent(found.raw.value), interval(found.raw), "raw")]
    ways = ("corrected with labels", found.ppi), ("corrected by the judge's error rates", found.rogan_gladen)
    return rows + [(name, *inference_cells(one)) for name, one in ways if one]


def corrected_table(found: Calibration) -> RenderableType:
    """Show the judge's error, and the rate without it where there is one, beside a run's numbers."""
    said = Text(whole(f"judge accuracy by labels: {found.accuracy}; details: `everyclaim calibrate {found.run}`"))
    return Stack(_corrected_table(found.corrected), Text(), said) if found.corrected.shown else said


def _plain(found: Calibration) -> str:
    """Mark the tables that count labels as they are, where the rates are weighted."""
    return ", unweighted" if found.is_weighted else ""


def _rates_table(found: Calibration) -> RenderableType:
    made = house_table("judge vs. people", "rate", "95 % interval", "labels", _TARGET)
    for name, rate, labels in found.recognised:
        against = standing_text(rate)
        made.add_row(name, *shown_rate(rate, labels), f"{labels:,}", Text(against, _STYLE[against]))
    weighted = "; rates are weighted to represent the run, as claims were sampled by the judge's label"
    return Stack(made, Text(_TARGET_NOTE + (weighted if found.is_weighted else ""), "dim"))


def _corrected_table(found: Corrected) -> RenderableType:
    made = house_table("rate", "value", "95 % interval", "method")
    for row in corrected_rows(found):
        made.add_row(*row)
    return Stack(made, *(Text(f"! {text}", "yellow") for text in found.warnings))


def _confusion(found: Calibration) -> RenderableType:
    made = house_table(f"labels by people ↓, judge →{_plain(found)}", *(label.value.lower() for label in Label))
    for label, row in zip(Label, found.confusion, strict=True):
        made.add_row(label.value.lower(), *(f"{number:,}" for number in row))
    kappa = f"agreement of judge and people (Cohen's kappa): {_kappa(found.kappa)}" if found.kappa else ""
    return Stack(made, *([Text(kappa)] if kappa else []))


def _agreement(one: AnnotatorAgreement) -> RenderableType:
    said = [f"annotators agree on {one.agreeing:,} of {one.shared:,} claims labelled by several"]
    named = (("Cohen's kappa", one.kappa), ("Krippendorff's alpha", one.alpha))
    return joined([*said, *(f"{name} {_kappa(value)}" for name, value in named if value)])


def _kappa(one: Inference) -> str:
    return f"{one.value:.2f} ({one.interval.low:.2f} – {one.interval.high:.2f})".replace("-", "−")


def _groups(name: str, groups: Mapping[str, JudgeRates], plain: str) -> RenderableType:
    made = house_table(data(f"{shown_name(name)}{plain}", limit=60), "TPR (95 %)", "labels", "TNR (95 %)", "labels")
    for value, one in list(groups.items())[:GROUPS_SHOWN]:
        cells = (cell for _, _, rate, labels in one.named for cell in _rate_cells(rate, labels))
        made.add_row(data(value, limit=60) if value else Text("(not given)", "dim"), *cells)
    return Stack(made, *left_out(len(groups) - GROUPS_SHOWN, "value", "; --json has them all"))


def _rate_cells(rate: Estimate, labels: int) -> tuple[str, Text]:
    shown = NO_NUMBER
    if is_too_few(rate, labels):
        shown = "too few labels"
    elif rate.value is not None and rate.low is not None and rate.high is not None:
        shown = f"{100 * rate.value:.0f} % ({100 * rate.low:.0f}–{100 * rate.high:.0f})"
    return shown, Text(f"{labels:,}", "yellow" if labels < FEW else "")


def _shares(what: str, hit: str, shares: Mapping[str, Estimate]) -> RenderableType:
    made = house_table(what, hit, "95 % interval", "")
    for name, share in shares.items():
        title = "(not given)" if name == "not stated" else words(name)
        made.add_row(data(title), *shown_rate(share, share.n), share_of(share))
    return made


_SHOWN = 5  # rejected sentences


def splits_page(found: SplitCheck) -> Page:
    """Lay the marks of splits out."""
    people = counted(len(found.annotators), "annotator")
    head = joined([Text(f"run {found.run}", "bold"), data(found.decomposer, limit=60), people])
    made = house_table("sentences", "share", "95 % interval", "", _TARGET)
    standing = Text(standing_text(found.accepted), _STYLE[standing_text(found.accepted)])
    accepted = found.accepted
    made.add_row("accepted", percent(accepted.value), interval(accepted), share_of(accepted), standing)
    for mark, rate in found.with_mark.items():
        made.add_row(f"with {words(mark.value)}", percent(rate.value), interval(rate), share_of(rate), "")
    incomplete = f"{counted(found.incomplete, 'sentence')} with unreviewed claims: not counted"
    notes = [*([incomplete] if found.incomplete else []), *found.notes]
    return page(
        head,
        Stack(made, *(Text(note, "dim") for note in notes)),
        *(Stack(*_rejected(one)) for one in found.rejected[:_SHOWN]),
        *left_out(len(found.rejected) - _SHOWN, "rejected sentence", "; --json has them all"),
    )


def _rejected(one: SplitSentence) -> Iterator[RenderableType]:
    yield hanging(Text("·", "dim"), data(one.text, limit=400))
    for claim, mark in zip(one.claims, one.marks, strict=True):
        is_bad = mark not in (None, SplitMark.GOOD)
        named = Text(f" {words(mark.value)}" if mark else " no mark", "yellow" if is_bad else "dim")
        yield indented(hanging(Text("→", "dim"), data(claim, limit=240) + named), 2)
    for claim in one.better:
        yield indented(hanging(Text("better", "green"), data(claim, limit=240)), 2)
