r"""Least squares along a chain with steps between two bounds, l_i ≤ x_{i+1} − x_i ≤ u_i, and samples that may have no weight.

Two substitutions leave the chain that solvers/isotonic/chain_fit.py solves. With Λ_i = l_1 + … + l_{i−1}, x' = x − Λ (fitted to y − Λ)
has steps in [0, u − l]. As x' does not fall, lo ≤ x ≤ hi says x'_1 ≥ lo and x'_n ≤ hi − Λ_n. A sample of no weight only passes on what
its two steps allow together: they are one step, whose bound is the sum, between the samples of weight. Afterwards the fit is interpolated
there, in proportion to the bounds. If some of these steps have no bound, they alone rise, in proportion to their distances. Before the
first and after the last sample of weight the fit is level.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from simopt.arithmetic import FLOAT
from simopt.core.arrays import Array
from simopt.core.compiled import kernel
from simopt.problems.lipschitz_isotonic import LipschitzIsotonic
from simopt.solvers.isotonic.chain_fit import chain_multipliers, fit_chain


def fit_bounded_chain(
    y: Array,
    w: Array,
    u: Array,
    *,
    least: Array | None = None,
    lo: float = -np.inf,
    hi: float = np.inf,
    positions: Array | None = None,
) -> tuple[Array, Array]:
    """The fit x, shape (n,), and its multipliers τ_0, …, τ_n (see problems/domains/chain.py for their signs).

    Parameters
    ----------
    y, w : (n,) arrays
        targets; weights ≥ 0, not all 0.
    u : (n − 1,) array
        upper bounds ≥ 0, possibly ∞.
    least : (n − 1,) array, optional
        lower bounds, 0 ≤ l ≤ u.
    lo, hi : float
        range of x; Σ l ≤ hi − lo.
    positions : (n,) array, optional
        z; steps without bound share by their lengths in z. Equally long by default.

    O(n) on random data, O(n √n) at worst.
    """
    if least is None:
        return _fit(y, w, u, lo, hi, positions)
    climb = np.concatenate([[0.0], np.cumsum(least)])
    x, tau = _fit(y - climb, w, np.maximum(u - least, 0.0), lo, hi - float(climb[-1]), positions)
    x += climb
    return np.minimum(x, hi, out=x), tau  # hi − Λ_n + Λ_n may be off by rounding


def fit_problem(problem: LipschitzIsotonic) -> tuple[Array, Array]:
    """x and τ of a Lipschitz isotonic fit: samples at one place are joined by a step of 0, and free steps have no bound."""
    u: Array = problem.steps(FLOAT)
    u[problem.free] = np.inf
    return fit_bounded_chain(
        problem.targets,
        problem.mass,
        u,
        least=None if problem.lower_slopes is None else problem.least_steps(FLOAT),
        lo=-np.inf if problem.low is None else problem.low,
        hi=np.inf if problem.high is None else problem.high,
        positions=problem.positions,
    )


def _fit(y: Array, w: Array, u: Array, lo: float, hi: float, positions: Array | None) -> tuple[Array, Array]:
    if np.all(w > 0):
        x, state = fit_chain(y, w, u, lo, hi)
        return x, chain_multipliers(x, y, w, u, state, lo, hi)
    counted = np.flatnonzero(w > 0)
    between = u[counted[0] : counted[-1]]
    merged = np.add.reduceat(between, counted[:-1] - counted[0]) if counted.size > 1 else np.empty(0)
    some, mass = y[counted], w[counted]
    x, state = fit_chain(some, mass, merged, lo, hi)
    tau = chain_multipliers(x, some, mass, merged, state, lo, hi)
    full = np.repeat(tau, np.diff(np.concatenate([[-1], counted, [y.size]])))
    out = np.empty(y.size)
    out[: counted[0]], out[counted[-1] :] = x[0], x[-1]
    _interpolate(x, counted, u, np.ones_like(u) if positions is None else np.diff(positions), out)
    return out, full


@kernel
def _interpolate(x: Any, counted: Any, u: Any, distances: Any, out: Any) -> None:
    """The merged step's rise is shared among its parts so that none exceeds its bound; by those without bound, if there are any."""
    for k in range(counted.size - 1):
        first, last = counted[k], counted[k + 1]
        out[first] = x[k]
        bounded, unbounded = 0.0, 0.0
        for i in range(first, last):
            if np.isinf(u[i]):
                unbounded += distances[i]
            else:
                bounded += u[i]
        while last > first + 1 and (u[last - 1] == 0.0 or (unbounded > 0.0 and not np.isinf(u[last - 1]))):
            last -= 1  # these steps have no share in the rise: level with the next sample, to the last digit
            out[last] = x[k + 1]
        for i in range(first, last - 1):
            share = 0.0
            if unbounded > 0.0:
                if np.isinf(u[i]):
                    share = distances[i] / unbounded
            elif bounded > 0.0:
                share = u[i] / bounded
            out[i + 1] = min(out[i] + share * (x[k + 1] - x[k]), x[k + 1])
