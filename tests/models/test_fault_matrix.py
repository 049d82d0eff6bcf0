"""Every way a provider can fail, over every wire format: the outcome, and how many calls it took."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime, formatdate
from typing import Any

import pytest
from chatting import ENDPOINTS, KEY, ask

from everyclaim.core.errors import BudgetExceeded, ConfigError, JudgeError
from everyclaim.models.chat.replies import read_reply
from everyclaim.models.chat.transport import retry_after
from everyclaim.testing import (
    Fault,
    JudgeServer,
    Reply,
    body,
    empty_body,
    fenced,
    hang,
    html,
    malformed_json,
    rate_limited,
    rejected,
    reset,
    server_error,
    slow_drip,
    truncated,
)

GOOD = '{"ok": true}'
every_endpoint = pytest.mark.parametrize("endpoint", ENDPOINTS)


def http_date(seconds: int) -> str:
    return format_datetime(datetime.now(UTC) + timedelta(seconds=seconds), usegmt=True)


RECOVERS: dict[str, tuple[list[Any], int]] = {
    "429 once": ([rate_limited(), GOOD], 2),
    "429 once, Retry-After in seconds": ([rate_limited(3), GOOD], 2),
    "429 once, Retry-After as a date": ([rate_limited(http_date(5)), GOOD], 2),
    "429 four times, Retry-After": ([rate_limited(1)] * 4 + [GOOD], 5),
    "500 once": ([server_error(500), GOOD], 2),
    "529 once": ([server_error(529), GOOD], 2),
    "reset in the middle of the body": ([reset(0.8), GOOD], 2),
    "empty body": ([empty_body(), GOOD], 2),
    "HTML with 200": ([html(), GOOD], 2),
    "HTML with 502": ([html(502), GOOD], 2),
    "malformed JSON": ([malformed_json(), GOOD], 2),
    "JSON of the wrong kind": ([body([1, 2]), GOOD], 2),
    "JSON without what matters": ([body({"id": "x", "choices": [], "output": None}), GOOD], 2),
    "fields of the wrong type": ([body({"choices": "no", "output": 3, "content": "no", "usage": []}), GOOD], 2),
    "an error object with 200": ([body({"error": {"message": "upstream", "code": 502}}), GOOD], 2),
    "no text in the reply": ([Reply(""), GOOD], 2),
}

FAILS: dict[str, tuple[list[Any], str, int]] = {
    "429 for ever": ([rate_limited()], "rate_limited", 5),
    "429 with a Retry-After beyond patience": ([rate_limited(7200)], "rate_limited", 1),
    "529 for ever": ([server_error(529)], "overloaded", 5),
    "HTML for ever": ([html()], "bad_response", 5),
    "no text for ever": ([Reply("")], "empty_reply", 5),
    "prompt too long": (
        [rejected("This model's maximum context length is 8192 tokens", code="context_length_exceeded")],
        "too_long",
        1,
    ),
    "request too large": ([rejected("too large", status=413)], "too_long", 1),
    "408 for ever": ([rejected("late", status=408)], "timeout", 5),
    "409 for ever": ([rejected("busy", status=409)], "server_error", 5),
    "422": ([Fault(422, raw=b'{"detail": [{"msg": "no"}]}')], "bad_request", 3),
    "501": ([server_error(501)], "bad_request", 3),
    "504 for ever": ([server_error(504)], "timeout", 5),
    "filtered by a policy": (
        [Fault(400, raw=b'{"error": {"message": "x", "innererror": {"code": "ResponsibleAIPolicyViolation"}}}')],
        "filtered",
        1,
    ),
    "content filter on the prompt": ([rejected("flagged", code="content_filter")], "filtered", 1),
}

STOPS: dict[str, tuple[list[Any], type[Exception], int]] = {
    "401": ([rejected(f"Incorrect API key provided: {KEY}", status=401)], ConfigError, 1),
    "403": ([rejected("not for you", status=403)], ConfigError, 1),
    "404": ([rejected("no such model", status=404)], ConfigError, 1),
    "407": ([Fault(407)], ConfigError, 1),
    "301": ([Fault(301, {"Location": "https://ada:secret@new.example/v1"})], ConfigError, 1),
    "402": ([rejected("pay first", status=402)], BudgetExceeded, 1),
    "429 because the money is gone": ([rejected("quota", status=429, code="insufficient_quota")], BudgetExceeded, 1),
}


@every_endpoint
@pytest.mark.parametrize("fault", RECOVERS)
def test_what_passes_is_tried_again(endpoint: str, fault: str) -> None:
    """A fault that passes costs the attempts it took, and the reply is the good one."""
    script, calls = RECOVERS[fault]
    with JudgeServer(script) as server:
        reply = ask(server, endpoint)
        assert (reply.content, reply.finish, server.calls, reply.usage.calls) == (GOOD, "stop", calls, calls)
    assert not server.errors


@every_endpoint
@pytest.mark.parametrize("fault", FAILS)
def test_what_stays_fails_this_call_with_a_stable_code(endpoint: str, fault: str) -> None:
    """A fault that stays ends after the stated attempts, with a code to count by and what was paid."""
    script, code, calls = FAILS[fault]
    answers = fault == "content filter on the prompt" and endpoint == "messages"  # which has no such error
    if endpoint == "messages" and fault == "prompt too long":
        script = [rejected("prompt is too long: 9 > 8", status=400)]
    with JudgeServer([Reply("", "refusal")] if answers else script) as server:
        if answers:
            assert ask(server, endpoint).finish == "refusal"
        else:
            with pytest.raises(JudgeError) as caught:
                ask(server, endpoint)
            assert caught.value.code == code
            assert caught.value.usage is not None
            assert caught.value.usage.calls == calls
        assert server.calls == calls


@every_endpoint
@pytest.mark.parametrize("fault", STOPS)
def test_what_would_fail_every_call_stops_the_run(endpoint: str, fault: str) -> None:
    """A wrong key, a wrong model or an empty account is no sample's failure; it is raised at once."""
    script, kind, calls = STOPS[fault]
    if kind is BudgetExceeded and endpoint.startswith("messages") and "quota" in str(script):
        pytest.skip("Anthropic says it with 402")
    with JudgeServer(script) as server:
        with pytest.raises(kind) as caught:
            ask(server, endpoint)
        assert server.calls == calls
        assert KEY not in str(caught.value)


@every_endpoint
@pytest.mark.parametrize("fault", [hang(), slow_drip(0.05)], ids=["hang", "slow drip"])
def test_no_whole_answer_in_time_is_a_timeout(endpoint: str, fault: Any) -> None:
    """The time limit is for the whole answer: bytes that keep dripping do not extend it."""
    with JudgeServer([fault, fault, GOOD]) as server:
        assert ask(server, endpoint, timeout="0.4").content == GOOD
        assert server.calls == 3


ENDINGS: dict[str, tuple[Reply, str, Callable[[str], str]]] = {
    "length": (truncated(GOOD), "truncated", lambda _: "length"),
    "refusal": (Reply("I would rather not.", "refusal"), "refused", lambda _: "refusal"),
    "content filter": (
        Reply("", "filtered"),
        "filtered",
        lambda endpoint: "refusal" if endpoint.startswith("messages") else "filtered",
    ),
}


@every_endpoint
@pytest.mark.parametrize("ending", ENDINGS)
def test_a_reply_that_did_not_end_well_says_how(endpoint: str, ending: str) -> None:
    """Refused, filtered and cut replies are not tried again; reading them is an error; no part is kept."""
    step, code, finish = ENDINGS[ending]
    with JudgeServer([step]) as server:
        reply = ask(server, endpoint, structured="schema")
        assert (reply.finish, server.calls) == (finish(endpoint), 1)
    with pytest.raises(JudgeError) as caught:
        read_reply(reply)
    assert caught.value.code == (code if finish(endpoint) != "refusal" else "refused")
    assert caught.value.usage == reply.usage


@every_endpoint
@pytest.mark.parametrize(
    "step",
    [fenced(GOOD), Reply(GOOD, extra={"surprise": {"a": [1]}}), Reply(f"\ufeff  {GOOD}\n")],
    ids=["fenced with prose", "unknown fields", "byte order mark"],
)
def test_a_good_answer_in_odd_dress_is_read(endpoint: str, step: Reply) -> None:
    """Prose, fences and unknown fields around the one JSON object do no harm."""
    with JudgeServer([step]) as server:
        assert read_reply(ask(server, endpoint)) == {"ok": True}
        assert server.calls == 1


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"Retry-After": "7"}, 7.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after": "-3"}, 0.0),
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
        ({"retry-after": formatdate(1_000_030, usegmt=True)}, 30.0),
        ({"retry-after": formatdate(999_000, usegmt=True)}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
    ],
)
def test_retry_after_is_read_in_all_its_forms(headers: dict[str, str], seconds: float | None) -> None:
    """Seconds, milliseconds, an HTTP date; nonsense counts as not said."""
    assert retry_after(headers, now=1_000_000.0) == seconds
