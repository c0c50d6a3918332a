"""`simopt certify`, `solve` and `export` with files of problems."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import cvxpy as cp
import pytest
from typer.testing import Result

import simopt

Run = Callable[..., Result]
SMALL = "ROWS\n N c\n G r\nCOLUMNS\n x c 1 r 1\n y c 2 r 1\nRHS\n b r 1\nQUADOBJ\n x x 2\nENDATA\n"  # min x + 2y + x², x + y ≥ 1
SCRIPT = """
import cvxpy as cp
x = cp.Variable(2, name="x")


def one():
    return cp.Problem(cp.Minimize(cp.norm(x - 1)), [x[0] <= 0])


def two():
    return [one(), one()]


known = one()
if __name__ == "__main__":
    one().solve()
"""


@pytest.fixture(autouse=True)
def files(tmp_path: Path) -> None:
    (tmp_path / "small.qps").write_text(SMALL)
    (tmp_path / "script.py").write_text(SCRIPT)
    (tmp_path / "bad.cbf").write_text("VER\n1\nOBJSENSE\nMIDDLE\n")


def test_a_file_is_certified(run: Run) -> None:
    result = run("certify", "small.qps", "--rigorous", "--json")
    assert result.exit_code == 0, result.output
    (only,) = json.loads(result.stdout)["problems"]
    assert only["name"] == "small.qps" and only["sense"] == "min" and only["status"] == "optimal"
    assert only["certificate"]["lower"] <= 1.75 <= only["certificate"]["upper"]
    assert "small.qps" in run("certify", "small.qps").stdout


def test_a_file_is_solved(run: Run) -> None:
    result = run("solve", "small.qps", "--json")
    assert result.exit_code == 0, result.output
    said = json.loads(result.stdout)
    assert said["data"] == "small.qps" and said["status"] == "optimal" and said["format"] == "simopt-solution/1"
    shown = run("solve", "small.qps", "--solver", "clarabel", "--tol", "1e-6")
    assert shown.exit_code == 0 and shown.stdout.startswith("small.qps: 2 variables, 3 rows")


def test_bad_files_and_options_are_one_line(run: Run) -> None:
    for arguments, message in (
        (("certify", "bad.cbf"), "simopt: bad.cbf: line 4, OBJSENSE: 'MIDDLE' is neither MIN nor MAX; one of them is needed"),
        (("solve", "bad.cbf"), "simopt: bad.cbf: line 4, OBJSENSE: 'MIDDLE' is neither MIN nor MAX; one of them is needed"),
        (("certify", "none.mps"), "simopt: none.mps: No such file or directory"),
        (("certify", "small.qps", "--", "a"), "simopt: small.qps: a file takes no arguments, 1 given"),
        (("solve", "small.qps", "--data", "concrete"), "simopt: --data: belongs to problems of the catalogue; small.qps is a file"),
        (("solve", "small.qps", "--solver", "all", "--option", "a=1"), "simopt: --option: options belong to one solver"),
        (("solve", "kernel-ridge"), "simopt: --data: a problem of the catalogue needs one"),
        (("export", "small.qps", "small.lp"), "simopt: small.lp: ends in .lp; .mps, .qps, .cbf are written"),
        (("export", "small.qps", "small.mps"), "simopt: problem: has a quadratic objective, which .mps files do not hold"),
        (("export", "small.qps", "nowhere/small.cbf"), "simopt: nowhere/small.cbf: its folder does not exist"),
        (("export", "small.qps", "a.cbf", "--data", "concrete"), "simopt: --data, --target and --set belong to problems of the catalogue"),
        (("export", "kernel-ridge", "a.qps"), "simopt: --data: a problem of the catalogue needs one"),
        (("export", "script.py:two", "a.cbf"), "simopt: script.py:two: one problem is needed, it has script.py:two[0], script.py:two[1]"),
        (("export", "script.py:one", "a.qps"), "simopt: problem: needs second-order cones, which .qps files do not hold"),
        (("export", "script.py:three", "a.cbf"), "simopt: unknown name in script.py 'three'"),
    ):
        result = run(*arguments)
        assert result.exit_code == 2 and result.stderr.startswith(message) and result.stderr.count("\n") == 1, result.output


@pytest.mark.parametrize("problem", ["small.qps", "script.py", "script.py:one", "script.py:known", "kernel-ridge"])
def test_problems_are_exported(run: Run, problem: str) -> None:
    data = ["--data", "yacht", "--set", "regularization=0.5"] if problem == "kernel-ridge" else []
    result = run("export", problem, "out.cbf.gz" if not data else "out.qps.gz", *data)
    assert result.exit_code == 0 and result.stdout.strip() in ("out.cbf.gz", "out.qps.gz"), result.output
    again = simopt.read(result.stdout.strip())
    assert isinstance(again, cp.Problem) and isinstance(again.objective, cp.Minimize)
    if not data:
        assert again.solve() == pytest.approx(1.75 if problem == "small.qps" else 1.0, abs=1e-6)
