"""Reports as HTML from the command line: of a run, while scoring or later, and of a comparison."""

import pytest


@pytest.fixture
def scored(everyclaim):
    """A run of the five answers, kept as `first`."""
    assert everyclaim("score", "answers.jsonl", "--name", "first", "--slice", "topic", "-q").code == 0
    return everyclaim


def test_score_writes_the_page_that_report_writes(everyclaim, desk):
    """`--report FILE.html` while scoring, `--report` and `--html` afterwards: the same bytes."""
    done = everyclaim("score", "answers.jsonl", "--slice", "topic", "--report", "one.html", "-q")
    assert (done.code, done.err) == (0, "")
    assert everyclaim("report", "--report", "two.HTML", "-q").code == 0
    assert everyclaim("report", "--html", "three.page", "-q").code == 0
    one = (desk / "one.html").read_bytes()
    assert one == (desk / "two.HTML").read_bytes() == (desk / "three.page").read_bytes()
    text = one.decode()
    assert text.startswith("<!doctype html>")
    assert "3 scored of 5" in " ".join(text.replace("<strong>", "").replace("</strong>", "").split())
    assert "http" not in text.replace("Content-Security-Policy", "").replace("http-equiv", "")
