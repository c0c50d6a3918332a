r"""Definitions 28 and 29: when a similarity, and when a kernel, is good for ranking. On finite worlds both are values of programmes."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np

import simopt.claims as sc
from simopt.core.arrays import Array
from simopt.model.status import Status
from simopt.problems.kernel_goodness import KernelGoodness
from simopt.problems.kernel_ranking import KernelRanking
from simopt.problems.ranking_goodness import RankingGoodness
from simopt.solving.entry_points import solve
from simopt.theorems.kj.ranking.ranking_worlds import RankingWorld, drawn, expected_relevance, masses, random_world, world_of

SECTION = "ordinal"


def worlds(trial: sc.Trial) -> Iterator[sc.Instance]:
    """Random worlds of lists of two and three, with a diagonal similarity or any."""
    for k in range(trial.count(6, 20)):
        made = random_world(trial.rng, 2 + k % 2)
        size = len(masses(made["queries"], made["documents"]))
        gram = np.diag(trial.rng.uniform(-1, 1, size)) if k % 3 == 0 else trial.rng.uniform(-1, 1, (size, size))
        yield made | {"gram": gram, "bound": float(2.0 ** trial.rng.uniform(-2, 3)), "diagonal": k % 3 == 0}


def stacked(here: RankingWorld) -> dict[str, Any]:
    """All lists of a world as the ranking problems take them: relevance, qid, documents, probabilities."""
    found = list(drawn(here))
    grades = [grade for row in here.grades for grade in row]
    pairs = np.array([z for _, chosen, _ in found for z in chosen])
    return {
        "relevance": np.array([float(grades[z]) for z in pairs]),
        "qid": np.repeat(np.arange(len(found)), here.m),
        "documents": pairs,
        "probabilities": np.array([float(mass) for mass, _, _ in found]),
    }


def certified(problem: Any, *solvers: str) -> sc.Enclosure:
    """The best certified bounds of the solvers, which are tried until one closes the gap."""
    low, high = -math.inf, math.inf
    for name in solvers:
        found = solve(problem, name, tol=1e-10)
        if found.certificate is not None:
            low, high = max(low, found.certificate.lower), min(high, found.certificate.upper)
        if found.status is Status.OPTIMAL:
            break
    return sc.between(min(low, high), max(low, high))  # in floats the bounds of a closed gap may pass each other by a rounding


def relevance_and_rest(here: RankingWorld) -> tuple[Array, Array, float]:
    """μ, r̃ and C_D in floats."""
    relevance, rest = expected_relevance(here)
    return (
        np.array([float(p) for p in here.masses()]),
        np.array([float(r) for r in relevance]),
        float(rest),
    )


def _least(here: RankingWorld, gram: Array, bound: float) -> sc.Enclosure:
    lists = stacked(here)
    problem = RankingGoodness(gram, lists["relevance"], lists["qid"], bound, lists["documents"], lists["probabilities"])
    return certified(problem, "interior-point", "clarabel")


@sc.claim(
    "KJ-Def28",
    section=SECTION,
    place="Definition 28",
    kind=sc.DEFINITION,
    says=r"K is (ε_0, B)-good for ranking if some |w| ≤ B has E ‖f(x) − η(r(x))‖² **≤** ε_0 (printed: <), f_i = E_{z~μ}[w(z) K(z_i, z)]: "
    r"iff ε_0 ≥ ε_0(B), the value of a quadratic programme. It falls in B, is convex, depends on BK only, and is ≥ C_D > 0 unless η_i is "
    r"a function of z_i: nothing that scores one document at a time does better. For diagonal K it is C_D + m Σ μ (|r̃| − μ|K|B)_+². "
    r"(Worlds with all lists enumerated, certified values.)",
    instances=worlds,
    resolution=1e-8,
    knobs={"half": 0.5, "length": 1.0},
    mutants={"9/20 of the sum at the ends": {"half": 0.45}, "9m/10": {"length": 0.9}},
    note="As printed it takes r(z) where r(x) is meant, and the definition needs lists that are not all irrelevant. With < nothing is "
    "good for the least value (KJ-H2).",
)
def goodness_for_ranking(instance: sc.Instance, gram: Array, bound: float, diagonal: bool, trial: sc.Trial) -> Iterator[sc.Check]:
    """Closed form for diagonal K; else three bounds, and 2K with B/2."""
    here = world_of(instance)
    mu, relevance, rest = relevance_and_rest(here)
    value = _least(here, gram, bound)
    yield sc.at_most(rest, value, "C_D")
    if diagonal:
        left = np.maximum(np.abs(relevance) - mu * np.abs(np.diag(gram)) * bound, 0.0)
        yield sc.equal(value, rest + trial["length"] * here.m * float(mu @ left**2), "ε_0(B)")
        return
    ends = [_least(here, gram, factor * bound) for factor in (0.5, 1.5)]
    half = trial["half"]
    middle = sc.between(half * (ends[0].low + ends[1].low), half * (ends[0].high + ends[1].high))
    yield sc.at_most(value, middle, "midpoint")
    yield sc.at_most(ends[1], value, "nonincreasing")
    yield sc.equal(_least(here, 2.0 * gram, bound / 2.0), value, "2K and B/2")


def kernels(trial: sc.Trial) -> Iterator[sc.Instance]:
    """Random worlds with kernels of rank one to three, K(z, z) ≤ 1."""
    for k in range(trial.count(4, 15)):
        made = random_world(trial.rng, 2 + k % 2)
        factor = trial.rng.normal(size=(len(masses(made["queries"], made["documents"])), 1 + k % 3))
        yield made | {"factor": factor / np.linalg.norm(factor, axis=1).max(), "cost": float(2.0 ** trial.rng.uniform(-2, 4))}


@sc.claim(
    "KJ-Def29",
    section=SECTION,
    place="Definition 29",
    kind=sc.DEFINITION,
    says=r"A PSD kernel is (ε_0, γ)-good for ranking if some **‖W*‖ ≤ 1** (printed: =) has E ‖f(x) − η(r(x))‖² **≤** ε_0, f_i = ⟨W*, "
    r"Φ(z_i)⟩/γ: iff ε_0 ≥ ε_0(γ) = C_D + m min_{‖W‖ ≤ 1/γ} E_μ (⟨W, Φ⟩ − r̃)². It falls as γ falls, is convex in 1/γ, and the minimiser "
    r"W' of ½‖W‖² + C E ℓ_sq attains ε_0(1/‖W'‖). (Worlds with all lists enumerated, certified values.)",
    instances=kernels,
    resolution=1e-7,
    knobs={"half": 0.5, "norm": 1.0},
    mutants={"9/20 of the sum at the ends": {"half": 0.45}, "attained at 9‖W'‖/10": {"norm": 0.9}},
    note="With '=' it is not monotone in γ, as Definition 4 (KJ-Def4-sphere). The printed text defines f for every W and uses W* only.",
)
def kernel_goodness_for_ranking(instance: sc.Instance, factor: Array, cost: float, trial: sc.Trial) -> Iterator[sc.Check]:
    """The curve at 1/γ = ½, 1, 3/2, 2, and where W' lies on it."""
    here, gram = world_of(instance), factor @ factor.T
    mu, relevance, rest = relevance_and_rest(here)
    m = float(here.m)

    def value(radius: float) -> sc.Enclosure:
        found = certified(KernelGoodness(gram, relevance, 1.0 / radius, mu, "squared"), "interior-point", "clarabel")
        return sc.between(rest + m * found.low, rest + m * found.high)

    curve = [value(radius) for radius in (0.5, 1.0, 1.5, 2.0)]
    for wide, narrow in pairwise(curve):
        yield sc.at_most(narrow, wide, "a smaller margin")
    for low, middle, high in zip(curve[:2], curve[1:3], curve[2:], strict=True):
        ends = sc.between(trial["half"] * (low.low + high.low), trial["half"] * (low.high + high.high))
        yield sc.at_most(middle, ends, "convex in 1/γ")
    lists = stacked(here)
    problem = KernelRanking(gram, lists["relevance"], lists["qid"], cost, lists["documents"], lists["probabilities"])
    found = solve(problem, "closed-form", tol=1e-12).point
    if found is None:
        raise ArithmeticError("no solution")
    alpha = found["alpha"]
    f, norm = gram @ alpha, float(np.sqrt(alpha @ gram @ alpha))
    loss = rest + m * float(mu @ (f - relevance) ** 2)
    yield sc.equal(value(trial["norm"] * norm), loss, "loss of W'")
