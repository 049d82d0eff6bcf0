"""The composition root: the calls that users make, wired from the rooms below."""

from everyclaim.core.printing import html_writers
from everyclaim.core.types import Result


def _result_html(result: Result) -> str:
    from everyclaim.report.html.pages import result_html

    return result_html(result)


html_writers.append(_result_html)
