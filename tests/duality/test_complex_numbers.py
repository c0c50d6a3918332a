"""Problems with complex numbers: the bounds of the real problem, values and dual values put together, for optima that are known."""

from __future__ import annotations

import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from cvxpy.transforms.partial_optimize import partial_optimize

import simopt
from simopt.core.errors import InvalidProblem, Unreadable
from simopt.model.status import Status

RIGOROUS = pytest.mark.parametrize("rigorous", [False, True])


def complex_normal(rng: np.random.Generator, *shape: int) -> Any:
    return rng.normal(size=shape) + 1j * rng.normal(size=shape)


@RIGOROUS
@pytest.mark.parametrize("seed", range(4))
def test_least_squares_whose_optimum_is_a_fraction(seed: int, rigorous: bool) -> None:
    """min ‖Qz − b‖² for two columns Q of a matrix with orthogonal columns of Gaussian integers: what the others make of b is left."""
    rng = np.random.default_rng(seed)
    unitary = np.array([[1, 1j, 0, 0], [1j, 1, 0, 0], [0, 0, 3, 4j], [0, 0, 4j, 3]])
    Q = unitary[:, [0, 2]]
    w, off = rng.integers(-3, 4, 2) + 1j * rng.integers(-3, 4, 2), rng.integers(-3, 4, 2) + 1j * rng.integers(-3, 4, 2)
    b = Q @ w + unitary[:, [1, 3]] @ off
    optimum = 2 * abs(off[0]) ** 2 + 25 * abs(off[1]) ** 2
    z = cp.Variable(2, complex=True, name="z")
    problem = cp.Problem(cp.Minimize(cp.sum_squares(Q @ z - b)))
    solution = simopt.solve(problem, rigorous=rigorous)
    found = solution.certificate
    assert found.lower <= round(optimum) + (0.0 if rigorous else 1e-9) and round(optimum) - (0.0 if rigorous else 1e-9) <= found.upper
    assert found.upper - found.lower < 1e-6 and Fraction(round(optimum)) == round(optimum)
    np.testing.assert_allclose(z.value, w, atol=1e-5)
    np.testing.assert_array_equal(z.value, solution.point["z"])
    assert solution.point["z"].dtype == complex and problem.value == pytest.approx(optimum, abs=1e-6)


@RIGOROUS
def test_a_beamformer_has_the_optimum_of_its_closed_form(rigorous: bool) -> None:
    """min ‖z‖ subject to aᴴz = 1 is 1/‖a‖ at z = a/‖a‖²; with Re(aᴴz) ≥ 1 too. For a = (3, 4i, …) with ‖a‖ = 13 it is 1/13."""
    a = np.array([3.0, 4.0j, 12.0])
    for row in (lambda z: np.conj(a) @ z == 1, lambda z: cp.real(np.conj(a) @ z) >= 1):
        z = cp.Variable(3, complex=True, name="z")
        problem = cp.Problem(cp.Minimize(cp.norm(z)), [row(z)])
        solution = simopt.solve(problem, rigorous=rigorous)
        assert solution.status is Status.OPTIMAL and problem.status == "optimal"
        lower, upper = Fraction(solution.certificate.lower), Fraction(solution.certificate.upper)
        slack = Fraction(0 if rigorous else 1e-14)
        assert lower - slack <= Fraction(1, 13) <= upper + slack and upper - lower < 1e-8
        np.testing.assert_allclose(z.value, a / 169, atol=1e-5)
        assert simopt.certify(problem, rigorous=True, solver=None).closes(1e-6)


KINKS = ("a cone", "infinity")  # CVXPY leaves no multipliers of these, and no slopes of the point take their place


def models() -> dict[str, cp.Problem]:
    rng = np.random.default_rng(5)
    A, b, y = complex_normal(rng, 8, 3), complex_normal(rng, 8), cp.Variable(2, name="y")
    z, w = cp.Variable(3, complex=True, name="z"), cp.Variable(2, imag=True, name="w")
    H = cp.Variable((3, 3), hermitian=True, name="H")
    P, p = A.conj().T @ A, cp.Parameter(3, complex=True, value=A[0], name="p")
    herm = (P + P.conj().T) / 2
    S = cp.Variable((2, 2), complex=True, sparsity=[(0, 1), (1, 1)], name="S")
    return {
        "mixed": cp.Problem(cp.Minimize(cp.norm(A @ z - b) + cp.sum_squares(y)), [A[0] @ z == 1 + y[0], cp.imag(z[1]) <= y[1]]),
        "a maximum": cp.Problem(cp.Maximize(cp.real(b[:3] @ z) - cp.sum_squares(z)), [cp.abs(z) <= 0.3]),
        "imaginary": cp.Problem(cp.Minimize(cp.norm1(w - b[:2]) + cp.norm(w)), [w[0] == 2j, cp.imag(w[1]) >= 1]),
        "hermitian": cp.Problem(cp.Minimize(cp.sum_squares(H - A[:3])), [cp.real(cp.trace(H)) == 1, H[0, 1] == 2 + 1j]),
        "sparse": cp.Problem(cp.Minimize(cp.sum_squares(S - A[:2, :2]) + cp.sum_squares(S)), [S[0, 1] == 1j]),
        "a form": cp.Problem(cp.Minimize(cp.quad_form(z, herm)), [p @ z == 1 - 1j]),
        "a cone": cp.Problem(cp.Minimize(cp.real(b[:3] @ z)), [cp.SOC(1.0, z)]),
        "infinity": cp.Problem(cp.Minimize(cp.norm_inf(A @ z - b)), [cp.norm(z, 2) <= 1]),
        "squares by a number": cp.Problem(cp.Minimize(cp.quad_over_lin(z - b[:3], 1 + y[0]) + 0.1 * y[0] + y[1]), [y >= 0, z[0] == 5j]),
        "complex data": cp.Problem(cp.Minimize(cp.norm(A[:, :2] @ y - b)), [y >= -1]),
    }


@pytest.mark.parametrize("name", models())
def test_values_and_dual_values_are_those_of_cvxpy(name: str) -> None:
    problem, reference = models()[name], models()[name]
    solution = simopt.solve(problem, "clarabel", rigorous=True)
    reference.solve(solver="CLARABEL", tol_gap_abs=1e-11, tol_gap_rel=1e-11, tol_feas=1e-11)
    found = solution.certificate
    assert solution.status is Status.OPTIMAL and found.maximises is (name == "a maximum"), solution.message
    assert found.lower - 1e-8 <= reference.value <= found.upper + 1e-8
    assert set(solution.point) == {v.name() for v in problem.variables()}
    for ours, theirs in zip(problem.variables(), reference.variables(), strict=True):
        own, other = (v.value if v.sparse_idx is None else v.value_sparse for v in (ours, theirs))
        dense = [np.asarray(v.toarray() if hasattr(v, "toarray") else v) for v in (own, other)]
        np.testing.assert_allclose(*dense, atol=1e-4)
        np.testing.assert_array_equal(dense[0], solution.point[ours.name()])
    for row, other in zip(problem.constraints, reference.constraints, strict=True):
        for dual, theirs in zip(row.dual_variables, other.dual_variables, strict=True):
            if theirs.value is not None:
                np.testing.assert_allclose(np.ravel(dual.value), np.ravel(theirs.value), atol=2e-3)
    judged = simopt.certify(reference, rigorous=True, solver=None)
    assert judged.lower <= found.upper and found.lower <= judged.upper
    assert name in KINKS or judged.closes(1e-4), judged.open
    values = [np.copy(v.value) if v.sparse_idx is None else None for v in reference.variables()]
    assert simopt.certify(reference).closes(1e-8)
    for variable, value in zip(reference.variables(), values, strict=True):
        assert value is None or np.array_equal(variable.value, value)


def test_structure_of_complex_variables_is_kept_and_values_that_lack_it_are_drawn_to_it() -> None:
    """CVXPY 1.9 drops diag=True of complex variables and returns a whole matrix, whose value is below the optimum."""
    rng = np.random.default_rng(5)
    B = complex_normal(rng, 3, 3)
    D = cp.Variable((3, 3), complex=True, diag=True, name="D")
    problem = cp.Problem(cp.Minimize(cp.sum_squares(D - B) + cp.sum_squares(D)), [D[0, 0] == 1j])
    own = np.diag(B)
    optimum = np.sum(np.abs(B - np.diag(own)) ** 2) + abs(1j - own[0]) ** 2 + 1 + np.sum(np.abs(own[1:]) ** 2) / 2
    found = simopt.solve(problem, rigorous=True)
    problem.solve(solver="CLARABEL")
    judged = simopt.certify(problem, rigorous=True)
    for certificate in (found.certificate, judged):
        assert certificate.lower == pytest.approx(optimum, rel=1e-9) == certificate.upper and certificate.closes(1e-8)
    np.testing.assert_allclose(found.point["D"], np.diag([1j, own[1] / 2, own[2] / 2]), atol=1e-6)


def test_points_and_multipliers_of_the_users_are_certified() -> None:
    a, z = np.array([3.0, 4.0j, 12.0]), cp.Variable(3, complex=True, name="z")
    problem = cp.Problem(cp.Minimize(cp.sum_squares(z)), [(np.conj(a) @ z == 1 + 1j).set_label("pointing")])
    optimum = (1 + 1j) * a / 169
    solved = simopt.solve(problem, tol=1e-10)
    multiplier = problem.constraints[0].dual_value
    assert solved.optimal and abs(multiplier.imag) > 1e-3
    found = simopt.certify(problem, {"z": optimum}, {"pointing": multiplier}, solver=None)
    assert found.closes(1e-7) and found.upper == pytest.approx(2 / 169, rel=1e-12)
    for point, message in (({}, "point: z is missing"), ({"z": [1.0]}, "point: z has 1 entries, expected 3")):
        with pytest.raises(InvalidProblem, match=message):
            simopt.certify(problem, point)
    z.save_value(None)
    with pytest.raises(InvalidProblem, match="variable z: it has no value"):
        simopt.certify(problem, solver=None)


def test_where_there_is_no_optimum_it_is_proven() -> None:
    z = cp.Variable(2, complex=True, name="z")
    never = cp.Problem(cp.Minimize(cp.norm(z)), [z[0] + z[1] == 1j, cp.imag(z) <= 0])
    assert simopt.solve(never).status is Status.INFEASIBLE and never.status == "infeasible" and z.value is None
    endless = cp.Problem(cp.Minimize(cp.imag(z[0])), [z[0] == z[1]])
    solution = simopt.solve(endless)
    assert solution.status is Status.UNBOUNDED and endless.value == -np.inf
    direction = solution.direction["z"]
    assert direction.dtype == complex and direction[0].imag < 0.0


class Modulus(cp.abs):
    """A function of the user's own."""


def test_what_is_not_known_of_complex_numbers_is_refused_by_name() -> None:
    z, X = cp.Variable(2, complex=True, name="z"), cp.Variable((2, 2), hermitian=True, name="X")
    refused = {
        r"Modulus of complex numbers is not known in Modulus\(z\)": cp.Problem(cp.Minimize(cp.sum(Modulus(z)))),
        "dotsort with weights that are no numbers": cp.Problem(
            cp.Minimize(cp.dotsort(cp.abs(z), cp.Parameter(2, value=[2.0, 1.0], nonneg=True)))
        ),
        "is not convex": cp.Problem(cp.Maximize(cp.norm(z))),
        "is not convex by": cp.Problem(cp.Maximize(cp.lambda_max(X))),
    }
    for message, problem in refused.items():
        for judge in (simopt.solve, simopt.certify):
            with pytest.raises(Unreadable, match=message):
                judge(problem)


def test_forms_with_hermitian_matrices_that_are_parameters_or_concave() -> None:
    """max −zᴴPz + Re cᴴz is cᴴP⁻¹c / 4, at z = P⁻¹c / 2; for P = [2, i; −i, 2] and c = (2, 2i) it is 2/3, at (1/3, i/3)."""
    P, c = np.array([[2, 1j], [-1j, 2]]), np.array([2, 2j])
    inverse = np.array([[2, -1j], [1j, 2]]) / 3
    optimum, where = float((c.conj() @ inverse @ c).real) / 4, inverse @ c / 2
    given = cp.Parameter((2, 2), hermitian=True, value=P, name="P")
    for sign, matrix in ((-1, -P), (1, P), (1, cp.psd_wrap(given))):
        z = cp.Variable(2, complex=True, name="z")
        objective = cp.Maximize if sign < 0 else cp.Minimize
        problem = cp.Problem(objective(cp.quad_form(z, matrix) - sign * cp.real(c.conj() @ z)))
        solution = simopt.solve(problem, rigorous=True)
        assert solution.status is Status.OPTIMAL and solution.certificate.lower <= -sign * optimum <= solution.certificate.upper
        np.testing.assert_allclose(z.value, where, atol=1e-5)
    real = cp.Variable(2, name="real")
    of_real = simopt.solve(cp.Problem(cp.Minimize(cp.quad_form(real - np.array([1.0, 1.0]), P)), [real <= 0.5]), rigorous=True).certificate
    assert of_real.lower <= 1.0 <= of_real.upper and of_real.closes(1e-6)  # of real numbers the imaginary part of P counts nothing


def test_the_optimum_over_some_complex_variables_is_one_over_all() -> None:
    z, w = cp.Variable(complex=True, name="z"), cp.Variable(complex=True, name="w")
    inner = partial_optimize(cp.Problem(cp.Minimize(cp.abs(w - z)), [cp.real(w) >= 2]), opt_vars=[w])
    solution = simopt.solve(cp.Problem(cp.Minimize(inner + cp.abs(z - 1j))), rigorous=True)
    assert solution.status is Status.OPTIMAL and solution.certificate.lower <= 2.0 <= solution.certificate.upper


@pytest.mark.parametrize("bounded", [False, True])
def test_rows_that_close_a_residual_have_dual_values_too(bounded: bool) -> None:
    """min ‖z − (i, 2)‖ subject to z_1 = z_2: both are (2 + i)/2, with the multiplier (−2 + i)/√10; it is not what the bound needs."""
    z = cp.Variable(2, complex=True, name="z")
    rows = [z[0] == z[1], *([cp.abs(z) <= 0.25] if bounded else [])]
    problem = cp.Problem(cp.Minimize(cp.norm(z - np.array([1j, 2]))), rows)
    assert simopt.solve(problem).status is Status.OPTIMAL
    ours = [np.array(row.dual_value) for row in rows]
    assert bounded or ours[0] == pytest.approx((-2 + 1j) / 10**0.5, abs=1e-6)
    problem.solve(solver="CLARABEL")
    for own, row in zip(ours, rows, strict=True):
        np.testing.assert_allclose(own, row.dual_value, atol=1e-4)


def test_the_dual_is_that_of_the_real_problem() -> None:
    a, z = np.array([3.0, 4.0j, 12.0]), cp.Variable(3, complex=True, name="z")
    dual = simopt.dual(cp.Problem(cp.Minimize(cp.norm(z)), [np.conj(a) @ z == 1]))
    assert {"row 0", "row 0, imaginary part"} <= set(dual.var_dict)
    assert dual.solve(solver="CLARABEL") == pytest.approx(1 / 13, rel=1e-6)
    assert {"Re z", "Im z"} == {row.label for row in dual.constraints if row.label in ("Re z", "Im z")}


SCRIPT = """
import cvxpy as cp
z = cp.Variable(2, complex=True, name="z")
cp.Problem(cp.Minimize(cp.norm(z)), [3 * z[0] + 4j * z[1] == 10]).solve(solver="CLARABEL")
"""


def test_the_command_certifies_complex_problems(tmp_path: Path) -> None:
    script = tmp_path / "antennas.py"
    script.write_text(SCRIPT, encoding="utf-8")
    command = [sys.executable, "-m", "simopt", "certify", str(script), "--rigorous", "--tol", "1e-6"]
    result = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert result.returncode == 0 and "OPTIMAL" in result.stdout, result.stdout + result.stderr
