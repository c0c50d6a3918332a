r"""Algorithm 2, forward greedy selection over ‖w‖₁ ≤ C, as printed: in float64, and in fractions on arrays of dtype object.

R(w) = Σ p_i ℓ(⟨x_i, w⟩ − y_i) with ‖x_i‖_∞ ≤ 1 and a β-smooth ℓ: the smoothed ε-insensitive loss, or (β/2) r² (`epsilon` = None).
At w with θ = ∇R(w), δ = ⟨θ, w⟩ + C‖θ‖_∞ ≥ R(w) − R* and η = min(1, δ/4C²β): w ← (1 − η) w − η C sign(θ_j) e_j, |θ_j| = ‖θ‖_∞.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice
from typing import Any

import numpy as np

from simopt.core.arrays import Array


@dataclass(frozen=True, eq=False)
class Landmarked:
    """Features (n, d), targets and masses (n,), all of one type; the loss; the radius C."""

    features: Array
    targets: Array
    masses: Array
    radius: Any
    beta: Any
    epsilon: Any = None

    def risk(self, w: Array, *, smooth: bool = True) -> Any:
        """R(w), or the mean of the ε-insensitive loss itself."""
        r = self.features @ w - self.targets
        if self.epsilon is None:
            return self.masses @ (r * r) * self.beta / 2
        over = np.maximum(np.abs(r) - self.epsilon, 0)
        if not smooth:
            return self.masses @ over
        return self.masses @ np.where(self.beta * over < 1, self.beta * over * over / 2, over - 1 / (2 * self.beta))

    def gradient(self, w: Array) -> Array:
        """θ = ∇R(w)."""
        r = self.features @ w - self.targets
        if self.epsilon is None:
            slopes = self.beta * r
        else:
            size = np.minimum(self.beta * np.maximum(np.abs(r) - self.epsilon, 0), 1)
            slopes = np.where(r > 0, size, -size)
        found: Array = (self.masses * slopes) @ self.features
        return found

    def steps(self, start: Array | None = None) -> Iterator[tuple[Array, Any, Any]]:
        """(w, δ, η) at the iterates from `start`, 0 unless given."""
        d = self.features.shape[1]
        w = np.zeros(d, dtype=self.features.dtype) + self.radius * 0 if start is None else start
        while True:
            theta = self.gradient(w)
            j = int(np.argmax(np.abs(theta)))
            delta = theta @ w + self.radius * abs(theta[j])
            eta = min(delta / (4 * self.radius**2 * self.beta), 1)
            yield w, delta, eta
            w = (1 - eta) * w
            w[j] += (-eta if theta[j] > 0 else eta) * self.radius

    def run(self, iterations: int, tolerance: float) -> tuple[Array, int]:
        """The predictor after at most `iterations` steps, stopped where δ ≤ tolerance, and the number of steps."""
        trace = enumerate(islice(self.steps(), iterations + 1))
        return next((w, t) for t, (w, delta, _) in trace if delta <= tolerance or t == iterations)


def iterations(radius: float, tolerance: float, beta: float) -> int:
    """k = ⌈8 β C²/ε⌉: for β = 1/ε this is the printed ⌈8C²/ε²⌉."""
    return math.ceil(8 * beta * radius**2 / tolerance - 1e-9)


def random_problem(rng: np.random.Generator, n: int, d: int, radius: float, epsilon_2: float, *, planted: int = 3) -> Landmarked:
    """Signs as features, targets by a planted w with ‖w‖₁ = C and, every second time, some noise; β = 1/ε_2."""
    X = rng.choice([-1.0, 1.0], size=(n, d))
    w = np.zeros(d)
    w[rng.choice(d, size=planted, replace=False)] = radius / planted * rng.choice([-1.0, 1.0], size=planted)
    noise = radius * rng.integers(0, 2) * rng.normal(size=n) / 4
    return Landmarked(X, X @ w + noise, np.full(n, 1 / n), radius, 1 / epsilon_2, 0.05 * rng.integers(0, 2))


def hadamard_problem(d: int, radius: float) -> Landmarked:
    """(1/2n)‖Hw − H1‖² = ½‖w − 1‖²: every coordinate is needed, and w = (C/d, …, C/d) is best for C ≤ d."""
    from scipy.linalg import hadamard

    H = hadamard(d).astype(float)
    return Landmarked(H, H @ np.ones(d), np.full(d, 1 / d), radius, 1.0)


def exact_problem(rng: np.random.Generator, n: int, d: int) -> Landmarked:
    """A small problem in fractions; features in {−1, −1/2, 0, 1/2, 1}."""

    def fractions(low: int, high: int, size: Any) -> Array:
        return np.array([Fraction(int(v), 2) for v in rng.integers(low, high, size=size).ravel()], dtype=object).reshape(size)

    masses = np.array([Fraction(1, n)] * n, dtype=object)
    loss = (Fraction(int(rng.integers(1, 5)), 2), None if rng.integers(2) else Fraction(int(rng.integers(0, 3)), 4))
    return Landmarked(fractions(-2, 3, (n, d)), fractions(-6, 7, (n,)), masses, Fraction(int(rng.integers(1, 5)), 2), *loss)


def least_insensitive_risk(problem: Landmarked) -> tuple[Array, float]:
    """min E ℓ_ε over ‖w‖₁ ≤ C by linear programming: the point, and the value there."""
    from scipy.optimize import linprog

    X, y, p, epsilon = problem.features, problem.targets, problem.masses, problem.epsilon or 0.0
    n, d = X.shape
    cost = np.concatenate([np.zeros(2 * d), p])
    rows = np.vstack([np.hstack([X, -X, -np.eye(n)]), np.hstack([-X, X, -np.eye(n)]), np.r_[np.ones(2 * d), np.zeros(n)][None]])
    found = linprog(cost, A_ub=rows, b_ub=np.concatenate([y + epsilon, epsilon - y, [problem.radius]]), bounds=(0, None), method="highs")
    w = found.x[:d] - found.x[d : 2 * d]
    w *= min(1.0, problem.radius / max(np.abs(w).sum(), 1e-300))
    return w, float(problem.risk(w, smooth=False))
