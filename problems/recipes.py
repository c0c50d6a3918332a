"""Parts of recipes and examples: rows of a data set, standardised columns, similarities by name, landmarks, and small random data."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from simopt.core import validate
from simopt.core.arrays import Array
from simopt.core.errors import UnknownName
from simopt.data.datasets.labels import binary_labels
from simopt.data.landmarks import LandmarkMap
from simopt.data.similarities import Similarity, SimilarityRule, named

if TYPE_CHECKING:
    from simopt.data.datasets import Dataset

LANDMARKS = 50


def sample(dataset: Dataset, rng: np.random.Generator, samples: int | None, standardise: bool) -> tuple[Array, Array]:
    """At most `samples` rows (None: all) drawn without replacement, kept in the order of the data set.

    Columns get mean 0 and variance 1 if `standardise`; constant columns become 0. Returns inputs (n, p) and targets (n,).
    """
    inputs, targets = dataset.features, dataset.targets
    if samples is not None:
        count = validate.whole("samples", samples, minimum=1)
        if count < len(targets):
            rows = np.sort(rng.choice(len(targets), size=count, replace=False))
            inputs, targets = inputs[rows], targets[rows]
    return (standardised(inputs) if standardise else inputs), targets


def binary_sample(dataset: Dataset, rng: np.random.Generator, samples: int | None, standardise: bool) -> tuple[Array, Array]:
    """Inputs and labels ±1: targets that are ±1; of two other values the larger is +1; else whether the target is above its median.

    If nothing is above the median, +1 is what equals it.
    """
    inputs, targets = sample(dataset, rng, samples, standardise)
    return inputs, binary_labels(dataset, targets)


def standardised(inputs: Array) -> Array:
    """Columns minus their mean, over their standard deviation; constant columns become 0."""
    centred = inputs - inputs.mean(axis=0)
    spread = centred.std(axis=0)
    out: Array = centred / np.where(spread > 0, spread, 1.0)
    return out


def column(dataset: Dataset, inputs: Array, targets: Array, feature: str | int | None) -> int:
    """Index of a feature given by name or index; None: of the one that correlates best with the targets.

    Raises
    ------
    UnknownName
        with the nearest name.
    """
    if feature is None:
        return int(np.argmax(np.abs(inputs.T @ (targets - targets.mean()))))
    names = [str(i) for i in range(dataset.d)] if isinstance(feature, int) else list(dataset.feature_names)
    if str(feature) not in names:
        raise UnknownName("feature", str(feature), names)
    return names.index(str(feature))


def resolve(similarity: str | SimilarityRule | Similarity, inputs: Array) -> Similarity:
    """A similarity, or the one of that name with its parameters chosen for the inputs."""
    return named(similarity, inputs) if isinstance(similarity, str | SimilarityRule) else similarity


def gram(inputs: Array, similarity: str | SimilarityRule | Similarity) -> Array:
    """Gram matrix of the inputs, exactly symmetric."""
    return resolve(similarity, inputs).gram(inputs)


def landmark_features(
    inputs: Array,
    similarity: str | SimilarityRule | Similarity,
    landmarks: int | None,
    rng: np.random.Generator,
    usual: int = LANDMARKS,
    scaled: bool = True,
) -> Array:
    """Ψ of the inputs, `landmarks` of which are landmarks, drawn without replacement (None: `usual`, or all inputs where there are fewer).

    Not `scaled`, these are the similarities (K(x, l_1), …, K(x, l_d)) themselves, √d Ψ.

    Raises
    ------
    InvalidProblem
        when more landmarks are asked for than there are inputs.
    """
    count = min(usual, len(inputs)) if landmarks is None else landmarks
    found = LandmarkMap.from_data(inputs, count, rng, resolve(similarity, inputs))
    return found(inputs) if scaled else np.asarray(found.similarity(inputs, found.landmarks))


def landmarked(
    dataset: Dataset,
    rng: np.random.Generator,
    samples: int | None,
    landmarks: int | None,
    standardise: bool,
    similarity: str | SimilarityRule | Similarity,
    usual: int = LANDMARKS,
    scaled: bool = True,
) -> tuple[Array, Array]:
    """Ψ of a sample of the data set on landmarks drawn from it (see `landmark_features`), and the targets."""
    inputs, targets = sample(dataset, rng, samples, standardise)
    return landmark_features(inputs, similarity, landmarks, rng, usual, scaled), targets


def centred(
    dataset: Dataset,
    rng: np.random.Generator,
    samples: int | None,
    landmarks: int | None,
    standardise: bool,
    similarity: str | SimilarityRule | Similarity,
    centre: Callable[[Array], Any],
    usual: int = LANDMARKS,
    scaled: bool = True,
) -> tuple[Array, Array, float]:
    """Ψ as in `landmarked`, targets minus their centre (w has no intercept), and their standard deviation (1 where it is 0)."""
    features, targets = landmarked(dataset, rng, samples, landmarks, standardise, similarity, usual, scaled)
    return features, targets - centre(targets), float(np.std(targets)) or 1.0


def small_regression(rng: np.random.Generator, n: int, d: int) -> tuple[Array, Array]:
    """Features of size 1 and noisy linear targets, for examples."""
    features = rng.normal(size=(n, d)) / np.sqrt(d)
    return features, features @ rng.normal(size=d) + 0.3 * rng.laplace(size=n)


def small_kernel(rng: np.random.Generator, n: int) -> tuple[Array, Array]:
    """A Gaussian Gram matrix on n points of the plane and noisy targets of size 1, for examples."""
    inputs = rng.normal(size=(n, 2))
    targets = np.sin(2.0 * inputs[:, 0]) + 0.3 * rng.normal(size=n)
    return gram(inputs, "gaussian"), targets
