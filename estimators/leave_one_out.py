r"""The default λ and length of w of an estimator, by leaving out one point at a time, in closed form.

In ridge regression with hat matrix H the residual at x_i of the fit without it is r_i/(1 − H_ii), so one decomposition serves for all λ. A
point is left out with all samples that are like it: what is chosen does not change when a sample is there twice, or weighs 2. With shares
p, D = diag(√(m p)) and the targets Dy everything is that of a mean over m points.

If there are more than MOST distinct points, λ is chosen on MOST of them, drawn from a fixed seed, and nλ is kept. For a Gaussian process nλ
is the ratio of two variances, which do not know n. So a choice costs O(MOST³) flops, whatever n is.

Source: Allen 1974 (PRESS); Golub, Heath & Wahba 1979; Rasmussen & Williams 2006, §2.2.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from simopt.core import validate
from simopt.core.arrays import Array
from simopt.estimators.sample_weights import grouped

MOST = 500
STEPS = 4  # λ a decade: what is lost is flat near its least value
STRONGEST, WEAKEST_OF_GRAM, WEAKEST_OF_FEATURES = 1e1, 1e-10, 1e-13  # λ in the unit mean K(x_i, x_i), or mean ‖ψ_i − ψ̄‖²
NEARLY = 1e-3
FREE = 1e-10  # 1 − H_ii below which nothing is left of a residual but rounding


class Points(NamedTuple):
    """Distinct points to choose by.

    Attributes
    ----------
    rows : (m,) array
        one sample of each.
    targets, shares : (m,) arrays
        the mean of y over the samples alike, and their share; shares sum to 1.
    whole : int
        how many distinct points there are, of which at most MOST were drawn.
    point : (n,) array
        for each sample which of the m points it is; m if it is none of them.
    """

    rows: NDArray[np.intp]
    targets: Array
    sample_weights: Array
    whole: int
    point: NDArray[np.intp]


class RidgeChoice(NamedTuple):
    """λ of least squared error at points left out, and ‖f‖ or ‖w‖ there."""

    regularization: float
    norm: float


def points_of(X: Array, y: Array, weights: Array | None) -> Points:
    """The distinct rows of X that have a weight (of precomputed similarities: the distinct points), at most MOST of them."""
    rows, group = grouped(X)
    mass = np.bincount(group, weights, minlength=len(rows)).astype(float)
    sums = np.bincount(group, y if weights is None else weights * y, minlength=len(rows))
    counted = np.flatnonzero(mass > 0)
    chosen = counted
    if counted.size > MOST:
        chosen = np.sort(np.random.default_rng(0).choice(counted, size=MOST, replace=False))
    index = np.full(len(rows), chosen.size)
    index[chosen] = np.arange(chosen.size)
    return Points(rows[chosen], sums[chosen] / mass[chosen], mass[chosen] / mass[chosen].sum(), counted.size, index[group])


def loo_residuals(vectors: Array, values: Array, targets: Array, strengths: Array) -> tuple[Array, Array]:
    """r = (I − H)t and 1 − diag H for every λ, (m, λ) arrays, of H = V diag(v/(v + mλ)) Vᵀ."""
    h = values[:, None] / (values[:, None] + len(targets) * strengths)
    return targets[:, None] - vectors @ (h * (vectors.T @ targets)[:, None]), 1.0 - np.square(vectors) @ h


def least(residuals: Array, free: Array) -> int:
    """The strongest λ whose Σ (r_i/(1 − H_ii))² is the least, to NEARLY: where the error is flat, rounding decides nothing."""
    errors = np.mean(np.square(residuals / np.maximum(free, FREE)), axis=0)
    errors[np.min(free, axis=0) <= FREE] = np.inf
    return int(np.argmax(errors <= (1.0 + NEARLY) * np.min(errors)))


def grid(unit: float, weakest: float) -> Array:
    """λ from the strongest to the weakest."""
    return (unit or 1.0) * np.geomspace(STRONGEST, weakest, 1 + round(STEPS * np.log10(STRONGEST / weakest)))


def ridge_of_gram(K: Array, points: Points, intercept: bool) -> RidgeChoice:
    """λ for min_f Σ p_i (f(x_i) + c − y_i)² + λ‖f‖², c the mean of y, which is left without the point as well; K of `points.rows`."""
    m, p = len(points.rows), points.sample_weights
    d = np.sqrt(m * p)
    height = float(p @ points.targets) if intercept else 0.0
    around = points.targets - height
    size = float(np.max(np.abs(around))) or 1.0
    values, vectors = np.linalg.eigh(d[:, None] * K * d)
    values = np.maximum(values, 0.0)
    strengths = grid(float(values.sum()) / m, WEAKEST_OF_GRAM)
    target = d * around / size
    best = 0
    if m > 1:
        residuals, free = loo_residuals(vectors, values, target, strengths)
        if intercept:  # without point i the mean is y̅ − p_i (y_i − y̅)/(1 − p_i)
            ones, _ = loo_residuals(vectors, values, d, strengths)
            residuals += ones * (p * around / size / (1.0 - p))[:, None]
        best = least(residuals, free)
    inner = vectors.T @ target / (values + m * strengths[best])
    return RidgeChoice(float(strengths[best]), size * float(np.sqrt(values @ np.square(inner))))


def ridge_of_features(features: Array, points: Points, intercept: bool) -> float:
    """λ for min_{w,c} Σ p_i (⟨w, ψ_i⟩ + c − y_i)² + λ‖w‖², or c = 0; features of `points.rows`.

    Raises
    ------
    InvalidProblem
        for features whose squares float64 cannot hold.
    """
    validate.squarable("features", features)
    m, p = len(points.rows), points.sample_weights
    d = np.sqrt(m * p)
    centre, height = (p @ features, float(p @ points.targets)) if intercept else (0.0, 0.0)
    around = points.targets - height
    vectors, lengths, _ = np.linalg.svd(d[:, None] * (features - centre), full_matrices=False)
    values = np.square(lengths)
    strengths = grid(float(values.sum()) / m, WEAKEST_OF_FEATURES)
    if m < 2:
        return float(strengths[0])
    residuals, free = loo_residuals(vectors, values, d * around / (float(np.max(np.abs(around))) or 1.0), strengths)
    return float(strengths[least(residuals, free - p[:, None] if intercept else free)])


def radius_for(
    X: Array, features: Array, y: Array, weights: Array | None, *, intercept: bool = True, norm: Callable[[Array], Any] = np.linalg.norm
) -> float:
    """B = ‖w‖ of the ridge regression of least squared error at points left out: what a least squares fit needs; 1 where w = 0."""
    return ridge_for(X, features, y, weights, intercept=intercept, norm=norm).norm


def ridge_for(
    X: Array, features: Array, y: Array, weights: Array | None, *, intercept: bool = True, norm: Callable[[Array], Any] = np.linalg.norm
) -> RidgeChoice:
    """λ of least squared error at points left out, for the mean over all samples, and ‖w‖ there, 1 where w = 0.

    w is that of all samples, from the d × d matrix of second moments of the features. O(n d² + d³ + MOST³).
    """
    points = points_of(X, y, weights)
    strength = ridge_of_features(features[points.rows], points, intercept) * len(points.rows) / points.whole
    p = np.full(len(y), 1.0 / len(y)) if weights is None else weights / weights.sum()
    around, targets = (features - p @ features, y - p @ y) if intercept else (features, y)
    values, vectors = np.linalg.eigh(around.T @ (p[:, None] * around))
    w = vectors @ (vectors.T @ (around.T @ (p * targets)) / (np.maximum(values, 0.0) + strength))
    return RidgeChoice(strength, float(norm(w)) or 1.0)
