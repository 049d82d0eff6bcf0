"""Fit the model that tells the failure modes apart, and write its file.

    python -m training.modes.fit --out src/everyclaim/verify/lexical/data/modes.json
    python -m training.modes.fit --check        # cross-validated over passage sets; write nothing

Fitted are the claims of `texts/dev-*.txt`, each as three judges have it: read by the network, by its words alone, and
with nothing known but its label; and, with a small weight, twins of the lessons whose letter says which mode they are.
The held-out part is not read here.
"""

from __future__ import annotations

import argparse
import difflib
import json
import random
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from sklearn.model_selection import GroupKFold
from training.lessons.read import lessons
from training.modes.read import failing

from everyclaim.core.types import Claim, FailureMode, Label, Passage, Span
from everyclaim.verify.embedded.verifier import EmbeddedVerifier
from everyclaim.verify.lexical.failure_modes import Failure, doubts_of, measured
from everyclaim.verify.lexical.parting import Parting
from everyclaim.verify.lexical.verifier import LexicalVerifier

VERSION = "3"
LETTERS = {
    "n": FailureMode.NUMERIC_MISMATCH, "u": FailureMode.NUMERIC_MISMATCH, "d": FailureMode.TEMPORAL,
    "e": FailureMode.ENTITY_SWAP, "r": FailureMode.RELATION, "c": FailureMode.RELATION, "g": FailureMode.NEGATION,
    "h": FailureMode.HEDGE_MISMATCH, "s": FailureMode.WRONG_ATTRIBUTION, "x": FailureMode.INVENTION,
}  # fmt: skip
LESSONS = 120  # twins of each mode
TRUST = 0.1  # what a twin weighs beside a labelled claim
STRENGTH = 0.015  # inverse of the ridge
BOUND = 4.0
_LONGEST, _CHANGED = 35, 12  # words of a claim, and of what departs from its twin
_MINUTES = re.compile(r"\b(?:minute|hour|day|week|month|year|second|decade)s?\b|\b(?:19|20)\d\d\b", re.IGNORECASE)
_SAYING = re.compile(
    r"\b(?:sa(?:id|ys?)|according|claim|argu|not(?:ed|es)|think|thought|believ|warn|recommend|advis|suggest|f[io]nds?"
    r"|found|predict|expect|report|wr[io]te|told|tells|stat|announc|explain|show|indicat|deni|describ)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Row:
    """A failing claim to be fitted."""

    claim: str
    passages: tuple[str, ...]
    question: str
    mode: FailureMode
    label: Label
    group: str
    weight: float = 1.0


def written() -> list[Row]:
    """Give the labelled claims."""
    return [Row(it.claim, it.passages, it.question, it.mode, it.label, it.group) for it in failing("dev")]


def twins() -> list[Row]:
    """Give twins of the lessons that are wrong in one place, the same number of each mode."""
    rows = [row for lesson in lessons() for row in _twins(lesson)]
    random.Random(5).shuffle(rows)
    count: Counter[FailureMode] = Counter()
    kept = []
    for row in rows:
        count[row.mode] += 1
        if count[row.mode] <= LESSONS:
            kept.append(row)
    return kept


def _twins(lesson: Any) -> Iterator[Row]:
    for it in lesson.claims:
        mode = LETTERS.get(it.kind)
        if mode is None or lesson.tested or len(it.text.split()) > _LONGEST or sum(map(len, lesson.passages)) > 6000:
            continue
        new = _new_words(it.twin.split(), it.text.split())
        amount_of_time = it.kind == "n" and _MINUTES.search(" ".join(new))
        unsaid = it.kind == "s" and not _SAYING.search(it.text)
        if len(new) <= _CHANGED and not amount_of_time and not unsaid:
            yield Row(it.text, lesson.passages, lesson.question, mode, Label(it.label), lesson.id, TRUST)


def _new_words(twin: list[str], words: list[str]) -> list[str]:
    codes = difflib.SequenceMatcher(a=twin, b=words, autojunk=False).get_opcodes()
    return [words[place] for tag, _, _, low, high in codes if tag != "equal" for place in range(low, high)]


def views(row: Row, judge: EmbeddedVerifier) -> Iterator[dict[str, float]]:
    """Measure a claim as each judge has it."""
    claim = Claim("c", row.claim, Span(0, len(row.claim)), row.claim)
    passages = [Passage(f"p{number}", text) for number, text in enumerate(row.passages)]
    known = 0.85 if row.label is Label.CONTRADICTED else 0.15
    read = judge.failing([claim], [row.label], passages, row.question)[0]
    said = LexicalVerifier().failing([claim], [row.label], passages, row.question)[0]
    if read is None or said is None:
        return
    for it in (read, said, read._replace(against=known)):
        yield _signals(it)


def _signals(it: Failure) -> dict[str, float]:
    return measured(it, Parting(it.compared), doubts_of(it))


@dataclass(frozen=True, slots=True)
class Table:
    """Everything that was measured."""

    names: list[str]
    values: np.ndarray
    modes: np.ndarray
    weights: np.ndarray
    groups: np.ndarray
    view: np.ndarray

    @classmethod
    def of(cls, rows: Iterable[Row]) -> Table:
        """Measure some claims, each in every view."""
        judge = EmbeddedVerifier()
        found = [(row, view, it) for row in rows for view, it in enumerate(views(row, judge))]
        names = list(found[0][2])
        return cls(
            names,
            np.array([[it[name] for name in names] for _, _, it in found]),
            np.array([row.mode.value for row, _, _ in found]),
            np.array([row.weight for row, _, _ in found]),
            np.array([row.group for row, _, _ in found]),
            np.array([view for _, view, _ in found]),
        )

    def part(self, chosen: np.ndarray) -> Table:
        """Give some of the rows."""
        return Table(self.names, *(column[chosen] for column in
                                   (self.values, self.modes, self.weights, self.groups, self.view)))  # fmt: skip


def fitted(table: Table) -> dict[str, Any]:
    """Fit; every mode weighs the same."""
    mean, scale = table.values.mean(axis=0), table.values.std(axis=0)
    scale = np.where(scale > 0, scale, 1.0)
    rows = np.clip((table.values - mean) / scale, -BOUND, BOUND)
    total = {mode: table.weights[table.modes == mode].sum() for mode in set(table.modes)}
    weights = table.weights / np.array([total[mode] for mode in table.modes])
    weights *= table.weights.sum() / weights.sum() / 3
    model = LogisticRegression(C=STRENGTH, max_iter=2000).fit(rows, table.modes, sample_weight=weights)
    return {
        "version": VERSION, "modes": list(model.classes_), "signals": table.names, "bound": BOUND,
        "mean": mean.round(5).tolist(), "scale": scale.round(5).tolist(), "weight": model.coef_.round(4).tolist(),
        "intercept": model.intercept_.round(4).tolist(),
    }  # fmt: skip


def predicted(model: dict[str, Any], values: np.ndarray) -> np.ndarray:
    """Name the mode of each row."""
    rows = np.clip((values - np.array(model["mean"])) / np.array(model["scale"]), -BOUND, BOUND)
    scores = rows @ np.array(model["weight"]).T + np.array(model["intercept"])
    return np.array(model["modes"])[scores.argmax(axis=1)]


def check(labelled: Table, lesson: Table) -> None:
    """Print the macro F1 of every view, each passage set judged by a model that has not seen it."""
    found = np.empty(len(labelled.modes), dtype=object)
    for fit, test in GroupKFold(6).split(labelled.values, groups=labelled.groups):
        model = fitted(joined(labelled.part(fit), lesson))
        found[test] = predicted(model, labelled.values[test])
    for view, name in enumerate(("read by the network", "by its words", "read, the label known")):
        here = labelled.view == view
        print(f"{name:24s}{f1_score(list(labelled.modes[here]), list(found[here]), average='macro'):.3f}")


def joined(one: Table, other: Table) -> Table:
    """Put two tables together."""
    columns = ("values", "modes", "weights", "groups", "view")
    return Table(one.names, *(np.concatenate([getattr(one, name), getattr(other, name)]) for name in columns))


def main() -> None:
    """Measure, fit, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    labelled, lesson = Table.of(written()), Table.of(twins())
    if options.check:
        check(labelled, lesson)
    if options.out:
        options.out.parent.mkdir(parents=True, exist_ok=True)
        text = json.dumps(fitted(joined(labelled, lesson)), separators=(",", ":"))
        options.out.write_text(text.replace('],"', '],\n"').replace("],[", "],\n[") + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
