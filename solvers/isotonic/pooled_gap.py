r"""The gap of a pooled fit, proven from floats in one pass: what a fit is allowed to say before anyone reads its certificate.

Steps are free (l = 0, u = ∞) or ties, and weights > 0. For x, feasible by comparisons alone, and multipliers τ_i ≤ 0 on free steps and at
both ends,
    P − D = Σ ½w_i ρ_i² + Σ |τ_i| d_i + |τ_0| (x_1 − lo) + |τ_n| (hi − x_n),     ρ_i = x_i − y_i + (τ_{i−1} − τ_i)/w_i,   d_i = 0 at ties
(`simopt.problems.lipschitz_isotonic`). Let u = eps/2, a = x_i − y_i as floats have it, rounded once, and c = (τ_{i−1} − τ_i)/w_i,
rounded twice. The float a + c is off by at most u|a| + 2u|c| + u(|a| + |c|) and what is of second order: less than 2 eps (|a| + |c|). A
term is rounded fewer than ten times more, and all are ≥ 0. So their sum is good to (n + 10) u of itself (Higham 2002, §3.1), here counted
as 2 (n + 8) eps. The part below the smallest floats is at most n times SUNK. If a condition fails, the bound is ∞.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from simopt.core.compiled import kernel
from simopt.problems.lipschitz_isotonic import LipschitzIsotonic

EPS = 2.0**-52
SUNK = 2.0**-500  # of the sums: squares and quotients sink below 2^-1022, weights are at most 2^500


@kernel
def _sums(x: Any, y: Any, w: Any, z: Any, tau: Any, lo: Any, hi: Any) -> Any:
    """Upper ends of the terms of P − D, and P = ½ Σ w (x − y)², both as summed; ∞ where x or τ is not feasible or a weight is 0."""
    n = x.size
    gap, value = 0.0, 0.0
    if not (x[0] >= lo and x[n - 1] <= hi and tau[0] <= 0.0 and tau[n] <= 0.0):
        return np.inf, 0.0
    if (lo == -np.inf and tau[0] != 0.0) or (hi == np.inf and tau[n] != 0.0):
        return np.inf, 0.0
    if tau[0] < 0.0:
        gap += -tau[0] * (x[0] - lo)
    if tau[n] < 0.0:
        gap += -tau[n] * (hi - x[n - 1])
    for i in range(n):
        if not w[i] > 0.0:
            return np.inf, 0.0
        a, c = x[i] - y[i], (tau[i] - tau[i + 1]) / w[i]
        rho = abs(a + c) + 2.0 * EPS * (abs(a) + abs(c))
        gap += 0.5 * w[i] * rho * rho
        value += 0.5 * w[i] * a * a
        if i < n - 1:
            d = x[i + 1] - x[i]
            if z[i + 1] > z[i]:
                if not (d >= 0.0 and tau[i + 1] <= 0.0):
                    return np.inf, 0.0
                gap += -tau[i + 1] * d
            elif d != 0.0:
                return np.inf, 0.0
    return gap, value


def relative_gap(problem: LipschitzIsotonic, x: Any, tau: Any) -> float:
    """A proven bound on gap / P(x) of the fit x (n,) with the multipliers τ (n + 1,); ∞ where none is known this way. O(n)."""
    if problem.lipschitz < np.inf or problem.lower_slopes is not None or problem.upper_slopes is not None:
        return np.inf
    lo, hi = -np.inf if problem.low is None else problem.low, np.inf if problem.high is None else problem.high
    gap, value = _sums(x, problem.targets, problem.mass, problem.positions, tau, float(lo), float(hi))
    blur = 2.0 * (x.size + 8) * EPS
    bound, unit = gap * (1.0 + blur) + x.size * SUNK, value * (1.0 - blur)
    return bound / unit if np.isfinite(bound) and unit > 0.0 and x.size < 2.0**40 else np.inf
