"""Instances, laws and the recipes that the forms of EXC and IMC share."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from simopt.core import validate
from simopt.core.arrays import Array, Multipliers
from simopt.core.errors import InvalidProblem
from simopt.data.similarities import Similarity
from simopt.model.problem import Example, Image, Law, change_of_units, laws_of_samples
from simopt.problems import recipes
from simopt.problems.bounds import Ball, Penalty
from simopt.problems.norms import squares
from simopt.problems.sample_weights import in_parts
from simopt.problems.thresholds.constant_scores import equispaced

if TYPE_CHECKING:
    from simopt.data.datasets import Dataset

AS_THEY_ARE = 20  # in a file that does not say what its targets are; more whole numbers are rather counts or measurements
Case = tuple[str, dict[str, Any], bool]  # name, fields but the one that bounds w, degenerate


def instance(rng: np.random.Generator, n: int, d: int, classes: int) -> tuple[Array, Array]:
    """Features of size 1 and labels cut from a noisy linear function at equal frequencies."""
    features = rng.normal(size=(n, d)) / np.sqrt(d)
    score = features @ rng.normal(size=d) + 0.3 * rng.normal(size=n)
    ranks = np.argsort(np.argsort(score))
    return features, 1.0 + np.floor(ranks * classes / n)


def kernel_instance(rng: np.random.Generator, n: int, classes: int) -> tuple[Array, Array]:
    """A Gaussian Gram matrix on points of the plane, labels cut from noisy targets at equal frequencies."""
    gram, targets = recipes.small_kernel(rng, n)
    return gram, 1.0 + np.floor(np.argsort(np.argsort(targets)) * classes / n)


def instances(rng: np.random.Generator) -> Iterator[Case]:
    """EXC with learned thresholds: name, the fields but the one that bounds w, and whether the instance is degenerate."""
    for name, fields, degenerate in separate_instances(rng):
        yield name, fields, degenerate
        if name == "four classes":
            yield "small margin, spacing 1/2", {**fields, "gamma": 0.1, "delta": 0.5}, False
            yield "spacing 1", {**fields, "delta": 1.0}, False
            yield "all spacings active", {**fields, "delta": 20.0}, False
        if name in ("empty class", "one sample"):
            yield f"{name}, spacing", {**fields, "delta": 0.2 if name == "empty class" else 4.0}, degenerate


def separate_instances(rng: np.random.Generator) -> Iterator[Case]:
    """The same without spacings."""
    features, labels = instance(rng, 30, 3, 4)
    yield "four classes", {"features": features, "labels": labels, "classes": 4}, False
    yield "small margin", {"features": features, "labels": labels, "classes": 4, "gamma": 0.1}, False
    yield "empty class", {"features": features, "labels": np.where(labels >= 3, labels + 1, labels), "classes": 6}, False
    yield "two classes", {"features": features, "labels": 1.0 + (labels > 2), "classes": 2}, False
    yield "unequal classes", {"features": features, "labels": 1.0 + (np.arange(30) > 27) + (np.arange(30) > 28), "classes": 3}, False
    tied = np.repeat(features[:10], 3, axis=0)
    yield "tied samples", {"features": tied, "labels": labels, "classes": 4}, False
    yield "one class", {"features": features, "labels": np.full(30, 2.0), "classes": 3}, True
    yield "one sample", {"features": np.ones((1, 1)), "labels": np.array([2.0]), "classes": 3}, True
    yield "zero features", {"features": np.zeros((5, 2)), "labels": np.array([1.0, 2.0, 2.0, 3.0, 1.0]), "classes": 3}, True
    yield "collinear features", {"features": features[:, [0, 0, 0]] * [1.0, 1.0, -2.0], "labels": labels, "classes": 4}, True


def fixed_instances(rng: np.random.Generator) -> Iterator[Case]:
    """EXC with given thresholds."""
    for name, fields, degenerate in separate_instances(rng):
        thresholds = equispaced(fields["classes"])
        yield name, {**fields, "thresholds": thresholds}, degenerate
        if name == "four classes":
            yield "unequal steps, off centre", {**fields, "thresholds": np.array([-0.2, 0.1, 2.5])}, False
            yield "thresholds without a sample", {**fields, "classes": 6, "thresholds": np.array([-1.0, -0.2, 0.6, 1e6, 1e9])}, False
    yield "all beyond", {"features": np.ones((3, 1)), "labels": np.ones(3), "classes": 2, "thresholds": np.array([5.0])}, True


def bounded(cls: Any, cases: Iterator[Case], rng: np.random.Generator, **more: Any) -> Iterator[Example]:
    """Examples of a problem with a bound: the cases, and one whose bound hardly matters, with `more` fields."""
    for name, fields, degenerate in cases:
        yield Example(name, cls(**fields, bound=cls.either(ball=Ball(3.0), penalty=Penalty(0.05))), degenerate)
    features, labels = instance(rng, 24, 2, 3)
    name, loose = cls.either(ball=("inactive ball", Ball(200.0)), penalty=("weak regularization", Penalty(1e-5)))
    yield Example(name, cls(features=features, labels=labels, classes=3, gamma=0.5, bound=loose, **more))
    tight = cls.either(ball=Ball(3.0), penalty=Penalty(0.05))
    weighted = cls(features=features, labels=labels, classes=3, gamma=0.5, bound=tight, weights=weights(rng, 24), **more)
    yield Example("weights, one of them 0", weighted)


def kernel_instances(rng: np.random.Generator) -> Iterator[Case]:
    """EXC in an RKHS: Gaussian kernels, and those of the instances with features."""
    gram, labels = kernel_instance(rng, 20, 4)
    yield "gaussian kernel", {"gram": gram, "labels": labels, "classes": 4}, False
    yield "gaussian kernel, small margin, spacing", {"gram": gram, "labels": labels, "classes": 4, "gamma": 0.1, "delta": 0.3}, False
    for name, fields, degenerate in instances(rng):
        rest = {key: value for key, value in fields.items() if key != "features"}
        yield name, {"gram": fields["features"] @ fields["features"].T, **rest}, degenerate


def laws() -> list[Law]:
    """Laws of all forms."""

    def scale_features(problem: Any, rng: np.random.Generator) -> Image:
        c = float(4.0 ** rng.integers(-10, 11))
        return Image(problem.in_units(1.0, c), 1.0, squares.scaling(w=1.0 / c, alpha=1.0 / c))

    return [
        change_of_units("margins × s", lambda problem, s: Image(problem.in_units(s, 1.0), s, squares.scaling(w=s, alpha=s, thresholds=s))),
        Law("features × c", scale_features),
        Law("labels reversed", lambda problem, rng: _reversed(problem)),
        *laws_of_samples(_selected, "labels"),
    ]


def laws_with_weights() -> list[Law]:
    """Laws of the forms that have weights."""
    return [*laws(), in_parts(_selected, "labels")]


def weights(rng: np.random.Generator, n: int) -> Array:
    """Numbers that differ, the second of them 0."""
    out = rng.integers(1, 9, size=n) / 2.0
    out[1] = 0.0
    return out


def _reversed(problem: Any) -> Image:
    """Labels r + 1 − y: scores and thresholds change their signs, thresholds and their rows their order."""
    given = {"thresholds": -problem.thresholds[::-1]} if hasattr(problem, "thresholds") else {}
    image = replace(problem, labels=problem.classes + 1 - problem.labels, **given)

    def point(values: dict[str, Array]) -> dict[str, Array]:
        return {key: -np.asarray(value)[::-1] if key == "thresholds" else -np.asarray(value) for key, value in values.items()}

    def multipliers(values: Multipliers) -> Multipliers:
        """Rows above a threshold become rows below it, with the thresholds in reverse order; so are the rows that order them."""
        out = {"order": np.asarray(values["order"])[::-1]} if "order" in values else {}
        for key, side, other, turned in zip(("above", "below"), problem.sides, ("below", "above"), image.sides[::-1], strict=True):
            if key in values:
                out[other] = turned.from_table(side.table(values[key])[:, ::-1])
        return out

    return Image(image, 1.0, point, multipliers)


def _selected(problem: Any, order: NDArray[np.intp], weight: Any) -> Image:
    """The samples of `order`; the thresholds stay."""
    if hasattr(problem, "gram"):
        image = replace(problem, gram=problem.gram[np.ix_(order, order)], labels=problem.labels[order])
    else:
        own = {} if getattr(problem, "weights", None) is None else {"weights": problem.weights[order]}
        image = replace(problem, features=problem.features[order], labels=problem.labels[order], **own)

    def point(values: dict[str, Array]) -> dict[str, Array]:
        return {key: np.asarray(value)[order] * weight if key == "alpha" else value for key, value in values.items()}

    def multipliers(values: Multipliers) -> Multipliers:
        """Those of a sample go with it, times its weight; those that order the thresholds stay."""
        out = {key: np.asarray(value) for key, value in values.items() if key == "order"}
        for key, side, chosen in zip(("above", "below"), problem.sides, image.sides, strict=True):
            if key in values:
                out[key] = chosen.from_table(side.table(values[key])[order] * np.reshape(weight, (-1, 1)))
        return out

    return Image(image, 1.0, point, multipliers)


def fields(
    dataset: Dataset,
    rng: np.random.Generator,
    samples: int | None,
    landmarks: int | None,
    standardise: bool,
    similarity: str | Similarity,
    bins: int | None,
) -> dict[str, Any]:
    """Features, labels and classes.

    The labels of a binary data set are two classes. Targets that are all whole are classes as they are, the least of them class 1. This
    holds in an ordinal data set, and in any other with at most 20 whole numbers from the least to the greatest. Other targets, and all if
    `bins` is given, are cut into `bins` (5) classes of equal frequency, as far as ties allow.

    Raises
    ------
    InvalidProblem
        when all targets of the data set are equal. Without `bins` also when some, but fewer than half, are not whole: a slip. The latter
        holds in an ordinal data set, and in any other whose least and greatest target are less than 20 apart.
    """
    features, targets = recipes.landmarked(dataset, rng, samples, landmarks, standardise, similarity)
    return {"features": features, **_classes(dataset, targets, bins)}


def kernel_fields(
    dataset: Dataset, rng: np.random.Generator, samples: int | None, standardise: bool, similarity: str | Similarity, bins: int | None
) -> dict[str, Any]:
    """Gram matrix, labels and classes, the latter as in `fields`."""
    inputs, targets = recipes.sample(dataset, rng, samples, standardise)
    return {"gram": recipes.gram(inputs, similarity), **_classes(dataset, targets, bins)}


def _classes(dataset: Dataset, targets: Array, bins: int | None) -> dict[str, Any]:
    least, greatest = float(dataset.targets.min()), float(dataset.targets.max())
    if least == greatest:
        raise InvalidProblem(
            f"data set {dataset.name}: all {dataset.n} targets are {least:g}; at least two labels must occur to tell classes apart"
        )
    if bins is None and dataset.task == "binary":
        return {"labels": 1.0 + (targets > least), "classes": 2}
    odd = np.flatnonzero(dataset.targets != np.round(dataset.targets))
    few = dataset.task == "ordinal" or greatest - least < AS_THEY_ARE
    if bins is None and few and 0 < 2 * len(odd) < dataset.n:
        row = int(odd[0])
        raise InvalidProblem(
            f"data set {dataset.name}: the target of row {row} (from 0) is {dataset.targets[row]:.15g}, and {dataset.n - len(odd)} of "
            f"{dataset.n} are whole numbers, which would be classes; mend it, or give bins=5, say, to cut all at equal frequencies"
        )
    if bins is None and few and not len(odd):
        return {"labels": targets - least + 1.0, "classes": int(greatest - least) + 1}
    count = validate.whole("bins", 5 if bins is None else bins, minimum=2)
    edges = np.quantile(targets, np.arange(1, count) / count)
    return {"labels": 1.0 + np.searchsorted(edges, targets, side="left"), "classes": count}
