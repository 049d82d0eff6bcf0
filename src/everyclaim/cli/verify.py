"""``everyclaim claims``, ``verify``, ``corpus``: one step alone: split a text, judge claims, search documents."""

from __future__ import annotations

import sys
from collections import Counter
from contextlib import ExitStack
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any, cast

from everyclaim.api.options import OFF, JudgeOptions, LlmJudgingOptions, LlmSplittingOptions, Options, RowOptions
from everyclaim.api.scoring import extract_claims
from everyclaim.api.settings import options_of
from everyclaim.cli import options as opt
from everyclaim.cli.console import progressing, show, show_json, show_result, tell_of_reading, warn
from everyclaim.cli.exits import OK, TOO_MANY_FAILURES, USAGE
from everyclaim.cli.options import Given, argument, check_destination, option, why_it_stopped, with_settings
from everyclaim.core.errors import BudgetExceeded, ConfigError, InputError, JudgeError
from everyclaim.core.types import Label, Provenance, Sample, Usage, Verdict
from everyclaim.core.wire import to_json
from everyclaim.io import VERDICT_COLUMNS, ReadReport, check_apart, check_replaced, open_rows
from everyclaim.io.fields import CLAIM_FIELDS
from everyclaim.report.findings import how_bad, is_failing

if TYPE_CHECKING:
    from everyclaim.api.datasets import ClaimVerdict


@with_settings("decomposer", models=LlmSplittingOptions)
def claims(
    text: Annotated[str, argument("TEXT", "Text of an answer; - is stdin.")],
    *,
    question: Annotated[str, option("--question TEXT", "Question that the answer responds to.")] = "",
    given: Given,
    json: opt.Json = False,
) -> None:
    """Show the claims of a text, and what was skipped and why."""
    from everyclaim.report.findings import decomposition_page  # loads the statistics, which --help does not need

    settings = given.settings()
    given.check_files(settings, [], {})
    response = _standard_input() if text == "-" else text
    models = options_of(settings, LlmSplittingOptions, None, settings.decomposer)
    found = extract_claims(response, question=question, decomposer=settings.decomposer, **models)
    show_result(lambda: to_json(found), lambda: decomposition_page(found, response), json=json)


def _standard_input() -> str:
    raw = getattr(sys.stdin, "buffer", None)
    if raw is None:
        raise InputError("standard input is closed; pass the text as the argument")
    try:
        text: str = raw.read().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"standard input is not UTF-8: cannot decode byte {error.start}") from None
    return text


@with_settings("judge", "strategy", "strict", "map", "max_failed", "store", "concurrency", models=LlmJudgingOptions)
def verify(
    file: Annotated[
        str, argument("FILE", "File of claims with contexts, or a folder saved by Hugging Face datasets; - is stdin.")
    ],
    *,
    given: Given,
    format_: opt.Format = None,
    limit: opt.Limit = None,
    out: opt.Out = None,
    json: opt.Json = False,
    quiet: opt.Quiet = False,
    worst: Annotated[int, option("--worst N", "Number of failing claims to show.", "Output", min=0)] = 5,
) -> int:
    """Judge given claims, without splitting answers.

    Rows have claim and contexts, and optionally id, question and sentence. Verdicts are written in row order. No run
    is stored; replies of language models are cached next to the store.

    Exit codes: 0 ok, 2 bad input or usage, 3 too many failures or stopped at a limit.
    """
    from everyclaim.api.datasets import claim_verdict_to_json  # not for --help
    from everyclaim.api.evaluator import Evaluator

    if out == "-" and json:
        raise ConfigError("--out - and --json would both write to standard output: choose one")
    check_destination("--out", out)
    settings = given.settings(CLAIM_FIELDS)
    # Standard output is not only the page's: what is piped in and out by one redirected file never ends.
    given.check_files(settings, [file], {"--out": None if out == "-" else out, "standard output": "-"})
    if out:
        check_replaced(out)
    reading = ReadReport()
    tally = _VerdictCounts(worst)
    stop = None
    with ExitStack() as stack:
        judging = cast("Options", options_of(settings, JudgeOptions, settings.judge))
        evaluator = stack.enter_context(Evaluator(**judging))
        write = stack.enter_context(open_rows(out, columns=VERDICT_COLUMNS)) if out else None
        progress = stack.enter_context(progressing(quiet=quiet))

        def take(row: ClaimVerdict) -> None:
            tally.count(row)
            progress.step(failed=row.verdict is None)
            if write is not None:
                write(claim_verdict_to_json(row))

        try:
            rows: RowOptions = {"mapping": settings.map, "format": format_, "limit": limit, "report": reading}
            rows["concurrency"] = settings.concurrency
            evaluator.verify_file(file, take, **rows)
        except BudgetExceeded as error:
            stop = error
    tell_of_reading(reading, quiet=quiet)
    if json:
        show_json(tally.to_json(reading), indent=None)
    elif not quiet:
        from everyclaim.report.findings import verdicts_page

        page = verdicts_page(
            tally.labels, tally.failures, bad_rows=reading.bad, usage=tally.usage, worst=tally.worst_claims
        )
        show(page, stderr=out == "-")
    if stop is not None:
        again = "repeat the command to continue: paid replies come from the cache"
        if settings.cache == OFF:
            again = "the same command starts anew and pays again, because of --no-cache"
        warn(f"{why_it_stopped(stop, evaluator.spent)}; {tally.total:,} claims are judged; {again}", kind="")
        return TOO_MANY_FAILURES
    return _exit_code(tally, reading, settings.max_failed)


class _VerdictCounts:
    """How many of what, and the `worst` claims."""

    def __init__(self, worst: int) -> None:
        self._worst = worst
        self._failing: list[tuple[Sample, Verdict]] = []  # not many more than are shown
        self.labels: Counter[Label] = Counter()
        self.failures: Counter[str] = Counter()
        self.flags: Counter[str] = Counter()
        self.usage = Usage()
        self.provenance: Provenance | None = None

    def count(self, row: ClaimVerdict) -> None:
        self.usage += row.usage
        self.provenance = row.provenance
        if row.verdict is None:
            from everyclaim.analysis.summary import failure_code  # loads the statistics, for rows that failed alone

            self.failures[failure_code(row.error)] += 1
        else:
            self.labels[row.verdict.label] += 1
            self.flags.update(set(row.verdict.flags))
            if self._worst and is_failing(row.verdict):
                self._failing.append((row.sample, row.verdict))
                if len(self._failing) > 2 * self._worst:
                    self._failing = self.worst_claims

    @property
    def worst_claims(self) -> list[tuple[Sample, Verdict]]:
        """The failing claims to look at first, contradicted ones before others, then as in the file."""
        return sorted(self._failing, key=lambda row: how_bad(row[1]))[: self._worst]

    @property
    def failed(self) -> int:
        return sum(self.failures.values())

    @property
    def total(self) -> int:
        return sum(self.labels.values()) + self.failed

    def to_json(self, reading: ReadReport) -> dict[str, Any]:
        return {
            "total": self.total,
            "labels": {label.value.lower(): self.labels[label] for label in Label},
            "failed": self.failed,
            "failures": dict(sorted(self.failures.items())),
            "flags": dict(sorted(self.flags.items())),
            "bad_rows": reading.bad,
            "usage": asdict(self.usage),
            "provenance": to_json(self.provenance) if self.provenance else None,
        }


def _exit_code(tally: _VerdictCounts, reading: ReadReport, max_failed: float) -> int:
    if reading.incomplete:
        warn(f"input incomplete: it could not be read to the end: {reading.incomplete}")
        return USAGE
    if not tally.failed and not reading.bad:
        return OK
    from everyclaim.analysis.gate import too_many_failed

    if fault := too_many_failed(tally.failed, tally.total, reading.bad, max_failed, "claim"):
        warn(fault)
        return TOO_MANY_FAILURES
    return OK


def build(
    source: Annotated[str, argument("SOURCE", "Folder of .txt and .md files, or a table with text, title and id.")],
    *,
    out: Annotated[str, option("--out FILE.db", "Corpus file to write; an existing corpus is replaced.")],
    words: Annotated[int, option("--words N", "Maximum number of words in a passage.", min=16, max=4096)] = 256,
    mapping: opt.FieldMap = None,
    format_: opt.Format = None,
    json: Annotated[bool, option("--json", "Print JSON instead of one line.")] = False,
) -> None:
    """Cut documents into passages and index them in one file.

    The file appears whole or not at all, and the same documents make the same file.
    """
    from everyclaim.api.metrics import build_corpus  # not for --help

    check_apart({"the source": source}, {"--out": out, "standard output": "-"}, in_folders=True)
    report = ReadReport()
    try:
        info = build_corpus(source, out, words=words, mapping=opt.pairs(mapping), format=format_, report=report)
    finally:
        tell_of_reading(report)
    if json:
        counts = {"documents": info.documents, "passages": info.passages, "words_per_passage": info.words_per_passage}
        show_json({"corpus": out, **counts, "version": info.version, "left_out": report.bad})
    else:
        warn(f"{info.documents:,} documents, {info.passages:,} passages in {out} (version {info.version})", kind="")


def search(
    corpus: Annotated[str, argument("CORPUS", "Corpus file, or documents to read into memory.")],
    query: Annotated[str, argument("QUERY", "Search query.")],
    *,
    k: Annotated[int, option("--k N", "Number of passages to show.", min=1)] = 5,
    topic: Annotated[str | None, option("--topic TITLE", "Search only documents with this title.")] = None,
    json: Annotated[bool, option("--json", "Print a JSON list instead of the table.")] = False,
) -> None:
    """Show the passages that a metric would judge a claim by, best first."""
    from everyclaim.api.metrics import open_corpus
    from everyclaim.report.findings import passages_page

    try:
        found = open_corpus(corpus).find(query, k, topic=topic)
    except JudgeError as error:  # of a sample it would be a failure; here the title is the caller's own
        raise InputError(error.message) from None
    if json:
        parts = ((one.passage, round(one.score, 6)) for one in found)
        show_json([{"id": one.id, "title": one.title, "text": one.text, "score": score} for one, score in parts])
    elif found:
        show(passages_page([one.passage for one in found]))
    else:
        warn("no passage contains a word of the query", kind="")
