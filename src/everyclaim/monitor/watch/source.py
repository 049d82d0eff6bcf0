"""What a watch reads from: answers with keys that stay the same, in batches, each with how far it brings the reader.

Behind that is what a pass over a source came to.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from everyclaim.analysis import written
from everyclaim.core.cited import citation_counts, citation_line
from everyclaim.core.limits import limits_here
from everyclaim.core.plaintext import counted
from everyclaim.core.types import Label, Outcome, Result, Sample
from everyclaim.io.fields import SAMPLE_FIELDS, Fields
from everyclaim.io.messages import rows_of
from everyclaim.io.rows import RowMaker
from everyclaim.io.values import RowError
from everyclaim.monitor.alerts import Alert
from everyclaim.monitor.watch.plan import AT_RANDOM
from everyclaim.store.watching import JudgedAnswer

SCORED, SKIPPED, OVER_BUDGET, UNREADABLE, DELETED = "judged", "skipped", "over_budget", "unreadable", "deleted"


@dataclass(frozen=True, slots=True)
class Unreadable:
    """Something that should be an answer, and why it cannot be read as one; or what was deleted since it was listed."""

    reason: str = ""
    decision: str = UNREADABLE


Loaded = Sample | Unreadable | None  # None: not yet complete, it is looked at again


@dataclass(frozen=True, slots=True)
class Found:
    """An answer as a source lists it; what it says is there, or is loaded only when somebody has to know."""

    key: str  # the same whenever and wherever it is read
    load: Loaded | Callable[[], Awaitable[Loaded]]
    unit: str = ""  # what is sampled as a whole, such as a trace; the key where there is none
    about: Mapping[str, Any] = field(default_factory=dict)  # plain JSON that `send_back` needs


class Batch(NamedTuple):
    """Answers, and the checkpoint that stands for having decided about them and all before them."""

    found: Sequence[Found]
    checkpoint: Any  # plain JSON


class AnswerSource:
    """Where answers come from. Whatever cannot be reached or read is a `SourceError`.

    One that inherits from it keeps nothing open and takes no scores, unless it says otherwise.
    """

    name: str  # what the watch is known by; the same for the same answers, and without secrets
    title: str  # a short word for people
    takes_scores: bool = False  # whether `send_back` is of any use

    async def open(self) -> None:
        """Begin: connect, listen."""

    async def close(self) -> None:
        """End."""

    def batches(self, checkpoint: Any) -> AsyncIterator[Batch]:
        """Yield what there is behind a checkpoint (None: from the beginning), and end there.

        When the next batch is asked for, everything in the one before has been decided, durably.
        """
        raise NotImplementedError

    async def send_back(self, results: Sequence[JudgedAnswer]) -> Mapping[str, bool]:
        """Hand scores to the source; return by name whether it took them (True) or never will (False).

        What is not named is sent again later.
        """
        return {returned.answer: True for returned in results}


class Rows:
    """Makes samples of rows, by the rules that rows of files have.

    Raises `ConfigError` for a mapping that names no field of ours.
    """

    def __init__(self, mapping: Mapping[str, str] | None = None, slices: Sequence[str] = ()) -> None:
        self._fields = Fields(SAMPLE_FIELDS, mapping, [name for name in slices if name not in {"model", "release"}])
        self._limits = limits_here()

    def given_id(self, row: Mapping[str, Any]) -> str:
        """Return the row's own id, empty where it has none."""
        given = self._fields.get(row, "id")
        return "" if given is None else str(given)

    def sample(self, row: Mapping[str, Any], otherwise: str, where: str) -> Sample | Unreadable:
        """Make a sample, with the id `otherwise` where the row has none; or say `where` why it cannot be one."""
        try:
            plain_row = next(iter(rows_of(row, self._fields, 1)), row)  # of a conversation its last answer
            made = RowMaker(self._fields, lambda *_: None, self._limits).sample(1, plain_row)
        except RowError as error:
            return Unreadable(f"{where}: {error}")
        return made if self.given_id(row) else replace(made, id=otherwise)


PASS_SCHEMA = 1
_REASONS = 5
_SUMMED = "found known judged skipped over_budget unreadable deleted tried_again sent_back alerts_sent"


@dataclass(slots=True)
class WatchPass:
    """What one pass found and did. Every answer that was found is in exactly one of the counts down to `incomplete`."""

    known: int = 0  # decided about before; not among those found
    found: int = 0
    judged: int = 0
    skipped: int = 0  # not chosen
    over_budget: int = 0  # chosen, but the day's budget was used up
    unreadable: int = 0
    deleted: int = 0  # deleted at the source before it was read
    incomplete: int = 0  # not complete, or left for the next pass
    sent_back: int = 0
    refused: int = 0  # scores that the source will never take: what they are about is gone
    not_sent_back: int = 0  # scores that the source did not take yet; they are sent again
    outcomes: Counter[Outcome] = field(default_factory=Counter)  # of those that were judged
    scored: int = 0  # of those that were chosen at random and judged
    scores: float = 0.0  # their sum
    claims: Counter[Label] = field(default_factory=Counter)  # of these
    citations: Counter[str] = field(default_factory=Counter)  # findings on those of these answers
    chosen: Counter[str] = field(default_factory=Counter)  # why they were judged
    runs: dict[str, str] = field(default_factory=dict)  # id → name
    reasons: list[str] = field(default_factory=list)  # why the first few could not be read
    waits_for: str = ""  # what keeps it from going on today
    trouble: str = ""  # why scores could not be written back
    tried_again: int = 0  # answers whose judge had failed before; not among those judged
    alerts: list[Alert] = field(default_factory=list)
    alerts_sent: int = 0  # that a receiver got: one per measure in six hours
    undelivered: list[str] = field(default_factory=list)  # of each alert that waits for its receiver: why

    def count(self, decision: str, reason: str = "") -> None:
        """Count an answer by what was decided; `reason` says why it could not be read."""
        setattr(self, decision, getattr(self, decision) + 1)
        if reason and len(self.reasons) < _REASONS:
            self.reasons.append(reason)

    def judge(self, result: Result, chosen: str, *, is_random: bool) -> None:
        """Count an answer that was judged; only those chosen at random say something about the mean score."""
        self.judged += 1
        self.outcomes[result.outcome] += 1
        self.chosen[chosen] += 1
        if is_random and result.outcome is Outcome.SCORED and result.score is not None:
            self.scored += 1
            self.scores += result.score
            self.claims.update(result.counts)
            self.citations.update(citation_counts(result))

    @property
    def mean_score(self) -> float | None:
        """The mean score of the answers that were chosen at random and scored; None where there are none."""
        return self.scores / self.scored if self.scored else None

    @property
    def failed(self) -> int:
        """How many were judged without a verdict that can be used."""
        return self.outcomes[Outcome.FAILED]

    @property
    def is_silent(self) -> bool:
        """Whether there is nothing to tell."""
        counts = (self.found, self.tried_again, self.sent_back, self.refused, self.alerts_sent)
        return not any((*counts, self.alerts, self.trouble, self.waits_for))

    def __str__(self) -> str:
        failed = f" ({self.failed:,} failed)" if self.failed else ""
        counts = {
            f"judged{failed}": self.judged,
            "retried": self.tried_again,
            "skipped": self.skipped,
            "over the daily budget": self.over_budget,
            "unreadable": self.unreadable,
            "deleted": self.deleted,
            "left for the next pass": self.incomplete,
            "written back": self.sent_back,
            "rejected by the source": self.refused,
            "not yet written back": self.not_sent_back,
        }
        told = [counted(self.found, "new answer"), *(f"{count:,} {name}" for name, count in counts.items() if count)]
        if self.alerts_sent:
            told.append(f"{counted(self.alerts_sent, 'alert')} sent")
        if self.undelivered:
            told.append(f"{counted(len(self.undelivered), 'alert')} not delivered")
        if self.mean_score is not None:
            failing = ", ".join(
                f"{self.claims[label]:,} {label.value.lower()}" for label in (Label.CONTRADICTED, Label.UNSUPPORTED)
            )
            picked = self.chosen.total() - self.chosen[AT_RANDOM]
            of_random = f"of the {self.scored:,} chosen at random: " if picked else ""
            told.append(f"{of_random}mean score {self.mean_score:.3f}")
            told.append(f"{counted(self.claims.total(), 'claim')}: {failing}")
        if self.citations:
            told.append(f"citations: {citation_line(self.citations)}")
        return " · ".join([*told, *filter(None, (self.waits_for, self.trouble))])

    def to_json(self) -> dict[str, Any]:
        """Return it as plain JSON values, in the public schema."""
        return {
            "schema": PASS_SCHEMA,
            **written(self, f"{_SUMMED} incomplete refused not_sent_back"),
            "outcomes": {outcome.value: self.outcomes[outcome] for outcome in Outcome},
            "mean_score": self.mean_score,
            "claims": {label.value: self.claims[label] for label in Label},
            **({"citations": dict(self.citations)} if self.citations else {}),
            **written(self, "chosen runs reasons alerts undelivered waits_for trouble"),
        }

    def add(self, other: WatchPass) -> None:
        """Take another pass in."""
        for name in f"{_SUMMED} refused outcomes scored scores claims citations chosen alerts".split():
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.incomplete, self.not_sent_back = other.incomplete, other.not_sent_back  # as it stands now
        self.runs |= other.runs
        self.reasons = (self.reasons + other.reasons)[:_REASONS]
        self.waits_for, self.trouble, self.undelivered = other.waits_for, other.trouble, other.undelivered
