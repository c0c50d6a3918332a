"""Goodness for ordinal regression as a programme: formulas by hand, exact bounds, relations, bad input."""

from __future__ import annotations

import dataclasses
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from simopt.arithmetic import RATIONAL
from simopt.core.errors import InvalidProblem
from simopt.problems.examples.ordinal import two_points
from simopt.problems.kernel_ordinal_goodness import KernelOrdinalGoodness
from simopt.problems.ordinal_goodness import OrdinalGoodness
from simopt.solving.entry_points import certify, solve

KINDS: tuple[Any, ...] = (OrdinalGoodness, KernelOrdinalGoodness)


def world(seed: int, n: int = 9, classes: int = 3) -> tuple[np.ndarray, np.ndarray, int, np.ndarray]:
    """An asymmetric similarity with entries of both signs, labels, unequal masses."""
    rng = np.random.default_rng(seed)
    p = rng.exponential(size=n)
    return rng.normal(size=(n, n)), rng.integers(1, classes + 1, size=n).astype(float), classes, p / p.sum()


def by_hand(f: np.ndarray, b: np.ndarray, labels: np.ndarray, p: np.ndarray, margin: float) -> float:
    """Definition 12 with b_1 = −∞ and b_{r+1} = ∞, point by point."""
    ends, total = [-np.inf, *b, np.inf], 0.0
    for value, y, mass in zip(f, labels.astype(int), p, strict=True):
        total += mass * (max(margin - (value - ends[y - 1]), 0.0) + max(margin - (ends[y] - value), 0.0))
    return total


def test_the_objective_is_the_expected_margin_loss() -> None:
    gram, y, r, p = world(0)
    rng = np.random.default_rng(1)
    problem = OrdinalGoodness(gram, y, r, 2.5, p, 0.7, 0.3)
    v, b = rng.uniform(-1, 1, size=9), np.array([-0.4, 0.5])
    f = np.array([sum(p[j] * 2.5 * v[j] * gram[i, j] for j in range(9)) for i in range(9)])
    assert problem.objective({"v": v, "thresholds": b}) == pytest.approx(by_hand(f, b, y, p, 0.7))
    np.testing.assert_allclose(problem.weights({"v": v}), 2.5 * v)
    kernel = KernelOrdinalGoodness(gram @ gram.T, y, r, 0.5, p)
    assert kernel.objective({"alpha": v, "thresholds": b}) == pytest.approx(by_hand(gram @ gram.T @ v, b, y, p, 1.0))


@pytest.mark.parametrize("classes", [2, 3, 5])
def test_any_multipliers_bound_any_point_exactly(classes: int) -> None:
    rng = np.random.default_rng(classes)
    for seed in range(4):
        gram, y, r, p = world(seed, 6, classes)
        problem = OrdinalGoodness(gram, y, r, float(rng.exponential()) + 0.1, p, 0.5, float(rng.uniform(0, 1)))
        point = problem.restore({"v": 2 * rng.normal(size=6), "thresholds": 3 * rng.normal(size=r - 1)}, RATIONAL)
        highs, lows = problem.sides
        multipliers = {"above": rng.normal(size=highs.rows.size), "below": rng.normal(size=lows.rows.size), "order": rng.normal(size=r - 2)}
        value, bound = Fraction(problem.objective(point, RATIONAL)), Fraction(problem.dual_bound(multipliers, RATIONAL))
        assert bound <= value
        assert Fraction(problem.gap(point, multipliers, RATIONAL)) == value - bound


def test_restored_thresholds_are_spaced_exactly() -> None:
    gram, y, r, p = world(3, 6, 5)
    problem = OrdinalGoodness(gram, y, r, 1.0, p, 1.0, 0.1)
    b = problem.restore({"v": np.zeros(6), "thresholds": np.array([3.0, -1.0, 2.0, 2.0])}, RATIONAL)["thresholds"]
    assert all(Fraction(two) - Fraction(one) >= Fraction(0.1) for one, two in pairwise(b))


def test_two_points_have_the_value_of_the_closed_form() -> None:
    """ε₀(B) = e(2γ₁ − 4γ²eB) with e = ε₁/γ₁ ≤ ½, down to 0; at B = γ₁²/(4ε₁γ²) it is ε₁."""
    for gamma, e in ((0.25, 0.25), (0.5, 0.125), (1.0, 0.5)):
        gram, y, p = two_points(gamma, e)
        for share in (0.5, 1.0, 1.5):
            bound = share / (4 * e * gamma**2)
            found = solve(OrdinalGoodness(gram, y, 2, bound, p), "simplex", rigorous="rational")
            assert found.certificate is not None
            assert found.certificate.lower <= e * (2 - share) <= found.certificate.upper
            assert found.certificate.upper - found.certificate.lower <= 1e-15


def test_goodness_falls_and_is_convex_in_the_bound_and_rises_with_the_spacing() -> None:
    gram, y, r, p = world(4, 8)
    problem = OrdinalGoodness(gram, y, r, 1.0, p)
    values = np.array([solve(dataclasses.replace(problem, bound=float(b)), tol=1e-9).value for b in np.linspace(0.2, 4.0, 7)])
    assert np.all(np.diff(values) <= 1e-9) and np.all(np.diff(values, 2) >= -1e-8)
    spaced = [solve(dataclasses.replace(problem, delta=d), tol=1e-9).value for d in (0.0, 1.0, 3.0)]
    assert np.all(np.diff(spaced) >= -1e-9)


def test_points_of_no_mass_count_for_nothing() -> None:
    gram, y, r, p = world(5, 7, 4)
    keep = np.array([0, 2, 3, 6])
    masses = np.zeros(7)
    masses[keep] = p[keep] / p[keep].sum()
    part = np.ix_(keep, keep)
    whole, alone = OrdinalGoodness(gram, y, r, 3.0, masses, 1.0, 0.5), OrdinalGoodness(gram[part], y[keep], r, 3.0, masses[keep], 1.0, 0.5)
    assert solve(whole, tol=1e-9).value == pytest.approx(solve(alone, tol=1e-9).value, abs=1e-8)
    psd = gram @ gram.T
    kernels = KernelOrdinalGoodness(psd, y, r, 0.5, masses, 0.5), KernelOrdinalGoodness(psd[part], y[keep], r, 0.5, masses[keep], 0.5)
    values = [solve(kernel, tol=1e-9).value for kernel in kernels]
    assert values[0] == pytest.approx(values[1], abs=1e-8)


def test_two_labels_are_the_hinge_with_a_free_threshold() -> None:
    """Definition 12 for r = 2 against a scan over the one threshold of kernel predictions fixed in advance."""
    y, p = np.array([1.0, 2.0, 2.0, 1.0, 2.0]), np.full(5, 0.2)
    problem = OrdinalGoodness(np.zeros((5, 5)), y, 2, 1.0, p, 0.5)
    scan = min(by_hand(np.zeros(5), np.array([b]), y, p, 0.5) for b in np.linspace(-2, 2, 401))
    assert solve(problem, tol=1e-9).value == pytest.approx(scan, abs=1e-8)


def test_certify_judges_a_point_of_somebody_else() -> None:
    gram, y, r, p = world(6)
    problem = OrdinalGoodness(gram, y, r, 2.0, p)
    best = solve(problem, tol=1e-9)
    judged = certify(problem, {"v": np.ones(9), "thresholds": np.array([1.0, -1.0])})
    assert judged.upper >= best.value - 1e-9 and judged.lower <= best.value + 1e-9


def test_bad_input_is_refused_by_name() -> None:
    gram, y, r, p = world(7, 4)
    good: dict[str, Any] = {"gram": gram, "labels": y, "classes": r, "bound": 1.0, "masses": p}
    bad: list[tuple[str, dict[str, Any], str]] = [
        ("labels", {"labels": np.array([1.0, 2.0, 3.0, 4.0])}, "index 3"),
        ("labels", {"labels": np.array([1.0, 1.5, 2.0, 3.0])}, "index 1"),
        ("classes", {"classes": 1}, "2"),
        ("gram", {"gram": gram[:3, :3]}, "labels has 4"),
        ("bound", {"bound": 0.0}, "bound"),
        ("gamma", {"gamma": 0.0}, "gamma"),
        ("delta", {"delta": -1.0}, "delta"),
        ("masses", {"masses": np.array([0.5, 0.5, 0.5, 0.0])}, "1.5"),
    ]
    for field, change, word in bad:
        with pytest.raises(InvalidProblem, match=field) as caught:
            OrdinalGoodness(**{**good, **change})
        assert word in str(caught.value)
    with pytest.raises(InvalidProblem, match="gamma"):
        KernelOrdinalGoodness(gram @ gram.T, y, r, -1.0)
    with pytest.raises(InvalidProblem, match="gram"):
        KernelOrdinalGoodness(-gram @ gram.T, y, r, 1.0)
