r"""Single-index models on finitely many points, labels in {0, 1}: a sample of any size is a table of counts.

Samples at one x enter the algorithms only through their number and their mean label, so that m = 10⁹ costs no more than m = 100.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from simopt.core.arrays import Array
from simopt.core.errors import InvalidProblem
from simopt.theorems.kkks.float_tron import Transfer


def clip(start: float) -> Transfer:
    """u(t) = t − start, clipped to [0, 1]."""
    return lambda t: np.clip(t - start, 0.0, 1.0)


def sigmoid(t: Array) -> Array:
    """u(t) = 1/(1 + e^{−4t}), the logistic function with the slope 1 at 0."""
    return np.asarray(0.5 * (1.0 + np.tanh(2.0 * t)))


TRANSFERS: dict[str, Transfer] = {
    "ramp around 0": clip(-0.5),
    "sigmoid": sigmoid,
}


@dataclass(frozen=True, eq=False)
class CountedSample:
    """A sample: the points that occur, how often, and their mean labels; E[y|x] beside them."""

    X: Array
    counts: Array
    labels: Array
    means: Array

    @property
    def frequencies(self) -> Array:
        """counts/m."""
        out: Array = self.counts / self.counts.sum()
        return out

    def noise(self) -> float:
        """‖mean (y − E[y|x]) x‖."""
        return float(np.linalg.norm((self.frequencies * (self.labels - self.means)) @ self.X))


@dataclass(frozen=True, eq=False)
class FiniteModel:
    """x uniform on the rows of X (norms ≤ 1), P(y = 1|x) = u(w·x), ‖w‖ = W."""

    X: Array
    w: Array
    u: Transfer

    @property
    def W(self) -> float:
        """‖w‖."""
        return float(np.linalg.norm(self.w))

    @property
    def means(self) -> Array:
        """E[y|x]."""
        return np.asarray(self.u(self.X @ self.w))

    def sample(self, m: int, rng: np.random.Generator) -> CountedSample:
        """m independent draws."""
        k = len(self.X)
        counts = rng.multinomial(m, np.full(k, 1.0 / k))
        ones = rng.binomial(counts, self.means)
        seen = counts > 0
        return CountedSample(self.X[seen], counts[seen].astype(float), ones[seen] / counts[seen], self.means[seen])


def points_on_circle(k: int) -> Array:
    """k points of the unit circle, equally spaced from a place that is no axis."""
    angles = 0.3 + 2.0 * math.pi * np.arange(k) / k
    return np.column_stack([np.cos(angles), np.sin(angles)])


def points_in_disc(k: int) -> Array:
    """k points that fill the unit disc evenly, on a spiral with the golden angle."""
    radii, angles = np.sqrt((np.arange(k) + 0.5) / k), math.pi * (3.0 - math.sqrt(5.0)) * np.arange(k)
    return np.column_stack([radii * np.cos(angles), radii * np.sin(angles)])


def net(W: float, directions: int, radii: tuple[float, ...]) -> list[Array]:
    """Vectors of the plane of norm W · share in equally spaced directions."""
    angles = 2.0 * math.pi * (np.arange(directions) + 0.25) / directions
    return [W * radius * np.array([math.cos(a), math.sin(a)]) for radius in radii for a in angles]


def points_on_sphere(k: int, d: int) -> Array:
    """k fixed points of the unit sphere of ℝ^d, drawn once from the uniform law."""
    found = np.random.default_rng(20110000 + d).standard_normal((k, d))
    out: Array = found / np.linalg.norm(found, axis=1, keepdims=True)
    return out


SETS: dict[str, Callable[[], Array]] = {
    "line": lambda: np.linspace(-1.0, 1.0, 9)[:, None],
    "circle": lambda: points_on_circle(24),
    "disc": lambda: points_in_disc(6000),
    "axes": lambda: np.eye(40),
    "sphere": lambda: points_on_sphere(200, 20),
}


def finite_model(points: str, transfer: str, W: float) -> FiniteModel:
    """The model with w = W (1, 0, …), or W (1, −1, 1, …)/√d on the axes."""
    if points not in SETS or transfer not in TRANSFERS:
        raise InvalidProblem(f"model: no points {points!r} or no transfer {transfer!r}; there are {list(SETS)} and {list(TRANSFERS)}")
    X = SETS[points]()
    d = X.shape[1]
    direction: Array = np.eye(d)[0]
    if points == "axes":
        direction = np.cos(math.pi * np.arange(d)) / math.sqrt(d)
    return FiniteModel(X, W * direction, TRANSFERS[transfer])


def model_of(points: Any, transfer: str, W: Any) -> FiniteModel:
    """The model that an instance names."""
    return finite_model(points, transfer, W)
