"""The page of a fit of the embedded judge to labels."""

from __future__ import annotations

from rich.console import Group as Stack
from rich.console import RenderableType
from rich.text import Text

from everyclaim.analysis.tuning import FEWEST, FEWEST_DOCUMENTS, TuningFit
from everyclaim.core.plaintext import counted
from everyclaim.report.style import Page, data, house_table, indented, joined

_NAMES = {
    "balanced_accuracy": "balanced accuracy",
    "sensitivity": "supported claims called so",
    "specificity": "other claims not called so",
    "roc_auc": "ROC-AUC",
}


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
        use = joined([Text("use", style="dim"), Text("--judge"), data(f"'embedded?tuned={written}'", "bold")], " ")
        use.no_wrap, use.overflow = True, "ignore"  # it is there to be copied
        parts.append(use)
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
