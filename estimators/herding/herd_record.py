"""A herd: a few labelled points with weights that stand for the mean of many, and how far it is from that mean at most."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from simopt.core import archive
from simopt.core.arrays import Array
from simopt.core.errors import InvalidProblem
from simopt.data.rows import Indices, Rows
from simopt.data.similarities import Similarity, from_json
from simopt.equivalence.training import KernelFunction
from simopt.solvers.herding.mean_function import weighted_sums

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FORMAT = "simopt-herd-1"
ROUNDED = 1e-9  # of the sum of weights
ARRAYS = ("indices", "weights", "points", "labels", "picks", "trace")


@dataclass(frozen=True, eq=False)
class Herd:
    """ω̃ = Σ_j w_j y_j φ(x_j) with ‖ω − ω̃‖_H ≤ `error`; f̃(x) = Σ_j w_j y_j K(x_j, x) stands for f(x) = ⟨ω, φ(x)⟩.

    Hence |f(x) − f̃(x)| ≤ error · ‖φ(x)‖ for every x (Cauchy–Schwarz): see `sup_error` and `bound_at`.

    Attributes
    ----------
    indices : (k,) array of ints
        which of the n points the atoms are, in the order in which they were first picked.
    weights : (k,) array
        w_j ≥ 0 with sum 1.
    points, labels : (k, p) and (k,) arrays
        x_j and y_j.
    similarity : Similarity
    error : float
        the certified bound on ‖ω − ω̃‖, in float64, rounding included.
    target_error : float or None
        the ε that was asked for.
    reached : bool
        whether error ≤ ε; True if no ε was asked for.
    message : str
        how the run ended, in one sentence.
    picks : array of ints
        the point picked at each step (repeated where it was picked again).
    trace : (T, 3) array
        steps, atoms, and error after each step as the run itself had it (an estimate, not certified), before any re-weighting.
    seconds : float
    provenance : mapping
        step rule, precision, n, versions and so on.
    """

    indices: Indices
    weights: Array
    points: Array
    labels: Array
    similarity: Similarity
    error: float
    target_error: float | None = None
    reached: bool = True
    message: str = ""
    picks: Indices = field(default_factory=lambda: np.empty(0, dtype=np.intp))
    trace: Array = field(default_factory=lambda: np.empty((0, 3)))
    seconds: float = 0.0
    provenance: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ARRAYS:
            view = np.asarray(getattr(self, name)).view()
            view.setflags(write=False)
            object.__setattr__(self, name, view)

    def __len__(self) -> int:
        return len(self.indices)

    def __str__(self) -> str:
        target_error = (
            "" if self.target_error is None else f" (asked {self.target_error:.3g}: {'reached' if self.reached else 'not reached'})"
        )
        return f"{len(self)} atoms for {self.provenance.get('n', '?')} points, ‖ω − ω̃‖ ≤ {self.error:.3g}{target_error}; {self.message}"

    @property
    def function(self) -> KernelFunction:
        """f̃ with the ball of radius `error` around it that holds f."""
        return KernelFunction(self.similarity, self.points, self.weights * self.labels, self.error)

    @property
    def sup_error(self) -> float:
        """sup_x |f(x) − f̃(x)| ≤ error · sup ‖φ(x)‖; the factor is 1 where K(x, x) ≤ 1, and √(the similarity's bound) in general.

        Raises
        ------
        InvalidProblem
            for a similarity of which no bound is known: then `bound_at` says what holds at given points.
        """
        bound = self.similarity.bound
        if not math.isfinite(bound):
            raise InvalidProblem(
                f"similarity: K(x, x) of {self.similarity.kind} has no bound, so ‖f − f̃‖_∞ ≤ ε is not implied by ‖ω − ω̃‖ ≤ ε; "
                "use bound_at(X) for given points, or herd with Normalised(similarity), for which ‖φ(x)‖ = 1"
            )
        return self.error * math.sqrt(bound) * (1.0 + 2.0**-50)

    def bound_at(self, X: Any) -> Array:
        """error · √K(x, x) ≥ |f(x) − f̃(x)| at the rows of X, shape (m,)."""
        rows = Rows.of("X", X)
        squares = np.concatenate([self.similarity.diagonal_values(block) for _, block in rows.blocks()])
        lengths: Array = np.sqrt(np.maximum(squares, 0.0))
        return lengths * (self.error * (1.0 + 2.0**-50))

    def decision(self, X: Any) -> Array:
        """f̃ at the rows of X (an array, a memory map or a Dask array), shape (m,), in blocks. O(k m p)."""
        return weighted_sums(self.similarity, Rows.of("points", self.points), self.weights * self.labels, X)

    def predict(self, X: Any) -> Array:
        """The sign of f̃: ±1, and 0 where f̃ is exactly 0."""
        return np.sign(self.decision(X))

    def plot(self, *, images: tuple[int, int] | None = None) -> Figure:
        """The error against the number of atoms; with `images` = (height, width) also the heaviest atoms as pictures."""
        from simopt.estimators.herding.herd_plot import plot_herd

        return plot_herd(self, images=images)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write to a .npz or .json file, all of it or nothing; `Herd.load` gives the same herd back, bit by bit.

        Raises
        ------
        InvalidProblem
            for another suffix.
        OSError
            when the file cannot be written.
        """
        archive.save(path, self._record(), "a herd")

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Herd:
        """Read what `save` wrote.

        Raises
        ------
        InvalidFile
            for a file that is corrupt or not a herd.
        """
        record = archive.load(path, FORMAT, "a herd")
        with archive.rebuilding(path, "a herd"):
            return cls._rebuilt(record)

    def _record(self) -> dict[str, Any]:
        values = {item.name: getattr(self, item.name) for item in fields(self) if item.name != "similarity"}
        arrays = {name: np.asarray(values[name]) for name in ARRAYS}
        return {"format": FORMAT, "similarity": self.similarity.to_json(), **values, **arrays}

    @classmethod
    def _rebuilt(cls, record: dict[str, Any]) -> Herd:
        herd = cls(**archive.entries(cls, record, similarity=from_json(record["similarity"]), trace=_trace(record["trace"])))
        k = len(herd)
        shapes = {name: getattr(herd, name).shape for name in ARRAYS}
        if herd.points.ndim != 2 or herd.picks.ndim != 1 or {shapes[name] for name in ("indices", "weights", "labels")} != {(k,)}:
            raise ValueError(f"the shapes are {shapes}")
        total = float(np.sum(herd.weights))
        if len(herd.points) != k or np.any(herd.weights < 0) or (k and abs(total - 1) > ROUNDED):
            raise ValueError(f"{len(herd.points)} points with weights of sum {total:g}, {k} with weights >= 0 of sum 1 needed")
        if herd.error < 0 or (herd.target_error is not None and herd.reached != (herd.error <= herd.target_error)):
            raise ValueError(f"the error is {herd.error:g}, which {'reached' if herd.reached else 'did not reach'} {herd.target_error}")
        return herd


def _trace(value: Any) -> Array:
    return archive.numbers("trace", value).reshape(-1, 3)
