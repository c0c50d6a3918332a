"""The parts of the corpus are modules beside each other, as they are for `python tests/duality/corpus`."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parent / "corpus"))
