"""What the two forms of landmarked SVR share: declaration of the two hinges, loss, dual, units, instances and laws."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from simopt.arithmetic import Arithmetic
from simopt.problem import Image, Law, Rescale, change_of_units
from simopt.problems import _hinges, _squares
from simopt.typing import Array, Multipliers, Point

if TYPE_CHECKING:
    import cvxpy as cp

Value = Any


def declared(features: Array, targets: Array, epsilon: cp.Parameter) -> tuple[cp.Variable, cp.Expression, list[cp.Constraint]]:
    """w, the mean loss, and the rows predictions, below, above."""
    import cvxpy as cp

    n, d = features.shape
    w = cp.Variable(d, name="w")
    f = cp.Variable(n, name="f")
    slack_below, slack_above = cp.Variable(n, name="slack_below"), cp.Variable(n, name="slack_above")
    rows = [
        (f == features @ w).set_label("predictions"),
        (targets - epsilon - f <= slack_below).set_label("below"),
        (f - targets - epsilon <= slack_above).set_label("above"),
        (slack_below >= 0).set_label("slack_below"),
        (slack_above >= 0).set_label("slack_above"),
    ]
    return w, cp.sum(slack_below + slack_above) / n, rows


def hinges(num: Arithmetic, f: Value, targets: Array, epsilon: float) -> tuple[Value, Value]:
    """f − y − ε (above) and y − ε − f (below)."""
    residual = f - num.lift(targets)
    return residual - num.lift(epsilon), residual * -1 - num.lift(epsilon)


def loss(num: Arithmetic, f: Value, targets: Array, epsilon: float) -> Value:
    """(1/n) Σ max(|f_i − y_i| − ε, 0)."""
    return _hinges.mean_loss(num, *hinges(num, f, targets, epsilon), n=len(targets))


def clipped(num: Arithmetic, multipliers: Multipliers, n: int) -> tuple[Value, Value]:
    """p and q in [0, 1/n], without what the two have in common.

    The hinges of one sample are never both active, and a common part m adds −2εm to the bound. (Any multipliers may be judged, so this
    happens in floats whatever the arithmetic.)
    """
    above, below = (np.maximum(np.asarray(multipliers[key], dtype=float).reshape(-1), 0.0) for key in ("above", "below"))
    common = np.minimum(above, below)
    return _hinges.capped(num, above - common, n), _hinges.capped(num, below - common, n)


def linear_part(num: Arithmetic, above: Value, below: Value, targets: Array, epsilon: float) -> Value:
    """Σ (q − p) y − ε Σ (p + q)."""
    return num.dot(below - above, num.lift(targets)) - num.sum(above + below) * num.lift(epsilon)


def hinge_gap(num: Arithmetic, f: Value, targets: Array, epsilon: float, above: Value, below: Value) -> Value:
    """What the hinges leave of the gap."""
    over, under = hinges(num, f, targets, epsilon)
    return _hinges.slack(num, over, above, len(targets)) + _hinges.slack(num, under, below, len(targets))


def suggested(f: Array, targets: Array, epsilon: float) -> Multipliers:
    """Subgradient of the loss at f, 0 at the kinks."""
    share = 1.0 / len(targets)
    return {"above": np.where(f > targets + epsilon, share, 0.0), "below": np.where(f < targets - epsilon, share, 0.0)}


def units(features: Array, targets: Array, epsilon: float) -> tuple[float, float]:
    """Powers of two near max |y_i| and max ‖ψ_i‖."""
    size = _squares.largest(targets)
    return _squares.power_of_two(size if size > 0 else epsilon), _squares.power_of_two(_hinges.largest_row(features))


def rescale(sigma: float, kappa: float) -> Rescale:
    """Way back from y/σ, Ψ/κ: w = w'σ/κ, f = f'σ; multipliers are pure numbers."""
    return Rescale(_squares.times(w=sigma / kappa, f=sigma, slack_below=sigma, slack_above=sigma))


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


def laws(scaled: Callable[[Any, float, float], dict[str, float]]) -> list[Law]:
    """Laws of both forms; `scaled(problem, s, c)` gives the field that bounds w when y, ε are multiplied by s and Ψ by c (values × s)."""

    def scale_targets(problem: Any, s: float) -> Image:
        image = replace(problem, targets=problem.targets * s, epsilon=problem.epsilon * s, **scaled(problem, s, 1.0))
        return Image(image, s, _squares.times(w=s))

    def scale_features(problem: Any, rng: np.random.Generator) -> Image:
        c = float(2.0 ** rng.integers(-20, 21))
        return Image(replace(problem, features=problem.features * c, **scaled(problem, 1.0, c)), 1.0, _squares.times(w=1.0 / c))

    def mirror(problem: Any, rng: np.random.Generator) -> Image:
        def swap(values: Multipliers) -> Multipliers:
            return {"above": values["below"], "below": values["above"]}

        return Image(replace(problem, targets=-problem.targets), 1.0, _squares.times(w=-1.0), swap)

    def select(problem: Any, order: NDArray[Any], weight: float) -> Image:
        def carry(values: Multipliers | Point) -> Multipliers:
            return {key: np.asarray(values[key])[order] * weight for key in ("above", "below")}

        return Image(replace(problem, features=problem.features[order], targets=problem.targets[order]), 1.0, multipliers=carry)

    return [
        change_of_units("targets and ε × s", scale_targets),
        Law("features × c", scale_features),
        Law("targets × −1", mirror),
        Law("permutation", lambda problem, rng: select(problem, rng.permutation(len(problem.targets)), 1.0)),
        Law("duplication", lambda problem, rng: select(problem, np.repeat(np.arange(len(problem.targets)), 2), 0.5)),
    ]
