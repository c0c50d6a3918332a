"""The curve B ↦ ε₀(B) of a similarity as an object: certified values at some bounds, and rigorous in between because it is convex."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, overload

import numpy as np
import numpy.typing as npt

from simopt.arithmetic import FLOAT, Arithmetic
from simopt.certificates.certificate import Certificate
from simopt.core import archive, validate
from simopt.core.arrays import Array
from simopt.core.errors import InvalidProblem
from simopt.problems.goodness import Goodness
from simopt.solving.entry_points import certify

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FORMAT = "simopt-goodness-curve-1"
ARRAYS = ("bounds", "upper", "lower", "slopes", "weights", "prices")


@dataclass(frozen=True, eq=False)
class GoodnessCurve:
    """B ↦ ε₀(B), which falls and is convex: chords of `upper` lie above it, the lines through `lower` with `slopes` below.

    Attributes
    ----------
    bounds : (k,) array
        B, increasing.
    upper, lower : (k,) array
        certified bounds on ε₀ there (floats; `certificate` gives those of any arithmetic).
    slopes : (k,) array
        −Σ_j p_j |Σ_i q_i K_ij| of the multipliers at B: one subgradient of the curve, to the gap.
    weights, prices : (k, N) arrays
        v (w = Bv) and q, that prove `upper` and `lower`.
    at_zero : float
        ε₀(0), the loss of f = 0.
    breakpoints : bool
        whether `bounds` are, between the two ends, the points where the slope changes, all of them to rounding.
    fingerprint : str
        of the problem at `problem_bound`.
    """

    bounds: Array
    upper: Array
    lower: Array
    slopes: Array
    weights: Array
    prices: Array
    at_zero: float
    breakpoints: bool = False
    iterations: int = 0
    seconds: float = 0.0
    problem_bound: float = 1.0
    fingerprint: str = ""
    provenance: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ARRAYS:
            view = np.asarray(getattr(self, name), dtype=float).view()
            view.setflags(write=False)
            object.__setattr__(self, name, view)

    def __len__(self) -> int:
        return len(self.bounds)

    def __str__(self) -> str:
        kind = "breakpoints" if self.breakpoints else "bounds"
        return (
            f"ε₀(B) at {len(self)} {kind}, B = {self.bounds[0]:.4g} … {self.bounds[-1]:.4g}: {self.upper[0]:.4g} … {self.upper[-1]:.4g}, "
            f"largest gap {float(np.max(self.gaps)):.1e}"
        )

    @property
    def gaps(self) -> Array:
        """upper − lower, not below 0, shape (k,)."""
        return np.maximum(self.upper - self.lower, 0.0)

    @overload
    def enclose(self, bound: float) -> tuple[float, float]: ...
    @overload
    def enclose(self, bound: Array | Sequence[float]) -> tuple[Array, Array]: ...
    def enclose(self, bound: npt.ArrayLike) -> tuple[float | Array, float | Array]:
        """Bounds on ε₀ at any B ≥ 0: the highest of the supporting lines, and the chords (ε₀(0) at 0, constant beyond the last bound).

        Two numbers for one B, arrays of shape (m,) for m of them.

        Raises
        ------
        InvalidProblem
            for a B < 0.
        """
        at = validate.grid("bound", bound, low=0.0, strict=False)
        below = np.maximum(np.max(self.lower + self.slopes * (at[:, None] - self.bounds), axis=1), 0.0)
        above = np.interp(at, np.concatenate([[0.0], self.bounds]), np.concatenate([[self.at_zero], self.upper]))
        below = np.minimum(below, above)  # a line through ε₀(0), or along a chord, may lie above it by a rounding
        return (below, above) if np.ndim(bound) else (float(below[0]), float(above[0]))

    @overload
    def __call__(self, bound: float) -> float: ...
    @overload
    def __call__(self, bound: Array | Sequence[float]) -> Array: ...
    def __call__(self, bound: Any) -> float | Array:
        """The chords at B, a number or shape (m,): exact on a curve of breakpoints, else an upper bound."""
        above: float | Array = self.enclose(bound)[1]
        return above

    def smallest_bound(self, level: float) -> tuple[float, float]:
        """Bounds on the smallest B with ε₀(B) ≤ level, from the supporting lines and from the chords; ∞ where none is known.

        Raises
        ------
        InvalidProblem
            for a level < 0.
        """
        goal = validate.nonnegative("level", level)
        if goal >= self.at_zero:
            return 0.0, 0.0
        lack = self.lower - goal
        with np.errstate(divide="ignore", invalid="ignore"):
            roots = self.bounds - lack / self.slopes
        flat = self.slopes == 0.0
        low = np.inf if np.any(flat & (lack > 0.0)) else float(np.max(np.where(flat, 0.0, roots), initial=0.0))
        at, values = np.concatenate([[0.0], self.bounds]), np.concatenate([[self.at_zero], self.upper])
        reached = np.flatnonzero(values <= goal)
        if not len(reached):
            return low, np.inf
        k = int(reached[0])
        fraction = (values[k - 1] - goal) / (values[k - 1] - values[k])
        high = float(at[k - 1] + fraction * (at[k] - at[k - 1]))
        return min(low, high), high

    def certificate(self, problem: Goodness, index: int, num: Arithmetic = FLOAT) -> Certificate:
        """The certificate at one bound, in any arithmetic.

        Raises
        ------
        InvalidProblem
            for another problem than the curve's, and at B = 0, where there is no programme: ε₀(0) is the loss of f = 0.
        """
        if replace(problem, bound=self.problem_bound).fingerprint() != self.fingerprint:
            raise InvalidProblem("problem: not the one of this curve (its fingerprint differs)")
        there = replace(problem, bound=float(self.bounds[index]))
        return certify(there, {"v": self.weights[index]}, {"predictions": self.prices[index]}, num)

    def plot(self) -> Figure:
        """ε₀ against B, both bounds, with the computed values as dots.

        Raises
        ------
        NotAvailable
            when matplotlib is not installed.
        """
        return plot_curves({"ε₀": self})

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write to a .npz or .json file, all of it or nothing; `GoodnessCurve.load` gives the same curve back.

        Raises
        ------
        InvalidProblem
            for another suffix.
        OSError
            when the file cannot be written.
        """
        archive.save(path, {"format": FORMAT, **{item.name: getattr(self, item.name) for item in fields(self)}}, "a goodness curve")

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> GoodnessCurve:
        """Read what `save` wrote.

        Raises
        ------
        InvalidFile
            for a file that is corrupt or not a curve.
        """
        found = archive.load(path, FORMAT, "a goodness curve")
        with archive.rebuilding(path, "a goodness curve"):
            curve = cls(**archive.entries(cls, found))
            k = len(curve)
            flat = {getattr(curve, name).shape for name in ("bounds", "upper", "lower", "slopes")}
            if not k or flat != {(k,)} or curve.weights.ndim != 2 or len(curve.weights) != k or curve.prices.shape != curve.weights.shape:
                raise ValueError(f"arrays of different lengths: {[getattr(curve, name).shape for name in ARRAYS]}")
            if np.any(np.diff(curve.bounds) <= 0) or curve.bounds[0] < 0:
                raise ValueError("the bounds B are not increasing from 0 or above")
            return curve


def plot_curves(curves: Mapping[str, GoodnessCurve], *, logarithmic: bool = True) -> Figure:
    """ε₀ against B for several similarities, by name; the dots are certified values.

    Raises
    ------
    InvalidProblem
        when none is given, or one has no bound that the axis shows.
    NotAvailable
        when matplotlib is not installed.
    """
    from simopt.core.figures import new_figure

    if not curves:
        raise InvalidProblem("curves: none given, at least one needed")
    figure = new_figure(6.0, 4.0, "goodness curves")
    axes = figure.subplots()
    for name, curve in curves.items():
        shown = curve.bounds[curve.bounds > 0.0] if logarithmic else curve.bounds
        if not shown.size:
            raise InvalidProblem(f"curves: {name} has only B = 0, which a logarithmic axis does not show")
        space = np.geomspace if shown[0] > 0.0 else np.linspace
        at = np.unique(np.concatenate([shown, space(shown[0], shown[-1], 200)]))
        below, above = curve.enclose(at)
        (line,) = axes.plot(at, above, lw=1.2, label=name)
        axes.fill_between(at, below, above, color=line.get_color(), alpha=0.3, lw=0.0)
        axes.plot(curve.bounds, curve.upper, ".", ms=4, color=line.get_color())
    axes.set(xlabel="B", ylabel="ε₀(B)", xscale="log" if logarithmic else "linear", ylim=(0.0, None))
    axes.legend()
    return figure
