"""What announces an answer, or tells how long it is, and says nothing of the world.

"Sure, here is a summary in 85 words:", "Natürlich! Hier ist ein Überblick über das Restaurant:", "(98 words)". The
numbers of such a sentence count the answer's own words and points, or name a part of a source.
"""

from __future__ import annotations

import re

from everyclaim.decompose.assertions import asserts
from everyclaim.text.sources import SOURCE

_I = re.IGNORECASE
_LONGEST = 2000  # characters; what is longer announces nothing

_POINTS = (
    r"(?:(?:key|main|short|brief|quick|simple|easy|concise|important|major|relevant|most|bullet|top|other|possible|common)"
    r"[\s,-]+){0,3}(?:points?|takeaways?|facts?|highlights?|steps?|tips?|ways?|reasons?|things|items|examples?|options|"
    r"methods?|questions|parts?)"
)
_LENGTH = (
    r"\d[\d,]{0,9}(?:\s?(?:[-–]|to|and|or)\s?\d[\d,]{0,9})?[\s-]?"
    r"(?:words?|characters?|sentences?|lines?|paragraphs?|bullets?|tokens?|wörtern?|worten?|zeichen|sätzen?|"
    rf"stichpunkten?|punkten?|zeilen|{_POINTS})\b(?!\s(?:that|which|who|die|das)\b)(?:\s(?:or|oder)\s(?:less|fewer|so|weniger))?"
)
_PLACE = (
    r"\b(?:passages?|sources?|documents?|excerpts?|clauses?|sections?|articles?|chapters?|paragraphs?|pages?|parts?|"
    r"steps?|tables?|figures?|appendix|annex)\s(?:no\.?\s)?\d{1,4}(?:\.\d{1,3}){0,4}"
    r"(?:\s?(?:,|and|&|to|[-–])\s?\d{1,4}){0,9}\b"
    r"|\b\d{1,3}\s(?:provided\s|given\s)?(?:passages|documents|sources|excerpts|articles|files)\b"
)
_OWN_NUMBERS = re.compile(rf"{_LENGTH}|\btop[\s-]\d{{1,2}}\b|{_PLACE}", _I)
# What an overview is of: its name may hold a number ("805 Kabob", "Windows 10").
_OVERVIEW = re.compile(
    r"\b(?:summary|overview|description|review|breakdown|profile|rundown|recap|synopsis|introduction)"
    r" (?:of|to|for|about)\b",
    _I,
)
_NAMED = re.compile(r"\b\d{1,9} (?=[A-Z])|\b[A-Z][a-z]{1,30} \d{1,3}(?=[\s:.]*$)")
_COUNTED = re.compile(
    r"[(\[](?:(?:approx(?:imately)?|about|around|exactly)\.? )?\d[\d,]{0,9} "
    r"(?:words|characters|tokens|wörter|zeichen)[)\]][.:]?"
    r"|[(\[]?(?:total )?(?:word|character) count:? \d[\d,]{0,9}(?: words| characters)?[)\].]*"
    r"|(?:note: )?(?:this|my) (?:answer|response|summary|overview) "
    rf"(?:is|was|has|contains|runs to|stays|uses)(?: \w+){{0,3}} {_LENGTH}(?: long| in (?:length|total))?[.!]?",
    _I,
)
_FRAME = re.compile(
    r"(?:(?:(?:sure|certainly|of course|absolutely|definitely|okay|ok|alright|yes|great|gladly|no problem|understood|"
    r"got it)(?: thing)?|(?:hi|hello|hey|dear)(?: [^\W\d]+){0,2}"
    r"|thanks?(?: you)?(?: for (?:asking|your (?:question|patience)))?"
    r"|as (?:you )?(?:requested|asked|instructed|promised)"
    rf"|(?:using|drawing (?:up)?on|looking at|after reading|having read) (?:only )?{SOURCE}"
    rf"|(?:in|within|using) (?:\w+ ){{0,3}}{_LENGTH})\s*(?:[,!.:]|[-–—](?=\s))+\s*)+",
    _I,
)
_OF_THE_TEXT = (
    rf"(?: \(?(?:(?:of|from|for|about) (?:{SOURCE}|the news)|(?:in|within|under|of) (?:\w+ ){{0,3}}{_LENGTH})\)?)"
)
_BEFORE = re.compile(  # the answer, in one sentence with it
    rf"[*_]*(?:{_FRAME.pattern})?(?:(?:here(?:'s|’s| is| are)|below (?:is|are)) (?:[\w-]+ ){{0,4}}?"
    r"(?:summary|overview|answer|response|breakdown|recap|rundown|points)"
    r"|(?:(?:the|my|a) )?(?:(?:short|brief|quick|final|concise) )?(?:summary|answer|overview))"
    rf"{_OF_THE_TEXT}{{0,2}}:[*_]*\s+(?=\w)",
    _I,
)
_ASSENTS = r"natürlich|gerne?|sehr gerne?|aber gerne?|klar|na klar|selbstverständlich|sicher|kein problem|okay|ok"
_COURTESIES = (
    r"(?:vielen dank|danke)(?: für (?:ihre|deine|die) (?:frage|anfrage|nachricht))?|gern geschehen"
    r"|ich hoffe,? (?:das|dies) hilft(?: ihnen| dir)?(?: weiter)?"
    r"|(?:wenn|falls) (?:sie|du) (?:noch )?(?:weitere |andere )?fragen (?:haben|hast), "
    r"(?:lassen sie es mich(?: gerne?)? wissen|lass es mich wissen|stehe ich(?: ihnen)?(?: gerne?)? zur verfügung|"
    r"fragen sie(?: gerne?)?|melden sie sich(?: gerne?)?)"
)
_ELSEWHERE = re.compile(
    rf"(?:{_ASSENTS}|{_COURTESIES})\s*[!.]*|zusammenfassung \(?(?:in )?{_LENGTH}\)?:"
    rf"|(?:laut|gemäß|nach) (?:den|der|dem) [^,.;:\d]{{3,60}} gilt folgendes:|(?:(?:{_ASSENTS})\s*[,!.–—-]+\s*)?"
    rf"(?:(?:auf (?:der )?(?:grundlage|basis)|anhand|ausgehend von|basierend auf|laut|gemäß) [^,.;:\d]{{3,80}}?,?\s)?"
    r"(?:(?:hier|nachfolgend|nachstehend|unten|im folgenden|es folgt)"
    r"(?: (?:ist|sind|folgt|folgen|kommt|finden sie|findest du|haben sie|eine?|die|der|das)\b)+)"
    r" (?:[^\W\d]+ ){0,4}?(?:zusammenfassung|überblick|übersicht|antwort|kurzfassung|liste|auflistung|erklärung|"
    r"beschreibung|gegenüberstellung|darstellung|schritte|punkte|informationen|fakten|anleitung|gründe|tipps)\b"
    r"(?P<topic>[^,;:.!?]*)[:.!]?",
    _I,
)
_GERMAN_STATES = re.compile(
    r"\b(?:ist|sind|war|waren|hat|haben|hatte|wurden?|wird|werden|kann|können|muss|müssen|soll|darf|gibt|dass|weil)\b",
    _I,
)


def has_numbers(text: str) -> bool:
    """Whether an announcement holds a number that is not of its own: how long the answer is, what it is called."""
    rest = _OWN_NUMBERS.sub("", text) if len(text) <= _LONGEST else text
    if overview := _OVERVIEW.search(rest):
        rest = rest[: overview.end()] + _NAMED.sub("", rest[overview.end() :])
    return any(character.isdigit() for character in rest)


def without_frame(text: str) -> str:
    """Leave out the courtesies before an announcement: "As requested, ", "Sure! In 85 words: "."""
    return text[found.end() :] if (found := _FRAME.match(text)) else text


def counts_itself(text: str) -> bool:
    """Whether an announcement says how long the answer is, or how many points it has."""
    return _OWN_NUMBERS.search(text) is not None


def announced(text: str) -> tuple[int, int] | None:
    """Where in a sentence stands what its first words announce: "Here's the summary in 85 words: The pier is …"."""
    found = _BEFORE.match(text)
    if found is None or has_numbers(found.group()) or not asserts(text[found.end() :]):
        return None
    return found.end(), len(text)


def counts_words(text: str) -> bool:
    """Whether a sentence only tells the length of the answer: "(98 words)"."""
    return _COUNTED.fullmatch(text.strip().strip("*_ ")) is not None


def announces_elsewhere(plain: str) -> bool:
    """Whether a German sentence announces the answer, which the reading of English would take to assert."""
    found = _ELSEWHERE.fullmatch(plain)
    return found is not None and not has_numbers(plain) and _GERMAN_STATES.search(found["topic"] or "") is None
