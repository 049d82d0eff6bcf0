"""The embedded verifier through its public surface: labels, evidence, words, steadiness, and what it refuses."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys

import pytest

import everyclaim as ec
from everyclaim.core.types import Claim, Label, Passage, Span
from everyclaim.verify.embedded.verifier import EmbeddedVerifier

OVEN = (
    "Heat the oven to 350 degrees F. Bake the loaf for forty minutes. Let it cool on a rack before you slice it. "
    "The recipe was first printed by the Harrow Lane bakery in 1974."
)


def judge(claim: str, passages: list[str] | str = OVEN, **options):
    """Judge one claim."""
    (judged,) = ec.verify_claims(claim, passages, judge=options.pop("judge", "embedded"), **options)
    return judged.verdict


def test_evidence_is_found_among_many_passages():
    """The passage that holds the evidence is named, wherever it stands."""
    notices = [f"Notice {i}: the car park on level {i} is closed for repairs this week." for i in range(11)]
    for place in (0, 5, 11):
        passages = [*notices[:place], OVEN, *notices[place:]]
        (judged,) = ec.verify_claims("Bake the loaf for forty minutes.", passages, judge="embedded")
        assert judged.verdict.label is Label.SUPPORTED
        first = judged.verdict.evidence[0]
        assert passages[int(first.passage_id.strip("p")) - 1][first.start : first.end] == first.quote
        assert "forty minutes" in first.quote


@pytest.mark.parametrize("form", ["| {} | {} | {} |", "{} | {} | {}", "{}\t{}\t{}"])
def test_a_value_of_another_row_of_a_table_is_not_the_claims(form: str) -> None:
    """Whether its columns are parted by pipes, with or without pipes around the rows, or by tabs."""
    rows = [("Model", "Range", "Charge time"), ("Kiva S", "48 km", "3 h"), ("Kiva L", "75 km", "5 h")]
    table = "\n".join(form.format(*row) for row in rows)
    assert judge("Charging the Kiva S takes three hours.", table).label is Label.SUPPORTED
    assert judge("Charging the Kiva S takes five hours.", table).label is Label.CONTRADICTED


def test_equal_input_gives_equal_verdicts_on_any_number_of_threads():
    """Neither threads nor the other claims of a call change a probability."""
    claims = [s.strip() + "." for s in OVEN.split(".") if s.strip()] * 2 + ["Bake it for ten minutes."]
    one = ec.verify_claims(claims, OVEN, judge="embedded?threads=1")
    two = ec.verify_claims(claims, OVEN, judge="embedded?threads=2")
    alone = [ec.verify_claims(claim, OVEN, judge="embedded?threads=1")[0] for claim in claims]
    assert [c.verdict.probabilities for c in one] == [c.verdict.probabilities for c in two]
    assert [c.verdict.probabilities for c in one] == [c.verdict.probabilities for c in alone]


def test_judging_leaves_no_trace_and_no_device_id(tmp_path):
    """The network's runtime keeps no device id and no events to send: nothing is written below the user's folders."""
    code = "import everyclaim as ec; print(ec.score(response='The pump is red.', passages=['The pump is red.']).score)"
    folders = {name: str(tmp_path / name) for name in ("HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME")}
    kept = {name: value for name, value in os.environ.items() if name != "ORT_DISABLE_TELEMETRY"}
    run = subprocess.run([sys.executable, "-c", code], env=kept | folders, capture_output=True, text=True, check=True)
    assert run.stdout == "1.0\n"
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_a_cancellation_ends_the_work_on_a_long_answer(monkeypatch):
    """Of very many claims those that were not begun are not read once nobody waits for them any more."""
    from everyclaim.verify.embedded import verifier

    read: list[int] = []
    shipped = verifier.shipped_cross_encoder
    cancel: list = []

    class Counting:
        def read(self, pairs):
            read.append(len(pairs))
            cancel[0]()
            return shipped().read(pairs)

    monkeypatch.setattr(verifier, "shipped_cross_encoder", lambda threads: Counting())
    texts = [f"The loaf of batch {number} was baked for {number} minutes." for number in range(500)]
    claims = [Claim(f"c{number}", text, Span(0, len(text)), text) for number, text in enumerate(texts)]

    async def work():
        task = asyncio.create_task(EmbeddedVerifier().verify(claims, [Passage("p1", OVEN)]))
        loop = asyncio.get_running_loop()
        cancel.append(lambda: loop.call_soon_threadsafe(task.cancel))
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(work())
    assert 0 < sum(read) < 250


def test_ten_thousand_passages_stay_bounded():
    """A great many passages are narrowed down before anything is read."""
    passages = [f"Line {i} of the log reports pressure {i % 97} in tank {i % 13}." for i in range(10_000)] + [OVEN]
    assert judge("Bake the loaf for forty minutes.", passages).label is Label.SUPPORTED
