"""Label values that come from outside are told apart up to a number; beyond it they count as `other`, and that is said.

A label with endless values (a release named after a commit, a tag with user ids) would let telemetry grow without end.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping

from everyclaim.core.plaintext import one_line

_log = logging.getLogger(__name__)

OTHER = "other"
MOST: Mapping[str, int] = {  # of labels whose values nobody has listed
    "release": 20, "value": 50, "tag": 10, "flag": 30, "code": 40, "model": 20, "answered_by": 20, "queue": 20,
}  # fmt: skip
LONGEST = 100  # characters of a value


class Bounded:
    """Folds what is too much. Safe from any thread. `on_fold` is called with the label whenever a value is folded."""

    def __init__(self, on_fold: Callable[[str], None], most: Mapping[str, int] = MOST) -> None:
        self._most = dict(most)
        self._on_fold = on_fold
        self._known: dict[str, set[str]] = {label: set() for label in self._most}
        self._said: set[str] = set()
        self._lock = threading.Lock()

    def fold(self, labels: tuple[str, ...], values: tuple[str, ...]) -> tuple[str, ...]:
        """Return the values as they are told."""
        return tuple(
            self._one(label, value) if label in self._most else value
            for label, value in zip(labels, values, strict=True)
        )

    def _one(self, label: str, value: str) -> str:
        told = one_line(value, LONGEST)
        if not told:
            return told
        with self._lock:
            known = self._known[label]
            if told in known:
                return told
            if len(known) < self._most[label]:
                known.add(told)
                return told
            is_first = label not in self._said
            self._said.add(label)
        if is_first:
            _log.warning(
                "telemetry tells %d values of %r apart; any further one counts as %r", self._most[label], label, OTHER
            )
        self._on_fold(label)
        return OTHER
