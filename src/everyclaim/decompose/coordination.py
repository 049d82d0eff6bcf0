"""What is coordinated inside a clause: "wrote novels and plays" says two things, "between May and June" one."""

from __future__ import annotations

from dataclasses import replace

from everyclaim.decompose.aside import with_commas
from everyclaim.decompose.draft import Draft
from everyclaim.decompose.monotone import FEW, holds_jointly, is_event, is_limited, is_stated
from everyclaim.models.local.tree import HELPERS, MODIFIERS, SUBJECTS, THINGS, Tree

_SHARED = frozenset({"case", "det", "nmod:poss", "mark", "aux", "aux:pass", "cop", *SUBJECTS})
_MEMBERS = ({"NOUN", "PROPN", "PRON", "X"}, {"ADJ", "VERB", "ADP"}, {"ADJ", "NOUN"})
EXEMPLARY = frozenset({"such", "including", "like"})
_DENYING = frozenset({"or", "nor", ",", ";"})


def by_conjunct(draft: Draft, tree: Tree) -> list[Draft]:
    """One fact for each conjunct of the first coordination that holds of each alone."""
    told = {i for place in draft.whole for i in tree.under(place)}  # the rest is a fact already
    for place in sorted(told & draft.places or draft.places):
        conjuncts = [c for c in tree.conjuncts(place) if c in draft.places]
        clauses = tree.pos(place) in {"VERB", "AUX"} and tree.is_finite(place)
        if (
            conjuncts
            and not (clauses or any(map(tree.is_finite, conjuncts)))
            and _may_choose(tree, draft, place, conjuncts)
        ):
            found = [chosen(draft, tree, place, one, conjuncts) for one in [place, *conjuncts]]
            return [draft] if any(one is None for one in found) else [one for one in found if one is not None]
    return [draft]


def _may_choose(tree: Tree, draft: Draft, place: int, conjuncts: list[int]) -> bool:
    """Whether each conjunct holds alone."""
    members = [place, *conjuncts]
    words = {tree.low(cc) for one in members for cc in tree.joiners(one)}
    way = tree.way_up(place, draft.head)
    denied = bool(words) and words <= _DENYING and any(map(tree.is_negated, way))
    denied &= not any(tree.says(step, "mark", "whether") for step in way)  # "whether A or B did it is not known"
    denied |= _is_denied_alike(tree, place, conjuncts)
    allowed = words <= {"or", ","} and any(tree.says(step, "aux", "can") for step in way)
    exemplary = words <= _DENYING | {"and"} and _is_exemplary(tree, place)
    above, relation = tree.head(place), tree.kind(place)
    listed = relation == "amod" and not words  # "fresh, organic"
    if not (tree.joins(place) or denied or listed or (words and (exemplary or allowed))):
        return False
    stated = _is_exemplary(tree, place) or is_stated(tree, place, draft, denied=denied)
    if any(map(tree.is_denying, tree.of(place, "cc:preconj"))) or not stated:
        return False  # "neither counts nor values differed": what denies both goes with the conjunction
    kinds = {tree.pos(one) for one in members}
    if not any(kinds <= alike for alike in _MEMBERS) or holds_jointly(tree, place, draft):
        return False
    if _is_doubtful(tree, place, conjuncts) or any(map(tree.tells_when, members)):
        return False
    of_all = tree.of(place, "appos", *(["acl"] if relation == "nsubj" else []))
    if any(kid > conjuncts[-1] and kid in draft.places for kid in of_all):
        return False  # "by Ada and Bert, two painters", "cats and dogs that bite"
    if relation == "appos" and not tree.is_a(place):
        return False  # "the parents, Ada and Bert"
    if relation == "nsubj" and not denied and (tree.is_singular(above) or _is_sum(tree, above)):
        return False  # "Trinidad and Tobago is", "the hall and the bar cost 90 euros"
    if relation in MODIFIERS:
        if tree.of(above, "nummod"):
            return False  # "155 fatal and non-fatal events"
        return bool(tree.is_plural_alone(above)) or not any(tree.relation(step) in SUBJECTS for step in way)
    counted = _is_counted(tree, above) or (relation == "obl" and is_limited(tree, draft))  # "most lie with A and B"
    if relation in {"nmod", "obl"} and counted:
        return False  # "34 stops on three manuals and pedal"
    of = relation == "nmod" and tree.says(place, "case", "of")
    return not (of and (tree.is_a(above) or tree.kind(above) in {"nsubj", "nmod"}))  # "a blend of jazz and funk"


def _is_sum(tree: Tree, verb: int) -> bool:
    """Whether what a verb tells is a number."""
    ends = [*tree.of(verb, "obj"), *(i for i in tree.of(verb, "obl") if tree.cases(i) == ["to"])]
    return any(tree.pos(i) == "NUM" or tree.of(i, "nummod") for i in ends)


def _is_counted(tree: Tree, above: int) -> bool:
    """Whether a noun, or the object of a verb, is of a number that all the places or times share."""
    nouns = tree.of(above, "obj") if tree.pos(above) == "VERB" else [above]
    nouns += [] if is_event(tree, above) else tree.of(above, "nsubj")
    return any(tree.of(noun, "nummod") and not tree.of(noun, "det", "nmod:poss") for noun in nouns)


def _is_denied_alike(tree: Tree, place: int, conjuncts: list[int]) -> bool:
    """Whether a denial holds of each: "no sauna and no pool", "the pump and the valve are not made here"."""
    if all(any(map(tree.is_denying, tree.of(one, "det"))) for one in [place, *conjuncts]):
        return True
    return tree.relation(place) in SUBJECTS and tree.joins(place) and tree.is_negated(tree.head(place))


def _is_doubtful(tree: Tree, place: int, conjuncts: list[int]) -> bool:
    """Whether what is coordinated may not be what the tree says: "the roof of the hall, big rooms, and a bar"."""
    members, above, last = [place, *conjuncts], tree.head(place), conjuncts[-1]
    if sum(bool(tree.joiners(c)) for c in conjuncts) > 1 and tree.kind(place) == "nmod":
        return True  # "a kettle and a jug with a lid and a filter"
    if any(tree.low(c) in FEW or not (tree.joiners(c) or tree.comma_before(c)) for c in conjuncts):
        return True  # "until 1 pm and in May also on Sundays", "through loss, but none that had one"
    behind = [kid for kid in tree.of(last, "nmod") if last < kid and tree.cases(kid) not in ([], ["of"])]
    if any("NUM" in map(tree.pos, tree.under(kid, tree.of(kid, "acl"))) for kid in behind):
        return True  # "keep the piano and the room at 20 degrees"
    nominal = tree.pos(place) in THINGS and not _is_exemplary(tree, place)
    if nominal and len(conjuncts) == 1 and tree.comma_before(last) and tree.joiners(last):
        return True  # ", and" rather begins a clause
    if nominal and not tree.cases(place) and any(map(tree.cases, conjuncts)):
        return True  # "use the north side, but not during storms"
    if any(tree.low(i) in map(tree.low, conjuncts) for i in range(max(above, 0), place)):
        return True  # "came to 6 ml with it and 9 ml without it"
    objects = [kid for one in members for kid in tree.of(one, "obj")]
    verbs = [i for i in members if tree.pos(i) == "VERB"]
    bare = [i for i in verbs if not any(kid in range(i, last) for kid in tree.kids[i] if kid not in conjuncts)]
    if any(one < kid for one in bare for kid in objects):
        return True  # "to understand and improve the site"
    if tree.relation(place) == "nmod:poss":
        return True  # "Ada and Bert's house"
    kinds = {tree.pos(one) for one in members}
    if tree.kind(place) != "amod" and {"ADJ", "NOUN"} <= kinds:
        return True  # "the old and the new key", "the motor, visual and nervous systems"
    tags = {tree.tag(one) for one in conjuncts}
    if tree.says(place, "case", "of") and tags == {tree.tag(above)} and tree.tag(place) not in tags:
        return True  # "gangs of youth, dealers and thieves"
    named = tree.pos(above) == "PROPN" or (tree.tag(above) == "NNS" and tree.says(place, "case", "of"))
    if named and tree.relation(place) == "nmod" and tree.pos(place) == "PROPN" and not _is_exemplary(tree, place):
        return True  # "Index for Earners and Workers", "the cities of Ballarat and Bendigo"
    for one in conjuncts:
        below = {case for kid in tree.of(one, "nmod") for case in tree.cases(kid)}
        if tree.words(place, "case") & below - {"of"} and not tree.of(one, "case"):
            return True  # "half of it goes through the head and the other half through the wand"
    bare = [one for one in conjuncts if tree.tag(one) == "NN" and len(tree.kids[one]) == len(tree.joiners(one))]
    if bare and tree.of(place, "nummod") and tree.of(place, "nmod"):
        return True  # "20 cents per item and day"
    return is_gapped(tree, place, conjuncts)


def _is_exemplary(tree: Tree, place: int) -> bool:
    return tree.says(place, "case", *EXEMPLARY)


def is_gapped(tree: Tree, place: int, conjuncts: list[int]) -> bool:
    """Whether a verb is left out in a second clause: "one is the loudest and the other the quietest"."""
    if any(tree.relation(tree.first(one)) == "det" for one in conjuncts):
        return True
    if tree.subject(place) is None and any(tree.subject(one) is not None for one in conjuncts):
        return tree.kind(place) == "xcomp"  # "was rated good and the battery poor"
    around = tree.of(tree.head(place), "obl") if tree.head(place) >= 0 else []
    later = [tree.cases(i) for i in around if i > conjuncts[-1]]
    if any(i < place and tree.cases(i) and tree.cases(i) in later for i in around):
        return True  # "comes to 39 with power and the hall to 46"
    if any(tree.pos(kid) == "NUM" and kid == one + 1 for one in conjuncts for kid in tree.of(one, "flat")):
        return True  # "Ada gives five stars and Bert four"
    return len(tree.of(tree.head(place), "obj")) > 1


def chosen(draft: Draft, tree: Tree, place: int, one: int, conjuncts: list[int]) -> Draft | None:
    """The fact with one conjunct alone; None where its verb cannot be made to agree."""
    whole = frozenset(tree.under(place))
    loose = [
        k for k in tree.of(place, "acl") if k > conjuncts[-1] and tree.relation(k) == "acl:relcl"
    ]  # "a timer and a lid that can be washed"
    if one == place:
        gone = {i for c in conjuncts for i in tree.under(c)}
        of_others = [kid for kid in tree.of(place, "nmod", "acl") if conjuncts[0] < kid < conjuncts[-1]]
        gone |= {i for kid in [*tree.of(place, "cc", "cc:preconj"), *of_others] for i in tree.under(kid)}
        kept = whole - gone
    else:
        following = next((c for c in conjuncts if c > one), one)
        behind = [
            k for k in tree.kids[place]
            if tree.kind(k) in {"nmod", "acl", "obl", "obj"} and (k > conjuncts[-1] or one < k < following)
        ]  # fmt: skip
        apart = [k for k in behind if tree.comma_before(k) and tree.pos(place) != "ADJ"]
        if any(not tree.words(k, "case") & EXEMPLARY for k in apart):
            return None  # "four gyros and two heaters, with an aim of one degree"
        behind = [k for k in behind if k not in apart]
        kept = (
            tree.stripped(one) | frozenset(i for kid in behind for i in tree.under(kid)) | inherited(tree, place, one)
        )
    kept -= {i for k in loose if one != conjuncts[-1] for i in tree.under(k)}
    opened = {":", ","} if tree.kind(place) in {"acl", "list", "appos"} else {":"}
    kept |= {i for i in (min(whole), min(whole) - 1) if i >= 0 and tree.low(i) in opened}  # "three needs: a tent"
    found = draft.only((draft.places - _between(tree, place, one)) - whole | kept)
    if tree.kind(place) in MODIFIERS:
        joining = [i for i in range(place, conjuncts[-1]) if tree.text(i) == "," or tree.relation(i) == "cc"]
        both = [i for i in tree.of(tree.head(place), "det", "cc:preconj") if tree.low(i) == "both"]
        found = found.without([*joining, *both])
    if place == draft.head:
        found = replace(found, head=one)
    if one != place and any(tree.low(kid) == "not" for kid in tree.of(one, "advmod")):
        if not any(kid in found.places for kid in tree.of(draft.head, *HELPERS)):
            return None  # "weaves wool but not silk"
        found = denied(found, tree, one, draft.head)
    verb = tree.head(place)
    if tree.relation(place) in SUBJECTS and verb in draft.places:
        found_singular = None if tree.is_plural_alone(one) is None else found
        if found_singular is None:
            return None
        if not tree.is_plural_alone(one):
            if tree.tag(verb) == "NNS":
                return None  # "are lawyers"
            return found.in_singular(tree, verb)
    return found


def denied(draft: Draft, tree: Tree, one: int, head: int) -> Draft:
    """A fact with the "not" of a conjunct where the auxiliaries of a predicate ask for it: "may not be refunded"."""
    found = next((kid for kid in tree.of(one, "advmod") if tree.low(kid) == "not" and kid in draft.places), None)
    helpers = [kid for kid in tree.of(head, *HELPERS) if kid in draft.places]
    if found is None or not helpers or tree.of(one, "mark", *HELPERS):
        return draft
    rest = [i for i in draft.pieces if i != found]
    infinitive = [kid for kid in tree.of(head, "mark") if kid in rest and tree.tag(kid) == "TO"]
    at = rest.index(infinitive[0]) if infinitive else rest.index(helpers[0]) + 1
    return replace(draft, pieces=(*rest[:at], found, *rest[at:]))


def inherited(tree: Tree, place: int, one: int) -> frozenset[int]:
    """What a conjunct takes over from the first: articles, prepositions, subject and auxiliaries it lacks."""
    own = {tree.relation(kid) if tree.kind(kid) == "aux" else tree.kind(kid) for kid in tree.kids[one]}
    shared, subject = set[int](), tree.subject(place)
    start = place if subject is None else subject  # what stands before it speaks of all predicates
    for kid in tree.kids[place]:
        kind = tree.kind(kid)
        if kid > min(tree.conjuncts(place)):
            continue
        if tree.relation(kid) in _SHARED and not {kind, tree.relation(kid)} & own:
            nominal = tree.pos(one) in {"NOUN", "PROPN", "PRON", "NUM", "X"} and not tree.of(one, "cop")
            adjectives = tree.pos(one) == "ADJ" and kind == "case"  # "as warm and dry"
            if kind in {"det", "nmod", "case"} and not nominal and not adjectives:
                continue
            if kind in {"det", "nmod"} and (tree.pos(one) in {"PROPN", "PRON"} or {"det", "nmod", "nummod"} & own):
                continue
            if kind == "det" and tree.low(kid) in {"a", "an"} and (tree.is_plural_alone(one) or tree.of(place, "case")):
                continue
            shared |= set(tree.under(kid))
            after = max(tree.under(kid)) + 1
            is_closed = after < len(tree.tokens) and tree.text(after) == ","
            shared |= {after} if is_closed and tree.relation(kid) in SUBJECTS else set()
        elif kind == "advcl" and kid < place and tree.is_conditional(kid):
            shared |= set(with_commas(tree, tree.under(kid)))  # "the pump, if new, is quiet and cheap"
        elif kind in {"advmod", "obl", "advcl"} and kid < min(place, start):
            shared |= set(tree.under(kid))
        elif tree.low(kid) in {"not", "n't", "never"}:
            shared.add(kid)
    return frozenset(shared)


def _between(tree: Tree, place: int, one: int) -> frozenset[int]:
    """What stands between two conjuncts and belongs to the first: "as leader from 1990 and as minister from 1996"."""
    beside = [kid for kid in tree.kids[tree.head(place)] if place < kid < one] if tree.head(place) >= 0 else []
    return frozenset(i for kid in beside if tree.kind(kid) in {"obl", "nmod", "advcl"} for i in tree.under(kid))
