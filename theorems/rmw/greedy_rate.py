r"""Section 6.5: the rate of greedy approximation (Jones) for every ω_P, in the hull C of S or not.

Let p be the point of C nearest to ω_P, g = ω_P − ω, s the atom that Algorithm 1 takes at ω, and h = ‖ω_P − ω‖² − ‖ω_P − p‖². After a step λ

    (1 − λ) h + λ² D² − h_next = 2λ ⟨g, s − p⟩ + λ ‖p − ω‖² + λ² (D² − ‖s − ω‖²) ≥ 0,

as s has the largest ⟨g, ·⟩ on C. With λ = 1 h_2 ≤ D², and with λ = 2/(m + 1) h_m ≤ 4D²/(m + 1) leads to h_{m+1} ≤ 4D²/(m + 2).
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import islice

import simopt.claims as sc
from simopt.theorems.rmw.exact_frank_wolfe import herding, mean_of
from simopt.theorems.rmw.herding_algorithm import beside_a_face
from simopt.theorems.rmw.hull_geometry import squared_diameter
from simopt.theorems.rmw.rational_sets import general, orthonormal
from simopt.theorems.small_worlds.worlds import dot, minus, plus, scaled, squared

CITATION = "Section 6.5, the rate of Jones"


@sc.claim(
    "RMW-6.5",
    place=CITATION,
    kind=sc.RATE,
    says=r"Greedy approximation converges at the rate 1/√m whether or not ω_P ∈ C: for every finite S, every ω_P and m ≥ 2 the m-th "
    r"iterate of Algorithm 1 has ‖ω_P − ω_m‖² ≤ dist(ω_P, C)² + 4D²/(m + 1), D the diameter of C, hence ‖ω_P − ω_m‖ ≤ dist(ω_P, C) + "
    r"2D/√(m + 1): **1/m for the squared error, 1/√m for the error, both above what C leaves**.",
    remains="that line search does no worse than the steps 1 and 2/(m + 1), and to put step and induction together",
    exhaustive=True,
    knobs={"constant": 4},
    mutants={"3D²/(m + 1)": {"constant": 3}},
    note="Jones has ω_P in the closure of C, where dist(ω_P, C) = 0. 'For the general case when ω_P ∉ C' the error itself does not "
    "converge to 0; what lies above dist(ω_P, C) > 0 is at most 2D²/(dist(ω_P, C)(m + 1)). m = 1 is left out: the first atom is chosen by "
    "⟨ω_P, ψ⟩ alone.",
)
def one_greedy_step(trial: sc.Trial) -> Iterator[sc.Check]:
    """The step for vectors in symbols, ω_P = 0 (both sides are sums over coordinates); the induction; from squares to norms."""
    lam, m, D, c = sc.symbols("lam m D c")
    w, s, p = (list(sc.symbols(f"{name}1 {name}2")) for name in "wsp")
    gap = squared(w) - squared(p)
    after = squared(plus(scaled(w, 1 - lam), scaled(s, lam))) - squared(p)
    room = 2 * lam * -dot(w, minus(s, p)) + lam * squared(minus(p, w)) + lam**2 * (D**2 - squared(minus(s, w)))
    yield sc.equal((1 - lam) * gap + lam**2 * D**2 - after, room, "(1 − λ) h + λ² D² − h_next, ω_P = 0 and g = −ω")
    step, k = 2 / (m + 1), trial["constant"]
    slack = k * D**2 / (m + 2) - ((1 - step) * k * D**2 / (m + 1) + step**2 * D**2)
    yield sc.equal(slack, 4 * D**2 / ((m + 1) ** 2 * (m + 2)), "4D²/(m + 1) → 4D²/(m + 2), with room")
    yield sc.equal(k * D**2 / 3 - D**2, D**2 / 3, "h_2 ≤ D² ≤ 4D²/3")
    yield sc.equal((c + D) ** 2 - (c**2 + D**2), 2 * c * D, "√(a² + b²) ≤ a + b")


def targets_anywhere(trial: sc.Trial) -> Iterator[sc.Instance]:
    """Orthonormal sets with their mean, random sets with a mean of theirs, and ω_P beside them; its distance from the hull is known."""
    for n in (4, 8):
        yield {"atoms": orthonormal(n), "target": mean_of(orthonormal(n)), "distance": Fraction(0)}
    for i in range(trial.count(8, 40)):
        atoms = general(trial.rng, int(trial.rng.integers(3, 7)), int(trial.rng.integers(2, 4)))
        yield beside_a_face(atoms, Fraction(i % 4, 4)) if i % 2 else {"atoms": atoms, "target": mean_of(atoms), "distance": Fraction(0)}


@sc.claim(
    "RMW-6.5-tried",
    place=CITATION + ", step by step",
    kind=sc.ALGORITHM,
    says=r"On orthonormal and random sets of up to eight points, with ω_P their mean or beside the hull, the iterates m = 2, …, 7 of "
    r"Algorithm 1, exactly: ‖ω_P − ω_m‖² ≤ dist(ω_P, C)² + 4D²/(m + 1).",
    instances=targets_anywhere,
    knobs={"constant": Fraction(4)},
    mutants={"D²/(4(m + 1))": {"constant": Fraction(1, 4)}},
)
def greedy_steps(atoms: list[list[Fraction]], target: list[Fraction], distance: Fraction, trial: sc.Trial) -> Iterator[sc.Check]:
    """The squared errors of the exact iterates."""
    bound = trial["constant"] * squared_diameter(atoms)
    for m, one in enumerate(islice(herding(atoms, target), 7), 1):
        if m > 1:
            yield sc.at_most(one.squared_error, distance**2 + bound / (m + 1), f"‖ω_P − ω_m‖², m = {m}")
