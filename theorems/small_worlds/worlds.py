r"""Finite worlds: distributions over (x, y) with finitely many atoms, and the losses of the paper, in exact arithmetic.

An atom is (p, y, φ): its probability, its label ±1 and the feature vector φ(x); a world is a list of atoms with Σ p = 1. The formulas only
add, multiply and compare, so entries may be Fractions, floats, or the expressions that a proof file keeps.

The paper prints ℓ₀₁(y, v) = [[yv < 0]] and adds "ℓ₀₁(y, 0) = 1 always", which is [[yv ≤ 0]]. Claims about ℓ₀₁ name their convention:
A is the printed formula, B the printed note, C gives a score of 0 the loss ½ (the mean of both guesses).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import Any

Value = Any
Vector = Sequence[Value]
Atom = tuple[Value, int, Vector]
World = Sequence[Atom]
Loss = Callable[[int, Value], Value]
Score = Callable[[Vector], Value]

CONVENTIONS = ("A", "B", "C")


def zero_one(convention: str) -> Loss:
    """ℓ₀₁ under convention A, B or C."""
    at_zero = {"A": Fraction(0), "B": Fraction(1), "C": Fraction(1, 2)}[convention]

    def loss(y: int, v: Value) -> Fraction:
        return at_zero if v == 0 else Fraction(int(y * v < 0))

    return loss


def linear(y: int, v: Value) -> Value:
    """ℓ_linear(y, v) = 1 − yv."""
    return 1 - y * v


def dot(a: Vector, b: Vector) -> Value:
    """⟨a, b⟩."""
    return add(x * y for x, y in zip(a, b, strict=True))


def add(values: Iterable[Value]) -> Value:
    """Σ, exactly 0 for nothing."""
    result: Value = Fraction(0)
    for value in values:
        result = result + value
    return result


def scaled(a: Vector, by: Value) -> list[Value]:
    """`by`·a."""
    return [by * x for x in a]


def plus(a: Vector, b: Vector) -> list[Value]:
    """a + b."""
    return [x + y for x, y in zip(a, b, strict=True)]


def minus(a: Vector, b: Vector) -> list[Value]:
    """a − b."""
    return [x - y for x, y in zip(a, b, strict=True)]


def squared(a: Vector) -> Value:
    """‖a‖²."""
    return dot(a, a)


def mean(world: World) -> list[Value]:
    """ω_P = E y φ(x)."""
    total: list[Value] = [Fraction(0)] * len(world[0][2])
    for p, y, phi in world:
        total = plus(total, scaled(phi, p * y))
    return total


def by(w: Vector) -> Score:
    """f_w: φ ↦ ⟨w, φ⟩."""
    return lambda phi: dot(w, phi)


def risk(world: World, loss: Loss, f: Score) -> Value:
    """ℓ(P, f) = E ℓ(y, f(x))."""
    return add(p * loss(y, f(phi)) for p, y, phi in world)


def sample(examples: Iterable[tuple[int, Vector]]) -> list[Atom]:
    """The uniform distribution on a list of examples (y, φ)."""
    found = list(examples)
    return [(Fraction(1, len(found)), y, phi) for y, phi in found]


def flipped(world: World, rate: Value) -> list[Atom]:
    """P_σ: each label is changed with probability σ."""
    return [atom for p, y, phi in world for atom in ((p * (1 - rate), y, phi), (p * rate, -y, phi))]


def mixed(world: World, other: World, rate: Value) -> list[Atom]:
    """(1 − σ) P + σ Q."""
    return [(p * (1 - rate), y, phi) for p, y, phi in world] + [(p * rate, y, phi) for p, y, phi in other]
