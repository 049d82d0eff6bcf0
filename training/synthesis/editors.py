"""All editors by their names, and what a sentence must look like for one to be worth a try."""

from __future__ import annotations

import random
import re
from collections.abc import Callable

from training.synthesis import edit_names, edit_numbers, edit_words
from training.synthesis.edits import Edit, Pool
from training.synthesis.lexicon import ANTONYMS, COMPARATIVES, HEDGES, ORDERS, QUANTIFIERS

Editor = Callable[[str, Pool, random.Random], Edit | None]

EDITORS: dict[str, Editor] = {
    "number": edit_numbers.number,
    "percent": edit_numbers.percent,
    "year": edit_numbers.year,
    "date": edit_numbers.date,
    "ordinal": edit_numbers.ordinal,
    "unit": edit_numbers.unit,
    "name": edit_names.name,
    "role": edit_names.role,
    "numbers_exchanged": edit_numbers.numbers_exchanged,
    "speaker": edit_names.speaker,
    "negation": edit_words.negation,
    "antonym": edit_words.antonym,
    "comparative": edit_words.comparative,
    "order": edit_words.order,
    "quantifier": edit_words.quantifier,
    "hedge": edit_words.hedge,
    "modality": edit_words.modality,
}
_DIGIT = re.compile(r"\d")
_LIKELY: dict[str, re.Pattern[str]] = {
    "number": _DIGIT,
    "percent": re.compile(r"\d\s?%|percent|per cent"),
    "year": re.compile(r"\b(?:1\d|20)\d\d\b"),
    "date": re.compile(r"January|February|March|April|May|June|July|August|September|October|November|December|day\b"),
    "ordinal": re.compile(r"first|second|third|fourth|fifth|\dth|\dst|\dnd|\drd"),
    "unit": re.compile(r"\d|million|billion"),
    "numbers_exchanged": re.compile(r"\d.*\d"),
    "name": re.compile(r" [A-Z]"),
    "role": re.compile(r"[A-Z].* [A-Z]"),
    "speaker": re.compile(
        r"(?:said|says|told|argue|claim|warn|added|announced|stated|report|explain|suggest|[Aa]ccording)"
    ),
    "modality": re.compile(
        r"\b(?:[Yy]ou|[Ww]e|[Uu]sers|[Tt]hey) (?:may|can)\b|\b(?:should|must|required to|allowed to)\b"
    ),
    "hedge": edit_words.words_of(HEDGES),
    "comparative": edit_words.words_of(COMPARATIVES),
    "order": edit_words.words_of(ORDERS),
    "quantifier": edit_words.words_of(QUANTIFIERS["CONTRADICTED"] | QUANTIFIERS["UNSUPPORTED"]),
    "antonym": edit_words.words_of(ANTONYMS),
    "negation": re.compile(r" (?:is|are|was|were|has|can|will|not|do|does|did|\w+ed|\w+s) "),
}


def likely(kind: str) -> Callable[[str], bool] | None:
    """A cheap test of a sentence for a kind, where there is one."""
    pattern = _LIKELY.get(kind)
    return None if pattern is None else lambda sentence: pattern.search(sentence) is not None
