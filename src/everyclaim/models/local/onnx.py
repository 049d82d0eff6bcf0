"""onnxruntime, silent: some of its builds keep a device id and send usage events unless they are told not to."""

from __future__ import annotations

import os
from typing import Any


def quiet_onnxruntime() -> Any:
    """Import onnxruntime with its telemetry off; it has to be told before its first import."""
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
    import onnxruntime

    onnxruntime.disable_telemetry_events()
    return onnxruntime
