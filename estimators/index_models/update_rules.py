"""How a round of Isotron gets its transfer function u^t from the scores z_i = ⟨w^t, x_i⟩: it is known, or fitted."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from time import perf_counter

import numpy as np
import numpy.typing as npt

from simopt.estimators.index_models.index_record import Function
from simopt.ground.arrays import Array
from simopt.ground.fields import extended
from simopt.ground.monotone_function import MonotoneFunction
from simopt.solvers.isotonic.chain_fit import fit_chain


class UpdateRule(ABC):
    """One object serves one run: it may keep what helps the next round. `seconds` holds the time of its last fit by parts."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @abstractmethod
    def fit(self, z: Array) -> Array:
        """u^t(z_i), shape (m,)."""

    @abstractmethod
    def snapshot(self) -> Callable[[], Function]:
        """What makes u^t of the last fit, whatever is fitted later. O(1)."""


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


class FittedTransfer(UpdateRule):
    """L-Isotron: u^t minimises Σ w_i (u(z_i) − y_i)², w > 0, over non-decreasing L-Lipschitz functions; Isotron: L = ∞.

    Beyond the scores u^t is constant. The order of one round is where the sort of the next starts from: a stable sort takes advantage of
    long runs that are sorted already. O(m log m) for the first sort, O(m) for the fit of random data.
    """

    def __init__(self, targets: Array, lipschitz: float = 1.0, *, warm: bool = True, weights: Array | None = None) -> None:
        super().__init__()
        self.targets = targets
        self.lipschitz = extended("lipschitz", lipschitz)
        self.warm = warm
        self._weights = weights
        self._ones = np.ones(targets.size)
        self._order: npt.NDArray[np.intp] | None = None
        self._last: tuple[Array, Array] = (np.zeros(1), np.zeros(1))

    def fit(self, z: Array) -> Array:
        """LPAV on (z_i, y_i)."""
        start = perf_counter()
        order = np.argsort(z) if self._order is None else self._order[np.argsort(z[self._order], kind="stable")]
        self._order = order if self.warm else None
        places = z[order]
        middle = perf_counter()
        gaps = np.diff(places)
        bounds = np.where(gaps > 0, math.inf, 0.0) if self.lipschitz == math.inf else self.lipschitz * gaps
        values, _ = fit_chain(self.targets[order], self._ones if self._weights is None else self._weights[order], bounds)
        out = np.empty_like(values)
        out[order] = values
        self._last = (places, values)
        self.seconds = {"sort": middle - start, "fit": perf_counter() - middle}
        return out

    def snapshot(self) -> Callable[[], MonotoneFunction]:
        """The piecewise linear function through the last fit, constant beyond."""
        places, values = self._last
        return lambda: MonotoneFunction.through(places, values)
