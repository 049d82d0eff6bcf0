"""Try it: an answer and its sources pasted, its claims judged by the dashboard's one evaluator, nothing kept."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from threading import BoundedSemaphore
from typing import Annotated, Any

from fastapi import APIRouter, Form, Request
from starlette.exceptions import HTTPException
from starlette.responses import Response

from everyclaim.api.scoring import read_sample
from everyclaim.core.errors import EveryclaimError
from everyclaim.core.protocols import Kept
from everyclaim.report.html.answers import AnswerView, answer_view
from everyclaim.report.html.charts import label_bar
from everyclaim.web.app.auth import visitor_of
from everyclaim.web.app.site import Site, render, site_of

router = APIRouter()
MOST = 200_000  # characters of an answer and its sources together
_AT_ONCE = BoundedSemaphore(2)
_RULE = re.compile(r"(?m)^[ \t]*(?:-{3,}|\*{3,}|={3,})[ \t]*$")
EXAMPLE = {
    "question": "How long does the sourdough starter rest?",
    "response": "The starter rests for 12 hours at room temperature. It is fed with equal weights of flour and water.",
    "sources": (
        "Feed the starter with equal weights of flour and water, then let it rest for 8 hours at room temperature."
        "\n---\n"
        '{"step": 2, "action": "knead", "minutes": 10, "rest": "1 hour"}'
    ),
}


@router.get("/try")
def form(request: Request, example: str = "") -> Response:
    """Show the form."""
    _evaluator(site_of(request))
    given = EXAMPLE if example else dict.fromkeys(EXAMPLE, "")
    return render(request, "try.html", **given, view=None, said="", bar="", most=MOST)


@router.post("/try")
def judged(
    request: Request,
    question: Annotated[str, Form()] = "",
    response: Annotated[str, Form()] = "",
    sources: Annotated[str, Form()] = "",
) -> Response:
    """Judge what was pasted, and show it as an answer of a run is shown."""
    site = site_of(request)
    given = {
        name: text.replace("\r\n", "\n") for name, text in zip(EXAMPLE, (question, response, sources), strict=True)
    }
    view, said = None, ""
    wait = site.try_rates.take(visitor_of(request).name or (request.client.host if request.client else ""))
    if wait:
        said = f"Too many requests: wait {max(1, round(wait))} s."
    elif not response.strip():
        said = "Paste an answer first."
    elif sum(map(len, given.values())) > MOST:
        said = f"The text exceeds {MOST:,} characters: score it from a file."
    else:
        try:
            view = _judged(site, **given)
        except EveryclaimError as error:
            said = str(error)
    bar = label_bar(view.result.counts) if view and view.claims else ""
    return render(
        request, "try.html", http_status=400 if said else 200, **given, view=view, said=said, bar=bar, most=MOST
    )


def _judged(site: Site, question: str, response: str, sources: str) -> AnswerView:
    sample = read_sample(response, passages_of(sources), question)
    with _AT_ONCE:
        result = _evaluator(site).score(sample)
    return answer_view(Kept(0, "", sample, result))


def passages_of(sources: str) -> Sequence[Any]:
    """Take pasted sources apart: a JSON list is one passage per element; else a ruling (``---``) parts them."""
    text = sources.strip()
    try:
        found = json.loads(text) if text.startswith("[") else None
    except (ValueError, RecursionError):
        found = None
    if isinstance(found, list):
        return [_passage(one) for one in found]
    return [part.strip() for part in _RULE.split(sources) if part.strip()]


def _passage(one: Any) -> Any:
    """Take text, and objects that hold it, as passages; any other record is one as it stands."""
    is_passage = isinstance(one, str) or (isinstance(one, dict) and isinstance(one.get("text"), str))
    return one if is_passage else json.dumps(one, ensure_ascii=False, indent=1)


def _evaluator(site: Site) -> Any:
    if site.evaluator is None:
        raise HTTPException(404)
    return site.evaluator
