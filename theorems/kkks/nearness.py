r"""How near a bound that holds with probability ≥ 1 − δ comes to what is drawn: the part of it that the (1 − δ)-quantile takes up.

That no draw was bad says nothing of the constants of a bound. P(value > bound) ≤ δ if and only if the (1 − δ)-quantile is at most the
bound, and the quantile over the bound is what tightness means here. It has an upper confidence limit whatever the law is. If the k-th
smallest of n draws lies below the quantile, at least k draws do, and P(Bin(n, 1 − δ) ≥ k) is known.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from scipy.stats import binom

import simopt.claims as sc

MISTAKEN = 1e-3  # probability with which a limit is below the quantile


def quantile_limit(values: Sequence[float], level: float) -> float:
    """The smallest draw that is above the `level` quantile but for a chance of 0.1 %; ∞ where there are too few draws for one."""
    n = len(values)
    k = int(binom.isf(MISTAKEN, n, level)) + 1  # the least k with P(Bin(n, share) ≥ k) ≤ 0.1 %
    return sorted(values)[k - 1] if 1 <= k <= n else math.inf


def nearness(ratios: Sequence[float], delta: float, name: str, row: str = "") -> sc.Check:
    """How near the draws came: their (1 − δ)-quantile, where each is what was measured over its bound, is at most 1.

    It decides nothing that the draws do not decide, and cannot refute: what is known of the quantile is that it lies between 0 and a limit.
    """
    limit = quantile_limit(ratios, 1 - delta)
    return sc.at_most(sc.between(0.0, limit), 1.0, f"{name}: at most {limit:.2g} of the bound in all but {delta:g} of the draws", row=row)
