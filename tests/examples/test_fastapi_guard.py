"""The middleware of the examples guards what a service answers, and lets everything else pass."""

from __future__ import annotations

import runpy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "fastapi_guard.py"


@pytest.fixture(scope="module")
def client() -> Iterator[TestClient]:
    module: dict[str, Any] = runpy.run_path(str(EXAMPLE))
    with TestClient(module["app"]) as client:
        yield client


def test_what_the_sources_do_not_support_does_not_leave_the_service(client: TestClient) -> None:
    """The claim is dropped and named; the rest of the reply is as the service made it."""
    said = client.get("/ask", params={"question": "How long does descaling take?"}).json()
    assert said["answer"] == "Descaling takes 35 minutes on the Classica."
    assert said["faithfulness"]["checked"]
    assert said["faithfulness"]["score"] == 1.0
    assert len(said["faithfulness"]["removed"]) == 1
    assert said["contexts"] == ["The descaling programme takes 35 minutes on the Classica."]


def test_other_replies_pass(client: TestClient) -> None:
    """Other paths, and errors."""
    assert client.get("/health").json() == {"status": "ok"}
    assert client.get("/ask").status_code == 422
