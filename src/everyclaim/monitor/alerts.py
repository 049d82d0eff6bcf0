"""What an alert says, and where it may be sent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from typing import Any, Protocol

from everyclaim.core.errors import OperatorError

ALERT_SCHEMA = 1


@dataclass(frozen=True, slots=True)
class Alert:
    """A measure has risen above its limit. Rates are within [0, 1]; times are ISO 8601 in UTC.

    Nothing in it is text of the users, but for `examples`, which are there only where they were asked for.
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
    releases: Mapping[str, int] = field(default_factory=dict)  # of these answers, the most frequent ones
    examples: tuple[str, ...] = ()  # failing claims of late, where they were asked for

    @property
    def key(self) -> str:
        """What it is about: alerts with one key say the same again."""
        return f"{self.source}/{self.measure}"

    @property
    def id(self) -> str:
        """A name of this alert and no other, the same however often it is sent."""
        told = f"{self.source}\0{self.measure}\0{self.at}\0{self.since}\0{self.answers}"
        return f"everyclaim-{sha256(told.encode('utf-8', 'surrogatepass')).hexdigest()[:24]}"

    def to_json(self) -> dict[str, Any]:
        """Return it as plain JSON values, in the public schema."""
        return {"schema": ALERT_SCHEMA, "id": self.id} | asdict(self) | {"examples": list(self.examples)}


class AlertError(OperatorError):
    """An alert could not be delivered."""


class Sink(Protocol):
    """Where alerts go. Sending blocks, for seconds where a receiver is slow: from async code call it in a thread."""

    def send(self, alert: Alert) -> None:
        """Deliver an alert. Raises `AlertError` when it could not be delivered after all tries."""
