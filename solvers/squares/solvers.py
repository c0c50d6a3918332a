"""Ridge regression on a kernel or on landmarks, penalised or in a ball, and kernel regression: every fit is linear in y.

A penalised fit is one Cholesky factor of K + nλI or of ΨᵀΨ + nλI, refined with the residual of the data. If that matrix is not positive
definite to rounding, or the certificate does not close, it is an eigendecomposition of K or the singular values of Ψ. These know every λ at
once and can be asked for by name. In a ball λ is the root of a secular equation in these singular values. Kernel regression is a mean.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from simopt.problems.domains import weighted_mean
from simopt.problems.kernel_regression import KernelRegression
from simopt.problems.kernel_ridge import KernelRidge
from simopt.problems.landmarked_least_squares import LandmarkedLeastSquares
from simopt.problems.landmarked_ranking import LandmarkedRanking
from simopt.problems.losses.landmark_squares import LandmarkSquares
from simopt.solvers.squares import landmarked
from simopt.solvers.squares.power_gap import column_major, power_bracket
from simopt.solvers.squares.shifted import factor, refined
from simopt.solvers.squares.spectrum import decompose
from simopt.solving.solution import Iterate
from simopt.solving.solver import solver

PENALISED = (LandmarkedLeastSquares.form("penalty"), LandmarkedRanking.form("penalty"))
BALL = (LandmarkedLeastSquares.form("ball"), LandmarkedRanking.form("ball"))


@solver("cholesky", solves=KernelRidge, summary="one Cholesky factorisation of K + nλI, refined until the certificate closes", rank=10)
def kernel_cholesky(problem: KernelRidge, *, tol: float, max_iter: int = 4) -> Iterator[Iterate]:
    """a = (K + nλI)⁻¹ y: n³/3 flops, n² numbers of workspace; every further iterate is a step of iterative refinement, 4 n² flops.

    If K + nλI is not positive definite to rounding, the eigendecomposition is used instead.
    """
    gram = column_major(problem.gram)
    inverse = factor(gram, problem.targets.size * problem.regularization)
    if inverse is None:
        yield from kernel_eigen(problem, tol=tol)
        return
    for a, residual in refined(gram, problem.targets, inverse, max_iter):
        # the gap of a and v = 2λa is (1/n) ‖y − (K + nλI)a‖²
        yield Iterate({"alpha": a}, {"predictions": 2.0 * problem.regularization * a}, float(residual @ residual) / a.size)


@solver("eigen", solves=KernelRidge, summary="one eigendecomposition of K; the dearer way, which knows every λ at once")
def kernel_eigen(problem: KernelRidge, *, tol: float) -> Iterator[Iterate]:
    """a = Q (D + nλI)⁻¹ Qᵀy, negative eigenvalues taken as 0: about 9 n³ flops, 3 n² numbers."""
    system = decompose(problem.gram, problem.targets)
    n = problem.targets.size
    log_mu = math.log(n) + math.log(problem.regularization)
    a, v = system.coefficients(log_mu), system.residual(log_mu) * (2.0 / n)
    bracket = power_bracket(problem.gram, a, problem.targets, log_mu, problem.regularization, 2.0, v)
    yield Iterate({"alpha": a}, {"predictions": v}, bracket.gap)


@solver("cholesky", solves=PENALISED, summary="normal equations, refined until the certificate closes", rank=10)
def landmark_cholesky(problem: LandmarkSquares, *, tol: float, max_iter: int = 4) -> Iterator[Iterate]:
    """w = (ΨᵀΨ + nλI)⁻¹ Ψᵀy: n d² flops; every further iterate is a step of refinement, 4 n d. For n < d Ψᵀ(ΨΨᵀ + nλI)⁻¹ y: n² d flops.

    If the matrix is too ill-conditioned for that, and the certificate has not closed, the singular values of Ψ are used after all.
    """
    yield from landmarked.by_normal_equations(problem, max_iter)
    yield from landmark_svd(problem, tol=tol)


@solver("svd", solves=PENALISED, summary="one QR and one SVD of Ψ; the dearer way, which knows every λ at once")
def landmark_svd(problem: LandmarkSquares, *, tol: float, max_iter: int = 3) -> Iterator[Iterate]:
    """w = V diag(σ/(σ² + nλ)) b: 2 n d² + O(d³) flops; every further iterate is a step of refinement, 4 n d."""
    return landmarked.by_singular_values(problem, max_iter)


@solver("secular", solves=BALL, summary="one QR and one SVD of Ψ, and the root of ‖w(μ)‖ = B", rank=10)
def landmark_secular(problem: LandmarkSquares, *, tol: float, max_iter: int = 4) -> Iterator[Iterate]:
    """w(μ) with ‖w(μ)‖ = B, or the least-squares fit of smallest norm: 2 n d² + O(d³) flops; refinement as for the penalised form."""
    return landmarked.in_ball(problem, max_iter)


@solver("closed-form", solves=KernelRegression, summary="c = ΣKy/ΣK, one product with K", rank=10)
def kernel_means(problem: KernelRegression, *, tol: float) -> Iterator[Iterate]:
    """c_q = ȳ + Σ_i K_qi (y_i − ȳ) / Σ_i K_qi: 2 m n flops."""
    c = weighted_mean.weighted_means(problem.similarities, problem.targets)
    yield Iterate({"c": c}, problem.multipliers({"c": c}), 0.0)
