"""LangChain: a runnable that scores what a chain returns, and a callback that scores what it retrieves and answers.

chain = answer | scoring()                    # adds the result under the key "everyclaim"

with FaithfulnessCallback(on_result=print) as callback:
    chain.invoke(question, config={"callbacks": [callback]})
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from threading import Lock
from typing import Any

from everyclaim.api.evaluator import Evaluator
from everyclaim.core.errors import needed_for
from everyclaim.core.lifetime import Closing
from everyclaim.core.types import Result
from everyclaim.integrations.common import evaluator_of, plain
from everyclaim.monitor.watch.traces import answer_in, question_in

with needed_for("The integration with LangChain", "langchain"):
    from langchain_core.callbacks import BaseCallbackHandler
    from langchain_core.runnables import Runnable, RunnableLambda


def scoring(
    evaluator: Evaluator | None = None,
    *,
    question: str = "input",
    answer: str = "answer",
    context: str = "context",
    result: str = "everyclaim",
    **options: Any,
) -> Runnable[Mapping[str, Any], dict[str, Any]]:
    """Return a runnable that adds to a chain's output, a mapping with these keys, the `Result` under `result`.

    The keys are those of LangChain's own retrieval chains. Documents may be `Document`s or texts. Options are those of
    an `Evaluator`; without one, an evaluator is made and kept as long as the runnable.
    """
    held = evaluator_of(evaluator, options)

    def score(output: Mapping[str, Any]) -> dict[str, Any]:
        row = {
            "question": question_in(plain(output.get(question))) or "",
            "response": answer_in(plain(output[answer])) or "",
            "contexts": _passages(output.get(context) or ()),
        }
        return {**output, result: held.score(row)}

    return RunnableLambda(score, name="everyclaim")


@dataclass(slots=True)
class _ChainCall:
    question: str
    documents: list[Any] | None = None  # None: nothing was asked for


class FaithfulnessCallback(Closing, BaseCallbackHandler):  # type: ignore[misc]  # its base is known where LangChain is installed
    """Scores the answers of chains in which something is retrieved, in a thread of its own, without holding them up.

    `on_result` is given each `Result`; without it they are gathered in `results`. `wait` waits for those under way. A
    chain that retrieves nothing is let be. What scoring raises is raised by `wait`, and never in the chain.
    """

    def __init__(
        self,
        evaluator: Evaluator | None = None,
        *,
        on_result: Callable[[Result], object] | None = None,
        **options: Any,
    ) -> None:
        super().__init__()
        self.results: list[Result] = []
        self._evaluator = evaluator_of(evaluator, options)
        self._owned = evaluator is None
        self._on_result = on_result
        self._root: dict[Any, Any] = {}  # call → the call of the whole chain
        self._runs: dict[Any, _ChainCall] = {}
        self._lock = Lock()
        self._worker = ThreadPoolExecutor(1, "everyclaim")
        self._under_way: list[Future[None]] = []

    def wait(self) -> None:
        """Wait for the answers under way. Raises what scoring one of them raised."""
        with self._lock:
            waiting, self._under_way = self._under_way, []
        for future in waiting:
            future.result()

    def close(self) -> None:
        """Wait, and close what was made for it."""
        try:
            self.wait()
        finally:
            self._worker.shutdown()
            if self._owned:
                self._evaluator.close()

    # ---- what LangChain tells

    def on_chain_start(self, _: Any, said: Any, *, run_id: Any, parent_run_id: Any = None, **__: Any) -> None:
        """Take note of a chain and of what it was asked, or of which chain a retrieval or a tool is part of."""
        with self._lock:
            if parent_run_id is None:
                self._runs[run_id] = _ChainCall(question_in(plain(said)) or "")
            else:
                self._root[run_id] = self._root.get(parent_run_id, parent_run_id)

    on_retriever_start = on_tool_start = on_chain_start

    def on_retriever_end(self, documents: Sequence[Any], *, run_id: Any, **_: Any) -> None:
        """Keep what was retrieved for the answer of the whole chain."""
        with self._lock:
            root = self._root.pop(run_id, run_id)
            if run := self._runs.get(root):
                run.documents = [*(run.documents or ()), *documents]
            if root == run_id:  # a retriever that is called alone answers nothing
                self._runs.pop(root, None)

    def on_chain_end(self, outputs: Any, *, run_id: Any, **_: Any) -> None:
        """Score the answer when the whole chain has ended."""
        run = self._forget(run_id)
        if run is None or run.documents is None or (answer := answer_in(plain(outputs))) is None:
            return
        row = {"question": run.question, "response": answer, "contexts": _passages(run.documents)}
        with self._lock:
            self._under_way = [future for future in self._under_way if not future.done() or future.exception()]
            self._under_way.append(self._worker.submit(self._score, row))

    def on_chain_error(self, _: Any, *, run_id: Any, **__: Any) -> None:
        """Forget what has failed, or has ended without an answer."""
        self._forget(run_id)

    on_retriever_error = on_tool_error = on_tool_end = on_chain_error

    def _forget(self, run_id: Any) -> _ChainCall | None:
        with self._lock:
            self._root.pop(run_id, None)
            return self._runs.pop(run_id, None)

    def _score(self, row: dict[str, Any]) -> None:
        tell = self._on_result or self.results.append
        tell(self._evaluator.score(row))


def _passages(documents: Sequence[Any]) -> list[Any]:
    """Return documents as passages; of two that are the same one is enough."""
    if isinstance(documents, str):
        return [documents]
    passages: list[Any] = []
    for document in documents:
        if document not in passages:
            passages.append(document)
    return passages
