"""What the atoms with a logarithm share: x log x, and the two functions that measure how far a multiplier is from the slope."""

from __future__ import annotations

import math

import numpy as np

from simopt.arithmetic import FLOAT, INTERVAL, Arithmetic, Interval
from simopt.duality.vectors import Value, above, enclosing, full, where

SMALL = 1e-3  # below, three terms of a series are good to 1e-12 of the value
TAIL = 2.0**-100  # where what e^z reaches is less, no digits cancel that anybody sees, and its quotients may overflow
LEAST = 0.3678794411714424  # a float above 1/e, the least value of x log x


def x_log_x(num: Arithmetic, x: Value) -> Value:
    """x log x for x ≥ 0, 0 at 0."""
    if num is not INTERVAL:
        positive = above(num, x)
        return where(num, positive, x * num.log(where(num, positive, x, full(num, 1.0, len(x)))), x * 0)
    low, high = np.maximum(x.low, 0.0), np.maximum(x.high, 0.0)
    ends = []
    for end in (low, high):
        ball = Interval(np.where(end > 0.0, end, 1.0))
        ends.append(ball * INTERVAL.log(ball))
    hull = enclosing(num, ends[0], ends[1])
    inside = (low <= LEAST) & (high >= math.nextafter(LEAST, 0.0))  # the function falls, then rises
    return Interval.hull(np.where(inside, -LEAST, hull.low), np.maximum(hull.high, 0.0) if np.any(low == 0.0) else hull.high)


def entropy_distance(num: Arithmetic, h: Value) -> Value:
    """(1 + h) log(1 + h) − h ≥ 0 for h ≥ −1, without cancellation.

    By Taylor's theorem it is h²/(2(1 + ξ)) with a ξ between 0 and h.
    """
    if num is FLOAT:
        kept = np.maximum(h, -1.0)
        with np.errstate(all="ignore"):
            plain = np.where(kept <= -1.0, 1.0, (1.0 + kept) * np.log1p(np.maximum(kept, -1.0 + 1e-300)) - kept)
        return np.where(np.abs(h) < SMALL, h * h * (0.5 - h / 6 + h * h / 12 - h * h * h / 20), plain)
    near = above(num, h, -0.5)
    z = where(num, near, h, num.zeros(len(h)))
    mean = enclosing(num, z, num.zeros(len(h))) + 1.0
    far = num.pos(where(num, near, num.zeros(len(h)), h) + 1.0)
    return where(num, near, z * z / (mean * 2), num.pos(x_log_x(num, far) - far + 1.0))


def logarithm_distance(num: Arithmetic, q: Value) -> Value:
    """q − 1 − log q ≥ 0 for q > 0, without cancellation: with h = q − 1 it is h²/(2(1 + ξ)²) with a ξ between 0 and h."""
    h = q - 1.0
    if num is FLOAT:
        with np.errstate(all="ignore"):
            plain = h - np.log(q)
        return np.where(np.abs(h) < SMALL, h * h * (0.5 - h / 3 + h * h / 4 - h * h * h / 5), plain)
    near = above(num, h, -0.5)
    z = where(num, near, h, num.zeros(len(q)))
    ratio = z / (enclosing(num, z, num.zeros(len(q))) + 1.0)
    return where(num, near, ratio * ratio / 2, num.pos(h - num.log(where(num, near, full(num, 1.0, len(q)), q))))
