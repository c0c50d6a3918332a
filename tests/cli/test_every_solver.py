"""`--solver all` of solve and certify: a row a solver for problems of every kind, and below who cannot take them."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

import simopt
from simopt.backends.table import ECOS, listed, usable
from simopt.cli.every_solver import by_reason, solvers_for
from simopt.compare.own_problems import problems_of

Run = Callable[..., Result]
OWN = """
import cvxpy as cp
import numpy as np

def portfolio(n=6):
    rng, w = np.random.default_rng(0), cp.Variable(n, name="w")
    return cp.Problem(cp.Maximize(rng.uniform(size=n) @ w - cp.sum_squares(w)), [cp.sum(w) == 1, w >= 0])

X = cp.Variable((2, 2), PSD=True)
MATRIX = cp.Problem(cp.Minimize(cp.trace(X)), [X[0, 1] >= 1])
B = cp.Variable(5, boolean=True)
KNAPSACK = cp.Problem(cp.Maximize(np.array([5.0, 4, 3, 2, 1]) @ B), [np.array([4, 3, 2.5, 2, 1]) @ B <= 6])
G = cp.Variable(2, pos=True)
MONOMIALS = cp.Problem(cp.Minimize(G[0] + 2 * G[1]), [G[0] * G[1] >= 10])
Z = cp.Variable(2, complex=True)
COMPLEX = cp.Problem(cp.Minimize(cp.norm(Z - (1 + 2j))), [cp.real(cp.sum(Z)) == 1])
OPEN = cp.Problem(cp.Minimize(cp.sqrt(G[0])))
"""


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own.py").write_text(OWN)
    return tmp_path / "own.py"


def parsed(result: Result) -> Any:
    return json.loads(result.stdout)


def test_who_can_take_which_kind(own: Path) -> None:
    def taken(name: str) -> tuple[set[str], dict[str, str]]:
        (made,) = problems_of(f"own.py:{name}")
        names, refused, _ = solvers_for(made)
        assert {*names, *refused} == {backend.name for backend in usable()}
        return set(names), refused

    everywhere, refused = taken("portfolio")
    assert {"clarabel", "ecos", "scs"} & {backend.name for backend in usable()} <= everywhere and refused[
        "scipy"
    ] == "it takes no quadratic objective"
    assert "clarabel" in taken("MATRIX")[0] and taken("MATRIX")[1]["osqp"].startswith("it takes no")
    if ECOS.missing is None:
        assert taken("MATRIX")[1]["ecos"] == "it takes no semidefinite cones"
    assert "highs" in taken("KNAPSACK")[0] and taken("KNAPSACK")[1]["clarabel"] == "it takes no integers"
    assert taken("MONOMIALS")[1]["highs"] == "it takes no exponential cones" and "clarabel" in taken("COMPLEX")[0]


def test_names_that_share_a_reason_share_a_line() -> None:
    assert by_reason({"a": "x", "b": "y", "c": "x"}) == ["a, c: x", "b: y"]


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("name", "optimum"), [("portfolio", None), ("MATRIX", 2.0), ("MONOMIALS", 80**0.5), ("COMPLEX", 0.5**0.5), ("KNAPSACK", 7.0)]
)
def test_solve_has_a_row_for_every_solver(name: str, optimum: float | None, own: Path, run: Run) -> None:
    result = run("solve", f"own.py:{name}", "--solver", "all", "--tol", "1e-5", "--json")
    found = parsed(result)
    assert result.exit_code == (1 if name == "KNAPSACK" else 0), result.stderr  # its relaxation has another optimum
    assert {s["solver"] for s in found["solutions"]} | set(found["unsuitable"]) == {backend.name for backend in usable()}
    assert found["overlap"] and found["problem"] == f"own.py:{name}"
    bounds = [s["certificate"] for s in found["solutions"] if s["certificate"]]
    assert optimum is None or all(c["lower"] - 1e-6 <= optimum <= c["upper"] + 1e-6 for c in bounds)


@pytest.mark.thorough
def test_solve_on_several_problems_prints_a_table_each(own: Path, run: Run) -> None:
    result = run("solve", "own.py:portfolio(n=[4, 5])", "--solver", "all", "--tol", "1e-5")
    assert result.exit_code == 0 and "own.py:portfolio, n = 4: 4 variables, 5 rows" in result.stdout
    assert result.stdout.count("all brackets overlap") == 2 and "not suitable: scipy" in result.stdout
    one = run("solve", "own.py:portfolio", "--tol", "1e-5")
    assert one.exit_code == 0 and "clarabel" in one.stdout and "scs" not in one.stdout


@pytest.mark.thorough
def test_files_and_folders(own: Path, run: Run) -> None:
    import cvxpy as cp

    Path("lp").mkdir()
    x = cp.Variable(2, name="x")
    for number in (1, 2):
        simopt.write(cp.Problem(cp.Minimize(cp.sum(x)), [x >= number]), f"lp/{number}.mps")
    found = parsed(run("solve", "lp", "--solver", "all", "--tol", "1e-5", "--json"))
    assert [each["problem"] for each in found["problems"]] == ["1.mps", "2.mps"] and found["format"] == "simopt-solutions/1"
    certified = parsed(run("certify", "lp/*.mps", "--tol", "1e-5", "--json"))
    assert [(each["name"], each["certificate"]["lower"]) for each in certified["problems"]] == [("1.mps", 2.0), ("2.mps", 4.0)]


@pytest.mark.thorough
def test_certify_by_every_solver(own: Path, run: Run) -> None:
    result = run("certify", "own.py:MATRIX", "--solver", "all", "--tol", "1e-5", "--json")
    found = parsed(result)
    solvers = [each["solver"] for each in found["problems"]]
    assert "clarabel" in solvers and "scs" in solvers and found["unsuitable"]["own.py:MATRIX"]["highs"] == "it takes no semidefinite cones"
    assert all(each["certificate"]["lower"] <= 2.0 + 1e-6 for each in found["problems"] if each["certificate"])
    said = run("certify", "own.py:MATRIX", "--solver", "all", "--tol", "1e-5")
    assert "not suitable for own.py:MATRIX: " in said.stdout and "it takes no semidefinite cones" in said.stdout


@pytest.mark.thorough
def test_the_values_of_a_script_stand_beside_every_solver(own: Path, run: Run) -> None:
    Path("script.py").write_text(f"{OWN}\nproblem = portfolio()\nproblem.solve(solver='SCS')\nprint(problem.status)\n")
    result = run("certify", "script.py", "--solver", "all", "--tol", "1e-5", "--json")
    solvers = [each["solver"] for each in parsed(result)["problems"]]
    assert solvers[0] == "" and "clarabel" in solvers and result.exit_code in (0, 1)


@pytest.mark.thorough
def test_certify_takes_what_compare_takes(own: Path, run: Run) -> None:
    swept = parsed(run("certify", "own.py:portfolio(n=[4, 5])", "--tol", "1e-5", "--json"))
    assert [each["name"] for each in swept["problems"]] == ["own.py:portfolio(n=4)", "own.py:portfolio(n=5)"]
    whole = parsed(run("certify", "own.py:KNAPSACK", "--json"))["problems"][0]
    assert (whole["certificate"]["lower"], whole["certificate"]["upper"]) == pytest.approx((7.0, 7.75))
    known = parsed(run("certify", "landmarked-ridge", "--json"))["problems"][0]
    assert known["name"] == "landmarked-ridge" and known["status"] == "optimal"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("solve", "own.py:MATRIX", "--data", "concrete"), "--data: belongs to problems of the catalogue; own.py:MATRIX is your own"),
        (("solve", "own.py:MATRIX", "--solver", "all", "--option", "a=1"), "--option: options belong to one solver"),
        (("solve", "own.py:MATRI"), "did you mean 'MATRIX'?"),
        (("solve", "own.py:MATRIX", "--solver", "clarabell"), "did you mean 'clarabel'?"),
        (("certify", "landmarked-svm"), "did you mean 'landmarked-svr'"),
        (("certify", "own.py:MATRI"), "'MATRI'"),
        (("certify", "nowhere/*.mps"), "no such file"),
    ],
)
def test_bad_input_is_one_line(own: Path, run: Run, arguments: tuple[str, ...], message: str) -> None:
    result = run(*arguments)
    assert result.exit_code == 2 and message in result.stderr and len(result.stderr.strip().splitlines()) == 1


@pytest.mark.parametrize("name", ["clarabel", "qoco", "sdpa"])
def test_every_known_back_end_is_shown_with_its_own_tolerance(name: str, run: Run) -> None:
    shown = run("show", name)
    (backend,) = [each for each in listed() if each.name == name]
    assert shown.exit_code == 0 and f"its own      {backend.documented:g}" in shown.stdout and backend.to_install in shown.stdout
