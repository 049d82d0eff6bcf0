"""The minimal pairs are what they say: ten kinds, twins that differ in one thing, passages of readable length."""

from __future__ import annotations

from collections import Counter
from difflib import SequenceMatcher

import numpy as np
from labelled import KINDS, read_pairs
from minimal_pairs import members, rows

from everyclaim.text.windows import sentence_spans

PAIRS = read_pairs()


def changed(first: str, second: str) -> list[tuple[int, int]]:
    """Words taken out and put in, for each place where two texts differ."""
    one, two = first.split(), second.split()
    codes = SequenceMatcher(None, one, two, autojunk=False).get_opcodes()
    return [(b - a, d - c) for tag, a, b, c, d in codes if tag != "equal"]


def test_there_are_enough_of_every_kind() -> None:
    """At least 32 of each of the ten kinds, from at least eight domains each."""
    assert set(Counter(pair.kind for pair in PAIRS)) == set(KINDS)
    for kind in KINDS:
        of_kind = [pair for pair in PAIRS if pair.kind == kind]
        assert len(of_kind) >= 32, kind
        assert len({pair.domain for pair in of_kind}) >= 8, kind


def test_nothing_comes_twice() -> None:
    """Neither an id, nor a claim, nor a passage."""
    claims = [text for pair in PAIRS for text in (pair.supported, pair.not_supported)]
    passages = {pair.group: pair.contexts for pair in PAIRS}
    for what in ([pair.id for pair in PAIRS], claims, [text for texts in passages.values() for text in texts]):
        assert [text for text, times in Counter(what).items() if times > 1] == []


def test_twins_differ_in_one_thing() -> None:
    """One place of at most six words, or the two places of an exchange, at most four words each."""
    for pair in PAIRS:
        places = changed(pair.supported, pair.not_supported)
        assert 1 <= len(places) <= (4 if pair.kind == "role_swap" else 2), pair.id
        assert sum(max(out, into) for out, into in places) <= (8 if pair.kind == "role_swap" else 6), pair.id


def test_passages_and_claims_read_like_real_ones() -> None:
    """One to three passages of up to five sentences; claims are whole sentences, most of them not copied."""
    copied = 0
    for pair in PAIRS:
        assert 1 <= len(pair.contexts) <= 3, pair.id
        for text in pair.contexts:
            assert 2 <= len(sentence_spans(text)) <= 5, pair.group
        for text in (pair.supported, pair.not_supported):
            assert text[0].isupper() or text[0] in "€$", pair.id
            assert text.endswith("."), pair.id
            assert 4 <= len(text.split()) <= 32, pair.id
        copied += any(pair.supported.rstrip(".") in text for text in pair.contexts)
        assert not any(pair.not_supported.rstrip(".") in text for text in pair.contexts), pair.id
    assert copied <= len(PAIRS) / 4


def test_labels_fit_the_kinds() -> None:
    """A dropped hedge says more than the passage does, not the opposite; most other edits say the opposite."""
    assert {pair.label for pair in PAIRS} == {"CONTRADICTED", "UNSUPPORTED"}
    for pair in PAIRS:
        assert pair.kind != "hedge" or pair.label == "UNSUPPORTED", pair.id
    others = [pair.label for pair in PAIRS if pair.kind != "hedge"]
    assert others.count("CONTRADICTED") >= 0.8 * len(others)


def test_halves_keep_groups_together_and_are_alike_in_size() -> None:
    """Thresholds are chosen on one half and reported on the other."""
    halves: dict[str, set[str]] = {}
    for pair in PAIRS:
        halves.setdefault(pair.group, set()).add(pair.half)
    assert all(len(half) == 1 for half in halves.values())
    assert 0.4 <= sum(pair.half == "a" for pair in PAIRS) / len(PAIRS) <= 0.6


def test_a_pair_is_right_when_both_members_are() -> None:
    """Calling everything supported, or nothing, is never right; three-way asks for the label of the twin."""
    claims = members(PAIRS)
    truth = np.array([claim.label for claim in claims])
    assert [rows(PAIRS, truth)[-1][key] for key in ("both", "three_way", "low")] == [1.0, 1.0, 1.0]
    for label in ("SUPPORTED", "UNSUPPORTED"):
        assert rows(PAIRS, np.full(len(claims), label))[-1]["both"] == 0.0
    unsure = np.where(truth == "SUPPORTED", "SUPPORTED", "UNSUPPORTED")
    hedge = next(row for row in rows(PAIRS, unsure) if row["kind"] == "hedge")
    assert (rows(PAIRS, unsure)[-1]["both"], hedge["three_way"]) == (1.0, 1.0)
    assert rows(PAIRS, unsure)[-1]["three_way"] < 0.5
