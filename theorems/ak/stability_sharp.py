r"""Appendix D, Theorem 3: its constant with the factor c/m cannot be improved. Exact sets on one point whose minimisers are known.

f is the minimiser if and only if it solves the first-order condition, since m > 1. So the data are written as functions of the minimisers:
f = −s and g = s small make λ large and C nearly 2 C_y.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from simopt.claims import *


def opposite_targets(trial: Trial) -> Iterator[Instance]:
    """m = 2, …, 6 with the divisor kept, and m = 2 with it renewed."""
    for m in range(2, 7):
        yield {"s": Fraction(1, 10**9), "power": m, "divisor": 2}
    yield {"s": Fraction(1, 10**9), "power": 2, "divisor": 1}


@claim(
    "AK-T3-sharp",
    paper=AUDIFFREN_KADRI,
    place="Appendix D, Theorem 3, ours: the constant of AK-T3+ is best",
    kind=TIGHTNESS,
    expected=HOLDS,
    says=r"For m = 2, …, 6 and Z^i divided by n (c = 1), and for m = 2 and Z^i divided by n − 1 (c = 2), there are sets with n = 2, "
    r"k = κ = C_y = 1 and ‖f_Z − f_{Z^i}‖ ≥ 0.999 (2^{m−2} c C κ/(m λ n))^{1/(m−1)}. With n − 1 and m = 2 that is the bound of Theorem 3.",
    instances=opposite_targets,
    exhaustive=True,
    knobs={"share": Fraction(999, 1000)},
    mutants={"1.001 times the bound": {"share": Fraction(1001, 1000)}},
    note="c = 1: y = ((1 − s)/2, −1), λ = (1 − 3s)/(2 m s^{m−1}), f_Z = −s, and s without the second sample. c = 2: y = (1, −1), λ = 1/s − "
    "1, f_Z = 0, and s without it. s → 0 makes every step of the proof an equality. For c = 2 and m > 2 no sharp set is known to us.",
)
def best_constant(instance: Instance, trial: Trial) -> Iterator[Check]:
    """The first-order conditions of both minimisers, |y| ≤ 1, and the (m − 1)-th power of the distance."""
    m, divisor = instance["power"], instance["divisor"]
    s = inputs(s=instance["s"])
    kept = divisor == 2
    lam = (1 - 3 * s) / (2 * m * s ** (m - 1)) if kept else 1 / s - 1
    y, last = ((1 - s) / 2 if kept else 1 + 0 * s), -1
    f, g = (-s if kept else 0 * s), s
    for w, gap, size, name in ((f, y - f + last - f, 2, "f_Z"), (g, y - g, divisor, "f_{Z^i}")):
        yield equal(lam * m * abs(w) ** (m - 2) * w, 2 * gap / size, f"first-order condition of {name}")
    yield at_most(abs(y), 1, "|y| ≤ C_y")
    yield at_least(lam, 0, "λ > 0", strict=True)
    C = 2 * (1 + root(1 / lam, m))
    bound = 2 ** (m - 2) * (1 if kept else 2) * C / (m * lam * 2)
    yield at_least((g - f) ** (m - 1), trial["share"] ** (m - 1) * bound, f"(m − 1)-th power of the distance, m = {m}")
