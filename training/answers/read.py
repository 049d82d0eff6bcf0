"""Reading labelled answers: `texts/*.txt`, whose format `README.md` describes, and JSON lines of the same content."""

from __future__ import annotations

import json
import lzma
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from lexical_data import share

TEXTS = Path(__file__).with_name("texts")
KINDS = {
    "add": "plausible addition",
    "gen": "over-general or strengthened",
    "mix": "wrong combination of true parts",
    "read": "misread number, date, unit, name or field",
    "rel": "wrong relation, direction, order or cause",
    "out": "true in the world, not in the passages",
    "adv": "advice, evaluation or conclusion that is not there",
}
READ = tuple(f"answers-{number}-" for number in (*range(19, 62), *range(65, 70)))  # that networks read, all of them
UNREAD = tuple(f"answers-{number}-" for number in range(62, 65))  # that judges are fitted to, not networks
TESTED = 0.2  # share of the documents of `texts` that nothing is fitted on
_FAULT = re.compile(r"⟦([^⟦⟧]+)⟧")
_SAID = re.compile(r"! (\w+) ([uc]) (\S.*)")
_LABELS = {"u": "UNSUPPORTED", "c": "CONTRADICTED"}


@dataclass(frozen=True, slots=True)
class Fault:
    """A stretch of a response that its passages do not support, `UNSUPPORTED` or `CONTRADICTED`."""

    start: int
    end: int
    label: str
    kind: str = ""
    why: str = ""


@dataclass(frozen=True, slots=True)
class MarkedAnswer:
    """A response to a question over passages, and its faults. Answers of one `group` share their document."""

    id: str
    dataset: str
    task: str
    group: str
    question: str
    contexts: tuple[str, ...]
    response: str
    faults: tuple[Fault, ...]

    @property
    def tested(self) -> bool:
        """Whether the document is kept for tests."""
        return not self.id.startswith(READ) and share(f"answers {self.group}") < TESTED


def from_json_lines(path: Path) -> Iterator[MarkedAnswer]:
    """Read JSON lines, plain or .xz: `response`, `contexts`, `question`, `spans` with `start`, `end`, `label_type`."""
    with lzma.open(path, "rt", encoding="utf-8") if path.suffix == ".xz" else path.open(encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            faults = tuple(
                Fault(
                    span["start"], span["end"], _label(span["label_type"]), span.get("kind") or "",
                    span.get("meta") or "",
                )
                for span in row["spans"]
            )  # fmt: skip
            yield MarkedAnswer(
                row["id"], row["dataset"], row["task"], row["group"], row["question"] or "",
                tuple(row["contexts"]), row["response"], faults,
            )  # fmt: skip


def _label(kind: str) -> str:
    return "CONTRADICTED" if kind == "CONTRADICTED" or kind.endswith("Conflict") else "UNSUPPORTED"


def from_texts(passages: Mapping[str, tuple[str, ...]], folder: Path = TEXTS) -> Iterator[MarkedAnswer]:
    """Read the answers of this folder; `passages` holds public passages by id, see `public_passages`.

    Answers to public passages that are not among `passages` are left out. Raises `ValueError` for a line that cannot
    be read.
    """
    for path in sorted(folder.glob("*.txt")):
        blocks = re.split(r"\n\s*\n", path.read_text(encoding="utf-8").strip())
        for number, block in enumerate(blocks, 1):
            yield from _answers(f"{path.stem}-{number}", block, passages)


def public_passages(data: Path) -> dict[str, tuple[str, ...]]:
    """Read the passages of `DATA/passages/*.jsonl.xz` by id."""
    found = {}
    for path in sorted((data / "passages").glob("*.jsonl.xz")):
        with lzma.open(path, "rt", encoding="utf-8") as lines:
            for line in lines:
                row = json.loads(line)
                found[row["id"]] = tuple(
                    f"{one['title']}: {one['text']}" if one.get("title") else one["text"] for one in row["contexts"]
                )
    return found


def _answers(name: str, block: str, passages: Mapping[str, tuple[str, ...]]) -> Iterator[MarkedAnswer]:
    lines = [(line[:1], line[2:].replace("\\n", "\n").strip()) for line in block.splitlines()]
    if not re.fullmatch(r"#(S+|@)Q(A!*)+", "".join(mark for mark, _ in lines)):
        raise ValueError(f"item {name}: lines must be #, S or @, Q, then A with its ! lines")
    told = {mark: [text for other, text in lines if other == mark] for mark in "S@Q"}
    public = told["@"][0] if told["@"] else ""
    contexts = passages.get(public, ()) if public else tuple(told["S"])
    group = public or name
    count = 0
    for place, (mark, text) in enumerate(lines):
        if mark != "A" or not contexts:
            continue
        count += 1
        said = [line for line in _following(lines, place) if line]
        response, faults = _marked(f"{name}-{count}", text, said)
        task = public.split("-", 1)[0] if public else "own"
        dataset = "unread" if name.startswith(UNREAD) else "composed"
        yield MarkedAnswer(f"{name}-{count}", dataset, task, group, told["Q"][0], contexts, response, faults)


def _following(lines: list[tuple[str, str]], place: int) -> Iterator[str]:
    for mark, text in lines[place + 1 :]:
        if mark != "!":
            return
        yield f"! {text}"


def _marked(name: str, text: str, said: list[str]) -> tuple[str, tuple[Fault, ...]]:
    """Take the brackets out of a response and say where they stood."""
    response, faults, last = "", [], 0
    found = list(_FAULT.finditer(text))
    if len(found) != len(said):
        raise ValueError(f"answer {name} has {len(found)} marks but {len(said)} lines that explain them")
    for mark, line in zip(found, said, strict=True):
        words = _SAID.fullmatch(line)
        if words is None or words[1] not in KINDS:
            raise ValueError(f"answer {name}: cannot read {line!r}")
        response += text[last : mark.start()]
        faults.append(Fault(len(response), len(response) + len(mark[1]), _LABELS[words[2]], KINDS[words[1]], words[3]))
        response, last = response + mark[1], mark.end()
    return response + text[last:], tuple(faults)
