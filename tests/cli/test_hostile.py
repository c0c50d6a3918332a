"""What plug-ins, files and impatient people may do to the command line."""

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

from tests.cli.conftest import install

pytestmark = pytest.mark.thorough
Run = Callable[..., Result]
Start = Callable[..., "subprocess.Popen[str]"]

NOISY = """
import os, sys, warnings
print("printed while importing")
from simopt.claims import AUDIFFREN_KADRI, HOLDS, COUNTEREXAMPLE, at_most, claim

@claim("NOISY-1", paper=AUDIFFREN_KADRI, place="p", kind=COUNTEREXAMPLE, expected=HOLDS, says="s",
       instances=lambda trial: iter([{"x": 1.0}, {"x": float("inf")}]), no_mutant="a counterexample")
def noisy(instance, trial):
    print("printed while checking")
    os.write(1, b"written by a library in C\\n")
    warnings.warn("a warning")
    yield at_most(0.0, instance["x"])
"""


@pytest.mark.parametrize("arguments", [("verify", "NOISY-1", "--jobs", 1), ("verify", "NOISY-1", "--jobs", 2), ("list", "theorems")])
def test_json_is_alone_on_standard_output_whatever_others_print(start: Start, tmp_path: Path, arguments: tuple[object, ...]) -> None:
    folder = tmp_path / "noise"
    install(folder, "noisy", "theorems", "noisy_plugin")
    (folder / "noisy_plugin.py").write_text(NOISY)
    process = start(*arguments, "--json", path=folder)
    out, err = process.communicate(timeout=300)
    assert process.returncode == 0, err

    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is not JSON")

    assert any(row["id"] == "NOISY-1" for row in json.loads(out, parse_constant=refuse))
    assert "printed while importing" in err


def test_interrupt_from_the_keyboard_reaches_the_workers_too_and_leaves_no_noise(start: Start, plugins: Path, begun: Path) -> None:
    process = start("verify", "PP-slow", "PP-proved", "PP-refuted", "PP-missing", "--jobs", 2, "--json", path=plugins, group=True)
    assert process.stderr is not None
    lines = [process.stderr.readline() for _ in range(3)]
    assert begun.read_text() == "begun"
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does it
    out, err = process.communicate(timeout=300)
    assert process.returncode == 130 and all(line.startswith("[") for line in lines)
    assert len(json.loads(out)) == 3 and "Warning" not in err and "Traceback" not in err
    with pytest.raises(ProcessLookupError):
        for _ in range(50):
            os.killpg(process.pid, 0)
            time.sleep(0.1)


def test_an_evidence_folder_that_is_a_file_is_named(run: Run, tmp_path: Path, pretend: None) -> None:
    (tmp_path / "taken").write_text("")
    result = run("verify", "PP-proved", "--jobs", 1, "--evidence", "taken")
    assert result.exit_code == 2 and result.stderr == "simopt: taken: is a file, a folder is needed\n"


def test_a_folder_called_like_a_table_and_numbers_with_underscores_are_named(run: Run, tmp_path: Path) -> None:
    (tmp_path / "folder.csv").mkdir()
    result = run("solve", "kernel-ridge", "--data", "folder.csv")
    assert result.exit_code == 2 and "folder.csv: is a folder" in result.stderr
    (tmp_path / "under.csv").write_text("a,b,y\n1_000,2,3\n1,2,4\n")
    result = run("solve", "kernel-ridge", "--data", "under.csv")
    assert result.exit_code == 2 and "line 2, column 1 (a) holds '1_000', not a number" in result.stderr


def test_a_field_that_is_also_an_option_of_the_recipe_is_listed_once(run: Run, tmp_path: Path) -> None:
    (tmp_path / "small.csv").write_text("a,y\n1,2\n2,1\n")
    result = run("solve", "m-power-rls", "--data", "small.csv", "--set", "q=1")
    assert result.exit_code == 2 and result.stderr.count("power") == 2  # the name of the problem, and the field
