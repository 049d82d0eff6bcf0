"""What the command line's tests share: the answers they score, a judge that a third party might have installed."""

import json
from pathlib import Path
from typing import NamedTuple

PLUGIN = Path(__file__).parent / "plugin"

ANSWERS = [
    {"id": "good", "response": "It is red | It is big", "contexts": ["It is red and big. It is big."], "topic": "look"},
    {
        "id": "mixed",
        "response": "It is red | It is new",
        "contexts": [{"id": "d1", "text": "We know: It is red."}],
        "topic": "age",
    },
    {"id": "wrong", "response": "It is new", "contexts": ["NOT It is new"], "question": "How old?", "topic": "age"},
    {"id": "none", "response": "", "contexts": ["x"], "topic": "look"},
    {"id": "shy", "response": "I do not know", "contexts": ["x"], "topic": "look"},
]


class Done(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def said(self):
        """The lines on standard error."""
        return self.err.splitlines()


def write_jsonl(path, rows):
    Path(path).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
