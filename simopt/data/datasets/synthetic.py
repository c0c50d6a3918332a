"""Data that are made, not measured."""

import numpy as np

from simopt.core import validate
from simopt.data.datasets.dataset import Dataset

FRIEDMAN_N = 2000
FRIEDMAN_D = 10


def friedman(rng: np.random.Generator, n: int = FRIEDMAN_N, noise: float = 1.0) -> Dataset:
    """y = 10 sin(pi x_1 x_2) + 20 (x_3 - 0.5)^2 + 10 x_4 + 5 x_5 + noise N(0, 1), with x uniform on [0, 1]^10.

    The synthetic data set of Audiffren and Kadri (appendix E), who take n = 2000 and noise = 1; x_6 to x_10 do not matter.
    """
    X = rng.uniform(size=(validate.whole("n", n, minimum=1), FRIEDMAN_D))
    signal = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2 + 10 * X[:, 3] + 5 * X[:, 4]
    y = signal + validate.nonnegative("noise", noise) * rng.standard_normal(X.shape[0])
    names = tuple(f"x{j}" for j in range(1, FRIEDMAN_D + 1))
    return Dataset("friedman", X, names, y, source="generated: Friedman's function with noise")
