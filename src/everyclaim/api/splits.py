"""How well answers were split into claims: shown to people, their marks read back, and what these come to."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, TypedDict, Unpack

import numpy as np

from everyclaim.analysis.calibration import SplitCheck, SplitSentence, examples_toml, split_check
from everyclaim.analysis.labels import settle_mark
from everyclaim.api.label_files import Better, LabelTable, read_into, share_out
from everyclaim.api.options import DEFAULT_STORE, ReadOptions, Size, public
from everyclaim.api.runs import RunName, Source, find_run
from everyclaim.core.errors import ConfigError, InputError
from everyclaim.core.plaintext import counted
from everyclaim.core.protocols import Kept
from everyclaim.core.types import JudgedClaim, Outcome, SplitMark
from everyclaim.io import open_sink
from everyclaim.prompts.domain import read_domain
from everyclaim.store.records import Annotation, answer_key_of, claim_key
from everyclaim.store.store import Store

WAY = "splits"  # how the claims were chosen: all of the sentences of answers drawn at random
_AT_ONCE = 64


@dataclass(frozen=True, slots=True)
class SplitSheet(LabelTable):
    """Sentences and their claims to review: one row per claim and annotator."""

    kind = "mark"
    sentences: int

    def __str__(self) -> str:
        """Tell in a line what is to be marked."""
        return f"run {self.run}: {counted(self.sentences, 'sentence')} with their claims to review"


class MarkOptions(TypedDict, total=False):
    """Annotators of a review."""

    annotators: Sequence[str]  # each gets every sentence
    seed: int  # of the draw
    store: str | os.PathLike[str]


class CheckOptions(ReadOptions, total=False):
    """How reviewed rows are read."""

    store: str | os.PathLike[str]


@public
def label_splits(run: RunName = None, n: Size = 100, **options: Unpack[MarkOptions]) -> SplitSheet:
    """Sample about `n` sentences of a run with the claims they were split into, for human review.

    Answers are drawn at random with all their sentences. Each claim gets a mark: `good`, `over_split`, `under_split`,
    `not_a_claim` or `lost_meaning`; in the row of the first claim `better` may hold the correct claims of the
    sentence. Reviewed claims are not drawn again. Raises `InputError` if nothing is left.
    """
    found = find_run(run, store=options.get("store", DEFAULT_STORE))
    with Store.lent(found.store_location) as kept:
        done = {one.position for one in kept.labelling.marks(found.id) if one.chosen.partition(":")[0] == WAY}
        drawn = _drawn(kept, found.id, n, done, options.get("seed", 0))
    if not drawn:
        raise InputError(f"run {found.id} has no unreviewed sentence left")
    people = tuple(dict.fromkeys(options.get("annotators", ()))) or ("",)
    sentences = [one for record in drawn for one in _sentences(record)]
    _, parts = share_out(len(sentences), len(people), 1.0)
    rows = [
        row | {"annotator": name, "chosen": f"{WAY}:{found.id}"}
        for name, part in zip(people, parts, strict=True)
        for place in part
        for row in _rows(*sentences[place])
    ]
    return SplitSheet(found.id, tuple(rows), len(sentences))


@public
def check_splits(run: RunName = None, marks: Source | None = None, **options: Unpack[CheckOptions]) -> SplitCheck:
    """Report the share of correct claim splits with its interval, compared with 90 %.

    `marks` is a file or table as `label_splits` writes it; its marks are stored and apply to every run with the same
    claims. Without it, stored marks are used. Bad rows go to `report`. Raises `InputError` if there is none.
    """
    found = find_run(run, store=options.get("store", DEFAULT_STORE))
    better: Better = {}
    if marks is not None:
        better = read_into(found, marks, "mark", options)
    with Store.lent(found.store_location) as kept:
        everything = kept.labelling.marks(found.id)
        chosen = [one for one in everything if one.chosen.partition(":")[0] == WAY]
        counted_in = chosen or everything
        if not counted_in:
            raise InputError(
                f"no claim of run {found.id} is reviewed: select some with `everyclaim label {found.id} "
                "--splits --out FILE`"
            )
        sentences = list(_marked(kept, found.id, counted_in, better))
    notes = [] if chosen else ["unknown how these claims were selected: the share may not be that of the run"]
    if left := len(everything) - len(counted_in):
        notes.append(f"{counted(left, 'mark')} of claims outside the sample {'is' if left == 1 else 'are'} not counted")
    people = sorted({one.annotator for one in counted_in})
    return split_check(found.id, found.record.provenance.decomposer, sentences, people, notes)


def write_examples(found: SplitCheck, destination: str | os.PathLike[str]) -> int:
    """Write the rejected sentences as worked examples of a domain file, and return their number.

    Raises `ConfigError` if the file exists, and `InputError` if no row has a correction in `better`.
    """
    place = os.fspath(destination)
    if not place.endswith(".toml"):
        raise ConfigError(f"{place}: worked examples go into a domain file; end the name in .toml")
    if os.path.lexists(place):
        raise ConfigError(f"{place} exists: choose a new name, and merge the files by hand")
    if not found.examples:
        raise InputError("no rejected sentence has a correction in 'better', so there is no example to write")
    text = examples_toml(found.examples)
    read_domain(text, name=place)
    with open_sink(place) as sink:
        sink.write(text.encode("utf-8"))
    return len(found.examples)


def _drawn(kept: Store, run: str, n: int, done: set[int], seed: int) -> list[Kept]:
    """Draw answers until they have as many sentences."""
    places = sorted({place for rows in kept.verdicts(run) for place, *_ in rows} - done)
    order = np.random.default_rng(seed).permutation(len(places))
    found: list[Kept] = []
    sentences = 0
    for first in range(0, len(order), _AT_ONCE):
        wanted = [places[row] for row in order[first : first + _AT_ONCE]]
        records = {record.position: record for record in kept.records_at(run, wanted)}
        for place in wanted:
            if sentences >= n:
                return sorted(found, key=lambda record: record.position)
            found.append(records[place])
            sentences += sum(1 for _ in _sentences(records[place]))
    return sorted(found, key=lambda record: record.position)


def _sentences(record: Kept) -> Iterator[tuple[Kept, list[JudgedClaim]]]:
    """Yield the claims of an answer, those of one sentence together."""
    for _, claims in groupby(record.result.claims, key=lambda claim: claim.sentence):
        yield record, list(claims)


def _rows(record: Kept, claims: Sequence[JudgedClaim]) -> Iterator[dict[str, Any]]:
    for claim in claims:
        yield {
            "sample_id": record.sample.id,
            "question": record.sample.question,
            "sentence": claim.sentence,
            "claims": [one.text for one in claims],
            "claim": claim.text,
            "mark": "",
            "better": "",
            "note": "",
            "span": list(claim.span),
        }


def _marked(kept: Store, run: str, marks: Sequence[Annotation[SplitMark]], better: Better) -> Iterator[SplitSentence]:
    """Yield the sentences of which a claim is marked."""
    said: dict[tuple[int, str], list[Annotation[SplitMark]]] = {}
    for one in marks:
        said.setdefault((one.position, one.key), []).append(one)
    for record in kept.records_at(run, {place for place, _ in said}):
        if record.result.outcome is not Outcome.SCORED:
            continue
        answer = answer_key_of(record.sample)
        for _, claims in _sentences(record):
            keys = [claim_key(answer, claim.text) for claim in claims]
            found = tuple(settle_mark(said.get((record.position, key), ())) for key in keys)
            if any(found):
                texts = tuple(claim.text for claim in claims)
                mended = next((better[answer, text] for text in texts if (answer, text) in better), ())
                yield SplitSentence(record.position, claims[0].sentence, texts, found, mended)
