"""How well verifiers label claims: against people's labels, against `lexical`, and against plain word overlap.

    python benchmarks/accuracy/verifier.py DATA/claims/dev.jsonl.xz [MORE …] [--judge lexical] [--judge …] [--by unit]

Files are JSON lines (plain or .xz) with `text`, `contexts`, `label` (SUPPORTED, UNSUPPORTED, CONTRADICTED, or
NOT_SUPPORTED where it is not known which of the last two), and `dataset`, `unit`, `slice`, `group`, `question` where
given; the folder `benchmarks/accuracy/minimal_pairs` is read too. Any number of judges is measured on the same claims,
`lexical` always among them.

For each judge, and for each part of the data: ROC-AUC of P(supported), balanced accuracy of supported or not at the
judge's own threshold, expected calibration error (ten bins; `--reliability` prints them over all claims); three-way
macro F1 and the recall and precision of CONTRADICTED where all three labels occur; the gains over `lexical` and over
overlap, paired. All intervals are 95 %, from resampling whole groups. Overlap has no threshold of its own: its balanced
accuracy is at the threshold that is best over all the claims given, which favours it.

`--by` breaks down by data set, unit, family of data sets, slice (the kind of failure, where the data says), number of
passages, or length of the passages. Parts of fewer than twenty claims are left out. The mean over data sets, and
over those of the grounding kind, has an interval of its own. `--limit` keeps about so many claims of every data set,
whole groups by hash. `--held-out` keeps only the groups that no shipped model was fitted on. `--noise`
judges every claim again with its passages repeated, turned around, put among passages of other claims, padded with
neutral sentences, and cut into chunks that overlap, and prints how many labels stayed.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from judging import Answers, answers, overlap
from labelled import ORDER, Labelled, limited, read_labelled
from measures import (
    NAMES,
    auc,
    balanced,
    bounds,
    calibration_error,
    contradicted,
    macro_f1,
    reliability,
    resampled,
)

from everyclaim.api.specs import create_verifier
from everyclaim.core.errors import EveryclaimError
from everyclaim.text.stops import sentence_spans

GROUNDING = frozenset({
    "realsumm_scu", "begin", "true_dialfact", "defacto", "factcheck_bench", "wice_oracle", "citint", "bump", "infotabs",
    "propsegment", "q2", "written",
})  # fmt: skip
FEWEST = 20  # claims a part needs to be shown
NEUTRAL = (
    "The page was last edited in the spring. A printed copy is kept at the front desk.",
    "More leaflets are on the shelf by the door. The text was read by two people before it was put online.",
)
BREAKDOWNS = ("dataset", "unit", "family", "slice", "passages", "length")
YARDSTICKS = ("lexical", "overlap")
Line = dict[str, Any]


@dataclass(frozen=True)
class Column:
    """All claims, and what one judge said of them."""

    label: np.ndarray
    groups: np.ndarray
    answers: Answers

    def part(self, here: np.ndarray) -> Column:
        """Only the claims of a mask."""
        said = replace(self.answers, predicted=self.answers.predicted[here], supported=self.answers.supported[here])
        return Column(self.label[here], self.groups[here], said)

    def auc(self, rows: np.ndarray | slice = slice(None)) -> float:
        """ROC-AUC of some rows."""
        return auc(self.label[rows] == "SUPPORTED", self.answers.supported[rows])

    def balanced(self, rows: np.ndarray | slice = slice(None)) -> float:
        """Balanced accuracy of some rows."""
        return balanced(self.label[rows] == "SUPPORTED", self.answers.predicted[rows] == "SUPPORTED")


@dataclass(frozen=True)
class Drawn:
    """A figure, and the same on every resample of groups."""

    value: float
    draws: np.ndarray

    def plain(self) -> dict[str, float | None]:
        """As JSON: the value and its interval, null where undefined."""
        low, high = bounds(self.draws)
        return {"value": _plain(self.value), "low": _plain(low), "high": _plain(high)}


def _plain(value: float) -> float | None:
    return None if np.isnan(value) else round(float(value), 5)


def figures(column: Column, yardsticks: dict[str, Column], draws: int) -> dict[str, Drawn]:
    """AUC and balanced accuracy with resamples, and the paired gains over each yardstick."""

    def drawn(measure: Callable[[Any], float]) -> Drawn:
        return Drawn(measure(slice(None)), resampled(measure, column.groups, draws))

    found = {"auc": drawn(column.auc), "balanced_accuracy": drawn(column.balanced)}
    for name, other in yardsticks.items():
        for key, theirs in (("auc", drawn(other.auc)), ("balanced_accuracy", drawn(other.balanced))):
            ours = found[key]
            found[f"{key}_over_{name}"] = Drawn(ours.value - theirs.value, ours.draws - theirs.draws)
    return found


def line(name: str, column: Column, found: dict[str, Drawn]) -> Line:
    """All figures of one part of the data, as JSON."""
    target = column.label == "SUPPORTED"
    recall, precision = contradicted(column.label, column.answers.predicted)
    stated = calibration_error(target, column.answers.supported) if column.answers.graded else float("nan")
    return {
        "name": name,
        "claims": len(target),
        "groups": len(set(column.groups)),
        "supported": _plain(target.mean()),
        **{key: value.plain() for key, value in found.items()},
        "accuracy": _plain((target == (column.answers.predicted == "SUPPORTED")).mean()),
        "calibration_error": _plain(stated),
        "macro_f1": _plain(macro_f1(column.label, column.answers.predicted)),
        "contradicted_recall": _plain(recall),
        "contradicted_precision": _plain(precision),
    }


def mean_line(name: str, lines: Sequence[Line], found: Sequence[dict[str, Drawn]]) -> Line:
    """Mean over parts; its interval comes from resampling every part that has groups enough, the others stay as are.

    Parts without a figure are left out.
    """
    averages = {}
    for key in found[0]:
        having = [one[key] for one in found if not np.isnan(one[key].value)]
        if having:
            draws = [np.where(np.isnan(one.draws), one.value, one.draws) for one in having]
            averages[key] = Drawn(float(np.mean([one.value for one in having])), np.mean(draws, axis=0)).plain()
    rest = {}
    for key in ("accuracy", "calibration_error", "macro_f1", "contradicted_recall", "contradicted_precision"):
        values = [one[key] for one in lines if one[key] is not None]
        rest[key] = round(float(np.mean(values)), 5) if values else None
    counts = {key: sum(one[key] for one in lines) for key in ("claims", "groups")}
    return {"name": name, **counts, "supported": None, **averages, **rest}


def tables(
    claims: Sequence[Labelled], said: Answers, yardsticks: dict[str, Answers], by: Sequence[str], draws: int
) -> dict[str, list[Line]]:
    """One list of lines per breakdown, and `all`."""
    label = np.array([claim.label for claim in claims])
    groups = np.array([f"{claim.dataset}/{claim.group}" for claim in claims])
    whole = Column(label, groups, said)
    others = {name: Column(label, groups, theirs) for name, theirs in yardsticks.items() if theirs is not said}

    def measured(name: str, here: np.ndarray) -> tuple[Line, dict[str, Drawn]]:
        part = whole.part(here)
        found = figures(part, {other: column.part(here) for other, column in others.items()}, draws)
        return line(name, part, found), found

    result = {}
    for key in by:
        column = np.array([claim.keys[key] for claim in claims])
        names = [name for name in sorted(set(column), key=_position) if name and (column == name).sum() >= FEWEST]
        parts = [measured(name, column == name) for name in names]
        result[key] = [one for one, _ in parts]
        for title, chosen in _means(key, names):
            picked = [parts[names.index(name)] for name in chosen]
            result[key].append(mean_line(title, [one for one, _ in picked], [found for _, found in picked]))
    result["all"] = [measured("all claims", np.ones(len(claims), dtype=bool))[0]]
    three = _three_way(claims)
    if three.any() and not three.all():
        result["all"].append(measured("data sets with three labels", three)[0])
    return result


def _three_way(claims: Sequence[Labelled]) -> np.ndarray:
    """Mark the claims of data sets that have all three labels, where contradiction can be measured fairly."""
    labels: dict[str, set[str]] = {}
    for claim in claims:
        labels.setdefault(claim.dataset, set()).add(claim.label)
    return np.array([labels[claim.dataset].issuperset(NAMES) for claim in claims])


def _position(name: str) -> tuple[int, str]:
    return (ORDER.index(name) if name in ORDER else len(ORDER), name)


def _means(key: str, names: Sequence[str]) -> list[tuple[str, list[str]]]:
    """Which means a table ends with."""
    means = [("mean", list(names))] if key in {"dataset", "family"} and len(names) > 1 else []
    grounding = [name for name in names if name in GROUNDING]
    if key == "dataset" and 1 < len(grounding) < len(names):
        means.append((f"mean of {len(grounding)} grounding", grounding))
    return means


def show(judge: str, found: dict[str, list[Line]]) -> None:
    """Print all tables of one judge."""
    gains = [name for name in YARDSTICKS if f"auc_over_{name}" in found["all"][0]]
    for key, lines in found.items():
        head = f"{judge}, by {key}" if key != "all" else judge
        print(f"\n{head}\n{'':32s}{'claims':>7s}  {'AUC [95 %]':22s}{'bal.acc [95 %]':22s}", end="")
        print("".join(f"{'AUC over ' + name:25s}" for name in gains), end="")
        print("  acc.    ECE mac.F1  c.rec  c.prec")
        for one in lines:
            print(f"{one['name'][:31]:32s}{one['claims']:7d}  ", end="")
            print(f"{_ranged(one.get('auc')):22s}{_ranged(one.get('balanced_accuracy')):22s}", end="")
            print("".join(f"{_ranged(one.get(f'auc_over_{name}'), '+'):25s}" for name in gains), end="")
            rest = (one[name] for name in ("accuracy", "calibration_error", "macro_f1", "contradicted_recall"))
            print(*(f"{_number(value):>6s}" for value in rest), f"{_number(one['contradicted_precision']):>7s}")


def _number(value: float | None, sign: str = "") -> str:
    return "" if value is None else f"{value:{sign}.3f}"


def _ranged(value: dict[str, float | None] | None, sign: str = "") -> str:
    if value is None or value["value"] is None:
        return ""
    if value["low"] is None:
        return _number(value["value"], sign)
    return f"{_number(value['value'], sign)} [{_number(value['low'], sign)}, {_number(value['high'], sign)}]"


def in_noise(create: Callable[[], Any], claims: Sequence[Labelled], predicted: np.ndarray) -> dict[str, float]:
    """Share of labels that stay when passages are repeated, turned around, among strange ones, padded, or cut up."""
    kept = {}
    layouts = (
        "repeated",
        "turned around",
        "among three strange ones",
        "between neutral sentences",
        "in overlapping chunks",
    )
    for name in layouts:
        changed = [replace(claim, contexts=_disturbed(name, claims, place)) for place, claim in enumerate(claims)]
        kept[name] = float((answers(create(), changed).predicted == predicted).mean())
    return kept


def _disturbed(name: str, claims: Sequence[Labelled], place: int) -> tuple[str, ...]:
    texts = claims[place].contexts
    if name == "repeated":
        return texts + texts
    if name == "turned around":
        return texts[::-1]
    if name == "between neutral sentences":
        return tuple(f"{NEUTRAL[0]} {text.strip()} {NEUTRAL[1]}" for text in texts)
    if name == "in overlapping chunks":
        return tuple(chunk for text in texts for chunk in _chunks(text))
    others = [claims[(place * 31 + k * 997 + 389) % len(claims)] for k in range(3)]
    strange = [other.contexts[0][:3000] for other in others if other.group != claims[place].group]
    return (*strange[:1], *texts, *strange[1:])


def _chunks(text: str) -> tuple[str, ...]:
    """Cut a text in two that share its middle third; fewer than three sentences stay together."""
    cut = sentence_spans(text)
    if len(cut) < 3:
        return (text,)
    size = max(2, len(cut) * 2 // 3)
    return text[: cut[size - 1][1]], text[cut[-size][0] :]


def main() -> None:
    """Judge, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", type=Path, nargs="+")
    parser.add_argument("--judge", action="append", help="spec of a verifier; may be given several times")
    parser.add_argument("--by", nargs="*", default=["dataset", "unit", "family"], choices=BREAKDOWNS)
    parser.add_argument("--limit", type=int, help="about so many claims of every data set")
    parser.add_argument("--draws", type=int, default=300, help="resamples for the intervals")
    parser.add_argument("--held-out", action="store_true")
    parser.add_argument("--reliability", action="store_true")
    parser.add_argument("--noise", action="store_true")
    parser.add_argument("--json", type=Path, help="also write all figures here")
    options = parser.parse_args()
    claims = limited(list(read_labelled(options.files, held_out=options.held_out)), options.limit)
    if not claims:
        parser.error("the files hold no claims")
    try:
        verifiers = {spec: create_verifier(spec) for spec in dict.fromkeys(["lexical", *(options.judge or [])])}
        said = {spec: answers(verifier, claims) for spec, verifier in verifiers.items()}
    except EveryclaimError as error:
        parser.error(str(error))
    report: dict[str, Any] = {"files": [path.name for path in options.files], "draws": options.draws, "judges": []}
    yardsticks = {"lexical": said["lexical"], "overlap": overlap(claims)}
    target = np.array([claim.label == "SUPPORTED" for claim in claims])
    for spec, given in {"overlap": yardsticks["overlap"], **said}.items():
        against = {} if spec == "overlap" else yardsticks
        found = tables(claims, given, against, options.by if spec != "overlap" else (), options.draws)
        show(given.judge, found)
        entry = {"judge": given.judge, "spec": spec, "tables": found}
        if given.graded:
            entry["reliability"] = reliability(target, given.supported)
        if options.reliability and given.graded:
            print("\nstated   found  claims")
            for row in entry["reliability"]:
                print(f" {row['stated']:.3f}   {row['found']:.3f}{row['claims']:8d}")
        if given.seconds:
            entry["claims_per_second"] = round(len(claims) / given.seconds, 1)
            print(f"{len(claims)} claims in {given.seconds:.1f} s: {entry['claims_per_second']:.0f} per s")
        if options.noise and spec in verifiers:
            entry["noise"] = in_noise(lambda judge=spec: create_verifier(judge), claims, given.predicted)
            print(*(f"labels that stay with the passages {k}: {v:.1%}" for k, v in entry["noise"].items()), sep="\n")
        report["judges"].append(entry)
    if options.json:
        options.json.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
