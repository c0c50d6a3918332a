r"""Landmarked ε-SVR, penalised and in a ball, as families λ ↦ (Z ↦ f): functions f = ⟨w, Ψ(·)⟩ in the RKHS of k(x, x') = ⟨Ψ(x), Ψ(x')⟩.

A training set whose similarity is a `LandmarkKernel` has the features Ψ(x_i) themselves. For any other positive semidefinite similarity the
features are those of the eigendecomposition of K, and the SVR with that kernel is solved. For w in the span of the ψ_i, w = Σ a_i ψ_i,
‖f‖_H = ‖w‖. Every function carries a radius that its certificate gives, in interval arithmetic:

* penalised: √(2 gap/λ), as the objective is λ-strongly convex;
* in a ball: multipliers with the gradient g bound the loss from below by D + B‖g‖ + ⟨g, v⟩ at every v, where D = L(w) − gap is their dual
  value. No optimum is above L(w), so that w and all of them lie in the cap {‖v‖ ≤ B, ⟨g, v⟩ ≤ −B‖g‖ + gap}. Its diameter is at most 2
  √(2 B gap/‖g‖).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from weakref import WeakKeyDictionary

import numpy as np

from simopt.arithmetic import INTERVAL
from simopt.core.arrays import Array
from simopt.core.errors import InvalidProblem
from simopt.data.landmarks import LandmarkMap
from simopt.equivalence.family import Family, Interval, family
from simopt.equivalence.gram_spectrum import EPS
from simopt.equivalence.training import KernelFunction, TrainingSet
from simopt.problems.bounds import Ball, Penalty
from simopt.problems.landmarked_svr import LandmarkedSVR
from simopt.solving.entry_points import certify
from simopt.theorems.kj.regression import exact_svr
from simopt.theorems.small_worlds.exact_svm import Piece

TOL = 1e-13  # asked of solvers; the radius comes from the gap that they reach
_samples: WeakKeyDictionary[TrainingSet, dict[float, list[Piece]]] = WeakKeyDictionary()


@dataclass(frozen=True, eq=False)
class LandmarkKernel:
    """k(x, x') = ⟨Ψ(x), Ψ(x')⟩ for a landmark map Ψ of any similarity: positive semidefinite, whatever the similarity is."""

    map: LandmarkMap

    def __call__(self, X: Array, Y: Array) -> Array:
        """(n, p), (m, p) → (n, m)."""
        out: Array = self.map(X) @ self.map(Y).T
        return out

    def gram(self, X: Array) -> Array:
        """k on X × X, exactly symmetric."""
        features = self.map(X)
        K: Array = features @ features.T
        return 0.5 * (K + K.T)


def features_of(Z: TrainingSet) -> Array:
    """Ψ, shape (n, d), with ΨΨᵀ = K."""
    if isinstance(Z.similarity, LandmarkKernel):
        return Z.similarity.map(Z.inputs)
    return Z.features


def exact_path(Z: TrainingSet, epsilon: float) -> list[Piece]:
    """All pieces of the penalised path, exactly those of the features as they are in float64; for tens of samples."""
    kept = _samples.setdefault(Z, {})
    if epsilon not in kept:
        rows = [[Fraction(float(x)) for x in row] for row in features_of(Z)]
        gram = [[sum((a * b for a, b in zip(one, two, strict=True)), Fraction(0)) for two in rows] for one in rows]
        targets = [Fraction(float(y)) for y in Z.targets]
        kept[epsilon] = exact_svr.path(exact_svr.ExactSVR(gram, targets, Fraction(epsilon)))
    return kept[epsilon]


def moving_range(Z: TrainingSet, epsilon: float) -> Interval:
    """(λ₀, ∞): for λ ≤ λ₀ the solution is the least minimiser of the loss.

    Raises
    ------
    InvalidProblem
        if w = 0 minimises the loss: nothing moves then.
    """
    last = _moving(Z, epsilon)[-1]
    return Interval(float(last.high or 0), math.inf)


def active_range(Z: TrainingSet, epsilon: float) -> Interval:
    """(0, B₁), where ‖w‖ ≤ B binds: B₁ is the least norm of a minimiser of the loss.

    Raises
    ------
    InvalidProblem
        if w = 0 minimises the loss: no ball binds then.
    """
    last = _moving(Z, epsilon)[-1]
    return Interval(0.0, math.sqrt(last.squared_norm(last.high or Fraction(0))))


def _moving(Z: TrainingSet, epsilon: float) -> list[Piece]:
    pieces = exact_path(Z, epsilon)
    if pieces[-1].high is None:
        raise InvalidProblem(f"targets: w = 0 minimises the ε-insensitive loss with ε = {epsilon:g}, for every λ and in every ball")
    return pieces


@family("landmarked-svr-penalised", summary="landmarked ε-SVR: mean loss + (λ/2)‖w‖²")
def landmarked_svr_penalised(epsilon: float = 0.1, solver: str = "newton", tol: float = TOL) -> Family:
    """Tikhonov's form."""

    def fit(lam: float, Z: TrainingSet) -> KernelFunction:
        problem = LandmarkedSVR(features_of(Z), Z.targets, Penalty(lam), epsilon)
        w, gap, _ = _solved(problem, solver, tol)
        return function_of(Z, problem.features, w, problem.distance(gap))

    return Family("landmarked-svr-penalised", fit)


@family("landmarked-svr", summary="landmarked ε-SVR in a ball that binds: mean loss subject to ‖w‖ ≤ B, 0 < B < B₁")
def landmarked_svr(epsilon: float = 0.1, solver: str = "newton", tol: float = TOL) -> Family:
    """Ivanov's form, for the B at which the constraint is active and the solution unique."""

    def fit(radius: float, Z: TrainingSet) -> KernelFunction:
        problem = LandmarkedSVR(features_of(Z), Z.targets, Ball(radius), epsilon)
        w, gap, g = _solved(problem, solver, tol)
        size = float(np.linalg.norm(g)) * (1.0 - 1e-12)  # a digit of rounding to be on the safe side
        return function_of(Z, problem.features, w, min(2.0 * radius, 2.0 * math.sqrt(2.0 * radius * gap / size) if size > 0 else math.inf))

    return Family("landmarked-svr", fit, lambda Z: active_range(Z, epsilon))


def _solved(problem: LandmarkedSVR, solver: str, tol: float) -> tuple[Array, float, Array]:
    """w, its gap in intervals, and g = Ψᵀ(p − q).

    Raises
    ------
    ArithmeticError
        when the solver returns no point.
    """
    from simopt.solving.entry_points import solve

    solution = solve(problem, solver, tol=tol)
    if solution.point is None or solution.multipliers is None:
        raise ArithmeticError(f"{problem.name}: {solver} returned no point ({solution.reported_status}: {solution.message})")
    point, multipliers = dict(solution.point), dict(solution.multipliers)
    judged = certify(problem, point, multipliers, INTERVAL)
    # the bound in which g enters is that of the solver's multipliers, or of those the point suggests: both are looked at
    tries = [multipliers, problem.multipliers(point)]
    given = tries[judged.multipliers_from == "point"]
    g = problem.features.T @ (np.asarray(given["above"]) - np.asarray(given["below"]))
    return np.asarray(point["w"]), judged.gap, g


def function_of(Z: TrainingSet, features: Array, w: Array, radius: float) -> KernelFunction:
    """⟨w, Ψ(·)⟩ over the points of Z, w within the radius of the true one; what of w no point of Z shows is added to it."""
    coefficients: Array = np.linalg.lstsq(features.T, w, rcond=None)[0].astype(float)
    f = Z.function(coefficients)
    off = float(np.linalg.norm(features.T @ coefficients - w))
    return replace(f, error=radius + off + 64 * EPS * f.norm())
