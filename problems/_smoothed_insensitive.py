r"""The hinge of the ε-insensitive loss, smoothed by inf-convolution with βv²/2; whatever bounds w comes on top of it.

    ℓ̃_β(r) = min_v βv²/2 + ℓ_ε(r − v) = s(r − ε) + s(−r − ε),
    s(h) = min_v βv²/2 + [h − v]_+ = βt²/2 + [h − 1/β]_+,  t = min([h]_+, 1/β).
(One v serves both hinges, which are never active together as ε ≥ 0.) s is 0 below 0, quadratic up to 1/β and linear with slope 1 beyond;
[h]_+ − 1/(2β) ≤ s(h) ≤ [h]_+, and s'(h) = min([βh]_+, 1) is β-Lipschitz. β = ∞ is [h]_+ itself (t = 0).
Conjugate: s*(b) = b²/(2β) on [0, 1]. A multiplier a of a hinge with weight c = 1/n is in [0, c], and costs c s*(a/c) = n a²/(2β) in the
dual. With u = na/β, the v at which the price is a, each hinge leaves of the gap
    c s(h) + n a²/(2β) − ah = (β/(2n)) (t − u)² + (c − a)[h − 1/β]_+ + a[−h]_+ ≥ 0.
Source: Kar & Jain 2012, §3.2; Shalev-Shwartz, Srebro & Zhang 2010.
"""

from __future__ import annotations

import math
from typing import Any, SupportsFloat

import numpy as np

from simopt.arithmetic import FLOAT, Arithmetic
from simopt.ground import validate
from simopt.ground.arrays import Array
from simopt.problems import _hinges

Value = Any


def checked(smoothness: SupportsFloat) -> float:
    """β > 0, possibly ∞.

    Raises
    ------
    InvalidProblem
        for a number that is not positive, or whose inverse squared leaves float64.
    """
    if smoothness == math.inf:
        return math.inf
    beta = validate.positive("smoothness", smoothness)
    validate.squarable("smoothness", np.array([beta]))
    return beta


def hinge(num: Arithmetic, h: Value, smoothness: float) -> Value:
    """s(h), elementwise."""
    if smoothness == math.inf:
        return num.pos(h)
    beta = num.lift(smoothness)
    end = num.lift(1.0) / beta
    t = num.clip(h, 0.0, end)
    return t * t * beta / 2 + num.pos(h - end)


def slope(h: Array, smoothness: float) -> Array:
    """s'(h) = min([βh]_+, 1) in floats; for β = ∞ 1 where h > 0, else 0."""
    if smoothness == math.inf:
        return np.where(h > 0, 1.0, 0.0)
    with np.errstate(over="ignore"):
        return np.clip(h * smoothness, 0.0, 1.0)


def loss(residual: Array, epsilon: float, smoothness: float) -> Array:
    """ℓ̃_β(r) of residuals r in floats, elementwise."""
    out: Array = np.asarray(hinge(FLOAT, np.abs(residual) - epsilon, smoothness))
    return out


def mean_loss(num: Arithmetic, *arguments: Value, n: int, smoothness: float) -> Value:
    """(1/n) Σ s(h) over all hinges."""
    return sum((num.sum(hinge(num, h, smoothness)) for h in arguments), num.lift(0.0)) / n


def suggested(h: Array, n: int, smoothness: float) -> Array:
    """a = s'(h)/n, the multipliers that the arguments of the hinges suggest; exact, save at the kink of β = ∞."""
    return slope(h, smoothness) / n


def cost(num: Arithmetic, *prices: Value, n: int, smoothness: float) -> Value:
    """Σ n a²/(2β), which the dual pays for the smoothing; 0 for β = ∞."""
    if smoothness == math.inf:
        return num.lift(0.0)
    return sum((num.dot(a, a) for a in prices), num.lift(0.0)) * n / 2 / num.lift(smoothness)


def slack(num: Arithmetic, h: Value, a: Value, n: int, smoothness: float) -> Value:
    """Σ (β/(2n))(t − na/β)² + (1/n − a)[h − 1/β]_+ + a[−h]_+, what the hinges leave of the gap; 0 ≤ a ≤ 1/n."""
    if smoothness == math.inf:
        return _hinges.slack(num, h, a, n)
    beta = num.lift(smoothness)
    end = num.lift(1.0) / beta
    difference = num.clip(h, 0.0, end) - a * n / beta
    ends = num.dot(num.pos(_hinges.share(num, n) - a), num.pos(h - end)) + num.dot(a, num.pos(h * -1))
    return num.dot(difference, difference) * beta / 2 / n + ends
