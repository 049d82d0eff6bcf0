"""Measure what a chat call costs us: wall time against the latency bound, CPU per call, memory.

    python benchmarks/chat.py --calls 4000 --latency 0.05 --in-flight 64

The provider is `everyclaim.testing` in a process of its own, so that only the client is measured. The
bound is calls × latency / in flight: no client can be faster. Every row asks different questions, so that
neither the cache nor single-flight can help.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import itertools
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from contextlib import contextmanager
from pathlib import Path

from everyclaim.core.protocols import Message
from everyclaim.models.build import ChatSettings, build_chat_model
from everyclaim.models.chat.endpoint import from_spec
from everyclaim.models.chat.links import Call, Patience, Rates
from everyclaim.models.files import ReplyCache

RUBRIC = "Judge each claim against the passages. " * 40  # about 400 tokens that stay the same
PASSAGES = "The bridge was opened in 1932 and carries eight lanes of traffic across the harbour. " * 30
SCHEMA = {"title": "verdicts", "type": "object", "properties": {}, "required": [], "additionalProperties": False}
REPLY = '{"verdicts": [' + ", ".join(f'{{"id": "c{n}", "label": "SUPPORTED"}}' for n in range(8)) + "]}"
Ask = Callable[[list[Message]], Awaitable[object]]


@contextmanager
def provider(latency: float):
    """Yield the address of a provider in another process."""
    command = [sys.executable, "-m", "everyclaim.testing", "--latency", str(latency), "--reply", REPLY]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process.stdout.readline().strip()
        finally:
            process.stdin.close()
            process.wait(10)


async def measure(name: str, ask: Ask, calls: int, latency: float, in_flight: int) -> None:
    """Make the calls, `in_flight` at a time, and print one row."""
    numbers = itertools.count()

    def question() -> list[Message]:
        return [Message("system", RUBRIC, cache=True), Message("user", f"{PASSAGES}\nClaim {next(numbers)}")]

    async def worker(share: range) -> None:
        for _ in share:
            await ask(question())

    await asyncio.gather(*(ask(question()) for _ in range(in_flight)))  # connections are open
    gc.collect()
    rss = memory()
    wall, cpu = time.perf_counter(), time.process_time()
    shares = [range(calls // in_flight + (n < calls % in_flight)) for n in range(in_flight)]
    await asyncio.gather(*(worker(share) for share in shares))
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    bound = calls * latency / in_flight
    row = (
        name,
        f"{wall:7.2f}",
        f"{bound:7.2f}",
        f"{bound / wall:7.1%}",
        f"{cpu / calls * 1000:8.2f}",
        f"{memory() - rss:+9.1f}",
    )
    print("| " + " | ".join(row) + " |", flush=True)


def memory() -> float:
    """Return this process's resident memory in MB."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 1e6


def aiohttp_plain(base_url: str) -> tuple[Ask, Callable[[], Awaitable[None]]]:
    """Use nothing but aiohttp: what this machine can do at best right now."""
    import aiohttp

    session = aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0))

    async def ask(messages: list[Message]) -> object:
        body = {"model": "judge-1", "messages": [{"role": m.role, "content": m.content} for m in messages]}
        async with session.post(f"{base_url}/chat/completions", json=body) as response:
            return await response.json()

    return ask, session.close


def sdk_plain(base_url: str) -> tuple[Ask, Callable[[], Awaitable[None]]]:
    """The official client used the usual way, for comparison."""
    import openai

    client = openai.AsyncOpenAI(api_key="none", base_url=base_url, max_retries=0)

    async def ask(messages: list[Message]) -> object:
        turns = [{"role": m.role, "content": m.content} for m in messages]
        return await client.chat.completions.create(model="judge-1", messages=turns)

    return ask, client.close


async def rows(base_url: str, given: argparse.Namespace) -> None:
    """Print a row per way to call."""
    print("| way | wall s | bound s | of bound | CPU ms/call | memory MB |\n| --- | ---: | ---: | ---: | ---: | ---: |")
    size = (given.calls, given.latency, given.in_flight)
    ask, close = aiohttp_plain(base_url)
    await measure("aiohttp alone", ask, *size)
    await close()
    spec = f"openai:judge-1?base_url={base_url}"
    other = f"anthropic:judge-1?base_url={base_url.removesuffix('/v1')}"
    for name, chosen in {
        "endpoint, chat": spec,
        "endpoint, messages": other,
    }.items():
        endpoint = from_spec(chosen)
        await measure(name, lambda m, e=endpoint: e.ask(Call("", m, SCHEMA)), *size)
        await endpoint.aclose()
    with tempfile.TemporaryDirectory() as folder:
        for name, cache in {
            "all wrappers": None,
            "all wrappers, cache on disk": ReplyCache(Path(folder) / "replies.db"),
        }.items():
            settings = ChatSettings(Patience(), Rates(concurrency=given.in_flight), cache=cache)
            async with build_chat_model(spec, settings) as chat:
                await measure(name, lambda m, c=chat: c.complete(m, schema=SCHEMA), *size)
                if cache:
                    hits = (given.calls, 0.0, given.in_flight)
                    await measure(
                        "all wrappers, answered by the cache", lambda m, c=chat: c.complete(m, schema=SCHEMA), *hits
                    )
                    cache.close()
    if given.plain_sdk:
        ask, close = sdk_plain(base_url)
        await measure("openai SDK alone", ask, *size)
        await close()


def main() -> None:
    """Read the options and run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=2000)
    parser.add_argument("--latency", type=float, default=0.05)
    parser.add_argument("--in-flight", type=int, default=64)
    parser.add_argument("--plain-sdk", action="store_true", help="also the openai client used the usual way")
    given = parser.parse_args()
    with provider(given.latency) as base_url:
        asyncio.run(rows(base_url, given))


if __name__ == "__main__":
    main()
