"""The methods for single answers, declared once for all that can carry them out."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Coroutine
from typing import Any, TypeVar

from everyclaim.api.door import public
from everyclaim.api.scoring import Claims, OptionalText, Passages, Row
from everyclaim.core.lifetime import AsyncClosing, Closing
from everyclaim.core.types import Decomposition, JudgedClaim, Result
from everyclaim.core.validation import Text

T = TypeVar("T")


class Answers(Closing, AsyncClosing):
    """Scores, verifies and splits single answers, for callers that wait and for those that await.

    A subclass says what is done (`_scored`, `_verified`, `_split`) and on which event loop (`_run`, `_join`).
    """

    @public
    async def ascore(
        self,
        row: Row = None,
        *,
        response: OptionalText = None,
        passages: Passages = (),
        question: Text = "",
        reference: OptionalText = None,
        model: OptionalText = None,
    ) -> Result:
        """Score one answer; see `everyclaim.score`."""
        return await self._join(
            self._scored(row, response, passages, question=question, reference=reference, model=model)
        )

    @public
    def score(
        self,
        row: Row = None,
        *,
        response: OptionalText = None,
        passages: Passages = (),
        question: Text = "",
        reference: OptionalText = None,
        model: OptionalText = None,
    ) -> Result:
        """Score one answer; see `everyclaim.score`."""
        return self._run(self._scored(row, response, passages, question=question, reference=reference, model=model))

    @public
    async def averify(self, claims: Claims, passages: Passages, *, question: Text = "") -> tuple[JudgedClaim, ...]:
        """Judge given claims; see `everyclaim.verify_claims`."""
        return await self._join(self._verified(claims, passages, question))

    @public
    def verify(self, claims: Claims, passages: Passages, *, question: Text = "") -> tuple[JudgedClaim, ...]:
        """Judge given claims; see `everyclaim.verify_claims`."""
        return self._run(self._verified(claims, passages, question))

    @public
    async def aclaims(self, response: Text, *, question: Text = "") -> Decomposition:
        """Split a response into claims; see `everyclaim.extract_claims`."""
        return await self._join(self._split(response, question))

    @public
    def claims(self, response: Text, *, question: Text = "") -> Decomposition:
        """Split a response into claims; see `everyclaim.extract_claims`."""
        return self._run(self._split(response, question))

    @abstractmethod
    def _scored(
        self, row: Any, response: str | None, passages: Passages, **fields: str | None
    ) -> Coroutine[Any, Any, Result]: ...

    @abstractmethod
    def _verified(
        self, claims: Claims, passages: Passages, question: str
    ) -> Coroutine[Any, Any, tuple[JudgedClaim, ...]]: ...

    @abstractmethod
    def _split(self, response: str, question: str) -> Coroutine[Any, Any, Decomposition]: ...

    @abstractmethod
    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        """Carry out and wait."""

    @abstractmethod
    async def _join(self, work: Coroutine[Any, Any, T]) -> T:
        """Carry out, without holding up the caller's event loop."""
