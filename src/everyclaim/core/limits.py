"""How large what is scored may be. What is larger is refused, row by row, with a reason; it is never scored.

The usual limits lie far above any answer that a person reads. They keep one hostile or broken row from taking the
memory, the time or the money of all the others.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, fields
from typing import Annotated, Any, Self

from everyclaim.core.errors import InputError
from everyclaim.core.kinds import Range
from everyclaim.core.options import check_declared
from everyclaim.core.types import Passage, Sample

MB = 1_000_000
MAX_FAILED = 0.05  # the share of answers that may fail or be unreadable, where nobody says another
_Count = Annotated[int, Range(1)]


@dataclass(frozen=True, slots=True)
class SizeLimits:
    """The names are those of the options that set them."""

    max_row_mb: Annotated[float, Range(above=0)] = 32.0  # of a row of a file, and of all texts of a sample together
    max_answer_chars: _Count = 1_000_000  # of an answer, a claim, a question, a reference
    max_passage_chars: _Count = 10_000_000
    max_passages: _Count = 20_000
    max_claims: _Count = 5_000  # sentences, and claims, of one answer

    def __post_init__(self) -> None:
        check_declared(self)

    @classmethod
    def of(cls, options: Mapping[str, Any]) -> Self:
        """Take what a caller's options say; what is not said, or None, stays as usual."""
        given = {name: options[name] for name in NAMES if options.get(name) is not None}
        return cls(**given)

    @property
    def row(self) -> int:
        """Bytes of a row; of texts in memory, characters."""
        return int(self.max_row_mb * MB)

    def fault(self, texts: Mapping[str, str], passages: Iterable[Passage]) -> str:
        """Say what of a sample is too large; empty when nothing is."""
        for name, text in texts.items():
            if len(text) > self.max_answer_chars:
                return self._over(f"the {name} has {len(text):,} characters", "max_answer_chars")
        whole = sum(map(len, texts.values()))
        for number, passage in enumerate(passages, start=1):
            size = len(passage.text) + len(passage.title)
            whole += size
            if size > self.max_passage_chars:
                return self._over(f"passage {number} has {size:,} characters", "max_passage_chars")
            if number > self.max_passages:
                return self._over(f"the row has more than {self.max_passages:,} passages", "max_passages")
        if whole > self.row:
            return self._over(f"the row has {whole:,} characters", "max_row_mb")
        return ""

    def fault_of(self, sample: Sample) -> str:
        """Say what of a sample is too large; empty when nothing is."""
        texts = {"response": sample.response, "question": sample.question, "reference": sample.reference or ""}
        return self.fault(texts, sample.passages)

    def check_claims(self, count: int, what: str = "sentences") -> None:
        """Raise `InputError` for an answer of too many sentences or claims."""
        if count > self.max_claims:
            raise InputError(self._over(f"the answer has {count:,} {what}", "max_claims"))

    def _over(self, told: str, name: str) -> str:
        return f"{told}, more than {name}={getattr(self, name):,}".removesuffix(".0")


NAMES = tuple(one.name for one in fields(SizeLimits))
_HERE: ContextVar[SizeLimits] = ContextVar("everyclaim_limits", default=SizeLimits())  # noqa: B039  (frozen)


def limits_here() -> SizeLimits:
    """Return the limits of the sample that is being scored, or the usual ones."""
    return _HERE.get()


@contextmanager
def within(limits: SizeLimits) -> Iterator[SizeLimits]:
    """Let these limits hold inside."""
    token = _HERE.set(limits)
    try:
        yield limits
    finally:
        _HERE.reset(token)
