"""An example in the place of what it is one of: "offers drinks such as tea" offers tea."""

from __future__ import annotations

from dataclasses import replace

from everyclaim.decompose.aside import Aside, with_commas
from everyclaim.decompose.coordination import EXEMPLARY
from everyclaim.decompose.draft import Draft
from everyclaim.decompose.monotone import TOGETHER, holds_jointly, is_event, is_limited


def instance(aside: Aside) -> Draft | None:
    """One thing in the place of those it is among: "offers drinks such as tea" offers tea."""
    tree, draft, noun = aside.tree, aside.draft, aside.noun
    case = {i for top in tree.of(aside.place, "case") for i in tree.under(top)}
    behind = tree.tokens[aside.inside[-1] + 1 :][:1]
    opener = next((i for i in aside.inside if tree.low(i) in EXEMPLARY), aside.body[0])
    opens = all(tree.pos(i) == "ADV" for i in range(aside.body[0], opener))
    is_kind = noun < aside.place and (tree.is_plural_alone(noun) or tree.pos(noun) == "NOUN")
    if not is_kind or not opens or any(one.tag in {"VBG", "VBN"} for one in behind):
        return None  # "mishaps such as guards leaving their post"
    if tree.kind(noun) == "conj" and tree.head(noun) in draft.places:
        return None  # once the list is split
    told = [i for i in aside.inside if i not in case and i >= opener]
    named = [i for i in tree.under(noun, without=[aside.place, *tree.of(noun, "case")]) if i in draft.places]
    named = [i for i in named if i < aside.inside[0]]
    if not named or not told or not _is_one_of(aside) or is_limited(tree, draft):
        return aside.kept
    apart = [kid for kid in tree.kids[draft.head] if kid > aside.place and tree.kind(kid) == "obl"]
    gone = {i for kid in apart if tree.comma_before(kid) for i in tree.under(kid)}  # the rest has it
    gone |= {i for one in tree.conjuncts(noun) if one > aside.place for i in tree.under(one)}
    rest = [i for i in draft.pieces if i not in {*named, *with_commas(tree, aside.inside), *gone}]
    if tree.kind(noun) == "nsubj" and tree.forms(draft.head)[0].text.lower() == "were":
        return aside.kept
    place = next((at for at, i in enumerate(rest) if isinstance(i, int) and i > named[-1]), len(rest))
    before = rest[place - 1]
    if isinstance(before, int) and tree.relation(before) == "case" and tree.relation(told[0]) == "advmod":
        told = told[1:]  # "of food, particularly the soup"
    return replace(draft, pieces=(*rest[:place], *told, *rest[place:]), minor=True)


def _is_one_of(aside: Aside) -> bool:
    """Whether what is said of several things is said of one: "sang in halls such as the Rosa"."""
    tree, draft, noun = aside.tree, aside.draft, aside.noun
    way = tree.way_up(noun, draft.head)[:-1]
    if tree.kind(noun) == "nsubj" and way == [noun]:
        past = is_event(tree, draft.head) and tree.is_past(draft.head)
        return past and tree.pos(aside.place) == "PROPN" and not holds_jointly(tree, noun, draft)
    if not {tree.kind(step) for step in way} <= {"obj", "obl", "nmod", "xcomp"} or not way:
        return False
    cases = {tree.low(case) for step in way for case in tree.of(step, "case")}
    if tree.kind(noun) == "obj":
        return True
    above = [i for step in tree.way_up(noun, draft.head)[1:] for i in [step, *tree.of(step, "obj", "obl")]]
    rivals = [i for i in above if draft.head < i < noun and tree.is_plural_alone(i)]
    return bool(tree.is_plural(noun)) and not cases & (TOGETHER | {"of"}) and not (rivals and aside.apart)
