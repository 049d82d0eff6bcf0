"""Tokens: made once, kept as digests, read from a file or the environment, and limited in how often they are used."""

from __future__ import annotations

import pytest

from everyclaim import ConfigError
from everyclaim.web.tokens import Rates, Tokens, add_token, bearer, network, new_token


@pytest.fixture
def file(tmp_path):
    return tmp_path / "etc" / "tokens"


def test_a_token_in_the_file_lets_its_holder_do_what_its_scopes_say(file):
    """A token that was added is found by its text, with its name and scopes; any other text is nobody's."""
    shown, token = new_token("ci", ["score", "jobs"], 600)
    add_token(file, token)
    add_token(file, new_token("other")[1])
    found = Tokens(file).holder(shown)
    assert found is not None
    assert (found.name, found.may("score"), found.may("ui"), found.per_minute) == ("ci", True, False, 600)
    for wrong in ("", shown[:-1], shown + "x", found.digest, f"sha256:{found.digest}", "ci", "\ud800", "x" * 10_000):
        assert Tokens(file).holder(wrong) is None


def test_an_admin_may_everything():
    """The scope `admin` holds all others."""
    assert new_token("root", ["admin"])[1].may("label")


def test_a_token_is_kept_nowhere(file):
    """The file holds a digest, is its owner's alone, and no representation shows the token."""
    shown, token = new_token("ci")
    add_token(file, token)
    assert shown not in file.read_text() + repr(token) + token.line
    assert file.stat().st_mode & 0o777 == 0o600


def test_tokens_come_from_the_environment_as_well(file, monkeypatch):
    """Entries of EVERYCLAIM_TOKENS stand beside those of the file, with comments and semicolons."""
    (one, first), (two, second) = new_token("one"), new_token("two", ["read"])
    add_token(file, first)
    monkeypatch.setenv("EVERYCLAIM_TOKENS", f"# of the build server\n{second.line} ; ;")
    tokens = Tokens.find(file)
    assert [tokens.holder(shown).name for shown in (one, two)] == ["one", "two"]


def test_a_token_taken_out_of_the_file_is_good_no_more(file):
    """A change of the file counts at once."""
    shown, token = new_token("ci")
    add_token(file, token)
    tokens = Tokens(file)
    assert tokens.holder(shown)
    file.write_text("# none left\n")
    assert tokens.holder(shown) is None


@pytest.mark.parametrize("fault", ["a line", "the mode", "not there", "no text"])
def test_a_file_that_became_faulty_lets_nobody_in_until_it_is_corrected(file, fault, caplog):
    """A token whose line is gone must not stay valid because another line is wrong; the fault is logged once."""
    shown, token = new_token("ci")
    add_token(file, token)
    tokens = Tokens(file)
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
    assert caplog.text.count("no token is valid until this is corrected") == 1
    file.write_text(token.line)
    file.chmod(0o600)
    assert tokens.holder(shown) == held


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("ci score", "2 words"),
        ("ci scores sha256:" + "0" * 64, "unknown scope 'scores'; did you mean 'score'?"),
        ("ci score sha256:00", "ci has no digest"),
        ("ci score sha256:" + "0" * 64 + " often", "a rate that is not of the form 60/min"),
        ("a/b score sha256:" + "0" * 64, "the name is not one"),
        (f"ci score sha256:{'0' * 64}\nci score sha256:{'1' * 64}", "two tokens are named 'ci'"),
    ],
)
def test_a_faulty_line_is_named_with_its_place(file, line, told):
    """What cannot be read as a token is an error that says which entry and what is wrong."""
    file.parent.mkdir()
    file.write_text(line)
    file.chmod(0o600)
    with pytest.raises(ConfigError, match=told.replace("?", r"\?")):
        Tokens(file)


def test_a_token_written_into_the_file_by_mistake_is_not_repeated(file):
    """An error about a line never quotes what could be a token."""
    shown, _ = new_token("ci")
    file.parent.mkdir()
    for line in (f"ci score {shown}", f"{shown} score x", f"ci {shown} x", shown):
        file.write_text(line)
        file.chmod(0o600)
        with pytest.raises(ConfigError) as fault:
            Tokens(file)
        assert shown not in str(fault.value)


def test_a_file_that_others_may_write_to_is_refused(file):
    """Whoever may write a line lets themselves in, so the file must be its owner's."""
    add_token(file, new_token("ci")[1])
    file.chmod(0o622)
    with pytest.raises(ConfigError, match="chmod 600"):
        Tokens(file)


def test_a_file_that_is_not_there_is_an_error(file):
    """A named file that cannot be read is told, and not taken as one without tokens."""
    with pytest.raises(ConfigError, match="cannot be read: No such file"):
        Tokens(file)
    file.parent.mkdir()
    file.write_bytes(b"\xff\xfe\x00")
    file.chmod(0o600)
    with pytest.raises(ConfigError, match="not UTF-8"):
        Tokens(file)


def test_names_are_given_once(file):
    """A second token of one name is refused, so that the log says who asked."""
    add_token(file, new_token("ci")[1])
    with pytest.raises(ConfigError, match="has a token named 'ci'"):
        add_token(file, new_token("ci")[1])


def test_a_line_without_its_end_is_not_continued(file):
    """A token is added on a line of its own also where an editor left the last line open."""
    shown, token = new_token("one")
    file.parent.mkdir()
    file.write_text(token.line)
    file.chmod(0o600)
    other, added = new_token("two")
    add_token(file, added)
    assert [Tokens(file).holder(one).name for one in (shown, other)] == ["one", "two"]


@pytest.mark.parametrize(
    ("header", "token"),
    [("Bearer abc", "abc"), ("bearer  abc ", "abc"), ("Basic abc", ""), ("", ""), ("Bearer", ""), ("abc", "")],
)
def test_the_token_of_a_header(header, token):
    """Only the scheme Bearer holds a token."""
    assert bearer(header) == token


def test_a_rate_lets_a_burst_through_and_then_as_many_as_it_says():
    """Beyond the burst a request is told in how many seconds to come again, and then is let in."""
    now = [0.0]
    rates = Rates(60, clock=lambda: now[0])
    assert [rates.take("ci") for _ in range(15)] == [0.0] * 15
    wait = rates.take("ci")
    assert wait == pytest.approx(1.0)
    assert rates.take("somebody else") == 0.0
    now[0] += wait
    assert rates.take("ci") == 0.0
    assert rates.take("ci") > 0
    assert rates.take("ci", per_minute=6000) >= 0.0


def test_many_names_take_no_more_than_their_room():
    """The oldest names are forgotten, so that an attacker with many addresses takes no memory."""
    rates = Rates(60, most=100)
    for number in range(1000):
        rates.take(str(number))
    assert len(rates._buckets) == 100


def test_addresses_of_one_subscriber_are_one():
    """Of IPv6 a /64 counts as one client; an IPv4 address in IPv6 is that address."""
    assert network("2001:db8::1") == network("2001:db8::ffff") != network("2001:db8:0:1::1")
    assert network("::ffff:192.0.2.7") == network("192.0.2.7") == "192.0.2.7"
    assert network("unix") == "unix"
