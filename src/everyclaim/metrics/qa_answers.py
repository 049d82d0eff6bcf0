"""Two answers as words, normalised as SQuAD does it (Rajpurkar et al., arXiv 1606.05250)."""

from __future__ import annotations

import re
import string
from collections import Counter
from itertools import product

from everyclaim.text.agreement import conflict, same
from everyclaim.text.dates import Moment, moments
from everyclaim.text.quantities import Quantity, quantities

_ARTICLES = re.compile(r"\b(?:a|an|the)\b")
_PUNCTUATION = dict.fromkeys(map(ord, string.punctuation + "‘’“”–—…«»、。，"), None)


def words_of(answer: str) -> list[str]:
    """Return the words of an answer: lower case, without punctuation and articles."""
    return _ARTICLES.sub(" ", answer.lower().translate(_PUNCTUATION)).split()


def exact(first: str, second: str) -> bool:
    """Whether two answers are the same words; of answers that are all articles and marks, the same text."""
    a, b = words_of(first), words_of(second)
    return a == b if a or b else first.strip() == second.strip()


def values_differ(first: str, second: str) -> bool:
    """Whether two answers give values that exclude each other, and none that are the same."""
    pairs: list[tuple[Quantity | Moment, Quantity | Moment]] = [*product(moments(first), moments(second))]
    pairs += product(quantities(first), quantities(second))
    return any(conflict(a, b) for a, b in pairs) and not any(same(a, b) for a, b in pairs)


def token_f1(first: str, second: str) -> float:
    """Return the F1 of the words two answers share, in [0, 1]; the same both ways round. 0 for different values."""
    if values_differ(first, second):
        return 0.0
    a, b = words_of(first), words_of(second)
    shared = sum((Counter(a) & Counter(b)).values())
    if not shared:
        return float(exact(first, second))
    return 2 * shared / (len(a) + len(b))
