"""The browser, the pages it looks at, and services in processes of their own."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from real_pages import chromium, place, serve, watch  # noqa: F401 - fixtures
from running_service import Service

from everyclaim.web.settings import add_token, new_token


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests that look at a page in a browser are slow ones, all of them."""
    for item in items:
        if "chromium" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="session")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """Give a service that asks for no token, and takes little at a time."""
    folder = tmp_path_factory.mktemp("open")
    one = Service(folder, "--store", "store.db", "--max-body-mb", "0.1", "--max-job-mb", "0.1")
    yield one
    one.kill()


@pytest.fixture(scope="session")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """Give a service with tokens, and in `headers` what their holders send."""
    folder = tmp_path_factory.mktemp("tokens")
    kinds = {"scorer": ["score"], "batch": ["jobs"], "other": ["jobs"], "slow": ["score"], "root": ["admin"]}
    shown = {}
    for name, scopes in kinds.items():
        shown[name], token = new_token(name, scopes, 1 if name == "slow" else None)
        add_token(folder / "tokens", token)
    one = Service(folder, "--store", "store.db", "--tokens", "tokens")
    one.headers = {name: {"Authorization": f"Bearer {token}"} for name, token in shown.items()}
    one.token = shown["root"]
    yield one
    one.kill()


@pytest.fixture
def started(tmp_path: Path) -> Iterator[Callable[..., Service]]:
    """Give a function that starts a service whose judge takes its time and writes down what it is asked."""
    made: list[Service] = []

    def start(*options: str, judge: str = "judge", **env: str) -> Service:
        store = () if "--store" in options else ("--store", "store.db")
        judging = ("--judge", f"python:slow_judge:{judge}", "--decomposer", "embedded")
        made.append(
            Service(tmp_path, *store, *judging, *options, env={"JUDGE_LOG": str(tmp_path / "judged.txt"), **env})
        )
        return made[-1]

    yield start
    for one in made:
        one.kill()
