"""Modules beside the tests, and the parts of corpus and exact as they are for `python tests/duality/corpus` and `… exact`."""

import sys
from pathlib import Path

sys.path += [str(Path(__file__).parent), str(Path(__file__).parent / "corpus"), str(Path(__file__).parent / "exact")]
