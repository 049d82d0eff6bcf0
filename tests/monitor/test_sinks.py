"""Alerts arrive once, signed, in spite of faults, and nothing that is said repeats a secret."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from loopback import Receiver, receiving

from everyclaim.core.errors import ConfigError
from everyclaim.monitor import Alert, AlertError, Command, Notifier, Slack, Webhook, alerts, sink_from_spec

ALERT = Alert(
    measure="contradicted",
    title="everyclaim: contradicted claims: 9.0 %, above the limit of 3.0 %",
    text="What is known.",
    at="2026-11-23T10:00:00+00:00",
    since="2026-11-23T09:00:00+00:00",
    answers=120,
    rate=0.09,
    raw=0.1,
    limit=0.03,
    answers_between_false_alarms=100_000,
)


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(alerts, "WAIT", 0.0)


@pytest.fixture
def receiver():
    with receiving() as one:
        yield one


def test_a_webhook_gets_the_alert_as_json_with_a_signature_that_holds(receiver: Receiver) -> None:
    """As Standard Webhooks has it: HMAC-SHA256 of id, time stamp and body under the decoded secret."""
    key = b"0123456789abcdef01234567"
    Webhook(f"{receiver.url}/hook?x=1", "whsec_" + base64.b64encode(key).decode()).send(ALERT)
    (got,) = receiver.requests
    assert got.path == "/hook?x=1"
    assert json.loads(got.body) == ALERT.to_json()
    signed = f"{got.headers['webhook-id']}.{got.headers['webhook-timestamp']}.".encode() + got.body
    expected = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    assert got.headers["webhook-signature"] == f"v1,{expected}"


def test_a_busy_receiver_is_tried_again_under_the_same_id(receiver: Receiver) -> None:
    """Two refusals for load, then it is there; the id tells the receiver that it is one alert."""
    receiver.replies += [503, 429]
    receiver.headers["retry-after"] = "0"
    Webhook(receiver.url).send(ALERT)
    assert len(receiver.requests) == 3
    assert len({one.headers["webhook-id"] for one in receiver.requests}) == 1
    assert all("webhook-signature" not in one.headers for one in receiver.requests)


@pytest.mark.parametrize(("replies", "tries"), [([500, 500, 500, 500], 4), ([403], 1), ([302], 1)])
def test_what_is_not_taken_is_an_error_that_names_the_address_without_its_path(
    receiver: Receiver, replies: list[int], tries: int
) -> None:
    """A refusal is not tried again, a redirect not followed; the path, which is a secret, is not repeated."""
    receiver.replies += replies
    receiver.headers["location"] = f"{receiver.url}/elsewhere"
    with pytest.raises(AlertError, match=rf"127.0.0.1:\d+/… answered {replies[0]}") as raised:
        Webhook(f"{receiver.url}/T0/B0/hushhush").send(ALERT)
    assert "hushhush" not in str(raised.value)
    assert len(receiver.requests) == tries


def test_slack_gets_text_in_which_nothing_acts(receiver: Receiver) -> None:
    """A release named like a mention or a link is shown as it is written."""
    told = replace(ALERT, text="Releases: <!channel> <http://evil|v2> & more")
    Slack(receiver.url).send(told)
    text = json.loads(receiver.requests[0].body)["text"]
    assert "<" not in text
    assert "&lt;!channel&gt; &lt;http://evil|v2&gt; &amp; more" in text


def test_a_command_gets_the_alert_on_its_standard_input_and_no_shell_reads_its_words(tmp_path: Path) -> None:
    """`$(…)` and `;` in a word are letters."""
    out = tmp_path / "got.json"
    script = (
        "import sys; open(sys.argv[1], 'wb').write(sys.stdin.buffer.read()); sys.exit(sys.argv[2] != '$(touch x); y')"
    )
    Command((sys.executable, "-c", script, str(out), "$(touch x); y")).send(ALERT)
    assert json.loads(out.read_bytes()) == ALERT.to_json()


class Kept:
    def __init__(self, fails: int = 0) -> None:
        self.fails, self.got = fails, []

    def send(self, alert: Alert) -> None:
        if self.fails:
            self.fails -= 1
            raise AlertError("it is down")
        self.got.append(alert)


def test_the_same_is_said_once_in_six_hours_and_another_measure_at_once() -> None:
    """A restart that restores what was sent says nothing twice."""
    sink = Kept()
    notifier = Notifier([sink])
    notifier.send(ALERT)
    notifier.send(replace(ALERT, at="later"))
    notifier.send(replace(ALERT, measure="failed"))
    assert len(sink.got) == 2
    again = Notifier([sink])
    sent = json.loads(json.dumps(notifier.to_json()))
    again.restore(sent)
    again.send(ALERT)
    assert len(sink.got) == 2
    again.restore({key: at - 7 * 3600 for key, at in sent.items()})
    again.send(ALERT)
    assert len(sink.got) == 3


def test_specs_name_sinks_and_take_addresses_from_the_environment(
    receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So that no secret stands in a settings file or a list of processes."""
    monkeypatch.setenv("HOOK", f"{receiver.url}/secret")
    monkeypatch.setenv("EVERYCLAIM_WEBHOOK_SECRET", "plain words")
    sink_from_spec("webhook:$HOOK").send(ALERT)
    sink_from_spec("slack:$HOOK").send(ALERT)
    assert [one.path for one in receiver.requests] == ["/secret", "/secret"]
    assert "webhook-signature" in receiver.requests[0].headers
    assert "secret" not in repr(sink_from_spec("webhook:$HOOK"))
    assert sink_from_spec("command:page 'on call'") == Command(("page", "on call"))


@pytest.mark.parametrize(
    "spec",
    [
        "slack:hooks.example.org/T0/hush", "webhook:ftp://example.org/hush", "webhook:https://user:hush@example.org/",
        "webhook:https://example.org:port/hush", "https://example.org/hush", "webhook:", "slack:$NOT_SET", "command:",
        "command:'hush", "webhok:https://example.org/hush", "webhook:https://exa mple.org/hush",
        "webhook:https://example.org/hu\r\nsh",
    ],
)  # fmt: skip
def test_a_wrong_spec_is_refused_when_it_is_said_and_without_repeating_it(spec: str) -> None:
    """Addresses of webhooks are secrets."""
    with pytest.raises(ConfigError) as raised:
        sink_from_spec(spec)
    assert "hush" not in str(raised.value)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ((sys.executable, "-c", "raise SystemExit(3)"), "ended with code 3, after 4 attempts"),
        ((sys.executable, "-c", "import time; time.sleep(9)"), "took longer than 0.5 s"),
        (("/nowhere/pager", "now"), "pager cannot be run"),
    ],
)
def test_a_command_that_fails_is_an_error(words: tuple[str, ...], told: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """By its code, by its time, and where there is none."""
    monkeypatch.setattr(alerts, "COMMAND_SECONDS", 0.5 if "0.5" in told else 30.0)
    with pytest.raises(AlertError, match=told):
        Command(words).send(ALERT)


def test_a_receiver_that_says_nothing_or_is_not_there_is_an_error_in_time(
    receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A time-out counts as a failed try, and so does a closed port."""
    monkeypatch.setattr(alerts, "HTTP_SECONDS", 0.1)
    receiver.stall = 1.0
    with pytest.raises(AlertError, match=r"cannot be reached.*timed out"):
        Webhook(receiver.url).send(ALERT)
    with pytest.raises(
        AlertError, match=r"http://127.0.0.1:9/… cannot be reached: Connection refused, after 4 attempts"
    ):
        Slack("http://127.0.0.1:9/x").send(ALERT)
