"""What a spec may say, where keys come from, and that none is ever shown."""

import asyncio
import logging
import pickle
import sys
import traceback
from pathlib import Path

import pytest
from chatting import ENDPOINTS, KEY, SCHEMA, ask, spec_for

from everyclaim.core.errors import ConfigError, EveryclaimError, MissingExtraError
from everyclaim.core.protocols import Message
from everyclaim.models import ChatSettings, Patience, ReplyCache, build_chat_model
from everyclaim.models.chat.keys import Secret, find_key, scrub
from everyclaim.models.chat.options import read_options
from everyclaim.testing import JudgeServer, rejected, server_error


@pytest.mark.parametrize(
    "spec",
    [
        "openai",
        "openai:",
        "cohere:x",
        "openai:m?base_url=localhost:8000",
        "openai:m?base_url=ftp://x/v1",
        "openai:m?base_url=http://x/v1?key=1",
        "openai:m?api=completions",
        "anthropic:m?api=chat",
        "openai:m?transport=carrier-pigeon",
        "openai:m?transport=sdk",
        "openai:m?reply_tokens=0",
        "openai:m?reply_tokens=many",
        "openai:m?temperature=-1",
        "openai:m?temperature=nan",
        "openai:m?timeout=0",
        "openai:m?structured=xml",
        "openai:m?body.x=unquoted",
        "openai:m?header.X=$NOT_SET_ANYWHERE",
        "openai:m?header.X=a%0d%0ab: c",
        "openai:m?temprature=0",
    ],
)
def test_a_wrong_option_is_named(spec: str) -> None:
    """One line that says which, with the value, before anything is sent."""
    with pytest.raises(ConfigError) as caught:
        read_options(spec)
    assert "\n" not in str(caught.value)


def test_the_address_may_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """As with the providers' own clients; the spec goes over it."""
    monkeypatch.setenv("OPENAI_BASE_URL", "http://gateway/v1/")
    assert read_options("openai:m").base_url == "http://gateway/v1"
    assert read_options("openai:m?base_url=http://other/v1").base_url == "http://other/v1"
    assert not read_options("openai:m").is_home


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


@pytest.mark.parametrize("content", ["openai = sk-secret", "openai = 5", "\x00"])
def test_a_broken_keys_file_is_said_without_its_content(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, content: str
) -> None:
    """A parser's message would quote the line."""
    file = tmp_path / "keys.toml"
    file.write_text(content)
    monkeypatch.setenv("EVERYCLAIM_KEYS", str(file))
    with pytest.raises(ConfigError) as caught:
        find_key("openai")
    assert "secret" not in "".join(traceback.format_exception(caught.value))


def test_a_key_that_was_copied_badly_is_recognised() -> None:
    """A typographic dash or a line in the middle cannot be sent in a header."""
    for bad in ("sk-\u2013abc", "sk-a b", "sk-a\nb"):
        with pytest.raises(ConfigError, match="copied whole") as caught:
            find_key("openai", given=bad)
        assert bad not in str(caught.value)


def test_a_secret_shows_itself_to_nobody() -> None:
    """Not printed, not formatted, not pickled."""
    secret = Secret(KEY)
    assert KEY not in f"{secret} {secret!r} {[secret]}"
    with pytest.raises(TypeError):
        pickle.dumps(secret)


def test_scrubbing_takes_known_secrets_and_what_looks_like_one() -> None:
    """Providers quote keys, whole or in part."""
    said = scrub(f"key tops3cret and sk-proj-AbC***9xyz\nand Bearer abcdefgh {'x' * 999}", (Secret("tops3cret"),))
    assert "tops3cret" not in said
    assert "AbC" not in said
    assert "abcdefgh" not in said
    assert len(said) <= 300


@pytest.mark.parametrize("endpoint", ENDPOINTS)
def test_no_key_in_repr_log_exception_or_cache(
    endpoint: str, tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The key and a secret header are sent, and stand nowhere else, at any log level and for any fault."""
    header = "header-secret-987654"
    monkeypatch.setenv("TOKEN", header)
    cache = ReplyCache(tmp_path / "replies.db")
    settings = ChatSettings(patience=Patience(attempts=2), cache=cache)
    seen = []
    with caplog.at_level(logging.DEBUG):
        for step in ['{"ok": true}', rejected(f"bad {KEY} {header}"), rejected(f"{KEY}", status=401), server_error()]:
            with JudgeServer(step, api_key=KEY) as server:
                try:
                    ask(
                        server,
                        endpoint,
                        settings=settings,
                        messages=[Message("user", str(len(seen)))],
                        **{"header.X-Token": "$TOKEN"},
                    )
                except EveryclaimError as error:
                    seen += ["".join(traceback.format_exception(error)), repr(error), repr(error.__dict__)]
                assert server.requests[0].authorised
                seen.append(repr([r for r in server.requests if r.headers.get("x-token") != header]))
                chat = build_chat_model(
                    spec_for(endpoint, server.base_url, **{"header.X-Token": header}), settings, key=KEY
                )
                seen += [repr(chat), chat.spec, repr(chat.endpoint.options), str(vars(chat.endpoint))]
    cache.close()
    seen += [record.getMessage() for record in caplog.records if record.name != "asyncio"]
    seen += [file.read_bytes().decode("latin-1") for file in tmp_path.iterdir()]
    text = "\n".join(seen)
    assert KEY not in text
    assert header not in text


@pytest.mark.parametrize(("key", "content"), [(KEY, '{"ok": "***"}'), ("latest", '{"ok": "latest"}')])
def test_a_reply_that_repeats_the_key_loses_it_and_a_word_stays(
    monkeypatch: pytest.MonkeyPatch, key: str, content: str
) -> None:
    """Local servers are given words as keys, and a model's own words are never changed."""
    monkeypatch.setenv("OPENAI_API_KEY", key)
    with JudgeServer(f'{{"ok": "{key}"}}') as server:

        async def once() -> str:
            async with build_chat_model(spec_for("chat", server.base_url)) as chat:
                return (await chat.complete([Message("user", "?")])).content

        assert asyncio.run(once()) == content


def test_a_password_in_an_address_is_hidden() -> None:
    """In the spec that results store, and in every message."""
    options = read_options("openai:m?base_url=http://me:hunter2@localhost:1/v1")
    assert "hunter2" not in options.spec + options.where + options.identity


def test_one_model_serves_several_event_loops() -> None:
    """A notebook or a sync facade starts a new loop for each call."""
    with JudgeServer('{"ok": true}') as server:
        chat = build_chat_model(spec_for("chat", server.base_url), key=KEY)

        async def once(number: int) -> None:
            await chat.complete([Message("user", str(number))], schema=SCHEMA)
            await chat.aclose()

        for number in range(3):
            asyncio.run(once(number))
        assert server.calls == 3


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


@pytest.mark.parametrize("endpoint", ENDPOINTS)
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


def test_a_new_password_is_no_new_endpoint() -> None:
    """What was answered before is still known."""
    one, other = (read_options(f"openai:m?base_url=http://me:{word}@localhost:1/v1") for word in ("a", "b"))
    assert one.identity == other.identity
    assert one.address == "http://localhost:1/v1"
