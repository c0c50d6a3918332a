"""Instances and laws that the goodness problems of ordinal regression share."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simopt.core.arrays import Array, Multipliers, Point
from simopt.core.fields import NonNegative, Positive, arguments
from simopt.model.problem import Image, Law, change_of_units, laws_of_samples
from simopt.problems import recipes
from simopt.problems.norms import squares

Case = tuple[str, dict[str, Any], bool]


def _domain(rng: np.random.Generator, n: int, classes: int) -> dict[str, Any]:
    """A Gaussian kernel, labels cut from a noisy function at equal frequencies, unequal masses."""
    gram, score = recipes.small_kernel(rng, n)
    ranks = np.argsort(np.argsort(score))
    p = rng.exponential(size=n)
    return {"gram": gram, "labels": 1.0 + np.floor(ranks * classes / n), "classes": classes, "masses": p / p.sum()}


@arguments
def two_points(gamma: Positive, epsilon1: NonNegative, gamma1: Positive = 1.0) -> tuple[Array, Array, Array]:
    """Gram matrix, labels and masses of the instance on which B = γ₁²/(4ε₁γ²) is least: x = 2γ, label 2, mass ε₁/γ₁; x = 0, label 1."""
    fraction = epsilon1 / gamma1
    return np.array([[4.0 * gamma * gamma, 0.0], [0.0, 0.0]]), np.array([2.0, 1.0]), np.array([fraction, 1.0 - fraction])


def instances(rng: np.random.Generator) -> Iterator[Case]:
    """Name, the fields of `OrdinalGoodness`, degenerate."""
    four = _domain(rng, 12, 4)
    yield "four classes", {**four, "bound": 10.0}, False
    yield "small margin, spacing 1/2", {**four, "bound": 5.0, "gamma": 0.1, "delta": 0.5}, False
    yield "spacing 2", {**four, "bound": 40.0, "delta": 2.0}, False
    signs = np.where(rng.uniform(size=(10, 10)) < 0.5, -1.0, 1.0)
    some = 1.0 + rng.permutation(10) % 3
    yield "random signs", {"gram": signs, "labels": some, "classes": 3, "bound": 2.0}, False
    yield "random signs, small B", {"gram": signs, "labels": some, "classes": 3, "bound": 0.25, "gamma": 0.5, "delta": 0.25}, False
    gap = np.where(four["labels"] >= 3, four["labels"] + 1, four["labels"])
    yield "empty class", {**four, "labels": gap, "classes": 6, "bound": 10.0, "delta": 0.2}, False
    yield "two classes", {**_domain(rng, 10, 2), "bound": 6.0}, False
    gram, labels, masses = two_points(0.25, 0.25)
    yield "two points", {"gram": gram, "labels": labels, "classes": 2, "bound": 10.0, "masses": masses}, False
    inner = rng.normal(size=(8, 2))
    ranked = 1.0 + np.argsort(np.argsort(inner[:, 0])) // 3
    yield "rank 2, large B", {"gram": inner @ inner.T, "labels": ranked, "classes": 3, "bound": 300.0}, False
    twice = np.repeat(np.arange(6), 2)
    double = {"gram": four["gram"][np.ix_(twice, twice)], "labels": four["labels"][twice], "classes": 4}
    yield "duplicated points", {**double, "bound": 6.0}, True
    holes = np.array([0.5, 0.0, 0.25, 0.25, 0.0])
    yield "masses of 0", {"gram": signs[:5, :5], "labels": some[:5], "classes": 3, "bound": 1.5, "masses": holes}, True
    yield from _degenerate(4.0)


def _degenerate(bound: float) -> Iterator[Case]:
    yield "one class", {"gram": np.eye(4), "labels": np.full(4, 2.0), "classes": 3, "bound": bound}, True
    yield "one point", {"gram": np.array([[0.5]]), "labels": np.array([2.0]), "classes": 3, "bound": bound, "delta": 4.0}, True
    zero = {"gram": np.zeros((5, 5)), "labels": np.array([1.0, 2.0, 2.0, 3.0, 1.0]), "classes": 3}
    yield "zero similarity", {**zero, "bound": bound}, True


def kernels(rng: np.random.Generator) -> Iterator[Case]:
    """Name, the fields of `KernelOrdinalGoodness`, degenerate."""
    four = _domain(rng, 12, 4)
    yield "four classes", {**four, "gamma": 0.3}, False
    yield "large ball", {**four, "gamma": 0.05}, False
    yield "spacing 3, small ball", {**four, "gamma": 0.8, "delta": 3.0}, False
    gap = np.where(four["labels"] >= 3, four["labels"] + 1, four["labels"])
    yield "empty class", {**four, "labels": gap, "classes": 6, "gamma": 0.2, "delta": 0.5}, False
    yield "two classes", {**_domain(rng, 10, 2), "gamma": 0.3}, False
    gram, labels, masses = two_points(0.25, 0.25)
    yield "two points", {"gram": gram, "labels": labels, "classes": 2, "gamma": 0.375, "masses": masses}, False
    inner = rng.normal(size=(10, 2))
    noisy = inner[:, 0] + 0.5 * rng.normal(size=10)
    ranked = 1.0 + np.argsort(np.argsort(noisy)) // 4
    yield "rank 2, inactive ball", {"gram": inner @ inner.T, "labels": ranked, "classes": 3, "gamma": 0.01}, False
    twice = np.repeat(np.arange(6), 2)
    double = {"gram": four["gram"][np.ix_(twice, twice)], "labels": four["labels"][twice], "classes": 4}
    yield "duplicated points", {**double, "gamma": 0.5}, True
    holes = np.array([0.5, 0.0, 0.25, 0.25, 0.0])
    part = {"gram": four["gram"][:5, :5], "labels": np.array([1.0, 2.0, 3.0, 2.0, 1.0]), "classes": 3}
    yield "masses of 0", {**part, "gamma": 0.5, "masses": holes}, True
    for name, fields, degenerate in _degenerate(1.0):
        fields["gamma"] = fields.pop("bound")
        yield name, fields, degenerate


def reversed_labels(problem: Any, rng: np.random.Generator) -> Image:
    """Labels r + 1 − y: predictions and thresholds change their signs, thresholds and their rows their order."""

    def point(values: Point) -> Point:
        turned: dict[str, Array] = {key: -np.asarray(values[key]) for key in ("v", "alpha") if key in values}
        return turned | {"thresholds": -np.asarray(values["thresholds"])[::-1]}

    def multipliers(values: Multipliers) -> Multipliers:
        swapped = {one: values[two] for one, two in (("above", "below"), ("below", "above")) if two in values}
        return {**swapped, "order": np.asarray(values.get("order", np.zeros(problem.classes - 2)))[::-1]}

    return Image(replace(problem, labels=problem.classes + 1 - problem.labels), 1.0, point, multipliers)


def selected(problem: Any, order: NDArray[np.intp], weight: float) -> Image:
    """The problem on the points of `order`, each of `weight` times its mass; thresholds stay, and weights w_j of points do."""
    masses = None if problem.masses is None else problem.masses[order] * weight
    image = replace(problem, gram=problem.gram[np.ix_(order, order)], labels=problem.labels[order], masses=masses)

    def point(values: Point) -> Point:
        factors: dict[str, float] = {"v": 1.0, "alpha": weight}
        moved: dict[str, Array] = {key: np.asarray(values[key])[order] * factor for key, factor in factors.items() if key in values}
        return moved | {key: np.asarray(value) for key, value in values.items() if key == "thresholds"}

    def multipliers(values: Multipliers) -> Multipliers:
        """Those of a sample go with it, times `weight`; a label at an end of the scale has a row on one side only."""
        out = {"order": np.asarray(values["order"])} if "order" in values else {}
        for key, side in zip(("above", "below"), problem.sides, strict=True):
            if key in values:
                chosen = np.full(len(problem.labels), np.nan)
                chosen[side.rows] = values[key]
                out[key] = chosen[order][~np.isnan(chosen[order])] * weight
        return out

    return Image(image, 1.0, point, multipliers)


def laws() -> list[Law]:
    """Laws of `OrdinalGoodness`."""

    def by(problem: Any, s: float) -> Image:
        return Image(problem.in_units(s, 1.0), s, squares.scaling(thresholds=s))

    def scale_similarity(problem: Any, rng: np.random.Generator) -> Image:
        return Image(problem.in_units(1.0, float(2.0 ** rng.integers(-20, 21))))

    return [
        change_of_units("margins × s", by),
        Law("similarity × c", scale_similarity),
        Law("labels reversed", reversed_labels),
        *laws_of_samples(selected, "labels"),
    ]


def kernel_laws() -> list[Law]:
    """Laws of `KernelOrdinalGoodness`, whose margin is 1 in any units."""

    def scale_features(problem: Any, rng: np.random.Generator) -> Image:
        c = float(2.0 ** rng.integers(-20, 21))
        return Image(problem.in_units(c), 1.0, squares.scaling(alpha=c**-2.0))

    return [Law("φ × c", scale_features), Law("labels reversed", reversed_labels), *laws_of_samples(selected, "labels")]
