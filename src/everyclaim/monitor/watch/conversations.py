"""Texts out of what tracing tools record: messages and documents in many wrappings, mostly as JSON in text."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

_ASKING, _ANSWERING = {"user", "human"}, {"assistant", "model", "ai"}
_TEXTS = ("content", "text", "value", "message", "page_content")
_QUESTIONS = ("question", "user_input", "query", "input", "prompt", "messages", *_TEXTS)
_ANSWERS = ("response", "answer", "output", "actual_output", "completion", "result", "messages", "choices", *_TEXTS)
_DOCUMENTS = ("documents", "contexts", "passages", "results", "chunks", "retrieved_contexts", "source_documents")
_DEEPEST = 8


def decoded(value: Any) -> Any:
    """Return the JSON object or list that a text holds; anything else as it is."""
    if isinstance(value, str) and value.lstrip()[:1] in {"{", "[", '"'}:
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    return value


def question_in(value: Any) -> str | None:
    """Return what was asked: the last message of a user, or the text under a name for questions."""
    return _said(decoded(value), _ASKING, _QUESTIONS)


def answer_in(value: Any) -> str | None:
    """Return what was answered: the last message of the model, or the text under a name for answers."""
    return _said(decoded(value), _ANSWERING, _ANSWERS)


def documents_in(value: Any) -> list[Any]:
    """Return the documents of a retrieval, as texts or objects with a text; none where there are none."""
    held = decoded(value)
    if isinstance(held, Mapping):
        inside = next((held[name] for name in _DOCUMENTS if held.get(name)), None)
        if inside is None:
            return [_document(held)] if _text_of(held) is not None else []
        held = decoded(inside)
    if isinstance(held, str):
        return [held] if held.strip() else []
    if not isinstance(held, Sequence):
        return []
    documents: list[Any] = []
    for item in held:
        document = decoded(item)
        if isinstance(document, list) and document and isinstance(document[0], Mapping):  # with its distance
            documents.append(_document(document[0]))
        elif isinstance(document, Mapping):
            documents += [_document(document)] if _text_of(document) is not None else []
        elif isinstance(item, str) and item.strip():
            documents.append(item)
    return documents


def found_nothing(value: Any) -> bool:
    """Whether this is what a retrieval returns that found nothing; other than one of which nothing is recorded."""
    held = decoded(value)
    if isinstance(held, Mapping):
        held = next((decoded(held[name]) for name in _DOCUMENTS if name in held), None)
    return isinstance(held, list) and not held


def tool_answers_in(value: Any) -> list[str]:
    """Return what tools answered in a conversation: the passages of an agent that retrieves by a tool."""
    messages = decoded(value)
    found = []
    for message in messages if isinstance(messages, list) else []:
        if not isinstance(message, Mapping) or message.get("role") not in {"tool", "function"}:
            continue
        parts = message.get("parts")
        for part in parts if isinstance(parts, list) else [message]:
            answer = _first(part, ("response", "result", "content"))
            text = answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False)
            if answer is not None and text.strip():
                found.append(text)
    return found


def _said(value: Any, roles: set[str], names: Sequence[str], depth: int = 0) -> str | None:
    if depth > _DEEPEST or value is None:
        return None
    if isinstance(value, str):
        return value if value.strip() else None
    if isinstance(value, Mapping):
        return _said_in_object(value, roles, names, depth)
    if not isinstance(value, list):
        return None if isinstance(value, bool) else str(value)
    messages = [message for message in value if isinstance(message, Mapping)]
    if any("role" in message for message in messages):
        ours = [text for message in messages if message.get("role") in roles and (text := _said_in_message(message))]
        return ours[-1] if ours else None
    if messages:
        return _said(messages[-1], roles, names, depth + 1)
    return "\n".join(map(str, value)) or None


def _said_in_object(value: Mapping[str, Any], roles: set[str], names: Sequence[str], depth: int) -> str | None:
    if "role" in value:
        return _said_in_message(value) if value["role"] in roles else None
    for name in names:
        if value.get(name) is not None and (text := _said(decoded(value[name]), roles, names, depth + 1)):
            return text
    return None


def _said_in_message(message: Mapping[str, Any]) -> str | None:
    """Return the text of a message: a text, or the texts of its parts; thoughts and calls of tools are left out."""
    content = message.get("parts", message.get("content"))
    if isinstance(content, str):
        return content if content.strip() else None
    texts = []
    for part in content if isinstance(content, list) else []:
        if isinstance(part, str):
            texts.append(part)
        elif isinstance(part, Mapping) and part.get("type", "text") in {"text", "output_text", "input_text"}:
            text = _first(part, ("content", "text"))
            texts += [text] if isinstance(text, str) else []
    return "\n".join(text for text in texts if text.strip()) or None


def _document(held: Mapping[str, Any]) -> dict[str, Any]:
    inside = held.get("kwargs", held.get("document", held))
    inside = inside if isinstance(inside, Mapping) else held
    outer = {name: held[name] for name in ("id", "title", "metadata") if held.get(name) is not None}
    inner = {name: inside[name] for name in ("id", "title", "metadata") if inside.get(name) is not None}
    return {**outer, **inner, "text": _text_of(held)}


def _text_of(held: Mapping[str, Any]) -> str | None:
    inside = held.get("kwargs", held.get("document", held))
    if isinstance(inside, str):
        return inside
    text = _first(inside, ("text", "page_content", "content", "body", "chunk")) if isinstance(inside, Mapping) else None
    return text if isinstance(text, str) and text.strip() else None


def _first(held: Any, names: Sequence[str]) -> Any:
    if not isinstance(held, Mapping):
        return None
    return next((held[name] for name in names if held.get(name) is not None), None)
