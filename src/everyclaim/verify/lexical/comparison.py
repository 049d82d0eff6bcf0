"""A claim laid beside its passages: everything that the features and the words of a verdict are read from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from everyclaim.text.agreement import AGREES, relation
from everyclaim.text.cues import Cue, cues
from everyclaim.text.tokens import stem, word_set
from everyclaim.verify.lexical.alignment import AlignedSource, Alignment, align, sentence, tokens_of
from everyclaim.verify.lexical.analysis import Reading, read
from everyclaim.verify.lexical.answers import Answer, answers
from everyclaim.verify.lexical.checks import Attribution, FactCheck, check_facts, check_speaker
from everyclaim.verify.lexical.edits import Edits
from everyclaim.verify.lexical.edits import compare as compare_tokens
from everyclaim.verify.lexical.spelling import Spelling, foremost, respell, stated
from everyclaim.verify.lexical.vectors import WordVectors

# A claim with one of these speaks of what the passages say.
_OF_SAYING = frozenset(
    stem(word)
    for word in word_set(
        """
        mention given give provided specified specify specific stated listed information indicated detailed described
        unknown known say recorded disclosed missing blank empty null unclear unspecified
        """
    )
)
_AS_WELL = 0.5  # share of what the best sentence holds of a claim that makes another speak of it as well


@dataclass(frozen=True)
class LexicalComparison:
    """A claim, all passages, and the main window: tokens [start, end) of one passage's reading.

    `claim` is the claim with its passages' spelling of the values it shares with them; `spelling` leads back.
    """

    claim: Reading
    spelling: Spelling
    source: AlignedSource
    vectors: WordVectors
    alignment: Alignment
    reading: Reading
    start: int
    end: int
    checks: list[FactCheck]
    question: Reading | None

    @cached_property
    def edits(self) -> Edits:
        """What makes the claim of the window, token by token."""
        return compare_tokens(self.claim.keys, self.keys)

    @property
    def answers(self) -> list[Answer]:
        """Fields that answer what the claim says, or deny it."""
        return [answer for answer in self.named if answer.agrees is not None]

    @cached_property
    def named(self) -> list[Answer]:
        """Fields that answer yes or no, nothing, or otherwise than the claim says, and that it names."""
        number, _ = self.source.places[self.alignment.main[0]]
        low, high = self.reading.spans[self.start][0], self.reading.spans[self.end - 1][1]
        return answers(self.claim, self.source.readings, (number, low, high))

    @cached_property
    def attribution(self) -> Attribution:
        """Who is said to have said what."""
        return check_speaker(self.claim.text, self.text)

    @property
    def keys(self) -> list[str]:
        """Keys of the window's tokens."""
        return self.reading.keys[self.start : self.end]

    @property
    def text(self) -> str:
        """Text of the window."""
        return window_text(self.reading, self.start, self.end)


def compare(
    claim: Reading, source: AlignedSource, vectors: WordVectors, question: Reading | None = None
) -> LexicalComparison:
    """Lay a claim beside its passages. Both must have at least one content word."""
    blank = _blank(claim, source)
    alignment = align(claim, source, vectors, blank)
    checks = _checks(claim.text, source, alignment)
    spelling = respell(claim.text, source, alignment, checks)
    if spelling.changes:
        claim = read(spelling.text, vectors, every_word=len(claim.content) == len(claim.keys))
        alignment = align(claim, source, vectors, blank)
        checks = _checks(spelling.written, source, alignment)
    _let_go(claim, spelling, alignment, checks)
    reading, start, end = tokens_of(source, *alignment.main)
    return LexicalComparison(
        claim=claim,
        spelling=spelling,
        source=source,
        vectors=vectors,
        alignment=alignment,
        reading=reading,
        start=start,
        end=end,
        checks=checks,
        question=question,
    )


def _speaks_of_saying(claim: Reading) -> bool:
    return not _OF_SAYING.isdisjoint(map(stem, claim.norms))


def _blank(claim: Reading, source: AlignedSource) -> list[int]:
    """List the sentences (columns) that only say that a field is not given; none for a claim about what is said."""
    if _speaks_of_saying(claim):
        return []
    return [column for column in range(len(source.places)) if sentence(source, column).endswith(": not given")]


def _let_go(claim: Reading, spelling: Spelling, alignment: Alignment, checks: Sequence[FactCheck]) -> None:
    """Take back that values are held which stand in the passages under another label."""
    for low, high in [check.at for check in checks if check.is_elsewhere]:
        for row, at in enumerate(claim.content):
            start, end = spelling.origin(*claim.spans[at])
            if start < high and low < end:
                alignment.exact[row] = alignment.soft[row] = 0.0


def _checks(claim: str, source: AlignedSource, alignment: Alignment) -> list[FactCheck]:
    """Check a claim's facts against those of its main window.

    A value differs from none in the window where a sentence that speaks of the claim as well states that very value.
    """
    first, last = alignment.main
    window = [sentence(source, column) for column in range(first, last + 1)]
    checks = check_facts(claim, window, foremost(source, alignment))
    if not any(check.status == "conflict" and not check.is_elsewhere for check in checks):
        return checks
    least = _AS_WELL * float((alignment.weights @ (alignment.exact + alignment.soft)).max())
    near = [other.fact for other in stated(source, alignment) if other.worth >= least]
    return [
        FactCheck(check.fact, "missing", check.said, check.at)
        if check.status == "conflict"
        and not check.is_elsewhere
        and any(relation(check.fact, fact) in AGREES for fact in near)
        else check
        for check in checks
    ]


def window_text(reading: Reading, start: int, end: int) -> str:
    """Give the text from the first to the last of some tokens."""
    return reading.text[reading.spans[start][0] : reading.spans[end - 1][1]]


def beside(it: LexicalComparison) -> list[int]:
    """Give the places in the window's reading that are aligned with the claim, or stand near what is.

    A sentence between, or beside, that holds nothing of what the claim says speaks of something else.
    """
    pairs, sentence = it.edits.pairs, it.reading.sentence
    if not pairs:
        return list(range(it.start, it.end))
    telling = set(it.claim.content)
    held = {sentence[it.start + theirs] for mine, theirs in pairs if mine in telling}
    low = max(it.start, it.start + pairs[0][1] - 4)
    high = min(it.end, it.start + pairs[-1][1] + 5)
    return [at for at in range(low, high) if sentence[at] in held or not held]


def cues_beside(it: LexicalComparison) -> list[Cue]:
    """Find the small words of the window that stand there (see `beside`); places are those of the window's text."""
    shift = it.reading.spans[it.start][0]
    near = {it.reading.sentence[at] for at in beside(it)}
    spans = [it.reading.sentences[number] for number in sorted(near)]
    return [cue for cue in cues(it.text) if any(low <= cue.start + shift < high for low, high in spans)]
