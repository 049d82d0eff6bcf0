"""Claims that the contexts do not hold: left out, foreign, with a detail or a speaker added."""

from __future__ import annotations

import random
import re

from training.synthesis.lexicon import PEOPLE
from training.synthesis.rewrites import detokenized
from training.synthesis.shapes import Case
from training.synthesis.sources import content, coverage
from training.synthesis.tags import tag
from training.synthesis.world import RESTATED, Draft, World


def left_out(world: World, rng: random.Random) -> list[Draft]:
    """The sentence a claim comes from is taken out of the contexts."""
    case = world.case(rng)
    if case is None:
        return []
    base = world.base(case.sentence(), rng)
    less = case.without(0)
    if not less.contexts or sum(map(len, less.contexts)) < 60 or less.elsewhere(base) > RESTATED:
        return []
    held = set().union(*(content(text) for text in less.contexts))
    if len(content(base) - held) < max(1, 0.15 * len(content(base))):
        return []
    return [Draft("left_out", base, "UNSUPPORTED", less), Draft("twin", base, "SUPPORTED", case, case.evidence)]


def foreign(world: World, rng: random.Random) -> list[Draft]:
    """A claim of another document about much the same."""
    number = world.draw(rng)
    other = rng.choice(world.neighbours(number)[:5])
    theirs = world.case(rng, document=other, shapes={"bare": 1.0})
    mine = world.case(rng, document=number)
    if theirs is None or mine is None:
        return []
    claim = world.base(theirs.sentence(), rng)
    if (
        theirs.sentence() in " ".join(mine.contexts)
        or max(mine.elsewhere(claim), coverage(claim, mine.sentence())) > 0.5
    ):
        return []
    return [
        Draft("foreign", claim, "UNSUPPORTED", mine),
        Draft("verbatim", mine.sentence(), "SUPPORTED", mine, mine.evidence),
    ]


_PHRASE = re.compile(
    r" (?:in|at|from|with|for|after|since|during|before|through|near|by|among|against|despite|under) "
    r"(?:[A-Za-z0-9$€£][\w'’-]*)(?: [\w'’$€£-]+){1,6}$"
)


def added_detail(world: World, rng: random.Random) -> list[Draft]:
    """A right sentence with a phrase from another sentence put at its end."""
    number = world.draw(rng)
    case = world.case(rng, document=number)
    source = number if rng.random() < 0.4 else rng.choice(world.neighbours(number))
    other = world.case(rng, document=source, shapes={"bare": 1.0})
    if case is None or other is None:
        return []
    base = detokenized(world.base(case.sentence(), rng))
    theirs = detokenized(other.sentence())
    if not base.endswith(".") or theirs in base or base in theirs:
        return []
    match = _PHRASE.search(theirs.rstrip('.!?"”’ '))
    if (
        match is None
        or coverage(match.group(), case.sentence()) > 0.4
        or re.search(r"\b(?:that|which|is|are|was|were)\b", match.group())
    ):
        return []
    phrase = match.group()
    claim = f"{base[:-1]}{phrase}."
    errors = ((len(base), len(base) + len(phrase) - 1),)
    return [
        Draft("added_detail", claim, "UNSUPPORTED", case, case.evidence, errors),
        Draft("twin", base, "SUPPORTED", case, case.evidence),
    ]


_SAID = ("According to {who}, {low}", "{who} said that {low}", "{who} stated that {low}", "{who} claims that {low}",
         "{who} reported that {low}", "As {who} put it, {low}")  # fmt: skip


def _lowered(sentence: str, names: set[str]) -> str:
    first = sentence.split(maxsplit=1)[0]
    if first in names or first.isupper() or (len(tag(sentence)) and tag(sentence)[0].tag in ("NNP", "NNPS")):
        return sentence
    return sentence[0].lower() + sentence[1:]


def _people(case: Case, rng: random.Random) -> list[str]:
    """People: those of the document that are surely some, and a few of the street."""
    first = set(PEOPLE[0])
    known = [
        name
        for name in case.names
        if re.fullmatch(r"[A-Z][a-z]+ [A-Z][a-z]+", name) and name.partition(" ")[0] in first
    ]
    return [*known[:4], *(f"{rng.choice(PEOPLE[0])} {rng.choice(PEOPLE[1])}" for _ in range(4))]


def attribution_added(world: World, rng: random.Random) -> list[Draft]:
    """A right sentence put into the mouth of someone who is not said to have said it."""
    case = world.case(rng, wanted=lambda text: not re.search(r"\bsaid\b|[Aa]ccording|\bstate[sd]\b", text))
    if case is None:
        return []
    base = detokenized(world.base(case.sentence(), rng))
    who = rng.choice(_people(case, rng))
    template = rng.choice(_SAID)
    if who in base:
        return []
    claim = template.format(who=who, low=_lowered(base, set(case.names)))
    at = claim.index(who)
    return [Draft("attribution_added", claim, "UNSUPPORTED", case, case.evidence, ((at, at + len(who)),))]


def attribution(world: World, rng: random.Random) -> list[Draft]:
    """Two people each say a thing in the document: the claim says who said what, rightly or the wrong way round."""
    case = world.case(
        rng, 2, wanted=lambda text: len(text) < 200 and not re.search(r"\bsaid\b|[Aa]ccording|^[\"“]", text)
    )
    if case is None:
        return []
    people = [
        one
        for one in dict.fromkeys(_people(case, rng))
        if not any(set(one.split()) & set(case.sentence(i).split()) for i in (0, 1))
    ]
    if len(people) < 2:
        return []
    one, two = rng.sample(people[:10], 2)
    if set(one.split()) & set(two.split()):
        return []
    said = []
    for index in (1, 0):
        text = detokenized(case.sentence(index))
        low = _lowered(text, set(case.names))
        put = rng.choice(_SAID).format(who=(one, two)[index], low=low)
        p, start, end = case.evidence[index]
        case = case.edited(index, 0, end - start, put)
        p, start, _ = case.evidence[index]
        evidence = list(case.evidence)
        evidence[index] = (p, start, start + len(put))
        case = Case(case.document, case.contexts, tuple(evidence), case.question, case.names)
        said.insert(0, (low, put))
    which = rng.randrange(2)
    template = rng.choice(_SAID)
    right = template.format(who=(one, two)[which], low=said[which][0])
    wrong = template.format(who=(two, one)[which], low=said[which][0])
    at = wrong.index((two, one)[which])
    return [
        Draft(
            "attribution_swapped",
            wrong,
            "CONTRADICTED",
            case,
            (case.evidence[which],),
            ((at, at + len((two, one)[which])),),
        ),
        Draft("attribution", right, "SUPPORTED", case, (case.evidence[which],)),
    ]
