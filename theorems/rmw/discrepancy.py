r"""Sections 3.1 and 6: maximum mean discrepancy, its witness, the variational divergence, and herding as its minimisation.

With d = μ₊ − μ₋ the MMD is max over ‖w‖ ≤ 1 of ½|⟨w, d⟩| = ½‖d‖, reached at ±d/‖d‖. If the classes are equally likely, ω_P = ½d.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import product
from typing import Any

import simopt.claims as sc
from simopt.theorems.rmw.mean_minimises import direction
from simopt.theorems.small_worlds.worlds import World, add, dot, mean, minus, plus, scaled, squared


def cross(a: Sequence[Any], b: Sequence[Any]) -> Any:
    """a₁b₂ − a₂b₁: 0 iff a and b are parallel; its square is ‖a‖²‖b‖² − ⟨a, b⟩²."""
    return a[0] * b[1] - a[1] * b[0]


def two_classes(prior: Any) -> tuple[World, list[sc.Expr], list[sc.Expr]]:
    """A world with two points of the plane in each class, in symbols, and the class means μ₊ and μ₋."""
    p, q = sc.symbols("p q")
    features = [list(sc.symbols(f"a{i} b{i}")) for i in range(4)]
    positive, negative = [(p, features[0]), (1 - p, features[1])], [(q, features[2]), (1 - q, features[3])]
    world = [(prior * share, 1, phi) for share, phi in positive] + [((1 - prior) * share, -1, phi) for share, phi in negative]
    centres = [plus(scaled(one[1], one[0]), scaled(two[1], two[0])) for one, two in (positive, negative)]
    return world, centres[0], centres[1]


@sc.claim(
    "RMW-MMD1",
    place="Section 3.1",
    kind=sc.IDENTITY,
    compares=("mmd-witness ~ mean-ball",),
    says=r"MMD(P₊, P₋) = ½‖μ₊ − μ₋‖, μ± = E_{P±} φ. If P(Y = 1) = ½, it is ‖ω_P‖, and ω_P = ½(μ₊ − μ₋), so that the mean classifier uses "
    r"the direction that witnesses the MMD. For other P(Y = 1) ω_P is parallel to μ₊ − μ₋ only if μ₊ and μ₋ are parallel to each other. "
    r"(In symbols, in the plane of μ₊ and μ₋, beyond which ⟨w, μ₊ − μ₋⟩ sees nothing.)",
    exhaustive=True,
    knobs={"prior": Fraction(1, 2)},
    mutants={"P(Y = 1) = 1/3": {"prior": Fraction(1, 3)}},
    note="Two points in each class make every μ₊ and μ₋.",
)
def discrepancy_is_the_size_of_the_mean(trial: sc.Trial) -> Iterator[sc.Check]:
    """Cauchy–Schwarz with its equality case, the mean of the balanced world, and what the cross product says of the others."""
    world, positive, negative = two_classes(trial["prior"])
    omega, d, w = mean(world), minus(positive, negative), list(sc.symbols("u v"))
    yield sc.equal(squared(w) * squared(d) - dot(w, d) ** 2, cross(w, d) ** 2, "‖w‖²‖d‖² − ⟨w, d⟩² is a square: ½|⟨w, d⟩| ≤ ½‖d‖")
    yield sc.equal((dot(d, d) / 2) ** 2, squared(d) * squared(d) / 4, "reached at w = d/‖d‖")
    for i in range(2):
        yield sc.equal(omega[i], d[i] / 2, "ω_P = ½(μ₊ − μ₋)")
    yield sc.equal(squared(omega), squared(d) / 4, "‖ω_P‖² = MMD²")
    (prior,) = sc.symbols("pi")
    world, positive, negative = two_classes(prior)
    turned = cross(mean(world), minus(positive, negative))
    yield sc.equal(turned, (1 - 2 * prior) * cross(positive, negative), "any P(Y = 1): ω_P × d = (1 − 2P(Y = 1)) μ₊ × μ₋")


def one_point(trial: sc.Trial) -> Iterator[sc.Instance]:
    """First what stands for all points, in symbols; then directions and lengths of w and φ(x), as examples."""
    yield {}
    for t, u in product((Fraction(0), Fraction(1, 2), Fraction(-3)), repeat=2):
        for size in (Fraction(1, 2), Fraction(1)):
            yield {"t": t, "u": u, "size": size * trial["bound"]}


@sc.claim(
    "RMW-MMD2",
    place="Section 3.1",
    kind=sc.INEQUALITY,
    says=r"If ‖φ(x)‖ ≤ 1, MMD(P₊, P₋) ≤ V(P₊, P₋), and V is the total variation distance: max over f ∈ [−1, 1]^X of ½|E_{P₊} f − E_{P₋} f| "
    r"= ½ Σ |P₊(x) − P₋(x)| = max_A |P₊(A) − P₋(A)|. Point by point, with δ = P₊(x) − P₋(x) of sign s: ½|δ| − (±½δf) = ½|δ|(1 ∓ sf) ≥ 0, "
    r"and 0 at f = ±s; ½δ(2[x ∈ A] − 1) = δ[x ∈ A] − ½δ, where Σ δ = 0; and for ‖w‖ ≤ 1 1 ∓ s⟨w, φ⟩ = ½(‖w ∓ sφ‖² + 1 − ‖w‖² + 1 − ‖φ‖²).",
    instances=one_point,
    exhaustive=True,
    knobs={"bound": Fraction(1)},
    mutants={"‖φ(x)‖ ≤ 2": {"bound": Fraction(2)}},
    note="All are sums over the points (or integrals against P₊ + P₋), so that what holds at one point with free |δ|, f, w and φ, in the "
    "plane of w and φ, holds for all distributions. The numbers are examples.",
)
def discrepancy_is_at_most_the_variation(instance: sc.Instance, trial: sc.Trial) -> Iterator[sc.Check]:
    """One point of the sums, for both signs of δ and both of ±; and ⟨w, φ⟩ ≤ 1 on numbers."""
    if instance:
        t, u, size = sc.inputs(**instance)
        yield sc.at_most(abs(dot(direction(t), scaled(direction(u), size))), 1, "|⟨w, φ⟩| ≤ 1")
        return
    size, f, a, b, c, d = sc.symbols("size f a b c d")  # size = |δ|
    w, phi = [a, b], [c, d]
    for s, side in product((1, -1), repeat=2):
        delta = s * size
        yield sc.equal(size / 2 - side * delta * f / 2, size / 2 * (1 - side * s * f), "½|δ| − (±½δf)")
        yield sc.equal(size / 2 - side * delta * (side * s) / 2, 0 * size, "½|δ| is reached at f = ±s")
        room = squared(minus(w, scaled(phi, side * s))) + (1 - squared(w)) + (1 - squared(phi))
        yield sc.equal(size / 2 - side * delta * dot(w, phi) / 2, size / 4 * room, "½|δ| − (±½δ⟨w, φ⟩)")
        for inside in (0, 1):
            yield sc.equal(delta * (2 * inside - 1) / 2, delta * inside - delta / 2, "events are functions with values ±1")


@sc.claim(
    "RMW-6-MMD",
    place="Section 6, after Algorithm 1",
    kind=sc.IDENTITY,
    says=r"Herding minimises MMD_ψ(P, Q) over the distributions Q = Σ α_i δ_{z_i} concentrated on S: E_Q⟨w, ψ⟩ = ⟨w, Σ α_i ψ(z_i)⟩, so "
    r"that **4 MMD_ψ(P, Q)² = ‖ω_P − Σ α_i ψ(z_i)‖²** with the ½ of Section 3.1, and the Σ α_i ψ(z_i) with α_i ≥ 0, Σ α_i = 1 are all of "
    r"C = co ψ(S), over which Algorithm 1 minimises ‖ω_P − ω̃‖².",
    remains="any number of points, in any inner product space: the mean is linear in them (in symbols: three, in the plane)",
    exhaustive=True,
    knobs={"factor": 4},
    mutants={"MMD_ψ(P, Q) = ‖ω_P − ω_Q‖": {"factor": 1}},
    note="That Algorithm 1 is Frank–Wolfe for this problem, and when it reaches ε: RMW-Alg1.",
)
def herding_minimises_the_discrepancy(trial: sc.Trial) -> Iterator[sc.Check]:
    """The mean of Q, Cauchy–Schwarz with its equality case, and the factor."""
    weights, w, goal = sc.symbols("p q r"), list(sc.symbols("u v")), list(sc.symbols("o1 o2"))
    points = [list(sc.symbols(f"a{i} b{i}")) for i in range(3)]
    centre: list[Any] = [Fraction(0), Fraction(0)]
    for share, point in zip(weights, points, strict=True):
        centre = plus(centre, scaled(point, share))
    yield sc.equal(add(share * dot(w, point) for share, point in zip(weights, points, strict=True)), dot(w, centre), "E_Q⟨w, ψ⟩")
    d = minus(goal, centre)
    yield sc.equal(squared(w) * squared(d) - dot(w, d) ** 2, cross(w, d) ** 2, "‖w‖²‖d‖² − ⟨w, d⟩² is a square: ½|⟨w, d⟩| ≤ ½‖d‖")
    yield sc.equal(trial["factor"] * (dot(d, d) / 2) ** 2, squared(d) * squared(d), "4 MMD² = ‖d‖², reached at w = d/‖d‖")
