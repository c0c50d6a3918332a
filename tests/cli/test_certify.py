"""`simopt certify`: the problems of a script and those that a function returns, with bounds, reasons and exit statuses."""

import json
import os
import runpy
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import cvxpy as cp
import pytest
from typer.testing import Result

Run = Callable[..., Result]

GOOD = """
import sys
import cvxpy as cp
import numpy as np

print("says", *sys.argv[1:])
w, strength = cp.Variable(3, name="w"), cp.Parameter(nonneg=True, value=1.0)
X, y = np.eye(3), np.array([1.0, 2.0, 3.0])
ridge = cp.Problem(cp.Minimize(cp.sum_squares(X @ w - y) + strength * cp.sum_squares(w)))


def solve(problem):
    problem.solve(solver="CLARABEL")
    return problem.value


for strength.value in (1.0, 3.0):
    print(round(solve(ridge), 6))
print(round(cp.Problem(cp.Maximize(-cp.sum_squares(w - 1))).solve(solver="CLARABEL"), 6))


def made():
    return {"one": cp.Problem(cp.Minimize(cp.sum_squares(w - 2) + cp.sum_squares(w))), "two": cp.Problem(cp.Maximize(-cp.sum_squares(w)))}


def listed():
    solve(ridge)
    return [ridge]


def yielded():
    for problem in listed():
        yield problem


def nothing():
    return 3


known = made()["one"]
"""


@pytest.fixture
def script(tmp_path: Path) -> Callable[..., Path]:
    def write(*endings: str) -> Path:
        path = tmp_path / "script.py"
        path.write_text(GOOD + "\n".join(endings), encoding="utf-8")
        return path

    return write


def parsed(result: Result) -> dict[str, object]:
    return json.loads(result.stdout)


def test_every_problem_of_a_script_has_its_bounds(run: Run, script: Callable[..., Path]) -> None:
    plain = cp.Problem.solve
    script()
    result = run("certify", "script.py", "--json", "--output", "out.json", "--", "a", "b")
    assert result.exit_code == 0, result.output
    said = parsed(result)
    assert json.loads(Path("out.json").read_text(encoding="utf-8")) == said and said["failure"] == ""
    assert result.stderr.splitlines()[:4] == ["says a b", "7.0", "10.5", "-0.0"]
    line = GOOD.splitlines().index('    problem.solve(solver="CLARABEL")') + 1
    assert [each["name"] for each in said["problems"]][:2] == [f"script.py:{line}", f"script.py:{line} (2)"]
    values = [7.0, 10.5, 0.0]  # strength ‖w‖² + ‖w − y‖² is y² strength/(1 + strength) at best
    for each, value, sense in zip(said["problems"], values, ("min", "min", "max"), strict=True):
        bounds = each["certificate"]
        assert bounds["lower"] - 1e-9 <= value <= bounds["upper"] + 1e-9 and bounds["gap"] <= 1e-7
        assert (each["sense"], each["status"], bounds["arithmetic"]) == (sense, "optimal", "float")
    assert cp.Problem.solve is plain


def test_a_table_is_printed_after_what_the_script_says(run: Run, script: Callable[..., Path]) -> None:
    script()
    result = run("certify", "script.py", "--rigorous")
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("says\n7.0\n")
    for part in ("lower", "upper", "gap/scale", "interval", "OPTIMAL", "script.py:", "max"):
        assert part in result.stdout.partition("problem")[2]


@pytest.mark.parametrize(("name", "labels"), [("made", ["[one]", "[two]"]), ("listed", ["[0]"]), ("yielded", ["[0]"]), ("known", [""])])
@pytest.mark.parametrize("home", ["script", "script.py"])
def test_problems_that_a_function_returns(run: Run, script: Callable[..., Path], home: str, name: str, labels: list[str]) -> None:
    script()
    result = run("certify", f"{home}:{name}", "--json", "--rigorous")
    assert result.exit_code == 0, result.output
    assert [each["name"] for each in parsed(result)["problems"]] == [f"{home}:{name}{label}" for label in labels]
    assert all(each["certificate"]["arithmetic"] == "interval" for each in parsed(result)["problems"])


def test_what_has_no_bound_is_named_and_fails_the_run(run: Run, script: Callable[..., Path]) -> None:
    script(
        "try: cp.Problem(cp.Minimize(cp.sqrt(w[0]))).solve()",
        "except cp.DCPError: print('caught')",
        "k = cp.Variable(integer=True, name='k')",
        "cp.Problem(cp.Minimize(k), [k >= 1, cp.FiniteSet(k, [1.0, 2.0])]).solve(solver='HIGHS')",
        "cp.Problem(cp.Minimize(w[0] + w[1] + w[2])).solve(solver='CLARABEL')",
    )
    result = run("certify", "script.py", "--json")
    assert result.exit_code == 1
    assert "caught" in result.stderr
    rows = parsed(result)["problems"]
    assert [each["status"] for each in rows[:3]] == ["optimal"] * 3
    assert "quasiconvex (qcp=True)" in rows[3]["note"] and rows[3]["status"] == "unsupported"
    assert "FiniteSet is not known" in rows[4]["note"] and rows[4]["certificate"] is None
    assert rows[5]["status"] == "unbounded" and "falls without end" in rows[5]["note"]


def test_a_script_sees_nothing_of_it(run: Run, script: Callable[..., Path], monkeypatch: pytest.MonkeyPatch) -> None:
    ending = (
        "v, box = cp.Variable(name='v'), cp.Variable(2, name='box')",
        "late = cp.Problem(cp.Minimize(cp.square(v - 1) + cp.norm1(box - 1)))",
        "try: late.solve(solver='NONE SUCH')",
        "except cp.SolverError: print(v.value, late.status, late.value)",
        "late.solve(solver='SCS', eps_abs=1e-1, eps_rel=1e-1)",
        "print(v.value, box.value, late.value, late.status)",
    )
    monkeypatch.setattr(sys, "argv", ["script.py"])
    with redirect_stdout(StringIO()) as alone:
        runpy.run_path(str(script(*ending)), run_name="__main__")
    result = run("certify", "script.py")
    assert alone.getvalue().startswith("says\n") and "None None None" in alone.getvalue()
    assert result.stdout.startswith(alone.getvalue())


def test_a_script_that_fails_keeps_what_it_has_solved(run: Run, script: Callable[..., Path]) -> None:
    script("def deep(): raise ValueError('seven')", "deep()")
    result = run("certify", "script.py")
    assert result.exit_code == 1 and result.stdout.count("OPTIMAL") == 3
    assert "ValueError: seven" in result.stderr and "in deep" in result.stderr and "interception" not in result.stderr
    script("sys.exit(3)")
    said = run("certify", "script.py", "--json")
    assert said.exit_code == 1 and parsed(said)["failure"] == "ended with status 3" and len(parsed(said)["problems"]) == 3
    script("sys.exit()")
    assert run("certify", "script.py").exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("none.py",), "none.py: No such file or directory"),
        (("script.py:mode",), "unknown name in script.py 'mode'; did you mean 'made'?"),
        (("nowhere.at_all:made",), "nowhere.at_all: there is no module of this name"),
        (("script.py", "--solver", "klarabel"), "unknown solver 'klarabel'; did you mean 'clarabel'?"),
        (("script.py", "--tol", "2"), "--tol: must be a positive number below 1"),
        (("empty.py",), "empty.py: no cvxpy.Problem was solved"),
    ],
)
def test_bad_input_is_one_line(run: Run, script: Callable[..., Path], arguments: tuple[str, ...], message: str) -> None:
    script().with_name("empty.py").write_text("x = 1\n", encoding="utf-8")
    result = run("certify", *arguments)
    assert result.exit_code == 2 and message in result.stderr and "Traceback" not in result.stderr


def test_what_is_no_problem_is_named(run: Run, script: Callable[..., Path]) -> None:
    script()
    result = run("certify", "script.py:nothing")
    assert result.exit_code == 2 and "script.py:nothing: int found, a cvxpy.Problem" in result.stderr


@pytest.mark.slow
def test_ctrl_c_keeps_what_is_done(start: Callable[..., "subprocess.Popen[str]"], tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "begun")
    (tmp_path / "script.py").write_text(GOOD + "\nimport time\nopen('begun', 'w').close()\ntime.sleep(60)\n", encoding="utf-8")
    process = start("certify", "script.py", "--json")
    (tmp_path / "begun").read_text(encoding="utf-8")
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=300)
    assert process.returncode == 130 and len(json.loads(output)["problems"]) == 3
