"""The values at which CLARABEL ends with tolerances near rounding, of the matrices themselves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import scipy.sparse as sp

from simopt.core.arrays import Array
from simopt.duality.quadratic.quadratic_programme import QuadraticProgramme

TOLERANCE = 1e-12  # less is taken for a lack of progress at times
SETTINGS: tuple[dict[str, float], ...] = ({}, {"static_regularization_constant": 1e-10})  # one after the other
TIME_LIMIT, ITERATIONS = 60.0, 100  # seconds


def accurate_solves(quadratic: QuadraticProgramme) -> Iterator[tuple[Array, Array]]:
    """A point, and multipliers of the rows, where they are numbers."""
    for options in SETTINGS:
        found = _solved(quadratic, options)
        if found is not None:
            yield found


def _solved(quadratic: QuadraticProgramme, options: Mapping[str, float]) -> tuple[Array, Array] | None:
    import clarabel

    linear = quadratic.linear
    fixed = linear.low == linear.high
    equal, apart = np.flatnonzero(linear.equality), np.flatnonzero(~linear.equality)
    above, below = (np.flatnonzero(np.isfinite(end) & ~fixed) for end in (linear.high, linear.low))
    unit = sp.eye_array(len(linear.low), format="csr")
    parts = [linear.matrix.mid[equal], unit[fixed], linear.matrix.mid[apart], unit[above], -unit[below]]
    right = [-linear.constants.mid[equal], linear.low[fixed], -linear.constants.mid[apart], linear.high[above], -linear.low[below]]
    settings = clarabel.DefaultSettings()
    settings.verbose, settings.time_limit, settings.max_iter = False, TIME_LIMIT, ITERATIONS
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = TOLERANCE
    for name, value in options.items():
        setattr(settings, name, value)
    equalities = len(equal) + int(np.sum(fixed))
    cones = [clarabel.ZeroConeT(equalities), clarabel.NonnegativeConeT(sum(map(len, right)) - equalities)]
    matrices = sp.csc_matrix(sp.triu(quadratic.hessian.mid)), sp.csc_matrix(sp.vstack(parts))
    found = clarabel.DefaultSolver(matrices[0], quadratic.slope.mid, matrices[1], np.concatenate(right), cones, settings).solve()
    x, z, y = np.array(found.x), np.array(found.z), np.zeros(len(linear.equality))
    if not (np.isfinite(x).all() and np.isfinite(z).all()):
        return None
    y[equal], y[apart] = z[: len(equal)], z[equalities : equalities + len(apart)]
    return x, y
