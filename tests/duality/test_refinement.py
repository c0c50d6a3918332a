"""Refined answers of a back end: the scaling of symmetric cones, residuals of rounding, and certificates that close only with them."""

from typing import Any

import cvxpy as cp
import numpy as np
import pytest

import simopt
from simopt.backends import refinement
from simopt.backends.symmetric_cones import ConeProduct, Orthant, SecondOrderCone, SemidefiniteTriangle, SymmetricCone
from simopt.core.arrays import Array
from simopt.duality.feasibility import slater
from simopt.duality.stationarity.inward import InwardMultipliers
from simopt.model.status import Status

GAP = 1e-10
CONES: dict[str, SymmetricCone] = {
    "orthant": Orthant(4),
    "second order": SecondOrderCone(5),
    "matrices": SemidefiniteTriangle(3),
    "product": ConeProduct([Orthant(2), SecondOrderCone(3), SemidefiniteTriangle(2), SecondOrderCone(2)]),
}


def inside(cone: SymmetricCone, rng: np.random.Generator) -> Array:
    """A square that is not e's multiple, moved inside."""
    v = rng.normal(size=len(cone.unit))
    return cone.product(v, v) + 0.1 * cone.unit


def is_inside(cone: SymmetricCone, v: Array) -> bool:
    try:
        cone.scale(v, cone.unit)
    except np.linalg.LinAlgError:
        return False
    return True


@pytest.mark.parametrize("name", CONES)
def test_the_scaling_takes_both_to_one_point(name: str) -> None:
    cone, rng = CONES[name], np.random.default_rng(0)
    s, z = inside(cone, rng), inside(cone, rng)
    cone.scale(s, z)
    np.testing.assert_allclose(cone.primal(s), cone.scaled, atol=1e-12)
    np.testing.assert_allclose(cone.dual_back(cone.scaled), z, atol=1e-12)
    np.testing.assert_allclose(cone.product(cone.scaled, cone.unit), cone.scaled, atol=1e-12)
    assert cone.scaled @ cone.scaled == pytest.approx(s @ z)
    rows = rng.normal(size=(3, len(s)))
    np.testing.assert_allclose(cone.primal_back(cone.primal(rows)), rows, atol=1e-12)
    np.testing.assert_allclose(cone.dual_back(rows) @ s, cone.primal(s) @ rows.T, atol=1e-12)
    np.testing.assert_allclose(cone.product(cone.scaled, cone.quotient(rows[0])), rows[0], atol=1e-12)


@pytest.mark.parametrize("name", CONES)
def test_the_boundary_is_as_far_as_the_depth_says(name: str) -> None:
    cone, rng = CONES[name], np.random.default_rng(1)
    cone.scale(inside(cone, rng), inside(cone, rng))
    point, d = cone.scaled, rng.normal(size=len(cone.unit)) - 0.5 * cone.unit
    depth = cone.depth(d)
    assert depth > 0.0 and cone.depth(cone.unit) == 0.0
    assert is_inside(cone, point + d / depth * (1.0 - 1e-9)) and not is_inside(cone, point + d / depth * (1.0 + 1e-9))


def hermitian(rng: np.random.Generator, n: int) -> Array:
    half = rng.normal(size=(n, n)) + 1j * rng.normal(size=(n, n))
    return np.asarray(half + half.conj().T)


def least_energy(n: int) -> tuple[cp.Problem, float]:
    """min tr HX over density matrices: λ_min(H)."""
    H, X = hermitian(np.random.default_rng(n), n), cp.Variable((n, n), hermitian=True)
    return cp.Problem(cp.Minimize(cp.real(cp.trace(H @ X))), [X >> 0, cp.real(cp.trace(X)) == 1]), float(np.linalg.eigvalsh(H)[0])


def two_states(n: int) -> tuple[cp.Problem, float]:
    """max ½ tr ρM + ½ tr σ(I − M) over 0 ⪯ M ⪯ I: ½ + ¼‖ρ − σ‖₁ (Helstrom)."""
    rng = np.random.default_rng(n)
    roots = rng.normal(size=(2, n, 2)) + 1j * rng.normal(size=(2, n, 2))
    states = [root @ root.conj().T / np.sum(np.abs(root) ** 2) for root in roots]
    M = cp.Variable((n, n), hermitian=True)
    right = cp.real(cp.trace(states[0] @ M) + cp.trace(states[1] @ (np.eye(n) - M))) / 2
    best = 0.5 + float(np.sum(np.abs(np.linalg.eigvalsh(states[0] - states[1])))) / 4
    return cp.Problem(cp.Maximize(right), [M >> 0, np.eye(n) - M >> 0]), best


def nearest_hermitian(n: int) -> tuple[cp.Problem, float]:
    """min ‖X − C‖_F² over X ⪰ 0: the sum of the squares of negative eigenvalues of C (Higham)."""
    C, X = hermitian(np.random.default_rng(n), n), cp.Variable((n, n), hermitian=True)
    left = np.minimum(np.linalg.eigvalsh(C), 0.0)
    return cp.Problem(cp.Minimize(cp.sum_squares(cp.real(X - C)) + cp.sum_squares(cp.imag(X - C))), [X >> 0]), float(left @ left)


def nearest_by_norm(n: int) -> tuple[cp.Problem, float]:
    """The same without the square, by real and imaginary parts: a second-order cone."""
    C, X = hermitian(np.random.default_rng(n), n), cp.Variable((n, n), hermitian=True)
    left = np.minimum(np.linalg.eigvalsh(C), 0.0)
    both = cp.hstack([cp.vec(cp.real(X - C), order="F"), cp.vec(cp.imag(X - C), order="F")])
    return cp.Problem(cp.Minimize(cp.norm(both)), [X >> 0]), float(np.linalg.norm(left))


PLANTED = {each.__name__: each for each in (least_energy, two_states, nearest_hermitian, nearest_by_norm)}


@pytest.mark.parametrize("rigorous", [False, True])
@pytest.mark.parametrize("name", PLANTED)
def test_certificates_of_multiple_eigenvalues_close(name: str, rigorous: bool) -> None:
    problem, best = PLANTED[name](8)
    problem.solve(solver="CLARABEL")
    found = simopt.certify(problem, tol=1e-9, rigorous=rigorous)
    assert found.closes(1e-9), (found.relative_gap, found.open)
    allowed = 1e-13 * max(1.0, abs(best))
    assert found.lower - allowed <= best <= found.upper + allowed


@pytest.mark.parametrize("name", ["least_energy", "two_states"])
def test_bounds_of_refined_answers_need_no_other_solve(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*args: Any) -> None:
        raise AssertionError("a solve for a Slater point or for multipliers inside")

    monkeypatch.setattr(slater, "_solution", refused)
    monkeypatch.setattr(InwardMultipliers, "_solved", refused)
    problem, best = PLANTED[name](4)
    problem.solve(solver="CLARABEL", tol_gap_abs=1e-5, tol_gap_rel=1e-5, tol_feas=1e-5)
    found = simopt.certify(problem, rigorous=True)
    assert found.closes(1e-8) and found.lower - 1e-13 <= best <= found.upper + 1e-13


@pytest.mark.parametrize("rigorous", [False, True])
def test_a_solve_refines_what_a_certificate_does(rigorous: bool) -> None:
    A, X = hermitian(np.random.default_rng(0), 3), cp.Variable((3, 3), hermitian=True)
    distances = cp.norm(cp.real(X) - A.real, "fro") + cp.norm(X - A, "nuc")
    solution = simopt.solve(cp.Problem(cp.Minimize(distances), [X >> 0]), rigorous=rigorous)
    assert solution.status is Status.OPTIMAL and solution.certificate is not None and solution.certificate.closes(1e-8)


def answers(problem: cp.Problem) -> tuple[dict[str, Any], Any, Any]:
    """The data of a problem, CLARABEL's answer, and that refined."""
    data, chain, _ = problem.get_problem_data(cp.CLARABEL)
    raw = chain.solve_via_data(problem, data)
    return data, raw, refinement.refined(data, raw, GAP)


@pytest.mark.parametrize("name", PLANTED)
def test_a_refined_answer_has_residuals_of_rounding(name: str) -> None:
    data, raw, found = answers(PLANTED[name](5)[0])
    p = data["P"].toarray() if "P" in data else 0.0 * np.eye(len(found.x))
    size = 1.0 + np.max(np.abs(found.z)) + np.max(np.abs(found.x))
    assert found is not raw and np.max(np.abs(p @ found.x + data["c"] + data["A"].T @ found.z)) <= 1e-12 * size
    zero = data["dims"].zero
    s = data["b"] - data["A"] @ found.x
    assert np.max(np.abs(s[:zero]), initial=0.0) <= 1e-12 * size
    gap = s[zero:] @ found.z[zero:]
    assert 0.0 < gap <= 1.1 * GAP * abs(raw.obj_val)


def test_what_has_no_point_or_other_cones_stays_as_it_is() -> None:
    X = cp.Variable((3, 3), PSD=True)
    for problem in (
        cp.Problem(cp.Minimize(cp.trace(X)), [cp.trace(X) == -1]),
        cp.Problem(cp.Minimize(-cp.trace(X)), [X[0, 0] == 1]),
        cp.Problem(cp.Minimize(cp.trace(X) - cp.log_det(X))),
        cp.Problem(cp.Minimize(cp.trace(X) + cp.exp(-X[0, 0]))),
    ):
        _, raw, found = answers(problem)
        assert found is raw


def test_equalities_that_follow_from_others_do_no_harm() -> None:
    problem, best = least_energy(4)
    X = problem.variables()[0]
    twice = cp.Problem(problem.objective, [*problem.constraints, cp.real(cp.trace(2 * X)) == 2])
    _, raw, found = answers(twice)
    assert found is not raw and found.obj_val == pytest.approx(best, abs=1e-8)
