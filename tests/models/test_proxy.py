"""A proxy of the environment is really used."""

import pytest
from chatting import ask

from everyclaim.testing import JudgeServer

GOOD = '{"ok": true}'
NOWHERE = "http://judge.invalid/v1"  # no name server knows it, so only a proxy can
NAMES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy")


@pytest.fixture(autouse=True)
def _no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in NAMES:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


@pytest.mark.parametrize("endpoint", ["chat", "messages"])
def test_calls_go_through_the_proxy(monkeypatch: pytest.MonkeyPatch, endpoint: str) -> None:
    """The proxy gets the whole address, and its answer is the reply."""
    with JudgeServer(GOOD) as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy.root)
        assert ask(NOWHERE, endpoint).content == GOOD
        assert proxy.calls == 1
        assert proxy.requests[0].path.startswith("http://judge.invalid/v1/")


@pytest.mark.parametrize("endpoint", ["chat"])
def test_what_is_excepted_goes_straight(monkeypatch: pytest.MonkeyPatch, endpoint: str) -> None:
    """`NO_PROXY` keeps a server of one's own out of it."""
    with JudgeServer('{"ok": false}') as proxy, JudgeServer(GOOD) as server:
        monkeypatch.setenv("HTTP_PROXY", proxy.root)
        monkeypatch.setenv("NO_PROXY", "127.0.0.1")
        assert ask(server, endpoint).content == GOOD
        assert (proxy.calls, server.calls) == (0, 1)
