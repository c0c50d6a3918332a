"""How far an objective moves when each of its terms moves by a fraction of its size: a measure of the effect of rounding."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import numpy as np

from simopt.arithmetic import FLOAT, INTERVAL, Interval
from simopt.core.arrays import Array
from simopt.duality.evaluation.forward import Forward
from simopt.duality.graph.affine import Key, Map
from simopt.duality.graph.programme import Definition, Epigraph, Node, Programme, Term, argument

SEVERAL = 16.0
STEPS, NEAR = 40, 1.01  # of the search for δ, which is found to within this factor


def least_fraction(gap: float, size: Callable[[float], float], most: float) -> float:
    """The least δ with gap ≤ T(δ), for a T that grows like a power of δ between 1 and 2; ∞ if it is more than `most`."""
    if gap <= 0.0:
        return 0.0
    largest = size(most)
    if not gap <= largest:
        return math.inf
    low, high = 0.0, most  # T(low) < gap ≤ T(high)
    delta = most * gap / largest  # T(δ) is at most so much where T is convex with T(0) = 0
    for _ in range(STEPS):
        found = size(delta)
        if found >= gap:
            high = delta
        else:
            low = delta
        if high <= NEAR * low:
            break
        step = delta * (gap / found) ** (1.0 if found >= gap else 0.75) if found > 0.0 else math.sqrt(low * high)
        delta = step * (math.sqrt(NEAR) if found < gap else 1.0 / math.sqrt(NEAR))
        if not low < delta < high:
            delta = math.sqrt(max(low, 1e-3 * high) * high)
    return high


def term_size(programme: Programme, at: Forward, delta: float, own: Mapping[Key, Interval]) -> float:
    """T(δ), the size of the objective when every number in it is δ times what it is.

    A variable x has the size δ|x|, as `own_sizes` counts it. A map Ax + b has the size Z = |A| S + δ|b|, S the sizes of its variables and
    terms. So has a variable x that an equality x = Ay + b gives: what cancels in the map has cancelled in x. A term φ(z) has the size
    δ|φ(z)| + max |φ(v)| over |v| ≤ Z if φ is homogeneous of a degree ≥ 1. Else the maximum is that of |φ(z + v) − φ(z)|. T is the sum
    over the objective.

    T(δ) = δ Σ|terms| where all is linear or homogeneous of degree 1, as Σ|c_j x_j| of a linear objective and ‖|A||x| + |b|‖ of a norm.
    A square counts with δ²Z², so that a large constant inside of it does not excuse a large gap. A form zᵀPz is a sum of products, which
    cancel where P is singular. These count with δ|z|ᵀ|P||z|, where no entry of z counts for more than its size.

    Parameters
    ----------
    at : Forward
        the values at the point.
    delta : float
    own : mapping
        `own_sizes`.
    """
    sizes = {key: _around_zero(delta * own[key].rad) for key in programme.leaves}
    for node in programme.nodes:
        if isinstance(node, Definition):
            sizes[node.key] = _around_zero(_defined_size(node, sizes, delta))
            continue
        size = _argument_size(node, sizes, delta)
        found = delta * own[node.key].rad + _moved(node, at, size)
        if node.atom.expanded and delta > 0.0:
            z = np.minimum(np.abs(np.asarray(at.arguments[node.key], dtype=float)), size / delta)
            found = found + delta * _largest(node, _around_zero(z))
        sizes[node.key] = _around_zero(found)
    return _total(programme, sizes, delta)


def outer_size(programme: Programme, own: Mapping[Key, Interval]) -> float:
    """Σ|terms| over the variables, functions and constants of which the objective is a sum."""
    return _total(programme, own, 1.0)


def own_sizes(programme: Programme, at: Forward, units: Mapping[Key, float] | None = None) -> dict[Key, Interval]:
    """|x| of variables and |φ(z)| of terms, as intervals around 0.

    With units, no entry of a variable counts for more than `SEVERAL` of them. No term counts for more than its value at an argument that is
    cut off at its size. A point far along a direction in which nothing changes has large terms, too: x and max(x, 0) of max(x, 0) − x at
    x = 1e16.
    """
    sizes = {key: _own(at, key, units) for key in programme.leaves}
    for node in programme.nodes:
        sizes[node.key] = _own(at, node.key, units if isinstance(node, Definition) else None)
        if units is not None and not isinstance(node, Definition):
            z, most = np.asarray(at.arguments[node.key], dtype=float), _argument_size(node, sizes, 1.0)
            if np.any(np.abs(z) > most):
                cut = np.abs(node.atom.value(FLOAT, np.clip(z, -most, most)))
                sizes[node.key] = _around_zero(np.fmin(sizes[node.key].rad, cut))
    return sizes


def _own(at: Forward, key: Key, units: Mapping[Key, float] | None) -> Interval:
    x = np.abs(np.asarray(at.values[key], dtype=float))
    return _around_zero(x if units is None else np.minimum(x, SEVERAL * units.get(key, 1.0)))


def _around_zero(size: Array) -> Interval:
    return Interval(np.zeros(size.shape), size)


def _argument_size(node: Term | Epigraph, sizes: Mapping[Key, Interval], delta: float) -> Array:
    return _size(argument(node), sizes, delta, {node.key: Interval(np.zeros(_length(node)))})


def _defined_size(node: Definition, sizes: Mapping[Key, Interval], delta: float) -> Array:
    """|rest| / |factor| of each entry."""
    rest = _size(node.row.map, sizes, delta, {node.key: Interval(np.zeros(node.size))})
    found = np.zeros(node.size)
    found[node.columns] = rest / np.abs(node.factors)
    return found


def _total(programme: Programme, sizes: Mapping[Key, Interval], delta: float) -> float:
    total = float(np.sum(_size(programme.objective, sizes, delta, {})))
    return total if math.isfinite(total) else 0.0


def _length(node: Node) -> int:
    return int(np.prod(node.shape)) if hasattr(node, "shape") else node.size


def _size(below: Map, sizes: Mapping[Key, Interval], delta: float, more: Mapping[Key, Interval]) -> Array:
    """|A| S + δ|b|."""
    known = {**sizes, **more}
    linear = np.asarray(below.value(INTERVAL, known, linear=True).rad)
    constants = np.abs(np.asarray(below.value(FLOAT, {key: np.zeros(len(known[key].mid)) for key in below.below}), dtype=float))
    return np.asarray(linear + delta * constants)


def _moved(node: Term | Epigraph, at: Forward, size: Array) -> Array:
    """How far φ may move if its argument has this size."""
    if (node.atom.degree or 0.0) >= 1.0:  # a root of δZ is far more than what δ moves
        found = _largest(node, Interval(np.zeros(size.shape), size))
        if np.isfinite(found).all():
            return found
    z = np.asarray(at.arguments[node.key], dtype=float)
    here: Array = node.atom.value(FLOAT, z)
    moved: list[Array] = [np.abs(node.atom.value(FLOAT, z + v) - here) for v in (size, -size)]
    return np.asarray(np.max([np.where(np.isfinite(m), m, 0.0) for m in moved], axis=0))


def _largest(node: Term | Epigraph, around: Interval) -> Array:
    try:
        value = node.atom.value(INTERVAL, around)
    except (ArithmeticError, ValueError):
        return np.array([np.inf])
    return np.asarray(np.maximum(np.abs(value.low), np.abs(value.high)), dtype=float)
