"""Tools for tests of components: conformance suites; for judges a model provider on loopback with faults on demand,
recordings, and retries without waits.
"""

from everyclaim.testing.checks import RuleBrokenError, check_decomposer, check_metric, check_verifier
from everyclaim.testing.playing import Recorder, Replayer, ScriptedChat, no_sleep, play, request_data
from everyclaim.testing.script import (
    Fault,
    Reply,
    Request,
    body,
    empty_body,
    fenced,
    hang,
    html,
    malformed_json,
    rate_limited,
    rejected,
    reset,
    server_error,
    slow_drip,
    truncated,
)
from everyclaim.testing.server import JudgeServer, refused_url

__all__ = [
    "Fault", "JudgeServer", "Recorder", "Replayer", "Reply", "Request", "RuleBrokenError",
    "ScriptedChat", "body", "check_decomposer", "check_metric", "check_verifier", "empty_body",
    "fenced", "hang", "html", "malformed_json", "no_sleep", "play", "rate_limited", "refused_url", "rejected",
    "request_data", "reset", "server_error", "slow_drip", "truncated",
]  # fmt: skip
