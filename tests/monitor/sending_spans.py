"""An application that answers from sources and traces it, with OpenTelemetry's own SDK, in a process of its own.

    python sending_spans.py ENDPOINT NUMBER...

Prints the trace id and the id of the span that says the answer, for every number.
"""

import json
import sys

from opentelemetry.exporter.otlp.proto.http import Compression
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor


def message(role: str, text: str) -> dict[str, object]:
    return {"role": role, "parts": [{"type": "text", "content": text}]}


def main() -> None:
    endpoint, *numbers = sys.argv[1:]
    provider = TracerProvider(resource=Resource({"service.name": "helpdesk", "service.version": "v7"}))
    provider.add_span_processor(
        BatchSpanProcessor(OTLPSpanExporter(f"{endpoint}/v1/traces", compression=Compression.Gzip))
    )
    tracer = provider.get_tracer("helpdesk")
    for number in numbers:
        weight = f"The unit weighs {number} kg."
        with tracer.start_as_current_span("request"):
            with tracer.start_as_current_span("chat small") as span:
                span.set_attributes(
                    {
                        "gen_ai.operation.name": "chat",
                        "gen_ai.input.messages": json.dumps([message("user", "rewrite: heavy?")]),
                        "gen_ai.output.messages": json.dumps([message("assistant", "How heavy is the unit?")]),
                    }
                )
            with tracer.start_as_current_span("retrieval manual") as span:
                documents = [
                    {"id": "manual-3", "score": 0.9, "content": weight},
                    {"id": "manual-9", "content": "Other."},
                ]
                span.set_attributes(
                    {"gen_ai.operation.name": "retrieval", "gen_ai.retrieval.documents": json.dumps(documents)}
                )
            with tracer.start_as_current_span("chat large") as span:
                said = weight if int(number) % 2 else "The unit weighs 99 kg."
                span.set_attributes(
                    {
                        "gen_ai.operation.name": "chat",
                        "gen_ai.request.model": "large",
                        "gen_ai.response.model": "large-2",
                        "gen_ai.response.id": f"resp-{number}",
                        "gen_ai.input.messages": json.dumps([message("user", "How heavy?")]),
                        "gen_ai.output.messages": json.dumps([message("assistant", said)]),
                    }
                )
                context = span.get_span_context()
                sys.stdout.write(f"{context.trace_id:032x} {context.span_id:016x}\n")
    provider.shutdown()


if __name__ == "__main__":
    main()
