"""Options about language models that are said beside the specs, and where they end up."""

from __future__ import annotations

from pathlib import Path

import everyclaim as ec
from everyclaim.testing import JudgeServer, play, request_data

SHELF = ["The kettle is red. It holds 2 litres."]


def played(request: object) -> str:
    return play(request.messages)  # type: ignore[attr-defined]


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
