"""The toy problem is a module beside the tests; subprocesses of the tests import it too."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parent))
