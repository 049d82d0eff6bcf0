"""The pages of labels: what they say of a judge, with and without its error, and of how answers are split."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from rich.console import Group as Stack
from rich.console import RenderableType
from rich.text import Text

from everyclaim.analysis.calibration import (
    AT_LEAST,
    FEW,
    Calibration,
    Corrected,
    JudgeRates,
    Standing,
    compare_with_target,
    ends,
    method,
)
from everyclaim.analysis.estimates import NO_NUMBER, interval, percent, share_of
from everyclaim.analysis.labels import AnnotatorAgreement
from everyclaim.analysis.splits import SplitCheck, SplitSentence
from everyclaim.core.plaintext import counted, words
from everyclaim.core.types import Label, SplitMark
from everyclaim.report.style import Page, data, hanging, house_table, indented, joined
from everyclaim.stats.intervals import Estimate

GROUPS_SHOWN = 12
_STYLE: Mapping[Standing, str] = {"met": "green", "missed": "bold red", "not shown": "yellow"}


def calibration_page(found: Calibration) -> Page:
    """Lay a calibration out."""
    people = counted(len(found.annotators), "annotator")
    head = joined([Text(f"run {found.run}", "bold"), counted(found.labelled, "labelled claim"), people])
    parts: list[RenderableType] = [head, Text(), _rates_table(found), Text(), _corrected_table(found.corrected), Text()]
    parts += [_confusion(found), Text()]
    if found.agreement:
        parts += [_agreement(found.agreement), Text()]
    for name, groups in found.groups.items():
        if len(groups) > 1:
            parts += [_groups(name, groups), Text()]
    if found.modes:
        parts += [_shares("people's reason", "called failing", found.modes), Text()]
    if found.judged_modes:
        parts += [_shares("the judge's reason", "failing by people", found.judged_modes), Text()]
    parts += _probabilities(found)
    if found.promise:
        parts.append(hanging(Text("✓", "green"), Text(f"promise: {found.promise}")))
    parts += [hanging(Text("·", "dim"), Text(note)) for note in found.notes]
    parts += [hanging(Text("→", "bold"), Text(text)) for text in found.advice]
    return Page(indented(Stack(*parts), 2))


def corrected_rows(found: Corrected) -> list[tuple[str, str, str, str]]:
    """Return the rows of raw and corrected rate: what, value, interval, how."""
    rows = [("claims supported, by the judge", percent(found.raw.value), interval(found.raw), "raw")]
    for one in (found.ppi, found.rogan_gladen):
        if one is not None:
            doubt = " !" if one.warnings else ""
            rows.append(("corrected by labels", percent(one.value), ends(one) + doubt, method(one)))
    return rows


def corrected_table(found: Calibration) -> RenderableType:
    """Show the rate with and without the judge's error, and that error, beside a run's numbers."""
    rates = found.rates
    said = (
        f"judge against people: {percent(rates.tpr.value)} of supported claims called so ({interval(rates.tpr)}), "
        f"{percent(rates.tnr.value)} of failing ones ({interval(rates.tnr)}), "
        f"by {counted(rates.supported + rates.failing, 'label')}; `everyclaim calibrate {found.run}` says more"
    )
    return Stack(_corrected_table(found.corrected), Text(), Text(said))


def _rates_table(found: Calibration) -> RenderableType:
    made = house_table("judge against people", "rate", "95 % interval", "labels", AT_LEAST)
    named = [("supported claims called so (TPR)", found.rates.tpr, found.rates.supported)]
    named.append(("failing claims called so (TNR)", found.rates.tnr, found.rates.failing))
    if found.answers:
        named.append(("faithful answers called so", found.answers.tpr, found.answers.supported))
        named.append(("failing answers called so", found.answers.tnr, found.answers.failing))
    for name, rate, labels in named:
        against = compare_with_target(rate)
        made.add_row(name, percent(rate.value), interval(rate), f"{labels:,}", Text(against, _STYLE[against]))
    return made


def _corrected_table(found: Corrected) -> RenderableType:
    made = house_table("rate", "value", "95 % interval", "")
    for row in corrected_rows(found):
        made.add_row(*row)
    told = [text for one in (found.ppi, found.rogan_gladen) if one for text in one.warnings]
    lines = [Text(f"! {text}", "yellow") for text in dict.fromkeys(told)]
    return Stack(made, *lines, *(Text(f"not given: {text}", "dim") for text in found.why))


def _confusion(found: Calibration) -> RenderableType:
    made = house_table("people ↓ judge →", *(label.value.lower() for label in Label))
    for label, row in zip(Label, found.confusion, strict=True):
        made.add_row(label.value.lower(), *(f"{number:,}" for number in row))
    if found.kappa is None:
        return made
    at = found.kappa.interval
    return Stack(made, Text(f"kappa {found.kappa.value:.2f} (95 % {at.low:.2f} – {at.high:.2f})"))


def _agreement(one: AnnotatorAgreement) -> RenderableType:
    said = [f"people agree on {one.agreeing:,} of {one.shared:,} texts that several labelled"]
    for name, value in (("Cohen's kappa", one.kappa), ("Krippendorff's alpha", one.alpha)):
        if value is not None:
            said.append(f"{name} {value.value:.2f} ({value.interval.low:.2f} – {value.interval.high:.2f})")
    return joined([*said])


def _groups(name: str, groups: Mapping[str, JudgeRates]) -> RenderableType:
    made = house_table(data(name, limit=60), "TPR (95 %)", "labels", "TNR (95 %)", "labels")
    shown = list(groups.items())[:GROUPS_SHOWN]
    for value, one in shown:
        made.add_row(
            data(value, limit=60) if value else Text("(not given)", "dim"),
            *_cells(one.tpr, one.supported),
            *_cells(one.tnr, one.failing),
        )
    more = len(groups) - len(shown)
    return Stack(made, Text(f"… and {more:,} more; --json has them all", "dim")) if more else made


def _cells(rate: Estimate, labels: int) -> tuple[str, Text]:
    shown = NO_NUMBER
    if rate.value is not None and rate.low is not None and rate.high is not None:
        shown = f"{100 * rate.value:.0f} % ({100 * rate.low:.0f}–{100 * rate.high:.0f})"
    return shown, Text(f"{labels:,}", "yellow" if labels < FEW else "")


def _shares(what: str, hit: str, shares: Mapping[str, Estimate]) -> RenderableType:
    made = house_table(what, hit, "95 % interval", "")
    for name, share in shares.items():
        made.add_row(data(words(name)), percent(share.value), interval(share), share_of(share))
    return made


def _probabilities(found: Calibration) -> list[RenderableType]:
    lines: list[RenderableType] = []
    if one := found.reliability:
        lines.append(Text(f"probabilities: calibration error {one.ece:.3f}, Brier score {one.brier:.3f} (0 is best)"))
    if fit := found.fitted:
        told = f"calibration error on {fit.reported_on:,} labels: {fit.before.ece:.3f}"
        if fit.after.ece < fit.before.ece:
            told += f"; {fit.after.ece:.3f} with probabilities calibrated on the other {fit.fitted_on:,}"
        lines.append(Text(told))
    return [*lines, Text()] if lines else []


_SHOWN = 5  # rejected sentences


def splits_page(found: SplitCheck) -> Page:
    """Lay the marks of splits out."""
    people = counted(len(found.annotators), "annotator")
    head = joined([Text(f"run {found.run}", "bold"), data(found.decomposer, limit=60), people])
    made = house_table("sentences", "share", "95 % interval", "", AT_LEAST)
    standing = Text(found.standing, _STYLE[found.standing])
    accepted = found.accepted
    made.add_row("accepted", percent(accepted.value), interval(accepted), share_of(accepted), standing)
    for mark, rate in found.with_mark.items():
        made.add_row(f"with {words(mark.value)}", percent(rate.value), interval(rate), share_of(rate), "")
    parts: list[RenderableType] = [head, Text(), made]
    if found.incomplete:
        parts.append(Text(f"{counted(found.incomplete, 'sentence')} with claims not marked yet: in no share", "dim"))
    parts += [Text(note, "dim") for note in found.notes]
    for one in found.rejected[:_SHOWN]:
        parts += [Text(), *_rejected(one)]
    if (more := len(found.rejected) - _SHOWN) > 0:
        parts += [Text(), Text(f"… and {counted(more, 'more rejected sentence')}; --json has them all", "dim")]
    return Page(indented(Stack(*parts), 2))


def _rejected(one: SplitSentence) -> Iterator[RenderableType]:
    yield hanging(Text("·", "dim"), data(one.text, limit=400))
    for claim, mark in zip(one.claims, one.marks, strict=True):
        is_bad = mark not in (None, SplitMark.GOOD)
        named = Text(f" {words(mark.value)}" if mark else " no mark", "yellow" if is_bad else "dim")
        yield indented(hanging(Text("→", "dim"), data(claim, limit=240) + named), 2)
    for claim in one.better:
        yield indented(hanging(Text("better", "green"), data(claim, limit=240)), 2)
