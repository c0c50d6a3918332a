r"""Goodness by direct reduction to regression (Kar & Jain's Definition 25): the least ordinal error of a thresholded predictor, exactly.

    min over |w_j| ≤ B of Σ_i p_i |ŷ_i − y_i|,    ŷ_i = 1 + #{j: f_i ≥ b_j},    f_i = Σ_j p_j w_j K(x_i, x_j),    b_1 < … < b_{r−1} given.

The error is constant on the cells b_{k−1} ≤ f_i < b_k of weight space, so that it is no convex programme: the cells are enumerated. Points
are given labels one after another, heavy ones first, labels near the true one first. Whether weights in the box have f in the chosen slots
is a linear programme, decided in fractions. The largest t with f_i ≥ b_{k−1} and f_i + t ≤ b_k has to be > 0 (b_k itself belongs to the
next slot). A partial choice is dropped when it has no weights, or costs no less than the best labels found so far.
In the worst case there are as many
cells as hyperplanes f_i = b_j cut out of the row space of K: with ρ its rank, Σ_{k≤ρ} C((r−1)N, k).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np

from simopt.core import validate
from simopt.core.errors import InvalidProblem
from simopt.solvers.goodness.exact_pivots import NoFeasiblePoint
from simopt.solvers.goodness.exact_programme import Exact, Number, exact_programme, fraction, fractions

ZERO, ONE = Fraction(0), Fraction(1)
PROGRAMMES = 20_000  # linear programmes, a few milliseconds each, before it is given up


@dataclass(frozen=True)
class DirectReduction:
    """The least error, proved by enumeration.

    Attributes
    ----------
    value : Fraction
        Σ p_i |ŷ_i − y_i| of the weights; no |w_j| ≤ B has less.
    weights, predictions : tuple of Fraction
        w and f.
    labels : tuple of int
        ŷ.
    programmes : int
        linear programmes solved.
    """

    value: Fraction
    weights: tuple[Fraction, ...]
    predictions: tuple[Fraction, ...]
    labels: tuple[int, ...]
    programmes: int


@dataclass
class _LabelSearch:
    """The domain in fractions, the best labels so far, and how many programmes it took."""

    columns: Exact  # K_ij p_j
    masses: list[Fraction]
    truth: list[int]
    thresholds: list[Fraction]
    bound: Fraction
    most: int
    best: tuple[Fraction, tuple[Fraction, ...]] = field(init=False)
    programmes: int = 0

    def __post_init__(self) -> None:
        zero = (ZERO,) * len(self.masses)
        self.best = self.error(self.labels_of(zero)), zero

    def labels_of(self, f: Sequence[Fraction]) -> list[int]:
        """ŷ = 1 + #{j: f ≥ b_j}."""
        return [1 + sum(value >= b for b in self.thresholds) for value in f]

    def error(self, labels: Sequence[int]) -> Fraction:
        """Σ p |ŷ − y|."""
        return sum((p * abs(k - y) for p, k, y in zip(self.masses, labels, self.truth, strict=True)), ZERO)

    def predictions(self, w: Sequence[Fraction]) -> list[Fraction]:
        """f."""
        return [sum((Fraction(k) * v for k, v in zip(row, w, strict=True)), ZERO) for row in self.columns]

    def slots(self, i: int) -> list[int]:
        """Labels of point i that |f_i| ≤ B Σ_j p_j |K_ij| leaves, the nearest to y_i first."""
        far = self.bound * sum((abs(Fraction(k)) for k in self.columns[i]), ZERO)
        first, last = self.labels_of([-far, far])
        return sorted(range(first, last + 1), key=lambda k: (abs(k - self.truth[i]), k))

    def weights_in(self, chosen: dict[int, int]) -> tuple[Fraction, ...] | None:
        """Weights with ŷ_i as chosen for the points chosen, or None: there are none."""
        self.programmes += 1
        if self.programmes > self.most:
            raise InvalidProblem(f"gram: more than {self.most} linear programmes; take fewer points or classes, or raise `most`")
        n, points = len(self.masses), list(chosen)
        rows = self.columns[points]
        ends = [None, *self.thresholds, None]
        lows, highs = [ends[chosen[i] - 1] for i in points], [ends[chosen[i]] for i in points]
        one = np.full((len(points), 1), ONE, dtype=object)
        matrix = np.vstack([np.hstack([rows, 0 * one]), np.hstack([rows, one])])
        nothing: list[Fraction | None] = [None] * len(points)
        box = [-self.bound] * n, [self.bound] * n
        try:
            found = exact_programme([ZERO] * n + [-ONE], matrix, [*box[0], None], [*box[1], ONE], [*lows, *nothing], [*nothing, *highs])
        except NoFeasiblePoint:
            return None
        return found.columns[:n] if found.value < 0 else None

    def descend(self, order: Sequence[int], chosen: dict[int, int], cost: Fraction) -> None:
        """All labels of the points of `order` after those chosen already."""
        if len(chosen) == len(order):
            return
        i = order[len(chosen)]
        for label in self.slots(i):
            more = cost + self.masses[i] * abs(label - self.truth[i])
            if more >= self.best[0]:
                return  # labels further away cost more still
            longer = {**chosen, i: label}
            w = self.weights_in(longer)
            if w is None:
                continue
            found = self.error(self.labels_of(self.predictions(w)))
            if found < self.best[0]:
                self.best = found, w
            self.descend(order, longer, more)


def direct_reduction_goodness(
    gram: Any,
    labels: Any,
    classes: int,
    bound: Number,
    thresholds: Sequence[Number],
    masses: Sequence[Number] | None = None,
    *,
    most: int = PROGRAMMES,
) -> DirectReduction:
    """The least ε₀ for which K is (ε₀, B)-good in the sense of Definition 25, with "≤" for its "<", for rational data. B = 0 is allowed.

    A minimum: the error takes finitely many values. `thresholds` are the paper's b_2 < … < b_r (its b_1 is −∞): i − 1, or i − ½. A
    prediction that equals a threshold gets the label above it. For domains of about ten points.

    Raises
    ------
    InvalidProblem
        for shapes that disagree, labels that are not 1 … r, and thresholds that do not increase (naming the pair). Also for masses that do
        not sum to exactly 1, B < 0, or more than `most` linear programmes.
    """
    count = validate.whole("classes", classes, minimum=2)
    truth = validate.labels("labels", labels, allowed=tuple(range(1, count + 1)))
    n = len(truth)
    K, p = fractions("gram", gram, 2), fractions("masses", [Fraction(1, n)] * n if masses is None else masses)
    if K.shape != (n, n) or p.shape != (n,):
        raise InvalidProblem(f"gram: shape {K.shape} with {n} labels and {len(p)} masses; N×N, N and N needed")
    if any(mass < 0 for mass in p) or sum(p) != 1:
        raise InvalidProblem(f"masses: fractions ≥ 0 with sum exactly 1 needed, these sum to {sum(p)}; write '1/3' or Fraction(1, 3)")
    b = [Fraction(x) for x in fractions("thresholds", thresholds)]
    if len(b) != count - 1:
        raise InvalidProblem(f"thresholds: {len(b)} given, {count} classes have {count - 1}")
    for j, (one, two) in enumerate(pairwise(b)):
        if one >= two:
            raise InvalidProblem(f"thresholds: {two} at index {j + 1} is not above {one} at index {j}; they must increase")
    size = fraction("bound", bound)
    validate.nonnegative("bound", size)
    search = _LabelSearch(K * p, [Fraction(x) for x in p], [int(y) for y in truth], b, size, validate.whole("most", most, minimum=1))
    order = sorted((i for i in range(n) if p[i] > 0), key=lambda i: -search.masses[i])
    search.descend(order, {}, ZERO)
    value, w = search.best
    f = search.predictions(w)
    return DirectReduction(value, w, tuple(f), tuple(search.labels_of(f)), search.programmes)
