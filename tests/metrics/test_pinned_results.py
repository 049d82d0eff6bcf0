"""Every metric that ships, on a handful of samples: what it says must stay the same to the byte.

`pinned_results.json` holds score, components, details, labels, warnings and provenance of each. It was written by
``python tests/metrics/test_pinned_results.py``; a change of it is a change of what people see.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import everyclaim as ec
from everyclaim.core.wire import result_to_json
from everyclaim.testing import JudgeServer, play

PINNED = Path(__file__).parent / "pinned_results.json"
TOWER = "The Eiffel Tower was built in 1889 in Paris. It is 330 metres tall."
SHELF = [TOWER, "Gustave Eiffel's company designed the tower. Critics disliked it at first."]
TRUE = "The Eiffel Tower was built in 1889. The Eiffel Tower is 330 metres tall."
SAMPLES: dict[str, dict[str, Any]] = {
    "mixed": {
        "question": "How old is the Eiffel Tower?",
        "response": "The Eiffel Tower was built in 1889. It is the tallest tower in the world. It was designed by Rodin.",
        "passages": SHELF,
        "reference": TRUE,
        "model": "gpt-5-mini",
    },
    "right": {"response": "The Eiffel Tower was built in 1889.", "passages": SHELF, "reference": TRUE},
    "no passages": {"response": "The Eiffel Tower was built in 1889.", "reference": TRUE},
    "no reference": {"response": "The Eiffel Tower was built in 1889.", "passages": SHELF},
    "reference without claims": {"response": TRUE, "passages": SHELF, "reference": "Hello!"},
    "declines": {"question": "How old is it?", "response": "I don't know.", "passages": SHELF, "reference": TRUE},
    "greets": {"response": "Hello! How are you?", "passages": SHELF, "reference": TRUE},
    "empty": {"response": "", "passages": SHELF, "reference": TRUE},
    "German": {
        "response": "Der Eiffelturm wurde 1889 in Paris gebaut, und er ist der höchste Turm der Welt.",
        "passages": SHELF,
        "reference": TRUE,
    },
}
FEW = ("mixed", "right", "no passages", "no reference", "declines")
PARTS = ("outcome", "score", "reason", "components", "details", "skipped", "warnings", "provenance")
SEARCHING = ("factscore", "factscore?gamma=3&k=2", "factscore?expected=4", "safe?k=2", "safe?k=median&queries=2")
OFFLINE = (
    "faithfulness",
    "nli",
    "nli?unit=claim",
    "qa",
    "qa?compare=nli",
    "qa?compare=exact",
    "combined",
    "combined?claim=0.5&nli=0.5&qa=0",
    "factual_correctness",
    "factual_correctness?mode=precision",
    "factual_correctness?mode=recall&compat=ragas",
    "factual_correctness?atomicity=low&beta=2",
    "ragchecker",
    *SEARCHING,
)
ASKING = (
    "faithfulness",
    "faithfulness?mode=one_call",
    "nli",
    "qa",
    "qa?by=cloze",
    "qa?compare=judge",
    "combined",
    "factual_correctness",
    "ragchecker",
    *SEARCHING,
)
VARIANTS: dict[str, dict[str, Any]] = {
    "usual": {},
    "strict": {"strict": True},
    "one": {"empty": "one"},
    "each": {"strategy": "each"},
}


def library(query: str) -> list[str]:
    return [text for text in SHELF if set(query.lower().split()) & set(text.lower().split())]


def scored(metric: str, sample: str, options: dict[str, Any], address: str = "") -> dict[str, Any]:
    knowledge = {"knowledge": library} if metric.startswith(("factscore", "safe")) else {}
    result = ec.score(**SAMPLES[sample], metric=metric, **knowledge, **options)
    whole = result_to_json(result)
    row = {key: whole[key] for key in PARTS if whole.get(key) not in (None, "", [], {})}
    row["claims"] = shown(result.claims)
    if result.reference_claims:
        row["reference_claims"] = shown(result.reference_claims)
    row["provenance"]["version"] = ""
    if sample != "mixed":  # it is the same for all
        assert row.pop("provenance")["metric"].startswith(metric.partition("?")[0])
    if not metric.startswith("combined"):  # whose parts may find each other's replies, or not
        row["calls"] = result.usage.calls
    text = json.dumps(row)
    for there in (address, address.replace("/", "%2F").replace(":", "%3A"), __name__):
        text = text.replace(there, "PINNED") if there else text
    found: dict[str, Any] = json.loads(text)
    return found


def shown(claims: tuple[ec.JudgedClaim, ...]) -> list[list[Any]]:
    return [
        [one.id, one.text, one.verdict.label, list(one.verdict.flags), [found.quote for found in one.verdict.evidence]]
        for one in claims
    ]


def cases() -> Iterator[tuple[str, str, str, str]]:
    for judge, metrics in (("offline", OFFLINE), ("openai", ASKING)):
        for metric in metrics:
            for sample in SAMPLES if judge == "offline" else FEW:
                yield judge, metric, sample, "usual"
            for variant in ("strict", "one", "each"):
                if not (variant == "each" and "one_call" in metric):
                    yield judge, metric, "greets" if variant == "one" else "mixed", variant


def everything(only: str = "") -> dict[str, Any]:
    found = {}
    with JudgeServer(play) as server:
        for judge, metric, sample, variant in cases():
            if only not in ("", metric):
                continue
            chosen = {"judge": "openai:any", "base_url": server.base_url} if judge == "openai" else {}
            row = scored(metric, sample, VARIANTS[variant] | chosen, server.base_url)
            found[f"{judge} | {metric} | {sample} | {variant}"] = row
    return found


@pytest.mark.parametrize("metric", dict.fromkeys([*OFFLINE, *ASKING]))
def test_a_metric_says_what_it_said(metric: str) -> None:
    """Score, components, details, claims, warnings and provenance, offline and with a language model."""
    pinned = json.loads(PINNED.read_text("utf-8"))
    mine = everything(metric)
    assert mine == {key: row for key, row in pinned.items() if key.split(" | ")[1] == metric}
    assert len(mine) >= len(FEW)


if __name__ == "__main__":
    rows = (f"{json.dumps(key)}: {json.dumps(row, ensure_ascii=False)}" for key, row in everything().items())
    PINNED.write_text("{\n" + ",\n".join(rows) + "\n}\n", "utf-8")
