"""Section 5.1: what LPAV computes: the programme (1) to (3), its solution, the range, and the function between the points."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import simopt.claims as sc
from simopt.theorems.kkks.chains import chains, falling, fit, gaps, square_sum
from simopt.theorems.kkks.covers import printed_path_near
from simopt.theorems.kkks.piecewise_linear import ONE, ZERO, interpolating, ramp
from simopt.theorems.kkks.rational_lpav import cumulative_residuals, rational_lpav

QUARTER = Fraction(1, 4)


@sc.claim(
    "KK-LPAV",
    place="Section 5.1, (1) to (3)",
    kind=sc.EXISTENCE,
    says=r"For sorted z (ties allowed) and y in [0, 1] the least squares fit by ŷ_i = u(z_i), u : [−W, W] → [0, 1] nondecreasing and "
    r"1-Lipschitz, exists, is unique and is the solution of (1) under 0 ≤ ŷ_{i+1} − ŷ_i ≤ z_{i+1} − z_i: the range is never active, min y "
    r"≤ ŷ ≤ max y, and joining the points by straight lines gives such a u.",
    instances=chains,
    knobs={"lipschitz": ONE, "low": ZERO, "high": ONE},
    mutants={"range [1/4, 3/4]": {"low": QUARTER, "high": 1 - QUARTER}, "fit with constant 2": {"lipschitz": Fraction(2)}},
    note="Optimality by Karush–Kuhn–Tucker in fractions: τ_i = Σ_{j≤i} (ŷ_j − y_j) ends at 0, is > 0 only where the upper bound is "
    "reached and < 0 only where the lower one is. Uniqueness as Σ (c − y)² ≥ Σ (ŷ − y)² + Σ (c − ŷ)² for feasible c. It exists as the "
    "constraints are closed and the cost is coercive; clipping ŷ to [min y, max y] keeps both constraints and lowers the cost, if it "
    "changes anything.",
)
def programme_and_its_solution(z: list[Fraction], y: list[Fraction], trial: sc.Trial) -> Iterator[sc.Check]:
    """Feasibility, multipliers, rivals, range and interpolation of one chain."""
    m, bounds = len(z), gaps(z)
    x = fit(y, z, trial["lipschitz"])
    rises = gaps(x)
    prices = cumulative_residuals(x, y)
    if m > 1:
        steps = list(zip(rises, bounds, prices, strict=False))
        yield sc.at_least(min(min(rise, bound - rise) for rise, bound, _ in steps), 0, "0 ≤ ŷ_{i+1} − ŷ_i ≤ z_{i+1} − z_i")
        yield sc.equal(sum(max(t, ZERO) * (bound - rise) + max(-t, ZERO) * rise for rise, bound, t in steps), 0, "complementary slackness")
    yield sc.equal(prices[-1], 0, "τ_m = 0")
    ranged = rational_lpav(y, bounds, None, trial["low"], trial["high"])
    yield sc.equal(square_sum(x, ranged), 0, "with the range as a constraint")
    yield sc.at_least(min(x), min(y), "ŷ ≥ min y")
    yield sc.at_most(max(x), max(y), "ŷ ≤ max y")
    u = interpolating(z, x)
    yield sc.true(
        u.nondecreasing() and u.lipschitz() <= 1 and min(u.values) >= 0 and max(u.values) <= 1, "u lies in the class", evidence=sc.EXACT
    )
    rival = [Fraction(int(trial.rng.integers(0, 5)), 4)]
    for bound in bounds:
        rival.append(min(rival[-1] + bound * int(trial.rng.integers(0, 3)) / 2, ONE))
    yield sc.at_least(square_sum(rival, y), square_sum(x, y) + square_sum(rival, x), f"a rival, m = {m}")


@sc.claim(
    "KK-defU",
    place="Appendix B, definition of U",
    kind=sc.DEFINITION,
    says=r"U = {u : [−W, W] → [0, 1], **nondecreasing** and 1-Lipschitz}, W ≥ 1: the functions that LPAV fits lie in U and are Theorem "
    r"3's û, so that Proposition 1 is about them, and every u in U is within ε of the paper's piecewise linear function with slopes 0 and "
    r"1 (Lemma 6; here ε = 1/4).",
    instances=falling,
    knobs={"rising": True},
    mutants={"as printed, without 'nondecreasing'": {"rising": False}},
    note="As printed, U = {u : 1-Lipschitz}: v(x) = clip(−x, 0, 1) is in it, fits falling labels better than LPAV does, and is at least "
    "1/2 from every nondecreasing g, since |g(−1) − 1| + |g(1) − 0| ≥ 1. 'Nondecreasing' stands everywhere else in the paper.",
)
def class_of_transfer_functions(z: list[Fraction], y: list[Fraction], trial: sc.Trial) -> Iterator[sc.Check]:
    """Whether any function of the class fits better than LPAV, or is far from the member of the cover that follows it."""
    x = fit(y, z)
    up = ramp(ZERO)
    down = interpolating([-ONE, ZERO], [ONE, ZERO])
    members = [interpolating(z, x), up] + ([] if trial["rising"] else [down])
    for member in members:
        yield sc.at_most(square_sum(x, y), square_sum([member(t) for t in z], y), "LPAV fits best in the class")
        near = printed_path_near(member, z[-1], QUARTER).function()
        yield sc.at_most(near.distance(member, z[0], z[-1]), QUARTER, "distance from the function with slopes 0 and 1")
