"""`fit_cascade`: from a file of labelled claims to the spec of a cascade."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import everyclaim as ec
from everyclaim.api.fitting import cascade_spec
from everyclaim.testing import JudgeServer, play


class Thermometer:
    """Says as SUPPORTED what stands in the claim."""

    spec = "thermometer"

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def verify(
        self, claims: Sequence[ec.Claim], passages: Sequence[ec.Passage], *, question: str = ""
    ) -> list[ec.Verdict]:
        self.asked += [claim.text for claim in claims]
        if "broken" in self.asked[-1]:
            raise ec.JudgeError("timeout", "no answer")
        shares = [ec.Probabilities(p, 1 - p, 0.0) for p in (float(claim.text.split()[0]) for claim in claims)]
        return [ec.Verdict(c.id, s.label, s) for c, s in zip(claims, shares, strict=True)]


def row(says: float, label: str, number: int, **more: Any) -> dict[str, Any]:
    return {"claim": f"{says} of claim {number}", "contexts": [f"passage {number}"], "label": label, **more}


SURE = [row(0.97, "SUPPORTED", i) for i in range(60)] + [row(0.02, "not supported", i) for i in range(60, 120)]
DOUBT = [row(0.6, label, i) for i, label in enumerate(("SUPPORTED", "Contradicted", "unsupported") * 20, start=200)]


def test_a_band_is_fitted_and_the_cascade_keeps_to_it(tmp_path: Path) -> None:
    """What the judge is right about when it is sure is settled; what it is not is put to the second judge."""
    judge = Thermometer()
    fit = ec.fit_cascade(SURE + DOUBT, judge, error=0.1)
    assert (fit.claims, fit.clusters) == (180, 180)
    assert fit.settled.claims == 120
    assert 0.6 < fit.high <= 0.97
    assert fit.low == pytest.approx(1 - fit.high)
    assert len(judge.asked) == 180
    with JudgeServer(lambda request: play(request.messages)) as server:
        spec = cascade_spec(fit, "lexical", f"openai:m?base_url={server.base_url}")
        made_by = ec.score(response="It is red.", passages=["It is red."], judge=spec).provenance
    assert (made_by.parameters["low"], made_by.parameters["high"]) == (f"{fit.low:g}", f"{fit.high:g}")


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([row(0.9, "mostly", 1, id="a7")], "claim 'a7' has the label 'mostly'"),
        ([{"claim": "x", "contexts": ["y"]}], "no field 'label'"),
        ([row(0.9, "SUPPORTED", 1) | {"label": None}], "no labelled claim"),
        ([row(0.9, "SUPPORTED", 1) | {"claim": "broken"}], "no verdict on any of the 1 labelled claims"),
    ],
)
def test_a_source_that_holds_nothing_to_fit_to_is_said(rows: list[dict[str, Any]], said: str) -> None:
    """With the row, the field, or what became of them."""
    with pytest.raises(ec.InputError, match=said):
        ec.fit_cascade(rows, Thermometer())
