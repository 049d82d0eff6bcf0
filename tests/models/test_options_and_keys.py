"""What a spec may say, where keys come from, and that none is ever shown."""

import pickle
import sys
from pathlib import Path

import pytest
from chatting import KEY, WIRES, ask, spec_for

from everyclaim.core.errors import ConfigError, MissingExtraError
from everyclaim.models.build import build_chat_model
from everyclaim.models.chat.providers import Secret, find_key
from everyclaim.testing import JudgeServer


def test_keys_are_looked_for_in_a_stated_order(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Code, the named variable, the provider's variable, the keys file."""
    file = tmp_path / "keys.toml"
    file.write_text('openai = "from-file"\n')
    monkeypatch.setenv("EVERYCLAIM_KEYS", str(file))
    assert find_key("openai").reveal() == "from-file"
    monkeypatch.setenv("OPENAI_API_KEY", "from-usual\n")
    assert find_key("openai").reveal() == "from-usual"
    monkeypatch.setenv("MINE", "from-named")
    assert find_key("openai", variable="MINE").reveal() == "from-named"
    assert find_key("openai", variable="MINE", given="from-code").reveal() == "from-code"


def test_a_missing_key_says_where_one_can_be_put() -> None:
    """At the provider's own address; a local server needs none."""
    with pytest.raises(ConfigError, match="OPENAI_API_KEY"):
        build_chat_model("openai:gpt-5-mini")
    assert build_chat_model("openai:llama?base_url=http://localhost:11434/v1").spec
    with pytest.raises(ConfigError, match="NOT_SET"):
        build_chat_model("openai:m?base_url=http://x/v1&key_env=NOT_SET")


def test_a_secret_shows_itself_to_nobody() -> None:
    """Not printed, not formatted, not pickled; nor by what holds it."""
    secret = Secret(KEY)
    assert KEY not in f"{secret} {secret!r} {[secret]}"
    with pytest.raises(TypeError):
        pickle.dumps(secret)
    chat = build_chat_model(spec_for("chat", "http://x/v1", **{"header.X-Token": "header-987654"}), key=KEY)
    shown = [repr(chat), chat.spec, repr(chat.endpoint.options), str(vars(chat.endpoint))]
    assert not any(word in text for text in shown for word in (KEY, "header-987654"))


@pytest.mark.parametrize(
    ("spec", "library", "extra"),
    [
        ("openai:m?base_url=http://x/v1", "aiohttp", "openai"),
        ("anthropic:m?base_url=http://x", "aiohttp", "anthropic"),
        ("openai:m?base_url=http://x/v1", "stamina", "openai"),
        ("anthropic:m?base_url=http://x", "aiolimiter", "anthropic"),
    ],
)
def test_a_missing_part_is_one_line_with_the_command(
    spec: str, library: str, extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Said when the model is built, not in the middle of a run."""
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(MissingExtraError) as caught:
        build_chat_model(spec)
    assert f"pip install 'everyclaim[{extra}]'" in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("endpoint", WIRES)
def test_user_and_password_of_an_address_are_sent_as_such(endpoint: str) -> None:
    """As basic authentication, decoded, and for OpenAI's format in the place of the key; a header given goes over it."""
    seen: list[str] = []
    with JudgeServer('{"ok": true}') as server:
        admits = server._admits
        server._admits = lambda headers: seen.append(headers.get("authorization", "")) or admits(headers)  # type: ignore[func-returns-value, method-assign]
        address = server.base_url.replace("//", "//me:p%40ss@")
        ask(address, endpoint)
        ask(address, endpoint, **{"header.authorization": "Bearer other"})
    assert seen == ["Basic bWU6cEBzcw==", "Bearer other"]
