"""Time of everything that reads a text, as the text grows: nothing may grow faster than its text.

    python benchmarks/growth.py [--part text|decompose|verify] [--limit 10]

Thirty-one alphabets, one to three signs or words each, are written in a row and at random to 5,000, 10,000 and 20,000
characters, and every reader reads them, each call in a time limit. Printed are calls that took more than `--slow`
seconds, and those whose time grew by more than 2.8 where the text grew by 2 (linear: 2, quadratic: 4). The exit code
is 1 if there are any.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from types import FrameType

import everyclaim as ec
from everyclaim.core.errors import EveryclaimError
from everyclaim.decompose.checked import SplitSource, decomposed, inventions
from everyclaim.decompose.embedded import EmbeddedDecomposer
from everyclaim.text.citations import without_citations
from everyclaim.text.cues import cues
from everyclaim.text.dates import moments
from everyclaim.text.exact import absent_names, replaced_number
from everyclaim.text.language import language_of
from everyclaim.text.locate import locate
from everyclaim.text.marks import blanked, prose_in_code, rendered
from everyclaim.text.names import leans, names
from everyclaim.text.quantities import quantities
from everyclaim.text.records import fields
from everyclaim.text.segment import sentences
from everyclaim.text.sources import without_pointers
from everyclaim.text.stops import sentence_spans
from everyclaim.text.tokens import tokenize, word_spans
from everyclaim.verify.lexical.alignment import without_steps

SIZES = (5_000, 10_000, 20_000)
ALPHABETS: tuple[tuple[str, ...], ...] = (
    ("a",), (" ",), ("@",), ("x@",), ("1",), ("1,", "1."), ("(", ")"), ("[", "]"), ('"', "“", "'"), ('"', "a "),
    ("*", "_"), ("|", "-"), ("\n", " "), ("\n- ", "a "), ("a.", "A. "), ("A", " ", "a"), ("and ", "or ", ", "),
    ("1 ", "000 "), ("5 May ", "2019 "), ("http://", "www."), ("<b>", "</b>", "<"), ("[1]", "(2)", "【3】"),
    ("```", "`", "\n"), ("{", '"a":', "}"), ("²", "⁽", "1"), ("中", "。", "a"), ("ä ", "der "),
    ("not ", "if ", "said "), ("1/2 ", "½", "-"), ("Mr. ", "Dr. ", "No. 1 "), ("\t", "\r\n", "x:"),
)  # fmt: skip
FLOOR = 0.2  # seconds at the largest size; what is done in less does not count
SAMPLE = "The pump was recalled in May 2019, said Ada Lind."


class TooSlowError(Exception):
    """A call went on past its limit."""


def texts(alphabet: tuple[str, ...], size: int) -> Iterator[str]:
    """Write an alphabet in a row, and at random."""
    row = "".join(alphabet)
    yield (row * (size // len(row) + 1))[:size]
    if len(alphabet) > 1:
        drawn = random.Random(0).choices(alphabet, k=size)
        yield "".join(drawn)[:size]


def _decomposed(text: str) -> object:
    return asyncio.run(decomposed(EmbeddedDecomposer(), text, question=text[:200]))


def _verified(claim: str, passage: str) -> object:
    return ec.verify_claims([claim], [passage], judge="lexical")


READERS: dict[str, dict[str, Callable[[str], object]]] = {
    "text": {
        "sentences": sentences, "citations": without_citations, "blanked": blanked, "rendered": rendered,
        "tokens": tokenize, "words": word_spans, "names": names, "quantities": quantities, "moments": moments,
        "cues": cues, "fields": fields, "language": language_of, "pointers": without_pointers,
        "steps": lambda text: without_steps(text, [text]), "windows": sentence_spans, "leans": leans,
        "prose": lambda text: list(prose_in_code(text)), "locate": lambda text: locate(SAMPLE, text),
        "located": lambda text: locate(text[:300], text + SAMPLE),
        "code": lambda text: absent_names(f"```\n{text}\n```", "`client.fetch()`"),
        "numbers": lambda text: replaced_number(f"{text}7 Liter", [f"{text} etwa {text}8 Liter"]),
    },
    "decompose": {
        "decompose": _decomposed,
        "check": lambda text: inventions([SAMPLE, text[: len(text) // 2]], text, SplitSource(text)),
    },
    "verify": {
        "passage": lambda text: _verified(SAMPLE, text), "claim": lambda text: _verified(f"It is {text}", SAMPLE),
        "both": lambda text: _verified(f"It is {text[:1000]}", text),
    },
}  # fmt: skip


def seconds(reader: Callable[[str], object], text: str, limit: float) -> float:
    """Return the processor time of one call; `limit` for one that was cut off."""

    def stop(_signal: int, _frame: FrameType | None) -> None:
        raise TooSlowError

    signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, limit)
    start = time.process_time()
    try:
        with suppress(EveryclaimError):  # that a text is too long is an answer, too
            reader(text)
    except TooSlowError:
        return limit
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    return time.process_time() - start


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", choices=list(READERS), action="append")
    parser.add_argument("--limit", type=float, default=10, help="processor seconds of one call")
    parser.add_argument("--slow", type=float, default=2, help="seconds for 20,000 characters that are too many")
    asked = parser.parse_args()
    reports = 0
    for part in asked.part or READERS:
        for name, reader in READERS[part].items():
            seconds(reader, SAMPLE, 60)  # loads what it needs
            worst = 0.0
            for alphabet in ALPHABETS:
                for kind, several in enumerate(zip(*(texts(alphabet, size) for size in SIZES), strict=True)):
                    taken = [seconds(reader, text, asked.limit) for text in several]
                    worst = max(worst, taken[-1])
                    grown = taken[-1] > FLOOR and taken[-1] > 2.8 * max(taken[-2], FLOOR / 3)
                    if taken[-1] > asked.slow or grown:
                        reports += 1
                        figures = " ".join(f"{one:.2f}" for one in taken)
                        print(f"! {part}/{name} {alphabet!r} {'random' if kind else 'row'}: {figures} s", flush=True)
            print(f"  {part}/{name}: at most {worst:.2f} s", flush=True)
    return int(reports > 0)


if __name__ == "__main__":
    sys.exit(main())
