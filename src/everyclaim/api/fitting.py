"""Fitting to people's labels: the band of doubt of a cascade."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Mapping
from itertools import islice
from typing import Any, Unpack, cast

from everyclaim.analysis.doubt import BandFit, LabelledJudgement, check_rates, fit_band_of_doubt
from everyclaim.api.components import DEFAULT_JUDGE, in_talks
from everyclaim.api.talking import MARKS, TalkingOfSize
from everyclaim.api.verifying import ClaimVerdict, VerifyOptions, verify_rows
from everyclaim.core.errors import ConfigError, InputError
from everyclaim.core.limits import Limits, within
from everyclaim.core.protocols import Verifier
from everyclaim.core.spec import Spec
from everyclaim.core.types import Label
from everyclaim.io import ClaimRow, ReadReport, read_claims

LABEL = "label"
_MEANS = {Label.SUPPORTED.value: True, Label.UNSUPPORTED.value: False, Label.CONTRADICTED.value: False}
_MEANS |= {"NOT_SUPPORTED": False}


class FitOptions(TalkingOfSize, total=False):
    """What can be chosen about a fit; the names are those of `score_file`."""

    mapping: Mapping[str, str]  # field names, theirs → ours; `label` is one of ours
    format: str | None  # when the name of the file does not say
    limit: int | None  # use at most so many claims
    concurrency: int | None  # claims in flight
    report: ReadReport  # what reading says goes here
    on_verdict: Callable[[ClaimVerdict], object]  # told of every claim that was judged


def fit_band(
    source: Any,
    judge: str | Verifier = DEFAULT_JUDGE,
    *,
    error: float = 0.1,
    confidence: float = 0.95,
    each_side: bool = False,
    **options: Unpack[FitOptions],
) -> BandFit:
    """Find the band of doubt in which a judge settles what it may, wrong in at most `error` of that.

    `source` is anything that `score_file` takes, with rows of `claim`, `contexts` and `label` (`SUPPORTED`,
    `UNSUPPORTED`, `CONTRADICTED`, or `NOT_SUPPORTED` where it is not known which of the two), and optionally `id`,
    `question` and `sentence`. The rate holds with probability `confidence` for claims that are like these: for all
    that is settled, with `each_side` also for what is settled as supported and as not supported alone. Claims with
    the same passages count as alike. Claims that the judge failed on, or that have no passages, are left out.

    Raises `InputError` for a source without labelled claims or with a label that is none, and `ConfigError` for a
    judge that gives no probabilities. `cascade_spec` writes the result as a judge.
    """
    check_rates(error, confidence)
    labelled = _read(source, options)
    judged: list[LabelledJudgement] = []
    silent = 0
    waiting = iter(labelled)

    def take(found: ClaimVerdict) -> None:
        nonlocal silent
        row = next(waiting)
        if tell := options.get("on_verdict"):
            tell(found)
        if found.verdict is None or "no_passages" in found.verdict.flags:
            return
        if found.verdict.probabilities is None:
            silent += 1
            return
        is_supported = _MEANS[row.tags[LABEL]]
        judged.append(LabelledJudgement(found.verdict.probabilities, is_supported, _passages(row)))

    asked = cast("VerifyOptions", {**options, "judge": judge, "strategy": "joint"})
    with in_talks(asked) as chosen:
        verify_rows(labelled, take, chosen)
    if silent:
        raise ConfigError(
            f"judge {_name(judge)} gives no probabilities, so nothing can be sure: take one that does, such as "
            "'embedded', or a language model that votes, as in 'openai:gpt-5-mini?repeats=5'"
        )
    if not judged:
        raise InputError(f"judge {_name(judge)} gave no verdict on any of the {len(labelled)} labelled claims")
    return fit_band_of_doubt(judged, error=error, confidence=confidence, each_side=each_side)


def cascade_spec(fit: BandFit, first: str, second: str) -> str:
    """Return the spec of the cascade that settles by this band, as for `judge`."""
    parts = [Spec.parse(first), Spec.parse(second)]
    if made := next((part for part in parts if part.name in MARKS), None):
        raise ConfigError(f"a cascade is made of plain judges here, but {made.shown!r} is made of some")
    options = {f"{place}.{key}": value for place, part in enumerate(parts, 1) for key, value in part.options.items()}
    named = ">".join(str(Spec(part.name, part.argument)) for part in parts)
    return str(Spec("cascade", named, options | {"low": f"{fit.low:g}", "high": f"{fit.high:g}"}))


def _name(judge: Any) -> str:
    return repr(Spec.parse(judge).shown if isinstance(judge, str) else judge.spec)


def _read(source: Any, options: FitOptions) -> list[ClaimRow]:
    """Read the labelled claims, each label in the one way it is written here."""
    mapping = dict(options.get("mapping") or {})
    field = next((theirs for theirs, ours in mapping.items() if ours == LABEL), LABEL)
    mapping.pop(field, None)
    report = options.get("report") or ReadReport()
    with within(Limits.of(options)):
        read = read_claims(source, mapping=mapping, format=options.get("format"), slices=[field], report=report)
    rows: list[ClaimRow] = []
    for row in islice(read, options.get("limit")):
        given = row.tags.get(field)
        if given is None:
            continue  # not labelled yet
        said = given.strip().upper().replace(" ", "_").replace("-", "_")
        if said not in _MEANS:
            raise InputError(f"claim {row.id!r} has the label {given!r}: it must be one of {', '.join(_MEANS)}")
        rows.append(ClaimRow(row.id, row.claim, row.passages, row.question, row.sentence, {LABEL: said}))
    if not rows:
        name = os.fspath(source) if isinstance(source, str | os.PathLike) else "the source"
        why = f"; {report.bad_rows[0]}" if report.bad_rows else ""
        raise InputError(f"{name} holds no labelled claim{why}")
    return rows


def _passages(row: ClaimRow) -> bytes:
    texts = json.dumps([passage.text for passage in row.passages])
    return hashlib.sha256(texts.encode("ascii")).digest()
