"""A watch over files: growing, rotated, truncated, broken; each line once."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import os
import shutil
import time
from collections import Counter
from pathlib import Path

import pytest
from watching import append, ids, row, watched

from everyclaim.core.errors import InputError, SourceError


def test_a_pass_takes_up_what_was_added_since(log: Path, store: Path) -> None:
    """Every pass judges the new lines and no others; files that were rotated before the first were not asked for."""
    append(log.with_name("answers.jsonl.1"), row(9))
    append(log, row(1), row(2))
    assert watched(log, store).judged == 2
    assert watched(log, store).found == 0
    append(log, row(3))
    assert watched(log, store).judged == 1
    assert ids(store) == Counter(a1=1, a2=1, a3=1)


def test_a_row_of_messages_is_read_as_a_conversation(log: Path, store: Path) -> None:
    """As `score` reads it: the last answer is judged by the passages of its tool call."""
    messages = [
        {"role": "user", "content": "How heavy is the unit?"},
        {"role": "tool", "content": "The unit weighs 1 kg."},
        {"role": "assistant", "content": "The unit weighs 1 kg."},
    ]
    append(log, {"id": "a1", "messages": messages}, {"id": "a2", "messages": "hello"})
    seen = watched(log, store)
    assert (seen.judged, seen.unreadable) == (1, 1)
    assert ids(store) == Counter(a1=1)


def test_a_line_is_read_when_it_is_complete(log: Path, store: Path) -> None:
    """Half a line waits for its other half; a whole object counts without its newline, and is not read again with it."""
    append(log, row(1))
    line = json.dumps(row(2))
    with log.open("a") as file:
        file.write(line[:30])
    assert watched(log, store).judged == 1
    with log.open("a") as file:
        file.write(line[30:])
    assert watched(log, store).judged == 1
    append(log)
    with log.open("a") as file:
        file.write("\n" + json.dumps(row(3)) + "\n")
    assert watched(log, store).judged == 1
    assert ids(store) == Counter(a1=1, a2=1, a3=1)


def test_a_rotated_file_is_read_to_its_end(log: Path, store: Path) -> None:
    """Renamed between two passes, with lines that nobody had seen; also a file that came and went in between."""
    append(log, row(1))
    watched(log, store)
    append(log, row(2))
    log.rename(log.with_name("answers.jsonl.2"))
    append(log, row(3))
    log.rename(log.with_name("answers.jsonl.1"))
    append(log, row(4))
    assert watched(log, store).judged == 3
    assert ids(store) == Counter(a1=1, a2=1, a3=1, a4=1)


def test_a_file_that_was_emptied_is_read_from_its_beginning(log: Path, store: Path) -> None:
    """Also where it was copied away before, and where neither its size nor its beginning tells."""
    append(log, row(1), row(2))
    watched(log, store)
    shutil.copy(log, log.with_name("answers.jsonl.1"))
    log.write_text("")
    append(log, row(3))
    assert watched(log, store).judged == 1, "and the copy is not read again"
    log.write_text("")
    append(log, row(4), row(5), row(6))
    assert watched(log, store).judged == 3, "it has grown beyond its old size"
    same = "The kettle is red. " * 20
    rows = [{"response": f"{same}It is {number}.", "contexts": [f"It is {number}."]} for number in range(15)]
    other = log.with_name("alike.jsonl")
    append(other, *rows[:5])
    watched(other, store)
    other.write_text("")
    append(other, *rows[5:])
    assert watched(other, store).judged == 10, "the oldest rows were taken out and others added"


def test_a_folder_is_watched_with_its_files(log: Path, store: Path) -> None:
    """Files of a folder, also new ones and those below it; what is hidden or something else is left alone."""
    append(log, row(1))
    append(log.parent / ".hidden.jsonl", row(8))
    (log.parent / "notes.txt").write_text("no rows")
    (log.parent / "notes.txt.gz").write_bytes(b"\x1f\x8b")
    assert watched(log.parent, store).judged == 1
    (log.parent / "day2").mkdir()
    append(log.parent / "day2" / "more.ndjson", row(2))
    assert watched(log.parent, store).judged == 1
    append(log, row(3))
    log.rename(log.with_name("answers.jsonl-20261123"))  # as logrotate names them
    append(log, row(4))
    packed(log.rename(log.with_name("answers.jsonl-20261124")))
    assert watched(log.parent, store).judged == 2
    assert ids(store) == Counter(a1=1, a2=1, a3=1, a4=1)


def packed(path: Path, pack=gzip.compress, suffix: str = ".gz") -> Path:  # type: ignore[no-untyped-def]
    """Compress a file in the way of gzip: another file, with the time of the first, which is gone then."""
    times = path.stat()
    target = path.with_name(path.name + suffix)
    target.write_bytes(pack(path.read_bytes()))
    os.utime(target, ns=(times.st_atime_ns, times.st_mtime_ns))
    path.unlink()
    return target


NAMELESS = {name: value for name, value in row(5).items() if name != "id"}


@pytest.mark.parametrize(
    ("pack", "suffix"), [(gzip.compress, ".gz"), (bz2.compress, ".bz2"), (lzma.compress, ".xz"), (gzip.compress, ".GZ")]
)
def test_a_file_that_was_rotated_and_compressed_is_read_to_its_end(log: Path, store: Path, pack, suffix) -> None:  # type: ignore[no-untyped-def]
    """What was read before it was packed is not read again, with an id or without, also after a byte-order mark."""
    append(log, row(9))
    hour_ago = time.time() - 3600
    os.utime(log, (hour_ago, hour_ago))
    packed(log)  # before the first pass: it was not asked for, then or under another name
    log.write_bytes(b"\xef\xbb\xbf")
    append(log, NAMELESS, row(1))
    watched(log, store)
    log.with_name("answers.jsonl.gz").rename(log.with_name("answers.jsonl.9.gz"))
    append(log, row(2), NAMELESS)
    packed(log.rename(log.with_name("answers.jsonl.1")), pack, suffix)
    append(log, row(3))
    seen = watched(log, store)
    assert (seen.judged, seen.known) == (3, 2)
    old = log.with_name(f"answers.jsonl.1{suffix}")
    old.rename(log.with_name(f"answers.jsonl.2{suffix}"))
    assert watched(log, store).known == 0, "what is read whole is not opened again"
    assert ids(store).total() == 5


def test_lines_that_are_no_answers_are_counted_with_their_place(log: Path, store: Path) -> None:
    """Broken JSON, a wrong type, bytes that are no text, a row without a response, a row too large."""
    append(log, row(1))
    with log.open("ab") as file:
        file.write(b'{"id": 1,}\n[1]\n\xff\xfe\n{"question": "q"}\n\n')
    append(log, row(2, response="x" * 3_000_000), row(3))
    seen = watched(log, store, max_row_mb=1.0)
    assert (seen.found, seen.judged, seen.unreadable) == (7, 2, 5)
    places = [reason.partition(": ")[0] for reason in seen.reasons]
    assert places == [f"answers.jsonl, line {number}" for number in (2, 3, 4, 5, 7)]
    assert "max_row_mb" in seen.reasons[4]
    assert watched(log, store, max_row_mb=1.0).found == 0
    append(log, "{")
    assert watched(log, store, max_row_mb=1.0).reasons[0].startswith("answers.jsonl, line 9: ")


def test_what_is_not_there_yet_is_waited_for_and_a_wrong_folder_is_told(log: Path, store: Path) -> None:
    """A file may come later, its folder may not."""
    started: list[str] = []
    with pytest.raises(SourceError, match="there is no file"):
        watched(log, store, on_start=started.append)
    assert not started
    with pytest.raises(InputError, match="no folder"):
        watched(log.parent / "nowhere" / "a.jsonl", store)
