"""Train on a borrowed GPU machine: little to carry there, work in sittings of minutes, little to carry back.

    python training/encoder/gpu.py pack --files A.npz B.npz … --start MINILM --out JOB      # here
    python training/encoder/gpu.py run JOB --work KEPT --out BACK --seconds 570            # there, until all is done
    python training/encoder/gpu.py join BACK --out WORK                                    # here

`JOB` holds the rows that the stages `gpu_*.toml` name, the weights to start from as 8-bit integers, and the stages. The
machine needs this folder, a checkout, torch, numpy, onnx and safetensors, and no internet. `run` trains stage after
stage; the same command goes on from the checkpoints in `KEPT`, or with the next stage where those were lost and `BACK`
holds what is finished. Weights come back in parts with their SHA-256, which `join` checks before it writes checkpoints
that `export.py` reads. The embeddings never learn and travel in neither direction: both sides have the shipped network.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import json
import lzma
import shutil
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

if __package__ in (None, ""):
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from encoder import train
from encoder.network import CrossEncoder, config_of
from encoder.rows import Rows
from encoder.widen import FROZEN, embeddings

HERE = Path(__file__).parent
SHIPPED = HERE.parents[1] / "src" / "everyclaim" / "models" / "data" / "reader.onnx"
PART = 15_000_000  # bytes of a part that comes back
LEAST = 60.0  # seconds that a stage must have left to be begun or gone on with in this sitting
KEPT = ("ids", "targets", "sizes", "claim", "label", "dataset")


# Here: pack


def pack(options: argparse.Namespace) -> None:
    """Write what travels, and say how large it is."""
    options.out.mkdir(parents=True, exist_ok=True)
    for stage in options.stages:
        shutil.copy(stage, options.out)
    stages = [train.stage_of(stage) for stage in options.stages]
    used = 0
    for path in options.files:
        rows = wanted(np.load(path), stages, used)
        used += len(rows["sizes"])
        _squeeze(rows, options.out / f"{path.stem}.npz.xz")
    reader = train.started(options.start, 0.0)
    _squeeze(rounded(reader), options.out / "start.npz.xz")
    size = sum(path.stat().st_size for path in options.out.iterdir())
    print(f"{used} rows; {options.out}: {size / 1e6:.1f} MB")
    if size > options.most * 1e6:
        raise SystemExit(f"more than --most {options.most:g} MB; let the stages name fewer rows, or pack fewer files")


def wanted(part: Mapping[str, Any], stages: Sequence[dict[str, Any]], number: int) -> dict[str, Any]:
    """Keep the rows of data sets that a stage names, and twins under numbers, from `number` on, instead of names."""
    names = [str(name) for name in np.unique(part["dataset"])]
    used = [name for name in names if any(Rows.asked(stage["rows"], name) for stage in stages)]
    keep = np.isin(part["dataset"], used)
    of_token = np.repeat(keep, part["sizes"])
    rows = {name: part[name][of_token if name in ("ids", "targets") else keep] for name in KEPT}
    return {**rows, "beside": np.unique(part["beside"][keep], return_inverse=True)[1].astype(np.int32) + number}


def rounded(reader: CrossEncoder) -> dict[str, Any]:
    """Write weights as 8-bit integers with a scale per row, without those that never learn."""
    arrays: dict[str, Any] = {"config": np.array(json.dumps(config_of(reader)))}
    for name, value in reader.state_dict().items():
        if name in FROZEN:
            continue
        if value.ndim < 2:
            arrays[name] = value.numpy()
            continue
        scale = value.abs().amax(dim=1, keepdim=True).clamp(min=1e-12) / 127
        arrays[name], arrays[f"{name} scale"] = (value / scale).round().to(torch.int8).numpy(), scale.numpy()
    return arrays


def _squeeze(arrays: dict[str, Any], path: Path) -> None:
    with lzma.open(path, "wb") as stream:
        np.savez(stream, **arrays)


# There: run


def run(options: argparse.Namespace) -> None:
    """Train until all stages are finished or the seconds are over; write the weights of those that are finished."""
    until = time.monotonic() + options.seconds
    options.work.mkdir(parents=True, exist_ok=True)
    options.out.mkdir(parents=True, exist_ok=True)
    files, start = unpacked(options)
    for stage in sorted(options.job.glob("*.toml")):
        if (options.out / f"{stage.stem}.json").exists():
            continue
        left = until - time.monotonic()
        if left < LEAST:
            raise SystemExit(f"{stage.stem} is not finished: run the same command again")
        kept = options.work / f"{stage.stem}.pt"
        given = [str(stage), "--files", *map(str, files), "--start", str(start), "--out", str(kept), "--resume"]
        given += ["--device", options.device, "--threads", str(options.threads), "--stop-after", f"{left - LEAST / 2}"]
        train.work(0, 1, train.arguments(given))
        trained = torch.load(kept, map_location="cpu", weights_only=True)
        if "optimiser" in trained:
            raise SystemExit(f"{stage.stem} is not finished: run the same command again")
        write_parts(trained, stage.stem, options.out)
    print("all stages are finished")


def unpacked(options: argparse.Namespace) -> tuple[list[Path], Path]:
    """Lay out what travelled as `train.py` takes it: files of rows, and a checkpoint."""
    files = []
    for packed in sorted(options.job.glob("*.npz.xz")):
        path = options.work / packed.name.removesuffix(".xz")
        if not path.exists():
            with lzma.open(packed) as stream, path.with_suffix(".tmp").open("wb") as out:
                shutil.copyfileobj(stream, out)
            path.with_suffix(".tmp").replace(path)
        files.append(path)
    start = options.work / "start.npz"
    files.remove(start)
    arrays = np.load(start)
    config = json.loads(str(arrays["config"]))
    state = embeddings(options.network)
    for name in CrossEncoder(config).state_dict():
        if name not in state:
            scale = arrays.get(f"{name} scale", 1.0)
            state[name] = torch.from_numpy((arrays[name] * scale).astype(np.float32))
    checkpoint = options.work / "start.pt"
    torch.save({"model": state, "config": config}, checkpoint)
    return files, checkpoint


def write_parts(trained: dict[str, Any], name: str, folder: Path) -> None:
    """Write trained weights with 16 bits in parts, and last what they must add up to."""
    half = {key: value.half() for key, value in trained["model"].items() if key not in FROZEN}
    buffer = io.BytesIO()
    torch.save({"model": half, "config": trained["config"]}, buffer)
    whole = buffer.getvalue()
    parts = []
    for at in range(0, len(whole), PART):
        parts.append(f"{name}.{len(parts) + 1}.part")
        (folder / parts[-1]).write_bytes(whole[at : at + PART])
    told = {
        "parts": parts, "sha256": hashlib.sha256(whole).hexdigest(), "seen": trained["seen"],
        "minutes": round(trained["spent"] / 60, 2), "about": trained["about"],
    }  # fmt: skip
    (folder / f"{name}.json").write_text(json.dumps(told, indent=1) + "\n", "utf-8")


# Here: join


def join(options: argparse.Namespace) -> None:
    """Write a checkpoint for every network whose parts are all there and as they were sent."""
    told = sorted(options.back.glob("*.json"))
    if not told:
        raise SystemExit(f"{options.back} holds no *.json that `run` wrote")
    frozen = embeddings(options.network)
    options.out.mkdir(parents=True, exist_ok=True)
    for path in told:
        it = json.loads(path.read_text("utf-8"))
        missing = [part for part in it["parts"] if not (options.back / part).exists()]
        if missing:
            raise SystemExit(f"{path.stem} lacks {', '.join(missing)}")
        whole = b"".join((options.back / part).read_bytes() for part in it["parts"])
        if hashlib.sha256(whole).hexdigest() != it["sha256"]:
            raise SystemExit(f"the parts of {path.stem} are not what was sent: their SHA-256 is another")
        back = torch.load(io.BytesIO(whole), weights_only=True)
        model: dict[str, Tensor] = {**frozen, **{name: value.float() for name, value in back["model"].items()}}
        torch.save({"model": model, "config": back["config"]}, options.out / f"{path.stem}.pt")
        print(f"{options.out / path.stem}.pt: {it['seen']} pairs in {it['minutes']} minutes")


def arguments(given: list[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    steps = parser.add_subparsers(required=True)
    one = steps.add_parser("pack", help="write what travels")
    one.add_argument("--files", type=Path, nargs="+", required=True, help="what prepare.py wrote")
    one.add_argument("--start", type=Path, nargs="+", required=True, help="as of train.py")
    one.add_argument("--stages", type=Path, nargs="+", default=sorted(HERE.glob("gpu_*.toml")))
    one.add_argument("--most", type=float, default=50.0, help="megabytes that may travel")
    one.add_argument("--out", type=Path, required=True)
    one.set_defaults(call=pack)
    two = steps.add_parser("run", help="train, on the machine with the GPU")
    two.add_argument("job", type=Path, help="what `pack` wrote")
    two.add_argument("--work", type=Path, required=True, help="folder for checkpoints")
    two.add_argument("--out", type=Path, required=True, help="folder for what comes back")
    two.add_argument("--seconds", type=float, default=570.0, help="of this sitting")
    two.add_argument("--device", choices=["cpu", "cuda"], default="cuda")
    two.add_argument("--threads", type=int, default=4)
    two.set_defaults(call=run)
    three = steps.add_parser("join", help="put what came back together")
    three.add_argument("back", type=Path)
    three.add_argument("--out", type=Path, required=True)
    three.set_defaults(call=join)
    for step in (two, three):
        step.add_argument("--network", type=Path, default=SHIPPED, help="the shipped network, for its embeddings")
    return parser.parse_args(given)


def main() -> None:
    """Do one step."""
    options = arguments()
    options.call(options)


if __name__ == "__main__":
    main()
