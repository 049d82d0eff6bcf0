"""The client: what an `Evaluator` says here, a `Client` says of the service, and what goes wrong in between."""

from __future__ import annotations

import json
import sys
from types import SimpleNamespace

import pytest
from running_service import BRIDGE

import everyclaim as ec
from everyclaim.testing import no_sleep
from loopback_server import Reply, serving

ROW = {"answer": "It is 120 m long. It has five towers.", "contexts": ["It is 120 m long, with two towers."], "id": "b"}


@pytest.fixture
def client(guarded):
    with ec.Client(guarded.address, token=guarded.token) as one:
        yield one


def test_results_are_those_of_an_evaluator(client):
    """Score, verify, claims: the same values of the same types."""
    with ec.Evaluator() as here:
        assert client.score(ROW) == here.score(ROW)
        assert client.score(response="x is 3.", passages="x is 4.") == here.score(
            response="x is 3.", passages="x is 4."
        )
        assert client.verify(["x is 3."], [{"text": "x is 4.", "id": "d"}]) == here.verify(
            ["x is 3."], [{"text": "x is 4.", "id": "d"}]
        )
        assert client.claims("Hi! x is 3.") == here.claims("Hi! x is 3.")


def test_an_answer_is_guarded(client):
    """What failed is taken out, by rules that are checked here."""
    found = client.guard(ROW["answer"], ROW["contexts"], unsupported="block")
    assert found.text == "It is 120 m long."
    assert found.removed[0].how == "dropped"
    assert found == ec.Guard(None, unsupported="block").answer("", ROW["contexts"], response=ROW["answer"])
    asked = {**ROW, "question": "How long is the bridge?"}
    with_question = ec.Guard(None).answer(asked["question"], ROW["contexts"], response=ROW["answer"])
    assert client.guard(asked) == with_question
    with pytest.raises(ec.ConfigError, match="did you mean 'threshold'"):
        client.guard("x", "y", treshold=0.5)


def test_a_file_is_scored(client, tmp_path):
    """A data set of any kind that is read here becomes a job, whose results and summary are those of a run here."""
    path = tmp_path / "answers.csv"
    path.write_text(
        "id,answer,contexts,topic\n" + "".join(f"a{n},x is {n}.,x is 3.,t{n % 2}\n" for n in range(6)) + "a,b\n"
    )
    job = client.score_file(path, slices=["topic"], name="mine")
    with ec.Evaluator() as here:
        run = here.score_file(path, slices=["topic"], store=tmp_path / "store.db")
    assert list(job.results()) == list(run.results())
    assert job.summary == run.summary
    assert job.status().name == "mine"
    assert list(client.job(job.id).results()) == list(job.results())
    said = [{"role": role, "content": "x is 3."} for role in ("user", "assistant") * 2]
    job = client.score_file([{"id": "c", "messages": said, "contexts": ["x is 3."]}], turns="all")
    assert [result.id for result in job.results()] == ["c/1", "c/2"]


@pytest.mark.parametrize(
    ("call", "kind", "told"),
    [
        (lambda c: c.score({"response": 3}), ec.InputError, "the response is a number"),
        (lambda c: c.score(ROW, response="x"), ec.ConfigError, "a row or its fields"),
        (lambda c: c.score_file("nowhere.jsonl"), ec.InputError, "there is no file nowhere.jsonl"),
        (lambda c: c.job("nothing").status(), ec.InputError, "no job nothing"),
        (lambda c: c.score({"response": "x" * 3_000_000}), ec.InputError, "max_answer_chars"),
        (lambda c: c.claims("x" * 900_000 + " y" * 700_000), ec.InputError, "can have at most 2 MB|max_answer_chars"),
    ],
)
def test_what_is_wrong_is_told_as_here(client, call, kind, told):
    """Errors of the input and of the call are those of the library, whoever found them."""
    with pytest.raises(kind, match=told):
        call(client)


def test_a_token_is_needed_and_never_shown(guarded, monkeypatch):
    """Without one, or with a wrong one, there is one clear error; it comes from the environment where it is not given."""
    monkeypatch.delenv("EVERYCLAIM_TOKEN", raising=False)
    with ec.Client(guarded.address) as client, pytest.raises(ec.ConfigError, match="send a valid token"):
        client.score(ROW)
    with ec.Client(guarded.address, token="ecl_secret_one") as client:
        with pytest.raises(ec.ConfigError) as fault:
            client.score(ROW)
        assert "ecl_secret_one" not in f"{fault.value} {client!r} {vars(client)}"
    monkeypatch.setenv("EVERYCLAIM_TOKEN", guarded.token)
    with ec.Client(guarded.address) as client:
        assert client.score(ROW).id == "b"


@pytest.fixture
def flaky():
    """Answers as told, one answer after the other; without a status the connection breaks."""
    one = SimpleNamespace(answers=[], asked=[])

    def answer(request):
        one.asked.append(request)
        return Reply(*(one.answers.pop(0)))

    with serving(answer) as one.address:
        yield one


GOOD = (200, b'{"claims": [], "skipped": [], "abstained": false}', {"Content-Type": "application/json"})


def problem(status, code, **headers):
    body = json.dumps({"code": code, "detail": "unstable: as told", "status": status})
    return status, body.encode(), {"Content-Type": "application/problem+json", **headers}


@pytest.mark.parametrize(
    "fault",
    [
        problem(429, "overloaded", **{"Retry-After": "1"}),
        problem(429, "too-often", **{"Retry-After": "2"}),
        problem(503, "unavailable"),
        (502, b"<html>Bad gateway</html>"),
        (0,),
    ],
)
def test_what_may_work_the_next_time_is_sent_again(flaky, fault):
    """A full service, a proxy without one, a connection that breaks: asked again until there is an answer."""
    flaky.answers += [fault, fault, GOOD]
    with ec.Client(flaky.address) as client, no_sleep():
        assert client.claims("x").claims == ()
    assert len(flaky.asked) == 3


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        (problem(422, "bad-input"), ec.InputError),
        (problem(502, "judge-failed"), ec.JudgeError),
        (problem(503, "budget-spent"), ec.BudgetExceeded),
        (problem(504, "timed-out"), ec.OperatorError),
        (problem(429, "overloaded", **{"Retry-After": "9999"}), ec.OperatorError),
        ((200, b"<html>"), ec.OperatorError),
        ((200, b'{"status": "ok"}'), ec.OperatorError),
        ((206, b'{"claims": 3}'), ec.OperatorError),
        ((204,), ec.OperatorError),
        ((302, b"", {"Location": "http://192.0.2.1/"}), ec.OperatorError),
    ],
)
def test_what_will_not_work_is_told_at_once(flaky, fault, kind):
    """Everything else is asked once, and no token is taken along to another address."""
    flaky.answers += [fault]
    with ec.Client(flaky.address, token="ecl_x") as client, no_sleep(), pytest.raises(kind):
        client.claims("x")
    assert len(flaky.asked) == 1


@pytest.mark.parametrize("module", ["aiohttp", "stamina"])
def test_without_the_extra_it_is_named(module, monkeypatch):
    """One line that says what to install."""
    monkeypatch.setitem(sys.modules, module, None)
    with ec.Client() as client, pytest.raises(ec.MissingExtraError, match=r"everyclaim\[client\]"):
        client.claims("x")


def test_a_data_set_sent_again_is_the_same_job(flaky):
    """Each attempt of one submission has the same Idempotency-Key, another submission another one."""
    accepted = (202, json.dumps({"id": "j1"}).encode(), {"Content-Type": "application/json"})
    flaky.answers += [(0,), accepted, accepted]
    with ec.Client(flaky.address) as client, no_sleep():
        client.submit([BRIDGE])
        client.submit([BRIDGE])
    keys = [request.headers["idempotency-key"] for request in flaky.asked]
    assert keys[0] == keys[1] != keys[2]
