"""Labelled Gram matrices that are hard on an SVM solver."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from simopt.core.arrays import Array

Case = tuple[str, Array, Array]


def gaussian(inputs: Array, width: float = 1.0) -> Array:
    """exp(−‖x − x'‖²/width), exactly symmetric."""
    squares = np.sum((inputs[:, None] - inputs[None]) ** 2, axis=2)
    return np.exp(-squares / width)


def linear(inputs: Array) -> Array:
    """XXᵀ, exactly symmetric."""
    gram = inputs @ inputs.T
    return 0.5 * (gram + gram.T)


def noisy(n: int, seed: int, dimension: int = 3) -> tuple[Array, Array]:
    """A Gaussian Gram matrix whose labels no classifier of small norm gets right."""
    rng = np.random.default_rng(seed)
    inputs = rng.normal(size=(n, dimension))
    labels = np.where(np.sin(2 * inputs[:, 0]) + inputs[:, 1] * inputs[:, 2] + 0.5 * rng.normal(size=n) > 0, 1.0, -1.0)
    return gaussian(inputs, 2.0 * dimension), labels


def ugly(n: int, seed: int) -> Iterator[Case]:
    """Collinear, tied, duplicated, contradicting, unscaled, separable and degenerate data of n samples, n a multiple of 4."""
    rng = np.random.default_rng(seed)
    line = rng.normal(size=(n, 1))
    plane = rng.normal(size=(n, 2))
    coins = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    sides = np.where(plane[:, 0] > 0, 1.0, -1.0)
    few = -np.ones(n)
    few[0] = 1.0
    repeated = np.repeat(plane[: n // 4], 4, axis=0)
    tied = rng.integers(0, 3, size=(n, 2)).astype(float)
    pale = plane.copy()
    pale[[0, 3]] = 0.0
    yield "smooth on a line", gaussian(line, 20.0), np.where(np.sin(3 * line[:, 0]) + 0.5 * coins > 0, 1.0, -1.0)
    yield "almost the identity", gaussian(line, 1e-6), coins
    yield "duplicates that contradict", gaussian(repeated), coins
    yield "duplicates that agree", gaussian(repeated), np.repeat(sides[: n // 4], 4)
    yield "collinear", linear(line * np.array([[1.0, 2.0, -1.0]])), coins
    yield "collinear and separable", linear(line), np.where(line[:, 0] > 0, 1.0, -1.0)
    yield "separable", linear(plane), sides
    yield "polynomial", (1.0 + linear(plane)) ** 5 / 100.0, coins
    yield "unscaled features", linear(plane * np.array([1.0, 1e-4])), np.where(plane[:, 1] > 0, 1.0, -1.0)
    yield "zero feature vectors", linear(pale), coins
    yield "tied", linear(tied), coins
    yield "one class", gaussian(line), np.ones(n)
    yield "one against the rest", gaussian(line), few
    yield "zero kernel", np.zeros((n, n)), coins
    yield "constant kernel", np.ones((n, n)), coins
