"""One file that is a whole page: style, script and data inside, and a policy that lets it load nothing else."""

from __future__ import annotations

import base64
import hashlib
from typing import Any

from markupsafe import Markup

from everyclaim._version import __version__
from everyclaim.report.html.environment import asset, shared


def whole_page(template: str, *, styles: tuple[str, ...], scripts: tuple[str, ...], **values: Any) -> bytes:
    """Render a template of ours with these assets inside.

    The content-security policy names style and script by their digests: whatever else might get into the file, none of
    it runs, and nothing is fetched from or sent to anywhere. The same values give the same bytes.
    """
    style = "\n".join(asset(name) for name in styles)
    script = "\n".join(asset(name) for name in scripts)
    policy = (
        f"default-src 'none'; style-src {_digest(style)}; script-src {_digest(script)}; img-src data:; base-uri 'none';"
        " form-action 'none'"
    )
    page = (
        shared()
        .get_template(template)
        .render(
            policy=policy,
            style=Markup(style),  # noqa: S704 - our own file
            script=Markup(script),  # noqa: S704
            version=__version__,
            **values,
        )
    )
    return page.encode("utf-8")


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
