"""Problems of one's own in a comparison: by file, by module and by Python; what is refused is one line."""

import json
import math
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from made_records import point, record
from typer.testing import Result

import simopt
from simopt.backends.table import usable
from simopt.compare import own_problems, plan, plots
from simopt.compare.comparison import measure
from simopt.compare.own_problems import OwnProblem
from simopt.core.errors import InvalidProblem, UnknownName
from simopt.processes.worker import pickled

pytest.importorskip("pyarrow", reason="tables in Parquet need pyarrow")
pytest.importorskip("pandas", reason="tables of a comparison need pandas")

Run = Callable[..., Result]
OWN = """
import cvxpy as cp
import numpy as np
from beside import SCALE

def portfolio(n=12, seed=0):
    rng = np.random.default_rng(seed)
    mu, F = rng.uniform(0, SCALE, n), rng.normal(size=(n // 4, n))
    w = cp.Variable(n)
    return cp.Problem(cp.Maximize(mu @ w - cp.sum_squares(F @ w) / 4 - cp.sum_squares(w) / 2), [cp.sum(w) == 1, w >= 0])

def several():
    for total in (1, 2):
        x = cp.Variable(3)
        yield f"sum {total}", cp.Problem(cp.Minimize(cp.sum(cp.exp(x))), [cp.sum(x) == total])

def broken(n):
    raise ArithmeticError("no such n")

X = cp.Variable((2, 2), PSD=True)
MATRIX = cp.Problem(cp.Minimize(cp.trace(X)), [X[0, 1] >= 1])
WHOLE = cp.Problem(cp.Minimize(cp.sum(cp.Variable(2, integer=True))))
NUMBER = 7
"""


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A file of problems that imports another one beside it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    (tmp_path / "beside.py").write_text("SCALE = 0.3\n")
    (tmp_path / "own.py").write_text(OWN)
    yield tmp_path / "own.py"
    sys.modules.pop("beside", None)


def portfolio(n: int = 12, shift: float = 0.0) -> cp.Problem:
    rng = np.random.default_rng(0)
    mu, w = rng.uniform(shift, 0.3 + shift, n), cp.Variable(n)
    return cp.Problem(cp.Maximize(mu @ w - cp.sum_squares(w) / 2), [cp.sum(w) == 1, w >= 0])


def test_problems_in_python_on_all_back_ends_that_can_take_them() -> None:
    x = cp.Variable(2)
    made = simopt.compare_solvers(
        {"quadratic": portfolio(), "exponential": cp.Problem(cp.Minimize(cp.sum(cp.exp(x) - x)))}, repetitions=1, tol=1e-6
    )
    solved = {(r.cell.problem, r.cell.solver) for r in made.records if r.success}
    left_out = {(problem, name) for problem, name, _ in made.unsuitable}
    assert {*solved, *left_out} == {(problem, b.name) for problem in ("quadratic", "exponential") for b in usable()}
    assert ("exponential", "clarabel") in solved and ("quadratic", "scs") in solved
    reasons = {(problem, name): reason for problem, name, reason in made.unsuitable}
    assert reasons["quadratic", "scipy"] == "it takes no quadratic objective"
    assert reasons["exponential", "highs"] == "it takes no exponential cones"
    assert "## Not suitable" in made.text() and "highs: it takes no exponential cones" in made.text()
    assert made.frame()["problem"].isin(["quadratic", "exponential"]).all()
    assert str(made) == made.text() and repr(made).startswith(f"<{len(made.records)} runs: ") and len(repr(made)) < 300


SCRIPT = """
import sys
import cvxpy as cp
x, least = cp.Variable(), cp.Parameter()
problem = cp.Problem(cp.Minimize(cp.square(x)), [x >= least])
for least.value in map(float, sys.argv[1:]):
    problem.solve(solver="OSQP")
"""


def test_what_a_script_solves_is_taken_as_it_is_then(run: Run) -> None:
    Path("script.py").write_text(SCRIPT)
    made = list(own_problems.problems_of("script.py", ["1", "3"]))
    assert [each.name for each in made] == ["script.py:7", "script.py:7 (2)"]
    assert [each.problem.solve(solver="CLARABEL") for each in made] == pytest.approx([1.0, 9.0], rel=1e-6)
    assert sys.argv[1:] != ["1", "3"], "as before"
    with pytest.raises(
        InvalidProblem, match=r"^script.py: no cvxpy.Problem was solved; name one in it: script.py:NAME; it defines problem$"
    ):
        list(own_problems.problems_of("script.py"))
    with pytest.raises(InvalidProblem, match=r"^script.py: it has failed: ValueError: .* \(script.py, line 6\)$"):
        list(own_problems.problems_of("script.py", ["one"]))
    compared = run("compare", "script.py", "--solvers", "scs", "--repetitions", "1", "--tol", "1e-5", "--", "1", "3")
    assert compared.exit_code == 0 and "2 of 2 runs" in compared.stdout and "script.py:7 (2)" in compared.stdout, compared.output
    told = run("solve", "script.py", "--solver", "scs", "--tol", "1e-5", "--json", "--", "2")
    assert told.exit_code == 0 and abs(json.loads(told.stdout)["solutions"][0]["certificate"]["upper"] - 4.0) < 1e-3, told.output
    assert run("export", "script.py", "out.qps", "--", "3").exit_code == 0
    assert simopt.read("out.qps").solve(solver="CLARABEL") == pytest.approx(9.0, rel=1e-6)
    for command in (("compare", "landmarked-svr"), ("solve", "out.qps"), ("export", "out.qps", "again.qps"), ("compare",)):
        refused = run(*command, "--", "3")
        assert refused.exit_code == 2 and "arguments behind --: they are a script's, and" in refused.stderr


def test_bounds_of_all_solvers_enclose_one_optimum() -> None:
    problem = portfolio()
    made = simopt.compare_solvers(problem, ["clarabel", "scs"], repetitions=1, tol=1e-6)
    optimum = -float(problem.solve(solver="CLARABEL"))  # of the minimum
    assert all(r.lower - 1e-6 <= optimum <= r.upper + 1e-6 for r in made.records) and len(made.records) == 2


def test_a_parameter_without_a_value_is_one_line_before_any_run() -> None:
    x, p = cp.Variable(), cp.Parameter(name="p")
    with pytest.raises(InvalidProblem, match=r"mine: parameter p: it has no value; set parameter\.value first"):
        simopt.compare_solvers({"mine": cp.Problem(cp.Minimize(x), [x >= p])}, ["clarabel"], repetitions=1)


def test_an_argument_that_there_is_not_is_named() -> None:
    with pytest.raises(UnknownName, match=r"repetitons.*repetitions"):
        simopt.compare_solvers({"mine": portfolio()}, ["clarabel"], repetitons=1)


def test_a_comparison_is_written_to_a_new_folder(tmp_path: Path) -> None:
    made = simopt.compare_solvers({"mine": portfolio()}, ["clarabel"], repetitions=1, tol=1e-6)
    made.write(tmp_path / "new" / "one")
    assert (tmp_path / "new" / "one" / "comparison.json").exists()


def test_gaps_of_an_unbounded_problem_are_drawn_as_nothing(tmp_path: Path) -> None:
    run = replace(record("piqp", None), points=({**point(1.0, math.inf), "upper": -2e15, "lower": -math.inf},))
    drawn = plots.draw([run], tmp_path)
    assert drawn and all(path.stat().st_size > 1000 for path in drawn)


def test_a_problem_of_cvxpy_is_measured_as_one_of_simopt() -> None:
    made = measure(portfolio(), ["clarabel"], repetitions=1, tol=1e-6)
    assert [r.success for r in made.records] == [True]


def test_problems_and_names_of_the_catalogue_stand_beside_each_other(own: Path) -> None:
    made = plan.make_all(["own.py:portfolio(n=[8, 12], seed=1)", "own.py:several", "landmarked-ridge", portfolio()], None, sizes=[20])
    words = [instance.cell.instance for instance in made.instances]
    assert words[:2] == ["own.py:portfolio, n = 8, seed = 1", "own.py:portfolio, n = 12, seed = 1"]
    assert words[2:4] == ["own.py:several[sum 1]", "own.py:several[sum 2]"]
    assert words[4:] == ["landmarked-ridge, generated, n = 20", "problem 4"]
    assert len({instance.cell.fingerprint for instance in made.instances}) == 6
    for argument in ("sizes", "seeds"):
        with pytest.raises(InvalidProblem, match="sizes, data, settings and seeds have no meaning"):
            plan.make_all(["own.py:several"], None, **{argument: [20]})


def test_a_problem_survives_the_way_to_a_process_of_other_numbers() -> None:
    """Pickle keeps the numbers that CVXPY has given; a new process would give them again."""
    found = OwnProblem.of("p", portfolio())
    code = """
import pickle, sys
task = pickle.loads(sys.stdin.buffer.read())
declared = task.read()
import cvxpy as cp
assert cp.Variable().id > max(v.id for v in declared.programme.problem.variables())
print(task.fingerprint())
"""
    done = subprocess.run([sys.executable, "-c", code], input=pickled(found), capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    assert done.stdout.decode().strip() == found.fingerprint()


def test_fingerprints_tell_numbers_and_attributes_apart_but_not_names_by_number() -> None:
    def of(problem: cp.Problem) -> str:
        return OwnProblem.of("p", problem).fingerprint()

    def least(**attributes: Any) -> cp.Problem:
        return cp.Problem(cp.Minimize(cp.sum_squares(cp.Variable(3, **attributes) - 1)))

    assert of(portfolio()) == of(portfolio()) != of(portfolio(shift=1e-9))
    assert len({of(least()), of(least(nonneg=True)), of(least(bounds=[0, 1])), of(least(bounds=[0, 2]))}) == 4


@pytest.mark.parametrize(
    ("what", "message"),
    [
        ("nothere.py:x", "nothere.py: no such file"),
        ("nothere.qps", "nothere.qps: no such file"),
        ("own.py", "no cvxpy.Problem was solved; name one in it: own.py:NAME"),
        ("own.py:portfoli", "did you mean 'portfolio'?"),
        ("own.py:NUMBER", "own.py:NUMBER: int found, a cvxpy.Problem, or a function"),
        ("own.py:broken", "missing a required argument: 'n'; it takes (n)"),
        ("own.py:broken(n=1)", "own.py:broken(n=1): ArithmeticError: no such n"),
        ("own.py:portfolio(m=3)", "unexpected keyword argument 'm'"),
        ("own.py:portfolio(n=NUMBER)", "NUMBER given, a literal needed"),
        ("own.py:portfolio(n=[])", "n=[] sweeps nothing"),
        ("own.py:portfolio(n=", "FILE.py:NAME(n=100) needed"),
        ("own.py:MATRIX(n=3)", "takes no arguments; give own.py:MATRIX"),
        ("nomodule:x", "nomodule: there is no module of this name"),
        ("landmarked-svm", "did you mean 'landmarked-svr'"),
    ],
)
def test_what_is_no_problem_is_one_line(what: str, message: str, own: Path, run: Run) -> None:
    result = run("compare", what)
    assert result.exit_code == 2 and result.stderr.startswith("simopt: ") and message in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1


def test_a_file_that_cannot_be_imported_says_why(own: Path) -> None:
    own.write_text("import no_such_package\n")
    with pytest.raises(InvalidProblem, match="No module named 'no_such_package'"):
        list(own_problems.problems_of("own.py:x"))
    own.write_text("x = \n")
    with pytest.raises(InvalidProblem, match="own.py: it cannot be imported: SyntaxError"):
        list(own_problems.problems_of("own.py:x"))


def test_files_folders_and_patterns_stand_for_the_problems_in_them(own: Path) -> None:
    folder = Path("files")
    folder.mkdir()
    for name, least in (("b.qps", 1.0), ("a.cbf", 2.0)):
        x = cp.Variable(2, name="x")
        simopt.write(cp.Problem(cp.Minimize(cp.sum(x)), [x >= least]), folder / name)
    (folder / "readme.txt").write_text("no problem")
    for what, names in (("files", ["a.cbf", "b.qps"]), ("files/*.qps", ["b.qps"]), ("files/a.cbf", ["a.cbf"])):
        made = plan.make_all([what], ["clarabel"])
        assert [instance.cell.instance for instance in made.instances] == names
    for what, message in (
        ("files/*.mps", "no such file"),
        ("files/readme.txt", ".mps, .qps, .lp, .cbf are read"),
        ("files/c.qps", "no such file"),
        (".", "no files in it"),
    ):
        with pytest.raises(InvalidProblem, match=message):
            list(own_problems.problems_of(what))
    (folder / "b.qps").write_text("ROWS\n N")
    with pytest.raises(InvalidProblem, match="b.qps: line 2"):
        list(own_problems.problems_of("files"))


def test_modules_by_name(own: Path) -> None:
    (Path.cwd() / "problems_of_mine.py").write_text(OWN)
    try:
        with pytest.raises(UnknownName, match="'portfolio'"):
            list(own_problems.problems_of("problems_of_mine:portfolo"))
        made = simopt.compare_solvers("problems_of_mine:portfolio", ["clarabel"], repetitions=1, tol=1e-6)
    finally:
        sys.modules.pop("problems_of_mine", None)
    assert [(r.cell.problem, r.success) for r in made.records] == [("problems_of_mine:portfolio", True)]


@pytest.mark.thorough
def test_the_command_resumes_on_an_own_problem(own: Path, run: Run) -> None:
    arguments = (
        "compare",
        "own.py:portfolio(n=[8,12])",
        "own.py:MATRIX",
        "--solvers",
        "clarabel,scs",
        "--repetitions",
        "1",
        "--tol",
        "1e-6",
    )
    first = run(*arguments)
    assert first.exit_code == 0, first.output
    assert "6 runs, complete" in first.stdout and "own.py:portfolio, n = 12" in first.stdout
    again = run(*arguments, "--json")
    assert json.loads(again.stdout)["runs"] == 6 and "[1/" not in again.stderr
    own.write_text(OWN.replace("/ 4 -", "/ 5 -"))
    changed = run(*arguments)
    assert "[4/4]" in changed.stderr and "6 runs, complete" in changed.stdout, "the matrix is as it was"
    assert "4 more runs in the folder, on 2 instances" in changed.stdout, "the portfolios as they were"


@pytest.mark.slow  # two commands
@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_a_command_on_an_own_problem_is_killed_and_resumed(own: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "simopt",
        "compare",
        "own.py:portfolio(n=[8,12,16])",
        "--solvers",
        "clarabel,scs",
        "--repetitions",
        "1",
    ]
    pipe = subprocess.PIPE
    first = subprocess.Popen([*command, "--report", "out"], stdout=pipe, stderr=pipe, text=True, start_new_session=True)
    runs = Path("out") / "runs"
    while len(list(runs.glob("*.json"))) < 2 and first.poll() is None:
        time.sleep(0.01)
    first.send_signal(signal.SIGKILL)
    first.communicate(timeout=600)
    kept = {path: path.read_bytes() for path in runs.glob("*.json")}
    assert 2 <= len(kept) < 6
    second = subprocess.run([*command, "--report", "out"], capture_output=True, text=True, check=False)
    assert second.returncode == 0 and f"[1/{6 - len(kept)}]" in second.stderr and "6 runs, complete" in second.stdout
    assert all(path.read_bytes() == content for path, content in kept.items())
