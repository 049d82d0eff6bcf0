"""Reading the labelled failing claims: `texts/*.txt`, whose format `README.md` describes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from everyclaim.core.types import FailureMode, Label

TEXTS = Path(__file__).with_name("texts")
MODES = {
    "num": FailureMode.NUMERIC_MISMATCH, "who": FailureMode.WRONG_ATTRIBUTION, "hedge": FailureMode.HEDGE_MISMATCH,
    "known": FailureMode.IMPLICIT_KNOWLEDGE, "name": FailureMode.ENTITY_SWAP, "neg": FailureMode.NEGATION,
    "time": FailureMode.TEMPORAL, "role": FailureMode.RELATION, "new": FailureMode.INVENTION,
    "other": FailureMode.OTHER,
}  # fmt: skip
_LABELS = {"!": Label.CONTRADICTED, "?": Label.UNSUPPORTED}
_PASSAGE = re.compile(r"P +(?P<text>\S.*)")
_CLAIM = re.compile(r"(?P<mode>[a-z]+) (?P<label>[!?]) (?P<text>.*?)(?: @(?P<passage>\d) (?P<quote>.+))?")


@dataclass(frozen=True, slots=True)
class Failing:
    """A claim that fails, with why and where: ``claim[slice(*at)]`` stands against `quote` of a passage, by number.

    Without a quote the passages say nothing in its place.
    """

    claim: str
    label: Label
    mode: FailureMode
    at: tuple[int, int]
    passage: int | None
    quote: str
    question: str
    passages: tuple[str, ...]
    group: str
    domain: str


def failing(part: str, folder: Path = TEXTS) -> Iterator[Failing]:
    """Read one part, `dev` or `heldout`, in the order of the files. Raises `ValueError` for a line in another form."""
    for path in sorted(folder.glob(f"{part}-*.txt")):
        blocks = re.split(r"\n\s*\n", path.read_text(encoding="utf-8").strip())
        for number, block in enumerate(blocks, 1):
            yield from _set(f"{path.stem}-{number}", block.splitlines())


def _set(name: str, lines: list[str]) -> Iterator[Failing]:
    domain, question = lines[0].removeprefix("# ").partition(":")[0], ""
    passages: list[str] = []
    for line in lines[1:]:
        if found := _PASSAGE.fullmatch(line):
            passages.append(found["text"])
        elif line.startswith("Q "):
            question = line[2:]
        else:
            yield _claim(name, line, passages, question, domain)


def _claim(name: str, line: str, passages: list[str], question: str, domain: str) -> Failing:
    found = _CLAIM.fullmatch(line)
    if found is None or found["mode"] not in MODES or found["text"].count("«") != 1 or found["text"].count("»") != 1:
        raise ValueError(f"{name}: cannot read {line!r}")
    before, _, rest = found["text"].partition("«")
    marked, _, after = rest.partition("»")
    passage = int(found["passage"]) - 1 if found["passage"] else None
    if passage is not None and found["quote"] not in passages[passage]:
        raise ValueError(f"{name}: passage {passage + 1} does not hold {found['quote']!r}")
    return Failing(
        before + marked + after, _LABELS[found["label"]], MODES[found["mode"]],
        (len(before), len(before) + len(marked)), passage, found["quote"] or "", question, tuple(passages), name,
        domain,
    )  # fmt: skip
