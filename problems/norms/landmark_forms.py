"""What bounds w in least squares on landmark features: a ball or a penalty, with the dual, the gap and the distance of each.

The derivations stand with `LandmarkedLeastSquares` and `LandmarkedRidge`; rankings have the same forms with targets η and n = q.
"""

from __future__ import annotations

import math

import numpy as np

from simopt.arithmetic import FLOAT, INTERVAL, Arithmetic
from simopt.ground.arrays import Multipliers, Point
from simopt.problems.norms import vectors
from simopt.problems.norms.landmark_squares import LandmarkSquares, Value


class SquaresInBall(LandmarkSquares):
    """(1/n)‖y − Ψw‖² subject to ‖w‖ ≤ B; a problem declares the fields."""

    radius: float

    def objective(self, point: Point, num: Arithmetic = FLOAT) -> Value:
        """(1/n)‖y − Ψw‖²."""
        return self.loss(num, num.lift(point["w"]))

    def restore(self, point: Point, num: Arithmetic = FLOAT) -> Point:
        """w, drawn back into the ball if it lies outside; 0 if y = 0."""
        if not np.any(self.targets):
            return {"w": num.zeros(self.features.shape[1])}
        return {"w": vectors.inside_ball(num, np.asarray(num.mid(num.lift(point["w"])), dtype=float).reshape(-1), self.radius)}

    def dual_bound(self, multipliers: Multipliers, num: Arithmetic = FLOAT, upper: float = float("inf")) -> Value:
        """D(v); every v is dual feasible."""
        v = num.lift(multipliers["predictions"])
        return self.fixed_part(num, v) - num.norm(num.rmatvec(self.features, v)) * num.lift(self.radius)

    def gap(self, point: Point, multipliers: Multipliers, num: Arithmetic = FLOAT) -> Value:
        """(n/4)‖v − (2/n)(y − Ψw)‖² + B‖g‖ − ⟨g, w⟩, free of cancellation."""
        w, v = num.lift(point["w"]), num.lift(multipliers["predictions"])
        if self.settled(num, w, v):
            return num.lift(0.0)
        return self.square_gap(num, w, v) + vectors.ball_term(num, w, num.rmatvec(self.features, v) * -1, self.radius)

    def distance(self, gap: float, point: Point | None = None) -> float:
        r"""min(2B, 2√(2Bh/s)) with s = ‖Ψᵀv‖ and h = P(w) − D(v), v the multipliers that the point suggests; 2B without a point.

        The objective need not be strongly convex, but the ball is: for ‖w‖ ≤ B the last terms of the gap are Bs − ⟨g, w⟩, and
        ‖w − (B/s)g‖² = ‖w‖² + B² − (2B/s)⟨g, w⟩ ≤ (2B/s)(Bs − ⟨g, w⟩) ≤ (2B/s)h. Both w and w* satisfy this.
        """
        if point is None:
            return 2.0 * self.radius
        known = self.multipliers(point)
        s = INTERVAL.lower(INTERVAL.norm(INTERVAL.rmatvec(self.features, INTERVAL.lift(known["predictions"]))))
        height = float(self.gap(point, known))
        return min(2.0 * self.radius, 2.0 * math.sqrt(2.0 * self.radius / s * height)) if s > 0.0 and height >= 0.0 else 2.0 * self.radius


class SquaresPenalised(LandmarkSquares):
    """(1/n)‖y − Ψw‖² + λ‖w‖²; a problem declares the fields."""

    regularization: float

    def objective(self, point: Point, num: Arithmetic = FLOAT) -> Value:
        """(1/n)‖y − Ψw‖² + λ‖w‖²."""
        w = num.lift(point["w"])
        return self.loss(num, w) + num.dot(w, w) * num.lift(self.regularization)

    def restore(self, point: Point, num: Arithmetic = FLOAT) -> Point:
        """w itself, since every w is feasible; 0 if y = 0."""
        return {"w": num.lift(point["w"]) if np.any(self.targets) else num.zeros(self.features.shape[1])}

    def dual_bound(self, multipliers: Multipliers, num: Arithmetic = FLOAT, upper: float = float("inf")) -> Value:
        """D(v); every v is dual feasible."""
        v = num.lift(multipliers["predictions"])
        g = num.rmatvec(self.features, v)
        return self.fixed_part(num, v) - num.dot(g, g) / (num.lift(self.regularization) * 4)

    def gap(self, point: Point, multipliers: Multipliers, num: Arithmetic = FLOAT) -> Value:
        """(n/4)‖v − (2/n)(y − Ψw)‖² + λ‖w − Ψᵀv/(2λ)‖²."""
        w, v = num.lift(point["w"]), num.lift(multipliers["predictions"])
        if self.settled(num, w, v):
            return num.lift(0.0)
        strength = num.lift(self.regularization)
        off = w - num.rmatvec(self.features, v) / (strength * 2)
        return self.square_gap(num, w, v) + num.dot(off, off) * strength

    def distance(self, gap: float, point: Point | None = None) -> float:
        """‖w − w*‖ ≤ √(gap/λ), because λ‖·‖² is strongly convex."""
        return float(np.sqrt(max(gap, 0.0) / self.regularization))
