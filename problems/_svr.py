"""Landmarked SVR without its bound on w: two hinges a sample, [y_i − ε − f_i]_+ (below) and [f_i − y_i − ε]_+ (above), f = Ψw.

Both may be smoothed, see `_smoothed_insensitive`.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator
from functools import reduce
from operator import add
from typing import Any, Self

import numpy as np

from simopt.arithmetic import FLOAT, Arithmetic
from simopt.data.landmarks import equal_columns
from simopt.data.row_blocks import LARGE, RowBlocks, feature_rows
from simopt.ground import validate
from simopt.ground.arrays import Array, Multipliers, Point
from simopt.problems import _hinges, _smoothed_insensitive, _squares, _svr_cases
from simopt.solving.problem import Law, Problem, Rescale, freeze

Value = Any


def _sums(pairs: Iterable[tuple[Value, Value]]) -> tuple[Value, Value]:
    return reduce(lambda one, two: (one[0] + two[0], one[1] + two[1]), pairs)


class InsensitiveRegression(Problem):
    """Formulas of both forms of landmarked SVR; a form declares the fields, in the order of its formula, and adds what bounds w."""

    features: Array
    targets: Array
    epsilon: float
    smoothness: float

    def _check(self) -> None:
        targets = validate.squarable("targets", validate.vector("targets", self.targets))
        features = feature_rows("features", self.features, len(targets))
        epsilon, smoothness = validate.nonnegative("epsilon", self.epsilon), _smoothed_insensitive.checked(self.smoothness)
        freeze(self, features=features, targets=targets, epsilon=epsilon, smoothness=smoothness)

    @abstractmethod
    def in_units(self, s: float, c: float) -> Self:
        """The same problem with y, ε and 1/β multiplied by s and Ψ by c: values × s, w × s/c."""

    def blocks(self) -> Iterator[tuple[slice, Array]]:
        """Ranges of samples and their features, so that no formula needs more than blocks beside its data."""
        return iter(RowBlocks(self.features, LARGE))

    def hinges(self, num: Arithmetic, w: Value, part: slice, block: Array | None) -> tuple[Value, Value]:
        """f − y − ε (above) and y − ε − f (below) of a range of samples; w = 0 needs no features."""
        residual = (num.zeros(part.stop - part.start) if block is None else num.matvec(block, w)) - num.lift(self.targets[part])
        return residual - num.lift(self.epsilon), residual * -1 - num.lift(self.epsilon)

    def loss(self, num: Arithmetic, w: Value) -> Value:
        """(1/n) Σ ℓ̃_β(f_i − y_i)."""
        rows: Iterable[tuple[slice, Array | None]] = self.blocks()
        if _squares.all_zero(num, w):
            rows = ((part, None) for part in RowBlocks(self.features, LARGE).parts)
        hinges = (self.hinges(num, w, part, block) for part, block in rows)
        n, beta = len(self.targets), self.smoothness
        return reduce(add, (_smoothed_insensitive.mean_loss(num, *pair, n=n, smoothness=beta) for pair in hinges))

    def prices(self, num: Arithmetic, multipliers: Multipliers, part: slice = slice(None)) -> tuple[Value, Value]:
        """p and q in [0, 1/n] of a range of samples, without what the two have in common.

        The hinges of one sample are never both active, and a common part m adds −2εm to the bound. (Any multipliers may be judged, so this
        happens in floats whatever the arithmetic.)
        """
        above, below = (np.maximum(np.asarray(multipliers[key], dtype=float).reshape(-1)[part], 0.0) for key in ("above", "below"))
        common = np.minimum(above, below)
        n = len(self.targets)
        return _hinges.capped(num, above - common, n), _hinges.capped(num, below - common, n)

    def lagrangian(self, num: Arithmetic, multipliers: Multipliers) -> tuple[Value, Value]:
        """Σ (q − p) y − ε Σ (p + q) − (n/(2β)) Σ (p² + q²), the part of the Lagrangian without w, and g = Ψᵀ(p − q)."""

        def terms(part: slice, block: Array) -> tuple[Value, Value]:
            above, below = self.prices(num, multipliers, part)
            cost = _smoothed_insensitive.cost(num, above, below, n=len(self.targets), smoothness=self.smoothness)
            value = num.dot(below - above, num.lift(self.targets[part])) - num.sum(above + below) * num.lift(self.epsilon) - cost
            return value, num.rmatvec(block, above - below)

        return _sums(terms(part, block) for part, block in self.blocks())

    def settled(self, num: Arithmetic, w: Value, multipliers: Multipliers) -> bool:
        """Whether y, w, p and q are all 0: then every term of the gap is 0, also where radii of intervals would say otherwise."""
        return _squares.all_zero(num, self.targets, w) and not any(np.any(prices) for prices in self.prices(FLOAT, multipliers))

    def hinge_gap(self, num: Arithmetic, w: Value, multipliers: Multipliers) -> tuple[Value, Value]:
        """What the hinges leave of the gap, and g = Ψᵀ(p − q)."""

        def terms(part: slice, block: Array) -> tuple[Value, Value]:
            above, below = self.prices(num, multipliers, part)
            pairs = zip(self.hinges(num, w, part, block), (above, below), strict=True)
            left = sum((_smoothed_insensitive.slack(num, h, a, len(self.targets), self.smoothness) for h, a in pairs), num.lift(0.0))
            return left, num.rmatvec(block, above - below)

        return _sums(terms(part, block) for part, block in self.blocks())

    def multipliers(self, point: Point) -> Multipliers:
        """q_i = s'(y_i − ε − f_i)/n, p_i = s'(f_i − y_i − ε)/n: exact if β < ∞; else 1/n or 0, exact away from the kinks, which a point
        cannot price.
        """
        w, n = np.asarray(point["w"], dtype=float), len(self.targets)
        out = {"above": np.empty(n), "below": np.empty(n)}
        for part, block in self.blocks():
            for key, h in zip(("above", "below"), self.hinges(FLOAT, w, part, block), strict=True):
                out[key][part] = _smoothed_insensitive.suggested(h, n, self.smoothness)
        return out

    @property
    def duplicates(self) -> tuple[tuple[int, int], ...]:
        """Pairs (i, j) of equal features, i the first of its kind: landmarks that were drawn twice, or are alike to every sample."""
        return equal_columns(self.features)

    def trivial_point(self) -> Point:
        """w = 0."""
        return {"w": np.zeros(self.features.shape[1])}

    def scale(self) -> float:
        """Loss at w = 0, or ε where that is 0."""
        return float(self.objective(self.trivial_point())) or self.epsilon

    def normalised(self) -> tuple[Self, Rescale]:
        """y/σ, ε/σ, βσ, Ψ/κ with powers of two near max(|y_i|, ε) and max ‖ψ_i‖: w = w'σ/κ, f = f'σ; multipliers are pure numbers.

        κ = 1, and Ψ itself, where that is nearly so (see `_hinges.row_unit`).
        """
        sigma = _squares.power_of_two(max(_squares.largest(self.targets), self.epsilon))
        kappa = _hinges.row_unit(self.features)
        back = _squares.times(w=sigma / kappa, f=sigma, slack_below=sigma, slack_above=sigma, v=sigma)
        return self.in_units(1.0 / sigma, 1.0 / kappa), Rescale(back)

    @classmethod
    def laws(cls) -> list[Law]:
        """Scaling of targets, ε, 1/β and what bounds w together; scaling of the features; sign; permutation; duplication."""
        return _svr_cases.laws()
