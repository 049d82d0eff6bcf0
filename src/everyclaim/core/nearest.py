"""The right name for a mistaken one."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable

_CLOSE = 0.65


def nearest(name: str, known: Iterable[str], synonyms: Iterable[Collection[str]] = ()) -> str:
    """Return the known name that was probably meant: a synonym, else one spelt much alike; empty when none is."""
    names = [str(one) for one in known]
    plain = name.strip().casefold().replace("-", "_")
    for group in synonyms:
        if plain in group and (same := next((one for one in names if one in group), "")):
            return same
    close = difflib.get_close_matches(plain, names, n=1, cutoff=_CLOSE)
    return close[0] if close else ""


def did_you_mean(name: str, known: Iterable[str], synonyms: Iterable[Collection[str]] = ()) -> str:
    """Return ``; did you mean 'judge'?``, to stand at the end of a message, or an empty text."""
    found = nearest(name, known, synonyms)
    return f"; did you mean {found!r}?" if found else ""
