"""Rows of marked answers → pairs for the network, exactly as the judge lays them out: premise, question and claim.

    python training/answers/premises.py ROWS.jsonl --out PREPARED.npz

Reads what `rows.py` writes. The label of a claim stays, whatever of its passages the judge reads: so the network learns
what a part of them is worth. `dataset` begins with `exact` for `answers`; the file is what `encoder/rows.py` reads.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from pathlib import Path
from typing import Any

if __package__ in (None, ""):
    import sys

    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from encoder.windows import LABELS, Flat, failing, rows_of
from everyclaim.core.types import Claim, Passage, Span
from everyclaim.models.local.cross_encoder import CLAIM, laid_out, shipped_tokenizer
from everyclaim.verify.embedded.verifier import EmbeddedVerifier
from everyclaim.verify.embedded.verifier import _PreparedClaims as Prepared
from everyclaim.verify.lexical.passages import Shortlist
from lexical_data import share

PREMISE, LONGEST = 176, 300  # tokens: of a premise at most, of a pair that is used


def prepare(rows: Iterable[dict[str, Any]]) -> Flat:
    """Lay out every claim; those of an answer, which stand together, are each other's twins."""
    verifier, tokenizer, flat = EmbeddedVerifier(), shipped_tokenizer(), Flat()
    contexts, shortlist = None, Shortlist.of([])
    for row in rows:
        if row["contexts"] != contexts:
            contexts = row["contexts"]
            shortlist = Shortlist.of([Passage(str(i), text) for i, text in enumerate(contexts)])
        claim = Claim(row["id"], row["text"], Span(0, len(row["text"])), row.get("sentence", row["text"]))
        it = verifier._prepare(claim, shortlist, row["question"])  # noqa: SLF001
        if not isinstance(it, Prepared):
            continue
        premise, told, context = (tokenizer.encode(text, add_special_tokens=False) for text in it.pair[:3])
        ids, _, at = laid_out(premise.ids, context.ids, told.ids, min(it.pair.tokens, PREMISE))
        if told.ids and len(ids) <= LONGEST:
            label = LABELS[row["label"]]
            dataset = "exact_" + row["dataset"].removeprefix("answers_")
            targets = failing(told.offsets[:CLAIM], row, label)
            flat.add(
                ids,
                at,
                targets,
                label=label,
                dataset=dataset,
                key=row["id"],
                beside=f"exact {row.get('beside', row['id'])}",
            )
    return flat


def main() -> None:
    """Read the arguments, write the pairs and say how many they are."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", type=Path, nargs="+")
    parser.add_argument("--share", type=float, default=1.0, help="share of the rows, twins together")
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    rows = (row for path in options.rows for row in rows_of(path))
    flat = prepare(row for row in rows if share("exact " + row.get("beside", row["id"])) < options.share)
    flat.write(options.out)
    print(f"{len(flat.sizes)} pairs")


if __name__ == "__main__":
    main()
