"""Reading a store changes nothing, needs no right to write, and tells who is still at work from who is not."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from everyclaim.core.errors import StoreError
from everyclaim.store.records import RowCounts
from everyclaim.store.store import Store
from scored_runs import PROVENANCE, keep

posix = pytest.mark.skipif(os.name != "posix", reason="permissions and signals of POSIX")


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def make(place: Path) -> str:
    with Store.open(place) as store:
        run = store.create_run(PROVENANCE, name="v1").id
        keep(store, run, *range(70))
        store.finish_run(run, "finished", RowCounts(70, 2, ("line 3: no",)))
    return run


def read_everything(place: Path | str) -> tuple[int, int]:
    with Store.open_to_read(place) as store:
        record = store.run("v1")
        return record.kept, len(list(store.records(record.id)))


@posix
def test_reading_leaves_every_file_as_it_was(tmp_path: Path) -> None:
    """Content, names and times are those of before, also while the store is being read."""
    make(tmp_path / "runs.db")
    before, when = contents(tmp_path), (tmp_path / "runs.db").stat().st_mtime_ns
    assert read_everything(tmp_path / "runs.db") == (70, 70)
    assert contents(tmp_path) == before
    assert (tmp_path / "runs.db").stat().st_mtime_ns == when


@pytest.fixture
def locked() -> Iterator[Path]:
    """Give a folder that is made read-only by the test, where users without privileges can get."""
    folder = Path(tempfile.mkdtemp())
    yield folder
    folder.chmod(0o755)
    shutil.rmtree(folder)


def read_without_rights(place: Path) -> str:
    program = f"""
        import os
        import sqlalchemy.dialects.sqlite
        from everyclaim.store.store import Store
        if os.getuid() == 0:
            os.setuid(65534)
        try:
            with Store.open_to_read({str(place)!r}) as store:
                print(store.run("v1").status, len(list(store.records(store.run("v1").id))))
        except Exception as error:
            print(type(error).__name__, error)
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, check=True)
    return done.stdout.strip()


KILLED = """
    import os, signal, sys
    sys.path.insert(0, sys.argv[2])
    from scored_runs import PROVENANCE, keep
    from everyclaim.store.store import Store
    store = Store.open(sys.argv[1])
    run = store.create_run(PROVENANCE, name="v1").id
    for n in range(5):
        keep(store, run, n)
    print(run, flush=True)
    if sys.argv[3] == "wait":
        sys.stdin.read()
    os.kill(os.getpid(), signal.SIGKILL)
"""


def writer(place: str, *, waits: bool) -> "subprocess.Popen[str]":
    """Start a process that keeps five samples and is killed, or waits."""
    here = str(Path(__file__).parents[1])
    command = [sys.executable, "-c", textwrap.dedent(KILLED), place, here, "wait" if waits else "die"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    process = subprocess.Popen(command, text=True, **pipes)  # type: ignore[call-overload]
    assert process.stdout is not None
    assert len(process.stdout.readline()) == 13
    if not waits:
        process.communicate(timeout=60)
    return process  # type: ignore[no-any-return]


def status(place: str, expected: str) -> None:
    """Look until a run has this status: a server notices after a moment that a process is gone."""
    end = time.monotonic() + 20
    while True:
        with Store.open_to_read(place) as store:
            found = store.run("v1").status
        if found == expected or time.monotonic() > end:
            assert found == expected
            return
        time.sleep(0.05)


@pytest.mark.slow
@posix
def test_a_killed_run_is_interrupted_and_a_living_one_is_running(place: str) -> None:
    """Known without a clock, from another process, on both kinds of store; and it can go on at once."""
    process = writer(place, waits=True)
    status(place, "running")
    with Store.open(place) as other:
        run = other.run("v1").id
        with pytest.raises(StoreError, match="is being scored by another process"):
            other.resume_run(run)
        with pytest.raises(StoreError, match="is being scored by another process"):
            other.delete_run(run)
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=60)
        status(place, "interrupted")
        assert other.resume_run(run).status == "running"
        status(place, "running")
    status(place, "interrupted")


@pytest.mark.slow
@posix
def test_a_killed_writer_in_a_read_only_folder_hides_nothing(locked: Path) -> None:
    """What it had kept is read with the log that it left."""
    writer(str(locked / "runs.db"), waits=False)
    locked.chmod(0o555)
    before = contents(locked)
    assert "runs.db-wal" in before
    assert read_without_rights(locked / "runs.db") == "interrupted 5"
    assert contents(locked) == before


@posix
def test_reading_and_writing_at_once_disturb_neither(tmp_path: Path) -> None:
    """Readers come and go while writers do; in the end there is the store, whole, and nothing else."""
    place = tmp_path / "runs.db"
    Store.open(place).close()
    is_over = threading.Event()

    def look() -> int:
        looks = 0
        while not is_over.is_set() or not looks:
            with Store.open_to_read(place) as store:
                assert all(len(list(store.results(run.id))) == run.kept for run in store.runs() if run.finished)
            looks += 1
        return looks

    with ThreadPoolExecutor() as pool:
        readers = [pool.submit(look) for _ in range(2)]
        try:
            for _ in range(10):
                with Store.open(place) as store:
                    run = store.create_run(PROVENANCE).id
                    keep(store, run, 0, 1)
                    store.finish_run(run, "finished")
        finally:
            is_over.set()
        assert all(reader.result() for reader in readers)
    assert [path.name for path in tmp_path.iterdir()] == ["runs.db"]
