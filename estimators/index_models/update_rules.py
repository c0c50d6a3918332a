"""How a round of Isotron gets its transfer function u^t from the scores z_i = ⟨w^t, x_i⟩: it is known, or fitted."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np

from simopt.core.arrays import Array
from simopt.core.compiled import kernel
from simopt.core.fields import extended
from simopt.core.monotone_function import MonotoneFunction
from simopt.core.ordering import ordered
from simopt.estimators.index_models.index_record import Function
from simopt.solvers.isotonic.chain_band import node_indices
from simopt.solvers.isotonic.chain_fit import FEW, fit_chain

FARTHER = 2.0  # than the last change of u the next one is looked for


class UpdateRule(ABC):
    """One object serves one run: it may keep what helps the next round. `seconds` holds the time of its last fit by parts."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @abstractmethod
    def fit(self, z: Array) -> Array:
        """u^t(z_i), shape (m,)."""

    @abstractmethod
    def snapshot(self) -> Callable[[], Function]:
        """A function that makes u^t of the last fit, whatever is fitted later. O(1)."""


class KnownTransfer(UpdateRule):
    """GLM-tron: u^t = u."""

    def __init__(self, transfer: Function) -> None:
        super().__init__()
        self.transfer = transfer

    def fit(self, z: Array) -> Array:
        """u(z)."""
        start = perf_counter()
        out = np.asarray(self.transfer(z), dtype=float)
        self.seconds = {"fit": perf_counter() - start}
        return out

    def snapshot(self) -> Callable[[], Function]:
        """u."""
        return lambda: self.transfer


@kernel
def _along(order: Any, positions: Any, targets: Any, lipschitz: Any, y: Any, u: Any) -> None:
    """Targets and bounds on the steps, in order."""
    for i in range(order.size):
        y[i] = targets[order[i]]
    for i in range(u.size):
        gap = positions[i + 1] - positions[i]
        u[i] = lipschitz * gap if gap > 0.0 else 0.0


class FittedTransfer(UpdateRule):
    """L-Isotron: u^t minimises Σ w_i (u(z_i) − y_i)², w > 0, over non-decreasing L-Lipschitz functions; Isotron: L = ∞.

    Beyond the scores u^t is constant. From one round to the next it changes little, so that each fit is looked for near the last one first.
    O(m) for spread scores and random targets.
    """

    def __init__(self, targets: Array, lipschitz: float = 1.0, *, warm: bool = True, weights: Array | None = None) -> None:
        super().__init__()
        self.targets = targets
        self.lipschitz = extended("lipschitz", lipschitz)
        self._weights, m = weights, targets.size
        self._y, self._u, self._w = np.empty(m), np.empty(m - 1), np.ones(m)
        self._spare = (np.empty(m), np.empty(m, dtype=np.intp))
        self._nodes = node_indices(m) if warm and m >= FEW else None
        self._moved = math.inf  # from the fit before the last one to that one
        self._last: tuple[Array, Array] = (np.zeros(1), np.zeros(1))

    def fit(self, z: Array) -> Array:
        """LPAV on (z_i, y_i)."""
        start = perf_counter()
        order, positions = ordered(z, self._spare)
        middle = perf_counter()
        y, w, u = self._y, self._w, self._u
        _along(order, positions, self.targets, self.lipschitz, y, u)
        if self._weights is not None:
            np.take(self._weights, order, out=w)
        if self._nodes is None:
            values, _ = fit_chain(y, w, u)
        else:
            guess = np.interp(positions[self._nodes], *self._last)
            values, _ = fit_chain(y, w, u, guess=(guess, FARTHER * self._moved))
            self._moved = float(np.max(np.abs(guess - values[self._nodes])))
        out = np.empty_like(values)
        out[order] = values
        self._last = (positions, values)
        self.seconds = {"sort": middle - start, "fit": perf_counter() - middle}
        return out

    def snapshot(self) -> Callable[[], MonotoneFunction]:
        """The piecewise linear function through the last fit, constant beyond."""
        positions, values = self._last
        return lambda: MonotoneFunction.through(positions, values)
