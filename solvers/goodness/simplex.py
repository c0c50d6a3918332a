"""Goodness for one bound B after another by the dual simplex method of HiGHS, warm: only the bounds of the weights change.

The programme in natural units, with columns K_ij p_j/max p for x_j = w_j max p and costs p_i/max p, has entries of size 1. That and the
smallest admitted `small_matrix_value` matter: HiGHS drops matrix entries below 1e-9 by default, and a similarity may well take such values
(a Gaussian does). At B = 3000 that alone leaves a gap of 4e-8 between its point and its multipliers, and none afterwards.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse

from simopt.core.arrays import Array
from simopt.core.errors import InvalidProblem
from simopt.problems.goodness import Goodness
from simopt.solvers.goodness.highs_programme import HighsProgramme


@dataclass(frozen=True)
class Vertex:
    """v and q of all N points (0 without mass), and the simplex iterations since the last vertex."""

    v: Array
    q: Array
    iterations: int


class GoodnessSimplex:
    """The linear programme of a `Goodness` problem with the insensitive or the hinge loss, kept by HiGHS between bounds.

    Raises
    ------
    InvalidProblem
        for the squared loss, which is no linear programme.
    """

    def __init__(self, problem: Goodness) -> None:
        if problem.loss == "squared":
            raise InvalidProblem("loss: the squared loss is no linear programme; use box_squares")
        self.problem = problem
        natural, _ = problem.normalised()
        self.ratio = natural.bound / problem.bound
        p = natural.support_masses()
        self.unit = float(np.max(p))
        self.hinge = problem.loss == "hinge"
        self.labels = natural.support_targets()
        self.count = len(p)
        columns = natural.core * (p / self.unit)
        self.programme = self._model(columns * self.labels[:, None] if self.hinge else columns, p / self.unit, natural)

    def _model(self, columns: Array, costs: Array, natural: Goodness) -> HighsProgramme:
        """min Σ p s subject to y f + s ≥ m; or Σ p(s⁺ + s⁻) subject to y − ε ≤ f − s⁺ + s⁻ ≤ y + ε."""
        n = self.count
        signs = (1.0,) if self.hinge else (-1.0, 1.0)
        slacks = len(signs) * n
        return HighsProgramme(
            [columns, *(scipy.sparse.diags_array(np.full(n, sign)) for sign in signs)],
            np.concatenate([np.zeros(n), np.tile(costs, len(signs))]),
            np.zeros(n + slacks),
            np.concatenate([np.zeros(n), np.full(slacks, np.inf)]),
            np.full(n, natural.margin) if self.hinge else self.labels - natural.epsilon,
            np.full(n, np.inf) if self.hinge else self.labels + natural.epsilon,
        )

    def solve(self, bound: float) -> Vertex:
        """A vertex that is optimal to the tolerance of HiGHS, from the last one. Cost: its dual simplex iterations, O(n²) each.

        Raises
        ------
        ArithmeticError
            when HiGHS says that it is not.
        """
        limit = bound * self.ratio * self.unit
        self.programme.set_bounds(self.count, np.full(self.count, -limit), np.full(self.count, limit))
        found = self.programme.solve()
        q = found.rows * self.unit
        return Vertex(
            v=self._scattered(np.clip(found.columns[: self.count] / limit, -1.0, 1.0)),
            q=self._scattered(q * self.labels if self.hinge else q),
            iterations=found.iterations,
        )

    def _scattered(self, values: Array) -> Array:
        out = np.zeros(len(self.problem.targets))
        out[self.problem.support] = values
        return out
