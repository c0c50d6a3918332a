r"""Section 13: the entropy numbers of the unit ball of ℝ^d, m^{−1/d} ≤ ε_m ≤ 4 m^{−1/d}.

m balls of radius ε that cover the unit ball have together at least its volume: m ε^d ≥ 1. A largest set of points of the ball at
distances > ε is a cover of radius ε, and the balls of radius ε/2 around its N points are disjoint and lie in one of radius 1 + ε/2: N ≤
(1 + 2/ε)^d. With t = m^{1/d} ≥ 2 and ε = 2/(t − 1) this is N ≤ m and ε ≤ 4/t; for t < 2 one ball of radius 1 ≤ 4/t is enough.
"""

from __future__ import annotations

from collections.abc import Iterator

from simopt.claims import *


def known_entropy_numbers(trial: Trial) -> Iterator[Instance]:
    """What holds for all m and d, in symbols; then ε_m = 1/m on the line, and ε_m = 1 for m ≤ d."""
    yield {}
    for m in (1, 2, 3, 10, 1000):
        yield {"dimension": 1, "balls": m, "whole": 1, "parts": m}
    for d in (2, 3, 10):
        for m in range(1, d + 1):
            yield {"dimension": d, "balls": m, "whole": 1, "parts": 1}


@claim(
    "RMW-13-ball",
    paper=VAN_ROOYEN_MENON_WILLIAMSON,
    place="Section 13, after Theorem 22 (equation 1.1.10 of Carl and Stephani)",
    kind=INEQUALITY,
    expected=HOLDS,
    says=r"For the unit ball of ℝ^d and every m ≥ 1, m^{−1/d} ≤ ε_m ≤ 4 m^{−1/d}, ε_m the least radius of m balls that cover it. The lower "
    r"bound is attained on the line, where ε_m = 1/m. (In t = m^{1/d}; the ε_m that are known, for d = 1 and for m ≤ d, are examples.)",
    remains="the volumes of balls, that a largest separated set covers, and why the ε_m of the examples are what they are",
    instances=known_entropy_numbers,
    exhaustive=True,
    knobs={"lower": 1, "upper": 4},
    mutants={"2 m^{−1/d} ≤ ε_m": {"lower": 2}, "ε_m ≤ m^{−1/d}": {"upper": 1}},
    note="Proof in the head of entropy_of_balls.py. For m ≤ d centres some unit vector has no positive product with any of them, and is at "
    "distance ≥ 1 from all: ε_m = 1.",
)
def entropy_numbers_of_the_ball(instance: Instance, trial: Trial) -> Iterator[Check]:
    """The two cases of the upper bound with t = m^{1/d} free; both bounds to the power d where ε_m is known."""
    if not instance:
        (t,) = symbols("t")
        radius = 2 / (t - 1)
        yield equal(1 + 2 / radius, t, "t ≥ 2: at most t^d = m points at distances > ε = 2/(t − 1)")
        yield equal(4 / t - radius, 2 * (t - 2) / (t * (t - 1)), "t ≥ 2: ε ≤ 4/t")
        yield equal(4 / t - 1, (2 + (2 - t)) / t, "t < 2: 1 ≤ 4/t")
        return
    d = instance["dimension"]
    m, whole, parts = inputs(m=instance["balls"], whole=instance["whole"], parts=instance["parts"])
    covered = m * (whole / parts) ** d
    yield at_least(covered, trial["lower"] ** d, f"m ε_m^d ≥ 1, d = {d}")
    yield at_most(covered, trial["upper"] ** d, f"m ε_m^d ≤ 4^d, d = {d}")
