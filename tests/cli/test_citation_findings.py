"""Findings on citations stand wherever a run or an answer is shown, with the passage to cite instead."""

import json
from pathlib import Path

import pytest
from command_line import write_jsonl

PASSAGES = ["The museum opened in 1956.", "The museum has 400 paintings.", "Entry costs 12 euros."]
ANSWER = "The museum opened in 1956 [1]. It has 400 paintings [1]. Entry costs 12 euros [7]."
FAULTS = ("[1] does not support the claim; p2 supports it", "[7] does not refer to any passage; p3 supports it")
OFFLINE = ("--judge", "embedded", "--decomposer", "embedded", "--metric", "attribution")


@pytest.fixture
def rows(everyclaim):
    """The command line, in a folder with one cited answer."""
    write_jsonl("answers.jsonl", [{"id": "museum", "response": ANSWER, "contexts": PASSAGES}])
    return everyclaim


def test_a_run_shows_them_in_terminal_pages_and_files(rows):
    """Totals, and each finding that is not right with its claim, in every form of a run's report."""
    files = ["--report", "report.html", "--markdown", "report.md", "--junit", "report.xml", "--github"]
    done = rows("score", "answers.jsonl", *OFFLINE, *files, "--name", "cited")
    terminal = " ".join(done.out.split())
    assert "1 to no passage, 1 to the wrong passage, 1 right" in terminal
    assert "citation misattributed The museum has 400 paintings." in terminal
    for told in FAULTS:
        assert told in terminal
        assert told in Path("report.xml").read_text("utf-8")
        assert told in Path("report.md").read_text("utf-8").replace("\\", "")
    page = Path("report.html").read_text("utf-8")
    assert "citation misattributed" in page
    assert "[1] does not support the claim; passage 2 supports it" in page
    summary = json.loads(rows("report", "cited", "--json").out)["summary"]
    assert summary["citations"] == {"dead": 1, "misattributed": 1, "right": 1}


def test_a_watch_counts_them(rows):
    """A pass says how many citations were right and how many not, in its line and in its JSON."""
    told = json.loads(rows("watch", "answers.jsonl", "--once", *OFFLINE, "--name", "json", "--json").out)
    assert told["citations"] == {"right": 1, "misattributed": 1, "dead": 1}
    line = rows("watch", "answers.jsonl", "--once", *OFFLINE, "--name", "line")
    assert "citations: 1 to no passage, 1 to the wrong passage, 1 right" in line.out + line.err


READ = ["The museum opened in 1956.", "The museum has 400 paintings."]
GATED = ["The museum opened in 1956 [1]. It has 400 paintings [1].", "Das Museum wurde 1956 eröffnet und ist groß."]


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        (["--min-citation-precision", "0.5", "--min-citation-recall", "0.5"], 0, "citation recall 0.500"),
        (["--min-citation-precision", "0.6"], 1, "citation precision 0.500"),
        (["--min-citation-recall", "0.6"], 1, "below the threshold 0.6"),
        (["--min-citation-recall", "0.6", "--metric", "faithfulness"], 2, "no citation_recall"),
        (["--min-citation-recall", "1.6"], 2, "1.6"),
        (["--max-unread", "0"], 1, "1 of 2 answers"),
        (["--max-unread", "0.5"], 0, "within the limit"),
    ],
)
def test_a_run_that_cites_wrongly_or_is_unread_fails(everyclaim, options, code, said):
    """A bar that is missed exits with 1; a part that the metric has not, or a share that is none, with 2."""
    write_jsonl("answers.jsonl", [{"response": text, "contexts": READ} for text in GATED])
    metric = [] if "--metric" in options else ["--metric", "attribution"]
    given = ["--judge", "embedded", "--decomposer", "embedded", *metric, *options]
    done = everyclaim("score", "answers.jsonl", *given)
    assert done.code == code
    assert code != 2 or "run " not in done.out  # nothing was scored
    assert said in " ".join((done.out + done.err).split())
