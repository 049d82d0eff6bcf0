"""Words of an answer that point at its sources: "According to passage 2, …", "The article notes that …", "(Source 3)".

They say where something stands, not what. A person or a work by its name ("According to Reuters") is an attribution,
and stays.
"""

from __future__ import annotations

import re

SOURCE = (  # as a pattern, for what else points at the sources
    r"(?:(?:the|these|this|those|all|both|any|your|our)\s+)?(?:(?:of\s+the|above|provided|given|retrieved|supplied|"
    r"available|following|same|second|first|third|other|source|search|cited|quoted|(?:semi-?)?structured|JSON)\s+){0,3}"
    r"(?:passages?|documents?|sources?|context|texts?|articles?|excerpts?|records?|information|materials?|results?|"
    r"snippets?|data)"
    r"(?:\s+(?:provided|given|above|below|supplied))?(?:\s+in\s+(?:the\s+)?(?:JSON\s+(?:data|format)|JSON))?"
    r"(?:\s*(?:no\.?\s*)?\d{1,2}(?:\s*(?:,|and|&|or|to|-|–)\s*(?:passages?\s*|sources?\s*|documents?\s*)?\d{1,2})*)?"
)
_SAYS = (
    r"(?:(?:also|further|then|only|specifically|explicitly|clearly)\s+)?"
    r"(?:states?|notes?|mentions?|says?|explains?|indicates?|reports?|adds?|describes?|shows?|specif(?:y|ies)|tells?\s+us)"
    r"(?:\s+(?:also|further))?"
)
_NUMBERED = r"(?:passage|source|document|doc|context|excerpt|result|snippet)s?\s*\d{1,2}"
CONNECTIVES = (  # words that tie a sentence to the one before, as a pattern
    r"therefore|thus|so|hence|overall|additionally|furthermore|moreover|finally|in\s+conclusion|in\s+summary"
)
_LINK = rf"(?:(?:{CONNECTIVES}|also|however|to\s+summari[sz]e)\s*,\s*)?"
_OPENING = re.compile(
    rf"(?:^\s*|(?<=\w:)\s+){_LINK}(?:(?:to\s+answer\s+(?:the|your)\s+question\b(?:\s*[\"“][^\"”]*[\"”])?\s*,\s*)?"
    rf"(?:based\s+(?:\w+ly\s+)?(?:up)?on|according\s+to|as\s+per|per|going\s+by|as\s+(?:\w+\s+)?in|from|in)\s+{SOURCE}\s*[,:]\s*"
    rf"|{SOURCE}\s+{_SAYS}\s+that\s+"
    rf"|{_NUMBERED}\s+(?:suggests?|recommends?|advises?)\s+(?=\w+ing\b)"
    rf"|it\s+is\s+(?:also\s+)?(?:noted|mentioned|stated|reported)\s+(?:in\s+{SOURCE}\s+)?that\s+"
    rf"|{_NUMBERED}\s*[:–-]\s*)",
    re.IGNORECASE,
)
_ASIDE = re.compile(
    rf"(?<!\s)\s*\(\s*(?:(?:see|from|as\s+\w+\s+in|according\s+to|per|cf\.)\s+)?(?:{_NUMBERED}"
    rf"(?:\s*(?:,|;|and|&|-|–)\s*(?:{_NUMBERED}|(?:(?:steps?|sections?|paragraphs?|lines?|pages?)\s*)?\d{{1,2}}))*)\s*\)",
    re.IGNORECASE,
)
_CLOSING = re.compile(
    rf"(?:,|(?<!\s))\s+(?:according\s+to|based\s+on|as\s+(?:stated|noted|mentioned|described|reported|indicated|shown)\s+in|as\s+per|per)\s+{SOURCE}"
    r"(?=\s*(?:[.!]\s*)?$)"
    rf"|(?<!\bis)(?<!\bare)(?<!\bwas)(?<!\bwere)(?:,|(?<!\s))\s+(?:in|from)\s+{_NUMBERED}(?=\s*(?:[.!]\s*)?$)",
    re.IGNORECASE,
)
_LEAST = 3  # words that must be left


def without_pointers(text: str) -> str:
    """Leave out what only points at the sources; a text that does nothing else stays as it is."""
    bare = _CLOSING.sub("", _ASIDE.sub("", text))
    for _ in range(2):  # "Based on the passages, passage 2 states that …"
        bare = _OPENING.sub(lambda opening: " " if opening.start() else "", bare, count=1)
    if len(bare.split()) < _LEAST:
        return text
    return bare if bare[:1] == text.lstrip()[:1] else bare[:1].upper() + bare[1:]
