"""Claims with one thing changed, or documents with one thing changed under a claim that stays; and right twins."""

from __future__ import annotations

import random

from training.synthesis.checks import clean
from training.synthesis.clausal import a_clause
from training.synthesis.editors import EDITORS, likely
from training.synthesis.edits import Edit
from training.synthesis.rewrites import detokenized
from training.synthesis.world import RESTATED, Draft, Maker, World


def claim_edited(kind: str) -> Maker:
    """Make the kind where the claim is changed: a wrong row, and its right twin over the same contexts."""
    editor = EDITORS[kind]

    def make(world: World, rng: random.Random) -> list[Draft]:
        case = world.case(rng, wanted=likely(kind))
        if case is None:
            return []
        base = world.base(case.sentence(), rng)
        parent = ""
        if rng.random() < world.mix["claims"]["clause"]:
            base, parent = a_clause(base, rng) or (base, "")
        edit = editor(base, world.pool(case, rng), rng)
        if edit is None or not clean(edit, base, case):
            return []
        wrong_parent = ""
        if parent and edit.old is not None and parent.count(base[slice(*edit.old)]) == 1:
            wrong_parent = parent.replace(base[slice(*edit.old)], edit.piece)
        rows = [Draft(kind, edit.text, edit.label, case, case.evidence, edit.errors, wrong_parent)]
        rows.append(Draft("twin", base, "SUPPORTED", case, case.evidence, sentence=parent if wrong_parent else ""))
        return rows

    return make


def document_edited(kind: str) -> Maker:
    """Make the kind where the document is changed and the claim stays as it was written."""
    editor = EDITORS[kind]

    def make(world: World, rng: random.Random) -> list[Draft]:
        case = world.case(rng, wanted=likely(kind))
        if case is None:
            return []
        sentence = case.sentence()
        edit = editor(sentence, world.pool(case, rng), rng)
        if edit is None or edit.old is None or edit.label != "CONTRADICTED" or case.elsewhere(sentence) > RESTATED:
            return []
        changed = case.edited(0, edit.old[0], edit.old[1], edit.piece)
        if changed.sentence() != edit.text:
            return []
        tidy = rng.random() < 0.4 and detokenized(sentence) != sentence
        claim = detokenized(sentence) if tidy else sentence
        errors = _moved_errors(sentence, claim, edit)
        if errors is None:
            return []
        return [
            Draft(f"{kind}_document", claim, "CONTRADICTED", changed, changed.evidence, errors),
            Draft(
                "twin_document", detokenized(edit.text) if tidy else edit.text, "SUPPORTED", changed, changed.evidence
            ),
            Draft("twin", claim, "SUPPORTED", case, case.evidence),
        ]

    return make


def _moved_errors(sentence: str, claim: str, edit: Edit) -> tuple[tuple[int, int], ...] | None:
    """Where the claim says what the changed document does not: the pieces that were there before."""
    assert edit.old is not None
    if len(edit.errors) == 2:  # two pieces exchanged: mark each where it stood
        ends = [edit.text[s:e] for s, e in edit.errors]
        pieces = [ends[1], ends[0]]
    else:
        pieces = [sentence[edit.old[0] : edit.old[1]]]
    found, at = [], 0
    for one in pieces:
        piece = one if one in claim else detokenized(one)
        low = claim.find(piece, max(0, edit.old[0] - 12) if not found and claim != sentence else at or edit.old[0])
        if low < 0:
            return None
        found.append((low, low + len(piece)))
        at = low + len(piece)
    return tuple(found)
