"""Ordinal goodness without rounding: ε₀(B) of Definition 12, and the smallest B that reaches a given loss, as fractions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from simopt.core import validate
from simopt.core.errors import InvalidProblem
from simopt.problems.thresholds.sides import explicit
from simopt.solvers.goodness.exact_programme import Exact, ExactVertex, Number, exact_programme, fraction, fractions

ZERO, ONE = Fraction(0), Fraction(1)


@dataclass(frozen=True)
class ExactOrdinal:
    """ε₀(B) with what proves it.

    Attributes
    ----------
    value : Fraction
        ε₀(B): the loss of weights and thresholds, and the dual value of the multipliers.
    weights, thresholds : tuple of Fraction
        w with |w_j| ≤ B; b_1 ≤ … ≤ b_{r−1}, Δ-spaced.
    above, below : tuple of Fraction
        a_i and c_i of every point (0 where it has no such hinge), 0 ≤ a_i, c_i ≤ p_i.
    order : tuple of Fraction
        ν ≥ 0, which balances them: Σ_{label j+1} c − Σ_{label j} a + ν_j − ν_{j−1} = 0.
    fixed, influence : Fraction
        γ Σ (a + c) + Δ Σ ν and Σ_j p_j |Σ_i (a_i − c_i) K_ij|: ε₀(B') ≥ fixed − B'·influence for every B' ≥ 0, with equality at B.
    """

    value: Fraction
    weights: tuple[Fraction, ...]
    thresholds: tuple[Fraction, ...]
    above: tuple[Fraction, ...]
    below: tuple[Fraction, ...]
    order: tuple[Fraction, ...]
    fixed: Fraction
    influence: Fraction


class ExactOrdinalData:
    """The data in fractions and the rows of the programme: columns w (N), b (r − 1), slacks of the hinges above and below."""

    def __init__(self, gram: Any, labels: Any, classes: int, masses: Any, gamma: Number, delta: Number) -> None:
        self.classes = validate.whole("classes", classes, minimum=2)
        self.labels = validate.labels("labels", labels, allowed=tuple(range(1, self.classes + 1)))
        n = len(self.labels)
        self.K, self.p = fractions("gram", gram, 2), fractions("masses", [Fraction(1, n)] * n if masses is None else masses)
        if self.K.shape != (n, n) or self.p.shape != (n,):
            raise InvalidProblem(f"gram: shape {self.K.shape} with {n} labels and {len(self.p)} masses; N×N, N and N needed")
        if any(mass < 0 for mass in self.p) or sum(self.p) != 1:
            raise InvalidProblem(
                f"masses: fractions ≥ 0 with sum exactly 1 needed, these sum to {sum(self.p)}; write '1/3' or Fraction(1, 3)"
            )
        self.gamma, self.delta = fraction("gamma", gamma), fraction("delta", delta)
        validate.positive("gamma", self.gamma)
        validate.nonnegative("delta", self.delta)
        self.highs, self.lows = explicit(self.labels, self.classes)
        self.hinges = self.highs.rows.size + self.lows.rows.size
        self.costs = [ZERO] * (n + self.classes - 1) + [Fraction(self.p[i]) for i in (*self.highs.rows, *self.lows.rows)]

    def rows(self) -> tuple[Exact, list[Fraction]]:
        """s − f + b ≥ γ above, s + f − b ≥ γ below, b_{j+1} − b_j ≥ Δ: matrix and right-hand sides."""
        n, count = len(self.labels), self.classes - 1
        A = np.full((self.hinges + count - 1, n + count + self.hinges), ZERO, dtype=object)
        columns, row = self.K * self.p, 0
        for side, sign in ((self.highs, -1), (self.lows, 1)):
            for i, end in zip(side.rows, side.ends, strict=True):
                A[row, :n] = columns[i] * sign
                A[row, n + end] = Fraction(-sign)
                A[row, n + count + row] = ONE
                row += 1
        for j in range(count - 1):
            A[row + j, n + j], A[row + j, n + j + 1] = -ONE, ONE
        return A, [self.gamma] * self.hinges + [self.delta] * (count - 1)

    def at(self, bound: Fraction) -> ExactOrdinal:
        """ε₀(B)."""
        n, count = len(self.labels), self.classes - 1
        A, sides = self.rows()
        low = [-bound] * n + [None] * count + [ZERO] * self.hinges
        high = [bound] * n + [None] * (count + self.hinges)
        return self.read(exact_programme(self.costs, A, low, high, sides, [None] * len(sides)), ONE)

    def read(self, result: ExactVertex, scale: Fraction) -> ExactOrdinal:
        """The vertex and its multipliers, divided by `scale`, in the words of the definition."""
        n, count = len(self.labels), self.classes - 1
        above, below, row = [ZERO] * n, [ZERO] * n, 0
        for side, into in ((self.highs, above), (self.lows, below)):
            for i in side.rows:
                into[i] = result.rows[row] / scale
                row += 1
        order = tuple(multiplier / scale for multiplier in result.rows[row : row + count - 1])
        q = [a - c for a, c in zip(above, below, strict=True)]
        pull = [abs(sum((a * Fraction(k) for a, k in zip(q, self.K[:, j], strict=True)), ZERO)) for j in range(n)]
        influence = sum((Fraction(p) * g for p, g in zip(self.p, pull, strict=True)), ZERO)
        fixed = self.gamma * (sum(above, ZERO) + sum(below, ZERO)) + self.delta * sum(order, ZERO)
        loss = sum((c * s for c, s in zip(self.costs, result.columns, strict=False)), ZERO)
        return ExactOrdinal(loss, result.columns[:n], result.columns[n : n + count], tuple(above), tuple(below), order, fixed, influence)


def exact_ordinal_goodness(
    gram: Any,
    labels: Any,
    classes: int,
    bound: Number,
    masses: Sequence[Number] | None = None,
    gamma: Number = 1,
    delta: Number = 0,
) -> ExactOrdinal:
    """ε₀(B) of `OrdinalGoodness` for rational data: fractions, whole numbers, strings; floats stand for themselves. B = 0 is allowed.

    For small domains: N = 20 takes a second or so (two dense systems of up to 2N + r fractions).

    Raises
    ------
    InvalidProblem
        for shapes that disagree, labels that are not 1 … r, masses that do not sum to exactly 1, B < 0, γ ≤ 0, Δ < 0.
    """
    size = fraction("bound", bound)
    validate.nonnegative("bound", size)
    return ExactOrdinalData(gram, labels, classes, masses, gamma, delta).at(size)


def exact_ordinal_bound(
    gram: Any,
    labels: Any,
    classes: int,
    level: Number,
    masses: Sequence[Number] | None = None,
    gamma: Number = 1,
    delta: Number = 0,
) -> tuple[Fraction, ExactOrdinal] | None:
    """The smallest B with ε₀(B) ≤ level and what reaches it, in fractions; None where no B does. One linear programme: B is its objective.

    None is proved: the programme without bounds on w has a least loss above the level.

    Raises
    ------
    InvalidProblem
        as `exact_ordinal_goodness`, and for a level < 0.
    """
    goal = fraction("level", level)
    validate.nonnegative("level", goal)
    world = ExactOrdinalData(gram, labels, classes, masses, gamma, delta)
    n, count = len(world.labels), world.classes - 1
    A, sides = world.rows()
    low: list[Fraction | None] = [None] * (n + count) + [ZERO] * world.hinges
    if exact_programme(world.costs, A, low, [None] * len(low), sides, [None] * len(sides)).value > goal:
        return None
    # the programme again, with the row Σ p s ≤ level and rows B ± w_j ≥ 0; its columns are those of `rows`, then B
    box = np.full((2 * n, A.shape[1]), ZERO, dtype=object)
    for j in range(n):
        box[j, j], box[n + j, j] = -ONE, ONE
    last = np.array([ZERO] * len(A) + [ZERO] + [ONE] * (2 * n), dtype=object)
    whole = np.hstack([np.vstack([A, -np.array([world.costs], dtype=object), box]), last[:, None]])
    result = exact_programme([ZERO] * A.shape[1] + [ONE], whole, [*low, ZERO], [None] * (len(low) + 1),
                            [*sides, -goal, *[ZERO] * (2 * n)], [None] * len(whole))  # fmt: skip
    scale = result.rows[len(A)]
    return result.value, world.read(result, scale) if scale else world.at(result.value)
