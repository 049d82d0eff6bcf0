"""A judge that says what its rule says, and remembers what it was shown; the rule of words that several folders use."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from everyclaim.core.types import Claim, Label, Passage, Span, Verdict

Rule = Callable[[Claim, Sequence[Passage]], Verdict]


class Shown(NamedTuple):
    """What a judge was shown in one call."""

    claims: tuple[Claim, ...]
    passages: tuple[Passage, ...]
    question: str


def claim(number: int, text: str = "The kettle holds 1.7 litres.", sentence: str = "", at: int = 0) -> Claim:
    """Return a claim that stands in its sentence, or is one."""
    return Claim(f"c{number}", text, Span(at, at + len(text)), sentence or text)


class ScriptedJudge:
    """Judges each claim by a rule of the claim and the passages; an error that the rule raises is the judge's."""

    def __init__(self, rule: Rule, spec: str = "scripted") -> None:
        self.rule, self.spec = rule, spec
        self.seen: list[Shown] = []

    @property
    def asked(self) -> list[str]:
        """The texts of all claims, in order."""
        return [claim.text for shown in self.seen for claim in shown.claims]

    async def verify(
        self, claims: Sequence[Claim], passages: Sequence[Passage], *, question: str = ""
    ) -> list[Verdict]:
        self.seen.append(Shown(tuple(claims), tuple(passages), question))
        return [self.rule(claim, passages) for claim in claims]


def by_words(claim: Claim, passages: Sequence[Passage]) -> Verdict:
    """Support what a passage holds word for word, contradict what one holds after ``NOT``."""
    told, text = " ".join(passage.text for passage in passages), claim.text.rstrip(".")
    if f"NOT {text}" in told:
        return Verdict(claim.id, Label.CONTRADICTED)
    return Verdict(claim.id, Label.SUPPORTED if text in told else Label.UNSUPPORTED)


class ByWords(ScriptedJudge):
    """Judges by words."""

    def __init__(self) -> None:
        super().__init__(by_words, "by-words")
