"""The equivalences of the paper in closed form: M-RLSR and KRR (Proposition 5.1), KRR and KRR with λ/|Z|, Tikhonov and Ivanov."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from simopt.core import validate
from simopt.core.errors import InvalidProblem
from simopt.equivalence.equivalence import Equivalence, Strength, equivalence
from simopt.equivalence.family import Interval
from simopt.equivalence.gram_spectrum import EPS
from simopt.equivalence.training import TrainingSet
from simopt.solvers.squares.secular import secular_root
from simopt.theorems.ak.families import (
    eigensystem,
    kernel_ridge,
    kernel_ridge_ball,
    kernel_ridge_over_n,
    least_norm,
    m_power_rls,
    m_power_rls_ball,
    on_sphere,
)


def no_signal(Z: TrainingSet) -> str | None:
    """Why KRR and M-RLSR have no path to compare on Z: K Y = 0, to rounding."""
    seen = np.sqrt(Z.spectrum.values) * Z.coordinates
    largest = math.sqrt(float(Z.spectrum.values[-1])) * float(np.linalg.norm(Z.targets))
    if float(np.linalg.norm(seen)) <= 16 * EPS * largest:
        return "K Y = 0, so both families are 0 for every parameter and any bijection maps one to the other"
    return None


def _exp(logarithm: float) -> float:
    """e^x; for m near 1 the parameters that correspond to each other can lie 10^4 orders apart."""
    if math.isfinite(logarithm) and abs(logarithm) > 700.0:
        raise OverflowError(f"the parameter e^{logarithm:.6g} is outside the range of float64")
    return math.exp(logarithm)


@equivalence("m-power-rls-to-kernel-ridge", summary="M-RLSR(m) → KRR, Φ = (mλ/2) C₀(Z, m, λ); weak, strong only for m = 2")
def m_power_rls_to_kernel_ridge(power: float = 3.0) -> Equivalence:
    r"""M-RLSR(m) → KRR with Φ(λ, Z) = (mλ/2) C_0, C_0 = ‖f_Z‖^{m−2}; back λ = 2 λ_2 / (m ‖f_{KRR, λ_2}‖^{m−2}).

    A bijection of (0, ∞) for every m > 1 when K Y ≠ 0: d log λ / d log λ_2 lies between min(1, m − 1) and max(1, m − 1).
    Source: Proposition 5.1, with the hypothesis K Y ≠ 0 that it needs.
    """
    m = validate.positive("power", power)
    source, target = m_power_rls(m), kernel_ridge()

    def forth(lam: float, Z: TrainingSet) -> float:
        return _exp(secular_root(eigensystem(Z).spectrum, lam, m).log_mu - math.log(Z.n))

    def back(ridge: float, Z: TrainingSet) -> float:
        log_norm = secular_root(eigensystem(Z).spectrum, ridge, 2.0).log_norm
        return _exp(math.log(2.0 * ridge / m) - (m - 2.0) * log_norm)

    return Equivalence(
        name=f"M-RLSR({m:g}) to KRR",
        source=source,
        target=target,
        map=forth,
        inverse=back,
        strength=Strength.STRONG if m == 2 else Strength.WEAK,
        accuracy=1e-14 / min(1.0, m - 1.0),
        exists=no_signal,
    )


@equivalence("kernel-ridge-to-kernel-ridge-over-n", summary="KRR → KRR with λ/|Z|, Φ = λ|Z|; strong among sets of one size")
def kernel_ridge_to_over_n() -> Equivalence:
    """KRR → modified KRR with Φ(λ, Z) = λ |Z| (the example after Definition 4.2): one map for all sets of one size, not for two sizes."""
    return Equivalence(
        name="KRR to KRR over |Z|",
        source=kernel_ridge(),
        target=kernel_ridge_over_n(),
        map=lambda lam, Z: lam * Z.n,
        inverse=lambda lam, Z: lam / Z.n,
        strength=Strength.SAME_SIZE,
        accuracy=2 * EPS,
        exists=no_signal,
    )


@equivalence("tikhonov-to-ivanov", summary="KRR → KRR in a ball, r = ‖f_λ‖, onto (0, ‖f₀‖) when K Y ≠ 0; weak")
def tikhonov_to_ivanov() -> Equivalence:
    """KRR → least squares in a ball with Φ(λ, Z) = ‖f_λ‖, a decreasing bijection of (0, ∞) onto (0, ‖f_0‖).

    Not onto (0, ∞): a ball of radius r ≥ ‖f_0‖ gives f_0, which no λ > 0 does. Source: remark after Definition 3.4, on its true range.
    """

    def radius(lam: float, Z: TrainingSet) -> float:
        return math.exp(secular_root(eigensystem(Z).spectrum, lam, 2.0).log_norm)

    def multiplier(r: float, Z: TrainingSet) -> float:
        if r >= least_norm(Z):
            raise InvalidProblem(f"no λ > 0 gives the ball of radius {r:.6g}: the norms of KRR stay below ‖f₀‖ = {least_norm(Z):.6g}")
        return math.exp(on_sphere(eigensystem(Z).spectrum, math.log(r)) - math.log(Z.n))

    return Equivalence(
        name="Tikhonov to Ivanov",
        source=kernel_ridge(),
        target=kernel_ridge_ball(),
        map=radius,
        inverse=multiplier,
        target_interval=lambda Z: Interval(0.0, least_norm(Z)),
        accuracy=4e-14,
        exists=no_signal,
    )


@equivalence("m-power-rls-to-m-power-rls", summary="M-RLSR(m₁) → M-RLSR(m₂) through KRR; weak, strong only for m₁ = m₂")
def m_power_rls_to_m_power_rls(source: float = 1.5, target: float = 3.0) -> Equivalence:
    """M-RLSR(m_1) → KRR → M-RLSR(m_2): the composition of Proposition 5.1 with its inverse."""
    through = m_power_rls_to_kernel_ridge(source).then(m_power_rls_to_kernel_ridge(target).inverted())
    strength = Strength.STRONG if source == target else Strength.WEAK
    return replace(through, name=f"M-RLSR({source:g}) to M-RLSR({target:g})", strength=strength)


@equivalence("m-power-tikhonov-to-ivanov", summary="M-RLSR(m) → M-RLSR(m) in a ball, ρ = ‖f_λ‖^m, onto (0, ‖f₀‖^m) when K Y ≠ 0; weak")
def m_power_tikhonov_to_ivanov(power: float = 3.0) -> Equivalence:
    """M-RLSR(m) → KRR → KRR in a ball → M-RLSR(m) in a ball."""
    through = m_power_rls_to_kernel_ridge(power).then(tikhonov_to_ivanov()).then(ball_to_power_ball(power))
    return replace(through, name=f"Tikhonov to Ivanov, m = {power:g}")


@equivalence("kernel-ridge-ball-to-m-power-rls-ball", summary="‖f‖ ≤ r → ‖f‖^m ≤ ρ, ρ = r^m; strong")
def ball_to_power_ball(power: float = 3.0) -> Equivalence:
    """The same ball written by its radius or by the m-th power of it: strongly equivalent, on every Z."""
    m = validate.positive("power", power)
    return Equivalence(
        name=f"radius to its power {m:g}",
        source=kernel_ridge_ball(),
        target=m_power_rls_ball(m),
        map=lambda r, Z: r**m,
        inverse=lambda level, Z: level ** (1.0 / m),
        strength=Strength.STRONG,
        accuracy=4 * EPS * max(1.0, 1.0 / m),
    )
