"""How well answers are split into claims, by people's marks: the share of sentences whose claims they accept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple

from everyclaim.analysis import interval, percent, written
from everyclaim.analysis.calibration import AT_LEAST, TARGET, Standing, compare_with_target
from everyclaim.core.plaintext import counted, words, wrapped
from everyclaim.core.types import SplitMark
from everyclaim.prompts.domain import toml_string
from everyclaim.stats.intervals import NOTHING, Estimate, clustered_mean

SPLITS_SCHEMA = 1


class SplitSentence(NamedTuple):
    """A sentence of an answer with what became of it: its claims, and what people say of each (None: nothing)."""

    position: int
    text: str
    claims: tuple[str, ...]
    marks: tuple[SplitMark | None, ...]
    better: tuple[str, ...]  # what somebody would make of it; empty: not said

    @property
    def accepted(self) -> bool | None:
        """Whether people accept the split; None while a claim has no mark and no other is bad."""
        if any(mark not in (None, SplitMark.GOOD) for mark in self.marks):
            return False
        return None if None in self.marks else True


@dataclass(frozen=True, slots=True)
class SplitCheck:
    """What people say of how a run splits answers. A sentence is accepted when every claim of it is."""

    run: str
    decomposer: str
    sentences: int  # with a word on every claim, or with a bad one
    incomplete: int  # begun and not done
    accepted: Estimate
    marks: Mapping[SplitMark, int]  # claims
    with_mark: Mapping[SplitMark, Estimate]  # share of sentences with such a claim
    annotators: tuple[str, ...]
    rejected: tuple[SplitSentence, ...]
    notes: tuple[str, ...] = ()

    @property
    def standing(self) -> Standing:
        """Whether the share is shown to be at least 90 %, by the lower end of its interval."""
        return compare_with_target(self.accepted)

    @property
    def examples(self) -> Mapping[str, tuple[str, ...]]:
        """The rejected sentences that somebody corrected, at most a dozen, with the right claims."""
        corrected = {one.text: one.better for one in reversed(self.rejected) if one.better}
        return dict(islice(reversed(corrected.items()), 12))

    def __str__(self) -> str:
        rate = self.accepted
        shown = f"accepted {percent(rate.value)}   95 % {interval(rate)}   at least {AT_LEAST}: {self.standing}"
        lines = [f"run {self.run}: {counted(self.sentences, 'sentence')} reviewed, decomposer {self.decomposer}", shown]
        lines += [
            f"{words(mark.value)}: {counted(self.marks[mark], 'claim')}, in {percent(rate.value)} of sentences "
            f"({interval(rate)})"
            for mark, rate in self.with_mark.items()
        ]
        return "\n".join(wrapped(line) for line in (*lines, *self.notes))

    def to_json(self) -> dict[str, Any]:
        """Return it as plain JSON values, in the public schema."""
        return {
            "schema": SPLITS_SCHEMA,
            **written(self, "run decomposer sentences incomplete accepted"),
            "target": TARGET,
            **written(self, "standing marks with_mark annotators"),
            "rejected": [
                {
                    "sentence": sentence.text,
                    "claims": [
                        {"text": text, "mark": mark} for text, mark in zip(sentence.claims, sentence.marks, strict=True)
                    ],
                    "better": list(sentence.better) or None,
                }
                for sentence in self.rejected
            ],
            "notes": list(self.notes),
        }


def split_check(
    run: str, decomposer: str, sentences: Sequence[SplitSentence], annotators: Sequence[str], notes: Sequence[str] = ()
) -> SplitCheck:
    """Add up what people say of splits; intervals take answers as clusters."""
    done = [sentence for sentence in sentences if sentence.accepted is not None]
    places = [sentence.position for sentence in done]
    found = {mark: sum(sentence.marks.count(mark) for sentence in done) for mark in SplitMark}
    bad = [mark for mark in SplitMark if mark is not SplitMark.GOOD and found[mark]]
    return SplitCheck(
        run=run,
        decomposer=decomposer,
        sentences=len(done),
        incomplete=len(sentences) - len(done),
        accepted=clustered_mean([sentence.accepted is True for sentence in done], places) if done else NOTHING,
        marks={mark: number for mark, number in found.items() if number},
        with_mark={mark: clustered_mean([mark in sentence.marks for sentence in done], places) for mark in bad},
        annotators=tuple(annotators),
        rejected=tuple(sentence for sentence in done if sentence.accepted is False),
        notes=tuple(notes),
    )


def examples_toml(examples: Mapping[str, Sequence[str]]) -> str:
    """Write worked examples, sentences with their claims, as a domain file has them."""
    parts = ["# Worked examples, from sentences that reviewers rejected.", "[decompose]"]
    for sentence, claims in examples.items():
        listed = ", ".join(map(toml_string, claims))
        parts += ["", "[[decompose.examples]]", f"sentence = {toml_string(sentence)}", f"claims = [{listed}]"]
    return "\n".join(parts) + "\n"
