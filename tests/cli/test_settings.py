"""What `everyclaim.toml` and variables set, as the command line shows it."""

import pytest
from command_line import write_jsonl


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("max_unsupported = 0.1", "unsupported claims"),
        ("max_contradicted = 0.1", "contradicted claims"),
        ("fail_answer_under = 0.9", "below the threshold 0.9 per answer"),
        ('fail_on_regression = "before"', "answers that both scored"),
    ],
)
def test_every_bar_of_a_gate_is_a_setting(everyclaim, desk, line, says):
    """A gate in the file holds for `score` and for `report`."""
    write_jsonl("good.jsonl", [{"id": i, "response": "It is red", "contexts": ["It is red."]} for i in range(9)])
    write_jsonl("bad.jsonl", [{"id": i, "response": "It is new", "contexts": ["NOT It is new"]} for i in range(9)])
    everyclaim("score", "good.jsonl", "--name", "before")
    (desk / "everyclaim.toml").write_text(line)
    if "unsupported" in line:
        write_jsonl("bad.jsonl", [{"id": i, "response": "It is new", "contexts": ["It is red."]} for i in range(9)])
    for command in (["score", "bad.jsonl", "--name", "after"], ["report", "after"]):
        done = everyclaim(*command, "--quiet")
        assert done.code in {1, 4}
        assert says in done.err


def test_slices_of_a_project_are_for_the_files_that_have_them(everyclaim, desk):
    """A file without the field is scored, with a warning; a slice of the command line must be there."""
    (desk / "everyclaim.toml").write_text('slices = ["domain"]')
    done = everyclaim("score", "answers.jsonl")
    assert done.code == 0
    assert "no answer has a tag 'domain'" in done.err
    assert everyclaim("score", "answers.jsonl", "--slice", "domain").code == 2


def test_a_variable_that_is_almost_a_setting_is_refused(everyclaim, monkeypatch):
    """A gate that is mistyped does not pass silently, and `doctor` does not call it well."""
    monkeypatch.setenv("EVERYCLAIM_FAIL_UNDERR", "0.99")
    done = everyclaim("score", "answers.jsonl")
    assert done.code == 2
    assert "did you mean 'EVERYCLAIM_FAIL_UNDER'?" in done.err
    found = everyclaim("doctor")
    assert found.code == 1
    assert "EVERYCLAIM_FAIL_UNDERR" in found.out


def test_variables_of_others_are_let_be(everyclaim, monkeypatch):
    """Kubernetes sets some for a service of this name; `doctor` says that they set nothing."""
    monkeypatch.setenv("EVERYCLAIM_SERVICE_HOST", "10.0.0.1")
    assert everyclaim("score", "answers.jsonl").code == 0
    assert "EVERYCLAIM_SERVICE_HOST is no setting" in " ".join(everyclaim("doctor").out.split())
