"""The tools for tests are tested where the chat models' libraries are installed."""

from importlib.util import find_spec

collect_ignore_glob = ["test_*.py"] if any(find_spec(name) is None for name in ("aiohttp", "stamina")) else []
