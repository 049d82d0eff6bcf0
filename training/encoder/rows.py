"""Prepared rows while training: how many of each data set take part, and in which batches.

A prepared file is written by `prepare.py` and holds flat arrays with offsets; nothing is tokenised here.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

POOL = 2048  # claims with their twins that are sorted by length at a time: tight batches, and still a mix
COMMON = 3000  # the tokenizer's vocabulary is in order of frequency: what stands before is never renamed
VOCABULARY = Path(__file__).parents[2] / "src/everyclaim/models/data/tokenizer.json"
LIGHTEST, HEAVIEST = 0.6, 1.6  # what a row may weigh so that both classes of its data set weigh the same


class Rows:
    """Prepared rows of several files, limited per data set. `rng` draws epochs; its state is all that changes."""

    def __init__(self, files: Sequence[Path], stage: dict[str, Any], seed: int) -> None:
        parts = [np.load(path) for path in files]
        self.ids = np.concatenate([part["ids"] for part in parts])
        self.targets = np.concatenate([part["targets"] for part in parts])
        self.sizes = np.concatenate([part["sizes"] for part in parts])
        self.claim = np.concatenate([part["claim"] for part in parts])
        self.label = np.concatenate([part["label"] for part in parts]).astype(np.int64)
        self.dataset = np.concatenate([part["dataset"] for part in parts])
        beside = np.concatenate([part["beside"] for part in parts])
        self.twins = np.unique(beside, return_inverse=True)[1]  # equal numbers: a claim and what was made from it
        self.starts = np.concatenate([[0], np.cumsum(self.sizes)])
        self.rng = np.random.default_rng(seed)
        self.rows = stage["rows"]
        self.rename, self.seed = stage.get("rename", 0.0), seed
        if self.rename:
            words = json.loads(VOCABULARY.read_text("utf-8"))["model"]["vocab"]
            self.inside = np.zeros(max(words.values()) + 1, bool)  # whether a token goes on a word
            self.inside[[number for word, number in words.items() if word.startswith("##")]] = True
            self.names = np.array([n for word, n in words.items() if n > COMMON and word.isalpha() and len(word) > 3])
        self.weight = np.ones(len(self.label), np.float32)
        for name in np.unique(self.dataset):
            here = self.dataset == name
            share = (self.label[here] == 0).mean()
            if 0 < share < 1:
                self.weight[here & (self.label == 0)] = np.clip(0.5 / share, LIGHTEST, HEAVIEST)
                self.weight[here & (self.label != 0)] = np.clip(0.5 / (1 - share), LIGHTEST, HEAVIEST)

    @staticmethod
    def asked(rows: dict[str, int], name: str) -> int:
        """Say how many rows of a data set an epoch takes; a name that ends in * speaks for all that begin so."""
        if name in rows:
            return int(rows[name])
        return next((int(n) for key, n in rows.items() if key.endswith("*") and name.startswith(key[:-1])), 0)

    def epoch(self) -> np.ndarray:
        """Draw the rows of one epoch; twins are drawn together."""
        drawn, place = [], self.rng.permutation(len(self.starts))
        for name in np.unique(self.dataset):
            here = np.flatnonzero(self.dataset == name)
            if (most := self.asked(self.rows, str(name))) > 0:
                drawn.append(here[np.argsort(place[self.twins[here]], kind="stable")][:most])
        if not drawn:
            raise SystemExit(f"the files hold no row of the data sets that the stage names: {', '.join(self.rows)}")
        return self.rng.permutation(np.concatenate(drawn))

    def together(self) -> list[np.ndarray]:
        """Draw an epoch and gather its twins: what differs between them is learned best from one batch."""
        order = self.epoch()
        _, first, member = np.unique(self.twins[order], return_index=True, return_inverse=True)
        order = order[np.argsort(first[member], kind="stable")]
        return np.split(order, np.flatnonzero(np.diff(self.twins[order])) + 1)

    def batches(self, tokens: int, rank: int, world: int) -> list[np.ndarray]:
        """Cut an epoch into batches of similar length and about `tokens` tokens; every process gets its share."""
        drawn = self.together()
        result = []
        for at in range(0, len(drawn), POOL):
            pool = sorted(drawn[at : at + POOL], key=lambda rows: int(self.sizes[rows].max()))
            batch: list[int] = []
            for rows in pool:
                if batch and (len(batch) + len(rows)) * self.sizes[rows].max() > tokens:
                    result.append(np.array(batch))
                    batch = []
                batch += rows.tolist()
            result.append(np.array(batch))
        if len(result) < world:
            raise SystemExit(f"an epoch has {len(result)} batches, too few for {world} processes; use fewer")
        result = [result[i] for i in self.rng.permutation(len(result))]
        return result[rank : len(result) - len(result) % world : world]

    def tensors(self, batch: np.ndarray) -> tuple[Tensor, ...]:
        """Lay a batch out: ids, types, mask, targets [B, T], label, weight and twins [B]."""
        length = int(self.sizes[batch].max())
        ids, targets = np.zeros((len(batch), length), np.int64), np.full((len(batch), length), -1, np.int64)
        types, mask = np.zeros_like(ids), np.zeros_like(ids)
        chance = np.random.default_rng([self.seed, *batch])  # the same where a run resumes
        for i, row in enumerate(batch):
            size, start = self.sizes[row], self.starts[row]
            ids[i, :size] = self.renamed(self.ids[start : start + size], self.claim[row], chance)
            targets[i, :size] = self.targets[start : start + size]
            types[i, self.claim[row] : size - 1] = 1
            mask[i, :size] = 1
        arrays = (ids, types, mask, targets, self.label[batch], self.weight[batch], self.twins[batch])
        return tuple(torch.from_numpy(array) for array in arrays)

    def renamed(self, ids: np.ndarray, claim: int, chance: np.random.Generator) -> np.ndarray:
        """Exchange some rare words that claim (from token `claim` on) and premise share, for others, in both alike.

        Whether a claim follows hardly ever depends on them, so that what is learned is to compare and not the facts.
        """
        if not self.rename:
            return ids
        whole = np.append(~self.inside[ids[1:]], True) & np.isin(ids, self.names)
        result = ids.copy()
        for word in np.intersect1d(ids[claim:][whole[claim:]], ids[:claim][whole[:claim]]):
            if chance.random() < self.rename and whole[ids == word].all():
                result[ids == word] = chance.choice(self.names)
        return result
