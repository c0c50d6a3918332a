"""Instances, laws and the recipe that both forms of landmarked SVR share."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from simopt.data.similarities import Similarity
from simopt.ground.arrays import Array, Multipliers, Point
from simopt.problems import _recipes, _squares
from simopt.solving.problem import Image, Law, change_of_units, laws_of_samples

if TYPE_CHECKING:
    from simopt.data.datasets import Dataset


def instance(rng: np.random.Generator, n: int, d: int) -> tuple[Array, Array]:
    """Features of size 1 and noisy linear targets."""
    features = rng.normal(size=(n, d)) / np.sqrt(d)
    return features, features @ rng.normal(size=d) + 0.3 * rng.laplace(size=n)


def instances(rng: np.random.Generator) -> Iterator[tuple[str, Array, Array, float, bool]]:
    """Name, features, targets, ε, degenerate."""
    features, targets = instance(rng, 24, 3)
    yield "three features", features, targets, 0.1, False
    yield "ε = 0", features, targets, 0.0, False
    wide, some = instance(rng, 6, 10)
    yield "more features than samples", wide, some, 0.05, False
    yield "one sample", np.ones((1, 1)), np.array([4.0]), 0.5, False
    yield "ε above every |y|", features, targets, 100.0, True
    yield "zero targets", features, np.zeros(24), 0.0, True
    yield "zero features", np.zeros((5, 2)), np.arange(5.0), 0.1, True


def laws() -> list[Law]:
    """Laws of both forms."""

    def scale_features(problem: Any, rng: np.random.Generator) -> Image:
        c = float(2.0 ** rng.integers(-20, 21))
        return Image(problem.in_units(1.0, c), 1.0, _squares.times(w=1.0 / c))

    def mirror(problem: Any, rng: np.random.Generator) -> Image:
        def swap(values: Multipliers) -> Multipliers:
            return {"above": values["below"], "below": values["above"]}

        return Image(replace(problem, targets=-problem.targets), 1.0, _squares.times(w=-1.0), swap)

    def select(problem: Any, order: NDArray[np.intp], weight: float) -> Image:
        def carry(values: Multipliers | Point) -> Multipliers:
            return {key: np.asarray(values[key])[order] * weight for key in ("above", "below")}

        return Image(replace(problem, features=problem.features[order], targets=problem.targets[order]), 1.0, multipliers=carry)

    return [
        change_of_units("targets, ε and 1/β × s", lambda problem, s: Image(problem.in_units(s, 1.0), s, _squares.times(w=s))),
        Law("features × c", scale_features),
        Law("targets × −1", mirror),
        *laws_of_samples(select, "targets"),
    ]


def recipe(
    dataset: Dataset,
    rng: np.random.Generator,
    samples: int | None,
    landmarks: int | None,
    standardise: bool,
    similarity: str | Similarity,
    usual: int = _recipes.LANDMARKS,
) -> tuple[Array, Array, float]:
    """Features, targets centred at their median (w has no intercept), and the standard deviation of the targets (1 where it is 0)."""
    features, targets = _recipes.landmarked(dataset, rng, samples, landmarks, standardise, similarity, usual)
    return features, targets - np.median(targets), float(np.std(targets)) or 1.0
