"""Ordinal goodness by the dual simplex method of HiGHS on (w, b), with entries of size 1 (see solvers/goodness/simplex.py)."""

from __future__ import annotations

import numpy as np
import scipy.sparse

from simopt.problems.ordinal_goodness import OrdinalGoodness
from simopt.solvers.goodness.highs_programme import HighsProgramme
from simopt.solvers.goodness.ordinal_margins import Margins
from simopt.solving.solution import Iterate


def vertex(problem: OrdinalGoodness) -> Iterate:
    """A vertex that is optimal to the tolerance of HiGHS, with its multipliers: rows s + M(f − b) ≥ γ and b_{j+1} − b_j ≥ Δ_j.

    Raises
    ------
    ArithmeticError
        when HiGHS says that it is not.
    """
    natural, back = problem.normalised()
    margins = Margins(natural)
    n, count, hinges = len(margins.support), len(margins.needed), len(margins.rows)
    if not count:
        return Iterate(problem.trivial_point(), Margins(problem).multipliers(np.zeros(0)), 0.0)
    p = natural.mass[margins.support]
    unit = float(np.max(p))
    G = natural.gram[np.ix_(margins.support, margins.support)] * (p / unit)
    limit = natural.bound * unit
    steps = np.eye(count, k=1)[: count - 1] - np.eye(count)[: count - 1]
    slacks = scipy.sparse.vstack([scipy.sparse.eye_array(hinges), scipy.sparse.csc_array((count - 1, hinges))])
    found = HighsProgramme(
        [np.vstack([margins.signs[:, None] * G[margins.rows], np.zeros((count - 1, n))]),
         np.vstack([-margins.signs[:, None] * margins.columns, steps]), slacks],
        np.concatenate([np.zeros(n + count), margins.caps / unit]),
        np.concatenate([np.full(n, -limit), np.full(count, -np.inf), np.zeros(hinges)]),
        np.concatenate([np.full(n, limit), np.full(count + hinges, np.inf)]),
        np.concatenate([np.full(hinges, natural.gamma), margins.spacing]),
        np.full(hinges + count - 1, np.inf),
    ).solve()  # fmt: skip
    point = {"v": margins.scatter(found.columns[:n] / limit), "thresholds": margins.thresholds(found.columns[n : n + count])}
    return Iterate(back.point(point), back.multipliers(margins.multipliers(found.rows[:hinges] * unit)), 0.0)
