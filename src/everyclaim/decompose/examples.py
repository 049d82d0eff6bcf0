"""An example in the place of what it is one of: "offers drinks such as tea" offers tea."""

from __future__ import annotations

from dataclasses import replace

from everyclaim.decompose.aside import Aside, with_commas
from everyclaim.decompose.coordination import EXEMPLARY
from everyclaim.decompose.draft import Draft
from everyclaim.decompose.monotone import TOGETHER, holds_jointly, is_event, is_limited
from everyclaim.models.local.tree import Tree


def instance(aside: Aside) -> Draft | None:
    """One thing in the place of those it is among: "offers drinks such as tea" offers tea."""
    tree, draft, noun = aside.tree, aside.draft, _kind_noun(aside)
    case = {i for top in tree.of(aside.place, "case") for i in tree.under(top)}
    behind = tree.tokens[aside.inside[-1] + 1 :][:1]
    opener = next((i for i in aside.inside if tree.low(i) in EXEMPLARY), aside.body[0])
    opens = all(tree.pos(i) == "ADV" for i in range(aside.body[0], opener))
    if noun is None or not opens or any(one.tag in {"VBG", "VBN"} for one in behind):
        return None  # "mishaps such as guards leaving their post"
    if tree.kind(noun) == "conj" and tree.head(noun) in draft.places:
        return None  # once the list is split
    top = _amount(tree, noun)
    told = [i for i in aside.inside if i not in case and i >= opener]
    named = [i for i in tree.under(top, without=[aside.place, *tree.of(top, "case")]) if i in draft.places]
    named = [i for i in named if i < aside.inside[0]]
    if not named or not told or not _is_one_of(aside, noun, top) or is_limited(tree, draft):
        return _included(aside, noun, opener) or aside.kept
    apart = [kid for kid in tree.kids[draft.head] if kid > aside.place and tree.kind(kid) == "obl"]
    gone = {i for kid in apart if tree.comma_before(kid) for i in tree.under(kid)}  # the rest has it
    gone |= {i for one in tree.conjuncts(top) if one > aside.place for i in tree.under(one)}
    rest = [i for i in draft.pieces if i not in {*named, *with_commas(tree, aside.inside), *gone}]
    if tree.kind(top) == "nsubj" and tree.forms(draft.head)[0].text.lower() == "were":
        return aside.kept
    place = next((at for at, i in enumerate(rest) if isinstance(i, int) and i > named[-1]), len(rest))
    before = rest[place - 1]
    if isinstance(before, int) and tree.relation(before) == "case" and tree.relation(told[0]) == "advmod":
        told = told[1:]  # "of food, particularly the soup"
    return replace(draft, pieces=(*rest[:place], *told, *rest[place:]), minor=True)


def _kind_noun(aside: Aside) -> int | None:
    """What an example is one of: the noun that it hangs on or, where that is one alone, the several of its clause."""
    tree, noun, place = aside.tree, aside.noun, aside.place
    if noun > place or tree.is_plural_alone(noun):
        return noun if noun < place else None
    verbs = tree.way_up(tree.predicate_of(noun, aside.draft.head), aside.draft.head) if aside.apart else []
    verbs = verbs[: next((at + 1 for at, verb in enumerate(verbs) if tree.kind(verb) == "conj"), None)]
    several = [i for verb in verbs for i in tree.of(verb, "obj", "obl") if verb < i < place and tree.is_plural_alone(i)]
    if len(several) == 1:
        return several[0]
    return noun if tree.pos(noun) == "NOUN" else None


def _amount(tree: Tree, noun: int) -> int:
    """The noun that counts another: the variety of "a variety of dishes"."""
    above = tree.head(noun)
    of = tree.cases(noun) == ["of"] and not tree.of(noun, "det", "nmod:poss")
    counts = above >= 0 and tree.says(above, "det", "a") and not tree.of(above, "cop")
    return above if of and counts and tree.is_plural_alone(noun) else noun


def _is_one_of(aside: Aside, noun: int, top: int) -> bool:
    """Whether what is said of several things is said of one: "sang in halls such as the Rosa"."""
    tree, draft = aside.tree, aside.draft
    way = tree.way_up(top, draft.head)[:-1]
    if tree.kind(top) == "nsubj" and way == [top]:
        past = is_event(tree, draft.head) and tree.is_past(draft.head)
        return past and tree.pos(aside.place) == "PROPN" and not holds_jointly(tree, top, draft)
    if not {tree.kind(step) for step in way} <= {"obj", "obl", "nmod", "xcomp"} or not way:
        return False
    cases = {tree.low(case) for step in way for case in tree.of(step, "case")}
    if tree.kind(top) == "obj":
        return True
    above = [i for step in tree.way_up(top, draft.head)[1:] for i in [step, *tree.of(step, "obj", "obl")]]
    rivals = [i for i in above if draft.head < i < top and i != noun and tree.is_plural_alone(i)]
    return bool(tree.is_plural(noun)) and not cases & (TOGETHER | {"of"}) and not (rivals and aside.apart)


def _included(aside: Aside, noun: int, opener: int) -> Draft | None:
    """What a certain thing includes: "the beliefs, including X" include X."""
    tree = aside.tree
    if tree.low(opener) != "including" or not tree.is_definite(noun) or tree.conjuncts(noun):
        return None
    plural, past = tree.is_plural(noun), tree.is_past(tree.predicate_of(noun, aside.draft.head))
    form = "included" if past else "include" if plural else "includes"
    said = aside.said_of(noun, *(i for i in aside.inside if i >= opener))
    return replace(said, changes={opener: form})
