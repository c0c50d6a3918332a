"""Rigorous enclosures of ε₀(B): the bounds of a point and of multipliers evaluated with balls of 106 bits."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from simopt.arithmetic.precision import workprec
from simopt.core import validate
from simopt.core.arrays import Array, Multipliers, Point
from simopt.core.errors import InvalidProblem
from simopt.problems.goodness import Goodness

if TYPE_CHECKING:
    from flint import arb

BITS = 106


def enclosure(problem: Goodness, point: Point, multipliers: Multipliers, bits: int = BITS) -> tuple[float, float]:
    """Floats below and above ε₀(B), from the restored point and the clipped multipliers; the data are exact floats.

    Wider than P − D only by a unit or so in the last place of both: balls of 106 bits lose nothing that floats could show. O(N²).

    Raises
    ------
    InvalidProblem
        when point or multipliers lack their entry or have another shape.
    """
    import flint

    v = np.clip(_entry("point", point, "v", problem), -1.0, 1.0)
    q = _admitted(problem, _entry("multipliers", multipliers, "predictions", problem))
    y, n = problem.support_targets(), len(problem.targets)
    with workprec(validate.whole("bits", bits, minimum=53)):
        p = [flint.arb(1) / n] * n if problem.masses is None else [flint.arb(x) for x in problem.support_masses().tolist()]
        K, B = flint.arb_mat(problem.core.tolist()), flint.arb(problem.bound)
        f = (K * flint.arb_mat([[m * x * B] for m, x in zip(p, v.tolist(), strict=True)])).entries()
        g = (flint.arb_mat([q.tolist()]) * K).entries()
        upper = sum((m * _loss(problem, fi, yi) for m, fi, yi in zip(p, f, y.tolist(), strict=True)), flint.arb(0))
        lower = sum((_conjugate(problem, qi, m, yi) for qi, m, yi in zip(q.tolist(), p, y.tolist(), strict=True)), flint.arb(0))
        lower -= B * sum((m * abs(gj) for m, gj in zip(p, g, strict=True)), flint.arb(0))
        return _ends(lower)[0], _ends(upper)[1]


def _entry(what: str, values: Point | Multipliers, name: str, problem: Goodness) -> Array:
    """The entry at the points of positive mass."""
    if name not in values:
        raise InvalidProblem(f"{what}: no entry {name!r}")
    return validate.vector(f"{what}: {name}", values[name], length=len(problem.targets), like="targets")[problem.support]


def _admitted(problem: Goodness, q: Array) -> Array:
    """q clipped to floats that the loss admits; below 1/N where masses are equal, which is no float."""
    p = problem.support_masses()
    cap = np.nextafter(p, 0.0) if problem.masses is None else p
    if problem.loss == "squared":
        return q
    y = problem.support_targets()
    out: Array = y * np.clip(y * q, 0.0, cap) if problem.loss == "hinge" else np.clip(q, -cap, cap)
    return out


def _positive(x: arb) -> arb:
    """max(x, 0) as (x + |x|)/2."""
    return (x + abs(x)) / 2


def _loss(problem: Goodness, f: arb, y: float) -> arb:
    if problem.loss == "hinge":
        return _positive(problem.margin - f * y)
    return (f - y) ** 2 if problem.loss == "squared" else _positive(abs(f - y) - problem.epsilon)


def _conjugate(problem: Goodness, q: float, p: arb, y: float) -> arb:
    import flint

    dual = flint.arb(q)
    if problem.loss == "hinge":
        return dual * y * problem.margin
    return dual * y - (dual**2 / (4 * p) if problem.loss == "squared" else abs(dual) * problem.epsilon)


def _ends(x: arb) -> tuple[float, float]:
    """Floats below and above a ball, at most two units in the last place apart from it."""
    mid, rad = float(x.mid()), float(x.rad())
    low, high = (math.nextafter(math.nextafter(mid, side), side) for side in (-math.inf, math.inf))
    return math.nextafter(low - rad, -math.inf), math.nextafter(high + rad, math.inf)
