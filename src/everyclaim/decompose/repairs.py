"""What the parser often hangs elsewhere than its neighbours speak for, hung where it belongs.

A title in quotes is one name. Where a conjunct belongs, its form and its neighbours tell.
"""

from __future__ import annotations

from everyclaim.core.lifetime import remembered
from everyclaim.decompose.parsed_names import join_names
from everyclaim.decompose.parsed_phrases import (
    first_modifier,
    gapped,
    noun_before,
    verb_before,
)
from everyclaim.models.local.parser import ParsedToken
from everyclaim.models.local.tree import FINITE, HELPERS, SUBJECTS, TENSED, THINGS, Tree, tree_of

_CUT = frozenset({"conj", "appos", "acl:relcl", "parataxis"})  # relations at which a sentence is split


def better_head(tree: Tree, place: int) -> tuple[int, str]:
    """The head that the form of a conjunct speaks for, and its relation to it."""
    above = tree.head(place)
    if tree.says(place, "cc", "&") and tree.text(place)[0].isupper():
        beside = [i for i in tree.conjuncts(above) if above < i < place]
        return (beside or [above])[-1], "flat"
    readings = _besides, _called, _member, _behind_aside, _predicate, _closes
    for reading in readings:
        better = reading(tree, place)
        if better is not None:
            return better, "conj"
    return above, "conj"


def _besides(tree: Tree, place: int) -> int | None:
    """What "as well as" goes on behind examples with an "and" of their own: "drinks, such as tea and milk, …"."""
    above = tree.head(place)
    joined = [tree.low(i) for i in range(above, place) if tree.relation(i) == "cc"]
    is_example = tree.relation(above) == "nmod" and not {"such", "including"}.isdisjoint(tree.cases(above))
    return tree.head(above) if is_example and joined[-1:] == ["as"] and len(joined) > 1 else None


def _called(tree: Tree, place: int) -> int | None:
    """The apposition that a noun goes on, no comma between them: "Ada Lind, a painter and writer, left"."""
    first = tree.first(place)
    if tree.pos(place) != "NOUN" or not tree.of(place, "cc") or tree.text(first) == ",":
        return None
    above = tree.head(place)
    title = max((i for i in tree.of(above, "appos") if above < i < place), default=above)
    is_one = tree.pos(title) == "NOUN" and tree.pos(above) == "PROPN" and tree.is_under(first - 1, title)
    return title if is_one else None


def _behind_aside(tree: Tree, place: int) -> int | None:
    """The predicate that a clause behind a comma and "and" goes on, not the relative clause that the comma closes."""
    above, first = tree.head(place), tree.first(place)
    joined = tree.text(first) == "," and first + 1 in tree.joiners(place) and _tense(tree, place)
    listed = any(tree.text(i) == "," for i in range(above, first))
    if not joined or listed or tree.relation(above) != "acl:relcl":
        return None
    subject, outer = tree.subject(place), tree.predicate_of(tree.head(above), tree.root)
    if subject is None and (not tree.comma_before(above) or tree.is_past(outer) is not tree.is_past(place)):
        return None
    asked = subject is not None and tree.tag(subject) in {"WDT", "WP"}
    return outer if outer < above and not asked and _tense(tree, outer) else None


def _predicate(tree: Tree, place: int) -> int | None:
    """The predicate that a finite verb without subject is coordinated with, where it hangs on a word inside it."""
    tag, above = tree.tag(place), tree.head(place)
    near = tree.first(place) - 1
    while near not in {above, -1} and not (tree.relation(near) == "conj" and tree.subject(near) is not None):
        near = tree.head(near)
    if near not in {above, -1} and _tense(tree, near) and _tense(tree, place) and tree.subject(place) is None:
        return near  # "one enjoyed it, and another called it clean but found it small"
    outer = tree.head(tree.head(above))
    if tag == "VBG" and tree.relation(above) == "acl:relcl" and tree.tag(outer) == tag and not tree.of(place, *HELPERS):
        # "cutting the wire that held it and leaving"
        return outer if _tense(tree, above) and tree.of(place, "cc") else None
    if _tense(tree, place) and not _tense(tree, above) and (tree.relation(above) == "xcomp" or _is_marked(tree, above)):
        # "it remains unknown but some think …", "finds it vague and would cap it"
        over = tree.head(above)
        return over if tree.relation(above) == "xcomp" else tree.predicate_of(over, tree.root)
    if _is_command(tree, place) and (_tense(tree, above) not in {"", "MD"} or _is_command(tree, above)):
        while tree.head(above) >= 0 and (tree.relation(above) == "conj" or not _is_command(tree, above)):
            above = tree.head(above)
        return above if _is_command(tree, above) else None  # "remember that it is a test and stay safe"
    if _tense(tree, place) not in TENSED or tree.of(place, *SUBJECTS):
        return None
    said = tree.head(above)
    alike = _tense(tree, above) == "MD" and _tense(tree, said) == _tense(tree, place)  # "says it will last and sees …"
    if tree.relation(above) == "ccomp" and (alike or (tree.of(place, "ccomp") and tree.tag(said) == tag)):
        return said  # "reported that it grew and warned that it shrinks"
    if tree.relation(above) == "conj" and not _tense(tree, above) and tree.tag(above) == "VBN":
        return tree.head(above) if _tense(tree, tree.head(above)) else None  # "have grown, made up half and are"
    if tree.relation(above) == "acl:relcl" and {_tense(tree, above), _tense(tree, place)} == {"VBZ", "VBP"}:
        tag, above = _tense(tree, place), tree.head(above)  # "have a stripe that runs along it and live in groups"
    if tag not in TENSED:
        return None
    if tree.tag(above) == tag and tree.relation(above) == "conj":
        return tree.head(above) if tree.tag(tree.head(above)) == tag else None
    if _tense(tree, above):
        return None
    while tree.head(above) >= 0 and not _tense(tree, above):
        above = tree.head(above)
    return above if _tense(tree, above) == tag or (tag == "VBD" and tree.tag(above) == "VBN") else None


def _is_command(tree: Tree, place: int) -> bool:
    """Whether a predicate is a bare infinitive without a subject: "stay safe", "be prepared"."""
    return tree.forms(place)[0].tag == "VB" and not tree.of(place, *SUBJECTS, "mark")


def _tense(tree: Tree, place: int) -> str:
    """The tag of a predicate's finite form, its own or that of its first auxiliary; empty where it has none."""
    chain = [*(kid for kid in tree.of(place, *HELPERS) if kid < place), place]
    return next((tree.tag(i) for i in chain if tree.tag(i) in FINITE), "")


def _closes(tree: Tree, place: int) -> int | None:
    """The first of a list whose "and" hangs inside its last member: "built it, said it leaks, and sold it"."""
    if not tree.of(place, "cc"):
        return None
    above = tree.head(place)
    while tree.head(above) >= 0 and tree.relation(above) != "conj":
        above = tree.head(above)
    first = tree.head(above)
    nominal = {tree.pos(above), tree.pos(place)} <= THINGS
    same = (nominal or tree.tag(above) == tree.tag(place)) and tree.relation(above) == "conj"
    return first if first >= 0 and same and not _is_closed(tree, first, -1) else None


def _is_marked(tree: Tree, place: int) -> bool:
    return any(kid < place and tree.tag(kid) == "TO" for kid in tree.kids[place])


def _member(tree: Tree, place: int) -> int | None:
    """The head of a list whose last members hang on each other, or on the verb of its first: "mix flour and water"."""
    token, above = tree.tokens[place], tree.tokens[tree.head(place)]
    if token.pos in {"ADJ", "ADV"} and above.pos == "VERB" and not tree.of(place, *HELPERS):
        beside = [i for i in tree.kids[token.head] if token.head < i < place and tree.pos(i) == token.pos]
        return beside[-1] if beside else None  # "ranks second in size and third in wealth"
    signs = {tree.low(kid) for kid in tree.of(place, "cc", "punct") if kid < place}
    chained = above.relation == "conj" and signs == {","}
    if chained and token.tag == above.tag == "VB":
        return above.head
    if token.pos not in THINGS or tree.of(place, *HELPERS):
        return None
    if chained:
        return above.head
    dates = above.pos == "NUM" and above.relation in {"obl", "nmod"}  # "won the cup in 1990 and the league in 1995"
    verb = above.head if dates else token.head
    while dates and tree.relation(verb) in {"obl", "nmod"}:
        verb = tree.head(verb)
    if dates and tree.pos(verb) == "NOUN":
        return verb  # "is 20 euros in 1990 and 30 euros in 1995"
    if tree.pos(verb) != "VERB" or tree.of(place, *SUBJECTS):
        return None
    held = [i for i in tree.kids[verb] if verb < i < place and tree.pos(i) != "NUM"]
    objects = [i for i in held if tree.relation(i) == "obj"] or [i for i in held if tree.relation(i) == "obl"]
    behind = [i for i in held if objects and i > objects[-1] and tree.relation(i) == "obl"]
    own = [tree.cases(kid) for kid in tree.kids[place]]
    if behind and tree.text(tree.first(place)) != "," and tree.cases(behind[-1]) not in own:
        return token.head  # "visit the office with a passport and a bill"
    return objects[-1] if objects else None


@remembered(8_000_000, lambda found, _: 300 * len(found.tokens))
def parsed(text: str) -> Tree:
    """Read a sentence, and put right what the parser often hangs elsewhere: titles, lists, "A & B" of a name."""
    tree = tree_of(text)
    cut = _CUT if _is_inconsistent(tree) else ()
    for place, tag in enumerate([_form(tree, place) for place in range(len(tree.tokens))]):
        token = tree.tokens[place]
        tree.tokens[place] = token._replace(tag=tag, relation="dep" if token.relation in cut else token.relation)
    join_names(tree)
    for place, token in enumerate(tree.tokens):
        _hang_beside(tree, place, token)
    for place in range(len(tree.tokens)):
        if (modifier := first_modifier(tree, place)) is not None:
            tree.hang(place, modifier, "conj")
    _rename(tree)
    for place, token in enumerate(tree.tokens):
        if token.relation in {"conj", "nmod"} and (left := noun_before(tree, place)) is not None:
            tree.hang(place, left, "nmod")  # "care of rooms, damage in transit"
        elif token.relation == "conj" and (verb := verb_before(tree, place)) is not None:
            tree.hang(place, verb, "xcomp" if token.pos == "ADJ" else "obj")  # "cheap and rated good"
        elif token.relation == "conj" and _is_where(tree, place):
            tree.call(place, "appos")  # "was born in Lund, Sweden, and left"
        elif token.relation == "conj":
            better, relation = better_head(tree, place)
            if better != token.head and token.pos == "VERB":
                for kid in [kid for kid in tree.of(better, "obl", "obj", "advmod") if kid > place]:
                    tree.hang(kid, place, tree.relation(kid))
            tree.hang(place, better, relation)
    for place, token in enumerate(tree.tokens):
        if token.relation == "conj" and (pair := gapped(tree, place)) is not None:
            tree.hang(place, pair[0], "conj")
            tree.hang(pair[1], place, "nmod")  # "studied art in Rome and law in Lund"
    for place, token in enumerate(tree.tokens):
        if token.relation == "conj" and (outer := _open_list(tree, place)) is not None:
            tree.hang(place, outer, "conj")
        elif token.relation == "cc" and place > token.head:
            behind = (i for i in tree.conjuncts(token.head) if tree.first(i) == place + 1)
            tree.hang(place, next(behind, token.head), "cc")  # "and one finds it small but is content"
        elif token.relation in {"obl", "nmod"} and (member := _said_of(tree, place)) is not None:
            tree.hang(place, member, token.relation)
    return tree


def _hang_beside(tree: Tree, place: int, token: ParsedToken) -> None:
    """Hang a conjunction, conjunct, subject or apposition where its neighbours speak for."""
    head, relation = token.head, token.relation
    if relation == "cc" and place < head and tree.tag(head) == "JJ":
        listed = tree.head(head)
        tree.hang(place, listed if tree.relation(listed) == "conj" else head, "cc")  # "and full-bodied wines"
    elif relation == "conj" and head > place:
        _turn(tree, place)
    elif relation == "conj" and (subject := _subject_before(tree, place)) is not None:
        for i in [subject, *tree.joiners(subject)]:
            tree.hang(i, place, "nsubj" if i == subject else "cc")
    elif relation == "nsubj" and (verb := _second_clause(tree, place)) is not None:
        tree.hang(verb, head, "conj")
        tree.hang(place, verb, "nsubj")
        for i in tree.joiners(place):
            tree.hang(i, verb, "cc")
    elif (
        relation == "nsubj"
        and token.tag == "NN"
        and any(
            (one.tag, one.head, one.relation) == ("NNP", head, relation) for one in tree.tokens[place + 1 : place + 2]
        )
    ):
        tree.hang(place, place + 1, "nmod:desc")  # "the composer Ada Lind wrote"
    elif relation == "det" and token.tag == "DT" and tree.pos(head) == "VERB" and tree.subject(head) == place + 1:
        tree.hang(place, place + 1, "det")  # "the firm grinds"
    elif relation == "nmod:desc" and place < head:
        for kid in [kid for kid in tree.of(head, "det", "amod", "compound", "nmod:poss") if kid < place]:
            tree.hang(kid, place, tree.relation(kid))  # "the midwife Ada Lind"
    elif relation == "nsubj" and tree.text(tree.first(place)) == ",":
        before = [i for i in tree.kids[head] if i < place and tree.relation(i) == "nsubj"]
        tree.hang(place, (before or [head])[-1], "appos" if before else "nsubj")  # "Rome, one of them, is"
    elif relation == "appos" and tree.relation(head) == "obl" and tree.cases(place):
        tree.hang(place, tree.head(head), "obl")  # "on 4 May with 59 passengers"
    elif relation in {"appos", "acl:relcl"} and tree.relation(head) == "flat":
        tree.hang(place, tree.head(head), relation)  # "Ada Lind, 34,"


def _is_inconsistent(tree: Tree) -> bool:
    """Whether a tree cannot be right: a noun has an object, a finite verb is an infinitive, a preposition has all."""
    if tree.tokens and tree.of(tree.root, "case") and not tree.of(tree.root, "cop"):
        return True
    return any(
        (one.relation in {"obj", "iobj"} and tree.tag(one.head).startswith(("NN", "CD")))
        or (one.relation == "xcomp" and one.tag in {"VBZ", "VBD"})
        for one in tree.tokens
    )


def _rename(tree: Tree) -> None:
    """Put right what is taken for another kind of clause, or for an apposition."""
    for place, token in enumerate(tree.tokens):
        if token.relation == "advcl:relcl" or (token.relation == "advcl" and _tells_where(tree, place)):
            before = tree.first(place) - 1
            noun = before if tree.pos(before) == "PROPN" else token.head
            if tree.pos(noun) == "PROPN":
                tree.hang(place, tree.head(noun) if tree.relation(noun) == "flat" else noun, "acl:relcl")
        elif token.relation == "advcl" and _is_marked(tree, place) and _is_marked(tree, token.head):
            if place > token.head and tree.text(tree.first(place)) == ",":
                tree.call(place, "conj")  # "is used to wash, to dry and to iron"
        elif token.relation == "parataxis" and token.pos == "NOUN" and not tree.of(place, *SUBJECTS, *HELPERS):
            objects = [i for i in tree.of(token.head, "obj") if i < place]
            if objects and _is_closed(tree, place, place):
                for i in [place, *tree.conjuncts(place)]:
                    tree.hang(i, objects[-1], "conj")  # "lost its school in May, its shop in June and …"
        elif token.relation == "parataxis" and token.tag in {"VBG", "VBN"} and not tree.of(place, *SUBJECTS):
            helping = tree.words(place, *HELPERS)
            if helping <= {"having"} and (helping or token.tag == "VBG"):
                tree.call(place, "advcl")
        elif token.relation == "conj" and (early := _before_its_joiner(tree, place)):
            tree.hang(tree.joiners(place)[0], early[0], "cc")
            for kid in early:  # "runs by day and by night, and a ticket costs …"
                tree.hang(kid, token.head, tree.relation(kid))
        elif token.relation == "parataxis" and _goes_on(tree, place):
            tree.call(place, "conj")
            opener = tree.first(place) + 1
            if opener < len(tree.tokens) and tree.text(opener) == "so":
                tree.call(opener, "cc")
        elif token.relation == "advcl" and token.tag == "VBN" and _is_next(tree, place):
            for i in [place, *tree.conjuncts(place)]:
                tree.hang(i, token.head, "conj")  # "was besieged, burned down and rebuilt", "came, has won and left"
        elif token.relation == "amod" and token.tag == "VBN" and tree.head(place) < place and tree.of(place, "obj"):
            verb = _top(tree, tree.head(token.head))
            if tree.tag(verb) == "VBD" and tree.text(tree.first(place)) == ",":
                tree.hang(place, verb, "conj")  # "lent money, spread fear and …"
                tree.tokens[place] = tree.tokens[place]._replace(tag="VBD")
        elif token.relation == "appos" and _is_listed(tree, place):
            tree.call(place, "conj")
            for other in tree.conjuncts(place):
                tree.hang(other, token.head, "conj")


def _before_its_joiner(tree: Tree, place: int) -> list[int]:
    """What stands between two conjunctions of a conjunct, and so before what it begins with."""
    first, *rest = tree.joiners(place) or [place]
    return [kid for kid in tree.of(place, "obl") if rest and tree.head(place) < first < kid < rest[-1]]


def _tells_where(tree: Tree, place: int) -> bool:
    """Whether a clause behind a name and a comma says what was there: "joined Rosa, where she sang"."""
    first = tree.first(place)
    told = tree.text(first) == "," and tree.low(first + 1) == "where"
    return told and tree.pos(first - 1) == "PROPN"


def _is_next(tree: Tree, place: int) -> bool:
    """Whether a participle goes on a list of passives, which its own conjuncts close, or a list of finite verbs."""
    head = tree.head(place)
    passive = tree.tag(head) == "VBN" and any(tree.relation(i) == "aux:pass" for i in tree.kids[head])
    closed = any(tree.tag(one) == "VBN" and tree.joiners(one) for one in tree.conjuncts(place))
    told = _tense(tree, place) in TENSED and not tree.of(place, "mark") and _is_closed(tree, head, place)
    listed = (passive and closed) or (told and not tree.conjuncts(place))
    return listed and place > head and tree.text(tree.first(place)) == "," and tree.subject(place) is None


def _form(tree: Tree, place: int) -> str:
    """The tag of a word, or the one that its place speaks for: a verb with a subject and no helper is finite."""
    token = tree.tokens[place]
    if token.pos != "VERB":
        return token.tag
    if token.tag == "VBD" and token.relation == "conj" and _goes_on_passive(tree, place):
        return "VBN"
    if token.tag == "NNS":
        return "VBZ"
    if token.tag in {"VB", "VBP"} and token.relation == "conj" and tree.forms(token.head)[0].tag == "MD":
        if token.text == "have" and any(_is_marked(tree, kid) for kid in tree.of(place, "xcomp")):
            return "VBP"  # "can start now and have to pay"
        return token.tag if tree.of(place, *SUBJECTS) else "VB"  # "may harm it and void the warranty"
    own = {tree.relation(kid) for kid in tree.kids[place]}
    finite = {"VB": "VBP", "VBN": "VBD"}.get(token.tag, "")
    if not finite or own & {*HELPERS, "mark"}:
        return token.tag
    above = [token.head, *tree.of(token.head, *HELPERS)]
    goes_on = token.relation == "conj" and finite in map(tree.tag, above)  # "are larger and provide more"
    if token.tag == "VBN" and not own & {"obj", "ccomp", "xcomp", "compound:prt"}:
        goes_on = False  # "was built in 1830, moved and sold"
    return finite if goes_on or "nsubj" in own else token.tag


def _goes_on_passive(tree: Tree, place: int) -> bool:
    """Whether what looks like a past goes on a passive of the present: "is held for a week and then returned"."""
    helping = tree.of(tree.head(place), "aux")
    if not any(tree.relation(i) == "aux:pass" for i in helping) or tree.tag(helping[0]) not in {"VBZ", "VBP", "MD"}:
        return False
    return not tree.of(place, *SUBJECTS, *HELPERS, "obj", "ccomp", "xcomp")


def _is_where(tree: Tree, place: int) -> bool:
    """Whether a name right behind another and a comma, and no conjunction, says where that is."""
    above, first = tree.head(place), tree.first(place)
    others = [i for i in [*tree.conjuncts(above), *tree.conjuncts(place)] if i != place]
    alone = not tree.joiners(place) and not any(tree.pos(i) in THINGS for i in others)
    named = tree.pos(above) == tree.pos(place) == "PROPN" and bool(tree.cases(above))
    named &= all(one.text.istitle() for one in tree.tokens[first + 1 : place])
    return alone and named and tree.text(first) == "," and above in {first - 1, tree.head(first - 1)}


def _subject_before(tree: Tree, place: int) -> int | None:
    """The noun behind "and" that hangs on an object, the subject of what follows: "pays 18 and a child pays 9"."""
    end = tree.first(place)
    own = any(kid < place for kid in tree.of(place, "cc", "punct", "mark", *SUBJECTS))
    if not _tense(tree, place) or own or tree.pos(end - 1) == "PUNCT":
        return None
    nouns = (i for i in range(end) if tree.relation(i) == "conj" and tree.pos(i) in {*THINGS, "PRON"})
    return next((i for i in nouns if tree.joiners(i) and tree.is_under(end - 1, i)), None)


def _second_clause(tree: Tree, place: int) -> int | None:
    """The participle behind "and" and a second subject: "with one praising it and another describing the owner"."""
    joined = any(kid < place for kid in tree.joiners(place))
    is_second = joined and any(kid < place and tree.relation(kid) == "nsubj" for kid in tree.kids[tree.head(place)])
    verbs = (kid for kid in tree.kids[place] if tree.relation(kid) == "acl" and tree.tag(kid) == "VBG")
    return next(verbs, None) if is_second else None


def _turn(tree: Tree, place: int) -> None:
    """Hang a conjunct on what stands before its "and", which it was hung behind: "receives and records data"."""
    joiner = next(iter(tree.joiners(place)), 0)
    if 0 < joiner < place and tree.pos(joiner - 1) == tree.pos(place):
        tree.hang(place, _top(tree, joiner - 1), "conj")


def _top(tree: Tree, place: int) -> int:
    """The first of the list that a word is a member of."""
    return tree.head(place) if tree.relation(place) == "conj" else place


def _goes_on(tree: Tree, place: int) -> bool:
    """Whether a predicate goes on a list: "opens at nine, closes at five, and …", "it rains, snow falls, and …"."""
    head, tag = tree.head(place), tree.tag(place)
    if tree.of(place, *SUBJECTS):
        first = tree.first(place)
        closed = _is_closed(tree, head, place) and (tag != "VBN" or _tense(tree, place))  # ", coffee not included, but"
        return tree.text(first) == "," and bool(closed or tree.text(first + 1) == "so")
    return tag == tree.tag(head) and tag in TENSED and not any(i < place for i in tree.of(place, "obl", "mark"))


def _open_list(tree: Tree, place: int) -> int | None:
    """The list that goes on around one without "and": in "use of keys, care of rooms, and rent" rooms are no keys."""
    inner = tree.head(place)
    if tree.pos(place) not in THINGS or _is_closed(tree, inner, 0):
        return None
    outer = inner
    while tree.head(outer) >= 0 and tree.pos(outer) in THINGS:
        outer = _top(tree, tree.head(outer))
        if _is_closed(tree, outer, place):
            return outer
    return None


def _said_of(tree: Tree, place: int) -> int | None:
    """The member of a list that a phrase is said of where one before has its own: "5 euros in May and 6 in June"."""
    above, cases = tree.head(place), tree.cases(place)
    lists = [above, *tree.kids[above]]
    members = sorted(i for one in lists for i in tree.kids[one] if i < place and tree.relation(i) == "conj")
    if not members or not cases or not tree.is_under(tree.first(place) - 1, members[-1]):
        return None
    own = (i for i in tree.kids[above] if tree.head(members[-1]) < i < members[-1])
    alike = any(tree.pos(i) == tree.pos(place) and tree.cases(i) == cases for i in own)
    return members[-1] if alike else None


def _is_closed(tree: Tree, first: int, place: int) -> bool:
    """Whether a list has a last member, behind a place."""
    return any(i > place and tree.joiners(i) for i in tree.conjuncts(first))


def _is_listed(tree: Tree, place: int) -> bool:
    """Whether an apposition is rather the second of a list: "a mask, a tube and a bag"."""
    head, pos = tree.head(place), tree.pos(place)
    if pos == tree.pos(head) == "PROPN":
        members = tree.conjuncts(head)
        return bool(members) and members[0] < place < members[-1]
    if pos != "NOUN" or pos != tree.pos(head) or tree.tag(place) != tree.tag(head):
        return False
    behind = tree.under(place)[-1] + 1
    return bool(tree.conjuncts(place)) or any(behind in tree.joiners(one) for one in tree.conjuncts(head))
