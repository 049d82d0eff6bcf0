"""Runs, answers and comparisons as HTML: pure rendering, used by the report file, notebooks and the dashboard.

Read in this order: `environment` (the one Jinja2 environment, its filters and rules), `layout` (a text cut by what is
marked in it; its prose, records and tables), `answers` (an answer made ready for the templates), `charts` (SVG), `run`
and `comparison` (whole pages), and `templates/parts.html` (macros for labels, verdicts, claims and passages).

A page of the dashboard is made of the same parts:

    from everyclaim.report.html.answers import answer_view
    from everyclaim.report.html.environment import environment

    pages = environment(PackageLoader("everyclaim.web.app"))  # its own templates are looked up first
    pages.get_template("answer.html").render(answer=answer_view(kept), chart=label_bar(counts))

where ``answer.html`` says ``{% import "everyclaim/parts.html" as parts %}{{ parts.answer(answer) }}``. It serves
`asset("theme.css")` and `asset("answer.js")` as files: neither needs an inline style or script, so that a
content-security policy of ``default-src 'self'`` holds. Without the script everything is there and readable; with it,
opening a claim lights up its evidence in the passages.
"""
