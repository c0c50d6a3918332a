"""Solvers of ordinal goodness: against SciPy on a formulation of its own, values in fractions, direct reduction by brute force."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
import scipy.optimize

from simopt.core.errors import InvalidProblem
from simopt.model.status import Status
from simopt.problems.kernel_ordinal_goodness import KernelOrdinalGoodness
from simopt.problems.ordinal_goodness import OrdinalGoodness
from simopt.solvers.goodness.direct_reduction import direct_reduction_goodness
from simopt.solvers.goodness.exact_pivots import NoFeasiblePoint
from simopt.solvers.goodness.exact_programme import exact_programme
from simopt.solvers.goodness.ordinal_exact import exact_ordinal_bound, exact_ordinal_goodness
from simopt.solvers.goodness.ordinal_hinges import _factorised
from simopt.solvers.goodness.ordinal_margins import Margins
from simopt.solving.entry_points import solve

HALF, ONE, ZERO = Fraction(1, 2), Fraction(1), Fraction(0)


def world(seed: int, n: int, classes: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A similarity of both signs, labels (classes may be empty), unequal masses."""
    rng = np.random.default_rng(seed)
    p = rng.exponential(size=n)
    return rng.normal(size=(n, n)), rng.integers(1, classes + 1, size=n).astype(float), p / p.sum()


def scipy_value(problem: OrdinalGoodness) -> float:
    """min Σ p (s + t) with w, b, s, t as columns, one row a hinge, straight from Definition 12."""
    n, count, p = len(problem.labels), problem.classes - 1, problem.mass
    rows, sides = [], []
    for i, y in enumerate(problem.labels.astype(int)):
        f = np.concatenate([p * problem.gram[i], np.zeros(count + 2 * n)])
        for hinge, sign, end in ((0, -1.0, y - 2), (1, 1.0, y - 1)):  # b + γ − f ≤ s,  f − b + γ ≤ t
            if 0 <= end < count:
                row = sign * f
                row[n + end] = -sign
                row[n + count + hinge * n + i] = -1.0
                rows.append(row)
                sides.append(-problem.gamma)
    for j in range(count - 1):
        row = np.zeros(n + count + 2 * n)
        row[n + j], row[n + j + 1] = 1.0, -1.0
        rows.append(row)
        sides.append(-problem.delta)
    costs = np.concatenate([np.zeros(n + count), p, p])
    bounds: list[Any] = [(-problem.bound, problem.bound)] * n + [(None, None)] * count + [(0, None)] * (2 * n)
    found = scipy.optimize.linprog(costs, A_ub=np.array(rows), b_ub=sides, bounds=bounds, method="highs")
    return float(found.fun)


@pytest.mark.parametrize(("n", "classes", "delta"), [(6, 2, 0.0), (8, 3, 0.5), (10, 6, 0.0), (12, 8, 1.0), (5, 9, 0.25)])
def test_both_solvers_agree_with_scipy(n: int, classes: int, delta: float) -> None:
    for seed in range(3):
        gram, y, p = world(seed, n, classes)
        problem = OrdinalGoodness(gram, y, classes, 2.0, p, 0.5, delta)
        for name in ("simplex", "interior-point"):
            found = solve(problem, name, tol=1e-9)
            assert found.status is Status.OPTIMAL
            assert found.value == pytest.approx(scipy_value(problem), abs=1e-8)


@pytest.mark.parametrize("gamma", [0.02, 0.3, 2.0])
def test_the_kernel_solver_agrees_with_a_conic_one(gamma: float) -> None:
    for seed, rank in ((0, 2), (1, 9)):
        A = np.random.default_rng(seed).normal(size=(9, rank))
        _, y, p = world(seed, 9, 4)
        problem = KernelOrdinalGoodness(A @ A.T, y, 4, gamma, p, 1.0)
        found, other = (solve(problem, name, tol=1e-8) for name in ("interior-point", "clarabel"))
        assert found.status is Status.OPTIMAL and other.status is Status.OPTIMAL
        assert found.value == pytest.approx(other.value, abs=1e-6)


def test_iterations_do_not_grow_with_the_domain() -> None:
    for n in (20, 80):
        gram, y, p = world(0, n, 5)
        found = solve(OrdinalGoodness(gram, y, 5, 5.0, p, 1.0, 0.5), "interior-point", tol=1e-9)
        assert found.status is Status.OPTIMAL and found.provenance.iterations <= 40


def test_thresholds_that_nothing_needs_are_out_of_the_way() -> None:
    gram, _, p = world(1, 6, 3)
    problem = OrdinalGoodness(gram, np.array([3.0, 3.0, 4.0, 7.0, 7.0, 4.0]), 9, 2.0, p, 1.0, 0.25)
    margins = Margins(problem)
    assert list(margins.needed) == [2, 3, 5]  # b_3 between 3 and 4; b_4 and b_6 around the empty classes 5 and 6
    np.testing.assert_allclose(margins.spacing, [0.25, 0.5])
    full = margins.thresholds(np.array([-0.5, 0.5, 2.0]))
    assert np.all(np.diff(full) >= 0.25 - 1e-12)
    f = problem.reach()
    assert full[1] <= -f - 1.0 and full[6] >= f + 1.0
    np.testing.assert_allclose(full[[2, 3, 4, 5]], [-0.5, 0.5, 0.75, 2.0])


def rational(rng: np.random.Generator, n: int) -> list[list[Fraction]]:
    """K ∈ {−1, −2/3, …, 1}."""
    return [[Fraction(int(k), 3) for k in row] for row in rng.integers(-3, 4, size=(n, n))]


@pytest.mark.parametrize("classes", [2, 3, 5])
def test_values_in_fractions(classes: int) -> None:
    rng = np.random.default_rng(classes)
    for n in (3, 6):
        K, y = rational(rng, n), [int(k) for k in rng.integers(1, classes + 1, size=n)]
        found = exact_ordinal_goodness(K, y, classes, 2, gamma=HALF, delta=Fraction(1, 3))
        floats = OrdinalGoodness(np.array(K, dtype=float), np.array(y, dtype=float), classes, 2.0, None, 0.5, 1 / 3)
        assert float(found.value) == pytest.approx(solve(floats, "simplex").value, abs=1e-9)
        assert found.fixed - 2 * found.influence == found.value
        assert max(map(abs, found.weights)) <= 2
        other = exact_ordinal_goodness(K, y, classes, Fraction(5, 2), gamma=HALF, delta=Fraction(1, 3))
        assert other.value >= found.fixed - Fraction(5, 2) * found.influence


def test_the_smallest_bound_reaches_the_level_and_nothing_less_does() -> None:
    rng = np.random.default_rng(0)
    for _ in range(4):
        K, y = rational(rng, 5), [int(k) for k in rng.integers(1, 4, size=5)]
        found = exact_ordinal_bound(K, y, 3, Fraction(1, 5))
        if found is None:
            assert exact_ordinal_goodness(K, y, 3, 10**6).value > Fraction(1, 5)
            continue
        assert exact_ordinal_goodness(K, y, 3, found[0]).value <= Fraction(1, 5)
        if found[0] > 0:
            assert exact_ordinal_goodness(K, y, 3, found[0] * Fraction(999, 1000)).value > Fraction(1, 5)
            assert found[1].fixed - found[0] * found[1].influence == Fraction(1, 5)


@pytest.mark.parametrize("gamma", [Fraction(1, 10), HALF, Fraction(3)])
@pytest.mark.parametrize("fraction", [Fraction(1, 1000), Fraction(1, 3), HALF])
def test_a_quarter_is_attained(gamma: Fraction, fraction: Fraction) -> None:
    for gamma_1 in (ONE, Fraction(2, 7)):
        found = exact_ordinal_bound([[4 * gamma**2, 0], [0, 0]], [2, 1], 2, fraction * gamma_1, [fraction, 1 - fraction], gamma_1)
        assert found is not None and found[0] == gamma_1 / (4 * fraction * gamma**2)


def test_levels_out_of_reach() -> None:
    assert exact_ordinal_bound([[1, 1], [1, 1]], [1, 2], 2, Fraction(1, 2)) is None  # two labels that K does not tell apart lose γ
    found = exact_ordinal_bound([[1, 1], [1, 1]], [1, 2], 2, 1)
    assert found is not None and found[0] == 0


def test_exact_programmes() -> None:
    # min −x − y over x + 2y ≤ 4, 3x + y ≤ 6, x, y ≥ 0: the corner (8/5, 6/5)
    found = exact_programme(
        [-ONE, -ONE], [[ONE, 2 * ONE], [3 * ONE, ONE]], [ZERO, ZERO], [None, None], [None, None], [Fraction(4), Fraction(6)]
    )
    assert found.value == Fraction(-14, 5) and found.columns == (Fraction(8, 5), Fraction(6, 5))
    assert found.rows == (Fraction(-2, 5), Fraction(-1, 5))
    with pytest.raises(NoFeasiblePoint):
        exact_programme([ONE], [[ONE]], [ZERO], [ONE], [Fraction(2)], [None])
    with pytest.raises(ArithmeticError):
        exact_programme([-ONE], [[ONE]], [ZERO], [None], [ZERO], [None])


def least_by_brute_force(K: list[list[Fraction]], y: list[int], classes: int, bound: float, b: list[float]) -> float:
    """All r^N labels, each a programme of SciPy's: the largest t with b_k + 0 ≤ f and f + t ≤ b_{k+1}."""
    n, best = len(y), np.inf
    columns = np.array(K, dtype=float) / n
    ends = [-np.inf, *b, np.inf]
    for labels in product(range(1, classes + 1), repeat=n):
        error = float(np.mean([abs(k - t) for k, t in zip(labels, y, strict=True)]))
        if error >= best:
            continue
        rows, sides = [], []
        for i, k in enumerate(labels):
            if np.isfinite(ends[k - 1]):
                rows.append(np.append(-columns[i], 0.0))
                sides.append(-ends[k - 1])
            if np.isfinite(ends[k]):
                rows.append(np.append(columns[i], 1.0))
                sides.append(ends[k])
        found = scipy.optimize.linprog(
            np.append(np.zeros(n), -1.0), A_ub=np.array(rows), b_ub=sides, bounds=[(-bound, bound)] * n + [(None, 1.0)]
        )
        if found.status == 0 and -found.fun > 1e-9:
            best = error
    return best


@pytest.mark.parametrize(("n", "classes", "bound"), [(3, 3, 6.0), (4, 2, 3.0), (4, 3, 12.0)])
def test_direct_reduction_by_brute_force(n: int, classes: int, bound: float) -> None:
    rng = np.random.default_rng(n + classes)
    for _ in range(2):
        K, y = rational(rng, n), [int(k) for k in rng.integers(1, classes + 1, size=n)]
        b = [k + 0.5 for k in range(1, classes)]
        found = direct_reduction_goodness(K, y, classes, bound, b)
        assert float(found.value) == pytest.approx(least_by_brute_force(K, y, classes, bound, b))
        assert max(map(abs, found.weights)) <= bound
        f = [sum((k * w for k, w in zip(row, found.weights, strict=True)), ZERO) / n for row in K]
        assert tuple(f) == found.predictions
        assert found.labels == tuple(1 + sum(v >= Fraction(x) for x in b) for v in f)


def test_a_prediction_at_a_threshold_has_the_label_above_it() -> None:
    assert direct_reduction_goodness([[1]], [2], 2, 1, [1]).value == 0
    assert direct_reduction_goodness([[1]], [2], 2, Fraction(99, 100), [1]).value == 1
    assert direct_reduction_goodness([[1]], [1], 2, 0, [0]).value == 1  # f = 0 has label 2, and B = 0 has no other


def test_bad_input_of_exact_values_and_enumeration() -> None:
    K = [[1, 0], [0, 1]]
    with pytest.raises(InvalidProblem, match="sum to exactly 1|exactly 1 needed"):
        exact_ordinal_goodness(K, [1, 2], 2, 1, ["1/2", "1/3"])
    with pytest.raises(InvalidProblem, match="labels"):
        exact_ordinal_goodness(K, [1, 3], 2, 1)
    with pytest.raises(InvalidProblem, match="bound"):
        exact_ordinal_goodness(K, [1, 2], 2, -1)
    with pytest.raises(InvalidProblem, match="gamma"):
        exact_ordinal_goodness(K, [1, 2], 2, 1, gamma=0)
    with pytest.raises(InvalidProblem, match="gram"):
        exact_ordinal_goodness([[1]], [1, 2], 2, 1)
    with pytest.raises(InvalidProblem, match="index 2 is not above .* at index 1"):
        direct_reduction_goodness(K, [1, 2], 4, 1, [1, 2, 2])
    with pytest.raises(InvalidProblem, match="3 classes have 2"):
        direct_reduction_goodness(K, [1, 2], 3, 1, [1])
    with pytest.raises(InvalidProblem, match="more than 1 linear programmes"):
        direct_reduction_goodness(K, [3, 2], 3, 9, [1, 2], most=1)


@pytest.mark.parametrize("delta", [0.0, 0.1, 1.0])
def test_points_that_are_all_alike(delta: float) -> None:
    """K = 11ᵀ and classes of one size: Gᵀq is 0 at the start but for rounding, which once was taken for a direction."""
    problem = KernelOrdinalGoodness(np.ones((24, 24)), np.repeat([1.0, 2.0, 3.0, 4.0], 6), 4, 1.0, delta=delta)
    solution = solve(problem, "interior-point")
    assert solution.status is Status.OPTIMAL
    assert solution.certificate is not None
    assert solution.certificate.upper == pytest.approx(problem.scale(), rel=1e-9)


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("gamma", [1e-2, 1e-4])
def test_a_large_ball_around_points_that_coincide(seed: int, gamma: float) -> None:
    """A constant f can be moved together with the thresholds at next to no cost, so that the Newton matrix is all but singular."""
    rows = np.eye(34)[:, :10]
    distances = np.square(rows[:, None] - rows).sum(axis=-1)
    labels = np.random.default_rng(seed).integers(1, 5, size=34).astype(float)
    solution = solve(KernelOrdinalGoodness(np.exp(-distances / distances.mean()), labels, 4, gamma), "interior-point")
    assert solution.status is Status.OPTIMAL


def test_rounding_of_either_sign_does_not_end_the_run() -> None:
    """The last pivot of a Newton matrix that is singular but for the ball: BLAS kernels differ in its sign."""
    rank_one = np.outer([1.0, 2.0, -3.0], [1.0, 2.0, -3.0])
    for rounding in (-1e-13, -1e-15, 0.0, 1e-15):
        factor = np.tril(_factorised(np.asfortranarray(rank_one + np.diag([0.0, 0.0, rounding]))))
        np.testing.assert_allclose(factor @ factor.T, rank_one, rtol=0.0, atol=1e-11)
    with pytest.raises(np.linalg.LinAlgError):
        _factorised(np.asfortranarray(-rank_one))


@pytest.mark.parametrize("gamma", [0.1, 0.01, 0.001])
@pytest.mark.parametrize("seed", range(5))
def test_a_kernel_that_is_nearly_constant(seed: int, gamma: float) -> None:
    """u crosses the ball in a few long steps; with ω on its tangent, and not raised to the slack left, they shrank to nothing."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((34, 34))
    labels = rng.integers(1, 5, size=34).astype(float)
    solution = solve(KernelOrdinalGoodness(1.0 + 1e-8 * (X @ X.T) / 34, labels, 4, gamma), "interior-point")
    assert solution.status is Status.OPTIMAL
