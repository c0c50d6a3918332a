"""Goodness without rounding: ε₀(B), and the smallest B that reaches a given loss, as fractions.

HiGHS finds the optimal basis in floats; the vertex that belongs to it is the solution of two linear systems, which are solved in ℚ. With
free weights W, kinks E (as many), all other weights at ±B and all other q at what the loss's slope says,
    K_EW (p∘w)_W = f_E − K_EN (p∘w)_N,        K_EWᵀ q_E = −K_{E'W}ᵀ q_{E'}.
Whatever comes out is clipped and judged by the formulas of `Goodness`, in fractions: two bounds on ε₀(B), equal where the basis is right.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simopt.arithmetic import RATIONAL
from simopt.core import validate
from simopt.core.errors import InvalidProblem
from simopt.data.rows import Indices
from simopt.problems.goodness import Goodness
from simopt.problems.losses.prediction_losses import loss_named
from simopt.solvers.goodness.exact_programme import Exact, Number, fraction, fractions, matrix_of, solved
from simopt.solvers.goodness.simplex import GoodnessSimplex

STEPS = 10_000  # Newton steps on a curve; its pieces are finitely many


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
    """lower ≤ smallest B ≤ upper; `upper` is None where no weights were found that do. `lower` is None if the level is infeasible.

    Infeasible means that `multipliers` have Kᵀq = 0 at all points of positive mass and Σ c(q) > ε₀, so that no weights reach ε₀.
    """

    lower: Fraction | None
    upper: Fraction | None
    weights: tuple[Fraction, ...]
    multipliers: tuple[Fraction, ...]

    @property
    def exact(self) -> bool:
        """Whether the two bounds are equal."""
        return self.lower is not None and self.lower == self.upper


class _World:
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
        """The vertex of the basis that HiGHS finds, in fractions; its floats, exactly, where the basis is singular in ℚ."""
        found = self.simplex.solve(float(bound))
        support = self.float_problem.support
        v, multipliers = found.v[support], found.q[support]
        free, kinks = self.simplex.basis()
        w = np.array([bound * fraction("v", float(x)) for x in v], dtype=object)
        q = RATIONAL.lift(multipliers)
        inside, edge = np.flatnonzero(free), np.flatnonzero(kinks)
        outside, rest = np.flatnonzero(~free), np.flatnonzero(kinks == 0)
        w[outside] = [bound if x > 0 else -bound if x < 0 else Fraction(0) for x in v[outside]]
        q[rest] = [self._corner(multipliers[i], int(i)) for i in rest]
        matrix = matrix_of(self.columns[np.ix_(edge, inside)]) if len(inside) == len(edge) and len(inside) else None
        if matrix is not None and matrix.det() != 0:
            pull = RATIONAL.matvec(self.K[np.ix_(rest, inside)].T, q[rest]) * -1
            q[edge] = solved(matrix_of(self.K[np.ix_(edge, inside)].T), pull)
        else:
            matrix = None
        made = self.evaluate(bound, self._vertex(w, matrix, inside, outside, edge, kinks), q)
        if not made.exact:  # a weight at ±B whose slope is rounding in floats may stand at the wrong end
            slopes = RATIONAL.rmatvec(self.K[:, outside], q)
            w[outside] = [bound if g > 0 else -bound if g < 0 else x for g, x in zip(slopes, w[outside], strict=True)]
            other = self.evaluate(bound, self._vertex(w, matrix, inside, outside, edge, kinks), q)
            made = other if other.upper < made.upper else made
        return made

    def _vertex(self, w: Exact, matrix: Any, inside: Indices, outside: Indices, edge: Indices, kinks: Indices) -> Exact:
        """w with its free entries from those at the ends of their range; as it is where the basis is singular."""
        if matrix is not None:
            w[inside] = solved(matrix, self._edges(edge, kinks[edge]) - RATIONAL.matvec(self.columns[np.ix_(edge, outside)], w[outside]))
        return w

    def _edges(self, edge: NDArray[np.intp], side: NDArray[np.intp]) -> Exact:
        """f at the kinks: y ± ε, or ym for the hinge."""
        out: Exact = self.y[edge] * self.margin if self.name == "hinge" else self.y[edge] + np.array([self.epsilon * int(s) for s in side])
        return out

    def _corner(self, q_i: float, i: int) -> Fraction:
        """The nearest of −p, 0 and p."""
        ratio = q_i / float(self.p[i])
        return Fraction(self.p[i]) * (0 if abs(ratio) < 0.5 else 1 if ratio > 0 else -1)

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

    The basis is the one that HiGHS finds in floats, to a tolerance of about 1e-9. If points (nearly) coincide, so that entries of K in two
    rows or columns differ by 1e-6 or less, it may be a neighbour of the optimal one. Then `lower` and `upper` are still bounds, in
    fractions, but some 1e-9 of the loss apart, and `exact` is False.

    Raises
    ------
    InvalidProblem
        for shapes that disagree, masses that do not sum to exactly 1, B ≤ 0, or the squared loss.
    """
    size = fraction("bound", bound)
    validate.positive("bound", size)
    return _World(gram, targets, masses, loss, epsilon, margin).solve(size)


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
    steps increase and end after finitely many, at the root. A line above the level of slope 0 proves that no B does. If points nearly
    coincide, `upper` may be None for the reason that `exact_goodness` gives; `lower` then still is a bound.

    Raises
    ------
    InvalidProblem
        as `exact_goodness`, and for a level < 0.
    """
    goal = fraction("level", level)
    validate.nonnegative("level", goal)
    world = _World(gram, targets, masses, loss, epsilon, margin)
    zero = RATIONAL.zeros(len(world.y))
    found = world.evaluate(Fraction(0), zero, _start(world))
    at = Fraction(0)
    for _ in range(STEPS):
        if found.upper <= goal:
            return ExactBound(at, at, found.weights, found.multipliers)
        if found.fixed <= goal + at * found.influence:  # the basis was not optimal in ℚ: `at` is a bound, and no more
            return ExactBound(at, None, found.weights, found.multipliers)
        if found.influence == 0:
            return ExactBound(None, None, found.weights, found.multipliers)
        at = (found.fixed - goal) / found.influence
        found = world.solve(at)
    return ExactBound(at, None, found.weights, found.multipliers)


def _start(world: _World) -> Exact:
    """q = −p ∂ℓ/∂f at f = 0."""
    zero = RATIONAL.zeros(len(world.y))
    loss = world.loss.value(RATIONAL, zero, world.y)
    return np.array([p * (1 if y > 0 else -1) if size > 0 else Fraction(0) for p, y, size in zip(world.p, world.y, loss, strict=True)])
