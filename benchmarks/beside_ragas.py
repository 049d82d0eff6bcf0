"""Everyclaim and Ragas on the same answers and the same judge: time, processor, calls, tokens, memory.

    make ragas                                              # the environment with Ragas, .venv-ragas
    python benchmarks/beside_ragas.py                       # 2,000 answers, 50 ms a call, 64 in flight
    python benchmarks/beside_ragas.py --answers 500 --ways everyclaim
    python benchmarks/beside_ragas.py --answers 200 --claims 17          # as language models write them

`one-call` splits and judges in one request, `own-split` splits without a language model (`decomposer="embedded"`).

The judge is `ragas_judge` behind a server on loopback, in a process of its own; every way runs in a fresh process,
`ragas_clients`. The bound is calls x latency / in flight. `plain` makes the same number of calls, their bodies
written beforehand, with nothing but aiohttp: what this machine and this server can do at best at that moment.

Tokens are counted on the server, over messages, schemas and replies alike, by one rule that needs no vocabulary:
see `tokens`. `of plain` compares wall times of one run, so a busy machine counts for both.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import ragas_judge

HERE = Path(__file__).parent
WAYS = ("plain", "everyclaim", "one-call", "own-split", "facade", "ragas", "ragas-evaluate")
HEAD = ("way", "answers", "wall s", "of bound", "of plain", "CPU ms", "calls", "prompt", "output", "MB", "scored")
_PIECE = re.compile(r"'(?:[sdmt]|ll|ve|re)|[^\r\n\w]?[^\W\d_]+|\d{1,3}| ?(?:[^\s\w]|_)+[\r\n]*|\s*[\r\n]+|\s+")
_LONG = 9  # letters of a word that one token holds


def tokens(text: str) -> int:
    """Estimate tokens: the pieces that GPT-4's tokenizer cuts a text into, long words counted by nine letters."""
    return sum(1 + (len(piece) - 1) // _LONG if piece[-1].isalpha() else 1 for piece in _PIECE.findall(text))


def serve(latency: float) -> None:
    """Serve until standard input ends; a line of it asks for the counts since the last one."""
    from everyclaim.testing import JudgeServer, Request

    seen: list[tuple[dict[str, Any], str]] = []

    def rule(request: Request) -> str:
        reply = ragas_judge.answer(request.body["messages"])
        seen.append((dict(request.body), reply))
        return reply

    with JudgeServer(rule, latency=latency, keep=False) as server:
        print(server.base_url, flush=True)
        for _ in sys.stdin:
            prompt = sum(tokens(told(body)) for body, _ in seen)
            output = sum(tokens(reply) for _, reply in seen)
            counts = {"calls": len(seen), "prompt": prompt, "output": output, "peak": server.peak}
            seen.clear()
            server.peak = 0
            assert not server.errors, server.errors[0]
            print(json.dumps(counts), flush=True)


def told(body: dict[str, Any]) -> str:
    """Return all that a provider would bill of a request: messages, and the schema where it is sent beside them."""
    texts = [str(message["content"]) for message in body["messages"]]
    if schema := body.get("response_format", {}).get("json_schema"):
        texts += [schema["name"], json.dumps(schema["schema"], separators=(",", ":"))]
    if tools := body.get("tools"):
        texts.append(json.dumps(tools, separators=(",", ":")))
    return "\n".join(texts)


def measure(way: str, given: argparse.Namespace, answers: Path, server: subprocess.Popen[str], url: str) -> None:
    """Run one way in a fresh process and print its row."""
    python = given.ragas_python if way.startswith("ragas") else sys.executable
    command = [python, str(HERE / "ragas_clients.py"), way, str(answers), url, str(given.in_flight)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    found = json.loads(done.stdout.splitlines()[-1])
    server.stdin.write("\n")
    server.stdin.flush()
    counts = json.loads(server.stdout.readline())
    number = found["answers"]
    bound = counts["calls"] * given.latency / given.in_flight
    given.plain = found["wall"] / counts["calls"] if way == "plain" else given.plain
    beside = given.plain * counts["calls"] / found["wall"] if given.plain else 0
    row = (
        f"{way:<14}",
        f"{number:>7,}",
        f"{found['wall']:>6.2f}",
        f"{bound / found['wall']:>7.1%}",
        f"{beside:>8.1%}",
        f"{found['cpu'] / number * 1000:>6.2f}",
        f"{counts['calls'] / number:>5.2f}",
        f"{counts['prompt'] / number:>6,.0f}",
        f"{counts['output'] / number:>6,.0f}",
        f"{found['peak']:>4.0f}",
        f"{found['scored']:>6,}",
    )
    print("| " + " | ".join(row) + " |", flush=True)


def main() -> None:
    """Read the options and measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--answers", type=int, nargs="+", default=[500, 2000])
    parser.add_argument("--claims", type=int, default=0, help="claims of an answer; 0: three to six")
    parser.add_argument("--latency", type=float, default=0.05)
    parser.add_argument("--in-flight", type=int, default=64)
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=list(WAYS))
    parser.add_argument("--ragas-python", default=str(HERE.parent / ".venv-ragas/bin/python"))
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.serve:
        serve(given.latency)
        return
    given.plain = 0.0
    command = [sys.executable, __file__, "--serve", "--latency", str(given.latency)]
    print(f"| {' | '.join(HEAD)} |\n| :--{'- | --' * (len(HEAD) - 1)}: |")
    with (
        tempfile.TemporaryDirectory() as folder,
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server,
    ):
        url = server.stdout.readline().strip()
        for number in given.answers:
            answers = Path(folder) / f"{number}.jsonl"
            rows = (json.dumps(row) for row in ragas_judge.samples(number, given.claims))
            answers.write_text("\n".join(rows) + "\n", "utf-8")
            for way in given.ways:
                measure(way, given, answers, server, url)
        server.stdin.close()


if __name__ == "__main__":
    main()
