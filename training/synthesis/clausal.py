"""Clauses of sentences, with the sentence as their parent."""

from __future__ import annotations

import random
import re
from functools import lru_cache

from training.synthesis.checks import clean
from training.synthesis.editors import EDITORS
from training.synthesis.rewrites import detokenized
from training.synthesis.sources import coverage
from training.synthesis.world import Draft, World

from everyclaim.decompose.embedded import facts

_SEVERAL = re.compile(r",? (?:and|but|while|whereas) (?:[a-z]+ ){0,3}|, (?:which|who|where) |; ")


def several(sentence: str) -> bool:
    """Whether a sentence looks as if it had several clauses."""
    return len(sentence) > 90 and _SEVERAL.search(sentence) is not None


@lru_cache(maxsize=50_000)
def parts_of(sentence: str) -> tuple[str, ...]:
    """The clauses of a sentence; none where it does not look as if it had several."""
    return tuple(part.text.strip() for part in facts(sentence)) if several(sentence) else ()


def a_clause(sentence: str, rng: random.Random) -> tuple[str, str] | None:
    """A clause of a sentence and the sentence, where the decomposer finds more than one."""
    parts = [part for part in parts_of(sentence) if len(part) > 20]
    return (rng.choice(parts), sentence) if len(parts) > 1 else None


def clause(world: World, rng: random.Random) -> list[Draft]:
    """A clause, with its sentence as parent."""
    case = world.case(rng, wanted=several)
    found = a_clause(detokenized(case.sentence()) if rng.random() < 0.5 else case.sentence(), rng) if case else None
    if case is None or found is None:
        return []
    parent = found[1] if rng.random() < 0.85 else ""
    return [Draft("clause", found[0], "SUPPORTED", case, case.evidence, sentence=parent)]


def clause_wrong(world: World, rng: random.Random) -> list[Draft]:
    """A clause with something wrong in it, or whose sentence is gone; its parent says the same as the claim."""
    case = world.case(rng, wanted=several)
    found = a_clause(detokenized(case.sentence()) if rng.random() < 0.5 else case.sentence(), rng) if case else None
    if case is None or found is None:
        return []
    base, parent = found
    right = Draft("clause", base, "SUPPORTED", case, case.evidence, sentence=parent)
    if rng.random() < 0.35:
        less = case.without(0)
        if sum(map(len, less.contexts)) < 60 or less.elsewhere(base) > 0.5:
            return []
        return [Draft("clause_left_out", base, "UNSUPPORTED", less, sentence=parent), right]
    for kind in rng.sample(("number", "year", "percent", "date", "unit", "name", "antonym", "comparative", "hedge"), 9):
        edit = EDITORS[kind](base, world.pool(case, rng), rng)
        if edit is None or len(edit.errors) != 1 or edit.old is None or not clean(edit, base, case):
            continue
        piece = base[slice(*edit.old)]
        if parent.count(piece) == 1:
            wrong = parent.replace(piece, edit.piece)
            return [Draft("clause_wrong", edit.text, edit.label, case, case.evidence, edit.errors, wrong), right]
    return []


def parent_wrong(world: World, rng: random.Random) -> list[Draft]:
    """A sentence with an error in one clause: the claim of that clause is wrong, that of the other is right."""
    case = world.case(rng, wanted=several)
    if case is None:
        return []
    sentence = detokenized(case.sentence()) if rng.random() < 0.5 else case.sentence()
    before = parts_of(sentence)
    if len(before) < 2:
        return []
    kind = rng.choice(
        ("number", "year", "name", "name", "percent", "date", "antonym", "negation", "comparative", "unit")
    )
    edit = EDITORS[kind](sentence, world.pool(case, rng), rng)
    if edit is None or edit.label != "CONTRADICTED" or len(edit.errors) != 1 or not clean(edit, sentence, case):
        return []
    after = parts_of(edit.text)
    if len(before) < 2 or len(before) != len(after):
        return []
    changed = [i for i in range(len(before)) if before[i] != after[i]]
    same = [i for i in range(len(before)) if before[i] == after[i] and len(before[i]) > 20]
    piece = edit.text[slice(*edit.errors[0])]
    if (
        len(changed) != 1
        or not same
        or after[changed[0]].count(piece) != 1
        or coverage(before[changed[0]], sentence) < 0.9
    ):
        return []
    wrong, right = after[changed[0]], before[rng.choice(same)]
    at = wrong.index(piece)
    return [
        Draft("parent_wrong", wrong, "CONTRADICTED", case, case.evidence, ((at, at + len(piece)),), edit.text),
        Draft("parent_right", right, "SUPPORTED", case, case.evidence, sentence=edit.text),
    ]
