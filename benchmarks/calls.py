"""What one `score` costs beside its judge: 1,000 answers, one call each, a judge on loopback that answers at once.

    python benchmarks/calls.py              by the module functions, and by one `Evaluator`
    python benchmarks/calls.py --number 200

The judge plays by rule in a process of its own. CPU is of this process, all threads; wall is from call to call. What
the judge itself takes is measured by the same requests over one kept connection, and listed as `judge`.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import everyclaim as ec
from everyclaim.testing import play

SHELF = ["The kettle is red. It holds 2 litres. It weighs 900 g."]


@contextmanager
def judge() -> Iterator[str]:
    """Run the judge; yields its address."""
    rule = ["--rule", "everyclaim.testing:play"]
    command = [sys.executable, "-m", "everyclaim.testing", *rule]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        yield server.stdout.readline().strip()
        server.terminate()


def measure(number: int, call: Callable[[int], object]) -> tuple[float, float]:
    """Return milliseconds per call, wall and CPU."""
    call(-1)
    wall, cpu = time.perf_counter(), time.process_time()
    for i in range(number):
        call(i)
    return (time.perf_counter() - wall) / number * 1e3, (time.process_time() - cpu) / number * 1e3


def alone(base_url: str, number: int) -> tuple[float, float]:
    """Return what the requests take over one connection, with nothing around them."""
    import aiohttp

    from everyclaim.core.types import Span
    from everyclaim.testing import ScriptedChat
    from everyclaim.verify.llm import LlmVerifier

    chat = ScriptedChat(play)
    claim = ec.Claim("c1", "It is red.", Span(0, 10), "It is red.")
    asyncio.run(LlmVerifier(chat).verify([claim], [ec.Passage("p1", SHELF[0])]))
    body = {"model": "m", "messages": [{"role": one.role, "content": one.content} for one in chat.asked[0]]}

    async def ask() -> tuple[float, float]:
        async with aiohttp.ClientSession() as session:
            wall, cpu = time.perf_counter(), time.process_time()
            for _ in range(number):
                async with session.post(f"{base_url}/chat/completions", data=json.dumps(body)) as response:
                    await response.json()
            return (time.perf_counter() - wall) / number * 1e3, (time.process_time() - cpu) / number * 1e3

    return asyncio.run(ask())


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--number", type=int, default=1000)
    number = parser.parse_args().number
    with judge() as base_url:
        options: dict[str, Any] = {"judge": "openai:m", "decomposer": "embedded", "base_url": base_url}

        def row(i: int) -> dict[str, Any]:
            return {"response": f"The kettle is red. It holds {i} litres.", "passages": SHELF}

        rows = [
            ("judge", alone(base_url, number)),
            ("ec.score", measure(number, lambda i: ec.score(**row(i), **options))),
        ]
        if hasattr(ec, "Evaluator"):
            with ec.Evaluator(**options) as evaluator:
                rows.append(("Evaluator.score", measure(number, lambda i: evaluator.score(**row(i)))))
        offline = {"judge": "lexical"}
        rows.append(("ec.score, lexical", measure(number, lambda i: ec.score(**row(i), **offline))))
        if hasattr(ec, "Evaluator"):
            with ec.Evaluator(**offline) as evaluator:
                rows.append(("Evaluator.score, lexical", measure(number, lambda i: evaluator.score(**row(i)))))
    print(f"{number:,} calls, milliseconds each")
    print(f"{'':<26}{'wall':>8}{'CPU':>8}")
    for name, (wall, cpu) in rows:
        print(f"{name:<26}{wall:>8.2f}{cpu:>8.2f}")


if __name__ == "__main__":
    main()
