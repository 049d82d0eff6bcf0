"""People's labels on the command line: chosen, read back, and what they say of the judge."""

import csv
import json
import re
from pathlib import Path

import pytest
from command_line import write_jsonl

import everyclaim as ec
from everyclaim.store.store import Store

ROWS = [
    {"id": f"a{i}", "response": f"It is red {i} | =It is new {i}", "contexts": [f"It is red {i} and big."], "topic": t}
    for i, t in enumerate(["look", "age"] * 20)
]


def score_rows(everyclaim):
    write_jsonl("rows.jsonl", ROWS)
    assert everyclaim("score", "rows.jsonl", "--quiet", "--name", "one", "--slice", "topic").code == 0


@pytest.fixture
def scored(prepared):
    """A run over forty answers of two claims each, the first supported, the second not."""
    return prepared(score_rows)


def lines(path):
    return [json.loads(line) for line in Path(path).read_text("utf-8").splitlines()]


def labels_of(rows, **more):
    return [
        {"sample_id": r["id"], "claim": claim, "label": label, **more}
        for r in rows
        for claim, label in zip(r["response"].split(" | "), ("SUPPORTED", "UNSUPPORTED"), strict=True)
    ]


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
    assert "todo.jsonl already has 1 filled-in row" in done.err
    assert Path("todo.jsonl").read_bytes() == before


def test_a_queue_for_the_labelling_page_is_made_without_a_file(scored):
    """`--queue` says where it is and who has how much; a file beside it is refused."""
    made = scored("label", "one", "--queue", "--n", 10, "--annotator", "Ada", "--annotator", "Bo", "--overlap", 0.2)
    assert (made.code, made.out) == (0, "")
    assert re.search(
        r"created queue (\w{12}) \(claims: 6 for Ada, 6 for Bo\): .* open /label/queues/\1$", " ".join(made.err.split())
    )
    assert scored("label", "one", "--queue", "--out", "x.jsonl").code == 2
    assert not Path("x.jsonl").exists()


def test_without_a_run_the_newest_finished_one_is_labelled(scored):
    """One that failed since has nothing to label."""
    with Store.open(".everyclaim/runs.db") as kept:
        made = kept.create_run(ec.find_run("one").record.provenance, dataset="more.jsonl", name="two")
        kept.finish_run(made.id, "failed")
    assert scored("label", "--n", 3, "--out", "todo.jsonl").code == 0
    assert {row["chosen"] for row in lines("todo.jsonl")} == {f"stratified:{ec.find_run('one').id}"}


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
        "line 41: answer 'a30', claim 'It is red 30': the label 'SUPORTED' is not one of SUPPORTED, UNSUPPORTED, CONTRADICTED; did you mean 'supported'?",
        "row 42: claim 'It is green' is not in the answer 'a30'",
        "row 43: sample 'zz' is not in run",
        "row 44: 'Ada' labels this claim twice; row 1 is SUPPORTED, which counts",
        "line 45: there is no sample_id",
        "1 row without a label",
    ):
        assert part in done.err
    assert len(done.said) == 6


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "bad.jsonl is empty"),
        ('{"sample_id": "a0", "claim": "It is red 0"}\n', "label"),
        ('{"sample_id": "a0", "claim": "It is red 0", "label": ""}\n', "fill in the column"),
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


def test_ninety_per_cent_is_not_met_by_a_few_labels(scored):
    """All right on a few labels shows nothing; --require says so by its exit code."""
    write_jsonl("labels.jsonl", labels_of(ROWS[:5]))
    done = scored("calibrate", "one", "labels.jsonl", "--require")
    assert done.code == 4
    assert "inconclusive" in done.out
    assert "too few labels" in done.out
    write_jsonl("wrong.jsonl", [row | {"label": "UNSUPPORTED"} for row in labels_of(ROWS)])
    done = scored("calibrate", "one", "wrong.jsonl", "--require")
    assert done.code == 1
    assert "misses too many failing claims" in " ".join(done.out.split())


BOTH = "The kettle is red and the mill is old."


def score_sentences(everyclaim):
    rows = [
        {"id": f"a{n}", "response": f"{BOTH} It holds {n} litres.", "contexts": [f"{BOTH} It holds {n} litres."]}
        for n in range(50)
    ]
    write_jsonl("answers.jsonl", rows)
    command = "score answers.jsonl --name run --judge lexical --decomposer embedded -q"
    assert everyclaim(*command.split()).code == 0


@pytest.fixture
def cut_run(prepared):
    """A run of 50 answers, each of two sentences, the first with two claims."""
    return prepared(score_sentences)


def drawn(call, *options):
    done = call("label", "run", "--splits", *options)
    assert done.code == 0, done.err
    return [json.loads(line) for line in done.out.splitlines()]


def test_the_accepted_share_stands_against_ninety_per_cent(cut_run):
    """A sentence with one bad claim is rejected; the share has an interval, and an exit code where asked."""
    rows = drawn(cut_run, "--n", "100")
    assert len({row["sample_id"] for row in rows}) == 50
    bad = [row | {"mark": "Over-Split" if row["claim"].startswith("the mill") else "good"} for row in rows]
    bad = [row | {"mark": "lost meaning"} if "kettle" in row["claim"] else row for row in bad]
    write_jsonl("bad.jsonl", bad)
    done = cut_run("label", "run", "--splits", "--marks", "bad.jsonl", "--json", "--require")
    assert done.code == 1, done.err
    found = json.loads(done.out)
    assert found["sentences"] == 100
    assert found["accepted"]["value"] == 0.5
    assert found["standing"] == "missed"
    assert found["with_mark"]["lost_meaning"]["value"] == 0.5
    write_jsonl("good.jsonl", [row | {"mark": "good"} for row in rows])
    page = cut_run("label", "run", "--splits", "--marks", "good.jsonl", "--require")
    assert page.code == 0, page.out
    assert "100 of 100" in page.out
    write_jsonl("few.jsonl", [row | {"mark": "good", "annotator": "anna"} for row in rows[:3]])
    assert ec.check_splits("run", store=".everyclaim/runs.db").accepted.value == 1.0


def test_marks_come_back_as_worked_examples(cut_run, desk):
    """`better` says what the claims should be, one in a line; the file can be used as a rubric, and nothing is lost."""
    done = cut_run("label", "run", "--splits", "--n", "4", "--out", "splits.csv")
    assert done.code == 0, done.err
    with (desk / "splits.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        row["mark"] = "under_split" if "litres" in row["sentence"] else "good"
        if row["mark"] == "under_split":
            row["better"] = 'It holds "some" litres.\nIt holds \x7f litres.'
    with (desk / "back.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0].keys(), delimiter=";")
        writer.writeheader()
        writer.writerows(rows)
    done = cut_run("label", "run", "--splits", "--marks", "back.csv", "--examples", "rubric.toml")
    assert done.code == 0, done.err
    assert "2 worked examples of 2 rejected sentences" in done.err
    from everyclaim.prompts.domain import read_domain

    domain = read_domain((desk / "rubric.toml").read_text("utf-8"), name="rubric.toml")
    assert domain.splits
    assert 'It holds \\"some\\" litres.' in domain.decompose
    again = cut_run("label", "run", "--splits", "--marks", "back.csv", "--examples", "rubric.toml")
    assert again.code == 2
    assert "rubric.toml exists" in again.err
