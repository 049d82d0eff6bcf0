"""How sure a language model is of a verdict, as probabilities of all three labels.

From the scale it was asked for (of ten careful readers, how many would call the claim supported), or from the chances
of the label's tokens, where the endpoint gives them. Both are raw: a model's scale is its own, so fit a mapping to
labels before a probability is read as a rate.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from everyclaim.core.protocols import ChatReply
from everyclaim.core.types import Label, Probabilities, Verdict
from everyclaim.prompts.verdicts import BOTH, READERS

LOST = 0.25  # what is left of the odds of support where the evidence for it is nowhere; stated, not fitted
_NEAR = 0.05  # of one half: as sure as a label that its own number speaks against
_REST = 0.85  # of what is not support: the part of the label that was given
_LEAST = 0.001  # no chance is nothing, none is certain
_VOTES = {label: Probabilities(*(float(label is one) for one in Label)) for label in Label}
_FIELD = re.compile(r'"(id|label|relation)"\s*:\s*"')
_WORDS: tuple[Mapping[str, Label], ...] = (  # that one reply chooses from
    {label.value.casefold(): label for label in Label} | {BOTH.casefold(): Label.SUPPORTED},
    {"entailment": Label.SUPPORTED, "neutral": Label.UNSUPPORTED, "contradiction": Label.CONTRADICTED},
)


def from_scale(label: Label, readers: int) -> Probabilities:
    """Return what a count of readers, 0 to 10, says, with the label as the most probable one.

    Where the two speak against each other the label stands, no surer than 0.55 to 0.45.
    """
    supported = (readers + 0.5) / (READERS + 1)
    if label is Label.SUPPORTED:
        supported = max(supported, 0.5 + _NEAR)
        return Probabilities(supported, (1 - supported) * 2 / 3, (1 - supported) / 3)
    supported = min(supported, 0.5 - _NEAR)
    given, other = (1 - supported) * _REST, (1 - supported) * (1 - _REST)
    is_opposed = label is Label.CONTRADICTED
    return Probabilities(supported, other if is_opposed else given, given if is_opposed else other)


def is_doubtful(label: Label, readers: int) -> bool:
    """Whether the label and the count of readers speak against each other, or the count is even."""
    return readers <= READERS / 2 if label is Label.SUPPORTED else readers >= READERS / 2


def from_tokens(reply: ChatReply) -> dict[str, Probabilities]:
    """Return the chances of the three labels by id, as the tokens say them where a label begins.

    Empty where the endpoint gave no chances. The row's id must stand before its label, as our schemas have it.
    """
    if reply.forks is None:
        return {}
    found: dict[str, Probabilities] = {}
    row = ""
    for match in _FIELD.finditer(reply.content):
        if match[1] == "id":
            row = reply.content[match.end() :].partition('"')[0].strip().casefold()
            continue
        given = reply.content[match.end() :].partition('"')[0].strip().casefold()
        words = next((words for words in _WORDS if given in words), None)
        if row and words:
            found[row] = _chances(reply, match.end(), words[given], words)
    return found


def _chances(reply: ChatReply, place: int, given: Label, words: Mapping[str, Label]) -> Probabilities:
    fork = next((fork for fork in reply.forks or () if fork.start <= place < fork.end), None)
    counted = dict.fromkeys(Label, _LEAST)
    if fork is None:  # nothing else had a chance
        counted[given] = 1.0
    else:
        before = reply.content[fork.start : place]
        for text, chance in fork.chances:
            begun = text.removeprefix(before).casefold().strip('", \n')
            meant = {label for word, label in words.items() if word.startswith(begun) or begun.startswith(word)}
            if begun and text.startswith(before) and len(meant) == 1:  # one that begins several counts for none
                counted[meant.pop()] += chance
    total = sum(counted.values())
    return Probabilities(*(counted[label] / total for label in Label))


def average(several: Sequence[Probabilities]) -> Probabilities:
    """Return the mean of several judgements (at least one)."""
    if len(several) == 1:
        return several[0]
    return Probabilities(*(sum(column) / len(several) for column in zip(*several, strict=True)))


def of_vote(label: Label) -> Probabilities:
    """Return the probabilities of a judge that says a label and nothing more."""
    return _VOTES[label]


def without_evidence(verdict: Verdict) -> Verdict:
    """Lower the probability of a support whose quotes are in no passage, or that came without one."""
    chances = verdict.probabilities
    if chances is None or verdict.label is not Label.SUPPORTED or verdict.evidence:
        return verdict
    odds = LOST * chances.supported / max(1 - chances.supported, _LEAST)
    return replace(verdict, probabilities=chances.with_support(odds / (1 + odds)))
