"""Modules beside the tests, and the parts of the corpus as they are for `python tests/duality/corpus`."""

import sys
from pathlib import Path

sys.path += [str(Path(__file__).parent), str(Path(__file__).parent / "corpus")]
