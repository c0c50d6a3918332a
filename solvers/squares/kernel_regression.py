r"""Kernel regression of Nadaraya and Watson: a predictor that streams over its queries."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from simopt.core import validate
from simopt.core.arrays import Array
from simopt.data.landmarks import LandmarkMap, Values
from simopt.data.similarities import Similarity
from simopt.data.similarities.base import MEMORY
from simopt.problems.domains import weighted_mean


@dataclass(frozen=True, eq=False)
class NadarayaWatson:
    """f(x) = Σ_i y_i (K(x, x_i) + s) / Σ_i (K(x, x_i) + s), the baseline KR of Kar & Jain, §4, for s = 0.

    f is the same for K and for −K. If K + s is negative, as for −‖x − x'‖₁ and s = 0, f weights the points by how far away they are (see
    `KernelRegression`). A shift s that makes all values positive gives the weights their meaning back.

    Parameters
    ----------
    similarity : Similarity or function
    points : (n, p) array
    targets : (n,) array
    shift : float
        s.
    fallback : float or None
        f(x) where the weights sum to 0, to rounding; None: that is an error.
    weights : (n,) array, optional
        v ≥ 0, not all 0, by which the values of K + s at the points are multiplied.

    Raises
    ------
    InvalidProblem
        for data that are not finite or disagree in length. From calls, for values of K that are not finite (naming the pair) and for
        queries whose weights sum to 0 (naming the query).
    """

    similarity: Similarity | Values
    points: Array
    targets: Array
    shift: float = 0.0
    fallback: float | None = None
    weights: Array | None = None

    def __post_init__(self) -> None:
        points = validate.matrix("points", self.points)
        object.__setattr__(self, "points", points)
        object.__setattr__(self, "targets", validate.vector("targets", self.targets, length=len(points)))
        object.__setattr__(self, "shift", validate.finite("shift", self.shift))
        if self.fallback is not None:
            object.__setattr__(self, "fallback", validate.finite("fallback", self.fallback))
        if self.weights is not None:
            mass = validate.weights("weights", self.weights, length=len(points), like="points")
            object.__setattr__(self, "weights", mass)

    @cached_property
    def _map(self) -> LandmarkMap:
        return LandmarkMap(self.similarity, self.points)  # every sample is a landmark; its factor n^{-1/2} cancels

    def __call__(self, X: Any, *, memory: float = MEMORY) -> Array:
        """f at the rows of X (array, memory map or Dask array), shape (m,). m n similarities in blocks of about `memory` bytes."""
        shift, mass = self.shift / math.sqrt(len(self.points)), 1.0 if self.weights is None else self.weights
        parts = [
            weighted_mean.weighted_means((block + shift) * mass, self.targets, fallback=self.fallback, first=rows.start)
            for rows, block in self._map.blocks(X, memory=memory)
        ]
        return np.concatenate(parts)
