"""A judge checked on labelled claims: asked several times, with passages turned round, beside another, over time."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Unpack

from everyclaim.analysis.judge_check import Asked, Earlier, JudgeCheck, judge_check, with_limit
from everyclaim.analysis.labels import WHOLE, carry_over, settle
from everyclaim.api.components import DEFAULT_JUDGE, JudgeSpec, Strategy, refuse_unused
from everyclaim.api.door import public
from everyclaim.api.given_claims import GivenClaims
from everyclaim.api.judge_test import cases
from everyclaim.api.labels import Share, Wanted, run_of
from everyclaim.api.session import Session
from everyclaim.api.talking import DEFAULT_STORE, OFF, Judging, unused
from everyclaim.core.errors import ConfigError, InputError, OperatorError
from everyclaim.core.gather import gather
from everyclaim.core.kinds import Range
from everyclaim.core.protocols import Verifier
from everyclaim.core.types import Claim, Label, Outcome, Passage, Result, Sample, Usage
from everyclaim.store import Store, answer_key_of, claim_key

HISTORY = "judge_checks.jsonl"
MOST_CLAIMS = 200
_FORMAT = 1

Times = Annotated[int, Range(1, 20)]


@dataclass(frozen=True, slots=True)
class Case:
    """A sample with labelled claims; `keys` name them for good."""

    sample: Sample
    claims: tuple[Claim, ...]
    labels: tuple[Label, ...]
    keys: tuple[str, ...]
    answer_words: int | None


class CheckJudgeOptions(Judging, total=False):
    """What can be chosen about a check; the rest as for `verify_claims`."""

    run: Wanted  # whose labelled claims are judged; None: the 60 that ship with the package
    times: Times  # how often each claim is judged (3)
    against: JudgeSpec | Verifier | Callable[..., Any] | None  # another judge on the same claims
    history: str | os.PathLike[str] | None  # where checks are kept; None: beside the store
    max_flips: Share  # share of claims that may change their label on repeating (0.1)
    strategy: Strategy | None
    strict: bool
    on_case: Callable[[Result], object]  # told of every sample that was judged
    store: str | os.PathLike[str]


_OWN = ("run", "times", "against", "history", "max_flips", "on_case", "store")


@public
def check_judge(
    judge: JudgeSpec | Verifier | Callable[..., Any] = DEFAULT_JUDGE, **options: Unpack[CheckJudgeOptions]
) -> JudgeCheck:
    """Check a judge on claims that people labelled: those of a run, at most 200, or the 60 that ship with the package.

    Every claim is judged `times` times, and once with the passages in the opposite order. The check is kept as a line
    of `history`; a later one of the same judge is compared with the first on the claims that both hold, so that all
    checks ever made together raise a false alarm in at most 5 %. No reply is taken from a cache. Raises `InputError`
    for a run without labels, `ConfigError` for a wrong option, and `BudgetExceeded` at a limit.
    """
    store = options.get("store", DEFAULT_STORE)
    place = _history_at(options.get("history"), store)
    known = list(_read_history(place))
    given = list(_of_run(options["run"], store)) if options.get("run") is not None else list(_shipped())
    said = {name: value for name, value in options.items() if name not in _OWN}
    if said.pop("cache", OFF) != OFF:
        raise ConfigError("a check of a judge takes no reply from a cache: leave 'cache' out")
    rival = options.get("against")
    refuse_unused(said, judge, rival)
    on_case = options.get("on_case")
    times = options.get("times", 3)
    with closing(_session(said, judge)) as session:
        passes, turned, usage, made_by = session.run(_ask(session, given, times, on_case))
    name, other, others = made_by.provenance.verifier, "", {}
    if rival is not None:
        with closing(_session(said, rival)) as session:
            first, _, more, made = session.run(_ask(session, given, 1, on_case, turn=False))
        other, others, usage = made.provenance.verifier, first[0], usage + more
    asked = [
        Asked(
            key,
            case.sample.id,
            label,
            len(claim.text.split()),
            case.answer_words,
            tuple(one.get(key) for one in passes),
            turned.get(key),
            others.get(key),
        )
        for case in given
        for claim, label, key in zip(case.claims, case.labels, case.keys, strict=True)
    ]
    parameters = {"strategy": made_by.provenance.strategy, "version": made_by.provenance.version}
    parameters |= {key: str(value) for key, value in made_by.provenance.parameters.items()}
    earlier = [Earlier(row["created"], row["labels"], row["parameters"]) for row in known if row["judge"] == name]
    found = judge_check(name, asked, usage, earlier=earlier, parameters=parameters, other=other)
    _keep(place, found, parameters)
    return with_limit(found, options.get("max_flips", found.max_flips))


def _session(said: Mapping[str, Any], judge: Any) -> Session:
    """Open a session with what is said for this judge; of two judges one may be no language model."""
    idle = unused(said, judge)
    return Session({name: value for name, value in said.items() if name not in idle} | {"judge": judge, "cache": OFF})


Said = dict[str, Label]


async def _ask(
    session: Session,
    given: Sequence[Case],
    times: int,
    on_case: Callable[[Result], object] | None,
    *,
    turn: bool = True,
) -> tuple[list[Said], Said, Usage, GivenClaims]:
    """Judge every case so many times, and once with its passages turned round."""
    ask = GivenClaims.of(session, "judge-check", labels_only=True)

    async def about(case: Case, passages: tuple[Passage, ...]) -> Result:
        result = await ask.result(replace(case.sample, passages=passages), case.claims)
        if on_case:
            on_case(result)
        return result

    used = Usage()
    passes: list[Said] = []
    for _ in range(times):  # one after the other: what is asked at once may be answered at once
        results = await gather(about(case, case.sample.passages) for case in given)
        used = sum((one.usage for one in results), used)
        passes.append(_labels(given, results))
    several = [case for case in given if turn and len(case.sample.passages) > 1]
    results = await gather(about(case, case.sample.passages[::-1]) for case in several)
    return passes, _labels(several, results), sum((one.usage for one in results), used), ask


def _labels(given: Sequence[Case], results: Sequence[Result]) -> Said:
    """Return labels by key; where a judge failed there is none."""
    found: Said = {}
    for case, result in zip(given, results, strict=True):
        if result.outcome is not Outcome.SCORED:
            continue
        verdicts = {claim.id: claim.verdict.label for claim in result.claims}
        found |= {key: verdicts[claim.id] for claim, key in zip(case.claims, case.keys, strict=True)}
    return found


def _shipped() -> Iterator[Case]:
    for case in cases():
        response = " ".join(claim.text for claim in case.claims)
        keys = tuple(f"{case.id}:{claim.id}" for claim in case.claims)
        yield Case(Sample(case.id, response, case.passages, case.question), case.claims, case.labels, keys, None)


def _of_run(wanted: Any, store: str | os.PathLike[str]) -> Iterator[Case]:
    """Yield labelled answers in the order of digests of their texts, so that more labels leave most as they are."""
    run = run_of(wanted, store)
    found: list[tuple[str, Case]] = []
    with Store.lent(run.store_location) as kept:
        settled = settle(kept.labels(run.id))
        for record in kept.records_at(run.id, set(settled.claims)):
            if record.result.outcome is not Outcome.SCORED:
                continue
            sample = record.sample
            answer = answer_key_of(sample)
            pairs = [
                (claim, label.label)
                for claim, label, how in carry_over(
                    record.result.claims, settled.claims[record.position], answer, sample.response
                )
                if how in WHOLE
            ]
            if pairs:
                claims = tuple(Claim(claim.id, claim.text, claim.span, claim.sentence) for claim, _ in pairs)
                keys = tuple(claim_key(answer, claim.text) for claim in claims)
                labels = tuple(label for _, label in pairs)
                case = Case(replace(sample, id=answer), claims, labels, keys, len(sample.response.split()))
                found.append((answer, case))
    if not found:
        raise InputError(f"no claim of run {run.id} is labelled: `everyclaim label {run.id} --out FILE` chooses some")
    taken = 0
    for _, case in sorted(dict(found).items()):
        if taken >= MOST_CLAIMS:
            return
        taken += len(case.claims)
        yield case


def _history_at(given: str | os.PathLike[str] | None, store: str | os.PathLike[str]) -> Path:
    if given is not None:
        return Path(given)
    location = os.fspath(store)
    if "://" in location:
        raise ConfigError("checks are kept beside the store, and this one is a database: say history=FILE.jsonl")
    return Path(location).parent / HISTORY


def _read_history(place: Path) -> Iterator[Mapping[str, Any]]:
    """Yield the checks that are kept. Raises `InputError` for a file that is something else."""
    try:
        lines = place.read_text("utf-8").splitlines()
    except FileNotFoundError:
        return
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"history {place} cannot be read: {error}") from None
    for number, line in enumerate(lines, start=1):
        try:
            row = json.loads(line)
        except ValueError:
            row = None
        if not isinstance(row, dict) or row.get("format") != _FORMAT or not _is_check(row):
            raise InputError(f"history {place}, line {number}: this is no check of a judge")
        yield row


def _is_check(row: Mapping[str, Any]) -> bool:
    texts, tables = (row.get("judge"), row.get("created")), (row.get("labels"), row.get("parameters"))
    return all(isinstance(one, str) for one in texts) and all(isinstance(one, dict) for one in tables)


def _keep(place: Path, found: JudgeCheck, parameters: Mapping[str, str]) -> None:
    """Add the check to the history, on the disk before anything is said of it."""
    row = {
        "format": _FORMAT,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "judge": found.judge,
        "parameters": dict(parameters),
        "labels": {one.key: one.said.value for one in found.asked if one.said is not None},
    }
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        with place.open("ab") as file:
            file.write((json.dumps(row, ensure_ascii=True) + "\n").encode("ascii"))
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise OperatorError(f"the check cannot be kept in {place}: {error}") from None
