"""Tokens: made once, kept as digests, read from a file or the environment, and limited in how often they are used."""

from __future__ import annotations

import re

import pytest

from everyclaim import ConfigError
from everyclaim.web.settings import AccessTokens, RateLimiter, add_token, new_token

DIGEST = f"sha256:{'0' * 64}"


@pytest.fixture
def file(tmp_path):
    return tmp_path / "etc" / "tokens"


def written(file, content):
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    file.chmod(0o600)
    return file


def test_a_token_in_the_file_lets_its_holder_do_what_its_scopes_say(file):
    """One that was added is found by its text, with name and scopes; any other is nobody's. It is kept nowhere."""
    shown, token = new_token("ci", ["score", "jobs"], 600)
    add_token(file, token)
    add_token(file, new_token("other")[1])
    found = AccessTokens(file).holder(shown)
    assert (found.name, found.may("score"), found.may("ui"), found.per_minute) == ("ci", True, False, 600)
    assert new_token("root", ["admin"])[1].may("label")
    for wrong in ("", shown[:-1], shown + "x", found.digest, f"sha256:{found.digest}", "ci", "\ud800", "x" * 10_000):
        assert AccessTokens(file).holder(wrong) is None
    assert shown not in file.read_text() + repr(token) + token.line
    assert file.stat().st_mode & 0o777 == 0o600
    with pytest.raises(ConfigError, match="has a token named 'ci'"):
        add_token(file, token)


def test_tokens_come_from_the_environment_as_well(file, monkeypatch):
    """Entries of EVERYCLAIM_TOKENS stand beside those of the file, with comments and semicolons."""
    (one, first), (two, second) = new_token("one"), new_token("two", ["read"])
    add_token(file, first)
    monkeypatch.setenv("EVERYCLAIM_TOKENS", f"# of the build server\n{second.line} ; ;")
    tokens = AccessTokens.find(file)
    assert [tokens.holder(shown).name for shown in (one, two)] == ["one", "two"]


@pytest.mark.parametrize("fault", ["a line", "the mode", "not there", "no text"])
def test_a_file_that_became_faulty_lets_nobody_in_until_it_is_corrected(file, fault, caplog):
    """A token whose line is gone must not stay valid because another line is wrong; the fault is logged once."""
    shown, token = new_token("ci")
    add_token(file, token)
    tokens = AccessTokens(file)
    held = tokens.holder(shown)
    if fault == "the mode":
        file.chmod(0o622)
    elif fault == "not there":
        file.unlink()
    else:
        file.write_bytes(b"\xff\xfe" if fault == "no text" else b"what is this\n")
    for _ in range(2):
        assert tokens.holder(shown) is None
        assert not tokens.has(held)
    assert caplog.text.count("no token is valid until this is fixed") == 1
    written(file, token.line)
    assert tokens.holder(shown) == held
    written(file, "# none left\n")
    assert tokens.holder(shown) is None


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("ci score", "an entry is"),
        (f"ci scores {DIGEST}", "unknown scope 'scores'; did you mean 'score'?"),
        (f"ci score {DIGEST} often", "entry 1: an entry is"),
        (f"ci score {DIGEST}\nci score sha256:{'1' * 64}", "two tokens are named 'ci'"),
        (b"\xff\xfe\x00", "not UTF-8"),
        (None, "cannot read the token file"),
    ],
)
def test_what_cannot_be_read_as_tokens_is_named_with_its_place(file, content, told):
    """It is an error that says which entry and what is wrong; a file that others may write to is refused."""
    with pytest.raises(ConfigError, match=re.escape(told)):
        AccessTokens(file if content is None else written(file, content))
    written(file, f"ci score {DIGEST}").chmod(0o622)
    with pytest.raises(ConfigError, match="chmod 600"):
        AccessTokens(file)


def test_a_rate_lets_a_burst_through_and_then_as_many_as_it_says():
    """Beyond the burst one is told in how many seconds to come again, and then let in."""
    now = [0.0]
    rates = RateLimiter(clock=lambda: now[0])
    assert [rates.take("ci", 60) for _ in range(15)] == [0.0] * 15
    wait = rates.take("ci", 60)
    assert wait == pytest.approx(1.0)
    assert rates.take("somebody else", 60) == 0.0
    now[0] += wait
    assert rates.take("ci", 60) == 0.0
    assert rates.take("ci", 60) > 0
