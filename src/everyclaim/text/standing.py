"""What a text mentions without asserting it: what it asks, supposes, denies, doubts or forbids.

"Is the moon made of cheese?", "It is a myth that the moon is made of cheese" and "If the moon were made of cheese, …"
hold every word of a claim that none of them supports. A `Stretch` is where such words stand. What is asked and then
answered with yes, what nobody doubts and what is no myth are asserted, and no stretch.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from sys import getsizeof
from typing import Literal, NamedTuple

from everyclaim.core.memory import remembered
from everyclaim.text.windows import sentence_spans

Standing = Literal["asks", "supposes", "denies", "doubts", "forbids"]


class Stretch(NamedTuple):
    """``text[start:end]`` is not asserted; the sentence is ``text[low:high]``, and `cue` are the words that say so."""

    standing: Standing
    start: int
    end: int
    low: int
    high: int
    cue: str


_ANY = re.compile(
    r"\?|n[’']t\b|\b(?:if|unless|whether|suppos\w*|assum\w*|imagine|pretend|were|wish\w*|never|n[o']t|don[’']t"
    r"|no|nobody|none|avoid"
    r"|refrain|prohibited|forbidden|false\w*|untrue|incorrect\w*|inaccurate\w*|wrong\w*|mistaken\w*"
    r"|erroneous\w*|myth\w*"
    r"|misconception\w*|misbelief\w*|hoax\w*|legend|lie|fallac\w*|nonsense|rumou?rs?|den\w+|disput\w*|refut\w*"
    r"|reject\w*"
    r"|debunk\w*|dispro\w*|dismiss\w*|doubt\w*|unlikely|unclear|unknown|uncertain|questionable|impossible|improbable"
    r"|contrary|once|formerly|previously|used|unproven|unfounded|baseless|as|tales?|insufficient|lack|scant"
    r"|little|in|on"
    r"|provided|rul\w+|rebut\w*|contradict\w*|superstitions?|canards?|conspiracy|fallac\w+|misunderstandings?"
    r"|discredited"
    r"|hypothetically|ask\w*|wonder\w*|questions?|questioned|without|neither|s[ck]eptical|let|foolishly|baselessly"
    r"|had|should|hardly|few|fail\w*|lied|dream\w*|hop(?:e|es|ed|ing)|fear\w*|want\w*|fiction|fake)\b",
    re.IGNORECASE,
)
_AUX = r"(?:is|are|was|were|am|do|does|did|has|have|had|can|could|will|would|shall|should|may|might|must)"
_POLAR = re.compile(
    rf"[\"“'(\s]*(?:(?:q|question|faq)\s*\d*\s*[:.)]\s*)?(?:(?:and|but|so|or|then|now)\s+)?{_AUX}(?:n[’']t)?\s",
    re.IGNORECASE,
)
_WH = re.compile(r"\b(?:who|whom|whose|what|when|where|why|which|how)\b", re.IGNORECASE)
_PARTED = re.compile(r"[,:;–—]|--|\s-\s|['‘“\"]")  # a headline that asks in its last part only
_WHO_SAYS = re.compile(r"\W*who\s+(?:says|said|would\s+say|claims|believes|thinks)\s", re.IGNORECASE)
_TELLING = re.compile(
    r"(?:,\s*(?:right|correct|no|yes|ok|okay|eh|innit|huh"
    rf"|{_AUX}(?:n[’']t)?\s+(?:not\s+)?(?:it|he|she|they|we|you|i|there|that|this))|did(?:n[’']t)?\s+you\s+know.*"
    r"|have(?:n[’']t)?\s+you\s+heard.*|who\s+knew.*)\s*\?",
    re.IGNORECASE,
)
_YES = re.compile(
    r"\s*[\"“'(–—-]*\s*(?:(?:a|answer)\s*\d*\s*[:.)]\s*)?(?:yes|yep|yeah|yup|indeed|correct|right|certainly"
    r"|absolutely|definitely|of course|"
    r"exactly|true|sure|affirmative|(?:it|they|he|she|we|you|i|there)\s+(?:certainly\s+|indeed\s+|really\s+)?"
    r"(?:is|are|was|were|does|do|did|has|have|had|can|could|will|would|should|may|must)\s*[.,;!])",
    re.IGNORECASE,
)
_NEGATED = re.compile(
    r"(?:\b(?:no|not|never|nobody|none|nothing|hardly|scarcely|cannot|without|neither|nor|few|no\s+one|impossible\s+to"
    r"|hard\s+to|difficult\s+to|beyond)|n[’']t)\s+(?:(?:a|an|the|any|be|been|is|at\s+all|longer|serious\w*|reasonable"
    r"|really|ever|common|mere|simply|just|who|seriously|can|could|would|will|has|have|ever)\s+){0,3}$",
    re.IGNORECASE,
)
_ADVERB = r"(?:\w+ly\s+|simply\s+|just\s+|still\s+|also\s+|quite\s+|now\s+|often\s+|long\s+|therefore\s+)*"
_BE = rf"(?:is|are|was|were|be|been|being|[’']s|seems?|remains?|remained|appears?)\s+{_ADVERB}"
_NOUN = (
    r"(?:claims?|beliefs?|idea|notion|rumou?rs?|theor(?:y|ies)|stor(?:y|ies)|assertions?|allegations?|suggestions?"
    r"|statements?|assumptions?|view|reports?|hypothes[ie]s|proposition|impression|legend|argument|charges?"
    r"|accusations?)"
)
_MYTH = (
    r"(?:myths?|misconceptions?|misbeliefs?|hoax(?:es)?|urban legends?|old wives[’'] tales?|fallac(?:y|ies)|lies?"
    r"|falsehoods?|misunderstandings?|nonsense|superstitions?|conspiracy theor(?:y|ies)|canards?)"
)
_BAD = (
    r"(?:false|untrue|incorrect|inaccurate|wrong|mistaken|erroneous|unfounded|baseless|discredited|debunked|disproved)"
)
_FALSELY = r"(?:wrongly|falsely|mistakenly|erroneously|incorrectly|inaccurately|wrongfully|foolishly|baselessly)"
_THINK = (
    r"(?:believ\w*|thinks?|thought|thinking|claim\w*|assum\w*|says?|said|saying|stat(?:e|es|ed|ing)|report(?:s|ed|ing)?"
    r"|assert\w*|suppos\w*|suggest\w*|conclud\w*|alleg\w*|insist\w*|maintain\w*|announc\w*|taught|told|wrote"
    r"|holds?|held)"
)
_DENY = (
    r"(?:den(?:y|ies|ied|ying)|disput(?:e|es|ed|ing)|refut(?:e|es|ed|ing)|reject(?:s|ed|ing)?|debunk(?:s|ed|ing)?"
    r"|dispro(?:ve|ves|ved|ven|ving)|dismiss(?:es|ed|ing)?|rebut(?:s|ted)?|contradict(?:s|ed)?|rul(?:e|es|ed"
    r"|ing)\s+out)"
)
_SHOW = (
    r"(?:show\w*|find|found|prove[ns]?|proved|demonstrat\w*|establish\w*|confirm\w*|verif\w*|say|said|mean|meant|imply"
    r"|implied|claim\w*|stat(?:e|ed)|suggest\w*|indicat\w*|believ\w*|think|thought|see|seen|conclude\w*"
    r"|guarantee\w*|know|known|agree\w*)"
)
_NOT = r"(?:not|never|cannot|(?:do|does|did|has|have|had|could|can|would|wo|ca|is|was|are|were)n[’']t)"
_MOD = r"(?:[\w’'-]+\s+){0,3}?"
_FALSE_PREDICATE = re.compile(
    rf"\s+(?:{_BE}|has\s+been\s+|have\s+been\s+|had\s+been\s+|turned\s+out\s+(?:to\s+be\s+)?|prov(?:ed|es|en"
    rf")\s+(?:to\s+be\s+)?){_ADVERB}"
    rf"(?:not\s+(?:true|correct|the\s+case|supported|so|accurate|right)|(?:a|an)\s+{_MOD}{_MYTH}|{_BAD}|refuted"
    rf"|rejected|dismissed|disputed|unproven|unsupported|withdrawn|{_MYTH})\b",
    re.IGNORECASE,
)


def _cue(standing: Standing, *parts: str) -> tuple[Standing, re.Pattern[str]]:
    return standing, re.compile("".join(parts), re.IGNORECASE)


# What stands behind one of these, up to the end of its clause, is not asserted.
_BEFORE = (
    _cue(
        "denies",
        rf"\b(?:it|that|this)\s*{_BE}(?:not\s+(?:true|correct|the\s+case|so|right|accurate)|impossible",
        rf"|{_BAD})(?:,[^,]{{1,40}},|\s+to\s+(?:say|claim|think|believe|suggest|assert|state))?\s+that\s",
    ),
    _cue(
        "denies",
        rf"\b{_BE}(?:a|an)\s+{_MOD}{_MYTH}\s*(?:,[^,]{{1,40}},\s*)?(?:that\s|to\s+(?:say|claim|think|believe",
        r"|suggest)\s+that\s)",
    ),
    _cue("denies", rf"\b{_BE}{_MYTH}\s+that\s"),
    _cue("denies", rf"\b(?:{_MYTH}|(?:{_BAD}|popular but {_BAD}|so-called)\s+{_NOUN})\s+that\s"),
    _cue("denies", rf"\bcontrary\s+to\s+{_MOD}(?:{_NOUN}|{_MYTH})\s+that\s"),
    _cue("denies", rf"\b{_FALSELY}\s+{_THINK}\s+(?:that\s)?"),
    _cue("denies", rf"\b{_THINK}(?:,\s*|\s+){_FALSELY}(?:,\s*|\s+)that\s"),
    _cue("denies", rf"\b{_BE}(?:{_BAD}|mistaken)\s+(?:to|when\s+\w+|in)\s+{_THINK}\s+(?:that\s)?"),
    _cue("denies", rf"\b{_DENY}\s+(?:{_MOD}(?:{_NOUN}|fact|possibility)\s+)?that\s"),
    _cue(
        "denies",
        r"\b(?:once|formerly|previously|used\s+to\s+be)\s+(?:wrongly\s+|falsely\s+|mistakenly\s+",
        r"|erroneously\s+|widely\s+|commonly\s+)?(?:thought|believed|assumed|claimed)\s+that\s",
    ),
    _cue("denies", r"\bused\s+to\s+(?:think|believe|assume|say|claim)\s+(?:that\s)?"),
    _cue(
        "doubts",
        rf"\b(?:no|little|any|without|lack\s+of|insufficient|scant)\s+{_MOD}(?:evidence|proof|indication|sign",
        r"|record|reason\s+to\s+(?:believe|think|assume)|data|guarantee|mention|confirmation|suggestion",
        r")\s+(?:(?:was|were|has\s+been|is|exists?|could\s+be)\s+(?:\w+\s+)?)?(?:to\s+(?:show|suggest|prove",
        r"|indicate|support)\s+|showing\s+|suggesting\s+)?that\s",
    ),
    _cue(
        "doubts",
        r"\b(?:nobody|no\s+one|none|neither\s+\w+|no\s+(?:study|studies|scientist|scientists|expert|experts",
        rf"|source|sources|research|trial|trials|witness|data))\s+{_MOD}{_SHOW}\s+that\s",
    ),
    _cue("denies", rf"\baccording\s+to\s+{_MOD}{_MYTH},\s"),
    _cue("denies", r"\b(?:lied|lies|lying|pretend(?:s|ed|ing)?)\s+(?:\w+\s+)?that\s"),
    _cue("doubts", rf"\b(?:hardly\s+any(?:one|body)|few|scarcely\s+any(?:one|body))\s+{_MOD}{_THINK}\s+that\s"),
    _cue("doubts", rf"\b(?:fail(?:s|ed|ing)?|unable)\s+to\s+{_SHOW}\s+(?:that|whether|if)\s"),
    _cue("supposes", r"\b(?:dream(?:s|ed|t|ing)?|hop(?:e|es|ed|ing)|fear(?:s|ed|ing)?)\s+that\s"),
    _cue("supposes", r"^\W*(?:should|had)\s(?!be\b|have\b|not\b)(?=[^,;:.?]{1,120},)"),
    _cue("doubts", rf"\b{_NOT}\s+(?:yet\s+|been\s+|be\s+|actually\s+|ever\s+|have\s+)*{_SHOW}\s+(?:that|whether|if)\s"),
    _cue(
        "doubts",
        rf"\b{_NOT}\s+(?:yet\s+|been\s+|at\s+all\s+)*(?:clear|certain|sure|known|proven|established|confirmed",
        r"|obvious|evident|decided)\s+(?:that|whether|if)\s",
    ),
    _cue(
        "doubts",
        r"\b(?:doubts?|doubted|doubting|doubtful|unlikely|unclear|unknown|uncertain|questionable|improbable",
        r"|unproven|questions?|questioned|sceptical|skeptical)\s+(?:that|whether|if)\s",
    ),
    _cue("asks", r"\bwhether\s(?:or\s+not\s)?"),
    _cue("asks", r"\b(?:ask(?:s|ed|ing)?|wonder(?:s|ed|ing)?)\s+(?:\w+\s+)?if\s"),
    _cue(
        "supposes",
        r"\b(?:suppose|supposing|assume|assuming|imagine|imagining|pretend|pretending|let\s+us\s+(?:suppose",
        r"|assume)|let[’']s\s+(?:suppose|assume|imagine|pretend|say)|what\s+if|if\s+only|wish(?:es|ed)?",
        r"|hypothetically,?|as\s+if|as\s+though)\s(?:for\s+a\s+moment\s",
        r"|for\s+the\s+sake\s+of\s+argument,?\s)?(?:that\s)?",
    ),
    _cue(
        "supposes",
        r"(?<!even )(?<!as )(?<!only )\b(?:if|unless|in\s+case|provided\s+that|in\s+the\s+event\s+that",
        r"|on\s+condition\s+that)\s(?!not\b|any\b|so\b|necessary\b|possible\b|needed\b|only\b)",
    ),
)
# "Myth: …", "… This is false.", "…, which is untrue"
_LABELLED = re.compile(
    rf"[\"“(*•#\s-]*(?:{_MYTH}|false|untrue|fake|fiction|wrong|incorrect)\s*(?:#?\d+)?\s*[:–—]\s*", re.IGNORECASE
)
_CALLED_FALSE = re.compile(
    rf"[\"“(*•\s-]*(?:(?:but|however|yet|in\s+fact),?\s+)?(?:(?:this|that|the|such)\s+(?:\w+\s+)?|it\s+){_BE}"
    rf"(?:not\s+(?:true|correct|the\s+case|so|accurate)|(?:a|an)\s+{_MOD}{_MYTH}|{_BAD}|{_MYTH})\s*[.!,;]"
    rf"|[\"“(*•\s-]*(?:verdict|rating|ruling|answer|fact[- ]check|our\s+verdict)\s*[:–—]\s*(?:\w+\s+)?(?:{_BAD}"
    rf"|no|{_MYTH}|fake)\b"
    r"|[\"“(*•\s-]*(?:wrong|false|untrue|incorrect|nonsense|not\s+true)\s*[.!]",
    re.IGNORECASE,
)
_TRAILING = re.compile(
    rf",\s+(?:which|but\s+(?:this|that|it))\s+{_BE}(?:not\s+(?:true|correct|the\s+case|so)|(?:a|an"
    rf")\s+{_MOD}{_MYTH}|{_BAD}|{_MYTH})\s*[.!]?\s*$",
    re.IGNORECASE,
)
_FORBIDS = re.compile(
    r"[\"“(*•\s-]*(?:(?:please|warning|caution|important|note|danger)\s*[:!,]?\s*)?(?:never(?!\s+(?:has|have"
    r"|had|did|was|were|before|again|mind))"
    r"|do\s+not|don[’']t|avoid|refrain\s+from|it\s+is\s+(?:strictly\s+)?(?:forbidden|prohibited)\s+to)\s+",
    re.IGNORECASE,
)
_CLAUSE_END = re.compile(
    r"\s*[;:–—]\s|\s*,\s+(?:but|although|though|however|because|since|while|whereas|yet|which|according|says?"
    r"|said|as)\b"
    r"|\s+(?:but|although|though|however|because|whereas)\s|\s*[.!?…\"”)]*\s*$",
    re.IGNORECASE,
)
_OPENING = frozenset({"should", "had", "if", "unless", "in", "provided", "on", "contrary", "whether"})
_COMMA = re.compile(r"\s*,\s|\s+then\s")
_COUNTERFACTUAL = re.compile(
    r"^\W*(?:\w+,?\s+){0,2}if\b[^;:.!?]{1,150}?\b(?:were|was|had|could)\b[^;:.!?]{1,150}\b(?:would|could|might)\b"
    r"|^[^;:.!?,]{1,150}\b(?:would|could|might)\b[^;:.!?]{1,100}\bif\b[^;:.!?]{1,100}\b(?:were|had|was)\b"
    r"|^\W*(?:were|had)\s+(?:the|a|an|this|that|it|he|she|they|we|you|i"
    r"|[A-Z]\w+)\b[^;:.!?]*,[^;:.!?]*\b(?:would|could|might)\b",
    re.IGNORECASE,
)
_LONGEST = 600  # characters of a sentence that is read


def _weight(found: tuple[Stretch, ...], text: str) -> int:
    return getsizeof(text) + 250 * len(found)


@remembered(4_000_000, _weight)
def unasserted(text: str) -> tuple[Stretch, ...]:
    """Find the stretches of a text that it does not assert, in order. English alone is understood."""
    if not _ANY.search(text):
        return ()
    spans = sentence_spans(text)
    found: list[Stretch] = []
    for number, (low, high) in enumerate(spans):
        sentence = text[low:high]
        after = text[slice(*spans[number + 1])] if number + 1 < len(spans) else ""
        if len(sentence) > _LONGEST or not (_ANY.search(sentence) or _CALLED_FALSE.match(after)):
            continue
        found += [
            Stretch(standing, low + start, low + end, low, high, cue)
            for standing, start, end, cue in _stretches(sentence, after)
        ]
    return tuple(found)


def _stretches(sentence: str, after: str) -> Iterator[tuple[Standing, int, int, str]]:
    if sentence.rstrip("\"”’') \n").endswith("?"):
        if _asks(sentence) and not _YES.match(after):
            yield "asks", 0, len(sentence), ""
        return
    labelled, trailing = _LABELLED.match(sentence), _TRAILING.search(sentence)
    if labelled or trailing or _CALLED_FALSE.match(after):
        start, end = labelled.end() if labelled else 0, trailing.start() if trailing else len(sentence)
        yield "denies", start, end, ""
        return
    if _COUNTERFACTUAL.search(sentence):
        yield "supposes", 0, len(sentence), ""
        return
    if found := _FORBIDS.match(sentence):
        yield "forbids", found.end(), _end(sentence, found.end()), found[0]
        return
    yield from _false_claims(sentence)
    for standing, pattern in _BEFORE:
        for found in pattern.finditer(sentence):
            first = found[0].split()[0].lower()
            stop = _antecedent_end(sentence, found) if first in _OPENING else _end(sentence, found.end())
            if stop is None:
                continue
            if standing in {"asks", "supposes"} or not _NEGATED.search(sentence[: found.start()]):
                yield standing, found.end(), stop, found[0]


def _asks(sentence: str) -> bool:
    """Whether a question asks if something is so; one for who or when takes the rest for granted."""
    if _TELLING.search(sentence):
        return False
    return bool(_POLAR.match(sentence) or _WHO_SAYS.match(sentence)) or (
        not _WH.search(sentence) and not _PARTED.search(sentence)
    )


def _false_claims(sentence: str) -> Iterator[tuple[Standing, int, int, str]]:
    """Find what stands between "the claim that" and "is false"."""
    for found in re.finditer(rf"\b{_NOUN}\s+that\s", sentence, re.IGNORECASE):
        predicate = _FALSE_PREDICATE.search(sentence, found.end())
        if predicate:
            yield "denies", found.end(), predicate.start(), found[0] + predicate[0]
    opening = re.match(r"\W*that\s", sentence, re.IGNORECASE)
    if opening and (predicate := _FALSE_PREDICATE.search(sentence, opening.end())):
        yield "denies", opening.end(), predicate.start(), predicate[0]


def _end(sentence: str, start: int) -> int:
    found = _CLAUSE_END.search(sentence, start)
    return found.start() if found else len(sentence)


def _antecedent_end(sentence: str, cue: re.Match[str]) -> int | None:
    """Find where a condition ends; None for one that opens a sentence and has no comma behind it."""
    found = _COMMA.search(sentence, cue.end())
    before = re.split(r"[,:;]", sentence[: cue.start()])[-1].split()
    if found is None and len(before) < 2 and not cue[0].lower().startswith("whether"):
        return None
    return min(found.start() if found else len(sentence), _end(sentence, cue.end()))


_HEDGED = re.compile(
    r"\b(?:if|unless|whether|when\w*|would|could|(?-i:may)|might|suppos\w*|assum\w*|in case|provided|imagin\w*"
    r"|hypothe\w*|wish\w*)\b|\?",
    re.IGNORECASE,
)
_AGAINST = re.compile(
    rf"\b(?:not|no|never|nobody|none|nothing|neither|nor|without|cannot|unable|{_MYTH}|{_BAD}|{_FALSELY}"
    rf"|{_DENY}|doubt\w*"
    r"|unlikely|unclear|unknown|uncertain|unproven|impossible|improbable|questionable|whether|avoid\w*"
    r"|refrain\w*|forb[ia]d\w*"
    r"|prohibit\w*|banned|contrary|once|formerly|previously|used to|disputed?|controvers\w*|alleged\w*"
    r"|rumou?r\w*|lack\w*"
    r"|fail\w*|unsafe|dangerous|harmful|must not|warn\w*)\b|n[’']t\b",
    re.IGNORECASE,
)


def says_so_itself(claim: str, standing: Standing) -> bool:
    """Whether a claim does not assert its words either, so that it may well say the same as what stands so."""
    against = standing != "supposes" and bool(_AGAINST.search(claim))
    return against or (standing in {"asks", "supposes"} and bool(_HEDGED.search(claim)))
