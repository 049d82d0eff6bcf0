"""Memory of the service over time: requests of every kind at a steady, low rate, and jobs beside them.

    python benchmarks/soak.py [--seconds 1800] [--rate 1] [--workers 2] [--json FILE] [--log FILE]

Each second `--rate` requests begin, in turn a score, a verification, a guarded answer and a split, over texts that were
never sent before (about seven claims, eight passages); every two minutes a data set of 20 answers is sent as a job, its
results are read when it is done, and the metrics and the list of jobs are asked for. Every half minute the memory
(resident set, and what of it is no file) and the open files of the supervising process and of each worker are noted.

Printed: a line every five minutes, then the memory at the start (after 32 requests that warm it up), after five minutes
and at the end, and the slope from five minutes on, by least squares, in MB an hour.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import time
from collections import Counter
from pathlib import Path
from typing import Any

import aiohttp
import numpy as np

from service import call, service

KINDS = ("score", "verify", "guard", "claims")
EVERY, SETTLED = 30.0, 300.0  # seconds between two looks, and after which memory should be flat
JOB_EVERY, JOB_ROWS = 120.0, 20
WARM = 32  # requests before the first look


def body(kind: str, number: int) -> dict[str, Any]:
    """Return what a request of a kind sends."""
    row = call(number)
    response = " ".join(row["claims"])
    if kind == "verify":
        return row
    if kind == "claims":
        return {"response": response, "question": row["question"]}
    return {"response": response, "contexts": row["contexts"], "question": row["question"]}


def held(process: int) -> tuple[float, float, int]:
    """Resident MB of a process, the part of it that is no file, and its open files."""
    lines = dict(line.split(":", 1) for line in Path(f"/proc/{process}/status").read_text().splitlines())
    resident, own = (int(lines[name].split()[0]) / 1024 for name in ("VmRSS", "RssAnon"))
    return resident, own, len(list(Path(f"/proc/{process}/fd").iterdir()))


def command(process: int) -> str:
    """Return the command line of a process."""
    return Path(f"/proc/{process}/cmdline").read_text()


class Soak:
    """What was asked, what came of it, and what the processes held meanwhile."""

    def __init__(self, address: str, processes: list[int]) -> None:
        self.address = address
        self.processes = processes
        self.answers: Counter[str] = Counter()
        self.seen: list[tuple[float, list[tuple[float, float, int]]]] = []

    async def ask(self, session: aiohttp.ClientSession, number: int) -> None:
        """Make one request."""
        kind = KINDS[number % len(KINDS)]
        try:
            async with session.post(f"{self.address}/v1/{kind}", json=body(kind, number)) as answer:
                await answer.read()
            self.answers[f"{kind} {answer.status}"] += 1
        except aiohttp.ClientError as error:
            self.answers[f"{kind} {type(error).__name__}"] += 1

    async def job(self, session: aiohttp.ClientSession, first: int) -> None:
        """Send a data set, wait for it, read its results; look at the metrics and the list of jobs."""
        rows = "\n".join(json.dumps(body("score", first + k) | {"id": f"{first + k}"}) for k in range(JOB_ROWS))
        headers = {"Content-Type": "application/x-ndjson"}
        async with session.post(f"{self.address}/v1/jobs?name=soak", data=rows, headers=headers) as answer:
            job = (await answer.json())["id"]
        state = "open"
        while state in {"open", "waiting", "running"}:
            await asyncio.sleep(1)
            async with session.get(f"{self.address}/v1/jobs/{job}") as answer:
                state = (await answer.json())["state"]
        wanted = {"Accept": "application/x-ndjson"}
        async with session.get(f"{self.address}/v1/jobs/{job}/results", headers=wanted) as answer:
            self.answers[f"job {state} with {len((await answer.text()).splitlines())} results"] += 1
        for path in ("/metrics", "/v1/jobs"):
            async with session.get(self.address + path) as answer:
                await answer.read()

    def look(self, seconds: float) -> None:
        """Note what the processes hold."""
        self.seen.append((seconds, [held(process) for process in self.processes]))
        if seconds % SETTLED < EVERY:
            figures = ", ".join(f"{rss:.1f} MB ({own:.1f}) {files} files" for rss, own, files in self.seen[-1][1])
            print(f"{seconds:6.0f} s  {figures}", flush=True)

    async def run(self, rate: float, seconds: float) -> None:
        """Ask at a steady rate, whether the requests before are answered or not."""
        async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(force_close=True)) as session:
            for first in range(0, WARM, 4):  # each on a connection of its own, so that every worker gets some
                await asyncio.gather(*(self.ask(session, first + k) for k in range(4)))
        self.look(0.0)
        async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:
            began, number = time.perf_counter(), 1000
            next_job, next_look = 0.0, EVERY
            tasks: set[asyncio.Task[None]] = set()
            while (now := time.perf_counter() - began) < seconds:
                if now >= next_job and now + JOB_EVERY < seconds:
                    tasks.add(asyncio.create_task(self.job(session, 10_000_000 + int(now) * JOB_ROWS)))
                    next_job += JOB_EVERY
                if now >= next_look:
                    self.look(now)
                    next_look += EVERY
                tasks.add(asyncio.create_task(self.ask(session, number)))
                number += 1
                tasks = {task for task in tasks if not (task.done() and task.result() is None)}
                await asyncio.sleep(max(0.0, began + (number - 1000) / rate - time.perf_counter()))
            await asyncio.gather(*tasks)
            self.look(time.perf_counter() - began)

    def report(self) -> list[dict[str, float]]:
        """Return and print start, five minutes, end and slope of each process."""
        told = []
        for which, process in enumerate(self.processes):
            resident = [(at, found[which][0]) for at, found in self.seen]
            late = [one for one in resident if one[0] >= SETTLED] or resident[-1:]
            slope = float(np.polyfit(*np.array(late).T, 1)[0] * 3600) if len(late) > 2 else float("nan")
            figures = {"start": resident[0][1], "settled": late[0][1], "end": late[-1][1], "slope": slope}
            told.append(figures | {"files": self.seen[-1][1][which][2]})
            name = "supervisor" if which == 0 and len(self.processes) > 1 else f"process {process}"
            line = "start {start:.1f} MB, after 5 min {settled:.1f}, end {end:.1f}, slope {slope:+.1f} MB/h"
            print(f"{name:16} {line.format(**figures)}")
        return told


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=1800.0)
    parser.add_argument("--rate", type=float, default=1.0, help="requests a second")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--json", type=Path, help="also write all that was seen here")
    parser.add_argument("--log", default=os.devnull, help="the service's own log goes here")
    options = parser.parse_args()
    with service(options.workers, "--metrics", log=options.log) as (address, processes):
        soak = Soak(address, [one for one in processes if "resource_tracker" not in command(one)])
        asyncio.run(soak.run(options.rate, options.seconds))
    found = soak.report()
    print(dict(soak.answers))
    if options.json:
        kept = {"processes": found, "seen": soak.seen, "answers": soak.answers}
        options.json.write_text(json.dumps(kept, indent=2), "utf-8")


if __name__ == "__main__":
    main()
