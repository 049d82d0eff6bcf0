"""Train the parser that ships, on the UD English Web Treebank; resumes where it was stopped.

    python -m parser.train --treebank DIR --start MINILM --work DIR --out src/everyclaim/models/data/parser.onnx

(run in `training/`). DIR holds `en_ewt-{train,dev,test}.conllu.xz`; MINILM is a folder with all-MiniLM-L6-v2. Sentences
are read as raw text with the words of our own tokeniser. An epoch takes two minutes on one processor core that knows
bfloat16, five in float32; a checkpoint is kept after each in `--work`. The weights are averaged over the steps; the
last average is exported with 8-bit weights. Seeds are fixed.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from tokenizers import Tokenizer
from torch import Tensor
from torch.nn import functional

from everyclaim.models.local.cross_encoder import shipped_tokenizer
from everyclaim.models.local.parser import Pieces, embeddings_at, pieces
from parser.export import embeddings, export
from parser.network import Parser, loaded
from parser.treebank import Tree, retokenized, trees

EPOCHS, BUDGET, SEED = 10, 1600, 7  # BUDGET: word pieces of a batch, with padding
ENCODER_RATE, HEAD_RATE, WARM = 2e-4, 2e-3, 0.06
MEMORY = 0.995  # of the running average of the weights
NAMES = ("relations", "universal", "penn")


class Row:
    """A sentence as the network reads it, and what it should say."""

    def __init__(self, tree: Tree, read: Pieces, names: dict[str, list[str]]) -> None:
        self.read = read
        places = {kind: {name: i for i, name in enumerate(names[kind])} for kind in NAMES}
        self.heads = list(tree.heads)
        self.relations = [places["relations"].get(name, 0) for name in tree.relations]
        self.universal = [places["universal"].get(name, 0) for name in tree.universal]
        self.penn = [places["penn"].get(name, 0) for name in tree.penn]


def rows(path: Path, tokenizer: Tokenizer, names: dict[str, list[str]]) -> list[Row]:
    """Read the sentences of a part of the treebank."""
    found = []
    for tree in map(retokenized, trees(path)):
        read = pieces(tokenizer, [tree.text[start:end] for start, end in tree.spans])
        if len(read.first) == len(tree.spans):
            found.append(Row(tree, read, names))
    return found


def batches(data: Sequence[Row], order: random.Random) -> Iterator[list[Row]]:
    """Sentences of about one length together, the batches in random order."""
    ranked = sorted(data, key=lambda row: len(row.read.ids) + order.random() * 4)
    made, batch, longest = [], list[Row](), 0
    for row in ranked:
        longest = max(longest, len(row.read.ids))
        if batch and longest * (len(batch) + 1) > BUDGET:
            made.append(batch)
            batch, longest = [], len(row.read.ids)
        batch.append(row)
    made.append(batch)
    order.shuffle(made)
    yield from made


def padded(lists: Sequence[Sequence[int]], value: int) -> Tensor:
    """Lay lists of unequal length side by side."""
    longest = max(map(len, lists))
    return torch.tensor([[*row, *[value] * (longest - len(row))] for row in lists])


def loss_of(network: Parser, batch: Sequence[Row], words: Tensor) -> Tensor:
    """Sum the four losses of a batch."""
    ids = padded([row.read.ids for row in batch], -1)
    mask = (ids >= 0).float()
    first = padded([row.read.first for row in batch], 0)
    arcs, relations, universal, penn = network(
        words[ids.clamp(min=0)], padded([row.read.shapes for row in batch], 0), first,
        padded([row.read.last for row in batch], 0), mask,
    )  # fmt: skip
    heads = padded([row.heads for row in batch], -100)
    absent = torch.arange(arcs.shape[2])[None] > torch.tensor([len(row.heads) for row in batch])[:, None]
    arcs = arcs.masked_fill(absent[:, None, :], -1e4)
    chosen = torch.gather(
        relations, 2, heads.clamp(min=0)[:, :, None, None].expand(-1, -1, 1, relations.shape[3])
    ).squeeze(2)
    wanted = [(arcs, heads), *(
        (scores, padded([getattr(row, kind) for row in batch], -100))
        for scores, kind in zip((chosen, universal, penn), NAMES, strict=True)
    )]  # fmt: skip
    losses = [functional.cross_entropy(scores.flatten(0, 1).float(), gold.flatten()) for scores, gold in wanted]
    return losses[0] + losses[1] + 0.5 * losses[2] + 0.5 * losses[3]


def right(network: Parser, data: Sequence[Row], words: Tensor) -> tuple[float, float, float]:
    """Share of words with the right head, head and relation, and universal part of speech; no tree is searched."""
    network.eval()
    hits, total = np.zeros(3), 0
    with torch.inference_mode():
        for batch in batches(data, random.Random(0)):
            ids = padded([row.read.ids for row in batch], -1)
            read = (padded([getattr(row.read, name) for row in batch], 0) for name in ("shapes", "first", "last"))
            arcs, relations, universal, _ = network(words[ids.clamp(min=0)], *read, (ids >= 0).float())
            for i, row in enumerate(batch):
                count = len(row.heads)
                heads = arcs[i, :count, : count + 1].argmax(1)
                labels = relations[i, torch.arange(count), heads].argmax(1)
                same = heads == torch.tensor(row.heads)
                both = same & (labels == torch.tensor(row.relations))
                tagged = universal[i, :count].argmax(1) == torch.tensor(row.universal)
                hits += [same.sum().item(), both.sum().item(), tagged.sum().item()]
                total += count
    network.train()
    uas, las, pos = hits / total
    return uas, las, pos


@dataclass
class Course:
    """A training on its way: what it has learned and where it stands."""

    network: Parser
    names: dict[str, list[str]]
    words: Tensor
    each: int  # batches of an epoch
    epochs: int
    half: bool
    done: int = 0

    def __post_init__(self) -> None:
        encoder = [p for part in ("layers", "norm", "positions") for p in getattr(self.network, part).parameters()]
        known = {id(one) for one in encoder}
        heads = [one for one in self.network.parameters() if id(one) not in known]
        groups = [{"params": encoder, "lr": ENCODER_RATE}, {"params": heads, "lr": HEAD_RATE}]
        self.optimizer = torch.optim.AdamW(groups, betas=(0.9, 0.98), weight_decay=0.01)
        total = self.each * self.epochs
        self.schedule = torch.optim.lr_scheduler.LambdaLR(
            self.optimizer, lambda step: min((step + 1) / (WARM * total), (total - step) / ((1 - WARM) * total))
        )
        self.average = {name: value.detach().clone() for name, value in self.network.state_dict().items()}

    def epoch(self, data: Sequence[Row]) -> None:
        """Read everything once."""
        torch.manual_seed(SEED + self.done)
        self.network.train()
        shown = 0.0
        for step, batch in enumerate(batches(data, random.Random(SEED + self.done)), start=1):
            with torch.autocast("cpu", torch.bfloat16, enabled=self.half):
                loss = loss_of(self.network, batch, self.words)
            self.optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(self.network.parameters(), 5.0)
            self.optimizer.step()
            self.schedule.step()
            steps = step - 1 + self.done * self.each
            memory = min(MEMORY, (1 + steps) / (10 + steps))
            for name, value in self.network.state_dict().items():
                self.average[name].lerp_(value, 1 - memory)
            shown += loss.item()
            if step % 25 == 0:
                print(f"  {step}/{self.each} loss {shown / 25:.3f}", flush=True)
                shown = 0.0
        self.done += 1

    def keep(self, path: Path) -> None:
        """Write everything that is needed to go on."""
        saved = {
            "epoch": self.done, "latest": self.network.state_dict(), "model": self.average,
            "names": json.dumps(self.names), "optimizer": self.optimizer.state_dict(),
            "schedule": self.schedule.state_dict(),
        }  # fmt: skip
        torch.save(saved, path)

    def resume(self, path: Path) -> None:
        """Go on from what was kept."""
        saved = torch.load(path, weights_only=True)
        self.done, self.average = saved["epoch"], saved["model"]
        self.network.load_state_dict(saved["latest"])
        self.optimizer.load_state_dict(saved["optimizer"])
        self.schedule.load_state_dict(saved["schedule"])


def train(options: argparse.Namespace) -> None:
    """Train, resuming after the last epoch that was kept."""
    torch.manual_seed(SEED)
    torch.set_num_threads(options.threads)
    parts = {part: options.treebank / f"en_ewt-{part}.conllu.xz" for part in ("train", "dev")}
    seen = [retokenized(tree) for tree in trees(parts["train"])]
    names = {kind: sorted({name for tree in seen for name in getattr(tree, kind)}) for kind in NAMES}
    data, held_out = (rows(parts[part], shipped_tokenizer(), names) for part in ("train", "dev"))
    place = embeddings()
    words = (torch.from_numpy(embeddings_at(place).astype(np.float32)) - place["zero"]) * place["scale"]
    network = Parser(*(len(names[kind]) for kind in NAMES))
    network.begin(options.start)
    each = sum(1 for _ in batches(data, random.Random(0)))
    course = Course(network, names, words, each, options.epochs, not options.full)
    kept = options.work / "parser.pt"
    if kept.exists():
        course.resume(kept)
    while course.done < options.epochs:
        begun = time.monotonic()
        course.epoch(data)
        course.keep(kept)
        uas, las, pos = right(loaded(kept)[0], held_out, words)
        took = time.monotonic() - begun
        print(f"epoch {course.done}: {took:.0f} s, dev UAS {uas:.4f} LAS {las:.4f} UPOS {pos:.4f}", flush=True)
    export(kept, options.out)


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("treebank", "start", "work", "out"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    parser.add_argument("--epochs", type=int, default=EPOCHS)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--full", action="store_true", help="float32 throughout, not bfloat16 where it will do")
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    train(options)


if __name__ == "__main__":
    main()
