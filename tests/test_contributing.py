"""The examples of CONTRIBUTING.md run as they stand there, and pass conformance."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

TEXT = (Path(__file__).resolve().parents[1] / "CONTRIBUTING.md").read_text(encoding="utf-8")
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
