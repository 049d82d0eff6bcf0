"""Turn a shipped network back into a checkpoint that training can start from: its 8-bit weights, widened to floats.

    python training/encoder/widen.py src/everyclaim/models/data/reader.onnx --model MINILM --out WIDENED.pt

For when the checkpoints of earlier stages are gone. What was lost to rounding stays lost; the word and position
embeddings, which training leaves as they are, come from the public encoder in `--model` in full precision.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import onnx
import torch
from onnx import numpy_helper

if __package__ in (None, ""):
    import sys

    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from encoder.network import CrossEncoder, config_of, from_checkpoint

FROZEN = ("words.weight", "positions.weight")


def embeddings(path: Path) -> dict[str, torch.Tensor]:
    """Return the weights of an exported network that training leaves as they are."""
    arrays = {it.name: numpy_helper.to_array(it) for it in onnx.load(str(path)).graph.initializer}
    return {name: torch.from_numpy(_floats(arrays, f"reader.{name}")) for name in FROZEN}


def widened(path: Path, reader: CrossEncoder) -> dict[str, torch.Tensor]:
    """Return the weights of an exported network under the names of `reader`; what never learns is the reader's own."""
    graph = onnx.load(str(path)).graph
    arrays = {it.name: numpy_helper.to_array(it) for it in graph.initializer}
    products = {_module(node.name): node.input[1] for node in graph.node if node.op_type == "MatMulInteger"}
    state = {}
    for name, value in reader.state_dict().items():
        module = name.removesuffix(".weight")
        if name in FROZEN:
            state[name] = value
        elif f"reader.{name}" in arrays:
            state[name] = torch.from_numpy(arrays[f"reader.{name}"].copy())
        elif f"reader.{name}_quantized" in arrays and module not in products:
            state[name] = torch.from_numpy(_floats(arrays, f"reader.{name}"))
        elif module in products:  # a product is stored with its inputs as rows
            stored = _floats(arrays, products[module].removesuffix("_quantized"))
            scale = arrays.get(f"reader.{module}.scale", np.float32(1))
            state[name] = torch.from_numpy(np.ascontiguousarray(stored.T) * scale)
        else:
            raise SystemExit(f"{path} holds no weight {name}; was it written by export.py?")
    return state


def _module(node: str) -> str:
    """Give the part of the network that a node belongs to: "layers.0.key" of "/reader/layers.0/key/MatMul_quant"."""
    return ".".join(node.split("/")[2:-1])


def _floats(arrays: dict[str, np.ndarray], name: str) -> np.ndarray:
    whole = arrays[f"{name}_quantized"].astype(np.float32) - arrays[f"{name}_zero_point"].astype(np.float32)
    return whole * arrays[f"{name}_scale"]


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("network", type=Path, help="what export.py wrote")
    parser.add_argument("--model", type=Path, required=True, help="folder of the public checkpoint")
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    reader = from_checkpoint(options.model)
    torch.save({"model": widened(options.network, reader), "config": config_of(reader)}, options.out)


if __name__ == "__main__":
    main()
