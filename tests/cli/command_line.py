"""What the command line's tests share: the answers they score, a judge that a third party might have installed."""

import json
import os
import sys
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


def clean_env(**more):
    """The environment without settings of ours, but for a scripted judge."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("EVERYCLAIM_")}
    clean |= {"PYTHONPATH": os.pathsep.join([str(PLUGIN), *sys.path]), "COLUMNS": "100", "PYTHONIOENCODING": "utf-8"}
    return clean | {"EVERYCLAIM_JUDGE": "scripted", "EVERYCLAIM_DECOMPOSER": "sentences"} | more


def tree(folder):
    """What is below a folder, with its contents."""
    return {str(path.relative_to(folder)): path.is_file() and path.read_bytes() for path in folder.rglob("*")}


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
