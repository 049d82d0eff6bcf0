"""One array out of an ONNX file, without loading the network it belongs to.

The parser reads the word embeddings that ship inside the judge's network; so they ship once.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt

_GRAPH, _INITIALIZER = 7, 5  # fields of ModelProto and GraphProto
_DIMENSIONS, _KIND, _INTEGERS, _NAME, _RAW = 1, 2, 5, 8, 9  # of TensorProto
_FLOATS = 4
_KINDS = {1: "<f4", 2: "u1", 3: "i1"}
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5  # how a field is written

Array = npt.NDArray[np.generic]


def initializers(path: Path, names: frozenset[str]) -> dict[str, Array]:
    """Read the arrays of these names; what is large stays in the file and is read page by page."""
    with path.open("rb") as file:
        content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    found: dict[str, Array] = {}
    for field, start, end in _fields(content, 0, len(content)):
        if field != _GRAPH:
            continue
        for inner, first, last in _fields(content, start, end):
            if inner == _INITIALIZER:
                name, array = _tensor(content, first, last, names)
                if array is not None:
                    found[name] = array
    return found


def _tensor(content: mmap.mmap, start: int, end: int, names: frozenset[str]) -> tuple[str, Array | None]:
    dimensions: list[int] = []
    kind, name, raw, integers = 0, "", (0, 0), (0, 0)
    for field, first, last in _fields(content, start, end):
        if field == _DIMENSIONS:  # a lone number, or several packed
            place = first
            while place < last:
                value, place = _varint(content, place)
                dimensions.append(value)
        elif field == _KIND:
            kind = _varint(content, first)[0]
        elif field == _NAME:
            name = content[first:last].decode("utf-8")
        elif field == _RAW:
            raw = (first, last)
        elif field in {_FLOATS, _INTEGERS}:
            integers = (first, last)
    if name not in names:
        return name, None
    if raw == (0, 0) and kind == 1:
        raw = integers
    if raw != (0, 0):
        count = (raw[1] - raw[0]) // np.dtype(_KINDS[kind]).itemsize
        return name, np.frombuffer(content, _KINDS[kind], count, raw[0]).reshape(dimensions)
    return name, np.array([_varint(content, integers[0])[0]], _KINDS[kind]).reshape(dimensions)


def _fields(content: mmap.mmap, place: int, end: int) -> Iterator[tuple[int, int, int]]:
    """Number and extent of every field of a message."""
    while place < end:
        key, place = _varint(content, place)
        kind = key & 7
        if kind == _BYTES:
            length, place = _varint(content, place)
            stop = place + length
        elif kind == _VARINT:
            stop = _varint(content, place)[1]
        else:
            stop = place + {_FIXED64: 8, _FIXED32: 4}[kind]
        yield key >> 3, place, stop
        place = stop


def _varint(content: mmap.mmap, place: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = content[place]
        value |= (byte & 127) << shift
        place, shift = place + 1, shift + 7
        if byte < 128:
            return value, place
