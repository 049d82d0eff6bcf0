"""Whole pages, compared with the text files in `pages/`.

After a wanted change: ``EVERYCLAIM_WRITE_PAGES=1 pytest tests/report``, then read the difference.
"""

import dataclasses
import io
import os
import re
from pathlib import Path

import pages_sample as sample
import pytest
from rich.console import Console
from rich.text import Text

from everyclaim.core.spec import Spec
from everyclaim.core.types import Claim, Decomposition, Label, Outcome, Result, Sample, Skipped, Span
from everyclaim.report.listings import decomposition_page, runs_page, verdicts_page
from everyclaim.report.style import Page
from everyclaim.report.terminal import run_page, summary_page
from everyclaim.stats.intervals import NOTHING, Estimate

PAGES = Path(__file__).parent / "pages"


def printed(page, width=80, **console):
    stream = io.StringIO()
    Console(file=stream, width=width, **console).print(page)
    return stream.getvalue()


def matches(name, text):
    """Compare with the kept page, or keep this one when asked to."""
    file = PAGES / f"{name}.txt"
    if os.environ.get("EVERYCLAIM_WRITE_PAGES"):
        file.write_text(text, encoding="utf-8")
    return text == file.read_text(encoding="utf-8")


@pytest.mark.parametrize("width", [40, 80, 120])
def test_a_run_reads_well_at_every_width(width):
    """The headline, the claims, the slices and the worst answers, whole; no word of a label is broken."""
    text = printed(run_page(*sample.example()), width)
    assert max(len(line) for line in text.splitlines()) <= width
    assert not any(line.endswith(" ") for line in text.splitlines())
    assert all(words in text for words in ("█ supported claims", "▒ unsupported claims", "╳ contradicted claims"))
    assert width != 80 or matches("run-80", text)


def test_a_run_in_an_ascii_terminal_holds_no_other_character():
    """Signs become ASCII of the same width, so that columns stay aligned."""
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="ascii")
    Console(file=stream, width=80).print(run_page(*sample.example()))
    stream.flush()
    assert matches("run-ascii", raw.getvalue().decode("ascii"))


def test_signs_of_every_page_have_a_form_in_ascii():
    """Arrows, minus and times as well: only what the data holds becomes an escape."""
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="ascii")
    Console(file=stream, width=80).print(Page(Text("0.803 → 0.825 · +2.2 (−2.0 … 6.4) ≤ 3 × 2 ↓ é")))
    stream.flush()
    assert raw.getvalue().decode("ascii").rstrip() == "0.803 > 0.825 | +2.2 (-2.0 ~ 6.4) < 3 x 2 v \\xe9"


def test_no_color_is_obeyed(monkeypatch):
    """With NO_COLOR set a terminal gets no colours."""
    monkeypatch.setenv("NO_COLOR", "1")
    text = printed(run_page(*sample.example()), force_terminal=True, color_system="truecolor")
    assert not re.search(r"\x1b\[(\d+;)*[349]\d", text)  # 30 to 49 and 90 to 97 are colours


def test_a_run_without_any_score_says_so():
    """All answers failed or declined: no mean, no bar, no NaN."""
    records = [
        sample.without_score(0, Outcome.FAILED, "timeout: no reply in 60 s"),
        sample.without_score(1, Outcome.FAILED, "bad_json: cut off"),
        sample.without_score(2, Outcome.ABSTAINED),
    ]
    assert matches("run-unscored", printed(run_page(*sample.page_parts(records))))


def test_a_long_list_of_answers_is_aligned_from_the_first_to_the_last():
    """Below number 10 everything of an answer begins under its id, as it does below number 1."""
    records = [sample.detailed(place) for place in range(12)]
    lines = printed(run_page(*sample.page_parts(records, k=12))).partition("Worst answers")[2].splitlines()
    firsts = [place for place, line in enumerate(lines) if re.match(r" *\d+\. ", line)]
    assert len(firsts) == 12
    begins = {re.match(r" *\d+\. ", lines[place]).end() for place in firsts}
    assert begins == {4}
    below = [line for place in firsts for line in lines[place + 1 : place + 9] if line]
    assert all(line.startswith("    ") for line in below if not re.match(r" *\d+\. ", line))


def test_warnings_that_are_not_listed_are_counted():
    """Of many kinds of warnings the most frequent are quoted, and the number of the others is said."""
    records = [
        sample.kept(place, Result(f"q{place}", Outcome.SCORED, 1.0, sample.PROVENANCE, warnings=(f"oddity {place}",)))
        for place in range(5)
    ]
    _, summary, _ = sample.page_parts(records)
    text = printed(summary_page(summary))
    assert re.search(r"warnings +5 on 5 answers", text)
    assert text.count("1 answer: oddity") == 3
    assert "… and 2 other kinds of warning" in text


def test_the_parts_of_a_score_and_what_the_response_leaves_out():
    """The page is headed by the metric's name; parts have means; a reference's claims are told from the response's."""
    records = [sample.in_parts(i) for i in range(3)]
    text = printed(run_page(*sample.page_parts(records, k=1)))
    assert "faithfulness" not in text
    assert matches("run-parts", text)


def test_wide_characters_keep_the_columns():
    """Chinese, Arabic and emoji in tags and answers neither break the table nor disappear."""
    records = [sample.plain(0, "ssu", "知识库"), sample.plain(1, "su", "🫖 teapots"), sample.plain(2, "s", "دليل")]
    assert matches("run-wide", printed(run_page(*sample.page_parts(records, slices=["source"]))))


DECOMPOSED = Decomposition(
    claims=(
        Claim("c1", "Unopened kettles can be returned within 30 days of delivery.", Span(11, 71), "…"),
        Claim("c2", "Opened kettles are repaired.", Span(72, 100), "…"),
    ),
    skipped=(Skipped("Good news!", Span(0, 10), "not_checkable"),),
)


def test_a_decomposition_shows_claims_and_what_was_skipped():
    """Every claim with its offsets, every skipped piece with its reason."""
    assert matches("claims-80", printed(decomposition_page(DECOMPOSED, "x" * 100)))


@pytest.mark.parametrize(
    ("decomposition", "response", "said"),
    [
        (Decomposition(()), "", "no claims: the response is empty"),
        (Decomposition(()), "Hello!", "no claims: nothing to check"),
        (Decomposition((), abstained=True), "I do not know.", "the response declines to answer"),
    ],
)
def test_a_response_without_claims_says_why(decomposition, response, said):
    """Empty, nothing to check and declined are told apart."""
    assert printed(decomposition_page(decomposition, response)).strip() == said


SCORE = Estimate(0.8, 0.71, 0.87, 38, 38, "bootstrap")


def test_the_runs_of_a_store():
    """One line per run, newest as given, unfinished ones marked."""
    record, _, _ = sample.example()
    stopped = dataclasses.replace(record, id="77aa00ff1122", name="", status="running", total=60)
    assert matches("runs-80", printed(runs_page([record, stopped], [SCORE, NOTHING], "runs.db")))


LONG_JUDGE = "openai:gpt-5-mini?base_url=http://127.0.0.1:8000/v1&claims_per_call=25"


@pytest.mark.parametrize("width", [40, 80, 120])
def test_runs_with_long_names_break_no_word(width):
    """Where a table would, every run has a few lines; specs are shown as people write them."""
    record, _, _ = sample.example()
    provenance = dataclasses.replace(record.provenance, verifier=str(Spec.parse(LONG_JUDGE)))
    named = dataclasses.replace(record, name="nightly after the new retriever", provenance=provenance)
    text = printed(runs_page([record, named], [SCORE, SCORE], "runs.db"), width)
    assert all(word in text for word in ("retriever", "3f2a91c0de11", "nightly", "2026-03-01", "38/41", "lexical"))
    assert "%3A" not in text
    assert width == 40 or "openai:gpt-5-mini?base_url=http://127.0.0.1:8000/v1" in text


def test_a_stopped_run_of_unknown_size_does_not_look_whole():
    """What was not read to its end has no total, unless the total was known beforehand."""
    record, _, _ = sample.example()
    stopped = dataclasses.replace(record, status="stopped", total=None)
    assert "38/?" in printed(runs_page([stopped], [SCORE], "runs.db"))
    assert "38/60" in printed(runs_page([dataclasses.replace(stopped, total=60)], [SCORE], "runs.db"))


def test_an_empty_store_says_so():
    """No table without rows."""
    assert printed(runs_page([], [], ".everyclaim/runs.db")).strip() == "no runs yet in .everyclaim/runs.db"


def test_verdicts_on_given_claims_show_the_worst_of_them():
    """With evidence in its place, as the answers of a run do."""
    result = sample.detailed(0).result
    shelf = (sample.RETURNS, sample.OLD)
    worst = [
        (Sample(f"row-{i}", claim.text, shelf, "How long?" if i == 1 else ""), claim.verdict)
        for i, claim in enumerate(result.claims, 1)
    ]
    page = verdicts_page({Label.SUPPORTED: 1, Label.UNSUPPORTED: 2, Label.CONTRADICTED: 1}, {}, worst=worst)
    assert matches("verdicts-worst-80", printed(page))


def test_skipped_pieces_that_say_something_are_told_apart():
    """On the page of a decomposition, whether there are claims or none."""
    left = (
        Skipped("Please ask Acme in Graz.", Span(0, 24), "instruction", True),
        Skipped("Bye!", Span(25, 29), "meta"),
    )
    assert matches("skipped-80", printed(decomposition_page(Decomposition((), left), "x" * 29)))
    some = Decomposition(DECOMPOSED.claims, left)
    assert "2 claims · 2 pieces skipped · 1 of them with a number or a name" in printed(decomposition_page(some, "x"))
