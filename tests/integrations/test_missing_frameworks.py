"""Integrations whose framework is not installed say so in one line; with it they are held against it elsewhere."""

from __future__ import annotations

import subprocess
import sys

import pytest

PARTS = {
    "langchain": ("langchain_core", "everyclaim[langchain]"),
    "llama_index": ("llama_index", "everyclaim[llama-index]"),
    "haystack": ("haystack", "everyclaim[haystack]"),
    "deepeval": ("deepeval", "pip install deepeval"),
    "mlflow": ("mlflow", "everyclaim[mlflow]"),
    "langfuse": ("langfuse", "everyclaim[langfuse]"),
    "ray": ("ray", "everyclaim[ray]"),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", PARTS)
def test_a_missing_framework_is_told_with_what_to_install(name: str) -> None:
    """As a UserError, and without its traceback through our code being needed to understand it."""
    module, told = PARTS[name]
    code = (
        f"import sys; sys.modules[{module!r}] = None\n"
        "from everyclaim.core.errors import UserError\n"
        f"try:\n    import everyclaim.integrations.{name}\n"
        "except UserError as error:\n    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told in done.stdout
