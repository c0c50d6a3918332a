"""What leaves promise is proven when the certificate is made: of parameters and constants, in the arithmetic asked for, or not used."""

from __future__ import annotations

import importlib
import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp

import simopt
import simopt.duality.reading
from simopt.arithmetic import INTERVAL
from simopt.core.errors import InvalidProblem, Unreadable
from simopt.duality.declared import Declared


def almost(n: int, below: float) -> np.ndarray:
    """A matrix with eigenvalues 0 but two: 2, and one that is 0 less about `below`/2, for the vector (1, −1, 0, …)."""
    matrix = np.zeros((n, n))
    matrix[:2, :2] = [[1.0, 1.0], [1.0, 1.0 - below]]
    return matrix


def exact(matrix: np.ndarray, x: np.ndarray) -> Fraction:
    """xᵀMx."""
    entries, at = [[Fraction(float(c)) for c in row] for row in matrix], [Fraction(float(c)) for c in x]
    return sum(c * a * b for row, a in zip(entries, at, strict=True) for c, b in zip(row, at, strict=True))


@pytest.mark.parametrize("rigorous", [False, True])
@pytest.mark.parametrize("below", [1e-10, 1e-12, 1.0])
@pytest.mark.parametrize("n", [2, 5])
@pytest.mark.parametrize("how", ["PSD", "NSD", "wrapped", "part"])
def test_no_bound_above_a_feasible_value(how: str, n: int, below: float, rigorous: bool) -> None:
    matrix, x = almost(n, below), cp.Variable(n)
    sign = -1.0 if how == "NSD" else 1.0
    if how == "wrapped":
        given: cp.Expression = cp.psd_wrap(cp.Parameter((n, n), symmetric=True, value=matrix))
    else:
        size = n + 1 if how == "part" else n
        kept = np.eye(size)
        parameter = cp.Parameter((size, size), NSD=True) if how == "NSD" else cp.Parameter((size, size), PSD=True)
        parameter.value = sign * kept
        parameter.value[:n, :n] = sign * matrix  # which CVXPY does not see
        given = cp.psd_wrap(parameter[:n, :n]) if how == "part" else parameter
    objective = cp.Maximize(cp.quad_form(x, given)) if how == "NSD" else cp.Minimize(cp.quad_form(x, given))
    problem = cp.Problem(objective, [cp.abs(x) <= 1e3])
    at = np.zeros(n)
    at[:2] = 1e3, -1e3
    x.value = at
    value = exact(matrix, at)
    found = simopt.certify(problem, solver=None, rigorous=rigorous)
    lower = -found.upper if how == "NSD" else found.lower
    assert Fraction(lower) <= value
    assert lower >= 0.8 * n * float(value) - 1e-6  # and near: ‖x‖² is n times 1e6 in the box, and 2e6 here


def test_without_bounds_there_is_none_and_the_reason_is_named() -> None:
    x = cp.Variable(2)
    problem = cp.Problem(cp.Minimize(cp.quad_form(x, cp.Parameter((2, 2), PSD=True, value=almost(2, 1e-10)))))
    x.value = np.zeros(2)
    found = simopt.certify(problem, solver=None, rigorous=True)
    assert found.lower == -np.inf
    assert "not proven to be positive semidefinite" in found.open


@pytest.mark.parametrize("n", [3, 40])
@pytest.mark.parametrize("kind", ["diagonal", "ones", "gram"])
def test_truly_semidefinite_parameters_keep_finite_bounds(kind: str, n: int) -> None:
    rng = np.random.default_rng(n)
    factor = rng.integers(-3, 4, size=(2, n)).astype(float)
    matrix = {"diagonal": np.diag(np.arange(n) * 1.0), "ones": np.ones((n, n)), "gram": factor.T @ factor}[kind]
    x = cp.Variable(n)
    problem = cp.Problem(cp.Minimize(cp.quad_form(x, cp.Parameter((n, n), PSD=True, value=matrix)) + cp.sum(x)), [cp.abs(x) <= 1])
    found = simopt.certify(problem, rigorous=True)
    assert found.gap <= 1e-5 * max(1.0, abs(found.upper))


@pytest.mark.parametrize("below", [0.0, 1e-10])
@pytest.mark.parametrize("made", ["sum", "share", "product"])
def test_what_is_computed_from_parameters_is_proven_in_fractions(made: str, below: float) -> None:
    """Intervals enclose a sum of matrices with a radius, in which no singular matrix is proven to be semidefinite."""
    x, vector = cp.Variable(3), np.array([[1.0, -1.0, -2.0]])
    given, rest = (cp.Parameter((3, 3), symmetric=True, value=c * vector.T @ vector) for c in (3.0, 0.1))
    factor = cp.Parameter((1, 3), value=vector)
    matrix = {"sum": given + rest, "share": given / 3.0, "product": factor.T @ factor}[made] - below * np.eye(3)
    problem = cp.Problem(cp.Minimize(cp.quad_form(x, cp.psd_wrap(matrix)) + 0.1 * cp.norm1(x - 1.0)))
    found = simopt.certify(problem, rigorous=True)
    assert found.closes(1e-6) if below == 0.0 else found.lower == -np.inf


def test_what_is_no_fraction_stays_open() -> None:
    x, share = cp.Variable(2), cp.Parameter(pos=True, value=2.0)
    problem = cp.Problem(cp.Minimize(cp.quad_form(x, cp.psd_wrap(cp.sqrt(share) * np.ones((2, 2)))) + cp.norm1(x - 1.0)))
    found = simopt.certify(problem, rigorous=True)
    assert found.lower == -np.inf
    assert "not proven to be positive semidefinite" in found.open


@pytest.mark.parametrize("below", [1e-5, 0.0])
def test_a_gap_of_convexity_is_told_with_the_eigenvalue(below: float) -> None:
    """Maros and Mészáros's VALUES is such a problem: its P has an eigenvalue of −1.3e-5, and no tighter solve would help."""
    x = cp.Variable(3)
    problem = cp.Problem(cp.Minimize(cp.quad_form(x, cp.psd_wrap(np.diag([1.0, 2.0, -below]))) - x[0]), [cp.abs(x) <= 3])
    found = simopt.certify(problem, tol=1e-8)
    assert found.lower <= -0.25 - 9.0 * below and found.closes(1e-8) == (below == 0.0)
    assert ("an eigenvalue that may be -1e-05" in found.open) == (below > 0.0)


def test_a_parameter_is_judged_as_it_is_at_the_moment() -> None:
    x, matrix = cp.Variable(2), np.eye(2)
    parameter = cp.Parameter((2, 2), PSD=True, value=matrix)
    declared = Declared.of(cp.Problem(cp.Minimize(cp.quad_form(x, parameter)), [cp.abs(x) <= 1]))
    before = declared.dual_bound({}, INTERVAL)
    matrix[1, 1] = -1.0
    after = declared.dual_bound({}, INTERVAL)
    assert INTERVAL.lower(before) == 0.0
    assert INTERVAL.lower(after) <= -1.0


def test_a_matrix_that_is_rewritten_is_judged_as_it_is_or_refused() -> None:
    constant, x = cp.Constant(np.diag([1.0, 2.0, 0.0])), cp.Variable(3, name="x")
    declared = Declared.of(cp.Problem(cp.Minimize(cp.quad_form(x, constant))))
    point = {"x": np.ones(3)}
    assert declared.objective(point) == 3.0
    constant.value[1, 1] = 5.0
    assert Declared.of(declared.declare()).objective(point) == 6.0
    assert declared.objective({"x": np.array([1.0, 1.0, 2.0])}) == 6.0
    constant.value[1, 2] = constant.value[2, 1] = 0.5
    with pytest.raises(InvalidProblem, match="other entries than before are 0"):
        declared.objective({"x": np.zeros(3)})


def test_bounds_of_variables_are_read_when_a_certificate_is_made() -> None:
    low, high = np.zeros(2), np.ones(2)
    declared = Declared.of(cp.Problem(cp.Minimize(cp.sum(cp.Variable(2, bounds=[low, high])))))
    before = INTERVAL.lower(declared.dual_bound({}, INTERVAL))
    low[:] = -5.0
    after = INTERVAL.lower(declared.dual_bound({}, INTERVAL))
    assert before == pytest.approx(0.0, abs=1e-9)
    assert after == pytest.approx(-10.0)
    low[0] = -np.inf
    with pytest.raises(InvalidProblem, match="was changed"):
        declared.dual_bound({}, INTERVAL)


@pytest.mark.parametrize("leaf", [lambda: cp.Constant(np.ones(2)), lambda: cp.Parameter(2, nonneg=True, value=np.ones(2))])
def test_a_sign_that_was_rewritten_is_refused(leaf: Callable[[], cp.Expression]) -> None:
    weights, x = leaf(), cp.Variable(2)
    problem = cp.Problem(cp.Minimize(cp.sum(cp.multiply(weights, cp.square(x)))), [cp.abs(x) <= 1])
    assert problem.is_dcp()
    weights.value[1] = -1.0
    with pytest.raises(InvalidProblem, match="rests on the sign"):
        simopt.certify(problem)


@pytest.mark.parametrize("part", [cp.trace, lambda P: cp.sum(cp.diag(P))])
def test_the_diagonal_of_a_semidefinite_parameter_is_proven(part: Callable[..., cp.Expression]) -> None:
    P, x = cp.Parameter((2, 2), PSD=True, value=np.eye(2)), cp.Variable()
    problem = cp.Problem(cp.Minimize(part(P) * cp.square(x)), [cp.abs(x) <= 1])
    P.value[:] = -np.eye(2)
    x.value = 1.0
    with pytest.raises((InvalidProblem, Unreadable)):
        simopt.certify(problem, solver=None, rigorous=True)


def test_geometric_and_quasiconvex_problems_are_told_why() -> None:
    x, y = cp.Variable(pos=True), cp.Variable()
    with pytest.raises(Unreadable, match="gp=True"):
        simopt.certify(cp.Problem(cp.Maximize(x * x), [x * x <= 4]))
    with pytest.raises(Unreadable, match="qcp=True"):
        simopt.certify(cp.Problem(cp.Minimize(cp.ceil(y)), [y >= 0.5]))


INDEFINITE = np.array([[1.0, 2.0], [2.0, 1.0]])
ROWS: dict[str, Callable[[cp.Expression], cp.Constraint]] = {
    "a row": lambda form: form <= 1,
    "a function in a row": lambda form: cp.exp(form) <= 3,
    "a concave side": lambda form: -form >= -1,
}


@pytest.mark.parametrize("bounds", [None, [-4.0, 4.0]])
@pytest.mark.parametrize("stored", ["constant", "parameter"])
@pytest.mark.parametrize("where", ROWS)
def test_an_indefinite_form_in_a_row_is_refused_or_open_and_bounds_count(where: str, stored: str, bounds: object) -> None:
    """No back end takes the problem: that is a reason, and no error; what the bounds of x say is said all the same."""
    x = cp.Variable(2, bounds=bounds)
    matrix = INDEFINITE if stored == "constant" else cp.Parameter((2, 2), symmetric=True, value=INDEFINITE)
    problem = cp.Problem(cp.Minimize(cp.sum(x)), [ROWS[where](cp.quad_form(x, cp.psd_wrap(matrix)))])
    if stored == "constant" and bounds is None:
        with pytest.raises(Unreadable, match="(?s)not proven semidefinite.*give bounds of x"):
            simopt.certify(problem, rigorous=True)
        return
    found = simopt.certify(problem, rigorous=True)
    assert "indefinite matrices" in found.open  # what CVXPY says for each of its back ends
    assert found.lower <= -((2.0 / 3.0) ** 0.5)  # of the feasible point at which both entries are equal, where e ≤ 3 is of xᵀPx ≤ 1.09
    assert (found.lower >= -8.1) is (bounds is not None)


@pytest.mark.parametrize("version", ["1.8.2", "1.10.0", "2.0"])
def test_another_cvxpy_is_refused_by_name(version: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cp, "__version__", version)
    with pytest.raises(Unreadable, match=f"cvxpy {version} is not known"):
        simopt.certify(cp.Problem(cp.Minimize(cp.square(cp.Variable()))))


@pytest.mark.slow
def test_another_cvxpy_is_refused_before_a_name_that_it_lacks_is_missed() -> None:
    lines = (
        "import cvxpy, cvxpy.constraints; cvxpy.__version__ = '1.8.2'",
        "del cvxpy.constraints.PowCone3DApprox",  # which 1.8 does not have
        "import simopt.duality",
    )
    done = subprocess.run([sys.executable, "-c", "\n".join(lines)], capture_output=True, text=True, check=False)
    said = "simopt.core.errors.Unreadable: cvxpy 1.8.2 is not known to simopt; install cvxpy >= 1.9, < 1.10"
    assert done.stderr.splitlines()[-1] == said


@pytest.mark.parametrize("version", ["1.8.2", "1.10.0"])
def test_the_reader_is_not_imported_with_another_cvxpy(version: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cp, "__version__", version)
    with pytest.raises(Unreadable, match=f"cvxpy {version} is not known"):
        importlib.reload(simopt.duality.reading)


def test_a_geometric_mean_is_read_as_the_oldest_cvxpy_has_it() -> None:
    x = cp.Variable(3, name="x")
    mean = cp.geo_mean(x)
    problem = cp.Problem(cp.Maximize(mean))
    vars(mean).pop("axis", None)  # 1.9.0 knows none
    assert Declared.of(problem).objective({"x": np.array([1.0, 4.0, 2.0])}) == pytest.approx(-2.0)


def test_log1p_ptp_and_real_parts_of_what_is_real_close() -> None:
    x = cp.Variable(3)
    for problem in (
        cp.Problem(cp.Maximize(cp.sum(cp.log1p(x))), [cp.sum(x) == 1, x >= 0]),
        cp.Problem(cp.Minimize(cp.ptp(x)), [x[0] == 1, x[1] == 2]),
        cp.Problem(cp.Minimize(cp.real(x[0])), [x >= 1]),
    ):
        assert simopt.certify(problem, rigorous=True).gap <= 1e-6


def test_where_arpack_finds_no_answer_a_proof_does() -> None:
    x, rotation = cp.Variable(34), np.random.default_rng(1).normal(size=(34, 34))
    matrix = rotation @ np.diag(np.logspace(-4, 5, 34)) @ rotation.T
    found = simopt.certify(cp.Problem(cp.Minimize(cp.quad_form(x, (matrix + matrix.T) / 2) + cp.sum(x))), rigorous=True)
    assert np.isfinite(found.lower) and np.isfinite(found.upper) and found.lower <= found.upper
    assert found.closes(1e-8) or found.open


PARTED = np.array([[2.0, 1.0, 0.0, 0.0, 0.0], [1.0, 2.0, 0.0, 0.0, 0.0], [0.0, 0.0, 4.0, 0.0, 0.0], np.zeros(5), [0.0, 0.0, 0.0, 0.0, 0.1]])


@pytest.mark.parametrize("kind", [np.asarray, sp.csc_array])
@pytest.mark.parametrize("sign", [1, -1])
def test_entries_that_a_form_links_to_no_other_are_squares(kind: Any, sign: int) -> None:
    """A zero row needs no range: x_3 has the bound and the slope 1. The optimum is 1 − qᵀP⁺q/4 over the other entries."""
    x, q = cp.Variable(5, name="x"), np.array([1.0, -1.0, 2.0, 1.0, 0.3])
    form = cp.quad_form(x, cp.psd_wrap(kind(PARTED))) if sign > 0 else cp.quad_form(x, -PARTED)
    problem = cp.Problem(cp.Minimize(form + q @ x) if sign > 0 else cp.Maximize(form - q @ x), [x >= np.array([-9.0, -9, -9, 1, -9])])
    problem.solve(solver="CLARABEL")
    found = simopt.certify(problem, solver=None, rigorous=True)
    rest = np.array([0, 1, 2, 4])
    exact = sign * (1.0 - q[rest] @ np.linalg.solve(PARTED[np.ix_(rest, rest)], q[rest]) / 4)
    assert found.closes(1e-6) and found.lower - 1e-12 <= exact <= found.upper + 1e-12


def test_a_diagonal_entry_of_the_other_sign_is_refused() -> None:
    x = cp.Variable(3)
    with pytest.raises(Unreadable, match="not proven semidefinite"):
        Declared.of(cp.Problem(cp.Minimize(cp.quad_form(x, cp.psd_wrap(np.diag([1.0, -1e-3, 0.0]))))))
