"""How often a verifier gets both members of a minimal pair right: the supported claim, and its twin that is not.

    python benchmarks/accuracy/minimal_pairs.py [--judge lexical] [--judge …] [--half a] [--show 5] [--json FILE]

The pairs (`minimal_pairs/*.toml`) were written for this: short passages of many trades, claims mostly paraphrased, and
twins that differ in one thing, of ten kinds. Right means SUPPORTED for the first, and UNSUPPORTED or CONTRADICTED
for the twin; `three-way` also asks for the right one of these two (a speaker, name or role that the passages leave
open is UNSUPPORTED, as is a dropped hedge). Aim: both right in 75 % of the pairs. Intervals are 95 %, resampling
passage sets. Choose nothing on the half (`a` or `b`) that you report.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from judging import answers, overlap
from labelled import KINDS, Labelled, Pair, read_pairs
from measures import bounds, resampled

from everyclaim.api.specs import create_verifier
from everyclaim.core.errors import EveryclaimError

AIM = 0.75


def members(pairs: Sequence[Pair]) -> list[Labelled]:
    """All claims: pair after pair, the supported one first."""
    return [
        Labelled(text, pair.contexts, label, slice=pair.kind, group=pair.group, question=pair.question)
        for pair in pairs
        for text, label in ((pair.supported, "SUPPORTED"), (pair.not_supported, pair.label))
    ]


def rows(pairs: Sequence[Pair], predicted: np.ndarray) -> list[dict[str, Any]]:
    """Per kind and over all: shares of pairs, given the labels of all members in order."""
    first, twin = predicted[0::2] == "SUPPORTED", predicted[1::2] != "SUPPORTED"
    exact = predicted[1::2] == np.array([pair.label for pair in pairs])
    kinds = np.array([pair.kind for pair in pairs])
    groups = np.array([pair.group for pair in pairs])
    found = []
    for kind in (*KINDS, "all"):
        here = kinds == kind if kind != "all" else np.ones(len(pairs), dtype=bool)
        if here.any():
            both = (first & twin)[here]
            low, high = bounds(resampled(lambda picked, both=both: float(both[picked].mean()), groups[here], 1000))
            found.append(
                {
                    "kind": kind,
                    "pairs": int(here.sum()),
                    "both": round(float(both.mean()), 5),
                    "low": round(low, 5),
                    "high": round(high, 5),
                    "supported": round(float(first[here].mean()), 5),
                    "twin": round(float(twin[here].mean()), 5),
                    "three_way": round(float((first & exact)[here].mean()), 5),
                }
            )
    return found


def show(judge: str, found: Sequence[dict[str, Any]]) -> None:
    """Print one table."""
    print(f"\n{judge:14s}pairs  both right [95 %]      supported right  twin right  three-way")
    for one in found:
        print(f"{one['kind']:14s}{one['pairs']:5d}  {one['both']:6.1%} [{one['low']:.1%}, {one['high']:.1%}]", end="")
        print(f"{one['supported']:13.1%}{one['twin']:14.1%}{one['three_way']:11.1%}")
    print(f"aim: both right in {AIM:.0%}")


def main() -> None:
    """Judge, count, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--judge", action="append", help="spec of a verifier; may be given several times")
    parser.add_argument("--half", choices=["a", "b"])
    parser.add_argument("--show", type=int, default=0, help="print so many pairs per kind that went wrong")
    parser.add_argument("--json", type=Path, help="also write all figures here")
    options = parser.parse_args()
    pairs = [pair for pair in read_pairs() if options.half in (None, pair.half)]
    claims = members(pairs)
    report = []
    for spec in ["overlap", *dict.fromkeys(options.judge or ["lexical"])]:
        try:
            said = overlap(claims) if spec == "overlap" else answers(create_verifier(spec), claims)
        except EveryclaimError as error:
            parser.error(str(error))
        found = rows(pairs, said.predicted)
        show(said.judge, found)
        report.append({"judge": said.judge, "spec": spec, "half": options.half, "rows": found})
        for kind in KINDS if spec != "overlap" else ():
            wrong = [i for i, pair in enumerate(pairs) if pair.kind == kind and not _right(said.predicted, i)]
            for i in wrong[: options.show]:
                print(f"{kind}: + {said.predicted[2 * i][:5]} {pairs[i].supported}")
                print(f"{'':{len(kind)}}  - {said.predicted[2 * i + 1][:5]} {pairs[i].not_supported}")
    if options.json:
        options.json.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")


def _right(predicted: np.ndarray, number: int) -> bool:
    return bool(predicted[2 * number] == "SUPPORTED" and predicted[2 * number + 1] != "SUPPORTED")


if __name__ == "__main__":
    sys.exit(main())
