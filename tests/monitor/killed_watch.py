"""A watch that its test kills: judges what is in a folder, slowly, and says of every result that is kept.

python killed_watch.py FOLDER STORE
"""

import asyncio
import os
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1]))

from watching import ByWords

import everyclaim as ec
from everyclaim.core.events import Event, SampleFinished


class Slow(ByWords):
    async def verify(self, *args: Any, **named: Any) -> Any:
        await asyncio.sleep(0.003)
        return await super().verify(*args, **named)


def announce(event: Event) -> None:
    if isinstance(event, SampleFinished):
        os.write(1, f"{event.result.id}\n".encode())


if __name__ == "__main__":
    folder, store = sys.argv[1:]
    ec.watch(
        folder,
        store=store,
        judge=Slow(),
        rate=0.5,
        slices=["tenant"],
        min_per_slice=5,
        every=0.01,
        concurrency=4,
        hooks=[announce],
    )
