"""Tools for tests of judges: a provider on loopback with faults on demand."""

from everyclaim.testing.server import JudgeServer

__all__ = ["JudgeServer"]
