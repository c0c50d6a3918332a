"""The parts of the program are modules beside each other, as they are for `python tests/mutants`."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parent))
