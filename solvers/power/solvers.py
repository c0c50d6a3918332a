r"""M-power RLS, ‖f‖ᵐ as a penalty or bounded by B: one secular equation for the μ of the ridge path on which every fit lies.

In a ball μ is the root of ‖f_μ‖ = B, and for ‖f‖ᵐ that of log μ = κ + (m − 2) log ‖f_μ‖, for m ≥ 1. `single_fit` tells by
its first steps in which spectrum the latter is solved: of a Krylov space, of a factor, or all of K. Many (λ, m) at once are fitted by
`grid`, and the stationary points for m < 1 listed by `stationary`.
"""

from __future__ import annotations

from collections.abc import Iterator

from simopt.model.problem import Problem
from simopt.problems.m_power_rls import MPowerRLS
from simopt.solvers.power.single_fit import power_fit
from simopt.solvers.squares.constrained_fit import constrained_fit
from simopt.solving.solution import Iterate
from simopt.solving.solver import solver

ACCURACY = 1e-12  # gap / upper asked of the fit, at little cost: its error in f is of the order of the root of the gap


def _convex(problem: Problem) -> str | None:
    if isinstance(problem, MPowerRLS) and not problem.bound.convex:
        return f"m = {problem.power:g} < 1 is not convex; simopt.solvers.power.stationary enumerates its stationary points"
    return None


@solver(
    "secular",
    solves=MPowerRLS.form("penalty"),
    summary="one secular equation: Lanczos, then shift-invert Lanczos, then eigenvectors",
    supports=_convex,
    rank=10,
)
def secular(problem: MPowerRLS, *, tol: float, method: str = "auto") -> Iterator[Iterate]:
    r"""a = (K + μI)⁻¹ y with μ = (n λ m / 2) (aᵀKa)^{(m−2)/2}, m ≥ 1.

    Time: k products with K (n² numbers each, k from 10 to n/25), or n³/3 flops with n² numbers of workspace; see
    solvers/power/single_fit.py. `method` is "auto", "lanczos", "cholesky" or "eigen".
    """
    fit = power_fit(problem.gram, problem.targets, problem.regularization, problem.power, tol=min(tol, ACCURACY), method=method)
    yield Iterate({"alpha": fit.coefficients}, {"predictions": fit.dual}, fit.bracket.gap)


@solver("secular", solves=MPowerRLS.form("ball"), summary="‖f_μ‖ = B by a concave Newton iteration on one eigendecomposition", rank=10)
def secular_ball(problem: MPowerRLS, *, tol: float) -> Iterator[Iterate]:
    """a = (K + μI)⁻¹ y with aᵀKa = B², or K⁺y if that lies inside the ball. About 9 n³ flops, 3 n² numbers."""
    fit = constrained_fit(problem.gram, problem.targets, problem.norm_bound)
    yield Iterate({"alpha": fit.coefficients}, {"predictions": fit.dual}, fit.gap)
