r"""The lasso on landmarks as a family: min_w (1/n)‖y − Ψw‖² + λ‖w‖₁, f = ⟨w, Ψ(·)⟩, declared to CVXPY and certified as it stands.

The features are those of `features_of`: a landmark map's own, else those of the eigendecomposition of K, which are independent. The loss is
quadratic and ‖w‖₁ convex. So P(w) ≥ P* + (1/n)‖Ψ(w − w*)‖² and
    ‖f − f*‖_H ≤ √(n gap)/σ.
Here σ is the least singular value of Ψ that is not 0, and ‖·‖_H the norm over the points of Z. Ψw* is the same for every optimum w*.
"""

from __future__ import annotations

import math

import numpy as np

from simopt.core.arrays import Array
from simopt.core.errors import InvalidProblem
from simopt.equivalence.family import Family, Interval, family
from simopt.equivalence.gram_spectrum import EPS
from simopt.equivalence.training import KernelFunction, TrainingSet
from simopt.theorems.kj.regression.svr_families import features_of, function_of

SMALL = 1e-5  # of the largest weight: what CVXPY's solver leaves of a 0


def moving_range(Z: TrainingSet) -> Interval:
    """(0, λ₁) with λ₁ = (2/n)‖Ψᵀy‖_∞, from which on w = 0.

    Raises
    ------
    InvalidProblem
        for Ψᵀy = 0, where w = 0 for every λ.
    """
    largest = float(np.max(np.abs(features_of(Z).T @ Z.targets), initial=0.0)) * 2.0 / Z.n
    if not largest > 0.0:
        raise InvalidProblem("targets: Ψᵀy = 0, so that the lasso is 0 for every λ")
    return Interval(0.0, largest)


@family("landmarked-lasso", summary="lasso on landmarks: (1/n) Σ (y − ⟨w, ψ⟩)² + λ‖w‖₁, 0 < λ < λ₁ where w ≠ 0")
def landmarked_lasso(solver: str = "CLARABEL") -> Family:
    """The lasso by a back end of CVXPY; where its weights tell the support, the equations on it make them exact to rounding."""

    def fit(lam: float, Z: TrainingSet) -> KernelFunction:
        features = features_of(Z)
        w, gap = _solved(features, Z.targets, lam, solver)
        singular = np.linalg.svd(features, compute_uv=False)
        least = float(singular[singular > Z.n * EPS * singular[0]][-1])
        return function_of(Z, features, w, math.sqrt(Z.n * max(gap, 0.0)) / least)

    return Family("landmarked-lasso", fit, moving_range)


def _solved(features: Array, y: Array, lam: float, solver: str) -> tuple[Array, float]:
    """w and its gap in interval arithmetic: the solver's, or the one that its support and signs tell, whichever has the smaller gap.

    Raises
    ------
    ArithmeticError
        when the solver returns no point.
    """
    import cvxpy as cp

    from simopt.solving.entry_points import certify

    n = len(y)
    w = cp.Variable(features.shape[1], name="w")
    problem = cp.Problem(cp.Minimize(cp.sum_squares(y - features @ w) / n + lam * cp.norm1(w)))
    try:
        problem.solve(solver=solver)
    except cp.SolverError as error:
        raise ArithmeticError(f"landmarked-lasso at {lam:g}: {error}") from error
    if w.value is None:
        raise ArithmeticError(f"landmarked-lasso at {lam:g}: {solver} returned no point ({problem.status})")
    candidates = [np.asarray(w.value), _on_support(features, y, lam, np.asarray(w.value))]
    gaps = []
    for candidate in candidates:
        w.value = candidate
        gaps.append(certify(problem, rigorous=True, solver=None).gap)
    best = int(np.argmin(gaps))
    return candidates[best], float(gaps[best])


def _on_support(features: Array, y: Array, lam: float, w: Array) -> Array:
    """The solution of (2/n) Ψ_Sᵀ(Ψ_S w_S − y) + λ sign(w_S) = 0 on the support S of w; w itself where that has none."""
    support = np.abs(w) > SMALL * float(np.max(np.abs(w)))
    if not np.any(support):
        return w
    A = features[:, support]
    out = np.zeros_like(w)
    out[support] = np.linalg.lstsq(A.T @ A, A.T @ y - 0.5 * len(y) * lam * np.sign(w[support]), rcond=None)[0]
    return out
