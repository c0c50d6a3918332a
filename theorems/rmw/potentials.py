r"""Convex potentials ψ (Definition 9) with values and slopes that are exact or rigorously enclosed, and a few functions that are none.

A convex ψ with ψ(v) → 0 is a mixture of hinges [b − v]₊; mixtures of finitely many, and the hinge and its square, stay rational. The
logistic and the exponential potential are enclosed. `slope` is the right derivative.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

import simopt.claims as sc


@dataclass(frozen=True)
class Potential:
    """ψ and its right derivative on the rationals."""

    name: str
    value: Callable[[Fraction], sc.Expr]
    slope: Callable[[Fraction], sc.Expr]

    def noisy_slope(self, v: Fraction, rate: Fraction) -> sc.Expr:
        """(1 − σ) ψ′(v) − σ ψ′(−v): the right derivative at v of the noisy potential, unless ψ has a kink at −v."""
        return (1 - rate) * self.slope(v) - rate * self.slope(-v)


def mixture(name: str, weights: Sequence[Fraction], kinks: Sequence[Fraction]) -> Potential:
    """Σ c_k [b_k − v]₊."""
    pairs = list(zip(weights, kinks, strict=True))
    return Potential(
        name,
        lambda v: sc.rational(sum((c * max(b - v, Fraction(0)) for c, b in pairs), Fraction(0))),
        lambda v: sc.rational(-sum((c for c, b in pairs if v < b), Fraction(0))),
    )


BITS = 80  # binary digits of the enclosures

HINGE = mixture("hinge", [Fraction(1)], [Fraction(1)])
SQUARED_HINGE = Potential(
    "squared hinge", lambda v: sc.rational(max(1 - v, Fraction(0)) ** 2), lambda v: sc.rational(-2 * max(1 - v, Fraction(0)))
)
LOGISTIC = Potential("logistic", lambda v: sc.log(1 + sc.exp(-v, BITS), BITS), lambda v: -1 / (1 + sc.exp(v, BITS)))
EXPONENTIAL = Potential("exponential", lambda v: sc.exp(-v, BITS), lambda v: -sc.exp(-v, BITS))
POTENTIALS = {each.name: each for each in (HINGE, SQUARED_HINGE, LOGISTIC, EXPONENTIAL)}

LINEAR = Potential("linear", lambda v: sc.rational(1 - v), lambda v: sc.rational(-1))
SQUARED = Potential("squared", lambda v: sc.rational((1 - v) ** 2), lambda v: sc.rational(-2 * (1 - v)))
RAMP = Potential(  # min([1 − v]₊, 1): bounded, so not convex
    "ramp", lambda v: sc.rational(min(max(1 - v, Fraction(0)), Fraction(1))), lambda v: sc.rational(-int(0 <= v < 1))
)
NOT_POTENTIALS = {each.name: each for each in (LINEAR, SQUARED, RAMP)}


def random_mixture(rng: np.random.Generator) -> tuple[list[Fraction], list[Fraction]]:
    """Weights and bends of a mixture of one to four hinges that is a convex potential: one bend lies above 0.

    The bends are no dyadic numbers, so that nothing has a kink at 0 or where dyadic scores fall.
    """
    count = int(rng.integers(1, 5))
    weights = [Fraction(int(rng.integers(1, 17)), 8) for _ in range(count)]
    bends = [Fraction(5 * int(rng.integers(-3, 4)) + 1, 5) for _ in range(count)]
    return weights, [abs(bends[0]), *bends[1:]]


def named(potential: str | None, weights: Sequence[Fraction] = (), kinks: Sequence[Fraction] = ()) -> Potential:
    """A potential by its name, or the mixture with these weights and kinks."""
    return mixture("mixture", weights, kinks) if potential is None else (POTENTIALS | NOT_POTENTIALS)[potential]
