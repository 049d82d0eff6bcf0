"""What the parser often hangs elsewhere than its neighbours speak for, hung where it belongs.

Hyphenated words, titles in quotes and dates are one word each; the members of a list hang on its first.
"""

from __future__ import annotations

from collections.abc import Sequence

from everyclaim.models.local.parser import ParsedToken
from everyclaim.text.tokens import word_set

SUBJECTS = frozenset({"nsubj", "nsubj:pass", "nsubj:outer", "csubj", "csubj:pass", "expl"})
HELPERS = frozenset({"aux", "aux:pass", "cop"})
QUOTES = frozenset({'"', "“", "”", "``", "''"})
MONTHS = word_set("January February March April May June July August September October November December")
MODIFIERS = frozenset({"amod", "compound"})
_YEAR = 4  # digits
_LONGEST_TITLE = 12  # words in quotes that are taken for one name


def repaired(tokens: Sequence[ParsedToken]) -> Sequence[ParsedToken]:
    """Put right what the parser often hangs elsewhere: hyphenated words, lists of predicates, "A & B" of a name."""
    found = list(tokens)
    placed = {one.head for one in tokens if one.relation == "case"}
    for start, end in [*_hyphenated(tokens), *_quoted(tokens), *_dated(tokens)]:
        tops = [i for i in range(start, end) if not start <= found[i].head < end]
        main = max(tops, key=lambda i: (found[i].head < 0, i in placed, tokens[i].pos != "PUNCT", i))
        for i in tops if tokens[start].text not in QUOTES else range(start, end):  # a title is one name
            if i != main:
                _hang(found, i, main, "flat")
    for place, token in enumerate(found[:-1]):
        beside = found[place + 1]
        same = token.head == beside.head and token.relation == beside.relation and beside.pos == "PROPN"
        if same and (token.relation in SUBJECTS or (token.relation == "obj" and token.pos == "PROPN")):
            _hang(found, place, place + 1, "compound")
        if beside.relation == "appos" and beside.pos == token.pos == "PROPN" and beside.head <= place:
            found[place + 1] = beside._replace(relation="flat")
    for place, token in enumerate(found):
        if token.relation in MODIFIERS and (first := _first_modifier(found, place)) is not None:
            _hang(found, place, first, "conj")
    for place, token in enumerate(found):
        if token.relation == "advcl:relcl" and found[token.head].pos == "PROPN":
            found[place] = token._replace(relation="acl:relcl")
        elif token.relation == "parataxis" and _goes_on(found, place):
            found[place] = token._replace(relation="conj")
        elif token.relation == "appos" and _is_listed(found, place):
            found[place] = token._replace(relation="conj")
            for other, one in enumerate(found):
                if one.relation == "conj" and one.head == place:
                    _hang(found, other, token.head, "conj")
    for place, token in enumerate(found):
        if token.relation == "conj":
            if (following := _modified(found, place)) is not None:
                _hang(found, place, following, "amod")
            else:
                _hang(found, place, *_better_head(found, place))
    return found


def _hang(tokens: list[ParsedToken], place: int, head: int, relation: str) -> None:
    """Hang a word on another, unless that hangs on it."""
    above = head
    while above >= 0 and above != place:
        above = tokens[above].head
    if above < 0:
        tokens[place] = tokens[place]._replace(head=head, relation=relation)


def _hyphenated(tokens: Sequence[ParsedToken]) -> list[tuple[int, int]]:
    """Where words joined by hyphens stand: "gluten-free"."""
    found, place = list[tuple[int, int]](), 1
    while place < len(tokens) - 1:
        end = place
        while (
            end < len(tokens) - 1 and tokens[end].text in {"-", "/"} and _touch(tokens, end - 1) and _touch(tokens, end)
        ):
            end += 2
        if end > place:
            found.append((place - 1, end))
        place = end + 1
    return found


def _quoted(tokens: Sequence[ParsedToken]) -> list[tuple[int, int]]:
    """Where titles and names in quotes stand."""
    marks = [i for i, token in enumerate(tokens) if token.text in QUOTES]
    pairs = zip(marks[::2], marks[1::2], strict=False)
    return [(first, last + 1) for first, last in pairs if last - first < _LONGEST_TITLE]


def _dated(tokens: Sequence[ParsedToken]) -> list[tuple[int, int]]:
    """Where dates stand: "3 May 1998", "March 14, 1879"."""
    found = []
    for place, token in enumerate(tokens):
        if token.text not in MONTHS:
            continue
        start = (
            place - 1
            if place and tokens[place - 1].text[0].isdigit() and len(tokens[place - 1].text) < _YEAR
            else place
        )
        end = place + 1
        while end < len(tokens) and (
            tokens[end].text[0].isdigit()
            or (tokens[end].text == "," and end + 1 < len(tokens) and _is_year(tokens[end + 1]))
        ):
            end += 1
        if end - start > 1:
            found.append((start, end))
    return found


def _is_year(token: ParsedToken) -> bool:
    return len(token.text) == _YEAR and token.text.isdecimal()


def _touch(tokens: Sequence[ParsedToken], place: int) -> bool:
    return tokens[place].end == tokens[place + 1].start


def _first_modifier(tokens: Sequence[ParsedToken], place: int) -> int | None:
    """The first of the adjectives that a sign or conjunction joins this one to: "local, state and tribal courts"."""
    start = min([place, *(i for i in range(place) if tokens[i].head == place)])
    while start < place and (tokens[start].pos == "PUNCT" or tokens[start].relation == "cc"):
        start += 1
    before = start - 1
    while before >= 0 and (tokens[before].text == "," or tokens[before].relation == "cc"):
        before -= 1
    if before < 0 or before == start - 1:
        return None
    while tokens[before].relation == "conj":
        before = tokens[before].head
    same = tokens[before].relation in MODIFIERS and tokens[before].head == tokens[place].head
    return before if same and before < place else None


def _goes_on(tokens: Sequence[ParsedToken], place: int) -> bool:
    """Whether a predicate without a subject goes on a list: "opens at nine, closes at five, and ..."."""
    token, above = tokens[place], tokens[tokens[place].head]
    same = token.tag == above.tag and token.tag in {"VBZ", "VBD", "VBP"} and above.relation == "root"
    return same and not any(one.head == place and one.relation in SUBJECTS for one in tokens)


def _better_head(tokens: Sequence[ParsedToken], place: int) -> tuple[int, str]:
    """The head that the form of a conjunct speaks for, and its relation to it."""
    token = tokens[place]
    if any(one.head == place and one.relation == "cc" and one.text == "&" for one in tokens) and token.pos == "PROPN":
        return token.head, "flat"
    for reading in (_member, _predicate, _closes, _also_told, _outside, _title, _infinitive):
        better = reading(tokens, place)
        if better is not None and better != place:
            return better, "conj"
    return token.head, "conj"


def _modified(tokens: Sequence[ParsedToken], place: int) -> int | None:
    """The next conjunct, where a word between it and its "and" is taken for one: "wifi or live music"."""
    following = place + 1
    if following >= len(tokens) or tokens[following].relation != "conj" or tokens[following].head != tokens[place].head:
        return None
    joiner = place - 1
    return following if tokens[joiner].relation == "cc" and tokens[joiner].head == following else None


def _is_listed(tokens: Sequence[ParsedToken], place: int) -> bool:
    """Whether an apposition is rather the second of a list: "a mask, a tube and a bag"."""
    kind = {tokens[place].pos, tokens[tokens[place].head].pos}
    ends = any(one.relation == "conj" and one.head == place for one in tokens)
    return ends and len(kind) == 1 and kind <= {"NOUN"} and tokens[place].tag == tokens[tokens[place].head].tag


def _predicate(tokens: Sequence[ParsedToken], place: int) -> int | None:
    """The predicate that a finite verb without subject is coordinated with, where it hangs on a word inside that one,
    or on the conjunct before it.
    """
    token, above = tokens[place], tokens[place].head
    if token.tag not in {"VBZ", "VBD", "VBP"} or token.pos not in {"VERB", "AUX"}:
        return None
    if any(one.head == place and one.relation in SUBJECTS for one in tokens):
        return None
    if tokens[above].tag == token.tag and tokens[above].relation == "conj" and tokens[above].head >= 0:
        return tokens[above].head if tokens[tokens[above].head].tag == token.tag else None
    if _tense(tokens, above):
        return None
    while tokens[above].head >= 0 and not _tense(tokens, above):
        above = tokens[above].head
    return above if _tense(tokens, above) == token.tag else None


def _tense(tokens: Sequence[ParsedToken], place: int) -> str:
    """The tag of a predicate's finite form, its own or that of its first auxiliary; empty where it has none."""
    finite = {"VBZ", "VBD", "VBP", "MD"}
    helping = (one.tag for one in tokens[:place] if one.head == place and one.relation in HELPERS and one.tag in finite)
    return next(helping, tokens[place].tag if tokens[place].tag in finite else "")


def _member(tokens: Sequence[ParsedToken], place: int) -> int | None:
    """The head of a list whose last members hang on each other, or on the verb of its first: "mix flour and water"."""
    token, above = tokens[place], tokens[tokens[place].head]
    signs = {one.text for one in tokens[:place] if one.head == place and one.relation in {"cc", "punct"}}
    chained = above.relation == "conj" and signs == {","}
    if chained and token.tag == above.tag == "VB":
        return above.head
    if token.pos not in {"NOUN", "PROPN"} or any(one.head == place and one.relation in HELPERS for one in tokens):
        return None
    if chained and above.pos in {"NOUN", "PROPN"}:
        return above.head
    if above.pos != "VERB" or any(one.head == place and one.relation in SUBJECTS for one in tokens):
        return None
    held = [i for i in range(token.head, place) if tokens[i].head == token.head]
    objects = [i for i in held if tokens[i].relation == "obj"] or [i for i in held if tokens[i].relation == "obl"]
    return objects[-1] if objects else None


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
