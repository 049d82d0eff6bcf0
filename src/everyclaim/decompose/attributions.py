"""Who is said to have said it: a claim that drops the speaker claims more than its sentence does.

"Police said the road was closed" does not say that the road was closed. What is taken for a fact by who reports it
("Police confirmed that …") may stand alone, and so may what a source says that the answer is about ("The article says
that …"): that is talk about the source.
"""

from __future__ import annotations

import re

from everyclaim.decompose.grammar import BE
from everyclaim.text.pointers import SOURCE
from everyclaim.text.speech import TOLD_VERBS, VERBS, Report, reports
from everyclaim.text.tagger import FINITE, tag
from everyclaim.text.tokens import content_stems, stem, word_set

_FACTIVE = word_set(
    """
    found finds find shows showed show revealed reveals reveal indicated indicates indicate demonstrated demonstrates
    demonstrate discovered observed observes noted notes note mentioned mentions mention confirmed confirms confirm
    admitted admits acknowledged acknowledges acknowledge recalled agreed agrees explained explains explain announced
    announces informed informs reminded reminds emphasized emphasised emphasizes emphasize emphasise emphasises stressed
    stresses stress reiterated hold holds held
    """
)
_NO_SPEAKER = word_set("i we you it this that these those which one")
_READ = re.compile(  # what one reads: the source itself, without a name
    rf"(?:{SOURCE}|(?:(?:the|this|these|its|an?|both|all)\s)?(?:[a-z]+\s){{0,2}}?(?:stud(?:y|ies)|papers?|reports?|abstracts?|"
    r"reviews?|polic(?:y|ies)|terms|notices?|manuals?|guides?|guidelines?|pages?|websites?|sites?|posts?|stor(?:y|ies)|authors?|"
    r"summar(?:y|ies)|descriptions?|listings?|entr(?:y|ies)|tables?|clauses?|sections?|contracts?|agreements?|faqs?)"
    r"(?:\s\d+)?)",
)
_HEARSAY = {stem("reportedly"), stem("allegedly"), stem("alleged"), stem("supposedly"), stem("purportedly")}
_ATTRIBUTING = {stem(verb) for verb in VERBS} | {
    stem(word)
    for word in word_set(
        """
        according statement opinion view belief account accusation described called cited quoted deemed considered seen
        regarded praised criticized word words accused
        """
    )
}
_ENDS = re.compile(
    r";|[,–—]\s+(?:and|but|while|although|though|which|who|whom|where|whereas|so|yet|because|as|since|with|when|after|before|"
    r"if|or|\w+ing)\b"
)
_BEHIND_BE = 5  # words
_LONGEST = 2000  # characters; what is longer is no sentence
_MOST = 16  # reports of one sentence
_LEAST = 2  # words of what was said that a claim says again


def unattributed(claim: str, sentence: str) -> list[str]:
    """Return the speakers, with the verb, whose words a claim repeats as if nobody had said them."""
    if len(sentence) > _LONGEST or len(claim) > _LONGEST:
        return []
    told = [one for one in reports(sentence)[:_MOST] if _says(one, sentence) and _speaks(one.speaker)]
    if not told or reports(claim):
        return []
    mine = content_stems(claim)
    return [_named(report) for report in told if _repeats(mine, report, sentence)]


def _says(report: Report, sentence: str) -> bool:
    """Whether somebody said something: not "tells the story", nor what is a fact to the writer as well."""
    verb = report.verb.lower()
    between = sentence[report.speaker_span.end : report.content_span.start]
    return verb not in _FACTIVE and (verb not in TOLD_VERBS or re.search(r"\bthat\b|[:\"“‘']", between) is not None)


def _speaks(speaker: str) -> bool:
    """Whether somebody is named or meant, rather than the source that is read."""
    plain = re.sub(r"^[A-Z](?=[a-z]+\b)", lambda first: first.group().lower(), speaker)
    return speaker.lower() not in _NO_SPEAKER and _READ.fullmatch(plain) is None


def _repeats(mine: frozenset[str], report: Report, sentence: str) -> bool:
    """Whether a claim says what somebody is reported to have said, rather than what stands around it."""
    first, last = _nearest(report, sentence)
    said = content_stems(sentence[first:last])
    around = content_stems(f"{sentence[:first]} {sentence[last:]}") - said - content_stems(report.speaker)
    own = mine & said
    if len(own) < _LEAST or len(own) <= len(mine & around):
        return False
    if (
        mine & _HEARSAY
        or (mine - said) & _ATTRIBUTING
        or (mine & _ATTRIBUTING and mine & content_stems(report.speaker))
    ):
        return False
    return bool(mine & _predicates(sentence[first:last]))


def _predicates(content: str) -> frozenset[str]:
    """Return what a clause says of what it names: its verbs, and what stands behind a form of "be"; its names alone,
    as in "the striker Muto is wanted" of "Chelsea made a bid for the striker Muto", say nothing of what was said.
    """
    words = tag(content)
    if not any(word.tag in FINITE for word in words):
        return frozenset()
    found = {stem(word.low) for word in words if word.tag[0] == "V"}
    for place, word in enumerate(words):
        if word.low in BE:
            found |= {stem(other.low) for other in words[place + 1 : place + 1 + _BEHIND_BE]}
    return frozenset(found)


def _nearest(report: Report, sentence: str) -> tuple[int, int]:
    """Narrow what was said to the clause next to the reporting words: the others may be the writer's."""
    first, last = report.content_span
    cuts = list(_ENDS.finditer(sentence, first, last))
    if not cuts:
        return first, last
    if report.speaker_span.start < first:
        return first, cuts[0].start()
    return cuts[-1].end(), last


def _named(report: Report) -> str:
    return f"{report.verb} {report.speaker}" if report.verb == "according to" else f"{report.speaker} {report.verb}"
