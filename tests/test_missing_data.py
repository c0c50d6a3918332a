"""A test whose data may not be passed on is skipped and counted; one whose data the repository carries fails without them."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = """
import pytest
from simopt.core.errors import MissingDataset, NotAvailable

@pytest.fixture
def fixed():
    raise MissingDataset(["bodyfat"], "data set bodyfat is not here: put it there")

def test_setup(fixed): ...
def test_call(): raise MissingDataset(["ohsumed", "bodyfat"], "data sets ohsumed, bodyfat are not here")
def test_carried(): raise MissingDataset(["yacht"], "data set yacht is not here")
def test_both(): raise MissingDataset(["yacht", "bodyfat"], "data sets yacht, bodyfat are not here")
def test_other(): raise NotAvailable("SIMOPT_DATA=/nowhere: no such folder")
def test_passes(): ...
"""


@pytest.mark.thorough
def test_skips_are_counted_by_data_set_and_carried_sets_are_none_of_them(tmp_path: Path) -> None:
    shutil.copy(Path(__file__).with_name("conftest.py"), tmp_path)
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    (tmp_path / "test_some.py").write_text(TESTS)
    command = [sys.executable, "-c", "import pytest; pytest.main()", "-rs"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120)
    assert "3 failed, 1 passed, 2 skipped" in done.stdout, done.stdout + done.stderr
    assert "bodyfat 2, ohsumed 1\n2 tests;" in done.stdout
    assert "data set bodyfat is not here: put it there" in done.stdout
