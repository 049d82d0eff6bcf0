"""A run over batches that its test kills: 40 samples of two calls each, the second made from the first's answer.

    python killed_batches.py BASE_URL WIRE FOLDER

It prints a line when it begins and its results, as JSON, when it is done.
"""

import asyncio
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from batching import answers, ask_all, numbered, settings
from chatting import KEY, spec_for

from everyclaim.models.build import build_chat_model
from everyclaim.testing import no_sleep

SAMPLES = 40


def say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


async def main() -> None:
    base_url, wire, folder = sys.argv[1:]
    chosen = settings(Path(folder), max_requests=15, attempts=3)
    async with build_chat_model(spec_for(wire, base_url), chosen, key=KEY) as chat:

        async def sample(question: str) -> list[str]:
            first = answers(await ask_all(chat, [question]))
            return first + answers(await ask_all(chat, [f"then {first[0]}"]))

        say("begun")
        results = await asyncio.gather(*(sample(question) for question in numbered(SAMPLES)))
    say(json.dumps(results))


if __name__ == "__main__":
    with no_sleep():
        asyncio.run(main())
