"""The decomposer that asks a chat model, sentence by sentence, and believes it only after a check.

Every sentence of the response goes out with its number and comes back as claims or as skipped with a reason; what the
model leaves out is asked for again, and then kept as it stands; so are claims that invent something. A reply that was
cut is not used: the request is halved.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import SequenceMatcher
from typing import ClassVar, NamedTuple

from everyclaim.core.errors import JudgeError
from everyclaim.core.limits import limits_here
from everyclaim.core.protocols import ChatModel, Message
from everyclaim.core.spec import Spec
from everyclaim.core.types import Claim, Decomposition, Skipped, Span
from everyclaim.decompose.checked import SplitSource, inventions
from everyclaim.decompose.openings import tidy
from everyclaim.decompose.units import BEFORE, grounds
from everyclaim.models.chat.replies import TOO_MUCH, WORTH_ASKING_AGAIN, Inquiry, ask_for_each, ask_once
from everyclaim.prompts.split import Degree, Split, SplitPrompt, SplitTask, spelt_out
from everyclaim.text.citations import without_citations
from everyclaim.text.tokens import STOPWORDS, stem, tokenize

CHARACTERS_PER_CALL = 12_000
_UNASKED: Mapping[str, str] = {"code": "code", "citation": "citation"}  # kinds of blocks that no model must see
_ENOUGH = 0.6  # share of the telling words that a claim has from its sentence, that must stand in one stretch
_AT_LEAST = 2  # of them; one word is no place
_LONG = 2000  # characters; a longer sentence is not aligned
# Faults of a reply, after which the sentence itself is the claim; a provider that cannot be reached is a failure.
_KEEP_SENTENCE = WORTH_ASKING_AGAIN | TOO_MUCH | {"refused", "filtered"}
Former = Mapping[str, Sequence[str]]  # the claims of a sentence, each with what it invents


class NumberedSentence(NamedTuple):
    """One sentence; ``response[start:end] == text``. `number` is its place in the response, from 0.

    `ground` is what its claims may be made of: the sentence behind its lead-in, where it has one.
    """

    number: int
    text: str
    start: int
    end: int
    ground: str

    @property
    def whole(self) -> Split:
        """The sentence as its own only claim, without its citations."""
        return Split((tidy(without_citations(self.text)),))


def numbered_sentences(response: str, language: str) -> tuple[list[NumberedSentence], list[Skipped]]:
    """Number the sentences that a model must see; code and what has no word in it is skipped without asking."""
    pieces: list[NumberedSentence] = []
    skipped: list[Skipped] = []
    everything = grounds(response, language)
    limits_here().check_claims(len(everything))
    for number, found in enumerate(everything):
        text = response[found.start : found.end]
        if found.kind in _UNASKED or not any(character.isalnum() for character in text):
            skipped.append(Skipped(text, Span(found.start, found.end), _UNASKED.get(found.kind, "no_words")))
        else:
            pieces.append(NumberedSentence(number, text, found.start, found.end, found.text))
    return pieces, skipped


def portions(pieces: Sequence[NumberedSentence], at_most: int) -> Iterator[list[NumberedSentence]]:
    """Cut a list of sentences into requests of a bounded number of sentences and characters."""
    part: list[NumberedSentence] = []
    size = 0
    for piece in pieces:
        if part and (len(part) == at_most or size + len(piece.text) > CHARACTERS_PER_CALL):
            yield part
            part, size = [], 0
        part.append(piece)
        size += len(piece.text)
    if part:
        yield part


def context(response: str, pieces: Sequence[NumberedSentence]) -> str:
    """Return what stands before these sentences, so that what "it" means is known.

    Where sentences are missing in between, the text that holds them all is given.
    """
    together = pieces[-1].number - pieces[0].number == len(pieces) - 1
    start, end = pieces[0].start, (pieces[0] if together else pieces[-1]).start
    begin = max(0, start - BEFORE)
    text = response[begin:end].strip()
    return f"… {text}" if begin and text else text


def assembled(
    pieces: Sequence[NumberedSentence], splits: Mapping[int, Split], skipped: Sequence[Skipped], *, kept_whole: int = 0
) -> Decomposition:
    """Put claims and skipped sentences of a response together; it abstained when that is all it does.

    Claims of one sentence stay in the order in which the model gave them.
    """
    claims: list[Claim] = []
    left = list(skipped)
    for piece in pieces:
        split = splits[piece.number]
        if not split.claims:
            left.append(Skipped(piece.text, Span(piece.start, piece.end), split.skip))
        for text in split.claims:
            span = place(text, piece.text, piece.start)
            claims.append(Claim(f"c{len(claims) + 1}", text, span, piece.text))
    left.sort(key=lambda skip: skip.span)
    abstained = not claims and any(skip.reason == "abstention" for skip in left)
    return Decomposition(tuple(claims), tuple(left), abstained, kept_whole)


def place(claim: str, sentence: str, start: int) -> Span:
    """Return the narrowest part of the sentence that holds the claim's words in order, else the whole sentence.

    `start` is the sentence's own place in the response.
    """
    whole = Span(start, start + len(sentence))
    if len(sentence) > _LONG:
        return whole
    bare = claim.rstrip(" .!?。")
    at = sentence.find(bare)
    if at == 0 or (at > 0 and not sentence[at - 1].isalnum()):
        return Span(start + at, start + at + len(bare))
    mine, theirs = tokenize(claim), tokenize(sentence)
    matcher = SequenceMatcher(a=[stem(t.norm) for t in mine], b=[stem(t.norm) for t in theirs], autojunk=False)
    shared = {
        block.b + i: mine[block.a + i].norm not in STOPWORDS
        for block in matcher.get_matching_blocks()
        for i in range(block.size)
    }
    first, last = _densest(len(theirs), shared)
    # Words that the claim brought in from elsewhere ("it" replaced) have no place here and do not count.
    here = {stem(token.norm) for token in theirs}
    telling = sum(token.norm not in STOPWORDS and stem(token.norm) in here for token in mine)
    if sum(shared.get(i, False) for i in range(first, last)) < max(_AT_LEAST, _ENOUGH * telling):
        return whole
    return Span(start + theirs[first].start, start + theirs[last - 1].end)


def _densest(size: int, shared: Mapping[int, bool]) -> tuple[int, int]:
    """Return the stretch of tokens, half-open, with the largest surplus of shared tokens over others."""
    best, surplus, begin = (0, 0, 0), 0, 0
    for i in range(size):
        surplus += 1 if i in shared else -1
        if surplus > best[0]:
            best = (surplus, begin, i + 1)
        if surplus < 0:
            surplus, begin = 0, i + 1
    return best[1], best[2]


@dataclass(frozen=True, slots=True)
class LlmDecomposer:
    """Split a response with a chat model: one call up to `at_most` sentences, more calls for longer answers.

    `language` is an ISO 639-1 code for sentence boundaries, empty to go by the text; claims stay in the response's
    language whatever it is. `name` is the spec it was built from, the chat model's own when empty.
    """

    chat: ChatModel
    prompt: SplitPrompt = field(default_factory=SplitPrompt)
    at_most: int = 30
    language: str = ""
    name: str = ""
    checks_inventions: ClassVar[bool] = True  # so nobody has to do it again

    @property
    def spec(self) -> str:
        """Provider, model and options."""
        return self.name or self.chat.spec

    @property
    def parameters(self) -> Mapping[str, str]:
        """What else made the claims, for the result's provenance."""
        return {"split_prompt": self.prompt.version, "sentences_per_call": str(self.at_most)}

    def adjusted(self, *, atomicity: Degree | None = None, coverage: Degree | None = None) -> LlmDecomposer:
        """Return this decomposer with another wording of its prompt: how fine claims are, and how much they cover."""
        degrees = {"atomicity": atomicity, "coverage": coverage}
        said = {name: degree for name, degree in degrees.items() if degree is not None}
        spec = Spec.parse(self.spec)
        name = str(Spec(spec.name, spec.argument, {**spec.options, **said}))
        prompt = replace(
            self.prompt, atomicity=atomicity or self.prompt.atomicity, coverage=coverage or self.prompt.coverage
        )
        return replace(self, prompt=prompt, name=name)

    async def decompose(self, response: str, *, question: str = "") -> Decomposition:
        """Split a response into claims `c1`, `c2`, ... by sentence, in the model's order.

        Raises `JudgeError` when the model cannot be reached, declines, or twice says nothing usable at all.
        """
        pieces, skipped = numbered_sentences(response, self.language)
        job = _Job(self, response, question)
        parts = [_by_number(part) for part in portions(pieces, self.at_most)]
        splits = await ask_for_each(job.inquiry(), parts)
        kept, number = await job.corrected(pieces, splits)
        return assembled(pieces, kept, skipped, kept_whole=number)


@dataclass(frozen=True, slots=True)
class _Job:
    """One response being split."""

    decomposer: LlmDecomposer
    response: str
    question: str

    def inquiry(self, former: Mapping[int, Former] | None = None) -> Inquiry[NumberedSentence, Split]:
        """Ask for claims by sentence; `former` holds those of a first reply of which some invent something."""
        prompt, earlier = self.decomposer.prompt, former or {}

        def write(pieces: Mapping[str, NumberedSentence], shared: bool) -> list[Message]:  # noqa: ARG001 - nothing long is shared
            texts = {name: piece.text for name, piece in pieces.items()}
            shown = {name: earlier[piece.number] for name, piece in pieces.items() if piece.number in earlier}
            before = context(self.response, list(pieces.values()))
            return prompt.messages(SplitTask(texts, before, self.question, shown))

        return Inquiry(self.decomposer.chat, prompt, write, ids="s", needs="some", code="missing_claims")

    async def corrected(
        self, pieces: Sequence[NumberedSentence], splits: Mapping[int, Split]
    ) -> tuple[dict[int, Split], int]:
        """Ask once more for claims that invent something; where they still do, the sentence is the claim.

        Returns the splits, and of how many sentences that is so.
        """
        kept = {piece.number: spelt_out(splits.get(piece.number) or piece.whole, piece.text) for piece in pieces}
        if all(kept[piece.number] == piece.whole for piece in pieces):
            return kept, 0
        source = SplitSource(self.response, self.question)
        found = {p.number: inventions(kept[p.number].claims, p.ground, source) for p in pieces}
        former = {n: {claim: odd.get(claim, ()) for claim in kept[n].claims} for n, odd in found.items() if odd}
        number = 0
        for part in portions([piece for piece in pieces if piece.number in former], self.decomposer.at_most):
            try:
                again = await ask_once(self.inquiry(former), _by_number(part))
            except JudgeError as error:
                if error.code not in _KEEP_SENTENCE:
                    raise
                again = {}
            for piece in part:
                new = spelt_out(again.get(piece.number) or piece.whole, piece.text)
                usable = new.claims and not inventions(new.claims, piece.ground, source)
                kept[piece.number] = _mended(former[piece.number], new, piece) if usable else piece.whole
                number += not usable
        return kept, number


def _mended(former: Former, new: Split, piece: NumberedSentence) -> Split:
    """Put new claims in the place of the first that invented something; the right ones stay."""
    if new == piece.whole:
        return new
    claims: list[str] = []
    for claim, odd in former.items():
        claims += new.claims if odd else [claim]
    return Split(tuple(dict.fromkeys(claims)))


def _by_number(pieces: Sequence[NumberedSentence]) -> dict[int, NumberedSentence]:
    return {piece.number: piece for piece in pieces}
