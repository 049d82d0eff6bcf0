"""The browser, and the pages it looks at."""

import pytest
from real_pages import chromium, patience, place, serve, watch  # noqa: F401 - fixtures


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests that look at a page in a browser are slow ones, all of them."""
    for item in items:
        if "chromium" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.slow)
