"""An empty place and an open store, of each kind."""

from real_stores import place, postgres, postgres_server, store  # noqa: F401 - fixtures
