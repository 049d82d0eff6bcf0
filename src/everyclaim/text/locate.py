"""Find where a quoted passage really stands: exactly, then normalised, then fuzzily.

A judge that quotes its evidence often changes white space, quotes, dashes, case or a few letters. What is found
here is always a span of the text as given. A near match is refused when it would change what is said: every
number, number word, negation and capitalised name of the quote must be in the span, of a short quote every word of
content in whatever form, and no negation may be added.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator
from typing import Literal, NamedTuple

from rapidfuzz import fuzz

from everyclaim.text.lists import WORDS
from everyclaim.text.tokens import STOPWORDS, Token, is_word_char, normalise, tokenize, word_set

Method = Literal["exact", "normalised", "fuzzy"]

_MAX_OCCURRENCES = 2000  # of one quote, while looking for one that does not cut a word
_MAX_SNAP = 64  # characters a span may grow to reach the edge of a word
_WHOLE_TEXT = 4000  # a text up to this long is aligned as a whole; in a longer one, windows are chosen first
_MAX_QUOTE = 4000  # a longer quote is not looked for fuzzily
_ANCHORS = 12
_WORDS_FOR_A_LOSS = 8  # words of content that a quote must have for a near match to lack one of them
_WINDOWS = 4
_ELLIPSIS = re.compile(r"\s*(?:\[\s*(?:\.\s?){2,}\.?\s*\]|\[\s*…\s*\]|\(\s*…\s*\)|(?:\.\s?){2,}\.|…)\s*")
_SENTENCE_END = re.compile(r"[.!?。](?!\d)")
_EDGE = " \t\r\n\f\v\u00a0.,;:!?\"'“”‘’«»…*_`"
# In the key two texts are compared by, spaces around punctuation and marks of emphasis are nothing.
_SQUEEZE = re.compile(
    r" ?(-lrb-|-rrb-|-lsb-|-rsb-) ?| (?=n't\b)|\*\*|(?<!\w)[*_]|[*_](?!\w)| ?(''|\")|(?<=[^\w\s*]) | (?=[^\w\s*])"
)
_BRACKETS = {"-lrb-": "(", "-rrb-": ")", "-lsb-": "[", "-rsb-": "]", "''": "'", '"': "'"}
_NEGATIONS = word_set(WORDS["locate"]["negations"])
_NUMBER_WORDS = word_set(WORDS["locate"]["number_words"])


class Match(NamedTuple):
    """Where a quote stands. `ratio` is 1.0 unless `method` is fuzzy; then it lies within [0, 1]."""

    start: int
    end: int
    method: Method
    ratio: float


def locate(quote: str, text: str, *, min_ratio: float = 0.85) -> Match | None:
    """Find `quote` in `text`; None when it is not there or the quote is empty.

    Tried in turn: the very characters; the same after normalising white space, case, quotes, dashes, ligatures and
    tokenisation spacing; for a quote with an ellipsis, its parts in order and close to each other; an alignment
    with a similarity of at least `min_ratio` (within [0, 1]) that loses no number, negation or name. Where several
    places match, the first one that does not cut a word is taken. The span is grown to the edges of words.
    """
    wanted = quote.strip()
    if not wanted or not text:
        return None
    found = _whole(wanted, text, ((at, at + len(wanted)) for at in _occurrences(wanted, text)), "exact")
    if found is not None:
        return found
    haystack = _Key(text)
    found = _normalised(wanted, haystack)
    if found is None and _ELLIPSIS.search(wanted):
        found = _with_ellipsis(wanted, haystack)
    if found is None and len(wanted) <= _MAX_QUOTE:
        found = _fuzzy(wanted.strip(_EDGE), haystack, min_ratio)
    return found


class _Key:
    """A text in the form it is compared in, and the way back to its offsets."""

    __slots__ = ("offsets", "text", "value")

    def __init__(self, text: str) -> None:
        self.text = text
        normal, offsets = normalise(text)
        out: list[str] = []
        kept = array("q")
        done = 0
        for match in _SQUEEZE.finditer(normal):
            start, end = match.span()
            out.append(normal[done:start])
            kept.extend(offsets[done:start])
            token = match.group(1) or match.group(2)
            if token:
                at = match.start(1) if match.group(1) else match.start(2)
                out.append(_BRACKETS[token])
                kept.extend(offsets[at : at + 1])
            done = end
        out.append(normal[done:])
        kept.extend(offsets[done:])
        self.value = "".join(out)
        self.offsets = kept

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Give the original span of ``value[start:end]``, which must not be empty."""
        last = self.offsets[end - 1]
        first = self.offsets[start]
        after = self.offsets[bisect_right(self.offsets, last, end - 1)] if last < self.offsets[-1] else last
        while after > last + 1 and (self.text[after - 1].isspace() or self.text[after - 1] in "*_`"):
            after -= 1
        return first, after


def _key(quote: str) -> str:
    return _Key(quote).value.strip()


def _normalised(quote: str, haystack: _Key) -> Match | None:
    for candidate in (quote, quote.strip(_EDGE)):
        wanted = _key(candidate)
        if wanted and wanted in haystack.value:
            places = (haystack.span(at, at + len(wanted)) for at in _occurrences(wanted, haystack.value))
            return _whole(candidate, haystack.text, places, "normalised")
    return None


def _whole(quote: str, text: str, places: Iterator[tuple[int, int]], method: Method) -> Match | None:
    """Take the first place that cuts no word, else the first one, grown to whole words."""
    fallback: tuple[int, int] | None = None
    for start, end in places:
        if not _cuts_word(text, start, end):
            return Match(start, end, method, 1.0)
        fallback = fallback or (start, end)
    return None if fallback is None else _grown(quote, text, fallback)


def _occurrences(needle: str, text: str) -> Iterator[int]:
    at = text.find(needle)
    for _ in range(_MAX_OCCURRENCES):
        if at < 0:
            return
        yield at
        at = text.find(needle, at + 1)


def _cuts_word(text: str, start: int, end: int) -> bool:
    """Say whether an edge of the span lies inside a word or a number such as 1,000 or 2.8."""
    return _inside(text, start) or _inside(text, end)


def _inside(text: str, at: int) -> bool:
    if not 0 < at < len(text):
        return False
    before, after = text[at - 1], text[at]
    if is_word_char(before) and is_word_char(after):
        return True
    if before.isdigit():
        return after in ".," and at + 1 < len(text) and text[at + 1].isdigit()
    return after.isdigit() and before in ".," and at > 1 and text[at - 2].isdigit()


def _snap(text: str, start: int, end: int) -> tuple[int, int]:
    """Grow a span outwards to the edges of words."""
    lowest, highest = start - _MAX_SNAP, end + _MAX_SNAP
    while start > lowest and _inside(text, start):
        start -= 1
    while end < highest and _inside(text, end):
        end += 1
    return start, end


def _grown(quote: str, text: str, span: tuple[int, int]) -> Match | None:
    """Accept a match that cut a word if growing it to whole words adds little and changes no number."""
    start, end = _snap(text, *span)
    if (end - start) > 1.25 * len(quote) or not _says_the_same(quote, text[start:end]):
        return None
    return Match(start, end, "normalised", 1.0)


def _with_ellipsis(quote: str, haystack: _Key) -> Match | None:
    """Find the parts around an ellipsis, in order and close; the span reaches from the first to the last."""
    parts = [wanted for part in _ELLIPSIS.split(quote) if (wanted := _key(part.strip(_EDGE)))]
    if len(parts) < 2:
        return None
    reach = max(400, 4 * len(quote))
    for first in _occurrences(parts[0], haystack.value):
        at = first + len(parts[0])
        gaps: list[str] = []
        for part in parts[1:]:
            found = haystack.value.find(part, at, at + reach + len(part))
            if found < 0:
                break
            gaps.append(haystack.value[at:found])
            at = found + len(part)
        else:
            start, end = haystack.span(first, at)
            hides_negation = any(not _SENTENCE_END.search(gap) and _negations(tokenize(gap)) for gap in gaps)
            if not hides_negation and not _cuts_word(haystack.text, start, end):
                return Match(start, end, "normalised", 1.0)
    return None


def _fuzzy(quote: str, haystack: _Key, min_ratio: float) -> Match | None:
    wanted = _key(quote)
    if len(wanted) < 8:  # two or three letters of difference in so short a quote are another quote
        return None
    best: Match | None = None
    for low, high in _windows(wanted, haystack.value):
        window = haystack.value[low:high]
        aligned = fuzz.partial_ratio_alignment(wanted, window, score_cutoff=100 * (min_ratio - 0.2))
        if aligned is None or aligned.dest_end <= aligned.dest_start:
            continue
        start, end, ratio = _refine(wanted, window, aligned.dest_start, aligned.dest_end)
        if ratio < min_ratio or (best is not None and ratio <= best.ratio):
            continue
        first, last = _snap(haystack.text, *haystack.span(low + start, low + end))
        if _says_the_same(quote, haystack.text[first:last]) and _keeps_words(quote, haystack.text[first:last]):
            best = Match(first, last, "fuzzy", ratio)
    return best


def _refine(wanted: str, window: str, start: int, end: int) -> tuple[int, int, float]:
    """Move both edges of an alignment to the word edges nearby that give the highest similarity."""
    slack = max(16, len(wanted) // 6)
    edges = [0, *(m.start() if m.group() else m.end() for m in re.finditer(r"\b", window)), len(window)]
    starts = [e for e in edges if abs(e - start) <= slack][:24] or [start]
    ends = [e for e in edges if abs(e - end) <= slack][:24] or [end]
    # One edge at a time: the two hardly interact.
    start = max((at for at in starts if at < end), key=lambda at: fuzz.ratio(wanted, window[at:end]), default=start)
    end = max((at for at in ends if at > start), key=lambda at: fuzz.ratio(wanted, window[start:at]), default=end)
    ratio = fuzz.ratio(wanted, window[start:end]) / 100
    while start < end and window[start] == " ":
        start += 1
    while end > start and window[end - 1] == " ":
        end -= 1
    return start, end, ratio


def _windows(wanted: str, text: str) -> list[tuple[int, int]]:
    """Choose the stretches of a long text that hold most of the quote's longest words."""
    if len(text) <= _WHOLE_TEXT:
        return [(0, len(text))]
    words = sorted({t.norm for t in tokenize(wanted) if t.norm not in STOPWORDS}, key=lambda w: (-len(w), w))[:_ANCHORS]
    if not words:
        return []
    # Alternatives are few and literal, so the search stays linear.
    pattern = re.compile("|".join(re.escape(word) for word in words))
    hits = [(match.start(), match.group()) for match in pattern.finditer(text)]
    positions = [at for at, _ in hits]
    reach = int(1.3 * len(wanted)) + 32
    inside: Counter[str] = Counter()
    scored: list[tuple[int, int]] = []
    left = 0
    for at, word in hits:
        inside[word] += 1
        while positions[left] < at - reach:
            inside[hits[left][1]] -= 1
            if not inside[hits[left][1]]:
                del inside[hits[left][1]]
            left += 1
        scored.append((len(inside), at))
    windows: list[tuple[int, int]] = []
    for score, at in sorted(scored, key=lambda item: (-item[0], item[1])):
        if len(windows) == _WINDOWS or 2 * score < len(words):
            break
        first = positions[bisect_left(positions, at - reach)]
        low, high = max(0, first - reach), min(len(text), at + reach)
        if all(high <= a or b <= low for a, b in windows):
            windows.append((low, high))
    return windows


def _says_the_same(quote: str, span: str) -> bool:
    """Say whether `span` keeps the numbers, names and negations of `quote`, and adds no negation."""
    ours, theirs = tokenize(quote), tokenize(span)
    if _negations(ours) != _negations(theirs):
        return False
    held = Counter(_critical(theirs))
    if any(count > held[word] for word, count in Counter(_critical(ours)).items()):
        return False
    words = [token.norm for token in theirs]
    return all(
        _has_word(token.norm, words) for token in ours if token.text[0].isupper() and token.norm not in STOPWORDS
    )


def _keeps_words(quote: str, span: str) -> bool:
    """Whether a span has the words of a quote, in whatever form: of a short one all, as one word makes it another."""
    content = [token.norm for token in tokenize(quote) if token.norm not in STOPWORDS]
    words = [token.norm for token in tokenize(span)]
    lost = sum(not _has_word(word, words, 60) for word in content)
    return lost <= len(content) // _WORDS_FOR_A_LOSS


def _has_word(word: str, words: list[str], least: int = 75) -> bool:
    return word in words or any(fuzz.ratio(word, other) >= least for other in words)


def _negations(tokens: list[Token]) -> int:
    return sum(1 for token in tokens if token.norm in _NEGATIONS or token.norm.endswith("n't"))


def _critical(tokens: list[Token]) -> Iterator[str]:
    for token in tokens:
        if token.norm in _NUMBER_WORDS:
            yield token.norm
        elif token.norm[0].isdigit():
            yield token.norm.replace(",", "")
