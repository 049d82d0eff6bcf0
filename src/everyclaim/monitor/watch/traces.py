"""Answers out of what tracing tools record: texts in many wrappings, and spans of OpenTelemetry's GenAI conventions.

Spans are received in either encoding and put together to an answer: what the model or agent that ended last said in
text. Its passages are the documents of the retrievals before, or, where there are none, what tools answered in its
conversation.
"""

from __future__ import annotations

import base64
import json
import math
import time
import uuid
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from everyclaim.core.types import Sample
from everyclaim.io.messages import ASSISTANT, TOOL, USER, ConversationMessage, message_of
from everyclaim.io.values import RowError, first_of
from everyclaim.monitor.otel import EVENT, attributes_of
from everyclaim.monitor.watch.source import Rows, Unreadable
from everyclaim.store.watching import JudgedAnswer

_TEXTS = ("content", "text", "value", "message", "page_content")
_QUESTIONS = ("question", "user_input", "query", "input", "prompt", "messages", *_TEXTS)
_ANSWERS = ("response", "answer", "output", "actual_output", "completion", "result", "messages", "choices", *_TEXTS)
_DOCUMENT_NAMES = ("documents", "contexts", "passages", "results", "chunks", "retrieved_contexts", "source_documents")
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
    return _said(decoded(value), USER, _QUESTIONS)


def answer_in(value: Any) -> str | None:
    """Return what was answered: the last message of the model, or the text under a name for answers."""
    return _said(decoded(value), ASSISTANT, _ANSWERS)


def documents_in(value: Any) -> list[Any]:
    """Return the documents of a retrieval, as texts or objects with a text; none where there are none."""
    held = decoded(value)
    if isinstance(held, Mapping):
        inside = next((held[name] for name in _DOCUMENT_NAMES if held.get(name)), None)
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
        held = next((decoded(held[name]) for name in _DOCUMENT_NAMES if name in held), None)
    return isinstance(held, list) and not held


def tool_answers_in(value: Any) -> list[Any]:
    """Return what tools answered in a conversation: the passages of an agent that retrieves by a tool."""
    messages = decoded(value)
    told = [_message_in(message) for message in messages] if isinstance(messages, list) else []
    return [passage for message in told if message and message.role == TOOL for passage in message.passages]


def _message_in(held: Any) -> ConversationMessage | None:
    try:
        return message_of(held) if isinstance(held, Mapping) else None
    except RowError:
        return None


def _text_by(role: str, held: Mapping[str, Any]) -> str | None:
    message = _message_in(held)
    return message.text if message and message.role == role and message.text.strip() else None


def _said(value: Any, role: str, names: Sequence[str], depth: int = 0) -> str | None:
    if depth > _DEEPEST or value is None:
        return None
    if isinstance(value, str):
        return value if value.strip() else None
    if isinstance(value, Mapping):
        if "role" in value:
            return _text_by(role, value)
        there = (value[name] for name in names if value.get(name) is not None)
        return next(filter(None, (_said(decoded(one), role, names, depth + 1) for one in there)), None)
    if not isinstance(value, list):
        return None if isinstance(value, bool) else str(value)
    messages = [message for message in value if isinstance(message, Mapping)]
    if any("role" in message for message in messages):
        ours = [text for message in messages if (text := _text_by(role, message))]
        return ours[-1] if ours else None
    if messages:
        return _said(messages[-1], role, names, depth + 1)
    return "\n".join(map(str, value)) or None


def _document(held: Mapping[str, Any]) -> dict[str, Any]:
    inside = held.get("kwargs", held.get("document"))
    return {**held, **(inside if isinstance(inside, Mapping) else {}), "text": _text_of(held)}


def _text_of(held: Mapping[str, Any]) -> str | None:
    inside = held.get("kwargs", held.get("document", held))
    if isinstance(inside, str):
        return inside
    text = (
        first_of(inside, ("text", "page_content", "content", "body", "chunk")) if isinstance(inside, Mapping) else None
    )
    return text if isinstance(text, str) and text.strip() else None


_OURS = ("gen_ai.", "retrieval.documents", "openinference.", "llm.", "input.value", "output.value")
_DOCUMENTS = "gen_ai.retrieval.documents"
_TRACE, _SPAN = 16, 8  # bytes of an id
_TAGS = {"service": "service.name", "environment": "deployment.environment.name"}
_RESULTS = uuid.UUID("0d1f0a4e-6f0e-5a57-8f6c-6f6b8f7d9d10")  # ids of results are made in it
NO_ANSWER = "no span has an answer as text (gen_ai.output.messages); is the content of messages recorded?"
NO_PASSAGES = "no passages: no span has documents with their text (gen_ai.retrieval.documents), and no tool answered"


def parse_protobuf(body: bytes) -> Any:
    """Return a request of protobuf. Raises `ValueError` for what is none."""
    from google.protobuf.message import DecodeError
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

    try:
        return ExportTraceServiceRequest.FromString(body)
    except DecodeError as error:
        raise ValueError(f"not a request of OTLP in protobuf: {error}") from None


def parse_json(body: bytes) -> Any:
    """Return a request of JSON, in which ids are hexadecimal. Raises `ValueError` for what is none."""
    from google.protobuf import json_format
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

    try:
        said = json.loads(body)
        for resource in said.get("resourceSpans") or ():
            for scope in resource.get("scopeSpans") or ():
                for span in scope.get("spans") or ():
                    for part in (span, *(span.get("links") or ())):
                        _turn_ids(part)
        return json_format.ParseDict(said, ExportTraceServiceRequest(), ignore_unknown_fields=True)
    except (json_format.Error, ValueError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError(f"not a request of OTLP in JSON: {str(error)[:200]}") from None


def _turn_ids(span: dict[str, Any]) -> None:
    for name in ("traceId", "spanId", "parentSpanId"):
        if name in span:
            span[name] = base64.b64encode(bytes.fromhex(span[name] or "")).decode()


def read_spans(request: Any, limit: int) -> tuple[dict[tuple[str, str], Any], list[str]]:
    """Return the spans that bear on an answer by trace and id, and why others cannot be taken."""
    taken: dict[tuple[str, str], Any] = {}
    refused = []
    for resource in request.resource_spans:
        about = {pair.key: _value(pair.value) for pair in resource.resource.attributes}
        for scope in resource.scope_spans:
            for span in scope.spans:
                if len(span.trace_id) != _TRACE or len(span.span_id) != _SPAN or not any(span.trace_id):
                    refused.append("a span without a valid trace id and span id")
                elif span.ByteSize() > limit:
                    refused.append(f"span {span.span_id.hex()} is larger than {limit:,} bytes")
                elif (body := _body(span, about)) is not None:
                    taken[span.trace_id.hex(), span.span_id.hex()] = body
    return taken, refused


def _body(span: Any, about: Mapping[str, Any]) -> dict[str, Any] | None:
    attributes = {pair.key: _value(pair.value) for pair in span.attributes}
    for event in span.events:  # where messages are recorded as events of the span
        for pair in event.attributes:
            if pair.key.startswith("gen_ai."):
                attributes.setdefault(pair.key, _value(pair.value))
    if not any(name.startswith(_OURS) for name in attributes):
        return None
    return {
        "span": span.span_id.hex(),
        "name": span.name,
        "start": span.start_time_unix_nano,
        "end": span.end_time_unix_nano,
        "attributes": attributes,
        "resource": about,
    }


def _value(value: Any) -> Any:
    kind = value.WhichOneof("value")
    if kind == "array_value":
        return [_value(item) for item in value.array_value.values]
    if kind == "kvlist_value":
        return {pair.key: _value(pair.value) for pair in value.kvlist_value.values}
    if kind == "bytes_value":
        return base64.b64encode(value.bytes_value).decode()
    if kind == "double_value":
        number = float(value.double_value)
        return number if math.isfinite(number) else str(number)
    return getattr(value, kind) if kind else None


def answer_of(spans: Sequence[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """Return the span that says the answer: the one that ended last, of an agent and what it called the agent."""
    answers = [span for span in spans if _answer_text(span)]
    return max(answers, key=lambda span: (span["end"], -span["start"], span["span"]), default=None)


def sample_of(
    spans: Sequence[Mapping[str, Any]], answer: Mapping[str, Any], rows: Rows, key: str
) -> Sample | Unreadable:
    """Put a trace together to one sample."""
    attributes, about = answer["attributes"], answer["resource"]
    contexts = [
        document
        for span in sorted(spans, key=lambda span: (span["start"], span["span"]))
        if span["start"] <= answer["end"]
        for document in _documents(span["attributes"])
    ]
    row = {
        **attributes,
        "question": question_in(attributes.get("gen_ai.input.messages") or attributes.get("input.value")),
        "response": _answer_text(answer),
        "contexts": contexts or tool_answers_in(attributes.get("gen_ai.input.messages")),
        "model": attributes.get("gen_ai.response.model") or attributes.get("gen_ai.request.model"),
        "release": about.get("service.version"),
        "timestamp": datetime.fromtimestamp(answer["end"] / 1e9, UTC).isoformat() if answer["end"] else None,
        "tags": {name: about[key] for name, key in _TAGS.items() if about.get(key)},
    }
    made = rows.sample(row, key, f"trace {key}")
    retrieved = [span["attributes"][_DOCUMENTS] for span in spans if _DOCUMENTS in span["attributes"]]
    if isinstance(made, Sample) and not made.passages and not (retrieved and all(map(found_nothing, retrieved))):
        return Unreadable(f"trace {key}: {NO_PASSAGES}")
    return made


def _answer_text(span: Mapping[str, Any]) -> str | None:
    attributes = span["attributes"]
    if "gen_ai.output.messages" in attributes:
        return answer_in(attributes["gen_ai.output.messages"])
    is_model = attributes.get("openinference.span.kind") in {"LLM", "AGENT", "CHAIN"}
    return answer_in(attributes.get("output.value")) if is_model else None


def _documents(attributes: Mapping[str, Any]) -> list[Any]:
    """Return documents with a text, as the conventions have them, or one attribute per field (OpenInference)."""
    found = documents_in(attributes.get(_DOCUMENTS))
    number = 0
    while (text := attributes.get(f"retrieval.documents.{number}.document.content")) is not None:
        identifier = attributes.get(f"retrieval.documents.{number}.document.id")
        metadata = decoded(attributes.get(f"retrieval.documents.{number}.document.metadata"))
        if str(text).strip():
            about = metadata if isinstance(metadata, Mapping) else {}
            found.append({"text": text, "id": identifier, "metadata": about})
        number += 1
    return [document for document in found if document]


# ---- what is sent


def accepted(refused: Sequence[str], *, as_json: bool) -> bytes:
    """Return the answer to a request, which says how many of its spans were refused, and why the first was."""
    from google.protobuf import json_format
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse

    said: Any = ExportTraceServiceResponse()
    if refused:
        said.partial_success.rejected_spans = len(refused)
        said.partial_success.error_message = refused[0]
    packed: bytes = json_format.MessageToJson(said).encode() if as_json else said.SerializeToString()
    return packed


def events(results: Sequence[JudgedAnswer]) -> bytes:
    """Return a request with one event `gen_ai.evaluation.result` per result, on the span that was judged."""
    from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest

    request = ExportLogsServiceRequest()
    resource = request.resource_logs.add()
    resource.resource.attributes.add(key="service.name").value.string_value = "everyclaim"
    scope = resource.scope_logs.add()
    scope.scope.name = "everyclaim"
    for returned in results:
        record = scope.log_records.add()
        record.event_name = EVENT
        record.time_unix_nano = int(returned.about["end"])
        record.observed_time_unix_nano = time.time_ns()
        record.trace_id = bytes.fromhex(returned.about["trace"])
        record.span_id = bytes.fromhex(returned.about["span"])
        # The id is the same when it is sent again. Texts go back to where the answer, which holds them, came from.
        ids = {"everyclaim.result.id": str(uuid.uuid5(_RESULTS, returned.answer)), "everyclaim.run": returned.run}
        said = attributes_of(returned.result, response_id=str(returned.about.get("response") or ""), with_texts=True)
        for name, value in (said | ids).items():
            kind = "double_value" if isinstance(value, float) else "string_value"
            setattr(record.attributes.add(key=name).value, kind, value)
    packed: bytes = request.SerializeToString()
    return packed
