r"""Hinges as rows with multipliers: one a sample in the SVM, two in landmarked SVR (fixed ends) and EXC (ends that are thresholds).

The conjugate of the hinge as a function of the margin stands in `margin_losses`. With two hinges the loss is
(1/n) Σ_i [lo_i − f_i]_+ + [f_i − hi_i]_+, each hinge a labelled row of the declaration with a slack.
    below:  slack_below_i ≥ lo_i − f_i,  multiplier q_i ∈ [0, 1/n];        above:  slack_above_i ≥ f_i − hi_i,  multiplier p_i ∈ [0, 1/n].
If samples have weights, that of the sample over their sum (`sample_weights`) stands in place of 1/n.
A hinge with argument h and multiplier a ∈ [0, c], c = 1/n, leaves c[h]_+ − ah = (c − a)[h]_+ + a[−h]_+ ≥ 0 of the gap. The bound on w takes
its part of the gap with g = Ψᵀ(p − q), see `simopt.problems.bounds`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from simopt.arithmetic import Arithmetic, Value
from simopt.problems.sample_weights import SampleWeights


def capped(num: Arithmetic, multiplier: Any, sample_weights: SampleWeights) -> Value:
    """The multiplier clipped to [0, c]."""
    return num.minimum(num.pos(num.lift(np.asarray(multiplier, dtype=float))), sample_weights.each(num))


def slack(num: Arithmetic, h: Value, a: Value, sample_weights: SampleWeights) -> Value:
    """Σ (c − a)[h]_+ + a[−h]_+."""
    return num.dot(num.pos(sample_weights.each(num) - a), num.pos(h)) + num.dot(a, num.pos(h * -1))
