"""Goodness as a programme: formulas by hand, relations between the four problems, ugly data, bad input."""

from __future__ import annotations

import dataclasses
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from simopt.arithmetic import INTERVAL, RATIONAL
from simopt.core.errors import InvalidProblem
from simopt.model.status import Status
from simopt.problems.examples.goodness import four_points
from simopt.problems.goodness import Goodness
from simopt.problems.goodness_choice import GoodnessChoice
from simopt.problems.kernel_goodness import KernelGoodness
from simopt.problems.smallest_bound import SmallestBound
from simopt.solvers.goodness.exact import exact_smallest_bound
from simopt.solving.entry_points import certify, solve

KINDS = (Goodness, GoodnessChoice, KernelGoodness, SmallestBound)


def world(rng: np.random.Generator, n: int = 9, loss: str = "insensitive") -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """An asymmetric similarity with entries of both signs, targets or labels, unequal masses."""
    gram, y = rng.normal(size=(n, n)), rng.normal(size=n)
    p = rng.exponential(size=n)
    return gram, np.where(y > 0, 1.0, -1.0) if loss == "hinge" else y, p / p.sum()


def pointwise(loss: str, f: np.ndarray, y: np.ndarray, epsilon: float, margin: float) -> np.ndarray:
    """The three losses, as the paper writes them."""
    if loss == "hinge":
        return np.maximum(margin - y * f, 0.0)
    return (f - y) ** 2 if loss == "squared" else np.maximum(np.abs(f - y) - epsilon, 0.0)


@pytest.mark.parametrize(("loss", "epsilon", "margin"), [("insensitive", 0.3, 1.0), ("hinge", 0.0, 0.5), ("squared", 0.0, 1.0)])
def test_the_objective_is_the_expected_loss_of_the_weighted_similarities(loss: str, epsilon: float, margin: float) -> None:
    rng = np.random.default_rng(0)
    gram, y, p = world(rng, loss=loss)
    problem = Goodness(gram, y, 2.5, p, loss, epsilon, margin)
    v = rng.uniform(-1, 1, size=9)
    f = [sum(p[j] * 2.5 * v[j] * gram[i, j] for j in range(9)) for i in range(9)]
    assert problem.objective({"v": v}) == pytest.approx(p @ pointwise(loss, np.array(f), y, epsilon, margin))
    np.testing.assert_allclose(problem.weights({"v": v}), 2.5 * v)


@pytest.mark.parametrize("loss", ["insensitive", "hinge", "squared"])
def test_any_multipliers_bound_any_weights_exactly(loss: str) -> None:
    rng = np.random.default_rng(3)
    for _ in range(5):
        gram, y, p = world(rng, 5, loss)
        problem = Goodness(gram, y, float(rng.exponential()) + 0.1, p, loss)
        value = Fraction(problem.objective(problem.restore({"v": 2 * rng.normal(size=5)}, RATIONAL), RATIONAL))
        bound = Fraction(problem.dual_bound({"predictions": rng.normal(size=5)}, RATIONAL))
        assert bound <= value


def test_bounds_in_fractions_are_those_of_the_definition() -> None:
    gram, y, p = four_points(0.25, 0.125)
    problem = Goodness(gram, y, 8.0, p, "hinge")
    q = np.array([0.125, 0.25, -0.25, -0.125])
    g = [sum(Fraction(q[i]) * Fraction(gram[i, j]) for i in range(4)) for j in range(4)]
    bound = sum(abs(Fraction(x)) for x in q) - 8 * sum(Fraction(m) * abs(x) for m, x in zip(p, g, strict=True))
    assert Fraction(problem.dual_bound({"predictions": q}, RATIONAL)) == bound


def test_goodness_falls_and_is_convex_in_the_bound_and_the_slope_supports_it() -> None:
    rng = np.random.default_rng(4)
    for loss in ("insensitive", "hinge", "squared"):
        gram, y, p = world(rng, 8, loss)
        problem = Goodness(gram, y, 1.0, p, loss)
        bounds = np.linspace(0.2, 4.0, 9)
        found = [solve(dataclasses.replace(problem, bound=float(b)), tol=1e-9) for b in bounds]
        values = np.array([s.value for s in found])
        assert np.all(np.diff(values) <= 1e-9)
        assert np.all(np.diff(values, 2) >= -1e-8)
        for b, s in zip(bounds, found, strict=True):
            assert s.multipliers is not None and s.certificate is not None
            line = s.certificate.lower + problem.slope(dict(s.multipliers)) * (bounds - b)
            assert np.all(line <= values + 1e-12)


def test_points_of_no_mass_count_for_nothing() -> None:
    rng = np.random.default_rng(5)
    gram, y, p = world(rng, 6)
    keep = np.array([0, 2, 3, 5])
    masses = np.zeros(6)
    masses[keep] = p[keep] / p[keep].sum()
    for kind, extra in ((Goodness, {"bound": 1.5}), (GoodnessChoice, {"bound": 1.5, "density": 0.5}), (SmallestBound, {"level": 0.3})):
        whole = solve(kind(gram, y, masses=masses, **extra), tol=1e-9)
        part = solve(kind(gram[np.ix_(keep, keep)], y[keep], masses=masses[keep], **extra), tol=1e-9)
        assert whole.optimal and part.optimal
        assert whole.value == pytest.approx(part.value, abs=1e-8)


def test_density_one_is_goodness_and_fewer_points_with_proportional_weights_do_no_better_than_theorem_10_says() -> None:
    rng = np.random.default_rng(6)
    gram, y, p = world(rng, 8)
    value = solve(Goodness(gram, y, 1.2, p), tol=1e-9).value
    assert solve(GoodnessChoice(gram, y, 1.2, 1.0, p), tol=1e-9).value == pytest.approx(value, abs=1e-8)
    for density in (0.3, 0.7):  # (ε₀, B, τ)-good ⇒ (ε₀, B/τ)-good
        chosen = solve(GoodnessChoice(gram, y, 1.2, density, p), tol=1e-9).value
        assert solve(Goodness(gram, y, 1.2 / density, p), tol=1e-9).value <= chosen + 1e-8


def test_a_good_similarity_has_a_choice_of_density_mean_weight_over_the_bound() -> None:
    rng = np.random.default_rng(7)
    gram, y, p = world(rng, 8)
    found = solve(Goodness(gram, y, 1.5, p), tol=1e-9)
    assert found.point is not None
    v = np.asarray(found.point["v"])
    density = float(p @ np.abs(v))
    problem = GoodnessChoice(gram, y, 1.5 * density, density, p)  # the stronger (ε₀, w̄, w̄/B)
    assert problem.objective(problem.restore({"v": v, "R": np.abs(v)})) == pytest.approx(found.value, abs=1e-9)


def test_half_of_one_point_needs_a_random_choice() -> None:
    problem = GoodnessChoice(np.ones((1, 1)), np.array([0.5]), 1.0, 0.5)
    assert solve(problem, rigorous="rational").value == 0.0


def test_a_restored_choice_is_feasible_exactly() -> None:
    rng = np.random.default_rng(8)
    for density in (0.05, 0.5, 1.0):
        gram, y, p = world(rng, 6)
        problem = GoodnessChoice(gram, y, 1.0, density, p)
        for spread in (0.1, 1.0, 100.0):
            found = problem.restore({"v": spread * rng.normal(size=6), "R": spread * rng.normal(size=6)}, RATIONAL)
            assert all(abs(Fraction(a)) <= Fraction(r) <= 1 for a, r in zip(found["v"], found["R"], strict=True))
            mass = sum(Fraction(m) * Fraction(r) for m, r in zip(p, found["R"], strict=True))
            assert mass == Fraction(density) * sum(map(Fraction, p))


def test_kernel_goodness_is_monotone_in_the_margin_with_an_inequality() -> None:
    values = [solve(KernelGoodness(np.ones((1, 1)), np.ones(1), gamma), tol=1e-9).value for gamma in (0.25, 0.5, 1.0, 2.0)]
    np.testing.assert_allclose(values, [0.0, 0.0, 0.0, 0.5], atol=1e-8)  # with ‖W‖ = 1 the first would be 3


def test_four_points_are_separated_without_loss_at_their_margin_and_not_beyond() -> None:
    gram, y, p = four_points(0.25, 0.125)
    assert solve(KernelGoodness(gram, y, 0.25, p), tol=1e-9).value == pytest.approx(0.0, abs=1e-9)
    beyond = solve(KernelGoodness(gram, y, 0.3, p), tol=1e-9)
    assert beyond.certificate is not None and beyond.certificate.lower > 0.05


@pytest.mark.parametrize("loss", ["insensitive", "hinge", "squared"])
def test_the_smallest_bound_inverts_the_curve(loss: str) -> None:
    rng = np.random.default_rng(9)
    gram, y, p = world(rng, 8, loss)
    problem = Goodness(gram, y, 0.7, p, loss)
    level = solve(problem, tol=1e-9).value
    found = solve(SmallestBound(gram, y, level, p, loss), tol=1e-8)
    assert found.optimal
    assert found.value == pytest.approx(0.7, rel=1e-5)


@pytest.mark.parametrize("loss", ["insensitive", "squared"])
def test_a_level_that_no_weights_reach_is_proved_infeasible(loss: str) -> None:
    twice = np.eye(2)[[0, 0, 1]][:, [0, 0, 1]]  # points 0 and 1 are the same
    y = np.array([1.0, -1.0, 3.0])
    problem = SmallestBound(twice, y, 0.5, loss=loss)
    found = solve(problem)
    assert found.status is Status.INFEASIBLE
    assert found.certificate is not None and found.certificate.infeasible and found.multipliers is not None
    np.testing.assert_allclose(twice.T @ found.multipliers["predictions"], 0.0, atol=1e-14)  # rounding, as "∞ in floats" says
    point, by_hand = problem.trivial_point(), {"predictions": np.array([0.3125, -0.3125, 0.0]), "level": np.array(1.0)}
    assert certify(problem, point, by_hand, RATIONAL).infeasible
    assert not certify(problem, point, {"predictions": np.array([0.3125, -0.25, 0.0]), "level": np.array(1.0)}, RATIONAL).infeasible
    within = solve(SmallestBound(twice, y, 0.8, loss=loss), tol=1e-7)
    assert within.optimal
    assert solve(SmallestBound(np.zeros((3, 3)), y, 0.5, loss=loss)).status is Status.INFEASIBLE
    assert solve(SmallestBound(twice, y, 0.5, loss=loss), "clarabel").status is Status.INFEASIBLE


def test_a_restored_point_of_the_smallest_bound_reaches_the_level_exactly() -> None:
    rng = np.random.default_rng(10)
    gram, y, p = world(rng, 5)
    problem = SmallestBound(gram, y, 0.4, p)
    for spread in (1e-3, 1.0, 1e4):
        w = problem.restore({"w": spread * rng.normal(size=5)}, RATIONAL)["w"]
        assert Fraction(problem.attained(w, RATIONAL)) <= Fraction(0.4)


UGLY = {
    "singular": np.outer(np.arange(1.0, 7.0), np.arange(2.0, 8.0)),
    "constant": np.full((6, 6), -3.0),
    "zero": np.zeros((6, 6)),
    "huge": 1e100 * (np.outer([1, -1, 1, 1, -1, 1], np.ones(6)) + np.eye(6)),
    "tiny": 1e-100 * np.eye(6),
    "skew": np.tri(6) - np.tri(6).T,
}


@pytest.mark.parametrize("name", UGLY)
@pytest.mark.parametrize("loss", ["insensitive", "hinge", "squared"])
def test_ugly_similarities_from_tiny_to_huge_bounds(name: str, loss: str) -> None:
    y = np.array([1.0, -1.0, 1.0, 1.0, -1.0, -1.0])
    p = np.array([0.5, 0.25, 0.125, 0.0625, 0.0625, 0.0])
    for bound in (1e-6, 1.0, 1e6):
        for masses in (None, p):
            problem = Goodness(UGLY[name], y, bound / max(1.0, np.max(np.abs(UGLY[name]))), masses, loss)
            found = solve(problem, tol=1e-7)
            assert found.optimal, found
            assert found.point is not None and found.certificate is not None
            rigorous = certify(problem, dict(found.point), dict(found.multipliers or {}), INTERVAL)
            assert rigorous.lower <= found.certificate.upper + 1e-12 and rigorous.upper >= found.certificate.lower - 1e-12


BAD: list[tuple[type[Any], dict[str, Any], str]] = [
    (Goodness, {"masses": [0.5, 0.25, 0.125]}, "masses: the probabilities sum to 0.875, expected 1"),
    (Goodness, {"masses": [0.5, 0.75, -0.25]}, "masses: -0.25 at index 2 is negative"),
    (Goodness, {"masses": [0.5, 0.5]}, "masses: 2 values, expected 3"),
    (Goodness, {"bound": 0.0}, "bound: 0 given, a number > 0"),
    (Goodness, {"bound": -1.0}, "bound: -1 given, a number > 0"),
    (Goodness, {"epsilon": -0.1}, "epsilon: -0.1 given, a number >= 0"),
    (Goodness, {"gram": np.ones((3, 2))}, r"gram: shape \(3, 2\) is not square"),
    (Goodness, {"gram": np.ones((2, 2))}, "targets has 3 values"),
    (Goodness, {"gram": np.array([[1, 0, 0], [0, 1, np.inf], [0, 0, 1]])}, "gram: 1 of 9 values is not finite .first at row 1, column 2"),
    (Goodness, {"loss": "hinge"}, "targets: 1 of 3 labels"),
    (Goodness, {"loss": "absolute"}, "unknown loss 'absolute'"),
    (Goodness, {"loss": "squared", "epsilon": 0.1}, "epsilon: 0.1 given, but the squared loss has no insensitive width"),
    (Goodness, {"margin": 2.0}, "margin: 2 given, but the insensitive loss has no margin"),
    (Goodness, {"loss": "hinge", "targets": np.ones(3), "margin": 0.0}, "margin: 0 given, a number > 0"),
    (GoodnessChoice, {"density": 0.0}, "density: 0 given"),
    (GoodnessChoice, {"density": 1.5}, r"density: 1.5 given, a number in \(0, 1\]"),
    (KernelGoodness, {"gram": np.diag([1.0, -1.0, 1.0])}, "gram: not positive semidefinite, the smallest eigenvalue is -1"),
    (KernelGoodness, {"gram": np.array([[1, 0.5, 0], [0, 1, 0], [0, 0, 1]])}, r"gram: not symmetric, entry \(0, 1\)"),
    (KernelGoodness, {"gamma": 0.0}, "gamma: 0 given"),
    (SmallestBound, {"level": 0.0}, "level: 0 given, a number > 0 needed; exact_smallest_bound"),
]


@pytest.mark.parametrize(("kind", "fields", "message"), BAD)
def test_bad_input_says_what_is_wrong(kind: type[Any], fields: dict[str, Any], message: str) -> None:
    own = {
        Goodness: {"bound": 1.0},
        GoodnessChoice: {"bound": 1.0, "density": 0.5},
        KernelGoodness: {"gamma": 1.0},
        SmallestBound: {"level": 0.5},
    }[kind]
    with pytest.raises((InvalidProblem, ValueError), match=message):
        kind(**{"gram": np.eye(3), "targets": np.array([1.0, 2.0, -1.0]), **own, **fields})


@pytest.mark.parametrize("loss", ["insensitive", "squared"])
def test_levels_just_below_and_above_the_least_loss_of_a_similarity_of_rank_two(loss: str) -> None:
    for seed in range(4):
        rng = np.random.default_rng(seed)
        x, y = rng.normal(size=(12, 2)), rng.normal(size=12)
        least = solve(Goodness(x @ x.T, y, 1e6, loss=loss), tol=1e-9).value
        below, above = (solve(SmallestBound(x @ x.T, y, factor * least, loss=loss), tol=1e-7) for factor in (0.99, 1.01))
        assert below.status is Status.INFEASIBLE
        assert above.optimal and 0.0 < above.value < 1e3


@pytest.mark.parametrize("sizes", [(1e-8, 1e8), (1e-8, 1.0, 1e8)])
def test_small_columns_do_not_hide_behind_the_rounding_errors_of_large_ones(sizes: tuple[float, ...]) -> None:
    rng = np.random.default_rng(3)
    gram, y = rng.normal(size=(len(sizes), len(sizes))) * np.array(sizes), rng.normal(size=len(sizes))
    found, exact = solve(SmallestBound(gram, y, 1e-3)), exact_smallest_bound(gram, y, 1e-3)
    assert exact.lower is not None and found.certificate is not None
    assert found.status is not Status.INFEASIBLE
    assert 0.0 < found.certificate.lower <= float(exact.lower) * (1 + 1e-9)
    assert exact.upper is None or found.certificate.upper >= float(exact.upper) * (1 - 1e-9)
    assert solve(SmallestBound(gram, y, 1e-3, loss="squared")).status is not Status.INFEASIBLE


def test_a_level_that_is_the_least_loss_keeps_the_multipliers_that_led_to_it() -> None:
    problem = SmallestBound(np.array([[0.0, 0.0], [2.0, 0.0]]), np.ones(2), 0.5, loss="hinge")
    found = solve(problem)  # no weights do better than ½, and |w| = 1 suffices
    assert found.optimal and found.value == 1.0


def test_without_a_feasible_point_the_lower_bound_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = SmallestBound(np.array([[1.0, 0.0], [0.0, 1e-3]]), np.ones(2), 0.1, loss="hinge")
    monkeypatch.setattr(SmallestBound, "inner", None)
    judged = certify(problem, {"w": np.zeros(2)}, {"predictions": np.full(2, 0.5), "level": 1.0})
    assert judged.upper == np.inf and judged.gap == np.inf
    assert judged.lower == pytest.approx((1.0 - 0.1) / (0.5 * (0.5 + 0.5e-3)))


@pytest.mark.parametrize("loss", ["insensitive", "squared"])
@pytest.mark.parametrize("kind", [Goodness, GoodnessChoice, KernelGoodness])
def test_nothing_to_learn_is_closed_in_intervals_too(kind: Any, loss: str) -> None:
    options: dict[str, Any] = {Goodness: {"bound": 2.0}, GoodnessChoice: {"bound": 2.0, "density": 0.3}, KernelGoodness: {"gamma": 0.3}}[
        kind
    ]
    points = np.random.default_rng(0).normal(size=(6, 6))
    masses = np.array([0.25, 0.25, 0.0, 0.25, 0.25, 0.0])
    problem = kind(points @ points.T, np.where(masses > 0, 0.0, 3.0), masses=masses, loss=loss, **options)
    assert solve(problem, rigorous=True).optimal
    other = {name: np.ones(6) for name in problem.trivial_point()}
    assert problem.gap(other, problem.multipliers(other)) > 0.0  # only where the weights are 0
