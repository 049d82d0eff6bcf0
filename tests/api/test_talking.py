"""Options about language models that are said beside the specs, and where they end up."""

from __future__ import annotations

from pathlib import Path

import pytest

import everyclaim as ec
from everyclaim.api.specs import judge_spec
from everyclaim.testing import JudgeServer, play, request_data

SHELF = ["The kettle is red. It holds 2 litres."]


def played(request: object) -> str:
    return play(request.messages)  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("judge", "options", "spec"),
    [
        ("openai:m", {"claims_per_call": 3, "repeats": 2}, "openai:m?claims_per_call=3&repeats=2"),
        ("lexical", {"claims_per_call": 3}, "lexical"),
        ("cascade:lexical>openai:m?audit=1", {"repeats": 2}, "cascade:lexical>openai:m?2.repeats=2&audit=1"),
        (
            "panel:openai:a|openai:b",
            {"rubric": Path("r.toml")},
            "panel:openai:a|openai:b?1.domain=r.toml&2.domain=r.toml",
        ),
        ("anthropic:m", {"headers": {"X-A": "$B"}}, "anthropic:m?header.X-A=$B"),
        ("openai:m", {"max_cost": 1.0, "cache": "x", "base_url": None}, "openai:m"),
    ],
)
def test_what_can_change_a_verdict_becomes_part_of_the_spec(judge: str, options: dict[str, object], spec: str) -> None:
    """Of every language model in it; limits and the cache do not, and other judges stay as they are."""
    assert str(judge_spec(judge, options)) == spec


def test_what_fails_in_one_batch_waits_for_the_others(tmp_path: Path) -> None:
    """An answer's batches are all paid, so all are in the cache when it fails, and are not asked again."""
    sentences = " ".join(f"Kettle number {i} is red." for i in range(1, 5))

    def rule(request: object) -> str:
        claims = str(request_data(request.messages).get("claims", ""))  # type: ignore[attr-defined]
        return '{"verdicts": []}' if "number 2" in claims else played(request)

    file = tmp_path / "a.jsonl"
    file.write_text(f'{{"id": "a", "response": "{sentences}", "contexts": ["Kettle number is red."]}}\n')
    with JudgeServer(rule) as server:
        options = {
            "judge": "openai:m",
            "base_url": server.base_url,
            "store": tmp_path / "runs.db",
            "claims_per_call": 1,
        }
        first = ec.score_file(file, **options)
        assert first.summary.failures == {"missing_verdict": 1}
        assert server.calls == 1 + 3 + 2
        server.script(played)
        again = ec.score_file(file, resume=first.id, **options)
    assert again.summary.overall.scored == 1
    assert server.calls == 6 + 1


@pytest.mark.parametrize("bad", ['{"verdicts": []}', '{"verdicts": [{"id": "c9"}]}', '{"sentences": []}'])
def test_a_reply_of_no_use_is_not_replayed_for_ever(tmp_path: Path, bad: str) -> None:
    """Well-formed or not, whichever call it answered: resuming asks again, once."""
    file = tmp_path / "a.jsonl"
    file.write_text('{"id": "a", "response": "The kettle is red.", "contexts": ["The kettle is red."]}\n')
    key = "claims" if "verdicts" in bad else "sentences"
    with JudgeServer(lambda r: bad if key in request_data(r.messages) else played(r)) as server:
        options = {"judge": "openai:m", "base_url": server.base_url, "store": tmp_path / "runs.db"}
        first = ec.score_file(file, **options)
        assert first.summary.overall.outcomes["failed"] == 1
        before = server.calls
        server.script(played)
        again = ec.score_file(file, resume=first.id, **options)
    assert again.summary.overall.scored == 1
    assert server.calls == before + (1 if key == "claims" else 2)
