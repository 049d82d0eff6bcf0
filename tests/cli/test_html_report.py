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


def test_both_reports_and_the_page_at_once(scored, desk):
    """The JSON document stays what it is."""
    done = scored("report", "first", "--report", "a.json", "--html", "a.html", "--json")
    assert done.code == 0
    assert (desk / "a.json").read_text().replace("\n", "").replace(" ", "") == done.out.replace("\n", "").replace(
        " ", ""
    )
    assert (desk / "a.html").stat().st_size > 10_000


def test_a_report_may_go_down_a_pipe(scored):
    """With `-` the page in the terminal goes to standard error."""
    done = scored("report", "first", "--html", "-")
    assert done.code == 0
    assert done.out.startswith("<!doctype html>")
    assert "claims supported" in done.err
    assert scored("compare", "first", "first", "--html", "-").out.startswith("<!doctype html>")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["report", "--html", "gone/x.html"], "there is no folder"),
        (["report", "--html", "answers.jsonl"], "which is read"),
        (["report", "--html", "-", "--json"], "choose one"),
        (["report", "--html", "-", "--out", "-"], "choose one"),
        (["report", "--html", "x.html", "--report", "x.html"], "give one of them another name"),
        (["report", "--report", "x"], "ends in neither .html nor .json"),
        (["compare", "first", "first", "--html", "gone/x.html"], "there is no folder"),
        (["compare", "first", "first", "--html", "answers.jsonl"], "which is read"),
        (["compare", "first", "first", "--html", "-", "--json"], "choose one"),
        (["compare", "first", "first", "first", "--html", "x.html"], "--html is for two runs"),
    ],
)
def test_what_cannot_be_written_is_told_in_one_line(scored, desk, arguments, said):
    """Nothing is overwritten, nothing half done."""
    before = (desk / "answers.jsonl").read_bytes()
    done = scored(*arguments)
    assert done.code == 2
    assert said in done.err
    assert len(done.said) == 1
    assert (desk / "answers.jsonl").read_bytes() == before
    assert not (desk / "x.html").exists()


def test_a_comparison_as_a_page(scored, desk):
    """The sentence and the looks; without a difference it says so."""
    assert scored("compare", "first", "first", "--html", "c.html").code == 0
    text = (desk / "c.html").read_text()
    assert "All answers" in text
    assert "No answer changed." in text
