"""Keys of the reply cache stay as they are: what a team has paid for is still found after an upgrade.

Every prompt is asked as its users ask it, through a proxy on loopback, so that the address, a part of the key, is
always the same. A change here makes caches worthless: it is right only where the request itself has changed.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from chatting import KEY

import everyclaim as ec
from everyclaim.testing import JudgeServer, Request, play
from everyclaim.testing.script import Step

AT = "base_url=http%3A%2F%2Fjudge.invalid%2Fv1"
JUDGE = f"openai:judge-1?{AT}"
ROW: dict[str, Any] = {
    "question": "What does the kettle hold?",
    "response": "The kettle holds 1.7 litres. It was made in Ghent in 1934. The handle is red.",
    "passages": ["The kettle holds 1.7 litres. It was made in Ghent in 1934.", "The handle is blue."],
}
OPTIONS = (
    "seed=7&temperature=0.5&top_p=0.9&reply_tokens=900&timeout=9&max_reply_mb=2"
    "&header.X-Team=blue&query.v=2&body.user=%22u%22"
)
LONG = {**ROW, "passages": [*ROW["passages"], "The lid is of steel and closes well. " * 150]}


def usual(request: Request) -> Step:
    return play(request.messages)


def forgetful(request: Request) -> Step:
    """Leave out the last row of every reply that has several."""
    reply = json.loads(play(request.messages))
    (name, rows), *_ = reply.items()
    return json.dumps({name: rows[:-1] or rows})


def inventive(request: Request) -> Step:
    """Put a year into the first claim that its sentence does not hold."""
    reply = json.loads(play(request.messages))
    if "skipped" in reply and "not_in_sentence" not in request.text:
        reply["sentences"][0]["claims"] = ["The kettle of 1899 holds 1.7 litres."]
    return json.dumps(reply)


def yes(_: Request) -> Step:
    return "Yes"


def author(request: Request) -> Step:
    """Write an answer that is not borne out, and correct it."""
    if "Correct sentences" in request.text:
        return json.dumps({"sentences": [{"id": "s1", "text": "The kettle holds 1.7 litres."}]})
    return "The kettle holds 9 litres."


def score(**options: Any) -> Callable[[str], object]:
    return lambda cache: ec.score(**{**ROW, "judge": JUDGE, "cache": cache, **options})


def verify(**options: Any) -> Callable[[str], object]:
    """Judge given claims, so that only the judge's own calls are made."""
    claims = ["The kettle holds 1.7 litres.", "The handle is red."]
    return lambda cache: ec.verify_claims(claims, ROW["passages"], **{"judge": JUDGE, "cache": cache, **options})


def guard(cache: str) -> object:
    with ec.Guard(JUDGE, judge="lexical", cache=cache) as guarded:
        return guarded(ROW["question"], ROW["passages"])


def safe(cache: str) -> object:
    sample = {**ROW, "passages": []}
    found = lambda query: ROW["passages"]  # noqa: E731 - the query plays no part
    return ec.score(**sample, judge=JUDGE, metric="safe?queries=2", knowledge=found, cache=cache)


CASES: dict[str, tuple[Callable[[Request], Step], Callable[[str], object]]] = {
    "split and judge": (usual, score()),
    "passages worth a prefix": (usual, score(**LONG, claims_per_call=1)),
    "what was left out": (forgetful, score(decomposer="embedded")),
    "claims at fault": (inventive, score()),
    "a quote is required": (usual, score(evidence="required", decomposer="embedded")),
    "stricter": (usual, score(decomposer="embedded", inference="explicit", numbers="exact", hedges="strict")),
    "one call": (usual, score(one_call=True)),
    "one call, left out": (forgetful, score(one_call=True)),
    "relations": (usual, score(judge=f"{JUDGE}&prompt=nli", decomposer="embedded")),
    "minicheck": (yes, score(judge=f"{JUDGE}&prompt=minicheck")),
    "questions": (usual, score(metric="qa?compare=judge")),
    "coarse claims": (usual, score(metric="factual_correctness?atomicity=low&coverage=low", reference="It is red.")),
    "search": (usual, safe),
    "guard": (author, guard),
    "claims without their answer": (usual, verify()),
    "anthropic": (usual, score(judge="anthropic:judge-1?base_url=http%3A%2F%2Fjudge.invalid", decomposer="embedded")),
    "every option": (usual, score(judge=f"{JUDGE}&{OPTIONS}", decomposer="embedded")),
}
PINS: dict[str, list[str]] = json.loads(Path(__file__).with_name("cache_keys.json").read_text("utf-8"))


def keys(name: str, cache: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Run a case, and return the keys that its cache has then, shortened."""
    rule, run = CASES[name]
    with JudgeServer(rule) as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy.root)
        for variable in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
            monkeypatch.setenv(variable, KEY)
        run(str(cache))
    with sqlite3.connect(cache) as connection:
        found = [bytes(key).hex()[:16] for (key,) in connection.execute("SELECT key FROM replies_1")]
    connection.close()
    return sorted(found)


@pytest.mark.parametrize("name", CASES)
def test_keys_stay(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same calls have the same keys in every version."""
    assert keys(name, tmp_path / "replies.db", monkeypatch) == PINS[name]
