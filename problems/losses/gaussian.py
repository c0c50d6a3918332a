r"""The normal distribution function Φ and its density in any arithmetic, and Φ as a mixture of logistic functions, which CVXPY can express.

With σ(t) = 1/(1 + e^{−t}), the density of σ(·/h) has the Fourier transform πhω/sinh(πhω). Dividing that of the normal density φ by it gives
    Φ(t) = ∫ g(a) σ((t − a)/h) da,    g(a) = (1/2πh) ∫_{−πh}^{πh} φ(a + is) ds = φ(a) (1/2πh) ∫ e^{s²/2} cos(as) ds.
This is positive for |a| < 1/h and below 1e-9 beyond. The trapezoidal rule with step Δ is off by about e^{−2π²h/Δ}, for σ(·/h) is analytic
at distances below πh from the real line.
"""

from __future__ import annotations

import math

import numpy as np

from simopt.arithmetic import FLOAT, Arithmetic, Value
from simopt.arithmetic.base import NotRational
from simopt.arithmetic.interval import EPS, TINY, Interval, as_interval
from simopt.arithmetic.precision import workprec
from simopt.core.arrays import Array

FARTHEST = 37.0  # Φ(−37) is near the smallest normal float
WIDTH, SPACING = 0.16, 0.2  # h and Δ


def cdf(num: Arithmetic, t: Value) -> Value:
    """Φ(t), elementwise; enclosures by `flint.arb` at 128 bits."""
    if num is FLOAT:
        from scipy.special import ndtr

        return ndtr(t)
    _refuse(num)
    ball = as_interval(t)
    low, high = ball.low, ball.high
    ends = [np.reshape([_bounds(float(v))[side] for v in np.ravel(end)], end.shape) for side, end in enumerate((low, high))]
    return Interval.hull(ends[0], ends[1])


def density(num: Arithmetic, t: Value) -> Value:
    """φ(t) = e^{−t²/2}/√(2π), elementwise."""
    bell = num.exp(t * t * -0.5)
    if num is FLOAT:
        return bell * _PEAK
    _refuse(num)
    return bell * Interval(_PEAK, 2 * EPS)


_PEAK = 1.0 / math.sqrt(2.0 * math.pi)


def _refuse(num: Arithmetic) -> None:
    if num.name != "interval":
        raise NotRational("the normal distribution is not rational; use INTERVAL")


def _bounds(t: float) -> tuple[float, float]:
    """Floats below and above Φ(t)."""
    if not np.isfinite(t):
        return (0.0, 0.0) if t < 0 else (1.0, 1.0)
    import flint

    with workprec(128):
        value = (flint.arb(-t) / flint.arb(2).sqrt()).erfc() / 2
        mid, rad = float(value.mid()), float(value.rad())
    slack = rad + EPS * mid + TINY
    return max(0.0, mid - slack), min(1.0, mid + slack)


def quantile(s: Array) -> Array:
    """Φ^{−1}(s) in floats, kept within ±37, where Φ is 0 or 1 for all that matters."""
    from scipy.special import ndtri

    out: Array = np.clip(ndtri(s), -FARTHEST, FARTHEST)
    return out


def mixture() -> tuple[Array, Array]:
    """Nodes a_k and shares p_k > 0 with Σ p_k = 1 and Φ(t) ≈ Σ p_k σ((t − a_k)/h), h = WIDTH, to 2e-7, and its integral to 1e-8."""
    count = int(1.0 / (WIDTH * SPACING))
    nodes = SPACING * np.arange(-count, count + 1)
    s, weights = np.polynomial.legendre.leggauss(40)
    s = math.pi * WIDTH * s
    weights = np.exp(-0.5 * nodes**2) * ((np.exp(0.5 * s**2) * np.cos(np.outer(nodes, s))) @ weights)
    nodes, weights = nodes[weights > 0], weights[weights > 0]
    return nodes, weights / weights.sum()
