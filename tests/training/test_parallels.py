"""Passages of parallel items: who has which value is known, so every label is right by construction."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections import Counter
from pathlib import Path

from training.parallels import FORMS, Group

ROOT = Path(__file__).parents[2]
ROOMS = {
    "name": "rooms",
    "column": "Room",
    "items": ["Room 12", "Room 14", "the studio", "the attic"],
    "attributes": [
        {"label": "Seats", "value": "int 8 990", "says": ["{item} seats {v}", "{v} people fit into {item}"]},
        {"label": "Colour", "value": "choice red|blue|green", "says": ["{item} is {v}", "the paint in {item} is {v}"]},
        {"label": "Piano", "value": "yesno", "says": ["{item} has a piano"], "denies": ["{item} has no piano"]},
    ],
}


def test_a_claim_says_of_an_item_what_its_label_says() -> None:
    labels, forms = Counter[str](), set[str]()
    for seed in range(300):
        group = Group(ROOMS, random.Random(seed))
        forms.add(group.form)
        told = {
            group.says(item, group.attributes[place], value).lower()
            for (item, place), value in group.facts.items()
            for _ in range(40)  # in all the words there are
        }
        for claim in group.claims():
            said = claim["text"].removesuffix(".").lower()
            assert (said in told) == (claim["label"] == "SUPPORTED"), (group.text, claim)
            assert bool(claim["evidence"]) == (claim["label"] != "UNSUPPORTED")
            labels[claim["label"]] += 1
    assert forms == set(FORMS)
    assert labels["SUPPORTED"] == labels["CONTRADICTED"] > labels["UNSUPPORTED"] > 0


def test_the_domains_that_are_kept_give_readable_groups(tmp_path: Path) -> None:
    out = tmp_path / "groups.jsonl"
    script = [sys.executable, "training/parallels.py", "training/data/parallels.toml", "--groups", "140"]
    subprocess.run([*script, "--out", str(out)], cwd=ROOT, check=True)
    groups = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    assert len({group["domain"] for group in groups}) == 70
    assert sum(group["group"].startswith("T-") for group in groups) == 28
    assert not any(sign in claim["text"] for group in groups for claim in group["claims"] for sign in "{}")
