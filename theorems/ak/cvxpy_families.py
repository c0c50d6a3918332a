"""The same learners solved through CVXPY, with the error radii that their certificates give."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from simopt.equivalence.family import Family, family
from simopt.equivalence.training import KernelFunction, TrainingSet
from simopt.problems.m_power_rls import MPowerRLS, PowerBall
from simopt.solving.problem import Problem
from simopt.solving.solution import Solution
from simopt.theorems.ak.families import ROUNDING, power_problem, ridge_problem

Radius = Callable[[Problem, Solution], float]


def certificate_radius(problem: Problem, solution: Solution) -> float:
    """`Problem.distance` of the solution's gap; ∞ without a certificate."""
    if solution.certificate is None or solution.point is None:
        return math.inf
    return problem.distance(solution.certificate.gap, dict(solution.point))


def ball_radius(problem: Problem, solution: Solution) -> float:
    """`MPowerRLS.spread` of the better of the solver's multipliers and those that the point suggests."""
    if not isinstance(problem, MPowerRLS.form("ball")) or solution.point is None:
        return math.inf
    point = dict(solution.point)
    candidates = (problem.multipliers(point), solution.multipliers)
    return min(problem.spread(point, dict(v)) for v in candidates if v is not None)


def learned(
    name: str,
    pose: Callable[[float, TrainingSet], Problem],
    *,
    solver: str = "clarabel",
    tol: float = 1e-9,
    time_limit: float = 60.0,
    radius: Radius = certificate_radius,
) -> Family:
    """A family whose members are solved through `simopt.solve`, with the radius that each certificate gives (not only when it is OPTIMAL).

    Parameters
    ----------
    pose : callable
        (λ, Z) → a kernel problem with a point {"alpha": …} over the points of Z.
    radius : callable
        (problem, solution) → H-norm radius around the solution that holds the optimum.

    Raises (on use)
    ---------------
    ArithmeticError
        when the solver returns no point.
    """
    from simopt.solving.driver import solve

    def fit(lam: float, Z: TrainingSet) -> KernelFunction:
        problem = pose(lam, Z)
        solution = solve(problem, solver, tol=tol, time_limit=time_limit)
        if solution.point is None:
            raise ArithmeticError(f"{name} at {lam:g}: {solver} returned no point ({solution.reported_status}: {solution.message})")
        f = Z.function(np.asarray(solution.point["alpha"]), error=radius(problem, solution))
        return replace(f, error=f.error + ROUNDING * f.norm())

    return Family(f"{name} by {solver}", fit)


@family("kernel-ridge-cvxpy", summary="KRR solved through CVXPY, with the error radius of its certificate")
def kernel_ridge_cvxpy(solver: str = "clarabel", tol: float = 1e-9) -> Family:
    """KRR by a CVXPY back end."""
    return learned("kernel-ridge", lambda lam, Z: ridge_problem(Z, lam), solver=solver, tol=tol)


@family("m-power-rls-cvxpy", summary="M-RLSR(m) solved through CVXPY, with the error radius of its certificate")
def m_power_rls_cvxpy(power: float = 3.0, solver: str = "clarabel", tol: float = 1e-9) -> Family:
    """M-RLSR by a CVXPY back end."""
    return learned(f"m-power-rls({power:g})", lambda lam, Z: power_problem(Z, lam, power), solver=solver, tol=tol)


@family("m-power-rls-ball-cvxpy", summary="Ivanov M-RLSR(m) solved through CVXPY, with the error radius of its certificate")
def m_power_rls_ball_cvxpy(power: float = 3.0, solver: str = "clarabel", tol: float = 1e-9) -> Family:
    """Ivanov M-RLSR, ‖f‖^m ≤ ρ, by a CVXPY back end."""

    def pose(level: float, Z: TrainingSet) -> Problem:
        return MPowerRLS(ridge_problem(Z, 1.0).gram, Z.targets, PowerBall(level, power))

    return learned(f"m-power-rls-ball({power:g})", pose, solver=solver, tol=tol, radius=ball_radius)
