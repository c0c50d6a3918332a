"""The distance of a point from every optimum, from the squares in which its variables stand.

Let f(x) = g(x) + Σ_t s_t φ_t(C_t x + b_t) with g convex, s_t > 0 and φ_t a square, or a form zᵀPz with P ⪰ μI (for squares μ = 1). Each
entry of an argument has one entry of x. For x* optimal and x feasible

    f(x) ≥ f(x*) + f'(x*; x − x*) + Σ_t s_t μ_t ‖C_t(x − x*)‖² ≥ f(x*) + Σ_i m_i (x_i − x*_i)²,      m_i = Σ s_t μ_t c².

Hence Σ m_i (x_i − x*_i)² is at most the gap. The m_i are computed in intervals, and their lower ends are taken.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from simopt.arithmetic import INTERVAL
from simopt.core.arrays import Array
from simopt.duality.atoms.quadratic_form import QuadraticForm, SemidefiniteForm
from simopt.duality.atoms.square import Square
from simopt.duality.evaluation.forward import coefficients
from simopt.duality.graph.affine import Key, Picks, Residual
from simopt.duality.graph.programme import Programme
from simopt.duality.graph.vectors import Value, broadcast, full, known


def convex(programme: Programme) -> bool:
    """Whether every term is proven to be convex."""
    return all(term.atom.support() is not None for term in programme.terms if isinstance(term.atom, SemidefiniteForm))


def slopes_of_objective(programme: Programme) -> Residual:
    """The factors s_t of the terms in the objective, in intervals."""
    slopes: Residual = {}
    programme.objective.pull(INTERVAL, full(INTERVAL, 1.0, 1), slopes)
    return slopes


def moduli(programme: Programme, scales: Mapping[Key, Value] | None = None) -> dict[Key, Array]:
    """The m_i of every leaf, proven lower bounds; 0 where an entry stands in no square, or where convexity is not proven.

    They are those of the objective, or of another sum of terms with the `scales` s_t, such as a Lagrangian.
    """
    num = INTERVAL
    if not convex(programme):
        return {key: np.zeros(leaf.size) for key, leaf in programme.leaves.items()}
    slopes = slopes_of_objective(programme) if scales is None else scales
    totals = {key: num.zeros(leaf.size) for key, leaf in programme.leaves.items()}
    for term in programme.terms:
        below = term.argument.below
        if term.key not in slopes or term.sign < 0 or len(below) != 1 or below[0] not in programme.leaves:
            continue
        leaf, pattern = programme.leaves[below[0]], term.argument.pattern(below[0])
        if not isinstance(pattern, Picks) or not isinstance(term.atom, (Square, QuadraticForm)):
            continue
        s = broadcast(num, slopes[term.key], term.argument.size)
        c = coefficients(num, term.argument, leaf.key, leaf.size)
        support = term.atom.support() if isinstance(term.atom, QuadraticForm) else None
        mu = 1.0 if isinstance(term.atom, Square) else 0.0 if support is None else support.least
        taken = pattern.rows
        contribution = num.pos(s * c * c * num.lift(mu))[taken]
        if known(num, num.sum(contribution)):
            totals[leaf.key] = totals[leaf.key] + num.group_sum(contribution, pattern.columns[taken], leaf.size)
    return {key: np.maximum(total.low, 0.0) for key, total in totals.items()}


def radius(gap: float, m: Array) -> float:
    """r with ‖x − x*‖₂ ≤ r if Σ m_i (x_i − x*_i)² ≤ gap; ∞ if an m_i is 0."""
    num, least = INTERVAL, float(np.min(m, initial=math.inf))
    if not (0.0 < least < math.inf and gap < math.inf):
        return math.inf
    return num.upper(num.sqrt(num.lift(max(gap, 0.0)) / num.lift(least)))
