"""Whole pages, compared with the text files in `pages/`; nothing in them acts on a terminal.

After a wanted change: ``EVERYCLAIM_WRITE_PAGES=1 pytest tests/report``, then read the difference.
"""

import dataclasses
import io
import os
from pathlib import Path

import pages_sample as sample
import pytest
from rich.console import Console

from everyclaim.core.types import Claim, Decomposition, Evidence, Label, Outcome, Sample, Skipped, Span
from everyclaim.report.findings import decomposition_page, runs_page, verdicts_page
from everyclaim.report.style import house_table
from everyclaim.report.terminal import run_page
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


def test_a_run_without_any_score_says_so():
    """All answers failed or declined: no mean, no bar, no NaN."""
    records = [
        sample.without_score(0, Outcome.FAILED, "timeout: no reply in 60 s"),
        sample.without_score(1, Outcome.FAILED, "bad_json: cut off"),
        sample.without_score(2, Outcome.ABSTAINED),
    ]
    assert matches("run-unscored", printed(run_page(*sample.page_parts(records))))


def test_the_parts_of_a_score_and_what_the_response_leaves_out():
    """The page is headed by the metric's name; parts have means; a reference's claims are told from the response's."""
    records = [sample.in_parts(i) for i in range(3)]
    text = printed(run_page(*sample.page_parts(records, k=1)))
    assert "faithfulness" not in text
    assert matches("run-parts", text)


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


SCORE = Estimate(0.8, 0.71, 0.87, 38, 38, "bootstrap")


def test_the_runs_of_a_store():
    """One line per run, newest as given, unfinished ones marked."""
    record, _, _ = sample.example()
    stopped = dataclasses.replace(record, id="77aa00ff1122", name="", status="running", total=60)
    assert matches("runs-80", printed(runs_page([record, stopped], [SCORE, NOTHING], "runs.db")))


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


NASTY = "a\x1b[2J\x1b]0;owned\x07b\r\nFAKE LINE\x9b31m\u202eevil\u2066\u200b\ufeff[bold red]not bold[/] [/nope]\x00\ud800\U000e0041"


def nasty_pages():
    kept = sample.detailed(0)
    verdict = dataclasses.replace(
        kept.result.claims[1].verdict,
        rationale=NASTY,
        flags=(NASTY,),
        evidence=(Evidence(NASTY, 0, 5, NASTY), Evidence("returns", 0, 5, "Thank")),
    )
    claim = dataclasses.replace(kept.result.claims[1], text=NASTY, verdict=verdict)
    torn = kept.result.claims[0]
    named = tuple(dataclasses.replace(one, passage_id=NASTY) for one in torn.verdict.per_passage)
    torn = dataclasses.replace(torn, verdict=dataclasses.replace(torn.verdict, per_passage=named))
    passages = tuple(dataclasses.replace(p, text=p.text + NASTY) for p in kept.sample.passages)
    result = dataclasses.replace(
        kept.result, id=NASTY, question=NASTY, claims=(claim, torn), tags={NASTY: NASTY, "source": NASTY}
    )
    kept = kept._replace(result=result, sample=dataclasses.replace(kept.sample, id=NASTY, passages=passages))
    record, summary, worst = sample.page_parts([kept], slices=["source", NASTY], name=NASTY, dataset=NASTY)
    record = dataclasses.replace(record, provenance=dataclasses.replace(record.provenance, verifier=NASTY))
    pieces = Decomposition((Claim("c1", NASTY, Span(0, 5), NASTY),), (Skipped(NASTY, Span(0, 5), "meta"),))
    return {
        "run": run_page(record, summary, worst),
        "claims": decomposition_page(pieces, NASTY),
        "runs": runs_page([record], [summary.overall.score], NASTY),
        "verdicts": verdicts_page({Label.SUPPORTED: 1}, {NASTY: 1}),
    }


@pytest.mark.parametrize("page", ["run", "claims", "runs", "verdicts"])
@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
def test_no_page_lets_data_act(page, encoding):
    """Ids, tags, names, quotes, rationales: no escape, no forged line, no markup, and it can be encoded."""
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding=encoding)
    Console(file=stream, width=4000).print(nasty_pages()[page])
    stream.flush()
    text = raw.getvalue().decode(encoding)
    assert not any(ord(c) < 0x20 and c != "\n" for c in text)
    assert not any(c in text for c in "\x7f\x9b\u202e\u2066\u200b\ufeff\U000e0041")
    assert not any(line.startswith("FAKE") for line in text.splitlines())
    assert "[bold red]not bold[/]" in text
    assert "\\x1b[2J" in text


def test_a_table_is_never_cut():
    """On a page of any width the last number is whole, in a row of a table or on a line."""
    table = house_table("run", "started (UTC)", "judge", "score", "scored", numbers_from=3)
    table.add_row("a-name-that-is-long", "2026-11-30 22:11", "embedded:24 of two", "0.768", "57/61")
    for width in range(30, 90):
        lines = printed(table, width).splitlines()
        assert any("57/61" in line for line in lines)
        assert max(map(len, lines)) <= width
