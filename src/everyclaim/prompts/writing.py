"""The prompts that have something written: answers and better sentences, search queries, questions and their answers.

What a former answer said wrong goes to whoever writes, as data, and to nobody else: it is never shown to a judge.
Each prompt of QA consistency is its own request: who answers from the passages never sees what the response says.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from everyclaim.core.protocols import Message
from everyclaim.core.types import Label
from everyclaim.prompts.forms import TEXT, RowPrompt, document, filled, listed, request, template, text


class ReportedFault(NamedTuple):
    """A statement that did not hold, and what is known about why."""

    claim: str
    label: Label
    why: str = ""
    passage_says: str = ""  # where it is contradicted


class Faulty(NamedTuple):
    """A sentence to rewrite, and what is wrong with it."""

    sentence: str
    faults: tuple[ReportedFault, ...]


def guidance(faults: Sequence[ReportedFault]) -> str:
    """Return what to tell a generator that takes plain instructions; every quoted text is one JSON string."""
    words: str = template("plain")["guidance"]
    return f"{words} Do not repeat these statements:\n{_listed(faults)}" if faults else words


def rewrite_one(faulty: Faulty) -> str:
    """Return how to ask a generator that takes plain instructions for one better sentence."""
    sentence, faults = document(faulty.sentence), _listed(faulty.faults)
    return f"{template('plain')['rewrite_one']}\nThe sentence: {sentence}\nNot supported by the passages:\n{faults}"


@dataclass(frozen=True, slots=True)
class GenerationPrompt:
    """Ask for an answer in plain text."""

    version = "generation-2"

    def messages(
        self, question: str, passages: Mapping[str, Any], instructions: str, faults: Sequence[ReportedFault] = ()
    ) -> list[Message]:
        """Write the request. `instructions` are the application's own and go to the system's side."""
        words = template("plain")
        system = "\n".join(filter(None, [words["answer"], words["avoid"] if faults else "", instructions]))
        data: dict[str, Any] = {"passages": passages, "question": question}
        if faults:
            data["not_supported"] = [_as_data(fault) for fault in faults]
        return request(system, data)


@dataclass(frozen=True, slots=True)
class RewritePrompt(RowPrompt[str]):
    """Ask for better sentences, by id."""

    version = "rewrite-1"
    title = rows_name = "sentences"
    row: ClassVar[Mapping[str, Any]] = {"text": TEXT}

    def messages(
        self, sentences: Mapping[str, Faulty], passages: Mapping[str, Any], question: str, answer: str
    ) -> list[Message]:
        """Write the request."""
        asked = {
            key: {"sentence": faulty.sentence, "wrong": [_as_data(fault) for fault in faulty.faults]}
            for key, faulty in sentences.items()
        }
        data = {"passages": passages, "question": question, "answer": answer, "sentences": asked}
        return request(template("plain")["rewrite"], data)

    def read(self, row: Mapping[str, Any]) -> str | None:
        """Read one sentence; empty where nothing is left to say."""
        return text(row, "text")


def _as_data(fault: ReportedFault) -> dict[str, str]:
    data = {"statement": fault.claim, "finding": str(fault.label), "why": fault.why, "passage": fault.passage_says}
    return {key: value for key, value in data.items() if value}


def _listed(faults: Sequence[ReportedFault]) -> str:
    return "\n".join(f"- {document(_as_data(fault))}" for fault in faults)


LONGEST_QUERY = 300  # characters
_SHOWN = 500  # characters of one found text


class Searched(NamedTuple):
    """One search for a claim: the query, and the texts it found."""

    query: str
    found: tuple[str, ...]


class Wanted(NamedTuple):
    """A claim that is still open, and the searches made for it."""

    claim: str
    searches: tuple[Searched, ...] = ()


@dataclass(frozen=True, slots=True)
class QueryPrompt(RowPrompt[str]):
    """One query per claim, at most 300 characters each; several claims share a request."""

    version = "query-1"
    title = rows_name = "queries"
    row: ClassVar[Mapping[str, Any]] = {"query": TEXT}

    def messages(self, wanted: Mapping[str, Wanted], question: str) -> list[Message]:
        """Write the request."""
        data: dict[str, Any] = {"question": question} if question else {}
        data["claims"] = {key: one.claim for key, one in wanted.items()}
        searches = {
            key: [{"query": one.query, "found": [text[:_SHOWN] for text in one.found]} for one in want.searches]
            for key, want in wanted.items()
            if want.searches
        }
        data |= {"searches": searches} if searches else {}
        return request(template("plain")["query"], data, shared=True)

    def read(self, row: Mapping[str, Any]) -> str | None:
        """Read one query."""
        return " ".join((text(row, "query") or "").split())[:LONGEST_QUERY] or None


_TRUTH = {"type": "boolean"}


@dataclass(frozen=True, slots=True)
class QuestionPrompt(RowPrompt[tuple[str, ...]]):
    """Ask for questions about sentences, at most `per_sentence` each, without repeats."""

    per_sentence: int = 3
    title: ClassVar[str] = "questions"
    rows_name: ClassVar[str] = "sentences"
    row: ClassVar[Mapping[str, Any]] = {"questions": listed(TEXT)}

    @property
    def version(self) -> str:
        """Name the wording."""
        return f"questions-1/per_sentence={self.per_sentence}"

    def messages(self, sentences: Mapping[str, str], question: str) -> list[Message]:
        """Write the request."""
        words = template("plain")
        system = filled(words["questions"], data=words["data"], most=str(self.per_sentence))
        asked: dict[str, Any] = {"question": question} if question else {}
        return request(system, asked | {"ask_about": dict(sentences)})

    def read(self, row: Mapping[str, Any]) -> tuple[str, ...] | None:
        """Read the questions about one sentence."""
        given = row.get("questions")
        if not isinstance(given, list) or not all(isinstance(question, str) for question in given):
            return None
        texts = dict.fromkeys(" ".join(question.split()) for question in given if question.strip())
        return tuple(texts)[: self.per_sentence]


@dataclass(frozen=True, slots=True)
class AnswerPrompt(RowPrompt[str]):
    """Ask for the answers a text gives; empty where it gives none."""

    version = "answers-1"
    title = rows_name = "answers"
    row: ClassVar[Mapping[str, Any]] = {"found": _TRUTH, "answer": TEXT}

    def messages(self, questions: Mapping[str, str], texts: Any, *, shared: bool = False) -> list[Message]:
        """Write the request: instructions, texts, questions. `shared`: others follow with the same texts."""
        words = template("plain")
        system = filled(words["answers"], data=words["data"])
        return request(system, {"texts": texts}, {"questions": dict(questions)}, shared=shared)

    def read(self, row: Mapping[str, Any]) -> str | None:
        """Read the answer to one question."""
        words, found = text(row, "answer"), row.get("found")
        if words is None or not isinstance(found, bool) or (found and not words):
            return None
        return words if found else ""


@dataclass(frozen=True, slots=True)
class AgreementPrompt(RowPrompt[bool]):
    """Ask whether two answers to one question say the same."""

    version = "agreement-1"
    title = "agreement"
    rows_name = "pairs"
    row: ClassVar[Mapping[str, Any]] = {"same": _TRUTH}

    def messages(self, pairs: Mapping[str, Mapping[str, str]]) -> list[Message]:
        """Write the request. A pair is a question with its two answers."""
        words = template("plain")
        return request(filled(words["agreement"], data=words["data"]), {"pairs": pairs})

    def read(self, row: Mapping[str, Any]) -> bool | None:
        """Read whether the answers of one pair agree."""
        same = row.get("same")
        return same if isinstance(same, bool) else None
