"""Text from outside cannot act on the page, on a log or on a terminal."""

import dataclasses
import io

import pages_sample as sample
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from everyclaim.core.plaintext import one_line
from everyclaim.core.types import Claim, Decomposition, Evidence, Label, Skipped, Span
from everyclaim.report.findings import decomposition_page, runs_page, verdicts_page
from everyclaim.report.terminal import run_page

NASTY = "a\x1b[2J\x1b]0;owned\x07b\r\nFAKE LINE\x9b31m\u202eevil\u2066\u200b\ufeff[bold red]not bold[/] [/nope]\x00\ud800\U000e0041"


@given(st.text(st.characters(exclude_categories=()), max_size=80))
def test_one_line_is_one_harmless_line(text):
    """Whatever comes in, what goes out is printable, on one line, and can be written as UTF-8."""
    shown = one_line(text)
    assert len(shown.splitlines()) <= 1
    assert shown.replace("\u200c", "").replace("\u200d", "").isprintable()
    shown.encode("utf-8")


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
