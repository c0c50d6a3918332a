r"""Least squares on landmark features, (1/n)‖y − Ψw‖² + R(w), with R = 0 on a ball ‖w‖ ≤ B or R = λ‖w‖²: for numbers and for rankings.

With a multiplier v of the row f = Ψw and g = Ψᵀv,
    min_f (1/n)‖y − f‖² + vᵀf = vᵀy − (n/4)‖v‖²   at f = y − (n/2)v;      min_w R(w) − ⟨g, w⟩ = −R*(g),
    D(v) = vᵀy − (n/4)‖v‖² − R*(g),      R*(g) = B‖g‖, or ‖g‖²/(4λ), there with the minimum at w = g/(2λ).
The gap is (n/4)‖v − (2/n)(y − Ψw)‖² plus R(w) − ⟨g, w⟩ + R*(g) (`simopt.problems.bounds`), of a penalty λ‖w − g/(2λ)‖². A point suggests
v = (2/n)(y − Ψw), for which the first square vanishes. With K = ΨΨᵀ and w = Ψᵀα this is regression in the RKHS of K. The penalised form is
`KernelRidge` with the same λ, the ball is that of `MPowerRLS`, PowerBall(B, 1). The number n is that of samples, or, for rankings, of
queries: the loss of a query is the sum over its documents (`count`).
"""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import Any, ClassVar, Self

import numpy as np

from simopt.arithmetic import FLOAT, INTERVAL, Arithmetic, Value
from simopt.core.arrays import Array, Multipliers, Point
from simopt.data.landmarks import equal_columns
from simopt.model.problem import Image, Law, Rescale
from simopt.problems.bounds import Ball, Bound, Bounded, Ridge
from simopt.problems.norms import squares, vectors


class LandmarkSquares(Bounded):
    """(1/n)‖y − Ψw‖² + R(w); a problem declares the fields, in the order of its formula, and what y is."""

    features: Array
    targets: Array
    bound: Bound
    bounds: ClassVar[dict[str, type[Bound]]] = {"ball": Ball, "penalty": Ridge}
    by_hand: ClassVar[str] = "time: a fit is one factorisation, found before its declaration is read"

    @property
    def growth(self) -> int:
        """Squares."""
        return 2

    @property
    def count(self) -> int:
        """n of the formulas, by which the sum of squares is divided: the number of samples, unless a problem says otherwise."""
        return len(self.targets)

    def objective(self, point: Point, num: Arithmetic = FLOAT) -> Value:
        """(1/n)‖y − Ψw‖² + R(w)."""
        w = num.lift(point["w"])
        return squares.mean_square(num, self.residual(num, w), self.count) + self.bound.value(num, w)

    def restore(self, point: Point, num: Arithmetic = FLOAT) -> Point:
        """w, drawn back into the ball if it lies outside; 0 if y = 0."""
        return {"w": self.bound.inside(num, point["w"]) if np.any(self.targets) else num.zeros(self.features.shape[1])}

    def dual_bound(self, multipliers: Multipliers, num: Arithmetic = FLOAT, upper: float = float("inf")) -> Value:
        """D(v); every v is dual feasible."""
        v = num.lift(multipliers["predictions"])
        return squares.dual_term(num, v, num.lift(self.targets), self.count) + self.bound.dual(num, self.slope(num, v))

    def gap(self, point: Point, multipliers: Multipliers, num: Arithmetic = FLOAT) -> Value:
        """(n/4)‖v − (2/n)(y − Ψw)‖² + R(w) − ⟨g, w⟩ + R*(g), free of cancellation."""
        w, v = num.lift(point["w"]), num.lift(multipliers["predictions"])
        if squares.all_zero(num, self.targets, w, v):  # then so is every term, also where radii of intervals would say otherwise
            return num.lift(0.0)
        return squares.misfit(num, v, self.residual(num, w), self.count) + self.bound.gap(num, w, self.slope(num, v))

    def distance(self, gap: float, point: Point | None = None) -> float:
        r"""√(gap/λ); in a ball min(2B, 2√(2Bh/s)) with s = ‖Ψᵀv‖ and h = P(w) − D(v), v the multipliers that the point suggests.

        Without a point 2B. Least squares need not be strongly convex, but the ball is: for ‖w‖ ≤ B the last terms of the gap are
        Bs − ⟨g, w⟩. Then ‖w − (B/s)g‖² = ‖w‖² + B² − (2B/s)⟨g, w⟩ ≤ (2B/s)(Bs − ⟨g, w⟩) ≤ (2B/s)h. Both w and w* satisfy this.
        """
        known = self.bound.distance(gap)
        if point is None or not isinstance(self.bound, Ball):
            return known
        suggested = self.multipliers(point)
        s = INTERVAL.lower(INTERVAL.norm(self.slope(INTERVAL, INTERVAL.lift(suggested["predictions"]))))
        height = float(self.gap(point, suggested))
        return min(known, 2.0 * math.sqrt(2.0 * self.radius / s * height)) if s > 0.0 and height >= 0.0 else known

    def residual(self, num: Arithmetic, w: Value) -> Value:
        """y − Ψw."""
        return num.lift(self.targets) - num.matvec(self.features, w)

    def slope(self, num: Arithmetic, v: Value) -> Value:
        """−Ψᵀv, that of vᵀ(f − Ψw) in w."""
        return -num.rmatvec(self.features, v)

    def multipliers(self, point: Point) -> Multipliers:
        """v = (2/n)(y − Ψw)."""
        residual = self.targets - self.features @ np.asarray(point["w"], dtype=float)
        return {"predictions": residual * (2.0 / self.count)}

    @property
    def duplicates(self) -> tuple[tuple[int, int], ...]:
        """Pairs (i, j) of equal features, i the first of its kind: landmarks that were drawn twice, or are alike to every sample."""
        return equal_columns(self.features)

    def trivial_point(self) -> Point:
        """w = 0."""
        return {"w": np.zeros(self.features.shape[1])}

    @abstractmethod
    def in_units(self, s: float, c: float) -> Self:
        """The same problem with y multiplied by s and Ψ by c: values × s², w × s/c, v × s."""

    @abstractmethod
    def target_unit(self) -> float:
        """A power of two near max |y_i|."""

    def normalised(self) -> tuple[Self, Rescale]:
        """y/σ and Ψ/κ with powers of two near max |y_i| and max ‖ψ_i‖: w = w'σ/κ, f = f'σ, v = v'σ, values × σ².

        κ = 1, and Ψ itself, where that is nearly so (see `vectors.row_unit`).
        """
        sigma = self.target_unit()
        kappa = vectors.row_unit(self.features)
        back = Rescale(squares.scaling(w=sigma / kappa, f=sigma), squares.scaling(predictions=sigma))
        return self.in_units(1.0 / sigma, 1.0 / kappa), back

    @classmethod
    def laws(cls) -> list[Law]:
        """Scaling of the features together with what bounds w."""

        def scale_features(problem: Any, rng: np.random.Generator) -> Image:
            c = float(2.0 ** rng.integers(-20, 21))
            return Image(problem.in_units(1.0, c), 1.0, squares.scaling(w=1.0 / c))

        return [Law("features × c", scale_features)]
