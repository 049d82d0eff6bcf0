"""What `print` shows of results: a short account in plain text, at most 80 characters wide."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

import everyclaim as ec
from everyclaim.core.types import Skipped, Span
from scripted_judge import ScriptedJudge

SAID = {
    "The kettle holds 2 litres.": ec.Label.SUPPORTED,
    "The lid is blue.": ec.Label.UNSUPPORTED,
    "The handle was made in 1999.": ec.Label.CONTRADICTED,
}
PASSAGE = "The kettle holds 2 litres. It was made in 2019."


def rule(claim: ec.Claim, _: object) -> ec.Verdict:
    label = SAID.get(claim.text, ec.Label.UNSUPPORTED)
    if "made" not in claim.text:
        return ec.Verdict(claim.id, label)
    made = ec.Evidence("p1", 27, 47, "It was made in 2019.")
    told = {"rationale": "passage says 2019", "failure_mode": ec.FailureMode.TEMPORAL}
    return ec.Verdict(claim.id, label, evidence=(made,), **told)


def scored(response: str = " ".join(SAID), **options: Any) -> ec.Result:
    return ec.score(response=response, passages=[PASSAGE], judge=ScriptedJudge(rule), **options)


def test_a_result_tells_its_score_its_counts_and_every_failing_claim() -> None:
    """Contradicted ones first, each with its label, reason and evidence."""
    assert str(scored()) == (
        "1 · faithfulness 0.333 (low) · 3 claims: 1 supported, 1 unsupported, 1\n"
        "  contradicted\n"
        "  contradicted  The handle was made in 1999.\n"
        "    temporal: passage says 2019\n"
        "    evidence: p1 «It was made in 2019.»\n"
        "  unsupported  The lid is blue.\n"
        "    invention"
    )


def test_a_guarded_answer_is_its_text_and_what_became_of_it() -> None:
    """What may be shown, whether it was validated, what was taken out, and what is doubtful."""
    answer = ec.Guard(None, judge=ScriptedJudge(rule), threshold=0.5).answer("", [PASSAGE], response=" ".join(SAID))
    assert str(answer) == (
        "The kettle holds 2 litres. The lid is blue.\n"
        "  checked · score 0.500 · 2 attempts\n"
        "  unsupported  The lid is blue.\n"
        "    invention\n"
        "  dropped: The handle was made in 1999. (contradicted)\n"
        "  warning: 1 claim removed from the answer"
    )


@pytest.mark.parametrize(
    ("response", "options", "said", "band"),
    [
        ("", {}, "no score, without claims: the response contains no checkable claim", None),
        ("I do not know.", {}, "no score, abstained: the response declines to answer", None),
        ("I do not know.", {"empty": "one"}, "faithfulness 1.000 (high) by policy, abstained: the res", "high"),
        ("I do not know.", {"empty": "nan"}, "faithfulness nan by policy, abstained: the response dec", None),
    ],
)
def test_what_is_not_scored_says_so(response: str, options: dict[str, Any], said: str, band: str | None) -> None:
    """The outcome and its reason; a number that a policy gave is called that."""
    result = scored(response, **options)
    assert result.summary().startswith(said)
    assert result.band == band
    assert result.failing == ()


def test_a_long_result_is_shortened_and_says_by_how_much() -> None:
    """Whatever the answer holds: few lines, none wider than 80 but for a word that is, and no hidden claim uncounted."""
    response = " ".join(f"The shelf number {number} {'really ' * 15}holds jars." for number in range(40))
    result = dataclasses.replace(
        scored(response),
        warnings=tuple(f"warning number {number} " + "w " * 300 for number in range(9)),
        skipped=tuple(Skipped(f"Is it {number}?", Span(0, 1), "question", unchecked=True) for number in range(9)),
    )
    text = str(result)
    assert len(result.failing) == 40
    assert "… and 35 more failing claims" in text
    assert "… and 6 more warnings" in text
    assert "… and 6 more pieces" in text
    assert max(map(len, text.splitlines())) <= 80
    assert len(text.splitlines()) < 60


def test_nothing_of_a_text_acts_on_the_terminal() -> None:
    """Escapes, line breaks and direction marks of a claim, an id, a reason or a quote are shown, not sent."""
    nasty = "\x1b[31mred\x1b[0m \u202eevil\r\n\x07"
    claim = scored().claims[2]
    evidence = dataclasses.replace(claim.verdict.evidence[0], passage_id=nasty, quote=nasty)
    verdict = dataclasses.replace(claim.verdict, rationale=nasty, evidence=(evidence,), flags=(nasty,))
    bad = dataclasses.replace(claim, text=nasty, id=nasty, verdict=verdict)
    skipped = (Skipped(nasty, Span(0, 1), nasty, unchecked=True),)
    result = dataclasses.replace(scored(), id=nasty, claims=(bad,), reason=nasty, warnings=(nasty,), skipped=skipped,
                                 components={nasty: 0.5})  # fmt: skip
    failed = dataclasses.replace(result, outcome=ec.Outcome.FAILED, score=None)
    parts = ec.Decomposition((bad,), skipped)
    for text in (str(result), str(failed), str(bad), str(parts), result.summary()):
        assert not [character for character in text if character < " " and character != "\n"]
        assert "\u202e" not in text
        assert all(line.startswith((" ", "\\x1b", "contra", "1 claim", "faith")) for line in text.splitlines()), text


def test_a_run_is_told_in_a_few_lines(tmp_path: Any) -> None:
    """Who scored what, the rate per claim, the share of answers scored below 1.0 and the mean, and what was not scored."""
    rows = [{"response": " ".join(SAID), "contexts": [PASSAGE]}] * 2
    rows += [{"response": "The kettle holds 2 litres.", "contexts": [PASSAGE]}, {"response": "I do not know."}, {}]
    run = ec.score_file(rows, store=tmp_path / "runs.db", judge=ScriptedJudge(rule), name="nightly")
    lines = str(run).splitlines()
    assert lines[0].startswith(f"run {run.id} · nightly")
    assert lines[-4].startswith("claims supported           42.9 %   95 % interval ")
    assert lines[-3].startswith("answers scored below 1.0   66.7 %   95 % interval ")
    assert lines[-2].startswith("mean score                  0.556   95 % interval ")
    assert lines[-1] == "answers                   3 scored of 4 · 1 abstained · 1 row unreadable"
    assert "\n".join(lines[-4:]) == str(run.summary)
