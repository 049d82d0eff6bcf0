"""How far a source that is read by time is read: up to a moment, and a little before it again for what comes late."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta


def utc(text: str) -> datetime:
    """Read a time of a checkpoint or an option; one without a zone is in UTC. Raises `ValueError`."""
    when = datetime.fromisoformat(text)
    return when.replace(tzinfo=UTC) if when.tzinfo is None else when.astimezone(UTC)


def windows(begin: datetime, end: datetime, width: timedelta) -> list[tuple[datetime, datetime]]:
    """Cut a stretch of time into pieces of at most this width, in order."""
    pieces = []
    while begin < end:
        stop = min(begin + width, end)
        pieces.append((begin, stop))
        begin = stop
    return pieces
