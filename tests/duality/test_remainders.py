"""Remainders have eight digits where the difference sφ(z) + (sφ)*(u) − uz has none: against the same difference in sixty digits."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal, localcontext

import numpy as np
import pytest

from simopt.arithmetic import FLOAT, INTERVAL
from simopt.duality.atoms.base import Elementwise
from simopt.duality.atoms.decreasing_power import DecreasingPower
from simopt.duality.atoms.entropy import Entropy
from simopt.duality.atoms.exponential import Exponential
from simopt.duality.atoms.logarithm import NegativeLogarithm
from simopt.duality.atoms.logistic import LogisticAtom
from simopt.duality.atoms.power import Power

Pair = tuple[Callable[[Decimal], Decimal], Callable[[Decimal], Decimal]]


def power(p: float) -> Pair:
    """z^p for p > 1, of z > 0 and u > 0."""
    d = Decimal(p)
    return lambda z: z**d, lambda u: (d - 1) * (u / d) ** (d / (d - 1))


def falling(p: float) -> Pair:
    """σz^p, σ the sign of −p, for p < 1."""
    d, sign = Decimal(p), 1 if p < 0 else -1
    return lambda z: sign * z**d, lambda u: -sign * (1 - d) * (-u / abs(d)) ** (d / (d - 1))


FUNCTIONS: dict[str, tuple[Elementwise, Pair]] = {
    "entropy": (Entropy(), (lambda z: z * z.ln(), lambda u: (u - 1).exp())),
    "tilted entropy": (Entropy(1.0), (lambda z: z * z.ln() - z + 1, lambda u: u.exp() - 1)),
    "exponential": (Exponential(), (lambda z: z.exp(), lambda u: u * u.ln() - u)),
    "logistic": (LogisticAtom(), (lambda z: (1 + z.exp()).ln(), lambda u: u * u.ln() + (1 - u) * (1 - u).ln())),
    "logarithm": (NegativeLogarithm(), (lambda z: -z.ln(), lambda u: -1 - (-u).ln())),
    **{f"power {p}": (Power(p), power(p)) for p in (1.25, 1.5, 3.0, 4.0)},
    **{f"power {p}": (DecreasingPower(p), falling(p)) for p in (0.75, 0.5, 0.25, -0.5, -1.0, -2.5)},
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_remainder_has_eight_digits_however_near_the_slope_it_is(name: str) -> None:
    atom, (value, conjugate) = FUNCTIONS[name]
    s = 1.5
    for h in (0.5, -0.4, 0.05, -2e-3, 9e-4, -8e-4, 4e-4, 1e-5):
        y, z = 1.75, 1.75 * (1.0 + h)
        u = float(atom.slope(np.full(1, y), np.full(1, s))[0])
        with localcontext() as context:
            context.prec = 60
            exact = Decimal(s) * (value(Decimal(z)) + conjugate(Decimal(u) / Decimal(s))) - Decimal(u) * Decimal(z)
        vectors = [np.full(1, number) for number in (z, u, s)]
        assert atom.remainder(FLOAT, *vectors) == pytest.approx(float(exact), rel=1e-8 + 1e-14 / abs(h), abs=0.0)
        interval = atom.remainder(INTERVAL, *map(INTERVAL.lift, vectors))
        assert INTERVAL.lower(interval) <= float(exact) <= INTERVAL.upper(interval)
