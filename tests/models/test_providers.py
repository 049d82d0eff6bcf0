"""A provider that a third party registers is one like ours, in Python and on the command line."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import everyclaim as ec
from everyclaim.core.errors import ConfigError
from everyclaim.models.chat.options import read_options
from everyclaim.testing import JudgeServer, play

KEY = "acme-key-0123456789"
ROW: dict[str, Any] = {
    "question": "What does the kettle hold?",
    "response": "The kettle holds 1.7 litres. It is red.",
    "passages": ["The kettle holds 1.7 litres."],
}


def install(folder: Path, **providers: str) -> None:
    """Put a package with these providers, each a line of Python, where packages are looked for."""
    (folder / "acme_everyclaim.py").write_text(
        "from everyclaim.models import Provider\n" + "".join(f"{name} = {code}\n" for name, code in providers.items())
    )
    info = folder / "acme_everyclaim-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-everyclaim\nVersion: 1.0\n")
    lines = "".join(f"{name} = acme_everyclaim:{name}\n" for name in providers)
    (info / "entry_points.txt").write_text(f"[everyclaim.providers]\n{lines}absent = acme_nowhere:absent\n")


@pytest.fixture
def acme(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A server that the provider `acme` has as its own address; `claude_like` speaks Anthropic's format there."""
    with JudgeServer(play, api_key=KEY) as server:
        install(
            tmp_path,
            acme=f'Provider("{server.base_url}", "ACME_API_KEY", address_variable="ACME_URL")',
            claude_like=f'Provider("{server.root}", "ACME_API_KEY", ("messages",), extra="anthropic")',
            wrong='"https://acme.example/v1"',
        )
        monkeypatch.syspath_prepend(tmp_path)
        monkeypatch.delitem(sys.modules, "acme_everyclaim", raising=False)
        monkeypatch.setenv("ACME_API_KEY", KEY)
        yield server
    sys.modules.pop("acme_everyclaim", None)


def test_it_judges_splits_and_searches(acme: JudgeServer) -> None:
    """Two calls at its own address, with its own key; the splitter is the judge's model, as with ours."""
    result = ec.score(**ROW, judge="acme:fast-1")
    assert result.outcome is ec.Outcome.SCORED
    assert (acme.calls, result.provenance.verifier, result.provenance.decomposer) == (2, "acme:fast-1", "acme:fast-1")
    safe = ec.score(
        **{**ROW, "passages": []}, judge="cascade:lexical>acme:fast-1", metric="safe", knowledge=lambda _: []
    )
    assert safe.provenance.parameters["queries"] == "acme:fast-1?temperature=0"


def test_its_prices_come_from_a_file(acme: JudgeServer, tmp_path: Path) -> None:
    """Without one a limit on cost is refused, and the message says which table to write."""
    del acme
    with pytest.raises(ConfigError, match=r"\[acme\.models\]"):
        ec.score(**ROW, judge="acme:fast-1", max_cost=1.0)
    prices = tmp_path / "prices.toml"
    prices.write_text("[acme.models]\n'fast-1' = { input = 1, output = 2 }\n")
    cost = ec.score(**ROW, judge="acme:fast-1", max_cost=1.0, prices=prices).usage.cost
    assert cost is not None
    assert cost > 0


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"judge": "acme"}, "acme:model-name"),
        ({"judge": "acme:m?tempature=1"}, "did you mean 'temperature'"),
        ({"judge": "acme:m?api=messages"}, "must be one of chat, got 'messages'"),
        ({"judge": "acme:m", "provider_batch": True}, "acme has no batch API"),
        ({"judge": "acne:m"}, "did you mean 'acme'"),
        ({"judge": "wrong:m"}, r"wrong.*acme_everyclaim:wrong.*is a str, not an everyclaim.models.Provider"),
        ({"judge": "absent:m"}, r"absent.*acme_nowhere:absent.*cannot be loaded.*acme_nowhere"),
    ],
)
def test_what_is_wrong_is_told(acme: JudgeServer, options: dict[str, Any], said: str) -> None:
    """Before anything is sent."""
    with pytest.raises(ConfigError, match=said):
        ec.score(**ROW, **options)
    assert acme.calls == 0


def test_a_name_that_is_taken_stays_what_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A package cannot put itself in the place of a judge of ours, and be sent the answers; it is said that it tried."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with JudgeServer("{}") as thief:
        there = f'Provider("{thief.base_url}", "OPENAI_API_KEY")'
        install(tmp_path, embedded=there, openai=there)
        monkeypatch.syspath_prepend(tmp_path)
        result = ec.score(**ROW)
        assert result.provenance.verifier.startswith("embedded")
        assert read_options("openai:m").base_url == "https://api.openai.com/v1"
        assert thief.calls == 0
    assert "'embedded' (acme_everyclaim:embedded) has a name that is already taken" in caplog.text


@pytest.mark.slow
def test_the_command_line_knows_it(acme: JudgeServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`score --judge` takes it, and `doctor` says whether its key is there."""
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=":")
    (tmp_path / "answers.jsonl").write_text(json.dumps({**ROW, "id": "1"}) + "\n")

    def everyclaim(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "everyclaim", *arguments]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60)

    done = everyclaim("score", "answers.jsonl", "--judge", "acme:fast-1", "--json")
    assert done.returncode == 0, done.stderr
    assert acme.calls == 2
    checks = {check["name"]: check for check in json.loads(everyclaim("doctor", "--json").stdout)["checks"]}
    assert checks["key acme"]["found"] == "from ACME_API_KEY"
    assert "acme" in checks["judges"]["found"]
