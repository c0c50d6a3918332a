r"""Exact tails on finite worlds: what P(bad) ≤ δ for all δ in (0, 1) comes to, and how near to equality it is.

A world is drawn from n times; the counts of its atoms are multinomial, with rational probabilities. Let a bound b(δ) fall in δ, and let
b(δ) < t exactly for δ > e^{−x(t)}. Then P(X > b(δ)) ≤ δ holds for all δ in (0, 1) if and only if P(X ≥ t) ≤ e^{−x(t)} at every value t of X
with x(t) > 0. Between two such levels the left side stays as it is. So sup_δ P(bad)/δ is the largest of finitely many P(X ≥ t) e^{x(t)}.

Roots, exponentials and logarithms are balls of `flint.arb`; they become enclosures with rational ends.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from functools import cache, lru_cache
from itertools import groupby
from math import comb, lcm
from typing import Any

import simopt.claims as sc
from simopt.arithmetic.precision import workprec
from simopt.theorems.small_worlds.worlds import dot, minus

BITS = 96
Ball = Any  # flint.arb
Counts = tuple[int, ...]
Vector = Sequence[Fraction]
Tails = list[tuple[Fraction, Fraction]]


def ball(value: Fraction | int) -> Ball:
    """The ball of a rational number."""
    import flint

    number = Fraction(value)
    with workprec(BITS):
        return flint.arb(flint.fmpq(number.numerator, number.denominator))


def enclosed(value: Ball) -> sc.Enclosure:
    """A ball as an enclosure with rational ends."""
    mid, rad = _fraction(value.mid()), _fraction(value.rad())
    return sc.Enclosure(mid - rad, mid + rad, sc.INTERVAL_EVIDENCE)


def _fraction(exact: Ball) -> Fraction:
    mantissa, exponent = (int(part) for part in exact.man_exp())
    return Fraction(mantissa << exponent) if exponent >= 0 else Fraction(mantissa, 1 << -exponent)


def counts(n: int, atoms: int) -> Iterator[Counts]:
    """All ways to spread n draws over the atoms."""
    if atoms == 1:
        yield (n,)
        return
    for first in range(n + 1):
        for rest in counts(n - first, atoms - 1):
            yield (first, *rest)


@lru_cache(maxsize=256)
def multinomial(n: int, probabilities: tuple[Fraction, ...]) -> tuple[tuple[Counts, Fraction], ...]:
    """Every outcome of n draws with its probability, exactly; the probabilities add up to 1."""
    unit = lcm(*(p.denominator for p in probabilities))
    parts = [int(p * unit) for p in probabilities]
    powers = [[part**k for k in range(n + 1)] for part in parts]
    whole = unit**n
    made = []
    for drawn in counts(n, len(parts)):
        ways, left = 1, n
        for k, power in zip(drawn, powers, strict=True):
            ways *= comb(left, k) * power[k]
            left -= k
        made.append((drawn, Fraction(ways, whole)))
    return tuple(made)


def average(drawn: Counts, features: Sequence[Vector]) -> list[Fraction]:
    """ω_S = (1/n) Σ k_j y_j φ_j of a sample in which atom j occurs k_j times; `features` are the vectors y_j φ_j."""
    n = sum(drawn)
    return [sum((k * f for k, f in zip(drawn, column, strict=True)), Fraction(0)) / n for column in zip(*features, strict=True)]


def expected(probabilities: Sequence[Fraction], features: Sequence[Vector]) -> list[Fraction]:
    """ω_P = Σ p_j y_j φ_j."""
    return [sum((p * f for p, f in zip(probabilities, column, strict=True)), Fraction(0)) for column in zip(*features, strict=True)]


def excess(of_sample: Vector, of_world: Vector) -> Fraction:
    """ℓ_linear(P, ω_S) − ℓ_linear(S, ω_S) = ⟨ω_S, ω_S − ω_P⟩."""
    return Fraction(dot(of_sample, minus(of_sample, of_world)))


def squared_distance(of_sample: Vector, of_world: Vector) -> Fraction:
    """‖ω_S − ω_P‖²."""
    apart = minus(of_sample, of_world)
    square: Fraction = dot(apart, apart)
    return square


def law(
    n: int, probabilities: Sequence[Fraction], features: Sequence[Vector], value: Callable[[Vector, Vector], Fraction]
) -> list[tuple[Fraction, Fraction]]:
    """The law of value(ω_S, ω_P) under n draws: pairs of a value and the probability of one outcome that has it."""
    of_world = expected(probabilities, features)
    return [(value(average(drawn, features), of_world), mass) for drawn, mass in multinomial(n, tuple(probabilities))]


def tails(pairs: Iterable[tuple[Fraction, Fraction]]) -> Tails:
    """(t, P(X ≥ t)) for every value t of X, from the largest down."""
    reached, made = Fraction(0), []
    for value, group in groupby(sorted(pairs, key=lambda pair: -pair[0]), key=lambda pair: pair[0]):
        reached += sum((mass for _, mass in group), Fraction(0))
        made.append((value, reached))
    return made


def ratios(chances: Tails, exponent: Callable[[Fraction], Ball | None]) -> list[sc.Enclosure]:
    """P(X ≥ t) e^{x(t)} at every value t; exponent(t) = x(t), or None where no δ < 1 has b(δ) < t."""

    made = []
    with workprec(BITS):
        for value, chance in chances:
            x = exponent(value)
            if x is not None and chance > 0:
                made.append(enclosed(ball(chance) * x.exp()))
    return made


def holds_for_all_levels(chances: Tails, exponent: Callable[[Fraction], Ball | None], name: str, row: str = "") -> sc.Check:
    """Check sup_δ P(bad)/δ ≤ 1 over all δ in (0, 1), exactly; empty where the bound passes every value even as δ → 1."""
    made = ratios(chances, exponent)
    if not made:
        return sc.vacuous(True, name, evidence=sc.EXACT, row=row)
    return sc.at_most(made, 1, f"{name}: P(bad)/δ", row=row)


def level_of(excess: Ball, scale: Fraction | int) -> Ball | None:
    """log(1/δ) at which mean + √(scale log(1/δ)) is the value whose excess over the mean is given; None where it is no more than it."""
    return excess**2 / ball(scale) if excess > 0 else None


def passed(
    pairs: Iterable[tuple[Fraction, Fraction]], bound: sc.Enclosure | sc.Expr, delta: Fraction, name: str, row: str = ""
) -> sc.Check:
    """Check P(X > bound) ≤ δ with the exact probability of what surely and what possibly exceeds the enclosed bound."""
    low = high = Fraction(0)
    for value, mass in pairs:
        low += mass * (value > bound.high)
        high += mass * (value > bound.low)
    return sc.probability(low, high, delta, name, row=row)


@cache
def logarithm(value: int | Fraction) -> sc.Expr:
    """log of a number, enclosed once, with 64 bits."""
    return sc.log(sc.rational(value), bits=64)


def unit_ratios(pairs: Sequence[tuple[Ball, Fraction]]) -> list[sc.Enclosure]:
    """P(X ≥ x) e^x at every value x > 0 of X, of which the values are known as balls; equal balls are held to be one value or several."""

    made = []
    with workprec(BITS):
        for x, _ in pairs:
            if not x > 0:
                continue
            surely = sum((mass for other, mass in pairs if other is x or other > x), Fraction(0))
            maybe = sum((mass for other, mass in pairs if not other < x), Fraction(0))
            growth = enclosed(x.exp())
            made.append(sc.Enclosure(Fraction(growth.low) * surely, Fraction(growth.high) * maybe, sc.INTERVAL_EVIDENCE))
    return made
