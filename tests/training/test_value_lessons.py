"""Values and statements in several wordings: a label is right by construction."""

from __future__ import annotations

import tomllib
from collections import Counter
from itertools import combinations
from pathlib import Path

from training.values import groups, words

DATA = Path(__file__).parents[2] / "training/data/values.toml"


def test_groups_have_pairs_of_a_right_and_a_wrong_claim_in_plain_words() -> None:
    data = tomllib.loads(DATA.read_text(encoding="utf-8"))
    labels, kinds = Counter[str](), set[str]()
    for group in groups(data, 800, seed=4):
        kinds.add(group["domain"])
        said = {claim["text"]: claim["label"] for claim in group["claims"]}
        for text, label in said.items():
            labels[label] += 1
            assert not set("{}_") & set(text + group["contexts"][0])
            assert not (label == "CONTRADICTED" and text in group["contexts"][0])
        assert all(said[claim["text"]] == claim["label"] for claim in group["claims"]), group
    assert kinds == {"frames", "either", "open", "sum", "compare"}
    assert labels["SUPPORTED"] > 0.3 * labels.total() < labels["CONTRADICTED"]


def test_forms_of_one_value_are_no_forms_of_another() -> None:
    equal = tomllib.loads(DATA.read_text(encoding="utf-8"))["equal"]
    for rows in equal.values():
        assert not any(set(one) & set(other) for one, other in combinations(rows, 2))


def test_numbers_are_written_in_words() -> None:
    written = {12: "twelve", 45: "forty-five", 200: "two hundred", 1500: "one thousand five hundred"}
    assert {number: words(number) for number in written} == written
    assert words(120) == "one hundred and twenty"
