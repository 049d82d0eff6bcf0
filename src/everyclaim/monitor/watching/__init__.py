"""Scoring answers as they come: sources of answers, which of them are judged, and the loop that never judges one twice.

`loop` is the whole of it; `source` says what a source is, `sampling` which answers are judged. The sources: `tail`
(files that grow), `sql`, `langfuse`, `otlp` (spans that are sent here).
"""
