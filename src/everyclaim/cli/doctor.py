"""``everyclaim doctor``: what is installed, where things are kept, and whether scoring works here."""

from __future__ import annotations

import asyncio
import os
import platform
import socket
import sys
from contextlib import closing
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from rich.console import Group
from rich.table import Table
from rich.text import Text

from everyclaim._version import __version__
from everyclaim.api.scoring import ascore
from everyclaim.api.session import Session
from everyclaim.api.settings import DECLARED, PREFIX, Settings, find_settings_file
from everyclaim.api.specs import DECOMPOSERS, METRICS, VERIFIERS, talks
from everyclaim.cli import options as opt
from everyclaim.cli.console import show, show_json
from everyclaim.cli.options import Given, with_settings
from everyclaim.core.errors import EveryclaimError, NoStoreError
from everyclaim.core.plaintext import counted
from everyclaim.core.spec import Spec
from everyclaim.core.types import Outcome
from everyclaim.models.chat.providers import key_variable, keys_file, provider_names, where_key_is
from everyclaim.report.style import Page, data

# Extra → a package that it brings, and what it is for.
_EXTRAS = {
    "tables": ("pyarrow", "Parquet, Arrow, Hugging Face datasets"),
    "pandas": ("pandas", "pandas data frames"),
    "polars": ("polars", "polars data frames"),
    "postgres": ("psycopg", "PostgreSQL store"),
    "openai": ("aiohttp", "OpenAI-compatible judges"),
    "anthropic": ("aiohttp", "Anthropic judges"),
    "search": ("aiohttp", "web search"),
    "hf": ("torch", "Hugging Face judges"),
    "serve": ("uvicorn", "HTTP service"),
    "client": ("aiohttp", "everyclaim.Client for the HTTP service"),
    "ui": ("python-multipart", "dashboard"),
    "prometheus": ("prometheus-client", "Prometheus metrics"),
    "langfuse": ("langfuse", "Langfuse source of everyclaim watch"),
    "testing": ("stamina", "mock server for tests"),
}
_PATIENCE, _CONNECT = 30, 3.0  # seconds for an answer of a language model, and for a connection to it


@dataclass(frozen=True, slots=True)
class Check:
    """One thing looked at. `ok` None: it is optional and not there."""

    name: str
    ok: bool | None
    found: str


@with_settings("judge", "base_url", "store")
def doctor(*, given: Given, json: opt.Json = False) -> int:
    """Check the installation and score one answer.

    Checks versions, extras, settings, store, components and keys (which are never shown). The answer is scored
    by --judge, or by the judge of the settings. Exits with 1 if a check fails.
    """
    checks = [Check("everyclaim", True, f"{__version__} on Python {platform.python_version()}, {sys.platform}")]
    try:
        settings = given.settings()
        checks.append(Check("settings", True, _settings_in_use(given.config)))
    except EveryclaimError as error:
        settings = None
        checks.append(Check("settings", False, str(error)))
    checks += [
        Check("metrics", True, ", ".join(METRICS.names())),
        Check("decomposers", True, ", ".join(DECOMPOSERS.names())),
        Check("judges", True, ", ".join(VERIFIERS.names())),
        *map(_provider, provider_names()),
        *map(_extra, _EXTRAS),
    ]
    if settings is not None:
        checks += [_store(settings.store), _self_check(settings)]
    if json:
        show_json({"ok": all(check.ok is not False for check in checks), "checks": [asdict(check) for check in checks]})
    else:
        show(_page(checks))
    return int(any(check.ok is False for check in checks))


def _settings_in_use(config: Path | None) -> str:
    file = config or find_settings_file()
    names = sorted(name for name in os.environ if name.startswith(PREFIX) and name[len(PREFIX) :].lower() in DECLARED)
    return ", ".join([str(file) if file else "no everyclaim.toml in this folder or above it in the project", *names])


def _provider(provider: str) -> Check:
    """Say where a provider's key is, without which its judges work only at other addresses."""
    try:
        place = where_key_is(provider)
    except EveryclaimError as error:
        return Check(f"key {provider}", False, str(error))
    said = f"from {place}" if place else f"none: set {key_variable(provider)}, or add it to {keys_file()}"
    return Check(f"key {provider}", True if place else None, said)


def _extra(name: str) -> Check:
    package, purpose = _EXTRAS[name]
    try:
        return Check(f"extra {name}", True, f"{purpose} ({package} {version(package)})")
    except PackageNotFoundError:
        return Check(f"extra {name}", None, f"not installed ({purpose}): pip install 'everyclaim[{name}]'")


def _store(location: str) -> Check:
    """Read the store when it is there; otherwise only look whether it could be made. Nothing is made or changed."""
    if "://" not in location and not Path(location).exists():
        folder = next((parent for parent in Path(location).absolute().parents if parent.exists()), Path("/"))
        if not folder.is_dir() or not os.access(folder, os.W_OK):
            return Check("store", False, f"cannot create {location}: {folder} is not a writable folder")
        return Check("store", True, f"{location}, created by the first run")
    try:
        from everyclaim.store.store import Store  # not for --help

        with Store.open_to_read(location) as store:
            found = f"{store.location}, {counted(len(store.runs()), 'run')}"
    except NoStoreError as error:
        return Check("store", True, f"{error}; the first run creates it")
    except EveryclaimError as error:
        return Check("store", False, str(error))
    if "://" not in location and not (os.access(location, os.W_OK) and os.access(Path(location).parent, os.W_OK)):
        return Check("store", None, f"{found}; read-only: pass another --store to score")
    return Check("store", True, found)


def _self_check(settings: Settings) -> Check:
    """Score an answer with one supported and one contradicted claim, by the settings in use."""
    options = {"judge": settings.judge, "decomposer": settings.decomposer, **settings.talking}
    try:
        if fault := _unreachable(options) if talks(settings.judge, settings.decomposer) else "":
            return Check("self-check", False, fault)
        scoring = ascore(
            question="What does the kettle hold, and what does it weigh?",
            response="The kettle holds 1.7 litres. The kettle weighs 900 grams.",
            passages=["The kettle holds 1.7 litres. It weighs 1200 grams without the base."],
            metric=settings.metric,
            strategy=settings.strategy,
            **options,
        )
        result = asyncio.run(asyncio.wait_for(scoring, _PATIENCE if talks(settings.judge) else None))
    except TimeoutError:
        found = f"{Spec.parse(settings.judge).shown} did not answer within {_PATIENCE} s: is the server running?"
        return Check("self-check", False, found)
    except EveryclaimError as error:
        return Check("self-check", False, str(error))
    except Exception as error:  # noqa: BLE001 - finding what is broken is the purpose
        return Check("self-check", False, f"{type(error).__name__}: {error}")
    if result.outcome is not Outcome.SCORED or result.score is None:
        return Check("self-check", False, f"cannot score the example: {result.outcome.display_name}: {result.reason}")
    labels = ", ".join(claim.verdict.label.value.lower() for claim in result.claims)
    return Check("self-check", True, f"scored one answer with {Spec.parse(settings.judge).shown}: {labels}")


def _unreachable(options: dict[str, Any]) -> str:
    """Try to connect to every language model, unless by a proxy; say to which one it fails and why, else nothing."""
    from everyclaim.api.judges import NamedModels
    from everyclaim.models.chat.transport import find_proxy

    models = NamedModels()
    with closing(Session(options, chats=models)) as session:
        _ = session.judge, session.decomposer  # building them asks for their models
    for model in models.asked:
        model.find_key()
    for url in {model.address for model in models.asked if not find_proxy(model.address)}:
        parts = urlsplit(url)
        try:
            address = parts.hostname or "", parts.port or (80 if parts.scheme == "http" else 443)
            socket.create_connection(address, _CONNECT).close()
        except OSError as error:
            return f"cannot connect to {url}: {error.strerror or error}; is the server running?"
    return ""


def _page(checks: list[Check]) -> Page:
    rows = Table.grid(padding=(0, 2, 0, 0))
    for check in checks:
        sign, style = {True: ("✓", "green"), False: ("✗", "bold red"), None: ("–", "dim")}[check.ok]
        rows.add_row(Text(sign, style=style), Text(check.name), data(check.found, "dim" if check.ok is None else ""))
    broken = sum(check.ok is False for check in checks)
    verdict = f"{counted(broken, 'problem')} found" if broken else "no problems found"
    return Page(Group(rows, Text(), Text(verdict, style="bold red" if broken else "green")))
