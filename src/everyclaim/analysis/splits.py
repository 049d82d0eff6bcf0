"""How well answers are split into claims: the share of sentences whose claims people accept, against a target."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from everyclaim.analysis.calibration import TARGET, Standing, compare_with_target
from everyclaim.analysis.estimates import interval, percent, plain
from everyclaim.core.plaintext import counted, words, wrapped
from everyclaim.core.types import SplitMark
from everyclaim.stats.intervals import NOTHING, Estimate, clustered_mean

SPLITS_SCHEMA = 1
MOST_EXAMPLES = 12  # in a prompt


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
class SplitExample:
    """A sentence that was split badly, and its claims as they should be; none: nothing to check."""

    sentence: str
    claims: tuple[str, ...]


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
    def examples(self) -> tuple[SplitExample, ...]:
        """The rejected sentences of which it is known how to split them, each once, at most a dozen."""
        found: dict[str, SplitExample] = {}
        for one in self.rejected:
            if (claims := _mended(one)) is not None:
                found.setdefault(one.text, SplitExample(one.text, claims))
        return tuple(found.values())[:MOST_EXAMPLES]

    def __str__(self) -> str:
        """Tell in a few lines how many splits people accept, and what is wrong with the others."""
        rate = self.accepted
        shown = f"accepted {percent(rate.value)}   95 % {interval(rate)}   at least {TARGET:.0%}: {self.standing}"
        lines = [f"run {self.run}: {counted(self.sentences, 'sentence')} marked, splits by {self.decomposer}", shown]
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
            "run": self.run,
            "decomposer": self.decomposer,
            "sentences": self.sentences,
            "incomplete": self.incomplete,
            "accepted": plain(self.accepted),
            "target": TARGET,
            "standing": self.standing,
            "marks": plain(self.marks),
            "with_mark": plain(self.with_mark),
            "annotators": list(self.annotators),
            "rejected": [
                {
                    "sentence": one.text,
                    "claims": [
                        {"text": claim, "mark": mark.value if mark else None}
                        for claim, mark in zip(one.claims, one.marks, strict=True)
                    ],
                    "better": list(one.better) or None,
                }
                for one in self.rejected
            ],
            "notes": list(self.notes),
        }


def split_check(
    run: str, decomposer: str, sentences: Sequence[SplitSentence], annotators: Sequence[str], notes: Sequence[str] = ()
) -> SplitCheck:
    """Add up what people say of splits; intervals take answers as clusters."""
    done = [one for one in sentences if one.accepted is not None]
    places = [one.position for one in done]
    found = {mark: sum(one.marks.count(mark) for one in done) for mark in SplitMark}
    bad = [mark for mark in SplitMark if mark is not SplitMark.GOOD and found[mark]]
    return SplitCheck(
        run=run,
        decomposer=decomposer,
        sentences=len(done),
        incomplete=len(sentences) - len(done),
        accepted=clustered_mean([one.accepted is True for one in done], places) if done else NOTHING,
        marks={mark: number for mark, number in found.items() if number},
        with_mark={mark: clustered_mean([mark in one.marks for one in done], places) for mark in bad},
        annotators=tuple(annotators),
        rejected=tuple(one for one in done if one.accepted is False),
        notes=tuple(notes),
    )


def examples_toml(examples: Sequence[SplitExample]) -> str:
    """Write worked examples as a domain file has them."""
    parts = ["# Worked examples, from sentences that people say were split badly.", "[decompose]"]
    for one in examples:
        claims = ", ".join(_toml(claim) for claim in one.claims)
        parts += ["", "[[decompose.examples]]", f"sentence = {_toml(one.sentence)}", f"claims = [{claims}]"]
    return "\n".join(parts) + "\n"


def _toml(text: str) -> str:
    # A basic string of TOML is one of JSON, but for the delete character; half of a pair fits into no file.
    whole = text.encode("utf-8", "replace").decode("utf-8")
    return json.dumps(whole, ensure_ascii=False).replace("\x7f", "\\u007f")


def _mended(one: SplitSentence) -> tuple[str, ...] | None:
    """Return what the claims should be: as somebody said, or without what is no claim where the others are good."""
    if one.better:
        return one.better
    if set(one.marks) <= {SplitMark.GOOD, SplitMark.NOT_A_CLAIM}:
        return tuple(claim for claim, mark in zip(one.claims, one.marks, strict=True) if mark is SplitMark.GOOD)
    return None
