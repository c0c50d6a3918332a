"""The folder of `made_data`."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
