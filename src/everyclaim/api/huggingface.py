"""``hf:<model id or folder>`` → a verifier: the model, and how passages are put to it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from everyclaim.core.errors import ConfigError
from everyclaim.core.protocols import Verifier
from everyclaim.core.spec import Spec
from everyclaim.models.local.hf import LoadedTokens, OptionReader, load_model, read_options
from everyclaim.verify.hf import (
    ALIGNSCORE,
    MINICHECK,
    MINICHECK_WORDS,
    WHOLE,
    Chunking,
    PairVerifier,
    TokenVerifier,
)

_CHUNKINGS = {"whole": WHOLE, "minicheck": MINICHECK, "alignscore": ALIGNSCORE}
# As each family was trained and published.
_USUAL: Mapping[str, Chunking] = {
    "hhem": WHOLE,
    "minicheck": MINICHECK,
    "minicheck-t5": MINICHECK_WORDS,
    "nli": MINICHECK,
}


def hf_verifier(spec: Spec) -> Verifier:
    """Build the judge that ``hf:<model id or folder>`` names; the model is loaded now.

    Of the model: `family`, `revision`, `foundation`, `labels`, `max_tokens`, `device`, `dtype`, `batch_size`,
    `runtime`, `local_files_only`. Of judging: `threshold`, and for classifiers of pairs `chunking` (`whole`,
    `minicheck`, `alignscore`), `chunk` (its size in tokens), `most` (chunks per claim), for classifiers of tokens
    `share`. Raises `ConfigError`, `MissingExtraError` or `OperatorError` when it cannot be had.
    """
    reader = OptionReader(spec)
    options = read_options(spec, reader)
    threshold, share = reader.share("threshold"), reader.share("share")
    named = reader.choice("chunking", ("", *_CHUNKINGS))
    size, most = reader.whole("chunk", 16, 1_000_000), reader.whole("most", 1, 1_000_000)
    reader.finish()
    model = load_model(options)
    if isinstance(model, LoadedTokens):
        if named or size or most:
            raise ConfigError(f"{options.model!r} marks an answer's tokens; it takes no 'chunking', 'chunk' or 'most'")
        usual = TokenVerifier(model, str(spec))
        return replace(usual, threshold=threshold or usual.threshold, share=share or 0.0)
    if share is not None:
        raise ConfigError(f"{options.model!r} judges whole claims; only classifiers of tokens take 'share'")
    family = model.parameters["hf_family"]
    chunking = _USUAL[family]
    if named and named != chunking.name:
        chunking = _CHUNKINGS[named]
    if size:
        chunking = replace(chunking, tokens=size, words=None)
    return PairVerifier(model, chunking, str(spec), threshold, most or 64)
