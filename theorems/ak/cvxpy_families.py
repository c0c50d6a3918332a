"""The same learners solved through CVXPY, with the error radii that their certificates give."""

from __future__ import annotations

import math

from simopt.equivalence.declared_family import learned
from simopt.equivalence.family import Family, family
from simopt.equivalence.training import TrainingSet
from simopt.model.problem import Problem
from simopt.problems.m_power_rls import MPowerRLS, PowerBall
from simopt.solving.solution import Solution
from simopt.theorems.ak.families import power_problem, ridge_problem


def ball_radius(problem: Problem, solution: Solution) -> float:
    """`MPowerRLS.ball_distance` of the better of the solver's multipliers and those that the point suggests."""
    if not isinstance(problem, MPowerRLS.form("ball")) or solution.point is None:
        return math.inf
    point = dict(solution.point)
    candidates = (problem.multipliers(point), solution.multipliers)
    return min(problem.ball_distance(point, dict(v)) for v in candidates if v is not None)


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
