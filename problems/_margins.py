r"""Kernel machines of the mean hinge loss: what the forms with and without intercept, penalised and constrained, have in common.

    min over f in H (and b) of   (1/n) Σ_i [1 − y_i(f_i + b)]_+ + R(f),       R(f) = (λ/2)‖f‖²   or the ball   ‖f‖² ≤ c.

Multipliers a_i ∈ [0, 1/n] of the rows 1 − y_i(f_i + b) ≤ slack_i leave, with v = Σ_i a_i y_i k(x_i, ·),
    min over f and b of Σ a_i − ⟨v, f⟩ − b Σ a_i y_i + R(f) = Σ a_i − R*(v),      R*(v) = ‖v‖²/(2λ)   or   √c ‖v‖,
where an intercept demands Σ a_i y_i = 0. With h_i = 1 − y_i(f_i + b) the gap is a sum of non-negative terms,
    P − D = Σ_i (1/n − a_i)[h_i]_+ + a_i[−h_i]_+   +   R(f) + R*(v) − ⟨v, f⟩.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from simopt.arithmetic import FLOAT, Arithmetic
from simopt.ground import validate
from simopt.ground.arrays import Array, Multipliers, Point
from simopt.problems import _hinges, _intercept, _squares
from simopt.problems._factor import KernelProblem
from simopt.solving.problem import freeze

Value = Any


@dataclass(frozen=True, eq=False)
class MarginProblem(KernelProblem):
    """Formulas of all forms; a form says what R is and adds its parameter."""

    biased: ClassVar[bool] = False

    gram: Array
    labels: Array

    def _check(self) -> None:
        labels = validate.labels("labels", self.labels)
        freeze(self, labels=labels)
        self._check_gram(len(labels))

    # What a form defines.

    @abstractmethod
    def inside(self, num: Arithmetic, alpha: Any) -> Value:
        """α made feasible."""

    @abstractmethod
    def regular(self, num: Arithmetic, alpha: Value, fitted: Value) -> Value:
        """R(f) at a feasible f = Σ α_j k(x_j, ·), with fitted = Kα."""

    @abstractmethod
    def conjugate(self, num: Arithmetic, v: Value) -> Value:
        """R*(v), v given by its coefficients."""

    @abstractmethod
    def regular_gap(self, num: Arithmetic, alpha: Value, v: Value) -> Value:
        """R(f) + R*(v) − ⟨v, f⟩, free of cancellation."""

    # Shared formulas.

    def arguments(self, num: Arithmetic, point: Point, fitted: Value) -> Value:
        """h_i = 1 − y_i(f_i + b)."""
        values = fitted + num.lift(point["bias"]) if self.biased else fitted
        return num.lift(self.labels) * values * -1 + num.lift(1.0)

    def prices(self, num: Arithmetic, multipliers: Multipliers) -> Value:
        """a clipped to [0, 1/n]; with an intercept also balanced to Σ a_i y_i = 0."""
        capped = _hinges.capped(num, multipliers["margins"], len(self.labels))
        return _intercept.balanced(num, capped, self.labels) if self.biased else capped

    def objective(self, point: Point, num: Arithmetic = FLOAT) -> Value:
        """(1/n) Σ [1 − y_i(f_i + b)]_+ + R(f)."""
        alpha = num.lift(point["alpha"])
        fitted = num.matvec(self.gram, alpha)
        loss = _hinges.mean_loss(num, self.arguments(num, point, fitted), n=len(self.labels))
        return loss + self.regular(num, alpha, fitted)

    def restore(self, point: Point, num: Arithmetic = FLOAT) -> Point:
        """α (or the α of a factor's coordinates u) made feasible; of the best intercepts for it the one nearest to the given one."""
        alpha = self.inside(num, point["alpha"] if "alpha" in point else self.factor.coefficients(point["u"], self.labels, 0.0))
        if not self.biased:
            return {"alpha": alpha}
        bias = _intercept.best_intercept(num, num.matvec(self.gram, alpha), self.labels, point.get("bias"))
        return {"alpha": alpha, "bias": bias}

    def dual_bound(self, multipliers: Multipliers, num: Arithmetic = FLOAT, upper: float = float("inf")) -> Value:
        """Σ a_i − R*(v) after the repair of a."""
        a = self.prices(num, multipliers)
        return num.sum(a) - self.conjugate(num, a * num.lift(self.labels))

    def gap(self, point: Point, multipliers: Multipliers, num: Arithmetic = FLOAT) -> Value:
        """Σ (1/n − a)[h]_+ + a[−h]_+, plus R(f) + R*(v) − ⟨v, f⟩."""
        alpha, a = num.lift(point["alpha"]), self.prices(num, multipliers)
        hinges = self.arguments(num, point, num.matvec(self.gram, alpha))
        return _hinges.slack(num, hinges, a, len(self.labels)) + self.regular_gap(num, alpha, a * num.lift(self.labels))

    def trivial_point(self) -> Point:
        """α = 0, with the best constant as intercept."""
        zero = super().trivial_point()
        return {**zero, "bias": np.asarray(_intercept.best_constant(self.labels)[0])} if self.biased else zero

    def scale(self) -> float:
        """1, the loss at f = 0; with an intercept 2 min(n_+, n_−)/n, that of the best constant, or 1 where one class alone makes it 0."""
        return _intercept.best_constant(self.labels)[1] or 1.0 if self.biased else 1.0


def kernel_unit(gram: Array) -> float:
    """A power of four near max K_ii: κ."""
    return _squares.power_of_four(float(np.max(np.diagonal(gram))))
