"""Instances, laws and the recipe that the goodness problems share."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from simopt.core import validate
from simopt.core.arrays import Array, Multipliers, Point
from simopt.core.fields import InUnit, NonNegative, arguments
from simopt.data.similarities import Similarity
from simopt.model.problem import Image, Law, change_of_units, laws_of_samples
from simopt.problems import recipes
from simopt.problems.losses.prediction_losses import LOSSES
from simopt.problems.norms import squares

if TYPE_CHECKING:
    from simopt.data.datasets import Dataset

Case = tuple[str, Array, Array, dict[str, Any], bool]


@arguments
def four_points(gamma: InUnit, epsilon1: NonNegative) -> tuple[Array, Array, Array]:
    """Gram matrix, labels and masses of Kar & Jain's tight instance of Theorem 6, γ ≤ 1/√2.

    The points x are (γ, γ, c), (γ, −γ, c), (−γ, γ, c), (−γ, −γ, c) with c = √(1 − 2γ²). Their labels are +, +, −, −, their masses ε₁,
    ½ − ε₁, ½ − ε₁, ε₁ (the paper's ε is ½ − ε₁). The linear kernel has K = 1, 1 − 2γ² or 1 − 4γ² as 0, 1 or 2 of the first two coordinates
    differ.
    """
    differing = np.array([[0, 1, 1, 2], [1, 0, 2, 1], [1, 2, 0, 1], [2, 1, 1, 0]])
    heavy = 0.5 - epsilon1
    return 1.0 - 2.0 * gamma**2 * differing, np.array([1.0, 1.0, -1.0, -1.0]), np.array([epsilon1, heavy, heavy, epsilon1])


def instances(rng: np.random.Generator) -> Iterator[Case]:
    """Name, K, y, fields of `Goodness` (without B for the caller that has none), degenerate."""
    gaussian, y = recipes.small_kernel(rng, 12)
    labels = np.where(y > 0, 1.0, -1.0)
    p = rng.exponential(size=12)
    p /= p.sum()
    signs = np.where(rng.uniform(size=(10, 10)) < 0.5, -1.0, 1.0)
    some = rng.normal(size=10)
    yield "kernel, absolute loss", gaussian, y, {"bound": 5.0, "masses": p}, False
    yield "kernel, ε = 0.2", gaussian, y, {"bound": 20.0, "epsilon": 0.2}, False
    yield "kernel, hinge", gaussian, labels, {"bound": 8.0, "masses": p, "loss": "hinge"}, False
    yield "kernel, squared loss", gaussian, y, {"bound": 8.0, "masses": p, "loss": "squared"}, False
    yield "random signs", signs, some, {"bound": 2.0}, False
    yield "random signs, hinge of margin 1/4", signs, np.sign(some), {"bound": 0.5, "loss": "hinge", "margin": 0.25}, False
    yield "random signs, squared loss", signs, some, {"bound": 3.0, "loss": "squared"}, False
    four, sides, mass = four_points(0.25, 0.125)
    yield "four points", four, sides, {"bound": 10.0, "masses": mass, "loss": "hinge"}, False
    inner = rng.normal(size=(8, 2))
    low = inner @ inner.T
    yield "rank 2, large B", low, np.where(inner[:, 0] > 0, 1.0, -1.0), {"bound": 300.0, "loss": "hinge"}, False
    twice = np.repeat(np.arange(6), 2)
    yield "duplicated points", gaussian[np.ix_(twice, twice)], y[twice], {"bound": 6.0}, True
    holes = np.array([0.5, 0.0, 0.25, 0.25, 0.0])
    yield "masses of 0", signs[:5, :5], some[:5], {"bound": 1.5, "masses": holes, "epsilon": 0.05}, True
    yield "one point", np.array([[-0.5]]), np.array([2.0]), {"bound": 1.0}, True
    yield "constant similarity", np.ones((6, 6)), some[:6], {"bound": 4.0, "loss": "squared"}, True
    yield "zero similarity", np.zeros((4, 4)), some[:4], {"bound": 1.0}, True
    yield "ε above every |y|", gaussian, y, {"bound": 1.0, "epsilon": 50.0}, True
    yield "zero targets", gaussian, np.zeros(12), {"bound": 1.0}, True
    yield "zero targets, squared loss", gaussian, np.zeros(12), {"bound": 1.0, "loss": "squared"}, True


def kernels(rng: np.random.Generator) -> Iterator[Case]:
    """Name, K, y, fields of `KernelGoodness`, degenerate."""
    gaussian, y = recipes.small_kernel(rng, 12)
    labels = np.where(y > 0, 1.0, -1.0)
    p = rng.exponential(size=12)
    p /= p.sum()
    yield "absolute loss", gaussian, y, {"gamma": 0.5, "masses": p}, False
    yield "ε = 0.2, large ball", gaussian, y, {"gamma": 0.1, "epsilon": 0.2}, False
    yield "hinge", gaussian, labels, {"gamma": 0.3, "masses": p, "loss": "hinge"}, False
    yield "hinge of margin 1/4", gaussian, labels, {"gamma": 0.7, "loss": "hinge", "margin": 0.25}, False
    yield "squared loss", gaussian, y, {"gamma": 0.4, "masses": p, "loss": "squared"}, False
    four, sides, mass = four_points(0.25, 0.125)
    yield "four points", four, sides, {"gamma": 0.375, "masses": mass, "loss": "hinge"}, False
    inner = rng.normal(size=(10, 2))
    noisy = inner[:, 0] + rng.normal(size=10)
    yield "rank 2, squared loss, inactive ball", inner @ inner.T, noisy, {"gamma": 0.25, "loss": "squared"}, False
    yield "rank 2, absolute loss, inactive ball", inner @ inner.T, noisy, {"gamma": 0.25}, False
    twice = np.repeat(np.arange(6), 2)
    yield "duplicated points", gaussian[np.ix_(twice, twice)], y[twice], {"gamma": 1.0}, True
    holes = np.array([0.5, 0.0, 0.25, 0.25, 0.0])
    yield "masses of 0", gaussian[:5, :5], y[:5], {"gamma": 0.5, "masses": holes, "epsilon": 0.05}, True
    yield "one point", np.array([[0.5]]), np.array([2.0]), {"gamma": 1.0}, True
    yield "zero kernel", np.zeros((4, 4)), y[:4], {"gamma": 1.0}, True
    yield "ε above every |y|", gaussian, y, {"gamma": 1.0, "epsilon": 50.0}, True
    yield "zero targets", gaussian, np.zeros(12), {"gamma": 1.0}, True


def laws() -> list[Law]:
    """Laws of problems with fields gram and targets over one finite domain, a method in_units(s, c), and points that are pure numbers."""

    def by(problem: Any, s: float) -> Image:
        factor = s * s if problem.loss == "squared" else s
        return Image(problem.in_units(s, 1.0), factor, multipliers=squares.scaling(predictions=problem.multiplier_unit(s)))

    def scale_similarity(problem: Any, rng: np.random.Generator) -> Image:
        return Image(problem.in_units(1.0, float(2.0 ** rng.integers(-20, 21))))

    def mirror(problem: Any, rng: np.random.Generator) -> Image:
        flip = squares.scaling(v=-1.0)
        return Image(replace(problem, targets=-problem.targets), 1.0, flip, squares.scaling(predictions=-1.0))

    return [
        change_of_units("units of f × s", by),
        Law("similarity × c", scale_similarity),
        Law("targets × −1", mirror),
        *laws_of_samples(selected, "targets"),
    ]


def selected(problem: Any, order: NDArray[np.intp], weight: float) -> Image:
    """The problem on the points of `order`, each of `weight` times its mass; weights of points stay, multipliers share their mass."""
    masses = None if problem.masses is None else problem.masses[order] * weight
    image = replace(problem, gram=problem.gram[np.ix_(order, order)], targets=problem.targets[order], masses=masses)

    def point(values: Point) -> Point:
        return {key: np.asarray(values[key])[order] for key in ("v", "R") if key in values}

    def multipliers(values: Multipliers) -> Multipliers:
        return {"predictions": np.asarray(values["predictions"])[order] * weight}

    return Image(image, 1.0, point, multipliers)


def kernel_laws() -> list[Law]:
    """Laws of `KernelGoodness`, whose point is α."""

    def by(problem: Any, s: float) -> Image:
        factor = s * s if problem.loss == "squared" else s
        return Image(problem.in_units(s, 1.0), factor, squares.scaling(alpha=s), squares.scaling(predictions=problem.multiplier_unit(s)))

    def scale_features(problem: Any, rng: np.random.Generator) -> Image:
        c = float(2.0 ** rng.integers(-20, 21))
        return Image(problem.in_units(1.0, c), 1.0, squares.scaling(alpha=c**-2.0))

    def mirror(problem: Any, rng: np.random.Generator) -> Image:
        flip = squares.scaling(alpha=-1.0, predictions=-1.0)
        return Image(replace(problem, targets=-problem.targets), 1.0, flip, flip)

    def select(problem: Any, order: NDArray[np.intp], weight: float) -> Image:
        def carry(values: Point | Multipliers) -> dict[str, Array]:
            return {key: np.asarray(values[key])[order] * weight for key in ("alpha", "predictions") if key in values}

        return Image(selected(problem, order, weight).problem, 1.0, carry, carry)

    return [
        change_of_units("units of f × s", by),
        Law("φ × c", scale_features),
        Law("targets × −1", mirror),
        *laws_of_samples(select, "targets"),
    ]


def recipe(
    dataset: Dataset,
    rng: np.random.Generator,
    samples: int | None,
    standardise: bool,
    similarity: str | Similarity,
    loss: str,
    epsilon: float | None,
    margin: float,
) -> tuple[Array, Array, dict[str, Any]]:
    """K on a sample of the data, targets (centred at their median, in standard deviations) or labels, and the options of the loss."""
    validate.choice("loss", loss, LOSSES)
    width = (0.1 if loss == "insensitive" else 0.0) if epsilon is None else epsilon
    options = {"loss": loss, "epsilon": width, "margin": margin}
    if loss == "hinge":
        inputs, labels = recipes.binary_sample(dataset, rng, samples, standardise)
        return recipes.gram(inputs, similarity), labels, options
    inputs, targets = recipes.sample(dataset, rng, samples, standardise)
    spread = float(np.std(targets)) or 1.0
    return recipes.gram(inputs, similarity), (targets - np.median(targets)) / spread, options
