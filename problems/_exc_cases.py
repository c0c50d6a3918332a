"""Instances, laws and the recipe that both forms of EXC share."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from simopt import validate
from simopt.arrays import Array, Multipliers
from simopt.problem import Image, Law, change_of_units, laws_of_samples
from simopt.problems import _recipes, _squares
from simopt.similarities import Similarity

if TYPE_CHECKING:
    from simopt.datasets import Dataset


def instance(rng: np.random.Generator, n: int, d: int, classes: int) -> tuple[Array, Array]:
    """Features of size 1 and labels cut from a noisy linear function at equal frequencies."""
    features = rng.normal(size=(n, d)) / np.sqrt(d)
    score = features @ rng.normal(size=d) + 0.3 * rng.normal(size=n)
    ranks = np.argsort(np.argsort(score))
    return features, 1.0 + np.floor(ranks * classes / n)


def instances(rng: np.random.Generator) -> Iterator[tuple[str, dict[str, Any], bool]]:
    """Name, the fields but the one that bounds w, and whether the instance is degenerate."""
    features, labels = instance(rng, 30, 3, 4)
    yield "four classes", {"features": features, "labels": labels, "classes": 4}, False
    yield "small margin, spacing 1/2", {"features": features, "labels": labels, "classes": 4, "gamma": 0.1, "delta": 0.5}, False
    yield "spacing 1", {"features": features, "labels": labels, "classes": 4, "delta": 1.0}, False
    empty = np.where(labels >= 3, labels + 1, labels)
    yield "empty class", {"features": features, "labels": empty, "classes": 6, "delta": 0.2}, False
    yield "two classes", {"features": features, "labels": 1.0 + (labels > 2), "classes": 2}, False
    yield "one class", {"features": features, "labels": np.full(30, 2.0), "classes": 3}, True
    yield "one sample", {"features": np.ones((1, 1)), "labels": np.array([2.0]), "classes": 3, "delta": 4.0}, True
    yield "zero features", {"features": np.zeros((5, 2)), "labels": np.array([1.0, 2.0, 2.0, 3.0, 1.0]), "classes": 3}, True


def laws() -> list[Law]:
    """Laws of both forms."""

    def scale_features(problem: Any, rng: np.random.Generator) -> Image:
        c = float(2.0 ** rng.integers(-20, 21))
        return Image(problem.in_units(1.0, c), 1.0, _squares.times(w=1.0 / c))

    def reverse(problem: Any, rng: np.random.Generator) -> Image:
        """Labels r + 1 − y: scores and thresholds change their signs, thresholds and their rows their order."""

        def point(values: dict[str, Array]) -> dict[str, Array]:
            return {"w": -np.asarray(values["w"]), "thresholds": -np.asarray(values["thresholds"])[::-1]}

        def multipliers(values: Multipliers) -> Multipliers:
            swapped = {"above": values["below"], "below": values["above"]} if {"above", "below"} <= set(values) else {}
            return {**swapped, "order": np.asarray(values.get("order", np.zeros(problem.classes - 2)))[::-1]}

        return Image(replace(problem, labels=problem.classes + 1 - problem.labels), 1.0, point, multipliers)

    def select(problem: Any, order: NDArray[np.intp], weight: float) -> Image:
        """The samples of `order`; the thresholds stay."""

        def carry(values: Multipliers) -> Multipliers:
            """Multipliers of the hinges that a selected sample has (NaN marks those it has not); those of the order rows stay."""
            out = {key: np.asarray(value) for key, value in values.items() if key == "order"}
            for key, rows in (("above", problem.high_rows), ("below", problem.low_rows)):
                if key in values:
                    full = np.full(len(problem.labels), np.nan)
                    full[rows] = values[key]
                    chosen = full[order] * weight
                    out[key] = chosen[~np.isnan(chosen)]
            return out

        return Image(replace(problem, features=problem.features[order], labels=problem.labels[order]), 1.0, multipliers=carry)

    return [
        change_of_units("margins × s", lambda problem, s: Image(problem.in_units(s, 1.0), s, _squares.times(w=s, thresholds=s))),
        Law("features × c", scale_features),
        Law("labels reversed", reverse),
        *laws_of_samples(select, "labels"),
    ]


def fields(
    dataset: Dataset,
    rng: np.random.Generator,
    samples: int | None,
    landmarks: int | None,
    standardise: bool,
    similarity: str | Similarity,
    bins: int | None,
) -> dict[str, Any]:
    """Features, labels and classes: whole-numbered targets of an ordinal data set as they are, from their least to their greatest value,
    or `bins` classes of equal frequency (5 for other data sets)."""
    features, targets = _recipes.landmarked(dataset, rng, samples, landmarks, standardise, similarity)
    return {"features": features, **classed(dataset, targets, bins)}


def classed(dataset: Dataset, targets: Array, bins: int | None) -> dict[str, Any]:
    """Labels and number of classes of a sample's targets, as `fields` says."""
    whole = bool(np.all(dataset.targets == np.round(dataset.targets)))
    if bins is None and dataset.task == "ordinal" and whole:
        least, greatest = float(dataset.targets.min()), float(dataset.targets.max())
        return {"labels": targets - least + 1.0, "classes": max(2, int(greatest - least) + 1)}
    count = validate.whole("bins", 5 if bins is None else bins, minimum=2)
    edges = np.quantile(targets, np.arange(1, count) / count)
    return {"labels": 1.0 + np.searchsorted(edges, targets, side="left"), "classes": count}
