r"""Two hinges a sample, with ends and shares of their own: the loops over samples of landmarked SVR and EXC ordinal regression.

    Σ_i c_i ( s([lo_i − f_i]) + s([f_i − hi_i]) ),     s(h) = max over 0 ≤ a ≤ 1 of ah − a²/(2β),  which is [h]_+ for β = ∞.

Shares c_i sum to 1 (1/n each for a mean). Multipliers are a ∈ [0, 1] here, in units of their share: `below` belongs to lo − f, `above` to
f − hi. In a stage of the augmented Lagrangian with centres a⁰ and width h > 0, the maximiser of ah_i − a²/(2β) − h(a − a⁰)²/2 is

    a = clip((h_i + h a⁰)/(h + 1/β), 0, 1),      with derivative 1/(h + 1/β) where it lies inside (the sample is then *bent*).

What a hinge leaves of the gap is s(h) + a²/(2β) − ah = (a − a*)((a + a*)/(2β) − h) ≥ 0 with a* = clip(βh, 0, 1): for β = ∞ it is (1 − a)h
for h > 0, and −ah else. A missing end is ±1e30, never ±∞. lo may exceed hi. O(n) time each; no memory but the arrays given.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from simopt.ground.arrays import Array
from simopt.ground.kernel import kernel

Indices = NDArray[np.intp]
HALVINGS = 40
FLAT = 0.1  # the line search stops where the slope is at most this share of its value at 0


@dataclass(frozen=True, eq=False)
class Hinges:
    """lo, hi and c, each (n,), and the shift 1/β ≥ 0."""

    low: Array
    high: Array
    share: Array
    shift: float = 0.0

    def take(self, rows: Indices | slice) -> Hinges:
        """The same for some of the samples, as copies: of strided views the kernels would have to be compiled once more."""
        low, high, share = (np.ascontiguousarray(values[rows]) for values in (self.low, self.high, self.share))
        return Hinges(low, high, share, self.shift)


@kernel
def left_over(h: float, a: float, shift: float) -> float:
    """What a hinge with argument h and multiplier a leaves of the gap, in units of its share."""
    if shift == 0.0:
        return (1.0 - a) * h if h > 0.0 else -a * h
    best = min(max(h / shift, 0.0), 1.0)
    if 0.0 < best < 1.0:
        return 0.5 * shift * (a - best) * (a - best)
    return (a - best) * (0.5 * shift * (a + best) - h)


@kernel
def price(
    f: Array,
    low: Array,
    high: Array,
    share: Array,
    centre_below: Array,
    centre_above: Array,
    width: float,
    shift: float,
    below: Array,
    above: Array,
    pull: Array,
    changed: Indices,
    change: Array,
    bent: Indices,
    bend: Array,
) -> tuple[int, int, float]:
    """Multipliers at f for the given centres, and pull_i = c_i(above_i − below_i).

    Also the samples whose pull has changed, with the change; the bent ones, with c_i times the number of their bent hinges; how many of
    each there are; and what the hinges leave of the gap.
    """
    inverse = 1.0 / (width + shift)
    moved = 0
    count = 0
    rest = 0.0
    for i in range(f.size):
        under, over = low[i] - f[i], f[i] - high[i]
        x = (under + width * centre_below[i]) * inverse
        z = (over + width * centre_above[i]) * inverse
        b, a = min(max(x, 0.0), 1.0), min(max(z, 0.0), 1.0)
        below[i], above[i] = b, a
        rest += share[i] * (left_over(under, b, shift) + left_over(over, a, shift))
        now = share[i] * (a - b)
        changed[moved] = i
        change[moved] = now - pull[i]
        moved += now != pull[i]
        pull[i] = now
        inside = (0.0 < x < 1.0) + (0.0 < z < 1.0)
        bent[count] = i
        bend[count] = inside * share[i]
        count += inside > 0
    return moved, count, rest


@kernel
def audit(f: Array, low: Array, high: Array, share: Array, shift: float, below: Array, above: Array, pull: Array) -> float:
    """pull for the multipliers as they are, and what the hinges leave of the gap."""
    rest = 0.0
    for i in range(f.size):
        pull[i] = share[i] * (above[i] - below[i])
        rest += share[i] * (left_over(low[i] - f[i], below[i], shift) + left_over(f[i] - high[i], above[i], shift))
    return rest


@kernel(any_order=True)
def tilt(
    f: Array,
    move: Array,
    t: float,
    low: Array,
    high: Array,
    share: Array,
    centre_below: Array,
    centre_above: Array,
    width: float,
    shift: float,
) -> float:
    """Σ c (above − below) move at f + t move: the derivative of the stage's loss along the move."""
    inverse = 1.0 / (width + shift)
    total = 0.0
    for i in range(f.size):
        x = f[i] + t * move[i]
        b = min(max((low[i] - x + width * centre_below[i]) * inverse, 0.0), 1.0)
        a = min(max((x - high[i] + width * centre_above[i]) * inverse, 0.0), 1.0)
        total += share[i] * (a - b) * move[i]
    return total


@kernel
def line_search(
    f: Array,
    move: Array,
    low: Array,
    high: Array,
    share: Array,
    centre_below: Array,
    centre_above: Array,
    width: float,
    shift: float,
    slope: float,
    curvature: float,
    at_zero: float,
    at_one: float,
) -> float:
    """t in (0, 1) at which the derivative `tilt` + slope + t·curvature, which is negative at 0 and positive at 1, is small.

    False position and bisection by turns. f is at t = 1: f − move is at t = 0.
    """
    lower, value_lower, upper, value_upper = 0.0, at_zero, 1.0, at_one
    t = 1.0
    for turn in range(HALVINGS):
        share_of = value_lower / (value_lower - value_upper) if turn % 2 == 0 else 0.5
        t = lower + share_of * (upper - lower)
        value = tilt(f, move, t - 1.0, low, high, share, centre_below, centre_above, width, shift) + slope + t * curvature
        if abs(value) <= FLAT * abs(at_zero):
            break
        if value < 0.0:
            lower, value_lower = t, value
        else:
            upper, value_upper = t, value
    return t


@kernel
def near(
    f: Array,
    low: Array,
    high: Array,
    centre_below: Array,
    centre_above: Array,
    reach: float,
    shift: float,
    rows: Indices,
) -> int:
    """The samples that could still bend: those within `reach` of a kink, or with a multiplier that does not stand where f says."""
    count = 0
    for i in range(f.size):
        under, over = low[i] - f[i], f[i] - high[i]
        far_below = (under > shift + reach and centre_below[i] == 1.0) or (under < -reach and centre_below[i] == 0.0)
        far_above = (over > shift + reach and centre_above[i] == 1.0) or (over < -reach and centre_above[i] == 0.0)
        rows[count] = i
        count += not (far_below and far_above)
    return count
