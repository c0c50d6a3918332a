"""Small training sets on which any family can be tried: one with real targets, one with two classes."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from simopt.data.similarities import Gaussian
from simopt.equivalence.family import Family
from simopt.equivalence.training import TrainingSet
from simopt.ground.errors import InvalidProblem

REAL, CLASSES = "real targets", "two classes"


def samples(n: int = 8, seed: int = 0) -> dict[str, TrainingSet]:
    """n points of the unit square with a Gaussian similarity: targets of a smooth function with noise, and their signs (both occur)."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n, 2))
    y = np.sin(5.0 * X[:, 0]) - 0.5 * X[:, 1] + 0.2 * rng.normal(size=n)
    signs = np.where(y > np.median(y), 1.0, -1.0)
    known = TrainingSet(X, y, Gaussian(0.5))
    return {REAL: known, CLASSES: known.with_targets(signs)}


def fitting(*families: Family, n: int = 8, seed: int = 0) -> Iterator[tuple[str, TrainingSet]]:
    """Those of the `samples` on which every family has a domain and can be fitted in its middle."""
    for kind, Z in samples(n, seed).items():
        try:
            for family in families:
                family(family.domain(Z).at(0.0), Z)
        except (ArithmeticError, InvalidProblem):
            continue
        yield kind, Z
