"""Conversations: rows of messages as OpenAI, Anthropic, Cohere, LangChain and Ragas write them, and what they cite.

Every turn begins with a message of the user; its answer is the last text of the assistant in it, and its passages are
what was retrieved in it: `contexts` of its messages, documents and search results in them, and what tools answered.
"""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypedDict

from everyclaim.core.types import TURNS_BEFORE, Citation, Source, Span, Turn
from everyclaim.core.wire import to_json
from everyclaim.io.fields import SAMPLE_FIELDS, Fields
from everyclaim.io.values import RowError, as_json_text, kind, named, plain, tags_of

Turns = Literal["last", "all"]
History = Literal["context", "evidence"]


class ConversationOptions(TypedDict, total=False):
    """How a conversation is read: its last answer or all, and earlier turns as context or as evidence, too."""

    turns: Turns
    history: History


USER, ASSISTANT, TOOL = "user", "assistant", "tool"
_ROLES = {
    **dict.fromkeys(("user", "human", "HumanMessage"), USER),
    **dict.fromkeys(("assistant", "ai", "model", "AIMessage", "CHATBOT"), ASSISTANT),
    **dict.fromkeys(("tool", "function", "ToolMessage", "function_call_output", "file_search_call"), TOOL),
    **dict.fromkeys(("system", "developer", "SystemMessage", "function_call", "reasoning"), ""),
}
_TEXT_PARTS = {None, "text", "output_text", "input_text"}
_REPLACED = ("messages", "question", "response", "contexts", "citations", "history")
_UNNAMED = re.compile(r"doc[:_](\d{1,4})")  # Cohere's name for a document without one


@dataclass
class ConversationMessage:
    """One message: who says what, what it cites, and the sources that it brings."""

    role: str
    text: str = ""
    citations: list[Citation] = field(default_factory=list)
    passages: list[Any] = field(default_factory=list)


def _answers(held: Sequence[Any], given: Sequence[Any], history: History) -> list[dict[str, Any]]:
    """Return the answers of a conversation as rows; `given` are passages for every turn.

    A turn in which nothing was retrieved has what was retrieved before it. Its history are the last messages before its
    question; with the history as evidence, all that was said and retrieved in earlier turns is a passage, too.
    Raises `RowError` for what are no messages, and without an answer.
    """
    told = deque[tuple[str, str]](maxlen=TURNS_BEFORE)
    earlier: dict[str, Any] = {}  # what was said and found before, as passages
    found: list[dict[str, Any]] = []
    shared, own = _distinct(given), dict[str, Any]()
    for question, answer, passages in _rounds([message_of(item) for item in held]):
        own = _distinct(passages) or own
        if answer is not None:
            found.append(
                {
                    "question": question,
                    "response": answer.text,
                    "contexts": list((shared | own | earlier).values()),
                    "history": [{"role": role, "content": text} for role, text in told],
                    "citations": [to_json(one) for one in answer.citations],
                }
            )
        said = [(role, text) for role, text in ((USER, question), (ASSISTANT, answer.text if answer else "")) if text]
        told += said
        if history == "evidence":
            spoken = [{"text": text, "kind": USER if role == USER else "answer"} for role, text in said]
            earlier |= _distinct([*passages, *spoken])
    if not found:
        raise RowError("no assistant message has text")
    return found


def _distinct(passages: Sequence[Any]) -> dict[str, Any]:
    return {as_json_text(passage): passage for passage in passages}


def _reply(value: Any) -> Mapping[str, Any] | None:
    """Return the message that a response is, by itself, as its parts or in a whole reply; None for any other."""
    if isinstance(value, list) and value and all(isinstance(one, Mapping) and "type" in one for one in value):
        return {"role": ASSISTANT, "content": value}
    if not isinstance(value, Mapping):
        return None
    if isinstance(value.get("output"), list):  # OpenAI's Responses
        return {"role": ASSISTANT, "content": value["output"]}
    if isinstance(value.get("text"), str) and "citations" in value:  # Cohere's first API
        return {"role": ASSISTANT, "content": value["text"], "citations": value["citations"]}
    choice = next(iter(value.get("choices") or ()), value)
    inner = choice.get("message", choice) if isinstance(choice, Mapping) else value
    return inner if isinstance(inner, Mapping) and _role(_inner(inner)) is not None else None


def citations_of(value: Any, span: Span | None = None, text: str = "") -> list[Citation]:
    """Read citations in any provider's form, or in ours; `span` is what is cited, `text`, where they do not say it.

    Raises `RowError` for what are none.
    """
    held = _decoded(value)
    if held is not None and not isinstance(held, list):
        raise RowError(f"citations is {kind(held)}, not a list")
    found = [_citation(plain(one), span, text) for one in held or ()]
    return [one for one in found if one is not None]


def turns_of(value: Any) -> tuple[Turn, ...]:
    """Read what was said before. Raises `RowError` for what are no messages."""
    held = _decoded(value)
    if held is not None and not isinstance(held, list):
        raise RowError(f"history is {kind(held)}, not a list of messages")
    said = [message_of(one) for one in held or ()]
    return tuple(Turn(one.role, one.text) for one in said if one.role in {USER, ASSISTANT} and one.text)


def _rounds(messages: Sequence[ConversationMessage]) -> Iterator[tuple[str, ConversationMessage | None, list[Any]]]:
    """Yield question, answer and passages of every turn; messages of the user behind each other are one question."""
    question, answer, passages, is_asking = "", None, list[Any](), False
    for message in messages:
        if message.role == USER and message.text:
            if not is_asking and (answer or question):
                yield question, answer, passages
                question, answer, passages = "", None, []
            question = f"{question}\n{message.text}".strip()
            is_asking = True
        elif message.role == ASSISTANT and message.text:
            answer, is_asking = message, False
        passages += message.passages
    if answer or question:
        yield question, answer, passages


def _inner(item: Any) -> Mapping[str, Any]:
    """Return the fields of a message: a mapping, LangChain's ``{type, data}`` and ``{lc, kwargs}``, or an object."""
    held = item if isinstance(item, Mapping) else getattr(item, "model_dump", dict)()
    inside: Mapping[str, Any] = next(
        (held[name] for name in ("kwargs", "data") if isinstance(held.get(name), Mapping)), {}
    )
    names = held.get("id")
    lc_name = names[-1] if "lc" in held and isinstance(names, list) and names else None
    return {**held, **inside, **({"type": lc_name} if lc_name else {})} if inside else held


def _role(message: Mapping[str, Any]) -> str | None:
    role = message.get("role") if message.get("role") is not None else message.get("type")
    return _ROLES.get(role) if isinstance(role, str) else None


def message_of(item: Any) -> ConversationMessage:
    """Read one message. Raises `RowError` for what is none."""
    held = _inner(item)
    role = _role(held)
    if role is None:
        raise RowError(f"a message has an unknown role ({kind(held.get('role', held.get('type')))})")
    content = next((held[name] for name in ("content", "parts", "output") if held.get(name) is not None), None)
    made = ConversationMessage(role)
    retrieved = next((held[name] for name in SAMPLE_FIELDS["contexts"] if held.get(name) is not None), None)
    made.passages += retrieved if isinstance(retrieved, list) else [retrieved] if retrieved is not None else []
    if role == TOOL:
        made.passages += _answers_of_tool(content, held)
        return made
    for part in content if isinstance(content, list) else [content]:
        _take(made, part)
    made.citations += citations_of(held.get("annotations") or (held.get("citations") if role == ASSISTANT else None))
    return made


def _take(made: ConversationMessage, part: Any) -> None:
    """Take one part of a message: its text with its citations, a document, what a tool answered."""
    if part is None:
        return
    held = {"text": part} if isinstance(part, str) else plain(part)
    if not isinstance(held, Mapping):
        raise RowError(f"a part of a message is {kind(held)}, not text or an object")
    if held.get("type") == "message":
        for inner in held.get("content") or ():
            _take(made, inner)
        return
    valued = held.get("text")
    if isinstance(valued, Mapping):  # OpenAI's Assistants
        held = {**valued, "type": "text", "text": valued.get("value")}
    text = held.get("text", held.get("content"))  # the latter as OpenTelemetry has it
    if held.get("type") in _TEXT_PARTS and isinstance(text, str):
        joint = "" if not made.text or "citations" in held or made.citations else "\n"
        start = len(made.text) + len(joint)
        made.text += joint + text
        span = Span(start, len(made.text))
        made.citations += citations_of(held.get("citations") or held.get("annotations"), span, text)
    elif held.get("type") == "tool_result":
        made.passages += _answers_of_tool(held.get("content"), held)
    elif held.get("type") in {"document", "search_result"}:
        made.passages.append(_document(held))


def _answers_of_tool(content: Any, held: Mapping[str, Any]) -> list[Any]:
    """Return what a tool answered as passages: its texts, documents and search results, else what it is as JSON."""
    if isinstance(held.get("results"), list):  # of OpenAI's file search
        return [{"text": one.get("text", ""), "title": one.get("filename"), "id": one.get("file_id")}
                for one in held["results"] if isinstance(one, Mapping)]  # fmt: skip
    name = next((held[key] for key in ("name", "tool_name") if isinstance(held.get(key), str)), None)
    parts = content if isinstance(content, list) and all(isinstance(one, Mapping) for one in content) else [content]
    found: list[Any] = []
    for part in parts:
        if isinstance(part, Mapping) and part.get("type") == "tool_call_response":  # of OpenTelemetry
            part = part.get("response", part.get("result"))  # noqa: PLW2901
        if isinstance(part, Mapping) and part.get("type") in {"document", "search_result"}:
            found.append(_document(part))
        elif part is not None:
            held_text = part.get("text") if isinstance(part, Mapping) and part.get("type") in _TEXT_PARTS else part
            text = held_text if isinstance(held_text, str) else as_json_text(part)
            found += [{"text": text, "title": name, "kind": TOOL}] if text.strip() else []
    return found


def _document(held: Mapping[str, Any]) -> dict[str, Any]:
    inner = held.get("document", held)
    inner = inner if isinstance(inner, Mapping) else held
    source = inner.get("source")
    content = source.get("data", source.get("content")) if isinstance(source, Mapping) else inner.get("content")
    content = inner.get("data", content) if content is None else content
    if isinstance(content, list):
        content = "\n".join(str(one.get("text", "")) for one in content if isinstance(one, Mapping))
    if isinstance(content, Mapping):
        content = content.get("text") or as_json_text(content)
    identifier = source if isinstance(source, str) else inner.get("id")
    return {"text": content if isinstance(content, str) else "", "title": inner.get("title"), "id": identifier}


def _citation(held: Any, span: Span | None, text: str) -> Citation | None:
    if not isinstance(held, Mapping):
        raise RowError(f"a citation is {kind(held)}, not an object")
    inner = next(
        (held[name] for name in ("url_citation", "file_citation") if isinstance(held.get(name), Mapping)), held
    )
    start = span.start if span else 0
    if isinstance(inner.get("span"), list | tuple):
        span = Span(*(max(0, int(end)) for end in inner["span"][:2]))
    elif "start" in inner and "end" in inner:  # Cohere
        span = Span(int(inner["start"]), int(inner["end"]))
    elif inner.get("start_index") is not None and inner.get("end_index") is not None:  # OpenAI
        span = Span(start + int(inner["start_index"]), start + int(inner["end_index"]))
    elif isinstance(inner.get("index"), int):  # behind the last word of what it is about
        end = max(inner["index"], 1)
        last = next((at for at in range(min(end, len(text)) - 1, 0, -1) if text[at].isalnum()), end - 1)
        span = Span(start + last, start + end)
    sources = tuple(_sources(inner))
    return Citation(span, sources) if span is not None and sources else None


def _sources(held: Mapping[str, Any]) -> Iterator[Source]:
    listed = held.get("sources") if isinstance(held.get("sources"), list) else held.get("document_ids")
    if isinstance(listed, list):
        for one in listed:
            if isinstance(one, Mapping) and {"number", "page", "address"} & {*one}:
                number = max(0, int(one.get("number") or 0))
                yield Source(number, *(str(one.get(name) or "") for name in Source._fields[1:]))
            else:
                yield _named(one.get("id") if isinstance(one, Mapping) else one)
        return
    index = held.get("document_index")
    page = held.get("start_page_number")
    name = next((held[key] for key in ("document_title", "title", "filename", "file_id") if held.get(key)), "")
    address = held.get("url") or held.get("source") or ""
    if isinstance(index, int) or name or address:
        yield Source(index + 1 if isinstance(index, int) else 0, str(name), f"p. {page}" if page else "", str(address))


def _named(name: Any) -> Source:
    unnamed = _UNNAMED.fullmatch(str(name))
    return Source(int(unnamed[1]) + 1 if unnamed else 0, str(name))


def _decoded(value: Any) -> Any:
    held = plain(value)
    if isinstance(held, str) and held.lstrip()[:1] == "[":
        try:
            return json.loads(held)
        except (ValueError, RecursionError):
            return held
    return held


# ---- rows


def rows_of(row: Mapping[str, Any], fields: Fields, number: int) -> list[dict[str, Any]]:
    """Return a row with a conversation, or with a reply as its provider sends it, as plain rows; empty for any other.

    Of all answers each is a row with the tags `conversation` and `turn`. Raises `RowError` for what cannot be read.
    """
    reading = fields.conversations or {}
    turns, history = reading.get("turns", "last"), reading.get("history", "context")
    messages, response = fields.get(row, "messages"), named("response", plain, fields.get(row, "response"))
    if messages is None and isinstance(asked := _decoded(fields.get(row, "question")), list):  # Ragas
        messages = asked if any(_role(_inner(one)) is not None for one in asked) else None
    reply = _reply(response)
    if messages is None and reply is None:
        return []
    rest = {name: value for name, value in row.items() if name not in fields.columns(row, _REPLACED)}
    try:
        beside = citations_of(fields.get(row, "citations"))
        if messages is None:
            said = message_of(reply)
            kept = {name: fields.get(row, name) for name in ("question", "contexts", "history")}
            citations = [to_json(one) for one in (*said.citations, *beside)]
            return [rest | kept | {"response": said.text, "citations": citations}]
        held = _decoded(messages)
        if not isinstance(held, list):
            raise RowError(f"messages is {kind(held)}, not a list of messages")
        if response is not None:
            held = [*held, reply or {"role": ASSISTANT, "content": response}]
        given = _decoded(fields.get(row, "contexts"))
        found = _answers(held, given if isinstance(given, list) else [] if given is None else [given], history)
        found[-1]["citations"] += [to_json(one) for one in beside]
        if turns != "all":
            return [rest | found[-1]]
        name, tags = str(fields.get(row, "id") or number), tags_of(fields.get(row, "tags"))
        return [
            rest | made | {"id": f"{name}/{turn}", "tags": tags | {"conversation": name, "turn": str(turn)}}
            for turn, made in enumerate(found, 1)
        ]
    except (TypeError, ValueError, KeyError, AttributeError) as error:
        raise RowError(f"the messages cannot be read ({type(error).__name__})") from None
