"""The learners behind the claims of sections 2 to 4 and Appendices A and B of Audiffren & Kadri."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from simopt.theorems.ak.proposition_4_7 import FRACTIONS, RAMPS, slow
from simopt.theorems.ak.rational_ridge import Sample, loss_change, random_samples, ridge, risk, size, slope, without
from simopt.theorems.ak.stability_as_lipschitz import SIZES, change, claimed, removals, stability, through_smaller_sets, through_the_union
from simopt.theorems.ak.uniform_stability import PROGRAMMES


def test_exact_ridge_is_the_minimiser() -> None:
    rng = np.random.default_rng(0)
    for n in range(1, 6):
        samples, lam = random_samples(rng, n), Fraction(1, 3)
        w = ridge(samples, n * lam, 2)
        assert all(a + 2 * lam * b == 0 for a, b in zip(slope(samples, w), w, strict=True))
        X = np.array([[float(v) for v in x] for _, x, _ in samples])
        y = np.array([float(y) for _, _, y in samples])
        assert np.allclose([float(v) for v in w], np.linalg.solve(X.T @ X + n / 3 * np.eye(2), X.T @ y), atol=1e-14)
        assert float(risk(samples, w)) == pytest.approx(np.mean((y - X @ [float(v) for v in w]) ** 2), abs=1e-14)
    assert ridge([], Fraction(1), 2) == [0, 0]


def test_removing_a_sample_takes_one_of_its_kind() -> None:
    samples: list[Sample] = [(3, [1], Fraction(1)), (1, [2], Fraction(0))]
    assert size(samples) == 4
    assert without(samples, 0) == [(2, [1], 1), (1, [2], 0)]
    assert without(samples, 1) == [(3, [1], 1)]


@pytest.mark.parametrize(("lam", "printed"), [(1e-1, 1.70), (1e-2, 3.30), (1e-4, 25.75), (1e-6, 250.73)])
def test_numbers_of_the_audit_for_the_ridge_example(lam: float, printed: float) -> None:
    n = round(1e4 / lam)
    rest: list[Sample] = [(n - 1, [Fraction(lam**0.5)], Fraction(1))]
    whole = ridge([*rest, (1, [Fraction(1)], Fraction(-1))], n * Fraction(lam), 1)
    moved = loss_change([1], -1, whole, ridge(rest, (n - 1) * Fraction(lam), 1))
    assert float(moved) * n * lam / (1 + lam**-0.5) == pytest.approx(printed, abs=0.006)


def test_exchange_is_twice_the_largest_removal() -> None:
    assert change((0,), (1,)) == 1
    assert max(stability(n) for n in SIZES) == stability(1) == Fraction(1, 2)
    assert change((0, 2), (1, 2)) == Fraction(2, 3)


def test_counterexamples_to_the_transfer_of_stability() -> None:
    one = Fraction(1)
    for n in (11, 101, 10_001, 1_000_001):
        for lam in (Fraction(1, 3), one, Fraction(5)):
            assert RAMPS.change(lam, n) == RAMPS.change(lam, n + 1) == min(one, lam)
            assert RAMPS.beta(n, lam) <= lam / slow(n - 1)
        assert RAMPS.cost(n) == slow(n) - slow(n - 1) <= Fraction(2, n - 1)
        assert FRACTIONS.beta(n, one) == FRACTIONS.cost(n) == 0
        assert FRACTIONS.change(one, n) == Fraction(1, 3 * n * (n - 1))


def test_programmes_of_lemma_4_3_minimise_their_own_objectives() -> None:
    rng = np.random.default_rng(2)
    for B in PROGRAMMES.values():
        samples, nu = random_samples(rng, 3), Fraction(3, 7)
        n, w = len(samples), B.fitted(nu, samples, len(samples))
        # f(x) = ⟨w, x⟩ has the squared norm ‖w‖²/t² over the kernel t² k.
        gradient = [B.weight(nu) * a + 2 * B.penalty(nu) / B.stretch**2 * b for a, b in zip(slope(samples, w), w, strict=True)]
        assert gradient == [0, 0] and n == 3


def test_chains_between_sets() -> None:
    first, second = (0, 0, 1), (1, 2)
    assert through_smaller_sets(first, second) == [(0, 0, 1), (0, 1), (1,), (1, 2)]
    assert through_the_union(first, second) == [(0, 0, 1), (0, 0, 1, 2), (0, 1, 2), (1, 2)]
    assert removals(through_smaller_sets(first, second)) == claimed(first, second, False) == [2, 2, 3]
    assert removals(through_the_union(first, second)) == claimed(first, second, True) == [3, 4, 4]
    assert removals([(0,), (1,)]) == [0]
