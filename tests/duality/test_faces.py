"""Cones without interior: faces are guessed, bounds on them are proven, and what has no simple face says so."""

from fractions import Fraction

import cvxpy as cp
import numpy as np
import pytest

import simopt
from simopt.arithmetic import INTERVAL, RATIONAL
from simopt.arithmetic.linear import solve
from simopt.duality.declared import Declared
from simopt.duality.reading.faces import NEAR, SIMPLE, are_simple, face, rank
from simopt.duality.reading.reader import read


@pytest.mark.parametrize("seed", range(20))
def test_a_face_of_whole_numbers_is_recovered_and_its_basis_is_regular(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 7))
    k = int(rng.integers(1, n))
    null_space = rng.permutation(np.vstack([np.eye(k), rng.integers(-1, 2, size=(n - k, k))]))  # minors are small whole numbers
    others = np.linalg.svd(null_space, full_matrices=True)[0][:, k:]
    matrix = others @ np.diag(rng.uniform(0.5, 2.0, n - k)) @ others.T
    guess = face(matrix, restricted=True)
    assert guess is not None and guess.null_space.shape == (n, k) and rank(matrix) == n - k
    assert np.array_equal(guess.null_space, np.rint(guess.null_space))
    assert np.linalg.matrix_rank(np.hstack([guess.null_space, null_space])) == k
    whole = np.hstack([guess.across, guess.null_space])
    assert solve(RATIONAL, RATIONAL.lift(whole), RATIONAL.lift(np.ones(n))) is not None


def test_no_face_is_guessed_of_what_has_none_or_none_that_is_simple() -> None:
    v = np.array([1.0, np.sqrt(2.0), np.pi])
    across = np.linalg.svd(v.reshape(-1, 1))[0][:, 1:]
    for matrix in (np.eye(3), np.zeros((3, 3)), np.full((3, 3), np.nan), across @ across.T):
        assert face(matrix, restricted=True) is None
    assert rank(across @ across.T) == 2 and rank(np.full((3, 3), np.nan)) == 0


def distances(n: int = 5) -> tuple[cp.Problem, cp.Variable]:
    """The Gram matrix of centred points whose distances are known but for noise: Σ_j G_ij = 0 for every feasible G."""
    rng = np.random.default_rng(n)
    points = rng.normal(size=(n, 2))
    squares = ((points[:, None] - points) ** 2).sum(-1) + rng.uniform(0.0, 0.1, (n, n))
    G = cp.Variable((n, n), PSD=True, name="G")
    diagonal = cp.reshape(cp.diag(G), (n, 1), order="F") @ np.ones((1, n))
    off = cp.upper_tri(diagonal + diagonal.T - 2 * G - squares)
    return cp.Problem(cp.Minimize(cp.norm1(off) + 0.1 * cp.trace(G)), [cp.sum(G) == 0]), G


def test_numbers_near_simple_fractions_are_those_of_their_best_fraction() -> None:
    rng = np.random.default_rng(4)
    numbers = np.concatenate([rng.normal(size=200) * 10.0 ** rng.integers(-3, 3, 200), rng.integers(-99, 99, 99) / rng.integers(1, 80, 99)])
    near = [abs(Fraction(float(x)).limit_denominator(SIMPLE) - Fraction(float(x))) <= NEAR for x in numbers]
    assert [are_simple(x) for x in np.split(numbers, len(numbers))] == near and 20 < sum(near) < 280
    assert are_simple(numbers[near]) and not are_simple(numbers)


def test_a_cone_without_interior_is_restricted_to_a_face_and_the_bounds_close() -> None:
    problem, gram = distances()
    problem.solve(solver=cp.CLARABEL)
    found = simopt.certify(problem, rigorous=True)
    assert found.closes(1e-6) and found.lower - 1e-6 <= problem.value <= found.upper + 1e-6
    plain = Declared.of(problem)
    restored = plain.restore({"G": np.asarray(gram.value)}, INTERVAL)
    assert INTERVAL.upper(plain.objective(restored, INTERVAL)) > problem.value + 1.0  # without faces G = 0 is the best point


def test_a_solution_has_the_bounds_of_faces() -> None:
    problem, _ = distances()
    found = simopt.solve(problem, tol=1e-6, rigorous=True).certificate
    assert found is not None and found.closes(1e-6)


def test_points_of_a_restricted_problem_are_those_of_the_problem_and_the_relaxed_one_is_below() -> None:
    """min X₁₁ with X ⪰ 0 and X₀₀ = 0: the face is known, and both problems have the same optimum."""
    X = cp.Variable((2, 2), PSD=True, name="X")
    problem = cp.Problem(cp.Minimize(X[1, 1]), [X[0, 0] == 0, X[1, 1] >= 1])
    guess = face(np.diag([0.0, 1.0]), restricted=True)
    assert guess is not None
    restricted = Declared(read(problem, {"X PSD": guess}))
    at = {"X": np.array([[0.0, 0.0], [0.0, 1.0]])}
    assert restricted.objective(at, RATIONAL) == Fraction(1)
    assert restricted.objective({"X": np.array([[0.0, 1.0], [1.0, 1.0]])}, RATIONAL) == np.inf  # X₀₁ ≠ 0: no point of the cone
    other = face(np.diag([0.0, 1.0]), restricted=False)
    assert other is not None
    relaxed = Declared(read(problem, {"X PSD": other}))
    assert relaxed.objective({"X": np.array([[0.0, 1.0], [1.0, 1.0]])}, RATIONAL) == Fraction(1)
    assert simopt.certify(problem, rigorous=True).closes(1e-6)


def test_what_has_no_interior_and_no_simple_face_says_so() -> None:
    v = np.array([1.0, np.sqrt(2.0), np.pi])
    Z = cp.Variable((3, 3), PSD=True, name="Z")
    found = simopt.certify(cp.Problem(cp.Minimize(cp.trace(Z)), [Z @ v == 0, Z[0, 0] == 1]), rigorous=True)
    assert found.upper == np.inf and "no feasible point inside of the cone is known, as 2 of 3 eigenvalues" in found.open


@pytest.mark.thorough
def test_a_bound_that_would_help_was_tried_and_is_named_with_its_gap() -> None:
    """The H∞ norm of a system with few inputs: the optimal P are all but unbounded."""
    n, rng = 10, np.random.default_rng(10)
    A = rng.normal(size=(n, n))
    A -= np.eye(n) * (np.max(np.linalg.eigvals(A).real) + 0.5)
    B, C = rng.normal(size=(n, 2)), rng.normal(size=(2, n))
    P, gain = cp.Variable((n, n), PSD=True, name="P"), cp.Variable(name="gain")
    block = cp.bmat([[A.T @ P + P @ A + C.T @ C, P @ B], [B.T @ P, -gain * np.eye(2)]])
    problem = cp.Problem(cp.Minimize(gain), [block << 0])
    problem.solve(solver=cp.CLARABEL)
    found = simopt.certify(problem, rigorous=True)
    if found.closes(1e-6):
        pytest.skip("the certificate closes without a bound")
    assert "P << " in found.open and "as constraints the gap is" in found.open
    bound = float(found.open.split("P << ")[1].split(" I")[0])
    helped = simopt.certify(cp.Problem(problem.objective, [*problem.constraints, P << bound * np.eye(n)]), rigorous=True)
    assert helped.closes(1e-6)
