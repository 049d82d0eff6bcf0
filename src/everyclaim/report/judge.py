"""The pages of a judge: its test, its check over time, the zone that it settles alone, and its fit to labels."""

from __future__ import annotations

from collections.abc import Mapping

from rich.console import Group as Stack
from rich.console import RenderableType
from rich.text import Text

from everyclaim.analysis.deferral import BandFit, Settled
from everyclaim.analysis.estimates import NO_NUMBER, interval, percent, points, share_of
from everyclaim.analysis.judge_eval import Drift, JudgeCheck, OtherJudge
from everyclaim.analysis.judge_test import RULE, JudgeTest
from everyclaim.analysis.tuning import FEWEST, FEWEST_DOCUMENTS, TuningFit
from everyclaim.core.plaintext import counted, words
from everyclaim.report.style import (
    LABEL_SIGN,
    LABEL_STYLE,
    Page,
    data,
    hanging,
    house_table,
    indented,
    joined,
    usage_line,
)
from everyclaim.stats.intervals import Estimate
from everyclaim.stats.types import Inference

_WRONG_SHOWN = 10
_NAMES = {
    "balanced_accuracy": "balanced accuracy",
    "sensitivity": "supported claims called so",
    "specificity": "other claims not called so",
    "roc_auc": "ROC-AUC",
}


def judge_test_page(test: JudgeTest, kinds: Mapping[str, str]) -> Page:
    """Show accuracy by kind beside that of the offline judge, what is wrong, what it took, and the word on it."""
    sets = len({one.passages for one in test.answered})
    head = joined(
        [
            Text("judge test", style="bold"),
            joined([Text("of"), data(test.judge)], " "),
            _basis(len(test.answered), sets),
        ]
    )
    parts: list[RenderableType] = [head, Text(), _table(test, kinds), Text()]
    if test.unjudged:
        parts += [Text(f"{counted(test.unjudged, 'claim')} without a usable verdict", style="yellow"), Text()]
    if test.wrong:
        parts += [_wrong(test), Text()]
    parts.append(joined([Text("usage", style="dim"), usage_line(test.usage)], " "))
    if test.is_fit:
        parts += [Text(), Text("fit to judge", style="bold green")]
    else:
        parts += [Text(), Text("not fit to judge", style="bold red")]
        parts += [hanging(Text("-"), Text(why)) for why in test.why_not]
    parts += [Text(), Text(f"fit to judge: {RULE}.", style="dim")]
    return Page(indented(Stack(*parts), 2))


def _basis(claims: int, sets: int) -> str:
    return f"{counted(claims, 'claim')} on {counted(sets, 'set of passages', 'sets of passages')}"


def _table(test: JudgeTest, kinds: Mapping[str, str]) -> RenderableType:
    beside = test.beside
    made = house_table("", "right", "95 % interval", *([beside.judge] if beside else []))
    for kind, share in test.kinds.items():
        made.add_row(Text(kinds.get(kind, kind)), *_cells(share, beside.kinds[kind] if beside else None))
    rows = [
        (Text("all kinds", style="bold"), "accuracy"),
        (Text("supported claims"), "supported"),
        (Text("claims that are not"), "not_supported"),
        (Text("unsupported and contradicted told apart"), "told_apart"),
        (Text("verdicts whose quotes are all there"), "quotes_found"),
    ]
    for title, name in rows:
        made.add_row(title, *_cells(getattr(test, name), getattr(beside, name) if beside else None))
    return made


def _cells(share: Estimate, beside: Estimate | None) -> list[str]:
    cells = [_of(share), interval(share)]
    return cells if beside is None else [*cells, percent(beside.value)]


def _of(share: Estimate) -> str:
    return NO_NUMBER if share.value is None else f"{round(share.value * share.n)} of {share.n}"


def _wrong(test: JudgeTest) -> RenderableType:
    rows: list[RenderableType] = [Text(f"wrong: {counted(len(test.wrong), 'claim')}", style="dim")]
    for one in test.wrong[:_WRONG_SHOWN]:
        sign = Text(LABEL_SIGN[one.given], style=LABEL_STYLE[one.given]) if one.given else Text("!", style="yellow")
        given = one.given.value.lower() if one.given else "no verdict"
        told = joined([data(one.claim), Text(f"{given}, but is {one.expected.value.lower()}", style="dim")])
        rows.append(hanging(sign, told))
    if (rest := len(test.wrong) - _WRONG_SHOWN) > 0:
        rows.append(Text(f"and {rest} more (--json has all)", style="dim"))
    return Stack(*rows)


def judge_check_page(found: JudgeCheck) -> Page:
    """Lay a check out: rates, repeating, order, length, drift, the other judge, then what is shown to be wrong."""
    head = joined([data(found.judge, "bold", 60), counted(len(found.asked), "labelled claim")])
    made = house_table("share of claims", "", "95 % interval", "")
    rows = [
        ("supported called so (TPR)", found.supported_called_so),
        ("failing called so (TNR)", found.failing_called_so),
        ("other label when asked again", found.flips),
        ("other label, passages turned round", found.turned),
    ]
    for name, rate in rows:
        if rate.n:
            made.add_row(name, percent(rate.value), interval(rate), share_of(rate))
    parts: list[RenderableType] = [head, Text(), made]
    if found.unjudged:
        parts.append(Text(f"no verdict came for {100 * found.unjudged:.1f} % of what was asked", "yellow"))
    if found.lengths:
        parts += [Text(), _lengths(found)]
    parts += [Text(), _drift(found.drift)]
    if found.against:
        parts += [Text(), _against(found.against)]
    parts.append(Text())
    parts += [hanging(Text("!", "bold red"), Text(told)) for told in (*found.findings, *found.shortfalls)]
    if found.verdict:
        parts.append(Text(found.verdict, "" if found.shortfalls else "green"))
    if found.usage.calls:
        parts += [Text(), Text.assemble(("usage ", "dim"), usage_line(found.usage))]
    return Page(indented(Stack(*parts), 2))


def _lengths(found: JudgeCheck) -> RenderableType:
    made = house_table("by length", "shorter", "longer", "points", "")
    for one in found.lengths:
        made.add_row(
            f"{one.of}, {words(one.rate)}",
            percent(one.shorter.value),
            percent(one.longer.value),
            _points(one.difference),
            Text("differs", "bold red") if one.is_shown else "",
        )
    return made


def _drift(drift: Drift | None) -> RenderableType:
    if drift is None:
        return Text("drift: the first check of this judge on these claims; later ones are compared with it", "dim")
    last = "" if drift.changed_last is None else f", {drift.changed_last:,} since the last check"
    told = (
        f"drift since {drift.since[:10]} ({counted(drift.checks, 'earlier check')}): {drift.changed:,} of"
        f" {drift.claims:,} labels changed{last}; judged as people do: {_points(drift.difference)} points, p"
        f" {drift.p_value:.3f} of {drift.alpha:.4f} to spend: all checks together raise a false alarm in 5 % at most"
    )
    changed = [Text.assemble(("changed since: ", "yellow"), data("; ".join(drift.differs), limit=400))]
    return Stack(Text(told), *(changed if drift.differs else []))


def _against(one: OtherJudge) -> RenderableType:
    kappa = "" if one.kappa is None else f", kappa {one.kappa:.2f}"
    alike = f"{percent(one.agreeing.value)} of {counted(one.claims, 'claim')} labelled alike ({interval(one.agreeing)})"
    told = f"; judged as people do: {_points(one.difference)} points"
    return Text.assemble("beside ", data(one.judge, "bold", 60), f": {alike}{kappa}{told}")


def _points(one: Inference) -> str:
    sign = "+" if one.value > 0 else ""
    return f"{sign}{points(one.value)} ({points(one.interval.low)} … {points(one.interval.high)})"


def band_page(fit: BandFit, judge: str, spec: str) -> Page:
    """Show what the judge may settle and how often it is wrong there; `spec` is the cascade to use."""
    basis = f"{counted(fit.claims, 'labelled claim')} on {counted(fit.clusters, 'set of passages', 'sets of passages')}"
    head = joined([Text("deferral zone", style="bold"), joined([Text("of"), data(judge)], " "), basis])
    made = house_table("", "p(supported)", "settled", "wrong", f"at most ({fit.confidence:.0%} sure)")
    rows = (
        ("as supported", f"≥ {fit.high:g}", fit.as_supported),
        ("as not supported", f"≤ {fit.low:g}", fit.as_not_supported),
        ("in all", "", fit.settled),
    )
    for name, edge, settled in rows:
        made.add_row(name, edge if settled.claims else NO_NUMBER, *_numbers(settled))
    parts: list[RenderableType] = [head, Text(), made, Text()]
    if fit.settled.claims:
        doubt = fit.claims - fit.settled.claims
        parts += [Text(f"in doubt: {doubt:,} of {fit.claims:,} claims ({percent(doubt / fit.claims)})"), Text()]
        parts.append(_use(spec))
    else:
        parts.append(Text(why_nothing(fit), style="yellow"))
    return Page(indented(Stack(*parts), 2))


def why_nothing(fit: BandFit) -> str:
    """Say why there is no zone, and what would help."""
    if fit.clusters < fit.needed:
        return (
            f"too few labels: an error of at most {fit.error:.1%} takes {fit.needed:,} sets of passages without "
            f"a single error to show, and there are {fit.clusters:,}"
        )
    return (
        f"nothing can be settled: however sure the judge is, an error of at most {fit.error:.1%} cannot be shown; "
        "allow more, label more, or take a better judge"
    )


def _numbers(settled: Settled) -> tuple[str, str, str]:
    if not settled.claims:
        return "0", NO_NUMBER, NO_NUMBER
    return (
        f"{settled.claims:,}",
        f"{settled.wrong:,} ({percent(settled.wrong / settled.claims)})",
        percent(settled.at_most),
    )


def tuning_page(fit: TuningFit, written: str | None) -> Page:
    """Show what a fit gains on documents that it did not see; `written` is the file, where there is one."""
    on = counted(fit.documents, "set of passages", "sets of passages")
    basis = f"{counted(fit.claims, 'labelled claim')} on {on}"
    by = [] if fit.labelled_by == "labels" else [joined([Text("labels by"), data(fit.labelled_by)], " ")]
    labels = " · ".join(f"{count:,} {label.lower().replace('_', ' ')}" for label, count in sorted(fit.labels.items()))
    parts: list[RenderableType] = [joined([Text("tuning", style="bold"), basis, *by]), Text(labels, style="dim")]
    if fit.left_out:
        left_out = counted(fit.left_out, "labelled claim")
        parts.append(Text(f"{left_out} left out: no passages, or too long to be read", style="yellow"))
    if fit.table:
        made = house_table("on documents not seen", "before", "after", "change", "95 %")
        for name, one in fit.table.items():
            made.add_row(
                _NAMES[name], f"{one.before:.3f}", f"{one.after:.3f}", f"{one.after - one.before:+.3f}",
                f"{one.low:+.3f} to {one.high:+.3f}",
            )  # fmt: skip
        parts += [Text(), made]
    parts.append(Text())
    if written:
        if fit.alarm:
            parts.append(Text("the levels above which a claim is called contradicted are fitted, too"))
        parts.append(_use(f"embedded?tuned={written}"))
    else:
        parts.append(Text(why_not(fit), style="" if fit.helps else "yellow"))
    return Page(indented(Stack(*parts), 2))


def why_not(fit: TuningFit) -> str:
    """Say why nothing was written."""
    if fit.helps:
        return "nothing is written: name a file with --out"
    if fit.outcome == "too_few":
        return (
            f"too few labels, nothing is written: it takes {FEWEST} supported claims, {FEWEST} others and "
            f"{FEWEST_DOCUMENTS} sets of passages to tell anything"
        )
    return "these labels do not make it better on documents that it did not see, so nothing is written: label more"


def _use(spec: str) -> Text:
    """Show the judge to use, on one line, since it is there to be copied."""
    use = joined([Text("use", style="dim"), Text("--judge"), data(f"'{spec}'", "bold")], " ")
    use.no_wrap, use.overflow = True, "ignore"
    return use
