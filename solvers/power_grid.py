r"""All fits on a (λ, m) grid from one eigendecomposition.

After K = Q diag(d) Qᵀ every pair costs one secular root: two or three passes over the r ≤ n eigenvalues that count. Along λ the root is
started from the tangent at the previous λ, for every m. With G of solvers/secular.py, the ratio ρ of `power_gap` is e^G, so the gap in
the eigenbasis, λ tᵐ φ(e^G), comes free. Only a 2r + O(1) part of the decomposition is read; fits are formed on request, n² flops each.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from simopt.errors import InvalidProblem
from simopt.kernel import kernel
from simopt.solvers.power_gap import Bracket, power_bracket, young
from simopt.solvers.secular import SecularRoot, asymptotic_tangent, path_point, tangent_secular, vanishes
from simopt.solvers.spectrum import Eigensystem, Spectrum, decompose
from simopt.typing import Array


@kernel
def _sweep(
    values: Array, energies: Array, kappas: Array, m: float, log_a: float, log_d: float, out: Array, counts: Array
) -> bool:
    """Roots for one m and λ in sequence: rows of out are s, log t and the residual energy."""
    settled = True
    for j in range(kappas.size):
        s, log_t, log_a, log_d, residual, count, converged = tangent_secular(values, energies, kappas[j], m, log_a, log_d)
        out[0, j] = s
        out[1, j] = log_t
        out[2, j] = residual
        counts[j] = count
        settled = settled and converged
    return settled


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
    evaluations: np.ndarray[tuple[int, int], np.dtype[np.int64]]
    system: Eigensystem | None = None

    def coefficients(self, row: int, column: int) -> Array:
        """a = (K + μI)⁻¹ y of one pair; n² flops."""
        if self.system is None:
            raise InvalidProblem("grid: made from a spectrum alone, coefficients need the eigenvectors (use power_grid)")
        if self.log_norm[row, column] == -math.inf:
            return np.zeros_like(self.system.coordinates)
        return self.system.coefficients(float(self.log_mu[row, column]))

    def certify(self, row: int, column: int, gram: Array, targets: Array) -> Bracket:
        """Bounds on the optimum of one pair, computed with K itself; 2 n² flops more."""
        a = self.coefficients(row, column)
        lam, m = float(self.regularizations[column]), float(self.powers[row])
        return power_bracket(gram, a, targets, float(self.log_mu[row, column]), lam, m)


def power_grid(gram: Array, targets: Array, regularizations: Array, powers: Array) -> PowerGrid:
    """Solve min (1/n) ‖y − Ka‖² + λ (aᵀKa)^{m/2} for every λ > 0 and m ≥ 1 given; about 9 n³ flops plus some 3 r flops·20 a pair."""
    system = decompose(gram, targets)
    return spectral_grid(system.spectrum, regularizations, powers, system)


def spectral_grid(spectrum: Spectrum, regularizations: Array, powers: Array, system: Eigensystem | None = None) -> PowerGrid:
    """The same from a spectrum that is there already.

    Raises
    ------
    InvalidProblem
        a regularization that is not positive or a power below 1.
    """
    lam = np.atleast_1d(np.asarray(regularizations, dtype=np.float64))
    m = np.atleast_1d(np.asarray(powers, dtype=np.float64))
    if not (lam.size and np.all(lam > 0.0) and np.all(np.isfinite(lam))):
        raise InvalidProblem("regularizations: finite numbers > 0 needed")
    if not (m.size and np.all(m >= 1.0) and np.all(np.isfinite(m))):
        raise InvalidProblem("powers: finite numbers ≥ 1 needed; for powers below 1 use stationary_points")
    shape = (m.size, lam.size)
    s, log_t, residual = np.full(shape, np.nan), np.full(shape, -math.inf), np.full(shape, float(np.sum(spectrum.energies)))
    counts = np.zeros(shape, dtype=np.int64)
    order = np.argsort(lam)[::-1]  # μ falls with λ: from large to small the first tangent, that at infinity, is the right one
    for i, power in enumerate(m.tolist()):
        kappas = np.array([spectrum.log_level(float(lam[j]), power) for j in order])
        found = np.array([not vanishes(spectrum, kappa, power) for kappa in kappas.tolist()], dtype=bool)
        if power == 2.0:
            s[i, order] = kappas
        elif not np.all(found):
            s[i, order[~found]] = math.copysign(math.inf, 2.0 - power)
        if np.any(found):
            _row(spectrum, kappas[found], power, order[found], s[i], log_t[i], residual[i], counts[i])
    return _assemble(spectrum, lam, m, s, log_t, residual, counts, system)


def _row(
    spectrum: Spectrum, kappas: Array, power: float, columns: np.ndarray[tuple[int], np.dtype[np.int64]],
    s: Array, log_t: Array, residual: Array, counts: np.ndarray[tuple[int], np.dtype[np.int64]],
) -> None:
    out = np.empty((3, kappas.size))
    number = np.empty(kappas.size, dtype=np.int64)
    if power == 2.0:
        for j, kappa in enumerate(kappas.tolist()):
            point = path_point(spectrum.values, spectrum.energies, kappa)
            out[:, j] = kappa, point[0], point[4]
        number[:] = 1
    elif not _sweep(spectrum.values, spectrum.energies, kappas, power, *asymptotic_tangent(spectrum), out, number):
        raise ArithmeticError(f"the secular equation did not converge on the grid (m = {power})")
    s[columns], log_t[columns], residual[columns] = out
    counts[columns] = number


def _assemble(
    spectrum: Spectrum, lam: Array, m: Array, s: Array, log_t: Array, residual: Array,
    counts: np.ndarray[tuple[int, int], np.dtype[np.int64]], system: Eigensystem | None,
) -> PowerGrid:
    unit = math.exp(2.0 * spectrum.log_height) / spectrum.samples
    mean_square = (residual + spectrum.rest) * unit
    log_norm = log_t + spectrum.unit
    penalty = np.exp(np.log(lam)[None, :] + m[:, None] * log_norm)
    gap = np.zeros(s.shape)
    for i, power in enumerate(m.tolist()):
        for j in np.flatnonzero(np.isfinite(log_t[i])).tolist():
            log_rho = float(s[i, j] - (power - 2.0) * log_t[i, j]) - spectrum.log_level(float(lam[j]), power)
            gap[i, j] = penalty[i, j] * (young(log_rho, power) if power > 1.0 else max(0.0, -math.expm1(log_rho)))
    return PowerGrid(lam, m, s + spectrum.log_size, log_norm, mean_square + penalty, mean_square, gap, counts, system)


def root_of(grid: PowerGrid, row: int, column: int) -> SecularRoot:
    """One cell of a grid as a root."""
    return SecularRoot(float(grid.log_mu[row, column]), float(grid.log_norm[row, column]), int(grid.evaluations[row, column]))
