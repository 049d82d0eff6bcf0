"""Questions that tell: "Did you know that you may drink it?", "It was recalled, wasn't it?", "It was recalled?"."""

from __future__ import annotations

import re

from everyclaim.decompose.assertions import asserts, tree_of
from everyclaim.decompose.conjuncts import HELPERS
from everyclaim.text.language import ENGLISH, language_of
from everyclaim.text.segment import sentences
from everyclaim.text.tokens import capital

_I = re.IGNORECASE | re.DOTALL
_LONGEST = 2000  # characters
_ASKED = "?？؟﹖⁇"
_FACT = (
    r"(?:true|great|clear|obvious|known|well known|the case|amazing|interesting|good|nice|wonderful|a fact|strange|odd)"
)
_INTRODUCED = re.compile(
    r"(?:(?:and|but|so|well|now|also|oh),?\s+)?(?:"
    r"(?:did|do|didn't|don't) (?:you|we|they|people) (?:already |also |even |really )?"
    r"(?:know|realise|realize|notice|hear|see|remember|recall|agree)"
    r"|(?:are|were|aren't) you (?:already |also )?aware(?: of the fact)?"
    r"|have(?:n't)? you (?:ever )?(?:heard|noticed|read|seen)"
    rf"|(?:isn't|is|wasn't|was) it (?:not )?(?:also |just |quite |really |so )?{_FACT}"
    r"|is there any doubt|(?:can|could|would) you (?:believe|imagine|have guessed|have thought)"
    r"|who (?:knew|would have (?:thought|guessed)|could have (?:known|guessed)|doesn't know)"
    r"|what if i told you|would you (?:like|want|care) to (?:know|hear)|what about the fact"
    r"|(?:should|shall|may|can) i (?:tell you|mention|add)"
    r"|(?:doesn't|does|didn't|did) (?:that|this|it) (?:mean|show|prove|tell us|suggest)"
    r"|wussten sie|wusstest du|wissen sie|saviez-vous|savais-tu|¿?sab[ií]as?|¿?sab[ií]a usted|lo sapevi|sapevi|sapevate"
    r"|(?:você )?sabia|wist (?:je|u)|czy wie(?:sz|cie|dzia\w+)|visste (?:du|ni)|vidste du|věděli jste|tiesit(?:kö|tekö)"
    r")(?:,?\s+(?P<that>that|dass|qu(?:e|')|che|dat|że|at|att|že|että))?[,:]?\s*(?P<said>.+)",
    _I,
)
_TAGGED = re.compile(
    r"(?P<said>.{8,}?)[,;–—-]\s*(?:right|correct|no|yes|okay|ok|eh|huh|innit|true|you know|don't you think"
    r"|(?:is|are|was|were|do|does|did|can|could|will|would|should|may|might|must|has|have|had|ca|wo|ai)(?:n't)? "
    r"(?:it|you|they|he|she|we|there|i|this|that)(?: not)?"
    r"|n'est-ce pas|nicht wahr|oder|gell|verdad|¿verdad|¿no|vero|certo|né|não é|toch|prawda|eller hur|ikke sandt)\s*",
    _I,
)
_NEGATED = re.compile(
    r"(?:is|are|was|were|does|has|have|ca|wo|should|could|would|did)(?:n't|n’t) "
    r"(?!you\b)(?!.*\b(?:you|your|question|answer)\b)",
    _I,
)
_ASKING = re.compile(
    r"(?:what|which|who|whom|whose|when|where|why|how|if|whether|about|of|of the|any|anything|is|are|was|were|do|does|"
    r"did|can|could|will|would|should|may|might|must|has|have|had|am|shall)\b",
    _I,
)
_OTHER_SIDE = {
    "i": "you", "me": "you", "my": "your", "mine": "yours", "we": "you", "us": "you", "our": "your", "ours": "yours",
    "you": "we", "your": "our", "yours": "ours",
}  # fmt: skip
_OWN = re.compile(rf"\b(?:{'|'.join(_OTHER_SIDE)})\b(?!')", re.IGNORECASE)
_SPLIT = re.compile(r"[,;:–—]\s*|\s-\s")


def asks(text: str) -> bool:
    """Whether a sentence ends as a question does; one that only quotes a question tells."""
    ended = text.rstrip(" \t\n*_)]")
    if ended.endswith(tuple(_ASKED)):
        return True
    inner = ended.rstrip("\"'”’»“")
    return inner != ended and inner.rstrip().endswith(tuple(_ASKED)) and text.lstrip()[:1] in "\"'“‘«„"


def told(text: str) -> tuple[int, int] | None:
    """Where a question tells something, as offsets; None when it only asks."""
    if len(text) > _LONGEST:
        return 0, len(text)  # nobody asks at such length
    start = len(text) - len(text.lstrip(" \t\n\"'“‘«„*_(¿"))
    end = len(text.rstrip(" \t\n\"'”’»“*_)]!" + _ASKED))
    inner = text[start:end].replace("’", "'")
    introduced = _INTRODUCED.fullmatch(inner)
    if (
        introduced is not None
        and not _ASKING.match(introduced["said"])
        and (introduced["that"] or asserts(introduced["said"]))
    ):
        return start + introduced.start("said"), end
    tagged = _TAGGED.fullmatch(inner)
    if tagged is not None and not _ASKING.match(inner) and asserts(tagged["said"]):
        return start, start + tagged.end("said")
    if inner.count("(") > inner.count(")"):
        end = len(text.rstrip())  # "It was recalled (why?)"
    if _NEGATED.match(inner):
        return start, end
    if _ASKING.match(inner) is None and introduced is None:
        return (start, end) if language_of(inner) in {"", ENGLISH} and asserts(inner) else None
    conditional = re.match(r"(?:if|when|whenever|unless|once)\b", inner, _I)
    for cut in _SPLIT.finditer(inner):
        rest = inner[cut.end() :]
        if not conditional and not _ASKING.match(rest) and asserts(_SPLIT.split(rest)[0]):
            return start, end
    return None


def answered(question: str, *, yes: bool) -> str:
    """Say what a lone yes or no says to a question ("Is it safe?": "It is not safe."); empty where it says nothing.

    Of several sentences the last question is answered, and by the other side: "Will I get it?" by "You will get it."
    """
    if len(question) > _LONGEST or language_of(question) not in {"", ENGLISH}:
        return ""
    asked = [question[one.start : one.end] for one in sentences(question, ENGLISH)]
    question = next((text for text in reversed(asked) if asks(text)), question).strip()
    tree = tree_of(question)
    subject = tree.subject(tree.root) if tree.tokens else None
    helper = next((i for i in tree.kids[tree.root] if tree.relation(i) in HELPERS), tree.root) if tree.tokens else 0
    if subject is None or tree.tokens[helper].tag not in {"MD", "VBZ", "VBP", "VBD"}:
        return ""
    named = tree.under(subject)
    if [*range(named[0])] != [helper] or named != [*range(named[0], named[-1] + 1)]:
        return ""  # more than the verb stands in front, or the subject is parted
    starts, ends = [token.start for token in tree.tokens], [token.end for token in tree.tokens]
    told = question[starts[named[0]] : ends[named[-1]]]
    rest = question[ends[named[-1]] :].rstrip(" " + _ASKED)
    if rest.startswith("-"):  # "the Grande dishwasher-safe": the parts of a word stay together
        told, _, first = told.rpartition(" ")
        rest = f" {first}{rest}"
    verb = question[starts[helper] : ends[helper]].lower()
    verb = {"am": "are", "was": "were"}.get(verb, verb) if told.lower() == "i" else verb
    told, rest = (_OWN.sub(lambda found: _OTHER_SIDE[found.group().lower()], part) for part in (told, rest))
    return f"{capital(told)} {verb}{'' if yes else ' not'}{rest}."
