"""Long and Servedio's example: exact minimisers against linear programming and the declared problem, thresholds."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import linprog

import simopt.claims.reproduction
from simopt.core.errors import InvalidProblem
from simopt.problems.convex_potential import ConvexPotential, three_points
from simopt.solving.entry_points import solve
from simopt.theorems.rmw import long_servedio
from simopt.theorems.rmw.hinge_vertices import corners, grows
from simopt.theorems.rmw.long_servedio import correct, margins, misled, threshold
from simopt.theorems.rmw.noise_thresholds import excess, failing_rate
from simopt.theorems.rmw.potentials import POTENTIALS, Potential
from simopt.theorems.rmw.potentials_under_noise import a_scale_that_fails
from simopt.theorems.small_worlds.worlds import Atom, flipped

RATIO = Fraction(2, 5)


def hinge_programme(world: list[Atom]) -> tuple[float, np.ndarray]:
    """Minimum of the hinge risk by scipy's linear programming, and a minimiser."""
    mass = np.array([float(p) for p, _, _ in world])
    signed = np.array([[float(y * v) for v in x] for _, y, x in world])
    n = len(world)
    cost = np.concatenate([np.zeros(2), mass])
    rows = np.hstack([-signed, -np.eye(n)])  # 1 − y⟨w, x⟩ ≤ slack
    answer = linprog(cost, A_ub=rows, b_ub=-np.ones(n), bounds=[(None, None)] * 2 + [(0, None)] * n, method="highs")
    assert answer.status == 0
    return float(answer.fun), answer.x[:2]


def random_world(rng: np.random.Generator) -> list[Atom]:
    count = int(rng.integers(2, 5))
    masses = rng.integers(1, 5, count)
    points = rng.integers(-3, 4, (count, 2))
    world: list[Atom] = [
        (Fraction(int(m), int(masses.sum())), 1, [Fraction(int(v), 2) for v in x]) for m, x in zip(masses, points, strict=True)
    ]
    return flipped(world, Fraction(int(rng.integers(1, 10)), 20))


def test_corners_reach_the_minimum_of_the_linear_programme() -> None:
    rng = np.random.default_rng(0)
    compared = 0
    for _ in range(60):
        world = random_world(rng)
        if grows(world):
            least, best = corners(world)
            assert float(least) == pytest.approx(hinge_programme(world)[0], abs=1e-9)
            assert best
            compared += 1
    assert compared > 20


def test_a_risk_that_does_not_grow_is_refused() -> None:
    world: list[Atom] = [(Fraction(1), 1, [Fraction(1), Fraction(0)])]
    with pytest.raises(InvalidProblem, match="does not grow"):
        corners(world)
    assert not grows(flipped(world, Fraction(1, 4)))  # one line of directions is free
    assert grows(flipped(long_servedio.three_points(Fraction(1, 10)), Fraction(1, 100)))


@pytest.mark.parametrize(("gamma", "rate"), [("1/10", "3/20"), ("1/10", "3/10"), ("1/100", "1/50"), ("1/100", "1/40"), ("1/5", "2/5")])
def test_the_declared_problem_agrees_with_the_exact_minimum(gamma: str, rate: str) -> None:
    scale, noise = Fraction(gamma), Fraction(rate)
    least, best = corners(flipped(long_servedio.three_points(scale), noise))
    solution = solve(ConvexPotential(*three_points(float(scale), float(noise)), "hinge", 200.0), "clarabel", tol=1e-9)
    assert solution.certificate.lower <= float(least) + 1e-12
    assert solution.certificate.upper >= float(least) - 1e-12
    (w,) = best
    assert solution.point["w"] == pytest.approx([float(v) for v in w], rel=1e-4, abs=1e-4)


def test_the_numbers_of_the_catalogue() -> None:
    gamma = Fraction(1, 10)
    assert float(threshold(gamma)) == pytest.approx(0.1622, abs=5e-5)
    world = long_servedio.three_points(gamma)
    assert margins(world, misled(gamma)) == [1, 1, 6 * gamma / 5 - Fraction(1, 5)]
    assert margins(world, correct(gamma)) == [10, 1, 1]
    for step, lost in ((Fraction(99, 100), False), (Fraction(101, 100), True)):
        _, best = corners(flipped(world, threshold(gamma) * step))
        assert {margins(world, w)[2] < 0 for w in best} == {lost}


def test_at_the_threshold_there_are_right_and_wrong_minimisers() -> None:
    gamma = Fraction(1, 12)
    _, best = corners(flipped(long_servedio.three_points(gamma), threshold(gamma)))
    assert {tuple(correct(gamma)), tuple(misled(gamma))} <= set(best)


@pytest.mark.parametrize("gamma", [0.005, 0.02, 0.05, 0.08])
def test_squared_hinge_has_a_threshold_in_closed_form(gamma: float) -> None:
    """For t > 1 the criterion reads 24γ²(1 − 2σ) < σ(1 − 2σ + 10γ)."""
    rate = failing_rate("squared-hinge", gamma)
    assert rate is not None
    assert 24 * gamma**2 * (1 - 2 * rate) == pytest.approx(rate * (1 - 2 * rate + 10 * gamma), rel=1e-7)


@pytest.mark.parametrize("potential", ["squared-hinge", "logistic", "exponential"])
def test_smooth_potentials_need_a_scale_below_one_twelfth(potential: str) -> None:
    assert failing_rate(potential, 1 / 12 - 1e-4) is not None
    assert failing_rate(potential, 1 / 12 + 1e-4) is None
    assert all(excess(potential, 0.1, rate) > 0 for rate in (1e-3, 0.1, 0.3, 0.49))


@pytest.mark.parametrize("potential", ["hinge", "squared-hinge", "logistic", "exponential"])
def test_certified_minimisers_change_sides_at_the_threshold(potential: str) -> None:
    gamma = 0.06
    rate = failing_rate(potential, gamma)
    assert rate is not None
    for step, lost in ((0.97, False), (1.03, True)):
        problem = ConvexPotential(*three_points(gamma, rate * step), potential, 200.0)
        w = np.asarray(solve(problem, "clarabel", tol=1e-10).point["w"])
        assert (w[0] < w[1]) == lost


def test_scales_outside_the_range_and_unknown_potentials_are_refused() -> None:
    for potential, gamma in (("ramp", 0.1), ("hinge", 0.0), ("logistic", 1.5)):
        with pytest.raises(InvalidProblem, match="potential"):
            failing_rate(potential, gamma)


@pytest.mark.parametrize("psi", POTENTIALS.values(), ids=POTENTIALS)
def test_the_certificate_is_about_the_minimiser(psi: Potential) -> None:
    gamma, t = a_scale_that_fails(psi, Fraction(1, 4), RATIO)
    problem = ConvexPotential(*three_points(float(gamma), 0.25), psi.name.replace(" ", "-"), 1000.0)
    w = np.asarray(solve(problem, "clarabel", tol=1e-10).point["w"])
    assert t > 0
    assert gamma * (w[0] - w[1]) < 0


@pytest.fixture(scope="module")
def figure2() -> simopt.claims.reproduction.Reproduction:
    return simopt.claims.reproduction.reproduce("rmw-figure2")


def test_figure_2_agrees_with_what_is_stated(figure2: simopt.claims.reproduction.Reproduction) -> None:
    done = figure2
    cells = [cell for row in done.rows for cell in row.cells if cell.printed is not None]
    assert len(cells) == 7
    assert all(cell.agreement == "inside" for cell in cells)
    assert all(cell.ours < 1e-8 for row in done.rows for cell in row.cells if cell.column.startswith("certified"))
    assert json.loads(json.dumps(done.table.describe()))["plot"] is True


def test_figure_2_can_be_drawn(figure2: simopt.claims.reproduction.Reproduction, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    assert simopt.claims.reproduction.draw(figure2, tmp_path).stat().st_size > 1000


def test_threshold_curves_end_where_the_potentials_stop_failing(figure2: simopt.claims.reproduction.Reproduction) -> None:
    row = figure2.rows[-1]
    curves = {each.label: each for each in row.curves}
    assert max(curves["hinge"].x) == pytest.approx(1 / 6, rel=0.1)
    assert all(max(curves[name].x) < 1 / 12 for name in ("squared-hinge", "logistic", "exponential"))
    assert all(np.all(np.diff(curve.y) > 0) for curve in curves.values() if curve.label != "exponential")
    rates = [cell.ours for cell in row.cells if "least" in cell.column]
    assert all(0 < rate < 0.5 and math.isfinite(rate) for rate in rates)
