"""Write a trained parser as ONNX, its weights as 8-bit integers per channel; the names it tells apart stand inside."""

from __future__ import annotations

import json
import tempfile
import warnings
from pathlib import Path

import onnx
import torch

from encoder.export import quantize
from parser.network import Parser, loaded

WORDS, PIECES = 9, 12  # of the sentence that is traced; any would do


def export(checkpoint: Path, out: Path) -> None:
    """Write the network of a checkpoint."""
    network, names = loaded(checkpoint)
    with tempfile.TemporaryDirectory() as folder:
        full = Path(folder) / "full.onnx"
        write(network.eval(), full)
        quantize(full, out)
    model = onnx.load(out)
    entry = model.metadata_props.add()
    entry.key, entry.value = "names", json.dumps(names)
    onnx.save(model, out)
    print(f"{out}: {out.stat().st_size / 1e6:.2f} MB")


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
