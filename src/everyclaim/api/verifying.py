"""A file of given claims: each judged against its passages, in the order of the file, with bounded memory."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing
from dataclasses import asdict
from itertools import islice
from typing import Any, NamedTuple, TypedDict, Unpack, cast

from everyclaim.api.components import InFlight, JudgeOptions, Rows
from everyclaim.api.door import public
from everyclaim.api.given_claims import GivenClaims
from everyclaim.api.session import Session
from everyclaim.core.errors import BudgetExceeded, InputError
from everyclaim.core.limits import within
from everyclaim.core.types import Claim, Outcome, Provenance, Sample, Span, Usage, Verdict
from everyclaim.core.wire import provenance_to_json, verdict_to_json
from everyclaim.io import ClaimRow, ReadReport, check_apart, read_claims


class ClaimVerdict(NamedTuple):
    """One row of `verify`: a verdict, or the reason why there is none."""

    id: str
    verdict: Verdict | None
    error: str  # `code: explanation`; empty when there is a verdict
    usage: Usage
    provenance: Provenance
    sample: Sample  # the claim as its response, with question and passages


class RowOptions(TypedDict, total=False):
    """What can be chosen about a file of claims; the names are those of `score_file`."""

    mapping: Mapping[str, str] | None  # field names, theirs → ours
    format: str | None  # when the name of the file does not say
    limit: Rows | None  # judge at most so many claims
    concurrency: InFlight | None  # claims; None: 8, with a language model 32
    report: ReadReport  # what reading says goes here


class VerifyOptions(JudgeOptions, RowOptions, total=False):
    """What can be chosen about judging a file of claims."""


@public
def verify_file(source: Any, on_verdict: Callable[[ClaimVerdict], None], **options: Unpack[VerifyOptions]) -> int:
    """Judge every claim of a source, hand each verdict to `on_verdict` in the order of the rows, return how many.

    `source` is anything that `score_file` takes, with rows of `id`, `claim`, `contexts`, and optionally
    `question` and `sentence`. A judge's failure is an error on its row and stops nothing. Raises
    `InputError` when the source cannot be read or holds no claim, `ConfigError` for a wrong option, and
    `BudgetExceeded` at a limit; with a `cache` the same call again then pays for nothing twice.
    """
    check_apart({"the file of claims": source}, {"the cache": options.get("cache")})
    session = Session({key: value for key, value in options.items() if key in JudgeOptions.__annotations__})
    with closing(session):
        return verify_source(session, source, on_verdict, cast("RowOptions", options))


def verify_source(
    session: Session, source: Any, on_verdict: Callable[[ClaimVerdict], None], options: RowOptions
) -> int:
    """Judge every claim of a source; see `verify_file`."""
    report = options.get("report") or ReadReport()
    with within(session.limits):
        read = read_claims(source, mapping=options.get("mapping"), format=options.get("format"), report=report)
    rows = islice(read, options.get("limit"))
    count = verify_rows(session, rows, on_verdict, options.get("concurrency"))
    if not count:
        why = f"; {report.bad_rows[0]}" if report.bad_rows else ""
        raise InputError(f"{source if isinstance(source, str) else 'the source'} holds no claim to judge{why}")
    return count


def verify_rows(
    session: Session,
    rows: Iterable[ClaimRow],
    on_verdict: Callable[[ClaimVerdict], None],
    concurrency: int | None = None,
) -> int:
    """Judge claims that were read already, as `verify_file` does."""
    ask = GivenClaims.of(session, "verify")
    return session.run(_in_order(rows, ask, concurrency or session.concurrency, on_verdict))


def claim_verdict_to_json(row: ClaimVerdict) -> dict[str, Any]:
    """Write one row of `verify`'s output; `error` is there only when there is no verdict."""
    made = {"usage": asdict(row.usage), "provenance": provenance_to_json(row.provenance)}
    if row.verdict is None:
        return {"id": row.id, "label": None, "error": row.error, **made}
    return {"id": row.id, **verdict_to_json(row.verdict), **made}


async def _about(row: ClaimRow, ask: GivenClaims) -> ClaimVerdict:
    """Judge one claim, as a sample whose response is that claim."""
    text = row.claim
    sample = Sample(row.id, text, row.passages, row.question)
    result = await ask.result(sample, [Claim("c1", text, Span(0, len(text)), row.sentence or text)])
    if result.outcome is Outcome.SCORED:
        return ClaimVerdict(row.id, result.claims[0].verdict, "", result.usage, ask.provenance, sample)
    return ClaimVerdict(row.id, None, result.reason, result.usage, ask.provenance, sample)


async def _in_order(
    rows: Iterable[ClaimRow], ask: GivenClaims, concurrency: int, tell: Callable[[ClaimVerdict], None]
) -> int:
    """Keep at most `concurrency` claims in flight, and tell of each in its turn."""
    count = 0
    waiting: deque[asyncio.Task[ClaimVerdict]] = deque()
    try:
        for row in rows:
            waiting.append(asyncio.create_task(_about(row, ask)))
            if len(waiting) >= concurrency:
                tell(await waiting.popleft())
                count += 1
        while waiting:
            tell(await waiting.popleft())
            count += 1
    except BudgetExceeded:
        await asyncio.gather(*waiting, return_exceptions=True)  # what is under way is paid: let the cache have it
        raise
    finally:
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
    return count
