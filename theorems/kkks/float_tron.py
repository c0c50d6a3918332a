"""Algorithm 2 as printed, in floats and on samples with counts: the loops that the Monte Carlo claims run thousands of times.

The solvers in simopt.estimators.index_models.isotron do the same with traces, stopping and a choice of the iterate; here is only what the
paper prints.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from simopt.core.arrays import Array
from simopt.solvers.isotonic.chain_fit import fit_chain

Transfer = Callable[[Array], Array]


@dataclass(frozen=True, eq=False)
class Fitted:
    """A fit of LPAV: its values at the samples, and the function linear between the sorted places and constant beyond them."""

    values: Array
    knots: Array
    sorted_values: Array

    def __call__(self, t: Array) -> Array:
        """u(t)."""
        return np.asarray(np.interp(t, self.knots, self.sorted_values))


def lpav(z: Array, y: Array, counts: Array, lipschitz: float = 1.0) -> Fitted:
    """The nondecreasing L-Lipschitz fit to (z_i, y_i), sample i counted counts[i] > 0 times; ∞ gives PAV, with equal values at equal z."""
    order = np.argsort(z, kind="stable")
    knots = z[order]
    apart = np.diff(knots)
    steps = np.where(apart > 0, np.inf, 0.0) if np.isinf(lipschitz) else lipschitz * apart
    x, _ = fit_chain(y[order], counts[order], steps)
    values = np.empty_like(x)
    values[order] = x
    return Fitted(values, knots, x)


@dataclass(frozen=True, eq=False)
class FloatIterate:
    """w^t, u^t and the predictions u^t(w^t·x_i)."""

    w: Array
    transfer: Transfer
    predictions: Array


def l_isotron(X: Array, y: Array, counts: Array, lipschitz: float = 1.0) -> Iterator[FloatIterate]:
    """Algorithm 2: h^1, h^2, … without end, from w^1 = 0; with L = ∞ Isotron on the same sample every time."""
    w = np.zeros(X.shape[1])
    share = counts / counts.sum()
    while True:
        found = lpav(X @ w, y, counts, lipschitz)
        yield FloatIterate(w, found, found.values)
        w = w + (share * (y - found.values)) @ X
