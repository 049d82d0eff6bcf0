"""One array out of an ONNX file, without loading the network it belongs to.

The parser reads the word embeddings that ship inside the judge's network; so they ship once.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt

# Numbers of fields: the way to an initializer in ModelProto and GraphProto, and what is read of its TensorProto.
_GRAPH, _INITIALIZER = 7, 5
_DIMENSION, _KIND, _FLOATS, _INTEGERS, _NAME, _RAW = 1, 2, 4, 5, 8, 9
_KINDS = {1: "<f4", 2: "u1", 3: "i1"}
_VARINT, _BYTES, _SIZES = 0, 2, {1: 8, 5: 4}  # how a field is written: the rest have a size in bytes

Array = npt.NDArray[np.generic]


def initializers(path: Path, names: frozenset[str]) -> dict[str, Array]:
    """Read the arrays of these names; what is large stays in the file and is read page by page."""
    with path.open("rb") as file:
        content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    found: dict[str, Array] = {}
    for field, start, end in _fields(content, 0, len(content)):
        for inner, first, last in _fields(content, start, end) if field == _GRAPH else ():
            parts = list(_fields(content, first, last)) if inner == _INITIALIZER else []
            name = next((content[start:stop].decode("utf-8") for part, start, stop in parts if part == _NAME), "")
            if name in names:
                found[name] = _array(content, parts)
    return found


def _array(content: mmap.mmap, parts: list[tuple[int, int, int]]) -> Array:
    shape = [_varint(content, start)[0] for part, start, _ in parts if part == _DIMENSION]
    kind = np.dtype(_KINDS[next(_varint(content, start)[0] for part, start, _ in parts if part == _KIND)])
    held, start, end = next(place for place in parts if place[0] in {_RAW, _FLOATS, _INTEGERS})
    if held == _INTEGERS:  # a lone one
        return np.array([_varint(content, start)[0]], kind).reshape(shape)
    return np.frombuffer(content, kind, (end - start) // kind.itemsize, start).reshape(shape)


def _fields(content: mmap.mmap, place: int, end: int) -> Iterator[tuple[int, int, int]]:
    """Number and extent of every field of a message."""
    while place < end:
        key, place = _varint(content, place)
        written = key & 7
        if written == _BYTES:
            length, place = _varint(content, place)
        else:
            length = _varint(content, place)[1] - place if written == _VARINT else _SIZES[written]
        yield key >> 3, place, place + length
        place += length


def _varint(content: mmap.mmap, place: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = content[place]
        value |= (byte & 127) << shift
        place, shift = place + 1, shift + 7
        if byte < 128:
            return value, place
