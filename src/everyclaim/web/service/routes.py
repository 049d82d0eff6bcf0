"""One answer at a time: score it, judge given claims, split it, guard it; and how the service is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fastapi import APIRouter, Request, Response

from everyclaim._version import __version__
from everyclaim.core.errors import EveryclaimError
from everyclaim.core.types import Result
from everyclaim.core.wire import SCHEMA, claim_to_json, decomposition_to_json, provenance_to_json, result_to_json
from everyclaim.store import Store
from everyclaim.web.guard_json import guarded_to_json
from everyclaim.web.service.gate import RequestContext
from everyclaim.web.service.job_store import JobStore
from everyclaim.web.service.openapi import documented, takes
from everyclaim.web.service.problems import Problem
from everyclaim.web.service.requests import MB, fields_of, json_answer, options_of, read_object, text_of, texts_of
from everyclaim.web.service.schemas import (
    DecompositionOut,
    GuardedOut,
    HealthOut,
    ReadyOut,
    ResultOut,
    VerdictsOut,
    VersionOut,
)
from everyclaim.web.service.settings import ServiceSettings
from everyclaim.web.service.work import Work

_RULES = ("threshold", "repair", "contradicted", "unsupported", "keep", "refusal")


@dataclass(frozen=True, slots=True)
class Single:
    """What the routes for single answers stand on."""

    work: Work
    settings: ServiceSettings

    async def row(self, request: Request, kind: str) -> dict[str, Any]:
        """Return a request's fields by our names."""
        options_of(request.query_params.multi_items(), ())
        row = await read_object(request, int(self.settings.body_mb * MB), self.settings.body_seconds)
        if self.settings.log_texts:
            asked: RequestContext = request.state.asked
            asked.said["row"] = row
        return fields_of(kind, row)


def routes(single: Single, job_store: JobStore, store: Store) -> APIRouter:
    """Return the routes."""
    router = APIRouter()
    work, evaluator = single.work, single.work.evaluator

    @router.post("/v1/score", response_model=ResultOut, **documented("score", **takes("score")))
    async def score(request: Request) -> Response:
        """Score one answer against its passages, claim by claim.

        The fields are those of a row of a file, by any of their names. A judge's failure is an answer as well: its
        `outcome` is `failed`, with the `reason` and without a score.
        """
        row = await single.row(request, "score")
        given = {name: value for name, value in row.items() if value is not None}
        result = await work.done(request, lambda: evaluator.ascore(given))
        _note(request, result)
        return json_answer(result_to_json(result))

    @router.post("/v1/verify", response_model=VerdictsOut, **documented("verify", **takes("verify")))
    async def verify(request: Request) -> Response:
        """Judge given claims against passages, one verdict per claim, in order; nothing is decomposed."""
        row = await single.row(request, "verify")
        texts, question = texts_of("verify", "claims", row["claims"]), text_of("verify", "question", row["question"])
        passages = _passages("verify", row["contexts"])
        found = await work.done(request, lambda: evaluator.averify(texts, passages, question=question))
        return json_answer({"claims": [claim_to_json(claim) for claim in found]})

    @router.post("/v1/claims", response_model=DecompositionOut, **documented("claims", **takes("claims")))
    async def claims(request: Request) -> Response:
        """Split a response into claims, and say what was skipped and why."""
        row = await single.row(request, "claims")
        response, question = (text_of("claims", name, row[name]) for name in ("response", "question"))
        found = await work.done(request, lambda: evaluator.aclaims(response, question=question))
        return json_answer(decomposition_to_json(found))

    @router.post("/v1/guard", response_model=GuardedOut, **documented("guard", **takes("guard")))
    async def guard(request: Request) -> Response:
        """Check an answer and return what may be shown of it: as it is, without the claims that failed, or a refusal.

        `rules` are those of `everyclaim.Guard` that need no generator.
        """
        row = await single.row(request, "guard")
        response, question = (text_of("guard", name, row[name]) for name in ("response", "question"))
        rules = _rules(row["rules"])
        checking = evaluator.guard(None, **rules)
        passages = _passages("guard", row["contexts"])
        answer = await work.done(request, lambda: checking.aanswer(question, passages, response=response))
        _note(request, answer.result)
        return json_answer(guarded_to_json(answer))

    @router.get("/health", response_model=HealthOut, **documented("health"))
    async def health(request: Request) -> Response:
        """Say that the process answers. Needs no token."""
        options_of(request.query_params.multi_items(), ())
        return json_answer({"status": "ok"})

    @router.get("/ready", response_model=ReadyOut, **documented("ready"))
    def ready(request: Request) -> Response:
        """Say whether requests are taken: the store answers and there is room. Needs no token."""
        options_of(request.query_params.multi_items(), ())
        try:
            store.runs(limit=1)
        except EveryclaimError:
            raise Problem("unavailable", "the store does not answer", retry_after=5) from None
        now = work.admission
        if now.waiting >= max(now.queue, 1):
            raise Problem("unavailable", f"{now.waiting} requests wait", retry_after=1)
        load = {name: getattr(now, name) for name in ("working", "waiting", "places", "queue")}
        return json_answer({"status": "ready", **load, "jobs_waiting": len(job_store.waiting())})

    @router.get("/version", response_model=VersionOut, **documented("version"))
    async def version(request: Request) -> Response:
        """Say which version answers, and which judge, decomposer and metric it has. Needs no token."""
        options_of(request.query_params.multi_items(), ())
        made = provenance_to_json(evaluator.provenance)
        return json_answer({"version": __version__, "schema": SCHEMA, "provenance": made})

    return router


def _note(request: Request, result: Result) -> None:
    """Put what came of it into the log, without a word of the text."""
    asked: RequestContext = request.state.asked
    asked.said |= {"outcome": result.outcome.value, "claims": len(result.claims)}


def _passages(kind: str, given: Any) -> Any:
    """Return passages as the evaluator takes them. Raises `Problem` for what are none."""
    shelf = () if given is None else given
    if not isinstance(shelf, str | tuple | list | dict) or (
        isinstance(shelf, list) and not all(isinstance(one, str | dict) for one in shelf)
    ):
        raise Problem("bad-input", f"contexts of {kind} must be texts, or objects with a text")
    return shelf


def _rules(given: Any) -> dict[str, Any]:
    if given is None:
        return {}
    if not isinstance(given, dict):
        raise Problem("bad-input", 'rules of guard must be an object such as {"threshold": 0.9}')
    if given.get("repair") == "rewrite":
        raise Problem("bad-input", "rules.repair of guard must be 'drop' or 'none': there is no generator here")
    options_of([(name, "") for name in given], _RULES)
    return given
