"""Formulas that several problems share, on numbers for which the answer is known or follows from another way to compute it."""

import math
from decimal import Context, Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest

from simopt.arithmetic import FLOAT, INTERVAL
from simopt.core.errors import InvalidProblem
from simopt.model import uniform_convexity
from simopt.problems.bayes_linear_loss import BayesLinearLoss
from simopt.problems.bounds import Capacity
from simopt.problems.domains import chain, ordinal_domain, simplex, slater
from simopt.problems.hinge_svm import HingeSVM
from simopt.problems.kernel_ranking import KernelRanking
from simopt.problems.losses.prediction_losses import Hinge, Insensitive, Squared
from simopt.problems.losses.transfers import TRANSFERS
from simopt.problems.m_power_rls import MPowerRLS, PowerBall, PowerPenalty
from simopt.problems.multiple_kernel_mean import MultipleKernelMean
from simopt.problems.norms import norm_power, power_units, squares, unit_ball, vectors
from simopt.problems.norms.gram_factor import factor_of
from simopt.problems.ordinal_goodness import OrdinalGoodness
from simopt.problems.sup_distance import SupDistance
from simopt.problems.thresholds import balancing, loose_ball
from simopt.problems.thresholds.sides import HingeSide, explicit
from simopt.solving.entry_points import solve


def divergence(e: float, m: float) -> Decimal:
    """(1+e)^m − 1 − me to fifty digits."""
    with localcontext(Context(prec=120)):
        return (1 + Decimal(e)) ** Decimal(m) - 1 - Decimal(m) * Decimal(e)


@pytest.mark.parametrize("m", [1.1, 1.5, 2.0, 3.7, 11.0])
@pytest.mark.parametrize("e", [-0.9, -0.3, -1e-3, -1e-6, 1e-9, 1e-4, 1.5e-3, 0.1, 4.0])
def test_the_divergence_of_a_power_is_right_to_rounding_and_its_enclosure_narrow(e: float, m: float) -> None:
    exact = divergence(e, m)
    assert norm_power._divergence(FLOAT, e, m) == pytest.approx(float(exact), rel=1e-12)
    ball = norm_power._divergence(INTERVAL, INTERVAL.lift(e), m)
    if m * abs(e) <= norm_power.SMALL:
        assert Decimal(INTERVAL.lower(ball)) <= exact <= Decimal(INTERVAL.upper(ball))
        assert INTERVAL.upper(ball) - INTERVAL.lower(ball) <= float(exact) * (4 * m * abs(e) + 1e-13)
    else:
        assert ball is None


def test_a_divergence_beyond_the_floats_is_not_given() -> None:
    assert norm_power._divergence(FLOAT, 1e300, 3.0) is None
    assert norm_power._divergence(FLOAT, 0.01, 700.0) == pytest.approx(float(divergence(0.01, 700.0)), rel=1e-11)
    assert norm_power._divergence(FLOAT, -1.0, 3.0) == 2.0


@pytest.mark.parametrize(("m", "r"), [(1.5, 2.0), (2.0, 3.0), (3.0, 2.0), (6.0, 0.5)])
def test_strong_convexity_of_a_power_at_a_norm(m: float, r: float) -> None:
    """g = ½λm min(1, m−1) r^{m−2} R²."""
    radius = uniform_convexity.curved(math.log(0.3), math.log(0.2), m, r)
    assert 0.5 * 0.2 * m * min(1.0, m - 1.0) * r ** (m - 2) * radius**2 == pytest.approx(0.3)


def test_units_of_a_penalised_power_follow_the_targets() -> None:
    """With y = cy' and λ = c^{2−m}λ' the problem is the same in y'."""
    y, c = np.array([1.0, -0.5, 0.75]), 2.0**20
    for m, strength in ((8.0, 2.0**40), (5.0, 2.0**60), (3.0, 1.0)):
        sigma, kappa = power_units.units(np.eye(3), y, m, strength=strength)
        assert power_units.units(np.eye(3), c * y, m, strength=strength * c ** (2.0 - m)) == (c * sigma, kappa)
    assert power_units.units(np.eye(3), y, 8.0, strength=2.0**40)[1] != 1.0, "a norm of 2^-5 to the eighth"


def test_the_unit_of_a_power_is_near_the_norm_of_its_solution() -> None:
    """λ‖u‖^12 ≤ ‖y‖²/n allows (10^6/10^-3)^(1/12) = 5.6."""
    problem = MPowerRLS(np.eye(3), np.full(3, 1e3), PowerPenalty(1e-3, 12.0))
    assert power_units.norm_unit(problem.factor, problem.targets, 1e-3, 12.0) == 4.0
    for plain in (1.0, 2.0):
        assert power_units.norm_unit(problem.factor, problem.targets, 1e-3, plain) == 1.0


def test_a_norm_as_penalty_leaves_its_multipliers_within_the_dual_ball() -> None:
    rng = np.random.default_rng(0)
    problem = MPowerRLS(np.eye(4), np.arange(4.0), PowerPenalty(0.3, 1.0))
    for v in rng.normal(size=(200, 4)):
        scaled, length = problem._feasible(FLOAT, v)
        assert length <= 0.3 and np.linalg.norm(scaled) <= 0.3 * (1 + 1e-15)


def test_the_ball_of_the_mean_classifier() -> None:
    mean, half = np.array([3.0, 4.0]), np.array([0.3, 0.4])
    assert unit_ball.distance(0.1, np.eye(2), mean) == pytest.approx(0.2)
    assert unit_ball.distance(1e9, np.eye(2), mean) == unit_ball.distance(0.1, np.eye(2), np.zeros(2)) == 2.0
    for alpha in (half, -half, np.array([0.8, -0.6]), np.zeros(2)):
        assert unit_ball.slack(FLOAT, np.eye(2), mean, alpha) == pytest.approx(5.0 - mean @ alpha)


def test_values_of_a_world_lie_within_two_of_each_other() -> None:
    world = BayesLinearLoss(np.array([[0.1, 0.4], [0.3, 0.2]]))
    assert world.distance(1e6) == 2.0 and world.distance(0.05) == pytest.approx(0.5)


@pytest.mark.parametrize("name", list(TRANSFERS))
def test_the_slope_of_a_transfer_reaches_its_bound(name: str) -> None:
    link = TRANSFERS[name]
    slopes = link.slope(np.linspace(-3.0, 3.0, 6001))
    assert link.lipschitz * (1 - 1e-6) <= np.max(slopes) <= link.lipschitz * (1 + 1e-12)


def test_thresholds_stay_in_a_box_that_was_rounded_outwards() -> None:
    assert ordinal_domain.OUTWARDS > 1.0
    rng = np.random.default_rng(1)
    for gamma, delta, bound in rng.uniform(0.05, 3.0, (100, 3)).tolist():
        problem = OrdinalGoodness(np.eye(4) * rng.uniform(0.0, 1e-3), np.array([1.0, 2.0, 3.0, 4.0]), 4, bound, None, gamma, delta)
        low, high = problem.box()
        margin, step = Fraction(problem.hinge_margin), Fraction(problem.delta)
        largest = Fraction(float(problem.gram[0, 0])) / 4 * Fraction(bound)
        for j in (1, 2, 3):
            assert Fraction(high[j - 1]) >= largest + margin + (j - 1) * step and Fraction(low[j - 1]) <= -largest - margin - (3 - j) * step
            assert high[j - 1] == pytest.approx(float(largest + margin + (j - 1) * step), rel=1e-12)
            assert low[j - 1] == pytest.approx(-float(largest + margin + (3 - j) * step), rel=1e-12)


def test_multipliers_without_a_range_are_nothing_at_both_ends() -> None:
    free = np.zeros(3, dtype=bool)
    tau, mass = np.array([-1.0, -2.0, 3.0, -4.0, -5.0]), np.ones(4)
    assert chain.dual_feasible(tau, free, mass, None, None).tolist() == [0.0, -2.0, 3.0, -4.0, 0.0]
    assert chain.dual_feasible(tau, free, mass, 0.0, None).tolist() == [-1.0, -2.0, 3.0, -4.0, 0.0]
    assert chain.dual_feasible(tau, free, mass, None, 1.0).tolist() == [0.0, -2.0, 3.0, -4.0, -5.0]
    assert chain.dual_feasible(-tau, ~free, mass, 0.0, 1.0).tolist() == [0.0, 0.0, -3.0, 0.0, 0.0]


def test_a_climb_that_fills_the_range_exactly_is_allowed() -> None:
    z, lower = np.array([1.0, 2.0, 3.0]), np.array([1.0, 1.0])
    chain.check_bounds(z, lower, 2.0, 0.0, 2.0)
    with pytest.raises(InvalidProblem, match="between samples 0 and 2, a climb of at least 2"):
        chain.check_bounds(z, lower, 2.0, 0.0, math.nextafter(2.0, 0.0))
    with pytest.raises(InvalidProblem, match="a step beyond float64"):
        SupDistance(np.array([0.0, 1e10]), np.array([0.0, 1.0]), 1e300)


def test_what_is_wrong_with_probabilities_is_said() -> None:
    with pytest.raises(InvalidProblem, match="all are 0"):
        simplex.probabilities("p", np.zeros(3))
    with pytest.raises(InvalidProblem, match="divide by their sum"):
        simplex.probabilities("p", np.array([0.5, 0.2]))


def test_defaults_and_shapes() -> None:
    assert MPowerRLS(np.eye(2), np.ones(2), PowerBall(1.0)).power == 2.0
    with pytest.raises(InvalidProblem, match="Gram matrices of one size needed"):
        MultipleKernelMean([np.eye(2), np.eye(3)], np.array([1.0, -1.0]))


@pytest.mark.parametrize("loss", [Insensitive(0.1), Hinge(1.0), Squared()])
def test_weights_within_a_level_are_found_where_there_are_some(loss) -> None:
    rng = np.random.default_rng(2)
    columns, y, p = rng.normal(size=(6, 6)), np.sign(rng.normal(size=6)), np.full(6, 1 / 6)
    found = slater.inner_weights(columns, y, p, loss, 0.05)
    assert found is not None and float(p @ loss.value(FLOAT, columns @ found, y)) < 0.05
    if not isinstance(loss, Squared):
        boxed = slater._least(columns, y, p, loss, 0.25)
        assert boxed is not None and np.max(np.abs(boxed)) <= 0.25
        others = rng.uniform(-0.25, 0.25, (200, 6))
        assert all(slater._value(columns, y, p, loss, boxed) <= slater._value(columns, y, p, loss, w) + 1e-9 for w in others)
    assert slater.inner_weights(np.zeros((6, 6)), y, p, loss, 0.05) is None


def test_multipliers_that_match_a_net_multiplier_cost_least() -> None:
    """Of p, q in [0, 1/n] with p − q = net those of least Σ (1/n − a)[h]_+ + a[−h]_+, by a grid."""
    rng = np.random.default_rng(4)
    highs, lows = explicit(np.array([1.0, 2.0, 2.0, 4.0]), 4)
    share = 0.25

    def cost(a, h):
        return np.where(h > 0, (share - a) * h, -a * h)

    for _ in range(100):
        over, under, net = rng.normal(size=3), rng.normal(size=3), share * rng.uniform(-0.9, 0.9, 4)
        found = balancing.matching(highs, lows, over, under, net)
        p, q = found["above"], found["below"]
        assert np.all((p >= 0) & (p <= share) & (q >= 0) & (q <= share))
        assert p[0] == pytest.approx(max(net[0], 0.0)) and q[-1] == pytest.approx(max(-net[3], 0.0))
        for above, below, sample in ((1, 0, 1), (2, 1, 2)):  # two hinges each
            assert p[above] - q[below] == pytest.approx(net[sample], abs=1e-12)
            grid = np.linspace(max(net[sample], 0.0), min(share, share + net[sample]), 1001)
            best = np.min(cost(grid, over[above]) + cost(grid - net[sample], under[below]))
            assert cost(p[above], over[above]) + cost(q[below], under[below]) <= best + 1e-12


def test_damping_by_a_factor_is_a_ridge_solution() -> None:
    """z = μ(K + μI)⁻¹r."""
    rng = np.random.default_rng(5)
    F, r = rng.normal(size=(5, 3)), rng.normal(size=5)
    for mu in (0.1, 3.0):
        damped = factor_of(F @ F.T).damped(r, mu)
        np.testing.assert_allclose(damped, np.linalg.solve(F @ F.T + mu * np.eye(5), mu * r), rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(factor_of(np.diag([2.0, 0.0])).damped(np.array([1.0, 1.0]), 0.0), [0.0, 1.0])


@pytest.mark.parametrize("size", [0.5, 2.0])
def test_what_a_ball_adds_to_a_gap(size: float) -> None:
    """r‖g‖ + ⟨g, w⟩, for w in the ball and for w = 0."""
    g = np.array([3.0, -4.0])
    for w in (np.zeros(2), size * np.array([0.6, 0.8]), -size * np.array([0.6, -0.8]), size * np.array([0.3, -0.1])):
        assert vectors.ball_term(FLOAT, w, g, size) == pytest.approx(size * 5.0 + g @ w, abs=1e-12)


def test_what_a_ball_adds_where_a_quotient_leaves_the_floats() -> None:
    unit = np.array([0.6, 0.8])
    assert vectors.ball_term(FLOAT, 1e-200 * unit, 1e200 * unit, 1e-200) == pytest.approx(2.0)
    assert vectors.ball_term(FLOAT, -1e-200 * unit, 1e200 * unit, 1e-200) == pytest.approx(0.0, abs=1e-12)


def test_the_relevance_expected_of_a_document_is_its_mean_over_the_lists() -> None:
    for example in KernelRanking.examples(np.random.default_rng(6)):
        problem = example.problem
        for document in range(len(problem.gram)):
            here = problem.entries == document
            mass = problem.mass[here]
            mean = float(mass @ problem.targets[here] / mass.sum()) if mass.sum() > 0 else 0.0
            assert problem.expected[document] == pytest.approx(mean, abs=1e-12)


def test_of_two_forms_of_what_cauchy_schwarz_leaves_the_one_of_smaller_error_is_taken() -> None:
    """With s/t = 10⁶ and an angle of 1/100, st − v·α is off by some 10⁻¹⁰, and the square by that part of its value that eps is."""
    rng = np.random.default_rng(3)
    for large in (1e6, 1e-6):
        alpha = rng.normal(size=20)
        v = large * (alpha + 1e-2 * rng.normal(size=20))
        with localcontext(Context(prec=60)):
            a, b = ([Decimal(float(x)) for x in y] for y in (alpha, v))
            exact = (sum(x * x for x in a) * sum(y * y for y in b)).sqrt() - sum(x * y for x, y in zip(a, b, strict=True))
        t, s = (float(np.linalg.norm(x)) for x in (alpha, v))
        assert float(power_units.angle(FLOAT, np.eye(20), alpha, v, t, s)) == pytest.approx(float(exact), rel=1e-14), large


@pytest.mark.parametrize("num", [FLOAT, INTERVAL])
@pytest.mark.parametrize(
    ("total", "budget", "least"),
    [(2.0, 3.0, 1.0), (2.0, 2.0, 0.999), (3.0, 1.0, 0.333), (1e300, 1e-300, 0.0), (2.0, 0.0, 0.0), (2.0, -1.0, 0.0)],
)
def test_a_part_of_the_total_fits_into_the_budget_and_nothing_into_none(num, total, budget, least) -> None:
    fraction = chain.fitting_fraction(num, num.lift(total), num.lift(budget))
    assert least <= fraction <= 1.0 and (fraction * total <= budget or fraction == 0.0)
    assert (fraction == 0.0) == (budget <= 0.0 or budget / total == 0.0)


def test_given_thresholds_leave_no_order_to_balance() -> None:
    """With thresholds that are given there is no ν; Ψᵀs is 0 to rounding in what is balanced."""
    sides = (HingeSide(np.array([0, 1]), np.array([0, 0]), 2, 1), HingeSide(np.array([0, 1]), np.array([0, 0]), 2, 1))
    found = loose_ball.balanced_out(np.array([[1.0], [-1.0]]), sides, (np.array([0.3, 0.2]), np.array([0.0, 0.0])), None)
    assert found is not None and found["order"].size == 0
    assert found["above"][0] == pytest.approx(found["above"][1]) and set(found) == {"above", "below", "order"}


def test_rows_of_order_pull_at_a_threshold_and_the_next() -> None:
    assert loose_ball._steps(np.zeros((5, 2)), np.array([0, 2]), 4).T.tolist() == [[0, 0, 1, -1, 0, 0], [0, 0, 0, 0, 1, -1]]


def test_a_law_of_samples_carries_the_numbers_of_a_point_too() -> None:
    problem = HingeSVM(np.eye(3), np.array([1.0, -1.0, 1.0]), Capacity(1.0), intercept=True)
    order = np.array([2, 0, 1])
    image = squares._selecting("labels")(problem, order, 0.5)
    carried = image.point({"alpha": np.array([1.0, 2.0, 3.0]), "b": np.array(4.0)})
    assert carried["alpha"].tolist() == [1.5, 0.5, 1.0] and carried["b"] == 4.0
    assert image.problem.labels.tolist() == [1.0, 1.0, -1.0]


def test_dual_candidates_of_an_exact_solution_are_the_dual_solution() -> None:
    rng = np.random.default_rng(0)
    root = rng.normal(size=(6, 6))
    gram, y, mu = root @ root.T, rng.normal(size=6), 0.3
    alpha = np.linalg.solve(gram + mu * np.eye(6), y)
    for candidate in squares.candidates(gram, y, alpha, mu):
        np.testing.assert_allclose(candidate["predictions"], 2.0 / 6.0 * mu * alpha, rtol=1e-9)


@pytest.mark.parametrize("loss", [Hinge(0.75), Insensitive(0.25), Squared()])
def test_slopes_are_the_negative_derivatives(loss) -> None:
    rng = np.random.default_rng(1)
    f, y, h = rng.normal(size=40), rng.choice([-1.0, 1.0], size=40), 1e-6
    derivative = (loss.value(FLOAT, f + h, y) - loss.value(FLOAT, f - h, y)) / (2 * h)
    np.testing.assert_allclose(loss.slope(f, y), -derivative, atol=1e-6)


def test_the_ray_of_the_squared_loss_is_orthogonal_to_the_columns() -> None:
    """q = 2p(y − Xw) at the least-squares fit w, also where columns depend on each other."""
    rng = np.random.default_rng(2)
    columns, y, p = rng.normal(size=(9, 3)), rng.normal(size=9), rng.uniform(0.5, 2.0, size=9)
    root = np.sqrt(p)
    fitted = columns @ np.linalg.lstsq(columns * root[:, None], root * y, rcond=None)[0]
    for some in (columns, np.hstack([columns, columns[:, :1]])):
        q = slater.ray(some, y, p, Squared())
        np.testing.assert_allclose(some.T @ q, 0.0, atol=1e-12)
        np.testing.assert_allclose(q, 2.0 * p * (y - fitted), atol=1e-12)


@pytest.mark.parametrize("bound", [0.25, 5.0])
def test_the_distance_in_a_ball_is_that_of_its_formula_and_holds(bound: float) -> None:
    """R = min(2B, 2√(2Bg/s)) with s = ‖v‖_H; every point near the optimum is within R of it."""
    rng = np.random.default_rng(3)
    root = rng.normal(size=(8, 8))
    gram, y = root @ root.T / 8, 20.0 * rng.normal(size=8)
    problem = MPowerRLS(gram, y, PowerBall(bound**2))
    best = solve(problem, tol=1e-13).point
    for size in (1e-6, 1e-3, 0.1):
        point = problem.restore({"alpha": best["alpha"] * (1 + size) + size * rng.normal(size=8)})
        v = problem.multipliers(point)
        g, s = float(problem.gap(point, v)), math.sqrt(v["predictions"] @ gram @ v["predictions"])
        found, off = problem.ball_distance(point, v), point["alpha"] - best["alpha"]
        assert found == pytest.approx(min(2 * bound, 2 * math.sqrt(2 * bound * g / s)), rel=1e-9)
        assert math.sqrt(off @ gram @ off) <= found + 1e-6 * bound


@pytest.mark.parametrize("size", [1e-4, 1.0, 1e4])
@pytest.mark.parametrize("m", [3.0, 8.0, 20.0])
def test_units_of_a_power_bring_the_solution_near_one(m: float, size: float) -> None:
    """The unit of the norm is at least half of ‖u*‖; where λ is large, √κ‖u*‖/σ lies between a half and two."""
    rng = np.random.default_rng(0)
    root = rng.normal(size=(10, 10))
    gram, y = root @ root.T / 10, size * rng.normal(size=10)
    for strength in (1e-6, 1e6, 1e12):
        problem = MPowerRLS(gram, y, PowerPenalty(strength, m))
        alpha = solve(problem, tol=1e-10).point["alpha"]
        norm = math.sqrt(alpha @ gram @ alpha)
        assert norm <= 2.0 * power_units.norm_unit(factor_of(gram), y, strength, m)
        sigma, kappa = power_units.units(gram, y, m, strength=strength)
        assert strength < 1e12 or size < 1.0 or 0.5 <= math.sqrt(kappa) * norm / sigma <= 2.0
