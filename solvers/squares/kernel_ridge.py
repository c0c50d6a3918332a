"""Solvers of kernel ridge regression: one Cholesky factorisation, or one eigendecomposition."""

from __future__ import annotations

import math
from collections.abc import Iterator

from simopt.problems.kernel_ridge import KernelRidge
from simopt.solvers.squares.power_gap import column_major, power_bracket, symmetric_product
from simopt.solvers.squares.shifted import factor
from simopt.solvers.squares.spectrum import decompose
from simopt.solving.solution import Iterate
from simopt.solving.solver import solver


@solver("cholesky", solves=KernelRidge, summary="one Cholesky factorisation of K + nλI, refined until the certificate closes", rank=10)
def cholesky(problem: KernelRidge, *, tol: float, max_iter: int = 4) -> Iterator[Iterate]:
    """a = (K + nλI)⁻¹ y: n³/3 flops, n² numbers of workspace; every further iterate is a step of iterative refinement, 4 n² flops.

    If K + nλI is not positive definite to rounding, the eigendecomposition is used instead.
    """
    gram = column_major(problem.gram)
    mu = problem.targets.size * problem.regularization
    inverse = factor(gram, mu)
    if inverse is None:
        yield from eigen(problem, tol=tol)
        return
    a = inverse(problem.targets)
    for _ in range(max_iter):
        residual = problem.targets - symmetric_product(gram, a) - mu * a
        # the gap of a and v = 2λa is (1/n) ‖y − (K + nλI)a‖²
        yield Iterate({"alpha": a}, {"predictions": 2.0 * problem.regularization * a}, float(residual @ residual) / a.size)
        a = a + inverse(residual)


@solver("eigen", solves=KernelRidge, summary="one eigendecomposition of K; the dearer way, which knows every λ at once")
def eigen(problem: KernelRidge, *, tol: float) -> Iterator[Iterate]:
    """a = Q (D + nλI)⁻¹ Qᵀy, negative eigenvalues taken as 0: about 9 n³ flops, 3 n² numbers."""
    system = decompose(problem.gram, problem.targets)
    n = problem.targets.size
    log_mu = math.log(n) + math.log(problem.regularization)
    a, v = system.coefficients(log_mu), system.residual(log_mu) * (2.0 / n)
    bracket = power_bracket(problem.gram, a, problem.targets, log_mu, problem.regularization, 2.0, v)
    yield Iterate({"alpha": a}, {"predictions": v}, bracket.gap)
