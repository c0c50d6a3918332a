r"""All fits on a (λ, m) grid from one eigendecomposition.

After K = Q diag(d) Qᵀ every pair costs one secular root: two or three passes over the r ≤ n eigenvalues that count. Along λ the root is
started from the tangent at the previous λ, for every m. With G of solvers/squares/secular.py, the ratio ρ of `power_gap` is e^G, so the gap
in the eigenbasis, λ tᵐ φ(e^G), comes free. Only a 2r + O(1) part of the decomposition is read; fits are formed on request, n² flops each.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from numpy.typing import NDArray

from simopt.core import validate
from simopt.core.arrays import Array
from simopt.core.compiled import kernel
from simopt.core.errors import InvalidProblem
from simopt.solvers.squares.power_gap import GapBracket, power_bracket, touching, young
from simopt.solvers.squares.secular import asymptotic_tangent, path_point, tangent_secular, vanishes
from simopt.solvers.squares.spectrum import Eigensystem, Spectrum, decompose

Integers = NDArray[np.int64]


@kernel
def _sweep(values: Array, energies: Array, kappas: Array, m: float, log_a: float, log_d: float, out: Array, counts: Integers) -> bool:
    """Roots for one m, each λ started from the last tangent: rows of out are s, log t, the residual energy and φ(ρ)."""
    converged_all = True
    for j in range(kappas.size):
        if m == 2.0:
            s, count, converged = kappas[j], 1, True
            log_t, _, log_d, log_a, residual = path_point(values, energies, s)
        else:
            s, log_t, log_a, log_d, residual, count, converged = tangent_secular(values, energies, kappas[j], m, log_a, log_d)
        log_rho = s - (m - 2.0) * log_t - kappas[j]
        out[0, j] = s
        out[1, j] = log_t
        out[2, j] = residual
        out[3, j] = young(log_rho, m) if m > 1.0 else max(0.0, -math.expm1(log_rho))
        counts[j] = count
        converged_all = converged_all and converged
    return converged_all


@dataclass(frozen=True, eq=False)
class PowerGrid:
    """Fits over powers (rows) and regularizations (columns).

    Attributes
    ----------
    regularizations, powers : Array (l,), (k,)
        the grid.
    log_mu, log_norm : Array (k, l)
        log μ and log ‖f‖ (−∞ for f = 0).
    objective, mean_square : Array (k, l)
        value at the optimum and its data term ‖y − Ka‖²/n.
    gap : Array (k, l)
        duality gap in the eigenbasis: what the root's rounding leaves (`certify` judges one fit with K itself).
    evaluations : Array (k, l) of int
        evaluations of t(μ).
    """

    regularizations: Array
    powers: Array
    log_mu: Array
    log_norm: Array
    objective: Array
    mean_square: Array
    gap: Array
    evaluations: Integers
    system: Eigensystem | None = None

    def coefficients(self, row: int, column: int) -> Array:
        """a = (K + μI)⁻¹ y of one pair; n² flops."""
        if self.system is None:
            raise InvalidProblem("grid: made from a spectrum alone, coefficients need the eigenvectors (use power_grid)")
        row, column = self._checked_indices(row, column)
        if self.log_norm[row, column] == -math.inf:
            return np.zeros_like(self.system.coordinates)
        return self.system.coefficients(float(self.log_mu[row, column]))

    def _checked_indices(self, row: int, column: int) -> tuple[int, int]:
        indices = validate.whole("row", row), validate.whole("column", column)
        if indices[0] >= self.powers.size or indices[1] >= self.regularizations.size:
            raise InvalidProblem(
                f"row, column: {indices} given, the grid has only {self.powers.size} rows and {self.regularizations.size} columns"
            )
        return indices

    def certify(self, row: int, column: int, gram: npt.ArrayLike, targets: npt.ArrayLike) -> GapBracket:
        """Bounds on the optimum of one pair, computed with K itself; 6 n² flops more."""
        K, y = validate.kernel_data(gram, targets)
        row, column = self._checked_indices(row, column)
        a = self.coefficients(row, column)
        lam, m, log_mu = float(self.regularizations[column]), float(self.powers[row]), float(self.log_mu[row, column])
        dual = None if self.system is None else self.system.residual(log_mu) * (2.0 / y.size)
        found = power_bracket(K, a, y, log_mu, lam, m, dual)
        if m > 1.0 or found.norm == 0.0:
            return found
        return min(found, power_bracket(K, a, y, touching(K, a, lam), lam, m), key=lambda bracket: bracket.gap)


def power_grid(gram: npt.ArrayLike, targets: npt.ArrayLike, regularizations: npt.ArrayLike, powers: npt.ArrayLike) -> PowerGrid:
    """Solve min (1/n) ‖y − Ka‖² + λ (aᵀKa)^{m/2} for every λ > 0 and m ≥ 1 given.

    It takes about 9 n³ flops plus about three passes over the eigenvalues a pair; 3 n² numbers.

    Raises
    ------
    InvalidProblem
        data that are not finite or disagree in size, an empty grid, a regularization that is not positive, or a power below 1.
    """
    system = decompose(*validate.kernel_data(gram, targets))
    return spectral_grid(system.spectrum, regularizations, powers, system)


def spectral_grid(
    spectrum: Spectrum, regularizations: npt.ArrayLike, powers: npt.ArrayLike, system: Eigensystem | None = None
) -> PowerGrid:
    """The same from a spectrum that is there already.

    Raises
    ------
    InvalidProblem
        a regularization that is not positive or a power below 1.
    """
    lam = validate.grid("regularizations", regularizations, low=0.0, strict=True)
    m = validate.grid("powers", powers, low=1.0, strict=False, hint="; for powers below 1 use stationary_points")
    shape = (m.size, lam.size)
    cells = np.empty((4, *shape))  # s, log t, residual energy, φ(ρ)
    cells[1], cells[2], cells[3] = -math.inf, float(np.sum(spectrum.energies)), 0.0
    counts = np.zeros(shape, dtype=np.int64)
    order = np.argsort(lam)[::-1]  # from large λ to small: the tangent at μ = ∞ is the right one to start with
    for i, power in enumerate(m.tolist()):
        kappas = spectrum.log_level(1.0, power) + np.log(lam[order])
        cells[0, i, order] = kappas if power == 2.0 else math.copysign(math.inf, 2.0 - power)
        kept = np.array([not vanishes(spectrum, kappa, power) for kappa in kappas.tolist()], dtype=bool)
        if not np.any(kept):
            continue
        out, number = np.empty((4, int(np.sum(kept)))), np.empty(int(np.sum(kept)), dtype=np.int64)
        if not _sweep(spectrum.values, spectrum.energies, kappas[kept], power, *asymptotic_tangent(spectrum), out, number):
            raise ArithmeticError(f"the secular equation did not converge on the grid (m = {power})")
        cells[:, i, order[kept]] = out
        counts[i, order[kept]] = number
    mean_square = (cells[2] + spectrum.rest) * (math.exp(2.0 * spectrum.log_height) / spectrum.samples)
    log_norm = cells[1] + spectrum.unit
    penalty = np.exp(np.log(lam)[None, :] + m[:, None] * log_norm)
    return PowerGrid(lam, m, cells[0] + spectrum.log_size, log_norm, mean_square + penalty, mean_square, penalty * cells[3], counts, system)
