"""A middleware that checks every answer of a RAG service before it leaves, and repairs what its sources do not support.

pip install 'everyclaim[serve]'
uvicorn --app-dir examples fastapi_guard:app

The service below is an ordinary one: it returns question, answer and contexts as JSON. `GuardedAnswers` reads each such
reply, has the answer checked against the contexts, and sends what may be shown, with the finding beside it.
"""

from __future__ import annotations

import json
from typing import Any

from fastapi import FastAPI, Request, Response
from starlette.middleware.base import BaseHTTPMiddleware, RequestResponseEndpoint

import everyclaim as ec


class GuardedAnswers(BaseHTTPMiddleware):
    """Guards the replies of some paths. Whatever else a reply holds stays as it is."""

    def __init__(self, app: Any, *, guard: ec.Guard, paths: tuple[str, ...]) -> None:
        super().__init__(app)
        self._guard = guard
        self._paths = paths

    async def dispatch(self, request: Request, call_next: RequestResponseEndpoint) -> Response:
        """Let the service answer, and check the answer."""
        reply = await call_next(request)
        if request.url.path not in self._paths or reply.status_code != 200:
            return reply
        body = json.loads(b"".join([part async for part in reply.body_iterator]))
        guarded = await self._guard.aanswer(body["question"], body["contexts"], response=body["answer"])
        body["answer"] = guarded.text
        body["faithfulness"] = {
            "checked": guarded.checked,
            "score": guarded.score,
            "removed": [one.claim.text for one in guarded.removed],
            "warnings": list(guarded.warnings),
        }
        headers = {name: value for name, value in reply.headers.items() if name.lower() != "content-length"}
        return Response(json.dumps(body), reply.status_code, headers, media_type="application/json")


app = FastAPI()
app.add_middleware(
    GuardedAnswers,
    guard=ec.Guard(None, threshold=0.9, repair="drop"),  # no generator: answers are given; failed claims are dropped
    paths=("/ask",),
)


@app.get("/ask")
def ask(question: str) -> dict[str, Any]:
    """Answer from sources; stands for your own retrieval and generation."""
    return {
        "question": question,
        "answer": "Descaling takes 35 minutes on the Classica. It was invented in Rome.",
        "contexts": ["The descaling programme takes 35 minutes on the Classica."],
    }


@app.get("/health")
def health() -> dict[str, str]:
    """Say that the service is there."""
    return {"status": "ok"}
