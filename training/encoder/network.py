"""The network: a six-layer BERT encoder over (premise, claim) with three heads, written out so that it exports plainly.

The parameter names of the encoder are those of the public checkpoint (all-MiniLM-L6-v2), so its weights load as they
are. Shapes: B pairs, T tokens.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file
from torch import Tensor, nn
from torch.nn import functional

MASKS = 1 << 23  # numbers that dropout's masks are cut from
SHARP = 4.0  # of the smooth maximum over the claim's tokens; 0 would be a mean, infinity a maximum


class Dropout(nn.Module):
    """Dropout by masks cut from numbers that are drawn once: drawing all anew took a seventh of training's time."""

    def __init__(self, share: float) -> None:
        super().__init__()
        self.share = share
        self.drawn: dict[tuple[int, torch.dtype], Tensor] = {}

    def forward(self, states: Tensor) -> Tensor:
        """Set a share of `states` to zero while training, and scale the others to keep their sum."""
        if not self.training or not self.share:
            return states
        device, kind, size = states.device, states.dtype, states.numel()
        many = max(MASKS, 1 << (2 * size).bit_length())
        if (many, kind) not in self.drawn:
            kept = torch.rand(many, device=device, generator=torch.Generator(device).manual_seed(many)) >= self.share
            self.drawn[many, kind] = kept.to(kind) / (1 - self.share)
        start = int(torch.randint(many - size, ()))
        return states * self.drawn[many, kind][start : start + size].view(states.shape)


class Layer(nn.Module):
    """One post-norm transformer layer."""

    def __init__(self, width: int, heads: int, inner: int, dropout: Dropout) -> None:
        super().__init__()
        self.heads, self.dropout = heads, dropout
        self.query, self.key, self.value = (nn.Linear(width, width) for _ in range(3))
        self.mixed = nn.Linear(width, width)
        self.mixed_norm = nn.LayerNorm(width, eps=1e-12)
        self.up, self.down = nn.Linear(width, inner), nn.Linear(inner, width)
        self.norm = nn.LayerNorm(width, eps=1e-12)

    def forward(self, states: Tensor, mask: Tensor | None) -> Tensor:
        """Transform states [B, T, width]; a `mask` [B, 1, 1, T] is added to the attention's scores."""
        batch, length, width = states.shape

        def split(values: Tensor) -> Tensor:
            return values.view(batch, length, self.heads, width // self.heads).transpose(1, 2)

        query, key, value = split(self.query(states)), split(self.key(states)), split(self.value(states))
        # Written out: the backward pass of torch's own attention takes a third of all time on processor cores.
        scores = torch.matmul(query * (width // self.heads) ** -0.5, key.transpose(-1, -2))
        if mask is not None:
            scores = scores + mask.to(scores.dtype)
        read = torch.matmul(torch.softmax(scores, dim=-1, dtype=scores.dtype), value)
        read = self.mixed(read.transpose(1, 2).reshape(batch, length, width))
        states = self.mixed_norm(states + self.dropout(read))
        inner = self.down(functional.gelu(self.up(states)))
        return self.norm(states + self.dropout(inner))


class CrossEncoder(nn.Module):
    """Read a premise and a claim: three logits for the claim, one per token for where it fails, one for evidence."""

    def __init__(self, config: dict[str, Any], dropout: float = 0.1) -> None:
        super().__init__()
        width = config["hidden_size"]
        self.dropout = Dropout(dropout)
        self.words = nn.Embedding(config["vocab_size"], width)
        self.positions = nn.Embedding(config["max_position_embeddings"], width)
        self.types = nn.Embedding(2, width)
        self.norm = nn.LayerNorm(width, eps=1e-12)
        self.layers = nn.ModuleList(
            Layer(width, config["num_attention_heads"], config["intermediate_size"], self.dropout)
            for _ in range(config["num_hidden_layers"])
        )
        self.pool = nn.Linear(width, width)
        self.label = nn.Linear(width, 3)
        self.error = nn.Linear(width, 1)
        self.evidence = nn.Linear(width, 1)
        self.weight = nn.Parameter(torch.tensor([-0.5, 0.25, 0.25]))

    def forward(self, ids: Tensor, types: Tensor, mask: Tensor | None) -> tuple[Tensor, Tensor]:
        """Return label logits [B, 3] (supported, unsupported, contradicted) and token logits [B, T].

        `ids`, `types` and `mask` are [B, T]: types are 1 for the claim's tokens, the mask is 0 for padding (None: there
        is no padding). Token logits say at the claim's tokens "this is not supported" and at the premise's "this is
        evidence".
        """
        position = torch.arange(ids.shape[1], device=ids.device)[None, :]
        states = self.norm(self.words(ids) + self.positions(position) + self.types(types))
        states = self.dropout(states)
        hidden = None if mask is None else ((1.0 - mask.to(states.dtype)) * -1e4)[:, None, None, :]
        for layer in self.layers:
            states = layer(states, hidden)
        error = self.error(states).squeeze(-1)
        evidence = self.evidence(states).squeeze(-1)
        ours = types.to(states.dtype)
        spread = torch.exp(SHARP * torch.clamp(error, -12.0, 12.0).float()) * ours
        worst = torch.log(spread.sum(1) / ours.sum(1).clamp(min=1.0) + 1e-9) / SHARP
        pooled = torch.tanh(self.pool(states[:, 0]))
        logits = self.label(self.dropout(pooled)) + worst[:, None] * self.weight
        return logits.float(), (error * ours + evidence * (1.0 - ours)).float()


def config_of(reader: CrossEncoder) -> dict[str, int]:
    """Describe a network so that `CrossEncoder` can build it again; the names are those of the public checkpoint."""
    words, layer = reader.words.weight, reader.layers[0]
    return {
        "hidden_size": words.shape[1], "vocab_size": words.shape[0],
        "max_position_embeddings": reader.positions.weight.shape[0], "num_attention_heads": layer.heads,
        "intermediate_size": layer.up.weight.shape[0], "num_hidden_layers": len(reader.layers),
    }  # fmt: skip


def from_checkpoint(folder: Path, dropout: float = 0.1) -> CrossEncoder:
    """Start from a folder that holds a public BERT checkpoint: `config.json` and `model.safetensors`."""
    reader = CrossEncoder(json.loads((folder / "config.json").read_text("utf-8")), dropout)
    names = {
        "embeddings.word_embeddings": "words", "embeddings.position_embeddings": "positions",
        "embeddings.token_type_embeddings": "types", "embeddings.LayerNorm": "norm",
    }  # fmt: skip
    inside = {
        "attention.self.query": "query", "attention.self.key": "key", "attention.self.value": "value",
        "attention.output.dense": "mixed", "attention.output.LayerNorm": "mixed_norm",
        "intermediate.dense": "up", "output.dense": "down", "output.LayerNorm": "norm",
    }  # fmt: skip
    state = {}
    for name, value in load_file(folder / "model.safetensors").items():
        stem, _, kind = name.rpartition(".")
        if stem in names:
            state[f"{names[stem]}.{kind}"] = value
        elif stem.startswith("encoder.layer."):
            number, _, rest = stem.removeprefix("encoder.layer.").partition(".")
            state[f"layers.{number}.{inside[rest]}.{kind}"] = value
    missing, unexpected = reader.load_state_dict(state, strict=False)
    fresh = {"pool", "label", "error", "evidence", "weight"}
    if unexpected or {name.partition(".")[0] for name in missing} - fresh:
        raise SystemExit(f"{folder} is not the expected encoder: missing {missing}, unexpected {unexpected}")
    return reader


def from_stages(paths: Sequence[Path], dropout: float = 0.0) -> CrossEncoder:
    """Load a checkpoint of ours, or the mean of several that share their beginning (model soup, arXiv 2203.05482)."""
    saved = [torch.load(path, map_location="cpu", weights_only=True) for path in paths]
    reader = CrossEncoder(saved[0]["config"], dropout)
    states = [one["model"] for one in saved]
    reader.load_state_dict({name: torch.stack([state[name] for state in states]).mean(0) for name in states[0]})
    return reader
