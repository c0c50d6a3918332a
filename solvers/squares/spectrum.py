"""A Gram matrix as a vector of targets meets it: eigenvalues, coordinates of y, and the way back to coefficients."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from simopt.core.arrays import Array

EPSILON = float(np.finfo(np.float64).eps)
DROWNED = 0.03  # relative error of aᵀKa that is put up with: the gap feels its square, but what is left out to the first power
SMALLEST = 1e-100  # eigenvalues below this fraction of the largest are zero: their squares would leave the range of float64


@dataclass(frozen=True, eq=False)
class Spectrum:
    r"""The pairs (d_i, b_i) of K = Q diag(d) Qᵀ, b = Qᵀy, that decide every kernel least-squares fit with a penalty on ‖f‖ alone.

    With μ > 0 and a(μ) = (K + μI)⁻¹ y:   t(μ)² = aᵀKa = Σ d_i b_i² / (d_i + μ)²,   ‖y − Ka‖² = Σ b_i² μ² / (d_i + μ)² + ν².

    Everything is kept in natural units, so that neither huge nor tiny data overflow: d is divided by e^`log_size`, b by e^`log_height`.

    Attributes
    ----------
    values, energies : Array (r,)
        d_i and b_i² of the part that counts (d_i > 0, b_i ≠ 0), in natural units, d ascending.
    rest : float
        ν², the energy of y in the null space of K, in natural units.
    log_size, log_height : float
        logarithms of the units: the largest eigenvalue and the largest |b_i|.
    samples : int
        n.
    """

    values: Array
    energies: Array
    rest: float
    log_size: float
    log_height: float
    samples: int

    @property
    def empty(self) -> bool:
        """Whether Ky = 0 (to rounding), so that f = 0 is the only fit."""
        return self.values.size == 0

    @property
    def unit(self) -> float:
        """log of the unit of ‖f‖: t = e^unit · t in natural units."""
        return self.log_height - 0.5 * self.log_size

    def log_level(self, regularization: float, power: float) -> float:
        """κ with  log μ = κ + (m − 2) log t  in natural units; this is log(n λ m / 2) in the units of the data."""
        level = math.log(0.5 * self.samples) + math.log(regularization) + math.log(power)
        return level + (power - 2.0) * self.unit - self.log_size


def spectrum(
    eigenvalues: Array, coordinates: Array, *, samples: int | None = None, floor: float | None = None, rest: float = 0.0
) -> Spectrum:
    """Bring (d, b) into natural units; eigenvalues at or below floor · max d (default n ε) count as zero. O(n).

    Negative eigenvalues are rounding errors of a positive semidefinite matrix, so they fall below the floor as well. `rest` is energy
    of y, in the units of b², that lies outside the given coordinates.
    """
    n = eigenvalues.size if samples is None else samples
    share = n * EPSILON if floor is None else floor
    size = float(np.max(eigenvalues, initial=0.0))
    height = float(np.max(np.abs(coordinates), initial=0.0))
    if size <= 0.0 or height <= 0.0:
        unit = max(height, math.sqrt(rest))
        scaled = coordinates / unit if unit > 0.0 else coordinates
        none = np.zeros(0)
        return Spectrum(none, none, float(scaled @ scaled) + (rest / unit / unit if unit > 0.0 else 0.0), 0.0, _log(unit), n)
    values = eigenvalues / size
    energies = np.square(coordinates / height)
    positive = values > max(share, SMALLEST)
    counts = positive & (energies > SMALLEST**2)
    lost = float(np.sum(energies[~positive])) + rest / height / height
    order = np.argsort(values[counts], kind="stable")
    return Spectrum(values[counts][order], energies[counts][order], lost, math.log(size), math.log(height), n)


def _log(x: float) -> float:
    return math.log(x) if x > 0.0 else 0.0


@dataclass(frozen=True, eq=False)
class Eigensystem:
    """K = Q diag(d) Qᵀ with b = Qᵀy; n² numbers, from one symmetric eigendecomposition."""

    vectors: Array
    eigenvalues: Array
    coordinates: Array

    @property
    def spectrum(self) -> Spectrum:
        """The part of (d, b) that decides the fits."""
        return spectrum(self.eigenvalues, self.coordinates)

    def coefficients(self, log_mu: float) -> Array:
        """a = (K + μI)⁻¹ y for μ = e^log_mu > 0, without its part in the null space of K if that drowns aᵀKa; O(n²).

        For μ so large that it overflows, a underflows to 0, as it should.
        """
        d = np.maximum(self.eigenvalues, 0.0)
        weights = resolvent(d, self.coordinates, log_mu)
        result: Array = self.vectors @ np.where(drowning(d, weights), 0.0, weights)
        return result

    def residual(self, log_mu: float) -> Array:
        """y − Ka = μ (K + μI)⁻¹ y, also for log μ = ±∞: the part of y outside the range of K, or y itself; O(n²)."""
        d = np.maximum(self.eigenvalues, 0.0)
        if log_mu == -math.inf:
            result: Array = self.vectors @ np.where(self.significant, 0.0, self.coordinates)
            return result
        if log_mu == math.inf:
            return self.vectors @ self.coordinates
        largest = float(np.max(d, initial=0.0))
        if largest > 0.0 and log_mu <= math.log(largest):
            mu = math.exp(log_mu)
            filters = np.divide(mu, d + mu, out=np.ones_like(d), where=d > 0.0)
        else:
            filters = 1.0 / (1.0 + d * math.exp(min(-log_mu, 700.0)))
        return self.vectors @ (filters * self.coordinates)

    @property
    def significant(self) -> NDArray[np.bool_]:
        """Which eigenvalues count: those above n ε max d."""
        return self.eigenvalues > self.eigenvalues.size * EPSILON * float(np.max(self.eigenvalues, initial=0.0))

    def least_norm(self) -> Array:
        """a = K⁺y: the coefficients of the least-squares fit of smallest norm, eigenvalues ≤ n ε max d taken as zero; O(n²)."""
        scaled = np.divide(self.coordinates, self.eigenvalues, out=np.zeros_like(self.coordinates), where=self.significant)
        result: Array = self.vectors @ scaled
        return result


def drowning(d: Array, weights: Array) -> NDArray[np.bool_]:
    """Which parts of a = Σ weights_i q_i to leave out: those with d_i ≤ n ε max d, if their norm makes aᵀKa a rounding error.

    They do not change f. With a₀ their sum, aᵀKa = Σ d_i weights_i² has an error of about ε max d ‖a₀‖², and μ being small, a₀ = y₀/μ is
    large.
    """
    largest = float(np.max(d, initial=0.0))
    small = d <= d.size * EPSILON * largest
    square = float(np.sum(d * np.square(weights)))
    if EPSILON * largest * float(np.sum(np.square(weights[small]))) <= DROWNED * square:
        return np.zeros(d.shape, dtype=bool)
    return small


def resolvent(d: Array, b: Array, log_mu: float) -> Array:
    """b_i / (d_i + μ) without forming a μ that overflows."""
    largest = float(np.max(d, initial=0.0))
    if largest > 0.0 and log_mu <= math.log(largest):
        mu = math.exp(log_mu)
        return np.divide(b, d + mu, out=np.zeros_like(b), where=d + mu > 0.0)
    shrink = math.exp(min(-log_mu, 700.0))
    return b * shrink / (1.0 + d * shrink)


def decompose(gram: Array, targets: Array) -> Eigensystem:
    """One symmetric eigendecomposition, about 9 n³ flops; 3 n² numbers of memory while it runs. The inputs are not changed."""
    import scipy.linalg

    values, vectors = scipy.linalg.eigh(gram, driver="evd", check_finite=False)
    return Eigensystem(vectors, values, vectors.T @ targets)
