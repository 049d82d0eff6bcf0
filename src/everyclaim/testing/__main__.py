"""Run the loopback provider in a process of its own: ``python -m everyclaim.testing --latency 0.05``.

It prints one line with its address, then serves until its standard input is closed or it is interrupted.
"""

from __future__ import annotations

import argparse
import importlib
import sys

from everyclaim.testing.script import Script
from everyclaim.testing.server import JudgeServer


def main() -> int:
    """Serve. Returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m everyclaim.testing", description=__doc__)
    parser.add_argument("--reply", default="{}", help="the text of every reply")
    parser.add_argument("--rule", help="a callable instead, as package.module:name; it gets each Request")
    parser.add_argument("--latency", type=float, default=0.0, help="delay before each reply in seconds")
    parser.add_argument("--port", type=int, default=0, help="port; 0 for any free one")
    given = parser.parse_args()
    script: Script = given.reply
    if given.rule:
        module, _, name = given.rule.partition(":")
        script = getattr(importlib.import_module(module), name)
    with JudgeServer(script, latency=given.latency, port=given.port, keep=False) as server:
        sys.stdout.write(f"{server.base_url}\n")
        sys.stdout.flush()
        try:
            sys.stdin.read()
        except KeyboardInterrupt:
            return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
