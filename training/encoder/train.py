"""Train the reader on prepared rows, on processor cores or on a GPU, in stages that resume.

    python training/encoder/train.py STAGE.toml --files A.npz B.npz --start FOLDER_OR_CHECKPOINT --out CHECKPOINT.pt

A stage file says which data sets take part and how many rows of each, the learning rate, and how long to train:
`pairs`, or `minutes` of wall clock where the machine's speed is unknown (the checkpoint records the pairs seen).
The checkpoint is written every few minutes; the same command with `--resume` goes on from there.
"""

from __future__ import annotations

import argparse
import math
import os
import time
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import Tensor
from torch.nn import functional

if __package__ in (None, ""):
    import sys

    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from encoder.checkpoint import describe, resume, save
from encoder.network import CrossEncoder, from_checkpoint, from_stages
from encoder.rows import Rows
from encoder.run import Run

NOT_SUPPORTED = 3  # the label of rows where unsupported and contradicted are not told apart
FRESH = ("pool", "label", "error", "evidence")  # parts that the public checkpoint lacks; they learn faster
WATCHED = 200  # steps whose loss the closing line gives


def loss_of(reader: CrossEncoder, batch: tuple[Tensor, ...], stage: dict[str, Any]) -> tuple[Tensor, Tensor]:
    """Return the loss of a batch and, for watching, its part from the labels."""
    ids, types, mask, targets, label, weight, twins = batch
    half = ids.device.type == "cuda" or torch.ops.mkldnn._is_mkldnn_bf16_supported()  # noqa: SLF001 - else ten times slower
    with torch.autocast(ids.device.type, dtype=torch.bfloat16, enabled=half):
        logits, tokens = reader(ids, types, mask)
    smooth = stage.get("smooth", 0.05)
    odds = functional.log_softmax(logits, dim=1)
    other = torch.logsumexp(odds[:, 1:], dim=1)  # not supported, whichever of the two
    unknown = label == NOT_SUPPORTED
    exact = functional.nll_loss(odds, label.clamp(max=2), reduction="none")
    labels = torch.where(unknown, -other, exact) * (1 - smooth) - smooth * 0.5 * (odds[:, 0] + other)
    labels = (labels * weight).mean()
    total = labels + stage.get("twin_loss", 0.5) * between_twins(odds[:, 0] - other, label, twins)
    known = targets >= 0
    value = functional.binary_cross_entropy_with_logits(tokens, targets.clamp(min=0).float(), reduction="none")
    ours = known & (types == 1)
    theirs = known & (types == 0) & (mask == 1)
    value = value * torch.where((targets == 1) & (types == 1), 3.0, 1.0)
    if ours.any():
        total = total + stage.get("error_loss", 0.5) * (value * ours).sum() / ours.sum()
    if theirs.any():
        total = total + stage.get("evidence_loss", 0.2) * (value * theirs).sum() / theirs.sum()
    return total, labels.detach()


def between_twins(support: Tensor, label: Tensor, twins: Tensor) -> Tensor:
    """Ask that of a supported claim and a twin that is not, the supported one has the higher log-odds."""
    pairs = (twins[:, None] == twins[None, :]) & (label == 0)[:, None] & (label != 0)[None, :]
    ahead = support[:, None] - support[None, :]
    return (functional.softplus(-ahead) * pairs).sum() / pairs.sum().clamp(min=1)


def begin(rank: int, world: int, options: argparse.Namespace) -> Run:
    """Set a run up at its beginning, or where its checkpoint left it."""
    stage = stage_of(options.stage)
    if options.tokens is not None:
        stage["tokens"] = options.tokens
    seed = stage.setdefault("seed", 0)
    torch.manual_seed(seed * 1000)  # the fresh parts start alike in all processes
    rows = Rows(options.files, stage, seed)
    reader = started(options.start, stage.get("dropout", 0.1)).to(options.device).train()
    if rank:
        torch.manual_seed(seed * 1000 + rank)  # but drop out differently
    for frozen in (reader.words, reader.positions):
        frozen.weight.requires_grad_(requires_grad=False)
    about = describe(stage, options, rows)
    run = Run(options, stage, rank, world, rows, reader, optimiser_of(reader, stage), about)
    if options.resume and options.out.exists():
        resume(run, options.out)
    return run


def stage_of(path: Path) -> dict[str, Any]:
    """Read a stage file."""
    return tomllib.loads(path.read_text("utf-8"))


def started(start: Sequence[Path], dropout: float) -> CrossEncoder:
    """Load what a stage starts from: the folder of the public checkpoint, or the mean of other stages' checkpoints."""
    if start[0].is_dir():
        return from_checkpoint(start[0], dropout)
    return from_stages(start, dropout)


def optimiser_of(reader: CrossEncoder, stage: dict[str, Any]) -> torch.optim.Optimizer:
    """Make the optimiser; `scale` of a group multiplies the stage's learning rate."""
    fresh = {id(p) for name in FRESH for p in getattr(reader, name).parameters()}
    trained = [p for p in reader.parameters() if p.requires_grad]
    groups = [
        {"params": [p for p in trained if id(p) not in fresh], "scale": 1.0},
        {"params": [p for p in trained if id(p) in fresh], "scale": stage.get("fresh", 3.0)},
    ]
    return torch.optim.AdamW(groups, lr=stage["rate"], weight_decay=0.01, betas=(0.9, 0.98), fused=True)


def loop(run: Run) -> None:
    """Go through epochs until the stage or this sitting is over, saving now and then."""
    begun = time.monotonic() - run.at.spent
    kept = run.at.spent
    until = kept + run.options.stop_after
    while run.progress < 1.0:
        run.at.drawn = run.rows.rng.bit_generator.state
        batches = run.rows.batches(run.stage.get("tokens", 4096), run.rank, run.world)
        for batch in batches[run.at.batch :]:
            count(run, len(batch), time.monotonic() - begun)
            if run.progress >= 1.0:
                return
            step(run, run.rows.tensors(batch))
            if run.rank == 0 and run.at.step % 50 == 0:
                report(run)
            over = run.at.spent >= until  # the same in all processes
            if over or run.at.spent - kept >= run.options.save_every:
                kept = run.at.spent
                save(run, run.options.out)
            if over:
                return
        run.at.batch = 0


def count(run: Run, pairs: int, seconds: float) -> None:
    """Add a batch to the pairs seen and the time spent, over all processes: they must stop at the same step."""
    state = torch.tensor([float(pairs), seconds], dtype=torch.float64)
    if run.world > 1:
        dist.all_reduce(state)
    run.at.seen += int(state[0])
    run.at.spent = float(state[1]) / run.world


def step(run: Run, batch: tuple[Tensor, ...]) -> None:
    """Learn from one batch."""
    height = height_of(run.progress, run.stage.get("warm", 0.05), run.stage.get("last", 0.01))
    for group in run.optimiser.param_groups:
        group["lr"] = run.stage["rate"] * group["scale"] * height
    total, labels = loss_of(run.reader, tuple(part.to(run.options.device) for part in batch), run.stage)
    total.backward()
    if run.world > 1:
        average_gradients(run.trained, run.world)
    torch.nn.utils.clip_grad_norm_(run.trained, 1.0)
    run.optimiser.step()
    run.optimiser.zero_grad()
    run.at.step += 1
    run.at.batch += 1
    run.losses = [*run.losses[1 - WATCHED :], float(labels)]


def height_of(progress: float, warm: float, last: float) -> float:
    """Give the share of the learning rate: up in a line until `warm`, down in a line to `last` at the end."""
    if progress < warm:
        return max(progress / warm, 0.01)
    return last + (1 - last) * (1 - progress) / (1 - warm)


def average_gradients(trained: list[torch.nn.Parameter], world: int) -> None:
    """Give every process the mean of all gradients."""
    flat = torch.cat([p.grad.flatten() for p in trained])
    dist.all_reduce(flat)
    flat /= world
    for p, part in zip(trained, flat.split([p.numel() for p in trained]), strict=True):
        p.grad.copy_(part.view_as(p))


def report(run: Run) -> None:
    """Say how far training is."""
    speed = run.at.seen / max(run.at.spent, 1)
    loss = np.mean(run.losses[-50:])
    print(f"step {run.at.step}, {run.progress:.1%}: {run.at.seen} pairs, {speed:.1f}/s, loss {loss:.4f}", flush=True)


def work(rank: int, world: int, options: argparse.Namespace) -> None:
    """Train in one of several processes; all keep the same weights by averaging gradients."""
    torch.set_num_threads(options.threads)
    if world > 1:
        os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(options.port)}
        dist.init_process_group("gloo", rank=rank, world_size=world)
    run = begin(rank, world, options)
    if run.progress < 1.0:
        loop(run)
        save(run, options.out, finished=True)
    if rank == 0:
        loss = f", loss {np.mean(run.losses):.4f}" if run.losses else ""
        print(f"done: {run.at.seen} pairs in {run.at.spent / 60:.1f} minutes{loss}")
    if world > 1:
        dist.destroy_process_group()


def arguments(given: list[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("stage", type=Path)
    parser.add_argument("--files", nargs="+", type=Path, required=True, help="what prepare.py wrote")
    parser.add_argument(
        "--start",
        type=Path,
        nargs="+",
        required=True,
        help="folder of the public checkpoint, or checkpoints of stages, which are averaged",
    )
    parser.add_argument("--out", type=Path, required=True, help="checkpoint to write")
    parser.add_argument("--processes", type=int, default=1, help="processor cores that share the batches")
    parser.add_argument("--threads", type=int, default=1, help="of each process")
    parser.add_argument("--port", type=int, default=29511, help="for the processes to meet at")
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    parser.add_argument("--tokens", type=int, help="of a batch, instead of what the stage says; a GPU wants more")
    parser.add_argument("--save-every", type=float, default=180.0, help="seconds between checkpoints")
    parser.add_argument(
        "--stop-after", type=float, default=math.inf, help="seconds of this sitting; then save and leave"
    )
    parser.add_argument("--resume", action="store_true", help="go on from --out, when it is there")
    options = parser.parse_args(given)
    if options.device == "cuda" and options.processes > 1:
        parser.error("a GPU is used from one process; leave --processes out")
    if options.device == "cuda" and not torch.cuda.is_available():
        parser.error("torch sees no GPU here; leave --device out")
    return options


def main() -> None:
    """Start the processes."""
    options = arguments()
    if options.processes == 1:
        work(0, 1, options)
    else:
        mp.spawn(work, args=(options.processes, options), nprocs=options.processes)


if __name__ == "__main__":
    main()
