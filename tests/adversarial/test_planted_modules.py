"""Modules that lie in the working folder are not imported, by us or by a process of ours: only what is on our own path is."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.adversarial.conftest import Environment, command
from tests.cli.conftest import install

PLANTED = (
    "json", "pickle", "struct", "subprocess", "signal", "ctypes", "queue", "select", "fcntl", "tempfile", "multiprocessing", "traceback",
    "numpy", "scipy", "ecos", "cvxpy", "joblib", "cloudpickle", "threadpoolctl", "clarabel", "simopt", "sitecustomize", "runpy", "worker",
)  # fmt: skip
CLAIMS = """
from simopt.claims import AUDIFFREN_KADRI, HOLDS, INEQUALITY, at_most, claim, inputs

for name in ("PLAIN-1", "PLAIN-2"):
    @claim(name, paper=AUDIFFREN_KADRI, place="p", kind=INEQUALITY, expected=HOLDS, says="s", instances=lambda trial: iter([{"x": 1}]),
           knobs={"c": 1}, mutants={"c = 3": {"c": 3}}, exhaustive=True)
    def plain(instance, trial):
        yield at_most(trial["c"] * inputs(x=instance["x"]), 2)
"""
MINE = "import mine; from simopt.processes.worker import Worker; print(Worker(mine.work).call(21))"
FRESH = """
import threading
threading.Thread(target=threading.Event().wait, daemon=True).start()
from simopt.claims.verification import verify
import plain_claims
record = verify(["PLAIN-1", "PLAIN-2"], jobs=2, evidence_dir=None)
raise SystemExit(not record.exit_ok)
"""


@pytest.fixture
def trap(tmp_path: Path) -> Path:
    """A working folder in which every module tells that it was imported."""
    folder = tmp_path / "downloads"
    folder.mkdir()
    for name in PLANTED:
        (folder / f"{name}.py").write_text(f"open({str(tmp_path / 'sprung')!r}, 'a').write({name!r} + ' ')\n")
    rows = "".join(f"{k},{k * k % 7},{k % 5}\n" for k in range(20))
    (folder / "d.csv").write_text("a,b,y\n" + rows)
    (tmp_path / "plain_claims.py").write_text(CLAIMS)
    return folder


def ran(arguments: list[str], trap: Path, environment: Environment) -> None:
    """It does its work, and the trap is not sprung."""
    done = subprocess.run(arguments, cwd=trap, env=environment, capture_output=True, text=True, check=False)
    sprung = trap.parent / "sprung"
    assert not sprung.exists(), sprung.read_text()
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("arguments", [
    ("compare", "kernel-ridge", "--data", "d.csv", "--solvers", "cholesky", "--repetitions", 1),
    pytest.param(("solve", "kernel-ridge", "--data", "d.csv", "--solver", "ecos"),
                 marks=[pytest.mark.slow, pytest.mark.backend("ecos")]),
    pytest.param(("compare", "kernel-ridge", "--data", "d.csv", "--solvers", "ecos", "--repetitions", 1),
                 marks=[pytest.mark.slow, pytest.mark.backend("ecos")]),
])  # fmt: skip
def test_commands(arguments: tuple[object, ...], trap: Path, environment: Environment) -> None:
    ran(command(*arguments), trap, environment)


def test_verify_and_recheck(trap: Path, environment: Environment) -> None:
    install(trap.parent, "plain", "theorems", "plain_claims")
    ran(command("verify", "PLAIN-1", "PLAIN-2", "--jobs", 2), trap, environment)
    ran(command("recheck", "simopt-evidence/PLAIN-1.proof.json"), trap, environment)


@pytest.mark.backend("ecos")
def test_ecos(trap: Path, environment: Environment) -> None:
    body = "from simopt.backends import ecos_process\nwith ecos_process.ready() as process: assert process.alive"
    ran([sys.executable, "-P", "-c", body], trap, environment)


def test_fresh_workers(trap: Path, environment: Environment) -> None:
    ran([sys.executable, "-P", "-c", FRESH], trap, environment)


def test_a_folder_that_is_on_our_path_is_on_that_of_workers(trap: Path, environment: Environment) -> None:
    """A notebook's own modules lie beside it."""
    (trap / "mine.py").write_text("def work(x):\n    return 2 * x\n")
    body = f"import sys; sys.path.insert(0, ''); {MINE}"
    for name in PLANTED:
        (trap / f"{name}.py").unlink()
    done = subprocess.run([sys.executable, "-P", "-c", body], cwd=trap, env=environment, capture_output=True, text=True, check=False)
    assert done.stdout == "42\n", done.stderr


def test_a_folder_with_a_colon_is_no_two_folders(trap: Path, environment: Environment) -> None:
    strange = trap.parent / "a:b"
    strange.mkdir()
    (strange / "mine.py").write_text("def work(x):\n    return 2 * x\n")
    body = f"import sys; sys.path.insert(0, {str(strange)!r}); {MINE}"
    done = subprocess.run([sys.executable, "-P", "-c", body], cwd=trap, env=environment, capture_output=True, text=True, check=False)
    assert done.stdout == "42\n", done.stderr
    assert not (trap.parent / "sprung").exists()


def test_the_trap_works(trap: Path, environment: Environment) -> None:
    subprocess.run([sys.executable, "-c", "import json"], cwd=trap, env=environment, check=True)
    assert (trap.parent / "sprung").read_text() == "json "
