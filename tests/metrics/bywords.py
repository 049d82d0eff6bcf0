"""A judge without surprises: a claim is supported by a passage that holds all its words, contradicted by "NOT" before it."""

from everyclaim.core.types import Evidence, Label, Verdict
from everyclaim.testing.playing import judge_by_words


class ByWords:
    """Counts its calls and remembers the passages it was shown."""

    spec = "by-words"

    def __init__(self):
        self.shown = []

    async def verify(self, claims, passages, *, question=""):
        self.shown.append(([claim.text for claim in claims], [passage.id for passage in passages]))
        return [self._verdict(claim, passages) for claim in claims]

    def _verdict(self, claim, passages):
        for passage in passages:
            if f"NOT {claim.text}" in passage.text:
                return Verdict(claim.id, Label.CONTRADICTED)
            found = judge_by_words(claim.text, {"p": passage.text})
            if found["label"] == "SUPPORTED":
                quote = found["quotes"][0].removeprefix("p: ")
                return Verdict(claim.id, Label.SUPPORTED, evidence=(Evidence(passage.id, -1, -1, quote),))
        return Verdict(claim.id, Label.UNSUPPORTED)
