"""A run that its test kills: scores 300 samples into a store, resuming what is there.

    python killed_run.py STORE RUN CALLS

Every call of the metric is appended to the file CALLS, every kept sample is printed.
"""

import asyncio
import os
import sys
import zlib
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from everyclaim.core.errors import JudgeError
from everyclaim.core.events import Event, SampleFinished
from everyclaim.core.types import Result, Sample
from everyclaim.engine import EngineOptions, run
from everyclaim.store.store import Store
from scored_runs import PROVENANCE, a_result, a_sample

NUMBER = 150


class Deterministic:
    """The same sample gives the same result after the same time; every eleventh fails."""

    provenance = PROVENANCE

    def __init__(self, calls: int) -> None:
        self._calls = calls

    async def score(self, sample: Sample) -> Result:
        os.write(self._calls, f"{sample.id}\n".encode())
        dice = zlib.crc32(sample.id.encode())
        await asyncio.sleep(0.005 + dice % 20 / 1000)
        if dice % 11 == 0:
            raise JudgeError("missing_verdict", "none for c1")
        return a_result(sample, score=dice % 1000 / 999)


def announce(event: Event) -> None:
    if isinstance(event, SampleFinished):
        os.write(1, f"{event.result.id}\n".encode())


def main() -> None:
    place, name, path = sys.argv[1:]
    calls = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    samples = (a_sample(number) for number in range(NUMBER))
    with Store.open(place) as store:
        work = run(
            samples, Deterministic(calls), run=name, store=store, options=EngineOptions(concurrency=8), hooks=[announce]
        )
        asyncio.run(work)


if __name__ == "__main__":
    main()
