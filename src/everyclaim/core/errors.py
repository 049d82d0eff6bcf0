"""Every error of the library, split by who must act.

    EveryclaimError
    ├── UserError                 the caller: fix the input or the call
    │   ├── InputError            a file, a row or a text cannot be read as samples or claims
    │   ├── ConfigError           a setting, a spec or an option is wrong
    │   │   └── OptionError       options that do not go together, or do nothing
    │   └── MissingExtraError     an optional part is not installed
    ├── OperatorError             whoever runs it: disk, database, limits
    │   ├── StoreError            the store cannot be opened, read or written
    │   │   └── NoStoreError      there is none at that place to read from
    │   ├── SourceError           what is watched for answers cannot be reached or read
    │   └── BudgetExceeded        a limit on cost, calls or tokens is reached; what is done is kept
    ├── JudgeError                the provider: no usable verdict; makes a sample `failed`, never a score
    │   └── UnreachableError      its address has never answered; stops a run of many samples
    └── GeneratorError            whoever writes the answers that a guard checks: there is none to return

A message says what, the offending value, and what to do about it; never a secret.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Self

from everyclaim.core.plaintext import hidden
from everyclaim.core.types import Usage

_OPTION = re.compile(r"`(\w+)`")


class EveryclaimError(Exception):
    """Root of all errors that the library raises on purpose. Secrets in messages are redacted."""

    def __init__(self, *told: Any) -> None:
        super().__init__(*(hidden(one) if isinstance(one, str) else one for one in told))


class UserError(EveryclaimError):
    """The caller can fix this."""


class InputError(UserError):
    """The input cannot be read as expected."""


class ConfigError(UserError):
    """A setting, a component spec or an option is wrong."""


class OptionError(ConfigError):
    """Options that exclude each other or have no effect.

    The message names them between backticks, as in Python, so that the command line can rewrite them as flags.
    """

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.marked: str = self.args[0]

    def __str__(self) -> str:
        return self.spelled(str)

    def spelled(self, spell: Callable[[str], str]) -> str:
        """Return the message with every option as `spell` writes it."""
        return _OPTION.sub(lambda found: spell(found[1]), self.marked)


class MissingExtraError(UserError):
    """An optional part is not installed."""

    def __init__(self, feature: str, extra: str) -> None:
        super().__init__(f"{feature} needs packages that are not installed: pip install 'everyclaim[{extra}]'")


@contextmanager
def needed_for(feature: str, extra: str) -> Iterator[None]:
    """Import inside what an extra installs. Raises `MissingExtraError` where it is not there."""
    try:
        yield
    except ImportError:
        raise MissingExtraError(feature, extra) from None


class OperatorError(EveryclaimError):
    """The machine or a service must be fixed."""


class StoreError(OperatorError):
    """The store cannot be opened, read or written."""


class NoStoreError(StoreError):
    """There is no store to read from. Reading creates none."""


class SourceError(OperatorError):
    """A watched source cannot be reached or read; decisions so far are stored."""


class BudgetExceeded(OperatorError):  # noqa: N818  (it is a limit that was asked for, not a fault)
    """A limit on cost, calls or tokens is reached, the user's or the provider's; stops the run.

    `limit` is the user's limit, such as ``max_calls=100``; empty for the provider's.
    """

    def __init__(self, message: str, *, limit: str = "") -> None:
        super().__init__(message)
        self.limit = limit


class JudgeError(EveryclaimError):
    """A judge gave no usable verdict. `code` is short and stable, for counting (`missing_verdict`).

    `retry_after` is in seconds, if the provider sent it; `usage` was charged anyway.
    """

    def __init__(
        self, code: str, message: str, *, retry_after: float | None = None, usage: Usage | None = None
    ) -> None:
        super().__init__(code, message)  # both, so that it can be copied and pickled
        self.code = code
        self.message: str = self.args[1]
        self.retry_after = retry_after
        self.usage = usage

    @classmethod
    def from_reason(cls, reason: str, *, retry_after: float | None = None) -> Self:
        """Make the error that the reason of a failed result tells of."""
        code, _, message = reason.partition(": ")
        return cls(code, message or code, retry_after=retry_after)

    def __str__(self) -> str:
        return f"{self.code}: {self.message}"


class UnreachableError(JudgeError):
    """An endpoint never answered in any attempt, so nothing of a run could be judged."""


class GeneratorError(EveryclaimError):
    """A guard has no answer to return because the generator failed; the generator's error is the cause."""
