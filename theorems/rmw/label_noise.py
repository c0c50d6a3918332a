r"""Sections 4.3 and 4.4: label noise does not change the loss of the mean classifier (Theorem 8); convex potentials (Definition 9)."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import simopt.claims as sc
from simopt.theorems.rmw.potentials import NOT_POTENTIALS, POTENTIALS, named
from simopt.theorems.small_worlds.worlds import CONVENTIONS, Atom, by, dot, flipped, mean, risk, zero_one


@sc.claim(
    "RMW-T8",
    place="Section 4.3 and Theorem 8",
    kind=sc.IDENTITY,
    says=r"Let P_σ be P with each label flipped with probability σ ∈ (0, ½). Then ω_{P_σ} = (1 − 2σ) ω_P, so f_{P_σ}(x) = (1 − 2σ) f_P(x) "
    r"for every x: as 1 − 2σ > 0, both scores have the same sign and the same zeros, hence the same loss ℓ₀₁ under every convention for a "
    r"score of 0. Shown for one event of each label, by linearity for every P, and written out for all labellings of three points.",
    exhaustive=True,
    knobs={"shrinkage": 2},
    mutants={"1 − σ": {"shrinkage": 1}},
    note="RMW-T8-loss evaluates both losses in finite worlds under conventions A, B and C.",
)
def noise_shortens_the_mean(trial: sc.Trial) -> Iterator[sc.Check]:
    """Masses, features and rate are symbols."""
    p, u, s = sc.symbols("p u s")
    shrinkage = 1 - trial["shrinkage"] * s
    for y in (1, -1):
        yield sc.equal(mean(flipped([(p, y, [u])], s))[0], shrinkage * p * y * u, f"one event, y = {y}")
    masses, z = sc.symbols("p1 p2 p3"), sc.symbols("z1 z2")
    points = [sc.symbols(f"x{i} y{i}") for i in (1, 2, 3)]
    for labels in itertools.product((1, -1), repeat=3):
        world = list(zip(masses, labels, points, strict=True))
        clean, rough = dot(mean(world), z), dot(mean(flipped(world, s)), z)
        yield sc.equal(rough, shrinkage * clean, f"score of a new point, labels {labels}")


def small_worlds(trial: sc.Trial) -> Iterator[sc.Instance]:
    """One to four points of a lattice with both labels, so that scores of 0 occur; first a world with ω_P = 0."""
    third = Fraction(1, 3)
    yield {"world": [[third, 1, [Fraction(1), Fraction(0)]], [third, -1, [Fraction(1), Fraction(0)]], [third, 1, [Fraction(0)] * 2]]}
    for _ in range(trial.count(100, 500)):
        count = int(trial.rng.integers(1, 5))
        masses = trial.rng.integers(1, 5, count)
        points = trial.rng.integers(-2, 3, (count, 2))
        labels = trial.rng.choice([1, -1], count)
        yield {
            "world": [
                [Fraction(int(m), int(masses.sum())), int(y), [Fraction(int(v), 3) for v in x]]
                for m, y, x in zip(masses, labels, points, strict=True)
            ]
        }


@sc.claim(
    "RMW-T8-loss",
    place="Theorem 8",
    kind=sc.IDENTITY,
    says=r"ℓ₀₁(P, ω_P) = ℓ₀₁(P, ω_{P_σ}) under each of the conventions A, B and C, in finite worlds, also where ω_P = 0 or scores are 0.",
    instances=small_worlds,
    knobs={"rates": (Fraction(1, 1000), Fraction(1, 3), Fraction(499, 1000))},
    mutants={"σ = 3/5": {"rates": (Fraction(3, 5),)}, "σ = ½": {"rates": (Fraction(1, 2),)}},
)
def noise_keeps_the_errors_of_the_mean(world: list[Any], trial: sc.Trial) -> Iterator[sc.Check]:
    """Both means and their losses, exactly."""
    atoms: list[Atom] = [tuple(atom) for atom in world]
    for rate in trial["rates"]:
        clean, rough = by(mean(atoms)), by(mean(flipped(atoms, rate)))
        for convention in CONVENTIONS:
            loss = zero_one(convention)
            yield sc.equal(risk(atoms, loss, rough), risk(atoms, loss, clean), f"{convention}, σ = {rate}")


def each_potential(trial: sc.Trial) -> Iterator[sc.Instance]:
    """One instance for each name in the knob `potentials`."""
    for name in trial["potentials"]:
        yield {"potential": name}


GRID = tuple(Fraction(k, 2) for k in range(-6, 7))


@sc.claim(
    "RMW-D9",
    place="Section 4.4, Definition 9",
    kind=sc.DEFINITION,
    says=r"A convex potential is ℓ(y, v) = ψ(yv) with ψ convex, ψ ≥ 0, ψ′(0) < 0 and ψ(v) → 0 as v → ∞. The hinge, its square, the "
    r"logistic loss and the exponential loss are convex potentials (seen on a grid of [−3, 3]).",
    instances=each_potential,
    exhaustive=True,
    knobs={"potentials": tuple(POTENTIALS)},
    mutants={f"{name} loss": {"potentials": (name,)} for name in NOT_POTENTIALS},
    note="The mutants are none: linear loss and (1 − v)² do not tend to 0, a bounded ramp is not convex. Convexity by chords of a grid, "
    "the slope at 0 by difference quotients around it, the limit by ψ(2^k) ≤ 2^-k for k = 1, …, 6.",
)
def convex_potentials(potential: str) -> Iterator[sc.Check]:
    """The four conditions on a grid of [−3, 3]."""
    psi = named(potential)
    values = {v: psi.value(v) for v in GRID}
    for first, last in itertools.combinations(GRID, 2):
        middle = (first + last) / 2
        if middle in values:
            yield sc.at_most(2 * values[middle], values[first] + values[last], "chord above the curve")
    for v in GRID:
        yield sc.at_least(values[v], 0, "ψ ≥ 0")
    zero, slope, h = Fraction(0), psi.slope(Fraction(0)), Fraction(1, 64)
    yield sc.at_most(slope, 0, "ψ′(0) < 0", strict=True)
    yield sc.at_most(slope * h, psi.value(h) - psi.value(zero), "ψ′(0) from the right")
    yield sc.at_least(slope * h, psi.value(zero) - psi.value(-h), "ψ′(0) from the left")
    for k in range(1, 7):
        yield sc.at_most(abs(psi.value(Fraction(2) ** k)), Fraction(1, 2) ** k, "ψ(2^k) → 0")
