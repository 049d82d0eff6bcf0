"""Alerts: what one says, and where it goes: a signed webhook, a chat that takes Slack's messages, a command.

webhook:https://alerts.example.org/everyclaim     slack:$SLACK_WEBHOOK     command:/usr/local/bin/page oncall
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import http.client
import json
import os
import shlex
import subprocess  # only of what the user names, without a shell
import time
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from html import escape
from typing import Any, Protocol
from urllib.parse import urlsplit

from everyclaim._version import __version__
from everyclaim.core.errors import ConfigError, OperatorError
from everyclaim.core.plaintext import did_you_mean, digest

ALERT_SCHEMA = 1
COOL_DOWN = 6 * 3600.0  # seconds in which the same is not said again
TRIES, WAIT = 4, 1.0  # how often a delivery is tried; seconds between the first two tries, then twice that
HTTP_SECONDS, COMMAND_SECONDS = 10.0, 30.0  # of one try
_WORTH_ANOTHER_TRY = (408, 425, 429)  # with those from 500 on
_LONGEST_WAIT = 30.0  # seconds that a receiver's Retry-After is honoured for


@dataclass(frozen=True, slots=True)
class Alert:
    """A measure has risen above its limit. Rates are within [0, 1]; times are ISO 8601 in UTC.

    Nothing in it is text of the users.
    """

    measure: str  # contradicted, unfaithful, failed
    title: str  # one line
    text: str  # what is known, in a few sentences
    at: str
    since: str  # when the rise began, as well as can be told
    answers: int  # seen since then
    rate: float  # over these answers, corrected for the judge's error where that is known
    raw: float  # as the judge's verdicts have it
    limit: float  # on the scale of `rate`
    answers_between_false_alarms: int  # on average at the least, while the rate is within its limit
    source: str = ""  # whose answers, where a detector has a name

    @property
    def key(self) -> str:
        """What it is about: alerts with one key say the same again."""
        return f"{self.source}/{self.measure}"

    @property
    def id(self) -> str:
        """A name of this alert and no other, the same however often it is sent."""
        told = f"{self.source}\0{self.measure}\0{self.at}\0{self.since}\0{self.answers}"
        return f"everyclaim-{digest(told, 24)}"

    def to_json(self) -> dict[str, Any]:
        """Return it as plain JSON values, in the public schema."""
        return {"schema": ALERT_SCHEMA, "id": self.id} | asdict(self)


class AlertError(OperatorError):
    """An alert could not be delivered."""


class Sink(Protocol):
    """Where alerts go. Sending blocks, for seconds where a receiver is slow: from async code call it in a thread."""

    def send(self, alert: Alert) -> None:
        """Deliver an alert. Raises `AlertError` when it could not be delivered after all tries."""


# ---- where alerts go


class _BusyError(AlertError):
    """A try that failed and is worth another one, after `wait` seconds where the receiver says so."""

    def __init__(self, message: str, wait: float | None = None) -> None:
        super().__init__(message)
        self.wait = wait


class _TriedSink:
    """A sink whose deliveries are tried several times."""

    __slots__ = ()

    def send(self, alert: Alert) -> None:
        """Deliver an alert. Raises `AlertError` when every try failed, or one showed that another makes no sense."""
        for number in range(TRIES):
            try:
                return self._try(alert)
            except _BusyError as busy:
                if number + 1 == TRIES:
                    raise AlertError(f"{busy}, after {TRIES} attempts") from None
                time.sleep(WAIT * 2**number if busy.wait is None else busy.wait)
        return None

    def _try(self, alert: Alert) -> None:
        """Deliver once. Raises `AlertError`; only after `_BusyError` it is tried again."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class Webhook(_TriedSink):
    """POSTs an alert as JSON, signed as Standard Webhooks has it where there is a secret.

    Headers are `webhook-id` (the same in every try: by it a receiver drops what it has), `webhook-timestamp` and
    `webhook-signature`: ``v1,`` and the base64 HMAC-SHA256 of ``id.timestamp.body``. A secret is ``whsec_`` and base64,
    or any other text. Redirects are not followed. `url` and `secret` may be ``$NAME``, a variable of the environment.
    """

    url: str = field(repr=False)
    secret: str = field(default="", repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "url", _address(self.url, "webhook"))
        object.__setattr__(self, "secret", _from_environment(self.secret))
        _key(self.secret)

    def _try(self, alert: Alert) -> None:
        body, stamp = json.dumps(alert.to_json()).encode(), str(int(time.time()))
        headers = {"webhook-id": alert.id, "webhook-timestamp": stamp}
        if self.secret:
            signed = hmac.new(_key(self.secret), f"{alert.id}.{stamp}.".encode() + body, hashlib.sha256).digest()
            headers["webhook-signature"] = f"v1,{base64.b64encode(signed).decode('ascii')}"
        _post(self.url, body, headers)


@dataclass(frozen=True, slots=True)
class Slack(_TriedSink):
    """POSTs an alert as a message that Slack's incoming webhooks take, and what speaks their format.

    `url`, which is a secret, may be ``$NAME``, a variable of the environment.
    """

    url: str = field(repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "url", _address(self.url, "slack"))

    def _try(self, alert: Alert) -> None:
        text = escape(f"*{alert.title}*\n{alert.text}", quote=False)  # no link, no mention, no channel
        _post(self.url, json.dumps({"text": text, "unfurl_links": False, "unfurl_media": False}).encode(), {})


@dataclass(frozen=True, slots=True)
class Command(_TriedSink):
    """Runs a program with an alert as JSON on its standard input; no shell reads the words."""

    words: Sequence[str]

    def __post_init__(self) -> None:
        if not self.words or not self.words[0]:
            raise ConfigError("command needs a program, as in command:/usr/local/bin/page oncall")

    def _try(self, alert: Alert) -> None:
        told = json.dumps(alert.to_json()).encode()
        program = f"the command {os.path.basename(self.words[0])}"  # noqa: PTH119 - also of what is no path
        try:
            done = subprocess.run(  # noqa: S603 - the user's own program, by its words
                list(self.words), input=told, timeout=COMMAND_SECONDS, check=False,
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            raise _BusyError(f"{program} took longer than {COMMAND_SECONDS:g} s") from None
        except (OSError, ValueError) as error:
            raise AlertError(f"{program} cannot be run: {error}") from None
        if done.returncode:
            raise _BusyError(f"{program} ended with code {done.returncode}")


class Notifier:
    """Sends alerts to several sinks, each at most once in six hours for what is about the same.

    A sink that fails does not keep the others from it, and gets what it missed with the next alert about the same.
    Keep `to_json()` beside the detector's, and `restore` it, so that a restart does not say everything again.
    """

    def __init__(self, sinks: Sequence[Sink]) -> None:
        self._sinks = tuple(sinks)
        self._sent: dict[str, float] = {}  # by sink and alert: when

    def send(self, alert: Alert) -> bool:
        """Deliver to every sink that was not told the same lately; return whether there was one.

        Raises `AlertError` that names all that failed.
        """
        now = time.time()
        self._sent = {key: at for key, at in self._sent.items() if now - COOL_DOWN < at <= now}
        failed, is_sent = [], False
        for place, sink in enumerate(self._sinks):
            key = f"{place}:{type(sink).__name__}:{alert.key}"
            if key in self._sent:
                continue
            try:
                sink.send(alert)
            except AlertError as error:
                failed.append(str(error))
            else:
                self._sent[key], is_sent = now, True
        if failed:
            raise AlertError(f"the alert {alert.title!r} was not delivered: {'; '.join(failed)}")
        return is_sent

    def to_json(self) -> dict[str, float]:
        """Return what was sent when, as plain JSON values."""
        return dict(self._sent)

    def restore(self, sent: Mapping[str, float]) -> None:
        """Go on where `to_json` left off."""
        self._sent = dict(sent)


def sink_from_spec(spec: str) -> Sink:
    """Return the sink that a text names. Raises `ConfigError` for one that there is not.

    ``webhook:URL`` (signed with the secret in ``$EVERYCLAIM_WEBHOOK_SECRET`` where it is set), ``slack:URL``,
    ``command:PROGRAM WORDS…``. A URL may be ``$NAME``, a variable of the environment.
    """
    kind, _, argument = spec.strip().partition(":")
    if kind == "webhook":
        return Webhook(argument, os.environ.get("EVERYCLAIM_WEBHOOK_SECRET", ""))
    if kind == "slack":
        return Slack(argument)
    if kind == "command":
        try:
            return Command(tuple(shlex.split(argument)))
        except ValueError as error:
            raise ConfigError(f"cannot parse the command: {error}") from None
    known = ("webhook", "slack", "command")
    meant = did_you_mean(kind, known) if kind.isidentifier() else ""  # anything else may be an address with a secret
    raise ConfigError(f"an alert goes to webhook:URL, slack:URL or command:PROGRAM{meant}")


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """A receiver that has moved is named anew by the user, not by whoever answers at its old place."""

    def redirect_request(self, *_: Any) -> None:
        return None


_OPENER = urllib.request.build_opener(_NoRedirect)


def _post(url: str, body: bytes, headers: Mapping[str, str]) -> None:
    parts = urlsplit(url)
    where = f"{parts.scheme}://{parts.netloc}/…"  # the path may be a secret
    usual = {"content-type": "application/json", "user-agent": f"everyclaim/{__version__}"}
    request = urllib.request.Request(url, data=body, method="POST", headers={**usual, **headers})  # noqa: S310
    try:
        _OPENER.open(request, timeout=HTTP_SECONDS).close()  # what is said beside the status does not matter
    except urllib.error.HTTPError as error:
        with error:
            if error.code not in _WORTH_ANOTHER_TRY and error.code < 500:
                raise AlertError(f"{where} answered {error.code}") from None
            wait = error.headers.get("retry-after", "")
            seconds = min(_LONGEST_WAIT, int(wait)) if wait.isascii() and wait.isdigit() else None
            raise _BusyError(f"{where} answered {error.code}", seconds) from None
    except (OSError, ValueError, http.client.HTTPException) as error:
        reason = getattr(error, "reason", error)
        told = getattr(reason, "strerror", None) or str(reason) or type(error).__name__
        raise _BusyError(f"{where} cannot be reached: {told}") from None


def _address(given: str, kind: str) -> str:
    """Return the address that is meant; it may hold a secret, and no message repeats it."""
    url = _from_environment(given)
    try:
        parts = urlsplit(url)
        is_address = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_address = False
    if not is_address or "@" in parts.netloc or not url.isascii() or not url.isprintable() or " " in url:
        raise ConfigError(f"{kind} needs an address such as https://host/path, without user name and spaces")
    return url


def _from_environment(text: str) -> str:
    if not text.startswith("$"):
        return text
    if (value := os.environ.get(text[1:])) is None:
        raise ConfigError(f"the environment variable {text[1:]} is not set")
    return value


def _key(secret: str) -> bytes:
    if not secret.startswith("whsec_"):
        return secret.encode("utf-8", "surrogatepass")
    try:
        return base64.b64decode(secret.removeprefix("whsec_"), validate=True)
    except (binascii.Error, ValueError):
        raise ConfigError("the secret of the webhook starts with whsec_, but the rest is not base64") from None
