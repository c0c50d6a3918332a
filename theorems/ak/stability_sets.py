r"""Training sets for the stability of M-RLSR: |y| ≤ C_y and ‖x‖ ≤ κ with the linear kernel, so that f(x) = ⟨w, x⟩ and ‖f‖ = ‖w‖.

Nothing is lost by the linear kernel: the learners see Gram matrices only. The sharp sets lie on a line. They were found by search. λ → ∞
makes C nearly 2 C_y and, for m ≥ 2, f_Z and f_{Z^i} nearly opposite. For 1 < m < 2 many equal samples change least in angle.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

import simopt.claims as sc
from simopt.core.arrays import Array
from simopt.data.similarities import Linear
from simopt.equivalence.training import TrainingSet

ABOVE_TWO = (2.0, 2.5, 3.0, 5.0)
BELOW_TWO = (1.05, 1.1, 1.3, 1.5, 1.8, 1.95)
STRENGTHS = (1.65, 2.0, 2.6, 24.0, 360.0)


class LearningSet(NamedTuple):
    """An instance of the claims on stability: a training set with |y| ≤ C_y and k(x, x) ≤ κ²; `certify` asks for error bars."""

    inputs: Array
    targets: Array
    regularization: float
    power: float
    target_bound: float
    kappa: float
    certify: bool


def learning_set(X: Array, y: Array, regularization: float, power: float, certify: bool = False) -> sc.Instance:
    """A set with C_y = κ = 1."""
    return LearningSet(X, y, regularization, power, 1.0, 1.0, certify)._asdict()


def moved_to(instance: sc.Instance, target_bound: float, kappa: float) -> sc.Instance:
    """The same set in other units: y → C_y y, x → κ x, and the λ for which w → (C_y/κ) w. Every bound moves with it."""
    X, y, lam, m, _, _, certify = LearningSet(**instance)
    strength = lam * target_bound ** (2 - m) * kappa**m
    return LearningSet(kappa * X, target_bound * y, strength, m, target_bound, kappa, certify)._asdict()


def doubled_targets(instances: Iterable[sc.Instance]) -> Iterator[sc.Instance]:
    """The same sets with targets up to 2 C_y."""
    for instance in instances:
        yield instance | {"targets": 2 * instance["targets"]}


def doubled_inputs(instances: Iterable[sc.Instance]) -> Iterator[sc.Instance]:
    """The same sets with inputs up to 2 κ."""
    for instance in instances:
        yield instance | {"inputs": 2 * instance["inputs"]}


def on_a_line(x: Sequence[float], y: Sequence[float]) -> tuple[Array, Array]:
    """Inputs on a line of the plane, and targets."""
    return np.column_stack([x, np.zeros(len(x))]), np.array(y)


def sharp_sets(powers: Sequence[float] = ABOVE_TWO) -> Iterator[sc.Instance]:
    """m ≥ 2: opposite targets at one point (sharp if the divisor is kept), and at two points (sharper if it is renewed)."""
    for m in powers:
        for strength in (1.0, 1e6):
            yield learning_set(*on_a_line([1, 1], [0.5, -1]), strength, m, certify=True)
            for x in (1.0, 0.8, 2 / 3, 0.52):
                yield learning_set(*on_a_line([1, x], [-1, 1]), strength, m)
            yield learning_set(*on_a_line([1] * 5, [1, 1, 1, 1, -1]), strength, m, certify=strength > 1)
            yield learning_set(*on_a_line([1], [1]), strength, m)


def sharp_sets_below_two() -> Iterator[sc.Instance]:
    """1 < m < 2: ten equal samples (divisor kept), nine and an opposite one (renewed)."""
    for m in BELOW_TWO:
        for strength in STRENGTHS:
            yield learning_set(*on_a_line([1] * 10, [1] * 10), strength, m, certify=strength == 2.6)
            yield learning_set(*on_a_line([1] * 10, [1] * 9 + [-1]), strength, m)


def random_sets(trial: sc.Trial, powers: Sequence[float], count: int) -> Iterator[sc.Instance]:
    """Up to six samples in up to four dimensions, in the units of any C_y and κ."""
    for k in range(count):
        n = int(trial.rng.integers(1, 7))
        X = trial.rng.normal(size=(n, int(trial.rng.integers(1, 5))))
        X /= np.maximum(1.0, np.linalg.norm(X, axis=1))[:, None]
        y = trial.rng.uniform(-1, 1, size=n) if k % 3 else np.sign(trial.rng.normal(size=n))
        made = learning_set(X, y, float(10 ** trial.rng.uniform(-3, 6)), powers[k % len(powers)], certify=n > 1 and k % 5 == 0)
        yield moved_to(made, *(float(value) for value in 10 ** trial.rng.uniform(-1, 1, size=2)))


def decoded(point: Array, low: float, high: float, strengths: tuple[float, float]) -> sc.Instance:
    """Copies of one sample and another sample anywhere in the disc, with λ = 10^s, s between the two strengths, and m from low to high."""
    copies, turn, radius, target, strength, power = (float(value) for value in point)
    k = 1 + int(8 * min(copies, 0.999))
    other = [radius * np.cos(np.pi * turn), radius * np.sin(np.pi * turn)]
    X = np.vstack([np.tile([1.0, 0.0], (k, 1)), other])
    y = np.append(np.ones(k), 2 * target - 1)
    return learning_set(X, y, 10 ** (strengths[0] + (strengths[1] - strengths[0]) * strength), low + (high - low) * power)


def training_set(inputs: Any, targets: Any) -> TrainingSet:
    """The instance as a training set."""
    return TrainingSet(inputs, targets, Linear())
