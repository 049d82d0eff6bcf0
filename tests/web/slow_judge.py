"""A judge that takes its time, and writes down what it was asked."""

from __future__ import annotations

import os
import time
from pathlib import Path


def judge(claim, passages):
    seconds = float(os.environ.get("JUDGE_SECONDS", "0.2"))
    with Path(os.environ.get("JUDGE_LOG", os.devnull)).open("a") as log:
        log.write(f"{claim.text}\n")
    if "forever" in claim.text:
        seconds = 60.0
    time.sleep(seconds)
    return "SUPPORTED"


async def spinning(claim, passages):
    while "forever" in claim.text:
        pass
    return "SUPPORTED"
