"""The rows that the judges are fitted to and tested on, and what is measured of each."""

from __future__ import annotations

import hashlib
import json
import lzma
import pickle
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from answers.claims import LabelledAnswer, split_answers
from answers.read import from_json_lines, from_texts, public_passages
from encoder.windows import claims_of, kept
from everyclaim.core.types import Claim, Passage, Span
from everyclaim.models.local.cross_encoder import CrossEncoder, load_cross_encoder
from everyclaim.verify.embedded.premise import describe
from everyclaim.verify.embedded.verifier import EmbeddedVerifier
from everyclaim.verify.embedded.verifier import _PreparedClaims as Prepared
from everyclaim.verify.lexical.passages import Shortlist
from lexical_data import FAMILIES, Row, fitted_half, share, split

MADE = 0.15  # share of the made claims and lessons that takes part
GROUPS = ("rewordings", "binding")  # files of groups of claims, tested on
UNREAD = "cases"  # drawn groups of which those that no network has read are fitted to
OWN = 1 / 6  # share of the groups of `training/data`, which networks have read, that takes part
TRAINED = 4500  # claims of the training data, so many of a data set and of a group
USUAL, PER_GROUP = 450, 4
FEWER = {"snli": 150, "mnli_taxi": 150, "conjnli": 100, "true_paws": 200, "fever_symmetric": 150, "foolmetwice": 250,
         "infotabs": 300, "written": 600}  # fmt: skip

Matrix = np.ndarray
Given = tuple[Row, str]  # a row, and the sentence its claim is from


class Rows(NamedTuple):
    """What is fitted to, what is tested on, and of every marked answer whether it is right."""

    fitted: list[Given]
    tested: list[Given]
    right: dict[str, bool]


@dataclass(frozen=True)
class Table:
    """Measured rows: a matrix of features and, for each row, what it is."""

    names: list[str]
    values: Matrix
    overlap: Matrix
    rows: list[Row]

    @cached_property
    def datasets(self) -> Matrix:
        """The data set of every row."""
        return np.array([row.dataset for row in self.rows])

    @cached_property
    def labels(self) -> Matrix:
        """The label of every row."""
        return np.array([row.label for row in self.rows])

    @cached_property
    def groups(self) -> Matrix:
        """The group of every row; one is never split."""
        return np.array([row.group for row in self.rows])

    @cached_property
    def families(self) -> Matrix:
        """The family of data of every row."""
        return np.array([FAMILIES.get(row.dataset, row.dataset) for row in self.rows])

    def part(self, use: Matrix) -> Table:
        """Give some of the rows."""
        return Table(self.names, self.values[use], self.overlap[use], [self.rows[i] for i in np.flatnonzero(use)])

    def without(self, prefixes: Iterable[str]) -> Table:
        """Leave out the features whose names begin so."""
        here = [i for i, name in enumerate(self.names) if not name.startswith(tuple(prefixes))]
        return Table([self.names[i] for i in here], self.values[:, here], self.overlap, self.rows)


def joined(tables: Sequence[Table]) -> Table:
    """Put tables of the same features together."""
    return Table(
        tables[0].names, np.concatenate([it.values for it in tables]), np.concatenate([it.overlap for it in tables]),
        [row for it in tables for row in it.rows],
    )  # fmt: skip


def answer_rows(answers: Iterable[LabelledAnswer]) -> Iterator[Given]:
    """Turn the claims of marked answers into rows; `slice` is the answer."""
    for one, claims, labels, _ in answers:
        name = f"answers_{one.task if one.dataset == 'ragtruth' else one.dataset}"
        for claim, label in zip(claims, labels, strict=True):
            if label is not None:
                yield Row(f"{one.id}-{claim.id}", name, "claim", one.question, one.contexts, claim.text, label,
                          one.group, one.id), claim.sentence  # fmt: skip


def made_rows(path: Path) -> Iterator[Given]:
    """Read part of the made claims or lessons of a file."""
    with path.open(encoding="utf-8") as stream:
        for line in stream:
            it = json.loads(line)
            if it["slice"] not in ("pair", "same") and share(f"made {it['id']}") < MADE:
                name = "made_lesson" if it["source"] == "lessons" else it["dataset"].replace("synth_", "made_")
                yield Row(it["id"], name, it["unit"], it["question"], tuple(it["contexts"]), it["text"], it["label"],
                          it["group"], it["slice"]), it.get("sentence", "")  # fmt: skip


def group_rows(path: Path, *, tested: bool, part: float = 1.0) -> Iterator[Given]:
    """Read groups of claims about common passages: those kept for tests, or a part of the others."""
    with lzma.open(path, "rt", encoding="utf-8") if path.suffix == ".xz" else path.open(encoding="utf-8") as stream:
        for line in stream:
            group = json.loads(line)
            if tested != kept(group["group"]) or share(f"fit {group['group']}") >= part:
                continue
            for it in claims_of(group, path.name.split(".")[0].split("-")[0]):
                yield Row(it["id"], it["dataset"], "claim", it["question"], tuple(it["contexts"]), it["text"],
                          it["label"], f"{path.name} {group['group']}", it["beside"]), ""  # fmt: skip


def sample(rows: Iterable[Row]) -> list[Given]:
    """Draw claims of the training data, a few of every group: the network has read them, each at most once or so."""
    by_name: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        by_name[row.dataset].append(row)
    drawn: list[Row] = []
    for name, found in by_name.items():
        seen: Counter[str] = Counter()
        kept_rows = []
        for row in sorted(found, key=lambda row: (share("tr " + row.group), row.id)):
            seen[row.group] += 1
            if seen[row.group] <= PER_GROUP:
                kept_rows.append(row)
        drawn += kept_rows[: FEWER.get(name, USUAL)]
    return [(row, "") for row in sorted(drawn, key=lambda row: share("order " + row.id))[:TRAINED]]


def read_rows(data: Path, made: Iterable[Path], drawn: Sequence[Path]) -> Rows:
    """Read everything: marked answers, labelled claims, groups, made claims; documents and groups are never split."""
    ours = list(from_texts(public_passages(data)))
    fit = [one for one in ours if one.dataset == "unread" and not one.tested]
    test = [*from_json_lines(data / "answers" / "dev.jsonl.xz"), *(one for one in ours if one.tested)]
    trained, tested = split(data)
    claims = [(row, "") for row in tested]
    groups = [data / "claims" / f"{name}.jsonl.xz" for name in GROUPS]
    own = sorted((Path(__file__).parent / "data").glob("*.jsonl.xz"))
    return Rows(
        [*answer_rows(split_answers(fit)), *(it for it in claims if fitted_half(it[0].group)),
         *(it for path in made for it in made_rows(path)),
         *(it for path in own for it in group_rows(path, tested=False, part=OWN)),
         *(it for path in drawn for it in group_rows(path, tested=path.name.startswith(UNREAD))), *sample(trained)],
        [*answer_rows(split_answers(test)), *(it for it in claims if not fitted_half(it[0].group)),
         *(it for path in (*groups, *drawn) if not path.name.startswith(UNREAD)
           for it in group_rows(path, tested=True))],
        {one.id: not one.faults for one in (*fit, *test)},
    )  # fmt: skip


def measure(rows: Iterable[Given], network: Path, cache: Path) -> Table:
    """Measure rows as the judge does at run time; what was measured before is taken from the cache, a growing file."""
    rows, known = list(rows), dict(_read_cache(cache))
    together: dict[tuple[str, ...], list[tuple[str, Given]]] = defaultdict(list)
    keys = [_key(row, sentence) for row, sentence in rows]
    for key, given in dict(zip(keys, rows, strict=True)).items():
        if key not in known:
            together[given[0].contexts].append((key, given))
    print(f"{len(rows)} rows, {sum(map(len, together.values()))} to measure", flush=True)
    verifier, reader = EmbeddedVerifier(), load_cross_encoder(network, 1)
    with cache.open("ab") as file:
        for done, (contexts, members) in enumerate(together.items()):
            if done % 100 == 0:
                print(f"{done} of {len(together)} passage sets measured", flush=True)
            found = _measured(verifier, reader, contexts, members)
            known |= found
            pickle.dump(list(found.items()), file)
            file.flush()
    use = [(row, known[key]) for key, (row, _) in zip(keys, rows, strict=True) if known[key]]
    names = list(use[0][1][0])
    values = np.array([[it[0][name] for name in names] for _, it in use])
    return Table(names, values, np.array([it[1] for _, it in use]), [row for row, _ in use])


def _read_cache(path: Path) -> Iterator[tuple[str, Any]]:
    """Read what was measured; the last part may be cut off."""
    if path.exists():
        with path.open("rb") as file:
            while True:
                try:
                    yield from pickle.load(file)  # noqa: S301 -- the caller's own file
                except (EOFError, pickle.UnpicklingError):
                    return


def _key(row: Row, sentence: str) -> str:
    return hashlib.sha256(json.dumps([row.text, sentence, row.question, row.contexts]).encode()).hexdigest()[:24]


def _read(reader: CrossEncoder, prepared: Sequence[Any]) -> list[Any]:
    """Read all claims; None for one that needs no reading."""
    read = iter(reader.read([it.pair for it in prepared if isinstance(it, Prepared)]))
    return [next(read) if isinstance(it, Prepared) else None for it in prepared]


def _measured(
    verifier: EmbeddedVerifier, reader: CrossEncoder, contexts: tuple[str, ...], members: list[tuple[str, Given]]
) -> dict[str, Any]:
    """Measure the claims about one set of passages: features and word overlap; None where there is nothing to check."""
    shortlist = Shortlist.of([Passage(str(i), text) for i, text in enumerate(contexts)])
    found: dict[str, Any] = {}
    claims = [Claim("c", row.text, Span(0, len(row.text)), sentence or row.text) for _, (row, sentence) in members]
    prepared = [
        verifier._prepare(claim, shortlist, row.question)  # noqa: SLF001
        for claim, (_, (row, _)) in zip(claims, members, strict=True)
    ]
    for (key, _), it, scores in zip(members, prepared, _read(reader, prepared), strict=True):
        found[key] = None
        if isinstance(it, Prepared):
            reading, index = it.compared.claim, it.compared.source.index
            overlap = float(np.mean([reading.keys[i] in index for i in reading.content]))
            found[key] = (describe(it.compared, scores), overlap)
    return found
