r"""Theorem 1 at one x: conditional risks as functions of η = P(Y = 1 | x) and v = f(x), on the cells where they are bilinear.

ℓ₀₁ sees only the sign of v, and f_P only the side of η = ½. With both fixed, risks and regrets are bilinear in (η, v) on a rectangle, so
they are what their corners say: `interpolated` states that in symbols, and a claim about every η and v is checked at the corners. A
corner on the edge of an open cell stands for the limit. Statements about P are the means over x of those about one x.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from simopt.claims import *
from simopt.theorems.small_worlds.worlds import Loss, linear, zero_one

HALF = Fraction(1, 2)
SIDES = {"high": (HALF, Fraction(1)), "low": (Fraction(0), HALF)}
SIGNS = {1: (Fraction(0), Fraction(1)), 0: (Fraction(0), Fraction(0)), -1: (Fraction(-1), Fraction(0))}


@dataclass(frozen=True)
class Cell:
    """One side of η = ½ ("high": η ≥ ½, where f_P = 1; "low": η < ½, where f_P = −1), one sign of v, one convention for ℓ₀₁."""

    side: str
    sign: int
    convention: str

    @property
    def bayes(self) -> int:
        """f_P(x)."""
        return 1 if self.side == "high" else -1

    @property
    def zero_one(self) -> Loss:
        """ℓ₀₁ under the convention of the cell, on signs."""
        return zero_one(self.convention)

    def zero_one_regret(self, eta: Any, v: Any) -> Any:
        """ℓ₀₁(P, f) − ℓ₀₁(P, f_P); of v only the sign counts, which is the cell's."""
        return conditional(self.zero_one, eta, self.sign) - conditional(self.zero_one, eta, self.bayes)

    def linear_regret(self, eta: Any, v: Any) -> Any:
        """ℓ_linear(P, f) − ℓ_linear(P, f_P)."""
        return conditional(linear, eta, v) - conditional(linear, eta, self.bayes)

    def distance_from_half(self, eta: Any) -> Any:
        """|1 − 2η|."""
        return self.bayes * (2 * eta - 1)


def conditional(loss: Loss, eta: Any, v: Any) -> Any:
    """E[ℓ(Y, v) | x] = η ℓ(1, v) + (1 − η) ℓ(−1, v)."""
    return eta * loss(1, v) + (1 - eta) * loss(-1, v)


def cells(trial: Trial) -> Iterator[Instance]:
    """The corners of all cells, under the conventions that the claim names."""
    for convention in trial["conventions"]:
        for side, heights in SIDES.items():
            for sign, widths in SIGNS.items():
                for eta in heights:
                    for v in sorted(set(widths)):
                        yield {"convention": convention, "side": side, "sign": sign, "eta": eta, "v": v}


def away_from_zero(trial: Trial) -> Iterator[Instance]:
    """The same without the cells v = 0."""
    yield from (instance for instance in cells(trial) if instance["sign"])


def opened(instance: Instance) -> tuple[Cell, Any, Any]:
    """The cell of an instance, and η and v as data of a proof."""
    eta, v = inputs(eta=instance["eta"], v=instance["v"])
    return Cell(instance["side"], instance["sign"], instance["convention"]), eta, v


def interpolated(cell: Cell, function: Callable[[Any, Any], Any], name: str) -> Check:
    """A function of (η, v) is the bilinear interpolation of its corners, in symbols."""
    eta, v = symbols("eta v")
    (a, b), (c, d) = SIDES[cell.side], SIGNS[cell.sign]
    if c == d:
        made = ((b - eta) * function(a, c) + (eta - a) * function(b, c)) / (b - a)
        return equal(function(eta, c) + 0 * eta, made, f"{name}: linear in η at v = 0")
    left = (d - v) * function(a, c) + (v - c) * function(a, d)
    right = (d - v) * function(b, c) + (v - c) * function(b, d)
    made = ((b - eta) * left + (eta - a) * right) / ((b - a) * (d - c))
    return equal(function(eta, v) + 0 * eta, made, f"{name}: bilinear in (η, v)")
