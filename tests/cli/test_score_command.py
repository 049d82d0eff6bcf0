"""`everyclaim score`: what it prints, keeps, writes, and how it exits."""

import csv
import json
import os
import re
from pathlib import Path

import pytest
from command_line import ANSWERS, write_jsonl

from everyclaim.api.settings import load_settings


def only_line(done):
    """The one line that an error is."""
    assert done.out == ""
    assert len(done.said) == 1, done.err
    assert "Traceback" not in done.err
    return done.said[0]


def test_a_file_becomes_a_page_and_a_kept_run(everyclaim, desk):
    """The score with its interval, every outcome, the worst answer, and a run in the store."""
    done = everyclaim("score", "answers.jsonl")
    assert done.code == 0
    first = [" ".join(line.split()) for line in done.out.splitlines() if "95 % interval" in line or " – " in line][1:4]
    assert first[0].startswith("claims supported 60.0 % ")
    assert first[0].endswith(" 3 of 5")
    assert first[1].startswith("answers below 1.0 66.7 % ")
    assert first[1].endswith(" 2 of 3")
    assert first[2].startswith("mean faithfulness · moderate 0.500 ")
    assert "3 scored of 5 · 1 no claims · 1 abstained · 0 failed" in done.out
    assert "✗ contradicted  It is new" in done.out
    assert "NOT «It is new»" in done.out
    assert done.err == ""
    assert (desk / ".everyclaim" / "runs.db").exists()


def test_json_is_the_only_thing_on_stdout(everyclaim):
    """Machines get one JSON document on one line, people get nothing there."""
    done = everyclaim("score", "answers.jsonl", "--json", "--slice", "topic")
    document = json.loads(done.out)
    assert document["summary"]["score"]["value"] == 0.5
    assert document["summary"]["outcomes"] == {"scored": 3, "no_claims": 1, "abstained": 1, "failed": 0, "unread": 0}
    assert set(document["summary"]["slices"]["topic"]) == {"age", "look"}
    assert [one["result"]["id"] for one in document["worst"]] == ["wrong", "mixed"]


def test_out_holds_every_result_in_input_order(everyclaim, desk):
    """One object per sample, also for those without a score."""
    everyclaim("score", "answers.jsonl", "--out", "results.jsonl")
    rows = [json.loads(line) for line in (desk / "results.jsonl").read_text().splitlines()]
    assert [row["id"] for row in rows] == [row["id"] for row in ANSWERS]
    assert [row["score"] for row in rows] == [1.0, 0.5, 0.0, None, None]


def test_out_to_stdout_leaves_it_clean(everyclaim):
    """Results go to stdout, the page to stderr."""
    done = everyclaim("score", "answers.jsonl", "--out", "-")
    assert [json.loads(line)["id"] for line in done.out.splitlines()] == [row["id"] for row in ANSWERS]
    assert "3 scored of 5" in done.err


def test_stdin_is_a_dash(everyclaim):
    """Answers can be piped in."""
    done = everyclaim("score", "-", "--json", stdin=json.dumps(ANSWERS[0]).encode())
    assert json.loads(done.out)["summary"]["score"]["value"] == 1.0


def test_report_writes_the_json_document(everyclaim, desk):
    """--report FILE.json holds what --json prints."""
    done = everyclaim("score", "answers.jsonl", "--report", "report.json", "--json")
    assert json.loads((desk / "report.json").read_text()) == json.loads(done.out)


def test_quiet_prints_nothing_when_all_is_well(everyclaim):
    """No page, no remark."""
    assert everyclaim("score", "answers.jsonl", "--quiet") == (0, "", "")


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        (["--fail-under", "0.4"], 0, "gate passed: mean score 0.500"),
        (["--fail-under", "0.9"], 1, "gate failed: mean score 0.500"),
        (["--fail-under", "0.9", "--require-significance"], 1, "gate failed: mean score 0.500"),
        (["--fail-under", "0.6", "--require-significance"], 4, "gate inconclusive: mean score 0.500"),
    ],
)
def test_the_gate_decides_the_exit_code(everyclaim, options, code, said):
    """0 passed, 1 failed, 4 when the interval holds the bar and certainty was asked for."""
    done = everyclaim("score", "answers.jsonl", *options)
    assert done.code == code
    assert done.err.startswith(said)


def test_nothing_scored_is_inconclusive_against_a_bar(everyclaim):
    """A file of refusals is neither good nor bad."""
    write_jsonl("shy.jsonl", ANSWERS[3:])
    done = everyclaim("score", "shy.jsonl", "--fail-under", "0.5")
    assert done.code == 4
    assert "none: no answer was scored" in done.out


def test_failures_are_counted_and_too_many_exit_with_3(everyclaim):
    """A judge's failure is no score; the share decides the exit code, before the gate."""
    write_jsonl("bad.jsonl", [*ANSWERS[:1], {"id": "f", "response": "FAIL", "contexts": ["x"]}])
    done = everyclaim("score", "bad.jsonl", "--fail-under", "0.5")
    assert done.code == 3
    assert "1 scored of 2 · 0 no claims · 0 abstained · 1 failed" in done.out
    assert "no reply 1" in done.out
    assert "1 of 2 samples failed (50.0 %), more than the limit of 5.0 %" in done.err
    assert everyclaim("score", "bad.jsonl", "--max-failed", "0.5").code == 0


def test_bad_rows_are_named_and_do_not_stop_the_others(everyclaim, desk):
    """Line numbers and reasons on stderr, the rest scored; they count against the limit of failures."""
    with (desk / "answers.jsonl").open("a") as file:
        file.write('{"id": "n", "response": 7.5, "contexts": ["x"]}\nnot json\n{"id": "l", "response": [1]}\n')
    done = everyclaim("score", "answers.jsonl", "--max-failed", "0.4")
    assert done.code == 0
    assert "3 scored of 5 · 1 no claims · 1 abstained · 0 failed · 3 rows unreadable" in done.out
    assert [line.split(":")[1].strip() for line in done.said] == ["line 6", "line 7", "line 8"]


def test_many_bad_rows_are_summed_up(everyclaim):
    """A thousand broken rows do not fill the screen."""
    write_jsonl("many.jsonl", [*ANSWERS, *[{"id": str(i), "response": {}} for i in range(1000)]])
    done = everyclaim("score", "many.jsonl")
    assert len(done.said) < 10
    assert "1,000 of 1,005 rows could not be read and were left out" in done.err


@pytest.mark.parametrize(("policy", "mean"), [("exclude", 0.5), ("one", 0.7), ("zero", 0.3), ("nan", 0.5)])
def test_the_empty_policy_gives_other_tools_numbers_and_says_so(everyclaim, policy, mean):
    """Answers without claims enter the mean only on request, and the page says that they did."""
    done = everyclaim("score", "answers.jsonl", "--empty", policy)
    assert re.search(rf"mean faithfulness · \w+ +{mean:.3f}  ", done.out)
    assert ("without a score" in done.out) == (policy in {"one", "zero"})


@pytest.mark.parametrize("name", ["results.jsonl", "results.json", "results.csv"])
def test_a_number_that_is_none_can_be_written(everyclaim, desk, name):
    """JSON has no NaN: what the `nan` policy asks for is null there, and nothing is lost."""
    assert everyclaim("score", "answers.jsonl", "--empty", "nan", "--out", name).code == 0
    text = (desk / name).read_text()
    assert "NaN" not in text
    assert "shy" in text


def test_map_names_fields_of_the_file(everyclaim):
    """--map theirs=ours, repeatable."""
    write_jsonl("odd.jsonl", [{"said": "It is red", "seen": ["It is red"]}])
    done = everyclaim("score", "odd.jsonl", "--map", "said=response", "--map", "seen=contexts", "--json")
    assert json.loads(done.out)["summary"]["score"]["value"] == 1.0


def test_limit_name_and_release_end_up_in_the_run(everyclaim):
    """The first rows only; the run has its name; answers get the release that they do not name."""
    done = everyclaim(
        "score", "answers.jsonl", "--limit", "2", "--name", "nightly", "--release", "v2", "--slice", "release", "--json"
    )
    document = json.loads(done.out)
    assert document["run"]["name"] == "nightly"
    assert document["summary"]["total"] == 2
    assert document["summary"]["slices"]["release"]["v2"]["total"] == 2


def test_several_files_are_several_runs_and_the_gravest_code_counts(everyclaim):
    """One line of JSON per file; a failure in any of them is the exit code."""
    write_jsonl("bad.jsonl", [{"id": "f", "response": "FAIL", "contexts": ["x"]}])
    done = everyclaim("score", "answers.jsonl", "bad.jsonl", "--json")
    assert done.code == 3
    assert [json.loads(line)["summary"]["outcomes"]["failed"] for line in done.out.splitlines()] == [0, 1]


def test_the_same_input_gives_the_same_results(everyclaim, desk):
    """Two runs write the same bytes."""
    for name in ("one.jsonl", "two.jsonl"):
        everyclaim("score", "answers.jsonl", "--out", name, "--quiet")
    assert (desk / "one.jsonl").read_bytes() == (desk / "two.jsonl").read_bytes()


def test_a_run_that_goes_on_takes_the_name_that_is_given(everyclaim):
    """And says which one it had; without a name it keeps its own."""
    everyclaim("score", "answers.jsonl", "--name", "first")
    done = everyclaim("score", "answers.jsonl", "--resume", "first", "--name", "second")
    assert "it was called 'first' and is now called 'second'" in done.err
    again = everyclaim("score", "answers.jsonl", "--resume", "second")
    assert "now called" not in again.err
    assert [run["name"] for run in json.loads(everyclaim("runs", "--json").out)] == ["second"]


def test_failed_samples_are_scored_again_when_their_run_is_resumed(everyclaim):
    """--resume RUN goes on with that run and does not make another."""
    write_jsonl("bad.jsonl", [*ANSWERS, {"id": "f", "response": "FAIL", "contexts": ["x"]}])
    everyclaim("score", "bad.jsonl", "--name", "first")
    done = everyclaim("score", "bad.jsonl", "--resume", "first")
    assert "continues: 5 samples were scored before" in done.err
    assert len(json.loads(everyclaim("runs", "--json").out)) == 1


def test_settings_come_from_the_file_the_variables_and_the_options(everyclaim, desk, monkeypatch):
    """everyclaim.toml, found upward; a variable goes over it, an option over both."""
    (desk / "everyclaim.toml").write_text('fail_under = 0.9\nslices = ["topic"]\n')
    below = desk / "below"
    below.mkdir()
    monkeypatch.chdir(below)
    assert everyclaim("score", "../answers.jsonl").code == 0  # above the project's root
    (desk / ".git").mkdir()
    done = everyclaim("score", "../answers.jsonl")
    assert done.code == 1
    assert "topic   scored" in done.out
    monkeypatch.setenv("EVERYCLAIM_FAIL_UNDER", "0.45")
    assert everyclaim("score", "../answers.jsonl").code == 0
    assert everyclaim("score", "../answers.jsonl", "--fail-under", "0.55").code == 1


@pytest.mark.skipif(os.name != "posix", reason="owners and modes of POSIX")
@pytest.mark.parametrize("whose", ["of another user", "of everybody"])
def test_settings_of_somebody_else_are_not_read(everyclaim, desk, caplog, whose):
    """They say where answers and keys go; whoever trusts them names them."""
    file = desk / "everyclaim.toml"
    file.write_text("fail_under = 0.9\n")
    if whose == "of everybody":
        file.chmod(0o666)
    elif os.getuid():
        pytest.skip("only root gives files away")
    else:
        os.chown(file, 12345, 12345)
    assert everyclaim("score", "answers.jsonl").code == 0
    assert "everyclaim.toml is not read, as " in caplog.text
    assert everyclaim("score", "answers.jsonl", "--config", "everyclaim.toml").code == 1


@pytest.mark.parametrize(
    "line", ['base_url = "https://elsewhere.test/v1"', 'judge = "openai:m?base_url=https://elsewhere.test/v1"']
)
def test_the_host_that_a_settings_file_sends_keys_to_is_named(desk, caplog, line):
    """Nobody named it on the command line."""
    (desk / "everyclaim.toml").write_text(f"{line}\n")
    load_settings()
    assert "requests and their API key go to elsewhere.test, as " in caplog.text
    caplog.clear()
    load_settings(Path("everyclaim.toml"))
    assert not caplog.text


# ---- input that is not what it should be


def test_a_missing_file(everyclaim):
    """The path is named."""
    done = everyclaim("score", "nowhere.jsonl")
    assert done.code == 2
    assert "nowhere.jsonl" in only_line(done)


@pytest.mark.parametrize("name", ["empty.jsonl", "empty.json", "empty.csv"])
def test_an_empty_file(everyclaim, desk, name):
    """Nothing to score is bad input, not a score."""
    (desk / name).touch()
    done = everyclaim("score", name)
    assert done.code == 2
    assert name in only_line(done)


def test_a_binary_file(everyclaim, desk):
    """Not text is said, whatever the name claims."""
    (desk / "image.jsonl").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 40)
    done = everyclaim("score", "image.jsonl")
    assert done.code == 2
    assert only_line(done).startswith("error: ")


def test_a_directory_without_data(everyclaim, desk):
    """A folder that is no data set is named as such."""
    (desk / "folder").mkdir()
    done = everyclaim("score", "folder")
    assert done.code == 2
    assert "folder" in only_line(done)


def test_a_column_that_is_not_there(everyclaim):
    """What is missing, and how to say where it is."""
    write_jsonl("odd.jsonl", [{"said": "It is red", "contexts": ["It is red"]}])
    done = everyclaim("score", "odd.jsonl")
    assert done.code == 2
    assert "response" in only_line(done)
    done = everyclaim("score", "answers.jsonl", "--slice", "nothing")
    assert done.code == 2
    assert "nothing" in only_line(done)


def test_only_responses_that_are_numbers(everyclaim):
    """No row can be used: bad input, with the first reason."""
    write_jsonl("numbers.jsonl", [{"response": {"a": 1}, "contexts": ["x"]}] * 3)
    done = everyclaim("score", "numbers.jsonl")
    assert done.code == 2
    assert "line 1" in only_line(done)


def test_contexts_that_are_one_string_are_one_passage(everyclaim):
    """A forgotten list is no reason to fail."""
    write_jsonl("one.jsonl", [{"response": "It is red", "contexts": "It is red"}])
    assert json.loads(everyclaim("score", "one.jsonl", "--json").out)["summary"]["score"]["value"] == 1.0


@pytest.mark.slow
def test_ten_megabytes_of_text_and_nul_characters_are_scored(everyclaim):
    """Size and odd characters neither crash nor act on the page."""
    long = "word " * 2_000_000
    write_jsonl("big.jsonl", [{"id": "big\x00\x1b[31m", "response": long + "| It is \x00 red", "contexts": [long]}])
    done = everyclaim("score", "big.jsonl", "--max-answer-chars", "11000000")
    assert done.code == 0
    assert "1 scored of 1" in done.out
    assert "big\\x00\\x1b[31m" in done.out
    assert "\x1b" not in done.out + done.err
    assert len(done.out) < 10_000


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--judge", "nobody"], "unknown name 'nobody' among verifiers"),
        (["--strategy", "random"], "strategy"),
        (["--empty", "two"], "empty"),
        (["--map", "response"], "--map response: write"),
        (["--fail-under", "90"], "--fail-under must be a number from 0 to 1, got 90.0"),
        (["--fail-under", "high"], "--fail-under"),
        (["--cluster-by", "moon"], "choose one of sample, question"),
        (["--limit", "0"], "--limit"),
        (["--report", "report.pdf"], "ends in neither .html nor .json"),
        (["--report", "no/such/report.json"], "there is no folder"),
        (["--out", "results.xyz"], "results.xyz"),
        (["--out", "-", "--json"], "choose one"),
        (["--resume", "x", "--fresh"], "exclude each other"),
        (["--resume", "nothing"], "no run 'nothing'"),
        (["--config", "gone.toml"], "gone.toml"),
        (["--wrong"], "--wrong"),
        (["answers.jsonl", "--out", "x.jsonl"], "one file at a time"),
    ],
)
def test_wrong_usage_is_one_line_and_2(everyclaim, arguments, said):
    """Every wrong option says what is wrong, before or instead of scoring."""
    done = everyclaim("score", "answers.jsonl", *arguments)
    assert done.code == 2
    assert said in only_line(done)


def test_a_destination_that_cannot_be_written_is_said_before_anything_is_scored(everyclaim):
    """Hours of scoring do not end in a bad file name."""
    done = everyclaim("score", "answers.jsonl", "--out", "no/such/folder/results.jsonl")
    assert done.code == 2
    assert "results.jsonl" in only_line(done)
    assert json.loads(everyclaim("runs", "--json").out) == []


def test_no_worst_answers_wanted_changes_no_number(everyclaim):
    """--worst 0 leaves the list away, and nothing else."""
    done = everyclaim("score", "answers.jsonl", "--worst", "0", "--fail-under", "0.4")
    assert done.code == 0
    assert "3 scored of 5" in done.out
    assert "Worst answers" not in done.out


COMPARED = [
    {"id": "half", "response": "It is red", "reference": "It is red | It is big", "contexts": ["It is red", "No."]},
    {"id": "all", "response": "It is red | It is big", "reference": "It is big | It is red", "contexts": ["It is big"]},
    {"id": "nothing to compare", "response": "It is red", "contexts": []},
]


@pytest.mark.parametrize(
    ("metric", "heading", "parts"),
    [
        ("factual_correctness", r"mean factual correctness · good +0\.833  ", ["precision", "recall", "f1"]),
        (
            "factual_correctness?mode=recall&beta=2",
            r"mean factual correctness · good +0\.750  ",
            ["precision", "recall", "f2"],
        ),
        (
            "ragchecker",
            r"mean ragchecker · good +0\.833  ",
            ["claim recall", "self knowledge", "noise sensitivity irrelevant"],
        ),
    ],
)
def test_a_metric_with_parts_is_one_option(everyclaim, metric, heading, parts):
    """The page names the metric and its parts; a sample without a reference is a failure with its reason."""
    write_jsonl("compared.jsonl", COMPARED)
    done = everyclaim("score", "compared.jsonl", "--metric", metric, "--max-failed", "0.5")
    assert done.code == 0, done.err
    assert re.search(heading, done.out)
    assert all(f"\n  {part} " in done.out for part in parts)
    assert "failed    no reference 1" in done.out
    assert "of the reference's 2 claims, the response does not state 1:" in done.out


def test_the_parts_of_a_score_are_columns_and_fields(everyclaim, desk):
    """In CSV beside the score, in JSON with a mean and an interval."""
    write_jsonl("compared.jsonl", COMPARED)
    options = ["--metric", "factual_correctness", "--out", "rows.csv", "--json", "--max-failed", "0.5"]
    summary = json.loads(everyclaim("score", "compared.jsonl", *options).out)["summary"]
    assert summary["components"]["recall"]["value"] == 0.75
    with (desk / "rows.csv").open(newline="", encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    assert [(row["id"], row["claim_of"], row["component.recall"]) for row in rows] == [
        ("half", "response", "0.5"),
        ("half", "reference", "0.5"),
        ("half", "reference", "0.5"),
        *[("all", of, "1.0") for of in ("response", "response", "reference", "reference")],
        ("nothing to compare", "", ""),
    ]


@pytest.mark.parametrize("name", ["tagged.jsonl", "tagged.csv"])
def test_a_tag_with_several_values_counts_in_each_of_its_slices(everyclaim, desk, name):
    """Also where a CSV cell holds the list; every answer counts once in the whole, and the results hold the list."""
    topics = [["age", "look", "age"], ["look"], "age", [], None]
    rows = [{"id": row["id"], "response": row["response"], "contexts": ["It is red and big."], "topic": topic}
            for row, topic in zip(ANSWERS, topics, strict=True)]  # fmt: skip
    if name.endswith(".csv"):
        with (desk / name).open("w", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            for row in rows:
                tag = json.dumps(row["topic"]) if isinstance(row["topic"], list) else row["topic"]
                writer.writerow(row | {"contexts": json.dumps(row["contexts"]), "topic": tag})
    else:
        write_jsonl(name, rows)
    done = everyclaim("score", name, "--slice", "topic", "--json", "--out", "results.jsonl")
    summary = json.loads(done.out)["summary"]
    assert {value: group["total"] for value, group in summary["slices"]["topic"].items()} == {
        "": 2,
        "age": 2,
        "look": 2,
    }
    assert summary["total"] == 5
    tags = [json.loads(line)["tags"] for line in (desk / "results.jsonl").read_text().splitlines()]
    assert tags[:4] == [{"topic": ["age", "look"]}, {"topic": ["look"]}, {"topic": "age"}, {}]
    again = json.loads(everyclaim("report", "--json").out)["summary"]
    assert again["slices"] == summary["slices"]
    assert everyclaim("report", "--out", "flat.csv").code == 0
    with (desk / "flat.csv").open() as file:
        assert json.loads(next(csv.DictReader(file))["tags"]) == {"topic": ["age", "look"]}
