"""The service over HTTP: what it answers, whom it lets in, and what it says to everybody else."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from running_service import BRIDGE

from everyclaim import score
from everyclaim.core.wire import result_from_json, result_to_json

JSON = {"Content-Type": "application/json"}


def problem(answer, status, code):
    assert (answer.status, answer.headers["content-type"]) == (status, "application/problem+json")
    assert (answer.json["code"], answer.json["status"]) == (code, status)
    return answer.json["detail"]


def test_an_answer_is_scored_as_in_python(service):
    """The result over HTTP is that of `score`, number for number, by any of the names a file may have."""
    row = {"answer": "It is 120 m long. It opened in 1999.", "retrieved_contexts": ["It is 120 m long, of 1998."]}
    answer = service.ask("POST", "/v1/score", row)
    assert answer.status == 200
    assert answer.json == json.loads(json.dumps(result_to_json(score(row))))
    assert result_from_json(answer.json).failing
    unjudged = service.ask("POST", "/v1/score", {"response": "The bridge is long."}).json
    assert unjudged["counts"] == {"supported": 0, "unsupported": 1, "contradicted": 0}, "no passages are no error"
    assert service.ask("POST", "/v1/score", {"response": ""}).json["outcome"] == "no_claims"


def test_given_claims_are_judged_and_a_response_is_split(service):
    """Each claim has its verdict, in order, one claim alone as well; what is no claim is listed with its reason."""
    body = {"claims": ["The bridge is 90 m long.", "The bridge is 120 m long."], "passages": BRIDGE["contexts"]}
    found = service.ask("POST", "/v1/verify", body).json["claims"]
    assert [(one["text"], one["verdict"]["label"]) for one in found] == [
        (body["claims"][0], "CONTRADICTED"),
        (body["claims"][1], "SUPPORTED"),
    ]
    alone = service.ask("POST", "/v1/verify", {"claim": "The bridge is 120 m long.", "contexts": "It is 120 m long."})
    assert len(alone.json["claims"]) == 1
    split = service.ask("POST", "/v1/claims", {"response": "Hello! The bridge is 120 m long."}).json
    assert [one["text"] for one in split["claims"]] == ["The bridge is 120 m long."]
    assert split["skipped"][0]["reason"]


def test_what_failed_is_taken_out_of_a_guarded_answer(service):
    """The contradicted claim is dropped, and the answer says so; with a rule against repair it is refused."""
    body = {
        "response": "The bridge is 120 metres long. It has five towers.",
        "contexts": ["The bridge is 120 m long, with two towers."],
    }
    answer = service.ask("POST", "/v1/guard", {**body, "rules": {"contradicted": "block", "unsupported": "block"}}).json
    assert answer["text"] == "The bridge is 120 metres long."
    rules = {"repair": "none", "unsupported": "block", "refusal": "No."}
    refused = service.ask("POST", "/v1/guard", {**body, "rules": rules}).json
    assert (refused["text"], refused["blocked"]) == ("No.", True)


@pytest.mark.parametrize(
    ("path", "body", "told"),
    [
        ("score", {"anser": "x"}, "score has no field anser; did you mean 'answer'?"),
        ("score", {"contexts": ["x"]}, "score needs 'response' (response, answer, output, actual_output, result)"),
        ("score", {"response": "x", "answer": "y"}, "response and answer are the same field"),
        ("score", {"response": 7}, "the response is a number"),
        ("score", {"response": "x", "contexts": [7]}, "passage 1 is a number"),
        (
            "verify",
            {"claims": ["x", 3], "contexts": []},
            "claims must be a non-empty text",
        ),
        (
            "verify",
            {"claims": ["x"], "contexts": 3},
            "passages must be a text",
        ),
        ("guard", {"response": "x", "rules": {"treshold": 1}}, "did you mean 'threshold'?"),
        ("guard", {"response": "x", "rules": {"repair": "rewrite"}}, "has no generator"),
        ("score?verbose=1", BRIDGE, "there is no parameter verbose here"),
        ("score", b"[]", "expected an object"),
    ],
)
def test_what_means_nothing_is_an_error_in_words(service, path, body, told):
    """Unknown names and wrong values are told with the value, and the nearest right name."""
    assert told in problem(service.ask("POST", f"/v1/{path}", body, JSON), 422, "bad-input")


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (b"", "not valid JSON"),
        (b'{"response": "x", "response": "y"}', "the key 'response' appears twice"),
        (b'{"response": "x", "id": -Infinity}', "-Infinity is not JSON"),
        (b'{"response": "\xff"}', "not valid UTF-8: byte 15"),
        (b"[" * 50_000, "nested too deeply"),
        (b'{"id": ' + b"9" * 10_000 + b"}", "thousands of digits"),
    ],
)
def test_what_is_no_json_is_malformed(service, body, told):
    """Broken, doubtful and hostile JSON is turned away with its fault."""
    assert told in problem(service.ask("POST", "/v1/score", body, JSON), 400, "malformed")


@pytest.mark.parametrize("announced", [True, False])
def test_a_request_that_is_too_large_is_turned_away(service, announced):
    """By the length it says, and by what comes; the connection is not used again."""
    pieces = b"".join([b"10000\r\n" + b"x" * 65_536 + b"\r\n" for _ in range(4)]) + b"0\r\n\r\n"
    head, body = ("Content-Length: 300000", b"x" * 300_000) if announced else ("Transfer-Encoding: chunked", pieces)
    found = service.send("/v1/score", head, body)
    assert b" 413 " in found.splitlines()[0]
    assert b"connection: close" in found.lower()


def test_without_tokens_only_this_machine_is_answered(service):
    """A page elsewhere that points its own name at this machine, or sends a browser here, is refused."""
    for host in ("evil.example", "127.0.0.1.evil.example:80", ""):
        problem(service.ask("GET", "/health", headers={"Host": host}), 421, "wrong-host")
    assert service.ask("GET", "/health", headers={"Host": "localhost:1"}).status == 200
    for headers in ({"Origin": "https://evil.example"}, {"Sec-Fetch-Site": "cross-site"}):
        for path in ("/v1/score", "/v1/jobs/j1/cancel"):
            problem(service.ask("POST", path, BRIDGE, headers), 403, "not-allowed")


def test_how_the_service_is(service):
    """Health, readiness with the load, and the version with what judges; without --metrics there are none."""
    assert service.ask("GET", "/health").json == {"status": "ok"}
    assert service.ask("GET", "/ready").json["status"] == "ready"
    assert service.ask("GET", "/version").json["provenance"]["decomposer"] == "embedded"
    assert service.ask("GET", "/metrics").status == 404


def test_the_log_has_no_texts(service):
    """Every request has its line, with what came of it and without a word of what was in it."""
    secret = "zanzibar"
    answer = service.ask("POST", "/v1/score", {"response": f"The {secret} is long.", "contexts": [f"A {secret}."]})
    service.ask("POST", "/v1/score", {f"{secret}": 1})
    service.ask("GET", f"/{secret}?{secret}={secret}")
    service.ask("POST", "/v1/score", {"response": {secret: 1}})
    last = service.ask("GET", "/health").headers["x-request-id"]
    while not any(row.get("request") == last for row in service.log()):
        pass
    line = next(row for row in service.log() if row.get("request") == answer.headers["x-request-id"])
    assert (line["route"], line["status"], line["outcome"], line["claims"]) == ("/v1/score", 200, "scored", 1)
    assert secret not in "".join(service.lines)


# ---- tokens


def test_a_token_is_asked_for_and_good_for_its_scopes(guarded):
    """Without a good one nothing is answered but how the service is; `admin` lets in everywhere."""
    for headers in ({}, {"Authorization": "Bearer ecl_wrong"}, {"Authorization": "Basic abc"}):
        for path in ("/v1/score", "/v1/jobs", "/v1/nothing"):
            answer = guarded.ask("POST", path, BRIDGE, headers)
            problem(answer, 401, "no-token")
            assert answer.headers["www-authenticate"].startswith("Bearer")
    assert [guarded.ask("GET", path).status for path in ("/health", "/ready", "/version", "/openapi.json")] == [200] * 4
    for name in ("scorer", "root"):
        assert guarded.ask("POST", "/v1/score", BRIDGE, guarded.headers[name]).status == 200
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


# ---- its description


CONFORMS = (
    "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance,"
    "response_headers_conformance,missing_required_header,unsupported_method"
)


@pytest.mark.slow
@pytest.mark.parametrize(
    "options",
    [
        f"--checks {CONFORMS} --max-examples 10",
        # A key for a job may have come before with another one.
        "--checks positive_data_acceptance --max-examples 25 --phases fuzzing --exclude-path /v1/jobs",
    ],
    ids=["conforms", "accepts"],
)
def test_the_service_is_as_it_is_described(service, options):
    """Requests made from the description, right and wrong, alone and in a row: no 5xx, and no answer but those described."""
    command = [str(Path(sys.executable).with_name("schemathesis")), "run", f"{service.address}/openapi.json"]
    quietly = ["--seed", "1", "--suppress-health-check", "all", "--no-color"]
    found = subprocess.run(
        [*command, *options.split(), *quietly],
        check=False,
        capture_output=True,
        text=True,
        timeout=500,
        cwd=service.folder,
    )
    assert found.returncode == 0, found.stdout[-6000:]
    assert not [row for row in service.log() if row.get("status", 0) >= 500]
