r"""Least squares on landmark features, penalised and in a ball, through d × d matrices; Ψ is only ever read in blocks of rows.

Normal equations, M = ΨᵀΨ + nλI (or ΨΨᵀ + nλI where n < d), cost n d² flops and one Cholesky factor. Refinement with the residual of the
data makes up for their condition number, up to 1/ε. Beyond that, and for the ball, [Ψ y] = Q [R z] is reduced block by block with
Householder reflections (2 n d² flops, Q is never formed, backward stable). Then R = U diag(σ) Vᵀ. With b = Uᵀz every fit is one formula,

    w(μ) = V diag(σ/(σ² + μ)) b,    ‖w(μ)‖² = Σ σ² b²/(σ² + μ)²,

the penalised one at μ = nλ, the constrained one at the root of ‖w(μ)‖ = B. That is the secular equation of `constrained_fit` in d = σ²
(μ = 0 if the least-squares fit of smallest norm lies in the ball). Memory beside Ψ: a few d × d matrices, n-vectors and one block.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from simopt.core.arrays import Array
from simopt.problems.losses.landmark_squares import LandmarkSquares
from simopt.solvers.squares.constrained_fit import norm_root
from simopt.solvers.squares.shifted import factor
from simopt.solvers.squares.spectrum import EPSILON, spectrum
from simopt.solving.solution import Iterate

BLOCK = 1 << 20  # numbers in a block of rows


def by_normal_equations(problem: LandmarkSquares, max_iter: int) -> Iterator[Iterate]:
    """Iterates from one Cholesky factor of the smaller matrix; none where it is not positive definite to rounding."""
    n, d = problem.features.shape
    wide = n < d
    mu = problem.count * problem.regularization
    inverse = factor(_gram(problem.features, wide), mu)
    if inverse is not None and wide:
        # α is the residual over nλ, so that w = Ψᵀα has its rounding errors over nλ too: refining α would not lessen them
        alpha = inverse(problem.targets)
        w = alpha @ problem.features
        rest = problem.targets - problem.features @ w - mu * alpha
        yield Iterate({"w": w}, {"predictions": 2.0 * problem.regularization * alpha}, float(rest @ rest) / problem.count)
    elif inverse is not None:
        yield from _refined(problem, inverse(problem.targets @ problem.features), lambda w, pull: inverse(pull - mu * w), max_iter)


def by_singular_values(problem: LandmarkSquares, max_iter: int) -> Iterator[Iterate]:
    """w(nλ), and steps of refinement with the same singular values."""
    system = singular_system(problem.features, problem.targets)
    log_mu = math.log(problem.count) + math.log(problem.regularization)
    mu = math.exp(log_mu)
    yield from _refined(problem, system.weights(log_mu), lambda w, pull: system.damped(pull - mu * w, log_mu), max_iter)


def in_ball(problem: LandmarkSquares, max_iter: int) -> Iterator[Iterate]:
    """w(μ) at the root of ‖w(μ)‖ = B, refined and brought back onto the sphere."""
    system = singular_system(problem.features, problem.targets)
    log_mu = system.radius_root(problem.radius)
    mu = math.exp(min(log_mu, 700.0))

    def step(w: Array, pull: Array) -> Array:
        return system.damped(pull - mu * w, log_mu) if log_mu < 700.0 else np.zeros_like(w)

    for iterate in _refined(problem, system.weights(log_mu), step, max_iter):
        w = problem.restore({"w": _onto_sphere(iterate.point["w"], problem.radius, log_mu)})
        yield Iterate(w, iterate.multipliers, float(problem.gap(w, dict(iterate.multipliers or {}))))


@dataclass(frozen=True, eq=False)
class SingularSystem:
    """Ψ = Q U diag(σ) Vᵀ and b = (QU)ᵀy.

    Attributes
    ----------
    values : Array (k,)
        σ, descending, k = min(n, d).
    right : Array (k, d)
        Vᵀ.
    coordinates : Array (k,)
        b.
    samples : int
        n.
    """

    values: Array
    right: Array
    coordinates: Array
    samples: int

    @property
    def floor(self) -> float:
        """Singular values up to this are rounding errors of the largest."""
        return float(max(self.samples, self.right.shape[1]) * EPSILON * np.max(self.values, initial=0.0))

    def weights(self, log_mu: float) -> Array:
        """w(μ) for μ = e^log_mu; the least-squares fit of smallest norm for log μ = −∞, 0 for ∞. O(d²)."""
        if log_mu == -math.inf:
            kept = self.values > self.floor
            filtered = np.divide(self.coordinates, self.values, out=np.zeros_like(self.coordinates), where=kept)
        else:
            filtered = self.coordinates * self._filter(log_mu)
        result: Array = self.right.T @ filtered
        return result

    def damped(self, slope: Array, log_mu: float) -> Array:
        """(ΨᵀΨ + μI)⁻¹ g within the span of V, for log μ < 700. O(d²)."""
        mu = math.exp(log_mu)
        part = self.right @ slope
        total = self.values**2 + mu
        kept = self.values > self.floor if mu == 0.0 else total > 0.0
        result: Array = self.right.T @ np.divide(part, total, out=np.zeros_like(part), where=kept)
        return result

    def radius_root(self, radius: float) -> float:
        """log μ with ‖w(μ)‖ = B; −∞ if the least-squares fit of smallest norm lies in the ball."""
        largest = float(np.max(self.values, initial=0.0))
        floor = (self.floor / largest) ** 2 if largest > 0.0 else 0.0
        return norm_root(spectrum(self.values**2, self.coordinates, samples=self.samples, floor=floor), radius).log_mu

    def _filter(self, log_mu: float) -> Array:
        """σ/(σ² + μ); 0 where σ = 0, also for a μ that underflows or overflows."""
        mu = math.exp(min(log_mu, 700.0))
        total = self.values**2 + mu
        return np.divide(self.values, total, out=np.zeros_like(self.values), where=(self.values > 0.0) & (total > 0.0))


def singular_system(features: Array, targets: Array) -> SingularSystem:
    """σ, Vᵀ and b of Ψ (n, d) and y (n,).

    R of [Ψ y] by rows in blocks, 2 n d² flops, then one SVD of a min(n, d + 1) × d matrix.
    """
    from scipy.linalg import svd as decompose

    d = features.shape[1]
    triangle = np.zeros((0, d + 1))
    for rows in _blocks(len(features), d, least=4 * (d + 1)):
        stacked = np.vstack([triangle, np.column_stack([features[rows], targets[rows]])])
        triangle = np.asarray(np.linalg.qr(stacked, mode="r"))
    kept = min(triangle.shape[0], d)  # the last row holds the residual only
    left, values, right = decompose(triangle[:kept, :d], full_matrices=False)
    return SingularSystem(values, right, left.T @ triangle[:kept, d], len(targets))


def _refined(problem: LandmarkSquares, w: Array, step: Callable[[Array, Array], Array], max_iter: int) -> Iterator[Iterate]:
    """Iterates (w, (2/n)r), improved by w += step(w, Ψᵀr) and r −= Ψ·step.

    The residual is carried along and not computed anew. y − Ψw is off by ε‖Ψ‖‖w‖. For nearly singular Ψ that is more than Ψᵀr = μw puts up
    with, whereas the gap feels the square of how far the two residuals are apart.
    """
    residual = problem.targets - problem.features @ w
    for _ in range(max_iter):
        point, multipliers = {"w": w}, {"predictions": residual * (2.0 / problem.count)}
        yield Iterate(point, multipliers, float(problem.gap(point, multipliers)))
        change = step(w, residual @ problem.features)
        w, residual = w + change, residual - problem.features @ change


def _onto_sphere(w: Array, radius: float, log_mu: float) -> Array:
    """w with norm B where the ball is active (log μ > −∞): the root leaves rounding errors, which the gap would feel to the first power."""
    size = float(np.linalg.norm(w))
    return w * (radius / size) if log_mu > -math.inf and size > 0.0 else w


def _gram(features: Array, wide: bool) -> Array:
    """ΨΨᵀ if `wide`, else ΨᵀΨ, column-major."""
    n, d = features.shape
    if wide:
        return np.asfortranarray(features @ features.T)
    total = np.zeros((d, d), order="F")
    for rows in _blocks(n, d, least=d):
        total += features[rows].T @ features[rows]
    return total


def _blocks(n: int, d: int, least: int) -> Iterator[slice]:
    step = max(least, BLOCK // (d + 1))
    for start in range(0, n, step):
        yield slice(start, min(start + step, n))
