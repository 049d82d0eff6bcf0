"""A detector on the answers of a watch: its state is kept with the watch's place, alerts until they are delivered."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from everyclaim.core.types import Result
from everyclaim.monitor.alerts import Alert, AlertError, Notifier
from everyclaim.monitor.detector import Detector

_MOST_OWED = 20


class Alarms:
    """Sees every answer that was chosen at random, once, and says when a rate has risen."""

    def __init__(self, detector: Detector, notifier: Notifier | None = None) -> None:
        self._detector = detector
        self._notifier = notifier
        self._owed: list[Alert] = []  # not yet delivered

    def see(self, result: Result) -> list[Alert]:
        """Take the next answer; return the alert that it raises, if any."""
        alert = self._detector.update(result)
        if alert is not None and self._notifier is not None:
            self._owed = [*self._owed, alert][-_MOST_OWED:]
        return [alert] if alert else []

    def deliver(self) -> str:
        """Send what is owed, which may take long; return why something could not be sent, and is sent again later."""
        trouble, left = "", []
        for alert in self._owed:
            try:
                if self._notifier is not None:
                    self._notifier.send(alert)
            except AlertError as error:
                trouble = str(error)
                left.append(alert)
        self._owed = left
        return trouble

    def to_json(self) -> dict[str, Any]:
        """Return where it stands as plain JSON values."""
        sent = self._notifier.to_json() if self._notifier else {}
        return {"detector": self._detector.to_json(), "sent": sent, "owed": [asdict(alert) for alert in self._owed]}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on where `to_json` left off; a detector with other limits begins anew."""
        before = Detector.from_json(state["detector"])
        if before.is_alike(self._detector):
            self._detector = before
        if self._notifier is not None:
            self._notifier.restore(state["sent"])
            self._owed = [Alert(**alert | {"examples": tuple(alert["examples"])}) for alert in state["owed"]]
