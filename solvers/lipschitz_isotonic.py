"""Lipschitz isotonic regression by the exact dynamic programme of the chain; L = ∞ is the pool-adjacent-violators problem."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from simopt.arithmetic import FLOAT
from simopt.problems.lipschitz_isotonic import LipschitzIsotonic
from simopt.solution import Iterate
from simopt.solver import solver
from simopt.solvers.bounded_chain import fit_bounded_chain


@solver("lpav", solves=LipschitzIsotonic, summary="exact dynamic programme on the derivative of the cost-to-go, O(m √m) at worst", rank=1)
def lpav(problem: LipschitzIsotonic, *, tol: float) -> Iterator[Iterate]:
    """The exact solution, at once; its multipliers are the cumulative residuals.

    O(m) on benign data, O(m √m) at worst; about 10 floats a sample. Source: Kakade, Kalai, Kanade & Shamir 2011, §4, for the problem.
    """
    bounds = np.where(problem.free, np.inf, problem.steps(FLOAT))
    x, tau = fit_bounded_chain(
        problem.targets,
        problem.mass,
        bounds,
        least=None if problem.lower_slopes is None else problem.least_steps(FLOAT),
        lo=-np.inf if problem.low is None else problem.low,
        hi=np.inf if problem.high is None else problem.high,
        distances=np.diff(problem.positions),
    )
    yield Iterate({"x": x}, problem.as_multipliers(tau))
