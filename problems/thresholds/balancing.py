r"""Multipliers of hinges against learned thresholds, made such that no threshold can exploit them.

With A_j = Σ q over the hinges below that meet threshold j and C_j = Σ p over those above, the Lagrangian has the term ⟨g_b, b⟩.
    g_b,j = A_j − C_j + ν_j − ν_{j−1}      (ν_0 = ν_{r−1} = 0; for IMC there are no ν at all).
This is bounded below in b only if g_b = 0. Both repairs scale multipliers by factors ≤ 1, so that they keep their caps. They are formulas
of real numbers whose values give g_b = 0 exactly. So an evaluation with them in intervals encloses the dual at a feasible point, and no
bound on the thresholds is needed. (Cf. `intercepts.balanced`, the case of one threshold.)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from simopt.arithmetic import Arithmetic, Value
from simopt.core.arrays import Array
from simopt.problems.losses.intercepts import VANISHING
from simopt.problems.thresholds.sides import HingeSide


@dataclass(frozen=True, eq=False)
class RepairedMultipliers:
    """Admissible multipliers in some arithmetic: p (one a hinge above), q (one a hinge below), ν, and g_b; None stands for exactly 0."""

    above: Value
    below: Value
    order: Value | None = None
    imbalance: Value | None = None


def spaced(num: Arithmetic, highs: HingeSide, lows: HingeSide, above: Value, below: Value) -> RepairedMultipliers:
    """p, q and ν ≥ 0 with g_b = 0, for thresholds with spacing rows. O(hinges + r).

    g_b = 0 says that ν_j = Σ_{i ≤ j} (C_i − A_i) and that the last of these sums, j = r − 1, is 0. From the first threshold to the last,
    A_j is cut to what keeps the sum ≥ 0. Then from the last to the first, C_j is cut until the last sum is 0.
    """
    low, high = _totals(num, lows, below), _totals(num, highs, above)
    count, zero = lows.count, num.lift(0.0)
    sums, targets_low, targets_high = [zero], [zero] * count, [zero] * count
    for j in range(count):
        at_hand = sums[j] + high[j]
        targets_low[j] = num.minimum(low[j], at_hand)
        sums.append(num.pos(at_hand - low[j]))
    excess = sums[count]
    order = [zero] * count
    for j in range(count - 1, -1, -1):
        order[j] = num.pos(sums[j + 1] - excess)
        targets_high[j] = num.pos(high[j] - excess)
        excess = num.pos(excess - high[j])
    scaled = _scaled(num, highs, above, targets_high, high), _scaled(num, lows, below, targets_low, low)
    return RepairedMultipliers(*scaled, num.concat(order[:-1]) if count > 1 else None)


def separate(num: Arithmetic, highs: HingeSide, lows: HingeSide, above: Value, below: Value) -> RepairedMultipliers:
    """p and q with A_j = C_j for every threshold: the larger of the two is cut. O(hinges)."""
    low, high = _totals(num, lows, below), _totals(num, highs, above)
    targets = [num.minimum(one, two) for one, two in zip(low, high, strict=True)]
    return RepairedMultipliers(_scaled(num, highs, above, targets, high), _scaled(num, lows, below, targets, low))


def matching(highs: HingeSide, lows: HingeSide, over: Array, under: Array, net: Array) -> dict[str, Array]:
    """p and q in [0, 1/n] of EXC with p_i − q_i = net_i, as far as that can be, that leave little of Σ (1/n − a)[h]_+ + a[−h]_+.

    For a sample with two hinges one multiplier is its subgradient and the other follows, or both are as small as can be: whichever costs
    least. `over` and `under` are the arguments of the hinges.
    """
    n, mass = highs.samples, 1.0 / highs.samples
    h, caps = np.zeros((2, n)), np.zeros((2, n))
    for k, (side, arguments) in enumerate(((highs, over), (lows, under))):
        h[k, side.rows], caps[k, side.rows] = arguments, mass
    steep = caps * (h > 0)
    wanted = np.clip(net, -caps[1], caps[0])
    p_first = np.clip(steep[1] + wanted, 0.0, caps[0])
    q_first = np.clip(steep[0] - wanted, 0.0, caps[1])
    tries = [
        (np.maximum(wanted, 0.0), np.maximum(-wanted, 0.0)),
        (p_first, np.clip(p_first - wanted, 0.0, caps[1])),
        (np.clip(q_first + wanted, 0.0, caps[0]), q_first),
    ]
    costs = [sum(np.where(h[k] > 0, (caps[k] - a[k]) * h[k], -a[k] * h[k]) for k in (0, 1)) for a in tries]
    best = np.argmin(costs, axis=0)
    p, q = (np.choose(best, [a[k] for a in tries]) for k in (0, 1))
    return {"above": p[highs.rows], "below": q[lows.rows]}


def _totals(num: Arithmetic, side: HingeSide, multipliers: Value) -> list[Value]:
    """A_j or C_j; 0 where it is so small that `_scaled` makes all its multipliers 0."""
    totals = side.by_threshold(num, multipliers)
    plain = num.mid(totals)
    return [totals[j] if plain[j] >= VANISHING else num.lift(0.0) for j in range(side.count)]


def _scaled(num: Arithmetic, side: HingeSide, multipliers: Value, targets: list[Value], totals: list[Value]) -> Value:
    """The multipliers of each threshold times target/total."""
    vanished = [not np.any(num.mid(total)) for total in totals]
    ratios = [num.lift(0.0) if gone else part / total for gone, part, total in zip(vanished, targets, totals, strict=True)]
    return multipliers * num.concat(ratios)[side.ends]
