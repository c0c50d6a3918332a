"""Solves that help a certificate along, such as those for Slater points: which back end does them, and how long they may take.

Their results are guesses: they need not be accurate, but they have to end. An interior-point method factorises n(n + 1)/2 dense rows for a
cone of order n, so that SCS takes large cones. It may never reach a precision. Hence all helping solves of one certificate together get a
few times the iterations of the solve of the problem itself, where that was one by SCS. Each may take a fraction of what is left, so that
none takes all.
"""

from __future__ import annotations

import math
from typing import Any

import cvxpy as cp

from simopt.core.errors import NotAvailable
from simopt.duality.graph.matrix_terms import has_large_cones
from simopt.duality.graph.programme import Programme

MOST = 20_000  # iterations of one solve
FEW, FACTOR = 1_000, 8  # iterations of all solves of a certificate: at least, and of those of the problem's own solve
# Of the iterations that are left, what a solve takes: for an interior point, for multipliers inside, and for what is judged itself.
INTERIOR, INSIDE, CANDIDATE = 0.125, 0.25, 0.5
CHECKED = 25  # iterations after which SCS looks at its residuals
COARSE = 1e-5  # precision of SCS for points that need not be accurate


def helping_solver(programme: Programme) -> str:
    """The back end for results that need not be accurate."""
    return str(cp.SCS if has_large_cones(programme) else cp.CLARABEL)


def none_tighter(programme: Programme, solver: str) -> bool:
    """Whether the back end has shown after one search what it can do: SCS, of large cones."""
    return solver == cp.SCS and has_large_cones(programme)


class IterationBudget:
    """The iterations that are left of those of all helping solves by SCS of one certificate; ∞ where nothing limits them.

    Parameters
    ----------
    programme : Programme
        of the problem that is certified.
    solved : cvxpy.Problem, optional
        the problem with the statistics of its own solve, if it was solved, where that is not the programme's: one with complex variables.
    """

    def __init__(self, programme: Programme, solved: cp.Problem | None = None) -> None:
        own = (programme.problem if solved is None else solved).solver_stats
        self.left = math.inf
        if own is not None and own.solver_name == cp.SCS and own.num_iters is not None and has_large_cones(programme):
            self.left = max(FEW, FACTOR * int(own.num_iters))

    def options(self, eps: float, fraction: float = INSIDE) -> dict[str, Any]:
        """Options of SCS for this precision, and for at most this fraction of the iterations that are left.

        Raises
        ------
        NotAvailable
            where no iterations are left.
        """
        most = min(MOST, fraction * self.left)
        if most < CHECKED:
            raise NotAvailable("SCS: no iterations are left of those that may help the certificate along")
        return {"eps_abs": eps, "eps_rel": eps, "max_iters": int(most), "warm_start": False}

    def interior_options(self, solver: str) -> dict[str, Any]:
        """Options for an interior point, which need not be accurate, by either back end."""
        return self.options(COARSE, INTERIOR) if solver == cp.SCS else {}

    def spend(self, problem: cp.Problem) -> None:
        """Subtract the iterations of a solve, if it was one by SCS."""
        stats = problem.solver_stats
        if stats is not None and stats.solver_name == cp.SCS and stats.num_iters is not None:
            self.left -= int(stats.num_iters)
