"""JSON made safe to show: readable in every script, and nothing in it that acts on a terminal."""

from __future__ import annotations

import json
import re
from typing import Any

_UNSAFE_IN_JSON = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]")


def json_text(value: Any, *, indent: int | None = None) -> str:
    """Write JSON that is readable in every script and cannot act on a terminal. Refuses NaN and infinity."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, indent=indent)
    # Outside of strings JSON is plain ASCII, so whatever is found here stands inside one.
    return _UNSAFE_IN_JSON.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
