r"""Errors of KRR and of M-RLSR for every (m, λ), m > 0, on held-out points, from one tridiagonal reduction of the training Gram matrix.

Every minimiser of (1/n) ‖y − Ka‖² + λ ‖f‖^m, for m ≤ 1 too, lies on the ridge path f_μ. So the errors of all learners on a grid are values
of one function of log μ (solvers/squares/tridiagonal_path.py), read where G(s) = s − (m − 2) log t(e^s) − log(nλm/2) = 0. For m > 1 there
is one root. For m ≤ 1 the roots where G rises are the local minima, f = 0 is another candidate, and the smallest value of

    n (P(f) − P(0)) = −(aᵀKy + μ t²) + nλ tᵐ

decides. Two roots closer than a lattice step (0.15 in log μ) are not told apart. P falls on both sides of such a pair, so f = 0 or a deeper
minimum is better.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from simopt.core.arrays import Array
from simopt.core.errors import InvalidProblem
from simopt.solvers.squares.power_gap import symmetric_product
from simopt.solvers.squares.tridiagonal_path import NEIGHBOURS, STEP, TridiagonalPath

Indices = NDArray[np.intp]
REACH = 12.0  # beyond e^12 times the largest eigenvalue f_μ is f = Ky/μ to 6e-6 of itself
RIDGE = 2.0


@dataclass(frozen=True, eq=False)
class Fits:
    """Learners on one training set: squared errors on the held-out points and where the fits lie on the path.

    Attributes
    ----------
    mean_square : Array (k, l)
        mean squared error on the held-out points of power m_k and regularization λ_l.
    log_mu : Array (k, l)
        log μ of the fit, μ = nλ₂; ∞ for f = 0.
    """

    mean_square: Array
    log_mu: Array


class HeldOut:
    """The ridge path of one training set seen from held-out points.

    Parameters
    ----------
    gram : Array (n + v, n + v)
        kernel between all points; `kept` and `held` index the n training and v held-out ones.
    targets : Array (n + v,)
    """

    def __init__(self, gram: Array, targets: Array, train: Indices, test: Indices) -> None:
        K = gram[np.ix_(train, train)].T
        y = targets[train]
        self.samples, self.truth = train.size, targets[test]
        cross = np.column_stack([gram[np.ix_(train, test)], symmetric_product(K, y)])
        self.path = TridiagonalPath(K, y, cross)  # K is its workspace from here on
        if self.path.flat:
            raise InvalidProblem("targets: K y = 0 on the training part, so every fit is 0 and there is no path")
        size = self.path.low - math.log(self.samples * np.finfo(float).eps)
        self.path.tabulate(self.path.low, size + REACH)
        side = NEIGHBOURS // 2
        lost = np.flatnonzero(~np.isfinite(self.path.log_t))  # zᵀTz may round to 0 at the bottom
        inside = slice(int(np.max(lost, initial=-1)) + 1 + side, self.path.log_t.size - side)
        self.path_points = (self.path.first + np.arange(self.path.log_t.size))[inside] * STEP
        self.log_norms = self.path.log_t[inside]

    def fits(self, powers: Array, regularizations: Array) -> Fits:
        """Errors and places of all learners of a grid, m > 0 and λ > 0; the global minimiser where m ≤ 1."""
        m = np.repeat(powers, regularizations.size)
        kappa = np.log(0.5 * self.samples * m) + np.log(np.tile(regularizations, powers.size))
        pair, low, high = self.brackets(m, kappa)
        roots = self.polished(m[pair], kappa[pair], low, high)
        values = self.excess(m[pair], kappa[pair], roots)
        best, chosen = np.zeros(m.size), np.full(m.size, math.inf)  # f = 0, of value 0
        for i, root, value in zip(pair, roots, values, strict=True):
            if value < best[i] or m[i] > 1:
                best[i], chosen[i] = value, root
        shape = (powers.size, regularizations.size)
        return Fits(self.mean_square(chosen).reshape(shape), chosen.reshape(shape))

    def brackets(self, m: Array, kappa: Array) -> tuple[Indices, Array, Array]:
        """Lattice cells in which G rises through 0: indices of the pairs (m, κ) and both ends; then the roots off the lattice.

        Below the lattice t is constant, so G rises and may start there for every m; above it t falls like 1/μ, and G rises for m > 1 only.
        """
        G = self.path_points - (m - RIDGE)[:, None] * self.log_norms - kappa[:, None]
        pair, cell = np.nonzero((G[:, :-1] < 0) & (G[:, 1:] >= 0))
        top = self.path_points[-1]
        below, above = np.flatnonzero(G[:, 0] >= 0), np.flatnonzero((m > 1) & (G[:, -1] < 0))
        first = kappa[below] + (m[below] - RIDGE) * self.log_norms[0]
        last = (kappa[above] + (m[above] - RIDGE) * (self.log_norms[-1] + top)) / (m[above] - 1)
        low = np.concatenate([self.path_points[cell], first, last])
        high = np.concatenate([self.path_points[cell + 1], first, last])
        return np.concatenate([pair, below, above]), low, high

    def norms(self, s: Array) -> tuple[Array, Array]:
        """(log t, w) at places on or off the lattice."""
        bottom, top = float(self.path_points[0]), float(self.path_points[-1])
        log_t, w = self.path.norms(np.clip(s, bottom, top))
        return log_t - np.maximum(s - top, 0.0), np.where(s > top, 1.0, np.where(s < bottom, 0.0, w))

    def polished(self, m: Array, kappa: Array, low: Array, high: Array) -> Array:
        """The roots of G in their cells, by Newton's method on the interpolated path with the cells as brackets."""
        s = 0.5 * (low + high)
        for _ in range(60):
            log_t, w = self.norms(s)
            value, slope = s - (m - RIDGE) * log_t - kappa, 1 + (m - RIDGE) * w
            low, high = np.where(value < 0, s, low), np.where(value < 0, high, s)
            proposal = s - value / np.where(slope > 0, slope, 1.0)
            inside = (slope > 0) & (proposal > low) & (proposal < high)
            proposal = np.where(inside, proposal, 0.5 * (low + high))
            moved, s = np.abs(proposal - s), proposal
            if np.all(moved <= 1e-12 * np.maximum(1.0, np.abs(s))):
                break
        return s

    def excess(self, m: Array, kappa: Array, s: Array) -> Array:
        """n (P(f_μ) − P(0)) at μ = e^s, from aᵀKy, which is kept as one more prediction; off the lattice +0."""
        top = float(self.path_points[-1])
        inside = np.clip(s, float(self.path_points[0]), top)
        log_t, _ = self.norms(inside)
        gain = self.path.predictions(inside)[:, -1] + np.exp(inside + 2 * log_t)
        out: Array = np.where(s > top, 0.0, np.exp(np.minimum(kappa + np.log(2 / m) + m * log_t, 700.0)) - gain)
        return out

    def mean_square(self, log_mu: Array) -> Array:
        """Mean squared errors on the held-out points at many places of the path, ∞ for f = 0."""
        bottom, top = float(self.path_points[0]), float(self.path_points[-1])
        predicted = self.path.predictions(np.clip(log_mu, bottom, top))[:, :-1]
        predicted *= np.exp(-np.maximum(log_mu - top, 0.0))[:, None]
        out: Array = np.mean(np.square(predicted - self.truth), axis=1)
        return out

    def best(self) -> tuple[float, float]:
        """(log μ, mean squared error) of the best function on the whole path: no KRR and no M-RLSR does better on these points."""
        fine = np.linspace(self.path_points[0], self.path_points[-1], 5 * self.path_points.size)
        errors = self.mean_square(fine)
        k = int(np.argmin(errors))
        zero = float(np.mean(np.square(self.truth)))
        return (math.inf, zero) if zero < errors[k] else (float(fine[k]), float(errors[k]))
