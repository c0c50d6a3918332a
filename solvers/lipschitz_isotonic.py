"""Lipschitz isotonic regression by the exact dynamic programme of the chain; L = ∞ is the pool-adjacent-violators problem."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from simopt.arithmetic import FLOAT
from simopt.problems.lipschitz_isotonic import LipschitzIsotonic
from simopt.solution import Iterate
from simopt.solver import solver
from simopt.solvers.chain_fit import chain_prices, fit_chain


@solver("lpav", solves=LipschitzIsotonic, summary="exact dynamic programme on the derivative of the cost-to-go, O(m √m) at worst", rank=1)
def lpav(problem: LipschitzIsotonic, *, tol: float) -> Iterator[Iterate]:
    """The exact solution, at once; its multipliers are the cumulative residuals.

    O(m) on benign data, O(m √m) at worst; about 10 floats a sample. Source: Kakade, Kalai, Kanade & Shamir 2011, §4, for the problem.
    """
    bounds = np.where(problem.free, np.inf, problem.steps(FLOAT))
    weights = np.ones(len(problem.targets)) if problem.weights is None else problem.weights
    x, state = fit_chain(problem.targets, weights, bounds)
    tau = chain_prices(x, problem.targets, weights, bounds, state)
    yield Iterate({"x": x}, {"lipschitz": np.maximum(tau, 0.0), "monotone": np.maximum(-tau, 0.0)})
