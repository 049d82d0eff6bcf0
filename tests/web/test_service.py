"""The service over HTTP: what it answers, whom it lets in, and what it says to everybody else."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket

import pytest
from running_service import BRIDGE, Service

from everyclaim import score
from everyclaim.core.wire import result_from_json, result_to_json
from everyclaim.web.tokens import add_token, new_token

JSON = {"Content-Type": "application/json"}


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    one = Service(tmp_path_factory.mktemp("open"), "--max-body-mb", "0.1")
    yield one
    one.kill()


def problem(answer, status, code):
    assert (answer.status, answer.headers["content-type"]) == (status, "application/problem+json")
    assert answer.json["code"] == code
    assert answer.json["status"] == status
    return answer.json["detail"]


def test_an_answer_is_scored_as_in_python(service):
    """The result over HTTP is that of `score`, number for number, by any of the names a file may have."""
    row = {
        "answer": "It is 120 m long. It opened in 1999.",
        "retrieved_contexts": ["It is 120 m long, opened in 1998."],
    }
    answer = service.ask("POST", "/v1/score", row)
    assert answer.status == 200
    assert answer.json == json.loads(json.dumps(result_to_json(score(row))))
    assert result_from_json(answer.json).failing


def test_given_claims_are_judged_in_their_order(service):
    """Each claim has its verdict, one claim alone as well."""
    body = {"claims": ["The bridge is 90 m long.", "The bridge is 120 m long."], "passages": BRIDGE["contexts"]}
    found = service.ask("POST", "/v1/verify", body).json["claims"]
    assert [one["verdict"]["label"] for one in found] == ["CONTRADICTED", "SUPPORTED"]
    assert [one["text"] for one in found] == body["claims"]
    alone = service.ask("POST", "/v1/verify", {"claim": "The bridge is 120 m long.", "contexts": "It is 120 m long."})
    assert len(alone.json["claims"]) == 1


def test_a_response_is_split(service):
    """Claims have their places in the response, and what is none is listed with its reason."""
    found = service.ask("POST", "/v1/claims", {"response": "Hello! The bridge is 120 m long."}).json
    assert [one["text"] for one in found["claims"]] == ["The bridge is 120 m long."]
    assert found["skipped"][0]["reason"]


def test_what_failed_is_taken_out_of_a_guarded_answer(service):
    """The contradicted claim is dropped, and the answer says so; with a rule against repair it is refused."""
    body = {
        "response": "The bridge is 120 metres long. It has five towers.",
        "contexts": ["It is 120 m long, with two towers."],
    }
    answer = service.ask("POST", "/v1/guard", {**body, "rules": {"contradicted": "block", "unsupported": "block"}}).json
    assert answer["text"] == "The bridge is 120 metres long."
    refused = service.ask(
        "POST", "/v1/guard", {**body, "rules": {"repair": "none", "unsupported": "block", "refusal": "No."}}
    ).json
    assert (refused["text"], refused["blocked"]) == ("No.", True)


def test_no_passages_is_an_answer(service):
    """Nothing to judge against is unsupported with a warning, not an error."""
    found = service.ask("POST", "/v1/score", {"response": "The bridge is long."}).json
    assert found["counts"] == {"supported": 0, "unsupported": 1, "contradicted": 0}
    assert service.ask("POST", "/v1/score", {"response": ""}).json["outcome"] == "no_claims"


@pytest.mark.parametrize(
    ("path", "body", "told"),
    [
        ("score", {"anser": "x"}, "score has no field anser; did you mean 'answer'?"),
        ("score", {"response": "x", "judge": "lexical"}, "score has no field judge"),
        ("score", {"contexts": ["x"]}, "score needs 'response' (response, answer, output, actual_output, result)"),
        ("score", {"response": "x", "answer": "y"}, "response and answer are names of one field"),
        ("score", {"response": 7}, "the response is a number"),
        ("score", {"response": "x", "contexts": [7]}, "passage 1 is a number"),
        ("score", {"response": "x", "contexts": [{"txt": "y"}]}, "passage 1 has no text"),
        ("verify", {"claims": [], "contexts": [], "reference": "x"}, "verify has no field reference"),
        ("verify", {"claims": ["x", 3], "contexts": []}, "claims of verify must be a text or a list of texts"),
        ("verify", {"claims": [" "]}, "a claim must be a text that says something"),
        ("verify", {"claims": ["x"], "contexts": 3}, "contexts of verify must be"),
        ("claims", {"response": None}, "claims needs 'response'"),
        ("claims", {"response": ["x"]}, "response of claims must be a text, got a list"),
        ("guard", {"response": "x", "rules": {"treshold": 1}}, "did you mean 'threshold'?"),
        ("guard", {"response": "x", "rules": {"threshold": 2}}, "threshold"),
        ("guard", {"response": "x", "rules": {"repair": "rewrite"}}, "there is no generator here"),
        ("guard", {"response": "x", "rules": []}, "rules of guard must be an object"),
        ("score?verbose=1", BRIDGE, "there is no parameter verbose here"),
    ],
)
def test_what_means_nothing_is_an_error_in_words(service, path, body, told):
    """Unknown names and wrong values are told with the value, and the nearest right name."""
    assert told in problem(service.ask("POST", f"/v1/{path}", body), 422, "bad-input")


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (b"{", "not valid JSON"),
        (b"", "not valid JSON"),
        (b'{"response": "x", "response": "y"}', "the key 'response' appears twice"),
        (b'{"response": "x", "id": NaN}', "NaN is no JSON"),
        (b'{"response": "x", "id": -Infinity}', "-Infinity is no JSON"),
        (b'{"response": "\xff"}', "not valid UTF-8: byte 15"),
        (b"[" * 50_000, "nested too deeply"),
        (b'{"id": ' + b"9" * 10_000 + b"}", "thousands of digits"),
    ],
)
def test_what_is_no_json_is_malformed(service, body, told):
    """Broken, doubtful and hostile JSON is turned away with its fault."""
    assert told in problem(service.ask("POST", "/v1/score", body, JSON), 400, "malformed")


@pytest.mark.parametrize("body", [b"[]", b'"x"', b"null", b"7", b'{"a":' * 40 + b"1" + b"}" * 40, b'{"id": 1e999}'])
def test_json_that_is_no_request_is_bad_input(service, body):
    """Other values than an object, absurd depth and numbers beyond all bounds are bad input."""
    problem(service.ask("POST", "/v1/score", body, JSON), 422, "bad-input")


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Content-Type": "text/plain"},
        {"Content-Type": "application/x-www-form-urlencoded"},
        {"Content-Type": "application/json; charset=utf-16"},
        {**JSON, "Content-Encoding": "gzip"},
    ],
)
def test_content_of_another_type_is_refused(service, headers):
    """Only JSON is read; a page in a browser cannot send that here unasked."""
    problem(service.ask("POST", "/v1/score", json.dumps(BRIDGE).encode(), headers), 415, "wrong-type")


def test_parameters_of_the_type_do_not_matter(service):
    """UTF-8 may be said."""
    headers = {"Content-Type": 'Application/JSON; charset="UTF-8"'}
    assert service.ask("POST", "/v1/score", json.dumps(BRIDGE).encode(), headers).status == 200


@pytest.mark.parametrize("announced", [True, False])
def test_a_request_that_is_too_large_is_turned_away(service, announced):
    """By the length it says, and by what comes; the connection is not used again."""
    size = 300_000
    head = f"Content-Length: {size}" if announced else "Transfer-Encoding: chunked"
    body = (
        b"x" * size
        if announced
        else b"".join([b"10000\r\n" + b"x" * 65_536 + b"\r\n" for _ in range(4)]) + b"0\r\n\r\n"
    )
    with socket.create_connection(("127.0.0.1", service.port), timeout=20) as client:
        client.sendall(
            f"POST /v1/score HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n{head}\r\n\r\n".encode()
        )
        with contextlib.suppress(ConnectionError):
            client.sendall(body)
        found = client.recv(65_536)
    assert b" 413 " in found.splitlines()[0]
    assert b"connection: close" in found.lower()


def test_addresses_and_methods_that_are_not_there(service):
    """Each is a problem of its own; a wrong method says the right one."""
    problem(service.ask("GET", "/v1/scores"), 404, "not-found")
    problem(service.ask("GET", "/docs"), 404, "not-found")
    problem(service.ask("GET", "/v1/score/"), 404, "not-found")
    answer = service.ask("GET", "/v1/score")
    problem(answer, 405, "wrong-method")
    assert answer.headers["allow"] == "POST"


def test_half_characters_come_back_as_they_went(service):
    """A lone surrogate, NUL, right-to-left and markup are text like any other."""
    text = "The bridge \ud800 is \x00 <script>alert(1)</script> 120 m long. \u202egnol"
    answer = service.ask("POST", "/v1/score", {"response": text, "contexts": [text], "id": "\ud83d"})
    assert answer.status == 200
    assert answer.json["id"] == "\ud83d"


def test_without_tokens_only_this_machine_is_answered(service):
    """A page elsewhere that points its own name at this machine is refused."""
    for host in ("evil.example", "127.0.0.1.evil.example:80", ""):
        problem(service.ask("GET", "/health", headers={"Host": host}), 421, "wrong-host")
    assert service.ask("GET", "/health", headers={"Host": "localhost:1"}).status == 200


def test_pages_of_others_are_refused(service):
    """A browser that a page elsewhere sends here is told no, with whatever method."""
    for headers in ({"Origin": "https://evil.example"}, {"Sec-Fetch-Site": "cross-site"}):
        problem(service.ask("POST", "/v1/score", BRIDGE, headers), 403, "not-allowed")
        problem(service.ask("POST", "/v1/jobs/j1/cancel", None, headers), 403, "not-allowed")


def test_how_the_service_is(service):
    """Health, readiness with the load, and the version with what judges."""
    assert service.ask("GET", "/health").json == {"status": "ok"}
    assert service.ask("GET", "/ready").json["status"] == "ready"
    assert service.ask("GET", "/version").json["provenance"]["decomposer"] == "embedded"


def test_the_log_has_no_texts(service):
    """Every request has its line, with what came of it and without a word of what was in it."""
    secret = "zanzibar"
    answer = service.ask("POST", "/v1/score", {"response": f"The {secret} is long.", "contexts": [f"A {secret}."]})
    service.ask("POST", "/v1/score", {f"{secret}": 1})
    service.ask("GET", f"/{secret}?{secret}={secret}")
    service.ask("POST", "/v1/score", {"response": {secret: 1}})
    service.ask("GET", "/health")
    while not any(row.get("route") == "/health" for row in service.log()[-3:]):
        pass
    line = next(row for row in service.log() if row.get("request") == answer.headers["x-request-id"])
    assert (line["route"], line["status"], line["outcome"], line["claims"]) == ("/v1/score", 200, "scored", 1)
    assert secret not in "".join(service.lines)


def test_texts_are_logged_where_that_is_asked_for(tmp_path):
    """With --log-texts a request's line holds the request."""
    service = Service(tmp_path, "--log-texts")
    try:
        service.ask("POST", "/v1/score", {"response": "The zanzibar is long."})
        line = json.loads(service.wait_for('"request"'))
    finally:
        service.kill()
    assert line["row"] == {"response": "The zanzibar is long."}


@pytest.fixture(scope="module")
def guarded(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tokens")
    shown = {}
    for name, scopes, rate in (
        ("scorer", ["score"], None),
        ("batch", ["jobs"], None),
        ("other", ["jobs"], None),
        ("slow", ["score"], 1),
        ("root", ["admin"], None),
    ):
        shown[name], token = new_token(name, scopes, rate)
        add_token(folder / "tokens", token)
    one = Service(folder, "--tokens", "tokens")
    one.headers = {name: {"Authorization": f"Bearer {token}"} for name, token in shown.items()}
    yield one
    one.kill()


def test_a_token_is_asked_for(guarded):
    """Without one, with a wrong one, or with another scheme nothing is answered but how the service is."""
    for headers in ({}, {"Authorization": "Bearer ecl_wrong"}, {"Authorization": "Basic abc"}):
        for path in ("/v1/score", "/v1/jobs", "/v1/nothing"):
            answer = guarded.ask("POST", path, BRIDGE, headers)
            problem(answer, 401, "no-token")
            assert answer.headers["www-authenticate"].startswith("Bearer")
    assert [guarded.ask("GET", path).status for path in ("/health", "/ready", "/version", "/openapi.json")] == [200] * 4


def test_a_worker_that_begins_when_no_token_is_left_lets_nobody_in(tmp_path):
    """Where tokens were asked for at the start, taking all of them out closes the service, in a later process as well."""
    from everyclaim.web.service.app import make_app
    from everyclaim.web.service.settings import ServiceSettings

    (tmp_path / "tokens").write_text("# all taken out\n")
    (tmp_path / "tokens").chmod(0o600)
    app = make_app(ServiceSettings(store=str(tmp_path / "store.db"), tokens=tmp_path / "tokens", asks=True))
    sent = []

    async def send(message):
        sent.append(message)

    headers = [(b"host", b"localhost"), (b"content-type", b"application/json")]
    scope = {"type": "http", "method": "POST", "path": "/v1/score", "headers": headers, "client": ("192.0.2.1", 1)}
    asyncio.run(app(scope, None, send))
    assert sent[0]["status"] == 401


def test_a_token_is_good_for_its_scopes(guarded):
    """A scope lets in where it is meant for, `admin` everywhere, and nothing else anywhere."""
    assert guarded.ask("POST", "/v1/score", BRIDGE, guarded.headers["scorer"]).status == 200
    assert guarded.ask("POST", "/v1/score", BRIDGE, guarded.headers["root"]).status == 200
    assert guarded.ask("GET", "/v1/jobs", None, guarded.headers["batch"]).status == 200
    assert "'jobs'" in problem(guarded.ask("GET", "/v1/jobs", None, guarded.headers["scorer"]), 403, "not-allowed")
    problem(guarded.ask("POST", "/v1/score", BRIDGE, guarded.headers["batch"]), 403, "not-allowed")


def test_a_token_that_asks_too_often_is_told_when_to_come_again(guarded):
    """Beyond its rate a token gets 429 with Retry-After; the others are served."""
    answers = [guarded.ask("POST", "/v1/claims", {"response": "x"}, guarded.headers["slow"]) for _ in range(12)]
    assert [one.status for one in answers[:10]] == [200] * 10
    problem(answers[-1], 429, "too-often")
    assert 1 <= int(answers[-1].headers["retry-after"]) <= 60
    assert guarded.ask("POST", "/v1/claims", {"response": "x"}, guarded.headers["scorer"]).status == 200


def test_jobs_of_others_are_not_there(guarded):
    """A job is seen by whoever sent it, and by an administrator; for others it does not exist."""
    headers = {**guarded.headers["batch"], "Content-Type": "application/x-ndjson"}
    job = guarded.ask("POST", "/v1/jobs", json.dumps(BRIDGE), headers).json["id"]
    for path in (f"/v1/jobs/{job}", f"/v1/jobs/{job}/results"):
        problem(guarded.ask("GET", path, None, guarded.headers["other"]), 404, "not-found")
        assert guarded.ask("GET", path, None, guarded.headers["root"]).status == 200
    problem(guarded.ask("POST", f"/v1/jobs/{job}/cancel", None, guarded.headers["other"]), 404, "not-found")
    assert guarded.ask("GET", "/v1/jobs", None, guarded.headers["other"]).json == {"jobs": []}
    assert guarded.ended_job(job, guarded.headers["batch"])["state"] == "finished"


def test_tokens_are_nowhere_in_the_log(guarded):
    """The log says who asked by name, and holds no token, good or wrong."""
    guarded.ask("GET", "/v1/jobs?token=ecl_in_the_address", None, {"Authorization": "Bearer ecl_never_good"})
    assert guarded.ask("GET", "/v1/jobs", None, guarded.headers["batch"]).status == 200
    while not any(row.get("token") == "batch" for row in guarded.log()):
        pass
    log = "".join(guarded.lines)
    assert "ecl_" not in log
    assert not any(headers["Authorization"].split()[1] in log for headers in guarded.headers.values())
