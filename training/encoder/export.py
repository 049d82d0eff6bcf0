"""Write a trained reader as ONNX, its weights as 8-bit integers per channel, and say how large it is.

    python training/encoder/export.py CHECKPOINT.pt … --pairs PREPARED.npz --out src/everyclaim/models/data/reader.onnx

Several checkpoints that share their beginning are averaged; one that is named twice counts twice. `--pairs` are
prepared rows, on some of which the inputs of the feed-forward layers are measured: a few of their dimensions are ten
times as large as the others and would take most of the 8 bits. So every dimension is divided by a number of its own,
and its weights multiplied by it (SmoothQuant, arXiv 2211.10438). Nothing is random.
"""

from __future__ import annotations

import argparse
import tempfile
import warnings
from pathlib import Path

import numpy as np
import onnx
import torch
from onnxruntime.quantization import QuantType, quantize_dynamic
from onnxruntime.quantization.shape_inference import quant_pre_process

if __package__ in (None, ""):
    import sys

    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from torch import Tensor, nn

from encoder.network import CrossEncoder, from_stages

MEASURED = 400  # pairs that inputs are measured on
SMOOTH = 0.9  # how far inputs are evened out at the cost of weights; 0 would be not at all
PREMISE, LENGTH = 30, 40  # tokens of the pair that is traced; any pair would do
AXES = {"ids": {0: "batch", 1: "length"}, "types": {0: "batch", 1: "length"},
        "labels": {0: "batch"}, "tokens": {0: "batch", 1: "length"}}  # fmt: skip


def write(reader: CrossEncoder, path: Path) -> None:
    """Write the network in full precision."""
    ids = torch.full((1, LENGTH), 5)
    types = torch.zeros_like(ids)
    types[:, PREMISE:] = 1
    with warnings.catch_warnings():  # the exporter that follows the code as it runs is called old; it needs no package
        warnings.simplefilter("ignore", DeprecationWarning)
        torch.onnx.export(
            _Single(reader), (ids, types), str(path), input_names=["ids", "types"], output_names=["labels", "tokens"],
            dynamic_axes=AXES, opset_version=17, dynamo=False,
        )  # fmt: skip


def quantize(full: Path, path: Path) -> None:
    """Write a network again with its weights as 8-bit integers."""
    with tempfile.TemporaryDirectory() as folder:
        ready = Path(folder) / "ready.onnx"
        quant_pre_process(str(full), str(ready), skip_symbolic_shape=True)
        quantize_dynamic(
            str(ready), str(path), per_channel=True, weight_type=QuantType.QInt8,
            op_types_to_quantize=["MatMul", "Gemm", "Gather"], extra_options={"MatMulConstBOnly": True},
        )  # fmt: skip
    onnx.checker.check_model(str(path))


class _Scaled(nn.Linear):
    """A linear layer whose input dimensions are multiplied by `scale`, and its weights divided."""

    def __init__(self, linear: nn.Linear, scale: Tensor) -> None:
        super().__init__(linear.in_features, linear.out_features)
        self.scale = nn.Parameter(scale)
        self.weight.data, self.bias.data = linear.weight.data / scale, linear.bias.data

    def forward(self, states: Tensor) -> Tensor:
        """Transform states [..., T, width]."""
        return super().forward(states * self.scale)


def smooth(reader: CrossEncoder, pairs: Path) -> None:
    """Even out the inputs of the feed-forward layers, as measured on prepared rows; what `reader` says stays."""
    linears = {(layer, name): getattr(layer, name) for layer in reader.layers for name in ("up", "down")}
    largest = {key: torch.full((linear.in_features,), 1e-5) for key, linear in linears.items()}

    def measure(key: tuple[nn.Module, str], states: Tensor) -> None:
        largest[key] = torch.maximum(largest[key], states.abs().flatten(0, -2).amax(0))

    hooks = [
        linear.register_forward_pre_hook(lambda _, inputs, key=key: measure(key, inputs[0]))
        for key, linear in linears.items()
    ]
    rows = np.load(pairs)
    starts = np.concatenate([[0], np.cumsum(rows["sizes"])])
    every = max(1, len(rows["sizes"]) // MEASURED)
    with torch.no_grad():
        for row in range(0, len(rows["sizes"]), every):
            ids = torch.from_numpy(rows["ids"][starts[row] : starts[row + 1]].astype(np.int64))[None]
            reader(ids, (torch.arange(ids.shape[1]) >= int(rows["claim"][row])).long()[None], None)
    for hook in hooks:
        hook.remove()
    for (layer, name), linear in linears.items():
        scale = linear.weight.data.abs().amax(0) ** (1 - SMOOTH) / largest[layer, name] ** SMOOTH
        setattr(layer, name, _Scaled(linear, scale / scale.median()))


class _Single(nn.Module):
    """The reader for pairs of one length: without a mask, because nothing is padded at run time."""

    def __init__(self, reader: CrossEncoder) -> None:
        super().__init__()
        self.reader = reader

    def forward(self, ids: Tensor, types: Tensor) -> tuple[Tensor, Tensor]:
        """Read pairs of one length."""
        return self.reader(ids, types, None)


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkpoints", nargs="+", type=Path, help="several are averaged")
    parser.add_argument("--pairs", type=Path, required=True, help="prepared rows that inputs are measured on")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--full", action="store_true", help="keep full precision")
    options = parser.parse_args()
    reader = from_stages(options.checkpoints).eval()
    parameters = sum(p.numel() for p in reader.parameters())
    smooth(reader, options.pairs)
    if options.full:
        write(reader, options.out)
    else:
        with tempfile.TemporaryDirectory() as folder:
            full = Path(folder) / "full.onnx"
            write(reader, full)
            quantize(full, options.out)
    print(f"{options.out}: {options.out.stat().st_size / 1e6:.1f} MB, {parameters / 1e6:.1f} M parameters")


if __name__ == "__main__":
    main()
