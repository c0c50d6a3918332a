"""Solvers of goodness: Theorem 6 in fractions, the exact value against the floats, LPs against SciPy, box least squares, kernels."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import scipy.optimize

from simopt.arithmetic import RATIONAL
from simopt.core.errors import InvalidProblem
from simopt.model.status import Status
from simopt.problems.examples.goodness import four_points
from simopt.problems.goodness import Goodness
from simopt.problems.goodness_choice import GoodnessChoice
from simopt.problems.kernel_goodness import KernelGoodness
from simopt.solvers.goodness.ball_hinges import pivoted, squared
from simopt.solvers.goodness.box_squares import BoxSquares
from simopt.solvers.goodness.choice import exhaustive, restricted
from simopt.solvers.goodness.enclosure import enclosure
from simopt.solvers.goodness.exact import exact_goodness, exact_smallest_bound
from simopt.solvers.goodness.highs_programme import HighsProgramme
from simopt.solving.entry_points import certify, solve

LOSSES = ("insensitive", "hinge")


def world(seed: int, n: int, loss: str = "insensitive") -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A Gaussian similarity made asymmetric, targets or labels, unequal masses."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 2))
    gram = np.exp(-((x[:, None] - x) ** 2).sum(axis=2) / 2) * (1 + 0.3 * rng.uniform(size=(n, n)))
    y = np.sin(2 * x[:, 0]) + 0.3 * rng.normal(size=n)
    p = rng.exponential(size=n)
    return gram, np.where(y > 0, 1.0, -1.0) if loss == "hinge" else y, p / p.sum()


def four_points_exactly(gamma: Fraction, epsilon1: Fraction) -> tuple[list[list[Fraction]], list[int], list[Fraction]]:
    """Kar & Jain's instance of Theorem 6 in fractions."""
    near, far = 1 - 2 * gamma**2, 1 - 4 * gamma**2
    one, heavy = Fraction(1), Fraction(1, 2) - epsilon1
    gram = [[one, near, near, far], [near, one, far, near], [near, far, one, near], [far, near, near, one]]
    return gram, [1, 1, -1, -1], [epsilon1, heavy, heavy, epsilon1]


def smallest(gamma: Fraction, e: Fraction, width: Fraction = Fraction(0)) -> Fraction:
    """The closed form: two branches, for an insensitive loss of width < ½ (0: absolute, or hinge at margin 1)."""
    if e <= (1 - 2 * width) / (2 * (3 - 4 * width)):
        return (1 - 2 * width) / (8 * e * gamma**2)
    return (1 - width - e) / (8 * gamma**2 * (2 * e**2 - e + Fraction(1, 4)))


GAMMAS = [Fraction(1, 10), Fraction(1, 4), Fraction(1, 2), Fraction(7, 10)]
EPSILONS = [Fraction(1, 1000), Fraction(1, 10), Fraction(1, 6), Fraction(17, 100), Fraction(1, 4), Fraction(2, 5), Fraction(49, 100)]


@pytest.mark.parametrize("gamma", GAMMAS)
@pytest.mark.parametrize("epsilon1", EPSILONS)
def test_theorem_6_has_its_closed_form_in_fractions(gamma: Fraction, epsilon1: Fraction) -> None:
    gram, y, p = four_points_exactly(gamma, epsilon1)
    for loss in LOSSES:
        found = exact_smallest_bound(gram, y, epsilon1, p, loss)
        assert found.exact and found.lower == smallest(gamma, epsilon1)
        assert found.lower >= 1 / (8 * epsilon1 * gamma**2)
        at = exact_goodness(gram, y, smallest(gamma, epsilon1), p, loss)
        assert at.lower == at.upper == epsilon1


@pytest.mark.parametrize("width", [Fraction(1, 20), Fraction(1, 10), Fraction(3, 10)])
def test_theorem_6_with_an_insensitive_width_falls_below_its_bound(width: Fraction) -> None:
    gamma = Fraction(1, 4)
    for epsilon1 in EPSILONS:
        gram, y, p = four_points_exactly(gamma, epsilon1)
        found = exact_smallest_bound(gram, y, epsilon1, p, "insensitive", width)
        assert found.exact and found.lower == smallest(gamma, epsilon1, width)
    assert smallest(gamma, Fraction(1, 10), width) < 1 / (8 * Fraction(1, 10) * gamma**2)


def test_a_light_point_needs_a_quarter_exactly() -> None:
    for epsilon1, gamma in ((Fraction(1, 10), Fraction(1, 3)), (Fraction(1, 2), Fraction(1))):
        gram = [[gamma**2, 0], [0, 0]]
        found = exact_smallest_bound(gram, [1, 0], epsilon1, [2 * epsilon1, 1 - 2 * epsilon1])
        assert found.exact and found.lower == 1 / (4 * epsilon1 * gamma**2)


def test_exact_infeasibility_has_multipliers_that_see_nothing() -> None:
    gram, y = [[1, 1, 0], [1, 1, 0], [0, 0, 1]], [1, -1, 3]
    found = exact_smallest_bound(gram, y, Fraction(1, 2))
    assert found.lower is None and found.upper is None
    assert all(sum(found.multipliers[i] * gram[i][j] for i in range(3)) == 0 for j in range(3))
    assert sum(q * t for q, t in zip(found.multipliers, y, strict=True)) > Fraction(1, 2)
    assert exact_smallest_bound(gram, y, Fraction(2, 3)).exact
    assert exact_smallest_bound([[0]], [0], 0).lower == 0


@pytest.mark.parametrize("loss", LOSSES)
def test_exact_values_lie_in_the_brackets_of_the_floats(loss: str) -> None:
    for seed in range(6):
        gram, y, _ = world(seed, 9, loss)
        for bound in (0.01, 2.0, 500.0):
            problem = Goodness(gram, y, bound, None, loss)
            exact = exact_goodness(gram, y, bound, None, loss)
            found = solve(problem, tol=1e-9)
            assert exact.exact and found.optimal and found.point is not None and found.multipliers is not None
            cap = np.inf if loss == "squared" else np.nextafter(1.0 / 9.0, 0.0)  # 1/9 is no float: enclosures are of the one below it
            multipliers = {"predictions": np.clip(found.multipliers["predictions"], -cap, cap)}
            rational = certify(problem, dict(found.point), multipliers, RATIONAL)
            low, high = enclosure(problem, dict(found.point), multipliers)
            for lower, upper in ((rational.lower, rational.upper), (low, high)):
                assert Fraction(lower) <= exact.lower <= Fraction(upper)
            assert low <= rational.lower and rational.upper <= high
            assert high - low <= 1e-8


def test_exact_values_of_ill_conditioned_data_lie_in_honest_brackets() -> None:
    gram = 1e8 * np.outer([1.0, -1.0, 1.0, 1.0], np.ones(4)) + np.eye(4)
    y = np.array([1.0, -1.0, 1.0, -1.0])
    for bound in (1e-6, 1.0, 1e6):
        exact = exact_goodness(gram, y, bound)
        found = solve(Goodness(gram, y, bound), rigorous="rational").certificate
        assert exact.exact and found is not None
        assert Fraction(found.lower) <= exact.lower <= Fraction(found.upper)


@pytest.mark.parametrize("solver", ["interior-point", "simplex"])
@pytest.mark.parametrize("loss", LOSSES)
def test_values_are_those_of_scipys_linear_programme(solver: str, loss: str) -> None:
    for seed, n in ((0, 5), (1, 30)):
        gram, y, p = world(seed, n, loss)
        A, eye = gram * p, np.eye(n)
        for bound in (0.5, 20.0):
            if loss == "hinge":
                rows, sides = np.hstack([-y[:, None] * A, -eye]), -np.ones(n)
            else:
                rows, sides = np.vstack([np.hstack([A, -eye]), np.hstack([-A, -eye])]), np.concatenate([y + 0.1, 0.1 - y])
            box = [(-bound, bound)] * n + [(0, None)] * n
            peer = scipy.optimize.linprog(np.concatenate([np.zeros(n), p]), A_ub=rows, b_ub=sides, bounds=box, method="highs-ds")
            found = solve(Goodness(gram, y, bound, p, loss, 0.1 if loss == "insensitive" else 0.0), solver, tol=1e-9)
            assert found.optimal
            assert found.value == pytest.approx(peer.fun, abs=1e-7)


def test_where_interior_points_stagnate_the_simplex_method_finishes() -> None:
    gram, y, p = world(3, 60)
    for bound in (3e3, 1e6):
        problem = Goodness(gram, y, bound, p, epsilon=0.05)
        found = solve(problem, "interior-point", tol=1e-12).certificate
        assert found is not None and found.gap <= 1e-12 * problem.scale()  # at the first bound a loss of 0.002 is left of 0.56


def test_box_least_squares_is_that_of_scipy_and_satisfies_the_optimality_conditions() -> None:
    rng = np.random.default_rng(0)
    for n, rank in ((12, 12), (30, 4), (3, 1)):
        A, b = rng.normal(size=(n, rank)) @ rng.normal(size=(rank, n)), rng.normal(size=n)
        box = BoxSquares(A, b)
        v, rho, gap = min(box.points(1e-13, 80), key=lambda found: found[2])
        assert gap <= 1e-10
        peer = scipy.optimize.lsq_linear(A, b, (-1, 1), method="bvls", tol=1e-14)
        assert np.sum((A @ v - b) ** 2) == pytest.approx(2 * peer.cost, rel=1e-6, abs=1e-9)
        pull = 2 * A.T @ rho
        inside = np.abs(v) < 1 - 1e-6
        np.testing.assert_allclose(pull[inside], 0.0, atol=1e-5)
        assert np.all(pull[~inside] * v[~inside] >= -1e-8)


@pytest.mark.parametrize("iterations", [0, 3])
def test_the_active_set_method_alone_ends_at_the_least_squares_in_the_box(iterations: int) -> None:
    """From any state of the interior-point method, with weights at bounds and others inside of them."""
    for seed in range(6):
        rng = np.random.default_rng(seed)
        A, b = rng.normal(size=(8, 8)), 3.0 * rng.normal(size=8)  # square, so that no shape tells a wrong residual
        box = BoxSquares(A, b)
        for _ in range(iterations):
            assert box.iterate()
        points = list(box.polished(box.x))
        v, rho, gap = points[-1]
        least = scipy.optimize.lsq_linear(A, b, (-1.0, 1.0), method="bvls", tol=1e-14)
        assert gap <= 1e-12 * float(b @ b) and v == pytest.approx(least.x, abs=1e-9)
        assert rho == pytest.approx(b - A @ v, abs=1e-12 * float(np.linalg.norm(b)))
        assert len(points) <= 9, len(points)  # a release each, of eight weights, and the first


def test_a_kernel_in_a_huge_ball_is_fitted_and_in_a_tiny_one_is_its_mean() -> None:
    rng = np.random.default_rng(2)
    x = rng.normal(size=(20, 3))
    gram, y = np.exp(-((x[:, None] - x) ** 2).sum(axis=2)), np.where(rng.normal(size=20) > 0, 1.0, -1.0)
    assert solve(KernelGoodness(gram, y, 1e-4, loss="hinge"), tol=1e-9).value == pytest.approx(0.0, abs=1e-9)
    tiny = 1e4  # every hinge is active: the mean Σ p_i y_i φ(x_i) is optimal
    expected = 1.0 - np.sqrt(y @ gram @ y) / 20 / tiny
    assert solve(KernelGoodness(gram, y, tiny, loss="hinge"), tol=1e-11).value == pytest.approx(expected, abs=1e-10)


def test_the_secular_equation_of_the_squared_loss_holds() -> None:
    gram, y, p = world(5, 15)
    gram = 0.5 * (gram @ gram.T)
    for gamma in (0.05, 0.5, 5.0):
        problem = KernelGoodness(gram, y, gamma, p, "squared")
        found = squared(problem)
        alpha = np.asarray(found.point["alpha"])
        length = np.sqrt(alpha @ gram @ alpha)
        assert length <= 1 / gamma * (1 + 1e-9)
        pull = p * (y - gram @ alpha)  # μα = p∘(y − Kα)
        mu = (pull @ alpha) / (alpha @ alpha)
        assert length == pytest.approx(1 / gamma) or mu == pytest.approx(0.0, abs=1e-6)
        np.testing.assert_allclose(gram @ (pull - mu * alpha), 0.0, atol=1e-8)


def test_pivoted_cholesky_keeps_the_kernel_and_its_rank() -> None:
    rng = np.random.default_rng(1)
    features = rng.normal(size=(12, 3))
    factor, pivots = pivoted(np.asfortranarray(features @ features.T))
    assert factor.shape == (12, 3) and len(set(pivots)) == 3
    np.testing.assert_allclose(factor @ factor.T, features @ features.T, atol=1e-12)
    np.testing.assert_allclose(np.triu(factor[pivots], 1), 0.0)
    assert pivoted(np.zeros((3, 3)))[0].shape == (3, 1)


def test_every_choice_is_tried_and_the_relaxed_programme_is_no_worse() -> None:
    rng = np.random.default_rng(4)
    gram, y = rng.normal(size=(6, 6)), rng.normal(size=6)
    problem = GoodnessChoice(gram, y, 1.0, 0.5)
    found = exhaustive(problem)
    assert found.tried == 20 and found.choice is not None and found.certificate is not None and found.weights is not None
    assert int(np.sum(found.choice)) == 3
    f = gram @ (np.where(found.choice, found.weights, 0.0) / 6) / 0.5
    assert np.mean(np.abs(f - y)) == pytest.approx(found.certificate.upper, abs=1e-12)
    assert np.max(np.abs(found.weights)) <= 1.0 + 1e-12
    assert solve(problem, tol=1e-9).value <= found.lower + 1e-9
    assert found.lower <= found.certificate.upper <= found.lower + 1e-8
    for chosen in ([0, 1, 2], [3, 4, 5]):
        mask = np.isin(np.arange(6), chosen)
        assert solve(restricted(problem, mask), tol=1e-9).value >= found.lower - 1e-9


def test_a_density_that_no_choice_has() -> None:
    found = exhaustive(GoodnessChoice(np.ones((1, 1)), np.array([0.5]), 1.0, 0.5))
    assert found.choice is None and found.tried == 0 and found.lower == np.inf
    with pytest.raises(InvalidProblem, match="21 points have 2.1e\\+06 choices"):
        exhaustive(GoodnessChoice(np.eye(21), np.ones(21), 1.0, 0.5))


def test_what_the_exact_solver_refuses() -> None:
    with pytest.raises(InvalidProblem, match="exactly 1 needed"):
        exact_goodness([[1, 0], [0, 1]], [1, 2], 1, [0.1, 0.9])  # the floats sum to 1, their values do not
    assert exact_goodness([[1, 0], [0, 1]], [1, 2], 1, ["0.1", "9/10"]).exact
    for fields, message in (
        ({"loss": "squared"}, "has no vertices"),
        ({"bound": 0}, "bound: 0 given"),
        ({"gram": [[1, 2]]}, "N×N"),
        ({"targets": [1, "one"]}, r"targets\[1\]: 'one' is not a rational number"),
    ):
        with pytest.raises(InvalidProblem, match=message):
            exact_goodness(**{"gram": [[1, 0], [0, 1]], "targets": [1, 2], "bound": 1, **fields})


def test_the_squared_loss_has_no_simplex() -> None:
    gram, y, p = four_points(0.25, 0.125)
    assert solve(Goodness(gram, y, 1.0, p, "squared"), "simplex").status is Status.UNSUPPORTED


def test_a_kept_programme_follows_its_bounds_and_says_when_it_has_no_solution() -> None:
    programme = HighsProgramme([np.array([[1.0, 2.0]])], np.array([-1.0, -1.0]), np.zeros(2), np.ones(2), [-np.inf], [2.0])
    first = programme.solve()
    assert -first.columns.sum() == pytest.approx(-1.5) and first.rows[0] == pytest.approx(-0.5)
    programme.set_bounds(1, np.array([0.0]), np.array([0.5]))
    assert programme.solve().columns.tolist() == pytest.approx([0.5, 0.75])
    with pytest.raises(ArithmeticError, match="HiGHS: Infeasible"):
        HighsProgramme([np.ones((1, 1))], np.ones(1), np.zeros(1), np.ones(1), [2.0], [3.0]).solve()
    with pytest.raises(ArithmeticError, match="HiGHS"):
        HighsProgramme([np.ones((1, 1))], -np.ones(1), np.zeros(1), np.full(1, np.inf), [0.0], [np.inf]).solve()


@pytest.mark.parametrize("gamma", [1e-5, 1e-2, 1.0, 1e2, 1e3, 1e5])
@pytest.mark.parametrize("gram", [np.eye(7), np.ones((7, 7)), 1.0 / (1.0 + np.add.outer(np.arange(7), np.arange(7)))], ids=["I", "1", "H"])
def test_balls_of_every_size_close(gram: np.ndarray, gamma: float) -> None:
    targets = np.array([3.0, 3.0, 2.5, -1.0, 3.0, 0.5, 3.0])
    for problem in (KernelGoodness(gram, targets, gamma), KernelGoodness(gram, np.sign(targets), gamma, loss="hinge")):
        solution = solve(problem, "interior-point")
        found = solution.certificate
        assert found is not None  # targets that a large ball reaches leave the loss 0
        assert solution.optimal or (found.reading.startswith("zero to") and found.gap_over_terms <= 1e-8), found


@pytest.mark.parametrize("loss", ["insensitive", "hinge", "squared"])
def test_points_of_tiny_size_are_no_rounding_errors_of_large_ones(loss: str) -> None:
    # φ(x_2) = 1e-8 e_2 and ‖W‖ ≤ 1e10: both points are fitted
    problem = KernelGoodness(np.diag([1.0, 1e-16]), np.ones(2), 1e-10, loss=loss)
    assert certify(problem, {"alpha": np.array([1.0, 1e16])}).upper < 1e-9
    found = solve(problem)
    assert found.certificate is not None and found.certificate.lower < 1e-9
    assert found.optimal or loss == "squared"
