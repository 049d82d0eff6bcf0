"""``everyclaim label RUN`` and ``everyclaim calibrate RUN [LABELS]``: what people should label, and what that shows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

from everyclaim.api.options import LabelOptions
from everyclaim.cli import options as opt
from everyclaim.cli.console import show_result, tell_of_reading, warn
from everyclaim.cli.exits import GATE_FAILED, INCONCLUSIVE, OK
from everyclaim.cli.options import Given, argument, check_destination, option, with_settings
from everyclaim.core.errors import ConfigError
from everyclaim.core.plaintext import counted, json_text
from everyclaim.io import ReadReport, check_apart, open_sink
from everyclaim.io.fields import LABEL_FIELDS

if TYPE_CHECKING:
    from everyclaim.api.runs import Run


@with_settings("store", choice=LabelOptions)
def label(
    run: Annotated[
        str | None, argument("RUN", "Id, start of an id, or name of a run (default: newest finished).")
    ] = None,
    *,
    n: Annotated[int, option("--n N", "Number of claims to label.", min=1)] = 100,
    out: Annotated[str, option("--out FILE", "JSONL, JSON or CSV by suffix; - is JSONL on stdout.")] = "-",
    choice: Mapping[str, Any],
    queue: Annotated[
        bool, option("--queue", "Create a labelling queue for the dashboard (serve --ui) instead of a file.")
    ] = False,
    splits: Annotated[
        bool, option("--splits", "Review how sentences were split into claims, instead of labelling claims.")
    ] = False,
    marks: Annotated[
        str | None,
        option("--marks FILE", "With --splits: read the reviewed file and show the share of correct splits."),
    ] = None,
    examples: Annotated[
        str | None,
        option("--examples FILE.toml", "With --marks: write the rejected sentences as worked examples for --rubric."),
    ] = None,
    require: Annotated[
        bool, option("--require", "With --marks: exit with 1 if the share is below 90 %, with 4 if inconclusive.")
    ] = False,
    json: Annotated[bool, option("--json", "With --marks: print JSON.")] = False,
    given: Given,
) -> int:
    """Select claims of a run for human labelling and write them to a file.

    Every row has question, sentence, claim, passages, evidence and an empty label: fill in SUPPORTED, UNSUPPORTED or
    CONTRADICTED, then run `everyclaim calibrate RUN FILE`. Labelled claims are not selected again. With --queue people
    label in a browser instead, each in a separate queue.

    With --splits it writes sentences with their claims: mark each claim good, over_split, under_split, not_a_claim or
    lost_meaning, then pass the file to --splits --marks. The share of sentences whose claims are all good is compared
    with 90 %.

    Exit codes: 0 ok, 2 bad input or usage; with --require: 1 if the share is below 90 %, 4 if there are
    too few marks.
    """
    from everyclaim.api import labels  # half a second that --help does not need
    from everyclaim.api.runs import find_run

    settings = given.settings()
    if not splits and (marks is not None or examples is not None or require or json):
        raise ConfigError("--marks, --examples, --require and --json need --splits")
    check_destination("--out", out)
    found = find_run(run, store=settings.store, is_finished=True)
    check_apart({"the data set of the run": found.record.dataset, "the store": found.store_location}, {"--out": out})
    chosen: Any = dict(choice)
    if "annotators" in chosen:
        chosen["annotators"] = [name.strip() for name in chosen["annotators"]]
        if not all(chosen["annotators"]):
            raise ConfigError("--annotator: empty name")
    if splits:
        if queue or chosen.keys() & {"by", "answers", "with_verdicts"}:
            raise ConfigError("--splits selects sentences: leave out --by, --answers, --queue and --with-verdicts")
        if marks is not None:
            return _check(found, marks, examples, require=require, json=json)
        if examples is not None or require or json:
            raise ConfigError("--examples, --require and --json need --marks FILE")
        chosen.pop("overlap", None)  # everybody marks all of them
    elif queue:
        if out != "-" or "with_verdicts" in chosen:
            raise ConfigError("--queue stores the claims: leave out --out and --with-verdicts")
        made = labels.label_queue(found, n, **chosen)
        shares = ", ".join(f"{one.left:,} for {name}" for name, one in made.progress.items())
        where = f"run `everyclaim serve --ui` and open /label/queues/{made.id}"
        warn(f"created queue {made.id} (claims: {shares}): {where}", kind="")
        return OK
    sheet = labels.label_splits(found, n, **chosen) if splits else labels.label(found, n, **chosen)
    sheet.write(out)
    is_next = out != "-" and not splits
    warn(f"{sheet}" + (f"; fill in {out}, then: everyclaim calibrate {run} {out}" if is_next else ""), kind="")
    return OK


def _check(found: Run, marks: str, examples: str | None, *, require: bool, json: bool) -> int:
    from everyclaim.api.labels import check_splits, write_examples
    from everyclaim.report.judge import splits_page

    report = ReadReport()
    checked = check_splits(found, marks, report=report)
    tell_of_reading(report, quiet=False)
    if examples is not None:
        number = write_examples(checked, examples)
        told = f"{counted(number, 'worked example')} of {counted(len(checked.rejected), 'rejected sentence')}"
        warn(f"{told} in {examples}; use them with --rubric {examples}", kind="")
    show_result(checked.to_json, lambda: splits_page(checked), json=json)
    if not require:
        return OK
    return {"met": OK, "missed": GATE_FAILED, "not shown": INCONCLUSIVE}[checked.standing]


@with_settings("map", "slices", "store")
def calibrate(
    run: Annotated[str, argument("RUN", "Id, start of an id, or name of a run.")],
    labels: Annotated[
        str | None,
        argument("LABELS", "File of labels, which are stored; without it, the labels in the store are used."),
    ] = None,
    *,
    given: Given,
    format_: opt.Format = None,
    risk: Annotated[
        float | None,
        option("--risk SHARE", "Fit the threshold of a guard: maximum share of wrong claims among those users see."),
    ] = None,
    save: Annotated[str | None, option("--save FILE", "Write the fitted risk for Guard(risk=FILE).")] = None,
    require: Annotated[
        bool, option("--require", "Exit with 1 if a rate is below 90 %, with 4 if there are too few labels.")
    ] = False,
    json: opt.Json = False,
) -> int:
    """Measure the judge against human labels and correct the score for its errors.

    The true positive rate (supported claims recognised) and true negative rate (failing claims recognised) are
    compared with 90 % each; the share of supported claims is shown raw and corrected. Labels are rows of sample_id,
    claim and label, and optionally span, annotator, failure_mode and note: JSONL, JSON or CSV. Exit codes: 0 ok, 2 bad
    input or usage; with --require: 1 if a rate is below 90 %, 4 if there are too few labels.
    """
    from everyclaim.api.labels import calibrate as compare_with_people
    from everyclaim.report.judge import calibration_page

    settings = given.settings(LABEL_FIELDS)
    if save is not None and risk is None:
        raise ConfigError("--save needs --risk")
    report = ReadReport()
    found = compare_with_people(
        run,
        labels,
        slices=given.values.get("slices"),
        mapping=settings.map or None,
        format=format_,
        report=report,
        store=settings.store,
        risk=risk,
    )
    if save is not None and found.promise is not None:
        with open_sink(save) as sink:
            sink.write(json_text(found.promise.to_json(), indent=2).encode())
    tell_of_reading(report)
    show_result(found.to_json, lambda: calibration_page(found), json=json)
    if not require or set(found.standing) == {"met"}:
        return OK
    return GATE_FAILED if "missed" in found.standing else INCONCLUSIVE
