"""A user's function as a verifier: it judges one claim at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from everyclaim.core.errors import ConfigError, JudgeError
from everyclaim.core.functions import call, name_of, places
from everyclaim.core.gather import gather
from everyclaim.core.protocols import Verifier
from everyclaim.core.types import Claim, Label, Passage, Verdict

_A_JUDGE = "a function as the judge"
_GIVEN = ("claim", "passages", "question")


def as_verifier(given: Any) -> Verifier:
    """Return the verifier given, or a function as one. Raises `ConfigError` for anything else.

    A function is called with a `Claim` and the `Passage`s, and the question where it takes a third value; it may be
    asynchronous. It returns a `Label` (or its text), or a `Verdict` with the claim's id.
    """
    if hasattr(given, "verify") and not isinstance(given, type):
        if not isinstance(getattr(given, "spec", None), str):
            raise ConfigError(f"the judge {type(given).__name__} has no `spec`, the text that results store of it")
        verifier: Verifier = given
        return verifier
    if not callable(given) or isinstance(given, type):
        raise ConfigError(f"a judge is a spec, a Verifier or a function, got {type(given).__name__}")
    if places(given, _GIVEN, _A_JUDGE)[0] < len(_GIVEN) - 1:
        raise ConfigError(f"{_A_JUDGE} takes (claim, passages) or (claim, passages, question)")
    return FunctionVerifier(given)


@dataclass(frozen=True, slots=True)
class FunctionVerifier:
    """A function of a claim and its passages."""

    function: Callable[..., Any]

    @property
    def spec(self) -> str:
        """`python:` and where the function is."""
        return name_of(self.function)

    async def verify(
        self, claims: Sequence[Claim], passages: Sequence[Passage], *, question: str = ""
    ) -> list[Verdict]:
        """Judge every claim. Raises `JudgeError` for what is no verdict."""
        return await gather(self._verdict(claim, passages, question) for claim in claims)

    async def _verdict(self, claim: Claim, passages: Sequence[Passage], question: str) -> Verdict:
        found = await call(self.function, dict(zip(_GIVEN, (claim, tuple(passages), question), strict=True)), _A_JUDGE)
        if isinstance(found, Verdict):
            return found
        if isinstance(found, str) and found in set(Label):
            return Verdict(claim.id, Label(found))
        told = repr(found) if isinstance(found, str) else type(found).__name__
        raise JudgeError("bad_verdict", f"{self.spec} returned {told}, not a Verdict or one of {', '.join(Label)}")
