"""Instances, laws and the recipe of isotonic regression with bounds on slopes and range."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from simopt.arithmetic import FLOAT
from simopt.core.arrays import Array, Multipliers
from simopt.model.problem import Image, Law, change_of_units
from simopt.problems import recipes
from simopt.problems.norms import squares

if TYPE_CHECKING:
    from simopt.data.datasets import Dataset

ROWS = ("lipschitz", "monotone", "upper", "low", "high")


def instances(rng: np.random.Generator) -> Iterator[tuple[str, dict[str, Any], bool]]:
    """Name, fields, degenerate."""
    z = np.sort(rng.uniform(size=25))
    y = z + 0.3 * rng.normal(size=25)
    data = {"positions": z, "targets": y}
    yield "noise", {**data, "lipschitz": 2.0}, False
    yield "labels, steep", {"positions": z, "targets": (y > 0.5).astype(float), "lipschitz": 20.0, "low": 0.0, "high": 1.0}, False
    yield "weights", {**data, "weights": rng.uniform(0.1, 3.0, size=25)}, False
    yield "ties", {"positions": np.floor(6 * z), "targets": y, "lipschitz": 0.3}, False
    yield "no bound", {**data, "lipschitz": math.inf}, False
    yield "constant", {**data, "lipschitz": 0.0}, False
    lower, upper = rng.uniform(0.0, 0.8, size=24), rng.exponential(size=24) + 0.9
    yield "slopes of each interval", {**data, "lipschitz": 1.5, "lower_slopes": lower, "upper_slopes": upper}, False
    some = np.where(np.arange(24) % 3 == 0, math.inf, upper)
    yield "some without bound", {**data, "lipschitz": math.inf, "lower_slopes": lower, "upper_slopes": some}, False
    yield "a narrow range", {**data, "lipschitz": 3.0, "low": 0.3, "high": 0.7, "outside": "keep"}, False
    steep = {"lower_slopes": 0.5 + lower, "low": 0.0, "high": float(0.55 + 0.8 * z[-1])}
    yield "a range that slopes fill", {**data, "lipschitz": math.inf, "outside": "keep", **steep}, False
    yield "clipped", {"positions": np.floor(6 * z), "targets": y, "lipschitz": 0.3, "low": 0.1, "outside": "clip"}, False
    sparse = np.where(rng.uniform(size=25) < 0.5, 0.0, rng.uniform(0.1, 3.0, size=25))
    sparse[[0, 1, 24]], sparse[12] = 0.0, 1.0
    yield "samples of no weight", {**data, "lipschitz": 2.0, "weights": sparse, "lower_slopes": lower}, False
    yield "constant targets", {"positions": z, "targets": np.full(25, 3.0)}, True
    yield "zero targets", {"positions": z, "targets": np.zeros(25)}, True
    yield "one sample", {"positions": np.array([1.0]), "targets": np.array([2.0])}, True
    yield (
        "targets on the steepest line",
        {"positions": z, "targets": 1.0 + 2.0 * z, "lower_slopes": np.full(24, 2.0), "lipschitz": 2.0},
        True,
    )


def laws() -> list[Law]:
    """Scaling of y and the slopes, of z, of the weights; shift of y and the range; reversal; duplication."""
    return [
        change_of_units("targets, slopes and range × s", _scale_targets),
        Law("positions × c, slopes / c", _scale_positions),
        Law("weights × c", _scale_weights),
        Law("targets and range + c", _shift),
        Law("reversal", _reverse),
        Law("duplication", _duplicate),
    ]


def _scaled(problem: Any, s: float, *names: str) -> dict[str, Any]:
    return {name: getattr(problem, name) if getattr(problem, name) is None else getattr(problem, name) * s for name in names}


def _scale_targets(problem: Any, s: float) -> Image:
    fields = _scaled(problem, s, "targets", "lipschitz", "lower_slopes", "upper_slopes", "low", "high")
    return Image(replace(problem, **fields), s * s, squares.scaling(x=s), squares.scaling(**dict.fromkeys(ROWS, s)))


def _scale_positions(problem: Any, rng: np.random.Generator) -> Image:
    c = float(2.0 ** rng.integers(-20, 21))
    slopes = _scaled(problem, 1.0 / c, "lipschitz", "lower_slopes", "upper_slopes")
    return Image(replace(problem, positions=problem.positions * c, **slopes))


def _scale_weights(problem: Any, rng: np.random.Generator) -> Image:
    c = float(2.0 ** rng.integers(-20, 21))
    return Image(replace(problem, weights=problem.weights * c), c, multipliers=squares.scaling(**dict.fromkeys(ROWS, c)))


def _shift(problem: Any, rng: np.random.Generator) -> Image:
    c = float(rng.normal())
    moved = {name: getattr(problem, name) + c for name in ("targets", "low", "high") if getattr(problem, name) is not None}
    return Image(replace(problem, **moved), 1.0, lambda values: {"x": np.asarray(values["x"]) + c})


def _reverse(problem: Any, rng: np.random.Generator) -> Image:
    turned = {
        name: value if value is None else value[::-1] for name, value in vars(problem).items() if name.endswith(("slopes", "weights"))
    }
    fields = {"positions": -problem.positions[::-1], "targets": -problem.targets[::-1], **turned}
    ends = {"low": None if problem.high is None else -problem.high, "high": None if problem.low is None else -problem.low}

    def multipliers(values: Multipliers) -> Multipliers:
        swapped = {"low": "high", "high": "low"}
        return {swapped.get(key, key): np.asarray(value)[::-1] if np.ndim(value) else value for key, value in values.items()}

    return Image(replace(problem, **fields, **ends), 1.0, lambda values: {"x": -np.asarray(values["x"])[::-1]}, multipliers)


def _duplicate(problem: Any, rng: np.random.Generator) -> Image:
    """Each sample twice: twice the objective; the step between the two copies takes the mean of its neighbours' multipliers."""
    twice = {name: np.repeat(getattr(problem, name), 2) for name in ("positions", "targets", "weights")}
    for name in ("lower_slopes", "upper_slopes"):
        if getattr(problem, name) is not None:
            twice[name] = np.zeros(2 * len(problem.targets) - 1)  # on ties any slope will do
            twice[name][1::2] = getattr(problem, name)
    image = replace(problem, **twice)

    def multipliers(values: Multipliers) -> Multipliers:
        """2τ between different samples; between two copies the mean of the two multipliers beside it."""
        tau = 2.0 * problem.chain_multipliers(values)
        full = np.empty(2 * len(tau) - 1)
        full[0::2] = tau
        full[1::2] = 0.5 * (tau[:-1] + tau[1:])
        multipliers: Multipliers = image.as_multipliers(full)
        return multipliers

    return Image(image, 2.0, lambda values: {"x": np.repeat(np.asarray(values["x"]), 2)}, multipliers)


def natural_units(problem: Any) -> tuple[dict[str, Any], float, float, float] | None:
    """Fields of the problem in units c + σ of y, ζ of z and ω of w, with c, σ, ω; None where a bound would leave float64."""
    held, c = problem.mass > 0, problem.centre
    climb = float(np.sum(problem.least_steps(FLOAT)))
    off = max(0.0 if problem.low is None else problem.low - c, 0.0 if problem.high is None else c - problem.high)
    size = max(squares.largest(problem.targets[held] - c), climb, off) or squares.largest(problem.targets)
    sigma, omega = squares.power_of_two(size), squares.power_of_two(squares.largest(problem.mass))
    zeta = squares.power_of_two(float(problem.positions[-1] - problem.positions[0]))
    slopes = _scaled(problem, zeta / sigma, "lipschitz", "lower_slopes", "upper_slopes")
    if any(value is not None and other_kind(getattr(problem, name), value) for name, value in slopes.items()):
        return None
    data = {"positions": problem.positions / zeta, "targets": (problem.targets - c) / sigma, "weights": problem.mass / omega}
    ends = {name: (getattr(problem, name) - c) / sigma for name in ("low", "high") if getattr(problem, name) is not None}
    return {**data, **slopes, **ends, "outside": "keep"}, c, sigma, omega


def other_kind(bound: Any, scaled: Any) -> bool:
    """Whether scaling made a bound 0 or ∞ that was not, or the other way round."""
    return bool(np.any(np.isinf(bound) != np.isinf(scaled)) or np.any((np.asarray(bound) == 0.0) != (np.asarray(scaled) == 0.0)))


def recipe(dataset: Dataset, rng: np.random.Generator, samples: int | None, feature: str | int | None) -> tuple[Array, Array]:
    """One standardised feature, sorted and turned so that it correlates positively with the targets; and the targets."""
    inputs, targets = recipes.sample(dataset, rng, samples, True)
    z = inputs[:, recipes.column(dataset, inputs, targets, feature)]
    z = -z if float(z @ (targets - targets.mean())) < 0 else z
    order = np.argsort(z, kind="stable")
    return z[order], targets[order]
