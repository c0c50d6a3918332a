"""A small training set that suits two families: from a data set, or synthetic; real targets, labels ±1 or classes 1, 2, 3."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from simopt.core import validate
from simopt.core.arrays import Array
from simopt.core.errors import InvalidProblem
from simopt.data.datasets.dataset import Dataset
from simopt.data.datasets.labels import binary_labels
from simopt.data.rows import Indices
from simopt.data.similarities import SimilarityRule, named
from simopt.data.similarities.defaults import DEFAULT_KERNEL
from simopt.equivalence.family import Family, Interval
from simopt.equivalence.training import SimilarityFunction, TrainingSet

Kind = Literal["real", "labels", "classes"]

SAMPLES = 20  # of a data set; paths that are computed exactly take minutes for 25
SYNTHETIC = 12
CLASSES = 3


@dataclass(frozen=True)
class TrainingSample:
    """A training set, and in words what was made of the data."""

    Z: TrainingSet
    name: str
    kind: Kind
    remarks: tuple[str, ...]


def synthetic(count: int = SYNTHETIC) -> Dataset:
    """sin(2x₀) + 0.2 noise at normal points of ℝ³, with seed 0."""
    rng = np.random.default_rng(0)
    inputs = rng.normal(size=(validate.whole("samples", count, minimum=2), 3))
    targets = np.sin(2.0 * inputs[:, 0]) + 0.2 * rng.normal(size=len(inputs))
    return Dataset("a synthetic sample", inputs, ("x0", "x1", "x2"), targets, source="sin(2 x0) + 0.2 noise, seed 0")


def sample_for(
    families: Sequence[Family],
    dataset: Dataset,
    *,
    samples: int = SAMPLES,
    similarity: str | SimilarityFunction = DEFAULT_KERNEL,
    kind: Kind | None = None,
) -> TrainingSample:
    """At most `samples` rows of the data, drawn with seed 0, with the first kind of targets on which all families are defined.

    Real targets are centred at their mean, unless they are ±1 or all equal. Labels are +1 above the median. Classes are 1, 2, 3, of equal
    frequency.

    Raises
    ------
    InvalidProblem
        when a family is defined on none of the kinds, or not on the one asked for, with the reason.
    """
    count = validate.whole("samples", samples, minimum=2)
    rows = np.arange(dataset.n)
    remarks = []
    if count < dataset.n:
        rows = np.sort(np.random.default_rng(0).choice(dataset.n, size=count, replace=False))
        remarks.append(f"{count} of {dataset.n} rows, drawn with seed 0 (--samples takes more)")
    inputs = dataset.features[rows]
    space = named(similarity, inputs) if isinstance(similarity, str | SimilarityRule) else similarity
    reasons: dict[str, list[str]] = {}
    for tried in KINDS if kind is None else (kind,):
        targets, remark = KINDS[tried](dataset, rows)
        Z = TrainingSet(inputs, targets, space)
        reason = next((reason for family in families if (reason := undefined(family, Z)) is not None), None)
        if reason is None:
            return TrainingSample(Z, dataset.name, tried, tuple([*remarks, remark] if remark else remarks))
        reasons.setdefault(reason, []).append(tried)
    causes = "; ".join(f"{', '.join(kinds)} targets: {reason}" for reason, kinds in reasons.items())
    raise InvalidProblem(f"targets: no kind suits {' and '.join(family.name for family in families)}; {causes}")


def undefined(family: Family, Z: TrainingSet) -> str | None:
    """Why the family is not defined on this set; None where it is, as one fit in the middle of its domain tells.

    Raises
    ------
    InvalidProblem
        where what it gives is no interval, or no function.
    """
    try:
        domain: Any = family.domain(Z)
        if isinstance(domain, Interval):
            family(domain.at(0.0), Z)
    except InvalidProblem as error:
        return f"{family.name}: {error}"
    except ArithmeticError:  # it is, but this fit failed
        return None
    if not isinstance(domain, Interval):
        raise InvalidProblem(f"{family.name}: its domain is {type(domain).__name__}, an Interval needed")
    return None


def _real(dataset: Dataset, rows: Indices) -> tuple[Array, str]:
    targets = dataset.targets[rows]
    if not np.ptp(targets) > 0.0 or np.all(np.abs(dataset.targets) == 1.0):
        return targets, ""
    return targets - np.mean(targets), f"targets centred at their mean {np.mean(targets):.6g}"


def _labels(dataset: Dataset, rows: Indices) -> tuple[Array, str]:
    given = dataset.targets[rows]
    made = binary_labels(dataset, given)
    counts = f"{np.sum(made > 0)} labels +1, {np.sum(made < 0)} labels -1"
    return made, counts if np.array_equal(made, given) else f"targets made labels: {counts}"


def _classes(dataset: Dataset, rows: Indices) -> tuple[Array, str]:
    ranks = np.argsort(np.argsort(dataset.targets[rows], kind="stable"), kind="stable")
    return 1.0 + np.floor(CLASSES * ranks / len(rows)), f"targets made classes 1 to {CLASSES} of equal frequency"


KINDS: dict[Kind, Callable[[Dataset, Indices], tuple[Array, str]]] = {"real": _real, "labels": _labels, "classes": _classes}
