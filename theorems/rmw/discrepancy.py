r"""Section 3.1: maximum mean discrepancy, its witness, and the variational divergence.

With d = μ₊ − μ₋ the MMD is max over ‖w‖ ≤ 1 of ½|⟨w, d⟩| = ½‖d‖, reached at ±d/‖d‖. If the classes are equally likely, ω_P = ½d.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import product
from typing import Any

from simopt.claims import (
    HOLDS,
    IDENTITY,
    INEQUALITY,
    VAN_ROOYEN_MENON_WILLIAMSON,
    Check,
    Expr,
    Instance,
    Trial,
    at_most,
    claim,
    equal,
    inputs,
    maximum,
    symbols,
    total,
)
from simopt.theorems.rmw.worlds import World, add, dot, mean, minus, plus, scaled, squared


def once(trial: Trial) -> Iterator[Instance]:
    """A single instance without data: the checks are identities in symbols."""
    yield {}


def cross(a: Sequence[Any], b: Sequence[Any]) -> Any:
    """a₁b₂ − a₂b₁: 0 iff a and b are parallel; its square is ‖a‖²‖b‖² − ⟨a, b⟩²."""
    return a[0] * b[1] - a[1] * b[0]


def two_classes(prior: Any) -> tuple[World, list[Expr], list[Expr]]:
    """A world with two points of the plane in each class, in symbols, and the class means μ₊ and μ₋."""
    p, q = symbols("p q")
    features = [list(symbols(f"a{i} b{i}")) for i in range(4)]
    positive, negative = [(p, features[0]), (1 - p, features[1])], [(q, features[2]), (1 - q, features[3])]
    world = [(prior * share, 1, phi) for share, phi in positive] + [((1 - prior) * share, -1, phi) for share, phi in negative]
    centres = [plus(scaled(one[1], one[0]), scaled(two[1], two[0])) for one, two in (positive, negative)]
    return world, centres[0], centres[1]


@claim(
    "RMW-MMD1",
    paper=VAN_ROOYEN_MENON_WILLIAMSON,
    place="Section 3.1",
    kind=IDENTITY,
    expected=HOLDS,
    says=r"MMD(P₊, P₋) = ½‖μ₊ − μ₋‖, μ± = E_{P±} φ. If P(Y = 1) = ½, it is ‖ω_P‖, and ω_P = ½(μ₊ − μ₋), so that the mean classifier uses "
    r"the direction that witnesses the MMD. For other P(Y = 1) ω_P is parallel to μ₊ − μ₋ only if μ₊ and μ₋ are parallel to each other. "
    r"(In symbols, in the plane of μ₊ and μ₋, beyond which ⟨w, μ₊ − μ₋⟩ sees nothing.)",
    instances=once,
    exhaustive=True,
    knobs={"prior": Fraction(1, 2)},
    mutants={"P(Y = 1) = 1/3": {"prior": Fraction(1, 3)}},
    note="Two points in each class make every μ₊ and μ₋.",
)
def discrepancy_is_the_size_of_the_mean(instance: Instance, trial: Trial) -> Iterator[Check]:
    """Cauchy–Schwarz with its equality case, the mean of the balanced world, and what the cross product says of the others."""
    world, positive, negative = two_classes(trial["prior"])
    omega, d, w = mean(world), minus(positive, negative), list(symbols("u v"))
    yield equal(squared(w) * squared(d) - dot(w, d) ** 2, cross(w, d) ** 2, "‖w‖²‖d‖² − ⟨w, d⟩² is a square: ½|⟨w, d⟩| ≤ ½‖d‖")
    yield equal((dot(d, d) / 2) ** 2, squared(d) * squared(d) / 4, "reached at w = d/‖d‖")
    for i in range(2):
        yield equal(omega[i], d[i] / 2, "ω_P = ½(μ₊ − μ₋)")
    yield equal(squared(omega), squared(d) / 4, "‖ω_P‖² = MMD²")
    (prior,) = symbols("pi")
    world, positive, negative = two_classes(prior)
    turned = cross(mean(world), minus(positive, negative))
    yield equal(turned, (1 - 2 * prior) * cross(positive, negative), "any P(Y = 1): ω_P × d = (1 − 2P(Y = 1)) μ₊ × μ₋")


LATTICE = 3
FEATURES = {
    "one point": ((1, 0), (1, 0), (1, 0)),
    "opposite": ((1, 0), (-1, 0), (0, 0)),
    "independent": ((1, 0), (0, 1), (Fraction(3, 5), Fraction(-4, 5))),
}


def distributions() -> list[tuple[Fraction, ...]]:
    """All distributions on three points with denominator 3."""
    whole = [(a, b, LATTICE - a - b) for a in range(LATTICE + 1) for b in range(LATTICE + 1 - a)]
    return [tuple(Fraction(k, LATTICE) for k in each) for each in whole]


def pairs_of_distributions(trial: Trial) -> Iterator[Instance]:
    """Sign patterns of P₊ − P₋ on three points up to the order of the two, for the proof; then pairs with denominator 3, as examples."""
    for pattern in product((-1, 1), repeat=2):
        yield {"signs": [1, *pattern]}
    for p, q in product(distributions(), repeat=2):
        if p <= q:
            for name, points in FEATURES.items():
                phi = [[trial["bound"] * x for x in point] for point in points]
                yield {"p": list(p), "q": list(q), "phi": phi, "first": name == "one point"}


@claim(
    "RMW-MMD2",
    paper=VAN_ROOYEN_MENON_WILLIAMSON,
    place="Section 3.1",
    kind=INEQUALITY,
    expected=HOLDS,
    says=r"If ‖φ(x)‖ ≤ 1, MMD(P₊, P₋) ≤ V(P₊, P₋), and V is the total variation distance: max over f ∈ [−1, 1]^X of ½|E_{P₊} f − E_{P₋} f| "
    r"= ½ Σ |P₊(x) − P₋(x)| = max_A |P₊(A) − P₋(A)|.",
    remains="distributions on more than three points: both sides are sums over pairs of points",
    instances=pairs_of_distributions,
    exhaustive=True,
    knobs={"bound": Fraction(1)},
    mutants={"‖φ(x)‖ ≤ 2": {"bound": Fraction(2)}},
    note="With δ = P₊ − P₋, V² − MMD² = ⅛ Σ |δ_x||δ_z| (‖sφ_x − tφ_z‖² + 1 − ‖φ_x‖² + 1 − ‖φ_z‖²), s and t the signs of δ_x and δ_z: in "
    "symbols for three points in the plane; the sum has the same terms for more. So is V ∓ δ(A), with Σ δ = 0. f ↦ ½|Σ δ f| is convex, so "
    "its maximum is at signs, where it is the |δ(A)| of an event.",
    cost=1.5,
)
def discrepancy_is_at_most_the_variation(instance: Instance, trial: Trial) -> Iterator[Check]:
    """V² − MMD² and V − |δ(A)| as sums of non-negative terms; then the three forms of V, and both sides, on numbers."""
    if "signs" in instance:
        yield _difference(instance["signs"])
        yield from _events(instance["signs"])
        return
    p, q, phi = inputs(p=instance["p"], q=instance["q"], phi=instance["phi"])
    delta = [a - b for a, b in zip(p, q, strict=True)]
    variation = total(abs(x) for x in delta) / 2
    if instance["first"]:
        yield from _three_forms(delta, variation)
    centre: list[Any] = [Fraction(0), Fraction(0)]
    for weight, point in zip(delta, phi, strict=True):
        centre = plus(centre, scaled(point, weight))
    yield at_most(squared(centre) / 4, variation**2, "MMD² ≤ V²")


def _three_forms(delta: Sequence[Any], variation: Any) -> Iterator[Check]:
    """V over signs, as a sum, over events."""
    over_signs = [abs(dot(f, delta)) / 2 for f in product((-1, 1), repeat=3)]
    over_events = [abs(dot(event, delta)) for event in product((0, 1), repeat=3)]
    yield equal(maximum(*over_signs), variation, "V = ½ Σ |δ|")
    yield equal(maximum(*over_events), variation, "max_A |δ(A)| = ½ Σ |δ|")


def _events(pattern: Sequence[int]) -> Iterator[Check]:
    """½ Σ |δ| ∓ δ(A) = ½ Σ |δ_x| (1 ± s_x(1 − 2[x ∈ A])) ∓ ½ Σ δ_x; the factors are 0 or 2, and all 0 for A = {s = ±1}; Σ δ = 0."""
    sizes = symbols("d0 d1 d2")
    delta = [s * size for s, size in zip(pattern, sizes, strict=True)]
    for event, side in product(product((0, 1), repeat=3), (1, -1)):
        rest = add(size * (1 + side * s * (1 - 2 * e)) for size, s, e in zip(sizes, pattern, event, strict=True)) / 2
        yield equal(total(sizes) / 2 - side * dot(event, delta), rest - side * total(delta) / 2, f"V − ({side})·δ(A), A = {event}")


def _difference(pattern: Sequence[int]) -> Check:
    """V² − MMD² for δ_x = s_x |δ_x|."""
    sizes = symbols("d0 d1 d2")
    points = [list(symbols(f"a{i} b{i}")) for i in range(3)]
    centre: list[Any] = [Fraction(0), Fraction(0)]
    for s, size, point in zip(pattern, sizes, points, strict=True):
        centre = plus(centre, scaled(point, s * size))
    terms = add(
        sizes[i] * sizes[j] * (squared(minus(scaled(x, pattern[i]), scaled(z, pattern[j]))) + 1 - squared(x) + 1 - squared(z))
        for i, x in enumerate(points)
        for j, z in enumerate(points)
    )
    return equal((total(sizes) / 2) ** 2 - squared(centre) / 4, terms / 8, "V² − MMD² as a sum of non-negative terms")
