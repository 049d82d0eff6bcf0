"""What is under test is not installed: scripts are found by their folder, packages by the repository's."""

import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "training")]
