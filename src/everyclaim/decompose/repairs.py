"""What is put right in what the parser read: a title is one name, and clauses in a row are a list."""

from __future__ import annotations

from everyclaim.core.lifetime import remembered
from everyclaim.models.local.tree import FINITE, HELPERS, MODIFIERS, SUBJECTS, TENSED, THINGS, Tree, tree_of

QUOTES = frozenset({'"', "“", "”", "``", "''"})
_CUT = frozenset({"conj", "appos", "acl:relcl", "parataxis"})  # relations at which a sentence is split
_LONGEST_TITLE = 12  # words in quotes that are taken for one name


def _join_titles(tree: Tree) -> None:
    """Make one name of each title in quotes."""
    placed = {one.head for one in tree.tokens if one.relation == "case"}
    for title in quotations(tree):
        tops = [i for i in title if tree.head(i) not in title]
        main = max(tops, key=lambda i: (tree.head(i) < 0, i in placed, tree.pos(i) != "PUNCT", i))
        for i in title if len(title) <= _LONGEST_TITLE else ():
            if i != main:
                tree.hang(i, main, "flat")


def quotations(tree: Tree) -> list[range]:
    """The places of each quotation, with its marks."""
    marks = [i for i, token in enumerate(tree.tokens) if token.text in QUOTES]
    return [range(first, last + 1) for first, last in zip(marks[::2], marks[1::2], strict=False)]


@remembered(8_000_000, lambda found, _: 300 * len(found.tokens))
def parsed(text: str) -> Tree:
    """Read a sentence, and put right what the parser often hangs elsewhere than its neighbours speak for."""
    tree = tree_of(text)
    whole = _is_inconsistent(tree)
    for place, tag in enumerate([_form(tree, place) for place in range(len(tree.tokens))]):
        token = tree.tokens[place]
        relation = "dep" if whole and token.relation in _CUT else token.relation
        tree.tokens[place] = token._replace(tag=tag, relation=relation)
    _join_titles(tree)
    for place, token in enumerate(tree.tokens):
        if token.relation in MODIFIERS and (first := _first_modifier(tree, place)) is not None:
            tree.hang(place, first, "conj")  # "local, state and tribal courts"
        elif token.relation == "parataxis" and _goes_on(tree, place):
            tree.call(place, "conj")
            opener = tree.first(place) + 1
            if opener < len(tree.tokens) and tree.text(opener) == "so":
                tree.call(opener, "cc")
        elif token.relation == "appos" and place and token.pos == tree.pos(place - 1) == "PROPN" and token.head < place:
            tree.call(place, "flat")
        elif token.relation == "appos" and (other := _listed_with(tree, place)) is not None:
            if tree.pos(token.head) == "PROPN" or tree.comma_behind(other):
                tree.hang(other, place, "conj")  # "Rosa, a painter and a poet, …"
            else:
                tree.call(place, "conj")  # "a cup, a spoon and a fork"
        elif (
            token.relation == "conj" and token.head < place and tree.says(place, "cc", "&") and token.text[0].isupper()
        ):
            tree.hang(place, max(i for i in [token.head, *tree.conjuncts(token.head)] if i < place), "flat")
        elif token.relation == "conj":
            head = _predicate(tree, place) or _open_list(tree, place) or token.head
            tree.hang(place, head, "conj" if _agree(tree, place, head) else "dep")
        elif token.relation == "obj" and (nearer := [one for one in tree.conjuncts(token.head) if one < place]):
            if min(tree.of(token.head, "obj")) < nearer[0]:  # of "sells tea, but coffee costs 2 %" it is the second's
                tree.hang(place, nearer[-1], "obj")
        elif token.relation == "advcl:relcl" or (token.relation == "advcl" and tree.says(place, "advmod", "where")):
            before = tree.first(place) - 1
            near = {"PROPN", "NOUN"} if tree.says(place, "nsubj", "that") else {"PROPN"}
            noun = before if before >= 0 and tree.pos(before) in near else token.head
            if noun < place and tree.pos(noun) in near:  # "joined Rosa, where she sang"
                tree.hang(place, tree.head(noun) if tree.relation(noun) == "flat" else noun, "acl:relcl")
        elif token.relation == "nmod:desc" and place < token.head:
            for kid in [kid for kid in tree.of(token.head, "det", "amod", "compound", "nmod:poss") if kid < place]:
                tree.hang(kid, place, tree.relation(kid))  # "the midwife Ada Lind"
            for kid in tree.of(place, "case"):
                tree.hang(kid, token.head, "case")  # "according to midwife Ada Lind"
    return tree


def _is_inconsistent(tree: Tree) -> bool:
    """Whether a tree cannot be right: nothing joins a conjunct, a noun has an object, an infinitive is finite.

    Nor can a conjunct take over a subject where a noun stands right before its verb: "and from May on it is shut".
    """
    return any(
        (one.relation == "conj" and not tree.of(place, "cc", "punct"))
        or (one.relation in {"obj", "iobj"} and tree.tag(one.head).startswith(("NN", "CD")))
        or (one.relation == "xcomp" and one.tag in {"VBZ", "VBD"})
        or (one.relation == "conj" and _lacks_subject(tree, place))
        for place, one in enumerate(tree.tokens)
    )


def _lacks_subject(tree: Tree, place: int) -> bool:
    """Whether what stands right before a finite conjunct without subject is a noun or pronoun of its own."""
    if not _tense(tree, place) or tree.of(place, *SUBJECTS):
        return False
    before = min([place, *(kid for kid in tree.of(place, *HELPERS) if kid < place)]) - 1
    while before >= 0 and tree.pos(before) == "ADV" and tree.head(before) == place:
        before -= 1
    return tree.pos(before) in {*THINGS, "PRON"} and before in tree.under(place)


def _listed_with(tree: Tree, place: int) -> int | None:
    """The conjunct of its noun that "and" joins right behind an apposition between commas."""
    first, behind = tree.first(place), max(tree.under(place)) + 1
    if "," not in {tree.text(first), tree.text(first - 1)} or tree.pos(place) != "NOUN":
        return None
    beside = tree.conjuncts(tree.head(place))
    return next((one for one in beside if tree.first(one) == behind and tree.joiners(one)), None)


def _form(tree: Tree, place: int) -> str:
    """The tag of a word, or the one that its place speaks for: a verb with a subject and no helper is finite."""
    token = tree.tokens[place]
    own = {tree.relation(kid) for kid in tree.kids[place]}
    finite = {"VB": "VBP", "VBN": "VBD", "NNS": "VBZ"}.get(token.tag, "")
    if token.pos != "VERB" or not finite or own & {*HELPERS, "mark"}:
        return token.tag
    above = [token.head, *tree.of(token.head, *HELPERS)]
    goes_on = token.relation == "conj" and finite in map(tree.tag, above)  # "are larger and provide more"
    if token.tag == "VBN" and not own & {"obj", "ccomp", "xcomp", "compound:prt"}:
        goes_on = False  # "was built in 1830, moved and sold"
    return finite if goes_on or "nsubj" in own else token.tag


def _first_modifier(tree: Tree, place: int) -> int | None:
    """The first of the adjectives that signs or a conjunction part from this one."""
    beside = [i for i in tree.of(tree.head(place), *MODIFIERS) if i < place]
    between = range(beside[0] + 1, place) if beside else ()
    parted = any(tree.text(i) == "," or tree.relation(i) == "cc" for i in between)
    listed = all(i in beside or tree.text(i) == "," or tree.relation(i) in {"cc", "advmod"} for i in between)
    return beside[0] if parted and listed else None


def _predicate(tree: Tree, place: int) -> int | None:
    """The predicate of the same tense that a finite verb without subject goes on, where it hangs on a word inside."""
    tense, above = _tense(tree, place), tree.head(place)
    if tense not in TENSED or tree.of(place, *SUBJECTS):
        return None
    while tree.head(above) >= 0 and not _tense(tree, above):
        above = tree.head(above)
    return above if _tense(tree, above) == tense else None


def _agree(tree: Tree, place: int, head: int) -> bool:
    """Whether a finite verb without subject can go on what it is coordinated with, another of its number."""
    tense, above = _tense(tree, place), _tense(tree, head)
    return not tense or bool(tree.of(place, *SUBJECTS)) or bool(above and {tense, above} != {"VBZ", "VBP"})


def _open_list(tree: Tree, place: int) -> int | None:
    """The list that goes on around one without "and": in "use of keys, care of rooms, and rent" rooms are no keys."""
    outer = tree.head(place)
    if tree.pos(place) not in THINGS or _is_closed(tree, outer, 0):
        return None
    while tree.head(outer) >= 0 and tree.pos(outer) in THINGS:
        outer = tree.head(outer)
        if _is_closed(tree, outer, place):
            return outer
    return None


def _goes_on(tree: Tree, place: int) -> bool:
    """Whether a predicate goes on a list: "opens at nine, closes at five, and …", "it rains, so it is wet"."""
    head, tag = tree.head(place), tree.tag(place)
    if tree.of(place, *SUBJECTS):
        first = tree.first(place)
        closed = _is_closed(tree, head, place) and (tag != "VBN" or _tense(tree, place))  # ", coffee not included, but"
        return tree.text(first) == "," and bool(closed or tree.text(first + 1) == "so")
    return tag == tree.tag(head) and tag in TENSED and not any(i < place for i in tree.of(place, "obl", "mark"))


def _tense(tree: Tree, place: int) -> str:
    """The tag of a predicate's finite form, its own or that of its first auxiliary; empty where it has none."""
    chain = [*(kid for kid in tree.of(place, *HELPERS) if kid < place), place]
    return next((tree.tag(i) for i in chain if tree.tag(i) in FINITE), "")


def _is_closed(tree: Tree, first: int, place: int) -> bool:
    """Whether a list has a last member, behind a place."""
    return any(i > place and tree.joiners(i) for i in tree.conjuncts(first))
