"""A small CSV file, and the folder of `made_records`."""

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))  # made_records


@pytest.fixture
def csv(tmp_path: Path) -> Path:
    """Sixty rows of a smooth function of two variables."""
    x = np.random.default_rng(1).normal(size=(60, 2))
    y = np.sin(x[:, 0]) + 0.1 * x[:, 1]
    path = tmp_path / "small.csv"
    np.savetxt(path, np.column_stack([y, x]), delimiter=",", header="y,first,second", comments="")
    return path
