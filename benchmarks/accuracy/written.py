"""Rows written with what a result must say of them: languages, conversations, refusals, exact things, claims.

    python benchmarks/accuracy/written.py languages [conversations …] [--judge embedded] [--show]

Rows are read as those of any file. `expect` says, each where it matters: the outcome; the labels of the claims in order
(FAILS for any but SUPPORTED) and their texts; what their rationales say, and what they never say; the number of pieces
that are `unread`; the finding of a refusal; whether something is made up (a claim fails, or a piece of code is
unchecked). Of a conversation it is a list, with one entry a turn. A row with a `claim` is judged as it stands. Prints
for each kind the rows that meet all of it, and with `--show` the others. All rows were also used for development.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import everyclaim as ec
from everyclaim.core.types import JudgedClaim

_HERE = Path(__file__).parent
FILES = ("languages", "conversations", "refusals", "exact_things", "claims")
ALL = "all"
_FAILS = "FAILS"


def faults(name: str, judge: str) -> Iterator[tuple[Mapping[str, Any], list[str]]]:
    """Yield the rows of a file with what differs from what is expected."""
    rows = [json.loads(line) for line in (_HERE / f"{name}.jsonl").read_text("utf-8").splitlines()]
    if "claim" in rows[0]:
        with ec.Evaluator(judge=judge) as evaluator:
            for row in rows:
                claims = evaluator.verify(row["claim"], row["contexts"])
                yield row, [_told(*one) for one in _compared(_of_claims(claims, row["expect"]), row["expect"])]
        return
    given = [{"id": str(number), **row} for number, row in enumerate(rows)]
    run = ec.score_file(given, judge=judge, turns="all")
    found = {result.id: result for result in run.results()}
    for number, row in enumerate(rows):
        turns = row["expect"] if isinstance(row["expect"], list) else [row["expect"]]
        ids = [f"{number}/{turn + 1}" for turn in range(len(turns))] if len(turns) > 1 else [str(number)]
        yield (
            row,
            [
                _told(*told)
                for one, expected in zip(ids, turns, strict=True)
                for told in _differing(found.get(one) or found[f"{number}/1"], expected)
            ],
        )


def _told(what: str, said: object, wanted: object) -> str:
    return f"{what}: {said!r}, expected {wanted!r}"


def _differing(result: ec.Result, expected: Mapping[str, Any]) -> Iterator[tuple[str, Any, Any]]:
    said = _of_claims(result.claims, expected) | {
        "outcome": str(result.outcome),
        "unread": sum(piece.reason == "unread" for piece in result.skipped),
        "refusal": result.details.get("refusal", {}).get("finding"),
        "made_up": bool(result.failing or any(piece.reason == "code" for piece in result.unchecked)),
    }
    return _compared(said, expected)


def _of_claims(claims: Sequence[JudgedClaim], expected: Mapping[str, Any]) -> dict[str, Any]:
    labels = [str(claim.verdict.label) for claim in claims]
    wanted = list(expected.get("labels", labels))
    if len(wanted) == len(labels):
        labels = [
            _FAILS if right == _FAILS and label != "SUPPORTED" else label
            for label, right in zip(labels, wanted, strict=True)
        ]
    reasons = " ".join(claim.verdict.rationale for claim in claims)
    return {
        "labels": labels,
        "texts": [claim.text for claim in claims],
        "says": [words for words in expected.get("says", ()) if words in reasons],
        "never": [words for words in expected.get("never", ()) if words not in reasons],
    }


def _compared(said: Mapping[str, Any], expected: Mapping[str, Any]) -> Iterator[tuple[str, Any, Any]]:
    for what, right in expected.items():
        if said[what] != right:
            yield what, said[what], right


def main() -> None:
    """Judge the rows of the files and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", choices=[*FILES, ALL], default=ALL, help="files of rows (default: all)")
    parser.add_argument("--judge", default="embedded", help="judge (default: embedded)")
    parser.add_argument("--show", action="store_true", help="print the rows that differ")
    options = parser.parse_args()
    for name in FILES if ALL in options.files else options.files:
        rows, right = Counter[str](), Counter[str]()
        for row, differing in faults(name, options.judge):
            rows[row["kind"]] += 1
            right[row["kind"]] += not differing
            if differing and options.show:
                print(json.dumps(row, ensure_ascii=False), *differing, "", sep="\n  ")
        print(f"{name}: {right.total()} of {rows.total()}")
        for kind, number in rows.items():
            print(f"  {kind:24} {right[kind]:3} of {number}")


if __name__ == "__main__":
    main()
