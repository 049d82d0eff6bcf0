"""Words that only number the steps of an answer: "First, unplug the machine", "Then rinse it".

They put the sentences of an answer in order, and are no ordinals that a passage would have to state.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from everyclaim.models.local.parser import parse
from everyclaim.text.edges import capital

_ORDINAL = r"(?:first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth)"
_OPENING = re.compile(
    rf"^\s*(?:(?:and|but)\s+)?(?:{_ORDINAL}(?:ly)?(?:\s+of\s+all)?|next|then|finally|lastly|after\s+that|afterwards|"
    rf"to\s+(?:begin|start)(?:\s+with)?|step\s+\d{{1,2}})(?P<mark>\s*[,:])?\s+(?!(?:{_ORDINAL}|and|or|to)\b)",
    re.IGNORECASE,
)
_NUMBERING = re.compile(
    rf"(?:^|[.!?:;])[ \t]*(?:{_ORDINAL}(?:ly)?\b|step\s+\d|\d{{1,2}}[.)]\s)|\b(?:first|last)(?=\s*[.;,!\n]|\s*$)",
    re.IGNORECASE | re.MULTILINE,
)
_SAYING = frozenset({"VB", "VBP", "PRP", "DT", "PRP$", "EX"})  # what opens an instruction or a sentence


def without_steps(text: str, passages: Iterable[str]) -> str:
    """Leave out words that only number a step; none where a passage numbers steps, too, since they may differ."""
    opening = _OPENING.match(text)
    if opening is None or any(map(_NUMBERING.search, passages)):
        return text
    rest = capital(text[opening.end() :])
    return rest if opening["mark"] or (rest and parse([rest])[0][0].tag in _SAYING) else text
