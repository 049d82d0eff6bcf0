"""Does a text assert something about the world, or does it only speak of the conversation? The tree tells.

What looks like a refusal, small talk or a question is skipped only when nothing in it asserts (rule 14). So the tests
here lean the other way than the splitter's: when unsure, it asserts. Some questions tell: "Did you know that you may
drink it?", "It was recalled, wasn't it?", "It was recalled?".
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from everyclaim.decompose.repairs import parsed
from everyclaim.models.local.tree import FINITE, HELPERS, SUBJECTS, Tree
from everyclaim.text.language import ENGLISH, language_of
from everyclaim.text.segment import sentences
from everyclaim.text.tokens import capital, stem, word_set

_LONGEST = 400  # characters that are looked at
_MANY = 4  # words; so many in another language are taken to assert
_CLAUSES = frozenset({"ccomp", "advcl", "csubj", "acl", "xcomp", "root", "parataxis", "conj"})
_OF_OTHERS = frozenset({"acl", "advcl", "ccomp", "csubj"})
_CONDITIONS = word_set("if whether unless until once before after")
_ASKING = word_set("when whenever where wherever why how what which who whom whose")
# Verbs of what one does with an answer: "you can ask", "the documents only cover", "I could not find".
_TALK = word_set(
    """
    ask asks check consult contact see visit refer provide provides provided rephrase clarify specify find look want
    wanted need needed like have has had let reach feel search share shared wish speak talk try read review know mean
    help helps assist answer answers apologize apologise do does did cover covers covered mention mentions mentioned
    discuss discusses discussed contain contains contained focus focuses focused describe describes described
    include includes included address addresses addressed state states stated say says said give gives gave given
    list lists tell tells refers talks offer offers believe think suggest recommend hope advise confirm locate
    determine access appear appears seem seems outline outlines explain explains summarize summarise
    """
)
_SOURCES = word_set(
    "context contexts passage passages document documents source sources text texts excerpt excerpts snippet snippets "
    "article articles material materials information question query answer response result results data"
)
_POINTING = word_set("it they this that these those")
_OURS = word_set("my our your")
_HERE = word_set("here below above attached")
_AHEAD = word_set("following this these")
_AGREED = word_set("right correct wrong mistaken")  # what one of us was
_ADVISING = word_set("recommend suggest advise encourage")
_REFERRING = word_set("contact consult ask")
_WILL = word_set("ll will")
_US = word_set("us me")
_HE = word_set("he him she her it they them")
# Stems of what people are kind by, and of what they offer, wish and thank for.
_KIND = word_set("hope thank apolog appreci understand hesit enjoy congratul sorri happi glad welcom feel let assur")
_OFFERED = word_set(
    "help assist support ask know answer clarifi explain hear reach come look need have like want free question "
    "contact share provid request check messag rephras explor write call get touch"
)
_I = re.IGNORECASE | re.DOTALL
_LONGEST_QUESTION = 2000  # characters
_ELLIPTICAL = 40  # characters of "No, unfortunately you cannot.", at most
_ASKED = "?？؟﹖⁇"
_KNOWN_ELSEWHERE = re.compile(  # "did you know that", which the reading of English would take to ask
    r"(?:wuss?ten sie|wusstest du|wissen sie|saviez-vous|savais-tu|sab[ií]as?(?: usted)?|lo sapevi|sapev(?:i|ate)"
    r"|wist (?:je|u)|czy wie(?:sz|cie|dzia\w+)|visste (?:du|ni)|vidste du|věděli jste|tiesit(?:kö|tekö)),?\s"
    r"(?:dass|qu(?:e|')|che|dat|że|at|att|že|että)",
    _I,
)
_OTHER_SIDE = {
    "i": "you", "me": "you", "my": "your", "mine": "yours", "we": "you", "us": "you", "our": "your", "ours": "yours",
    "you": "we", "your": "our", "yours": "ours",
}  # fmt: skip
_OWN = re.compile(rf"\b(?:{'|'.join(_OTHER_SIDE)})\b(?!')", re.IGNORECASE)


def asserts(text: str) -> bool:
    """Whether a text states something: a clause of its own, and not only talk.

    In a language other than English whatever has a few words does.
    """
    if len(text) > _LONGEST:
        return True
    words = re.findall(r"[^\W\d_]+", text)
    if len(words) < 2:
        return False
    if len(words) >= _MANY and language_of(text) not in {"", ENGLISH}:
        return True
    return any(not is_talk(tree, place) for tree in [plain_tree(text)] for place in statements(tree))


def is_sentence(text: str) -> bool:
    """Whether an English text holds a clause that stands alone, with a subject and a finite verb; long ones do."""
    if len(text) > _LONGEST:
        return True
    tree = plain_tree(text)
    told = (i for i in range(len(tree.tokens)) if tree.is_finite(i) and _has_subject(tree, i))
    return any(_OF_OTHERS.isdisjoint(map(tree.kind, tree.way_up(place, tree.root))) for place in told)


def is_headless(text: str) -> bool:
    """Whether a text has no predicate: "Support for two systems", not "Do not charge it", "Fixed a crash"."""
    tree = plain_tree(text)
    root = tree.root
    return bool(tree.tokens) and not tree.is_finite(root) and tree.forms(root)[0].tag != "VB"


def is_request(text: str) -> bool:
    """Whether a text asks to do something: "Do not charge it in the sun"."""
    tree = plain_tree(text)
    return bool(tree.tokens) and tree.subject(tree.root) is None and tree.forms(tree.root)[0].tag in {"VB", "VBP"}


def is_cut_off(text: str) -> bool:
    """Whether a clause before a colon lacks what its last word goes on with: "The kit includes:", "You must not:"."""
    tree = plain_tree(text.rstrip(" :：*_"))
    if not tree.tokens or tree.tag(0).startswith("W"):
        return False
    last, root = len(tree.tokens) - 1, tree.root
    if tree.pos(last) == "ADP" or tree.relation(last) == "case":
        return True  # "made of:", "including:"
    ends = last in {root, *tree.of(root, "aux", "cop")} and tree.pos(last) in {"VERB", "AUX"}
    return ends and tree.subject(root) is not None and tree.tag(last) != "VBN"


def points_ahead(tree: Tree) -> bool:
    """Whether a clause only announces what follows it: "Here are the steps", "Do the following", "as listed below"."""
    if not tree.tokens:
        return False
    root, last = tree.root, len(tree.tokens) - 1
    subject = tree.subject(root)
    if subject is not None and (tree.relation(subject) == "expl" or (tree.pos(root) == "ADV" and subject > root)):
        return True
    things = [root, *tree.of(root, "obj", "obl", "nsubj", "advcl")]
    named = [i for one in things for i in [one, *tree.of(one, "amod")]]
    named += [i for one in tree.of(root, "obj") for i in tree.of(one, "det")]  # not "you may cancel in these cases"
    return tree.low(last) in _HERE or tree.says(last, "mark", "as") or any(tree.low(i) in _AHEAD for i in named)


def plain_tree(text: str) -> Tree:
    """The tree of a sentence; of one in capitals as if it had none, which would be taken for names."""
    words = re.findall(r"[^\W\d_]+", text)
    if len(words) > 2 and 2 * sum(word[0].isupper() for word in words) > len(words):
        text = capital(text.lower())
    return parsed(text)


def statements(tree: Tree) -> Iterator[int]:
    """The predicates of clauses that are stated: finite, with a subject, and no condition or question."""
    for place, token in enumerate(tree.tokens):
        is_clause = token.relation not in HELPERS and (tree.is_finite(place) or token.tag == "MD")
        if is_clause and _has_subject(tree, place) and not _is_open(tree, place):
            yield place


def presumed(text: str) -> list[tuple[int, int]]:
    """Where a question or refusal takes something for granted: "why Ada left", "the pump, made by Ada"."""
    tree = plain_tree(text)
    found = []
    for place in range(len(tree.tokens)):
        subject = tree.subject(place)
        inside = tree.under(place)
        is_told = subject is not None and tree.low(subject) not in {"i", "we", "you"}
        is_participle = subject is None and tree.relation(place) == "acl" and tree.tag(place) in {"VBN", "VBG"}
        if is_participle or (is_told and (_opener(tree, place) in _ASKING or tree.relation(place) == "acl:relcl")):
            first = inside[0]
            while first and tree.pos(first - 1) in {"NOUN", "PROPN", "PUNCT"}:  # whom it is said of
                first -= 1
            found.append(tree.span([first, inside[-1]]))
    return found


def is_talk(tree: Tree, place: int) -> bool:
    """Whether a clause is about the conversation: what we can do, what you may ask, what the documents cover."""
    subject = tree.subject(place)
    if subject is None:
        return tree.kind(place) == "conj" and is_talk(tree, tree.head(place))
    head = tree.low(subject)
    if head in {"i", "we"}:
        return True
    named = {tree.low(i) for i in tree.under(subject)}
    if tree.relation(subject) == "expl":
        return any(tree.low(kid) in _SOURCES | _TALK for kid in tree.of(place, "nsubj"))  # "no mention of it"
    if tree.of(place, "cop"):
        about = head in _POINTING or not named.isdisjoint(_SOURCES)
        return about and tree.low(place) in _SOURCES  # "that's a great question", "the answer is not in the text"
    if tree.low(place) not in _TALK:
        return False
    lacks = any(tree.low(kid) == "no" for noun in tree.of(place, "obj") for kid in tree.kids[noun])
    if head == "you" or lacks or tree.is_negated(place):
        return head == "you" or head in _POINTING or bool(named & _SOURCES)
    told = [tree.low(kid) for kid in tree.of(place, "obj")]  # "it describes a tank", "they provide enough information"
    return (head in _POINTING or bool(named & _SOURCES)) and all(word in _SOURCES for word in told)


def may_be_kind(text: str) -> bool:
    """Whether a text holds a word of a courtesy, so that its tree is worth looking at."""
    words = set(re.findall(r"[a-z]+", text.lower()))
    announces = "i" in words and not words.isdisjoint(_WILL)
    return announces or "here" in words or not _AGREED.isdisjoint(words) or not _KIND.isdisjoint(map(stem, words))


def is_courtesy(tree: Tree) -> bool:
    """Whether a sentence is only kind, agrees, offers help or says what I shall do, and names nobody but us."""
    if not tree.tokens:
        return False
    clauses = [i for i, token in enumerate(tree.tokens) if token.relation in {"advcl", "ccomp"}]
    asked = {i for kid in clauses if _opener(tree, kid) in {"if", "whether"} for i in tree.under(kid)}
    stated = [i for i in range(len(tree.tokens)) if i not in asked]
    rest = [i for i in stated if i != tree.root and (tree.pos(i) == "VERB" or tree.of(i, "cop"))]
    subject = tree.subject(tree.root)
    is_mine = subject is not None and tree.low(subject) == "i" and not tree.is_negated(tree.root)
    announces = is_mine and tree.pos(tree.root) == "VERB" and tree.says(tree.root, "aux", "'ll", "will")
    here = tree.low(tree.root) == "here" and bool(rest)  # "our team is here to help"
    agrees = tree.low(tree.root) in _AGREED and bool(tree.words(tree.root, "nsubj") & {"i", "you"})
    if stem(tree.low(tree.root)) not in _KIND and not here and not announces and not agrees:
        return False
    return all(stem(tree.low(i)) in _KIND | _OFFERED for i in rest) and all(_is_between_us(tree, i) for i in stated)


def may_direct(text: str) -> bool:
    """Whether a text holds a word that sends one on, so that its tree is worth looking at."""
    words = re.findall(r"[a-z]+", text.lower())
    return not (_US | _OURS | _HERE).isdisjoint(words) or not _REFERRING.isdisjoint(map(stem, words))


def is_direction(tree: Tree) -> bool:
    """Whether a sentence only sends one on, to somebody to ask or to us: "please consult a doctor", "write to us".

    What it is to be good for ("so that a colleague can look into it") is no statement.
    """
    if not tree.tokens or any(token.pos in {"NUM", "PROPN"} for token in tree.tokens):
        return False
    subject = tree.subject(tree.root)
    if subject is None:
        directs = tree.tag(tree.root) in {"VB", "VBP"}
    else:
        directs = tree.low(tree.root) in (_ADVISING if tree.low(subject) in {"i", "we"} else _TALK)
        directs &= tree.low(subject) in {"i", "we", "you"}
    if not directs or tree.is_negated(tree.root) or tree.conjuncts(tree.root):
        return False
    aims = {i for kid in tree.of(tree.root, "advcl") if _opener(tree, kid) == "so" for i in tree.under(kid)}
    if any(i != tree.root and i not in aims and not is_talk(tree, i) for i in statements(tree)):
        return False
    towards = tree.of(tree.root, "obj", "iobj", "obl")
    to_us = any(tree.low(i) in _US or tree.says(i, "nmod:poss", "our") for i in towards)
    to_us &= subject is None and all(_is_between_us(tree, i) for i in range(len(tree.tokens)) if i not in aims)
    acts = [tree.root, *tree.of(tree.root, "xcomp", "ccomp")]
    points = any(tree.low(i) in _HERE for i in range(tree.root, len(tree.tokens)))
    return points or to_us or stem(tree.low(acts[-1])) in _REFERRING


def _is_between_us(tree: Tree, place: int) -> bool:
    """Whether a word names nobody and nothing but those who speak, what is theirs, and what they speak of."""
    token = tree.tokens[place]
    if token.pos == "PRON":
        return tree.low(place) not in _HE or tree.relation(place) in SUBJECTS
    if token.pos not in {"NOUN", "PROPN", "NUM"} or place == tree.root or tree.kind(place) == "vocative":
        return True
    if stem(tree.low(place)) in _KIND | _OFFERED or tree.low(place) in _SOURCES:
        return True
    if tree.says(place, "nmod:poss", *_OURS):
        return True
    if tree.kind(place) in {"compound", "flat"}:
        return _is_between_us(tree, token.head)
    thanked = stem(tree.low(token.head)) in _KIND
    return thanked and tree.kind(place) in {"obl", "nmod"}  # "we apologize for the inconvenience"


def _has_subject(tree: Tree, place: int) -> bool:
    subject = tree.subject(place)
    if subject is not None:
        return tree.low(subject) not in _ASKING  # "here's what I found"
    return tree.kind(place) == "conj" and _has_subject(tree, tree.head(place))


def _opener(tree: Tree, place: int) -> str:
    """The first word of a clause."""
    return next((tree.low(i) for i in tree.under(place) if tree.pos(i) not in {"PUNCT", "CCONJ"}), "")


def _is_open(tree: Tree, place: int) -> bool:
    """Whether a clause, or one that it stands in, is a condition or a question, or tells which one is meant."""
    if _opener(tree, place) in _CONDITIONS | _ASKING:
        return True
    while place >= 0:
        kind = tree.kind(place)
        if tree.relation(place) == "acl:relcl" or (kind == "ccomp" and tree.is_negated(tree.head(place))):
            return True
        if kind in _CLAUSES and _opener(tree, place) in _CONDITIONS | _ASKING:
            return True
        place = tree.head(place)
    return False


def asks(text: str) -> bool:
    """Whether a sentence ends as a question does; one that only quotes a question tells."""
    ended = text.rstrip(" \t\n*_)]")
    if ended.endswith(tuple(_ASKED)):
        return True
    inner = ended.rstrip("\"'”’»“")
    return inner != ended and inner.rstrip().endswith(tuple(_ASKED)) and text.lstrip()[:1] in "\"'“‘«„"


def told(text: str) -> tuple[int, int] | None:
    """Where a question tells something, as offsets; None when it only asks.

    It tells by a statement in it ("Did you know that …"), by its order ("It leaks?"), and when it denies.
    """
    if len(text) > _LONGEST_QUESTION:
        return 0, len(text)  # nobody asks at such length
    start = len(text) - len(text.lstrip(" \t\n\"'“‘«„*_(¿"))
    end = len(text.rstrip(" \t\n\"'”’»“*_)]!" + _ASKED))
    inner = text[start:end].replace("’", "'")
    if language_of(inner) not in {"", ENGLISH}:
        return (start, end) if _KNOWN_ELSEWHERE.search(inner) else None
    return (start, end) if any(map(_tells, [inner, *inner.split(", ")[1:]])) else None


def _tells(question: str) -> bool:
    """Whether a question, or a part of it, states something."""
    tree = plain_tree(question)
    stated = [*statements(tree), *(i for i in range(len(tree.tokens)) if i != tree.root and _is_inside(tree, i))]
    return any(not is_talk(tree, i) and (tree.is_negated(i) or not _asks(tree, i)) for i in stated)


def _is_inside(tree: Tree, place: int) -> bool:
    """Whether a clause is stated, whatever it stands in: "what about the fact that it leaks"."""
    told = tree.is_finite(place) and tree.subject(place) is not None and tree.relation(place) != "acl:relcl"
    return told and _opener(tree, place) not in _CONDITIONS | _ASKING


def _asks(tree: Tree, place: int) -> bool:
    """Whether a verb stands before the subject of a predicate: "is it safe"."""
    subject, above = tree.subject(place), tree.head(place)
    if subject is None:
        return above >= 0 and _asks(tree, above)
    return min([place, *tree.of(place, *HELPERS)]) < subject


def answered(question: str, *, yes: bool) -> str:
    """Say what a lone yes or no says to a question ("Is it safe?": "It is not safe."); empty where it says nothing.

    Of several sentences the last question is answered, and by the other side: "Will I get it?" by "You will get it."
    """
    if len(question) > _LONGEST_QUESTION or language_of(question) not in {"", ENGLISH}:
        return ""
    asked = [question[one.start : one.end] for one in sentences(question, ENGLISH)]
    question = next((text for text in reversed(asked) if asks(text)), question).strip()
    tree = plain_tree(question)
    subject = tree.subject(tree.root) if tree.tokens else None
    helper = next((i for i in tree.kids[tree.root] if tree.relation(i) in HELPERS), tree.root) if tree.tokens else 0
    if subject is None or tree.tag(helper) not in FINITE:
        return ""
    named = tree.under(subject)
    if [*range(named[0])] != [helper] or named != [*range(named[0], named[-1] + 1)]:
        return ""  # more than the verb stands in front, or the subject is parted
    starts, ends = [token.start for token in tree.tokens], [token.end for token in tree.tokens]
    told = question[starts[named[0]] : ends[named[-1]]]
    rest = question[ends[named[-1]] :].rstrip(" " + _ASKED)
    verb = question[starts[helper] : ends[helper]].lower()
    verb = {"am": "are", "was": "were"}.get(verb, verb) if told.lower() == "i" else verb
    told, rest = (_OWN.sub(lambda found: _OTHER_SIDE[found.group().lower()], part) for part in (told, rest))
    return f"{capital(told)} {verb}{'' if yes else 'not' if verb == 'can' else ' not'}{rest}."


def completed_answer(text: str, question: str) -> str:
    """Complete a mere subject and auxiliary from the question: "You can." says "You can pay later.".

    Other texts stay; empty where the question does not tell what is meant.
    """
    tree = plain_tree(text if len(text) <= _ELLIPTICAL else "")
    if not tree.tokens or tree.pos(tree.root) != "AUX" or tree.subject(tree.root) is None:
        return text
    silent = {"AUX", "PRON", "PROPN", "PART", "PUNCT", "INTJ"}
    is_bare = all(token.pos in silent for token in tree.tokens)
    return answered(question, yes=not tree.is_negated(tree.root)) if is_bare else text
