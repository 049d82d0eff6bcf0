"""Natural language inference: two texts in, entailment, neutral and contradiction out, in an order of the model's own.

The order is read from the names in its configuration; a model that has no names needs them said, because guessing
turns support into contradiction without any sign of it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from everyclaim.core.errors import ConfigError
from everyclaim.core.types import Label, Probabilities
from everyclaim.models.local.hf.networks import Float32Array
from everyclaim.models.local.hf.pairs import TextPair, binary, softmax
from everyclaim.models.local.hf.tokens import TextEncoder, Tokens, as_tokens

MAX_TOKENS = 512
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


@dataclass(frozen=True, slots=True)
class Nli:
    """`order` says for each of the classifier's outputs what it means."""

    order: tuple[Label, ...]

    def inputs(self, encoder: TextEncoder, pairs: Sequence[TextPair]) -> list[Tokens]:
        """Write premise and hypothesis as the tokenizer joins two texts."""
        return [as_tokens(encoding) for encoding in encoder.encoded(list(pairs))]

    def read(self, row: Float32Array) -> Probabilities:
        """Put the outputs' probabilities in our order. One output is a probability of support by itself."""
        if len(self.order) == 1:
            return binary(1.0 / (1.0 + math.exp(-max(-700.0, min(700.0, float(row[0]))))))
        shares = dict(zip(self.order, softmax(row), strict=True))
        if len(shares) == 2 and Label.UNSUPPORTED in shares:
            return binary(shares[Label.SUPPORTED])
        supported, contradicted = round(shares[Label.SUPPORTED], 4), round(shares[Label.CONTRADICTED], 4)
        return Probabilities(supported, max(0.0, round(1.0 - supported - contradicted, 4)), contradicted)


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
    order = tuple(_meaning(name) for name in names)
    known = [label for label in order if label is not None]
    hint = "say what its outputs mean in their order, as in '?labels=contradiction,entailment,neutral'"
    if len(known) < len(names):
        raise ConfigError(f"the outputs of {model!r} are called {', '.join(names)}: {hint}")
    if len(set(known)) < len(known) or Label.SUPPORTED not in known:
        raise ConfigError(f"the outputs of {model!r}, {', '.join(names)}, are not what a judge of claims needs: {hint}")
    return tuple(known)


def _meaning(name: str) -> Label | None:
    return _MEANING.get(re.sub(r"[\W_]+", "", name.casefold()))
