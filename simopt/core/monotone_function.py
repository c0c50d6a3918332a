"""Non-decreasing piecewise linear functions of one variable: what an isotonic fit predicts with."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from simopt.core import archive, validate
from simopt.core.arrays import Array
from simopt.core.errors import InvalidFile, InvalidProblem

if TYPE_CHECKING:
    from matplotlib.figure import Figure

EXTRAPOLATIONS = ("constant", "linear", "refuse")
FORMAT = "simopt monotone function 1"
WHAT = "a monotone function"


@dataclass(frozen=True, eq=False)
class MonotoneFunction:
    r"""u linear between its nodes t_1 < … < t_k, where u(t_i) = v_i with v_1 ≤ … ≤ v_k.

    Attributes
    ----------
    nodes, values : (k,) arrays
        t and v, k ≥ 1.
    extrapolation : str
        u beyond the nodes: "constant" (v_1 and v_k), "linear" (the first and the last piece go on), or "refuse" (an error).

    Calls, `derivative` and `inverse` take a number or an array and cost O(log k) a point.

    >>> u = MonotoneFunction(np.array([0.0, 1.0, 3.0]), np.array([0.0, 2.0, 2.0]))
    >>> float(u(0.25)), float(u(5.0)), float(u.derivative(0.5)), float(u.inverse(1.0))
    (0.5, 2.0, 2.0, 0.5)
    """

    nodes: Array
    values: Array
    extrapolation: str = "constant"

    def __post_init__(self) -> None:
        values = validate.vector("values", self.values)
        nodes = validate.vector("nodes", self.nodes, length=len(values))
        for name, array, wrong in (("nodes", nodes, np.diff(nodes) <= 0), ("values", values, np.diff(values) < 0)):
            if np.any(wrong):
                i = int(np.argmax(wrong))
                order = "increasing" if name == "nodes" else "non-decreasing"
                raise InvalidProblem(f"{name}: not {order}, entry {i} is {array[i]:g} and entry {i + 1} is {array[i + 1]:g}")
        validate.choice("extrapolation", self.extrapolation, EXTRAPOLATIONS)
        object.__setattr__(self, "nodes", nodes)
        object.__setattr__(self, "values", values)

    @classmethod
    def through(cls, positions: npt.ArrayLike, values: npt.ArrayLike, extrapolation: str = "constant") -> MonotoneFunction:
        """The function through (z_i, v_i), z sorted; of samples at one place the first gives the value.

        Raises
        ------
        InvalidProblem
            where z or v fall.
        """
        z, v = validate.vector("positions", positions), validate.vector("values", values)
        validate.same_length(positions=z, values=v)
        kept = np.concatenate([[True], np.diff(z) != 0])
        return cls(z[kept], v[kept], extrapolation)

    def __repr__(self) -> str:
        return f"<{self}>"

    def __str__(self) -> str:
        """One line: nodes, range and steepest slope."""
        t, v = self.nodes, self.values
        ends = f"from u({t[0]:.4g}) = {v[0]:.4g} to u({t[-1]:.4g}) = {v[-1]:.4g}"
        return f"monotone function with {t.size} nodes, {ends}, slopes up to {self.lipschitz:.4g}, beyond: {self.extrapolation}"

    def __call__(self, t: npt.ArrayLike) -> Array:
        """u(t), of the shape of t.

        Raises
        ------
        InvalidProblem
            for t beyond the nodes under the rule "refuse", naming the first.
        """
        at = self._points("t", t, self.nodes)
        out = np.asarray(np.interp(at, self.nodes, self.values))
        if self.nodes.size > 1 and not np.isfinite(self.lipschitz):  # between nodes nearer than float64 can divide by
            out = self._interpolated(at)
        if self.extrapolation == "linear" and self.nodes.size > 1:
            slopes = self.slopes
            for end, slope, beyond in ((0, slopes[0], at < self.nodes[0]), (-1, slopes[-1], at > self.nodes[-1])):
                out = np.where(beyond, self.values[end] + slope * (at - self.nodes[end]), out)
        return out

    def _interpolated(self, at: Array) -> Array:
        """u(t) without slopes, which overflow where two nodes are next to each other: v_i + s(v_{i+1} − v_i), s the relative position."""
        t, v = self.nodes, self.values
        i = np.clip(np.searchsorted(t, at, side="right") - 1, 0, t.size - 2)
        with np.errstate(over="ignore"):  # beyond the last node
            s = np.clip((at - t[i]) / (t[i + 1] - t[i]), 0.0, 1.0)
        out: Array = np.where(s >= 1.0, v[i + 1], v[i] + s * (v[i + 1] - v[i]))
        return out

    def shortest(self) -> MonotoneFunction:
        """The same function by its fewest nodes: those in the middle of a flat piece say nothing."""
        v = self.values
        kept = np.ones(v.size, dtype=bool)
        kept[1:-1] = (v[1:-1] != v[:-2]) | (v[1:-1] != v[2:])
        return self if kept.all() else MonotoneFunction(self.nodes[kept], v[kept], self.extrapolation)

    @property
    def slopes(self) -> Array:
        """(v_{i+1} − v_i)/(t_{i+1} − t_i), shape (k − 1,)."""
        with np.errstate(over="ignore"):
            out: Array = np.diff(self.values) / np.diff(self.nodes)
        return out

    @property
    def lipschitz(self) -> float:
        """The largest slope."""
        return float(np.max(self.slopes, initial=0.0))

    def derivative(self, t: npt.ArrayLike, side: str = "right") -> Array:
        """u'(t) from the left or from the right; the two differ at nodes only. At the ends of what does not extrapolate, from inside.

        Errors as for a call.
        """
        at = self._points("t", t, self.nodes)
        pieces = np.concatenate([[0.0], self.slopes, [0.0]])
        if self.extrapolation != "constant" and self.nodes.size > 1:
            pieces[0], pieces[-1] = pieces[1], pieces[-2]
        out: Array = pieces[np.searchsorted(self.nodes, at, side=_side(side))]
        return out

    def inverse(self, v: npt.ArrayLike, side: str = "left") -> Array:
        """inf{t: u(t) ≥ v} ("left") or sup{t: u(t) ≤ v} ("right"): the ends of the interval where u = v, one number where u is not flat.

        −∞ and ∞ where u is constant beyond its nodes and never gets below or above v.

        Raises
        ------
        InvalidProblem
            under the rule "refuse", for values that u does not take, naming the first.
        """
        level = self._points("v", v, self.values)
        t, u = self.nodes, self.values
        i = np.searchsorted(u, level, side=_side(side))  # left: u[i − 1] < v ≤ u[i];  right: u[i − 1] ≤ v < u[i]
        low, high = np.clip(i - 1, 0, t.size - 1), np.clip(i, 0, t.size - 1)
        rise = u[high] - u[low]
        fraction = np.divide(level - u[low], rise, out=np.zeros_like(level), where=rise > 0)
        out = t[low] + fraction * (t[high] - t[low])
        out = np.where(fraction >= 1.0, t[high], out)
        edge = self.slopes if self.extrapolation == "linear" and t.size > 1 else np.zeros(1)
        # Below all values (left: or at the first) the answer lies before the first node, above all after the last.
        before = t[0] + (level - u[0]) / edge[0] if edge[0] > 0 else np.full_like(level, -math.inf)
        after = t[-1] + (level - u[-1]) / edge[-1] if edge[-1] > 0 else np.full_like(level, math.inf)
        out = np.where(i == 0, before, np.where(i == t.size, after, out))
        return out if self.extrapolation != "refuse" else np.clip(out, t[0], t[-1])

    def _points(self, name: str, points: npt.ArrayLike, known: Array) -> Array:
        at = validate.all_finite(name, validate.numbers(name, points))
        beyond = (at < known[0]) | (at > known[-1])
        if self.extrapolation == "refuse" and np.any(beyond):
            first = float(at[beyond].reshape(-1)[0])
            raise InvalidProblem(f"{name}: {first:g} lies outside of [{known[0]:g}, {known[-1]:g}], and this function does not extrapolate")
        return at

    def plot(self) -> Figure:
        """The graph. Needs matplotlib."""
        from simopt.core.figures import plot_function

        return plot_function(self)

    def record(self) -> dict[str, Any]:
        """Nodes and values as arrays, and the rule, as files store them (see simopt/core/archive.py)."""
        return {"format": FORMAT, "nodes": self.nodes, "values": self.values, "extrapolation": self.extrapolation}

    def to_json(self) -> dict[str, Any]:
        """The record as JSON has it; floats come back as they were."""
        return {key: value.tolist() if isinstance(value, np.ndarray) else value for key, value in self.record().items()}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> MonotoneFunction:
        """The function of a record, from `to_json` or `record`.

        Raises
        ------
        InvalidFile
            for another format.
        InvalidProblem
            for nodes and values that are no monotone function.
        """
        if not isinstance(data, Mapping) or data.get("format") != FORMAT:
            raise InvalidFile(f"monotone function: expected the format {FORMAT!r}")
        missing = [name for name in ("nodes", "values", "extrapolation") if name not in data]
        if missing:
            raise InvalidFile(f"monotone function: no entry {missing[0]!r}")
        return cls(archive.numbers("nodes", data["nodes"]), archive.numbers("values", data["values"]), str(data["extrapolation"]))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write to a .npz or .json file, all of it or nothing; `load` gives the same floats back.

        Raises
        ------
        InvalidProblem
            for another suffix.
        OSError
            when the file cannot be written.
        """
        archive.save(path, self.record(), WHAT)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> MonotoneFunction:
        """Read what `save` wrote.

        Raises
        ------
        InvalidFile
            for a file that is corrupt or holds something else.
        """
        found = archive.load(path, FORMAT, WHAT)
        with archive.rebuilding(path, WHAT):
            return cls.from_json(found)


def _side(name: str) -> Literal["left", "right"]:
    validate.choice("side", name, ("left", "right"))
    return "left" if name == "left" else "right"
