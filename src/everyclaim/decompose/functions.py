"""A user's function as a decomposer: response in, texts of claims out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from rapidfuzz.fuzz import token_set_ratio

from everyclaim.core.errors import JudgeError
from everyclaim.core.protocols import Decomposer
from everyclaim.core.spec import call, is_component, name_of, places
from everyclaim.core.types import Claim, Decomposition, Span
from everyclaim.decompose.units import Ground, grounds
from everyclaim.text.locate import locate

_A_DECOMPOSER = "a function as the decomposer"


def as_decomposer(given: Any) -> Decomposer:
    """Return the decomposer given, or a function as one. Raises `ConfigError` for anything else.

    A function is called with the response, and the question where it takes a second value; it may be asynchronous. It
    returns the texts of the claims, or a `Decomposition`.
    """
    if is_component(given, "decompose", "decomposer", "Decomposer"):
        decomposer: Decomposer = given
        return decomposer
    places(given, ("response", "question"), _A_DECOMPOSER)
    return FunctionDecomposer(given)


@dataclass(frozen=True, slots=True)
class FunctionDecomposer:
    """A function of a response."""

    function: Callable[..., Any]

    @property
    def spec(self) -> str:
        """`python:` and where the function is."""
        return name_of(self.function)

    async def decompose(self, response: str, *, question: str = "") -> Decomposition:
        """Call the function and find each text in the response. Raises `JudgeError` for what are no claims."""
        found = await call(self.function, {"response": response, "question": question}, _A_DECOMPOSER)
        if isinstance(found, Decomposition):
            return found
        if isinstance(found, str) or not isinstance(found, Sequence) or not all(isinstance(one, str) for one in found):
            raise JudgeError("bad_decomposition", f"{self.spec} returned {type(found).__name__}, not a list of texts")
        all_sentences = grounds(response, "")
        places = [_place(text, response, all_sentences) for text in found]
        sentences = [_sentence(span, response, all_sentences) for span in places]
        rows = zip(found, places, sentences, strict=True)
        return Decomposition(tuple(Claim(f"c{i}", *row) for i, row in enumerate(rows, start=1)))


def _place(text: str, response: str, sentences: Sequence[Ground]) -> Span:
    """Return where a claim stands; the sentence that is most alike for one that stands nowhere in these words."""
    if match := locate(text, response):
        return Span(match.start, match.end)
    alike = max(sentences, key=lambda one: token_set_ratio(text, one.text), default=None)
    return Span(alike.start, alike.end) if alike else Span(0, len(response))


def _sentence(span: Span, response: str, sentences: Sequence[Ground]) -> str:
    around = [one for one in sentences if one.start < span.end and span.start < one.end]
    return response[around[0].start : around[-1].end] if around else response
