"""Is an answer in a language that its judge does not read?

The offline judges were made for English. In other languages they give labels all the same; they mean little.
"""

from __future__ import annotations

import re
from itertools import islice

from everyclaim.text.language import ENGLISH, language_of, name_of

_PARTS = 400  # pieces of an answer that are looked at
_PIECE = re.compile(r"[^\n.!?。！？।]+")
_ENGLISH_ONLY = re.compile(
    r"(?:^|[:>|])(?:(?P<judge>embedded|lexical)(?::[\w.-]+)?|(?P<model>hf:[^>?&|]+))(?=$|[?>&|])"
)
_MULTILINGUAL = re.compile(r"multilingual|mdeberta|xlm|xnli|mt5|bge-m3|mmbert", re.IGNORECASE)


def unread_language_warning(response: str, judge: str) -> str:
    """Return the warning for an answer that the judge with this spec does not read; empty when there is no need."""
    named = (found["judge"] or found["model"] for found in _ENGLISH_ONLY.finditer(judge))
    limited = next((name for name in named if not _MULTILINGUAL.search(name)), "")
    if not limited:
        return ""
    whole = language_of(response)
    foreign = whole if whole != ENGLISH else ""
    subject = "the answer is"
    if not foreign:
        subject = "part of the answer is"
        spoken = (language_of(piece.group()) for piece in islice(_PIECE.finditer(response), _PARTS))
        foreign = next((language for language in spoken if language not in {"", ENGLISH}), "")
    if not foreign:
        return ""
    return f"{subject} in {name_of(foreign)}, and the judge {limited!r} reads English: its verdicts there mean little"
