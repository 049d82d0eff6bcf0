"""What is not a claim, and why.

Skipping hides text from the judge, so every rule here is narrow, and what looks like talk, a refusal, a source or a
heading is skipped only where nothing in it asserts (`assertions`): the rest of such a sentence is read too. Reasons:
`question`, `greeting`, `meta`, `instruction`, `abstention`, `heading`, `code`, `citation`, `lead_in`,
`table_header`, `no_words`, `bare_answer` (a lone yes or no says something only together with the question).

An announcement ("Sure, here is a summary in 85 words:") says nothing of the world: its numbers count the answer's own
words and points, or name a part of a source.
"""

from __future__ import annotations

import re

from everyclaim.decompose.assertions import (
    asks,
    asserts,
    is_courtesy,
    is_cut_off,
    is_direction,
    is_request,
    may_be_kind,
    may_direct,
    plain_tree,
    points_ahead,
    statements,
    told,
)
from everyclaim.decompose.refusals import is_abstention
from everyclaim.text.citations import without_citations
from everyclaim.text.sources import CONNECTIVES, SOURCE, without_pointers

_I = re.IGNORECASE
_LONGEST = 2000  # characters of a sentence that may be skipped
_POINTS = (
    r"(?:(?:key|main|short|brief|quick|simple|easy|concise|important|major|relevant|most|bullet|top|other|possible|common)"
    r"[\s,-]+){0,3}(?:points?|takeaways?|facts?|highlights?|steps?|tips?|ways?|reasons?|things|items|examples?|options|"
    r"methods?|questions|parts?)"
)
_LENGTH = (
    r"\d[\d,]{0,9}(?:\s?(?:[-–]|to|and|or)\s?\d[\d,]{0,9})?[\s-]?"
    r"(?:words?|characters?|sentences?|lines?|paragraphs?|bullets?|tokens?|"
    rf"{_POINTS})\b(?!\s(?:that|which|who)\b)(?:\sor\s(?:less|fewer|so))?"
)
_PLACE = (
    r"\b(?:passages?|sources?|documents?|excerpts?|clauses?|sections?|articles?|chapters?|paragraphs?|pages?|parts?|"
    r"steps?|tables?|figures?|appendix|annex)\s(?:no\.?\s)?\d{1,4}(?:\.\d{1,3}){0,4}"
    r"(?:\s?(?:,|and|&|to|[-–])\s?\d{1,4}){0,9}\b"
    r"|\b\d{1,3}\s(?:provided\s|given\s)?(?:passages|documents|sources|excerpts|articles|files)\b"
)
_OWN_NUMBERS = re.compile(rf"{_LENGTH}|\btop[\s-]\d{{1,2}}\b|{_PLACE}", _I)
_FRAME = re.compile(
    r"(?:(?:(?:sure|certainly|of course|absolutely|definitely|okay|ok|alright|yes|great|gladly|no problem|understood|"
    r"got it)(?: thing)?|(?:hi|hello|hey|dear)(?: [^\W\d]+){0,2}"
    r"|thanks?(?: you)?(?: for (?:asking|your (?:question|patience)))?"
    r"|as (?:you )?(?:requested|asked|instructed|promised)"
    rf"|(?:using|drawing (?:up)?on|looking at|after reading|having read) (?:only )?{SOURCE}"
    rf"|(?:in|within|using) (?:\w+ ){{0,3}}{_LENGTH})\s*(?:[,!.:]|[-–—](?=\s))+\s*)+",
    _I,
)
_MARGIN = " \t\n\"'“”‘’*_()[]`"
_LONGEST_COURTESY = 30  # words
_GREETING = re.compile(
    r"(?:(?:hi|hello|hey|greetings|good (?:morning|afternoon|evening|day)|welcome|thanks|thank you|many thanks|"
    r"you'?re (?:very )?welcome|my pleasure|no problem|cheers|best regards|kind regards|sincerely|goodbye|bye|"
    r"have a (?:great|nice|good|lovely|wonderful) \w+|"
    r"(?:that'?s an? |what an? )?(?:great|good|excellent|interesting) question)"
    r"(?:,? (?:there|again|everyone|all|folks|team|back|so much|very much|a lot|for (?:asking|your|the|reaching)\b.*))?"
    r"|dear (?:\w+ ){0,2}\w+)(?:, (?:\w+ )?\w+)?[\s,.!:)]*",
    _I,
)
_BARE_ANSWER = re.compile(
    r"(?:yes|no|yep|nope|correct|right|exactly|indeed|not (?:really|quite|exactly))[\s,.!]*"
    r"(?:(?<=[\s,.!])(?:it|they|he|she|you|we|i|this|that|these|those|there) "  # "Yes, it is."
    r"(?:is|are|was|were|does|do|did|has|have|had|can|could|will|would|should|must|may|might|wo|ca)"
    r"(?:n't|n’t| not|not)?[\s.!]*)?",
    _I,
)
_ASSENT = r"(?:sure|certainly|of course|absolutely|definitely|no doubt|okay|ok|alright|got it|understood|no worries)"
_META = re.compile(
    rf"(?:{_ASSENT}(?: thing)?[\s,.!:–—-]*"
    r"(?:$|(?:here'?s?|i'?(?:d|ll|m)|let me|i can|i will|i would|happy to|glad to)\b)"
    r"|here'?(?: is|s| are| goes)\b|here you go|below (?:is|are)\b|"
    r"below you(?:'ll| will| can)? find (?:[\w-]+ ){0,4}?(?:summary|overview|answer|list|breakdown|steps|points)\b|"
    r"i(?:'ve| have)? (?:summari[sz]ed|written|prepared|compiled|put together|created|outlined|listed|drafted|kept|"
    r"reviewed|read|checked|analy[sz]ed|looked (?:at|through)|gone through|searched)\b|"
    r"to (?:summari[sz]e|recap|sum up)\b[^,:]{0,60}:$|"
    r"i'?(?:ll| will| can| would|d)(?: be)? (?:happy|glad|try|do my best|help|explain|summari[sz]e|"
    r"answer|outline|break)|"
    r"i (?:am|was) able to answer\b|(?:(?:short|brief|final) )?(?:answer|summary|overview)(?: in [\w -]{1,40})?:$|"
    r"as an? (?:ai|artificial|large language|language model)\b|the answer (?:to [^:]{1,80} )?is:?$|"
    r"(?:the following|these) (?:is|are)\b.*:\s*$)",
    _I,
)
_CONNECTIVE = re.compile(rf"\s*(?:{CONNECTIVES}|note)[,:]\s*", _I)
_REPORTING = re.compile(
    r"^\s*(?:(?:is|are)\s+)?(?:why|that|(?:say|report|tell you|note|add|confirm|inform you|share|announce)"
    r"(?: that)?)\s+",
    _I,
)
COLONS = (":", "：")
_BEHIND_COLON = re.compile(r":(?!//)\W*[^\W\d_]")
_COMMA = re.compile(r"[,;:–—(]")
_GAP = re.compile(r"(?<=\w)\s{1,40}(?=[:,.!?])")  # where a citation was


def has_numbers(text: str) -> bool:
    """Whether an announcement holds a number that is not of its own: how long the answer is."""
    return any(map(str.isdigit, _OWN_NUMBERS.sub("", text) if len(text) <= _LONGEST else text))


def without_frame(text: str) -> str:
    """Leave out the courtesies before an announcement: "As requested, ", "Sure! In 85 words: "."""
    return text[found.end() :] if (found := _FRAME.match(text)) else text


def reason_to_skip(text: str, kind: str) -> str | None:
    """Why a sentence is not a claim, or None when it is one; `kind` is its block's."""
    if kind == "code":
        return "code"
    plain = text.replace("’", "'").strip(_MARGIN)
    if not any(character.isalnum() for character in plain):
        return "no_words"
    if kind == "table_row":
        return None
    if kind == "heading" and not _BARE_ANSWER.fullmatch(plain):
        return None if _headline_asserts(plain) else "heading"
    text = _GAP.sub("", without_citations(text))
    if not any(character.isalnum() for character in text):
        return "citation"
    plain = text.replace("’", "'").strip(_MARGIN)
    if asks(text):
        return None if told(text) else "question"
    if is_abstention(plain):
        return "abstention"
    bare = _CONNECTIVE.sub("", without_pointers(without_frame(plain)))
    return _manner(plain) or (_manner(bare) if bare != plain else None)


def is_bare_answer(text: str) -> bool:
    """Whether a sentence is a yes or a no, or says one by other words."""
    plain = text.replace("’", "'").strip(_MARGIN)
    return _BARE_ANSWER.fullmatch(plain) is not None or re.fullmatch(rf"{_ASSENT}[\s,.!]*", plain, _I) is not None


def is_yes(text: str) -> bool:
    """Whether a lone yes or no is a yes."""
    return re.match(r"no", text.strip(_MARGIN), _I) is None


def _headline_asserts(plain: str) -> bool:
    """Whether a heading is a statement set large rather than a title: by a verb, or a value behind a colon.

    "Closed in 2019" and "Designed by Ada" leave out only their subject.
    """
    if asks(plain) or plain.endswith(COLONS) or len(plain) > _LONGEST:
        return False
    tree = plain_tree(plain)
    is_passive = bool(tree.tokens) and tree.tag(tree.root) == "VBN" and bool(tree.of(tree.root, "obl"))
    return is_passive or asserts(plain) or _states_value(plain)


def _states_value(text: str) -> bool:
    """Whether a label has a value behind its colon: a number, a date, a yes or no, a property ("Price: free").

    "Step 1: …" only numbers what follows.
    """
    tree = plain_tree(text)
    colon = next((i for i, token in enumerate(tree.tokens) if token.text in COLONS), 0)
    value = [i for i in range(colon + 1, len(tree.tokens)) if tree.pos(i) != "PUNCT"]
    if not colon or not value or any(token.text[0].isdigit() for token in tree.tokens[:colon]):
        return False
    top = next((i for i in value if tree.head(i) not in value), value[0])
    if tree.of(top, "det"):
        return False
    return tree.pos(top) in {"NUM", "ADJ", "INTJ"} or tree.tag(top) == "VBN" or has_numbers(text)


def _manner(plain: str) -> str | None:
    """Talk about the conversation rather than about the world."""
    if len(plain) > _LONGEST:
        return None  # talk is short
    words = plain.split()
    if _BARE_ANSWER.fullmatch(plain):
        return "bare_answer"
    if has_numbers(plain):
        return None
    if (talk := _META.match(plain)) and not _says_more(plain) and not _goes_on(plain, talk.end()):
        return "meta"
    counts = any(character.isdigit() for character in plain)
    if not counts and _GREETING.fullmatch(plain) and len(words) <= 10 and not asserts(plain):
        return "greeting"
    if courtesy := courtesy_reason(plain):
        return courtesy
    is_short = not counts and len(words) <= _LONGEST_COURTESY
    return "instruction" if is_short and may_direct(plain) and is_direction(plain_tree(plain)) else None


def courtesy_reason(plain: str) -> str | None:
    """Why a courtesy is skipped: as a greeting where it names somebody, else as talk; None where it is none."""
    if len(plain.split()) <= _LONGEST_COURTESY and may_be_kind(plain) and is_courtesy(tree := plain_tree(plain)):
        return "greeting" if any(token.pos == "PROPN" for token in tree.tokens) else "meta"
    return None


def _goes_on(plain: str, end: int) -> bool:
    """Whether talk that ends at `end` goes on with a statement, or holds one behind a comma."""
    behind = _REPORTING.sub("", plain[end:])
    return asserts(behind) or any(asserts(part) for part in _COMMA.split(plain)[1:])


def _says_more(plain: str) -> bool:
    """Whether meta-talk is followed, behind its colon, by something of substance."""
    return _BEHIND_COLON.search(plain) is not None


def is_adverbial(text: str) -> bool:
    """Whether a text only says how something that is missing would be said: "In short:", "To conclude:"."""
    tree = plain_tree(text)
    return bool(tree.tokens) and tree.tag(0) in {"IN", "TO"} and all(one.pos != "PROPN" for one in tree.tokens)


def is_lead_in(text: str) -> bool:
    """Whether a sentence only announces the list below it ("The steps are as follows:")."""
    ended = _CONNECTIVE.sub("", without_pointers(without_frame(text.replace("’", "'").strip(" *_"))))
    if not ended.endswith(COLONS) or len(ended.split()) > 14:
        return False  # it says something of its own
    bare = ended[:-1].strip(_MARGIN)
    tree = plain_tree(bare)
    ahead = points_ahead(tree)
    if ahead and is_request(bare):
        return True  # "To clean the Orbit 3, follow these steps:"
    if has_numbers(ended):
        return False
    return set(statements(tree)) <= {tree.root} if ahead or is_cut_off(bare) else not asserts(bare)
