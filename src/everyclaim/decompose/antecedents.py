"""What a pronoun at the beginning of a sentence stands for, by the grammar of the sentences and turns before."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import NamedTuple

from everyclaim.core.types import TURNS_BEFORE, Claim, Decomposition, Sample
from everyclaim.decompose.citing import cited_beside
from everyclaim.decompose.repairs import parsed
from everyclaim.models.local.tree import NOMINAL, THINGS, Tree
from everyclaim.text.segment import sentences
from everyclaim.text.sources import CONNECTIVES
from everyclaim.text.tokens import capital

_CONNECTIVE = re.compile(
    rf"(?:{CONNECTIVES}|but|and)\b(?:,\s*|\s+(?=(?:the|a|an|it|he|she|they|this|in|its)\b)|(?<=^but)\s+|(?<=^and)\s+)",
    re.IGNORECASE,
)
PRONOUN = re.compile(
    r"(?P<subject>it|he|she|they)(?=\s+[a-z])|(?P<owner>its|his|her|their)\s+|(?:this|that|these|those|such|both)\b",
    re.IGNORECASE,
)
_OWNED_TWICE = re.compile(r"(?<=['’]s)['’]s\b")  # "Denny's's"
_NO_SUBJECT = frozenset({"PRP", "EX", "WDT", "WP", "RB"})
_ASKED = frozenset({"what", "which", "who", "whose", "that"})
_POINTING = frozenset({"this", "that", "these", "those", "both"})
_ROLES = frozenset({"nsubj", "obj", "iobj", "conj", "appos"})
_WITHIN = frozenset({"acl", "nmod"})  # what stands in these is not what a sentence is about
_LONGEST_SUBJECT = 60  # characters; a longer one is not repeated
_NAMED = frozenset({"nsubj", "obj", "iobj", "obl", "nmod"})
_CLAIMS_BEFORE = 12  # of the same answer
_SEVERAL = frozenset({"they", "their"})
_PEOPLE = frozenset({"he", "she", "his", "her"})
_OWNERS = {"its": "it", "their": "they", "his": "he", "her": "she"}
_OBJECTS = {"it": "it", "they": "them", "he": "him", "she": "her"}
_FORMS = frozenset({*_OWNERS, *_OBJECTS, *_OBJECTS.values()})


def unconnected(text: str) -> str:
    """Leave out the word that ties a sentence to the one before: "However, the pump leaks."."""
    found = _CONNECTIVE.match(text)
    return capital(text[found.end() :]) if found else text


def named(text: str, pronoun: re.Match[str], before: Iterable[str]) -> str:
    """Put the subject of the nearest sentence before in the place of a pronoun; empty where none fits."""
    subject = antecedent(pronoun, before)
    return put(subject, text, pronoun) if subject else ""


def antecedent(pronoun: re.Match[str], before: Iterable[str], *, is_topic_enough: bool = False) -> str:
    """Return the subject of the nearest sentence before that a pronoun may stand for; empty where none fits.

    What a sentence is about otherwise ("Tell me about the Classica.", "And the Grande?") is one where it is enough.
    """
    word = _word_of(pronoun)
    for sentence in before if word else ():
        found = _subject(sentence, word) or (is_topic_enough and _topic(sentence, word))
        if found or (is_topic_enough and _turns_elsewhere(sentence)):
            return found or ""
    return ""


class Spoken(NamedTuple):
    """What was spoken of: nouns of the sentences before, in lower case, nouns of the question, the pronoun that the
    sentence right before had its subject for, the question's sentences where nothing was said before, and whom "he" and
    "she" stood for last.
    """

    nouns: Collection[str] = ()
    asked: Collection[str] = ()
    pronoun: str = ""
    questions: Sequence[str] = ()
    people: Mapping[str, str] = MappingProxyType({})


def pronoun_of(text: str) -> str:
    """The pronoun that is a text's, as `completed` reads it; empty where there is none."""
    return _word_of(_first_pronoun(text))


def _word_of(pronoun: re.Match[str] | None) -> str:
    return (pronoun["subject"] or pronoun["owner"] or "").lower() if pronoun else ""


def completed(text: str, before: str, sentence: str, spoken: Spoken) -> str:
    """Put the subject of the sentence before in the place of the pronoun that is a text's, if it is certain.

    It is where nothing else in that sentence could be meant: no other subject, object or agent of the same number, and
    nothing from before, of whose nouns the subject is one; where the text, or the `sentence` it is of, goes on with
    "also"; and where the rest only adds to what the question is about, or what the same pronoun stood for before.
    """
    pronoun = _first_pronoun(text)
    word = _word_of(pronoun)
    if not pronoun or not word or _means_nothing(text[pronoun.start() :]):
        return text
    word = _OWNERS.get(word, word)
    if spoken.questions:
        name = _asked_about(spoken.questions, word)
    elif not before or ":" in before:
        name = ""
    else:
        asked = {*spoken.asked, *(nouns_of(before) if word == _OWNERS.get(spoken.pronoun, spoken.pronoun) else ())}
        is_sure = _goes_on(sentence) or not _has_rival(before, word, spoken.nouns, asked)
        name = (is_sure and _subject(before, word, is_spoken_of=True)) or spoken.people.get(word, "")
    return put(name, text, pronoun) if name else text


def spoken_to(people: Mapping[str, str], sentence: str, told: str) -> dict[str, str]:
    """Whom "he" and "she" stand for behind a `sentence`, `told` with names: until others are named, the same."""
    pronoun = _word_of(_first_pronoun(unconnected(sentence)))
    if pronoun in {"he", "she"}:
        name = "" if told == sentence else _subject(told, pronoun)
        return {pronoun: name} if name else {}
    tree = parsed(told)
    subject = tree.subject(tree.root) if tree.tokens else None
    if subject is not None and tree.low(subject) in {"he", "she"}:
        return {}
    new = {tree.text(i) for i in range(len(tree.tokens)) if tree.pos(i) == "PROPN" and tree.kind(i) in _ROLES}
    return {word: name for word, name in people.items() if new <= {*name.split()}}


def _asked_about(questions: Sequence[str], pronoun: str) -> str:
    """What a question is about, where a pronoun after it can stand for nothing else in it; else empty."""
    people, several, found = pronoun in _PEOPLE, pronoun in _SEVERAL, list[str]()
    for question in questions:
        tree = parsed(question)
        for place, token in enumerate(tree.tokens):
            if tree.low(place) in _FORMS and token.relation != "expl" and not found:
                return ""  # "What does she do?"
            named = token.pos == "PROPN" or (token.pos == "NOUN" and (not people or tree.kind(place) == "nsubj"))
            named &= tree.kind(place) not in {"compound", "flat"} and tree.tag(tree.first(place)) != "WRB"
            named &= token.relation not in {"nmod:desc", "nmod:poss"}  # of "Rosa's bar" the bar is spoken of
            if named and not tree.tells_when(place) and tree.is_plural_alone(place) is not (not several):
                found.append(_phrase(question, tree, place, pronoun, alone=True) if _is_asked_of(tree, place) else "")
    return found[0] if len(found) == 1 else ""


def _is_asked_of(tree: Tree, place: int) -> bool:
    """Whether a question tells something of a noun: it is a subject, or what somebody speaks about."""
    above = tree.head(place)
    owned = any(tree.tag(i) == "PRP$" for i in tree.under(place, without=tree.conjuncts(place)))
    if owned or (above >= 0 and tree.says(above, "nsubj", *_ASKED, "who") and tree.pos(above) == "VERB"):
        return False
    if tree.kind(place) == "nsubj":
        return True
    if above < 0:
        return tree.says(place, "nsubj", "who", "what")
    return tree.says(place, "case", "about") and tree.pos(above) not in THINGS


def _first_pronoun(text: str) -> re.Match[str] | None:
    """The pronoun that a text begins with, or that is its subject behind a time or place: "In 1938 she fled"."""
    if (pronoun := PRONOUN.match(text)) or not text:
        return pronoun
    tree = parsed(text)
    subject = tree.subject(tree.root)
    if (
        subject is None
        or tree.tag(subject) != "PRP"
        or any(tree.tag(i) == "PRP" or tree.is_finite(i) for i in range(subject))
    ):
        return None
    return PRONOUN.match(text, tree.tokens[subject].start)


def _goes_on(sentence: str) -> bool:
    """Whether a sentence goes on with its subject: "Rosa has a bar. It also has a pool."."""
    tree = parsed(sentence)
    return tree.says(tree.root, "advmod", "also")


def begins_alike(text: str, sentence: str) -> bool:
    """Whether a text begins with the word that its sentence does, or with the pronoun that it speaks of first."""
    first, tree = text.partition(" ")[0], parsed(sentence)
    subject = tree.subject(tree.root)
    if first == sentence.partition(" ")[0] or (subject is not None and tree.low(subject) == first.lower()):
        return True
    nouns = (token for token in tree.tokens if token.pos in NOMINAL)
    spoken_of = next(nouns, None)
    return spoken_of is not None and spoken_of.tag.startswith("PRP") and spoken_of.text == first.lower()


def described(sentence: str, written: str) -> dict[str, str]:
    """What a sentence about something named calls it, with its name: "Rosa is a café …", "Rosa Hall opened …".

    Of one `written` otherwise, with a pronoun for the name, only "It is a café …" tells more than the one before.

    A word of the name stands for it only where it begins a sentence: of "Rosa Pizza" not every pizza is meant.
    """
    if sentence != written and not (plain := parsed(written)).of(plain.root, "cop"):
        return {}
    tree = parsed(sentence)
    tokens, subject = tree.tokens, tree.subject(tree.root)
    if subject is None or not tokens[subject].text[:1].isupper():
        return {}
    name = _subject(sentence, "it").partition(",")[0]
    nouns = [f"the {tree.low(i)}" for i in [subject, *tree.of(subject, "compound", "flat")]]
    if tokens[subject].pos != "PROPN" and (tree.of(subject, "det") or not tree.of(subject, "compound", "nmod:poss")):
        return {}  # "Guests like it"
    indefinite = tree.is_a(tree.root)
    if indefinite and tree.of(tree.root, "cop") and not tree.is_negated(tree.root):
        nouns.append(tree.low(tree.root))
    nouns += [tokens[i].text for i in tree.of(subject, "flat")[-1:]]
    return dict.fromkeys(nouns, name) if name else {}


def renamed(text: str, names: Mapping[str, str]) -> str:
    """Put the name in the place of what it was said to be, or of a surname: "The café opens at nine", "Lind left"."""
    new = [noun for noun, name in names.items() if name and name.casefold() not in text.casefold()]
    if not any(noun.rpartition(" ")[2] in text for noun in new):
        return text
    tree = parsed(text)
    for place, token in enumerate(tree.tokens):
        words = tree.under(place, without=tree.of(place, "case"))
        known = tree.low(words[0]) in {"the", "this"} and len(words) == 2 and token.pos == "NOUN"
        if not (known or (words == [0] and token.pos == "PROPN")) or tree.kind(place) not in _NAMED:
            continue
        begins = names.get(f"the {token.text}", "") if known and not words[0] else ""
        name = begins or names.get(token.text, "")
        if name and name.casefold() not in text.casefold():
            start = tree.tokens[words[0]].start
            return _OWNED_TWICE.sub("", f"{text[:start]}{name}{text[token.end :]}")
    return text


def _means_nothing(text: str) -> bool:
    """Whether a sentence begins as in "It is important to …", "It is mentioned that …"."""
    tree = parsed(text)
    root = tree.root
    says = tree.pos(root) == "VERB" and not tree.of(root, "aux:pass")  # "it admits that …"
    told = bool(tree.of(root, "csubj", "mark")) or (bool(tree.of(root, "ccomp")) and not says)
    return is_expletive(text) or (tree.low(0) == "it" and told)


def is_expletive(text: str) -> bool:
    """Whether a sentence begins as in "It is important to …"."""
    tokens = parsed(text).tokens
    return bool(tokens) and tokens[0].relation == "expl"


def nouns_of(sentence: str) -> set[str]:
    """The nouns of a sentence, in lower case."""
    tree = parsed(sentence)
    return {tree.low(i) for i in range(len(tree.tokens)) if tree.pos(i) in THINGS and tree.kind(i) != "compound"}


def _has_rival(sentence: str, pronoun: str, spoken: Collection[str], asked: Collection[str]) -> bool:
    """Whether a pronoun after a sentence may stand for something else than its subject."""
    tree = parsed(sentence)
    tokens, subject = tree.tokens, _spoken_of(tree, pronoun)
    if subject is None or tree.pos(subject) not in THINGS:
        return True
    is_owned = tree.text(subject).islower() and bool(tree.of(subject, "nmod:poss", "nummod"))
    if is_owned or any(tokens[i].tag == "PRP$" for i in tree.of(subject, "nmod:poss")):
        return True  # "Rosa's bar is small. It …"
    own, several = set(tree.under(subject)), pronoun in _SEVERAL
    is_asked = any(tree.low(i) in asked for i in own)
    is_new = tree.pos(subject) == "NOUN" and tree.low(subject) not in spoken
    if spoken and is_new and not is_asked:
        return True  # "Rosa has a bar. The owner left. …"
    if tree.says(tree.root, "obj", _OBJECTS[pronoun]):
        return True  # "The mayor opened it. It …"
    people = pronoun in _PEOPLE
    things = {"NOUN", "PROPN", "PRON"}
    return any(
        token.pos in ({"PROPN"} if people else things)
        and tree.low(place) != pronoun
        and not _is_within(tree, place)
        and not (is_asked and not (tree.head(place) == tree.root and tree.is_a(place)))  # what it brings in
        and (
            tree.kind(place) in _ROLES
            or tree.says(place, "case", *(("by", "with", "for") if people else ("by",)))
            or any(tokens[kid].pos == "PROPN" for kid in tree.of(place, "appos", "flat"))  # "her novel Salt Rain"
        )
        and place not in own
        and (several or people or not (tree.conjuncts(place) or tree.kind(place) == "conj"))  # one of a list
        and (tree.is_plural if token.pos == "PRON" else tree.is_plural_alone)(place) is not (not several)
        for place, token in enumerate(tokens)
    )


def _is_within(tree: Tree, place: int) -> bool:
    """Whether a noun stands inside a phrase or clause of another, or only counts: "a variety of cakes"."""
    above = tree.head(place)
    counts = any(tree.is_plural(i) for i in tree.of(place, "nmod")) and tree.low(tree.first(place)) in {"a", "an"}
    return counts or (above >= 0 and (tree.kind(above) in _WITHIN or _is_within(tree, above)))


def put(name: str, text: str, pronoun: re.Match[str]) -> str:
    """Put a name in the place of a pronoun of a text."""
    first, _, rest = name.partition(" ")
    if pronoun.start() and first in {"The", "A", "An"}:
        name = f"{first.lower()} {rest}"
    owner = "" if pronoun["subject"] else "' " if name.endswith("s") and pronoun["owner"].lower() == "their" else "'s "
    return _OWNED_TWICE.sub("", f"{text[: pronoun.start()]}{name}{owner}{text[pronoun.end() :]}")


def _subject(sentence: str, pronoun: str, *, is_spoken_of: bool = False) -> str:
    """Return the subject of a sentence, or what it speaks of, that a pronoun after it may stand for; empty where that
    is not sure.
    """
    plain = unconnected(sentence)
    tree = parsed(plain)
    place = _spoken_of(tree, pronoun) if is_spoken_of else tree.subject(tree.root)
    return "" if place is None or tree.relation(place) == "expl" else _phrase(plain, tree, place, pronoun)


def _spoken_of(tree: Tree, pronoun: str) -> int | None:
    """The subject of a sentence; of a request its object, of a fragment its noun, and the object where that alone is of
    the pronoun's number: "Guests like the bar. It …".
    """
    if not tree.tokens:
        return None
    subject = tree.subject(tree.root)
    things = [thing for thing in tree.of(tree.root, "obj") if tree.pos(thing) in THINGS]
    if subject is None:
        alone = tree.pos(tree.root) in THINGS and not tree.of(tree.root, "case")  # "Not on Saturday."
        return things[0] if things else tree.root if alone else None
    several = pronoun in _SEVERAL
    if tree.is_plural(subject) is (not several) and len(things) == 1 and tree.is_plural(things[0]) is several:
        return things[0]
    return subject


def _topic(sentence: str, pronoun: str) -> str:
    """Return what a question, a request or a fragment is about, where a pronoun after it may stand for that.

    It is a fragment's noun ("And the Grande?"), the object ("I bought the drill in Ghent"), or what is spoken about.
    """
    tree = parsed(sentence)
    subject = tree.subject(tree.root) if tree.tokens else None
    if not tree.tokens or (subject is not None and tree.tag(subject) not in _NO_SUBJECT):
        return ""
    if subject is not None and tree.low(subject) not in {"i", "we", "you"} | _ASKED:
        return ""
    acts = [tree.root, *tree.of(tree.root, "xcomp", "ccomp")]
    objects = [noun for act in acts for noun in tree.of(act, "obj")]
    about = [noun for act in [*acts, *objects] for noun in tree.of(act, "obl", "nmod")]
    things = [*objects, *(noun for noun in about if tree.says(noun, "case", "about"))]
    things = [noun for noun in things if not tree.says(noun, "det", "a", "an", "any", "some")]
    if subject is None and (not tree.of(tree.root, "det") or any(token.pos == "PROPN" for token in tree.tokens)):
        things.insert(0, tree.root)  # "The weight." asks for something of what was spoken of before
    nouns = [noun for noun in things if tree.pos(noun) in THINGS]
    return next(filter(None, (_phrase(sentence, tree, noun, pronoun) for noun in nouns)), "")


def _turns_elsewhere(sentence: str) -> bool:
    """Whether a fragment asks about another thing without naming it: "And those of 2024?", "The other one?"."""
    tree = parsed(sentence)
    if not tree.tokens or tree.subject(tree.root) is not None:
        return False
    asked = [tree.root, *(tree.of(tree.root, "nmod") if tree.low(tree.root) == "what" else ())]
    return any(tree.low(word) in _POINTING | {"one", "ones"} and len(tree.kids[word]) > 1 for word in asked)


def _phrase(text: str, tree: Tree, place: int, pronoun: str, *, alone: bool = False) -> str:
    """Return a noun with what belongs to it, where a pronoun may stand for it; empty where it may not.

    `alone`: without those beside it.
    """
    apart = [kid for kid in tree.kids[place] if tree.kind(kid) in {"cc", "case", "advmod", "discourse", "punct"}]
    apart = [kid for kid in apart if tree.tag(kid) != "POS"]  # "Denny's"
    edges = [kid for kid in apart if kid in {*range(place)} or kid == max(tree.under(place))]
    behind = [
        kid for kid in tree.kids[place] if kid > place and (tree.kind(kid) != "flat" or "," in tree.text(kid - 1))
    ]
    asides = [kid for kid in behind if tree.comma_before(kid) or tree.text(tree.first(kid)) == "("]
    people = pronoun in _PEOPLE
    titles = [kid for kid in tree.kids[place] if people and kid < place and tree.pos(kid) in {"DET", "NOUN"}]
    beside = tree.conjuncts(place) if alone else []
    words = tree.under(place, without=[*edges, *asides, *titles, *beside])  # "the painter Ada Lind"
    if people:
        words = [i for i in words if i <= max([place, *tree.of(place, "flat")])]  # "Mr Holm in bed 12"
    tokens = [tree.tokens[i] for i in words]
    if any(token.tag in _NO_SUBJECT for token in tokens) or any(tree.low(i) in _POINTING for i in words):
        return ""
    several = tree.is_plural_alone(place) if alone else tree.is_plural(place)
    if several is not (pronoun in _SEVERAL) and several is not None:
        return ""
    named = not titles or any(tree.pos(kid) == "NOUN" for kid in titles)  # not "the Hill Foundation"
    if people and not (named and all(token.tag in {"NNP", "HYPH"} for token in tokens)):
        return ""
    if text[tokens[-1].end :].startswith("-"):
        return ""  # half a name
    phrase = text[tokens[0].start : tokens[-1].end]
    return capital(phrase) if len(phrase) <= _LONGEST_SUBJECT else ""


class _Completed(NamedTuple):
    """A claim with the pronoun that it began with, if any, as a subject, and what was put in its place."""

    sentence: str
    text: str
    word: str
    thing: str


def in_conversation(parts: Decomposition, sample: Sample) -> Decomposition:
    """Complete the claims of a response from the turns before it, and give them the citations that came beside it."""
    claims = parts.claims
    if sample.history:
        claims = _completed(claims, sample)
    if sample.citations:
        claims = cited_beside(claims, sample)
    return replace(parts, claims=claims)


def _completed(claims: Sequence[Claim], sample: Sample) -> tuple[Claim, ...]:
    """Put what they stand for in the place of pronouns that begin a claim, where the response does not say it."""
    told = [*(turn.text for turn in sample.history[-TURNS_BEFORE:]), sample.question]
    earlier = [text[one.start : one.end] for text in told for one in sentences(text)][::-1]
    found: list[Claim] = []
    before = deque[_Completed](maxlen=_CLAIMS_BEFORE)  # the last one first
    for claim in claims:
        pronoun = PRONOUN.match(claim.text)
        stands_for = (pronoun["subject"] or pronoun["owner"] or "").lower() if pronoun else ""
        thing = ""
        if pronoun and stands_for and not is_expletive(claim.text):
            others = [one for one in before if one.sentence != claim.sentence]
            thing = _meant(pronoun, _OWNERS.get(stands_for, stands_for), others, earlier)
            thing = "" if thing.lower() in claim.text.lower() else thing
        found.append(replace(claim, text=put(thing, claim.text, pronoun)) if pronoun and thing else claim)
        before.appendleft(_Completed(claim.sentence, found[-1].text, _OWNERS.get(stands_for, stands_for), thing))
    return tuple(found)


def _meant(pronoun: re.Match[str], word: str, before: Sequence[_Completed], earlier: Sequence[str]) -> str:
    """Return what a pronoun stands for: what it stood for last, or what was spoken of; empty where a claim names it."""
    for one in before:
        if one.thing and one.word == word:
            return one.thing
        if antecedent(pronoun, [one.text]):
            return ""
        if fragment := antecedent(pronoun, [one.text], is_topic_enough=True):
            return fragment
    return antecedent(pronoun, earlier, is_topic_enough=True)
