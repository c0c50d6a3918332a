"""The examples of CONTRIBUTING.md run as they stand there, and pass conformance."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
BLOCKS = {match[1]: match[2] for match in re.finditer(r"```python\n# (\w+)\.py\n(.*?)```", TEXT, re.S)}
DRIVE = """
import my_problem, my_solver, my_claims
import numpy as np, simopt
from simopt.conformance import conformance
from simopt.claims import run

report = conformance(["linear-ridge"])
print(report)
problem = my_problem.LinearRidge(np.eye(3), np.ones(3))
print("default:", simopt.solve(problem).provenance.solver, simopt.solve(problem).status.value)
print("claim:", run("MY-norm", mutants=True).ok)
print("conforms:", report.ok)
"""


@pytest.mark.thorough
def test_the_examples_solve_and_hold_and_conform(tmp_path: Path) -> None:
    assert set(BLOCKS) == {"my_problem", "my_solver", "my_claims"}
    for name, code in BLOCKS.items():
        (tmp_path / f"{name}.py").write_text(code, encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    command = [sys.executable, "-c", DRIVE]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    for said in ("conforms: True", "default: gradient optimal", "claim: True"):
        assert said in done.stdout, done.stdout


CONTENT = ("problems", "solvers", "theorems", "estimators")
OF_EVERY_PROBLEM = (
    *("problems/test_every_problem.py", "problems/test_declared_duals.py", "duality/test_second_judge.py", "duality/test_dimensions.py"),
    *("test_pages.py", "test_tree.py", "frame/test_sources.py"),
)


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_the_problem_is_one_of_ours_where_the_repository_finds_it(tmp_path: Path) -> None:
    """In problems/ of a copy of the tree: what is asked of every problem is asked of this one, and no list of problems lacks it."""
    tree, installed = tmp_path / "tree", tmp_path / "installed" / "simopt"
    shutil.copytree(ROOT, tree, ignore=shutil.ignore_patterns(".*", "build", "__pycache__", "*.egg-info"))
    (tree / "problems" / "linear_ridge.py").write_text(BLOCKS["my_problem"], encoding="utf-8")
    installed.mkdir(parents=True)
    for part in (*(tree / "simopt").iterdir(), *(tree / name for name in CONTENT)):
        (installed / part.name).symlink_to(part)
    tests = [str(Path("tests", name)) for name in OF_EVERY_PROBLEM]
    quick = ["-m", "not slow and not thorough", "-p", "no:cacheprovider", "--junitxml", str(tmp_path / "report.xml")]
    environment = {**os.environ, "PYTHONPATH": str(installed.parent)}
    command = [sys.executable, "-P", "-m", "pytest", "-q", *quick, *tests]
    done = subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert (tmp_path / "report.xml").read_text(encoding="utf-8").count("linear-ridge") > len(OF_EVERY_PROBLEM)
