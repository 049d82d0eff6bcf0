r"""Fit the model that weighs the network's reading and the lexical checks; test it on families nobody has seen.

    python training/encoder/stack.py --data DATA --made PROBE.jsonl --network A.onnx=families B.onnx=families … \
        --cache FEATURES.pkl --out src/everyclaim/verify/embedded/data/model.json

Every row is read by a network that was trained without the row's family, so the fit learns how far a reading can be
trusted on text of a new kind. The recipe of the fit, its seeds included, is that of `training/lexical.py`. Measuring
takes long and fitting does not: the measured features are kept in the file named by `--cache`, which is used as it is
when it is there; remove it when a network, the features or the data change.
"""

from __future__ import annotations

import argparse
import json
import pickle
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
from sklearn.metrics import balanced_accuracy_score, roc_auc_score

if __package__ in (None, ""):
    import sys

    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import lexical
from everyclaim.core.types import Claim, Passage, Span
from everyclaim.models.local.cross_encoder import load_cross_encoder
from everyclaim.verify.embedded.features import describe
from everyclaim.verify.embedded.verifier import EmbeddedVerifier, _Prepared
from everyclaim.verify.lexical.model import FORMAT, Head
from everyclaim.verify.lexical.shortlist import Shortlist
from everyclaim.verify.lexical.verifier import shifted
from lexical_data import Row, capped, padded, probed, split, synthetic

VERSION = "4"
GROUNDING = ("realsumm_scu", "begin", "true_dialfact", "defacto", "factcheck_bench", "wice_oracle", "citint", "bump",
             "infotabs", "propsegment", "q2", "written")  # fmt: skip
# Over those of `lexical.py`: what a network of this size does not see in a copy, and answers longer than a sentence.
TRUST = {
    "made_speaker": 1.0, "made_speaker_copy": 0.7, "made_answer": 1.0, "made_human_answer": 1.0, "made_joined": 1.0,
    "made_two": 1.0, "made_negation": 1.5, "made_negation_twin": 1.5, "made_negation_document": 1.5,
    "made_lesson": 0.6, "made_lesson_answer": 0.3,
}  # fmt: skip
# These probabilities of the fits become one half; chosen on development data and the labelled example. A contradiction
# is an alarm.
CUTS = {"supported": 0.52, "contradicted": 0.63}
LESSONS = {"joined": "made_lesson_answer", "foreign": "made_lesson_foreign", "pair": "", "same": ""}  # "" stays out
SEEN = ("nli", "fever", "true_paws")  # families every network was trained on: readings of them flatter
RAISE = ("read_supported", "read_evidence")


def made_rows(path: Path) -> list[tuple[Row, str]]:
    """Read synthetic claims, with their parent sentences, or lessons."""
    rows = []
    for line in path.open(encoding="utf-8"):
        it = json.loads(line)
        name = it["dataset"].replace("synth_", "made_")
        if it["source"] == "lessons":
            name = LESSONS.get(it["slice"], "made_lesson")
        if name:
            rows.append((Row(it["id"], name, it["unit"], it["question"], tuple(it["contexts"]), it["text"],
                             it["label"], it["group"], it["slice"]), it.get("sentence", "")))  # fmt: skip
    return rows


def table(rows: list[tuple[Row, str]], network: Path, tokens: int, threads: int) -> Any:
    """Measure rows as the verifier does at run time."""
    verifier, reader = EmbeddedVerifier(tokens=tokens), load_cross_encoder(network, threads)
    groups: dict[tuple[str, ...], list[tuple[Row, str]]] = defaultdict(list)
    for row, sentence in rows:
        groups[row.contexts].append((row, sentence))
    kept, features, overlap = [], [], []
    for contexts, members in groups.items():
        passages = [Passage(str(i), text) for i, text in enumerate(contexts)]
        shortlist = Shortlist.of(passages)
        ready = []
        for row, sentence in members:
            claim = Claim("c", row.text, Span(0, len(row.text)), sentence or row.text)
            it = verifier._prepare(claim, shortlist, row.question)  # noqa: SLF001
            if isinstance(it, _Prepared):
                ready.append((row, it))
        scores = reader.read([it.pair for _, it in ready])
        for (row, it), score in zip(ready, scores, strict=True):
            kept.append(row)
            features.append(describe(it.compared, it.premise, score, it.pieces))
            claim_reading, index = it.compared.claim, it.compared.source.index
            overlap.append(float(np.mean([claim_reading.keys[i] in index for i in claim_reading.content])))
    names = list(features[0]) if features else []  # none where no row has anything to read
    return joined_up(names, np.array([[f[n] for n in names] for f in features]), np.array(overlap), kept)


def joined_up(names: list[str], values: Any, overlap: Any, rows: list[Row]) -> Any:
    """Make a table as `lexical.fit` takes it."""
    return SimpleNamespace(
        names=names, values=values, overlap=overlap, rows=rows,
        datasets=np.array([row.dataset for row in rows]), families=np.array([row.family for row in rows]),
        labels=np.array([row.label for row in rows]), groups=np.array([row.group for row in rows]),
    )  # fmt: skip


def stacked(tables: list[Any]) -> Any:
    """Put tables under each other."""
    return joined_up(
        tables[0].names, np.concatenate([t.values for t in tables]), np.concatenate([t.overlap for t in tables]),
        [row for t in tables for row in t.rows],
    )  # fmt: skip


def signs(names: list[str]) -> Any:
    """Say which features may only raise or only lower the odds of support; what is read may raise them."""
    sign = lexical.signs(names)
    for i, name in enumerate(names):
        if name in RAISE:
            sign[i] = 1
    return sign


def leave_out(it: Any, columns: dict[str, Any]) -> dict[str, Any]:
    """Score every family with a fit that has not seen it, for each choice of columns."""
    made = np.char.startswith(it.datasets.astype(str), "made_")
    target = (it.labels == "SUPPORTED").astype(int)
    result = {}
    for name, use in columns.items():
        score = np.full(len(it.rows), np.nan)
        sign = signs([n for n, u in zip(it.names, use, strict=True) if u])
        for family in sorted(set(it.families[~made])):
            inside = it.families != family
            weight = lexical.weights(it.datasets[inside], target[inside])
            head = Head.parse(lexical.fit_raw(it.values[inside][:, use], target[inside], weight, sign))
            score[~inside] = head.probability(it.values[~inside][:, use])
        result[name] = score
    return result


def show(it: Any, scores: dict[str, Any], title: str) -> None:
    """Print ROC-AUC of every score and balanced accuracy at one half, by data set and as means."""
    print(f"\n{title}\n{'':24s}{'n':>6s}" + _cells(scores, "{:>11s}") + _cells([f"{n}@.5" for n in scores], "{:>13s}"))
    target = it.labels == "SUPPORTED"
    lines = {}
    for name in sorted(set(it.datasets)):
        here = it.datasets == name
        if here.sum() < 20 or len(set(target[here])) < 2 or name.startswith("made_"):
            continue
        aucs = [roc_auc_score(target[here], s[here]) for s in scores.values()]
        accuracies = [balanced_accuracy_score(target[here], s[here] > 0.5) for s in scores.values()]
        lines[name] = aucs + accuracies
        print(f"{name:24s}{here.sum():6d}" + _cells(aucs, "{:11.3f}") + _cells(accuracies, "{:13.3f}"))
    for label, chosen in (("mean", list(lines)), ("mean of grounding", [n for n in lines if n in GROUNDING])):
        if chosen:
            means = np.mean([lines[n] for n in chosen], axis=0)
            aucs, accuracies = means[: len(scores)], means[len(scores) :]
            print(f"{label:24s}{'':6s}" + _cells(aucs, "{:11.3f}") + _cells(accuracies, "{:13.3f}"))


def _cells(values: Iterable[Any], form: str) -> str:
    """Write values side by side."""
    return "".join(form.format(value) for value in values)


def reading_alone(it: Any) -> Any:
    """Give what the network alone says: the probability of support, uncalibrated."""
    return 1 / (1 + np.exp(-it.values[:, it.names.index("read_supported")]))


def measured(options: argparse.Namespace) -> tuple[Any, Any]:
    """Measure the rows to fit on and, with `--final`, those to test on; or take both from the cache."""
    if options.cache.exists():
        return pickle.loads(options.cache.read_bytes())  # noqa: S301 -- the caller's own file, written below
    readers = [(Path(part.partition("=")[0]), part.partition("=")[2].split(",")) for part in options.network]
    fit_rows, test_rows = split(options.data)
    unseen, seen = ([row for row in fit_rows if (row.family in SEEN) is known] for known in (False, True))
    rows = [(row, "") for row in padded(capped(unseen, options.cap) + capped(seen, options.cap // 3))]
    simple = synthetic(options.data, fit_rows, tested=True, most=1200)
    made = [(row, "") for row in simple if probed(row.group)]
    made += [pair for path in options.made for pair in made_rows(path)]
    tables = []
    for number, (network, families) in enumerate(readers):
        mine = [pair for pair in rows if pair[0].family in families]
        print(f"{network}: {len(mine)} rows of {', '.join(families)}", flush=True)
        if mine:
            tables.append(table(mine, network, options.tokens, options.threads))
        tables.append(table(made[number :: len(readers)], network, options.tokens, options.threads))
    it, test = stacked(tables), None
    if options.final:
        test = table([(row, "") for row in test_rows], options.final, options.tokens, options.threads)
    options.cache.write_bytes(pickle.dumps((it, test)))
    return it, test


def lean(heads: dict[str, Any]) -> None:
    """Move both heads so that their cuts lie at one half."""
    for name, cut in CUTS.items():
        heads[name]["calibration"]["intercept"] -= float(lexical.logit(np.array(cut)))


def leave_families_out(it: Any) -> None:
    """Leave every family out of the fit in turn and show how the rest does on it, leaning as what ships."""
    lexical_only = np.array([not name.startswith("read_") for name in it.names])
    scores = leave_out(it, {"lexical": lexical_only, "stack": np.ones(len(it.names), dtype=bool)})
    scores["stack"] = np.array([shifted(float(score), CUTS["supported"]) for score in scores["stack"]])
    show(it, {"overlap": it.overlap, "network": reading_alone(it), **scores}, "families left out")


def try_development(test: Any, heads: dict[str, Any]) -> None:
    """Show how the fit does on development data, and how well it finds contradictions where labels tell them."""
    supported = Head.parse(heads["supported"]).probability(test.values)
    contradicted = Head.parse(heads["contradicted"]).probability(test.values)
    show(test, {"overlap": test.overlap, "network": reading_alone(test), "stack": supported}, "development data")
    known = test.labels != "NOT_SUPPORTED"
    said = np.where(supported > 0.5, "SUPPORTED", np.where(contradicted > 0.5, "CONTRADICTED", "UNSUPPORTED"))
    for name in sorted(set(test.datasets[known & (test.labels == "CONTRADICTED")])):
        here = known & (test.datasets == name)
        true, found = here & (test.labels == "CONTRADICTED"), here & (said == "CONTRADICTED")
        hits = (true & found).sum()
        recall, precision = hits / max(1, true.sum()), hits / max(1, found.sum())
        print(f"{name:20s} contradicted recall {recall:.2f} precision {precision:.2f}")


def write(path: Path, it: Any, heads: dict[str, Any], options: argparse.Namespace) -> None:
    """Write the fitted model as the verifier reads it."""
    model = {
        "format": FORMAT, "version": VERSION, "alarm": lexical.ALARM, "about": "Fitted by training/encoder/stack.py.",
        "fitted_on": {"rows": len(it.rows), "hash": lexical.data_hash(it.rows)},
        "config": {"cap": options.cap, "tokens": options.tokens, "trees": lexical.TREES, "ridge": lexical.RIDGE,
                   "trust": lexical.TRUST, "made_trust": lexical.MADE_TRUST, "cuts": CUTS},
        "features": it.names, "heads": heads,
    }  # fmt: skip
    path.write_text(json.dumps(model, separators=(",", ":")) + "\n", encoding="utf-8")
    print(f"\nwrote {path}: {path.stat().st_size / 1e6:.2f} MB")


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument(
        "--made",
        type=Path,
        nargs="+",
        required=True,
        help="synthetic claims and lessons that no network was trained on",
    )
    parser.add_argument(
        "--network",
        nargs="+",
        required=True,
        help="FILE.onnx=family,family: who reads what; families that nobody reads are left out",
    )
    parser.add_argument("--final", type=Path, help="the network that ships, to test on development data")
    parser.add_argument("--cache", type=Path, required=True, help="file for measured features, outside the repository")
    parser.add_argument("--cap", type=int, default=900, help="rows per data set")
    parser.add_argument("--tokens", type=int, default=96, help="budget of the premise")
    parser.add_argument("--threads", type=int, default=2, help="pairs read at a time")
    parser.add_argument("--skip-leave-out", action="store_true", help="do not test on families left out")
    parser.add_argument("--out", type=Path, help="model file to write")
    return parser.parse_args()


def main() -> None:
    """Measure, test, fit, write."""
    options = arguments()
    it, test = measured(options)
    lexical.TRUST |= TRUST
    if not options.skip_leave_out:
        leave_families_out(it)
    if options.out is None and test is None:
        return
    heads = lexical.fit(it, np.ones(len(it.rows), dtype=bool), signs(it.names))
    lean(heads)
    if test is not None:
        try_development(test, heads)
    if options.out:
        write(options.out, it, heads, options)


if __name__ == "__main__":
    main()
