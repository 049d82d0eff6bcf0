"""What the metrics are given: samples, data sets and clients under the names that Ragas has for them.

Everything is a row, a mapping, in the end; the readers of `everyclaim.io` know the field names of both tools.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from everyclaim.api.options import public
from everyclaim.core.errors import ConfigError, InputError, MissingExtraError
from everyclaim.core.protocols import ChatModel
from everyclaim.core.spec import Spec
from everyclaim.core.types import Sample
from everyclaim.io import read_samples
from everyclaim.io.tables import row_mapping
from everyclaim.models import build_chat_model
from everyclaim.models.chat.options import SAMPLING
from everyclaim.models.chat.providers import find_provider, is_provider, provider_names

Row = Mapping[str, Any]
_OURS = {  # what Ragas calls a column, today and before
    "user_input": "question",
    "question": "question",
    "response": "response",
    "answer": "response",
    "retrieved_contexts": "contexts",
    "contexts": "contexts",
    "reference": "reference",
    "ground_truth": "reference",
    "ground_truths": "reference",
}


@dataclass(frozen=True, slots=True)
class SingleTurnSample:
    """One question, the response to it, what was retrieved, and perhaps a reference answer."""

    user_input: str | None = None
    retrieved_contexts: Sequence[Any] | None = None  # texts, or mappings with `id`, `text`, `title`
    response: str | None = None
    reference: str | None = None
    reference_contexts: Sequence[str] | None = None  # carried along; no metric here reads it

    def to_dict(self) -> dict[str, Any]:
        """Return the fields that are there."""
        values = {part.name: getattr(self, part.name) for part in fields(self)}
        return {name: value for name, value in values.items() if value is not None}


@dataclass(frozen=True)
class EvaluationDataset:
    """Samples in order. Columns that no metric reads are kept and come out again beside the scores."""

    samples: Sequence[Any]  # `SingleTurnSample`s, mappings, or samples of an installed Ragas
    rows: tuple[Row, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "rows", rows_of(self.samples))

    @classmethod
    def from_list(cls, data: Iterable[Row]) -> EvaluationDataset:
        """Take a list of mappings."""
        return cls(tuple(data))

    @classmethod
    def from_pandas(cls, dataframe: Any) -> EvaluationDataset:
        """Take a pandas frame."""
        return cls(rows_of(dataframe))

    @classmethod
    def from_hf_dataset(cls, dataset: Any) -> EvaluationDataset:
        """Take a `datasets.Dataset`."""
        return cls(rows_of(dataset))

    @classmethod
    def from_jsonl(cls, path: str | os.PathLike[str]) -> EvaluationDataset:
        """Read a file with one JSON object per line."""
        try:
            lines = Path(path).read_text("utf-8-sig").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"cannot read {os.fspath(path)}: {error}") from None
        return cls(tuple(_loaded(path, number, line) for number, line in enumerate(lines, 1) if line.strip()))

    def to_list(self) -> list[dict[str, Any]]:
        """Return the rows."""
        return [dict(row) for row in self.rows]

    def to_pandas(self) -> Any:
        """Return a pandas frame."""
        return frame(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.samples)

    def __getitem__(self, place: int) -> Any:
        return self.samples[place]


def rows_of(dataset: Any) -> tuple[Row, ...]:
    """Return the rows of a data set: ours, Ragas' own, a frame, an Arrow table, a `datasets.Dataset`, a list.

    Raises `InputError` for anything else.
    """
    if isinstance(dataset, EvaluationDataset):
        return dataset.rows
    if hasattr(dataset, "collect_schema"):  # polars, lazy
        dataset = dataset.collect() if hasattr(dataset, "collect") else dataset
    if hasattr(dataset, "itertuples"):  # pandas
        return tuple(dataset.to_dict("records"))
    for method in ("to_dicts", "to_pylist", "to_list"):  # polars; pyarrow; Ragas, datasets
        if callable(convert := getattr(dataset, method, None)) and not isinstance(dataset, type):
            return tuple(map(row_of, convert()))
    if isinstance(dataset, Iterable) and not isinstance(dataset, str | bytes | Mapping):
        return tuple(map(row_of, dataset))
    raise InputError(
        f"cannot read samples from a {type(dataset).__name__}; pass a list of mappings, a table or a dataset"
    )


def _loaded(path: str | os.PathLike[str], number: int, line: str) -> Any:
    try:
        return json.loads(line)
    except ValueError as error:
        raise InputError(f"{os.fspath(path)}, line {number}: not JSON ({error})") from None


def row_of(sample: Any) -> Row:
    """Return a sample as a mapping. Raises `InputError` for what is none."""
    row = row_mapping(sample)
    if row is not None:
        return row
    raise InputError(f"a sample must be a SingleTurnSample or a mapping, got {type(sample).__name__}")


def sample_of(row: Row, number: int, mapping: Mapping[str, str] | None = None) -> Sample | str:
    """Read a row as a sample whose id is its number, or say why it is none."""
    why: list[str] = []
    numbered = {**row, "id": str(number)}
    found = list(read_samples([numbered], mapping=mapping, on_bad_row=lambda bad: why.append(bad.reason)))
    return found[0] if found else "; ".join(why)


def mapping_of(column_map: Mapping[str, str] | None) -> dict[str, str]:
    """Turn a `column_map` of Ragas (its name → theirs) into a mapping of ours (their name → ours)."""
    if unknown := sorted((column_map or {}).keys() - _OURS.keys()):
        raise InputError(f"column_map names the column {unknown[0]!r}; known: {', '.join(_OURS)}")
    return {theirs: _OURS[name] for name, theirs in (column_map or {}).items()}


def frame(rows: Sequence[Row]) -> Any:
    """Return rows as a pandas frame."""
    try:
        import pandas as pd
    except ImportError:
        raise MissingExtraError("a pandas frame", "pandas") from None
    return pd.DataFrame([dict(row) for row in rows])


_OWN = {name: name for name in (*SAMPLING, "timeout")} | {"max_tokens": "reply_tokens"}


@public
def llm_factory(
    model: str, provider: str = "openai", client: Any = None, *, base_url: str | None = None, **model_args: Any
) -> ChatModel:
    """Make a judge's chat model the way Ragas' `llm_factory` is called.

    Of a `client` (`openai.AsyncOpenAI`, `anthropic.AsyncAnthropic`, synchronous ones as well) only the address and
    the key are used: requests go out by our own transport, with its retries and limits. `model_args` are
    `temperature`, `max_tokens` and other fields of the request; none is sent unless it is given.
    Raises `ConfigError` for an unknown provider or a missing key.
    """
    if not is_provider(provider):
        known = ", ".join(provider_names())
        raise ConfigError(
            f"unknown provider {provider!r}; known: {known}. For other OpenAI-compatible providers use "
            "provider='openai' with base_url=…"
        )
    options = dict(_as_options(model_args))
    address = base_url or _address(client)
    if address and address.rstrip("/").removesuffix("/v1") != find_provider(provider).address.removesuffix("/v1"):
        options["base_url"] = address
    key = getattr(client, "api_key", None)
    return build_chat_model(Spec(provider, model, options), key=key if isinstance(key, str) else None)


def _address(client: Any) -> str:
    address = getattr(client, "base_url", None)
    return "" if address is None else str(address).rstrip("/")


def _as_options(given: Mapping[str, Any]) -> dict[str, str]:
    return {
        _OWN.get(name, f"body.{name}"): str(value) if name in _OWN else json.dumps(value)
        for name, value in given.items()
    }
