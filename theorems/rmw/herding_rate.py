r"""§6.1: how fast herding with line search approaches ω_P. The printed linear rate is refuted, with the square that it lacks it is proved.

Write g = ω_P − ω, s for the atom that Algorithm 1 takes, and let ω_P ∈ C have distance d from the relative boundary of C = co S. Then
ω_P + d g/‖g‖ ∈ C, so that ⟨g, s − ω⟩ ≥ ‖g‖² + d‖g‖. Line search does not clip at 1: ⟨g, ω_P − s⟩ ≤ 0 says that
⟨s − ω, ω_P − s⟩ ≤ −‖ω_P − s‖², hence ⟨g, s − ω⟩ ≤ ‖s − ω‖². Therefore ‖g_next‖² = ‖g‖² − ⟨g, s − ω⟩²/‖s − ω‖² ≤ (1 − d²/D²) ‖g‖².
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from itertools import pairwise
from typing import Any

import simopt.claims as sc
from simopt.theorems.rmw.exact_frank_wolfe import EXACT_STEPS, herding, mean_of, squared_errors
from simopt.theorems.rmw.hull_geometry import squared_diameter, squared_distance_to_boundary
from simopt.theorems.rmw.rational_sets import general, in_more_dimensions, orthonormal, triangle
from simopt.theorems.small_worlds.worlds import squared

RATES = "Section 6.1, the displayed rate"


def triangles(trial: sc.Trial) -> Iterator[sc.Instance]:
    """h = 1/20 after two atoms and from m = 195 on, h = 1/10 from m = 355 on, where the printed bound fails; full effort goes on."""
    yield {"atoms": triangle(Fraction(1, 20)), "from": 2, "to": 2}
    yield {"atoms": triangle(Fraction(1, 20)), "from": 195, "to": trial.count(250, 4713)}
    yield {"atoms": triangle(Fraction(1, 10)), "from": 355, "to": trial.count(400, 1213)}


@sc.claim(
    "RMW-FW",
    place=RATES,
    kind=sc.ALGORITHM,
    expected=sc.REFUTED,
    defect=sc.SUBSTANTIVE,
    says=r"Let ω_P be the mean of S, D the diameter of C = co S and d > 0 the distance of ω_P from the boundary of C. Then Algorithm 1 has "
    r"‖ω_P − ω_m‖ ≤ ‖ω_P − ω_1‖ e^{−α(m−1)}, α = d/(2(‖ω_P‖ + D)), for all m ≥ 1. (Tried on triangles.)",
    instances=triangles,
    resolution=0.0,
    knobs={"squared": False},
    mutants={"α = (d/(‖ω_P‖ + D))²/2": {"squared": True}},
    note="The paper has the exponent m, which fails at m = 1 whenever ω_1 ≠ ω_P; m − 1 is the fair reading. The triangle is (0, −2h), "
    "(±1, h), moved by (0, −1/1000) and scaled into the unit ball: h = 1/20 fails at m = 2 in exact fractions, .98894 > .98758, and "
    "again from m = 195 on; h = 1/10 from 355 on. The contraction of a step tends to 1 − 2h² = 1 − 8(d/D)², so that no α of the order of d "
    "can do. A square on the whole fraction repairs it (the mutant).",
)
def printed_linear_rate(instance: sc.Instance, atoms: list[list[Fraction]], to: int, trial: sc.Trial) -> Iterator[sc.Check]:
    """The bound, squared, at the ends of the range of m."""
    target = mean_of(atoms)
    d, length, D = (sc.root(x) for x in (squared_distance_to_boundary(atoms, target), squared(target), squared_diameter(atoms)))
    share = sc.rational(1) * d / (length + D)
    alpha = share**2 / 2 if trial["squared"] else share / 2
    errors = squared_errors(atoms, target, to)
    for m in sorted({instance["from"], to}):
        bound = errors[0].low * sc.exp(-2 * alpha * (m - 1))
        yield sc.at_most(errors[m - 1], bound, f"‖ω_P − ω_m‖², m = {m}", scale=errors[m - 1].high)


def sets_with_their_mean(trial: sc.Trial) -> Iterator[sc.Instance]:
    """The triangles; random sets in 2 and 3 dimensions, as they are and in a space of two more; independent sets; a set on a line."""
    for h in (Fraction(1, 20), Fraction(1, 10), Fraction(1, 4)):
        yield {"atoms": triangle(h), "steps": trial.count(150, 400)}
    for i in range(trial.count(8, 24)):
        p = int(trial.rng.integers(2, 4))
        atoms = general(trial.rng, int(trial.rng.integers(p + 1, p + 5)), p)
        yield {"atoms": in_more_dimensions(atoms, 2) if i % 2 else atoms, "steps": trial.count(60, 120)}
    for n in (2, 4):
        yield {"atoms": orthonormal(n), "steps": 20}
        yield {"atoms": general(trial.rng, n, n + 1), "steps": trial.count(40, 120)}
    yield {"atoms": in_more_dimensions(general(trial.rng, 5, 1), 2), "steps": 40}


def relative(atoms: list[list[Fraction]]) -> tuple[Any, Fraction, Fraction]:
    """The mean, d² relative to aff(S), and D²."""
    target = mean_of(atoms)
    d = squared_distance_to_boundary(atoms, target)
    return target, Fraction(0) if d is None else d, squared_diameter(atoms)


@sc.claim(
    "RMW-FW+",
    place=RATES + ", corrected",
    kind=sc.ALGORITHM,
    says=r"Let ω_P be the mean of the finite set S (at least two different points), D the diameter of C = co S and d the distance of ω_P "
    r"from the boundary of C **relative to aff S**. Every step of Algorithm 1 has ‖ω_P − ω_{m+1}‖² ≤ (1 − d²/D²) ‖ω_P − ω_m‖²; hence "
    r"‖ω_P − ω_m‖ ≤ ‖ω_P − ω_1‖ e^{−(m−1)d²/(2D²)}, and e^{−α(m−1)} with α = (d/(‖ω_P‖ + D))²/2.",
    instances=sets_with_their_mean,
    resolution=0.0,
    knobs={"factor": 1},
    mutants={"32 d² for d²": {"factor": 32}},
    corrects="RMW-FW",
    note="Proof in the head of herding_rate.py. The first three steps are exact, the others enclosed. On the triangles the factor tends to "
    "1 − 16 d²/D² as m grows and h falls: the order d² cannot be improved.",
)
def contraction_of_one_step(atoms: list[list[Fraction]], steps: int, trial: sc.Trial) -> Iterator[sc.Check]:
    """Each step, and the product of all."""
    target, d, D = relative(atoms)
    factor = 1 - trial["factor"] * d / D
    errors = squared_errors(atoms, target, steps)
    for m, (before, after) in enumerate(pairwise(errors), 1):
        if before.low > 0:
            bound = sc.between(*sorted((factor * before.low, factor * before.high)))
            yield sc.at_most(after, bound, f"‖ω_P − ω_m‖², m = {m + 1}", scale=before.high)
    if len(errors) > 1 and errors[-1].high > 0:
        decay = errors[0].low * sc.exp(-trial["factor"] * (len(errors) - 1) * d / D)
        yield sc.at_most(errors[-1], decay, "the exponential at the last m", scale=errors[-1].high)


def sets_and_their_rate(trial: sc.Trial) -> Iterator[sc.Instance]:
    """Fixed sets, each with more and more atoms; and the orthonormal sets for the lower bound."""
    for n in range(2, trial.count(7, 10)):
        for m in range(1, n):
            yield {"n": n, "m": m}
    made = 0
    while made < trial.count(4, 20):
        atoms = general(trial.rng, int(trial.rng.integers(3, 6)), 2)
        _, d, D = relative(atoms)
        if 60 * d >= D:  # otherwise the run gets long
            made += 1
            yield {"atoms": atoms}


def sets_that_grow_with_m(trial: sc.Trial) -> Iterator[sc.Instance]:
    """Orthonormal sets of which half the points are taken: ω_P lies in C, but S is not fixed."""
    for n in (4, 8, 16):
        yield {"atoms": orthonormal(n), "steps": n // 2}


@sc.claim(
    "RMW-FW0",
    place="Section 6.1, before the displayed rate",
    kind=sc.RATE,
    says=r"In the worst case no rate better than 1/√m is possible: for orthonormal ψ_1, …, ψ_n and their mean, m atoms have error "
    r"≥ √(1/m − 1/n), which is 1/√(2m) at n = 2m. If ω_P is the mean of a **fixed** set S, √m ‖ω_P − ω_m‖ → 0.",
    instances=sets_and_their_rate,
    resolution=0.0,
    knobs={"excess": 0},
    mutants={"error² ≥ 1/m − 1/n + 1/100": {"excess": Fraction(1, 100)}, "S grows with m": {"instances": sets_that_grow_with_m}},
    note="First half: ‖ω_P − Σ_{j≤m} w_j ψ_j‖² − (1/m − 1/n) = Σ (w_j − 1/m)² for Σ w = 1, in symbols. Second half: by RMW-FW+ m‖ω_P − "
    "ω_m‖² ≤ m (1 − d²/D²)^{m−1} ‖ω_P − ω_1‖², measured at an m that makes the factor less than 1/100. Read uniformly in S it is false: "
    "the orthonormal sets have ω_P in C, and no gain for m ≤ n/2 (the mutant).",
)
def worst_case_and_fixed_sets(
    trial: sc.Trial, n: int = 0, m: int = 0, atoms: list[list[Fraction]] | None = None, steps: int | None = None
) -> Iterator[sc.Check]:
    """The identity behind the lower bound, or one long run on a fixed set."""
    if atoms is None:
        free = list(sc.symbols(" ".join(f"w{j}" for j in range(1, m)))) if m > 1 else []
        weights = [*free, 1 - sc.total(free)]
        error = sc.total((w - Fraction(1, n)) ** 2 for w in weights) + Fraction(n - m, n * n)
        excess = sc.total((w - Fraction(1, m)) ** 2 for w in weights)
        yield sc.equal(error, Fraction(1, m) - Fraction(1, n) + trial["excess"] + excess, f"n = {n}, m = {m}")
        return
    target, d, D = relative(atoms)
    errors = squared_errors(atoms, target, steps or enough_steps(d / D), exact=EXACT_STEPS if steps is None else min(steps, 8))
    last = len(errors)
    yield sc.at_most(errors[-1].high * last, errors[0].low / 100, f"m ‖ω_P − ω_m‖² against ‖ω_P − ω_1‖²/100, m = {last}")


def enough_steps(ratio: Fraction) -> int:
    """The least power of two m with m (1 − ratio)^{m−1} ≤ 1/100, where ratio = d²/D²."""
    m, decay = 2, float(1 - ratio)
    while m * decay ** (m - 1) > 0.01:
        m *= 2
    return m


def sets_and_accuracies(trial: sc.Trial) -> Iterator[sc.Instance]:
    """The sets of RMW-FW+, fewer of them."""
    for instance in sets_with_their_mean(trial):
        yield {"atoms": instance["atoms"], "steps": 120}


@sc.claim(
    "RMW-d",
    place="Section 6.1, after the displayed rate; Section 6, O(log 1/ε)",
    kind=sc.RATE,
    says=r"Let ω_S be the mean of a finite set S, not all of whose points are equal. ω_S ∈ C, and its distance d from the boundary of C, "
    r"**relative to aff S**, is positive; so for 0 < ε ≤ ‖ω_S − ω_1‖ Algorithm 1 needs at most 2 + (2D²/d²) log(‖ω_S − ω_1‖/ε) atoms for "
    r"an error ≤ ε.",
    instances=sets_and_accuracies,
    resolution=0.0,
    knobs={"leave out": False},
    mutants={"one point with weight 0": {"leave out": True}},
    note="For x = Σ c_i ψ_i in C the weights (1 + t)/n − tc_i of ω_S + t(ω_S − x) are ≥ 0 up to t = 1/(n − 1), so that d > 0; the number "
    "is that of RMW-FW+. O(log 1/ε) hides D²/d², which is at least n² for n affinely independent points (RMW-d-small). In the whole "
    "space, C has no interior as soon as S spans an affine space of smaller dimension, and d would be 0.",
)
def mean_is_inside(atoms: list[list[Fraction]], steps: int, trial: sc.Trial) -> Iterator[sc.Check]:
    """d² > 0, and the number of atoms to ε = ‖ω_S − ω_1‖ 2^{−k}, where ε or the promised number lies within the steps made."""
    n = len(atoms)
    if trial["leave out"]:
        corner = max(range(n), key=lambda i: atoms[i])  # the last point in lexicographic order is a corner
        weights = [Fraction(int(i == corner)) for i in range(n)]
    else:
        weights = [Fraction(1, n)] * n
    target = mean_of(atoms, weights)
    d, D = squared_distance_to_boundary(atoms, target), squared_diameter(atoms)
    yield sc.at_most(-(d or Fraction(0)), 0, "−d²", strict=True)
    if not d:
        return
    errors = squared_errors(atoms, target, steps)
    for k in range(1, 8):
        promised = 2 + 2 * D / d * k * log_2()
        reached = next((m for m, e in enumerate(errors, 1) if e.high * 4**k <= errors[0].low), None)
        if reached is not None or promised.high < len(errors):
            yield sc.at_most(reached or len(errors) + 1, promised, f"atoms to ε = ‖ω_S − ω_1‖/2^{k}")


@cache
def log_2() -> sc.Expr:
    """log 2, enclosed."""
    return sc.log(2)


def independent_sets(trial: sc.Trial) -> Iterator[sc.Instance]:
    """Orthonormal sets, and random ones in a space of enough dimensions."""
    for n in range(2, trial.count(7, 9)):
        yield {"atoms": orthonormal(n), "equal": True}
        yield {"atoms": general(trial.rng, n, n), "equal": False}


def many_points_in_the_plane(trial: sc.Trial) -> Iterator[sc.Instance]:
    """Rational points of the unit circle: far from independent."""
    circle = [Fraction(k, 3) for k in range(-9, 10)]
    yield {"atoms": [[(1 - t * t) / (1 + t * t), 2 * t / (1 + t * t)] for t in circle], "equal": False}


@sc.claim(
    "RMW-d-small",
    place="Section 6.1, ours: how large d can be",
    kind=sc.ALGORITHM,
    says=r"For n ≥ 2 affinely independent points (any strictly positive definite kernel, different x) and their mean, 0 < d ≤ D/n, with "
    r"d = 1/√(n(n−1)) for orthonormal ones. So the printed α is ≤ 1/(2n), the printed bound stays above e^{−1/2}‖ω_P − ω_1‖ for all m ≤ "
    r"n, and the corrected one too: neither promises that fewer than n atoms are of use.",
    instances=independent_sets,
    resolution=0.0,
    knobs={"share": 1},
    mutants={"d ≤ D/(3n)": {"share": Fraction(1, 9)}, "19 points of a circle": {"instances": many_points_in_the_plane}},
    note="The mean of the n − 1 others lies on the boundary, ‖ψ_i − that mean‖/n ≤ D/n away.",
)
def distance_is_at_most_one_nth(atoms: list[list[Fraction]], equal: bool, trial: sc.Trial) -> Iterator[sc.Check]:
    """d², its bound, and the closed form."""
    target, d, D = relative(atoms)
    n = len(atoms)
    yield sc.at_most(-d, 0, "−d²", strict=True)
    yield sc.at_most(n * n * d, trial["share"] * D, f"n²d² against D², n = {n}")
    if equal:
        yield sc.equal(d, Fraction(1, n * (n - 1)), f"d² of the orthonormal set, n = {n}")
        first = next(herding(atoms, target))
        yield sc.equal(first.squared_error, Fraction(n - 1, n), f"‖ω_P − ω_1‖², n = {n}")
