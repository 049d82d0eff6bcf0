"""The samples and the databases of the store's tests serve here too."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "store"))

from real_stores import place, postgres, postgres_server  # noqa: F401 - fixtures
