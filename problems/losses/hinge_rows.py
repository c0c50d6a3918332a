r"""Hinges as rows with multipliers: one a sample in the SVM, two in landmarked SVR (fixed ends) and EXC (ends that are thresholds).

The conjugate of the hinge as a function of the margin stands in `margin_losses`. With two hinges the loss is
(1/n) Σ_i [lo_i − f_i]_+ + [f_i − hi_i]_+, each hinge a labelled row of the declaration with a slack:
    below:  slack_below_i ≥ lo_i − f_i,  multiplier q_i ∈ [0, 1/n];        above:  slack_above_i ≥ f_i − hi_i,  multiplier p_i ∈ [0, 1/n].
A hinge with argument h and multiplier a ∈ [0, c], c = 1/n, leaves c[h]_+ − ah = (c − a)[h]_+ + a[−h]_+ ≥ 0 of the gap.
What bounds w takes its part of the gap with g = Ψᵀ(p − q), see `simopt.problems.bounds`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from simopt.arithmetic import Arithmetic, Value


def share(num: Arithmetic, n: int) -> Value:
    """1/n, the largest multiplier of a hinge."""
    return num.lift(1.0) / n


def capped(num: Arithmetic, multiplier: Any, n: int) -> Value:
    """The multiplier clipped to [0, 1/n] (in `num`: fl(1/n) may exceed 1/n)."""
    return num.minimum(num.pos(num.lift(np.asarray(multiplier, dtype=float))), share(num, n))


def mean_loss(num: Arithmetic, *arguments: Value, n: int) -> Value:
    """(1/n) Σ [h]_+ over all hinges."""
    return sum((num.sum(num.pos(h)) for h in arguments), num.lift(0.0)) / n


def slack(num: Arithmetic, h: Value, a: Value, n: int) -> Value:
    """Σ (1/n − a)[h]_+ + a[−h]_+."""
    return num.dot(num.pos(share(num, n) - a), num.pos(h)) + num.dot(a, num.pos(h * -1))
