"""What a server is started with; and tokens: who may ask the service or the dashboard for what, and how often.

A token is 256 random bits, shown once, when it is made. What is kept of it is one line, in a file or in the variable
`EVERYCLAIM_TOKENS` (entries on lines of their own, or between semicolons):

    # name   scopes       SHA-256 of the token    rate, where it is not the usual one
    ci       score,jobs   sha256:9f86d081…        600/min

So much randomness cannot be guessed, so that a plain digest is as good as a slow one. Nobody but the owner may be able
to write to the file: whoever writes a line into it can come in. A change counts from the next request on.
"""

from __future__ import annotations

import hmac
import logging
import os
import re
import secrets
import stat
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Self

from everyclaim.api.options import DEFAULT_STORE
from everyclaim.core.errors import ConfigError
from everyclaim.core.kinds import Range
from everyclaim.core.options import Opt, check_declared
from everyclaim.core.plaintext import did_you_mean, digest, is_loopback

VARIABLE = "EVERYCLAIM_TOKENS"
SCOPES: Mapping[str, str] = {
    "score": "score, verify, split and guard single answers",
    "jobs": "score data sets: submit, read and cancel jobs",
    "read": "read runs, results, trends and metrics",
    "label": "label claims",
    "ui": "log in to the dashboard",
    "admin": "everything, including data of other users",
}
_PREFIX = "ecl_"  # by which people and scanners of repositories know one
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@-]{0,63}")
_ENTRY = re.compile(rf"({_NAME.pattern}) (\S+) sha256:([0-9a-f]{{64}})(?: ([1-9][0-9]{{0,6}})/min)?")
_LONGEST = 256  # characters of anything that is looked at as a token
_logger = logging.getLogger("everyclaim.web")


@dataclass(frozen=True, slots=True)
class AccessToken:
    """What is kept of a token. `per_minute` is its own rate, None for the usual one."""

    name: str
    scopes: frozenset[str]
    digest: str
    per_minute: int | None = None

    def may(self, scope: str) -> bool:
        """Whether it is good for this."""
        return scope in self.scopes or "admin" in self.scopes

    @property
    def line(self) -> str:
        """It as a line of the file."""
        rate = f" {self.per_minute}/min" if self.per_minute else ""
        return f"{self.name} {','.join(sorted(self.scopes))} sha256:{self.digest}{rate}"


class AccessTokens:
    """The tokens that are good, from a file, from `EVERYCLAIM_TOKENS`, or both.

    Raises `ConfigError` for a line that cannot be read and for a file that others may write to; no message repeats
    what could be a token.
    """

    def __init__(self, path: Path | None = None, variable: str | None = None) -> None:
        self._path = path
        self._given = tuple(_read(variable or "", VARIABLE))
        self._stamp = _stamp(path) if path else None
        self._kept: tuple[AccessToken, ...] = ()
        self._load()

    @classmethod
    def find(cls, path: str | os.PathLike[str] | None = None) -> Self:
        """Take the tokens of a file, where one is named, and those of the environment."""
        return cls(Path(path) if path else None, os.environ.get(VARIABLE))

    def __len__(self) -> int:
        return len(self._kept)

    def __iter__(self) -> Iterator[AccessToken]:
        return iter(self._kept)

    def holder(self, presented: str) -> AccessToken | None:
        """Return the token that this text is, None when it is none."""
        self._refresh()
        given = digest(presented[:_LONGEST])
        return next((token for token in self._kept if hmac.compare_digest(token.digest, given)), None)

    def has(self, token: AccessToken) -> bool:
        """Whether a token that was good when it was shown still is, and for the same."""
        self._refresh()
        return token in self._kept

    def _refresh(self) -> None:
        """Read a file that was changed. One that cannot be read or trusted lets nobody in until it changes again."""
        if self._path is None or (stamp := _stamp(self._path)) == self._stamp:
            return
        self._stamp, self._kept = stamp, ()
        try:
            self._load()
        except ConfigError as error:
            _logger.error("no token is valid until this is fixed: %s", error)  # noqa: TRY400 - not traced

    def _load(self) -> None:
        lines: list[AccessToken] = []
        if self._path is not None:
            try:
                _check_mode(self._path)
                lines = list(_read(self._path.read_text("utf-8"), str(self._path)))
            except (OSError, UnicodeDecodeError) as error:
                reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
                raise ConfigError(f"cannot read the token file {self._path}: {reason}") from None
        found = (*lines, *self._given)
        names = [token.name for token in found]
        if twice := next((name for name in names if names.count(name) > 1), ""):
            raise ConfigError(f"two tokens are named {twice!r}: rename one")
        self._kept = found


def new_token(
    name: str, scopes: Collection[str] = ("score", "jobs"), per_minute: int | None = None
) -> tuple[str, AccessToken]:
    """Make a token; return it, which is shown once and kept nowhere, and what is kept of it."""
    if not _NAME.fullmatch(name):
        raise ConfigError(f"a token name has up to 64 letters, digits, '.', '_', '@' and '-', got {name!r}")
    if not scopes:
        raise ConfigError(f"a token needs a scope: {', '.join(SCOPES)}")
    for scope in scopes:
        _check_scope(scope, f"token {name}")
    shown = _PREFIX + secrets.token_urlsafe(32)
    return shown, AccessToken(name, frozenset(scopes), digest(shown), per_minute)


def add_token(path: Path, token: AccessToken) -> None:
    """Add a token to a file, which is made for the owner alone where there is none."""
    if path.exists() and token.name in {kept.name for kept in AccessTokens(path)}:
        raise ConfigError(f"{path} already has a token named {token.name!r}: remove that line, or choose another name")
    path.parent.mkdir(parents=True, exist_ok=True)
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
    with os.fdopen(handle, "r+", encoding="utf-8") as file:
        whole = file.read()
        file.write(("" if not whole or whole.endswith("\n") else "\n") + token.line + "\n")
        file.flush()
        os.fsync(file.fileno())


def bearer(authorization: str) -> str:
    """Return the token of an `Authorization` header, empty when it holds none."""
    scheme, _, rest = authorization.strip().partition(" ")
    return rest.strip() if scheme.lower() == "bearer" else ""


class RateLimiter:
    """How many requests a minute each of some may make: a bucket per name, which fills steadily.

    A burst of as many as a quarter minute's is let through, at least ten.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._buckets: dict[str, tuple[float, float]] = {}  # what is left, and when it was last taken

    def take(self, name: str, per_minute: int) -> float:
        """Take one; return 0, or in how many seconds there will be one."""
        rate = per_minute / 60
        burst = max(10.0, rate * 15)
        now = self._clock()
        left, seen = self._buckets.get(name, (burst, now))
        left = min(burst, left + (now - seen) * rate)
        is_granted = left >= 1
        self._buckets[name] = (left - is_granted, now)
        return 0.0 if is_granted else (1 - left) / rate


def _read(text: str, where: str) -> Iterator[AccessToken]:
    for number, line in enumerate(re.split(r"[\n;]", text.removeprefix("\ufeff")), start=1):
        words = line.partition("#")[0].split()
        if words:
            yield _parsed(words, f"{where}, entry {number}")


def _parsed(words: list[str], where: str) -> AccessToken:
    """Read one entry. What is wrong with it is not repeated, since it could be a token."""
    found = _ENTRY.fullmatch(" ".join(words))
    if found is None or words[0].startswith(_PREFIX):
        raise ConfigError(
            f"{where}: an entry is 'NAME SCOPES sha256:…' and optionally a rate such as 60/min; "
            "`everyclaim serve --new-token` writes the line"
        )
    name, scopes, digest, rate = found.groups()
    for scope in scopes.split(","):
        _check_scope(scope, where)
    return AccessToken(name, frozenset(scopes.split(",")), digest, int(rate) if rate else None)


def _check_scope(scope: str, where: str) -> None:
    if scope not in SCOPES:
        shown = f" {scope!r}" if len(scope) <= 20 and not scope.startswith(_PREFIX) else ""
        raise ConfigError(f"{where}: unknown scope{shown}{did_you_mean(scope, SCOPES)} (known: {', '.join(SCOPES)})")


def _stamp(path: Path) -> tuple[int, ...] | None:
    try:
        state = path.stat()
    except OSError:
        return ()  # unlike None, which nothing is known by
    return state.st_mtime_ns, state.st_ctime_ns, state.st_size, state.st_ino  # a change of mode counts, too


def _check_mode(path: Path) -> None:
    state = path.stat()
    if os.name == "posix" and state.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise ConfigError(f"others can write to the token file {path} and add tokens: chmod 600 {path}")
    if os.name == "posix" and state.st_uid not in (os.getuid(), 0):
        raise ConfigError(f"the token file {path} belongs to another user, who could add tokens")


LOOPBACK = "127.0.0.1"
SERVER, BOUNDS, TOKENS = "Server", "Bounds", "Tokens"  # groups of options
_Positive = Annotated[float, Range(above=0)]


@dataclass(frozen=True, slots=True)
class Binding:
    """Where to listen, with how many processes."""

    host: Annotated[
        str, Opt("Address to listen on; addresses reachable from other machines need tokens.", "ADDRESS", panel=SERVER)
    ] = LOOPBACK
    port: Annotated[int, Opt("Port to listen on; 0: any free port.", panel=SERVER)] = 8700
    workers: Annotated[int, Opt("Number of processes.", panel=SERVER)] = 1

    def check(self, *, has_tokens: bool, command: str = "serve") -> None:
        """Raise `ConfigError` where anybody on the network could come in, and for numbers that cannot be."""
        if not is_loopback(self.host) and not has_tokens:
            raise ConfigError(
                f"{self.host} can be reached from other machines, but no token is required: create one "
                f"with `everyclaim serve --new-token NAME --tokens FILE` and pass `{command} --tokens FILE`, "
                f"or keep --host {LOOPBACK}"
            )
        if not 0 <= self.port <= 65_535:
            raise ConfigError(f"--port must be between 0 and 65535, got {self.port}")
        if not 1 <= self.workers <= 256:
            raise ConfigError(f"--workers must be between 1 and 256, got {self.workers}")


@dataclass(frozen=True, slots=True)
class ServiceSettings:
    """How a service is run; can be pickled, so that every process is made from it. `options` are of an `Evaluator`."""

    options: Mapping[str, Any] = field(default_factory=dict)
    store: str = DEFAULT_STORE
    tokens: Annotated[Path | None, Opt(f"File of tokens, in addition to {VARIABLE}.", "FILE", panel=TOKENS)] = None
    queue: Annotated[int, Range(0), Opt("Maximum number of waiting requests.", panel=BOUNDS)] = 64
    seconds: Annotated[_Positive, Opt("Time limit for one answer in seconds.", "SECONDS", "--timeout", BOUNDS)] = 60.0
    body_mb: Annotated[_Positive, Opt("Maximum size of a request body in MB.", "MB", "--max-body-mb", BOUNDS)] = 2.0
    job_mb: Annotated[_Positive, Opt("Maximum size of a job's data in MB.", "MB", "--max-job-mb", BOUNDS)] = 1000.0
    jobs_folder: Annotated[
        Path | None, Opt("Folder for pending jobs (default: next to the store).", "FOLDER", panel="Run")
    ] = None
    metrics: Annotated[bool, Opt("Serve /metrics for Prometheus.", panel=SERVER)] = False
    log_texts: Annotated[bool, Opt("Log request texts.", panel=SERVER)] = False
    # for a token, also when none is good any more: a worker that begins later is as strict as the first
    asks: bool = False
    workers: int = 1
    concurrency: int | None = None  # answers in work at once, in all; None: what the judge wants
    per_minute: Annotated[int, Range(1)] = 6000  # requests of a token that has no rate of its own
    body_seconds: _Positive = 20.0  # within which a request must have arrived
    upload_seconds: _Positive = 600.0  # the same, for the data of a job
    open_jobs: Annotated[int, Range(0)] = 100  # that may wait, of one token

    def __post_init__(self) -> None:
        check_declared(self, "the service")

    @property
    def folder(self) -> Path:
        """Where jobs wait. Raises `ConfigError` for a store on a server, which has no folder beside it."""
        if self.jobs_folder is not None:
            return self.jobs_folder
        if "://" in self.store:
            raise ConfigError("a database store has no folder for jobs next to it: pass --jobs-folder")
        path = Path(os.path.abspath(self.store))  # noqa: PTH100 - a link is left one
        return path.with_name(f"{path.name}-jobs")

    def share(self, number: int) -> int:
        """Return one worker's share of what is for all, at least 1."""
        return max(1, number // self.workers)
