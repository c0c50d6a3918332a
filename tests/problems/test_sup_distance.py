"""The nearest monotone Lipschitz function: the worst pair by brute force, the envelopes, in fractions."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np

from simopt.arithmetic import RATIONAL
from simopt.problems.sup_distance import SupDistance
from simopt.solvers.isotonic.envelopes import enveloped
from simopt.solving.entry_points import certify, solve


def random_problem(rng: np.random.Generator) -> SupDistance:
    n = int(rng.integers(1, 9))
    lipschitz = [0.0, 0.5, 2.0, math.inf][int(rng.integers(4))]
    return SupDistance(np.cumsum(rng.integers(0, 3, size=n)) / 2.0, rng.integers(-8, 9, size=n) / 4.0, lipschitz)


def climb(problem: SupDistance, i: int, j: int) -> Fraction | None:
    """The most that the class may climb from sample i to sample j; None for ∞."""
    if j < i or problem.positions[i] == problem.positions[j]:
        return Fraction(0)
    if problem.lipschitz == math.inf:
        return None
    return Fraction(problem.lipschitz) * (Fraction(float(problem.positions[j])) - Fraction(float(problem.positions[i])))


def test_half_the_worst_excess_of_a_pair_is_the_optimum_exactly() -> None:
    rng = np.random.default_rng(1)
    for _ in range(300):
        problem = random_problem(rng)
        y = [Fraction(float(value)) for value in problem.targets]
        pairs = itertools.product(range(len(y)), repeat=2)
        excess = [y[j] - y[i] - c for i, j in pairs if (c := climb(problem, i, j)) is not None]
        best = max(Fraction(0), *excess) / 2
        solution = solve(problem, "envelopes", tol=1e-12, rigorous="rational")
        assert solution.certificate is not None and solution.point is not None
        assert solution.certificate.lower == solution.certificate.upper == float(best)
        assert certify(problem, dict(solution.point), num=RATIONAL).gap == 0.0


def test_the_envelopes_are_the_nearest_members_above_and_below() -> None:
    rng = np.random.default_rng(2)
    for _ in range(100):
        problem = random_problem(rng)
        above, below = enveloped(problem)
        assert np.all(above >= problem.targets) and np.all(below <= problem.targets)
        for envelope, sign in ((above, 1.0), (below, -1.0)):
            moved = problem.restore({"x": envelope})["x"] - envelope  # a member is only shifted
            np.testing.assert_allclose(moved, moved[0], atol=1e-14)
            held = []
            for j in range(len(envelope)):
                reached = [
                    problem.targets[i] + (-float(c) if sign > 0 else float(c))
                    for i in range(len(envelope))
                    if (c := climb(problem, j, i) if sign > 0 else climb(problem, i, j)) is not None
                ]
                held.append(max(reached) if sign > 0 else min(reached))
            np.testing.assert_allclose(envelope, held, atol=1e-14)


def test_large_problems_are_solved_to_the_rounding_of_their_sums_of_steps() -> None:
    rng = np.random.default_rng(3)
    z = np.sort(rng.uniform(size=100_000))
    for lipschitz in (0.5, 5.0, math.inf):
        assert solve(SupDistance(z, z + rng.normal(size=z.size), lipschitz), tol=1e-10).optimal
