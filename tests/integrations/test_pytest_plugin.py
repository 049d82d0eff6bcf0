"""The pytest plugin, as projects that have the package installed meet it: by its entry point, in a pytest of their own."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

import everyclaim

ROOT = Path(__file__).parents[2]
PASSAGE = "Dissolve one sachet of descaler in 1 litre of water. The programme takes 35 minutes on the Classica."
RIGHT, WRONG = "On the Classica the programme takes 35 minutes.", "On the Classica the programme takes 45 minutes."

ANSWERS = [
    {"id": "right", "response": RIGHT, "contexts": [PASSAGE]},
    {"id": "wrong", "response": WRONG, "contexts": [PASSAGE]},
    {"id": "declines", "response": "I don't know.", "contexts": [PASSAGE]},
]


@pytest.fixture(scope="session")
def warm() -> None:
    """What tests inside this process import must be there before: numpy cannot be imported twice."""
    everyclaim.score(response=RIGHT, passages=[PASSAGE])


@pytest.fixture
def project(warm: None, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """A project whose environment has the entry point that pyproject.toml declares."""
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["entry-points"]["pytest11"]
    installed = pytester.mkdir("installed") / "everyclaim_here-0.dist-info"
    installed.mkdir()
    lines = "\n".join(f"{name} = {module}" for name, module in declared.items())
    (installed / "entry_points.txt").write_text(f"[pytest11]\n{lines}\n", "utf-8")
    (installed / "METADATA").write_text("Metadata-Version: 2.1\nName: everyclaim-here\nVersion: 0\n", "utf-8")
    source = Path(everyclaim.__file__).parents[1]
    pytester.syspathinsert(installed.parent)
    monkeypatch.setenv("PYTHONPATH", f"{installed.parent}:{source}")
    monkeypatch.setenv("PYTEST_ADDOPTS", "-p no:schemathesis")  # it wraps collection, and makes warnings of our errors
    return pytester


def write_answers(project: pytest.Pytester, rows: list[object] = ANSWERS, name: str = "answers.jsonl") -> None:
    text = "\n".join(row if isinstance(row, str) else json.dumps(row) for row in rows)
    (project.path / name).write_text(text + "\n", "utf-8")


PER_ROW = """
    import pytest

    @pytest.mark.everyclaim("answers.jsonl")
    def test_answers(assert_faithful, everyclaim_sample):
        assert_faithful(everyclaim_sample)
"""


def test_a_faithful_answer_passes_and_another_is_told_claim_by_claim(project: pytest.Pytester) -> None:
    """One line has label, claim, what differs, and the quote."""
    project.makepyfile(f"""
        PASSAGES = [{PASSAGE!r}]

        def test_right(assert_faithful):
            result = assert_faithful(response={RIGHT!r}, passages=PASSAGES)
            assert result.score == 1.0

        def test_wrong(assert_faithful):
            assert_faithful(response={RIGHT!r} + " " + {WRONG!r}, passages=PASSAGES)
    """)
    found = project.runpytest_inprocess()
    found.assert_outcomes(passed=1, failed=1)
    found.stdout.fnmatch_lines(
        [
            "E*AssertionError: answer 1: score 0.500, at least 1 required (1 of 2 claims supported), 1 contradicted*",
            f"E*CONTRADICTED: {WRONG} (temporal: the passage says 35 minutes, the claim says 45 minutes; * «*35 minutes*»)",
        ]
    )
    assert "def check" not in found.stdout.str(), "the traceback ends at the test"


def test_a_file_of_answers_is_one_test_per_row(project: pytest.Pytester) -> None:
    """Tests bear the ids of the rows; an answer with nothing to check is skipped."""
    write_answers(project)
    project.makepyfile(PER_ROW)
    found = project.runpytest_inprocess("-v")
    found.assert_outcomes(passed=1, failed=1, skipped=1)
    found.stdout.fnmatch_lines(
        ["*test_answers?right? PASSED*", "*test_answers?wrong? FAILED*", "*test_answers?declines? SKIPPED*"]
    )


def test_bars_come_from_the_ini_file_the_mark_and_the_call(project: pytest.Pytester) -> None:
    """The nearer one counts; a lower bar lets an unsupported claim pass, and a contradiction only where one may be."""
    project.makeini("[pytest]\neveryclaim_fail_under = 0.5\neveryclaim_empty = fail\n")
    project.makepyfile(f"""
        import pytest

        BOTH = dict(response={RIGHT!r} + " " + {WRONG!r}, passages=[{PASSAGE!r}])

        def test_ini_still_counts_the_contradiction(assert_faithful):
            with pytest.raises(AssertionError, match="1 contradicted, at most 0 % allowed"):
                assert_faithful(**BOTH)

        @pytest.mark.everyclaim(max_contradicted=0.5)
        def test_mark(assert_faithful):
            assert_faithful(**BOTH)
            with pytest.raises(AssertionError, match="score 0.500, at least 0.9 required"):
                assert_faithful(**BOTH, fail_under=0.9)
            with pytest.raises(AssertionError, match="probability 0..*, minimum 0.5"):
                assert_faithful(**BOTH, min_probability=0.5)

        def test_empty(assert_faithful):
            with pytest.raises(AssertionError, match="nothing to check: abstained"):
                assert_faithful(response="I don't know.", passages=["The kettle is red."])
            assert_faithful(response="I don't know.", passages=["The kettle is red."], empty="pass")
    """)
    project.runpytest_inprocess().assert_outcomes(passed=3)


def test_a_judge_that_fails_is_no_finding(project: pytest.Pytester) -> None:
    """The test fails with the judge's error, and not with an assertion about the answer."""
    project.makeconftest("""
        import pytest

        def judge(claim, passages):
            raise RuntimeError("out of order")

        @pytest.fixture(scope="session")
        def everyclaim_options():
            return {"judge": judge}
    """)
    project.makepyfile("""
        def test_it(assert_faithful):
            assert_faithful(response="The kettle is red.", passages=["The kettle is red."])
    """)
    found = project.runpytest_inprocess()
    found.assert_outcomes(failed=1)
    found.stdout.fnmatch_lines(["E*JudgeError: *RuntimeError in conftest*was not judged"])
    assert "AssertionError" not in found.stdout.str()


@pytest.mark.parametrize(
    ("mark", "told"),
    [
        ('"missing.jsonl"', "*missing.jsonl*"),
        ('"empty.jsonl"', "*empty*"),
        ('"answers.jsonl", fail_undr=0.9', "*no 'fail_undr'; did you mean 'fail_under'?*"),
        ('"answers.jsonl", "more.jsonl"', "*one source of answers, got 2*"),
        ("limit=3", "*needs a mark with a file*"),
    ],
)
def test_a_mark_that_cannot_be_used_is_one_line(project: pytest.Pytester, mark: str, told: str) -> None:
    """Collection stops with what is wrong, without a traceback."""
    write_answers(project)
    (project.path / "empty.jsonl").write_text("", "utf-8")
    project.makepyfile(PER_ROW.replace('"answers.jsonl"', mark))
    found = project.runpytest_inprocess()
    assert found.ret == pytest.ExitCode.INTERRUPTED
    found.stdout.fnmatch_lines([told])
    assert "Traceback" not in found.stdout.str()
    assert "pytest_plugin.py:" not in found.stdout.str()


@pytest.mark.parametrize(
    ("code", "told"),
    [
        (
            "assert_faithful(response='It is red.', passages=['No.'], fail_under=2)",
            "*fail_under must be a number*got 2*",
        ),
        ("assert_faithful(respons='It is red.')", "*respons*"),
        ("assert_faithful(response='It is red.', empty='ignore')", "*empty must be one of skip, pass, fail*"),
    ],
)
def test_a_call_that_cannot_be_meant_is_an_error(project: pytest.Pytester, code: str, told: str) -> None:
    """Nothing is passed over in silence."""
    project.makepyfile(f"def test_it(assert_faithful):\n    {code}\n")
    found = project.runpytest_inprocess()
    found.assert_outcomes(failed=1)
    found.stdout.fnmatch_lines([f"E{told}"])


def test_a_project_that_does_not_use_it_does_not_pay(project: pytest.Pytester) -> None:
    """Nothing heavy is imported, nothing is printed."""
    project.makepyfile("""
        import sys

        def test_nothing():
            heavy = {"numpy", "onnxruntime", "sqlalchemy", "pydantic", "rich", "everyclaim.api", "everyclaim.io"}
            assert not heavy & set(sys.modules)
    """)
    found = project.runpytest_subprocess("--strict-markers")
    found.assert_outcomes(passed=1)
    assert (
        "everyclaim" not in found.stdout.str().replace("plugins: ", "").replace(str(project.path), "").split("===")[3]
    )
