import numpy as np
import pytest

from simopt.core.errors import InvalidProblem
from simopt.data.similarities import Gaussian, Linear
from simopt.equivalence.stability import leave_one_out, swap
from simopt.equivalence.stability_bounds import (
    Change,
    admissibility,
    distance_bound,
    loss_bound,
    norm_bound,
    sharpened,
    subquadratic,
    theorem3,
)
from simopt.equivalence.training import TrainingSet

POWERS = (1.1, 1.5, 2.0, 3.0, 5.0)
REMOVALS = (Change.BOUSQUET_ELISSEEFF, Change.RENORMALISED)


def apart(K, a, b):
    """‖Σ (a − b)_j k_j‖ through the factor of K, independent of the library."""
    d, Q = np.linalg.eigh(K)
    return float(np.linalg.norm(np.sqrt(np.where(d > 1e-13 * d[-1], d, 0.0)) * (Q.T @ (a - b))))


@pytest.mark.parametrize("power", POWERS)
@pytest.mark.parametrize("lam", [1e-4, 1e-1, 10.0])
@pytest.mark.parametrize("which", ["gaussian", "linear"])
@pytest.mark.parametrize("change", REMOVALS)
def test_leave_one_out_is_the_refit(request, refit, which, power, lam, change):
    Z = request.getfixturevalue(which)
    n, K, y = Z.n, Z.gram, Z.targets
    found = leave_one_out(Z, lam, power, change)
    whole = refit(K, y, lam, power, n)
    N = n if change is Change.BOUSQUET_ELISSEEFF else n - 1
    for i in range(n):
        kept = np.delete(np.arange(n), i)
        other = np.zeros(n)
        other[kept] = refit(K[np.ix_(kept, kept)], y[kept], lam, power, N)
        size = max(apart(K, whole, 0), apart(K, other, 0))
        assert found.distances[i] == pytest.approx(apart(K, whole, other), abs=1e-9 * size)
        assert apart(K, found.coefficients[i], other) <= 1e-9 * size
        assert found.coefficients[i, i] == 0.0
        assert found.whole.distance(found.function(i)) == pytest.approx(found.distances[i], abs=1e-12 * size)


@pytest.mark.parametrize("power", POWERS)
def test_swap_is_the_refit(gaussian, refit, power):
    x, y = np.array([0.3, -1.0, 0.4]), -0.8
    found = swap(gaussian, x, y, 1e-2, power)
    joined = TrainingSet(np.vstack([gaussian.inputs, x]), np.append(gaussian.targets, y), gaussian.similarity)
    K, n = joined.gram, gaussian.n
    whole = np.append(refit(gaussian.gram, gaussian.targets, 1e-2, power, n), 0.0)
    for i in range(n):
        kept = np.delete(np.arange(n + 1), i)
        other = np.zeros(n + 1)
        other[kept] = refit(K[np.ix_(kept, kept)], joined.targets[kept], 1e-2, power, n)
        assert found.distances[i] == pytest.approx(apart(K, whole, other), rel=1e-9)
    assert found.whole.coefficients[-1] == 0.0


def test_losses_are_those_of_the_functions(gaussian):
    found = leave_one_out(gaussian, 1e-2, 3.0, Change.RENORMALISED)
    X, y = np.random.default_rng(1).normal(size=(4, 3)), np.array([1.0, -1.0, 0.5, 0.0])
    table, worst = found.losses(X, y), found.worst_losses(X, 1.5)
    for i in range(gaussian.n):
        f, g = found.whole(X), found.function(i)(X)
        np.testing.assert_allclose(table[i], np.abs((y - f) ** 2 - (y - g) ** 2), atol=1e-12)
        grid = np.linspace(-1.5, 1.5, 301)[:, None]
        np.testing.assert_allclose(worst[i], np.max(np.abs((grid - f) ** 2 - (grid - g) ** 2), axis=0), rtol=1e-9)


def test_known_small_cases():
    one = TrainingSet(np.ones((1, 1)), np.ones(1), Linear())
    assert leave_one_out(one, 1.0).distances == pytest.approx([0.5])
    assert leave_one_out(one, 1.0, change=Change.RENORMALISED).distances == pytest.approx([0.5])
    assert swap(one, [1.0], -1.0, 1.0).distances == pytest.approx([1.0])
    orthogonal = TrainingSet(np.eye(2), np.ones(2), Linear())
    assert leave_one_out(orthogonal, 1.0).distances == pytest.approx([1 / 3, 1 / 3])
    assert swap(orthogonal, [1.0, 0.0], -1.0, 1.0).distances[0] == pytest.approx(2 / 3)


def test_functions_that_vanish(no_signal):
    both = leave_one_out(no_signal, 0.1, 3.0)
    assert both.whole.norm() == 0.0
    assert both.distances == pytest.approx([both.function(0).norm()] * 2) and both.distances[0] > 0.1
    silent = TrainingSet(np.ones((3, 1)), np.zeros(3), Linear())
    for power in (1.5, 2.0, 3.0):
        assert np.all(leave_one_out(silent, 0.1, power).distances == 0.0)


def adversarial(seed):
    """Small sets inside the hypotheses (|y| ≤ 1, κ = 1) with λ from 1e-3 to 1e6, duplicated points and opposite targets among them."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 7))
    X = rng.normal(size=(n, 2))
    X /= np.maximum(1.0, np.linalg.norm(X, axis=1))[:, None]
    if rng.random() < 0.5:
        X[:] = X[0] / np.linalg.norm(X[0])
    y = rng.uniform(-1, 1, size=n) if rng.random() < 0.5 else rng.choice([-1.0, 1.0], size=n)
    return TrainingSet(X, y, Linear() if rng.random() < 0.5 else Gaussian(1.0)), float(10 ** rng.uniform(-3, 6))


@pytest.mark.parametrize("power", (1.1, 1.3, 1.8, 2.0, 3.0, 5.0))
@pytest.mark.parametrize("change", list(Change))
def test_the_bounds_hold(power, change):
    worst = 0.0
    for seed in range(60):
        Z, lam = adversarial(seed)
        found = swap(Z, Z.inputs[0], -1.0, lam, power) if change is Change.SWAP else leave_one_out(Z, lam, power, change)
        bound = distance_bound(Z.n, lam, power, 1.0, 1.0, change)
        worst = max(worst, float(np.max(found.distances)) / bound)
        losses = found.worst_losses(Z.inputs, 1.0)
        assert np.max(losses) <= loss_bound(bound, lam, power, 1.0, 1.0) * (1 + 1e-12)
        if power >= 2 and change is not Change.SWAP:
            assert np.max(found.distances) <= theorem3(Z.n, lam, power, 1.0, 1.0) * (1 + 1e-12)
    assert 0 < worst <= 1 + 1e-12


@pytest.mark.parametrize("power", (2.0, 3.0, 5.0))
def test_the_sharpened_bound_is_attained(power):
    """f = −g when y = (1/2, −1) at one point loses its second sample: equality in every step but the size of C as λ → ∞."""
    Z = TrainingSet(np.ones((2, 1)), np.array([0.5, -1.0]), Linear())
    ratios = []
    for lam in (1e2, 1e8, 1e14):
        change = leave_one_out(Z, lam, power).distances[1]
        ratios.append(change / sharpened(2, lam, power, 1.0, 1.0, Change.BOUSQUET_ELISSEEFF))
    assert ratios[0] < ratios[1] < ratios[2] <= 1 + 1e-12
    assert ratios[-1] > 0.999


def test_renormalising_attains_its_factor():
    Z = TrainingSet(np.ones((5, 1)), np.array([1.0, 1.0, 1.0, 1.0, -1.0]), Linear())
    change = leave_one_out(Z, 1e6, 2.0, Change.RENORMALISED).distances[4]
    assert 0.99 < change / sharpened(5, 1e6, 2.0, 1.0, 1.0, Change.RENORMALISED) <= 1
    assert change > sharpened(5, 1e6, 2.0, 1.0, 1.0, Change.BOUSQUET_ELISSEEFF)


def test_the_bounds_agree_where_they_meet_and_refuse_elsewhere():
    for change in Change:
        assert subquadratic(7, 0.3, 2.0, 2.0, 1.5, change) == pytest.approx(sharpened(7, 0.3, 2.0, 2.0, 1.5, change))
    assert sharpened(9, 0.1, 3.0, 1.0, 1.0, Change.RENORMALISED) == pytest.approx(theorem3(9, 0.1, 3.0, 1.0, 1.0) * (2 / 3) ** 0.5)
    assert norm_bound(4.0, 2.0, 6.0) == pytest.approx(3.0)
    assert admissibility(4.0, 2.0, 6.0, 2.0) == pytest.approx(2 * (6 + 2 * 3))
    with pytest.raises(InvalidProblem, match="m >= 2"):
        theorem3(5, 1.0, 1.5, 1.0, 1.0)
    with pytest.raises(InvalidProblem, match="1 < m <= 2"):
        subquadratic(5, 1.0, 3.0, 1.0, 1.0, Change.SWAP)
    with pytest.raises(InvalidProblem, match="m > 1"):
        leave_one_out(TrainingSet(np.ones((2, 1)), np.ones(2), Linear()), 1.0, 1.0)
    with pytest.raises(InvalidProblem, match="swap"):
        leave_one_out(TrainingSet(np.ones((2, 1)), np.ones(2), Linear()), 1.0, 2.0, Change.SWAP)
