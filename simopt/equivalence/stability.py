r"""How much KRR and M-RLSR change with one sample, exactly, for all samples of a set from one eigendecomposition.

With μ > 0 fixed, the ridge solution without sample i is a downdate. C = (K + μI)⁻¹, a = C y, and a − (a_i / C_ii) C e_i solves the
system of the others (its i-th entry is 0). M-RLSR without sample i, its sum divided by N, is that function at the μ_i which solves

    log μ − (m − 2) log ‖f_i(μ)‖ = log(N λ m / 2)                                                            (*)

whose left side grows in log μ at a rate between min(1, m − 1) and max(1, m − 1). In the basis of K = Q diag(d) Qᵀ each evaluation costs
O(n) for each i. So all n changes cost O(n³) for the eigendecomposition and O(n²) per round of Newton steps; refitting costs O(n⁴).

An exchange of samples needs nothing new: in the set Z ∪ {z'} both Z and the changed set are "all but one".
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from simopt.core import validate
from simopt.core.arrays import Array
from simopt.core.errors import InvalidProblem
from simopt.data.similarities.base import of_checked
from simopt.equivalence.gram_spectrum import EPS
from simopt.equivalence.stability_bounds import Change
from simopt.equivalence.training import KernelFunction, TrainingSet, point

BLOCK = 1 << 20  # numbers in one n-column work array
ROUNDS = 200  # bisection alone needs about 70 from the widest bracket


@dataclass(frozen=True, eq=False)
class Changes:
    """Functions f_i learned from a set with one sample changed, and their distances to the unchanged f.

    Attributes
    ----------
    change : Change
    whole : KernelFunction
        f_Z; for an exchange its centres include the new point (with coefficient 0).
    coefficients : Array, shape (n, k)
        row i: coefficients of f_i on the centres of `whole`.
    distances : Array, shape (n,)
        ‖f_Z − f_i‖_H.
    """

    change: Change
    whole: KernelFunction
    coefficients: Array
    distances: Array

    @cached_property
    def worst(self) -> int:
        """The sample whose change moves the function most."""
        return int(np.argmax(self.distances))

    def function(self, i: int) -> KernelFunction:
        """f_i, learned with sample i changed."""
        i = validate.whole("i", i)
        if i >= len(self.coefficients):
            raise InvalidProblem(f"i: sample {i} asked, there are {len(self.coefficients)}")
        return KernelFunction(self.whole.similarity, self.whole.centres, self.coefficients[i], home=self.whole.home)

    def losses(self, X: npt.ArrayLike, y: npt.ArrayLike) -> Array:
        """|(y − f(x))² − (y − f_i(x))²| at the points (x, y) in the rows of X and y, shape (n, points)."""
        before, after = self._predictions(X)
        targets = validate.vector("y", y, length=before.size)
        return np.abs((after - before) * (2.0 * targets - before - after))

    def worst_losses(self, X: npt.ArrayLike, target_bound: float) -> Array:
        """The same with the worst y in [−C_y, C_y] at each x: |f − f_i| (2 C_y + |f + f_i|), shape (n, points)."""
        before, after = self._predictions(X)
        return np.abs(after - before) * (2.0 * validate.nonnegative("target_bound", target_bound) + np.abs(before + after))

    def _predictions(self, X: npt.ArrayLike) -> tuple[Array, Array]:
        K = of_checked(self.whole.similarity)(validate.matrix("X", X), self.whole.centres)
        return K @ self.whole.coefficients, self.coefficients @ K.T


def leave_one_out(Z: TrainingSet, regularization: float, power: float = 2.0, change: Change = Change.BOUSQUET_ELISSEEFF) -> Changes:
    """‖f_Z − f_{Z^i}‖_H and f_{Z^i} for every i, exact to rounding. O(n³) time, O(n²) memory.

    f of the empty set (n = 1) is 0. `change` says whether Z^i divides by n or by n − 1.

    Raises
    ------
    InvalidProblem
        unless m > 1 and λ > 0, or when the similarity is not positive semidefinite on Z.
    """
    if change is Change.SWAP:
        raise InvalidProblem("change: leave_one_out removes a sample; use swap to exchange one")
    family = _Downdated(Z, regularization, power)
    divisor = Z.n if change is Change.BOUSQUET_ELISSEEFF else max(Z.n - 1, 1)
    whole = family.solve(np.zeros((1, Z.n)), Z.n)
    return family.changes(whole, range(Z.n), divisor, change)


def swap(Z: TrainingSet, x: npt.ArrayLike, y: float, regularization: float, power: float = 2.0) -> Changes:
    """The same when sample i is exchanged for (x, y), for every i at once. O(n³) time, O(n²) memory."""
    joined = TrainingSet(
        np.vstack([Z.inputs, point("x", x, Z.inputs.shape[1])]), np.append(Z.targets, validate.finite("y", y)), Z.similarity
    )
    family = _Downdated(joined, regularization, power)
    whole = family.solve(family.rows[-1:], Z.n)
    return family.changes(whole, range(Z.n), Z.n, Change.SWAP)


@dataclass(frozen=True, eq=False)
class _LeaveOneOutFits:
    """f_i for a block of i: rows q_i of Q removed, log μ_i, ratio a_i / C_ii, and whether f_i ≠ 0. Units of `_Downdated`."""

    rows: Array
    log_mu: Array
    ratio: Array
    alive: npt.NDArray[np.bool_]


class _Downdated:
    """The family of solutions with one sample left out, in units in which max d = max |z| = 1 (d = D d̂, z = Y ẑ, μ = D μ̂)."""

    def __init__(self, Z: TrainingSet, regularization: float, power: float) -> None:
        self.Z = Z
        self.regularization = validate.positive("regularization", regularization)
        self.power = validate.finite("power", power)
        if not self.power > 1:
            raise InvalidProblem(f"power: m = {self.power:g}, exact changes are computed for m > 1")
        known = Z.spectrum
        self.rows = known.vectors
        self.D = float(known.values[-1]) or 1.0
        self.Y = float(np.max(np.abs(Z.coordinates))) or 1.0
        self.d = known.values / self.D
        self.z = Z.coordinates / self.Y

    def solve(self, rows: Array, divisor: int) -> _LeaveOneOutFits:
        """Solve (*) for each removed row q_i (a row of zeros removes nothing) by Newton steps kept inside a bracket."""
        level = math.log(divisor * self.power / 2) + math.log(self.regularization) - math.log(self.D)
        level += (self.power - 2) * (math.log(self.Y) - 0.5 * math.log(self.D))
        left = self.z - (rows @ self.z)[:, None] * rows  # Qᵀ of the targets with y_i set to 0
        alive = _lengths(np.sqrt(self.d) * left) > 16 * EPS * np.linalg.norm(self.z)
        s = np.full(rows.shape[0], min(max(level, -700.0), 700.0))
        low, high = np.full_like(s, -np.inf), np.full_like(s, np.inf)
        previous = np.full_like(s, np.inf)
        gentle, steep = min(1.0, self.power - 1), max(1.0, self.power - 1)
        for _ in range(ROUNDS):
            log_t, decay, ratio = self._evaluate(rows, s)
            with np.errstate(invalid="ignore"):
                value = np.where(alive, s - (self.power - 2) * log_t - level, 0.0)
            ends = np.sort([s - value / gentle, s - value / steep], axis=0)
            low, high = np.maximum(low, ends[0]), np.minimum(high, ends[1])
            target = s - value / np.clip(1.0 + (self.power - 2) * decay, gentle, steep)
            poor = (target < low) | (target > high) | (np.abs(target - s) > 0.5 * previous)
            target = np.where(poor & (value != 0), 0.5 * (low + high), target)
            previous = np.abs(target - s)
            if np.all(previous <= 2 * EPS * np.maximum(1.0, np.abs(s))):
                return _LeaveOneOutFits(rows, s, ratio, alive)
            s = target
        raise ArithmeticError(f"stability: the equation for mu did not settle in {ROUNDS} rounds (m = {self.power:g})")

    def _evaluate(self, rows: Array, s: Array) -> tuple[Array, Array, Array]:
        """log ‖f_i‖, −d log ‖f_i‖ / d log μ and a_i / C_ii at log μ̂ = s (one per row)."""
        W, share = self._weights(s)
        diagonal = np.einsum("ij,ij->i", rows * W, rows)
        divisor = np.where(diagonal > 0, diagonal, 1.0)
        ratio = np.einsum("ij,ij,j->i", rows, W, self.z) / divisor
        a = (self.z - ratio[:, None] * rows) * W
        again = np.einsum("ij,ij,ij->i", rows, W, a) / divisor
        square = np.einsum("ij,ij,j->i", a, a, self.d)
        slope = np.einsum("ij,ij,ij,j->i", a, W, a - again[:, None] * rows, self.d)
        with np.errstate(divide="ignore"):
            log_t = 0.5 * np.log(square) - np.maximum(s, 0.0)
        decay = share * slope / np.where(square > 0, square, 1.0)
        return log_t, np.clip(decay, 0.0, 1.0), ratio

    def _weights(self, s: Array) -> tuple[Array, Array]:
        """W = e^h / (d̂ + μ̂) with h = max(s, 0), which neither overflows nor underflows, and μ̂ e^{−h}."""
        h = np.maximum(s, 0.0)
        share = np.exp(s - h)
        return 1.0 / (self.d * np.exp(-h)[:, None] + share[:, None]), share

    def spectral(self, fits: _LeaveOneOutFits) -> Array:
        """Qᵀ a_i in the rows, in the original units."""
        W, _ = self._weights(fits.log_mu)
        damping = np.where(fits.alive, np.exp(-np.maximum(fits.log_mu, 0.0)), 0.0)
        return (self.Y / self.D) * damping[:, None] * (self.z - fits.ratio[:, None] * fits.rows) * W

    def changes(self, whole: _LeaveOneOutFits, samples: range, divisor: int, change: Change) -> Changes:
        """Coefficients and distances for the given samples, in blocks."""
        n = self.Z.n
        coefficients, distances = np.empty((len(samples), n)), np.empty(len(samples))
        step = max(1, BLOCK // n)
        for start in range(0, len(samples), step):
            chosen = np.arange(n)[samples.start + start : min(samples.start + start + step, samples.stop)]
            fits = self.solve(self.rows[chosen], divisor)
            block = slice(start, start + chosen.size)
            coefficients[block] = self.spectral(fits) @ self.rows.T
            coefficients[start + np.arange(chosen.size), chosen] = 0.0
            distances[block] = self._distances(whole, fits)
        first = self.rows @ self.spectral(whole)[0]
        if change is Change.SWAP:
            first[-1] = 0.0
        return Changes(change, self.Z.function(first), coefficients, distances)

    def _distances(self, whole: _LeaveOneOutFits, fits: _LeaveOneOutFits) -> Array:
        """‖f − f_i‖. With u = z − ratio·q, the difference is u (μ_i − μ)/((d + μ)(d + μ_i)) + (u − u_i)/(d + μ_i): no cancellation of f."""
        if not (whole.alive[0] and fits.alive.all()):
            difference = self.spectral(whole) - self.spectral(fits)
            return _lengths(np.sqrt(self.D * self.d) * difference)
        W0, share = self._weights(whole.log_mu)
        W, _ = self._weights(fits.log_mu)
        u = self.z - whole.ratio[:, None] * whole.rows
        with np.errstate(over="ignore"):
            growth = share * np.expm1(fits.log_mu - whole.log_mu)
        damping = np.exp(-np.maximum(fits.log_mu, 0.0))[:, None]
        gap = fits.ratio[:, None] * fits.rows - whole.ratio[:, None] * whole.rows
        difference = damping * W * (growth[:, None] * u * W0 + gap)
        return (self.Y / math.sqrt(self.D)) * _lengths(np.sqrt(self.d) * difference)


def _lengths(rows: Array) -> Array:
    out: Array = np.linalg.norm(rows, axis=1)
    return out
