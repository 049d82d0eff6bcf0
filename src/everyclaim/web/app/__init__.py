"""The dashboard: runs, answers, comparisons and judges of a store, in a browser.

`create_app` puts it together: `web.security.Shield` (names, headers, sizes, foreign pages) around `auth.Authenticator`
(who is asking) around the pages, one module for each kind in `pages`. A page reads through `site`, computes what takes
long through its `memo`, and is written by a template; nothing here knows how a number comes about.
"""

from everyclaim.web.app.auth import Access
from everyclaim.web.app.factory import create_app

__all__ = ["Access", "create_app"]
