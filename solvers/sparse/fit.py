"""A sparse linear fit: which columns, with which weights, and what every pick left of the residual."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from simopt.core import archive, validate
from simopt.core.arrays import Array
from simopt.core.errors import InvalidProblem
from simopt.core.figures import new_figure
from simopt.data.rows import Indices, Rows

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FORMAT = "simopt-sparse-fit-1"
WIDEST = 1 << 31  # columns: of so many `weights` is an array
ARRAYS = ("indices", "coefficients", "residuals", "factor", "shares", "dependent")


@dataclass(frozen=True, eq=False)
class SparseFit:
    """w with few entries that is the best fit of y on its columns: minimises ‖y − X_S w‖².

    Attributes
    ----------
    indices : (k,) array of ints
        S, in the order in which the columns were picked.
    coefficients : (k,) array
        w_S, in the same order.
    residuals : (k + 1,) array
        ‖y − X w‖² of the best fits on none, the first, the first two, … of the columns. The last one is computed from y − X w itself where
        X is at hand, the others by subtraction, so that they have no digits below 1e-16 ‖y‖².
    width : int
        d, how many columns there were to choose from.
    factor, shares : (k, k) and (k,) arrays
        R and q = Qᵀy of X_S = QR: R w = q.
    criterion : str
        "omp" or "ols", or how the columns were found otherwise.
    reached : bool
        whether as many columns were picked as were asked for, or the residual asked for was reached.
    message : str
        why the selection ended, in one sentence.
    dependent : array of ints
        columns that were passed over because they depend on those picked, to rounding.
    visited : tuple of floats
        ‖y − X w‖² after every move of a search that also takes columns away; empty for forward selection.
    seconds : float
    provenance : mapping
    """

    indices: Indices
    coefficients: Array
    residuals: Array
    width: int
    factor: Array
    shares: Array
    criterion: str = "omp"
    reached: bool = True
    message: str = ""
    dependent: Indices = field(default_factory=lambda: np.empty(0, dtype=np.intp))
    visited: tuple[float, ...] = ()
    seconds: float = 0.0
    provenance: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ARRAYS:
            view = np.asarray(getattr(self, name)).view()
            view.setflags(write=False)
            object.__setattr__(self, name, view)

    def __getstate__(self) -> dict[str, Any]:
        return {item.name: getattr(self, item.name) for item in fields(self)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name, value in state.items():
            object.__setattr__(self, name, value)
        self.__post_init__()  # pickling loses the read-only flag

    def __len__(self) -> int:
        return len(self.indices)

    def __str__(self) -> str:
        left = f"‖r‖² = {self.residuals[-1]:.6g}" + (f", {self.unexplained:.3g} of ‖y‖²" if self.residuals[0] > 0 else "")
        return f"{len(self)} of {self.width} columns ({self.criterion}), {left}; {self.message}"

    @property
    def weights(self) -> Array:
        """w, shape (d,), with zeros off S."""
        out = np.zeros(self.width)
        out[self.indices] = self.coefficients
        return out

    @property
    def unexplained(self) -> float:
        """‖y − X w‖²/‖y‖², 0 if y = 0."""
        return float(self.residuals[-1] / self.residuals[0]) if self.residuals[0] > 0 else 0.0

    def first(self, count: int) -> SparseFit:
        """The fit on the first `count` columns, which is what forward selection of so many gives. O(count²)."""
        k = validate.whole("count", count)
        if k > len(self):
            raise InvalidProblem(f"count: {k} asked, but there are only {len(self)} columns in this fit")
        factor, shares = self.factor[:k, :k], self.shares[:k]
        return replace(
            self,
            indices=self.indices[:k],
            coefficients=back_substitution(factor, shares),
            residuals=self.residuals[: k + 1],
            factor=factor,
            shares=shares,
            reached=True,
            message=f"the first {k} of {len(self)} columns",
            visited=(),
        )

    def predict(self, X: Any) -> Array:
        """X w, shape (m,), for an array, a memory map or a Dask array X of shape (m, d), in blocks. Reads the columns of S only."""
        rows = Rows.of("X", X)
        if rows.width != self.width:
            raise InvalidProblem(f"X: {rows.width} columns, the fit has {self.width}")
        parts = [block[:, self.indices] @ self.coefficients for _, block in rows.blocks()]
        out: Array = np.concatenate(parts)
        return out

    def plot(self) -> Figure:
        """‖y − X w‖²/‖y‖² against the number of columns.

        Raises
        ------
        NotAvailable
            when matplotlib is not installed.
        """
        figure = new_figure(5.0, 4.0, "sparse fits")
        axes = figure.subplots()
        whole = float(self.residuals[0]) or 1.0
        axes.plot(np.arange(len(self.residuals)), self.residuals / whole, ".-", lw=1.2, label=self.criterion)
        positive = len(self.residuals) > 1 and bool(np.all(self.residuals > 0.0))
        axes.set(xlabel="columns", ylabel="‖y − Xw‖² / ‖y‖²", yscale="log" if positive else "linear")
        axes.legend(frameon=False)
        return figure

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write to a .npz or .json file, all of it or nothing; `SparseFit.load` gives the same fit back, bit by bit.

        Raises
        ------
        InvalidProblem
            for another suffix.
        OSError
            when the file cannot be written.
        """
        archive.save(path, {"format": FORMAT, **self.__getstate__()}, "a sparse fit")

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> SparseFit:
        """Read what `save` wrote.

        Raises
        ------
        InvalidFile
            for a file that is corrupt or not a sparse fit.
        """
        found = archive.load(path, FORMAT, "a sparse fit")
        with archive.rebuilding(path, "a sparse fit"):
            k = len(found["indices"])
            fit = cls(**archive.entries(cls, found, factor=archive.numbers("factor", found["factor"]).reshape(k, k)))
            lengths = {"indices": k, "coefficients": k, "shares": k, "residuals": k + 1, "dependent": fit.dependent.size}
            if odd := [name for name, length in lengths.items() if getattr(fit, name).shape != (length,)]:
                raise ValueError(f"{odd[0]} has the shape {getattr(fit, odd[0]).shape}, of {k} columns")
            if len({*fit.indices.tolist()}) < k or max((*fit.indices, *fit.dependent), default=-1) >= fit.width or fit.width > WIDEST:
                raise ValueError(f"the columns are not {k} different ones of {fit.width}")
            if np.any(np.tril(fit.factor, -1)) or not np.all(np.diagonal(fit.factor)):
                raise ValueError("the factor is no regular triangle")
            return fit


def back_substitution(factor: Array, right: Array, *, transposed: bool = False) -> Array:
    """R^{-1} b, or R^{-T} b, for an upper triangular R."""
    if not len(right):
        return np.zeros(0)
    from scipy.linalg import solve_triangular

    out: npt.NDArray[np.float64] = solve_triangular(factor, right, trans="T" if transposed else "N", check_finite=False)
    return out
