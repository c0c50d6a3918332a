r"""All stationary points of (1/n) ‖y − Ka‖² + λ (aᵀKa)^{m/2} for 0 < m ≤ 1, and the global minimiser, certified.

For m < 1 the problem is not convex, but its solutions still lie on the ridge path a(μ) = (K + μI)⁻¹ y: for a given ‖f‖ the best f is there.
So every stationary f ≠ 0 is a root of the one function G(s) = s − (m − 2) log t(e^s) − κ of solvers/squares/secular.py, now with

    G′ = 1 − (2 − m) w  in [m − 1, 1].

G tends to −∞ on both sides, so the roots come in pairs: none or two as a rule, four for clustered spectra (solvers/power/isolation.py finds
them all). f = 0 is always a local minimiser for m < 1; a root is one iff G′ > 0 there.

m = 1 is convex: f = 0 iff λ ≥ (2/n) √(yᵀKy), else G′ = 1 − w > 0 and there is one root.

The global minimiser is found by comparing P(f) − P(0), in natural units (1/n of them)

    −Σ c_i (d_i + 2μ) / (d_i + μ)² + n λ tᵐ,   c_i = d_i b_i²,

with bounds on its rounding and, since dP/ds = 2 w μ t² (1 − e^{−G}) along the path, on what the root's error does to it. Points that
the bounds do not separate are reported as tied, the smallest norm first.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from simopt.core import validate
from simopt.core.arrays import Array
from simopt.core.errors import InvalidProblem
from simopt.problems.norms import norm_power
from simopt.solvers.power.isolation import UNIT, Isolated, isolate
from simopt.solvers.squares.secular import path_point, secular_root, vanishes
from simopt.solvers.squares.spectrum import Eigensystem, Spectrum, decompose


@dataclass(frozen=True)
class StationaryPoint:
    """One stationary point f ≠ 0, or f = 0 (log μ = ∞, log norm = −∞, value 0).

    Attributes
    ----------
    log_mu, log_norm : float
        log μ and log ‖f‖ in the units of the data.
    low, high : float
        an interval of log μ that holds it (and, for kind "double", the one to two roots that could not be told apart).
    kind : str
        "minimum", "maximum" (along the ridge path, a saddle or maximum of P) or "double".
    value, error : float
        P(f) − P(0) and a bound on the error of that number.
    """

    log_mu: float
    log_norm: float
    low: float
    high: float
    kind: str
    value: float
    error: float


ZERO = StationaryPoint(math.inf, -math.inf, math.inf, math.inf, "minimum", 0.0, 0.0)


@dataclass(frozen=True, eq=False)
class StationaryPoints:
    """Every stationary point on the ridge path (log μ ascending; f = 0 last where it is one) and the global minimisers.

    `minimisers` holds one point, or several that rounding-error bounds cannot separate, the smallest norm first: `tied` says so.
    `evaluations` counts evaluations of t(μ), O(n) each.
    """

    points: tuple[StationaryPoint, ...]
    minimisers: tuple[StationaryPoint, ...]
    evaluations: int
    system: Eigensystem | None = None

    @property
    def tied(self) -> bool:
        """Whether several points could be the global minimiser."""
        return len(self.minimisers) > 1

    def coefficients(self, point: StationaryPoint) -> Array:
        """a = (K + μI)⁻¹ y; n² flops."""
        if self.system is None:
            raise InvalidProblem("stationary points: found from a spectrum alone, coefficients need the eigenvectors")
        if point.log_norm == -math.inf:
            return np.zeros_like(self.system.coordinates)
        return self.system.coefficients(point.log_mu)


def stationary_points(gram: npt.ArrayLike, targets: npt.ArrayLike, regularization: float, power: float) -> StationaryPoints:
    """All stationary points for 0 < m ≤ 1: about 9 n³ flops for the eigendecomposition, then O(n) for each of some 50 evaluations.

    Raises
    ------
    InvalidProblem
        data that are not finite or disagree in size, λ ≤ 0, or m outside (0, 1].
    """
    regularization, power = (
        validate.finite("regularization", regularization),
        norm_power.representable("power", validate.finite("power", power)),
    )
    system = decompose(*validate.kernel_data(gram, targets))
    return spectral_stationary_points(system.spectrum, regularization, power, system)


def spectral_stationary_points(
    spectrum: Spectrum, regularization: float, power: float, system: Eigensystem | None = None
) -> StationaryPoints:
    """The same from a spectrum that is there already."""
    if not (0.0 < power <= 1.0):
        raise InvalidProblem(f"power: {power} given, a number in (0, 1] needed; for powers above 1 the minimiser is unique (power_fit)")
    if not (regularization > 0.0 and math.isfinite(regularization)):
        raise InvalidProblem(f"regularization: {regularization} given, a finite number > 0 needed")
    kappa = spectrum.log_level(regularization, power)
    if spectrum.empty or (power == 1.0 and vanishes(spectrum, kappa, power)):
        return StationaryPoints((ZERO,), (ZERO,), 0, system)
    if power == 1.0:
        root = secular_root(spectrum, regularization, power)
        s = root.log_mu - spectrum.log_size
        points = (_described(spectrum, kappa, power, Isolated(s, 4.0 * UNIT * (1.0 + abs(s)), 0.0, True, True)),)
        return StationaryPoints(points, points, root.evaluations + 1, system)
    roots, count = isolate(spectrum.values, spectrum.energies, kappa, power)
    found = sorted((_described(spectrum, kappa, power, root) for root in roots), key=lambda p: p.log_mu)
    candidates = (*found, ZERO)
    return StationaryPoints(candidates, _best(candidates), count + len(found), system)


def _best(candidates: tuple[StationaryPoint, ...]) -> tuple[StationaryPoint, ...]:
    minima = [p for p in candidates if p.kind != "maximum"]
    bound = min(p.value + p.error for p in minima)
    return tuple(sorted((p for p in minima if p.value - p.error <= bound), key=lambda p: p.log_norm))


def _described(spectrum: Spectrum, kappa: float, m: float, root: Isolated) -> StationaryPoint:
    """Norm and objective at a root, with the error of the objective."""
    s = root.s
    log_t = path_point(spectrum.values, spectrum.energies, s)[0]
    d = spectrum.values
    if s <= 0.0:
        mu = math.exp(s)
        gains = spectrum.energies * d * (d + 2.0 * mu) / np.square(d + mu)
    else:
        inverse = math.exp(-s)
        gains = spectrum.energies * d * inverse * (d * inverse + 2.0) / np.square(1.0 + d * inverse)
    gain = float(np.sum(gains))
    penalty = math.exp(kappa + math.log(2.0 / m) + m * log_t)
    sums = (d.size + 20.0) * UNIT
    rounding = sums * gain + penalty * (m * sums + 8.0 * UNIT * (4.0 + abs(kappa) + abs(m * log_t)))
    drift = math.exp(min(700.0, s + 2.0 * log_t + 2.0 * root.radius)) * 2.0 * math.expm1(root.slack) * root.radius
    unit = math.exp(2.0 * spectrum.log_height) / spectrum.samples
    kind = "double" if not root.simple else ("minimum" if root.rising else "maximum")
    low, high = (x + spectrum.log_size for x in (s - root.radius, s + root.radius))
    return StationaryPoint(
        s + spectrum.log_size, log_t + spectrum.unit, low, high, kind, (penalty - gain) * unit, (rounding + drift) * unit
    )
