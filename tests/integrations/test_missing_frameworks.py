"""Integrations whose framework is not installed say so in one line; with it they are held against it elsewhere."""

from __future__ import annotations

import subprocess
import sys

PARTS = {
    "langchain": ("langchain_core", "everyclaim[langchain]"),
    "llama_index": ("llama_index", "everyclaim[llama-index]"),
    "haystack": ("haystack", "everyclaim[haystack]"),
    "deepeval": ("deepeval", "pip install deepeval"),
    "mlflow": ("mlflow", "everyclaim[mlflow]"),
    "langfuse": ("langfuse", "everyclaim[langfuse]"),
    "ray": ("ray", "everyclaim[ray]"),
}


WITHOUT_ANY = """
import importlib, sys
from everyclaim.core.errors import UserError

names, modules = (words.split(",") for words in sys.argv[1:])
sys.modules.update(dict.fromkeys(modules))
for name in names:
    try:
        importlib.import_module(f"everyclaim.integrations.{name}")
    except UserError as error:
        print(name, error)
"""


def test_a_missing_framework_is_told_with_what_to_install() -> None:
    """As a UserError, and without its traceback through our code being needed to understand it."""
    named = [",".join(PARTS), ",".join(module for module, _ in PARTS.values())]
    done = subprocess.run([sys.executable, "-c", WITHOUT_ANY, *named], capture_output=True, text=True, check=True)
    said = done.stdout.splitlines()
    for line, (name, (_, told)) in zip(said, PARTS.items(), strict=True):
        assert line.startswith(name)
        assert told in line
