"""The kinds of claims by their names: each maker gives a row of its kind and what belongs beside it."""

from __future__ import annotations

from training.synthesis import clausal, missing, readings, sentences, swaps
from training.synthesis.editors import EDITORS
from training.synthesis.world import Maker

MAKERS: dict[str, Maker] = {
    **{kind: swaps.claim_edited(kind) for kind in EDITORS},
    **{
        f"{kind}_document": swaps.document_edited(kind)
        for kind in EDITORS
        if kind not in ("hedge", "modality", "speaker")
    },
    "verbatim": sentences.verbatim,
    "verbatim_negative": sentences.verbatim_negative,
    "rewrite": sentences.light_rewrite,
    "weaker": sentences.weaker_claim,
    "rounding": sentences.rounding,
    "clause": clausal.clause,
    "clause_wrong": clausal.clause_wrong,
    "parent_wrong": clausal.parent_wrong,
    "joined": sentences.joined,
    "answer": sentences.answer,
    "human_answer": sentences.human_answer,
    "pronoun": sentences.pronoun_resolved,
    "left_out": missing.left_out,
    "foreign": missing.foreign,
    "added_detail": missing.added_detail,
    "attribution_added": missing.attribution_added,
    "attribution": missing.attribution,
    "question_answer": readings.question_answer,
    "idle": readings.idle,
    "table": readings.table,
    "record": readings.record,
}
