"""People's labels: what to label, reading labels into the store, and what they say of a judge and of splits."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Sequence
from itertools import groupby
from typing import Any, Unpack

import numpy as np

from everyclaim.analysis.calibration import Calibration
from everyclaim.analysis.labels import ADJUDICATED, Verdicts, choose, settle_mark
from everyclaim.analysis.splits import SplitCheck, SplitSentence, examples_toml, split_check
from everyclaim.api.labeling import Better, LabelSheet, read_into, share_out
from everyclaim.api.options import DEFAULT_STORE, ChoiceOptions, LabelOptions, ReadOptions, Size, public
from everyclaim.api.runs import Run, RunName, Source, calibration_of, find_run, verdicts_of
from everyclaim.core.errors import ConfigError, InputError
from everyclaim.core.kinds import By
from everyclaim.core.plaintext import counted, one_line
from everyclaim.core.protocols import Kept
from everyclaim.core.types import JudgedClaim, Label, Outcome, SplitMark
from everyclaim.io import open_sink
from everyclaim.prompts.domain import read_domain
from everyclaim.store.labels import AnyAnnotation
from everyclaim.store.records import Annotation, LabelQueue, QueueItem, answer_key_of, claim_key
from everyclaim.store.store import Store

LONGEST_NAME = 80  # characters


@public
def label(run: RunName = None, n: Size = 100, **options: Unpack[LabelOptions]) -> LabelSheet:
    """Select claims of a run for human labelling.

    `by` is `stratified` (more claims with rare verdicts; rates are reweighted), `random`, `uncertainty` (claims on
    which the judge is unsure: for inspection and tuning, not for measuring its error) or `allocation` (the mix of
    supported and failing verdicts that minimises the Rogan–Gladen interval, given existing labels). Labelled claims are
    not selected again. With several `annotators` the share `overlap` goes to all of them, the rest to one each.
    `answers` selects whole answers. The judge's verdict is omitted unless `with_verdicts`, because it biases
    annotators. Raises `InputError` if nothing is left to label.
    """
    by, answers = options.get("by", "stratified"), options.get("answers", False)
    verdicts_too = options.get("with_verdicts", False)
    found = find_run(run, store=options.get("store", DEFAULT_STORE), is_finished=True)
    with Store.open_to_read(found.store_location) as kept:
        places = places_to_label(kept, found, n, by=by, answers=answers, seed=options.get("seed", 0))
        kept_at = {one.position: one for one in kept.records_at(found.id, [place for place, _ in places])}
        tasks = [
            _task(kept_at[place], None if answers else ordinal, verdicts=verdicts_too) for place, ordinal in places
        ]
    people = tuple(dict.fromkeys(options.get("annotators", ()))) or ("",)
    shared, parts = share_out(len(tasks), len(people), options.get("overlap", 0.2))
    rows = [
        tasks[place] | {"annotator": name, "chosen": f"{by}:{found.id}"}
        for name, part in sorted(zip(people, parts, strict=True))
        for place in part
    ]
    by_all = f", {shared:,} of them by all annotators" if shared else ""
    left = ("all ", "unlabelled ") if len(tasks) < n else ("", "")
    what = counted(len(tasks), f"{left[1]}{'answer' if answers else 'claim'}")
    told = f"run {found.id}: {left[0]}{what} to label ({by}){by_all}"
    return LabelSheet("label", found.id, tuple(rows), told)


@public
def label_queue(run: RunName = None, n: Size = 100, *, name: str = "", **options: Unpack[ChoiceOptions]) -> LabelQueue:
    """Create a queue of claims to label on the page of `everyclaim serve --ui`.

    Sampled as by `label`, without items of other queues of the run. The share `overlap` goes to all of several
    `annotators`, the rest to one of them each, in a different order for each. Raises `InputError` if nothing is left
    to label, `ConfigError` for annotator names that are too similar.
    """
    by, answers = options.get("by", "stratified"), options.get("answers", False)
    people = check_annotators(options.get("annotators", ("annotator",)))
    overlap, seed = options.get("overlap", 0.2), options.get("seed", 0)
    found = find_run(run, store=options.get("store", DEFAULT_STORE), is_finished=True)
    with Store.open(found.store_location) as kept:
        taken = {
            (item.position, max(item.ordinal, 0))
            for queue in kept.labelling.queues(found.id)
            if queue.answers == answers
            for annotator in queue.annotators
            for item in kept.labelling.items(queue.id, annotator)
        }
        places = places_to_label(kept, found, n, by=by, answers=answers, seed=seed, taken=taken)
        items = _items(kept, found.id, places, answers=answers)
        _, parts = share_out(len(items), len(people), overlap)
        draw = np.random.default_rng(seed)
        orders = {
            person: [items[at] for at in draw.permutation(part)] for person, part in zip(people, parts, strict=True)
        }
        return kept.labelling.make_queue(
            found.id,
            orders,
            name=one_line(name, LONGEST_NAME),
            chosen=f"{by}:{found.id}",
            answers=answers,
            overlap=overlap if len(people) > 1 else 0.0,
        )


def places_to_label(
    kept: Store, run: Run, n: int, *, by: By, answers: bool, seed: int, taken: Collection[tuple[int, int]] = ()
) -> list[tuple[int, int]]:
    """Choose what to label: the place of the sample, and that of the claim in it (0 for a whole answer).

    What is labelled or `taken` already is not chosen again. An answer that repeats is one answer: its labels stand for
    all its occurrences. Raises `InputError` where nothing is left.
    """
    verdicts = verdicts_of(kept, run.id)
    labels = kept.labels(run.id)
    if answers:
        verdicts = _by_answer(verdicts)
    first = verdicts.first_places
    verdicts = verdicts.where(verdicts.position == verdicts.first)
    known = {
        (first.get(place, place), ordinal)
        for place, ordinal in {*_already_labelled(kept, run.id, labels, answers=answers), *taken}
    }
    rates = calibration_of(run).rates if by == "allocation" and labels else None
    tnr, tpr = (rates.tnr.value, rates.tpr.value) if rates else (None, None)
    judge = None if tnr is None or tpr is None else (tnr, tpr)
    new: dict[tuple[int, int], None] = {}
    wanted, total = n + len(known), len(verdicts.position)
    while len(new) < n:
        for row in choose(verdicts, min(wanted, total), by, seed, judge).tolist():
            if (text := (int(verdicts.position[row]), int(verdicts.ordinal[row]))) not in known:
                new.setdefault(text)
        if wanted >= total:
            break
        wanted *= 2  # a label of the judge with few claims left takes no more
    if not new:
        raise InputError(f"run {run.id} has no unlabelled claim left")
    return list(new)[:n]


@public
def calibrate(
    run: RunName = None,
    labels: Source | None = None,
    *,
    slices: Sequence[str] | None = None,
    seed: int = 0,
    risk: float | None = None,
    store: str | os.PathLike[str] = DEFAULT_STORE,
    **options: Unpack[ReadOptions],
) -> Calibration:
    """Measure the judge against human labels and correct the score for its errors.

    `labels` is a file or table of labels, as `label` writes it or in short form (`sample_id`, `claim`, `label`, and
    optionally `span`, `annotator`, `failure_mode`, `note`); they are stored and apply to every run over the same text.
    Without it, stored labels are used. Bad rows go to `report`. `slices` are tags (default: the run's own). With
    `risk`, the result has a `promise` for `Guard(risk=…)`, from labels of randomly selected claims; raises
    `ConfigError` if they are too few for one. Raises `InputError` if there is no label.
    """
    found = find_run(run, store=store, is_finished=True)
    if labels is not None:
        read_into(found, labels, "label", options)
    return calibration_of(found, slices=slices, seed=seed, risk=risk)


def check_annotators(names: Sequence[str]) -> tuple[str, ...]:
    """Return the names of people without blanks around. Raises `ConfigError` for one that cannot be a name."""
    people = tuple(dict.fromkeys(" ".join(name.split()) for name in names))
    if not people:
        raise ConfigError("a queue needs at least one annotator")
    for name in people:
        if not name or len(name) > LONGEST_NAME or not name.isprintable():
            raise ConfigError(f"an annotator name has 1 to {LONGEST_NAME} characters, got {one_line(name, 40)!r}")
        if name.casefold() == ADJUDICATED:
            raise ConfigError(f"{ADJUDICATED!r} is reserved for adjudication and cannot be an annotator")
    return people


def _items(kept: Store, run: str, places: Sequence[tuple[int, int]], *, answers: bool) -> list[QueueItem]:
    records = {record.position: record for record in kept.records_at(run, [place for place, _ in places])}
    found: dict[str, QueueItem] = {}  # a claim that an answer repeats is asked about once
    for place, ordinal in places:
        answer = answer_key_of(records[place].sample)
        key = answer if answers else claim_key(answer, records[place].result.claims[ordinal].text)
        found[key] = QueueItem(place, -1 if answers else ordinal, key)
    return list(found.values())


def _by_answer(claims: Verdicts) -> Verdicts:
    """Take answers as one claim each: with the worst label and the lowest probability."""
    places, rows, code = np.unique(claims.position, return_index=True, return_inverse=True)
    worst = np.zeros(len(places), dtype=np.int8)
    np.maximum.at(worst, code, claims.label)  # in the order of `Label` the worst is last
    lowest = np.full(len(places), np.inf)
    np.fmin.at(lowest, code, claims.supported)
    supported = np.where(np.isinf(lowest), np.nan, lowest)
    return Verdicts(places, claims.first[rows], np.zeros(len(places), dtype=np.intp), worst, supported)


def _already_labelled(
    kept: Store, run: str, labels: Sequence[Annotation[Label]], *, answers: bool
) -> set[tuple[int, int]]:
    about = [label for label in labels if label.is_of_answer == answers]
    if answers:
        return {(label.position, 0) for label in about}
    marked = [mark for mark in kept.labelling.marks(run) if mark.value is not SplitMark.GOOD]
    everything: list[AnyAnnotation] = [*about, *marked]
    named = {(said.position, said.claim_id) for said in everything}
    claims = {record.position: record.result.claims for record in kept.records_at(run, {place for place, _ in named})}
    ordinals = {(place, claim.id): ordinal for place, own in claims.items() for ordinal, claim in enumerate(own)}
    return {(place, ordinals[place, name]) for place, name in named if (place, name) in ordinals}


def _task(kept: Kept, ordinal: int | None, *, verdicts: bool) -> dict[str, Any]:
    sample, result = kept.sample, kept.result
    claim = None if ordinal is None else result.claims[ordinal]
    task: dict[str, Any] = {
        "claim_id": claim.id if claim else "",
        "sample_id": sample.id,
        "question": sample.question,
        "sentence": claim.sentence if claim else sample.response,
        "claim": claim.text if claim else "",
        "label": "",
        "note": "",
        "failure_mode": "",
        "passages": [{"id": one.id, "title": one.title, "text": one.text} for one in sample.passages],
        "evidence": [
            {"passage_id": one.passage_id, "quote": one.quote} for one in (claim.verdict.evidence if claim else ())
        ],
        "span": list(claim.span) if claim else None,
    }
    if verdicts and claim is None:
        task |= {"judge_label": "", "judge_p_supported": result.probability, "judge_reason": result.summary()}
    elif verdicts and claim is not None:
        verdict = claim.verdict
        stated = verdict.probabilities.supported if verdict.probabilities else None
        task |= {"judge_label": verdict.label.value, "judge_p_supported": stated, "judge_reason": verdict.rationale}
    return task


WAY = "splits"  # how the claims were chosen: all of the sentences of answers drawn at random
_AT_ONCE = 64


@public
def label_splits(
    run: RunName = None,
    n: Size = 100,
    *,
    annotators: Sequence[str] = (),
    seed: int = 0,
    store: str | os.PathLike[str] = DEFAULT_STORE,
) -> LabelSheet:
    """Sample about `n` sentences of a run with the claims they were split into, for human review.

    Answers are drawn at random with all their sentences. Each claim gets a mark: `good`, `over_split`, `under_split`,
    `not_a_claim` or `lost_meaning`; in the row of the first claim `better` may hold the correct claims of the
    sentence. Each of the `annotators` gets every sentence. Reviewed claims are not drawn again. Raises `InputError` if
    nothing is left.
    """
    found = find_run(run, store=store, is_finished=True)
    with Store.open_to_read(found.store_location) as kept:
        done = {one.position for one in kept.labelling.marks(found.id) if one.chosen.partition(":")[0] == WAY}
        drawn = _drawn_answers(kept, found.id, n, done, seed)
    if not drawn:
        raise InputError(f"run {found.id} has no unreviewed sentence left")
    sentences = [(record, claims) for record in drawn for claims in _sentences(record)]
    rows = [
        {
            "sample_id": record.sample.id,
            "question": record.sample.question,
            "sentence": claim.sentence,
            "claims": [one.text for one in claims],
            "claim": claim.text,
            "mark": "",
            "better": "",
            "note": "",
            "span": list(claim.span),
            "annotator": name,
            "chosen": f"{WAY}:{found.id}",
        }
        for name in tuple(dict.fromkeys(annotators)) or ("",)
        for record, claims in sentences
        for claim in claims
    ]
    told = f"run {found.id}: {counted(len(sentences), 'sentence')} with their claims to review"
    return LabelSheet("mark", found.id, tuple(rows), told)


@public
def check_splits(
    run: RunName = None,
    marks: Source | None = None,
    *,
    store: str | os.PathLike[str] = DEFAULT_STORE,
    **options: Unpack[ReadOptions],
) -> SplitCheck:
    """Report the share of correct claim splits with its interval, compared with 90 %.

    `marks` is a file or table as `label_splits` writes it; its marks are stored and apply to every run with the same
    claims. Without it, stored marks are used. Bad rows go to `report`. Raises `InputError` if there is none.
    """
    found = find_run(run, store=store, is_finished=True)
    better: Better = {}
    if marks is not None:
        better = read_into(found, marks, "mark", options)
    with Store.open_to_read(found.store_location) as kept:
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


def _drawn_answers(kept: Store, run: str, n: int, done: set[int], seed: int) -> list[Kept]:
    places = sorted({*verdicts_of(kept, run).first.tolist()} - done)
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
            sentences += len(_sentences(records[place]))
    return sorted(found, key=lambda record: record.position)


def _sentences(record: Kept) -> list[list[JudgedClaim]]:
    """Return the claims of an answer, those of one sentence together."""
    return [list(claims) for _, claims in groupby(record.result.claims, key=lambda claim: claim.sentence)]


def _marked(kept: Store, run: str, marks: Sequence[Annotation[SplitMark]], better: Better) -> Iterator[SplitSentence]:
    """Yield the sentences of which a claim is marked."""
    said: dict[tuple[int, str], list[Annotation[SplitMark]]] = {}
    for one in marks:
        said.setdefault((one.position, one.key), []).append(one)
    for record in kept.records_at(run, {place for place, _ in said}):
        if record.result.outcome is not Outcome.SCORED:
            continue
        answer = answer_key_of(record.sample)
        for claims in _sentences(record):
            keys = [claim_key(answer, claim.text) for claim in claims]
            found = tuple(settle_mark(said.get((record.position, key), ())) for key in keys)
            if any(found):
                texts = tuple(claim.text for claim in claims)
                mended = next((better[answer, text] for text in texts if (answer, text) in better), ())
                yield SplitSentence(record.position, claims[0].sentence, texts, found, mended)
