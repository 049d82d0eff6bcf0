"""How well judges find what the sources of RAG answers do not support: claim by claim, and answer by answer.

    python benchmarks/accuracy/answers.py DATA/answers/dev.jsonl.xz [--texts DATA] [--judge embedded] [--judge …]

Files are JSON lines (plain or .xz) of answers with `spans` of what is not supported; `--texts DATA` adds the answers of
`training/answers/texts` that nothing was fitted on (DATA holds the public passages they name). Answers are split by the
shipped decomposer; a claim is wrong when it holds half of a marked span, or a span half of it.

For each task: ROC-AUC of claims by P(supported), beside plain word overlap; sensitivity (supported claims called so)
and specificity (wrong claims not called so); recall and precision of CONTRADICTED; ROC-AUC of whole answers (right or
not) by `probability` where the judge gives one, by the mean and by the lowest probability of their claims, by the
score, and by a control that sees nothing but the number of claims. Intervals are 95 %, from resampling whole documents.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from measures import auc, bounds, resampled, word_overlap

sys.path.insert(0, str(Path(__file__).parents[2] / "training"))
from answers.claims import LabelledAnswer, labelled
from answers.read import MarkedAnswer, from_json_lines, from_texts, public_passages
from everyclaim.api.session import Session
from everyclaim.core.types import JudgedClaim, Passage, Result, Sample

_IN_FLIGHT = 8
ALL = "all"
Rows = np.ndarray | slice
EVERY = slice(None)


class Judged:
    """What one judge said of all answers, as arrays over claims and over answers."""

    def __init__(self, answers: Sequence[LabelledAnswer], results: Sequence[Result]) -> None:
        claims = [
            (said.answer, label, claim)
            for said, result in zip(answers, results, strict=True)
            for label, claim in zip(said.labels, result.claims, strict=True)
            if label is not None
        ]
        self.task = np.array([_task(answer) for answer, _, _ in claims])
        self.groups = np.array([answer.group for answer, _, _ in claims])
        self.label = np.array([label for _, label, _ in claims])
        self.said = np.array([claim.verdict.label.value for _, _, claim in claims])
        self.supported = np.array([_supported(claim) for _, _, claim in claims])
        self.overlap = np.array([word_overlap(claim.text, answer.contexts) for answer, _, claim in claims])
        scored = [(said.answer, result) for said, result in zip(answers, results, strict=True) if result.claims]
        self.answer_task = np.array([_task(answer) for answer, _ in scored])
        self.answer_groups = np.array([answer.group for answer, _ in scored])
        self.right = np.array([not answer.faults for answer, _ in scored])
        self.by = {
            "probability": np.array([_probability(result) for _, result in scored]),
            "mean claim": np.array([np.mean([_supported(claim) for claim in result.claims]) for _, result in scored]),
            "lowest claim": np.array([min(_supported(claim) for claim in result.claims) for _, result in scored]),
            "score": np.array([result.score for _, result in scored]),
            "length alone": np.array([-len(result.claims) for _, result in scored]),
            "mean overlap": np.array([
                np.mean([word_overlap(claim.text, answer.contexts) for claim in result.claims])
                for answer, result in scored
            ]),
        }  # fmt: skip

    def parts(self) -> list[str]:
        """The tasks there are, and all together."""
        return [*sorted(set(self.task)), ALL]

    def claims_of(self, part: str) -> np.ndarray:
        """Which claims belong to a part."""
        return np.ones(len(self.task), dtype=bool) if part == ALL else self.task == part

    def answers_of(self, part: str) -> np.ndarray:
        """Which answers belong to a part."""
        return np.ones(len(self.answer_task), dtype=bool) if part == ALL else self.answer_task == part


def _task(answer: MarkedAnswer) -> str:
    return f"{answer.dataset}: {answer.task}" if answer.dataset == "ragtruth" else answer.dataset


def _supported(claim: JudgedClaim) -> float:
    given = claim.verdict.probabilities
    return given.supported if given else float(claim.verdict.label == "SUPPORTED")


def _probability(result: Result) -> float:
    given = getattr(result, "probability", None)
    return float("nan") if given is None else float(given)


def judged(answers: Sequence[MarkedAnswer], judge: str) -> Judged:
    """Score every answer. Raises `JudgeError` when the judge gives no verdict: a failure is no label."""
    metric = Session({"judge": judge}).metric
    results = asyncio.run(_scored(metric, answers))
    return Judged([labelled(a, r.claims) for a, r in zip(answers, results, strict=True)], results)


async def _scored(metric: Any, answers: Sequence[MarkedAnswer]) -> list[Result]:
    gate = asyncio.Semaphore(_IN_FLIGHT)

    async def one(answer: MarkedAnswer) -> Result:
        passages = tuple(Passage(f"p{number}", text) for number, text in enumerate(answer.contexts, 1))
        async with gate:
            result: Result = await metric.score(Sample(answer.id, answer.response, passages, answer.question))
            return result

    return list(await asyncio.gather(*map(one, answers)))


def line(it: Judged, part: str, draws: int) -> dict[str, Any]:
    """All figures of one part."""
    here, whole = it.claims_of(part), it.answers_of(part)
    label, said = it.label[here], it.said[here]
    target, flagged = label == "SUPPORTED", said != "SUPPORTED"
    contradicted = said == "CONTRADICTED"
    overlap, ours = it.overlap[here], it.supported[here]
    answers = {
        name: _drawn(lambda rows, v=values[whole]: auc(it.right[whole][rows], v[rows]), it.answer_groups[whole], draws)
        for name, values in it.by.items()
        if not np.isnan(values[whole]).any()
    }
    return {
        "name": part,
        "claims": int(here.sum()),
        "wrong": int((~target).sum()),
        "answers": int(whole.sum()),
        "wrong_answers": int((~it.right[whole]).sum()),
        "claim_auc": _drawn(lambda rows: auc(target[rows], ours[rows]), it.groups[here], draws),
        "overlap_auc": _drawn(lambda rows: auc(target[rows], overlap[rows]), it.groups[here], draws),
        "gain": _drawn(
            lambda rows: auc(target[rows], ours[rows]) - auc(target[rows], overlap[rows]), it.groups[here], draws
        ),
        "sensitivity": _share(~flagged[target]),
        "specificity": _share(flagged[~target]),
        "contradicted_precision": _share(label[contradicted] == "CONTRADICTED"),
        "contradicted_not_supported": _share(~target[contradicted]),
        "contradicted_recall": _share(contradicted[label == "CONTRADICTED"]),
        "answer_auc": answers,
    }


def _share(flags: np.ndarray) -> float | None:
    return round(float(flags.mean()), 4) if len(flags) else None


def _drawn(measure: Callable[[Rows], float], groups: np.ndarray, draws: int) -> dict[str, float | None]:
    low, high = bounds(resampled(measure, groups, draws))
    names = ("value", "low", "high")
    return {
        name: None if np.isnan(value) else round(float(value), 4)
        for name, value in zip(names, (measure(EVERY), low, high), strict=True)
    }


def show(judge: str, lines: Sequence[dict[str, Any]]) -> None:
    """Print the tables of one judge."""
    print(f"\n{judge}: claims, ROC-AUC [95 %]")
    print(f"{'':22s}{'claims':>7s}{'wrong':>6s}{'overlap':>9s}{'judge':>21s}{'gain':>23s}"
          f"{'sens.':>7s}{'spec.':>7s}{'contradicted: right':>21s}{'not supported':>15s}{'recall':>8s}")  # fmt: skip
    for it in lines:
        print(f"{it['name']:22s}{it['claims']:7d}{it['wrong']:6d}{_cell(it['overlap_auc']['value']):>9s}"
              f"{_interval(it['claim_auc']):>21s}{_interval(it['gain'], signed=True):>23s}"
              + "".join(f"{_cell(it[key]):>{width}s}" for key, width in (
                  ("sensitivity", 7), ("specificity", 7), ("contradicted_precision", 21),
                  ("contradicted_not_supported", 15), ("contradicted_recall", 8))))  # fmt: skip
    names = list(lines[-1]["answer_auc"])
    print(f"\n{judge}: answers, ROC-AUC by\n{'':22s}{'answers':>8s}{'wrong':>6s}" + "".join(f"{n:>21s}" for n in names))
    for it in lines:
        cells = "".join(f"{_interval(it['answer_auc'][name]):>21s}" for name in names)
        print(f"{it['name']:22s}{it['answers']:8d}{it['wrong_answers']:6d}{cells}")


def _cell(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def _interval(it: dict[str, float | None], *, signed: bool = False) -> str:
    if it["value"] is None:
        return "–"
    form = "{:+.3f}" if signed else "{:.3f}"
    if it["low"] is None:
        return form.format(it["value"])
    return f"{form.format(it['value'])} [{form.format(it['low'])}, {form.format(it['high'])}]"


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=Path, help="answers as JSON lines, plain or .xz")
    parser.add_argument("--texts", type=Path, metavar="DATA", help="also the tested answers of training/answers/texts")
    parser.add_argument("--judge", action="append", help="spec; repeatable (embedded)")
    parser.add_argument("--draws", type=int, default=300, help="resamples of documents")
    parser.add_argument("--json", type=Path, help="write all figures here")
    options = parser.parse_args()
    answers = [answer for path in options.files for answer in from_json_lines(path)]
    if options.texts:
        answers += [answer for answer in from_texts(public_passages(options.texts)) if answer.tested]
    if not answers:
        parser.error("name a file of answers, or --texts DATA")
    figures = {}
    for judge in options.judge or ["embedded"]:
        it = judged(answers, judge)
        figures[judge] = [line(it, part, options.draws) for part in it.parts()]
        show(judge, figures[judge])
    if options.json:
        options.json.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
