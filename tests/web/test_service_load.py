"""More than can be done, and clients that dawdle: everybody gets a clear answer, and nothing is lost or done twice."""

from __future__ import annotations

import json
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest

from everyclaim.web.settings import AccessTokens


def body(number, word="bridge"):
    return {"response": f"The {word} is {number} metres long.", "contexts": ["It is long."], "id": str(number)}


def judged(service):
    return Counter((service.folder / "judged.txt").read_text().splitlines())


def ask_all(service, numbers, at_once):
    with ThreadPoolExecutor(at_once) as pool:
        return list(pool.map(lambda number: service.ask("POST", "/v1/score", body(number)), numbers))


@pytest.mark.slow
def test_what_there_is_no_room_for_is_sent_away_at_once(started):
    """At three times what can be done: each request is answered or told to come again, and no answer is done twice."""
    service = started("--concurrency", "2", "--queue", "4", JUDGE_SECONDS="0.3")
    answers = ask_all(service, range(2, 20), 18)
    assert Counter(one.status for one in answers) == {200: 6, 429: 12}
    for number, answer in enumerate(answers, start=2):
        if answer.status == 200:
            assert answer.json["id"] == str(number)
        else:
            assert (answer.json["code"], int(answer.headers["retry-after"]) >= 1) == ("overloaded", True)
    assert sorted(judged(service).values()) == [1] * 6
    assert service.ask("GET", "/ready").status == 200
    assert service.ask("POST", "/v1/score", body(99)).status == 200


@pytest.mark.slow
def test_what_takes_too_long_is_given_up(started):
    """A request has its time, and after it 504; the next one is served."""
    service = started("--timeout", "3", JUDGE_SECONDS="0.0")
    answer = service.ask("POST", "/v1/score", body(2, "forever bridge"))
    assert (answer.status, answer.json["code"]) == (504, "timed-out")
    assert service.ask("POST", "/v1/score", body(3)).status == 200


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["time", "sigterm"])
def test_what_computes_without_a_pause_is_cut_off(started, ending):
    """A text that takes for ever holds nobody up: neither other requests nor an end that is asked for."""
    service = started("--timeout", "3" if ending == "time" else "30", "--concurrency", "2", judge="spinning")
    data = json.dumps(body(2, "forever bridge")).encode()
    found = service.send("/v1/score", f"Content-Length: {len(data)}", data, waits=ending == "time")
    assert service.ask("GET", "/health").status == 200
    begun = time.monotonic()
    if ending == "time":
        assert b" 504 " in found
        assert service.ask("POST", "/v1/score", body(3)).status == 200
    assert service.end() == 0
    assert time.monotonic() - begun < 10


@pytest.mark.slow
def test_nobody_works_for_a_client_that_has_gone(started):
    """A request whose client left while it waited is never begun."""
    service = started("--concurrency", "1", JUDGE_SECONDS="1.0")
    first = threading.Thread(target=service.ask, args=("POST", "/v1/score", body(2)))
    first.start()
    time.sleep(0.4)
    data = json.dumps(body(3)).encode()
    service.send("/v1/score", f"Content-Length: {len(data)}", data, waits=False)
    first.join()
    assert service.ask("POST", "/v1/score", body(4)).status == 200
    assert set(judged(service)) == {"The bridge is 2 metres long.", "The bridge is 4 metres long."}
    assert [row["status"] for row in service.log() if row.get("route") == "/v1/score"].count(499) == 1


@pytest.mark.slow
@pytest.mark.parametrize("workers", ["1", "2"])
def test_an_end_asked_for_answers_what_was_accepted(started, workers):
    """SIGTERM with requests worked on and waiting: all of them are answered, each once, before the process ends."""
    service = started("--concurrency", "2", "--workers", workers, JUDGE_SECONDS="0.4")
    with ThreadPoolExecutor(8) as pool:
        asked = [pool.submit(service.ask, "POST", "/v1/score", body(number)) for number in range(2, 10)]
        time.sleep(0.6)
        assert service.end() == 0
        assert [one.result().json["id"] for one in asked] == [str(number) for number in range(2, 10)]
    assert sorted(judged(service).values()) == [1] * 8


def counted(service, name):
    lines = service.ask("GET", "/metrics").body.decode().splitlines()
    found = (line.partition("{")[2].rpartition("} ") for line in lines if line.startswith(name))
    return {labels: float(value) for labels, _, value in found}


@pytest.mark.slow
@pytest.mark.parametrize("workers", ["1", "2"])
def test_what_happens_is_counted_for_prometheus(started, workers):
    """At /metrics: answers of requests and of jobs, requests by route and status; of all workers together."""
    service = started("--metrics", "--workers", workers, JUDGE_SECONDS="0.0")
    answers = ask_all(service, range(2, 12), 4)
    assert [one.json["id"] for one in answers] == [str(number) for number in range(2, 12)]
    assert sorted(judged(service).values()) == [1] * 10, "each is done by one of the workers"
    job = service.ask("POST", "/v1/jobs", json.dumps(body(20)), {"Content-Type": "application/x-ndjson"}).json["id"]
    service.ended_job(job)
    for path in ("/etc/passwd", "/v1/jobs/secret-name"):
        service.ask("GET", path)
    outcomes = counted(service, "everyclaim_answers_total")
    assert {labels: count for labels, count in outcomes.items() if count} == {'outcome="scored",release=""': 11.0}
    requests = counted(service, "everyclaim_requests_total")
    assert requests['method="POST",route="/v1/score",status="200"'] == 10.0
    assert requests['method="GET",route="other",status="404"'] == 1.0
    assert requests['method="GET",route="/v1/jobs/{job}",status="404"'] == 1.0
    assert "secret" not in str(requests)


# ---- the command


def test_a_token_is_made_on_the_command_line(tmp_path, monkeypatch, capsys):
    """It goes to standard output alone, what is kept of it into the file; without a file the line is shown."""
    from everyclaim.cli.app import run

    monkeypatch.chdir(tmp_path)
    assert run(["serve", "--new-token", "ci", "--scopes", "score, jobs", "--rate", "60", "--tokens", "tokens"]) == 0
    out, err = capsys.readouterr()
    found = AccessTokens(tmp_path / "tokens").holder(out.strip())
    assert (found.name, found.scopes, found.per_minute) == ("ci", {"score", "jobs"}, 60)
    assert out.strip() not in err
    assert run(["serve", "--new-token", "env", "--scopes", "ui"]) == 0
    out, err = capsys.readouterr()
    assert (
        AccessTokens(variable=err.partition("TOKENS: ")[2].replace("\n", " ").strip()).holder(out.strip()).name == "env"
    )
    assert run(["serve", "--new-token", "ci", "--scopes", "scores"]) == 2
    assert "did you mean 'score'" in capsys.readouterr().err
