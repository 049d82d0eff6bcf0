"""Readers and writers: any file, folder or table of answers in; JSONL, JSON, CSV and Parquet out."""

from everyclaim.io.fields import BadRow, ReadReport
from everyclaim.io.replacing import (
    DASHBOARD,
    DOCUMENT,
    MARKDOWN,
    PAGE,
    RUBRIC,
    RULES,
    TEST_SUITE,
    TUNING,
    check_apart,
    check_replaced,
)
from everyclaim.io.rows import ClaimRow, DocumentRow, LabelRow
from everyclaim.io.samples import CLAIMS, LABELS, MARKS, read_documents, read_rows, read_samples
from everyclaim.io.sinks import open_sink
from everyclaim.io.writing import VERDICT_COLUMNS, check_format, open_rows, tagged, write_results

__all__ = [
    "CLAIMS", "DASHBOARD", "DOCUMENT", "LABELS", "MARKDOWN", "MARKS", "PAGE", "RUBRIC", "RULES", "TEST_SUITE", "TUNING",
    "VERDICT_COLUMNS", "BadRow", "ClaimRow", "DocumentRow", "LabelRow", "ReadReport", "check_apart", "check_format",
    "check_replaced", "open_rows", "open_sink", "read_documents", "read_rows", "read_samples", "tagged",
    "write_results",
]  # fmt: skip
