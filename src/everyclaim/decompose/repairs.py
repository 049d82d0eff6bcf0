"""What the parser often hangs elsewhere than its neighbours speak for, hung where it belongs.

A title in quotes is one name. Where a conjunct belongs, its form and its neighbours tell.
"""

from __future__ import annotations

from collections.abc import Sequence

from everyclaim.core.lifetime import remembered
from everyclaim.decompose.parsed_names import cases_of, first_word, hang, has, is_under, join_names
from everyclaim.decompose.parsed_phrases import bare_participle, gapped, noun_before
from everyclaim.models.local.parser import ParsedToken

SUBJECTS = frozenset({"nsubj", "nsubj:pass", "nsubj:outer", "csubj", "csubj:pass", "expl"})
HELPERS = frozenset({"aux", "aux:pass", "cop"})
MODIFIERS = frozenset({"amod", "compound"})
_CUT = frozenset({"conj", "appos", "acl:relcl", "parataxis"})  # relations at which a sentence is split


def better_head(tokens: Sequence[ParsedToken], place: int) -> tuple[int, str]:
    """The head that the form of a conjunct speaks for, and its relation to it."""
    token = tokens[place]
    if any(one.head == place and one.relation == "cc" and one.text == "&" for one in tokens) and token.pos == "PROPN":
        beside = [i for i in range(token.head, place) if tokens[i].relation == "conj" and tokens[i].head == token.head]
        return (beside or [token.head])[-1], "flat"
    for reading in (_besides, _called, _same_case, _same_mark, _member, _latest, _predicate, _closes):
        better = reading(tokens, place)
        if better is not None:
            return better, "conj"
    return token.head, "conj"


def _besides(tokens: Sequence[ParsedToken], place: int) -> int | None:
    """What "as well as" goes on behind examples with an "and" of their own: "drinks, such as tea and milk, …"."""
    above = tokens[place].head
    joined = [one.text for one in tokens[above:place] if one.relation == "cc"]
    is_example = tokens[above].relation == "nmod" and not {"such", "including"}.isdisjoint(cases_of(tokens, above))
    return tokens[above].head if is_example and joined[-1:] == ["as"] and len(joined) > 1 else None


def _called(tokens: Sequence[ParsedToken], place: int) -> int | None:
    """The apposition that a noun goes on, no comma between them: "Ada Lind, a painter and writer, left"."""
    first = first_word(tokens, place)
    if tokens[place].pos != "NOUN" or not has(tokens, place, {"cc"}) or tokens[first].text == ",":
        return None
    above = tokens[place].head
    titles = [i for i in range(above, place) if tokens[i].head == above and tokens[i].relation == "appos"]
    is_one = titles and tokens[titles[-1]].pos == "NOUN" and is_under(tokens, first - 1, titles[-1])
    is_one = is_one and tokens[above].pos == "PROPN"
    return titles[-1] if is_one else None


def _predicate(tokens: Sequence[ParsedToken], place: int) -> int | None:
    """The predicate that a finite verb without subject is coordinated with, where it hangs on a word inside it."""
    token, above = tokens[place], tokens[place].head
    if _tense(tokens, place) and tokens[above].relation == "xcomp" and has(tokens, place, SUBJECTS):
        return tokens[above].head  # "it remains unknown but some think …"
    if _is_command(tokens, place) and (_tense(tokens, above) not in {"", "MD"} or _is_command(tokens, above)):
        while tokens[above].head >= 0 and (tokens[above].relation == "conj" or not _is_command(tokens, above)):
            above = tokens[above].head
        return above if _is_command(tokens, above) else None  # "remember that it is a test and stay safe"
    if _tense(tokens, place) not in {"VBZ", "VBD", "VBP"} or has(tokens, place, SUBJECTS):
        return None
    if tokens[above].relation == "conj" and not _tense(tokens, above) and tokens[above].tag == "VBN":
        return tokens[above].head if _tense(tokens, tokens[above].head) else None  # "have grown, made up half and are"
    if token.tag not in {"VBZ", "VBD", "VBP"}:
        return None
    if tokens[above].tag == token.tag and tokens[above].relation == "conj":
        return tokens[above].head if tokens[tokens[above].head].tag == token.tag else None
    if tokens[above].relation == "acl:relcl" and {_tense(tokens, above), token.tag} == {"VBZ", "VBP"}:
        above = tokens[above].head  # "have a stripe that runs along the side and live in groups"
    if _tense(tokens, above):
        return None
    while tokens[above].head >= 0 and not _tense(tokens, above):
        above = tokens[above].head
    return above if _tense(tokens, above) == token.tag else None


def _is_command(tokens: Sequence[ParsedToken], place: int) -> bool:
    """Whether a predicate is a bare infinitive without a subject: "stay safe", "be prepared"."""
    helping = [one.tag for one in tokens if one.head == place and one.relation in HELPERS]
    return (helping or [tokens[place].tag])[0] == "VB" and not has(tokens, place, {*SUBJECTS, "mark"})


def _tense(tokens: Sequence[ParsedToken], place: int) -> str:
    """The tag of a predicate's finite form, its own or that of its first auxiliary; empty where it has none."""
    finite = {"VBZ", "VBD", "VBP", "MD"}
    helping = (one.tag for one in tokens[:place] if one.head == place and one.relation in HELPERS and one.tag in finite)
    return next(helping, tokens[place].tag if tokens[place].tag in finite else "")


def _closes(tokens: Sequence[ParsedToken], place: int) -> int | None:
    """The first of a list whose "and" hangs inside its last member: "built it, said it leaks, and sold it"."""
    if not has(tokens, place, {"cc"}):
        return None
    above = tokens[place].head
    while tokens[above].head >= 0 and tokens[above].relation != "conj":
        above = tokens[above].head
    first = tokens[above].head
    nominal = {tokens[above].pos, tokens[place].pos} <= {"NOUN", "PROPN"}
    same = (nominal or tokens[above].tag == tokens[place].tag) and tokens[above].relation == "conj"
    return first if first >= 0 and same and not _is_closed(tokens, first, -1) else None


def _same_mark(tokens: Sequence[ParsedToken], place: int) -> int | None:
    """The infinitive that one goes on where it hangs on a verb below: "to say what it is and to sell it"."""
    above = tokens[place].head
    if not _is_marked(tokens, place) or _is_marked(tokens, above):
        return None
    while above >= 0 and not _is_marked(tokens, above):
        above = tokens[above].head
    return None if above < 0 else _top(tokens, above)


def _is_marked(tokens: Sequence[ParsedToken], place: int) -> bool:
    return any(one.head == place and one.tag == "TO" for one in tokens[:place])


def _member(tokens: Sequence[ParsedToken], place: int) -> int | None:
    """The head of a list whose last members hang on each other, or on the verb of its first: "mix flour and water"."""
    token, above = tokens[place], tokens[tokens[place].head]
    if token.pos in {"ADJ", "ADV"} and above.pos == "VERB" and not has(tokens, place, HELPERS):
        beside = [i for i in range(token.head, place) if tokens[i].head == token.head and tokens[i].pos == token.pos]
        return beside[-1] if beside else None  # "ranks second in size and third in wealth"
    signs = {one.text for one in tokens[:place] if one.head == place and one.relation in {"cc", "punct"}}
    chained = above.relation == "conj" and signs == {","}
    if chained and token.tag == above.tag == "VB":
        return above.head
    if token.pos not in {"NOUN", "PROPN"} or has(tokens, place, HELPERS):
        return None
    if chained:
        return above.head
    dates = above.pos == "NUM" and above.relation == "obl"  # "won the cup in 1990 and the league in 1995"
    verb = above.head if dates else token.head
    if dates and tokens[verb].pos == "NOUN":
        return verb  # "is 20 euros in 1990 and 30 euros in 1995"
    if tokens[verb].pos != "VERB" or has(tokens, place, SUBJECTS):
        return None
    held = [i for i in range(verb, place) if tokens[i].head == verb and tokens[i].pos != "NUM"]
    objects = [i for i in held if tokens[i].relation == "obj"] or [i for i in held if tokens[i].relation == "obl"]
    behind = [i for i in held if objects and i > objects[-1] and tokens[i].relation == "obl"]
    own = [cases_of(tokens, i) for i, one in enumerate(tokens) if one.head == place]
    if behind and tokens[first_word(tokens, place)].text != "," and cases_of(tokens, behind[-1]) not in own:
        return token.head  # "visit the office with a passport and a bill"
    return objects[-1] if objects else None


def _same_case(tokens: Sequence[ParsedToken], place: int) -> int | None:
    """The phrase with the same preposition around one with another: "as head of the team and as a member"."""
    cases, above = cases_of(tokens, place), tokens[place].head
    if not cases or not cases_of(tokens, above) or cases == cases_of(tokens, above):
        return None
    beside = [i for i in range(above) if tokens[i].head == tokens[above].head and cases_of(tokens, i) == cases]
    if beside:
        return beside[-1]  # "at the pier in Lund and at the bridge"
    while above >= 0 and cases != cases_of(tokens, above):
        above = tokens[above].head
    return above if above >= 0 and above != tokens[place].head else None


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
    if (
        not above < first < place
        or {tokens[first].pos, tokens[place].pos} <= {"NOUN", "PROPN"}
        or (_tense(tokens, place) and cases_of(tokens, first))
    ):
        return None
    listed = [i for i, one in enumerate(tokens[:place]) if one.head == first and one.relation == "conj"]
    closed = any(one.relation == "cc" and one.head in listed and one.text != "&" for one in tokens)
    return None if closed else first


@remembered(8_000_000, lambda found, _: 200 * len(found))
def repaired(tokens: tuple[ParsedToken, ...]) -> Sequence[ParsedToken]:
    """Put right what the parser often hangs elsewhere: titles, lists, "A & B" of a name."""
    found = [one._replace(tag=_form(tokens, place)) for place, one in enumerate(tokens)]
    if _is_inconsistent(tokens):
        found = [one._replace(relation="dep") if one.relation in _CUT else one for one in found]
    join_names(found)
    for place, token in enumerate(found):
        if token.relation == "cc" and place < token.head and found[token.head].tag == "JJ":
            listed = found[token.head].head
            hang(
                found, place, listed if found[listed].relation == "conj" else token.head, "cc"
            )  # "and full-bodied wines"
        elif token.relation == "conj" and token.head > place:
            _turn(found, place)
        elif token.relation == "conj" and (subject := _subject_before(found, place)) is not None:
            joiners = [i for i, one in enumerate(found) if one.head == subject and one.relation == "cc"]
            for i, relation in ((subject, "nsubj"), *((joiner, "cc") for joiner in joiners)):
                hang(found, i, place, relation)
        elif token.relation == "nsubj" and (verb := _second_clause(found, place)) is not None:
            joiners = [i for i, one in enumerate(found) if one.head == place and one.relation == "cc"]
            for i, head, relation in (
                (verb, token.head, "conj"),
                (place, verb, "nsubj"),
                *((i, verb, "cc") for i in joiners),
            ):
                found[i] = found[i]._replace(head=head, relation=relation)
        elif token.relation == "nsubj" and token.tag == "NN" and _is_name(found[place + 1 : place + 2], token.head):
            hang(found, place, place + 1, "nmod:desc")  # "the composer Ada Lind wrote"
        elif token.relation == "nsubj" and found[first_word(found, place)].text == ",":
            before = [i for i in range(place) if found[i].head == token.head and found[i].relation == "nsubj"]
            hang(found, place, (before or [token.head])[-1], "appos" if before else "nsubj")  # "Rome, one of them, is"
        elif token.relation == "appos" and found[token.head].relation == "obl" and cases_of(found, place):
            hang(found, place, found[token.head].head, "obl")  # "on 4 May with 59 passengers"
        elif token.relation in {"appos", "acl:relcl"} and found[token.head].relation == "flat":
            hang(found, place, found[token.head].head, token.relation)  # "Ada Lind, 34,"
    if (subject := _lost_subject(found)) is not None:
        hang(found, subject, found[subject].head, "dep")
        hang(found, subject, next(i for i, one in enumerate(found) if one.head < 0), "nsubj")
    for place in range(len(found)):
        if (modifier := _first_modifier(found, place)) is not None:
            hang(found, place, modifier, "conj")
    _rename(found)
    for place, token in enumerate(found):
        if token.relation in {"conj", "nmod"} and (left := noun_before(found, place)) is not None:
            hang(found, place, left, "nmod")  # "care of rooms, damage in transit"
        elif token.relation == "conj":
            better, relation = better_head(found, place)
            if better != token.head and token.pos == "VERB":
                _take_over(found, place, better)
            hang(found, place, better, relation)
    for place, token in enumerate(found):
        if token.relation == "conj" and (pair := gapped(found, place)) is not None:
            hang(found, place, pair[0], "conj")
            hang(found, pair[1], place, "nmod")  # "studied art in Rome and law in Lund"
    for place, token in enumerate(found):
        if token.relation == "conj" and (outer := _open_list(found, place)) is not None:
            hang(found, place, outer, "conj")
        elif token.relation == "nmod" and (participle := bare_participle(found, place)) is not None:
            hang(found, place, participle, "obl")  # "a company based in Lund"
        elif token.relation in {"obl", "nmod"} and (member := _said_of(found, place)) is not None:
            hang(found, place, member, token.relation)
    return tuple(found)


def _is_name(following: Sequence[ParsedToken], verb: int) -> bool:
    return any((one.tag, one.head, one.relation) == ("NNP", verb, "nsubj") for one in following)


def _lost_subject(tokens: Sequence[ParsedToken]) -> int | None:
    """The noun taken for an apposition that a verb without a subject needs: "In the match in Ware, the keeper fell"."""
    root = next((i for i, one in enumerate(tokens) if one.head < 0), None)
    if root is None or tokens[root].tag not in {"VBD", "VBZ"} or has(tokens, root, SUBJECTS):
        return None
    fronts = [i for i in range(root) if tokens[i].head == root and tokens[i].relation in {"obl", "nmod"}]
    titles = [i for i in range(root) if tokens[i].relation == "appos" and tokens[first_word(tokens, i)].text == ","]
    return next((i for i in titles if any(is_under(tokens, i, front) for front in fronts)), None)


def _is_inconsistent(tokens: Sequence[ParsedToken]) -> bool:
    """Whether a tree cannot be right: a noun has an object, a finite verb is an infinitive, a preposition has all."""
    roots = [place for place, one in enumerate(tokens) if one.head < 0]
    if any(has(tokens, root, {"case"}) and not has(tokens, root, {"cop"}) for root in roots):
        return True
    objects = [one for one in tokens if one.relation in {"obj", "iobj"}]
    return any(tokens[one.head].tag.startswith(("NN", "CD")) for one in objects) or any(
        one.relation == "xcomp" and one.tag in {"VBZ", "VBD"} for one in tokens
    )


def _rename(tokens: list[ParsedToken]) -> None:
    """Put right what is taken for another kind of clause, or for an apposition."""
    for place, token in enumerate(tokens):
        if token.relation == "advcl:relcl":
            before = first_word(tokens, place) - 1
            noun = before if tokens[before].pos == "PROPN" else token.head
            if tokens[noun].pos == "PROPN":
                hang(tokens, place, tokens[noun].head if tokens[noun].relation == "flat" else noun, "acl:relcl")
        elif token.relation == "advcl" and _is_marked(tokens, place) and _is_marked(tokens, token.head):
            if place > token.head and tokens[first_word(tokens, place)].text == ",":
                tokens[place] = token._replace(relation="conj")  # "is used to wash, to dry and to iron"
        elif token.relation == "parataxis" and token.pos == "NOUN" and not has(tokens, place, {*SUBJECTS, *HELPERS}):
            objects = [i for i in range(place) if tokens[i].head == token.head and tokens[i].relation == "obj"]
            if objects and _is_closed(tokens, place, place):
                for i in [place, *(i for i, one in enumerate(tokens) if (one.head, one.relation) == (place, "conj"))]:
                    hang(tokens, i, objects[-1], "conj")  # "lost its school in May, its shop in June and …"
        elif token.relation == "parataxis" and token.tag in {"VBG", "VBN"} and not has(tokens, place, SUBJECTS):
            helping = {one.text for one in tokens if one.head == place and one.relation in HELPERS}
            if helping <= {"having"} and (helping or token.tag == "VBG"):
                tokens[place] = token._replace(relation="advcl")
        elif token.relation == "parataxis" and _goes_on(tokens, place):
            tokens[place] = token._replace(relation="conj")
            opener = first_word(tokens, place) + 1
            if opener < len(tokens) and tokens[opener].text == "so":
                tokens[opener] = tokens[opener]._replace(relation="cc")
        elif token.relation == "appos" and _is_listed(tokens, place):
            tokens[place] = token._replace(relation="conj")
            for other, one in enumerate(tokens):
                if one.relation == "conj" and one.head == place:
                    hang(tokens, other, token.head, "conj")


def _form(tokens: Sequence[ParsedToken], place: int) -> str:
    """The tag of a word, or the one that its place speaks for: a verb with a subject and no helper is finite."""
    token = tokens[place]
    if token.pos != "VERB":
        return token.tag
    if token.tag == "VBD" and token.relation == "conj" and _goes_on_passive(tokens, place):
        return "VBN"
    if token.tag == "NNS":
        return "VBZ"
    own = {one.relation for one in tokens if one.head == place}
    finite = {"VB": "VBP", "VBN": "VBD"}.get(token.tag, "")
    if not finite or own & {*HELPERS, "mark"}:
        return token.tag
    goes_on = token.relation == "conj" and finite in {
        tokens[token.head].tag, *(one.tag for one in tokens if one.head == token.head and one.relation in HELPERS)
    }  # fmt: skip  # "are larger and provide more"
    if token.tag == "VBN" and not own & {"obj", "ccomp", "xcomp", "compound:prt"}:
        goes_on = False  # "was built in 1830, moved and sold"
    return finite if goes_on or "nsubj" in own else token.tag


def _goes_on_passive(tokens: Sequence[ParsedToken], place: int) -> bool:
    """Whether what looks like a past goes on a passive of the present: "is held for a week and then returned"."""
    helping = [one.tag for one in tokens if one.head == tokens[place].head and one.relation in {"aux", "aux:pass"}]
    is_passive = any(one.head == tokens[place].head and one.relation == "aux:pass" for one in tokens)
    own = {*SUBJECTS, *HELPERS, "obj", "ccomp", "xcomp"}
    return is_passive and helping[0] in {"VBZ", "VBP", "MD"} and not has(tokens, place, own)


def _subject_before(tokens: Sequence[ParsedToken], place: int) -> int | None:
    """The noun behind "and" that hangs on an object, the subject of what follows: "pays 18 and a child pays 9"."""
    if not _tense(tokens, place) or has(tokens[:place], place, {"cc", "punct", "mark", *SUBJECTS}):
        return None
    end = first_word(tokens, place)
    nouns = [i for i in range(end) if tokens[i].relation == "conj" and tokens[i].pos in {"NOUN", "PROPN", "PRON"}]
    last = next((i for i in nouns if has(tokens, i, {"cc"}) and is_under(tokens, end - 1, i)), None)
    return None if last is None or tokens[end - 1].pos == "PUNCT" else last


def _second_clause(tokens: Sequence[ParsedToken], place: int) -> int | None:
    """The participle behind "and" and a second subject: "with one praising it and another describing the owner"."""
    before = tokens[:place]
    is_second = has(before, place, {"cc"}) and has(before, tokens[place].head, {"nsubj"})
    verbs = (i for i, one in enumerate(tokens) if one.head == place and one.relation == "acl" and one.tag == "VBG")
    return next(verbs, None) if is_second else None


def _turn(tokens: list[ParsedToken], place: int) -> None:
    """Hang a conjunct on what stands before its "and", which it was hung behind: "receives and records data"."""
    joiner = next((i for i in range(place) if tokens[i].head == place and tokens[i].relation == "cc"), 0)
    if joiner and tokens[joiner - 1].pos == tokens[place].pos:
        hang(tokens, place, _top(tokens, joiner - 1), "conj")


def _take_over(tokens: list[ParsedToken], verb: int, first: int) -> None:
    """Hang what stands behind a verb on it, not on the verb that it is coordinated with."""
    for place in range(verb + 1, len(tokens)):
        if tokens[place].head == first and tokens[place].relation in {"obl", "obj", "advmod"}:
            tokens[place] = tokens[place]._replace(head=verb)


def _top(tokens: Sequence[ParsedToken], place: int) -> int:
    """The first of the list that a word is a member of."""
    return tokens[place].head if tokens[place].relation == "conj" else place


def _first_modifier(tokens: Sequence[ParsedToken], place: int) -> int | None:
    """The first of the adjectives that a sign or conjunction joins this one to: "local, state and tribal courts"."""
    if tokens[place].relation not in MODIFIERS:
        return None
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
    return before if same else None


def _goes_on(tokens: Sequence[ParsedToken], place: int) -> bool:
    """Whether a predicate goes on a list: "opens at nine, closes at five, and …", "it rains, snow falls, and …"."""
    token, above = tokens[place], tokens[tokens[place].head]
    if has(tokens, place, SUBJECTS):
        first = first_word(tokens, place)
        return tokens[first].text == "," and (_is_closed(tokens, token.head, place) or tokens[first + 1].text == "so")
    return token.tag == above.tag and token.tag in {"VBZ", "VBD", "VBP"}


def _open_list(tokens: Sequence[ParsedToken], place: int) -> int | None:
    """The list that goes on around one without "and": in "use of keys, care of rooms, and rent" rooms are no keys."""
    inner = tokens[place].head
    if tokens[place].pos not in {"NOUN", "PROPN"} or _is_closed(tokens, inner, 0):
        return None
    outer = inner
    while tokens[outer].head >= 0 and tokens[outer].pos in {"NOUN", "PROPN"}:
        outer = _top(tokens, tokens[outer].head)
        if _is_closed(tokens, outer, place):
            return outer
    return None


def _said_of(tokens: Sequence[ParsedToken], place: int) -> int | None:
    """The member of a list that a phrase is said of where one before has its own: "5 euros in May and 6 in June"."""
    above = tokens[place].head
    members = [i for i in range(place) if tokens[i].relation == "conj" and above in _heads(tokens, i)]
    cases = cases_of(tokens, place)
    if not members or not cases or not is_under(tokens, first_word(tokens, place) - 1, members[-1]):
        return None
    own = (i for i in range(tokens[members[-1]].head + 1, members[-1]) if tokens[i].head == above)
    alike = any(tokens[i].pos == tokens[place].pos and cases_of(tokens, i) == cases for i in own)
    return members[-1] if alike else None


def _heads(tokens: Sequence[ParsedToken], place: int) -> list[int]:
    """The head of a word, and the head of that."""
    above = tokens[place].head
    return [above, tokens[above].head]


def _is_closed(tokens: Sequence[ParsedToken], first: int, place: int) -> bool:
    """Whether a list has a last member, behind a place."""
    members = {i for i, one in enumerate(tokens) if one.head == first and one.relation == "conj" and i > place}
    return any(one.relation == "cc" and one.head in members for one in tokens)


def _is_listed(tokens: Sequence[ParsedToken], place: int) -> bool:
    """Whether an apposition is rather the second of a list: "a mask, a tube and a bag"."""
    token, above = tokens[place], tokens[tokens[place].head]
    if token.pos == above.pos == "PROPN":
        members = [i for i, one in enumerate(tokens) if one.head == token.head and one.relation == "conj"]
        return any(i < place for i in members) and any(i > place for i in members)
    return token.pos == above.pos == "NOUN" and token.tag == above.tag and has(tokens, place, {"conj"})
