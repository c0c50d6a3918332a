"""Deterministic claims of Kakade, Kalai, Kanade & Shamir: the audit's numbers, the exact tools behind them."""

from __future__ import annotations

from fractions import Fraction
from itertools import islice, pairwise, product

import numpy as np
import pytest

from simopt.claims import Trial, runner
from simopt.claims.kinds import Effort
from simopt.estimators.index_models.isotron import glm_tron, l_isotron
from simopt.solvers.isotonic.chain_fit import fit_chain
from simopt.theorems.kkks.chains import chains, fit, gaps
from simopt.theorems.kkks.covers import (
    CoverPath,
    lattice_points,
    nearest_in_cover,
    path_near,
    printed_path_near,
    size_of_ball_cover,
    size_of_function_cover,
    starts_and_cells,
    toward_zero,
)
from simopt.theorems.kkks.index_models import ONE, SMALL, decoded_narrow, decoded_wide, length, model, models, step
from simopt.theorems.kkks.iterate_norms import two_directions
from simopt.theorems.kkks.piecewise_linear import PiecewiseLinear, constant, interpolating, ramp, random_transfer
from simopt.theorems.kkks.rational_lpav import cumulative_residuals, lpav, rational_lpav
from simopt.theorems.kkks.rational_tron import fitted, iterates, known, mean
from simopt.theorems.small_worlds.worlds import dot, squared
from tests.theorems.conftest import quick


@pytest.mark.parametrize(
    ("name", "least"),
    [("L2", 0.0707), ("L2-sharp", 0.54), ("L3", 0.5), ("L3+", 0.99), ("L3-kappa", 0.99), ("L5", 0.59), ("L5-sharp", 0.99), ("10+", 0.99)]
    + [(f"L6.{k}", 0.99) for k in (1, 2, 3, 4)],
)
def test_bound_is_reached_as_far_as_known(name: str, least: float) -> None:
    tightness = runner.run(f"KK-{name}").own.tightness
    assert tightness is not None and least <= tightness <= 1


def eighths(rng: np.random.Generator, count: int, low: int = 0, high: int = 9) -> list[Fraction]:
    return [Fraction(int(k), 8) for k in rng.integers(low, high, count)]


def floats(values) -> np.ndarray:
    return np.array([float(v) for v in values])


@pytest.mark.parametrize("ranged", [False, True])
def test_exact_fit_agrees_with_the_fast_solver(ranged: bool) -> None:
    rng = np.random.default_rng(5)
    for _ in range(150):
        m = int(rng.integers(1, 9))
        y, w = eighths(rng, m), [Fraction(int(k)) for k in rng.integers(1, 5, m)]
        steps = [None if rng.random() < 0.15 else u for u in eighths(rng, m - 1, 0, 6)]
        bounds = np.array([np.inf if u is None else float(u) for u in steps])
        low, high = (Fraction(1, 4), Fraction(5, 8)) if ranged else (None, None)
        exact = rational_lpav(y, steps, w, low, high)
        fast, _ = fit_chain(floats(y), floats(w), bounds, *((0.25, 0.625) if ranged else ()))
        assert fast == pytest.approx(floats(exact), abs=1e-14)


def test_exact_fit_without_a_bound_is_isotonic_regression() -> None:
    from scipy.optimize import isotonic_regression

    rng = np.random.default_rng(6)
    for _ in range(50):
        m = int(rng.integers(1, 12))
        y, w = eighths(rng, m), [Fraction(int(k)) for k in rng.integers(1, 5, m)]
        exact = rational_lpav(y, [None] * (m - 1), w)
        assert floats(exact) == pytest.approx(isotonic_regression(floats(y), weights=floats(w)).x, abs=1e-14)


def test_unsorted_points_keep_their_order_and_ties_share_a_value() -> None:
    z = [ONE, Fraction(0), ONE, Fraction(1, 2)]
    y = [Fraction(0), ONE, ONE, Fraction(1, 4)]
    x = lpav(z, y)
    assert x[0] == x[2]
    order = [1, 3, 0, 2]
    assert [x[i] for i in order] == rational_lpav([y[i] for i in order], gaps([z[i] for i in order]))
    assert cumulative_residuals([x[i] for i in order], [y[i] for i in order])[-1] == 0


def test_lemma_1_for_functions_that_no_cone_was_told_of() -> None:
    rng = np.random.default_rng(7)
    trial = quick("KK-L1")
    for instance in islice(chains(trial), 0, None, 5):
        x = fit(instance["y"], instance["z"])
        values = sorted(set(x))
        heights = {values[0]: Fraction(int(rng.integers(-9, 10)))}
        for a, b in pairwise(values):
            heights[b] = heights[a] + (b - a) + Fraction(int(rng.integers(0, 4)), 3)
        assert sum((y - v) * (heights[v] - z) for y, v, z in zip(instance["y"], x, instance["z"], strict=True)) >= 0


def test_piecewise_linear_functions() -> None:
    with pytest.raises(ValueError, match="strictly"):
        PiecewiseLinear((ONE, ONE), (ONE, ONE))
    with pytest.raises(ValueError, match="as many"):
        PiecewiseLinear((ONE,), ())
    with pytest.raises(ValueError, match="two values"):
        interpolating([ONE, ONE], [Fraction(0), ONE])
    u = PiecewiseLinear((Fraction(-2), Fraction(2)), (Fraction(-1), Fraction(3)))
    assert u.clipped().knots == (-2, -1, 0, 2) and u.clipped()(Fraction(-1, 2)) == Fraction(1, 2)
    assert ramp(ONE)(Fraction(5, 4)) == Fraction(1, 4) and constant(ONE)(Fraction(-7)) == 1
    assert u.rescaled(Fraction(3))(Fraction(1, 3)) == u(ONE)
    rng = np.random.default_rng(0)
    for _ in range(40):
        f, g = random_transfer(rng, 2), random_transfer(rng, 2, falling=True)
        assert f.nondecreasing() and f.lipschitz() <= 1 and g.lipschitz() <= 1
        assert 0 <= min(*f.values, *g.values) and max(*f.values, *g.values) <= 1
        seen = max(abs(f(Fraction(k, 64)) - g(Fraction(k, 64))) for k in range(-128, 129))
        assert seen <= f.distance(g, Fraction(-2), Fraction(2)) <= seen + Fraction(2, 64)


def test_exact_iterates_agree_with_the_solvers() -> None:
    rng = np.random.default_rng(8)
    for instance in list(models(quick("KK-L3"), ONE, 25))[-12:]:
        X, y = instance["features"], instance["labels"]
        features, labels = np.array([floats(x) for x in X]), floats(y)
        u = random_transfer(rng, 3)
        knots, values = floats(u.knots), floats(u.values)
        with_u = glm_tron(features, labels, lambda z, a=knots, b=values: np.interp(z, a, b), keep=True, max_iter=6, tol=0.0)
        without = l_isotron(features, labels, keep=True, max_iter=6, tol=0.0)
        for rule, fast in ((known(u), with_u), (fitted(y, [1] * len(y)), without)):
            assert fast.states is not None
            exact = np.array([floats(now.w) for now in islice(iterates(X, y, rule), len(fast.states))])
            assert fast.states == pytest.approx(exact, abs=1e-12)


@pytest.mark.parametrize(("known_transfer", "decrease", "right"), [(False, 0, Fraction(1, 5)), (True, Fraction(-1, 4), Fraction(-1, 40))])
def test_numbers_of_the_audit_for_small_widths(known_transfer: bool, decrease: Fraction, right: Fraction) -> None:
    made = model([[ONE]], [ONE], [Fraction(0)], [Fraction(0)], constant(Fraction(1, 2)), floor=SMALL)
    s = step(made, known_transfer)
    assert made["W"] == SMALL
    assert s.decrease() == decrease
    assert s.error() - 5 * SMALL * (s.eta1() + s.eta2()) == right
    if known_transfer:
        assert squared(s.move()) == Fraction(1, 4) and s.error() + 3 * SMALL * s.eta1() == Fraction(3, 200)


def test_models_satisfy_the_hypotheses() -> None:
    rng = np.random.default_rng(9)
    made = [*models(quick("KK-L3", 1), ONE, 40), *models(quick("KK-L3+", 1), SMALL, 40)]
    trial = Trial("KK-L3", 0, 0, Effort.QUICK, {})
    made += [decode(rng.random(10), trial) for decode in (decoded_wide, decoded_narrow) for _ in range(20)]
    for instance in made:
        u = PiecewiseLinear(tuple(instance["knots"]), tuple(instance["values"]))
        assert u.nondecreasing() and u.lipschitz() <= 1 and 0 <= min(u.values) and max(u.values) <= 1
        assert all(squared(x) <= 1 for x in instance["features"]) and all(0 <= y <= 1 for y in instance["labels"])
        assert max(squared(instance["w"]), step(instance, known=True).square_before()) <= instance["W"] ** 2
    assert min(instance["W"] for instance in made) < Fraction(1, 50)


def test_length_is_exact_where_it_is_rational() -> None:
    assert length(Fraction(9, 4)) == Fraction(3, 2)
    enclosed = length(Fraction(2))
    assert enclosed.low**2 < 2 < enclosed.high**2


def test_witness_leaves_the_ball_before_its_first_good_iterate() -> None:
    made = two_directions(1)
    u = PiecewiseLinear(tuple(made["knots"]), tuple(made["values"]))
    ratios, errors = [], []
    for now in islice(iterates(made["features"], made["labels"], known(u)), 63):
        ratios.append(float(squared(now.w) / squared(made["w"])) ** 0.5)
        errors.append(float(mean([(a - b) ** 2 for a, b in zip(now.predictions, made["labels"], strict=True)], [1, 1])))
    assert ratios[43] < 1 < ratios[44] and errors[50] == pytest.approx(0.0057, abs=5e-5)
    assert ratios[62] == pytest.approx(1.118, abs=5e-4) and errors[62] == pytest.approx(0.0012, abs=5e-5)


def test_covers_consist_of_the_functions_they_name() -> None:
    W, epsilon = ONE, Fraction(1, 2)
    starts, cells = starts_and_cells(W, epsilon)
    names = {
        CoverPath(W, 2 * epsilon, epsilon * (2 * start + 1), rises)
        for start in range(starts)
        for rises in product((False, True), repeat=cells)
    }
    assert len(names) == size_of_function_cover(W, epsilon) == 4
    printed = {CoverPath(W, epsilon, epsilon * start, rises) for start in range(2) for rises in product((False, True), repeat=4)}
    assert len(printed) == 32
    rng = np.random.default_rng(10)
    for _ in range(60):
        u = random_transfer(rng, 2)
        assert path_near(u, W, epsilon) in names and printed_path_near(u, W, epsilon) in printed
    with pytest.raises(ValueError, match="integers"):
        printed_path_near(u, W, Fraction(3, 10))


def test_lattice_points_and_covers_of_the_ball() -> None:
    for d, square in product((1, 2, 3), (0, 1, 2, 5, 9)):
        assert lattice_points(d, square) == sum(sum(k * k for k in place) <= square for place in product(range(-3, 4), repeat=d))
    assert [size_of_ball_cover(d, ONE, ONE) for d in (1, 2, 3)] == [3, 9, 27]
    assert lattice_points(4, 4) == 89
    rng = np.random.default_rng(11)
    epsilon = Fraction(2, 3)
    members = set()
    for _ in range(400):
        w = eighths(rng, 2, -5, 6)
        v = nearest_in_cover(w, ONE, epsilon)
        assert squared(v) <= 1 and squared([a - b for a, b in zip(w, v, strict=True)]) <= epsilon**2
        members.add(tuple(v))
    assert len(members) <= size_of_ball_cover(2, ONE, epsilon) <= (1 + 2 / epsilon) ** 2
    assert toward_zero([Fraction(-5, 4), Fraction(1, 4)], Fraction(1, 2)) == [-1, 0]


def test_predictions_on_a_tie_are_the_mean() -> None:
    first = next(iterates([[ONE], [-ONE]], [ONE, Fraction(1, 2)], fitted([ONE, Fraction(1, 2)], [1, 3]), [1, 3]))
    assert first.predictions == [Fraction(5, 8)] * 2 and dot(first.w, [ONE]) == 0
