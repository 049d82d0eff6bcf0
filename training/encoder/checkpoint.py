"""The checkpoint of a training run: the weights, and while it is not finished all that is needed to go on.

Keys: `model` and `config` (what `export.py` reads), `stage` (the stage file as it was used, seed included), `about`
(what else the run is made of), `seen`, `spent`, `step`; until the stage is finished also `optimiser`, `batch`, `drawn`
and `random`, so that a resumed run draws the same batches and drops out the same units as one that never stopped.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor

from encoder.network import config_of
from encoder.rows import Rows
from encoder.run import Progress, Run


def describe(stage: dict[str, Any], options: argparse.Namespace, rows: Rows) -> dict[str, Any]:
    """Say what a run is made of, beside its stage: names of files without their folders, no path of the machine."""
    return {
        "seed": stage["seed"],
        "start": " ".join(path.name for path in options.start),
        "files": [path.name for path in options.files],
        "rows": len(rows.label),
        "processes": options.processes,
        "device": options.device,
        "torch": torch.__version__.partition("+")[0],
    }


def save(run: Run, path: Path, *, finished: bool = False) -> None:
    """Write the checkpoint of a run, all of it or nothing; every process must call."""
    random = [] if finished else random_states(run)
    if run.rank:
        return
    at = run.at
    state = {
        "model": {name: value.cpu() for name, value in run.reader.state_dict().items()},
        "config": config_of(run.reader), "stage": run.stage, "about": run.about,
        "seen": at.seen, "spent": at.spent, "step": at.step,
    }  # fmt: skip
    if not finished:
        state |= {"optimiser": run.optimiser.state_dict(), "batch": at.batch, "drawn": at.drawn, "random": random}
    torch.save(state, path.with_suffix(".tmp"))
    path.with_suffix(".tmp").replace(path)


def resume(run: Run, path: Path) -> None:
    """Put a run where its checkpoint left it: weights, optimiser, progress and random state."""
    saved = torch.load(path, map_location="cpu", weights_only=True)
    if saved["stage"] != run.stage:
        raise SystemExit(f"{path} was trained with another stage: {changes(saved['stage'], run.stage)}")
    run.at = Progress(saved["seen"], saved["spent"], saved["step"])
    run.reader.load_state_dict(saved["model"])
    if run.progress >= 1.0:
        return
    if "random" not in saved:
        raise SystemExit(f"{path} does not say where its run was; train again without --resume")
    for name in ("files", "rows", "processes", "device"):
        if saved["about"][name] != run.about[name]:
            raise SystemExit(f"{path} was trained with {name} {saved['about'][name]}, not {run.about[name]}")
    run.optimiser.load_state_dict(saved["optimiser"])
    run.at.batch, run.at.drawn = saved["batch"], saved["drawn"]
    run.rows.rng.bit_generator.state = run.at.drawn
    own = saved["random"][run.rank]
    torch.set_rng_state(own["cpu"])
    if "cuda" in own:
        torch.cuda.set_rng_state(own["cuda"])


def random_states(run: Run) -> list[dict[str, Tensor]]:
    """Gather the states of torch's random numbers: those of a process, or of all at the first."""
    own = torch.get_rng_state()
    if run.world > 1:
        states = [torch.empty_like(own) for _ in range(run.world)]
        dist.all_gather(states, own)
        return [{"cpu": state} for state in states]
    if run.options.device == "cuda":
        return [{"cpu": own, "cuda": torch.cuda.get_rng_state()}]
    return [{"cpu": own}]


def changes(before: dict[str, Any], now: dict[str, Any]) -> str:
    """Name the settings that differ between two stages."""
    names = sorted(name for name in before.keys() | now.keys() if before.get(name) != now.get(name))
    return ", ".join(f"{name} was {before.get(name)}, is {now.get(name)}" for name in names)
