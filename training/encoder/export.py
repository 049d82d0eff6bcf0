"""Write a trained reader as ONNX, its weights as 8-bit integers per channel, and say how large it is.

    python training/encoder/export.py CHECKPOINT.pt … --out src/everyclaim/models/data/reader.onnx

Several checkpoints that share their beginning are averaged; one that is named twice counts twice. Nothing is random.
"""

from __future__ import annotations

import argparse
import tempfile
import warnings
from pathlib import Path

import onnx
import torch
from onnxruntime.quantization import QuantType, quantize_dynamic
from onnxruntime.quantization.shape_inference import quant_pre_process

if __package__ in (None, ""):
    import sys

    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from encoder.network import CrossEncoder, from_stages

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


class _Single(torch.nn.Module):
    """The reader for pairs of one length: without a mask, because nothing is padded at run time."""

    def __init__(self, reader: CrossEncoder) -> None:
        super().__init__()
        self.reader = reader

    def forward(self, ids: torch.Tensor, types: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Read pairs of one length."""
        return self.reader(ids, types, None)


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkpoints", nargs="+", type=Path, help="several are averaged")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--full", action="store_true", help="keep full precision")
    options = parser.parse_args()
    reader = from_stages(options.checkpoints).eval()
    if options.full:
        write(reader, options.out)
    else:
        with tempfile.TemporaryDirectory() as folder:
            full = Path(folder) / "full.onnx"
            write(reader, full)
            quantize(full, options.out)
    parameters = sum(p.numel() for p in reader.parameters())
    print(f"{options.out}: {options.out.stat().st_size / 1e6:.1f} MB, {parameters / 1e6:.1f} M parameters")


if __name__ == "__main__":
    main()
