"""The integration with LangChain, held against an installed LangChain. Run by ``make integrations``."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from framework_answers import GOOD, PASSAGES, QUESTION, WRONG, Away
from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.language_models import FakeListChatModel
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnableLambda, RunnablePassthrough

import everyclaim as ec
from everyclaim.core.types import Outcome
from everyclaim.integrations.langchain import FaithfulnessCallback, scoring


class Shelf(BaseRetriever):
    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
        return [Document(text, id=f"d{n}", metadata={"title": "Manual"}) for n, text in enumerate(PASSAGES, 1)]


def chain(*said: str) -> Any:
    """Return a chain as LangChain's own recipes have it: retrieve, fill in a prompt, ask, take the text."""
    prompt = ChatPromptTemplate.from_template("{context}\n{question}")
    model = FakeListChatModel(responses=list(said))
    return {"context": Shelf(), "question": RunnablePassthrough()} | prompt | model | StrOutputParser()


def test_a_runnable_adds_the_result_to_a_chain() -> None:
    """By the keys of LangChain's retrieval chains, with its documents; sync, async and in a batch."""
    documents = [Document(text) for text in PASSAGES]
    answered = RunnableLambda(lambda asked: {"input": asked, "answer": WRONG, "context": documents})
    with ec.Evaluator() as evaluator:
        whole = answered | scoring(evaluator)
        found = whole.invoke(QUESTION)
        assert (found["answer"], found["everyclaim"].score) == (WRONG, 0.0)
        assert found["everyclaim"].question == QUESTION
        assert asyncio.run(whole.ainvoke(QUESTION))["everyclaim"].score == 0.0
        assert [one["everyclaim"].score for one in whole.batch([QUESTION] * 2)] == [0.0, 0.0]
        renamed = RunnableLambda(lambda asked: {"q": asked, "said": GOOD, "docs": PASSAGES})
        result = (renamed | scoring(evaluator, question="q", answer="said", context="docs", result="r")).invoke(
            QUESTION
        )
        assert result["r"].score == 1.0


def test_a_callback_scores_what_a_chain_retrieves_and_answers() -> None:
    """Question, documents with ids and titles, and the answer, of each call on its own."""
    results: list[ec.Result] = []
    with FaithfulnessCallback(on_result=results.append) as callback:
        config = {"callbacks": [callback]}
        assert chain(GOOD).invoke(QUESTION, config=config) == GOOD
        chain(WRONG).batch([QUESTION, "And how heavy?"], config=config)
        callback.wait()
        assert [one.score for one in results] == [1.0, 0.0, 0.0]
        assert {one.question for one in results} == {QUESTION, "And how heavy?"}
        assert results[0].claims[0].verdict.evidence[0].passage_id == "d1"
        assert not callback._runs
        assert not callback._root


def test_a_callback_sees_streams_and_async_calls() -> None:
    """In pieces or awaited, it is one answer."""
    with FaithfulnessCallback() as callback:
        config = {"callbacks": [callback]}
        assert "".join(chain(WRONG).stream(QUESTION, config=config)) == WRONG
        asyncio.run(chain(WRONG).ainvoke(QUESTION, config=config))
        callback.wait()
        assert [one.score for one in callback.results] == [0.0, 0.0]


def test_a_chain_that_retrieves_nothing_is_let_be() -> None:
    """So is a retriever alone, and a chain that fails."""
    with FaithfulnessCallback() as callback:
        config = {"callbacks": [callback]}
        (ChatPromptTemplate.from_template("{x}") | FakeListChatModel(responses=["Hello."])).invoke("x", config=config)
        Shelf().invoke(QUESTION, config=config)

        def fail(_: Any) -> Any:
            raise RuntimeError("no")

        with pytest.raises(RuntimeError):
            (Shelf() | RunnableLambda(fail)).invoke(QUESTION, config=config)
        callback.wait()
        assert callback.results == []
        assert not callback._runs


def test_a_judge_that_is_away_does_not_disturb_the_chain() -> None:
    """The result is failed, with its reason."""
    with ec.Evaluator(judge=Away()) as evaluator, FaithfulnessCallback(evaluator) as callback:
        assert chain(GOOD).invoke(QUESTION, config={"callbacks": [callback]}) == GOOD
        callback.wait()
        assert [(one.outcome, one.score) for one in callback.results] == [(Outcome.FAILED, None)]


def test_options_are_the_evaluators() -> None:
    """Checked as everywhere; not beside an evaluator that has its own."""
    with pytest.raises(ec.EveryclaimError, match="judg"):
        FaithfulnessCallback(judg="lexical")
    with ec.Evaluator() as evaluator, pytest.raises(ec.ConfigError, match="set it there"):
        scoring(evaluator, judge="lexical")
