"""Solves that help a certificate along, such as those for Slater points: which back end does them, and how long they may take.

Their results are guesses: they need not be accurate, but they have to end. An interior-point method factorises n(n + 1)/2 dense rows for a
cone of order n, so that SCS takes large cones. It may never reach a precision. Hence it gets a few times the iterations of the solve of the
problem itself, where that was one by SCS.
"""

from __future__ import annotations

from typing import Any

import cvxpy as cp

from simopt.duality.graph.matrix_terms import has_large_cones
from simopt.duality.graph.programme import Programme

MOST, FEW, FACTOR = 20_000, 1_000, 4  # iterations of SCS: of all; where cones are large at least, and of those of its own solve


def helping_solver(programme: Programme) -> str:
    """The back end for results that need not be accurate."""
    return str(cp.SCS if has_large_cones(programme) else cp.CLARABEL)


def none_tighter(programme: Programme, solver: str) -> bool:
    """Whether the back end has shown after one search what it can do: SCS, of large cones."""
    return solver == cp.SCS and has_large_cones(programme)


def scs_options(programme: Programme, eps: float) -> dict[str, Any]:
    """Options of SCS for this precision."""
    return {"eps_abs": eps, "eps_rel": eps, "max_iters": _most_iterations(programme), "warm_start": False}


def _most_iterations(programme: Programme) -> int:
    own = programme.problem.solver_stats
    if own is None or own.solver_name != cp.SCS or own.num_iters is None or not has_large_cones(programme):
        return MOST
    return min(MOST, max(FEW, FACTOR * int(own.num_iters)))
