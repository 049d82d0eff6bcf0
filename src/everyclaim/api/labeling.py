"""Where one person labels: their part of a queue, or what they settle where others differ.

A desk reads what to show and keeps what is said. Every action has an id that whoever acts chose, so that one that is
sent again is not done again.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from everyclaim.analysis.labels import ADJUDICATED, Dispute, Opinion, disputes
from everyclaim.core.errors import ConfigError, InputError
from everyclaim.core.nearest import did_you_mean
from everyclaim.core.plaintext import one_line
from everyclaim.core.protocols import Kept
from everyclaim.core.types import Evidence, FailureMode, JudgedClaim, Label, Passage, SplitMark
from everyclaim.store.labels import About, Act, AnyAnnotation, HistoryEntry
from everyclaim.store.records import Annotation, LabelQueue, Picked, QueueItem, answer_key_of, claim_key
from everyclaim.store.store import Store

LONGEST_NOTE = 10_000  # characters
MOST_EVIDENCE = 50  # pieces
_ID = re.compile(r"[A-Za-z0-9_-]{8,64}")


@dataclass(frozen=True, slots=True)
class LabelTask:
    """One text to label, with all that is shown of it. `claim` is None for a whole answer."""

    number: int  # in this desk's order, from 1
    item: QueueItem
    kept: Kept
    claim: JudgedClaim | None
    said: Opinion  # by whoever sits here; nothing so far without label and mark
    others: tuple[Opinion, ...] = ()  # where these are to be settled

    @property
    def passages(self) -> tuple[Passage, ...]:
        """The passages of the answer."""
        return self.kept.sample.passages

    @property
    def judged(self) -> Label:
        """What the judge says: of a whole answer, the worst of its claims."""
        if self.claim is not None:
            return self.claim.verdict.label
        failing = self.kept.result.failing
        return failing[0].verdict.label if failing else Label.SUPPORTED

    def quoted(self, evidence: Sequence[Picked]) -> tuple[Evidence, ...]:
        """Return picked evidence with the ids and texts of its passages; what lies outside them is left out."""
        found = []
        for place in evidence:
            if place.passage < len(self.passages):
                passage = self.passages[place.passage]
                found.append(Evidence(passage.id, place.start, place.end, passage.text[place.start : place.end]))
        return tuple(found)


class LabelingSession:
    """A person at work on a run's texts. Make one with `of_queue` or `of_disputes`, for one request or for many."""

    def __init__(self, store: Store, run: str, annotator: str, queue: LabelQueue | None = None) -> None:
        self._store = store
        self.run = run
        self.annotator = annotator
        self.queue = queue

    @classmethod
    def of_queue(cls, store: Store, queue: str, annotator: str) -> LabelingSession:
        """Return the desk of an annotator of a queue. Raises `InputError` where there is no such queue or person."""
        found = store.labelling.queue(queue)
        if annotator not in found.annotators:
            hint = did_you_mean(annotator, found.annotators)
            raise InputError(f"{one_line(annotator, 60)!r} is not an annotator of this queue{hint}")
        return cls(store, found.run, annotator, found)

    @classmethod
    def of_disputes(cls, store: Store, run: str) -> LabelingSession:
        """Return the desk where the differences of a run's annotators are settled."""
        return cls(store, store.run(run).id, ADJUDICATED)

    @property
    def settles(self) -> bool:
        """Whether what others said is settled here."""
        return self.queue is None

    @cached_property
    def items(self) -> tuple[QueueItem, ...]:
        """What there is to label, in order. Of an earlier moment; `refresh` looks again."""
        if self.queue is not None:
            return tuple(self._store.labelling.items(self.queue.id, self.annotator))
        return tuple(
            QueueItem(
                dispute.position,
                ordinal,
                dispute.key,
                dispute.settled.label if dispute.settled else None,
                dispute.settled.mark if dispute.settled else None,
            )
            for dispute, ordinal in self._disputed
        )

    @property
    def disputes(self) -> tuple[Dispute, ...]:
        """Where annotators of the run differ about a claim that it has, or about a whole answer."""
        return tuple(dispute for dispute, _ in self._disputed)

    @cached_property
    def labels(self) -> Sequence[Annotation[Label]]:
        """What everybody labelled of the run."""
        return self._store.labels(self.run)

    @cached_property
    def marks(self) -> Sequence[Annotation[SplitMark]]:
        """What everybody says of how the run's claims were cut."""
        return self._store.labelling.marks(self.run)

    @cached_property
    def _disputed(self) -> tuple[tuple[Dispute, int], ...]:
        found = disputes(self.labels, self.marks)
        ordinals = self._ordinals_of({dispute.position for dispute in found})
        seen: dict[str, tuple[Dispute, int]] = {}  # a sample that repeats has its labels at every place
        for dispute in found:
            ordinal = -1 if dispute.key == dispute.answer_key else ordinals[dispute.position].get(dispute.key)
            if ordinal is not None:
                seen.setdefault(dispute.key, (dispute, ordinal))
        return tuple(seen.values())

    def refresh(self) -> None:
        """Forget what was read."""
        for name in ("items", "labels", "marks", "_disputed"):
            self.__dict__.pop(name, None)

    def left(self) -> list[str]:
        """Return the keys of what waits, in order, what was skipped behind the rest."""
        waiting = [item for item in self.items if not item.is_done]
        waiting.sort(key=lambda item: (item.skipped is not None, item.skipped or 0))
        return list(dict.fromkeys(item.key for item in waiting))

    def task(self, key: str) -> LabelTask:
        """Return one text with what there is to see of it. Raises `InputError` for one that is not on this desk."""
        number, item = self._find(key)
        kept = next(iter(self._store.records_at(self.run, [item.position])), None)
        if kept is None:
            raise InputError(f"run {self.run} no longer has the answer of this label")
        claim = None if item.ordinal < 0 else kept.result.claims[item.ordinal]
        others = next((dispute.opinions for dispute in self.disputes if dispute.key == key), ()) if self.settles else ()
        return LabelTask(number, item, kept, claim, self._said(key, answer_key_of(kept.sample)), others)

    # ---- what is said

    def say(
        self,
        action: str,
        key: str,
        value: Label | SplitMark,
        *,
        note: str = "",
        failure_mode: FailureMode | None = None,
        evidence: Sequence[Picked] = (),
        actor: str = "",
    ) -> HistoryEntry:
        """Keep a label, or a mark of how the claim was split. Raises `InputError` for evidence that is not there."""
        task, note = self.task(key), note.strip()
        if len(note) > LONGEST_NOTE:
            raise InputError(f"a comment can have at most {LONGEST_NOTE:,} characters, got {len(note):,}")
        act, answer = self._act(action, actor), answer_key_of(task.kept.sample)
        span = task.claim.span if task.claim else None
        chosen = (
            self.queue.chosen if self.queue else next((opinion.chosen for opinion in task.others if opinion.chosen), "")
        )
        said: AnyAnnotation
        if isinstance(value, Label):
            _check_evidence(evidence, task.passages)
            mode = failure_mode.value if failure_mode and value is not Label.SUPPORTED else None
            picked = tuple(dict.fromkeys(evidence))
            said = Annotation(value, self.annotator, answer, key, span, note, mode, chosen, picked)
        elif task.claim is None:
            raise InputError("whole answers are not split: use a label")
        else:
            said = Annotation(value, self.annotator, answer, key, span, note, chosen=chosen)
        return self._checked(self._store.labelling.annotate(act, said), key)

    def skip(self, action: str, key: str, *, actor: str = "") -> HistoryEntry:
        """Put a text behind all others."""
        return self._checked(self._store.labelling.skip(self._act(action, actor), self._about(key)), key)

    def withdraw(self, action: str, key: str, *, actor: str = "") -> HistoryEntry:
        """Take back all that was said of a text here."""
        return self._checked(self._store.labelling.withdraw(self._act(action, actor), self._about(key)), key)

    def undo(self, action: str, *, actor: str = "") -> HistoryEntry | None:
        """Undo what was done last at this desk; None when nothing is left to undo."""
        found = self._store.labelling.undo(self._act(action, actor), self.annotator)
        return None if found is None else self._checked(found, None)

    # ---- how

    def _act(self, action: str, actor: str) -> Act:
        if not _ID.fullmatch(action):
            raise ConfigError("an action needs a unique id of 8 to 64 letters and digits")
        return Act(action, self.run, self.queue.id if self.queue else "", actor)

    def _checked(self, entry: HistoryEntry, key: str | None) -> HistoryEntry:
        """Refuse an id that stood for another action before; what this one says is then not kept."""
        self.refresh()
        queue = self.queue.id if self.queue else ""
        same = (entry.about.annotator, entry.run, entry.queue) == (self.annotator, self.run, queue)
        if not same or (key is not None and entry.about.key != key) or (key is None) != (entry.action == "undo"):
            raise InputError(f"the action id {entry.id!r} is already used: use a unique id for each action")
        return entry

    def _find(self, key: str) -> tuple[int, QueueItem]:
        found = next(((number, item) for number, item in enumerate(self.items, 1) if item.key == key), None)
        if found is None:
            raise InputError("this claim is not, or no longer, in the queue")
        return found

    def _about(self, key: str) -> About:
        _, item = self._find(key)
        kept = next(iter(self._store.records_at(self.run, [item.position])))
        return About(key, self.annotator, answer_key_of(kept.sample))

    def _said(self, key: str, answer: str) -> Opinion:
        said = self._store.labelling.said(About(key, self.annotator, answer))
        label, mark = said["label"] or {}, said["mark"] or {}
        bad = SplitMark(mark["mark"]) if mark else None
        return Opinion(
            self.annotator,
            Label(label["label"]) if label else None,
            None if bad is SplitMark.GOOD else bad,
            (label or mark).get("note", ""),
            label.get("failure_mode"),
            tuple(Picked(*place) for place in label.get("evidence") or ()),
            label.get("chosen", ""),
        )

    def _ordinals_of(self, positions: set[int]) -> Mapping[int, Mapping[str, int]]:
        found: dict[int, dict[str, int]] = {}
        for record in self._store.records_at(self.run, positions):
            answer = answer_key_of(record.sample)
            own = found.setdefault(record.position, {})
            for ordinal, claim in enumerate(record.result.claims):
                own.setdefault(claim_key(answer, claim.text), ordinal)
        return found


def _check_evidence(evidence: Sequence[Picked], passages: Sequence[Passage]) -> None:
    if len(evidence) > MOST_EVIDENCE:
        raise InputError(f"a label can have at most {MOST_EVIDENCE} quotes, got {len(evidence)}")
    for place in evidence:
        if not 0 <= place.passage < len(passages):
            raise InputError(f"evidence in passage {place.passage + 1}: the answer has {len(passages)} passages")
        size = len(passages[place.passage].text)
        if not 0 <= place.start < place.end <= size:
            raise InputError(
                f"evidence at {place.start}–{place.end} is outside passage {place.passage + 1} ({size:,} characters)"
            )
