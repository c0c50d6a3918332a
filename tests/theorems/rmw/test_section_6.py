"""Section 6: exact herding against the solver, the hull's geometry, and the rate that is refuted."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import islice

import numpy as np
import pytest
import scipy.spatial

from simopt.problems.herding import Herding
from simopt.solvers.herding.atoms import StoredAtoms
from simopt.solvers.herding.frank_wolfe import FrankWolfe
from simopt.theorems.rmw.corrective_herding import DROP, CorrectiveStep, away_steps, corrective, on_the_edge
from simopt.theorems.rmw.counted_numbers import Counter
from simopt.theorems.rmw.estimated_means import LazyKernel, herded
from simopt.theorems.rmw.exact_frank_wolfe import herding, mean_of, squared_errors, uniform
from simopt.theorems.rmw.herding_rate import enough_steps
from simopt.theorems.rmw.hull_geometry import null_vector, rank, squared_diameter, squared_distance_to_boundary
from simopt.theorems.rmw.monte_carlo import few_draws, mean_square
from simopt.theorems.rmw.rational_sets import general, in_more_dimensions, orthonormal, triangle
from simopt.theorems.small_worlds.worlds import dot, minus, squared
from tests.theorems.conftest import quick

RULES = [("line-search", {}), ("uniform", {"rule": uniform})]


def sampled_sets() -> list[list[list[Fraction]]]:
    rng = np.random.default_rng(0)
    return [general(rng, int(rng.integers(3, 8)), int(rng.integers(2, 5))) for _ in range(12)]


@pytest.mark.parametrize(("steps", "options"), RULES)
def test_solver_takes_the_exact_steps(steps: str, options: dict[str, object]) -> None:
    for atoms in sampled_sets():
        exact = list(islice(herding(atoms, mean_of(atoms), **options), 8))
        psi = np.array(atoms, dtype=float)
        gram, share = psi @ psi.T, np.full(len(psi), 1 / len(psi))
        run = FrankWolfe(StoredAtoms(gram, np.ones(len(psi)), gram @ share, float(share @ gram @ share)), steps)
        for one, look in zip(exact, run, strict=False):
            if one.squared_error < Fraction(1, 10**20):
                break  # ω_P is reached, up to rounding for the solver
            assert run.picks[-1] == one.pick
            assert run.walk.dense == pytest.approx([float(w) for w in one.weights], abs=1e-9)
            assert look.error_squared == pytest.approx(float(one.squared_error), rel=1e-6, abs=1e-14)


@pytest.mark.parametrize(("steps", "exact"), [("fully-corrective", corrective), ("away", away_steps)])
def test_solver_takes_the_exact_steps_of_the_more_involved_methods(steps: str, exact: Callable[..., Iterator[CorrectiveStep]]) -> None:
    compared = 0
    edges = [on_the_edge(1, Fraction(1, 5)), on_the_edge(2, Fraction(1, 3))]
    for atoms, target in [(atoms, mean_of(atoms)) for atoms in sampled_sets()] + [(edge["atoms"], edge["target"]) for edge in edges]:
        psi, goal = np.array(atoms, dtype=float), np.array(target, dtype=float)
        run = FrankWolfe(StoredAtoms(psi @ psi.T, np.ones(len(psi)), psi @ goal, float(goal @ goal)), steps)
        for one, look in zip(islice(exact(atoms, target), 8), run, strict=False):
            if one.squared_error < Fraction(1, 10**12):
                break
            assert run.walk.dense == pytest.approx([float(w) for w in one.weights], abs=1e-7)
            assert look.error_squared == pytest.approx(float(one.squared_error), rel=1e-6, abs=1e-13)
            compared += 1
    assert compared > 30


def test_away_steps_drop_a_member_and_beat_line_search_on_an_edge() -> None:
    edge = on_the_edge(1, Fraction(1, 5))
    run = list(islice(away_steps(edge["atoms"], edge["target"]), 9))
    plain = list(islice(herding(edge["atoms"], edge["target"]), len(run)))
    assert DROP in [one.kind for one in run] and run[-1].squared_error == 0 < plain[-1].squared_error


def test_line_search_may_be_ahead_of_fully_corrective_steps() -> None:
    """Seven points of ℝ⁴: each step is better from the same ω, and the way is another."""
    eighths = [(4, 0, 3, -2), (4, 3, -1, -1), (0, 3, 0, -3), (1, 2, 4, 4), (-4, -3, -1, 4), (0, -3, 1, 0), (-3, 1, 0, 3)]
    atoms = [[Fraction(k, 8) for k in row] for row in eighths]
    target = mean_of(atoms, [Fraction(k, 31) for k in (8, 8, 2, 2, 1, 5, 5)])
    best, plain = ([one.squared_error for one in islice(run, 5)] for run in (corrective(atoms, target), herding(atoms, target)))
    assert best[3] > plain[3] and best[2] <= plain[2] and best[4] < plain[4]


def test_kernel_values_are_counted_when_they_are_asked_for() -> None:
    for atoms in sampled_sets():
        asked = {0, 1}
        for pick, _, used in herded(LazyKernel(atoms), [0, 0, 1], 4):
            asked.add(pick)
            assert used == len(atoms) * len(asked)


def test_the_problem_has_the_exact_error_as_objective() -> None:
    for atoms in sampled_sets():
        psi = np.array(atoms, dtype=float)
        problem = Herding(psi @ psi.T, np.ones(len(psi)))
        for one in islice(herding(atoms, mean_of(atoms)), 6):
            weights = np.array([float(w) for w in one.weights])
            assert problem.objective({"weights": weights}) == pytest.approx(float(one.squared_error), abs=1e-14)


def test_mean_square_error_of_independent_draws_is_the_variance_over_their_number() -> None:
    for world in few_draws(quick("RMW-6-MC")):
        chances, features = world["probabilities"], world["features"]
        one = mean_square(chances, features, 1)
        mean = mean_of(features, chances)
        assert one == sum(p * squared(psi) for p, psi in zip(chances, features, strict=True)) - squared(mean) > 0
        assert [mean_square(chances, features, m) for m in range(1, 7)] == [one / m for m in range(1, 7)]


def test_the_rate_of_greedy_approximation_begins_with_the_second_atom() -> None:
    """Why RMW-6.5 leaves out m = 1: the first atom is chosen by ⟨ω_P, ψ⟩ alone, and may be the one farther from an ω_P beside the hull."""
    near, far, target = [Fraction(9), Fraction(1, 2)], [Fraction(10), Fraction(1)], [Fraction(0), Fraction(1)]
    first, *_ = run = list(islice(herding([near, far], target), 3))
    distance, diameter = squared(minus(target, near)), squared_diameter([near, far])
    assert first.pick == 1 and first.squared_error - distance > 4 * diameter / 2
    assert all(one.squared_error - distance <= 4 * diameter / (m + 1) for m, one in enumerate(run[1:], 2))


def test_exact_errors_lie_in_their_enclosures() -> None:
    for atoms in sampled_sets():
        exact = [one.squared_error for one in islice(herding(atoms, mean_of(atoms)), 8)]
        enclosed = squared_errors(atoms, mean_of(atoms), 8)
        assert len(enclosed) == len(exact)
        for value, bracket in zip(exact, enclosed, strict=True):
            assert bracket.low <= value <= bracket.high
            assert bracket.high - bracket.low <= Fraction(1, 2**300)


def test_ties_that_enclosures_cannot_see_are_said() -> None:
    with pytest.raises(ArithmeticError, match="exact steps"):
        squared_errors(orthonormal(8), mean_of(orthonormal(8)), 6)
    errors = squared_errors(orthonormal(8), mean_of(orthonormal(8)), 6, exact=6)
    assert [error.low for error in errors] == [Fraction(1, m) - Fraction(1, 8) for m in range(1, 7)]


def test_line_search_reaches_the_mean_of_the_simplex_and_ends() -> None:
    run = list(herding(orthonormal(5), mean_of(orthonormal(5))))
    assert len(run) == 5 and run[-1].squared_error == 0
    assert [one.step for one in run] == [Fraction(1, m) for m in range(1, 6)]


def test_uniform_weights_are_multiples_of_one_over_the_count() -> None:
    atoms = [[Fraction(3), Fraction(1)], [Fraction(0), Fraction(1)], [Fraction(-1), Fraction(-2)]]
    for m, one in enumerate(islice(herding(atoms, mean_of(atoms), uniform), 12), 1):
        assert all((m * w).denominator == 1 for w in one.weights) and sum(one.weights) == 1


def test_counted_herding_takes_the_exact_picks() -> None:
    for atoms in sampled_sets():
        psi = np.array(atoms, dtype=float)
        exact = [one.pick for one in islice(herding(atoms, mean_of(atoms)), 6)]
        counter, slow = Counter(), Counter()
        counts = counter.herding(psi @ psi.T, 5)
        again = slow.herding(psi @ psi.T, 5, updated=False)
        assert counter.picks == slow.picks == exact
        assert len(counts) == len(again) == len(exact) - 1


def test_distance_to_the_boundary_is_that_of_the_convex_hull() -> None:
    rng = np.random.default_rng(1)
    for p in (2, 3):
        for _ in range(6):
            atoms = general(rng, p + 4, p)
            mean = mean_of(atoms)
            hull = scipy.spatial.ConvexHull(np.array(atoms, dtype=float))
            offsets = hull.equations[:, :-1] @ np.array(mean, dtype=float) + hull.equations[:, -1]
            distance = squared_distance_to_boundary(atoms, mean)
            assert distance is not None and math.sqrt(distance) == pytest.approx(-offsets.max(), rel=1e-9)
            lifted = in_more_dimensions(atoms, 2)
            assert squared_distance_to_boundary(lifted, mean_of(lifted)) == distance / 4


def test_boundaries_of_points_segments_and_simplices() -> None:
    assert squared_distance_to_boundary([[Fraction(2), Fraction(3)]], [Fraction(2), Fraction(3)]) is None
    segment = [[Fraction(0), Fraction(0)], [Fraction(1), Fraction(1)], [Fraction(3), Fraction(3)]]
    assert squared_distance_to_boundary(segment, mean_of(segment)) == Fraction(32, 9)
    for n in (2, 3, 5):
        assert squared_distance_to_boundary(orthonormal(n), mean_of(orthonormal(n))) == Fraction(1, n * (n - 1))
        assert squared_diameter(orthonormal(n)) == 2
    assert squared_distance_to_boundary(orthonormal(3), orthonormal(3)[0]) == 0


def test_null_vectors_and_ranks() -> None:
    rows = [[1, 2, 3], [0, 1, 1]]
    vector = null_vector(rows, 3)
    assert vector is not None and all(dot(row, vector) == 0 for row in rows)
    assert null_vector([[1, 2, 3]], 3) is None
    assert null_vector([[1, 0], [0, 1]], 2) is None
    assert null_vector([], 1) == [1]
    assert (rank([[1, 2], [2, 4]]), rank([]), rank([[0, 0]])) == (1, 0, 0)


def test_triangle_is_what_its_docstring_says() -> None:
    for h in (Fraction(1, 20), Fraction(1, 4), Fraction(2, 5)):
        atoms = triangle(h)
        mean = mean_of(atoms)
        assert max(squared(atom) for atom in atoms) <= 1
        assert mean == [0, Fraction(-9, 10000)]
        assert squared_diameter(atoms) == Fraction(81, 25)
        assert squared_distance_to_boundary(atoms, mean) == (Fraction(9, 10) * h) ** 2


def first_failures(h: Fraction, steps: int) -> list[int]:
    atoms = triangle(h)
    errors = squared_errors(atoms, mean_of(atoms), steps)
    alpha = float(h) / (2 * (1 / 1000 + 2))
    logs = [0.5 * math.log(error.low / errors[0].low) for error in errors]
    return [m for m, value in enumerate(logs, 1) if value > -alpha * (m - 1) + 1e-9]


def test_printed_rate_fails_where_the_claim_says() -> None:
    assert first_failures(Fraction(1, 10), 400) == list(range(355, 401))
    assert first_failures(Fraction(1, 20), 230) == [2, *range(195, 231)]


@pytest.mark.parametrize("h", [Fraction(1, 20), Fraction(1, 10)])
def test_contraction_tends_to_the_square(h: Fraction) -> None:
    atoms = triangle(h)
    errors = squared_errors(atoms, mean_of(atoms), 1500)
    tail = 0.5 * math.log(errors[-2].low / errors[-1].high)
    assert tail == pytest.approx(2 * h**2, rel=0.02)


def test_line_search_never_steps_beyond_the_atom() -> None:
    for atoms in sampled_sets():
        mean = mean_of(atoms)
        run = list(islice(herding(atoms, mean), 7))
        for before, after in itertools.pairwise(run):
            way = minus(atoms[after.pick], before.point)
            assert dot(minus(mean, before.point), way) <= squared(way)
            assert after.step < 1 and after.squared_error < before.squared_error


def test_enough_steps_are_enough() -> None:
    for share in (Fraction(1, 2), Fraction(1, 40)):
        m = enough_steps(share)
        assert m * (1 - share) ** (m - 1) <= Fraction(1, 100) < m / 2 * (1 - float(share)) ** (m / 2 - 1)
