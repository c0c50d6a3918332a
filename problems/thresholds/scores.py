r"""What R is: that of a bound on w (`simopt.problems.bounds`; f = Ψw), or the squared norm of an RKHS penalised (f = Kα).

With s the net multipliers of the samples and g = Ψᵀs, |f_i| ≤ ‖w*‖ max ‖ψ_i‖ at the optimum, ‖w*‖ ≤ B or √(2U/λ), as (λ/2)‖w‖² ≤ U.
    (λ/2) αᵀKα:        min = −sᵀKs/(2λ),        R + ⟨s, f⟩ − min = (λ/2)‖α + s/λ‖²_K,        |f_i| ≤ √(2U/λ) max √K_ii.
The penalised optimum has w = −g/λ, α = −s/λ.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import Self

import numpy as np

from simopt.arithmetic import FLOAT, Arithmetic, Value
from simopt.core.arrays import Array, Multipliers, Point
from simopt.core.fields import Features, Positive
from simopt.data.row_blocks import LARGE, RowBlocks
from simopt.model.problem import Law, Rescale
from simopt.problems.bounds import UPWARDS, Ball, Bound, Bounded, Penalty
from simopt.problems.examples import exc as exc_cases
from simopt.problems.norms import gram_factor, squares, vectors
from simopt.problems.norms.gram_factor import KernelProblem
from simopt.problems.thresholds import balancing, loose_ball
from simopt.problems.thresholds.balancing import RepairedMultipliers
from simopt.problems.thresholds.threshold_problem import ThresholdProblem, entry

EPS = float(np.finfo(float).eps)
SMALL, NEAR = 1e-10, 1e-6  # B‖g‖ beside the scale, ‖g‖ beside ‖ψ_i‖: between them multipliers are refined
NOTICED = 1e-10  # of γ: rounding of scores that a float gap owns up to


class LinearScores(Bounded, ThresholdProblem):
    """f = Ψw, R(w) that of the bound."""

    features: Features
    bound: Bound

    @classmethod
    def laws(cls) -> list[Law]:
        """Those of all forms, and that samples may be given in parts."""
        return exc_cases.laws_with_weights()

    @cached_property
    def longest(self) -> float:
        """max_i ‖ψ_i‖, rounded up."""
        return vectors.largest_row(self.features) * UPWARDS

    def zero(self) -> Point:
        """w = 0."""
        return {"w": np.zeros(self.features.shape[1])}

    def scores(self, num: Arithmetic, point: Point) -> Value:
        """Ψw."""
        return num.matvec(self.features, num.lift(point["w"]))

    def inside(self, num: Arithmetic, point: Point) -> Point:
        """w drawn into the bound."""
        return {"w": self.bound.inside(num, point["w"])}

    def regular(self, num: Arithmetic, point: Point, f: Value) -> Value:
        """R(w)."""
        return self.bound.value(num, num.lift(point["w"]))

    def regular_dual(self, num: Arithmetic, s: Value) -> Value:
        """min_w R(w) + ⟨g, w⟩."""
        return self.bound.dual(num, num.rmatvec(self.features, s))

    def regular_gap(self, num: Arithmetic, point: Point, s: Value) -> Value:
        """R(w) + ⟨g, w⟩ minus its minimum."""
        return self.bound.gap(num, num.lift(point["w"]), num.rmatvec(self.features, s))

    def refined(self, multipliers: Multipliers) -> Multipliers | None:
        """In a ball, where g is small, but B‖g‖ is not: multipliers whose g is smaller (`loose_ball`)."""
        if not isinstance(self.bound, Ball):
            return None
        above, below = self.capped(FLOAT, multipliers)
        s = self.net(FLOAT, RepairedMultipliers(above, below))
        size = float(FLOAT.norm(self.features.T @ s))
        if not SMALL * (self.start or self.gamma) < self.radius * size or size > NEAR * self.usual:
            return None
        order = entry(multipliers, "order", self.order_rows) if self.order_rows is not None else None
        return loose_ball.balanced_out(self.features / self.usual, self.sides, (above, below), order)

    def reach(self, upper: float) -> float:
        """max ‖ψ_i‖ times a bound on ‖w*‖, U being the smaller of `upper` and the loss at the trivial point."""
        return self.bound.length(min(upper, self.start * (1.0 + 1e-12)) if isinstance(self.bound, Penalty) else upper) * self.longest

    def distance(self, gap: float, point: Point | None = None) -> float:
        """‖w − w*‖, from the bound: the loss is not strongly convex."""
        return self.bound.distance(gap)

    @cached_property
    def usual(self) -> float:
        """The median of the ‖ψ_i‖ that are not 0: the size of features, which a few rows out of all proportion do not change."""
        lengths = np.concatenate([np.linalg.norm(block, axis=1) for _, block in RowBlocks(self.features, LARGE)])
        return float(np.median(lengths[lengths > 0.0])) if np.any(lengths) else 0.0

    def units(self) -> tuple[float, float]:
        """Powers of two near the size of scores, and near that of features, or so much that λ is at most 1."""
        sigma = squares.power_of_two(self.score_size())
        kappa = squares.power_of_two(self.usual)
        if self.regularization > 0.0:
            kappa = max(kappa, squares.power_of_two(math.sqrt(self.regularization) * math.sqrt(sigma)))
        return sigma, kappa

    def from_units(self, sigma: float, kappa: float) -> Rescale:
        """w = w'σ/κ, b = b'σ, f = f'σ."""
        return Rescale(squares.scaling(w=sigma / kappa, thresholds=sigma, f=sigma, slack_below=sigma, slack_above=sigma))

    def in_units(self, s: float, c: float) -> Self:
        """γ, Δ, thresholds × s, Ψ × c and so w × s/c."""
        features, bound = vectors.scaled(self.features, c), self.bound.in_units(s / c, s)
        return self.changed(features=features, bound=bound, **self.ends_in_units(s))


class KernelScores(KernelProblem, ThresholdProblem):
    """f = Kα, (λ/2) αᵀKα."""

    regularization: Positive

    @cached_property
    def longest(self) -> float:
        """max_i √K_ii, rounded up."""
        return math.sqrt(max(float(np.max(np.diagonal(self.gram))), 0.0)) * UPWARDS

    def zero(self) -> Point:
        """α = 0."""
        return {"alpha": np.zeros(len(self.labels))}

    def inside(self, num: Arithmetic, point: Point) -> Point:
        """α, or the α of a factor's coordinates u."""
        return {"alpha": num.lift(point["alpha"] if "alpha" in point else self.factor.coefficients(point["u"], self.labels, 0.0))}

    def scores(self, num: Arithmetic, point: Point) -> Value:
        """Kα."""
        return num.matvec(self.gram, num.lift(point["alpha"]))

    def regular(self, num: Arithmetic, point: Point, f: Value) -> Value:
        """(λ/2) αᵀKα."""
        return num.pos(num.dot(num.lift(point["alpha"]), f)) * num.lift(self.regularization) / 2

    def regular_dual(self, num: Arithmetic, s: Value) -> Value:
        """−sᵀKs/(2λ)."""
        return squares.squared_norm(num, self.gram, s) / (num.lift(self.regularization) * -2)

    def regular_gap(self, num: Arithmetic, point: Point, s: Value) -> Value:
        """(λ/2)‖α + s/λ‖²_K; in floats also the rounding of Kα and sᵀKs, without which an open gap could look closed."""
        strength, alpha = num.lift(self.regularization), num.lift(point["alpha"])
        rest = squares.squared_norm(num, self.gram, alpha + s / strength) * strength / 2
        return rest + self._rounding(alpha, s) if num is FLOAT else rest

    def _rounding(self, alpha: Array, s: Array) -> float:
        """About the errors of floats: ε (max K_ii Σ K_jj α_j²)^½ in scores, ε Σ K_ii s_i²/(2λ) in the dual; 0 where that is little."""
        own = np.sqrt(np.maximum(np.diagonal(self.gram), 0.0))
        scores, dual = self.longest * FLOAT.norm(own * alpha), FLOAT.norm(own * s) ** 2 / (2.0 * self.regularization)
        size = EPS * float(scores + dual)
        return size if size > NOTICED * self.gamma else 0.0

    def multipliers(self, point: Point) -> Multipliers:
        """Those with p − q = −λα, clipped to [0, 1/n], that leave the least of the hinges' gap.

        For a sample with two hinges one multiplier is taken from its subgradient and the other follows: whichever way round costs less.
        """
        net = -self.regularization * np.asarray(point["alpha"], dtype=float)
        hinges = self.arguments(FLOAT, self.scores(FLOAT, point), self.ends(FLOAT, point))
        return {**super().multipliers(point), **balancing.matching(*self.sides, *hinges, net)}

    def reach(self, upper: float) -> float:
        """√(2U/λ) max_i √K_ii with U the smaller of `upper` and the loss at the trivial point."""
        return Penalty(self.regularization).length(min(upper, self.start * (1.0 + 1e-12))) * self.longest

    def distance(self, gap: float, point: Point | None = None) -> float:
        """‖f − f*‖_H ≤ √(2 gap/λ)."""
        return math.sqrt(2.0 * max(gap, 0.0) / self.regularization)

    def units(self) -> tuple[float, float]:
        """A power of two near the size of scores, one of four near the median of the K_ii that are not 0, or λσ if that is more."""
        sigma, own = squares.power_of_two(self.score_size()), np.diagonal(self.gram)
        usual = float(np.median(own[own > 0.0])) if np.any(own > 0.0) else 0.0
        return sigma, squares.power_of_four(max(usual, self.regularization * sigma))

    def from_units(self, sigma: float, kappa: float) -> Rescale:
        """α = α'σ/κ, u = u'σ/√κ, b = b'σ, f = f'σ."""
        back = squares.scaling(
            alpha=sigma / kappa, u=sigma / math.sqrt(kappa), thresholds=sigma, f=sigma, slack_below=sigma, slack_above=sigma
        )
        return Rescale(back)

    def in_units(self, s: float, c: float) -> Self:
        """γ, Δ × s and K × c: λ × c/s."""
        gram = gram_factor.rescaled(self.gram, c)
        return self.changed(gram=gram, regularization=self.regularization * (c / s), **self.ends_in_units(s))
