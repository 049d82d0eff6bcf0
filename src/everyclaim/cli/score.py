"""``everyclaim score``: files of answers in, a run per file, a page or JSON out."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any, cast

from rich.text import Text

from everyclaim.api.options import LlmOptions, Options
from everyclaim.api.settings import options_of
from everyclaim.cli import options as opt
from everyclaim.cli.console import Progressing, progressing, show, show_json, tell_of_bad_rows, tell_of_reading, warn
from everyclaim.cli.exits import OK, TOO_MANY_FAILURES, InterruptedWorkError, gravest, signal_word
from everyclaim.cli.options import GATE, SCORING, Given, OutputOptions, argument, option, why_it_stopped, with_settings
from everyclaim.core.errors import BudgetExceeded, ConfigError

if TYPE_CHECKING:
    from everyclaim.api.datasets import DatasetOptions
    from everyclaim.api.evaluator import Evaluator
    from everyclaim.api.runs import Run
    from everyclaim.api.settings import Settings


@with_settings(*SCORING, "map", "slices", *GATE, "store", "concurrency", "observe", "provider_batch", models=LlmOptions)
def score(
    files: Annotated[
        list[str], argument("FILE…", "Files of answers, or folders saved by Hugging Face datasets; - is stdin.")
    ],
    *,
    given: Given,
    format_: opt.Format = None,
    turns: opt.Turns = None,
    history: opt.History = None,
    limit: opt.Limit = None,
    output: OutputOptions,
    name: Annotated[str, option("--name", "Name of the run.", "Run")] = "",
    release: Annotated[str, option("--release", "Release name for answers without one.", "Run")] = "",
    resume: Annotated[
        str | None, option("--resume RUN", "Continue this run; failed samples are scored again.", "Run")
    ] = None,
    fresh: Annotated[bool, option("--fresh", "Start anew instead of continuing an interrupted run.", "Run")] = False,
    dry_run: Annotated[
        bool, option("--dry-run", "Estimate calls, tokens and cost of language models; score nothing.", "Run")
    ] = False,
    ray: Annotated[
        str | None,
        option(
            "--ray ADDRESS",
            "Ray cluster to score on; auto: the one running on this machine, local: start one.",
            "Run",
            hidden=True,
        ),
    ] = None,
    ray_actors: Annotated[
        int | None,
        option("--ray-actors N", "Number of workers (default: one per CPU of the cluster).", "Run", hidden=True, min=1),
    ] = None,
) -> int:
    """Score answers claim by claim and store the run.

    An interrupted run over the same file with the same options continues.

    Exit codes: 0 ok, 1 gate failed, 2 bad input or usage, 3 too many failures or stopped at a limit, 4 inconclusive.
    """
    from everyclaim.api.evaluator import Evaluator  # half a second that --help does not need
    from everyclaim.cli.finish import baseline, conclude

    output.check()
    _check_one_file_options(files, output.files | {"--resume": resume})
    if resume is not None and fresh:
        raise ConfigError("--resume and --fresh exclude each other")
    settings = given.settings()
    _check_gates(settings)
    given.check_files(settings, files, {"the store": settings.store} | output.outputs)
    output.check_replaced()
    rows: dict[str, Any] = {"mapping": settings.map, "concurrency": settings.concurrency, "format": format_}
    # A project's slices are for whichever file has them; those of the command line are for this one.
    rows["slices" if "slices" in given.values else "optional_slices"] = settings.slices
    rows |= {"name": name, "release": release, "limit": limit} | opt.only_given({"turns": turns, "history": history})
    if resume is not None or fresh:
        rows["resume"] = resume
    of_rows = cast("DatasetOptions", rows)
    if ray_actors is not None and ray is None:
        raise ConfigError("--ray-actors needs --ray")
    scoring = cast("Options", options_of(settings, in_batches=True))
    with Evaluator(**scoring) as evaluator, _scoring(evaluator, ray, ray_actors):  # one budget
        if dry_run:
            return _estimate(files, evaluator, of_rows, json=output.json)
        against = baseline(given, settings, evaluator.provenance)
        codes = []
        for place, file in enumerate(files, start=1):
            run, stop = _score_one(file, evaluator, of_rows, settings.store, quiet=output.quiet)
            codes.append(conclude(run, output, settings, against))
            if stop:
                warn(stop, kind="")
                codes.append(TOO_MANY_FAILURES)
                if left := files[place:]:
                    warn(f"not started: {', '.join(left)}", kind="")
                break
    return gravest(codes)


def _estimate(files: list[str], evaluator: Evaluator, options: DatasetOptions, *, json: bool) -> int:
    found = {file: evaluator.estimate_file(file, **options) for file in files}
    if json:
        show_json({file: one and asdict(one) for file, one in found.items()})
    for file, one in () if json else found.items():
        show(Text(f"{file}\n  {one or 'no estimate: the number of calls depends on the replies'}"))
    return OK


def _score_one(file: str, evaluator: Evaluator, options: DatasetOptions, store: str, *, quiet: bool) -> tuple[Run, str]:
    """Score one file; return the run, and where a limit stopped it how to go on."""
    from everyclaim.api.runs import find_run

    stop = None
    with progressing(quiet=quiet, spent=lambda: evaluator.usage) as progress:
        options["hooks"] = [progress.hook]
        try:
            run = evaluator.score_file(file, store=store, **options)
        except BudgetExceeded as error:
            if not progress.run:
                raise
            stop, run = error, find_run(progress.run, store=store)
        except KeyboardInterrupt:
            raise InterruptedWorkError(_how_to_go_on(file, progress, signal_word())) from None
    if run.read is not None:
        tell_of_reading(run.read, quiet=quiet)
    elif (reading := run.record.reading) is not None:
        tell_of_bad_rows(reading.good, reading.bad, reading.first, quiet=quiet)
    if progress.skipped and not quiet:
        warn(f"continuing run {run.id}: {progress.skipped:,} samples are already scored", kind="")
    if stop is None:
        return run, ""
    is_fresh = "resume" in options and not options["resume"]
    return run, _how_to_go_on(file, progress, why_it_stopped(stop, evaluator.spent), is_fresh=is_fresh)


def _scoring(evaluator: Evaluator, address: str | None, actors: int | None) -> AbstractContextManager[Any]:
    """Let samples be scored here, or where Ray has workers."""
    if address is None:
        return nullcontext()
    from everyclaim.integrations.ray import on_ray

    return on_ray(evaluator, address=address, actors=actors)


def _check_one_file_options(files: list[str], given: dict[str, str | None]) -> None:
    for flag, value in given.items():
        if value is not None and len(files) > 1:
            raise ConfigError(f"{flag} needs exactly one input file, got {len(files)}")
    if files.count("-") > 1:
        raise ConfigError("standard input can be read only once")


def _check_gates(settings: Settings) -> None:
    """Refuse a gate for a part that a metric of ours does not have, before anything is scored."""
    from everyclaim.api.specs import METRICS

    metric = settings.metric.partition("?")[0]
    is_other = metric in METRICS.builtin and metric not in {"attribution", "python"}
    for part, bar in (("precision", settings.min_citation_precision), ("recall", settings.min_citation_recall)):
        if is_other and bar is not None:
            raise ConfigError(f"min-citation-{part}: this metric has no citation_{part}; metric='attribution' does")


def _how_to_go_on(file: str, progress: Progressing, why: str, *, is_fresh: bool = False) -> str:
    if not progress.run:
        return f"{why} before the first sample"
    again = "repeat the command to continue"
    if file == "-":
        again = f"pass the same input with --resume {progress.run} to continue"
    elif is_fresh:
        again = "repeat the command without --fresh to continue"
    return f"{why}; {progress.done:,} samples are stored in run {progress.run}; {again}"
