r"""Theorem 5: the mean in the best of k feature spaces, with exact probabilities.

ω*_S is the mean in a feature space with the largest ‖ω_S^i‖; where several tie, the claim is held to the worst of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import simopt.claims as sc
from simopt.theorems.small_worlds.exact_tails import (
    Ball,
    Tails,
    average,
    ball,
    excess,
    expected,
    holds_for_all_levels,
    law,
    multinomial,
    tails,
)
from simopt.theorems.small_worlds.sampled_worlds import SUPPORTS, coin, disc_point, weights
from simopt.theorems.small_worlds.worlds import squared


def independent_maps(trial: sc.Trial) -> Iterator[sc.Instance]:
    """x = (x₁, …, x_k) with independent two-point coordinates and φ_i(x) = x_i."""
    for n in (1, 2, 3, 4, 6, *trial.count(0, 1) * (8, 12)):
        for copies in (1, 2, 5, 20, *trial.count(0, 1) * (100,)):
            for support in SUPPORTS:
                for k in range(10, 60, trial.count(20, 10)):
                    yield coin(n, Fraction(k, 60), support) | {"copies": copies}


def dependent_maps(trial: sc.Trial) -> Iterator[sc.Instance]:
    """Three points and two or three maps into the disc."""
    for _ in range(trial.count(12, 60)):
        maps = [[disc_point(trial.rng) for _ in range(3)] for _ in range(int(trial.rng.integers(2, 4)))]
        yield {"probabilities": weights(trial.rng, 3), "maps": maps, "n": int(trial.rng.integers(2, trial.count(6, 10)))}


def several_maps(trial: sc.Trial) -> Iterator[sc.Instance]:
    """Both."""
    yield from independent_maps(trial)
    yield from dependent_maps(trial)


def best_of_copies(n: int, chances: list[Fraction], features: list[list[Fraction]], copies: int) -> Tails:
    """P(X ≥ t), X the excess of the best of k independent copies of one world on the line.

    With probability F(c)^k − (F(c) − p(c, t))^k the largest |ω_S^i| is c and a map that attains it has an excess ≥ t. Here
    F(c) = P(|ω| ≤ c) and p(c, t) = P(|ω| = c, excess ≥ t) for one copy.
    """
    mean = expected(chances, features)
    joint = [(abs(w[0]), excess(w, mean), mass) for drawn, mass in multinomial(n, tuple(chances)) for w in [average(drawn, features)]]
    below = {c: sum((mass for a, _, mass in joint if a <= c), Fraction(0)) for c, _, _ in joint}
    made = []
    for t in sorted({value for _, value, _ in joint}, reverse=True):
        at = {c: sum((mass for a, value, mass in joint if a == c and value >= t), Fraction(0)) for c in below}
        made.append((t, sum((below[c] ** copies - (below[c] - at[c]) ** copies for c in below), Fraction(0))))
    return made


def best_of_maps(n: int, chances: list[Fraction], maps: list[list[list[Fraction]]]) -> Tails:
    """P(X ≥ t), X the largest excess among the maps with the longest mean."""
    means = [expected(chances, features) for features in maps]
    pairs = []
    for drawn, mass in multinomial(n, tuple(chances)):
        found = [average(drawn, features) for features in maps]
        longest = max(squared(w) for w in found)
        pairs.append((max(excess(w, mean) for w, mean in zip(found, means, strict=True) if squared(w) == longest), mass))
    return tails(pairs)


def selected(n: int, chances: list[Fraction], maps: Any, features: Any, copies: int) -> tuple[Tails, int]:
    """The tails of the excess of the selected mean, and the number k of maps: those given, or copies of one."""
    if maps is not None:
        return best_of_maps(n, chances, maps), len(maps)
    if copies == 1:
        return tails(law(n, chances, features, excess)), 1
    return best_of_copies(n, chances, features, copies), copies


@sc.claim(
    "RMW-T5",
    place="Theorem 5",
    kind=sc.HIGH_PROBABILITY,
    status={"RMW-T5": sc.ProofStatus.GAP},
    says=r"If ‖φ_i(x)‖ ≤ 1 for all x and i = 1, …, k, then for every P, n and δ ∈ (0, 1), with probability at least 1 − δ over S ~ Pⁿ, "
    r"ℓ_linear(P, ω*_S) ≤ ℓ_linear(S, ω*_S) + √(2 (1 + log k + log(1/δ))/n), ω*_S a mean of least 1 − ‖ω_S^i‖. (RMW-T5-proven: with "
    r"(1 + √(2 log(k/δ)))/√n.)",
    instances=several_maps,
    knobs={"factor": Fraction(2), "maps": 1},
    mutants={"without log k": {"maps": 0}, "√((1 + log k + log(1/δ))/n)": {"factor": Fraction(1)}},
    covers=("RMW-T5-proven",),
    note="Equivalent to Theorem 3: k = 1 is Theorem 3, and Theorem 3 for every map at level δ/k gives Theorem 5 for any choice of map. So "
    "its constant is as unproved as there (the printed proof gives 4 for 2), and the proven form follows from RMW-T3-proven. Exact "
    "probabilities for independent maps (k up to 20, full effort 100) and for dependent ones.",
)
def the_best_mean_generalises(
    probabilities: list[Fraction], n: int, trial: sc.Trial, maps: Any = None, features: Any = None, copies: int = 1
) -> Iterator[sc.Check]:
    """P(excess ≥ t) against k e^{1 − n t²/2} and k e^{−(√n t − 1)²/2} for every value t."""
    found, k = selected(n, probabilities, maps, features, copies)
    choice = ball(k).log() * trial["maps"]

    def printed(t: Fraction) -> Ball | None:
        x = ball(n * t**2 / trial["factor"] - 1) - choice
        return x if t > 0 and x > 0 else None

    def proven(t: Fraction) -> Ball | None:
        if t <= 0 or n * t**2 <= 1:
            return None
        x = (ball(n * t**2).sqrt() - 1) ** 2 / ball(trial["factor"]) - choice
        return x if x > 0 else None

    yield holds_for_all_levels(found, printed, "Theorem 5")
    yield holds_for_all_levels(found, proven, "proven form", row="RMW-T5-proven")
