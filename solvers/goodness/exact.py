"""Goodness without rounding: ε₀(B), and the smallest B that reaches a given loss, as fractions.

The linear programme of `GoodnessSimplex` in fractions: HiGHS finds a basis of it in floats, warm from one B to the next, and
`exact_programme` ends it in ℚ. Its weights and multipliers are judged by the formulas of `Goodness`: two bounds on ε₀(B), which are equal.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from simopt.arithmetic import RATIONAL
from simopt.core import validate
from simopt.core.errors import InvalidProblem
from simopt.problems.goodness import Goodness
from simopt.problems.losses.prediction_losses import loss_named
from simopt.solvers.goodness.exact_pivots import BASIC, LOWER
from simopt.solvers.goodness.exact_programme import Exact, Number, exact_programme, fraction, fractions
from simopt.solvers.goodness.simplex import GoodnessSimplex


@dataclass(frozen=True)
class ExactGoodness:
    """lower ≤ ε₀(B) ≤ upper in fractions, with what proves both.

    Attributes
    ----------
    weights : tuple of Fraction
        w, |w_j| ≤ B, of loss `upper`.
    multipliers : tuple of Fraction
        q, admitted by the loss, of dual value `lower`.
    fixed, influence : Fraction
        Σ c(q) and Σ_j p_j |Σ_i q_i K_ij|: ε₀(B') ≥ fixed − B'·influence for every B' ≥ 0.
    """

    lower: Fraction
    upper: Fraction
    weights: tuple[Fraction, ...]
    multipliers: tuple[Fraction, ...]
    fixed: Fraction
    influence: Fraction

    @property
    def exact(self) -> bool:
        """Whether the two bounds are equal."""
        return self.lower == self.upper


@dataclass(frozen=True)
class ExactBound:
    """lower = upper = the smallest B, by weights that reach the level and multipliers that no smaller B does; None if no B reaches it.

    Infeasible means that `multipliers` have Kᵀq = 0 at all points of positive mass and Σ c(q) > ε₀, so that no weights reach ε₀.
    """

    lower: Fraction | None
    upper: Fraction | None
    weights: tuple[Fraction, ...]
    multipliers: tuple[Fraction, ...]

    @property
    def exact(self) -> bool:
        """Whether a B reaches the level, so that there is a smallest one."""
        return self.lower is not None and self.lower == self.upper


class _ExactData:
    """The data in fractions, without the points of mass 0, and the same in floats."""

    def __init__(self, gram: Any, targets: Any, masses: Any, loss: str, epsilon: Number, margin: Number) -> None:
        K, y = fractions("gram", gram, 2), fractions("targets", targets)
        n = len(y)
        p = fractions("masses", [Fraction(1, n)] * n if masses is None else masses)
        if K.shape != (n, n) or p.shape != (n,):
            raise InvalidProblem(f"gram: shape {K.shape} with {n} targets and {len(p)} masses; N×N, N and N needed")
        if any(mass < 0 for mass in p) or sum(p) != 1:
            total = f"{sum(p)} (≈ {float(sum(p)):.6g})"
            raise InvalidProblem(f"masses: fractions ≥ 0 with sum exactly 1 needed, these sum to {total}; write '1/3' or Fraction(1, 3)")
        if loss == "squared":
            raise InvalidProblem("loss: the squared loss has no vertices; use certify(…, RATIONAL) for its bounds")
        self.size, self.support = n, [i for i in range(n) if p[i] > 0]
        self.K, self.y, self.p = K[np.ix_(self.support, self.support)], y[self.support], p[self.support]
        self.columns = self.K * self.p
        self.name, self.epsilon, self.margin = loss, fraction("epsilon", epsilon), fraction("margin", margin)
        exact: tuple[Any, Any] = (self.epsilon, self.margin)  # the formulas lift them, whatever they are
        self.loss = loss_named(loss, *exact)
        floats = [a.astype(float) for a in (self.K, self.y, self.p)]
        self.float_problem = Goodness(floats[0], floats[1], 1.0, floats[2], loss, float(self.epsilon), float(self.margin))
        self.simplex = GoodnessSimplex(self.float_problem)

    def evaluate(self, bound: Fraction, w: Exact, q: Exact) -> ExactGoodness:
        """Both bounds, of w and q made feasible."""
        num = RATIONAL
        w = num.clip(w, -bound, bound)
        q = self.loss.admitted(num, num.lift(q), self.p, self.y)
        upper = num.dot(self.p, self.loss.value(num, num.matvec(self.columns, w), self.y))
        fixed = num.sum(self.loss.dual_term(num, q, self.p, self.y))
        influence = num.dot(self.p, num.abs(num.rmatvec(self.K, q)))
        values = [Fraction(v) for v in (fixed - influence * bound, upper, fixed, influence)]
        return ExactGoodness(values[0], values[1], self._all(w), self._all(q), values[2], values[3])

    def solve(self, bound: Fraction) -> ExactGoodness:
        """An optimal vertex."""
        with contextlib.suppress(ArithmeticError):  # a basis to begin from is all that is needed
            self.simplex.solve(float(bound))
        n = len(self.y)
        signs = (1,) if self.name == "hinge" else (-1, 1)
        one = np.array([[Fraction(i == j) for j in range(n)] for i in range(n)], dtype=object)
        matrix = np.hstack([self.columns * self.y[:, None] if self.name == "hinge" else self.columns, *(one * sign for sign in signs)])
        slacks = len(signs) * n
        nothing: list[Fraction | None] = [None] * n
        low, high = [-bound] * n + [Fraction(0)] * slacks, [bound] * n + [None] * slacks
        least, most = ([self.margin] * n, nothing) if self.name == "hinge" else (list(self.y - self.epsilon), list(self.y + self.epsilon))
        costs = [Fraction(0)] * n + list(self.p) * len(signs)
        sides = self.simplex.programme.sides()
        if len(sides) != len(costs) + n:  # masses that are 0 in floats: their points are not in the float programme
            sides = [LOWER] * len(costs) + [BASIC] * n
        found = exact_programme(costs, matrix, low, high, least, most, sides)
        q = RATIONAL.lift(np.array(found.rows, dtype=object))
        return self.evaluate(bound, RATIONAL.lift(np.array(found.columns[:n], dtype=object)), q * self.y if self.name == "hinge" else q)

    def _all(self, values: Exact) -> tuple[Fraction, ...]:
        out = [Fraction(0)] * self.size
        for index, value in zip(self.support, values, strict=True):
            out[index] = Fraction(value)
        return tuple(out)


def exact_goodness(
    gram: Any,
    targets: Any,
    bound: Number,
    masses: Sequence[Number] | None = None,
    loss: str = "insensitive",
    epsilon: Number = 0,
    margin: Number = 1,
) -> ExactGoodness:
    """ε₀(B) of the insensitive or the hinge loss for rational data: fractions, whole numbers, strings; floats stand for themselves.

    For small domains (N = 50 takes a second or so: entries are dense fractions).

    Raises
    ------
    InvalidProblem
        for shapes that disagree, masses that do not sum to exactly 1, B ≤ 0, or the squared loss.
    """
    size = fraction("bound", bound)
    validate.positive("bound", size)
    return _ExactData(gram, targets, masses, loss, epsilon, margin).solve(size)


def exact_smallest_bound(
    gram: Any,
    targets: Any,
    level: Number,
    masses: Sequence[Number] | None = None,
    loss: str = "insensitive",
    epsilon: Number = 0,
    margin: Number = 1,
) -> ExactBound:
    """The smallest B with ε₀(B) ≤ level, in fractions, by Newton's method on the convex piecewise linear curve B ↦ ε₀(B).

    Every q bounds the curve below by the line Σ c(q) − B Σ_j p_j|g_j|, hence B by the point where that line meets the level. From B = 0 the
    steps increase and end after finitely many, at the root. A line above the level of slope 0 proves that no B does.

    A second or so at N = 50; half a minute where K is singular but for rounding: B is 1e12 there, and a step has hundreds of pivots.

    Raises
    ------
    InvalidProblem
        as `exact_goodness`, and for a level < 0.
    """
    goal = fraction("level", level)
    validate.nonnegative("level", goal)
    world = _ExactData(gram, targets, masses, loss, epsilon, margin)
    zero = RATIONAL.zeros(len(world.y))
    found = world.evaluate(Fraction(0), zero, _start(world))
    at = Fraction(0)
    while found.upper > goal:
        if found.influence == 0:
            return ExactBound(None, None, found.weights, found.multipliers)
        at = (found.fixed - goal) / found.influence
        found = world.solve(at)
    return ExactBound(at, at, found.weights, found.multipliers)


def _start(world: _ExactData) -> Exact:
    """q = −p ∂ℓ/∂f at f = 0."""
    zero = RATIONAL.zeros(len(world.y))
    loss = world.loss.value(RATIONAL, zero, world.y)
    return np.array([p * (1 if y > 0 else -1) if size > 0 else Fraction(0) for p, y, size in zip(world.p, world.y, loss, strict=True)])
