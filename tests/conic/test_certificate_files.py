"""Certificate files: bounds of linear, quadratic, second-order and semidefinite problems that a program without simopt proves."""

from __future__ import annotations

import json
import math
import shutil
import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from typer.testing import CliRunner

import simopt
from simopt import recheck, recheck_certificate
from simopt.cli.main import app
from simopt.conic import file
from simopt.conic.exact_solution import exact_solution, rational
from simopt.conic.file import number
from simopt.core.errors import InvalidProblem, Unreadable
from simopt.problems.kernel_ridge import KernelRidge

rng = np.random.default_rng(0)


def linear() -> cp.Problem:
    """A vertex."""
    A, x = rng.normal(size=(5, 8)), cp.Variable(8, nonneg=True, name="x")
    return cp.Problem(cp.Minimize(rng.random(8) @ x), [A @ x == A @ rng.random(8), x <= 3])


def maximum() -> cp.Problem:
    """A maximum, with an offset."""
    x = cp.Variable(12, nonneg=True, name="x")
    return cp.Problem(cp.Maximize(rng.random(12) @ x + 3), [rng.random((8, 12)) @ x <= 1])


def quadratic() -> cp.Problem:
    """A dense matrix."""
    F, x = rng.normal(size=(10, 10)), cp.Variable(10, nonneg=True, name="x")
    return cp.Problem(cp.Minimize(cp.quad_form(x, F @ F.T) - rng.random(10) @ x), [cp.sum(x) == 1])


def singular() -> cp.Problem:
    """A matrix that is semidefinite to rounding only: squares become cones."""
    F, x = rng.normal(size=(6, 2)), cp.Variable(6, nonneg=True, name="x")
    return cp.Problem(cp.Minimize(cp.quad_form(x, cp.psd_wrap(F @ F.T)) - rng.random(6) @ x), [cp.sum(x) == 1])


def lasso() -> cp.Problem:
    """Free variables, squares, and linear rows."""
    X, w = rng.normal(size=(20, 4)), cp.Variable(4, name="w")
    return cp.Problem(cp.Minimize(cp.sum_squares(X @ w - rng.normal(size=20)) + cp.norm1(w)))


def second_order() -> cp.Problem:
    """Two norms, and a bound that is tight."""
    X, w = rng.normal(size=(20, 4)), cp.Variable(4, name="w")
    return cp.Problem(cp.Minimize(cp.norm(X @ w - rng.normal(size=20)) + cp.norm(w)), [w <= 0.1])


def semidefinite() -> cp.Problem:
    """A cut's relaxation: the optimal matrix is singular, and so are the multipliers."""
    weights = np.triu(rng.integers(0, 10, size=(6, 6)), 1).astype(float)
    X = cp.Variable((6, 6), PSD=True, name="X")
    return cp.Problem(cp.Maximize(cp.trace((np.diag((weights + weights.T).sum(0)) - weights - weights.T) @ X) / 4), [cp.diag(X) == 1])


def inequality_of_matrices() -> cp.Problem:
    """A sum of matrices, and squares beside it."""
    y, parts = cp.Variable(3, name="y"), [rng.normal(size=(4, 4)) for _ in range(3)]
    row = sum(y[i] * (part + part.T) for i, part in enumerate(parts)) + np.eye(4) >> 0
    return cp.Problem(cp.Minimize(cp.sum(y) + cp.sum_squares(y)), [row])


def nuclear() -> cp.Problem:
    """Variables that CVXPY adds."""
    X = cp.Variable((4, 3), name="X")
    return cp.Problem(cp.Minimize(cp.normNuc(X) + cp.sum_squares(X - rng.normal(size=(4, 3)))))


def on_a_face() -> cp.Problem:
    """No feasible matrix is definite, but the optimum is a matrix of short numbers."""
    X = cp.Variable((2, 2), PSD=True, name="X")
    return cp.Problem(cp.Minimize(X[0, 1]), [X[0, 0] == 0.5, X[1, 1] == 0])


def without_rows() -> cp.Problem:
    """Nothing but squares."""
    x = cp.Variable(2, name="x")
    return cp.Problem(cp.Minimize(cp.sum_squares(x - [1.0, 0.5])))


def complex_numbers() -> cp.Problem:
    """Which CVXPY splits."""
    z = cp.Variable(2, complex=True, name="z")
    return cp.Problem(cp.Minimize(cp.norm(z)), [np.array([3.0, 4.0j]) @ z == 1])


CLOSED = [
    linear, maximum, quadratic, singular, lasso, second_order,
    semidefinite, inequality_of_matrices, nuclear, on_a_face, without_rows, complex_numbers,
]  # fmt: skip


def save(problem: Any, folder: Path) -> tuple[Any, dict[str, Any]]:
    path = folder / "cert.json"
    saved = simopt.save_certificate(problem, path)
    return saved, json.loads(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("declare", CLOSED)
def test_bounds_are_proved_by_the_standard_library_alone(declare: Callable[[], cp.Problem], tmp_path: Path) -> None:
    problem = declare()
    saved, document = save(problem, tmp_path)
    shutil.copy(recheck_certificate.__file__, tmp_path / "alone.py")
    done = subprocess.run([sys.executable, "-I", "-S", "alone.py", "cert.json"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and done.stderr == ""
    assert done.stdout.splitlines()[-1] == "PROVED, of the problem in the file: lower bound ≤ optimum ≤ upper bound"
    assert saved.states == "bounds" and not saved.unproven and saved.gap <= 1e-6 * (1.0 + abs(saved.upper))
    value = problem.solve(solver="CLARABEL")
    assert saved.lower - 1e-6 * (1.0 + abs(value)) <= value <= saved.upper + 1e-6 * (1.0 + abs(value))
    assert document["maximise"] == isinstance(problem.objective, cp.Maximize)


def test_at_a_vertex_both_bounds_are_one_number(tmp_path: Path) -> None:
    x = cp.Variable(2, nonneg=True, name="x")
    saved, document = save(cp.Problem(cp.Minimize(x[0] + x[1]), [3 * x[0] + x[1] >= 1, x[0] + 3 * x[1] >= 1]), tmp_path)
    assert Fraction(saved.lower) < Fraction(1, 2) == Fraction(saved.upper) or saved.lower == 0.5 == saved.upper
    assert document["proof"]["x"] == ["1/4", "1/4"] or [Fraction(float.fromhex(v)) for v in document["proof"]["x"]] == [Fraction(1, 4)] * 2
    lines = recheck_certificate.check(document)
    assert lines[-4:-1] == ["lower bound: 0.5", "upper bound: 0.5", "gap: 0"]


def test_the_variables_stand_where_the_file_says(tmp_path: Path) -> None:
    """The objective as written, at the point in the file, is the bound by it."""
    X, y, diagonal = cp.Variable((2, 2), symmetric=True, name="X"), cp.Variable((2, 2), name="y"), cp.Variable((2, 2), diag=True, name="D")
    problem = cp.Problem(
        cp.Minimize(cp.trace(X) + cp.sum_squares(y - np.array([[1.0, 2.0], [3.0, 4.0]])) + cp.trace(diagonal)),
        [X >> np.array([[1.0, 0.5], [0.5, 2.0]]), diagonal >= np.diag([1.0, -1.0]), cp.sum(y) == 1],
    )
    saved, document = save(problem, tmp_path)
    point = [float(recheck_certificate.number(v)) for v in document["proof"]["x"]]
    parts = {
        row["name"]: (point[row["offset"] : row["offset"] + row["size"]], row["shape"], row["layout"]) for row in document["variables"]
    }
    a, b, c = parts["X"][0]
    X.value, y.value = np.array([[a, b], [b, c]]), np.reshape(parts["y"][0], (2, 2), order="F")
    diagonal.value = np.diag(parts["D"][0])
    assert (parts["X"][2], parts["y"][2], parts["D"][2]) == ("upper triangle, row by row", "column by column", "diagonal")
    assert problem.objective.value == pytest.approx(saved.upper, abs=1e-9)


def test_bounds_are_those_of_the_present_parameters_and_the_problem_stays(tmp_path: Path) -> None:
    x, a = cp.Variable(name="x"), cp.Parameter(name="a")
    problem = cp.Problem(cp.Minimize(x), [x >= a])
    with pytest.raises(InvalidProblem):
        simopt.save_certificate(problem, tmp_path / "none.json")
    for a.value in (1.0, 2.0):
        saved, _ = save(problem, tmp_path)
        assert saved.lower == saved.upper == a.value
    assert x.value is None and problem.status is None and not (tmp_path / "none.json").exists()


def test_a_problem_of_simopt_is_saved_by_its_declaration(tmp_path: Path) -> None:
    problem = KernelRidge(np.eye(2), np.array([3.0, 0.0]), regularization=0.5)
    saved, _ = save(problem, tmp_path)
    exact = simopt.certify(problem, {"alpha": np.array([1.5, 0.0])}, rigorous="rational")
    assert saved.gap < 1e-12 and saved.lower - 1e-12 <= exact.upper <= saved.upper + 1e-12


def test_diagonals_that_cvxpy_misreads_are_rewritten(tmp_path: Path) -> None:
    """CVXPY 1.9 takes diag(X) before a matrix for another shape, and reads out of bounds."""
    matrix, x, X = np.array([[1.0, 2.0], [3.0, 5.0]]), cp.Variable(2, name="x"), cp.Variable((2, 2), name="X")
    plain, _ = save(cp.Problem(cp.Minimize(cp.sum_squares(x @ matrix - 1)), [x[0] >= 0]), tmp_path)
    saved, _ = save(cp.Problem(cp.Minimize(cp.sum_squares(cp.diag(X) @ matrix - 1)), [X[0, 0] >= 0]), tmp_path)
    assert saved.lower <= plain.upper and plain.lower <= saved.upper and saved.gap < 1e-12


def test_a_form_that_is_not_the_problem_s_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As where CVXPY reads a diagonal out of bounds: the bounds are proved, of another problem."""
    x = cp.Variable(name="x")
    right = file.conic_form(cp.Problem(cp.Minimize(x), [x >= 1]))
    monkeypatch.setattr(file, "conic_form", lambda problem, quadratic=True: right)
    with pytest.raises(InvalidProblem, match="the form is not the problem's"):
        simopt.save_certificate(cp.Problem(cp.Minimize(x), [x >= 2]), tmp_path / "cert.json")
    assert not list(tmp_path.iterdir())


NO_POINT = {
    "rows": lambda x: [x >= 1, cp.sum(x) <= 1.5],
    "equations": lambda x: [cp.sum(x) == 1, cp.sum(x) == 2],
    "a norm": lambda x: [cp.norm(x) <= 1, cp.sum(x) >= 2],
    "a matrix": lambda x: [cp.bmat([[1, x[0]], [x[0], x[1]]]) >> 0, x[0] == 2, x[1] <= 2.5],
}
NO_END = {
    "rows": lambda x: (x[0] + 0.3 * x[1], [x <= 1, x[0] - x[1] == 0.1]),
    "squares": lambda x: (cp.square(x[0]) - x[1], [x[0] >= 1]),
    "a norm": lambda x: (x[0] - 2 * x[1], [cp.norm(x[0] + 1) <= 1 + x[1]]),
    "a matrix": lambda x: (-x[1], [cp.bmat([[1, x[0]], [x[0], x[1]]]) >> 0]),
}


@pytest.mark.parametrize("name", NO_POINT)
@pytest.mark.parametrize("sense", [cp.Minimize, cp.Maximize])
def test_that_no_point_is_feasible_is_proved(name: str, sense: Any, tmp_path: Path) -> None:
    x = cp.Variable(2, name="x")
    saved, document = save(cp.Problem(sense(x[0]), NO_POINT[name](x)), tmp_path)
    assert saved.states == "infeasible" and saved.lower == saved.upper == (math.inf if sense is cp.Minimize else -math.inf)
    assert recheck_certificate.check(document)[-1].endswith("no point is feasible")


@pytest.mark.parametrize("name", NO_END)
@pytest.mark.parametrize("sense", [cp.Minimize, cp.Maximize])
def test_that_the_objective_has_no_end_is_proved(name: str, sense: Any, tmp_path: Path) -> None:
    x = cp.Variable(2, name="x")
    objective, rows = NO_END[name](x)
    saved, document = save(cp.Problem(sense(objective if sense is cp.Minimize else -objective), rows), tmp_path)
    assert saved.states == "unbounded" and saved.lower == saved.upper == (-math.inf if sense is cp.Minimize else math.inf)
    assert recheck_certificate.check(document)[-1].endswith(f"{'falls' if sense is cp.Minimize else 'rises'} without end")


def test_one_bound_is_proved_where_no_rational_point_is_feasible(tmp_path: Path) -> None:
    """x² ≤ 2 and y ≥ √2 meet in √2, which no fraction is."""
    x = cp.Variable(name="x")
    rows = [cp.bmat([[1, x], [x, 2]]) >> 0, cp.bmat([[x, 2], [2, 2 * x]]) >> 0]
    saved, document = save(cp.Problem(cp.Minimize(x), rows), tmp_path)
    assert saved.upper == math.inf and saved.lower <= math.sqrt(2) and len(saved.unproven) == 1
    assert "a bound by a point" in saved.unproven[0]
    assert recheck_certificate.check(document)[-1].endswith("lower bound ≤ optimum; no other bound")


REFUSED: dict[str, tuple[Callable[[Any], tuple[Any, list[Any]]], str]] = {
    "exponential cones": (lambda x: (cp.exp(x), [x >= 0]), "exponential cones"),
    "integers": (lambda x: (x + cp.Variable(integer=True), [x >= 0]), "integer"),
    "no convex problem": (lambda x: (cp.sqrt(x), []), "no conic form"),
    "a number that is none": (lambda x: (x, [x >= np.inf]), "not finite|no conic form"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_has_no_proof_in_fractions_is_refused_by_name(name: str, tmp_path: Path) -> None:
    x = cp.Variable(name="x")
    objective, rows = REFUSED[name][0](x)
    with pytest.raises((Unreadable, InvalidProblem), match=REFUSED[name][1]):
        simopt.save_certificate(cp.Problem(cp.Minimize(objective), rows), tmp_path / "cert.json")
    assert not list(tmp_path.iterdir())


def test_what_is_no_problem_and_no_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidProblem, match="int given"):
        simopt.save_certificate(3, tmp_path / "cert.json")  # type: ignore[arg-type]
    with pytest.raises(OSError, match="folder"):
        simopt.save_certificate(without_rows(), tmp_path / "none" / "cert.json")


def test_commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    source = "import cvxpy as cp\nx, a = cp.Variable(name='x'), cp.Parameter()\np = cp.Problem(cp.Maximize(-cp.abs(x - a)), [x >= 3])\n"
    Path("script.py").write_text(
        f"{source}for a.value in (1.0, 2.0): p.solve(solver='CLARABEL')\ndef f(): return cp.Problem(cp.Minimize(cp.exp(x)))\n"
    )
    result = CliRunner().invoke(app, ["certify", "script.py", "--save", "cert.json", "--json"])
    assert result.exit_code == 0, result.output
    assert [each["note"].split(":")[0] for each in json.loads(result.stdout)["problems"]] == ["saved to cert.json", "saved to cert-2.json"]
    result = CliRunner().invoke(app, ["recheck", "cert.json"])
    assert result.exit_code == 0 and "upper bound: -2\n" in result.output and "PROVED" in result.output.splitlines()[-1]
    result = CliRunner().invoke(app, ["recheck", "cert.json", "cert-2.json"])
    assert result.exit_code == 0 and result.output.count("CHECKED") == 2
    result = CliRunner().invoke(app, ["certify", "script.py:f", "--save", "other.json"])
    assert result.exit_code == 1 and not Path("other.json").exists()
    for module in ("recheck", "recheck_certificate"):
        shutil.copy(sys.modules[f"simopt.{module}"].__file__ or "", f"{module}.py")
    done = subprocess.run([sys.executable, "-S", "recheck.py", "cert.json"], capture_output=True, text=True, check=False)
    assert done.returncode == 0 and done.stdout.splitlines()[-1].startswith("PROVED")
    Path("recheck_certificate.py").unlink()
    done = subprocess.run([sys.executable, "-S", "recheck.py", "cert.json"], capture_output=True, text=True, check=False)
    assert done.returncode == 2 and "recheck_certificate.py" in done.stderr and done.stderr.count("\n") == 1
    assert recheck.CERTIFICATE in recheck_certificate.FORMAT


def test_numbers_come_back() -> None:
    values = [0.0, 0.1, -3.0, 1e300, -5e-324, 2.0**53, Fraction(1, 3), Fraction(-(2**200), 7), Fraction(1, 2**1100), Fraction(10**15)]
    assert [recheck_certificate.number(number(value)) for value in values] == [Fraction(value) for value in values]


def test_decimals_are_rounded_outwards() -> None:
    for value in (
        Fraction(1, 3),
        Fraction(-1, 3),
        Fraction(10**40, 3),
        Fraction(-1, 10**30 + 1),
        Fraction(5),
        Fraction(-125, 1000),
        Fraction(0),
    ):
        low, high = (Fraction(recheck_certificate.decimal_text(value, up)) for up in (False, True))
        assert low <= value <= high and high - low <= abs(value) * Fraction(1, 10**15)


@pytest.mark.parametrize("seed", range(20))
def test_semidefinite_means_no_negative_eigenvalue(seed: int) -> None:
    """F Fᵀ is, whatever its rank and the length of its numbers; with a negative entry of xᵀSx it is not."""
    draw = np.random.default_rng(seed)
    size, rank, bits = int(draw.integers(1, 7)), int(draw.integers(1, 7)), int(draw.choice([2, 30, 200]))
    F = [[int(draw.integers(-9, 10)) * 2**bits + int(draw.integers(0, 2**2)) for _ in range(rank)] for _ in range(size)]
    S = [[sum(a * b for a, b in zip(row, other, strict=True)) for other in F] for row in F]

    def proved(matrix: list[list[int]]) -> bool:
        rows = [{j: value for j, value in enumerate(row) if value} for row in matrix]
        return recheck_certificate.is_semidefinite(rows, recheck_certificate.Budget())

    assert proved(S)
    x = [int(v) for v in draw.integers(-3, 4, size=size)]
    x[0] = x[0] or 1
    value = sum(a * b * S[i][j] for i, a in enumerate(x) for j, b in enumerate(x))
    S[0][0] -= value // x[0] ** 2 + 1  # now xᵀSx < 0
    assert not proved(S)


def test_a_system_in_fractions_moves_only_what_may_move() -> None:
    matrix = np.array([[1.0, 2.0, 0.0], [0.0, 1.0, 3.0], [1.0, 3.0, 3.0]])  # the third row is the sum of the others
    right = [rational(1.0), rational(2.0), rational(3.0)]
    u = exact_solution(matrix, right, np.array([0.2, 0.4, 0.53]), np.array([1.0, 1.0, 0.0]))
    assert u is not None and u[2] == rational(0.53) and u[0] + 2 * u[1] == 1 and u[1] + 3 * u[2] == 2
    assert exact_solution(matrix, [*right[:2], rational(3.5)], np.array([0.2, 0.4, 0.53]), np.ones(3)) is None
