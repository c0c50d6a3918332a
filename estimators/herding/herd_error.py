r"""How far a weighted herd is from the mean: ‖ω − Σ w_j ψ_j‖, bounded from above with every rounding error counted.

    ‖ω − ω̃‖² = wᵀGw − 2 Σ w_j ⟨ω, ψ_j⟩ + ‖ω‖²,      G the Gram matrix of the herd alone.

wᵀGw is computed again in float64, whatever the steps that found w were computed in; ⟨ω, ψ_j⟩ and ‖ω‖² come
with the bounds of `mean_embedding`. The three terms cancel, so no bound is below the root of what rounding did to them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from simopt.core.arrays import Array
from simopt.data.rows import Indices, Rows
from simopt.solvers.herding.gaussian_tiles import POWER, Fast, Tiles
from simopt.solvers.herding.mean_embedding import MeanEmbedding
from simopt.solvers.herding.sample import EPS, WeightedSample

BLOCK = 1 << 21  # similarities held at one time
FEW = 100  # atoms from which fast tiles are worth their preparation


@dataclass(frozen=True)
class ErrorBound:
    """‖ω − ω̃‖ ≤ `error`; `rounding` is the fraction of error² that pays for rounding, `square` what was computed for ‖ω − ω̃‖²."""

    error: float
    square: float
    rounding: float


def quadratic_form(sample: WeightedSample, points: Array, labels: Array, weights: Array) -> tuple[float, float]:
    """‖Σ w_j y_j φ(x_j)‖² and a bound on its error. O(k² p) time; never k × k numbers at once."""
    lengths = np.sqrt(np.maximum(sample.similarity.diagonal_values(points), 0.0))
    signed, k = weights * labels, len(weights)
    magnitude = float(np.abs(weights) @ lengths) ** 2
    sums = (2.0 * k + 8.0) * EPS
    fast = Fast.of(sample.similarity, Rows("points", points), "float64") if k > FEW else None
    if fast is not None and fast.coordinates_of_all is not None and fast.relative * (2.0 * fast.radius) ** 2 <= 16.0 * sample.value_error:
        along = np.zeros((2, k))
        Tiles("float64").add(fast.coordinates_of_all, fast.coordinates_of_all, signed, signed, along)
        share = fast.relative * (2.0 * fast.radius) ** 2 + POWER * EPS
        return float(signed @ along[0]), 1.01 * (share + sums) * magnitude
    total = 0.0
    step = max(1, BLOCK // max(k, 1))
    for start in range(0, k, step):
        rows = slice(start, start + step)
        total += float(signed[rows] @ (sample.similarity.values(points[rows], points) @ signed))
    return total, 1.01 * (sample.value_error + sums) * magnitude


def error_bound(sample: WeightedSample, embedding: MeanEmbedding, indices: Indices, weights: Array) -> ErrorBound:
    """A bound on ‖ω − Σ_j w_j ψ_{i_j}‖ for any weights w ≥ 0 (they need not sum to 1)."""
    quadratic, rounding = quadratic_form(sample, sample.rows.take(indices), sample.labels[indices], weights)
    values = embedding.values[indices]
    cross = float(weights @ values)
    rounding += 2.0 * float(weights @ embedding.value_errors[indices]) + embedding.square_error
    rounding += 2.02 * (len(weights) + 4.0) * EPS * float(weights @ np.abs(values))
    square = quadratic - 2.0 * cross + embedding.square
    rounding += 8.0 * EPS * (abs(quadratic) + 2.0 * abs(cross) + embedding.square)
    return ErrorBound(math.sqrt(max(square, 0.0) + rounding) * (1.0 + 8.0 * EPS), square, rounding)
