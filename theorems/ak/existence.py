r"""Whether a learning algorithm exists: a strictly convex objective without a minimiser, and what guarantees one (Definition 3.1)."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import simopt.claims as sc
from simopt.core.arrays import Array
from simopt.theorems.ak.rational_ridge import dot, minus, random_samples, ridge, risk, slope


def candidates(trial: sc.Trial) -> Iterator[sc.Instance]:
    """Points g that might be the minimiser of a function that falls for ever, each with a better one."""
    for g in (-100, -1, 0, *(2**power for power in range(trial.count(6, 7)))):
        yield {"g": g, "better": g + 1}


def minimiser_of_a_square(trial: sc.Trial) -> Iterator[sc.Instance]:
    """g = 0, and another point."""
    yield {"g": 0, "better": 1}


def objective(name: str, g: Any) -> Any:
    """R(g)."""
    return sc.exp(-g) if name == "exp(-g)" else g**2


@sc.claim(
    "AK-D3.1",
    place="Section 2 and Definition 3.1",
    kind=sc.EXISTENCE,
    expected=sc.REFUTED,
    defect=sc.MISSING_HYPOTHESIS,
    says=r"If R(Z, ·) is strictly convex, then argmin R(Z, ·) exists (and is unique), so that A(Z) is well defined.",
    instances=candidates,
    constants=("g",),
    defeats="R(g) = exp(−g) is strictly convex, and g + 1 is better than g. For every g: AK_D3_1_no_minimiser, AK_D3_1_negated.",
    resolution=0.0,
    knobs={"objective": "exp(-g)"},
    mutants={"R(g) = g²": {"objective": "g²", "instances": minimiser_of_a_square}},
    note="Only uniqueness follows. √(1 + g²) − g and 1/(1 + g) fall for ever, too: R(g) − R(g + 1) = 1/((1 + g)(2 + g)) > 0.",
)
def strictly_convex_objectives_have_a_minimiser(g: int, better: int, trial: sc.Trial) -> Iterator[sc.Check]:
    """A minimiser would be no worse than the other point."""
    least, other = sc.inputs(g=g, better=better)
    yield sc.at_most(objective(trial["objective"], least), objective(trial["objective"], other), f"R({g}) ≤ R({better})")


def tame(trial: sc.Trial) -> Iterator[sc.Instance]:
    """Least squares with a ridge: rank deficient, a single point, none at all but x = 0, and random ones."""
    zero, one = Fraction(0), Fraction(1)
    yield {"samples": [(1, [zero, zero], one)], "strength": one, "probe": [one, one]}
    yield {"samples": [(1, [one, zero], one), (1, [one, zero], -one)], "strength": Fraction(1, 1000), "probe": [one, zero]}
    for _ in range(trial.count(60, 600)):
        yield {
            "samples": random_samples(trial.rng, int(trial.rng.integers(1, 5))),
            "strength": Fraction(2) ** int(trial.rng.integers(-6, 6)),
            "probe": [Fraction(int(k), 4) for k in trial.rng.integers(-12, 13, size=2)],
        }


def tame_point(point: Array, trial: sc.Trial) -> sc.Instance:
    """One sample, a strength and a probe from six coordinates."""
    a, b, y, u, v = (Fraction(round(64 * float(t)) - 32, 32) for t in point[:5])
    return {"samples": [(1, [a, b], y)], "strength": Fraction(2) ** round(12 * float(point[5]) - 6), "probe": [3 * u, 3 * v]}


@sc.claim(
    "AK-D3.1+",
    place="Definition 3.1, corrected",
    kind=sc.EXISTENCE,
    says=r"If R(Z, ·) is differentiable and ρ-strongly convex on a Hilbert space, ρ > 0, it has exactly one minimiser g*; it lies within "
    r"‖∇R(g)‖/ρ of every g, and R(g) ≥ R(g*) + (ρ/2) ‖g − g*‖² for every g. Checked for R = empirical squared risk + λ ‖·‖², ρ = 2λ.",
    instances=tame,
    decode=tame_point,
    dimension=6,
    evaluations=(100, 1000),
    knobs={"convexity": 2},
    mutants={"ρ = 2.2 λ": {"convexity": Fraction(11, 5)}},
    corrects="AK-D3.1",
    note="R(h) ≥ R(g) + ⟨∇R(g), h − g⟩ + (ρ/2)‖h − g‖² makes R coercive and, as a supremum of continuous convex functions, weakly lower "
    "semicontinuous: g* exists. With ∇R(g*) = 0 this is the growth, so that g* is the only one; added to it for h = g* it gives ρ‖g − "
    "g*‖² ≤ ⟨∇R(g), g − g*⟩. Strict convexity with coercivity and lower semicontinuity would do as well. Both bounds are attained where "
    "the samples are x = 0.",
)
def strongly_convex_objectives_have_one_minimiser(
    samples: list[tuple[int, list[Fraction], Fraction]], strength: Fraction, probe: list[Fraction], trial: sc.Trial
) -> Iterator[sc.Check]:
    """The minimiser solved exactly, its gradient, and the two bounds from a probe point g (squared, to stay rational)."""
    lam, g = strength, probe
    n, rho = len(samples), trial["convexity"] * strength
    best = ridge(samples, n * lam, 2)
    at_best = [a + 2 * lam * b for a, b in zip(slope(samples, best), best, strict=True)]
    yield sc.equal(at_best, [0, 0], "∇R(g*) = 0")
    step = minus(g, best)
    gradient = [a + 2 * lam * b for a, b in zip(slope(samples, g), g, strict=True)]
    yield sc.at_most(rho**2 * dot(step, step), dot(gradient, gradient), "ρ² ‖g − g*‖² ≤ ‖∇R(g)‖²")
    rise = risk(samples, g) + lam * dot(g, g) - risk(samples, best) - lam * dot(best, best)
    yield sc.at_most(rho / 2 * dot(step, step), rise, "growth")
    if any(step):
        yield sc.distinct(gradient, [0, 0], "no second minimiser")
