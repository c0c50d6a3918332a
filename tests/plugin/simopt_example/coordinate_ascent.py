"""Quantile regression by coordinate ascent on its dual."""

from collections.abc import Iterator

import numpy as np

from simopt.solving.solution import Iterate
from simopt.solving.solver import solver
from simopt_example.quantile_regression import QuantileRegression


@solver("coordinate-ascent", solves=QuantileRegression, summary="exact steps in one dual variable after the other", rank=1)
def coordinate_ascent(problem: QuantileRegression, *, tol: float, max_iter: int = 20_000) -> Iterator[Iterate]:
    """One pass over the samples an iterate, n d operations and n + d numbers; the loss has kinks, so it yields multipliers."""
    psi, y, strength = problem.features, problem.targets, problem.regularization
    n = len(y)
    low, high = (problem.level - 1) / n, problem.level / n
    squares = np.einsum("ij,ij->i", psi, psi) / strength
    a, w = np.zeros(n), np.zeros(psi.shape[1])
    for _ in range(max_iter):
        for i in np.flatnonzero(squares > 0):
            step = np.clip(a[i] + (y[i] - psi[i] @ w) / squares[i], low, high) - a[i]
            a[i] += step
            w += step / strength * psi[i]
        w = psi.T @ a / strength  # so that rounding does not add up
        yield Iterate({"w": w}, {"predictions": a}, problem.gap({"w": w}, {"predictions": a}))
