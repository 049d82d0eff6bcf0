"""A watch over OTLP: spans come in over HTTP, evaluations go out as events on the right span."""

from __future__ import annotations

import gzip
import json
import socket
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from loopback import Collector, collecting
from watching import ByWords, ids, watched

import everyclaim as ec
from everyclaim.core.errors import ConfigError
from everyclaim.monitor.watch.source import WatchPass
from everyclaim.store.watching import WatchStore
from loopback_server import free_port, until

SENDER = str(Path(__file__).parent / "sending_spans.py")
PROTOBUF, JSON = "application/x-protobuf", "application/json"


@pytest.fixture
def collector() -> Iterator[Collector]:
    with collecting() as taking:
        yield taking


@contextmanager
def receiving(store: Path, **options: Any) -> Iterator[tuple[str, list[WatchPass]]]:
    """Watch in a thread; give the address and the passes."""
    port, stop, passes = free_port(), threading.Event(), list[Any]()
    options = {"judge": ByWords(), "every": 0.05, "settle": 0.2, "name": "spans"} | options

    def work() -> None:
        try:
            ec.watch(f"otlp:127.0.0.1:{port}", store=store, stop=stop, on_pass=passes.append, **options)
        except Exception as error:  # noqa: BLE001 - for the test to see
            passes.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    until(lambda: _listens(port) or not thread.is_alive())
    try:
        yield f"http://127.0.0.1:{port}", passes
    finally:
        stop.set()
        thread.join(30)


def _listens(port: int) -> bool:
    with socket.socket() as one:
        return one.connect_ex(("127.0.0.1", port)) == 0


def judged(passes: list[Any]) -> int:
    return sum(one.judged for one in passes if isinstance(one, WatchPass))


def post(url: str, body: bytes, kind: str = PROTOBUF, **headers: str) -> tuple[int, bytes]:
    request = urllib.request.Request(
        f"{url}/v1/traces", body, {"Content-Type": kind, **{k.replace("_", "-"): v for k, v in headers.items()}}
    )
    try:
        with urllib.request.urlopen(request, timeout=10) as reply:
            return reply.status, reply.read()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read()


def a_trace(number: int, **attributes: Any) -> dict[str, Any]:
    """Return a request in JSON with an answer of an agent that retrieves by a tool."""
    weight = f"The unit weighs {number} kg."
    found = {"type": "tool_call_response", "id": "1", "response": weight}
    conversation = [
        {"role": "user", "parts": [{"type": "text", "content": "How heavy?"}]}, {"role": "tool", "parts": [found]}
    ]  # fmt: skip
    parts = [{"type": "reasoning", "content": "hm"}, {"type": "text", "content": weight}]
    said = [{"role": "assistant", "parts": parts}]
    values = {
        "gen_ai.operation.name": "chat",
        "gen_ai.input.messages": json.dumps(conversation),
        "gen_ai.output.messages": json.dumps(said),
    } | attributes
    span = {
        "traceId": f"{number:032x}", "spanId": f"{number:016x}", "name": "chat", "kind": 3,
        "startTimeUnixNano": "1767225600000000000", "endTimeUnixNano": "1767225601000000000",
        "attributes": [{"key": key, "value": {"stringValue": value}} for key, value in values.items()],
        "unknownField": 1,
    }  # fmt: skip
    return {"resourceSpans": [{"resource": {}, "scopeSpans": [{"scope": {}, "spans": [span]}]}]}


def test_spans_of_a_real_sender_are_judged_and_the_event_comes_back_on_the_answer(
    store: Path, collector: Collector
) -> None:
    """Another process, OpenTelemetry's SDK, protobuf and gzip: the last model's words, the documents retrieved before."""
    with receiving(store, events_to=f"{collector.url}/v1/logs") as (url, passes):
        done = subprocess.run([sys.executable, SENDER, url, "1", "2", "3"], capture_output=True, text=True, check=True)
        until(lambda: len(collector.events) == 3)
    where = dict(line.split() for line in done.stdout.split("\n") if line)
    assert {one["trace"]: one["span"] for one in collector.events} == where
    assert {one["event"] for one in collector.events} == {"gen_ai.evaluation.result"}
    first, second, _ = sorted(collector.events, key=lambda one: one["gen_ai.response.id"])
    assert first["gen_ai.evaluation.name"] == "faithfulness"
    assert (first["gen_ai.evaluation.score.value"], first["gen_ai.evaluation.score.label"]) == (1.0, "supported")
    assert first["gen_ai.response.id"] == "resp-1"
    assert "UNSUPPORTED: The unit weighs 99 kg." in second["gen_ai.evaluation.explanation"]
    assert second["gen_ai.evaluation.score.label"] == "unsupported"
    kept = list(ec.find_run(store=store).records())
    assert {one.sample.question for one in kept} == {"How heavy?"}
    assert {one.sample.model for one in kept} == {"large-2"}
    assert {one.sample.release for one in kept} == {"v7"}
    assert [passage.id for passage in kept[0].sample.passages] == ["manual-3", "manual-9"]
    assert judged(passes) == 3


def test_json_is_taken_too_packed_or_not_and_a_repeat_is_one_answer(store: Path) -> None:
    """Ids are hexadecimal there; what the conventions do not know is left alone; senders repeat what they doubt."""
    with receiving(store) as (url, passes):
        body = json.dumps(a_trace(5)).encode()
        assert post(url, body, JSON) == (200, b"{}")
        assert post(url, gzip.compress(body, mtime=0), JSON, Content_Encoding="gzip") == (200, b"{}")
        until(lambda: judged(passes) == 1)
        assert post(url, body, JSON)[0] == 200
        assert post(url, json.dumps(a_trace(6)).encode(), JSON)[0] == 200
        until(lambda: judged(passes) == 2)
        with WatchStore.open(store) as kept:
            until(lambda: kept.count_spans("spans") == 0)
    assert set(ids(store).values()) == {1}


def test_what_is_no_request_gets_the_right_answer(store: Path) -> None:
    """And never one that makes a sender believe that its spans are kept."""
    packed = {"Content_Encoding": "gzip"}
    with receiving(store) as (url, _):
        for body, kind, headers, status in (
            (b"\xff\xff\xff", PROTOBUF, {}, 400),
            (b"{", JSON, {}, 400),
            (b'{"resourceSpans": 3}', JSON, {}, 400),
            (b'{"resourceSpans": [{"scopeSpans": [{"spans": [{"traceId": "xyz"}]}]}]}', JSON, {}, 400),
            (b"x", "text/plain", {}, 415),
            (gzip.compress(b"x" * 100, mtime=0)[:-9], PROTOBUF, packed, 400),
            (gzip.compress(b"\0" * 40_000_000, mtime=0), PROTOBUF, packed, 400),
            (b"x", PROTOBUF, {"Content_Encoding": "br"}, 400),
            (b"", PROTOBUF, {}, 200),
            (b"{}", JSON, {}, 200),
        ):
            assert post(url, body, kind, **headers)[0] == status, body[:80]


@pytest.mark.slow
def test_spans_that_were_accepted_outlast_a_kill(store: Path, tmp_path: Path) -> None:
    """Answered with 200 is kept: the next watch judges them."""
    port = free_port()
    options = ["--store", str(store), "--judge", "lexical", "--settle", "60"]
    command = [sys.executable, "-m", "everyclaim", "watch", f"otlp:127.0.0.1:{port}", *options]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as process:
        until(lambda: _listens(port))
        for number in range(1, 9):
            assert post(f"http://127.0.0.1:{port}", json.dumps(a_trace(number)).encode(), JSON)[0] == 200
        process.kill()
    assert watched(f"otlp:127.0.0.1:{port}", store, settle=0).judged == 8
    assert set(ids(store).values()) == {1}


def test_events_are_sent_again_until_they_are_taken(store: Path, collector: Collector) -> None:
    """With the same name, by which a repeat can be told; judging goes on meanwhile."""
    collector.replies = [503, 429]
    with receiving(store, events_to=f"{collector.url}/v1/logs") as (url, passes):
        post(url, json.dumps(a_trace(1)).encode(), JSON)
        until(lambda: judged(passes) == 1)
        until(lambda: len(collector.events) == 1)
        assert any("HTTP 503" in one.trouble for one in passes)
    assert collector.events[0]["everyclaim.result.id"]


@pytest.mark.parametrize(
    ("attributes", "told"),
    [
        ({"gen_ai.output.messages": "[]"}, "is the content of messages recorded"),
        ({"gen_ai.input.messages": "[]"}, "no passages"),
        ({"gen_ai.input.messages": "[]", "gen_ai.retrieval.documents": '[{"id": "d1", "score": 0.9}]'}, "no passages"),
    ],
)
def test_a_trace_that_cannot_be_judged_is_counted_with_the_reason(store: Path, attributes: Any, told: str) -> None:
    """Content that is not recorded, documents without their text: not an unsupported answer."""
    with receiving(store) as (url, passes):
        post(url, json.dumps(a_trace(1, **attributes)).encode(), JSON)
        until(lambda: any(one.unreadable for one in passes))
    assert any(told in reason for one in passes for reason in one.reasons)
    assert judged(passes) == 0


def test_other_machines_need_a_token(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without one it listens to this machine alone; with one nobody comes in without it."""
    with pytest.raises(ConfigError, match="EVERYCLAIM_WATCH_TOKEN"):
        watched("otlp:0.0.0.0:0", store)
    monkeypatch.setenv("EVERYCLAIM_WATCH_TOKEN", "s3cret-token")
    with receiving(store) as (url, passes):
        body = json.dumps(a_trace(1)).encode()
        assert post(url, body, JSON)[0] == 401
        assert post(url, body, JSON, Authorization="Bearer wrong")[0] == 401
        assert post(url, body, JSON, Authorization="Bearer s3cret-token")[0] == 200
        until(lambda: judged(passes) == 1)


def test_documents_of_openinference_are_read_as_well(store: Path) -> None:
    """One attribute for each field, as several instrumentations write them."""
    more = {
        "gen_ai.input.messages": "[]",
        "retrieval.documents.0.document.content": "The unit weighs 4 kg.",
        "retrieval.documents.0.document.id": "d7",
    }
    with receiving(store) as (url, passes):
        post(url, json.dumps(a_trace(4, **more)).encode(), JSON)
        until(lambda: judged(passes) == 1)
    assert [one.id for one in next(iter(ec.find_run(store=store).samples())).passages] == ["d7"]
