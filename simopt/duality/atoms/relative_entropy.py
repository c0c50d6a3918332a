"""Σ u log(u/s) in conjugates, by exponential cones."""

from __future__ import annotations

import cvxpy as cp
import numpy as np

from simopt.duality.atoms.base import DeclaredConjugate


def relative_entropies(u: cp.Expression, s: cp.Expression, name: str) -> DeclaredConjugate:
    """u_i log(u_i/s_i); for numbers s_i > 0 u_i log u_i − u_i log s_i, because CLARABEL may stop early on cones over small numbers.

    The logarithms are variables t: CVXPY's function is ∞ where a solver returns a u that is below 0 by rounding.
    """
    t = cp.Variable(u.size, name=name)
    known = s.value if s.is_constant() else None
    if known is not None and np.all(known > 0):
        return t - cp.multiply(np.log(known), u), [cp.ExpCone(-t, u, np.ones(u.size))]
    return t, [cp.ExpCone(-t, u, s)]
