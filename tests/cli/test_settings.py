"""What `everyclaim.toml` and variables set, as the command line shows it."""

import pytest
from command_line import write_jsonl


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("max_unsupported = 0.1", "unsupported claims"),
        ("max_contradicted = 0.1", "contradicted claims"),
        ("fail_answer_under = 0.9", "below the threshold 0.9 per answer"),
        ("min_probability = 0.9", "9 of 9 answers have a probability below the threshold 0.9"),
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
