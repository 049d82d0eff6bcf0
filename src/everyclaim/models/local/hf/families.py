"""How each family of models is asked, and what its numbers mean.

HHEM-2.1-Open (Vectara): T5's encoder, read at its first token; class 1 is "consistent", from 0.5 on. Its repository
carries code that current versions of transformers cannot run, and that nobody should have to trust: the checkpoint is
a plain `T5ForTokenClassification` under the prefix ``t5.``, and is loaded as one.

MiniCheck (arXiv 2404.10774): document and claim in one text, with the tokenizer's end token between them. RoBERTa and
DeBERTa are classifiers whose class 1 is "supported". Flan-T5 is asked with ``predict: `` before the text and answers 0
or 1: the first token of either answer is compared at the first step.

Natural language inference: two texts in, entailment, neutral and contradiction out, in an order of the model's own. It
is read from the names in its configuration; a model that has no names needs them said, because guessing turns support
into contradiction without any sign of it.

LettuceDetect (arXiv 2502.17125): passages, question and answer in, a class per token of the answer out.
"""

from __future__ import annotations

import asyncio
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from everyclaim.core.errors import ConfigError, JudgeError
from everyclaim.core.protocols import Marked
from everyclaim.core.types import Label, Probabilities
from everyclaim.models.local.hf.inputs import Batcher, TextEncoder, Tokens, as_tokens
from everyclaim.models.local.hf.networks import Float32Array

HHEM_PREFIX = "t5."
HHEM_FOUNDATION = "google/flan-t5-base"
# The words it was trained on, which its configuration may state otherwise.
HHEM_PROMPT = "<pad> Determine if the hypothesis is true given the premise?\n\nPremise: {text1}\n\nHypothesis: {text2}"
HHEM_TOKENS = 4096  # T5 has no last position; memory grows with the square
MINICHECK_TOKENS = 2048
NLI_TOKENS = 512
LETTUCE_TOKENS = 4096
_SLACK = 8  # tokens that joining texts may add to the sum of theirs
_SUPPORTED = "entailment entail entails entailed supported supports support consistent faithful grounded"
_CONTRADICTED = "contradiction contradict contradicts contradicted contradictory refutes refuted refute"
_UNSUPPORTED = (
    "neutral notenoughinfo nei unsupported notsupported notentailment nonentailment notentailed "
    "inconsistent hallucinated hallucination unfaithful ungrounded"
)
_MEANING: Mapping[str, Label] = {
    **dict.fromkeys(_SUPPORTED.split(), Label.SUPPORTED),
    **dict.fromkeys(_CONTRADICTED.split(), Label.CONTRADICTED),
    **dict.fromkeys(_UNSUPPORTED.split(), Label.UNSUPPORTED),
}
TextPair = tuple[str, str]


@dataclass(frozen=True, slots=True)
class PairFamily:
    """How a pair of texts is written as an input, as one text or two, and what the network's output for it says."""

    write: Callable[[TextPair], str | TextPair]
    read: Callable[[Float32Array], Probabilities]


def hhem(prompt: str = HHEM_PROMPT) -> PairFamily:
    """Write each pair into the prompt. The texts are put in by position: braces in them mean nothing."""
    before, _, rest = prompt.partition("{text1}")
    between, _, after = rest.partition("{text2}")
    return PairFamily(
        lambda pair: before + pair[0] + between + pair[1] + after,
        lambda row: binary(softmax(row[0] if row.ndim == 2 else row)[1]),
    )


def minicheck(encoder: TextEncoder) -> PairFamily:
    """Write document, end token and claim as one text; of two classes, 1 is supported."""
    return PairFamily(lambda pair: pair[0] + encoder.eos + pair[1], lambda row: binary(softmax(row)[1]))


def minicheck_t5(encoder: TextEncoder) -> PairFamily:
    """Compare the tokens that "0" and "1" begin with (3 and 209 in Flan-T5's vocabulary), and only them."""
    no, yes = encoder.ids("0")[:1], encoder.ids("1")[:1]
    if not no or not yes or no == yes:
        raise ConfigError("the tokenizer does not separate the answers 0 and 1")
    return PairFamily(
        lambda pair: "predict: " + pair[0] + encoder.eos + pair[1],
        lambda row: binary(softmax(np.asarray([row[no[0]], row[yes[0]]]))[1]),
    )


def nli(order: Sequence[Label]) -> PairFamily:
    """Join two texts as the tokenizer does; `order` says what each of the classifier's outputs means."""

    def read(row: Float32Array) -> Probabilities:
        if len(order) == 1:  # a probability of support by itself
            return binary(1.0 / (1.0 + math.exp(-max(-700.0, min(700.0, float(row[0]))))))
        shares = dict(zip(order, softmax(row), strict=True))
        if len(shares) == 2 and Label.UNSUPPORTED in shares:
            return binary(shares[Label.SUPPORTED])
        supported, contradicted = round(shares[Label.SUPPORTED], 4), round(shares[Label.CONTRADICTED], 4)
        return Probabilities(supported, max(0.0, round(1.0 - supported - contradicted, 4)), contradicted)

    return PairFamily(lambda pair: pair, read)


def class_names(config: Mapping[str, Any]) -> list[str]:
    """Return the names of a classifier's outputs in order; ``LABEL_0`` where it has none."""
    names = config.get("id2label")
    if isinstance(names, Mapping) and names:
        return [str(names[key]) for key in sorted(names, key=int)]
    return [f"LABEL_{i}" for i in range(int(config.get("num_labels", 2)))]


def label_order(model: str, named: Sequence[str], given: Sequence[str]) -> tuple[Label, ...]:
    """Find out what each output means, from the names `given`, else from the model's own.

    Raises `ConfigError` when that cannot be known.
    """
    names = given or named
    if given and len(given) != len(named):
        raise ConfigError(f"option labels names {len(given)} outputs, {model!r} has {len(named)}")
    meanings = [_MEANING.get(re.sub(r"[\W_]+", "", name.casefold())) for name in names]
    known = [label for label in meanings if label is not None]
    hint = "name its outputs in order, as in '?labels=contradiction,entailment,neutral'"
    if len(known) < len(names):
        raise ConfigError(f"the outputs of {model!r} are called {', '.join(names)}: {hint}")
    if len(set(known)) < len(known) or Label.SUPPORTED not in known:
        raise ConfigError(f"the outputs of {model!r}, {', '.join(names)}, are not those of a judge of claims: {hint}")
    return tuple(known)


class LoadedPairs:
    """A `PairModel`. `max_tokens` bounds a whole input; a longer one is refused, never cut."""

    def __init__(
        self, family: PairFamily, encoder: TextEncoder, batcher: Batcher, max_tokens: int, parameters: Mapping[str, str]
    ) -> None:
        self.parameters = parameters
        self._family = family
        self._encoder = encoder
        self._batcher = batcher
        self._max_tokens = max_tokens
        self.limit = max_tokens - len(encoder.encoded([family.write(("", ""))])[0].ids)

    def lengths(self, texts: Sequence[str]) -> list[int]:
        """Count the tokens of each text."""
        return self._encoder.lengths(texts)

    async def judge(self, pairs: Sequence[TextPair]) -> list[Probabilities]:
        """Judge every pair, together with those that others ask for at the same time.

        Raises `JudgeError` when a pair is too long or the model gives no number.
        """
        inputs = await asyncio.to_thread(self._written, pairs)
        return [self._family.read(row) for row in await self._batcher.run(inputs)]

    def _written(self, pairs: Sequence[TextPair]) -> list[Tokens]:
        plain = self._encoder.plain  # no special tokens in the texts any more
        texts = [self._family.write((plain(premise), plain(claim))) for premise, claim in pairs]
        inputs = [as_tokens(encoding) for encoding in self._encoder.encoded(texts)]
        _check_length(inputs, self._max_tokens, "claim and passages are {} tokens; the model takes {}")
        return inputs


class LoadedTokens:
    """A `TokenModel`. Passages and question are written as in its training data (RAGTruth's prompts)."""

    def __init__(
        self, encoder: TextEncoder, batcher: Batcher, max_tokens: int, bad: int, parameters: Mapping[str, str]
    ) -> None:
        self.parameters = parameters
        self._encoder = encoder
        self._batcher = batcher
        self._max_tokens = max_tokens
        self._bad = bad  # the class of tokens that nothing backs

    def room(self, question: str, answer: str) -> int:
        """Return how many tokens of passages fit in beside question and answer."""
        return self._max_tokens - len(self._encoding([], question, answer).ids) - _SLACK

    def lengths(self, passages: Sequence[str]) -> list[int]:
        """Count the tokens of each passage, with its number and the line break before it."""
        return [length + 1 for length in self._encoder.lengths([_numbered(999, passage) for passage in passages])]

    async def mark(self, readings: Sequence[Sequence[str]], question: str, answer: str) -> list[list[Marked]]:
        """Mark the answer's tokens for each reading. Raises `JudgeError` when one is too long."""
        encodings = await asyncio.to_thread(lambda: [self._encoding(one, question, answer) for one in readings])
        inputs = [as_tokens(encoding) for encoding in encodings]
        _check_length(inputs, self._max_tokens, "answer and passages are {} tokens; it takes {}")
        rows = await self._batcher.run(inputs)
        return [self._marks(encoding, row) for encoding, row in zip(encodings, rows, strict=True)]

    def _encoding(self, passages: Sequence[str], question: str, answer: str) -> Any:
        plain = self._encoder.plain
        prompt = _lettuce_prompt([plain(passage) for passage in passages], plain(question))
        return self._encoder.encoded([(prompt, plain(answer))])[0]

    def _marks(self, encoding: Any, row: Float32Array) -> list[Marked]:
        return [
            Marked(start, end, round(softmax(row[i])[self._bad], 4))
            for i, (part, (start, end)) in enumerate(zip(encoding.sequence_ids, encoding.offsets, strict=True))
            if part == 1
        ]


def _lettuce_prompt(passages: Sequence[str], question: str) -> str:
    """Write passages and question the way the model has learnt to read them."""
    listed = "\n".join(_numbered(i, passage) for i, passage in enumerate(passages, start=1))
    if not question.strip():
        return f"Summarize the following text:\n{listed}\noutput:"
    return (
        f"Briefly answer the following question:\n{question}\nBear in mind that your response should be strictly "
        f"based on the following {len(passages)} passages:\n{listed}\nIn case the passages do not contain the "
        'necessary information to answer the question, please reply with: "Unable to answer based on given '
        'passages."\noutput:'
    )


def _numbered(number: int, passage: str) -> str:
    return f"passage {number}: {passage}"


def _check_length(inputs: Sequence[Tokens], most: int, words: str) -> None:
    longest = max((len(one.ids) for one in inputs), default=0)
    if longest > most:
        raise JudgeError("too_long", words.format(longest, most))


def softmax(row: Float32Array) -> list[float]:
    """Turn logits into probabilities."""
    raised = np.exp(row.astype(np.float64) - float(row.max()))
    return [float(value) for value in raised / raised.sum()]


def binary(supported: float) -> Probabilities:
    """Make the probabilities of a model that only tells supported from not supported.

    Rounded to four places, below which padding and the order of sums show.
    """
    supported = round(min(max(supported, 0.0), 1.0), 4)
    return Probabilities(supported, round(1.0 - supported, 4), 0.0)
