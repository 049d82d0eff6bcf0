"""`everyclaim compare`: two kept runs side by side, by id or name."""

import json
from xml.etree import ElementTree as ET

import pytest
from command_line import write_jsonl

import everyclaim as ec

OLD = [
    {"id": f"a{n}", "response": "It is red | It is big", "contexts": ["It is red. It is big."], "release": "v1",
     "topic": "look" if n % 2 else "size"}
    for n in range(40)
]  # fmt: skip
NEW = [
    row | {"response": "It is red | It is old", "contexts": ["It is red. NOT It is old."], "release": "v2"}
    for row in OLD
]


def score_releases(everyclaim):
    write_jsonl("old.jsonl", OLD)
    write_jsonl("new.jsonl", NEW)
    for name in ("old", "new"):
        assert everyclaim("score", f"{name}.jsonl", "--name", name, "--slice", "topic", "-q").code == 0


@pytest.fixture
def runs(prepared):
    """Two releases, scored alike."""
    return prepared(score_releases)


def test_the_page_says_what_regressed_with_the_claims_and_advises_to_watch(runs):
    """Words, rates before and after, both verdicts of the claims, at 80 columns."""
    done = runs("compare", "old", "new", "--by", "topic")
    assert done.code == 0, done.err
    page = " ".join(done.out.split())
    assert "the mean score fell by 50.0 points, from 1.000 to 0.500 (95 % " in page
    assert "Watch new: its newest answers have a higher rate of contradicted claims than old" in page
    assert "(0.0 → 50.0 %)" in page
    assert "40 samples paired by id" in page
    assert "mean score 1.000 → 0.500 −50.0" in page
    assert "regressed" in page
    assert "new: It is old" in page or "It is old" in page


def test_without_names_the_newest_two_runs_of_the_same_data_are_compared(runs):
    """A newer run over other samples is passed over; named alone, a run has no partner where its data are unique."""
    write_jsonl("other.jsonl", [{**OLD[0], "id": "o1"}])
    assert runs("score", "other.jsonl", "--name", "other", "-q").code == 0
    for named in ((), ("old",)):
        done = runs("compare", *named)
        assert done.code == 0, done.err
        assert "40 samples paired by id" in " ".join(done.out.split()), done.out
    alone = runs("compare", "other")
    assert alone.code == 2
    assert "no other run has the data and settings of run" in alone.err


def scored(everyclaim, name, rows):
    """Keep a run of rows whose answers are good (True) or bad."""
    good = {"response": "It is red", "contexts": ["It is red."]}
    bad = {"response": "It is red | It is old | It is big", "contexts": ["It is red."]}
    write_jsonl(f"{name}.jsonl", [{"id": key} | (good if is_good else bad) for key, is_good in rows.items()])
    assert everyclaim("score", f"{name}.jsonl", "--name", name, "-q").code == 0


def gates(everyclaim, before, after):
    """The exit codes of both doors of the gate, and what they say."""
    done = [
        everyclaim("compare", before, after, "--fail-on-regression"),
        everyclaim("report", after, "--fail-on-regression", before, "-q"),
    ]
    return {one.code for one in done}, " ".join(" ".join(one.err for one in done).split())


def test_what_was_not_compared_leaves_the_gate_open(everyclaim):
    """Bad answers that the base does not have: exit code 4, with how many they are and the mean of all."""
    scored(everyclaim, "base", {f"a{n}": True for n in range(40)})
    scored(everyclaim, "new", {f"a{n}": n < 40 for n in range(80)})
    codes, told = gates(everyclaim, "base", "new")
    assert codes == {4}
    assert "40 of 80 answers of new have no counterpart in the other run (50.0 %, more than 10.0 %)" in told
    assert "the mean score of new is 0.667 over all answers, 1.000 over the compared ones" in told
    scored(everyclaim, "strange", {f"b{n}": True for n in range(40)})
    assert gates(everyclaim, "base", "strange")[0] == {4}
    scored(everyclaim, "few", {f"a{n}": True for n in range(9)})
    codes, told = gates(everyclaim, "few", "few")
    assert codes == {4}
    assert "only 9 answers scored in both runs; score at least 30" in told
    assert "inconclusive: inconclusive" not in told
    assert f"few ({ec.find_run('few').id})" in told, "two runs with one name are told apart by their ids"


def test_json_is_what_python_gives(runs):
    """One document, the same from both doors."""
    printed = json.loads(runs("compare", "old", "new", "--by", "topic", "--top-changes", "3", "--json").out)
    comparison = ec.compare("old", "new", by=["topic"], movers=3)
    assert printed == json.loads(json.dumps(comparison.to_json()))
    assert printed["schema"] == 1
    assert printed["sentence"] == comparison.sentence
    assert printed["matching"]["shared"] == 40
    assert len(printed["moved"]) == 3
    assert str(comparison).splitlines()[0] == "old → new"
    assert max(map(len, str(comparison).splitlines())) <= 80


def test_runs_that_were_judged_otherwise_are_refused_without_anyway(runs):
    """What differs is named; with --allow-different-judges what the judge did to the same answers stands on its own."""
    assert runs("score", "old.jsonl", "--judge", "lexical", "--name", "lex", "-q").code in (0, 3)
    before_scoring = runs("score", "new.jsonl", "--name", "late", "--fail-on-regression", "lex", "-q")
    assert (before_scoring.code, "late" in runs("runs").out) == (2, False)
    assert "the baseline lex was scored with other settings: judge lexical" in before_scoring.err
    refused = runs("compare", "old", "lex")
    assert refused.code == 2
    assert "different settings, which may cause differences: judge scripted" in refused.err
    assert "--allow-different-judges" in refused.err
    write_jsonl("mixed.jsonl", OLD[:20] + NEW[20:])
    assert runs("score", "mixed.jsonl", "--judge", "lexical", "--name", "mixed", "-q").code in (0, 3)
    allowed = runs("compare", "old", "mixed", "--allow-different-judges")
    assert allowed.code == 0
    assert "scored with different settings: judge scripted" in " ".join(allowed.out.split())
    assert "same answer, different settings" in " ".join(allowed.out.split())
    assert "regressed" not in allowed.out
    assert "Verdict" not in allowed.out
    assert "same answer, different" not in runs("compare", "old", "lex", "--allow-different-judges").out


def test_three_runs_show_a_trend(runs):
    """Runs in their order; a change of level is named by its run."""
    done = runs("compare", "old", "old", "new")
    assert done.code == 0, done.err
    assert "from new on" in done.out
    assert "different data" not in done.out
    by_topic = runs("compare", "old", "old", "new", "--by", "topic+mode")
    assert by_topic.code == 0
    assert "topic + failure mode" in by_topic.out
    assert runs("compare", "old", "old", "new", "--fail-on-regression").code == 2
    assert json.loads(runs("compare", "old", "old", "new", "--json").out)["changes"]


def test_a_release_is_gated_by_a_kept_run(runs):
    """`report` and `score` fail on a shown regression beyond the margin, and only then."""
    assert runs("report", "new", "--fail-on-regression", "old", "-q").code == 1
    done = runs("score", "new.jsonl", "--fresh", "--fail-on-regression", "old", "-q")
    assert done.code == 1
    assert "regression gate failed: mean score fell by 50.0 points, from 1.000 to 0.500 (95 % −" in done.err
    assert runs("report", "new", "--fail-on-regression", "old", "--margin", "0.9", "-q").code == 0
    assert runs("report", "old", "--fail-on-regression", "new", "-q").code == 0
    assert runs("report", "old", "--fail-on-regression", "old").code == 0


def test_build_servers_are_told_what_failed(runs, tmp_path):
    """JUnit has a case per answer and the gate; GitHub a line per answer shown; Markdown the rates."""
    done = runs(
        "report", "new", "--max-contradicted", "0.1", "--junit", "junit.xml", "--markdown", "job.md", "--github", "-q",
    )  # fmt: skip
    assert done.code == 1
    suite = ET.parse("junit.xml").getroot()
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("41", "41", "0")
    assert "CONTRADICTED: It is old" in suite.find("testcase/failure").text
    lines = done.out.splitlines()
    assert lines[0].startswith("::error title=everyclaim threshold gate failed::contradicted claims 50.0 %25 [")
    assert len(lines) == 6
    assert all(line.startswith("::warning title=a") for line in lines[1:])
    page = (tmp_path / "job.md").read_text("utf-8")
    assert "**threshold gate failed**" in page
    assert "contradicted claims | 40 | 50.0 % |" in page
    assert runs("report", "new", "--github", "--json").code == 2


def test_hostile_answers_forge_no_annotation_and_no_broken_xml(runs):
    """An id with a line break, a command of GitHub, markup and NUL stays one piece of text."""
    row = {"id": "x\n::error::forged", "response": "<b>&\u0000 ]]> ::set-env", "contexts": ["y"]}
    write_jsonl("bad.jsonl", [row])
    done = runs("score", "bad.jsonl", "--junit", "j.xml", "--markdown", "j.md", "--github", "-q", "--max-failed", "1")
    assert done.code in (0, 1, 4), done.err
    assert not any(line.startswith("::error::forged") for line in done.out.splitlines())
    assert ET.parse("j.xml").getroot().find("testcase") is not None
