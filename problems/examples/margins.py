"""Instances, laws and the recipe of the classifiers on labelled samples: hinge SVMs, mean classifiers, the SVM on a hull."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from simopt.core.arrays import Array
from simopt.data.similarities import Similarity
from simopt.model.problem import Image, Law
from simopt.problems import recipes
from simopt.problems.norms import squares

if TYPE_CHECKING:
    from simopt.data.datasets import Dataset

Case = tuple[str, Array, Array, bool]  # name, Gram matrix, labels, degenerate
WITHOUT_MEAN = ("contradicting labels", "zero kernel")  # instances with ω_S = 0


def gaussian(rng: np.random.Generator, n: int = 16) -> tuple[Array, Array]:
    """A Gaussian Gram matrix and the signs of noisy targets."""
    gram, targets = recipes.small_kernel(rng, n)
    return gram, np.where(targets > 0, 1.0, -1.0)


def instances(rng: np.random.Generator) -> Iterator[Case]:
    """Rank-deficient kernels, one class, one sample, a zero feature vector; contradicting labels, duplicated points, K = 0."""
    features = rng.normal(size=(12, 3))
    sides = np.where(features[:, 0] + 0.3 * features[:, 1] > 0, 1.0, -1.0)
    yield "rank 3", features @ features.T, sides, False
    pale = features.copy()
    pale[4] = 0.0
    yield "a zero feature vector", pale @ pale.T, sides, False
    gram, _ = gaussian(rng, 10)
    yield "one class", gram, np.ones(10), True
    yield "one sample", np.ones((1, 1)), np.array([-1.0]), True
    twice = np.repeat(np.arange(6), 2)
    yield "duplicated points", gram[np.ix_(twice, twice)], np.tile([1.0, 1.0, -1.0, -1.0, 1.0, -1.0], 2), True
    yield "contradicting labels", np.ones((2, 2)), np.array([1.0, -1.0]), True
    yield "zero kernel", np.zeros((3, 3)), np.array([1.0, -1.0, 1.0]), True


def weights(rng: np.random.Generator, n: int) -> Array:
    """Whole numbers that differ, the second of them 0."""
    out = rng.integers(1, 5, size=n).astype(float)
    out[1] = 0.0
    return out


def kernel_law(name: str) -> Law:
    """A kernel times s: f × √s at the same coefficients, so that α / s and a bound in these units leave every value as it is."""

    def scale_kernel(problem: Any, rng: np.random.Generator) -> Image:
        s = float(4.0 ** rng.integers(-10, 11))
        image = replace(problem, gram=problem.gram * s, bound=problem.bound.in_units(1.0 / math.sqrt(s), 1.0))
        return Image(image, 1.0, squares.scaling(alpha=1.0 / s))

    return Law(name, scale_kernel)


def laws() -> list[Law]:
    """Change of all labels, permutation, duplication."""

    def mirror(problem: Any, rng: np.random.Generator) -> Image:
        return Image(replace(problem, labels=-problem.labels), 1.0, squares.scaling(alpha=-1.0, bias=-1.0))

    return [Law("labels × −1", mirror), *squares.sample_laws("labels")]


def recipe(
    dataset: Dataset, rng: np.random.Generator, samples: int | None, standardise: bool, similarity: str | Similarity
) -> tuple[Array, Array]:
    """Gram matrix and labels of a sample of the data set; see `recipes.binary_sample`."""
    inputs, labels = recipes.binary_sample(dataset, rng, samples, standardise)
    return recipes.gram(inputs, similarity), labels
