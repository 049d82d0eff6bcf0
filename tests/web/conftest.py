"""The browser, and the pages it looks at."""

from real_pages import chromium, patience, place, serve, watch  # noqa: F401 - fixtures
