"""Where alerts go: a signed webhook, a chat that takes Slack's messages, a command; each at most so often.

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
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from everyclaim._version import __version__
from everyclaim.core.errors import ConfigError
from everyclaim.core.nearest import did_you_mean
from everyclaim.monitor.alerts import Alert, AlertError, Sink

COOL_DOWN = 6 * 3600.0  # seconds in which the same is not said again
_LOST = (408, 425, 429)  # with those from 500 on: worth another try
_LONGEST_WAIT = 30.0  # seconds that a receiver's Retry-After is honoured for


@dataclass(frozen=True, slots=True)
class Trying:
    """How often a delivery is tried, and how long: seconds for one try, and between the first two (then twice that)."""

    tries: int = 4
    time_out: float = 10.0
    wait: float = 1.0

    def __post_init__(self) -> None:
        if self.tries < 1 or not self.time_out > 0 or not self.wait >= 0:
            raise ConfigError("an alert needs at least one try, a time-out above 0 and a wait of at least 0 seconds")


@dataclass(frozen=True, slots=True)
class Webhook:
    """POSTs an alert as JSON, signed as Standard Webhooks has it where there is a secret.

    Headers are `webhook-id` (the same in every try: by it a receiver drops what it has), `webhook-timestamp` and
    `webhook-signature`: ``v1,`` and the base64 HMAC-SHA256 of ``id.timestamp.body``. A secret is ``whsec_`` and base64,
    or any other text. Redirects are not followed. `url` and `secret` may be ``$NAME``, a variable of the environment.
    """

    url: str = field(repr=False)
    secret: str = field(default="", repr=False)
    trying: Trying = Trying()

    def __post_init__(self) -> None:
        object.__setattr__(self, "url", _address(self.url, "webhook"))
        object.__setattr__(self, "secret", _from_environment(self.secret))
        _key(self.secret)

    def send(self, alert: Alert) -> None:
        """Deliver. Raises `AlertError` when every try failed, or the receiver refused it."""
        body = json.dumps(alert.to_json(), ensure_ascii=True).encode("ascii")
        _deliver(self.url, body, lambda: self._headers(alert, body), self.trying)

    def _headers(self, alert: Alert, body: bytes) -> dict[str, str]:
        stamp = str(int(time.time()))
        headers = {"webhook-id": alert.id, "webhook-timestamp": stamp}
        if self.secret:
            signed = hmac.new(_key(self.secret), f"{alert.id}.{stamp}.".encode() + body, hashlib.sha256).digest()
            headers["webhook-signature"] = f"v1,{base64.b64encode(signed).decode('ascii')}"
        return headers


@dataclass(frozen=True, slots=True)
class Slack:
    """POSTs an alert as a message that Slack's incoming webhooks take, and what speaks their format.

    `url`, which is a secret, may be ``$NAME``, a variable of the environment.
    """

    url: str = field(repr=False)
    trying: Trying = Trying()

    def __post_init__(self) -> None:
        object.__setattr__(self, "url", _address(self.url, "slack"))

    def send(self, alert: Alert) -> None:
        """Deliver. Raises `AlertError` when every try failed, or the receiver refused it."""
        lines = [f"*{_plain(alert.title)}*", _plain(alert.text), *(f"• {_plain(claim)}" for claim in alert.examples)]
        message = {"text": "\n".join(lines), "unfurl_links": False, "unfurl_media": False}
        _deliver(self.url, json.dumps(message).encode("ascii"), dict, self.trying)


@dataclass(frozen=True, slots=True)
class Command:
    """Runs a program with an alert as JSON on its standard input; no shell reads the words."""

    words: Sequence[str]
    trying: Trying = Trying(time_out=30.0)

    def __post_init__(self) -> None:
        if not self.words or not self.words[0]:
            raise ConfigError("command needs a program, as in command:/usr/local/bin/page oncall")

    def send(self, alert: Alert) -> None:
        """Run it. Raises `AlertError` when it cannot be run, takes too long or ends with another code than 0."""
        told = json.dumps(alert.to_json(), ensure_ascii=True).encode("ascii")
        _retried(lambda: self._run(told), self.trying)

    def _run(self, told: bytes) -> str | None:
        program = os.path.basename(self.words[0])  # noqa: PTH119 - also of what is no path
        try:
            done = subprocess.run(  # noqa: S603 - the user's own program, by its words
                list(self.words), input=told, timeout=self.trying.time_out, check=False,
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return f"the command {program} took longer than {self.trying.time_out:g} s"
        except (OSError, ValueError) as error:
            raise AlertError(f"the command {program} cannot be run: {error}") from None
        return f"the command {program} ended with code {done.returncode}" if done.returncode else None


class Notifier:
    """Sends alerts to several sinks, each at most once in `cool_down` seconds for what is about the same.

    A sink that fails does not keep the others from it, and gets what it missed with the next alert about the same.
    Keep `to_json()` beside the detector's, and `restore` it, so that a restart does not say everything again.
    """

    def __init__(
        self, sinks: Sequence[Sink], *, cool_down: float = COOL_DOWN, clock: Callable[[], float] = time.time
    ) -> None:
        if not cool_down >= 0:
            raise ConfigError(f"cool_down must be at least 0 seconds, got {cool_down!r}")
        self._sinks = tuple(sinks)
        self._cool_down = cool_down
        self._clock = clock
        self._sent: dict[str, float] = {}  # by sink and alert: when

    def send(self, alert: Alert) -> None:
        """Deliver to every sink that was not told the same lately. Raises `AlertError` that names all that failed."""
        now = self._clock()
        self._sent = {key: at for key, at in self._sent.items() if now - self._cool_down < at <= now}
        failed = []
        for place, sink in enumerate(self._sinks):
            key = f"{place}:{type(sink).__name__}:{alert.key}"
            if key in self._sent:
                continue
            try:
                sink.send(alert)
            except AlertError as error:
                failed.append(str(error))
            else:
                self._sent[key] = now
        if failed:
            raise AlertError(f"the alert {alert.title!r} was not delivered: {'; '.join(failed)}")

    def to_json(self) -> dict[str, float]:
        """Return what was sent when, as plain JSON values."""
        return dict(self._sent)

    def restore(self, sent: Mapping[str, Any]) -> None:
        """Go on where `to_json` left off. Raises `ConfigError` for what is no such thing."""
        try:
            self._sent = {str(key): float(at) for key, at in sent.items()}
        except (TypeError, ValueError, AttributeError) as error:
            raise ConfigError(f"this is not what a notifier has sent: {error}") from None


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
            raise ConfigError(f"the words of the command cannot be told apart: {error}") from None
    known = ("webhook", "slack", "command")
    meant = did_you_mean(kind, known) if kind.isidentifier() else ""  # anything else may be an address with a secret
    raise ConfigError(f"an alert goes to webhook:URL, slack:URL or command:PROGRAM{meant}")


def _deliver(url: str, body: bytes, headers: Callable[[], Mapping[str, str]], trying: Trying) -> None:
    host = urlsplit(url).hostname or ""
    usual = {"content-type": "application/json", "user-agent": f"everyclaim/{__version__}"}

    def once() -> str | _Later | None:
        request = urllib.request.Request(url, data=body, method="POST", headers={**usual, **headers()})  # noqa: S310
        try:
            _OPENER.open(request, timeout=trying.time_out).close()  # what is said beside the status does not matter
        except urllib.error.HTTPError as error:
            with error:
                said = f"{host} answered {error.code}"
                if error.code not in _LOST and error.code < 500:
                    raise AlertError(said) from None
                return _Later(said, _seconds(error.headers.get("retry-after")))
        except (OSError, ValueError, http.client.HTTPException) as error:
            reason = getattr(error, "reason", error)
            return f"{host} cannot be reached: {type(error).__name__ if not str(reason) else reason}"
        return None

    _retried(once, trying)


@dataclass(frozen=True, slots=True)
class _Later:
    """A try that failed, with the seconds that the receiver wants to be left alone for."""

    said: str
    wait: float | None


def _retried(once: Callable[[], str | _Later | None], trying: Trying) -> None:
    """Try until it is done (None); else wait, each time twice as long. What `once` raises ends it at once."""
    said = ""
    for number in range(trying.tries):
        failed = once()
        if failed is None:
            return
        later = failed if isinstance(failed, _Later) else _Later(failed, None)
        said = later.said
        if number + 1 < trying.tries:
            time.sleep(trying.wait * 2**number if later.wait is None else min(_LONGEST_WAIT, later.wait))
    raise AlertError(f"{said}, after {trying.tries} tries" if trying.tries > 1 else said)


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """A receiver that has moved is named anew by the user, not by whoever answers at its old place."""

    def redirect_request(self, *_: Any) -> None:
        return None


_OPENER = urllib.request.build_opener(_NoRedirect)


def _address(given: str, kind: str) -> str:
    """Return the address that is meant; it may hold a secret, and no message repeats it."""
    url = _from_environment(given)
    try:
        parts = urlsplit(url)
        port = parts.port  # noqa: F841 - raises where it is none
    except ValueError:
        raise ConfigError(f"{kind} needs an address like https://host/path; this one cannot be read") from None
    if parts.scheme not in {"http", "https"} or not parts.hostname or not url.isascii() or not url.isprintable():
        raise ConfigError(f"{kind} needs an address that begins with https:// or http:// and names a host")
    if parts.username is not None or " " in url:
        raise ConfigError(f"{kind} takes an address without user and without spaces")
    return url


def _from_environment(text: str) -> str:
    if not text.startswith("$"):
        return text
    if (value := os.environ.get(text[1:])) is None:
        raise ConfigError(f"the environment has no variable {text[1:]}")
    return value


def _key(secret: str) -> bytes:
    if not secret.startswith("whsec_"):
        return secret.encode("utf-8", "surrogatepass")
    try:
        return base64.b64decode(secret.removeprefix("whsec_"), validate=True)
    except (binascii.Error, ValueError):
        raise ConfigError("the secret of the webhook begins with whsec_, but is not base64 after it") from None


def _seconds(told: str | None) -> float | None:
    try:
        value = float(told or "")
    except ValueError:
        return None
    return value if value >= 0 else None


def _plain(text: str) -> str:
    """Write a text so that Slack takes nothing in it for a link, a mention or a channel."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
