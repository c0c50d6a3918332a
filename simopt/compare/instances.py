"""The problem that a cell is about: a recipe applied to data of a size, and a matrix given a condition number."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from simopt.core.arrays import Array
from simopt.core.errors import InvalidProblem, UnknownName
from simopt.data.datasets import Dataset, friedman
from simopt.model.problem import Problem, changed

GROUP = 10  # documents a query in generated rankings
GRADES = 5  # degrees of relevance there
SYMMETRIC = ("gram", "grams")
RECTANGULAR = ("features", "similarities")


def counts(kind: type[Problem]) -> str | None:
    """The unit of sizes: the option of the recipe that says how much of the data is taken, "samples" or "queries"; None: it takes all."""
    known = kind.recipe_options()
    return next((name for name in ("samples", "queries") if name in known), None)


def check_conditioning(kind: type[Problem]) -> None:
    """Refuse a problem that has no matrix whose condition number could be set.

    Raises
    ------
    InvalidProblem
    """
    if not _matrices(kind):
        known = ", ".join((*SYMMETRIC, *RECTANGULAR))
        raise InvalidProblem(f"conditionings: {kind.name} has no matrix ({known}) that could be given a condition number")


def _matrices(kind: type[Problem]) -> list[str]:
    return [item.name for item in dataclasses.fields(kind) if item.name in SYMMETRIC + RECTANGULAR]


def generated(kind: type[Problem], size: int, rng: np.random.Generator) -> Dataset:
    """Friedman's function with noise at `size` points; for a recipe that counts queries, `size` queries of ten documents of five grades."""
    if counts(kind) != "queries":
        return friedman(rng, n=size)
    made = friedman(rng, n=GROUP * size)
    grades = np.floor(GRADES * np.argsort(np.argsort(made.targets)) / len(made.targets))
    groups = np.repeat(np.arange(1.0, size + 1), GROUP)
    return dataclasses.replace(made, name="generated ranking", targets=grades, groups=groups, task="ranking")


def build(
    kind: type[Problem],
    data: Dataset | None,
    *,
    size: int | None,
    conditioning: float | None,
    settings: dict[str, Any],
    seed: int,
) -> Problem:
    """The instance: data (None: generated), recipe with `settings`, fields replaced, matrix conditioned.

    Raises
    ------
    InvalidProblem
        when the data are fewer than `size`, or the recipe or the problem refuses them.
    """
    rng = np.random.default_rng(seed)
    counted = counts(kind)
    if data is None:
        if size is None:
            raise InvalidProblem("sizes: generated data need a size")
        data = generated(kind, size, rng)
    for_recipe, for_problem = split(kind, settings)
    if size is not None and counted is not None:
        _enough(data, counted, size)
        for_recipe[counted] = size
    made = kind.from_data(data, rng, **for_recipe)
    made = changed(made, **for_problem) if for_problem else made
    return made if conditioning is None else conditioned(made, conditioning)


def _enough(data: Dataset, counted: str, size: int) -> None:
    there = data.n if counted == "samples" or data.groups is None else len(np.unique(data.groups))
    if size > there:
        raise InvalidProblem(f"sizes: {size} {counted} asked for, {data.name} has {there}")


def split(kind: type[Problem], settings: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Options of the recipe, and fields to replace in what it returns.

    Raises
    ------
    UnknownName
        for a name that is neither.
    """
    options, fields = kind.recipe_options(), kind.settable()
    for name in settings:
        if name not in options and name not in fields:
            raise UnknownName(f"field of {kind.name}", name, {*options, *fields})
    for_recipe = {name: value for name, value in settings.items() if name in options}
    return for_recipe, {name: value for name, value in settings.items() if name not in options}


def conditioned(problem: Problem, number: float) -> Problem:
    """The problem with the condition number of its matrix set to `number`.

    Singular vectors stay, the singular values (of a Gram matrix: the eigenvalues) are σ_j = σ κ^{−(j−1)/(r−1)}, j = 1 … r, with σ such that
    the Frobenius norm (the trace) stays. A stack of Gram matrices gets this one by one. O(n³) for Gram matrices, O(nd min(n, d)) else.

    Raises
    ------
    InvalidProblem
        when the problem has no matrix, or κ < 1.
    """
    check_conditioning(type(problem))
    if not (np.isfinite(number) and number >= 1.0):
        raise InvalidProblem(f"conditionings: condition numbers are at least 1, got {number!r}")
    replaced: dict[str, Any] = {}
    for name in _matrices(type(problem)):
        matrix = np.asarray(getattr(problem, name), dtype=float)
        if name == "grams":
            replaced[name] = np.stack([_symmetric(one, number) for one in matrix])
        else:
            replaced[name] = (_symmetric if name in SYMMETRIC and matrix.shape[0] == matrix.shape[1] else _rectangular)(matrix, number)
    return dataclasses.replace(problem, **replaced)


def _spectrum(count: int, number: float) -> Array:
    out: Array = number ** -np.linspace(0.0, 1.0, count) if count > 1 else np.ones(count)
    return out


def _symmetric(matrix: Array, number: float) -> Array:
    _, vectors = np.linalg.eigh(0.5 * (matrix + matrix.T))
    values = _spectrum(len(matrix), number)[::-1]  # eigenvalues come in rising order
    values = values * (float(np.trace(matrix)) / values.sum())
    made: Array = (vectors * values) @ vectors.T
    return 0.5 * (made + made.T)


def _rectangular(matrix: Array, number: float) -> Array:
    left, _, right = np.linalg.svd(matrix, full_matrices=False)
    values = _spectrum(min(matrix.shape), number)
    values = values * (float(np.linalg.norm(matrix)) / float(np.linalg.norm(values)))
    out: Array = (left * values) @ right
    return out
