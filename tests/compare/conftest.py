"""A small CSV file, the command line in a folder of its own, and the folder of `made_records`."""

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner, Result

sys.path.insert(0, str(Path(__file__).parent))  # made_records


@pytest.fixture
def csv(tmp_path: Path) -> Path:
    """Sixty rows of a smooth function of two variables."""
    x = np.random.default_rng(1).normal(size=(60, 2))
    y = np.sin(x[:, 0]) + 0.1 * x[:, 1]
    path = tmp_path / "small.csv"
    np.savetxt(path, np.column_stack([y, x]), delimiter=",", header="y,first,second", comments="")
    return path


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    """`run("compare", …)` in an empty folder, with a wide screen so that no cell is folded."""
    from simopt.cli.main import app

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "250")
    return lambda *arguments: CliRunner().invoke(app, [str(argument) for argument in arguments])
