"""The store as pages use it: opened when it is first needed, and told apart when it is not there yet."""

from __future__ import annotations

from threading import Lock

from everyclaim.store import Store


class Shelf:
    """A store that is only read from, unless it `writes`. It may come into being after the dashboard did."""

    def __init__(self, location: str, *, writes: bool = False) -> None:
        self._location = location
        self._writes = writes
        self._store: Store | None = None
        self._guard = Lock()

    @property
    def store(self) -> Store:
        """The store. Raises `NoStoreError` as long as there is none."""
        with self._guard:
            if self._store is None:
                self._store = Store.open_to_read(self._location)  # which makes none
                if self._writes:
                    self._store.close()
                    self._store = Store.open(self._location)
            return self._store

    def close(self) -> None:
        """Close its connections."""
        with self._guard:
            if self._store is not None:
                self._store.close()
                self._store = None
