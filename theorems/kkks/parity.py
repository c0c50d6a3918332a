r"""Section 1: without assumptions on the data the problem is at least as hard as learning parities with noise. Its testable part.

Let x be uniform on {−1, 1}^n/√n, S a set of k coordinates, k odd, χ the product of their signs, E[y|x] = (1 + ρχ)/2: a parity with noise.
M, the sign of the sum over S, agrees with sχ, s = (−1)^{(k−1)/2}, more often than not: E χM = s b_k, b_k = C(k − 1, (k − 1)/2)/2^{k−1}. The
predictor h = 1/2 + c s M is u(w·x) with u(t) = 1/2 + clip(t, −c, c) and w = ±c√n on S, 0 elsewhere, as the sum is odd. At c = ρb_k/2 it is
better than 1/2 by ρ²b_k²/4 ≥ ρ²/(8k). No predictor that does not see one of the coordinates of S is better than 1/2 at all.

So an algorithm that comes within ρ²/(16n) of the best u(w·x) finds S. Give it x with a coordinate replaced by a coin: if it still stays
below the error of 1/2 by ρ²/(16n), the coordinate was not in S. An even S is made odd by one more coin as a coordinate, which flips y.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import accumulate
from operator import mul

import simopt.claims as sc

HALF = Fraction(1, 2)


def odd_sizes(trial: sc.Trial) -> Iterator[sc.Instance]:
    """k = 1, 3, …, 15."""
    for k in range(1, 16, 2):
        yield {"k": k}


def binomials(n: int) -> list[sc.Expr]:
    """C(n, 0), …, C(n, n) as formulas, each made from the one before it."""
    return list(accumulate((Fraction(n - j, j + 1) for j in range(n)), mul, initial=sc.rational(1)))


@sc.claim(
    "KK-parity",
    place="Section 1: 'at least hard as learning parities with noise'",
    kind=sc.IDENTITY,
    says=r"Without the assumption E[y|x] = u(w·x), to come within ρ²/(16n) of the least squared error of all u(w·x), u nondecreasing and "
    r"1-Lipschitz, is at least as hard as learning parities with noise: let E[y|x] = (1 + ρχ)/2, χ the parity of k coordinates, k odd. "
    r"For h = 1/2 + c s M, M their majority and s = (−1)^{(k−1)/2}, err(1/2) − err(h) = cρb_k − c², b_k = C(k − 1, (k − 1)/2)/2^{k−1} and "
    r"b_k² ≥ 1/(2k); and for every g that does not see one of the coordinates, err(g) − err(1/2) = E (g − 1/2)² ≥ 0. (k = 1, 3, …, 15.)",
    remains="odd k > 15, the reduction (head of parity.py), and that parities with noise are hard to learn, which nobody has proved",
    instances=odd_sizes,
    exhaustive=True,
    resolution=0.0,
    knobs={"power": 1, "odd": 1},
    mutants={"b_k² ≥ 1/k": {"power": 2}, "s = 1": {"odd": 0}},
    note="Averaged over the sign x_1, x_1M is 1 where the other k − 1 signs tie, else 0; on a tie their product is (−1)^{(k−1)/2}, so "
    "that E χM = s b_k. With k = 2j + 1, j b_k² grows with j, by the factor (2j + 1)²/(4j(j + 1)), from 1/4 at j = 1: b_k² ≥ 1/(4j) ≥ "
    "1/(2k). A remark: the paper gives no proof and no source. The argument is that of Kalai, Klivans, Mansour and Servedio, Agnostically "
    "learning halfspaces (2008), from memory, here for u(w·x) and the squared error. Nothing is said of any algorithm's running time.",
)
def parity_seen_by_a_majority(k: int, trial: sc.Trial) -> Iterator[sc.Check]:
    """The gain of the majority, by the C(k, j) signs on S of which j are positive, and the loss of whatever misses a coordinate."""
    rho, c, g, chi = sc.symbols("rho c g chi")
    sign = (-1) ** (trial["odd"] * (k - 1) // 2)
    gain = sc.rational(HALF) ** k * sc.total(
        number * ((HALF - mean) ** 2 - (HALF + c * sign * (1 if 2 * j > k else -1) - mean) ** 2)
        for j, number in enumerate(binomials(k))
        for mean in ((1 + rho * (-1) ** (k - j)) / 2,)
    )
    b = sc.rational(HALF) ** (k - 1) * binomials(k - 1)[(k - 1) // 2]
    yield sc.equal(gain, c * rho * b - c**2, f"err(1/2) − err(h), k = {k}")
    yield sc.at_least(b**2, trial["power"] * Fraction(1, 2 * k), f"b_k², k = {k}")
    # the two x that differ in the coordinate that g does not see have χ and −χ, χ² = 1
    unseen = ((g - (1 + rho * chi) / 2) ** 2 + (g - (1 - rho * chi) / 2) ** 2) / 2
    yield sc.equal(unseen - (rho * chi) ** 2 / 4, (g - HALF) ** 2, "err(g) − err(1/2) at two x")
