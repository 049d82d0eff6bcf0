"""``hf:<model id or folder>`` → a verifier: the model, and how passages are put to it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Literal

from everyclaim.api.options import Share
from everyclaim.core.errors import ConfigError
from everyclaim.core.kinds import Range
from everyclaim.core.options import Opt, divided, read
from everyclaim.core.protocols import Verifier
from everyclaim.core.spec import Spec
from everyclaim.models.local.hf_files import ModelOptions, read_options
from everyclaim.models.local.hf_models import LoadedTokens, load_model
from everyclaim.verify.marks import TokenVerifier
from everyclaim.verify.pairs import ALIGNSCORE, MINICHECK, MINICHECK_WORDS, WHOLE, Chunking, PairVerifier

_CHUNKINGS = {"whole": WHOLE, "minicheck": MINICHECK, "alignscore": ALIGNSCORE}
# As each family was trained and published.
_USUAL: Mapping[str, Chunking] = {
    "hhem": WHOLE,
    "minicheck": MINICHECK,
    "minicheck-t5": MINICHECK_WORDS,
    "nli": MINICHECK,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class OfJudging(ModelOptions):
    """What a spec may say of how a model judges, beside how it is loaded."""

    threshold: Annotated[Share | None, Opt("probability above which a claim is supported")] = None
    chunking: Annotated[
        Literal["whole", "minicheck", "alignscore"] | None, Opt("how pair classifiers read the passages")
    ] = None
    chunk: Annotated[Annotated[int, Range(16, 1_000_000)] | None, Opt("tokens per chunk; pair classifiers")] = None
    most: Annotated[Annotated[int, Range(1, 1_000_000)] | None, Opt("chunks per claim; pair classifiers")] = None
    share: Annotated[Share | None, Opt("maximum share of flagged tokens; token classifiers")] = None


def hf_verifier(spec: Spec) -> Verifier:
    """Build the judge that ``hf:<model id or folder>`` names; the model is loaded now.

    Options are those of `OfJudging`. Raises `ConfigError`, `MissingExtraError` or `OperatorError` when it cannot be
    had.
    """
    said = read(spec, OfJudging)
    threshold, share, named, size, most = said.threshold, said.share, said.chunking, said.chunk, said.most
    options = read_options(divided(spec, ModelOptions)[0])
    model = load_model(options)
    if isinstance(model, LoadedTokens):
        if named or size or most:
            raise ConfigError(
                f"'chunking', 'chunk' and 'most' apply to pair classifiers; {options.model!r} classifies tokens"
            )
        usual = TokenVerifier(model, str(spec))
        return replace(usual, threshold=threshold or usual.threshold, share=share or 0.0)
    if share is not None:
        raise ConfigError(f"'share' applies to token classifiers; {options.model!r} judges whole claims")
    family = model.parameters["hf_family"]
    chunking = _USUAL[family]
    if named and named != chunking.name:
        chunking = _CHUNKINGS[named]
    if size:
        chunking = replace(chunking, tokens=size, words=None)
    return PairVerifier(model, chunking, str(spec), threshold, most or 64)
