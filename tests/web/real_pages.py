"""Real pages for tests: the dashboard served on loopback, and a chromium that looks at it and forgives nothing."""

from __future__ import annotations

import os
import shutil
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import uvicorn
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, Route, sync_playwright

LOOPBACK = "127.0.0.1"
IS_NEEDED = "NEEDS_BROWSER"  # set where a missing browser is a failure


@contextmanager
def served(app: object) -> Iterator[str]:
    """Serve an application on loopback, and give its address."""
    listener = socket.create_server((LOOPBACK, 0))
    server = uvicorn.Server(uvicorn.Config(app, log_level="error", ws="none", lifespan="on"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    deadline = time.monotonic() + 60
    while not server.started and thread.is_alive() and time.monotonic() < deadline:
        time.sleep(0.01)
    try:
        assert server.started
        yield f"http://{LOOPBACK}:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(30)
        listener.close()


class Watched:
    """A page of a browser. What its console says and where its requests go is held against it at the end.

    `expects_errors`: that the console tells of answers such as 404 is what a test is about.
    """

    def __init__(self, context: BrowserContext, address: str) -> None:
        self.page: Page = context.new_page()
        self.address = address
        self.expects_errors = False
        self._said: list[str] = []
        self._left: list[str] = []
        self.page.on("console", self._hear)
        self.page.on("pageerror", lambda error: self._said.append(str(error)))
        context.route("**/*", self._pass_on)

    def open(self, path: str) -> Page:
        """Go to a page of the dashboard."""
        self.page.goto(self.address + path)
        return self.page

    def check(self) -> None:
        """Fail for whatever the console said and for every request that was to leave this machine."""
        assert not self._left, self._left
        assert self.expects_errors or not self._said, self._said

    def check_accessibility(self) -> None:
        """Fail for what axe calls serious or critical."""
        found = Axe().run(self.page).response["violations"]
        grave = [
            (one["id"], one["help"], [node["html"][:200] for node in one["nodes"][:3]])
            for one in found
            if one["impact"] in {"serious", "critical"}
        ]
        assert not grave, grave

    def _hear(self, message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"}:
            self._said.append(f"{message.type}: {message.text}")

    def _pass_on(self, route: Route) -> None:
        target = urlsplit(route.request.url)
        if target.hostname in {LOOPBACK, "localhost"} or target.scheme == "file":  # a report, opened from the disk
            route.continue_()
        else:
            self._left.append(route.request.url)
            route.abort()


@pytest.fixture(scope="module")  # its event loop runs until it is closed, and other tests want one of their own
def chromium() -> Iterator[Browser]:
    """Give the browser of the system. Without one the test is skipped, or fails where one must be there."""
    found = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if found is None:
        (pytest.fail if os.environ.get(IS_NEEDED) else pytest.skip)("chromium is not installed")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def serve() -> Iterator[Callable[[object], str]]:
    """Give a function that serves an application, until whatever looks at it is closed, and returns its address."""
    with ExitStack() as stack:
        yield lambda app: stack.enter_context(served(app))


@pytest.fixture
def watch(chromium: Browser, serve: object) -> Iterator[Callable[..., Watched]]:
    """Give a function that opens a page on a dashboard; options are those of a browser context."""
    opened: list[Watched] = []

    def make(address: str, **options: object) -> Watched:
        context = chromium.new_context(accept_downloads=True, **options)  # type: ignore[arg-type]
        context.set_default_timeout(20_000)
        opened.append(Watched(context, address))
        return opened[-1]

    yield make
    for one in opened:
        one.page.context.close()
    for one in opened:
        one.check()


@pytest.fixture
def place(tmp_path: Path) -> str:
    """Give a location where no store is yet."""
    return str(tmp_path / "runs.db")
