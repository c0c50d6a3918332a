r"""§6.3 and §6.4: herding blocks of the data separately (Lemma 18), and what an error in ω_S means for the classifier.

Lemma 18 in squares: for λ ≥ 0 with Σλ = 1, Σ λ_i ‖u_i‖² − ‖Σ λ_i u_i‖² = Σ_{i<j} λ_i λ_j ‖u_i − u_j‖² ≥ 0, one coordinate at a time.
§6.4 by Lagrange's identity: ‖δ‖² − ⟨δ, φ⟩² = ‖δ‖² (1 − ‖φ‖²) + Σ_{i<j} (δ_i φ_j − δ_j φ_i)².
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import islice
from typing import Any

import simopt.claims as sc
from simopt.theorems.rmw.exact_frank_wolfe import FrankWolfeIterate, herding, mean_of
from simopt.theorems.rmw.rational_sets import general
from simopt.theorems.small_worlds.worlds import add, dot, minus, scaled, squared

MOST_STEPS = 9  # digits double in each step


@sc.claim(
    "RMW-L18",
    place="Section 6.3, Lemma 18 and the display before it",
    kind=sc.INEQUALITY,
    says=r"The mean of n points in blocks of n_i is the mean of the block means with weights n_i/n. If λ ≥ 0, Σλ = 1 and ‖ω_i − ω̃_i‖ ≤ ε "
    r"for all i, then ‖Σ λ_i ω_i − Σ λ_i ω̃_i‖ ≤ ε. In symbols, one block after the other: with L = λ_1 + … + λ_k, l = λ_{k+1} and t = "
    r"l/(L + l), Σ_{i ≤ k+1} λ_i u_i/(L + l) = (1 − t) Σ_{i ≤ k} λ_i u_i/L + t u_{k+1}, and ‖(1 − t) u + t v‖² = (1 − t)‖u‖² + t‖v‖² − "
    r"t(1 − t)‖u − v‖², u_i = ω_i − ω̃_i.",
    exhaustive=True,
    knobs={"sum": 1},
    mutants={"Σλ = 2": {"sum": 2}},
    note="The identity shows what is lost: herds of blocks whose errors differ combine to less than ε, to ε/√k for k equal blocks with "
    "orthogonal errors.",
)
def errors_of_blocks_average(trial: sc.Trial) -> Iterator[sc.Check]:
    """Two blocks, a further block, and the mean of means."""
    t, uu, uv, vv = sc.symbols("t uu uv vv")
    other = trial["sum"] - t
    lost = other * t * (uu - 2 * uv + vv)
    yield sc.equal(other**2 * uu + 2 * other * t * uv + t**2 * vv, other * uu + t * vv - lost, "two blocks")
    before, share, u, v = sc.symbols("before share u v")  # L, l, Σ λ_i u_i/L and u_{k+1}
    part = share / (before + share)
    yield sc.equal((before * u + share * v) / (before + share), (1 - part) * u + part * v, "from k to k + 1 blocks")
    n, size, summed = sc.symbols("n size summed")
    yield sc.equal(summed / n, size / n * (summed / size), "mean of means, one block")


def herd_to(atoms: Sequence[Sequence[Fraction]], squared_tolerance: Fraction) -> FrankWolfeIterate | None:
    """The first iterate of Algorithm 1 within the tolerance, None if that takes too many exact steps."""
    for _, found in zip(range(MOST_STEPS), herding(atoms, mean_of(atoms)), strict=False):
        if found.squared_error <= squared_tolerance:
            return found
    return None


def blocks_of_a_sample(trial: sc.Trial) -> Iterator[sc.Instance]:
    """Samples in two or three separate blocks of 2 to 5 points; ε² is a quarter of the largest ‖ψ − its block mean‖²."""
    made = 0
    while made < trial.count(12, 100):
        p = int(trial.rng.integers(2, 4))
        drawn = [general(trial.rng, int(trial.rng.integers(2, 6)), p) for _ in range(int(trial.rng.integers(2, 4)))]
        blocks = [[[(z[0] + apart) / 4, *(x / 4 for x in z[1:])] for z in block] for block, apart in zip(drawn, (3, -3, 0), strict=False)]
        epsilon = max(squared(minus(z, mean_of(block))) for block in blocks for z in block) / 4
        if all(herd_to(block, epsilon) is not None for block in blocks):
            made += 1
            yield {"blocks": blocks, "squared_tolerance": epsilon}


@sc.claim(
    "RMW-L18-herds",
    place="Section 6.3, the map-reduce algorithm",
    kind=sc.ALGORITHM,
    says=r"Blocks of sizes n_i, each herded by Algorithm 1 until ‖ω_i − ω̃_i‖ ≤ ε; then Σ (n_i/n) ω̃_i is within ε of ω_S, and its weights "
    r"are non-negative with sum 1.",
    instances=blocks_of_a_sample,
    resolution=0.0,
    knobs={"by size": True},
    mutants={"equal weights for all blocks": {"by size": False}},
)
def herds_of_blocks_combine(blocks: list[list[list[Fraction]]], squared_tolerance: Fraction, trial: sc.Trial) -> Iterator[sc.Check]:
    """The combined error, without rounding."""
    tolerance = squared_tolerance
    herds = [found for block in blocks if (found := herd_to(block, tolerance)) is not None]
    n = sum(len(block) for block in blocks)
    shares = [Fraction(len(block), n) if trial["by size"] else Fraction(1, len(blocks)) for block in blocks]
    whole = mean_of([z for block in blocks for z in block])
    combined = mean_of([herd.point for herd in herds], shares)
    yield sc.at_most(squared(minus(whole, combined)), tolerance, "‖ω_S − Σ (n_i/n) ω̃_i‖²")
    yield sc.equal(add(share * w for share, herd in zip(shares, herds, strict=True) for w in herd.weights), 1, "sum of all weights")


@sc.claim(
    "RMW-6.4",
    place="Section 6.4",
    kind=sc.INEQUALITY,
    says=r"If ‖φ(x)‖ ≤ 1 for all x, then sup_x |⟨ω_S − ω̃_S, φ(x)⟩| ≤ ‖ω_S − ω̃_S‖, which is ≤ ε for a herd of tolerance ε. In symbols "
    r"‖δ‖², ⟨δ, φ⟩ and ‖φ‖²: ‖δ‖²(‖δ‖² − ⟨δ, φ⟩²) = ‖δ‖⁴(1 − ‖φ‖²) + ‖ ‖δ‖²φ − ⟨δ, φ⟩δ ‖².",
    exhaustive=True,
    knobs={"radius": 1},
    mutants={"‖φ(x)‖ ≤ 2": {"radius": 2}},
)
def scores_differ_by_no_more(trial: sc.Trial) -> Iterator[sc.Check]:
    """Cauchy–Schwarz with what it leaves."""
    dd, df, ff = sc.symbols("dd df ff")  # ‖δ‖², ⟨δ, φ⟩ and ‖φ‖²
    rest = dd**2 * ff - 2 * dd * df * df + df**2 * dd
    yield sc.equal(dd * (dd - df**2), dd**2 * (trial["radius"] ** 2 - ff) + rest, "‖δ‖²(‖δ‖² − ⟨δ, φ⟩²)")


def herds_and_directions(trial: sc.Trial) -> Iterator[sc.Instance]:
    """Sets with labels, the tolerance, and features in the unit ball: random ones, and one in the direction of the error."""
    for _ in range(trial.count(10, 80)):
        p = int(trial.rng.integers(2, 4))
        atoms = general(trial.rng, int(trial.rng.integers(3, 6)), p)
        labels = [int(y) for y in trial.rng.choice([-1, 1], size=len(atoms))]
        yield {"atoms": atoms, "labels": labels, "others": general(trial.rng, 5, p), "steps": int(trial.rng.integers(1, 6))}


@sc.claim(
    "RMW-6.4-herds",
    place="Section 6.4",
    kind=sc.ALGORITHM,
    says=r"For a herd of the labelled sample, ψ(x, y) = yφ(x), and **‖φ(x)‖ ≤ 1**: |f(x) − f̃(x)|² ≤ ‖ω_S − ω̃_S‖², at the points of the "
    r"sample, at others, and with equality where φ(x) is a unit vector along ω_S − ω̃_S.",
    instances=herds_and_directions,
    resolution=0.0,
    knobs={"size": 1},
    mutants={"features twice as long": {"size": 2}},
)
def tolerance_bounds_the_scores(
    atoms: list[list[Fraction]], labels: list[int], others: list[list[Fraction]], steps: int, trial: sc.Trial
) -> Iterator[sc.Check]:
    """Scores of the mean and of the herd; along the error the inequality is multiplied by ‖ω_S − ω̃_S‖²."""
    signed = [scaled(phi, y) for y, phi in zip(labels, atoms, strict=True)]
    mean = mean_of(signed)
    herd = list(islice(herding(signed, mean), steps))[-1]
    error: list[Any] = minus(mean, herd.point)
    bound = squared(error)
    for phi in [*atoms, *others]:
        yield sc.at_most(dot(error, scaled(phi, trial["size"])) ** 2, bound, "(f(x) − f̃(x))²")
    yield sc.at_most((trial["size"] * dot(error, error)) ** 2, bound**2, "‖ω_S − ω̃_S‖² (f(x) − f̃(x))² along the error")
