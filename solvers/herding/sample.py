"""Labelled points with their weights and a similarity, checked once: what the mean and its herds are made of."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from simopt.core import validate
from simopt.core.arrays import Array
from simopt.core.errors import InvalidProblem
from simopt.data.rows import MEMORY, Rows
from simopt.data.similarities import Precomputed, Similarity, SimilarityRule, named

EPS = 2.0**-53
UNIT_SUM = 1e-9  # |Σ p − 1| allowed of weights that are given as floats
DIRECT_DIMENSION = 64  # up to here distances are sums of squared differences; beyond, their relative error is below 1e-11


@dataclass(frozen=True, eq=False)
class WeightedSample:
    """ψ_i = y_i φ(x_i) with weights p_i, of which ω = Σ p_i ψ_i is the mean.

    Attributes
    ----------
    rows : Rows
        x_i, n points with p coordinates.
    labels : (n,) array
        y_i = ±1.
    target : (n,) array
        p_i ≥ 0 with sum 1.
    similarity : Similarity
        K(x, x') = ⟨φ(x), φ(x')⟩, positive semidefinite.
    """

    rows: Rows
    labels: Array
    target: Array
    similarity: Similarity

    @classmethod
    def of(
        cls,
        points: Any,
        labels: npt.ArrayLike | None,
        similarity: str | SimilarityRule | Similarity,
        target: npt.ArrayLike | None = None,
        *,
        memory: float = MEMORY,
    ) -> Self:
        """Check everything. `labels` None: all +1; `target` None: 1/n each; a similarity's name chooses its parameters for the points.

        Raises
        ------
        InvalidProblem
            for points that are not finite (with row and column), labels that are not ±1 (with the index), lengths that disagree. For
            weights that are negative or whose sum is off 1 by more than 1e-9. Also for a similarity that is not known to be positive
            semidefinite (ω would have no norm).
        UnknownName
            for a similarity's name.
        """
        rows = Rows.of("points", points, memory=memory)
        y = validate.labels("labels", np.ones(rows.n) if labels is None else labels)
        if len(y) != rows.n:
            raise InvalidProblem(f"lengths disagree: points has {rows.n} rows, labels has {len(y)}")
        p = np.full(rows.n, 1.0 / rows.n) if target is None else _weights("target", target, rows.n)
        return cls(rows, y, p, _kernel(similarity, rows))

    @property
    def n(self) -> int:
        """Number of points."""
        return self.rows.n

    def lengths(self) -> Array:
        """‖ψ_i‖ = √K(x_i, x_i), shape (n,).

        Raises
        ------
        InvalidProblem
            for K(x, x) that are not square-summable in float64.
        """
        squares = np.concatenate([self.similarity.diagonal_values(block) for _, block in self.rows.blocks()])
        return np.sqrt(np.maximum(validate.squarable("K(x, x)", squares), 0.0))

    @property
    def value_error(self) -> float:
        """η with |computed − true| ≤ η √(K(x, x) K(x', x')) for the similarity's own values; 0 where the values are the data."""
        if isinstance(self.similarity, Precomputed):
            return 0.0
        return 8.0 * (self.rows.width + 8.0) * EPS if self.rows.width <= DIRECT_DIMENSION else 1e-11


def _kernel(similarity: str | SimilarityRule | Similarity, rows: Rows) -> Similarity:
    found = named(similarity, rows.array) if isinstance(similarity, str | SimilarityRule) else similarity
    if not isinstance(found, Similarity):
        raise InvalidProblem(f"similarity: {found!r} is not a similarity; see simopt.data.similarities")
    if not found.psd:
        if isinstance(found, Precomputed):
            validate.gram("similarity", found.matrix)  # says which entry or eigenvalue it is
        raise InvalidProblem(f"similarity: {found.kind} is not known to be positive semidefinite, and ‖ω‖ needs that")
    return found


def _weights(name: str, p: npt.ArrayLike, n: int) -> Array:
    out = validate.vector(name, p)
    if len(out) != n:
        raise InvalidProblem(f"lengths disagree: points has {n} rows, {name} has {len(out)}")
    if np.any(out < 0):
        first = int(np.argmax(out < 0))
        raise InvalidProblem(f"{name}: {out[first]:g} at index {first} is negative; weights of a mean are numbers ≥ 0 with sum 1")
    total = math.fsum(out)
    if abs(total - 1.0) > UNIT_SUM:
        raise InvalidProblem(f"{name}: the weights sum to {total:.10g}, expected 1; divide them by their sum")
    return out
