r"""The order of the thresholds in the interior-point method: rows b_{j+1} − b_j ≥ Δ_j with slacks t_j > 0 and multipliers ν_j > 0.

Multipliers are in units of the weight of a hinge, so that ν_j t_j = μ has the μ of the hinges. Explicit constraints need the rows; implicit
ones do not, where thresholds keep their order by themselves, and a multiplier would be none of the problem's.
"""

from __future__ import annotations

import numpy as np

from simopt.core.arrays import Array
from simopt.solvers.hinges.central_path import FRACTION_TO_BOUNDARY


class OrderRows:
    """The rows b_{j+1} − b_j ≥ Δ_j: slacks, multipliers, and their steps, the predictor's or 0."""

    def __init__(self, slack: Array, mu: float) -> None:
        self.slack = slack
        self.multiplier = mu / slack
        self.d_slack, self.d_multiplier = np.zeros_like(self.slack), np.zeros_like(self.slack)

    @property
    def size(self) -> int:
        """How many."""
        return self.slack.size

    def newton_terms(self, mu: float) -> tuple[Array, Array]:
        """The multipliers without a step of b, and their answer to one: dν = constant − (ν/t) dt."""
        return (mu - self.d_slack * self.d_multiplier) / self.slack - self.multiplier, self.multiplier / self.slack

    def direct(self, mu: float, db: Array) -> float:
        """The step of the multipliers and slacks, and the largest t ≤ 1 that keeps them positive."""
        constant, ratio = self.newton_terms(mu)
        self.d_slack = np.diff(db)
        self.d_multiplier = constant - ratio * self.d_slack
        falls = np.concatenate([-self.d_slack / self.slack, -self.d_multiplier / self.multiplier])
        return 1.0 / max(1.0, float(np.max(falls, initial=0.0)))

    def advance(self, t: float, b: Array, steps: Array) -> None:
        """The step, with slacks recomputed as far as rounding allows."""
        self.multiplier = self.multiplier + t * self.d_multiplier
        self.slack = np.maximum(np.diff(b) - np.diff(steps), (1.0 - FRACTION_TO_BOUNDARY) ** 2 * (self.slack + t * self.d_slack))


class NoOrder(OrderRows):
    """No such rows: no multipliers, and no limit to a step."""

    def __init__(self, rows: int) -> None:
        super().__init__(np.ones(rows), 0.0)

    @property
    def size(self) -> int:
        """0."""
        return 0

    def newton_terms(self, mu: float) -> tuple[Array, Array]:
        """0 and 0."""
        return self.multiplier, self.multiplier

    def direct(self, mu: float, db: Array) -> float:
        """1."""
        return 1.0

    def advance(self, t: float, b: Array, steps: Array) -> None:
        """Nothing."""
