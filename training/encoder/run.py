"""A training run: what it is made of and how far it is. `train.py` moves it on, `checkpoint.py` keeps it."""

from __future__ import annotations

import argparse
from dataclasses import dataclass, field
from typing import Any

import torch

from encoder.network import CrossEncoder
from encoder.rows import Rows


@dataclass
class Progress:
    """Where a run is."""

    seen: int = 0  # pairs, by all processes
    spent: float = 0.0  # seconds
    step: int = 0
    batch: int = 0  # steps of the present epoch
    drawn: dict[str, Any] = field(default_factory=dict)  # state of the rows' random numbers before the present epoch


@dataclass
class Run:
    """One process's part of a training run: what it learns from, what changes while it learns."""

    options: argparse.Namespace
    stage: dict[str, Any]
    rank: int
    world: int
    rows: Rows
    reader: CrossEncoder
    optimiser: torch.optim.Optimizer
    about: dict[str, Any]  # what the run is made of, recorded in the checkpoint
    at: Progress = field(default_factory=Progress)
    losses: list[float] = field(default_factory=list)  # of the last steps, for the eye

    @property
    def progress(self) -> float:
        """How far the stage is: 1 when its pairs are seen or its minutes are over."""
        if "minutes" in self.stage:
            return self.at.spent / 60 / self.stage["minutes"]
        return self.at.seen / self.stage["pairs"]

    @property
    def trained(self) -> list[torch.nn.Parameter]:
        """The parameters that learn."""
        return [p for p in self.reader.parameters() if p.requires_grad]
