"""The server: where it may listen, what it logs."""

from __future__ import annotations

import json
import logging

import pytest

from everyclaim import ConfigError
from everyclaim.web.serving import JsonLines
from everyclaim.web.settings import Binding


def test_loopback_needs_no_token_and_any_other_address_needs_one():
    """What other machines can reach is refused without tokens, with the way out, and taken with them."""
    for host in ("127.0.0.1", "127.8.9.1", "localhost", "LOCALHOST.", "::1", "[::1]"):
        Binding(host).check(has_tokens=False)
    for host in ("0.0.0.0", "::", "192.0.2.1", "localhost.example.com", "", "127.0.0.1.example.com"):
        Binding(host).check(has_tokens=True)
        with pytest.raises(ConfigError, match="--new-token"):
            Binding(host).check(has_tokens=False)


def test_a_log_line_is_json_without_secrets_or_texts():
    """An error is logged by its kind and places; its message, which may quote a text, is not."""
    fault = ValueError("the patient's name is in here")
    about = ("a fault with %s", ("token=ecl_1234567890",), (ValueError, fault, None))
    record = logging.LogRecord("everyclaim.web", logging.ERROR, __file__, 1, *about)
    record.status = 500
    line = JsonLines().format(record)
    row = json.loads(line)
    assert row["status"] == 500
    assert row["error"] == "ValueError"
    assert "patient" not in line
    assert "1234567890" not in line
    assert "\n" not in line
