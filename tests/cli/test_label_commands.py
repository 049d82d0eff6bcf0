"""People's labels on the command line: chosen, read back, and what they say of the judge."""

import csv
import json
import random
import re
import sqlite3
from pathlib import Path

import pytest
from command_line import write_jsonl

ROWS = [
    {"id": f"a{i}", "response": f"It is red {i} | =It is new {i}", "contexts": [f"It is red {i} and big."], "topic": t}
    for i, t in enumerate(["look", "age"] * 20)
]


@pytest.fixture
def scored(everyclaim, desk):
    """A run over forty answers of two claims each, the first supported, the second not."""
    write_jsonl("rows.jsonl", ROWS)
    assert everyclaim("score", "rows.jsonl", "--quiet", "--name", "one", "--slice", "topic").code == 0
    return everyclaim


def lines(path):
    return [json.loads(line) for line in Path(path).read_text("utf-8").splitlines()]


def labels_of(rows, **more):
    return [
        {"sample_id": r["id"], "claim": claim, "label": label, **more}
        for r in rows
        for claim, label in zip(r["response"].split(" | "), ("SUPPORTED", "UNSUPPORTED"), strict=True)
    ]


def test_a_sheet_is_not_written_over_another_table(everyclaim, desk):
    """What is no sheet stays as it is, and the message is about the file, not about its fields."""
    assert everyclaim("score", "answers.jsonl", "--quiet").code == 0
    (desk / "prices.csv").write_text("article;price\nrye;4.80\n")
    done = everyclaim("label", "--n", "2", "--out", "prices.csv")
    assert (done.code, done.said[-1]) == (
        2, "error: prices.csv is there, and is no sheet to fill in: give another name, or move it away"
    )  # fmt: skip
    assert (desk / "prices.csv").read_text() == "article;price\nrye;4.80\n"


def test_a_file_to_label_has_what_people_need_and_no_verdict(scored):
    """Claim, sentence, question, passages, evidence, an empty label; the judge's word only when it is asked for."""
    assert scored("label", "one", "--n", 10, "--out", "todo.jsonl").code == 0
    rows = lines("todo.jsonl")
    assert len(rows) == 10
    assert rows[0]["label"] == ""
    assert rows[0]["passages"][0]["text"].startswith("It is red")
    assert {"claim", "sentence", "question", "evidence", "sample_id", "span", "chosen"} <= set(rows[0])
    assert not [name for name in rows[0] if name.startswith("judge")]
    assert {r["claim"][:1] for r in rows} == {"I", "="}  # both of the judge's labels
    scored("label", "one", "--n", 3, "--out", "with.jsonl", "--with-verdicts")
    assert {r["judge_label"] for r in lines("with.jsonl")} <= {"SUPPORTED", "UNSUPPORTED"}


@pytest.mark.parametrize(
    ("more", "filled"), [((), {"label": "SUPPORTED"}), ((), {"label": "Suported"}), (("--splits",), {"mark": "good"})]
)
def test_a_sheet_that_people_began_is_not_written_over(scored, more, filled):
    """An empty one is; with one label or mark filled in, misspelt or not, it is refused, and nothing is lost."""
    assert scored("label", "one", *more, "--n", 5, "--out", "todo.jsonl").code == 0
    assert scored("label", "one", *more, "--n", 3, "--out", "todo.jsonl").code == 0
    rows = lines("todo.jsonl")
    write_jsonl("todo.jsonl", [rows[0] | filled, *rows[1:]])
    before = Path("todo.jsonl").read_bytes()
    done = scored("label", "one", *more, "--n", 5, "--out", "todo.jsonl")
    assert done.code == 2
    assert "todo.jsonl is begun: 1 row filled in" in done.err
    assert Path("todo.jsonl").read_bytes() == before


def test_a_queue_for_the_labelling_page_is_made_without_a_file(scored):
    """`--queue` says where it is and who has how much; a file beside it is refused."""
    made = scored("label", "one", "--queue", "--n", 10, "--annotator", "Ada", "--annotator", "Bo", "--overlap", 0.2)
    assert (made.code, made.out) == (0, "")
    assert re.search(r"queue (\w{12}) at /label/queues/\1 .*: Ada 6, Bo 6", " ".join(made.err.split()))
    assert scored("label", "one", "--queue", "--out", "x.jsonl").code == 2
    assert not Path("x.jsonl").exists()


def test_a_spreadsheet_goes_out_and_comes_back(scored):
    """Written with the mark of UTF-8 and no formula; read back with semicolons and the mark, as Excel saves it."""
    scored("label", "one", "--n", 80, "--by", "random", "--out", "todo.csv")
    raw = Path("todo.csv").read_bytes()
    assert raw.startswith(b"\xef\xbb\xbf")
    rows = list(csv.DictReader(raw.decode("utf-8-sig").splitlines()))
    assert {r["claim"][:2] for r in rows} == {"It", "'="}
    for row in rows:
        row["label"] = "supported" if row["claim"].startswith("It") else "Unsupported"
    with Path("done.csv").open("w", encoding="utf-8-sig", newline="") as out:
        writer = csv.DictWriter(out, list(rows[0]), delimiter=";")
        writer.writeheader()
        writer.writerows(rows)
    done = scored("calibrate", "one", "done.csv", "--json")
    found = json.loads(done.out)
    assert (done.code, done.err) == (0, "")
    assert found["labels"]["claims"] == 80
    assert found["confusion"]["supported"]["supported"] == found["confusion"]["unsupported"]["unsupported"] == 40
    assert (found["tpr"]["target"], found["tnr"]["target"]) == ("met", "met")


def test_bad_labels_get_a_line_each_and_the_others_count(scored):
    """An unknown label, a claim and a sample that are not there, one annotator's second label: said, row by row."""
    good = labels_of(ROWS[:20], annotator="Ada")
    bad = [
        {"sample_id": "a30", "claim": "It is red 30", "label": "SUPORTED"},
        {"sample_id": "a30", "claim": "It is green", "label": "SUPPORTED"},
        {"sample_id": "zz", "claim": "It is red 30", "label": "SUPPORTED"},
        {"sample_id": "a0", "claim": "It is red 0", "label": "CONTRADICTED", "annotator": "Ada"},
        {"claim": "It is red 30", "label": "SUPPORTED"},
    ]
    write_jsonl("labels.jsonl", [*good, *bad, {"sample_id": "a31", "claim": "It is red 31", "label": ""}])
    done = scored("calibrate", "one", "labels.jsonl", "--json")
    assert json.loads(done.out)["labels"]["claims"] == 40
    for part in (
        "line 41: the label SUPORTED is none of SUPPORTED, UNSUPPORTED, CONTRADICTED; did you mean 'supported'?",
        "row 42: claim 'It is green' is not in the answer 'a30'",
        "row 43: sample 'zz' is not in run",
        "row 44: 'Ada' labels this claim twice, and row 1 says SUPPORTED, which counts",
        "line 45: there is no sample_id",
        "1 row without a label so far",
    ):
        assert part in done.err
    assert len(done.said) == 6


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "bad.jsonl is empty"),
        ('{"sample_id": "a0", "claim": "It is red 0"}\n', "label"),
        ('{"sample_id": "a0", "claim": "It is red 0", "label": ""}\n', "the column is empty"),
        ('{"sample_id": "zz", "claim": "x", "label": "SUPPORTED"}\n', "sample 'zz' is not in run"),
    ],
)
def test_a_file_without_a_label_that_can_be_used_is_one_line(scored, desk, text, says):
    """Nothing is stored, and what is wrong is said."""
    (desk / "bad.jsonl").write_text(text)
    done = scored("calibrate", "one", "bad.jsonl")
    assert done.code == 2
    assert says in done.err
    assert scored("calibrate", "one").code == 2


def test_labels_serve_every_run_over_the_same_text(scored):
    """A later run over the same answers has them without being told; deleting the first run loses none."""
    write_jsonl("labels.jsonl", labels_of(ROWS))
    scored("calibrate", "one", "labels.jsonl")
    first = json.loads(scored("calibrate", "one", "--json").out)
    scored("score", "rows.jsonl", "--quiet", "--fresh", "--name", "two")
    scored("runs", "--delete", "one")
    second = json.loads(scored("calibrate", "two", "--json").out)
    assert first["confusion"] == second["confusion"]
    assert first["supported"] == second["supported"]


def test_a_run_with_labels_shows_raw_and_corrected(scored):
    """On the page and in JSON of `report`; a run without labels has neither."""
    before = json.loads(scored("report", "one", "--json").out)
    assert before["calibration"] is None
    write_jsonl("labels.jsonl", labels_of(ROWS[:20]))
    scored("calibrate", "one", "labels.jsonl")
    page = scored("report", "one").out
    assert "claims supported, by the judge" in page
    assert "corrected by labels" in page
    assert "50.0 %" in page
    after = json.loads(scored("report", "one", "--json").out)
    assert after["calibration"]["supported"]["corrected"]["value"] == pytest.approx(0.5, abs=0.05)
    assert after["calibration"]["supported"]["raw"] == after["summary"]["labels"]["supported"]["rate"]
    assert after["summary"] == before["summary"]


def test_several_annotators_agree_or_are_adjudicated(scored):
    """Equal votes are disputed and count nowhere, until somebody labels as `adjudicated`."""
    rows = labels_of(ROWS)
    second = [row | {"annotator": "Bo"} for row in rows]
    for row in second[:4]:
        row["label"] = "CONTRADICTED" if row["label"] == "SUPPORTED" else "SUPPORTED"
    write_jsonl("labels.jsonl", [*(row | {"annotator": "Ada"} for row in rows), *second])
    found = json.loads(scored("calibrate", "one", "labels.jsonl", "--json").out)["labels"]
    assert (found["claims"], found["disputed"], found["annotators"]) == (76, 4, ["Ada", "Bo"])
    assert (found["agreement"]["shared"], found["agreement"]["agreeing"]) == (80, 76)
    assert 0.8 < found["agreement"]["kappa"]["value"] < 1
    write_jsonl("more.jsonl", [row | {"annotator": "adjudicated"} for row in rows[:4]])
    found = json.loads(scored("calibrate", "one", "more.jsonl", "--json").out)["labels"]
    assert (found["claims"], found["disputed"]) == (80, 0)


def test_what_is_labelled_is_not_chosen_again(scored):
    """And when nothing is left, that is said."""
    write_jsonl("labels.jsonl", labels_of(ROWS[:30]))
    scored("calibrate", "one", "labels.jsonl")
    scored("label", "one", "--n", 500, "--out", "rest.jsonl", "--by", "random")
    rest = lines("rest.jsonl")
    assert {row["sample_id"] for row in rest} == {row["id"] for row in ROWS[30:]}
    assert len(rest) == 20
    write_jsonl("labels.jsonl", labels_of(ROWS))
    scored("calibrate", "one", "labels.jsonl")
    done = scored("label", "one", "--out", "none.jsonl")
    assert done.code == 2
    assert "nothing left to label" in done.err


def test_annotators_share_the_work_and_overlap(scored):
    """Everybody labels the share that agreement is measured on; the rest goes to one each."""
    scored("label", "one", "--n", 20, "--out", "t.jsonl", "--annotator", "Ada", "--annotator", "Bo", "--overlap", 0.5)
    rows = lines("t.jsonl")
    by = {name: {(r["sample_id"], r["claim"]) for r in rows if r["annotator"] == name} for name in ("Ada", "Bo")}
    assert len(by["Ada"] & by["Bo"]) == 10
    assert len(by["Ada"] | by["Bo"]) == 20


def test_whole_answers_can_be_labelled(scored):
    """An answer is faithful when all its claims are supported."""
    scored("label", "one", "--answers", "--n", 10, "--by", "random", "--out", "t.jsonl")
    rows = [row | {"label": "UNSUPPORTED"} for row in lines("t.jsonl")]
    assert {row["claim"] for row in rows} == {""}
    write_jsonl("done.jsonl", rows)
    found = json.loads(scored("calibrate", "one", "done.jsonl", "--json").out)
    assert (found["answers"]["tnr"]["value"], found["answers"]["tnr"]["labels"]) == (1.0, 10)
    assert found["labels"]["claims"] == 0


def test_ninety_per_cent_is_not_met_by_a_few_labels(scored):
    """All right on a few labels shows nothing; --require says so by its exit code."""
    write_jsonl("labels.jsonl", labels_of(ROWS[:5]))
    done = scored("calibrate", "one", "labels.jsonl", "--require")
    assert done.code == 4
    assert "not shown" in done.out
    assert "too few labels" in done.out
    write_jsonl("wrong.jsonl", [row | {"label": "UNSUPPORTED"} for row in labels_of(ROWS)])
    done = scored("calibrate", "one", "wrong.jsonl", "--require")
    assert done.code == 1
    assert "misses too many failing claims" in " ".join(done.out.split())


def test_a_claim_cut_otherwise_takes_the_label_of_its_parts(everyclaim, desk):
    """A failing part fails it; supported parts support it only where they cover it; partly labelled ones are in no rate."""
    text = "It is red, and it is small [1]"
    rows = [
        {"id": name, "response": text, "contexts": [f"We say: {text} ({name})"]} for name in ("both", "one", "fails")
    ]
    write_jsonl("rows.jsonl", rows)
    everyclaim("score", "rows.jsonl", "--quiet", "--name", "cut")
    parts = [
        ("both", "It is red", "SUPPORTED"),
        ("both", "it is small", "SUPPORTED"),
        ("one", "It is red", "SUPPORTED"),
        ("fails", "it is small", "UNSUPPORTED"),
        ("fails", "It is red", "SUPPORTED"),
    ]
    write_jsonl("labels.jsonl", [{"sample_id": s, "claim": c, "label": la} for s, c, la in parts])
    found = json.loads(everyclaim("calibrate", "cut", "labels.jsonl", "--json").out)
    assert found["labels"]["carried_over"] == {"parts": 2}
    assert (found["tpr"]["labels"], found["tnr"]["labels"]) == (1, 1)


def test_labels_hold_no_text(scored):
    """What people said stays when a run is deleted, so it must not hold what the run did."""
    write_jsonl("labels.jsonl", labels_of(ROWS))
    scored("calibrate", "one", "labels.jsonl")
    connection = sqlite3.connect(".everyclaim/runs.db")
    kept = connection.execute("SELECT * FROM labels_2").fetchall()
    connection.close()
    assert len(kept) == 80
    assert "It is" not in repr(kept)


def test_uncertain_claims_enter_no_rate(everyclaim, desk):
    """Where the judge was unsure it errs more than usual: such labels are counted and kept apart."""
    write_jsonl("rows.jsonl", ROWS)
    everyclaim("score", "rows.jsonl", "--quiet", "--name", "one")
    everyclaim("label", "one", "--n", 8, "--by", "uncertainty", "--out", "t.jsonl")
    unsure = [row | {"label": "SUPPORTED"} for row in lines("t.jsonl")]
    known = {(row["sample_id"], row["claim"]) for row in unsure}
    others = [row for row in labels_of(ROWS) if (row["sample_id"], row["claim"]) not in known]
    random.Random(1).shuffle(others)
    write_jsonl("labels.jsonl", [*unsure, *others])
    found = json.loads(everyclaim("calibrate", "one", "labels.jsonl", "--json").out)
    assert (found["labels"]["claims"], found["labels"]["used"]) == (80, 72)
