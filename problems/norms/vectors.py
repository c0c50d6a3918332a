"""Norms of vectors: what bounds leave of a gap, points drawn into a ball, and the units of rows."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from simopt.arithmetic import FLOAT, Arithmetic, Value
from simopt.core.arrays import Array
from simopt.data.row_blocks import LARGE, RowBlocks
from simopt.problems.norms import squares

MARGIN = 4e-15  # relative margin below the radius to which a restored point is drawn, before it is checked


def ball_term(num: Arithmetic, w: Value, g: Value, radius: float) -> Value:
    """⟨g, w⟩ + B‖g‖ for ‖w‖ ≤ B, as a sum of non-negative terms."""
    bound, size, length = num.lift(radius), num.norm(g), num.norm(w)
    outer = num.pos(bound - length) * size
    if num.lower(size) > 0.0 and num.lower(length) > 0.0 and math.isfinite(num.upper(size / length)):
        difference = g + w * (size / length)
        return outer + num.dot(difference, difference) * length / (size * 2)
    if num.upper(size) == 0.0 or num.upper(length) == 0.0:
        return outer
    return outer + num.pos(length * size + num.dot(g, w))


def penalty_term(num: Arithmetic, w: Value, g: Value, strength: float) -> Value:
    """‖g + λw‖²/(2λ)."""
    residual = g + w * num.lift(strength)
    return num.dot(residual, residual) / (num.lift(strength) * 2)


def inside_ball(num: Arithmetic, w: Array, radius: float, norm: Callable[[Arithmetic, Value], Value] | None = None) -> Value:
    """w, or w drawn back until its norm, evaluated in `num`, is provably at most the radius."""
    margin = MARGIN
    measure = norm if norm is not None else (lambda arithmetic, x: arithmetic.norm(x))
    while True:
        length = num.upper(measure(num, num.lift(w)))
        if length <= radius or not np.any(w):
            return num.lift(w)
        if not math.isfinite(length):
            return num.lift(np.zeros_like(w))
        w = w * (radius / length * (1.0 - margin))
        margin *= 4.0


def largest_row(features: Array | RowBlocks) -> float:
    """max_i ‖ψ_i‖, in blocks of rows."""
    rows = features if isinstance(features, RowBlocks) else RowBlocks(features, LARGE)
    return max(float(np.max(np.linalg.norm(block, axis=1))) for _, block in rows)


def row_unit(features: Array | RowBlocks) -> float:
    """A power of two near max_i ‖ψ_i‖; 1 where that is no more than 16 times off, so that features of natural size need not be copied."""
    unit = squares.power_of_two(largest_row(features))
    return 1.0 if 1.0 / 16.0 <= unit <= 16.0 else unit


def scaled(features: Array, c: float) -> Array:
    """cΨ; Ψ itself for c = 1."""
    return features if c == 1.0 else features * c


def length_of(w: Array) -> float:
    """‖w‖ without overflow."""
    return float(FLOAT.norm(np.asarray(w, dtype=float)))
