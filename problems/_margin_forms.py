"""The two forms of a margin problem: the squared norm penalised (Tikhonov), or bounded (Ivanov)."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from simopt.arithmetic import FLOAT, INTERVAL, Arithmetic
from simopt.ground.arrays import Multipliers, Point
from simopt.problems import _factor, _hinges, _margin_cases, _power_units, _squares
from simopt.problems._margins import MarginProblem, kernel_unit
from simopt.solving.problem import Image, Law, Rescale

Value = Any


@dataclass(frozen=True, eq=False)
class PenalisedMargins(MarginProblem):
    """R(f) = (λ/2)‖f‖², R*(v) = ‖v‖²/(2λ) and R(f) + R*(v) − ⟨v, f⟩ = (λ/2)‖f − v/λ‖²."""

    regularization: float

    def inside(self, num: Arithmetic, alpha: Any) -> Value:
        """α itself: all are feasible."""
        return num.lift(alpha)

    def regular(self, num: Arithmetic, alpha: Value, fitted: Value) -> Value:
        """(λ/2) αᵀKα."""
        return num.pos(num.dot(alpha, fitted)) * num.lift(self.regularization) / 2

    def conjugate(self, num: Arithmetic, v: Value) -> Value:
        """‖v‖²/(2λ)."""
        return _squares.squared_norm(num, self.gram, v) / (num.lift(self.regularization) * 2)

    def regular_gap(self, num: Arithmetic, alpha: Value, v: Value) -> Value:
        """(λ/2)‖α − v/λ‖²_K."""
        strength = num.lift(self.regularization)
        return _squares.squared_norm(num, self.gram, alpha - v / strength) * strength / 2

    def multipliers(self, point: Point) -> Multipliers:
        """a_i = λ y_i α_i, clipped to [0, 1/n]."""
        raw = self.regularization * self.labels * np.asarray(point["alpha"], dtype=float)
        return {"margins": np.clip(raw, 0.0, 1.0 / len(self.labels))}

    def distance(self, gap: float, point: Point | None = None) -> float:
        """‖f − f*‖_H ≤ √(2 gap/λ), for the part of the solution in H; of an intercept it says nothing."""
        return math.sqrt(2.0 * max(gap, 0.0) / self.regularization)

    def normalised(self) -> tuple[Self, Rescale]:
        """K/κ with a power of four near max K_ii: λ' = λ/κ, α = α'/κ; values, intercept and multipliers unchanged."""
        kappa = kernel_unit(self.gram)
        natural = replace(self, gram=_factor.rescaled(self.gram, 1.0 / kappa), regularization=self.regularization / kappa)
        return natural, Rescale(_squares.times(alpha=1.0 / kappa, u=1.0 / math.sqrt(kappa)))

    @classmethod
    def laws(cls) -> list[Law]:
        """Scaling of the kernel and λ, change of all labels, permutation, duplication."""

        def scale_kernel(problem: Any, rng: np.random.Generator) -> Image:
            c = float(4.0 ** rng.integers(-10, 11))
            image = replace(problem, gram=problem.gram * c, regularization=problem.regularization * c)
            return Image(image, 1.0, _squares.times(alpha=1.0 / c))

        return [Law("kernel × c, λ × c", scale_kernel), *_margin_cases.laws()]


@dataclass(frozen=True, eq=False)
class BallMargins(MarginProblem):
    """R(f) = 0 on the ball ‖f‖² ≤ c, R*(v) = √c ‖v‖, and with t = ‖f‖ ≤ √c, s = ‖v‖
    R*(v) − ⟨v, f⟩ = s(√c − t) + (t/2s)‖v − (s/t)f‖².
    """

    capacity: float

    def _radius(self, num: Arithmetic) -> Value:
        return num.sqrt(num.lift(self.capacity))

    def _norm(self, num: Arithmetic, alpha: Value) -> Value:
        return num.sqrt(_squares.squared_norm(num, self.gram, alpha))

    def inside(self, num: Arithmetic, alpha: Any) -> Value:
        """α drawn back into the ball; in intervals until its norm is provably at most √c."""
        plain = np.asarray(num.mid(num.lift(alpha)), dtype=float)
        return _hinges.inside_ball(num, plain, num.lower(self._radius(num)), self._norm)

    def regular(self, num: Arithmetic, alpha: Value, fitted: Value) -> Value:
        """0 in the ball."""
        return num.lift(0.0)

    def conjugate(self, num: Arithmetic, v: Value) -> Value:
        """√c ‖v‖."""
        return self._radius(num) * self._norm(num, v)

    def regular_gap(self, num: Arithmetic, alpha: Value, v: Value) -> Value:
        """s(√c − t) + (t/2s)‖v − (s/t)α‖²_K."""
        t, s = self._norm(num, alpha), self._norm(num, v)
        return s * num.pos(self._radius(num) - t) + _power_units.angle(num, self.gram, alpha, v, t, s)

    def multipliers(self, point: Point) -> Multipliers:
        """The better of the subgradient of the hinges and of y∘α stretched until its largest entry is 1/n.

        The solution with multipliers a is a multiple of v = Σ a_i y_i k(x_i, ·); if it has a loss, some a_i is 1/n.
        """
        alpha, share = np.asarray(point["alpha"], dtype=float), 1.0 / len(self.labels)
        along = np.maximum(self.labels * alpha, 0.0)
        largest = float(np.max(along))
        wrong = self.arguments(FLOAT, point, self.gram @ alpha) > 0
        tries: list[Multipliers] = [{"margins": np.where(wrong, share, 0.0)}]
        if largest > 0.0 and np.any(wrong):
            tries.append({"margins": along / largest * share})
        return max(tries, key=lambda given: float(self.dual_bound(given)))

    def distance(self, gap: float, point: Point | None = None) -> float:
        """What `spread` gives for the multipliers that the point suggests; 2√c, the ball, without a point. Nothing for an intercept."""
        return 2.0 * math.sqrt(self.capacity) if point is None else self.spread(point, self.multipliers(point))

    def spread(self, point: Point, multipliers: Multipliers) -> float:
        r"""R with ‖f − f*‖_H ≤ R = min(2B, 2√(2Bg/s)), where B = √c, g = P(f) − D(a) and s = ‖v‖_H.

        The loss is not strongly convex in H, but the ball is: for ‖f‖ ≤ B the last terms of the gap are Bs − ⟨v, f⟩, and
            ‖f − (B/s)v‖² ≤ 2B² − (2B/s)⟨v, f⟩ = (2B/s)(Bs − ⟨v, f⟩) ≤ (2B/s)(P(f) − D(a)).
        f and f* both have P − D(a) ≤ g, so both lie within √(2Bg/s) of (B/s)v. (s is bounded below in intervals.)
        """
        bound = math.sqrt(self.capacity)
        v = self.prices(INTERVAL, multipliers) * INTERVAL.lift(self.labels)
        s, gap = INTERVAL.lower(self._norm(INTERVAL, v)), float(self.gap(point, multipliers))
        return min(2.0 * bound, 2.0 * math.sqrt(2.0 * bound / s * gap)) if s > 0.0 and gap >= 0.0 else 2.0 * bound

    def normalised(self) -> tuple[Self, Rescale]:
        """K/κ with a power of four near max K_ii: c' = cκ, α = α'/κ; values, intercept and multipliers unchanged."""
        kappa = kernel_unit(self.gram)
        natural = replace(self, gram=_factor.rescaled(self.gram, 1.0 / kappa), capacity=self.capacity * kappa)
        return natural, Rescale(_squares.times(alpha=1.0 / kappa, u=1.0 / math.sqrt(kappa)))

    @classmethod
    def laws(cls) -> list[Law]:
        """Scaling of the kernel against c, change of all labels, permutation, duplication."""

        def scale_kernel(problem: Any, rng: np.random.Generator) -> Image:
            s = float(4.0 ** rng.integers(-10, 11))
            image = replace(problem, gram=problem.gram * s, capacity=problem.capacity / s)
            return Image(image, 1.0, _squares.times(alpha=1.0 / s))

        return [Law("kernel × s, c / s", scale_kernel), *_margin_cases.laws()]
