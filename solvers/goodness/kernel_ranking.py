r"""The kernel form of rankings on a finite domain of lists, by its linear system.

With S = diag(√(mμ)) over the documents in lists the paper's α = (PK + I/(2mC))⁻¹ P r̃ is α = Sβ, (SKS + I/(2C)) β = S r̃. Its matrix is
symmetric and positive definite: one Cholesky factorisation, N³/3 flops. The residual ρ of that system leaves the gap C‖ρ‖².
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from simopt.core.arrays import Array
from simopt.problems.kernel_ranking import KernelRanking
from simopt.solvers.squares.power_gap import symmetric_product
from simopt.solvers.squares.shifted import factor
from simopt.solving.solution import Iterate


def refined(problem: KernelRanking, max_iter: int) -> Iterator[Iterate]:
    """β = (SKS + I/(2C))⁻¹ S r̃ and α = Sβ: N³/3 flops; every further iterate is a step of refinement, 4 N² flops.

    If the matrix is not positive definite to rounding, the eigendecomposition of SKS is used, whose negative eigenvalues count as 0.
    """
    present = np.flatnonzero(problem.document_mass > 0.0)
    root = np.sqrt(problem.document_mass[present])
    gram = np.asfortranarray(problem.gram[np.ix_(present, present)] * root * root[:, None])
    target, shift = root * problem.expected[present], 0.5 / problem.cost
    inverse = factor(gram, shift) or SpectralInverse(gram, shift)
    beta = inverse(target)
    for _ in range(max_iter):
        residual = target - symmetric_product(gram, beta) - shift * beta
        alpha = np.zeros(len(problem.gram))
        alpha[present] = root * beta
        point = {"alpha": alpha}
        multipliers = problem.multipliers(point)
        yield Iterate(point, multipliers, float(problem.gap(point, multipliers)))
        beta = beta + inverse(residual)


class SpectralInverse:
    """v ↦ (Q max(D, 0) Qᵀ + shift·I)⁻¹ v."""

    def __init__(self, gram: Array, shift: float) -> None:
        values, self.vectors = np.linalg.eigh(gram)
        self.document_mass = 1.0 / (np.maximum(values, 0.0) + shift)

    def __call__(self, v: Array) -> Array:
        out: Array = self.vectors @ (self.document_mass * (self.vectors.T @ v))
        return out
