r"""Two hinges a sample, with ends and weights of their own: the loops over samples of landmarked SVR and EXC ordinal regression.

    Σ_i c_i ( s([lo_i − f_i]) + s([f_i − hi_i]) ),     s(h) = max over 0 ≤ a ≤ 1 of ah − a²/(2β),  which is [h]_+ for β = ∞.

Weights c_i sum to 1 (1/n each for a mean). Multipliers are a ∈ [0, 1] here, in units of their weight: `below` belongs to lo − f, `above` to
f − hi. In a stage of the augmented Lagrangian with centres a⁰ and width h > 0, the maximiser of ah_i − a²/(2β) − h(a − a⁰)²/2 is

    a = clip((h_i + h a⁰)/(h + 1/β), 0, 1),      with derivative 1/(h + 1/β) where it lies inside (the hinge is then *free*).

The part of a hinge in the gap is s(h) + a²/(2β) − ah = (a − a*)((a + a*)/(2β) − h) ≥ 0 with a* = clip(βh, 0, 1). For β = ∞ it is (1 − a)h
for h > 0, and −ah else. A missing end is ±1e30, never ±∞. lo may exceed hi. O(n) time each; no memory but the arrays given.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from simopt.core.arrays import Array
from simopt.core.compiled import kernel
from simopt.solvers.hinges.stage import FLAT, HALVINGS, Indices, Line, Notes, RootBracket, between, narrowed

FIRST = 0.3  # width of a first stage, in standard deviations of the ends
FAR = 1e29  # an end beyond this is missing


class Hinges(NamedTuple):
    """lo, hi and c, each (n,), and the shift 1/β ≥ 0."""

    low: Array
    high: Array
    sample_weight: Array
    shift: float = 0.0

    def on(self, part: slice) -> Hinges:
        """The same for a block of samples, as views."""
        return Hinges(self.low[part], self.high[part], self.sample_weight[part], self.shift)

    def take(self, rows: Indices | slice, for_all: bool = False) -> Hinges:
        """The same for some of the samples, as copies: of strided views the kernels would have to be compiled once more. Their weights are
        their own, or raised to the sum of all.
        """
        low, high, sample_weight = (np.ascontiguousarray(values[rows]) for values in (self.low, self.high, self.sample_weight))
        return Hinges(
            low,
            high,
            sample_weight * (float(np.sum(self.sample_weight)) / float(np.sum(sample_weight))) if for_all else sample_weight,
            self.shift,
        )

    def loss_at_zero(self) -> float:
        """Σ c ([lo]_+ + [−hi]_+), the loss of f = 0 for β = ∞."""
        return float(self.sample_weight @ (np.maximum(self.low, 0.0) + np.maximum(-self.high, 0.0)))

    def first_width(self) -> float:
        """0.3 standard deviations of the ends, or times the loss at f = 0 where that is more (the ends then lie on one side of 0)."""
        there = [end[np.abs(end) < FAR] for end in (self.low, self.high)]
        count = sum(end.size for end in there)
        if count == 0:
            return 1.0
        mean = sum(float(np.sum(end)) for end in there) / count
        std = math.sqrt(sum(float(np.sum((end - mean) ** 2)) for end in there) / count)
        return FIRST * max(std, self.loss_at_zero() / float(np.sum(self.sample_weight))) or 1.0


class Pair(NamedTuple):
    """A number, such as a multiplier, for each of the two hinges of a sample."""

    below: Array
    above: Array

    @classmethod
    def zeros(cls, n: int) -> Pair:
        """0 for n samples."""
        return cls(np.zeros(n), np.zeros(n))

    def on(self, part: slice) -> Pair:
        """Those of a block of samples, as views."""
        return Pair(self.below[part], self.above[part])


@kernel
def left_over(h: float, a: float, shift: float) -> float:
    """The part in the gap of a hinge with argument h and multiplier a, in units of its weight."""
    if shift == 0.0:
        return (1.0 - a) * h if h > 0.0 else -a * h
    best = min(max(h / shift, 0.0), 1.0)
    if 0.0 < best < 1.0:
        return 0.5 * shift * (a - best) * (a - best)
    return (a - best) * (0.5 * shift * (a + best) - h)


@kernel
def update_multipliers(
    f: Array, hinges: Hinges, centres: Pair, width: float, multipliers: Pair, pull: Array, notes: Notes
) -> tuple[int, int, float]:
    """Multipliers at f for the given centres, and pull_i = c_i(above_i − below_i).

    Also notes, the number of a sample with free hinges being c_i times how many they are. Returns how many samples have changed, how many
    are free, and the hinges' part of the gap.
    """
    low, high, sample_weight, shift = hinges
    centre_below, centre_above = centres
    below, above = multipliers
    changed, change, free, number = notes
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
        rest += sample_weight[i] * (left_over(under, b, shift) + left_over(over, a, shift))
        now = sample_weight[i] * (a - b)
        changed[moved] = i
        change[moved] = now - pull[i]
        moved += now != pull[i]
        pull[i] = now
        inside = (0.0 < x < 1.0) + (0.0 < z < 1.0)
        free[count] = i
        number[count] = inside * sample_weight[i]
        count += inside > 0
    return moved, count, rest


@kernel
def audit(f: Array, low: Array, high: Array, sample_weight: Array, shift: float, below: Array, above: Array, pull: Array) -> float:
    """pull for the multipliers as they are, and the hinges' part of the gap."""
    rest = 0.0
    for i in range(f.size):
        pull[i] = sample_weight[i] * (above[i] - below[i])
        rest += sample_weight[i] * (left_over(low[i] - f[i], below[i], shift) + left_over(f[i] - high[i], above[i], shift))
    return rest


@kernel(any_order=True)
def tilt(f: Array, move: Array, t: float, hinges: Hinges, centres: Pair, width: float) -> float:
    """Σ c (above − below) move at f + t move: the derivative of the stage's loss along the move."""
    low, high, sample_weight, shift = hinges
    centre_below, centre_above = centres
    inverse = 1.0 / (width + shift)
    total = 0.0
    for i in range(f.size):
        x = f[i] + t * move[i]
        b = min(max((low[i] - x + width * centre_below[i]) * inverse, 0.0), 1.0)
        a = min(max((x - high[i] + width * centre_above[i]) * inverse, 0.0), 1.0)
        total += sample_weight[i] * (a - b) * move[i]
    return total


@kernel
def line_search(f: Array, move: Array, hinges: Hinges, centres: Pair, width: float, line: Line) -> float:
    """t in (0, 1] at which the derivative along the move is small, 1 if there. f is at t = 1: f − move is at t = 0."""
    value = tilt(f, move, 0.0, hinges, centres, width) + line.slope + line.curvature
    bracket, t = RootBracket(0.0, line.at_zero, 1.0, value), 1.0
    for turn in range(HALVINGS if value > FLAT * abs(line.at_zero) else 0):
        t = between(bracket, turn)
        value = tilt(f, move, t - 1.0, hinges, centres, width) + line.slope + t * line.curvature
        if abs(value) <= FLAT * abs(line.at_zero):
            break
        bracket = narrowed(bracket, t, value)
    return t


@kernel
def near(f: Array, hinges: Hinges, multipliers: Pair, reach: float, rows: Indices) -> int:
    """The samples that could become free: within `reach` of a kink, between two, or with a multiplier other than f's 0 or 1."""
    low, high, _, shift = hinges
    below, above = multipliers
    count = 0
    for i in range(f.size):
        under, over = low[i] - f[i], f[i] - high[i]
        far_below = (under > shift + reach and below[i] == 1.0) or (under < -reach and below[i] == 0.0)
        far_above = (over > shift + reach and above[i] == 1.0) or (over < -reach and above[i] == 0.0)
        rows[count] = i
        count += not (far_below and far_above)
    return count
