"""Where people differ: the texts that one of them has to settle, as annotator `adjudicated`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from everyclaim.analysis.labelling import ADJUDICATED
from everyclaim.core.types import Label, SplitMark
from everyclaim.store import HumanLabel, HumanMark, Picked


@dataclass(frozen=True, slots=True)
class Saying:
    """What one person says of one text: a label, a mark of how it was cut, or both."""

    annotator: str
    label: Label | None = None
    mark: SplitMark | None = None
    note: str = ""
    failure_mode: str | None = None
    evidence: tuple[Picked, ...] = ()
    chosen: str = ""

    @property
    def word(self) -> Label | SplitMark | None:
        """What it comes to: the label where there is one."""
        return self.label or self.mark


@dataclass(frozen=True, slots=True)
class Dispute:
    """A text of which several people say different things, and what was settled."""

    position: int
    key: str
    answer_key: str
    said: tuple[Saying, ...]
    settled: Saying | None


def sayings(labels: Sequence[HumanLabel], marks: Sequence[HumanMark]) -> Mapping[tuple[int, str], list[Saying]]:
    """Return by place and key what everybody says; a claim that is called good is not thereby marked."""
    found: dict[tuple[int, str], dict[str, Saying]] = {}
    for one in labels:
        saying = Saying(one.annotator, one.label, None, one.note, one.failure_mode, one.evidence, one.chosen)
        found.setdefault((one.position, one.key), {})[one.annotator] = saying
    for mark in marks:
        if mark.mark is SplitMark.GOOD:
            continue
        own = found.setdefault((mark.position, mark.key), {})
        label = own.get(mark.annotator, Saying(mark.annotator, chosen=mark.chosen))
        own[mark.annotator] = Saying(
            label.annotator,
            label.label,
            mark.mark,
            "\n".join(filter(None, (label.note, mark.note))),
            label.failure_mode,
            label.evidence,
            label.chosen,
        )
    return {about: list(own.values()) for about, own in found.items()}


def disputes(labels: Sequence[HumanLabel], marks: Sequence[HumanMark]) -> list[Dispute]:
    """Return where people differ in label, or where one labels what another calls a bad claim; settled or not."""
    answers = {(one.position, one.key): one.answer_key for one in labels}
    answers |= {(one.position, one.key): one.answer_key for one in marks}
    found = []
    for (position, key), everybody in sayings(labels, marks).items():
        said = tuple(one for one in everybody if one.annotator != ADJUDICATED)
        if len({one.word for one in said}) > 1:
            settled = next((one for one in everybody if one.annotator == ADJUDICATED), None)
            found.append(Dispute(position, key, answers[position, key], said, settled))
    return found


def settled_as_bad(marks: Sequence[HumanMark], labels: Sequence[HumanLabel]) -> set[str]:
    """Return the keys of what was settled as a bad claim and not labelled: it counts nowhere."""
    labelled = {one.key for one in labels if one.annotator == ADJUDICATED}
    bad = {one.key for one in marks if one.annotator == ADJUDICATED and one.mark is not SplitMark.GOOD}
    return bad - labelled
