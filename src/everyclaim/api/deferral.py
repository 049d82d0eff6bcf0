"""Fitting to people's labels: the deferral zone of a cascade."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from typing import Any, Unpack

from everyclaim.analysis.deferral import BandFit, LabelledJudgement, check_rates, fit_deferral
from everyclaim.api.components import DEFAULT_JUDGE, InFlight, JudgeSpec, Rows
from everyclaim.api.door import public
from everyclaim.api.labelled import MEANS, label_of, read_labelled
from everyclaim.api.running import Source
from everyclaim.api.session import Session
from everyclaim.api.talking import MARKS, Judging
from everyclaim.api.verifying import ClaimVerdict, verify_rows
from everyclaim.core.errors import ConfigError, InputError
from everyclaim.core.functions import name_of
from everyclaim.core.limits import Limits, within
from everyclaim.core.protocols import Verifier
from everyclaim.core.spec import Spec
from everyclaim.core.types import Passage
from everyclaim.io import ReadReport, check_apart


class FitOptions(Judging, total=False):
    """What can be chosen about a fit; the names are those of `score_file`."""

    answers: Source  # the answers that the claims are of, where these and not the labels have the contexts
    mapping: Mapping[str, str] | None  # field names, theirs → ours; `label` and `sample_id` are among ours
    format: str | None  # when the name of the file does not say
    limit: Rows | None  # use at most so many claims
    concurrency: InFlight | None  # claims
    report: ReadReport  # what reading says goes here
    on_verdict: Callable[[ClaimVerdict], object]  # told of every claim that was judged


@public
def fit_band(
    source: Any,
    judge: JudgeSpec | Verifier | Callable[..., Any] = DEFAULT_JUDGE,
    *,
    error: float = 0.1,
    confidence: float = 0.95,
    each_side: bool = False,
    **options: Unpack[FitOptions],
) -> BandFit:
    """Find the deferral zone in which a judge settles what it may, wrong in at most `error` of that.

    `source` is anything that `score_file` takes, with rows of `claim`, `contexts` and `label` (`SUPPORTED`,
    `UNSUPPORTED`, `CONTRADICTED`, or `NOT_SUPPORTED` where it is not known which of the two), and optionally `id`,
    `question` and `sentence`. Where rows name an answer by `sample_id` instead of holding contexts, `answers` is the
    source of these, as for `score_file`; a claim that several people labelled then counts once, by the most frequent
    label. The rate holds with probability `confidence` for claims that are like these: for all that is settled, with
    `each_side` also for what is settled as supported and as not supported alone. Claims with the same passages count as
    alike. Claims that the judge failed on, or that have no passages, are left out.

    Raises `InputError` for a source without labelled claims or with a label that is none, and `ConfigError` for a
    judge that gives no probabilities. `cascade_spec` writes the result as a judge.
    """
    check_rates(error, confidence)
    check_apart({"the labels": source, "the answers": options.get("answers")}, {"the cache": options.get("cache")})
    with within(Limits.of(options)):
        labelled = read_labelled(
            source,
            options.get("answers"),
            options.get("report") or ReadReport(),
            mapping=options.get("mapping"),
            format=options.get("format"),
            limit=options.get("limit"),
        )
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
        is_supported = MEANS[label_of(row)]
        judged.append(LabelledJudgement(found.verdict.probabilities, is_supported, passages_digest(row.passages)))

    asked = {name: value for name, value in options.items() if name in Judging.__annotations__}
    with closing(Session({**asked, "judge": judge, "strategy": "joint"})) as session:
        verify_rows(session, labelled, take, options.get("concurrency"))
    if silent:
        raise ConfigError(
            f"judge {_name(judge)} gives no probabilities, so nothing can be sure: take one that does, such as "
            "'embedded', or a language model, as in 'openai:gpt-5-mini'"
        )
    if not judged:
        raise InputError(f"judge {_name(judge)} gave no verdict on any of the {len(labelled)} labelled claims")
    return fit_deferral(judged, error=error, confidence=confidence, each_side=each_side)


def cascade_spec(fit: BandFit, first: str, second: str) -> str:
    """Return the spec of the cascade that settles by this band, as for `judge`."""
    parts = [Spec.parse(first), Spec.parse(second)]
    if made := next((part for part in parts if part.name in MARKS), None):
        raise ConfigError(f"a cascade is made of plain judges here, but {made.shown!r} is made of some")
    options = {f"{place}.{key}": value for place, part in enumerate(parts, 1) for key, value in part.options.items()}
    named = ">".join(str(Spec(part.name, part.argument)) for part in parts)
    return str(Spec("cascade", named, options | {"low": f"{fit.low:g}", "high": f"{fit.high:g}"}))


def _name(judge: Any) -> str:
    return repr(Spec.parse(judge).shown if isinstance(judge, str) else name_of(judge))


def passages_digest(passages: Sequence[Passage]) -> bytes:
    """Name some passages by their texts: claims about the same ones belong together."""
    texts = json.dumps([passage.text for passage in passages])
    return hashlib.sha256(texts.encode("ascii")).digest()
