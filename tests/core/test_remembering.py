"""What is remembered between texts, bounded in bytes."""

from __future__ import annotations

import subprocess
import sys
import textwrap
import threading
import tracemalloc

import pytest

from everyclaim.core.memory import Memory, once, remembered
from everyclaim.text.dates import moments
from everyclaim.text.tokens import stem, tokenize
from everyclaim.verify.lexical import checks
from everyclaim.verify.lexical import evidence as pointing
from everyclaim.verify.lexical.vectors import shipped_vectors

ROOM = 10_000


def test_a_function_is_called_once_for_what_fits() -> None:
    """Keyword arguments are part of what is asked."""
    calls = []

    @remembered(ROOM, lambda result, *_: 100)
    def doubled(text: str, *, plus: str = "") -> str:
        calls.append(text)
        return text * 2 + plus

    assert [doubled("a"), doubled("a"), doubled("a", plus="!"), doubled("b")] == ["aa", "aa", "aa!", "bb"]
    assert calls == ["a", "a", "b"]


def test_the_least_recently_used_make_room() -> None:
    """What is asked for again stays."""
    memory = Memory(ROOM)
    memory.put("first", 1, 3000)
    memory.put("second", 2, 3000)
    assert memory.get("first") == (1,)
    memory.put("third", 3, 4000)
    assert (memory.get("first"), memory.get("second"), memory.get("third")) == ((1,), None, (3,))
    assert memory.held <= ROOM


def test_what_is_too_heavy_drives_nothing_out() -> None:
    """An entry larger than all the room is not kept, and the others stay."""
    memory = Memory(ROOM)
    memory.put("small", 1, 1000)
    memory.put("huge", 2, ROOM)
    assert (memory.get("small"), memory.get("huge")) == ((1,), None)


def test_an_entry_put_twice_weighs_once() -> None:
    """As when two threads worked on the same."""
    memory = Memory(ROOM)
    for _ in range(50):
        memory.put("same", 1, 3000)
    assert (len(memory), memory.held < 4000) == (1, True)


def test_what_is_loaded_is_loaded_once_for_all_threads() -> None:
    """A network that six threads want at the same moment is not in memory six times."""
    loaded = []
    waiting = threading.Barrier(6)

    @once
    def load() -> list[int]:
        loaded.append(threading.get_ident())
        threading.Event().wait(0.05)
        return loaded

    def ask() -> None:
        waiting.wait()
        assert load() is loaded

    threads = [threading.Thread(target=ask) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(loaded) == 1


def test_threads_share_it() -> None:
    """The books stay right."""
    memory = Memory(ROOM)

    def work(seed: int) -> None:
        for i in range(2000):
            memory.put((seed * i) % 37, i, (i % 7) * 500)
            memory.get(i % 37)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(1, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert 0 <= memory.held <= ROOM
    while memory._kept:
        memory.held -= memory._kept.popitem()[1][1]
    assert memory.held == 0


def _passage(number: int, words: int) -> str:
    rows = (
        f"Pump {number} has {i} parts of steel, made on {1 + i % 28} May 2021, says {'ABCDEF'[i % 6]}. "
        for i in range(words // 13)
    )
    return "".join(rows)


@pytest.mark.slow
@pytest.mark.parametrize("words", [13, 800, 8000])
def test_what_is_held_of_passages_weighs_what_it_is_said_to(words: int) -> None:
    """Passages read, laid side by side, and searched for facts: for short texts and for long ones."""
    shipped_vectors()
    caches = [pointing.reading_of, pointing.source_of, checks.facts, checks.reports]
    for cache in caches:
        cache.memory.clear()
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        for number in range(120_000 // (words * 5)):
            text = _passage(number, words)
            pointing.source_of((text,), every_word=False)
            checks.facts(text)
        grown = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    assert grown < 1.3 * sum(cache.memory.held for cache in caches)
    for cache in caches:
        cache.memory.clear()


def test_a_word_of_megabytes_is_not_remembered() -> None:
    """Of whatever script; it is still a word."""
    words = ["x" * 3_000_000, "ß" * 3_000_000]
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        for word in words:
            (token,) = tokenize(word)
            assert stem(token.norm) == token.norm
            assert moments(word) == []
            del token
        grown = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    assert grown < 100_000


MANY_LARGE_ROWS = """
import random, sys
import everyclaim as ec

judge, strategy, metric = sys.argv[1:]
draw = random.Random(0)
letters = "abcdefghijklmnopqrstuvwxyz"
words = ["".join(draw.choices(letters, k=draw.randint(3, 9))) for _ in range(5000)]
def passage():
    return ". ".join(" ".join(draw.choices(words, k=12)).capitalize() for _ in range(60)) + ". The tank holds 9 litres."
def score():
    return ec.score(question="What does it hold?", response="The tank holds 8 litres. The pump needs 2 bar.",
        passages=[passage() for _ in range(10)], judge=judge, strategy=strategy, metric=metric, reference="It holds 9 l.")
def peak():
    # Not `ru_maxrss`: that begins at the peak of the process that started this one.
    return int(open('/proc/self/status').read().split('VmHWM:')[1].split()[0]) / 1024
assert score().outcome == "scored"
first = peak()
for _ in range(40):
    score()
print(peak() - first)
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("judge", "strategy", "metric"),
    [
        ("lexical", "joint", "faithfulness"),
        ("lexical", "each", "faithfulness"),
        ("lexical", "joint", "ragchecker"),
        ("embedded", "joint", "faithfulness"),
    ],
)
def test_rows_of_fifty_kilobytes_leave_nothing_behind(judge: str, strategy: str, metric: str) -> None:
    """Ten new passages of 5 kB in every row: the peak of a long run stays within the caches' room."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(MANY_LARGE_ROWS), judge, strategy, metric],
        check=True,
        capture_output=True,
        text=True,
    )
    assert float(done.stdout) < 120
