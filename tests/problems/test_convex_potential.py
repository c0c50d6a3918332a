"""Convex potentials against their conjugates, Lagrangians, scipy.optimize and Long and Servedio's threshold."""

from __future__ import annotations

import math
import warnings
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import scipy.optimize

from simopt import solve
from simopt.arithmetic import FLOAT, INTERVAL, RATIONAL
from simopt.core.arrays import Array
from simopt.problems.convex_potential import ConvexPotential, three_points
from simopt.problems.losses.margin_losses import POTENTIALS
from simopt.solving.entry_points import certify

NAMES = list(POTENTIALS)
ONE = np.ones(1)
WRITTEN_OUT: dict[str, Any] = {
    "hinge": lambda z: max(1.0 - z, 0.0),
    "logistic": lambda z: math.log(1.0 + math.exp(-z)),
    "exponential": lambda z: math.exp(-z),
    "squared-hinge": lambda z: max(1.0 - z, 0.0) ** 2,
}


@pytest.mark.parametrize("name", NAMES)
def test_values_and_slopes_match_the_formulas_written_out(name: str) -> None:
    phi = POTENTIALS[name]
    for z in (-30.0, -2.0, -0.3, 0.0, 0.7, 1.4, 25.0):
        given = np.array([z])
        assert float(phi.value(FLOAT, given)[0]) == pytest.approx(WRITTEN_OUT[name](z), rel=1e-12)
        ball = phi.value(INTERVAL, INTERVAL.lift(given))[0]
        assert INTERVAL.lower(ball) <= WRITTEN_OUT[name](z) * (1 + 1e-14) and WRITTEN_OUT[name](z) * (1 - 1e-14) <= INTERVAL.upper(ball)
        step = 1e-6
        secant = -(WRITTEN_OUT[name](z + step) - WRITTEN_OUT[name](z - step)) / (2 * step)
        assert float(phi.slope(given)[0]) == pytest.approx(secant, rel=1e-4, abs=1e-7)


@pytest.mark.parametrize("name", NAMES)
def test_conjugates_are_suprema(name: str) -> None:
    phi = POTENTIALS[name]
    for s in (0.0, 1e-3, 0.3, 0.9, 1.0, *(() if phi.capped else (2.5, 7.0))):

        def negative(z: float, s: float = s) -> float:
            return s * z + float(WRITTEN_OUT[name](z))

        found = -min(
            scipy.optimize.minimize_scalar(negative, bounds=(low, low + 30.0), method="bounded").fun for low in (-25.0, -5.0, 20.0)
        )
        for p in (1.0, 0.25):
            conjugate = float(phi.conjugate(FLOAT, p * ONE, p * s * ONE)[0])
            assert conjugate == pytest.approx(p * found, abs=2e-5), s


@pytest.mark.parametrize("name", NAMES)
def test_remainders_are_not_negative_and_vanish_at_the_slope(name: str) -> None:
    phi = POTENTIALS[name]
    z = np.linspace(-6.0, 6.0, 41)
    z = z[np.abs(z - 1.0) > 1e-9]
    p = np.full(len(z), 0.125)
    touching = p * phi.slope(z)
    assert np.all(np.abs(phi.slack(FLOAT, p, touching, z)) <= 1e-15 * (1.0 + np.exp(-z)))
    rng = np.random.default_rng(0)
    for _ in range(20):
        a = phi.admitted_multipliers(p, 0.4 * rng.exponential(size=len(z)) - 0.05)
        slack = phi.slack(FLOAT, p, a, z)
        plain = p * phi.value(FLOAT, z) + phi.conjugate(FLOAT, p, a) + a * z
        assert np.all(slack >= 0.0)
        np.testing.assert_allclose(slack, plain, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_admitted_multipliers_leave_the_domain_of_the_conjugate_alone_and_clip_the_rest(name: str) -> None:
    phi, p = POTENTIALS[name], np.array([0.5, 0.25, 0.25])
    assert list(phi.admitted_multipliers(p, np.array([-1.0, 0.1, 9.0]))) == [0.0, 0.1, 0.25 if phi.capped else 9.0]


def lagrangian_minimum(problem: ConvexPotential, a: Array) -> float:
    """Least value of Σ p φ(z) + ⟨a, z⟩ over free z and of −⟨Σ a y x, w⟩ over the circle of radius B."""
    total = 0.0
    for p, multiplier in zip(problem.mass, a, strict=True):

        def term(z: float, p: float = p, multiplier: float = multiplier) -> float:
            return float(p * WRITTEN_OUT[problem.potential](z) + multiplier * z)

        found = [
            scipy.optimize.minimize_scalar(term, bounds=(low, low + 12.0), method="bounded", options={"xatol": 1e-10})
            for low in (-8, 0, 20)
        ]
        total += min(float(each.fun) for each in found)
    angles = np.linspace(0.0, 2.0 * np.pi, 20001)
    g = problem.features.T @ (a * problem.labels)
    return total - problem.radius * float(np.max(np.cos(angles) * g[0] + np.sin(angles) * g[1]))


@pytest.mark.parametrize("name", NAMES)
def test_bounds_are_minima_of_the_lagrangian(name: str) -> None:
    rng = np.random.default_rng(1)
    features, labels, mass = three_points(0.3, 0.2)
    problem = ConvexPotential(features, labels, mass, name, 0.4)
    for _ in range(4):
        a = problem.mass * rng.uniform(0.4, 0.9, size=6) * (labels > 0)
        least = lagrangian_minimum(problem, a)
        assert float(problem.dual_bound({"margins": a})) == pytest.approx(max(least, 0.0), abs=1e-6)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("radius", [0.5, 2.0, 50.0])
def test_tiny_worlds_agree_with_scipy(name: str, radius: float) -> None:
    features, labels, mass = three_points(0.15, 0.1)
    problem = ConvexPotential(features, labels, mass, name, radius)

    def loss(w: Array) -> float:
        return float(sum(p * WRITTEN_OUT[name](y * float(w @ x)) for p, x, y in zip(mass, features, labels, strict=True)))

    if name == "hinge":  # smooth in (w, slack)
        signed = labels[:, None] * features
        rows: list[dict[str, Any]] = [
            {"type": "ineq", "fun": lambda x: radius**2 - x[:2] @ x[:2]},
            {"type": "ineq", "fun": lambda x: x[2:] - 1.0 + signed @ x[:2]},
            {"type": "ineq", "fun": lambda x: x[2:]},
        ]
        found = float(scipy.optimize.minimize(lambda x: mass @ x[2:], np.append([0.1, 0.1], np.ones(6)), constraints=rows, tol=1e-13).fun)
    else:
        inside = {"type": "ineq", "fun": lambda w: radius**2 - w @ w, "jac": lambda w: -2.0 * w}
        starts = [np.array([0.1, 0.1]), np.array([0.4, -0.2]), np.array([-0.1, 0.3])]
        found = min(float(scipy.optimize.minimize(loss, start, constraints=[inside], tol=1e-13).fun) for start in starts)
    solution = solve(problem, "clarabel", tol=1e-9)
    assert solution.optimal
    assert solution.value == pytest.approx(found, abs=1e-5)
    assert solution.value <= found + 1e-6
    assert solution.point is not None
    assert loss(np.asarray(solution.point["w"])) == pytest.approx(solution.value, rel=1e-12)


def test_the_ball_is_the_unit_ball_by_default() -> None:
    features, labels, mass = three_points(0.15, 0.1)
    assert ConvexPotential(features, labels, mass).radius == 1.0


@pytest.mark.parametrize("name", [name for name in NAMES if name != "hinge"])
def test_a_solution_of_a_smooth_loss_suggests_its_multipliers(name: str) -> None:
    features, labels, mass = three_points(0.15, 0.1)
    problem = ConvexPotential(features, labels, mass, name, 2.0)
    found = certify(problem, solve(problem, "clarabel", tol=1e-10).point)
    assert found.closes(1e-5) and found.multipliers_from == "point"


@pytest.mark.parametrize("gamma", [0.05, 0.1, 0.15])
def test_the_hinge_fails_on_the_three_points_beyond_the_threshold(gamma: float) -> None:
    """Unconstrained, it misclassifies (γ, −γ) iff the noise exceeds 12γ/(5 + 24γ); the mean classifies all three points."""
    threshold = 12.0 * gamma / (5.0 + 24.0 * gamma)
    for share, right in ((0.95, True), (1.05, False)):
        features, labels, mass = three_points(gamma, share * threshold)
        solution = solve(ConvexPotential(features, labels, mass, "hinge", 1e3), "clarabel", tol=1e-9)
        assert solution.optimal and solution.point is not None
        assert bool(features[2] @ solution.point["w"] > 0) == right
        mean = (mass * labels) @ features
        assert np.all(features[:3] @ mean > 0)


@pytest.mark.parametrize("name", NAMES)
def test_samples_of_no_mass_count_for_nothing(name: str) -> None:
    features, labels, mass = three_points(0.1, 0.0)
    problem, half = ConvexPotential(features, labels, mass, name, 1e9), ConvexPotential(features[:3], labels[:3], mass[:3], name, 1e9)
    far = {"w": np.array([1e5, 1e3])}  # where e^{−z} of the other three overflows
    assert float(problem.objective(far)) == float(half.objective(far)) < 1e-6
    assert not np.any(problem.multipliers(far)["margins"][3:])
    assert float(problem.dual_bound({"margins": np.ones(6)})) == float(half.dual_bound({"margins": np.ones(3)}))


def test_the_hinge_and_its_square_have_objectives_in_fractions() -> None:
    features, labels, mass = three_points(0.125, 0.25)
    w = {"w": np.array([0.5, -0.25])}
    margins = [Fraction(1, 2), Fraction(-3, 32), Fraction(3, 32)]
    weights = [Fraction(1, 4), Fraction(1, 4), Fraction(1, 2)]
    for name, power in (("hinge", 1), ("squared-hinge", 2)):
        expected = sum(
            (m * (Fraction(3, 4) * (1 - z) ** power + Fraction(1, 4) * (1 + z) ** power) for m, z in zip(weights, margins, strict=True)),
            Fraction(0),
        )
        assert ConvexPotential(features, labels, mass, name).objective(w, RATIONAL) == expected


@pytest.mark.parametrize("name", NAMES)
def test_multipliers_that_bound_below_zero_are_dropped(name: str) -> None:
    features, labels, mass = three_points(0.1, 0.0)
    problem = ConvexPotential(features, labels, mass, name, 1e9)
    for num in (FLOAT, INTERVAL):
        assert num.lower(problem.dual_bound({"margins": mass}, num)) == 0.0
    assert certify(problem, {"w": np.array([1e4, 1e3])}).relative_gap <= 1e-6, "this point separates, so that the loss is near 0"


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("size", [1e-140, 1e-9, 1.0, 1e9, 1e140])
def test_ugly_data_are_solved_in_any_unit_without_a_warning(name: str, size: float) -> None:
    rng = np.random.default_rng(2)
    features, labels = rng.normal(size=(8, 2)), np.tile([1.0, -1.0], 4)
    tiny = np.array([1 - 1e-12 - 1e-150, 1e-12, 1e-150, 0.0, 0.0, 0.0, 0.0, 0.0])
    cases: tuple[tuple[Array, Array, Any], ...] = (
        (np.outer(np.arange(8.0), [1.0, 2.0]), labels, None),
        (np.vstack([features, np.zeros((2, 2))]), np.append(labels, [1.0, -1.0]), None),
        (np.vstack([features, features]), np.append(labels, -labels), None),
        (features, labels, tiny),
        (np.zeros((3, 2)), np.ones(3), None),
    )
    for X, y, p in cases:
        problem = ConvexPotential(size * X, y, p, name, 4.0 / size)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            solution = solve(problem, "clarabel", tol=1e-6, rigorous=True)
        found = solution.certificate
        assert found is not None and (solution.optimal or found.reading.startswith("zero to")), (solution.message, found)
        assert solution.optimal or found.gap_over_terms <= 1e-6, (solution.message, found)
