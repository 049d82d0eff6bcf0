"""A user's function as a verifier: it judges one claim at a time."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

from everyclaim.core.errors import ConfigError, JudgeError
from everyclaim.core.lifetime import gather
from everyclaim.core.protocols import Verifier
from everyclaim.core.spec import call, is_component, name_of, places
from everyclaim.core.types import Claim, Evidence, Label, Passage, Probabilities, Verdict

_A_JUDGE = "a function as the judge"
_KEYS = ("label", "probability", "evidence", "rationale")
_BORDER = 0.5  # of a probability of support
_GIVEN = ("claim", "passages", "question")


def as_verifier(given: Any) -> Verifier:
    """Return the verifier given, or a function as one. Raises `ConfigError` for anything else.

    A function is called with a `Claim` and the `Passage`s, and the question where it takes a third value; it may be
    asynchronous. It returns a `Verdict` with the claim's id, a `Label` (or its text), True or False for supported or
    not, the probability from 0 to 1 that the claim is supported (from 0.5 on it is), one of these three with a reason,
    as in ``(False, "it says 1200 grams")``, or a mapping of `label` or `probability` with perhaps `evidence` (quotes)
    and `rationale`. One that tells only support from none never says
    CONTRADICTED.
    """
    if is_component(given, "verify", "judge", "Verifier"):
        verifier: Verifier = given
        return verifier
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
        said = _as_mapping(found)
        if strange := [key for key in said if key not in _KEYS]:
            raise self._fault(f"a mapping with {strange[0]!r}; allowed: {', '.join(_KEYS)}")
        label, probabilities = self._label(said)
        quotes, rationale = said.get("evidence") or (), said.get("rationale") or ""
        quotes = [quotes] if isinstance(quotes, str) else quotes
        if not isinstance(quotes, Sequence) or not all(isinstance(one, str) for one in (*quotes, rationale)):
            raise self._fault("evidence or a rationale that is not text")
        # Placed where it is by whoever asked.
        evidence = tuple(Evidence("", -1, -1, quote) for quote in quotes)
        return Verdict(claim.id, label, probabilities, evidence, rationale)

    def _label(self, said: Mapping[str, Any]) -> tuple[Label, Probabilities | None]:
        label, share, probabilities = said.get("label"), said.get("probability"), None
        if share is not None:
            if isinstance(share, bool) or not isinstance(share, Real) or not 0 <= float(share) <= 1:
                raise self._fault(f"{_shown(share)}, not a number from 0 to 1")
            probabilities = Probabilities(float(share), 1 - float(share), 0.0)
            label = float(share) >= _BORDER if label is None else label
        if isinstance(label, bool):
            label = Label.SUPPORTED if label else Label.UNSUPPORTED
        word = label.strip().upper() if isinstance(label, str) else ""
        if word not in set(Label):
            raise self._fault(f"{_shown(label)}, not a Verdict or one of {', '.join(Label)}")
        # How what is not support divides is not known to a function that says CONTRADICTED.
        return Label(word), None if word == Label.CONTRADICTED else probabilities

    def _fault(self, got: str) -> JudgeError:
        return JudgeError("bad_verdict", f"{self.spec} returned {got}")


def _as_mapping(found: Any) -> Mapping[str, Any]:
    if isinstance(found, Mapping):
        return found
    verdict, rationale = found if isinstance(found, tuple) and len(found) == 2 else (found, "")
    is_number = isinstance(verdict, Real) and not isinstance(verdict, bool)
    return {"probability" if is_number else "label": verdict, "rationale": rationale}


def _shown(found: Any) -> str:
    return repr(found) if isinstance(found, str | float | int) else type(found).__name__
