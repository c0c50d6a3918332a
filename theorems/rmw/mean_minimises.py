r"""Theorem 2: the mean minimises the linear loss over a ball, and what ‖ω_S‖ is.

With s = ‖ω‖ > 0, ω̂ = ω/s and any w in the ball of radius r, both in the plane that they span,

    (1 − ⟨w, ω⟩) − (1 − r s) = (s/2r) (‖w − rω̂‖² + r² − ‖w‖²):

a sum of two non-negative terms, which vanishes only at w = rω̂. So rω̂ is the only minimiser, with the value 1 − r s.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

import simopt.claims as sc
from simopt.theorems.small_worlds.worlds import add, by, dot, linear, mean, minus, plus, risk, sample, scaled, squared

UNITS = (Fraction(0), Fraction(1, 3), Fraction(1), Fraction(-2))  # t of the direction ((1 − t²), 2t)/(1 + t²)
RADII = (Fraction(1), Fraction(1, 5), Fraction(3))
SIZES = (Fraction(1, 7), Fraction(1))


def direction(t: Any) -> list[Any]:
    """The unit vector ((1 − t²), 2t)/(1 + t²); every one but (−1, 0) is such."""
    return [(1 - t**2) / (1 + t**2), 2 * t / (1 + t**2)]


def means_and_candidates(trial: sc.Trial) -> Iterator[sc.Instance]:
    """‖ω_S‖ > 0, its direction, the radius, and another w in the ball; the first instance stands for the identities."""
    yield {}
    for size in SIZES:
        for t in UNITS:
            for r in RADII:
                for share in (Fraction(0), Fraction(1, 2), Fraction(1)):
                    yield {"size": size, "t": t, "radius": r, "u": Fraction(1, 2), "share": share}


def no_mean(trial: sc.Trial) -> Iterator[sc.Instance]:
    """ω_S = 0."""
    yield {"size": Fraction(0), "t": Fraction(0), "radius": Fraction(1), "u": Fraction(1, 2), "share": Fraction(1)}


@sc.claim(
    "RMW-T2",
    place="Theorem 2",
    kind=sc.EXISTENCE,
    compares=("mean-penalised ~ mean-ball",),
    says=r"If **ω_S ≠ 0**, ω̂_S = ω_S/‖ω_S‖ is the only minimiser of (1/|S|) Σ 1 − y⟨w, φ(x)⟩ = 1 − ⟨w, ω_S⟩ over ‖w‖ ≤ 1, with the value "
    r"1 − ‖ω_S‖; over ‖w‖ ≤ r it is rω̂_S, with 1 − r‖ω_S‖. Both are positive multiples of ω_S, so they classify as ω_S does. The same for "
    r"ω_P. (In symbols, in the plane of w and ω_S, of which all is made; risks and means are sums over the points.)",
    instances=means_and_candidates,
    exhaustive=True,
    knobs={"optimum": 1},
    mutants={"ω_S = 0": {"instances": no_mean}, "minimum 1 − 2‖ω_S‖": {"optimum": 2}},
    note="If ω_S = 0, ω̂_S is undefined and every w has loss 1. The numbers are examples.",
)
def mean_direction_minimises_linear_loss(instance: sc.Instance, trial: sc.Trial) -> Iterator[sc.Check]:
    """The excess as a sum, in symbols; then strict inequality and equal signs on numbers."""
    if not instance:
        yield from _excess(trial["optimum"])
        return
    size, t, r, u, share = sc.inputs(**instance)
    unit = direction(t)
    best, other = scaled(unit, r), scaled(direction(u), r * share)
    omega = scaled(unit, size)
    yield sc.at_least(1 - dot(other, omega), 1 - dot(best, omega), "excess > 0 at w ≠ rω̂", strict=True)
    yield sc.equal(1 - dot(best, omega), 1 - trial["optimum"] * r * size, "value at rω̂")
    for phi in ([sc.rational(1), sc.rational(0)], [sc.rational(-3) / 5, sc.rational(4) / 5]):
        yield sc.equal(size * dot(best, phi), r * dot(omega, phi), "‖ω‖ ⟨rω̂, φ⟩ = r ⟨ω, φ⟩: equal signs")


def _excess(optimum: Any) -> Iterator[sc.Check]:
    t, s, r, a, b = sc.symbols("t s r a b")
    w, unit = [a, b], direction(t)
    excess = (1 - dot(w, scaled(unit, s))) - (1 - optimum * r * s)
    yield sc.equal(excess, s / (2 * r) * (squared(minus(w, scaled(unit, r))) + r**2 - squared(w)), "excess over 1 − r‖ω‖, a sum of squares")
    features, _ = _points()
    world = sample(zip((1, 1, -1), features, strict=True))
    yield sc.equal(risk(world, linear, by(w)), 1 - dot(w, mean(world)), "(1/|S|) Σ 1 − y⟨w, φ⟩ = 1 − ⟨w, ω_S⟩")
    weights = (*sc.symbols("p q"), 1 - sc.total(sc.symbols("p q")))
    population = list(zip(weights, (1, 1, -1), features, strict=True))
    yield sc.equal(risk(population, linear, by(w)), 1 - dot(w, mean(population)), "E 1 − y⟨w, φ⟩ = 1 − ⟨w, ω_P⟩")


def _points() -> tuple[list[list[sc.Expr]], list[sc.Expr]]:
    """Three points of the plane and three labels, in symbols."""
    x = sc.symbols("x1 x2 x3 x4 x5 x6")
    return [list(x[:2]), list(x[2:4]), list(x[4:])], list(sc.symbols("y1 y2 y3"))


@sc.claim(
    "RMW-T2b",
    place="Section 3, after Theorem 2",
    kind=sc.IDENTITY,
    says=r"‖ω_S‖² = (1/|S|²) Σ Σ y y' K(x, x') with K(x, x') = ⟨φ(x), φ(x')⟩, and ‖ω_P‖² = E E y y' K(x, x') for two independent draws.",
    remains="any number of points, in any inner product space: both sides are bilinear in the points (in symbols: three, in the plane)",
    exhaustive=True,
    knobs={"power": 2},
    mutants={"1/|S|": {"power": 1}},
)
def squared_norm_is_self_similarity(trial: sc.Trial) -> Iterator[sc.Check]:
    """Both double sums, expanded."""
    features, labels = _points()
    p, q = sc.symbols("p q")
    third = Fraction(1, 3)
    yield sc.equal(_norm(features, labels, [third] * 3), _double(features, labels, [1, 1, 1]) * third ** trial["power"], "‖ω_S‖²")
    weights = [p, q, 1 - p - q]
    yield sc.equal(_norm(features, labels, weights), _double(features, labels, weights), "‖ω_P‖²")


def _norm(features: Sequence[Any], labels: Sequence[Any], weights: Sequence[Any]) -> Any:
    omega: list[Any] = [Fraction(0)] * 2
    for phi, y, p in zip(features, labels, weights, strict=True):
        omega = plus(omega, scaled(phi, p * y))
    return squared(omega)


def _double(features: Sequence[Any], labels: Sequence[Any], weights: Sequence[Any]) -> Any:
    atoms = list(zip(features, labels, weights, strict=True))
    return add(p * r * y * z * dot(phi, psi) for phi, y, p in atoms for psi, z, r in atoms)
