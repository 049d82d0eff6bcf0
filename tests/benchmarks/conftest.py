"""The scripts under test are no package: they are found by their folders."""

import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / folder) for folder in ("benchmarks/accuracy", "benchmarks", "training")]
