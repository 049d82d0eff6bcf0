"""What the metric `attribution` finds: 200 written answers with planted wrong, missing, unneeded and dead citations.

    python benchmarks/accuracy/attribution.py [--judge embedded] [--show]

Each group of `planted_citations.jsonl` has passages, sentences with the passage that supports each (0: none), and
answers: `a1 b- c9 d12` are the sentences a to d, citing [1], nothing, [9], and [1][2]. What each citation should be
found to be follows from that. Prints precision and recall of every finding, and exits with 1 where one is below its
bound. The judge `written` knows which passage supports which sentence, and `scripted` is a language model that
does: with them every number is 1, which is what the metric can do.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import everyclaim as ec
from everyclaim.testing import ScriptedChat, request_data
from everyclaim.verify.llm import LlmVerifier

DATA = Path(__file__).with_name("planted_citations.jsonl")
# Precision and recall with the offline judge. It calls about a tenth of the supported claims unsupported, and so what
# they cite.
BOUNDS = {
    "right": (0.95, 0.87), "unneeded": (0.95, 0.8), "misattributed": (0.95, 0.85), "unsupported": (0.4, 0.8),
    "dead": (1.0, 1.0), "missing": (1.0, 1.0),
}  # fmt: skip
_Key = tuple[str, int]  # a letter of a sentence, and the number that is cited; 0: nothing


def written(group: Mapping[str, Any], answer: str) -> tuple[str, dict[_Key, str]]:
    """Return an answer, and what its citations should be found to be."""
    texts, expected = [], dict[_Key, str]()
    for part in answer.split():
        sentence, truth = group["sentences"]["abcd".index(part[0])]
        cited = [int(number) for number in part[1:] if number != "-"]
        marks = "".join(f"[{number}]" for number in cited)
        texts.append(f"{sentence[:-1]} {marks}.".replace(" .", "."))
        if not cited:
            expected[part[0], 0] = "missing"
        for number in cited:
            if number > len(group["passages"]):
                expected[part[0], number] = "dead"
            elif number == truth:
                expected[part[0], number] = "right"
            elif truth in cited:
                expected[part[0], number] = "unneeded"
            else:
                expected[part[0], number] = "misattributed" if truth else "unsupported"
    return " ".join(texts), expected


def found_in(result: ec.Result, group: Mapping[str, Any]) -> dict[_Key, str]:
    """Return what the metric found, by sentence and number; of several claims of a sentence the first counts."""
    letters = {text: "abcd"[place] for place, (text, _) in enumerate(group["sentences"])}
    claims = {claim.id: as_written(claim.sentence, letters) for claim in result.claims}
    found = dict[_Key, str]()
    for row in result.details.get("citations", ()):
        letter = letters.get(claims[row["claim"]], "?")
        found.setdefault((letter, row["source"]["number"] if "source" in row else 0), row["finding"])
    return found


def as_written(sentence: str, texts: Iterable[str]) -> str:
    """Find the written sentence that one of an answer is, beside citations; a claim may name what a pronoun does."""
    return next((text for text in texts if sentence.startswith(text.rstrip("."))), "")


def truth_of(groups: list[dict[str, Any]]) -> dict[str, str]:
    """Return for each sentence the passage that supports it."""
    return {
        text: group["passages"][number - 1] for group in groups for text, number in group["sentences"] if number > 0
    }


def judge_of(groups: list[dict[str, Any]]) -> Callable[..., Any]:
    """Return a judge that knows which passage supports which sentence."""
    truth = truth_of(groups)

    def written_judge(claim: Any, passages: Any) -> dict[str, Any]:
        known = truth.get(as_written(claim.sentence, truth))
        is_there = any(one.text == known for one in passages)
        return {"label": "SUPPORTED" if is_there else "UNSUPPORTED", "evidence": [known] if is_there else []}

    return written_judge


def model_of(groups: list[dict[str, Any]]) -> LlmVerifier:
    """Return a scripted language model that knows it: prompts are written and replies read as with any model."""
    truth = truth_of(groups)

    def reply(messages: Any) -> str:
        data = request_data(messages)
        rows = []
        for group in data["claims"]:
            for key, claim in group["claims"].items():
                known = truth.get(as_written(group.get("sentence", claim), truth))
                is_there = known in data["passages"].values()
                rows.append({
                    "id": key, "quotes": [known] if is_there else [], "why": "so", "mode": "other", "conflict": False,
                    "label": "SUPPORTED" if is_there else "UNSUPPORTED",
                })  # fmt: skip
        return json.dumps({"verdicts": rows})

    return LlmVerifier(ScriptedChat(reply))


def pairs(groups: list[dict[str, Any]], judge: Any, *, show: bool = False) -> Iterator[tuple[str, str]]:
    """Yield what was planted and what was found, citation by citation."""
    with ec.Evaluator(judge=judge, metric="attribution", decomposer="embedded") as evaluator:
        for group in groups:
            for answer in group["answers"]:
                text, expected = written(group, answer)
                found = found_in(evaluator.score(response=text, passages=group["passages"]), group)
                for key in expected | found:
                    planted, said = expected.get(key, "none"), found.get(key, "none")
                    if show and planted != said:
                        print(f"{key}: {planted}, found {said}: {text}")
                    yield planted, said


def main() -> int:
    """Score all answers."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--judge", default="embedded")
    parser.add_argument("--show", action="store_true", help="print what differs")
    given = parser.parse_args()
    groups = [json.loads(line) for line in DATA.read_text(encoding="utf-8").splitlines()]
    made = {"written": judge_of, "scripted": model_of}
    judge = made[given.judge](groups) if given.judge in made else given.judge
    counts = Counter(pairs(groups, judge, show=given.show))
    missed = False
    print(f"{'finding':16}{'planted':>8}{'precision':>11}{'recall':>8}")
    for name, bounds in BOUNDS.items():
        planted = sum(count for (wanted, _), count in counts.items() if wanted == name)
        said = sum(count for (_, found), count in counts.items() if found == name)
        precision, recall = counts[name, name] / max(1, said), counts[name, name] / max(1, planted)
        missed = missed or precision < bounds[0] or recall < bounds[1]
        print(f"{name:16}{planted:8}{precision:11.3f}{recall:8.3f}")
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
