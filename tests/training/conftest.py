"""The scripts under test are no package: they are found by their folder."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "training"))
