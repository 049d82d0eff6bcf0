"""Readers and writers: any file, folder or table of answers in; JSONL, JSON, CSV and Parquet out."""

from everyclaim.io.fields import BadRow, ReadReport
from everyclaim.io.files import FORMATS
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
from everyclaim.io.writing import (
    RESULT_COLUMNS,
    VERDICT_COLUMNS,
    WRITE_FORMATS,
    check_format,
    flat_answers,
    flat_table,
    flatten_result,
    open_rows,
    tagged,
    write_results,
    write_rows,
)

__all__ = [
    "CLAIMS", "DASHBOARD", "DOCUMENT", "FORMATS", "LABELS", "MARKDOWN", "MARKS", "PAGE", "RESULT_COLUMNS", "RUBRIC",
    "RULES", "TEST_SUITE", "TUNING", "VERDICT_COLUMNS", "WRITE_FORMATS", "BadRow", "ClaimRow", "DocumentRow",
    "LabelRow", "ReadReport", "check_apart", "check_format", "check_replaced", "flat_answers", "flat_table",
    "flatten_result", "open_rows", "open_sink", "read_documents", "read_rows", "read_samples", "tagged",
    "write_results", "write_rows",
]  # fmt: skip
