"""Scoring answers as they come: sources of answers, which of them are judged, and the loop that never judges one twice.

`watcher` is the loop; `source` says what a source is, `plan` which answers are judged and which runs hold them.
The sources: `files` (that grow), `sql`, `langfuse`, `otlp` (spans that are sent here).
"""
