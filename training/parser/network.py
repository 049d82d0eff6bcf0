"""The parser's network: the first layers of a BERT encoder, a bilinear arc and label scorer, and two taggers.

Shapes: B sentences, T word pieces, N words. A word is the mean of its first and its last piece. The embeddings of
the pieces are given from outside: they are those of the judge's network, and stay as they are.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn import functional

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from encoder.network import Layer, from_checkpoint

LAYERS, ARCS, LABELS, SHAPES, POSITIONS = 4, 256, 96, 4, 512


class Parser(nn.Module):
    """Scores of every head, relation and part of speech for every word."""

    def __init__(self, labels: int, universal: int, penn: int, dropout: float = 0.2) -> None:
        super().__init__()
        width = 384
        self.dropout, self.labels = dropout, labels
        self.positions = nn.Embedding(POSITIONS, width)
        self.shapes = nn.Embedding(SHAPES, width)
        self.norm = nn.LayerNorm(width, eps=1e-12)
        self.layers = nn.ModuleList(Layer(width, 12, 4 * width, 0.1) for _ in range(LAYERS))
        self.start = nn.Parameter(torch.zeros(1, 1, width))  # the root, as a head
        self.arc_child, self.arc_head = nn.Linear(width, ARCS), nn.Linear(width, ARCS)
        self.label_child, self.label_head = nn.Linear(width, LABELS), nn.Linear(width, LABELS)
        self.arc = nn.Linear(ARCS + 1, ARCS, bias=False)
        self.label = nn.Linear(LABELS + 1, labels * (LABELS + 1), bias=False)
        self.universal, self.penn = nn.Linear(width, universal), nn.Linear(width, penn)

    def begin(self, folder: Path) -> None:
        """Take the encoder's weights from a public checkpoint."""
        public = from_checkpoint(folder)
        self.norm.load_state_dict(public.norm.state_dict())
        for mine, theirs in zip(self.layers, public.layers, strict=False):
            mine.load_state_dict(theirs.state_dict())
        with torch.no_grad():
            self.positions.weight.copy_(public.positions.weight[:POSITIONS] + public.types.weight[0])
            self.shapes.weight.zero_()
            nn.init.normal_(self.start, std=0.5)
            nn.init.zeros_(self.arc.weight)
            nn.init.normal_(self.label.weight, std=0.01)

    def forward(
        self, pieces: Tensor, shapes: Tensor, first: Tensor, last: Tensor, mask: Tensor | None
    ) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Return arcs [B, N, N + 1], relations [B, N, N + 1, L], universal and Penn tags [B, N, …].

        `pieces` are embeddings [B, T, width], `shapes` [B, T] tell how a word is capitalised, `first` and `last`
        [B, N] where its pieces stand, `mask` [B, T] is 0 for padding.
        """
        position = torch.arange(pieces.shape[1], device=pieces.device)[None, :]
        states = self.norm(pieces + self.positions(position) + self.shapes(shapes))
        states = functional.dropout(states, self.dropout / 2, self.training)
        hidden = None if mask is None else ((1.0 - mask.to(states.dtype)) * -1e4)[:, None, None, :]
        for layer in self.layers:
            states = layer(states, hidden)
        words = (_at(states, first) + _at(states, last)) / 2
        words = functional.dropout(words, self.dropout, self.training)
        heads = torch.cat([self.start.expand(words.shape[0], -1, -1), words], 1)
        arcs = torch.matmul(self.arc(_biased(self._grown(self.arc_child, words))),
                            self._grown(self.arc_head, heads).transpose(1, 2)) / ARCS**0.5  # fmt: skip
        child = self.label(_biased(self._grown(self.label_child, words)))
        child = child.view(words.shape[0], -1, LABELS + 1)
        head = _biased(self._grown(self.label_head, heads))
        relations = torch.matmul(child, head.transpose(1, 2))
        relations = relations.view(words.shape[0], words.shape[1], self.labels, heads.shape[1]).transpose(2, 3)
        return arcs, relations, self.universal(words), self.penn(words)

    def _grown(self, layer: nn.Linear, words: Tensor) -> Tensor:
        return functional.dropout(functional.gelu(layer(words)), self.dropout, self.training)


def _at(states: Tensor, places: Tensor) -> Tensor:
    return torch.gather(states, 1, places[:, :, None].expand(-1, -1, states.shape[2]))


def _biased(values: Tensor) -> Tensor:
    return torch.cat([values, torch.ones_like(values[:, :, :1])], 2)


def loaded(path: Path) -> tuple[Parser, dict[str, list[str]]]:
    """Load a checkpoint, and the names of what it tells apart."""
    saved = torch.load(path, map_location="cpu", weights_only=True)
    names = json.loads(saved["names"])
    network = Parser(len(names["relations"]), len(names["universal"]), len(names["penn"]))
    network.load_state_dict(saved["model"])
    return network, names
