"""Encoder models from the Hugging Face hub or a folder, as `PairModel` and `TokenModel` of the core protocols.

    options → folder (hub or disk) → tokenizer, network (torch or ONNX) → family → batches over all who ask

No code of a model's repository is ever run: what is not built into `transformers` is put together here.
"""

from everyclaim.models.local.hf.families import LoadedPairs, LoadedTokens
from everyclaim.models.local.hf.load import load_model
from everyclaim.models.local.hf.options import FAMILIES, KNOWN, HfOptions, ModelOptions, read_options

__all__ = [
    "FAMILIES",
    "KNOWN",
    "HfOptions",
    "LoadedPairs",
    "LoadedTokens",
    "ModelOptions",
    "load_model",
    "read_options",
]
