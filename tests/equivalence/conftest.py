"""Training sets that the tests of equivalence share, and a way to fit M-RLSR that shares no code with the library."""

from collections.abc import Callable

import numpy as np
import pytest
from scipy.optimize import brentq

from simopt.core.arrays import Array
from simopt.data.similarities import Gaussian, Linear
from simopt.equivalence.training import TrainingSet

Refit = Callable[[Array, Array, float, float, int], Array]


def small(seed: int, n: int = 9, *, linear: bool = False) -> TrainingSet:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return TrainingSet(X, np.sin(2 * X[:, 0]) + 0.2 * rng.normal(size=n), Linear() if linear else Gaussian(3.0))


@pytest.fixture
def gaussian() -> TrainingSet:
    return small(0)


@pytest.fixture
def linear() -> TrainingSet:
    """Rank 3 among 9 points."""
    return small(1, linear=True)


@pytest.fixture
def no_signal() -> TrainingSet:
    """K = ones, y = (1, −1): K Y = 0 although Y ≠ 0."""
    return TrainingSet(np.ones((2, 1)), np.array([1.0, -1.0]), Linear())


@pytest.fixture
def refit() -> Refit:
    """Coefficients of argmin (1/N) ‖y − Ka‖² + λ (aᵀKa)^{m/2} by linear solves and bisection."""

    def fit(K: Array, y: Array, lam: float, m: float, N: int) -> Array:
        d, Q = np.linalg.eigh(K)
        factor = np.sqrt(np.where(d > 1e-13 * d[-1], d, 0.0))[:, None] * Q.T  # a is mostly in the null space of K, where d is noise

        def alpha(s: float) -> Array:
            solution: Array = np.linalg.solve(K + np.exp(s) * np.eye(len(y)), y)
            return solution

        def equation(s: float) -> float:
            return float(s - (m - 2) * np.log(np.linalg.norm(factor @ alpha(s))) - np.log(N * lam * m / 2))

        return alpha(brentq(equation, -25, 60, xtol=1e-14, rtol=1e-14))

    return fit
