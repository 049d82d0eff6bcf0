"""Marked answers → pairs for the network, exactly as the judge lays them out: premise, question and claim.

    python training/answers/premises.py --data DATA --out PREPARED.npz

Of `DATA/answers/train.jsonl.xz` and of `texts`, without what is only tested on or what the judges are fitted to. The
label of a claim stays, whatever of its passages the judge reads: so the network learns what a part of them is worth.
`dataset` is as in `rows.py`, with `exact` for `answers`; the file is what `encoder/rows.py` reads.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from pathlib import Path

if __package__ in (None, ""):
    import sys

    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from answers.claims import LabelledAnswer, split_answers
from answers.read import from_json_lines, from_texts, public_passages
from answers.rows import failing as marked
from answers.rows import half
from encoder.windows import LABELS, Flat, failing
from everyclaim.core.types import Passage
from everyclaim.models.local.cross_encoder import CLAIM, laid_out, shipped_tokenizer
from everyclaim.verify.embedded.verifier import EmbeddedVerifier
from everyclaim.verify.embedded.verifier import _PreparedClaims as Prepared
from everyclaim.verify.lexical.passages import Shortlist

PREMISE, LONGEST = 176, 300  # tokens: of a premise at most, of a pair that is used


def prepare(answers: Iterable[LabelledAnswer]) -> Flat:
    """Lay out every labelled claim; those of an answer are each other's twins."""
    verifier, tokenizer, flat = EmbeddedVerifier(), shipped_tokenizer(), Flat()
    for one, claims, labels, _ in answers:
        shortlist = Shortlist.of([Passage(str(i), text) for i, text in enumerate(one.contexts)])
        for claim, label in zip(claims, labels, strict=True):
            it = verifier._prepare(claim, shortlist, one.question) if label else None  # noqa: SLF001
            if label is None or not isinstance(it, Prepared):
                continue
            pair = it.pair
            premise, context = (tokenizer.encode(text, add_special_tokens=False).ids for text in (pair[0], pair[2]))
            told = tokenizer.encode(pair.claim, add_special_tokens=False)
            ids, _, at = laid_out(premise, context, told.ids, min(pair.tokens, PREMISE))
            if not told.ids or len(ids) > LONGEST:
                continue
            wrong = [] if label == "SUPPORTED" else marked(claim, one.response, one.faults)
            targets = [-1] * len(ids)
            targets[at:-1] = failing(told.offsets[:CLAIM], {"errors": wrong}, LABELS[label])
            flat.ids += ids
            flat.targets += targets
            flat.sizes.append(len(ids))
            flat.claim.append(at)
            flat.label.append(LABELS[label])
            side, task = "right" if label == "SUPPORTED" else "wrong", one.task
            flat.dataset.append(f"exact_{half(one.group)}_{side}_{task if one.dataset == 'ragtruth' else one.dataset}")
            flat.key.append(f"{one.id}-{claim.id}")
            flat.beside.append(f"exact {one.id}")
    return flat


def main() -> None:
    """Read the arguments, write the pairs and say how many they are."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    ours = (one for one in from_texts(public_passages(options.data)) if not one.tested and one.dataset != "unread")
    flat = prepare(split_answers([*from_json_lines(options.data / "answers" / "train.jsonl.xz"), *ours]))
    flat.write(options.out)
    print(f"{len(flat.sizes)} pairs")


if __name__ == "__main__":
    main()
