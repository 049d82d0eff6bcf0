"""Where a conjunct belongs, by its form and its neighbours: the parser often hangs it on a word inside the first."""

from __future__ import annotations

from collections.abc import Sequence

from everyclaim.models.local.parser import ParsedToken

SUBJECTS = frozenset({"nsubj", "nsubj:pass", "nsubj:outer", "csubj", "csubj:pass", "expl"})
HELPERS = frozenset({"aux", "aux:pass", "cop"})


def better_head(tokens: Sequence[ParsedToken], place: int) -> tuple[int, str]:
    """The head that the form of a conjunct speaks for, and its relation to it."""
    token = tokens[place]
    if any(one.head == place and one.relation == "cc" and one.text == "&" for one in tokens) and token.pos == "PROPN":
        return token.head, "flat"
    for reading in (_member, _latest, _predicate, _closes, _also_told, _outside, _title, _infinitive):
        better = reading(tokens, place)
        if better is not None and better != place:
            return better, "conj"
    return token.head, "conj"


def _predicate(tokens: Sequence[ParsedToken], place: int) -> int | None:
    """The predicate that a finite verb without subject is coordinated with, where it hangs on a word inside that one,
    or on the conjunct before it.
    """
    token, above = tokens[place], tokens[place].head
    if token.tag == "VB" and tokens[above].relation == "obj" and tokens[tokens[above].head].tag == "VB":
        return tokens[above].head  # "pour it into jars, cover, and keep it warm"
    if _tense(tokens, place) and tokens[above].relation == "xcomp" and _has_subject(tokens, place):
        return tokens[above].head  # "it remains unknown but some think …"
    if token.tag not in {"VBZ", "VBD", "VBP"} or token.pos not in {"VERB", "AUX"}:
        return None
    if _has_subject(tokens, place):
        return None
    if tokens[above].tag == token.tag and tokens[above].relation == "conj" and tokens[above].head >= 0:
        return tokens[above].head if tokens[tokens[above].head].tag == token.tag else None
    if _tense(tokens, above):
        return None
    while tokens[above].head >= 0 and not _tense(tokens, above):
        above = tokens[above].head
    return above if _tense(tokens, above) == token.tag else None


def _has_subject(tokens: Sequence[ParsedToken], place: int) -> bool:
    return any(one.head == place and one.relation in SUBJECTS for one in tokens)


def _tense(tokens: Sequence[ParsedToken], place: int) -> str:
    """The tag of a predicate's finite form, its own or that of its first auxiliary; empty where it has none."""
    finite = {"VBZ", "VBD", "VBP", "MD"}
    helping = (one.tag for one in tokens[:place] if one.head == place and one.relation in HELPERS and one.tag in finite)
    return next(helping, tokens[place].tag if tokens[place].tag in finite else "")


def _member(tokens: Sequence[ParsedToken], place: int) -> int | None:
    """The head of a list whose last members hang on each other, or on the verb of its first: "mix flour and water"."""
    token, above = tokens[place], tokens[tokens[place].head]
    if (
        token.pos == "ADJ"
        and above.pos == "VERB"
        and not any(one.head == place and one.relation in HELPERS for one in tokens)
    ):
        beside = [i for i in range(token.head, place) if tokens[i].head == token.head and tokens[i].pos == "ADJ"]
        return beside[-1] if beside else None  # "ranks second in size and third in wealth"
    signs = {one.text for one in tokens[:place] if one.head == place and one.relation in {"cc", "punct"}}
    chained = above.relation == "conj" and signs == {","}
    if chained and token.tag == above.tag == "VB":
        return above.head
    if token.pos not in {"NOUN", "PROPN"} or any(one.head == place and one.relation in HELPERS for one in tokens):
        return None
    if chained and above.pos in {"NOUN", "PROPN"}:
        return above.head
    if above.pos != "VERB" or _has_subject(tokens, place):
        return None
    held = [i for i in range(token.head, place) if tokens[i].head == token.head]
    objects = [i for i in held if tokens[i].relation == "obj"] or [i for i in held if tokens[i].relation == "obl"]
    return objects[-1] if objects else None


def _latest(tokens: Sequence[ParsedToken], place: int) -> int | None:
    """The head of the list that is open before a member: "in Lund, selling tea, milk, and rolls"."""
    above = tokens[place].head
    own = [i for i in range(above + 1, place) if is_under(tokens, i, place)]
    before = min([place, *own]) - 1
    while before > above and tokens[before].pos in {"PUNCT", "CCONJ"}:
        before -= 1
    while before > above and tokens[before].relation != "conj":
        before = tokens[before].head
    first = tokens[before].head
    if not above < first < place or {tokens[first].pos, tokens[place].pos} <= {"NOUN", "PROPN"}:
        return None
    listed = [i for i, one in enumerate(tokens[:place]) if one.head == first and one.relation == "conj"]
    closed = any(one.relation == "cc" and one.head in listed and one.text != "&" for one in tokens)
    return None if closed else first


def _title(tokens: Sequence[ParsedToken], place: int) -> int | None:
    """An apposition, where what is coordinated with it hangs on the name: "Ada, a poet and painter"."""
    token = tokens[place]
    if token.pos != "NOUN" or tokens[token.head].pos != "PROPN":
        return None
    return next(
        (i for i, one in enumerate(tokens[:place])
         if one.head == token.head and one.relation == "appos" and one.pos == "NOUN" and one.tag == token.tag),
        None,
    )  # fmt: skip


def _infinitive(tokens: Sequence[ParsedToken], place: int) -> int | None:
    """The infinitive that another is coordinated with, where it hangs on the verb: "you have to apply and pay"."""
    marked = {one.head for one in tokens if one.relation == "mark" and one.text == "to"}
    above = tokens[place].head
    if place in marked and above not in marked:
        while above >= 0 and above not in marked:
            above = tokens[above].head
        return above if above >= 0 and tokens[above].relation == "xcomp" else None
    own = any(one.head == place and one.relation in SUBJECTS | HELPERS for one in tokens)
    if own or tokens[place].tag != "VB" or _tense(tokens, tokens[place].head) == "MD":
        return None
    governed = (
        i for i, one in enumerate(tokens[:place])
        if one.head == tokens[place].head and one.relation == "xcomp" and one.tag == "VB"
    )  # fmt: skip
    return next(governed, None)


def _outside(tokens: Sequence[ParsedToken], place: int) -> int | None:
    """The verb of saying, where a conjunct inside what was said is of its tense: "said it is late and offered tea"."""
    token, said = tokens[place], tokens[place].head
    while tokens[said].head >= 0 and tokens[said].relation != "ccomp":
        said = tokens[said].head
    above = tokens[said].head
    if (
        tokens[said].relation != "ccomp"
        or tokens[above].tag != token.tag
        or token.tag not in {"VBD", "VBZ", "VBG", "VB"}
    ):
        return None
    own = any(one.head == place and one.relation in SUBJECTS | {"mark"} for one in tokens)
    tenses = {one.tag for i, one in enumerate(tokens) if i == said or (one.head == said and one.relation in HELPERS)}
    return above if not own and token.tag not in tenses else None


def _also_told(tokens: Sequence[ParsedToken], place: int) -> int | None:
    """The clause that a verb of saying governs, where a conjunct of that verb opens with the same word as it does."""
    governed = next(
        (i for i, one in enumerate(tokens[:place]) if one.head == tokens[place].head and one.relation == "ccomp"), None
    )
    if governed is None:
        return None
    openers = [
        {
            one.text.lower()
            for one in tokens[:clause]
            if one.head == clause and one.relation in {"mark", "advmod", "obj"}
        }
        & {"that", "how", "what", "whether", "why", "where", "when"}
        for clause in (governed, place)
    ]
    return governed if openers[0] and openers[0] == openers[1] else None


def _closes(tokens: Sequence[ParsedToken], place: int) -> int | None:
    """The first of a list whose "and" hangs inside its last member: "built it, said it leaks, and sold it"."""

    def conjunctions(first: int) -> bool:
        return any(
            cc.relation == "cc" and tokens[cc.head].head == first and tokens[cc.head].relation == "conj"
            for cc in tokens
        )

    if not any(one.relation == "cc" and one.head == place for one in tokens):
        return None
    above = tokens[place].head
    while tokens[above].head >= 0 and tokens[above].relation != "conj":
        above = tokens[above].head
    first = tokens[above].head
    nominal = {tokens[above].pos, tokens[place].pos} <= {"NOUN", "PROPN"}
    same = (nominal or tokens[above].tag == tokens[place].tag) and tokens[above].relation == "conj"
    return first if first >= 0 and same and not conjunctions(first) else None


def is_under(tokens: Sequence[ParsedToken], word: int, place: int) -> bool:
    """Whether a word is another, or depends on it."""
    while word >= 0 and word != place:
        word = tokens[word].head
    return word == place
