"""Σ u log(u/s) in conjugates, by exponential cones."""

from __future__ import annotations

import cvxpy as cp

from simopt.duality.atoms.base import Priced


def relative_entropies(u: cp.Expression, s: cp.Expression, name: str) -> Priced:
    """The least t_i ≥ u_i log(u_i/s_i). As variables: CVXPY's function of what a solver returns is ∞ where that is below 0 by rounding."""
    t = cp.Variable(u.size, name=name)
    return t, [cp.ExpCone(-t, u, s)]
