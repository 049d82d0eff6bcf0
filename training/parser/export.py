"""Write a trained parser as ONNX, its weights as 8-bit integers per channel; the names it tells apart stand inside.

So does where in `reader.onnx` the word embeddings stand. After a new `reader.onnx` with the same embeddings:

    python -m parser.export ../src/everyclaim/models/data/parser.onnx
"""

from __future__ import annotations

import json
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

import onnx
import torch

from encoder.export import quantize
from parser.network import Parser, loaded

WORDS, PIECES = 9, 12  # of the sentence that is traced; any would do
READER = Path(__file__).parents[2] / "src" / "everyclaim" / "models" / "data" / "reader.onnx"
_TABLE = "reader.words.weight"  # the embeddings' name in the judge's network


def export(checkpoint: Path, out: Path) -> None:
    """Write the network of a checkpoint."""
    network, names = loaded(checkpoint)
    with tempfile.TemporaryDirectory() as folder:
        full = Path(folder) / "full.onnx"
        write(network.eval(), full)
        quantize(full, out)
    note(out, names=names, words=embeddings())
    print(f"{out}: {out.stat().st_size / 1e6:.2f} MB")


def note(out: Path, **told: Any) -> None:
    """Write what the file of a network tells of itself."""
    model = onnx.load(out)
    onnx.helper.set_model_props(model, {one.key: one.value for one in model.metadata_props}
                                | {name: json.dumps(value) for name, value in told.items()})  # fmt: skip
    onnx.save(model, out)


def embeddings(reader: Path = READER) -> dict[str, Any]:
    """Say where in the file of the judge's network the embeddings stand, as bytes, and what a byte is worth."""
    found = {one.name.removeprefix(_TABLE): one for one in onnx.load(reader).graph.initializer}
    table, scale, zero = (found[f"_{part}"] for part in ("quantized", "scale", "zero_point"))
    return {
        "offset": reader.read_bytes().index(table.raw_data), "shape": list(table.dims),
        "scale": float(onnx.numpy_helper.to_array(scale)), "zero": int(onnx.numpy_helper.to_array(zero)),
    }  # fmt: skip


def write(network: Parser, path: Path) -> None:
    """Write the network in full precision, for one unpadded sentence."""
    places = torch.arange(1, WORDS + 1)[None]
    given = (torch.zeros(1, PIECES, 384), torch.zeros(1, PIECES, dtype=torch.long), places, places)
    length, words = {1: "pieces"}, {1: "words"}
    with warnings.catch_warnings():  # the exporter that follows the code as it runs is called old
        warnings.simplefilter("ignore", DeprecationWarning)
        torch.onnx.export(
            _Single(network), given, str(path), input_names=["pieces", "shapes", "first", "last"],
            output_names=["arcs", "relations", "universal", "penn"], opset_version=17, dynamo=False,
            dynamic_axes={"pieces": length, "shapes": length, "first": words, "last": words},
        )  # fmt: skip


class _Single(torch.nn.Module):
    """The network for one sentence: without a mask, because nothing is padded at run time."""

    def __init__(self, network: Parser) -> None:
        super().__init__()
        self.network = network

    def forward(
        self, pieces: torch.Tensor, shapes: torch.Tensor, first: torch.Tensor, last: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
        """Read one sentence."""
        return self.network(pieces, shapes, first, last, None)


if __name__ == "__main__":
    note(Path(sys.argv[1]), words=embeddings())
