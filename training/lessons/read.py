"""Reading the lessons: `texts/*.txt`, whose format `README.md` describes."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from training.lexical_data import share

TEXTS = Path(__file__).with_name("texts")
CONTRADICTED, UNSUPPORTED = "nudergaqcsw", "hxkty"  # what each letter says unless "?" or "!" stands behind it
LINE = re.compile(rf"^(?:(?P<mark>[#PQ=])|(?P<kind>[{CONTRADICTED}{UNSUPPORTED}])(?P<turned>[?!]?)) +(?P<text>\S.*)$")
NEEDED = re.compile(r" @([0-9, ]+)$")
TESTED = 0.06  # share of the lessons that no network is trained on
WORDS = re.compile(r"\w+|[^\w\s]")


@dataclass(frozen=True, slots=True)
class Taught:
    """A claim. `kind` is "=" or the letter of what is wrong, `twin` the right claim it was made from ("" for "=").

    `needs` are the passages, by number, without which nobody can judge it; empty where the author did not say.
    """

    text: str
    kind: str
    label: str
    twin: str = ""
    needs: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Lesson:
    """Passages and what is claimed about them."""

    id: str
    passages: tuple[str, ...]
    question: str
    claims: tuple[Taught, ...]

    @property
    def marked(self) -> bool:
        """Whether the author marked which passages a claim needs."""
        return any(it.needs for it in self.claims)

    @property
    def tested(self) -> bool:
        """Whether the lesson is kept for tests."""
        return share(f"lesson {self.id}") < TESTED


def lessons(folder: Path = TEXTS) -> Iterator[Lesson]:
    """Read all lessons, in the order of the files."""
    for path in sorted(folder.glob("*.txt")):
        blocks = re.split(r"\n\s*\n", path.read_text(encoding="utf-8").strip())
        for number, block in enumerate(blocks, 1):
            yield _lesson(f"{path.stem}-{number}", block)


def _lesson(name: str, block: str) -> Lesson:
    marked: dict[str, list[str]] = {"#": [], "P": [], "Q": []}
    claims: list[Taught] = []
    right = ""
    needed: tuple[int, ...] = ()
    for line in block.splitlines():
        it = LINE.match(line.rstrip())
        if it is None or (it["kind"] and not right):
            raise ValueError(f"lesson {name}: cannot read {line!r}")
        text, needs = _needed(it["text"]) if it["mark"] in ("=", None) else (it["text"], ())
        if it["mark"] == "=":
            right, needed = text, needs
            claims.append(Taught(text, "=", "SUPPORTED", needs=needs))
        elif it["mark"]:
            marked[it["mark"]].append(text)
        else:
            against = (it["kind"] in CONTRADICTED and it["turned"] != "?") or it["turned"] == "!"
            label = "CONTRADICTED" if against else "UNSUPPORTED"
            claims.append(Taught(text, it["kind"], label, right, needs or needed))
    if not marked["P"] or not claims:
        raise ValueError(f"lesson {name} has no passage or no claim")
    if any(number >= len(marked["P"]) for claim in claims for number in claim.needs):
        raise ValueError(f"lesson {name} marks a passage that it does not have")
    return Lesson(name, tuple(marked["P"]), " ".join(marked["Q"]), tuple(claims))


def _needed(text: str) -> tuple[str, tuple[int, ...]]:
    """Take the mark at the end of a claim off: "… @1,3" needs the first and the third passage."""
    mark = NEEDED.search(text)
    if mark is None:
        return text, ()
    return text[: mark.start()].rstrip(), tuple(int(number) - 1 for number in mark[1].split(","))


def errors(claim: Taught) -> list[tuple[int, int]]:
    """Find what a wrong claim says otherwise than its twin; where words are missing, their neighbours are marked."""
    if not claim.twin:
        return []
    here, there = list(WORDS.finditer(claim.text)), [word[0].casefold() for word in WORDS.finditer(claim.twin)]
    said = [word[0].casefold() for word in here]
    runs = _departures(said, there)
    if len(said) == len(there):  # of words that changed places both are marked
        swapped = [(i, i + 1) for i, (one, other) in enumerate(zip(said, there, strict=True)) if one != other]
        if len(swapped) <= sum(high - low for low, high in runs):
            runs = swapped
    return [(here[low].start(), here[high - 1].end()) for low, high in runs]


def _departures(said: list[str], there: list[str]) -> list[tuple[int, int]]:
    """Give the runs of words that are not there, and the neighbours of words that are not said."""
    runs = []
    for tag, low, high, _, _ in difflib.SequenceMatcher(None, said, there, autojunk=False).get_opcodes():
        if tag != "equal":
            runs.append((low, high) if high > low else (max(low - 1, 0), min(low + 1, len(said))))
    return runs
