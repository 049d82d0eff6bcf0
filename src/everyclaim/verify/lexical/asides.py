"""Words of the passages that support no claim, because they are only asked, supposed, denied, doubted or forbidden.

Where such a stretch holds nearly all that a claim says, and the claim does not stand so itself, it is blanked out
before anything is compared: neither the features nor the network read it. Places in the passage stay what they were.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from everyclaim.core.types import FailureMode
from everyclaim.text.edges import blanked_out
from everyclaim.text.standing import Standing, Stretch, says_so_itself, unasserted
from everyclaim.verify.lexical.analysis import Reading
from everyclaim.verify.lexical.shortlist import Piece

_REFERS = re.compile(r"(?:he|she|they|it)\b", re.IGNORECASE)
_HELD = 0.75  # share of a claim's words; of what is forbidden all: "Do not delete it" is said by "Keep it", too
_FEWEST = 2  # words; one alone is mentioned everywhere
_SAID: dict[Standing, str] = {
    "asks": "the passage only asks this",
    "supposes": "the passage only supposes this",
    "denies": "the passage says that this is not so",
    "doubts": "the passage leaves this open",
    "forbids": "the passage forbids this",
}
_MODES: dict[Standing, FailureMode] = {
    "asks": FailureMode.OTHER,
    "supposes": FailureMode.HEDGE_MISMATCH,
    "denies": FailureMode.NEGATION,
    "doubts": FailureMode.HEDGE_MISMATCH,
    "forbids": FailureMode.NEGATION,
}


class Aside(NamedTuple):
    """A sentence of a piece that mentions a claim without asserting it: ``pieces[piece].text[start:end]``."""

    standing: Standing
    piece: int
    start: int
    end: int
    quote: str

    @property
    def said(self) -> str:
        """What there is to say of it, in words."""
        return f"{_SAID[self.standing]}: '{self.quote}'"

    @property
    def mode(self) -> FailureMode:
        """Why a claim fails that has nothing else."""
        return _MODES[self.standing]


def set_aside(claim: Reading, pieces: Sequence[Piece], readings: Sequence[Reading]) -> tuple[list[str], list[Aside]]:
    """Return the texts of the pieces without what only mentions a claim, and what was taken out."""
    texts = [piece.text for piece in pieces]
    found: list[Aside] = []
    own = {claim.keys[position] for position in claim.content}
    for number, reading in enumerate(readings):
        for stretch in unasserted(reading.text):
            if _mentions(own, claim.text, stretch, reading):
                text = texts[number]
                texts[number] = blanked_out(text, stretch.start, stretch.end)
                quote = " ".join(reading.text[stretch.low : stretch.high].split())
                found.append(Aside(stretch.standing, number, stretch.low, stretch.high, quote))
    return texts, found


def _mentions(own: set[str], claim: str, stretch: Stretch, reading: Reading) -> bool:
    """Whether a stretch holds what a claim says, and its sentence holds nothing more of it."""
    inside: set[str] = set()
    before: set[str] = set()
    after: set[str] = set()
    for position in reading.content:
        start, end = reading.spans[position]
        if start >= stretch.low and end <= stretch.high:
            place = before if start < stretch.start else after if end > stretch.end else inside
            place.add(reading.keys[position])
    if len(own) < _FEWEST or 2 * len(own & inside) < len(own):
        return False
    if stretch.standing != "supposes" and _REFERS.match(
        reading.text, stretch.start
    ):  # "The minister denied that she …"
        inside, before = inside | before, set()
    needed = 1.0 if stretch.standing == "forbids" else _HELD
    if len(own & inside) < needed * len(own) or says_so_itself(claim, stretch.standing):
        return False
    return not own & ((before | after) - inside)
