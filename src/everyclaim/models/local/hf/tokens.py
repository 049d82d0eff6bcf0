"""Texts → token ids. The text under test is data: it cannot hold a token that means something to the model."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from everyclaim.core.errors import ConfigError, MissingExtraError
from everyclaim.models.local.hf.folder import Folder
from everyclaim.models.local.hf.networks import quiet

_SURROGATE = re.compile("[\ud800-\udfff]")


class Tokens(NamedTuple):
    """One input of a network: token ids, and which of two texts each belongs to."""

    ids: tuple[int, ...]
    types: tuple[int, ...]


class TextEncoder:
    """A tokenizer without truncation and padding. `eos` is the token that ends a text, empty when there is none."""

    def __init__(self, backend: Any, eos: str) -> None:
        backend.no_truncation()
        backend.no_padding()
        self._backend = backend
        self.eos = eos
        added = backend.get_added_tokens_decoder().values()
        special = sorted({token.content for token in added if token.special and token.content}, key=len, reverse=True)
        self._special = re.compile("|".join(map(re.escape, special))) if special else None

    def plain(self, text: str) -> str:
        """Take the meaning from what the tokenizer would read as a special token; as long as the text given.

        The first character of ``</s>``, ``[SEP]``, … becomes a blank, and what no encoding carries the
        replacement character, so offsets stay true.
        """
        text = _SURROGATE.sub("\ufffd", text)
        while self._special and self._special.search(text):
            text = self._special.sub(lambda match: " " + match[0][1:], text)
        return text

    def lengths(self, texts: Sequence[str]) -> list[int]:
        """Count the tokens of each text by itself."""
        encoded = self._backend.encode_batch([self.plain(text) for text in texts], add_special_tokens=False)
        return [len(one.ids) for one in encoded]

    def ids(self, text: str) -> list[int]:
        """Return the token ids of one text as it is, with nothing around it."""
        return list(self._backend.encode(text, add_special_tokens=False).ids)

    def encoded(self, inputs: Sequence[str | tuple[str, str]]) -> list[Any]:
        """Encode texts or pairs of them as they are, with the special tokens that belong around them."""
        return list(self._backend.encode_batch(list(inputs), add_special_tokens=True))


def as_tokens(encoding: Any) -> Tokens:
    """Take from an encoding what a network reads."""
    return Tokens(tuple(encoding.ids), tuple(encoding.type_ids))


def open_tokenizer(folder: Folder) -> TextEncoder:
    """Open the tokenizer of a folder. Raises `ConfigError` when it has none that can be used."""
    try:
        from transformers import AutoTokenizer
    except ImportError:
        return _by_itself(folder)
    try:
        with quiet():
            tokenizer = AutoTokenizer.from_pretrained(folder.path, trust_remote_code=False, local_files_only=True)
    except Exception as error:  # noqa: BLE001 - whatever is wrong with the files
        raise ConfigError(f"cannot open the tokenizer of {folder.name!r}: {error}") from None
    backend = getattr(tokenizer, "backend_tokenizer", None)
    if backend is None:
        raise ConfigError(f"the tokenizer of {folder.name!r} has no fast version (tokenizer.json)")
    return TextEncoder(backend, tokenizer.eos_token or tokenizer.sep_token or "")


def _by_itself(folder: Folder) -> TextEncoder:
    """Open ``tokenizer.json`` without transformers, which an exported network does not need."""
    try:
        from tokenizers import Tokenizer
    except ImportError:
        raise MissingExtraError(f"the judge hf:{folder.name}", "hf") from None
    file = folder.path / "tokenizer.json"
    if not file.is_file():
        raise ConfigError(f"{folder.name!r} has no tokenizer.json")
    told = {**folder.json("special_tokens_map.json"), **folder.json("tokenizer_config.json")}
    ends = [told.get(name) for name in ("eos_token", "sep_token")]
    names = [end.get("content", "") if isinstance(end, dict) else end for end in ends]
    return TextEncoder(Tokenizer.from_file(str(file)), next((name for name in names if name), ""))
