"""What results add up to: summaries, gates, comparisons, calibrations; here, an estimate in words and plain JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from everyclaim.stats.intervals import Estimate
from everyclaim.stats.types import Inference

NO_NUMBER = "–"
SHOWN_FROM = 3  # scored answers, or labels; of fewer no rate is shown


def percent(value: float | None, digits: int = 1) -> str:
    """Write a share as a percentage, with one decimal where nothing else is asked for."""
    return NO_NUMBER if value is None else f"{100 * value:.{digits}f} %"


def interval(estimate: Estimate) -> str:
    """Write an interval in per cent, or say that there is none."""
    if estimate.low is None or estimate.high is None:
        return NO_NUMBER
    return f"{100 * estimate.low:.1f} – {100 * estimate.high:.1f} %"


def is_too_few(rate: Estimate, labels: int) -> bool:
    """Whether there are labels, but too few to show their rate."""
    return 0 < labels < SHOWN_FROM or (rate.value is not None and (rate.low, rate.high) == (0.0, 1.0))


def shown_rate(rate: Estimate, labels: int) -> tuple[str, str]:
    """Return a rate and its interval as they are shown, or that there are too few labels."""
    return (NO_NUMBER, "too few labels") if is_too_few(rate, labels) else (percent(rate.value), interval(rate))


def span(estimate: Estimate) -> str:
    """Write the interval of a score, or say that there is none."""
    if estimate.low is None or estimate.high is None:
        return NO_NUMBER
    return f"{estimate.low:.3f} – {estimate.high:.3f}"


def score(estimate: Estimate) -> str:
    """Write a mean score with three digits."""
    return NO_NUMBER if estimate.value is None else f"{estimate.value:.3f}"


def share_of(estimate: Estimate) -> str:
    """Write a share as what it counts: 3 of 40."""
    return f"{round((estimate.value or 0) * estimate.n):,} of {estimate.n:,}"


def points(value: float) -> str:
    """Write a difference of shares in points, without a sign for what is above 0."""
    return minus(f"{round(100 * value, 1) + 0.0:.1f}")


def minus(number: str) -> str:
    """Write a number's hyphen as a minus sign."""
    return number.replace("-", "−")


def differences(before: Mapping[str, str], after: Mapping[str, str]) -> tuple[str, ...]:
    """Name what is not the same on both sides, as ``name old → new``; what one side alone has is ``none`` there."""
    pairs = ((name, before.get(name, "none"), after.get(name, "none")) for name in {**before, **after})
    return tuple(f"{name} {old} → {new}" for name, old, new in pairs if old != new)


def written(result: Any, names: str) -> dict[str, Any]:
    """Return these parts of a result as plain JSON, by their names; ``name=part`` writes a part under another name."""
    pairs = (text.partition("=") for text in names.split())
    return {name: plain(getattr(result, part or name)) for name, _, part in pairs}


def plain(value: Any) -> Any:
    """Return a result, or a part of one, as plain JSON; what says whether it is shown says so there, too."""
    if hasattr(value, "to_json"):
        return value.to_json()
    if isinstance(value, Inference):
        ends = {"low": value.interval.low, "high": value.interval.high, "level": value.interval.level}
        return written(value, "value") | ends | written(value, "n clusters method warnings")
    if is_dataclass(value) and not isinstance(value, type):
        row = {field.name: plain(getattr(value, field.name)) for field in fields(value)}
        return row | {"is_shown": value.is_shown} if hasattr(value, "is_shown") else row
    if isinstance(value, Mapping):
        return {key: plain(part) for key, part in value.items()}
    if hasattr(value, "_asdict"):
        return plain(value._asdict())
    return [plain(part) for part in value] if isinstance(value, tuple | list) else value
