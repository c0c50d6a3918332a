"""What the paper says beside its theorems: the hold-out, kernels, the cost of LPAV, parities, Figure 2; and Proposition 1 for any t."""

from __future__ import annotations

from fractions import Fraction
from itertools import islice, product
from math import prod

import numpy as np
import pytest
from scipy.stats import binom

from simopt.claims import runner
from simopt.equivalence.training import TrainingSet
from simopt.estimators.index_models.kernel_isotron import kernel_l_isotron
from simopt.theorems.kkks import hold_out, kernel_form
from simopt.theorems.kkks.float_tron import l_isotron
from simopt.theorems.kkks.nearness import MISTAKEN, quantile_limit
from simopt.theorems.kkks.rational_lpav import corners_touched
from simopt.theorems.kkks.rational_tron import fitted
from simopt.theorems.kkks.uniform_bounds import deviation, one_direction_deviation


@pytest.mark.parametrize(
    ("name", "least"), [("KK-T1", 1 / 25), ("KK-T2+", 0.03), ("KK-L7-explicit", 0.02), ("KK-holdout", 0.25), ("KK-L3", 0.5)]
)
def test_nearness_is_what_the_notes_say(name: str, least: float) -> None:
    tightness = runner.run(name).own.tightness
    assert tightness is not None and least <= tightness < 1


def test_quantile_limit_is_above_the_quantile_but_for_its_mistake() -> None:
    for n, share in ((50, 0.9), (66, 0.9), (200, 0.9), (40, 0.7)):
        limit = quantile_limit(list(range(1, n + 1)), share)  # the k-th smallest is k
        if limit == np.inf:
            assert binom.sf(n - 1, n, share) > MISTAKEN
        else:
            assert binom.sf(limit - 1, n, share) <= MISTAKEN < binom.sf(limit - 2, n, share)


def test_coins_on_orthonormal_samples_are_fitted_in_floats_too() -> None:
    m = 50
    y = (np.arange(m) % 2).astype(float)
    last = list(islice(l_isotron(np.eye(m), y, np.ones(m)), m + 1))[-1]
    assert np.mean(np.abs(last.predictions - 0.5)) >= 0.25
    assert np.linalg.norm(last.w) > 2  # W = 1


def test_kernel_run_in_fractions_is_that_of_the_library() -> None:
    rng = np.random.default_rng(3)
    X, y = rng.integers(-8, 9, (6, 2)) / 16, rng.integers(0, 2, 6)
    rows, labels = [[Fraction(v) for v in x] for x in X], [Fraction(int(v)) for v in y]
    gram = [[kernel_form.kernel(a, b) for b in rows] for a in rows]
    exact = islice(kernel_form.kernel_iterates(gram, labels, fitted(labels, [1] * 6), [1] * 6), 5)

    def similarity(A: np.ndarray, B: np.ndarray) -> np.ndarray:
        return (A @ B.T + (A @ B.T) ** 2) / 4

    fit = kernel_l_isotron(TrainingSet(X, y.astype(float), similarity), keep=True, max_iter=5, tol=0.0)
    assert fit.states is not None
    assert fit.states == pytest.approx(np.array([[float(a) for a in alpha] for alpha, _ in exact]), abs=1e-12)


def test_law_of_the_choice_is_that_of_simulated_hold_outs() -> None:
    quarter = Fraction(1, 4)
    tables = [[Fraction(1, 2), Fraction(1, 2)], [Fraction(0), Fraction(1)], [quarter, 3 * quarter]]
    law = hold_out.excesses([quarter, 3 * quarter], tables, 5, 1)
    assert sum(law.values()) == 1
    rng = np.random.default_rng(5)
    found = []
    for _ in range(4000):
        right = rng.integers(0, 2, 5)
        y = rng.random(5) < np.where(right, 0.75, 0.25)
        errors = [np.sum((np.where(right, float(values[1]), float(values[0])) - y) ** 2) for values in tables]
        found.append((Fraction(1, 16), Fraction(1, 16), Fraction(0))[int(np.argmin(np.round(errors, 9)))])
    assert np.mean([value > 0 for value in found]) == pytest.approx(float(law[Fraction(1, 16)]), abs=0.04)


def test_parity_is_seen_by_a_majority_and_by_nothing_that_misses_a_coordinate() -> None:
    cube = list(product((-1, 1), repeat=4))
    parity, majority = [prod(x[:3]) for x in cube], [1 if sum(x[:3]) > 0 else -1 for x in cube]
    assert abs(sum(a * b for a, b in zip(parity, majority, strict=True))) == len(cube) / 2  # b_3 = 1/2
    for values in product((0, 1), repeat=8):  # functions of three coordinates, the third one unseen
        unseen = [values[(x[0] > 0) * 4 + (x[1] > 0) * 2 + (x[3] > 0)] for x in cube]
        assert sum(a * b for a, b in zip(parity, unseen, strict=True)) == 0


def test_corners_are_at_most_three_more_a_sample() -> None:
    counted = corners_touched([Fraction(i % 2) for i in range(30)], [Fraction(1, 30)] * 29)
    assert [corners <= 3 * i - 2 for i, (corners, _) in enumerate(counted, 1)] == [True] * 30
    assert counted[0] == (1, 0)


def test_one_direction_costs_less_than_all() -> None:
    for m in (10**3, 10**5, 10**7):
        assert one_direction_deviation(m, 1.0, 0.1) < deviation(m, 1.0, 0.1)
    # no logarithm: times √m it stays bounded
    scaled = [one_direction_deviation(10.0**k, 1.0, 0.1) * 10 ** (k / 2) for k in range(4, 11)]
    assert max(scaled) / min(scaled) < 1.1
