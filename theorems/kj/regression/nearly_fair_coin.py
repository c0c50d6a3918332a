r"""A hard case for every bound on what is learnt from n labels: K = 1 and y = ±1 with chances ½ ± η, for B = 1 and ℓ_0.

Nobody who sees points through K tells them apart: f is a constant c in [−1, 1], E |c − y| = 1 − 2ηc, ε_0 = 1 − 2η at c = 1. If the sample
has more of −1, the empirical minimiser is c = −1, with an excess of 4η. The probability is P(Bin(n, ½ + η) < n/2), near exp(−2nη²). So with
more than δ excesses occur up to nearly 4√(log(1/δ)/2n), the larger part of the bounds of Theorems 5 and 9 and of Appendix B if δ is small.
A bound that holds with probability ≥ 1 − δ is at least what is reached with a larger probability than δ. Landmarks, all alike, cost
nothing.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.stats import binom

from simopt.core.arrays import Array
from simopt.theorems.kj.sparse.algorithm_2 import Landmarked

SAFE = 1.0 + 1e-9  # by which a tail in floats is asked to pass δ


def leanings(n: int) -> Array:
    """η from 1/(100√n) to 10/√n, below ½."""
    found: Array = np.arange(1, 1001) / (100.0 * math.sqrt(n))
    return found[found < 0.5]


def reached(n: int, delta: float) -> float:
    """The largest excess 4η whose probability P(Bin(n, ½ + η) < n/2) is above δ; 0 if there is none."""
    eta = leanings(n)
    wrong = eta[binom.cdf((n - 1) // 2, n, 0.5 + eta) > SAFE * delta]
    return 4.0 * float(wrong[-1]) if wrong.size else 0.0


def passed(n: int, eta: float, delta: float) -> int:
    """The largest m with P(Bin(n, ½ − η) ≥ m) > δ. SciPy's own quantile is n where δ is below 1e-16."""
    return int(np.flatnonzero(binom.sf(np.arange(n + 1) - 1, n, 0.5 - eta) > SAFE * delta)[-1])


def reached_by_algorithm_2(n: int, delta: float, k: int) -> float:
    """The same for the output c of Algorithm 2 with ε_2 = √(8/k): the largest 2η(1 − c) for the count of −1 passed with more than δ.

    c falls as −1 becomes more frequent: of two counts from there on, the lesser excess is taken.
    """
    tolerance, best = math.sqrt(8.0 / k), 0.0
    for eta in leanings(n)[49:500:50]:
        least = passed(n, float(eta), delta)
        found = []
        for count in (least, (least + n) // 2):
            shares = np.array([1.0 - count / n, count / n])
            w, _ = Landmarked(np.ones((2, 1)), np.array([1.0, -1.0]), shares, 1.0, 1.0 / tolerance, 0.0).run(k, tolerance)
            found.append(2.0 * float(eta) * (1.0 - float(w[0])))
        best = max(best, min(found))
    return best


def surely_reached_by_algorithm_2(n: int, delta: float, k: int) -> float:
    """The same for every k: by KJ-Thm9-p3 (1 + c)(2q − 1) ≤ (3/2)ε_2 where a share q > ½ of the sample is −1."""
    eta = leanings(n)[9::10]
    lead = 2.0 * np.array([passed(n, float(each), delta) for each in eta]) / n - 1.0
    excess = 2.0 * eta * (2.0 - 1.5 * math.sqrt(8.0 / k) / np.where(lead > 0.0, lead, 1.0))
    return float(np.max(np.where(lead > 0.0, excess, 0.0), initial=0.0))
