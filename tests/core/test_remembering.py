"""What is remembered between texts, bounded in bytes, and what is loaded once."""

from __future__ import annotations

import threading
import tracemalloc

import pytest

from everyclaim.core.lifetime import once, remembered
from everyclaim.verify.lexical import alignment, checks
from everyclaim.verify.lexical.reading import shipped_vectors

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


def _passage(number: int, words: int) -> str:
    rows = (
        f"Pump {number} has {i} parts of steel, made on {1 + i % 28} May 2021, says {'ABCDEF'[i % 6]}. "
        for i in range(words // 13)
    )
    return "".join(rows)


@pytest.mark.slow
@pytest.mark.parametrize("words", [13, 8000])
def test_what_is_held_of_passages_weighs_what_it_is_said_to(words: int) -> None:
    """Passages read, laid side by side, and searched for facts: for short texts and for long ones."""
    shipped_vectors()
    caches = [alignment.reading_of, alignment.source_of, checks.facts]
    for cache in caches:
        cache.memory.clear()
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        for number in range(120_000 // (words * 5)):
            text = _passage(number, words)
            alignment.source_of((text,), every_word=False)
            checks.facts(text)
        grown = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    assert grown < 1.3 * sum(cache.memory.held for cache in caches)
    for cache in caches:
        cache.memory.clear()
