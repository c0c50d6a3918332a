"""CVXPY's constraints as left ≤ right or left == right; cones are rows of convex functions."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import cvxpy as cp
import numpy as np
from cvxpy.constraints import Equality, Inequality, PowCone3DApprox
from cvxpy.reductions.cone2cone.approx import OpRelEntrConeQuad_canon, RelEntrConeQuad_canon

from simopt.core.errors import Unreadable
from simopt.duality.reading.library import AtomContext, mean

if TYPE_CHECKING:
    from simopt.duality.reading.expressions import Expressions

READ = "read are ==, <=, >>, second-order, exponential and power cones"
APPROXIMATED: dict[type, Callable[[Any, Any], tuple[Any, list[Any]]]] = {
    cp.RelEntrConeQuad: RelEntrConeQuad_canon,
    cp.OpRelEntrConeQuad: OpRelEntrConeQuad_canon,
}


def sides(reader: Expressions, constraint: Any) -> tuple[Any, Any, bool]:
    """Left, right, and whether they have to be equal."""
    kind, zero = type(constraint), cp.Constant(0)
    if kind in (Equality, Inequality):
        return *constraint.args, kind is Equality
    if kind in (cp.Zero, cp.NonPos):
        return constraint.args[0], zero, kind is cp.Zero
    if kind is cp.NonNeg:
        return zero, constraint.args[0], False
    if kind is cp.SOC:
        return *_second_order(constraint), False
    if kind is cp.ExpCone:
        return *_exponential(constraint), False
    if kind in (cp.PowCone3D, PowCone3DApprox):
        x, y, z = (cp.vec(argument, order="F") for argument in constraint.args)
        weights = [[Fraction(a), 1 - Fraction(a)] for a in _exponents(constraint).reshape(-1, order="F").tolist()]
        return cp.abs(z), _means(reader, [cp.hstack([x[i], y[i]]) for i in range(z.size)], weights), False
    if kind is cp.PowConeND:
        return *_power(reader, constraint), False
    raise Unreadable(f"the constraint {kind.__name__} is not known", str(constraint), READ)


def approximation(constraint: Any) -> list[Any]:
    """The cones by which CVXPY approximates the constraint; what is certified is this approximation."""
    args = [cp.vec(z, order="F") for z in constraint.args] if type(constraint) is cp.RelEntrConeQuad else constraint.args
    first, others = APPROXIMATED[type(constraint)](type(constraint)(*args, constraint.m, constraint.k), None)
    return [first, *others]


def _second_order(constraint: Any) -> tuple[Any, Any]:
    """‖x‖ ≤ t."""
    t, x = constraint.args
    return cp.norm(x, 2) if x.ndim <= 1 or (1 in x.shape and t.size == 1) else cp.norm(x, 2, axis=constraint.axis), t


def _exponential(constraint: Any) -> tuple[Any, Any]:
    """y e^{x/y} ≤ z for y > 0, x ≤ 0 ≤ z for y = 0: both are y log(y/z) ≤ −x."""
    x, y, z = constraint.args
    return cp.rel_entr(y, z), -x


def _power(reader: Expressions, constraint: Any) -> tuple[Any, Any]:
    """|z_j| ≤ Π_i w_ij^{α_ij}; exponents whose sum is 1 up to rounding are divided by their sum."""
    w, z = constraint.args
    alpha = _exponents(constraint)
    if w.ndim == 1:
        columns, weights = [w], alpha.reshape(1, -1)
    else:
        turned = w.T if constraint.axis == 1 else w
        columns = [turned[:, j] for j in range(turned.shape[1])]
        weights = alpha if constraint.axis == 1 else alpha.T
    exponents = [[Fraction(float(a)) / sum(Fraction(float(b)) for b in row) for a in row] for row in weights]
    return cp.abs(cp.vec(z, order="F")), _means(reader, columns, exponents)


def _exponents(constraint: Any) -> np.ndarray:
    if not isinstance(constraint.alpha, cp.Constant) and not (constraint.alpha.is_constant() and not constraint.alpha.parameters()):
        raise Unreadable("a power cone whose exponents are parameters", str(constraint), "give them as numbers")
    return np.asarray(constraint.alpha.value, dtype=float)


def _means(reader: Expressions, bases: list[Any], weights: list[list[Fraction]]) -> Any:
    """Geometric means with exactly these weights, one for each base; those of CVXPY are floats."""
    means = []
    for base, exponents in zip(bases, weights, strict=True):
        e = cp.geo_mean(base, [float(w) for w in exponents], approx=False)
        reader.put(e, mean(AtomContext(reader, e), exponents))
        means.append(e)
    return cp.hstack(means)
