"""The labelled claims, and which of them are held out. Nothing here copies data anywhere."""

from __future__ import annotations

import hashlib
import json
import lzma
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

FAMILIES = {
    "snli": "nli", "mnli_taxi": "nli", "conjnli": "nli",
    "fever_symmetric": "fever", "foolmetwice": "fever",
    "begin": "dialogue", "true_dialfact": "dialogue", "q2": "dialogue",
    "realsumm_scu": "realsumm", "realsumm_scu_ref": "realsumm",
    "defacto": "summaries", "bump": "summaries", "storysumm": "summaries",
    "wice_oracle": "wice", "wice_subclaim_tokens": "wice",
    "infotabs": "tables",
}  # fmt: skip
HELD_OUT = 0.3  # share of the groups of `written` that are never trained on
PROBED = 0.1  # share of the passage sets whose made claims no network is trained on


@dataclass(frozen=True, slots=True)
class Row:
    """One labelled claim. `label` is one of the three, or NOT_SUPPORTED where which of two is unknown."""

    id: str
    dataset: str
    unit: str
    question: str
    contexts: tuple[str, ...]
    text: str
    label: str
    group: str
    slice: str = ""

    @property
    def family(self) -> str:
        """Kind of data, the unit of leave-one-family-out."""
        return FAMILIES.get(self.dataset, self.dataset)


def share(text: str) -> float:
    """Place a text within [0, 1) by its hash: the same on every machine."""
    return int(hashlib.sha256(text.encode()).hexdigest()[:12], 16) / 16**12


def probed(group: str) -> bool:
    """Whether made claims about a passage set are kept from networks, to ask about."""
    return share("side " + group) < PROBED


def fitted_half(group: str) -> bool:
    """Whether a group of development claims takes part in the last fit; the other half is only tested on."""
    return share("half " + group) < 0.5


def read_rows(path: Path) -> Iterator[Row]:
    """Read a file of labelled claims."""
    with lzma.open(path, "rt", encoding="utf-8") if path.suffix == ".xz" else path.open(encoding="utf-8") as stream:
        for line in stream:
            row = json.loads(line)
            texts = tuple(text if isinstance(text, str) else text.get("text", "") for text in row["contexts"])
            yield Row(
                row["id"], row["dataset"], row["unit"], row.get("question") or "", texts, row["text"], row["label"],
                row["group"], str(row.get("slice") or ""),
            )  # fmt: skip


def split(data: Path) -> tuple[list[Row], list[Row]]:
    """Give the rows to fit on and the rows to test on: `dev`, and part of the groups of `written`."""
    fit = list(read_rows(data / "claims" / "train.jsonl.xz"))
    test = list(read_rows(data / "claims" / "dev.jsonl.xz"))
    for row in read_rows(data / "claims" / "written.jsonl.xz"):
        (test if share(row.group) < HELD_OUT else fit).append(row)
    return fit, test
