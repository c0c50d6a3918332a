"""Claims of sections 4.1, 4.2 and 12 of van Rooyen, Menon & Williamson: margins, approximation, contamination, and what they rest on."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np

from simopt.claims import rational, runner
from simopt.claims.kinds import Scope
from simopt.theorems.rmw.contamination import (
    TILTED,
    WRONG,
    approximations,
    contaminations,
    least_margin,
    margin_for_error,
    margin_loss,
    margins,
    random_world,
    right_everywhere,
    two_atoms,
    two_sided,
)
from simopt.theorems.rmw.margins import STEPS, below, halfway, up_to
from simopt.theorems.small_worlds.worlds import CONVENTIONS, by, mean, minus, mixed, risk, squared, zero_one
from tests.theorems.conftest import quick


def test_theorem_six_is_refuted_under_every_convention() -> None:
    row = runner.run("RMW-T6").own
    assert row.scope is Scope.EXHAUSTIVE and row.instances == len(CONVENTIONS)


def test_steps_are_the_losses_of_the_conventions() -> None:
    for convention in CONVENTIONS:
        loss, step = zero_one(convention), STEPS[convention]
        for y in (-1, 1):
            for v in range(-2, 3):
                assert step(rational(y * v), rational(0)).low == loss(y, Fraction(v))


def test_steps_on_integers() -> None:
    for a in range(-2, 3):
        for b in range(-2, 3):
            x, y = rational(a), rational(b)
            assert (below(x, y).low, up_to(x, y).low) == (a < b, a <= b)
            assert halfway(x, y).low == Fraction(int(a < b) + int(a <= b), 2)


def mismatches(convention: str, margin_convention: str, rng: np.random.Generator, count: int) -> int:
    """How often sup ℓ₀₁(P, f̃) differs from ℓ_ε(P, f), on random worlds of up to three points with scores k/2."""
    loss, margin = zero_one(convention), zero_one(margin_convention)
    wrong = 0
    for _ in range(count):
        size, epsilon = int(rng.integers(1, 4)), Fraction(int(rng.integers(0, 4)), 2)
        left = right = Fraction(0)
        for _ in range(size):
            eta, f = Fraction(int(rng.integers(0, 5)), 4), Fraction(int(rng.integers(-4, 5)), 2)
            tried = [f + epsilon * Fraction(k, 8) for k in range(-8, 9)] + [Fraction(0)] * (abs(f) <= epsilon)
            right += max(eta * loss(1, v) + (1 - eta) * loss(-1, v) for v in tried)
            left += eta * margin(1, f - epsilon) + (1 - eta) * margin(1, -f - epsilon)
        wrong += left != right
    return wrong


def test_theorem_six_on_random_worlds_as_the_catalogue_counts() -> None:
    rng = np.random.default_rng(0)
    assert mismatches("A", "A", rng, 100) > 10
    assert mismatches("B", "A", rng, 100) > 10
    assert mismatches("C", "A", rng, 100) > 10
    assert mismatches("B", "B", rng, 300) == 0


def test_margin_for_error_is_the_supremum_of_its_definition() -> None:
    rng = np.random.default_rng(2)
    for _ in range(60):
        world = random_world(rng)
        w = mean(world)
        for convention in CONVENTIONS:
            wrong = risk(world, zero_one(convention), by(w))
            values = sorted({Fraction(0), *margins(world, w)})
            between = [(a + b) / 2 for a, b in itertools.pairwise(values)]
            tried = sorted([*values, *between, values[-1] + 1])
            equal_at = [gamma for gamma in tried if margin_loss(world, w, gamma, convention) == wrong]
            margin = margin_for_error(world, w, convention)
            assert margin_loss(world, w, Fraction(0), convention) == wrong
            assert all(gamma <= margin for gamma in equal_at)
            assert max(equal_at) >= min(margin, max((gamma for gamma in tried if gamma < margin), default=Fraction(0)))


def test_numbers_of_the_counterexamples() -> None:
    world = two_atoms(WRONG)
    w = mean(world)
    assert margins(world, w) == [Fraction(46, 100), Fraction(-26, 100)]
    moved = mean(mixed(world, [(Fraction(1), 1, WRONG)], Fraction(34, 100)))
    assert margins(world, moved) == [Fraction(316, 10**4), Fraction(1684, 10**4)]
    assert Fraction(4516, 10**4) ** 2 > squared(minus(w, moved)) > Fraction(4515, 10**4) ** 2
    assert margin_for_error(two_atoms(TILTED), mean(two_atoms(TILTED)), "A") == Fraction(52, 100)


def test_every_convention_refutes_the_lemma() -> None:
    first, second, *_ = contaminations(quick("RMW-L7"))
    for instance in (first, second):
        world = instance["world"]
        moved = mean(mixed(world, instance["other"], instance["share"]))
        errors = {risk(world, zero_one(c), by(mean(world))) for c in CONVENTIONS}
        assert errors == {Fraction(3, 10)}
        assert {risk(world, zero_one(c), by(moved)) for c in CONVENTIONS} == {0}
    assert 2 * second["share"] < margin_for_error(second["world"], mean(second["world"]), "C")


def test_hypotheses_of_the_mutants() -> None:
    both = list(two_sided(quick("RMW-Gam")))
    assert both and all(i["epsilon"] < least_margin(i["world"], mean(i["world"])) for i in both)
    assert len(both) < len(list(approximations(quick("RMW-Gam"))))
    right = list(right_everywhere(quick("RMW-L7")))
    assert right and all(min(margins(i["world"], mean(i["world"]))) > 0 for i in right)
