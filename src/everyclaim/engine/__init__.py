"""Running a metric over samples: streaming, concurrent, resumable, with failures kept apart from scores.

`run` is the pipeline, `score_sample` what it does to one sample, `in_thread` a source that may block,
`wait` the way in from code that is not async, `BackgroundLoop` a loop that stays for many such calls.
"""

from everyclaim.engine.background import BackgroundLoop, wait
from everyclaim.engine.pipeline import run
from everyclaim.engine.score import score_sample
from everyclaim.engine.source import in_thread

__all__ = ["BackgroundLoop", "in_thread", "run", "score_sample", "wait"]
