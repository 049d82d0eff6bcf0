"""Turn the JSON that the benchmarks write into the tables of the model card.

    python benchmarks/accuracy/verifier.py FILES --judge embedded --by dataset slice length --json verifier.json
    python benchmarks/accuracy/probes.py DATA/passages --judge embedded --json probes.json
    python benchmarks/accuracy/minimal_pairs.py --judge embedded --json pairs.json
    python benchmarks/verifier_speed.py 'embedded?tokens=128' 'embedded?tokens=256' lexical --json speed.json
    python training/card.py --judge embedded --verifier verifier.json --probes probes.json --pairs pairs.json
        --speed speed.json [--into training/MODEL_CARD.md]

Every file is optional; each gives its own section. `--into` replaces what stands between the lines
`<!-- results -->` and `<!-- end of results -->` of a file and leaves the rest of it alone; without it the tables are
printed. Same files, same tables, byte for byte.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

BEGIN, END = "<!-- results -->", "<!-- end of results -->"
TITLES = {
    "dataset": "data set",
    "family": "family of data sets",
    "unit": "unit of text",
    "slice": "kind of claim or failure",
    "passages": "number of passages",
    "length": "length of the passages",
}
LEGEND = (
    "AUC is of P(supported); balanced accuracy and accuracy are of supported or not at the shipped threshold; C recall "
    "and precision are those of contradicted claims. Intervals are 95 %, from resampling whole groups; gains are "
    "paired. Overlap is the share of the claim's content words found in the passages."
)
Row = dict[str, Any]


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table; the first column is text, the others are numbers."""
    rule = ["---", *["--:"] * (len(head) - 1)]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in (head, rule, *rows))


def number(value: float | None, sign: str = "") -> str:
    """Three decimals; nothing where there is no value."""
    return "" if value is None else f"{value:{sign}.3f}"


def ranged(value: Row | None, sign: str = "") -> str:
    """A figure with its interval, where it has one."""
    if value is None or value["value"] is None:
        return ""
    if value["low"] is None:
        return number(value["value"], sign)
    return f"{number(value['value'], sign)} [{number(value['low'], sign)}, {number(value['high'], sign)}]"


def of_judge(entries: Sequence[Row], judge: str) -> Row:
    """The entry of a judge, named by its spec as given or as it calls itself; `SystemExit` where there is none."""
    for entry in entries:
        if judge in (entry["spec"], entry["judge"]):
            return entry
    sys.exit(f"no judge {judge!r} in this file; it has: {', '.join(str(entry['spec']) for entry in entries)}")


def verifier_section(report: Row, judge: str) -> str:
    """Accuracy over all, by part, and reliability."""
    entry = of_judge(report["judges"], judge)
    parts = ["### Labelled claims", f"From {', '.join(report['files'])}. {LEGEND}"]
    tables = entry["tables"]
    keys = ["all", *(key for key in tables if key != "all")]
    parts += [_accuracy_table(TITLES.get(key, ""), tables[key]) for key in keys]
    if entry.get("reliability"):
        rows = [
            [f"{row['from']:.1f} to {row['to']:.1f}", f"{row['claims']:,}", number(row["stated"]), number(row["found"])]
            for row in entry["reliability"]
        ]
        parts.append(
            "Reliability: the probability of support that was stated, and the share of claims that were supported.\n\n"
            + table(["stated", "claims", "mean stated", "supported"], rows)
        )
    if entry.get("noise"):
        rows = [[f"passages {name}", f"{kept:.1%}"] for name, kept in entry["noise"].items()]
        parts.append(table(["labels that stay", "share"], rows))
    return "\n\n".join(parts)


def _accuracy_table(title: str, lines: Sequence[Row]) -> str:
    gains = [name for name in ("lexical", "overlap") if any(f"auc_over_{name}" in line for line in lines)]
    head = [title, "claims", "AUC", *(f"AUC over {name}" for name in gains), "balanced accuracy"]
    head += ["accuracy", "ECE", "macro F1", "C recall", "C precision"]
    rows = [
        [
            line["name"],
            f"{line['claims']:,}",
            ranged(line.get("auc")),
            *(ranged(line.get(f"auc_over_{name}"), "+") for name in gains),
            ranged(line.get("balanced_accuracy")),
            *(
                number(line[name])
                for name in (
                    "accuracy",
                    "calibration_error",
                    "macro_f1",
                    "contradicted_recall",
                    "contradicted_precision",
                )
            ),
        ]
        for line in lines
    ]
    return table(head, rows)


def probes_section(report: Sequence[Row], judge: str) -> str:
    """Shares of each label on made claims, beside what they should be."""
    rows = [
        [
            row["probe"],
            f"{row['claims']:,}",
            *(f"{row[label]:.1%}" for label in ("supported", "unsupported", "contradicted")),
            row["aim"],
            "yes" if row["kept"] else "**no**",
        ]
        for row in of_judge(report, judge)["rows"]
    ]
    head = ["claims", "number", "supported", "unsupported", "contradicted", "aim", "kept"]
    return "### Copies, edited copies, good answers\n\n" + table(head, rows)


def pairs_section(report: Sequence[Row], judge: str) -> str:
    """Minimal pairs by kind, beside the other judges of the file."""
    entry = of_judge(report, judge)
    others = [other for other in report if other is not entry]
    rows = []
    for at, row in enumerate(entry["rows"]):
        beside = [f"{other['rows'][at]['both']:.1%}" for other in others]
        both = f"{row['both']:.1%} [{row['low']:.1%}, {row['high']:.1%}]"
        rest = [f"{row[key]:.1%}" for key in ("supported", "twin", "three_way")]
        rows.append([row["kind"].replace("_", " "), str(row["pairs"]), both, *rest, *beside])
    head = ["kind", "pairs", "both right", "supported right", "twin right", "three-way"]
    half = f", half {entry['half']}" if entry["half"] else ""
    named = [f"both right, {other['spec']}" for other in others]
    return f"### Minimal pairs{half}\n\n" + table([*head, *named], rows)


def speed_section(rows: Sequence[Row]) -> str:
    """Speed, cold start, memory and accuracy of every judge measured."""
    head = ["judge", "cores", "claims/s", "cold start", "memory", "minimal pairs right", "AUC", "balanced accuracy"]
    body = [
        [
            f"`{row['judge']}`" + (" *" if row["frontier"] else ""),
            str(row["cores"]),
            f"{row['claims_per_second']:.0f}",
            f"{row['cold_start']:.2f} s",
            f"{row['memory_mb']:.0f} MB",
            f"{row['pairs_right']:.1%}",
            number(row.get("auc")),
            number(row.get("balanced_accuracy")),
        ]
        for row in rows
    ]
    note = "\\* none other on as many cores is both faster and more accurate."
    return f"### Speed\n\n{table(head, body)}\n\n{note}"


def results(options: argparse.Namespace) -> str:
    """All sections whose files were given."""

    def read(path: Path) -> Any:
        return json.loads(path.read_text(encoding="utf-8"))

    sections = []
    if options.verifier:
        sections.append(verifier_section(read(options.verifier), options.judge))
    if options.pairs:
        sections.append(pairs_section(read(options.pairs), options.judge))
    if options.probes:
        sections.append(probes_section(read(options.probes), options.judge))
    if options.speed:
        sections.append(speed_section(read(options.speed)))
    return "\n\n".join(sections)


def placed(card: str, text: str) -> str:
    """Put the results between the two marks of a card; `SystemExit` where it does not have each of them once."""
    if card.count(BEGIN) != 1 or card.count(END) != 1 or card.index(BEGIN) > card.index(END):
        sys.exit(f"the card needs one line {BEGIN} and, after it, one line {END}")
    before, rest = card.split(BEGIN)
    return f"{before}{BEGIN}\n\n{text}\n\n{END}{rest.split(END)[1]}"


def main() -> None:
    """Read, lay out, print or put into the card."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--judge", default="embedded", help="spec of the judge the card is about")
    for name in ("verifier", "probes", "pairs", "speed", "into"):
        parser.add_argument(f"--{name}", type=Path)
    options = parser.parse_args()
    text = results(options)
    if not text:
        parser.error("give at least one of --verifier, --probes, --pairs, --speed")
    if options.into:
        card = options.into.read_text(encoding="utf-8")
        options.into.write_text(placed(card, text), encoding="utf-8")
    else:
        print(text)


if __name__ == "__main__":
    main()
