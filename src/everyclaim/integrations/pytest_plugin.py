"""pytest: assert that answers are faithful; a failing test names every claim that is not supported, one per line.

    def test_refunds(assert_faithful):
        answer = ask("How long do refunds take?")
        assert_faithful(response=answer.text, passages=answer.passages)

    @pytest.mark.everyclaim("answers.jsonl")  # one test per row
    def test_kept_answers(assert_faithful, everyclaim_sample):
        assert_faithful(everyclaim_sample)

pytest loads this module in every project where the package is installed, so that nothing heavy is imported before a
fixture is asked for.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

import pytest

if TYPE_CHECKING:
    from everyclaim import Evaluator, Result, Sample
    from everyclaim.io import BadRow

MARK: Final = "everyclaim"
SAMPLE: Final = "everyclaim_sample"
_ID_SHOWN = 80
_ROUNDING = 1e-9

Empty = Literal["skip", "pass", "fail"]


@dataclass(frozen=True, slots=True)
class _Bars:
    """What an answer has to come to."""

    fail_under: float | None = None  # the best score
    min_probability: float | None = None
    max_contradicted: float = 0.0
    min_citation_precision: float | None = None
    min_citation_recall: float | None = None
    empty: Empty = "skip"

    @property
    def of_citations(self) -> dict[str, float]:
        """The bars for parts of the score, by part."""
        bars = {"citation_precision": self.min_citation_precision, "citation_recall": self.min_citation_recall}
        return {part: bar for part, bar in bars.items() if bar is not None}

    def over(self, given: Mapping[str, Any], where: str) -> _Bars:
        """Return these bars with what is given over them. Raises `ConfigError` for a value that is none."""
        from everyclaim.api.options import Share
        from everyclaim.core.kinds import kind_of
        from everyclaim.core.options import value_of

        found = {name: value for name, value in given.items() if value is not None and value != ""}
        for name, value in found.items():
            kind = Empty if name == "empty" else Share
            taken = value_of(kind, value) if isinstance(value, str) else value
            found[name] = kind_of(kind).check(taken, f"{where}: {name}")
        return replace(self, **found)


_OF_FILES: Final = ("mapping", "format", "limit")
_OF_BARS: Final = tuple(part.name for part in fields(_Bars))


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare the options."""
    group = parser.getgroup(MARK, "faithfulness of answers (everyclaim)")
    group.addoption("--everyclaim-judge", metavar="SPEC", help="Judge of the claims; overrides the ini file.")
    for name, what in (
        ("judge", "judge of the claims, such as openai:gpt-5-mini (default: embedded, or the one in everyclaim.toml)"),
        ("config", "settings file, relative to the root folder (default: the nearest everyclaim.toml)"),
        ("fail_under", "minimum score of an answer (default 1.0: every claim supported)"),
        ("min_probability", "minimum probability of an answer to be faithful (default: not checked)"),
        ("max_contradicted", "maximum share of contradicted claims of an answer (default 0.0)"),
        ("min_citation_precision", "minimum share of correct citations of an answer (metric attribution)"),
        (
            "min_citation_recall",
            "minimum share of claims of an answer that follow from their citations (metric attribution)",
        ),
        ("empty", "result for an answer with nothing to check: skip, pass or fail (default skip)"),
    ):
        parser.addini(f"everyclaim_{name}", what, default="")


def pytest_configure(config: pytest.Config) -> None:
    """Declare the mark."""
    config.addinivalue_line(
        "markers",
        (
            f"{MARK}(source, *, mapping, format, limit, {', '.join(_OF_BARS)}): one test per row of a file of "
            f"answers, in the fixture {SAMPLE}; thresholds for assert_faithful."
        ),
    )


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Make one test per row of the file that the mark names."""
    marks = [mark for mark in metafunc.definition.iter_markers(MARK) if mark.args]
    if SAMPLE not in metafunc.fixturenames:
        if marks:
            raise _unusable(metafunc, f"the mark names a file, but the test does not use the fixture {SAMPLE}")
        return
    if not marks:
        raise _unusable(metafunc, f'{SAMPLE} needs a mark with a file: @pytest.mark.{MARK}("answers.jsonl")')
    rows = _rows(metafunc, marks[0])
    from everyclaim.core.plaintext import one_line

    names = [row.id if hasattr(row, "response") else f"{row.unit}-{row.line}" for row in rows]
    ids = [one_line(name, _ID_SHOWN) or "no id" for name in names]  # those that come twice get a number by pytest
    metafunc.parametrize(SAMPLE, rows, ids=ids, indirect=True)


@pytest.fixture(scope="session")
def everyclaim_options() -> dict[str, Any]:
    """Options of the evaluator, over the settings; override it in the topmost `conftest.py`."""
    return {}


@pytest.fixture(scope="session")
def everyclaim(pytestconfig: pytest.Config, everyclaim_options: Mapping[str, Any]) -> Iterator[Evaluator]:
    """Return the `everyclaim.Evaluator` of this process, by `everyclaim.toml`, ini file and `everyclaim_options`."""
    from everyclaim import Evaluator
    from everyclaim.api.settings import load_settings, options_of

    file = pytestconfig.getini("everyclaim_config")
    judge = pytestconfig.getoption("--everyclaim-judge") or pytestconfig.getini("everyclaim_judge")
    over = dict(everyclaim_options)
    named = {name: over[name] for name in ("judge", "decomposer", "metric") if isinstance(over.get(name), str)}
    settings = load_settings(pytestconfig.rootpath / file if file else None, **({"judge": judge or None} | named))
    with Evaluator(**({**options_of(settings), **over})) as evaluator:
        yield evaluator


@pytest.fixture
def everyclaim_sample(request: pytest.FixtureRequest) -> Sample:
    """Return the row of this test, of the file that the mark names. A row that cannot be read fails."""
    from everyclaim import Sample

    row: Sample | BadRow = request.param
    if not isinstance(row, Sample):
        pytest.fail(f"this row is not a sample: {row}", pytrace=False)
    return row


@pytest.fixture
def assert_faithful(request: pytest.FixtureRequest, everyclaim: Evaluator) -> Callable[..., Result]:
    """Return a function that scores an answer, fails unless it is faithful, and returns the result.

    It takes what `everyclaim.score` takes, or a `Result`. The score must reach `fail_under` (1.0: every claim is
    supported), its probability to be faithful `min_probability` (not checked), and at most the share
    `max_contradicted` (0.0) of the claims may be contradicted. With the metric `attribution`,
    `min_citation_precision` and `min_citation_recall` are bars in the place of that for the score. `empty` says what
    becomes of an answer with nothing to check: `skip`, `pass` or `fail`. What is not given is taken from the mark of
    the test, then from the ini file. Raises `AssertionError`, and `JudgeError` where the judge failed, which says
    nothing about the answer.
    """
    node: pytest.Item = request.node
    ini = {name: request.config.getini(f"everyclaim_{name}") for name in _OF_BARS}
    usual = _Bars().over(ini, "everyclaim in the ini file")
    for mark in reversed(list(node.iter_markers(MARK))):
        _check_mark(mark)
        usual = usual.over({name: mark.kwargs.get(name) for name in _OF_BARS}, f"@pytest.mark.{MARK}")

    def check(row: Any = None, **answer: Any) -> Result:
        __tracebackhide__ = True
        from everyclaim import Result

        bars = usual.over({name: answer.pop(name, None) for name in _OF_BARS}, "assert_faithful")
        result = row if isinstance(row, Result) and not answer else everyclaim.score(row, **answer)
        _hold(result, bars)
        return result

    return check


def _hold(result: Result, bars: _Bars) -> None:
    __tracebackhide__ = True
    from everyclaim import JudgeError, Label, Outcome
    from everyclaim.analysis.gate import is_less_likely, is_worse
    from everyclaim.core.cited import failing_lines
    from everyclaim.core.plaintext import counted, one_line

    name = one_line(result.id, _ID_SHOWN)
    if result.outcome is Outcome.FAILED:
        code, _, why = result.reason.partition(": ")
        raise JudgeError(code, f"{why or code}: answer {name} was not judged")
    left = [piece for piece in result.unchecked if not bars.of_citations or piece.reason != "citation"]
    unread = [f"not checked: {one_line(piece.text, 200)}" for piece in left]
    if result.outcome is not Outcome.SCORED:
        what = f"answer {name} has nothing to check: {result.outcome.display_name}"
        if unread or bars.empty == "fail":
            raise AssertionError("\n".join([what, *unread]))
        if bars.empty == "skip":
            pytest.skip(what)
        return
    torn = result.count(Label.CONTRADICTED)
    usual = 0.0 if bars.of_citations else 1.0
    bar = bars.fail_under if bars.fail_under is not None else result.provenance.quality(usual)
    is_low = is_worse(result, bar)
    miscited = _miscited(result, bars)
    is_unlikely = is_less_likely(result, bars.min_probability)
    is_torn = torn > (bars.max_contradicted + _ROUNDING) * len(result.claims)
    if is_low or is_unlikely or is_torn or unread or miscited:
        side = "at most" if result.provenance.lower_is_better else "at least"
        supported = f"{len(result.claims) - len(result.failing)} of {counted(len(result.claims), 'claim')} supported"
        told = [f"score {result.score:.3f}, {side} {bar:g} required ({supported})" if is_low else supported]
        told += [f"probability {result.probability:.3f}, minimum {bars.min_probability:g}"] if is_unlikely else []
        told += [f"{torn} contradicted, at most {100 * bars.max_contradicted:g} % allowed"] if is_torn else []
        told += miscited
        raise AssertionError("\n".join([f"answer {name}: {', '.join(told)}", *failing_lines(result), *unread]))


def _miscited(result: Result, bars: _Bars) -> list[str]:
    """Say which bars for citations are missed. Raises `ConfigError` where the metric has no such parts."""
    from everyclaim.core.errors import ConfigError

    if absent := [part for part in bars.of_citations if part not in result.components]:
        raise ConfigError(f"min_{absent[0]}: this metric has no {absent[0]}; metric='attribution' does")
    found = {part: result.components[part] for part in bars.of_citations}
    return [
        f"{part.replace('_', ' ')} {'undefined' if found[part] is None else format(found[part], '.3f')}, {bar:g} wanted"
        for part, bar in bars.of_citations.items()
        if (found[part] or 0.0) < bar - _ROUNDING
    ]


def _rows(metafunc: pytest.Metafunc, mark: pytest.Mark) -> list[Any]:
    """Read the file of a mark: samples, and rows that are none, in their order."""
    from itertools import islice

    from everyclaim.core.errors import UserError
    from everyclaim.io import ReadReport, read_samples

    source, report = mark.args[0], ReadReport()
    if isinstance(source, str | os.PathLike):
        source = Path(metafunc.definition.path).parent / source
    rows: list[Any] = []
    try:
        _check_mark(mark)
        read = read_samples(
            source,
            mapping=mark.kwargs.get("mapping"),
            format=mark.kwargs.get("format"),
            on_bad_row=rows.append,
            report=report,
        )
        for sample in islice(read, mark.kwargs.get("limit")):
            rows.append(sample)  # noqa: PERF402 - bad rows come in between
    except (UserError, TypeError, ValueError) as error:
        raise _unusable(metafunc, str(error)) from None
    if not rows:
        raise _unusable(metafunc, "the source of answers is empty")
    for text in report.warnings:
        warnings.warn(f"{metafunc.definition.nodeid}: {text}", pytest.PytestCollectionWarning, stacklevel=1)
    return rows


def _check_mark(mark: pytest.Mark) -> None:
    from everyclaim.core.errors import ConfigError
    from everyclaim.core.plaintext import did_you_mean

    known = (*_OF_FILES, *_OF_BARS)
    for name in mark.kwargs:
        if name not in known:
            hint = did_you_mean(name, known) or f": it takes {', '.join(known)}"
            raise ConfigError(f"@pytest.mark.{MARK} has no {name!r}{hint}")
    if len(mark.args) > 1:
        raise ConfigError(f"@pytest.mark.{MARK} takes one source of answers, got {len(mark.args)}")
    if not mark.args and (idle := [name for name in _OF_FILES if name in mark.kwargs]):
        raise ConfigError(f"@pytest.mark.{MARK}: {idle[0]} needs a file")


def _unusable(metafunc: pytest.Metafunc, why: str) -> Exception:
    return pytest.Collector.CollectError(f"{metafunc.definition.nodeid}: {why}")
