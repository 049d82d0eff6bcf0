"""Reported speech: who is said to have said what.

"Smith said the bridge was safe" is not supported by a passage in which Jones said it and Smith only attended. A
`Report` keeps the speaker and the content apart, so that both can be checked.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from everyclaim.core.types import Span
from everyclaim.text.dates import lowered
from everyclaim.text.lists import NAMED, WORDS
from everyclaim.text.tokens import STOPWORDS, word_set

Place = tuple[int, int]
# These report even without "that" or a quotation mark after them.
_PLAIN_VERBS = word_set(WORDS["speech"]["plain_verbs"])
# These need "that", a colon or a quotation: "added salt" reports nothing.
_CLAUSE_VERBS = word_set(WORDS["speech"]["clause_verbs"])
TOLD_VERBS = word_set("told tells tell informed informs assured assures reminded reminds advised notified convinced")
VERBS = _PLAIN_VERBS | _CLAUSE_VERBS | TOLD_VERBS
_SHOWING = word_set("suggested suggests suggest showed shows show revealed reveals indicated indicates demonstrates")
_SAYING = re.compile(r"\b(?:is|are|was|were|be|been|keeps?|kept) $")  # else "saying" hangs on any noun before it
_WORD = re.compile(r"[a-z]{3,}")
_ACCORDING = re.compile(r"\baccording to ")
_SENTENCE_END = re.compile(r"[.!?…][\"”’')\]]*(?=\s+[\"“‘'(\[]*[A-Z0-9]|\s*$)|\n\s*\n|\n(?=\s*(?:[-*•]|\d+[.)])\s)")
_NO_END = re.compile(rf"\b(?:[A-Z]|{NAMED}|e\.g|i\.e|U\.S|U\.K)$")
_BOUNDARY = re.compile(
    r"[,;:()\"“”—–]|\b(?:but|that|because|although|though|while|when|where|if|as|since|so|which|who|whom|or|whether|than"
    r"|after|before|until)\b"
)
_AUXILIARY = re.compile(
    r"(?:\b(?:has|have|had|also|later|then|again|once|never|not|did|does|do|would|will|could|may|might|should|first|"
    r"himself|herself|themselves|further|always|still|even|both|all|\w+ly)|n't|n’t)\s*$"
)
_PASSIVE = re.compile(r"\b(?:is|are|was|were|be|been|being|get|got)\s*(?:\w+ly\s*)?$")
_LEADING = re.compile(
    r"(?:however|and|but|then|later|also|yesterday|today|so|still|yet|meanwhile|moreover|furthermore|in (?:1|2)\d{3}"
    r"|here|there|finally|indeed|thus|therefore|plus|on (?:mon|tues|wednes|thurs|fri|satur|sun)day|[a-z]+ly)\s+"
)
_APPOSITION = re.compile(r"(?P<head>[^,;:()\"“”]{2,80}), [^,;:\"“”]{2,120},\s*$")
_NO_HEAD = word_set(WORDS["speech"]["no_head"])
_PREPOSITIONS = word_set("of to on in at by for with about from")
_NO_SPEAKER = STOPWORDS - word_set("he she they i we you who it some others many most few all both one")
_QUOTES = "\"“”«»`'"
_CLOSING = re.compile(r"[,.!?…]?(?:[\"”»]|(?<=')')\s*$")
_OPENING = re.compile(r"\s*[,:]?\s*(?:that )?(?:[\"“«]|``|'')")
_THAT = re.compile(r"(?:\s+[^,.;:\"“”]{1,80}?)?\s+that\s+")
_BY = re.compile(r" by (?P<who>[^,.;:\"“”]{2,80}?)(?= that |[,.;]|$)")
_WHOM = re.compile(r"\s+(?:the |an? |his |her |their )?[\w’'.-]+\s+")
_COLON = re.compile(r"\s*:\s*")
_SPEAKER_END = re.compile(r"[,;:\"“”()]|\.(?=\s|$)|\n|$")
_INVERTED = re.compile(
    r"\s+(?P<who>(?:the |an? )?[^,.;:\"“”()\n]{2,60}?)(?=[,.;:]|\s*$|\s+(?:in|on|at|during|of the|who|after|before)\b)"
)
_LONGEST_SENTENCE = 1500
_LONGEST_QUOTE = 3000
_MOST_WORDS = 12


class Report(NamedTuple):
    """One thing said. ``source[slice(*speaker_span)] == speaker``; `verb` is as written, or "according to"."""

    speaker: str
    speaker_span: Span
    verb: str
    content_span: Span


def reports(text: str) -> list[Report]:
    """Find what `text` reports somebody to have said, thought or found, in order of the reporting words.

    Read are "X said (that) …", "X told Y that …", "…, X said", "…, said X", quotations, "according to X, …" and
    "as X said, …". X is the noun phrase as written, a pronoun included. Sayings without a speaker ("it is said")
    are left out.
    """
    low = lowered(text)
    found: list[Report] = []
    ends: _Sentences | None = None
    for match in _WORD.finditer(low):
        at, word = match.start(), match.group()
        if word != "according" and (word not in VERBS or text[at].isupper()):
            continue  # "United States"
        ends = ends or _Sentences(text)
        start, end = ends.around(at)
        if word == "according":
            report = _according(text, low, at, start, end)
        else:
            report = _said(text, low, at, match.end(), start, end)
        if report is not None:
            found.append(report)
    return found


class _Sentences:
    """Sentence bounds found on demand, going forward only."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.start = 0
        self.end = -1

    def around(self, at: int) -> Place:
        """Give the bounds of the sentence that holds `at`; `at` must not decrease from call to call."""
        while self.end < at:
            self.start = max(0, self.end)
            self.end = self._next()
        start = self.start
        while start < at and self.text[start].isspace():
            start += 1
        start = max(start, at - _LONGEST_SENTENCE)
        return start, min(self.end, at + _LONGEST_SENTENCE)

    def _next(self) -> int:
        for match in _SENTENCE_END.finditer(self.text, self.start):
            abbreviated = _NO_END.search(self.text, max(self.start, match.start() - 6), match.start())
            if match.end() > self.start and not abbreviated:
                return match.end()
        return len(self.text)


def _report(text: str, speaker: Place, verb: str, content: Place) -> Report | None:
    first, last = _trim(text, *content)
    if last - first < 2 or speaker[0] >= speaker[1]:
        return None
    return Report(text[slice(*speaker)], Span(*speaker), verb, Span(first, last))


def _trim(text: str, start: int, end: int) -> Place:
    while start < end and (text[start].isspace() or text[start] in ",;:" + _QUOTES):
        start += 1
    while end > start and (text[end - 1].isspace() or text[end - 1] in ",;:." + _QUOTES):
        end -= 1
    return start, end


def _said(text: str, low: str, verb: int, after: int, start: int, end: int) -> Report | None:
    """Read the report made by the verb at [verb, after) in the sentence [start, end)."""
    written = text[verb:after]
    if written == "saying" and _SAYING.search(low, max(start, verb - 8), verb) is None:
        return None
    inverted = _inverted(text, verb, after, start, end)
    if inverted is not None:
        return inverted
    if _PASSIVE.search(low, max(start, verb - 30), verb):
        return _passive(text, low, written, after, end)
    speaker = _subject(text, low, start, verb)
    if speaker is None:
        return None
    opening = _OPENING.match(text, after)
    if opening is not None:
        return _report(text, speaker, written, (opening.end(), _quote_end(text, opening.end(), end)))
    lead = low[start : speaker[0]].rstrip()
    if lead.endswith("as") and (len(lead) == 2 or lead[-3] in " ,"):
        return _as_said(text, speaker, written, after, (start, end))
    closes = text[after:end].lstrip()[:1] in ("", ".", ",", ";", "!", "?", ")") or after >= end
    if closes:
        return _content_before(text, speaker, written, start)
    return _content_after(text, low, speaker, written, after, end)


def _content_after(text: str, low: str, speaker: Place, verb: str, after: int, end: int) -> Report | None:
    told = verb.lower() in TOLD_VERBS
    pause = text.find(";", after, end)
    end = pause if pause >= 0 else end
    if told and (low[after : after + 12].split() or [""])[0] in _PREPOSITIONS:
        return None  # "tells of"
    begins = _THAT.match(low, after, end) or (_WHOM.match(text, after, end) if told else _COLON.match(text, after))
    if begins is not None:
        return _report(text, speaker, verb, (begins.end(), end))
    if told or verb.lower() in _CLAUSE_VERBS or low.startswith(" to ", after):
        return None
    return _report(text, speaker, verb, (after, end))


def _content_before(text: str, speaker: Place, verb: str, start: int) -> Report | None:
    """Read "…, Jones said." and "“…,” Jones said."."""
    before = text[max(0, speaker[0] - 4) : speaker[0]]
    if _CLOSING.search(before):
        close = text.rindex(before.rstrip()[-1], 0, speaker[0])
        return _report(text, speaker, verb, (_quote_start(text, close), close))
    if verb in _PLAIN_VERBS and before.rstrip().endswith((",", "—", "–")):
        return _report(text, speaker, verb, (start, speaker[0]))
    return None


def _as_said(text: str, speaker: Place, verb: str, after: int, sentence: Place) -> Report | None:
    start, end = sentence
    comma = text.find(",", after, end)
    lead = text[start : speaker[0]].rstrip()
    if len(lead) <= 3 and comma >= 0:
        return _report(text, speaker, verb, (comma + 1, end))
    return _report(text, speaker, verb, (start, start + len(lead) - 2))


def _inverted(text: str, verb: int, after: int, start: int, end: int) -> Report | None:
    """Read "“…,” said Jones" and "…, said Jones"."""
    before, written = text[max(0, verb - 4) : verb], text[verb:after]
    quoted = _CLOSING.search(before) is not None
    plain = before.rstrip().endswith(",") and written in _PLAIN_VERBS
    if not quoted and (not plain or _described(text, start, verb)):
        return None
    match = _INVERTED.match(text, after, end)
    if match is None:
        return None
    who = match["who"].rstrip()
    if written in _SHOWING and who.startswith(("a ", "an ")):
        return None  # "“…,” suggests a sense of relief"
    proper = who[:1].isupper() or who.startswith(("the ", "a ", "an ", "his ", "her ", "their "))
    if not proper or len(who.split()) > _MOST_WORDS or who.split()[0] in ("That", "It"):
        return None
    content = (start, verb)
    if quoted:
        close = text.rindex(before.rstrip()[-1], 0, verb)
        content = (_quote_start(text, close), close)
    return _report(text, (match.start("who"), match.start("who") + len(who)), written, content)


def _described(text: str, start: int, verb: int) -> bool:
    """Whether a described speaker stands before the verb: "Jones, the chief engineer, said …" inverts nothing."""
    found = _APPOSITION.search(text, max(start, verb - 220), verb - 1)
    if found is None or text[start : found.start("head")].strip():
        return False
    words = found["head"].split()
    is_name = all(word[:1].isupper() for word in words) or (len(words) == 2 and words[0] in ("The", "A", "An"))
    return is_name and not text[found.end("head") + 2 :].startswith(("and ", "but ", "or ", "so ", "while "))


def _passive(text: str, low: str, verb: str, after: int, end: int) -> Report | None:
    by = _BY.match(text, after, end)
    that = _THAT.match(low, by.end() if by else after, end)
    if by is None or that is None:
        return None
    return _report(text, by.span("who"), verb, (that.end(), end))


def _according(text: str, low: str, at: int, start: int, end: int) -> Report | None:
    match = _ACCORDING.match(low, at)
    if match is None or low.startswith(("plan", "schedule"), match.end()):
        return None
    stop = _SPEAKER_END.search(text, match.end(), end)
    last = _after_abbreviation(text, match.end(), stop.start() if stop else end, end)
    speaker = _trim(text, match.end(), last)
    leads = not text[start:at].strip(' \t\n"“(,')
    content = (last, end) if leads else (start, at)
    return _report(text, speaker, "according to", content)


def _after_abbreviation(text: str, start: int, stop: int, end: int) -> int:
    """Go past the period of "Dr." or an initial inside a speaker."""
    while stop < end and text[stop] == "." and _NO_END.search(text, start, stop):
        following = _SPEAKER_END.search(text, stop + 1, end)
        stop = following.start() if following else end
    return stop


def _subject(text: str, low: str, start: int, verb: int) -> Place | None:
    """Find the noun phrase right before a verb; None where nothing there can be a speaker."""
    end = verb
    while match := _AUXILIARY.search(low, max(start, end - 24), end):
        end = match.start()
    while end > start and text[end - 1].isspace():
        end -= 1
    if end <= start:
        return None
    if text[end - 1] == ",":
        apposition = _APPOSITION.search(text, max(start, end - 220), end)
        if apposition is None:
            return None
        start, end = apposition.span("head")
    first = max(start, end - 140)
    for boundary in _BOUNDARY.finditer(low, first, end):
        first = boundary.end()
    first = _past_and(text, first, end)
    while first < end and text[first].isspace():
        first += 1
    while match := _LEADING.match(low, first, end):
        first = match.end()
    words = text[first:end].split()
    if not words or len(words) > _MOST_WORDS or words[-1].lower() in _NO_HEAD or not words[-1][:1].isalpha():
        return None
    if all(word.lower() in _NO_SPEAKER for word in words) or words[-1].lower().endswith(("it's", "that's", "it’s")):
        return None
    return first, end


def _past_and(text: str, first: int, end: int) -> int:
    """Keep "Smith and Jones" together; after "The mayor came and Jones", start at the second."""
    at = text.rfind(" and ", first, end)
    if at < 0:
        return first
    before = text[first:at].split()
    together = all(word[:1].isupper() or word in ("the", "a", "an", "of") for word in before) and len(before) <= 5
    return first if before and together else at + 5


def _quote_end(text: str, start: int, end: int) -> int:
    """Give where a quotation that begins at `start` closes; it may go on past its first sentence."""
    limit = min(len(text), start + _LONGEST_QUOTE)
    closes = [at for quote in '"”»' if (at := text.find(quote, start, limit)) >= 0]
    return min(closes) if closes else end


def _quote_start(text: str, close: int) -> int:
    """Give where the quotation that closes at `close` begins."""
    floor = max(0, close - _LONGEST_QUOTE)
    opening = {"”": "“", "»": "«", "'": "``"}.get(text[close], '"')
    at = text.rfind(opening, floor, close)
    return at + len(opening) if at >= 0 else floor
