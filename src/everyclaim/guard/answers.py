"""What a guard returns: the answer, how good it is, and everything that was tried on the way."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from everyclaim.core.cited import CitationFinding
from everyclaim.core.plaintext import counted, listed, one_line, wrapped
from everyclaim.core.printing import judged_claim
from everyclaim.core.types import JudgedClaim, Label, Outcome, Result, Usage
from everyclaim.core.wire import declare

Made = Literal["given", "generated", "rewritten", "dropped", "recited"]
_SHOWN = 10  # claims, or warnings, of a printed answer
SentenceStatus = Literal["passed", "annotated", "repaired", "held_back", "unchecked"]


@dataclass(frozen=True, slots=True)
class Removed:
    """A claim that was taken out of an answer: its sentence was rewritten, or the claim was dropped from it."""

    claim: JudgedClaim  # its span lies in the answer it was taken from
    how: Literal["rewritten", "dropped"]


@dataclass(frozen=True, slots=True)
class Attempt:
    """One answer that was checked. `number` counts from 1; `removed` says what it lacks of those before it."""

    number: int
    made: Made
    text: str
    result: Result
    removed: tuple[Removed, ...] = ()
    guidance: str = ""  # what the generator was told beside the application's own instructions
    recited: tuple[CitationFinding, ...] = ()  # citations of those before it that now name the right passages


@dataclass(frozen=True, slots=True)
class GuardedAnswer:
    """The best answer that was seen.

    `text` is what may be shown: the best attempt's text, or the refusal when that is `blocked`. `checked` says
    that it met the threshold, holds no blocked claim, and no sentence that may contain a claim was skipped; otherwise
    `warnings` say why not. `validated` is a `checked` answer with a `promise` of a calibrated risk, or by a judge of
    record. `score` is that of the best attempt, within [0, 1], or None where it has none. `usage` is of
    the judge's and the generator's models.
    """

    text: str
    best: Attempt
    attempts: tuple[Attempt, ...]
    validated: bool
    checked: bool
    blocked: bool = False
    warnings: tuple[str, ...] = ()
    usage: Usage = field(default_factory=Usage)
    noted: frozenset[Label] = frozenset()  # the labels that are annotated
    promise: str = ""  # what a calibrated risk promises of it

    @property
    def result(self) -> Result:
        """The best attempt's result, with its claims and verdicts."""
        return self.best.result

    @property
    def score(self) -> float | None:
        """The best attempt's score."""
        return self.best.result.score if self.best.result.outcome is Outcome.SCORED else None

    @property
    def removed(self) -> tuple[Removed, ...]:
        """The claims that were taken out on the way to the best attempt."""
        return self.best.removed

    @property
    def notes(self) -> tuple[JudgedClaim, ...]:
        """The claims of the text that a reader should be told about; their spans lie in it."""
        return () if self.blocked else tuple(c for c in self.best.result.claims if c.verdict.label in self.noted)

    def __str__(self) -> str:
        """Tell in a few lines what may be shown, what became of the answer, and which claims are doubtful or gone."""
        status = "validated" if self.validated else "checked" if self.checked else "not checked"
        status = "blocked" if self.blocked else status
        score = "no score" if self.score is None else f"score {self.score:.3f}"
        facts = [status, score, counted(len(self.attempts), "attempt")]
        doubtful = self.notes if self.checked else self.result.failing
        claims = listed([judged_claim(claim, 2) for claim in doubtful], _SHOWN, "claim")
        gone = [
            f"{removed.how}: {one_line(removed.claim.text, 240)} ({removed.claim.verdict.label.lower()})"
            for removed in self.removed
        ]
        gone += [f"citation corrected: {one_line(found.told(), 240)}" for found in self.best.recited]
        warnings = [f"warning: {one_line(text, 240)}" for text in self.warnings]
        rest = [wrapped(line, 2) for line in (*listed(gone, _SHOWN, "claim"), *listed(warnings, _SHOWN, "warning"))]
        text = [one_line(line) for line in self.text.splitlines()]
        told = [wrapped(f"guarantee: {one_line(self.promise, 400)}", 2)] if self.promise else []
        return "\n".join([*text, wrapped(" · ".join(facts), 2), *told, *claims, *rest])

    @property
    def annotated(self) -> str:
        """The text with a mark such as `[unsupported]` behind every noted claim."""
        return marked(self.text, self.notes)


@dataclass(frozen=True, slots=True)
class GuardedSentence:
    """One piece of a streamed answer, checked. The texts of all pieces together are the answer.

    `text` is what may be shown (empty when held back), with the white space and list marks around the sentence;
    `original` is what the generator wrote. `result` holds the verdicts on `original`.
    """

    text: str
    status: SentenceStatus
    original: str
    result: Result
    noted: frozenset[Label] = frozenset()

    def __str__(self) -> str:
        return self.text

    @property
    def annotated(self) -> str:
        """The text with a mark behind every noted claim."""
        if self.status != "annotated":
            return self.text
        return marked(self.text, [claim for claim in self.result.claims if claim.verdict.label in self.noted])


def marked(text: str, claims: tuple[JudgedClaim, ...] | list[JudgedClaim]) -> str:
    """Put the label of each claim behind its place in the text, one mark per place and label."""
    places = sorted({(claim.span.end, claim.verdict.label) for claim in claims}, reverse=True)
    for end, label in places:
        text = f"{text[:end]} [{label.lower()}]{text[end:]}"
    return text


declare(
    {
        Removed: "claim how",
        Attempt: "number made text result removed guidance | recited",
        GuardedAnswer: "text annotated validated checked promise blocked score best attempts noted warnings usage",
    }
)
