r"""Ordinal problems with learned thresholds as the engines see them, and back.

Thresholds that no hinge pulls, or only one side pulls without end, are not for the engines. With labels from y_min to y_max, those outside
y_min ≤ j < y_max are placed beyond all scores, where their hinges are 0. One between two classes that do not occur (explicit constraints)
lies anywhere between its neighbours. All others are kept, and have hinges on both sides of their chain: the optimal ones are bounded.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from simopt.core.arrays import Array, Multipliers
from simopt.data.row_blocks import RowBlocks
from simopt.problems.exc_ordinal import EXCOrdinal
from simopt.problems.imc_ordinal import IMCOrdinal
from simopt.problems.kernel_exc import KernelEXC
from simopt.solvers.hinges.stage import Indices, StageFit
from simopt.solvers.hinges.weight_bounds import QuadraticPenalty, WeightBound, bound_of, span
from simopt.solvers.ordinal.threshold_hinges import ThresholdHinges
from simopt.solving.solution import Iterate

SMALL = 1 << 18  # numbers that are centred without asking
GLANCE = 1000  # rows that tell whether more are
FAR_FROM_ZERO = 100.0  # a mean this many standard deviations from 0 costs digits
ROUNDING = 1e-14  # of the mean: what is left of a constant column

EIGEN = 1e-13  # of the largest eigenvalue: the smallest that is not taken for rounding

Learned = EXCOrdinal | IMCOrdinal | KernelEXC
LEARNED = (EXCOrdinal, IMCOrdinal, KernelEXC)


@dataclass(frozen=True, eq=False)
class Chain:
    """The thresholds that are kept (from 0), and the hinges against them."""

    needed: Indices
    hinges: ThresholdHinges
    classes: int
    delta: float

    def all_thresholds(self, b: Array, f: Array) -> Array:
        """b_1 … b_{r−1} from those that were kept; the others beyond the scores or between their neighbours."""
        j = np.arange(self.classes - 1.0)
        c = np.interp(j, self.needed, b - self.needed * self.delta)
        low, high, gamma = self.needed[0], self.needed[-1], self.hinges.gamma
        c[:low] = min(c[low], float(np.min(f)) - gamma - (low - 1) * self.delta)
        c[high + 1 :] = max(c[high], float(np.max(f)) + gamma - (high + 1) * self.delta)
        out: Array = c + j * self.delta
        return out

    def named(self, problem: Learned, table: Array) -> Multipliers:
        """Multipliers of the declared rows: above, below, and order by running sums."""
        n, count = len(problem.labels), self.classes - 1
        rows_at = np.full(count, -1)
        rows_at[self.needed] = np.arange(self.needed.size)
        first = self.hinges.first()
        out: dict[str, Array] = {}
        balance = np.zeros(count)
        for name, side, sign in zip(("above", "below"), problem.sides, (-1.0, 1.0), strict=True):
            at = rows_at[side.ends]
            out[name] = np.where(at >= 0, table[side.rows, np.maximum(at - first[side.rows], 0)], 0.0) / n
            balance += sign * np.bincount(side.ends, weights=out[name], minlength=count)
        if not self.hinges.every:
            out["order"] = np.maximum(-np.cumsum(balance)[:-1], 0.0)
        return out


def chain(problem: Learned) -> Chain | None:
    """The chain of a problem; None if there is but one class. Implicit constraints have no spacing, and keep the order by themselves."""
    every = isinstance(problem, IMCOrdinal)
    y, n = problem.labels.astype(np.intp), len(problem.labels)
    delta = 0.0 if isinstance(problem, IMCOrdinal) else problem.delta
    occurs = np.zeros(problem.classes + 1, dtype=bool)
    occurs[y] = True
    j = np.arange(y.min(), y.max())  # threshold j lies between the classes j and j + 1
    needed = (j if every else j[occurs[j] | occurs[j + 1]]) - 1
    if needed.size == 0:
        return None
    hinges = ThresholdHinges(np.searchsorted(needed, y - 1), needed * delta, float(problem.gamma), 1.0 / n, every)
    return Chain(needed, hinges, int(problem.classes), delta)


def centred(features: Array) -> tuple[Array, Array]:
    """The features less their mean, and the mean; for large arrays only where a mean is far above the spread of its column, else mean 0.

    Scores and thresholds may be moved together, so that nothing but rounding depends on the mean; what is left of a constant column is 0.
    """
    n, d = features.shape
    if n * d > SMALL:
        few = features[:: max(1, n // GLANCE)]
        if np.all(np.abs(few.mean(axis=0)) <= FAR_FROM_ZERO * few.std(axis=0)):
            return features, np.zeros(d)
    mean = features.mean(axis=0)
    out = features - mean
    out[:, np.max(np.abs(out), axis=0) <= ROUNDING * np.abs(mean)] = 0.0
    return out, mean


@dataclass(frozen=True, eq=False)
class Ordinal:
    """Rows, chain and bound of a problem; the basis in whose coordinates the rows are given, if any; the mean that was taken off them."""

    problem: Learned
    rows: RowBlocks
    chain: Chain
    bound: WeightBound
    basis: Array | None
    mean: Array

    @classmethod
    def of(cls, problem: Learned) -> Ordinal | None:
        """The parts of a problem; None if there is but one class."""
        found = chain(problem)
        if found is None:
            return None
        features, mean = centred(kernel_features(problem) if isinstance(problem, KernelEXC) else problem.features)
        features, basis = span(features)
        bound = QuadraticPenalty(problem.regularization) if isinstance(problem, KernelEXC) else bound_of(problem.bound)
        return cls(problem, RowBlocks(features), found, bound, basis, mean)

    @staticmethod
    def only_class(problem: Learned) -> Iterate:
        """The trivial point, which is optimal where there is but one class, with multipliers 0."""
        zero = {name: np.zeros_like(value) for name, value in problem.multipliers(problem.trivial_point()).items()}
        return Iterate(problem.trivial_point(), zero, 0.0, "one class only")

    def iterate(self, fit: StageFit) -> Iterate:
        """A point and, where they are known on all samples, multipliers of the declared problem."""
        f = np.empty(self.rows.shape[0])
        for part, block in self.rows:
            np.matmul(block, fit.w, out=f[part])
        w = fit.w if self.basis is None else self.basis @ fit.w
        point = {"thresholds": self.chain.all_thresholds(fit.b, f) + float(self.mean @ w)}
        if isinstance(self.problem, KernelEXC):
            point["alpha"] = coefficients(self.problem, w)
        else:
            point["w"] = w
        known = math.isfinite(fit.gap)
        return Iterate(point, self.chain.named(self.problem, *fit.multipliers) if known else None, fit.gap, fit.status_text)


def kernel_features(problem: KernelEXC) -> Array:
    """F = Q√d with K = F Fᵀ: eigenvalues count as far as they are more than rounding, as the answer is judged with K itself."""
    factor = problem.factor
    rank = int(np.count_nonzero(factor.values > EIGEN * factor.values[0]))
    out: Array = factor.vectors[:, : max(rank, 1)] * np.sqrt(factor.values[: max(rank, 1)])
    return out


def coefficients(problem: KernelEXC, w: Array) -> Array:
    """The shortest α with Kα = Fw, α = Q(w/√d): longer ones, such as −s/λ at the optimum, only add rounding to Kα."""
    values, vectors = problem.factor.values[: w.size], problem.factor.vectors[:, : w.size]
    out: Array = vectors @ np.divide(w, np.sqrt(values), out=np.zeros_like(w), where=values > 0.0)
    return out
