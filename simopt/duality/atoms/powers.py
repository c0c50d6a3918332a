"""x^r for a fraction r that need not be a float, as 1/3 is not."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from simopt.arithmetic import INTERVAL, Arithmetic, Interval
from simopt.duality.graph.vectors import Value, divisor, exactly, is_zero, where

SMALL = 1e-3  # below it three terms of a series have a relative error of 1e-12


def raised(num: Arithmetic, x: Value, r: Fraction) -> Value:
    """x^r of x ≥ 0; for r < 0 where x is proven to be positive, and 1 elsewhere."""
    positive, some = divisor(num, x)
    if r < 0:
        x, some = positive, np.ones(len(x), dtype=bool)
    if num is not INTERVAL or Fraction(float(r)) == r:
        return num.power(x, float(r))
    power = num.exp(num.log(positive) * exactly(num, [r]))
    if some.all():
        return power
    least = np.maximum(x.high, 2.0**-1074)  # if an interval contains 0 only its upper end counts
    high = num.exp(num.log(Interval(least)) * exactly(num, [r])).high
    return where(num, is_zero(num, x), num.zeros(len(x)), where(num, some, power, Interval.hull(np.zeros(len(x)), high)))
