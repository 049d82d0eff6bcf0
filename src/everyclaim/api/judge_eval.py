"""A judge on labelled claims: a short test before it is trusted, and a check that it stays as it is.

The test has 144 claims of 24 kinds that ship with the package. The check takes those, or the labelled claims of a
run: they are judged several times, with passages turned round, next to another judge, and compared with earlier checks.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path
from typing import Any, Unpack

from everyclaim.analysis import judge_eval
from everyclaim.analysis.labels import carry_over, settle
from everyclaim.api.options import (
    DEFAULT_JUDGE,
    DEFAULT_STORE,
    HISTORY,
    OFF,
    JudgeSpec,
    LlmJudgingOptions,
    StabilityOptions,
    Strategy,
    chosen_of,
    public,
)
from everyclaim.api.runs import RunName, find_run, unlabelled
from everyclaim.api.scoring import GivenClaims, given_claim
from everyclaim.api.session import Session
from everyclaim.api.specs import beside, refuse_unused, unused
from everyclaim.core.errors import ConfigError, InputError, OperatorError
from everyclaim.core.lifetime import gather
from everyclaim.core.protocols import Verifier
from everyclaim.core.spec import Spec
from everyclaim.core.types import Claim, Label, Outcome, Passage, Result, Sample, Usage
from everyclaim.store.records import answer_key_of, claim_key
from everyclaim.store.store import Store

CASES = 48
MOST_CLAIMS = 200
_FORMAT = 1

LabelsByKey = dict[str, Label]


@dataclass(frozen=True, slots=True)
class LabelledSample:
    """A sample with labelled claims; `keys` name them for good. `kind` is of the claims that ship."""

    sample: Sample
    claims: tuple[Claim, ...]
    labels: tuple[Label, ...]
    keys: tuple[str, ...]
    kind: str = ""
    answer_words: int | None = None


def cases() -> Iterator[LabelledSample]:
    """Read the claims that ship: 144 of 24 kinds, half of each kind supported."""
    for line in files("everyclaim.api").joinpath("judge_test.jsonl").read_text("utf-8").splitlines():
        row = json.loads(line)
        texts = [claim["text"] for claim in row["claims"]]
        passages = tuple(Passage(f"p{i}", text) for i, text in enumerate(row["passages"], start=1))
        yield LabelledSample(
            Sample(row["id"], " ".join(texts), passages, row["question"]),
            tuple(given_claim(number, text) for number, text in enumerate(texts, start=1)),
            tuple(Label(claim["label"]) for claim in row["claims"]),
            tuple(f"{row['id']}:c{i}" for i in range(1, len(texts) + 1)),
            row["kind"],
        )


# ---- the test


class TryOptions(LlmJudgingOptions, total=False):
    """Options of a smoke test; the names are those of `verify_claims`."""

    strategy: Strategy | None
    strict: bool
    on_case: Callable[[Result], object]  # told of every set of passages that was judged


@public
def smoke_test_judge(
    judge: JudgeSpec | Verifier | Callable[..., Any] = DEFAULT_JUDGE, **options: Unpack[TryOptions]
) -> judge_eval.JudgeTest:
    """Run a judge on 144 short labelled claims of 24 kinds and report whether it is fit to judge.

    The claims ship with the package, on 48 sets of passages; each set is one request, so a language model gets about
    48 calls. The `embedded` judge runs on the same claims for comparison. 144 claims separate a usable judge from an
    unusable one; they do not rank two good ones and are not from your domain. Options are those of `verify_claims`.

    Raises `ConfigError` for an unknown judge or a wrong option, and `BudgetExceeded` at a limit.
    """
    on_case = options.pop("on_case", None)
    with closing(Session({**options, "judge": judge})) as session:
        found = session.run(_test(session, on_case))
    if isinstance(judge, str) and Spec.parse(judge).name == DEFAULT_JUDGE:
        return found  # beside itself
    with closing(Session({})) as session:
        return replace(found, beside=session.run(_test(session)))


async def _test(session: Session, on_case: Callable[[Result], object] | None = None) -> judge_eval.JudgeTest:
    judging = GivenClaims.of(session, "judge-test", labels_only=True)
    everything = list(cases())
    results = await _judge(judging, everything, on_case)
    answered = [claim for case, result in zip(everything, results, strict=True) for claim in _tried(case, result)]
    made_by, used = judging.provenance, sum((result.usage for result in results), Usage())
    return judge_eval.judge_test(made_by.verifier, answered, used, made_by)


def _tried(case: LabelledSample, result: Result) -> Iterator[judge_eval.TriedClaim]:
    """Yield what became of the claims of a case; where its judge failed none has a verdict."""
    verdicts = {claim.id: claim.verdict for claim in result.claims} if result.outcome is Outcome.SCORED else {}
    for claim, label in zip(case.claims, case.labels, strict=True):
        verdict = verdicts.get(claim.id)
        is_lost = verdict is not None and "quote_not_found" in verdict.flags
        yield judge_eval.TriedClaim(
            case.kind,
            case.sample.id,
            claim.text,
            label,
            given=verdict.label if verdict else None,
            quotes_lost=is_lost,
            quotes_given=is_lost or bool(verdict and verdict.evidence),
            why=verdict.rationale if verdict else result.reason,
        )


async def _judge(
    judging: GivenClaims, given: Sequence[LabelledSample], on_case: Callable[[Result], object] | None
) -> Sequence[Result]:
    async def judge(case: LabelledSample) -> Result:
        result = await judging.result(case.sample, case.claims)
        if on_case:
            on_case(result)
        return result

    return await gather(judge(case) for case in given)


# ---- the check


class CheckJudgeOptions(TryOptions, StabilityOptions, total=False):
    """Options of an evaluation; the rest as for `verify_claims`."""

    run: RunName  # whose labelled claims are judged; None: the 144 that ship with the package
    store: str | os.PathLike[str]


@public
def evaluate_judge(
    judge: JudgeSpec | Verifier | Callable[..., Any] = DEFAULT_JUDGE, **options: Unpack[CheckJudgeOptions]
) -> judge_eval.JudgeCheck:
    """Measure repeatability, order bias, length bias and drift of a judge on human-labelled claims.

    Uses the labelled claims of `run` (at most 200), or the 144 claims that ship with the package. Every claim is judged
    `times` times, and once with the passages in reverse order. The check is appended to `history`; later checks of the
    same judge are compared with the first on the claims they share. All checks together raise a false drift alarm with
    at most 5 % probability. The cache is not used. Raises `InputError` for a run without labels, `ConfigError` for a
    wrong option, and `BudgetExceeded` at a limit.
    """
    store = options.get("store", DEFAULT_STORE)
    if (history := options.get("history")) is None and "://" in os.fspath(store):
        raise ConfigError("the history cannot be stored next to a database: pass history=FILE.jsonl")
    place = Path(history or beside(store, HISTORY))
    known = list(_read_history(place))
    given = list(_of_run(options["run"], store) if options.get("run") is not None else cases())
    said = chosen_of(options, TryOptions)
    on_case = said.pop("on_case", None)
    if said.pop("cache", OFF) != OFF:
        raise ConfigError("evaluating a judge does not use the cache: leave 'cache' out")
    rival = options.get("against")
    refuse_unused(said, judge, rival)
    with closing(_session(said, judge)) as session:
        passes, turned, usage, judging = session.run(_check(session, given, options.get("times", 3), on_case))
    other, others = "", LabelsByKey()
    if rival is not None:
        with closing(_session(said, rival)) as session:
            first, _, more, rival_judging = session.run(_check(session, given, 1, on_case, turn=False))
        other, others, usage = rival_judging.provenance.verifier, first[0], usage + more
    asked = [
        judge_eval.CheckedClaim(
            key=key,
            group=case.sample.id,
            people=label,
            words=len(claim.text.split()),
            answer_words=case.answer_words,
            passes=tuple(labels.get(key) for labels in passes),
            turned=turned.get(key),
            other=others.get(key),
        )
        for case in given
        for claim, label, key in zip(case.claims, case.labels, case.keys, strict=True)
    ]
    made_by = judging.provenance
    parameters = {"strategy": made_by.strategy, "version": made_by.version}
    parameters |= {key: str(value) for key, value in made_by.parameters.items()}
    found = judge_eval.judge_check(
        made_by.verifier,
        asked,
        usage,
        earlier=[check for name, check in known if name == made_by.verifier],
        parameters=parameters,
        other=other,
        max_flips=options.get("max_flips", judge_eval.MAX_FLIPS),
    )
    _keep(place, found, parameters)
    return found


def _session(said: Mapping[str, Any], judge: Any) -> Session:
    """Open a session with what is said for this judge; of two judges one may be no language model."""
    idle = unused(said, judge)
    return Session({name: value for name, value in said.items() if name not in idle} | {"judge": judge, "cache": OFF})


async def _check(
    session: Session,
    given: Sequence[LabelledSample],
    times: int,
    on_case: Callable[[Result], object] | None,
    *,
    turn: bool = True,
) -> tuple[list[LabelsByKey], LabelsByKey, Usage, GivenClaims]:
    """Judge every case so many times, and once with its passages turned round."""
    judging = GivenClaims.of(session, "judge-check", labels_only=True)
    used = Usage()
    passes: list[LabelsByKey] = []
    for _ in range(times):  # one after the other: what is asked at once may be answered at once
        results = await _judge(judging, given, on_case)
        used = sum((result.usage for result in results), used)
        passes.append(_labels(given, results))
    several = [
        replace(case, sample=replace(case.sample, passages=case.sample.passages[::-1]))
        for case in given
        if turn and len(case.sample.passages) > 1
    ]
    results = await _judge(judging, several, on_case)
    return passes, _labels(several, results), sum((result.usage for result in results), used), judging


def _labels(given: Sequence[LabelledSample], results: Sequence[Result]) -> LabelsByKey:
    """Return labels by key; where a judge failed there is none."""
    found: LabelsByKey = {}
    for case, result in zip(given, results, strict=True):
        if result.outcome is Outcome.SCORED:
            verdicts = {claim.id: claim.verdict.label for claim in result.claims}
            found |= {key: verdicts[claim.id] for claim, key in zip(case.claims, case.keys, strict=True)}
    return found


def _of_run(wanted: Any, store: str | os.PathLike[str]) -> Iterator[LabelledSample]:
    """Yield labelled answers in the order of digests of their texts, so that more labels leave most as they are."""
    run = find_run(wanted, store=store)
    found: list[tuple[str, LabelledSample]] = []
    with Store.open_to_read(run.store_location) as kept:
        settled = settle(kept.labels(run.id))
        for record in kept.records_at(run.id, set(settled.claims)):
            if record.result.outcome is not Outcome.SCORED:
                continue
            sample = record.sample
            answer, own = answer_key_of(sample), settled.claims[record.position]
            if carried := carry_over(record.result.claims, own, answer, sample.response):
                claims = tuple(Claim(claim.id, claim.text, claim.span, claim.sentence) for claim, _, _ in carried)
                keys = tuple(claim_key(answer, claim.text) for claim in claims)
                labels = tuple(label.value for _, label, _ in carried)
                words = len(sample.response.split())
                case = LabelledSample(replace(sample, id=answer), claims, labels, keys, answer_words=words)
                found.append((answer, case))
    if not found:
        raise unlabelled(run)
    taken = 0
    for _, case in sorted(dict(found).items()):
        if taken >= MOST_CLAIMS:
            return
        taken += len(case.claims)
        yield case


def _read_history(place: Path) -> Iterator[tuple[str, judge_eval.EarlierCheck]]:
    """Yield the checks that are kept, each with its judge. Raises `InputError` for a file that is something else."""
    try:
        for line in place.read_text("utf-8").splitlines() if place.exists() else ():
            row = json.loads(line)
            yield row["judge"], judge_eval.EarlierCheck(row["created"], row["labels"], row["parameters"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(f"history {place} is not a file of judge checks: {error}") from None


def _keep(place: Path, found: judge_eval.JudgeCheck, parameters: Mapping[str, str]) -> None:
    """Add the check to the history, on the disk before anything is said of it."""
    row = {
        "format": _FORMAT,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "judge": found.judge,
        "parameters": dict(parameters),
        "labels": {claim.key: claim.first.value for claim in found.asked if claim.first is not None},
    }
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        with place.open("ab") as file:
            file.write((json.dumps(row, ensure_ascii=True) + "\n").encode("ascii"))
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise OperatorError(f"cannot write the check to {place}: {error}") from None
