"""The ways of scoring a file of answers that `beside_ragas` compares, each run in a process of its own.

Prints one JSON line: seconds of wall and processor from the first answer to the last (imports, and the reading of
the answers where it is not part of the way, are left out), peak memory in MB, and how many were scored.
"""

from __future__ import annotations

import asyncio
import json
import math
import os
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

Found = dict[str, float]
FIELDS = ("user_input", "response", "retrieved_contexts")


@contextmanager
def timed(found: Found) -> Iterator[None]:
    """Measure what is done inside."""
    wall, cpu = time.perf_counter(), time.process_time()
    yield
    found |= {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu}


def rows_of(answers: Path) -> list[dict[str, Any]]:
    """Read the answers."""
    return [json.loads(line) for line in answers.read_text("utf-8").splitlines()]


def plain(answers: Path, url: str, in_flight: int) -> Found:
    """Make two calls for each answer with aiohttp alone, bodies and all prepared."""
    import aiohttp

    from everyclaim.prompts.split import SplitPrompt, SplitTask

    found: Found = {}
    prompt = SplitPrompt()
    bodies = []
    for row in rows_of(answers):
        messages = prompt.messages(SplitTask({"s1": row["response"]}, question=row["user_input"]))
        turns = [{"role": message.role, "content": message.content} for message in messages]
        body = {"model": "judge-1", "messages": turns, "padding": row["retrieved_contexts"]}
        bodies += [json.dumps(body).encode()] * 2

    async def main() -> None:
        left = iter(bodies)
        async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:

            async def worker() -> None:
                for body in left:
                    async with session.post(f"{url}/chat/completions", data=body) as response:
                        assert "choices" in json.loads(await response.read())

            with timed(found):
                await asyncio.gather(*(worker() for _ in range(in_flight)))

    asyncio.run(main())
    return found | {"answers": len(bodies) // 2, "scored": len(bodies) // 2}


def everyclaim(answers: Path, url: str, in_flight: int, **said: Any) -> Found:
    """`score_file`: read, score, keep every result and every reply on disk, resumable. Rates allow 64 calls at once."""
    import everyclaim as ec

    found: Found = {}
    options: Any = {"judge": "openai:judge-1", "base_url": url, "concurrency": in_flight * 3 // 2, **said}
    with tempfile.TemporaryDirectory() as folder:
        with suppress(ec.BudgetExceeded):  # imports everything, calls nobody
            ec.score_file(answers, store=Path(folder) / "warm.db", max_calls=0, **options)
        with timed(found):
            run = ec.score_file(answers, store=Path(folder) / "runs.db", **options)
        record = run.record
        peak = memory()  # before the results are read back
        scored = sum(result.score is not None for result in run.results())
    assert record.total is not None
    return found | {"answers": record.total, "scored": scored, "peak": peak}


def facade(answers: Path, url: str, in_flight: int) -> Found:
    """Our `Faithfulness` called as Ragas' is: all in memory, nothing kept."""
    from everyclaim.integrations.ragas import Faithfulness

    found: Found = {}
    rows = rows_of(answers)
    options: Any = {"base_url": url, "concurrency": in_flight * 3 // 2}
    metric = Faithfulness("openai:judge-1", **options)
    unpaid = Faithfulness("openai:judge-1", max_calls=0, **options)
    asyncio.run(unpaid.abatch_score(rows[:1]))  # imports everything, calls nobody
    with timed(found):
        results = asyncio.run(metric.abatch_score(rows))
    return found | {"answers": len(rows), "scored": sum(result.value is not None for result in results)}


def ragas(answers: Path, url: str, in_flight: int) -> Found:
    """`ragas.metrics.collections.Faithfulness`, so many `ascore` at a time."""
    from openai import AsyncOpenAI
    from ragas.llms import llm_factory
    from ragas.metrics.collections import Faithfulness

    found: Found = {}
    rows = rows_of(answers)

    async def main() -> list[float]:
        metric = Faithfulness(llm=llm_factory("judge-1", client=AsyncOpenAI(api_key="none", base_url=url)))
        slots = asyncio.Semaphore(in_flight)

        async def one(row: dict[str, Any]) -> float:
            async with slots:
                return (await metric.ascore(**{field: row[field] for field in FIELDS})).value

        with timed(found):
            return await asyncio.gather(*map(one, rows))

    scores = asyncio.run(main())
    return found | {"answers": len(rows), "scored": sum(not math.isnan(score) for score in scores)}


def ragas_evaluate(answers: Path, url: str, in_flight: int) -> Found:
    """`ragas.evaluate` with so many workers."""
    import warnings

    warnings.simplefilter("ignore")
    from openai import AsyncOpenAI
    from ragas import EvaluationDataset, evaluate
    from ragas.llms import llm_factory
    from ragas.metrics import Faithfulness
    from ragas.run_config import RunConfig

    found: Found = {}
    rows = rows_of(answers)
    llm = llm_factory("judge-1", client=AsyncOpenAI(api_key="none", base_url=url))
    dataset = EvaluationDataset.from_list(rows)
    with timed(found):
        result = evaluate(
            dataset, metrics=[Faithfulness(llm=llm)], run_config=RunConfig(max_workers=in_flight), show_progress=False
        )
    return found | {"answers": len(rows), "scored": sum(not math.isnan(score) for score in result["faithfulness"])}


def memory() -> float:
    """Return the most memory that this process ever held, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    """Run one way."""
    os.environ["RAGAS_DO_NOT_TRACK"] = "true"
    ways: dict[str, Callable[[Path, str, int], Found]] = {
        "plain": plain,
        "everyclaim": everyclaim,
        "one-call": partial(everyclaim, one_call=True),
        "own-split": partial(everyclaim, decomposer="embedded"),
        "facade": facade,
        "ragas": ragas,
        "ragas-evaluate": ragas_evaluate,
    }
    way, answers, url, in_flight = sys.argv[1:]
    found = ways[way](Path(answers), url, int(in_flight))
    print(json.dumps({"peak": memory()} | found))


if __name__ == "__main__":
    main()
