r"""Appendix F: 'all our utility arguments carry forward to other surrogates defined in [27]'. Conditions on them.

The surrogate is a Bregman divergence ℓ(s, η) = Σ φ(s_i) − φ(η_i) − φ'(η_i)(s_i − η_i). With R = max(B, η_max) and c ≤ φ'' ≤ L on [−R, R],

    (c/2)(s − η)² ≤ ℓ(s, η), and |ℓ(s, η) − ℓ(t, η)| ≤ L (B + η_max) |s − t| for one document, |s|, |t| ≤ B and 0 ≤ η ≤ η_max:

the first is what the regret needs, the second what landmarks and labels cost. The squared loss has c = L = 2. Strong convexity gives c > 0;
L has to be asked for.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import simopt.claims as sc
from simopt.data import relevance
from simopt.theorems.kj.ranking.relevance_lists import lists
from simopt.theorems.small_worlds.exact_tails import logarithm

SECTION = "ordinal"
TIE = 1e-9  # scores closer than this are tied


def phi(name: str, strength: float) -> tuple[Any, Any, Any]:
    """φ, φ' and the two ends of φ'' on [−R, R]: s²/2 + the strength times s⁴/12 or cosh s, both even with φ'' growing in |s|."""
    if name == "quartic":
        return (
            lambda s: s**2 / 2 + strength * s**4 / 12,
            lambda s: s + strength * s**3 / 3,
            lambda R: (1.0, 1.0 + strength * R**2),
        )
    return (
        lambda s: s**2 / 2 + strength * np.cosh(s),
        lambda s: s + strength * np.sinh(s),
        lambda R: (1.0 + strength, 1.0 + strength * float(np.cosh(R))),
    )


def surrogates(trial: sc.Trial) -> Iterator[sc.Instance]:
    """Both families with strengths from 0; lists of two to four documents, scores at random and nearly tied the wrong way round; B."""
    for name in ("quartic", "cosh"):
        for strength in (0.0, 0.01, 1.0, 10.0):
            for m in (2, 3, 4):
                for bound in (0.5, 2.0):
                    yield {"name": name, "strength": strength, "m": m, "bound": bound, "draws": trial.count(4, 60)}


@sc.claim(
    "KJ-F-other",
    section=SECTION,
    place="Appendix F, before Theorem 30: 'all our utility arguments carry forward to other surrogates defined in [27]'",
    kind=sc.INEQUALITY,
    says=r"For the divergence of φ, summed over the documents, with **c ≤ φ'' ≤ L on [−R, R]**, R = max(B, η_max), c > 0, |f| ≤ B: 1 + "
    r"ℓ_NDCG(f, r) ≤ ‖D − rev D‖₂ √(2ℓ(f, η)/c), and each document's loss changes by ≤ L(B + η_max)|f − g|: both steps of Theorem 30, "
    r"with √(2/c) in the place of 1 and L in that of 2. (φ = s²/2 + a s⁴/12 and s²/2 + a cosh s, random scores and scores tied against "
    r"the list.)",
    instances=surrogates,
    resolution=1e-9,
    knobs={"convex": 2.0, "slope": 1.0},
    mutants={"√(1/c)": {"convex": 1.0}, "slope 9/10": {"slope": 0.9}},
    note="The paper quotes from [27] divergences of strongly convex functions, which is c > 0 in some norm; L is a hypothesis of its own "
    "(KJ-F-other-slope). The text of [27] was not at hand.",
)
def steps_for_other_divergences(m: int, bound: float, name: str, strength: float, draws: int, trial: sc.Trial) -> Iterator[sc.Check]:
    """Regret with the worst ties against the divergence; change of one document's divergence."""
    rng = trial.rng
    value, slope, ends = phi(name, strength)
    top = 1.0 / float(relevance.discounts(m)[0])  # η of a list with one relevant document
    least, most = ends(max(bound, top))
    D = relevance.discounts(m)
    grades = list(lists(m, 2))
    for _ in range(draws):
        r = np.array(grades[int(rng.integers(len(grades)))], dtype=float)
        eta = relevance.eta(r)
        tied = np.full(m, min(bound, float(eta.mean())))
        for s in (rng.uniform(-bound, bound, size=m), tied):
            loss = float(np.sum(value(s) - value(eta) - slope(eta) * (s - eta)))
            regret = 1.0 + relevance.ndcg_loss(np.round(s / TIE), r, ties=relevance.WORST)
            limit = float(np.linalg.norm(D - D[::-1])) * float(np.sqrt(trial["convex"] * max(loss, 0.0) / least))
            yield sc.at_most(regret, limit, "regret")
        one, other = rng.uniform(-bound, bound, size=2)
        for f, g in ((one, other), (-bound, -bound + 1e-4)):
            change = abs(value(f) - value(g) - slope(top) * (f - g))
            yield sc.at_most(change, trial["slope"] * most * (bound + top) * abs(f - g), "change of ℓ", scale=abs(f - g))


@sc.claim(
    "KJ-F-other-slope",
    section=SECTION,
    place="Appendix F, before Theorem 30, ours: strong convexity is not enough",
    kind=sc.COUNTEREXAMPLE,
    says=r"φ = s log s has φ'' = 1/s ≥ 1/R on (0, R], but its divergence s log(s/η) − s + η has no largest slope there: between s = ηx "
    r"and ηx/2, x = 2^{−k}, the quotient of the differences is −(k − 1)λ − 1, λ = log 2, and for k = 2T + 2 its size exceeds T by T(2λ − "
    r"1) + λ + 1 > 0, whatever T ≥ 0. (In symbols.)",
    exhaustive=True,
    knobs={"steps": 2},
    mutants={"k = T + 2": {"steps": 1}},
    note="So Lemma 16 and the landmark step need a bound L on φ'', or scores kept away from 0; and f = E[wK] may be ≤ 0, where this φ is "
    "not defined.",
)
def slopes_without_bound(trial: sc.Trial) -> Iterator[sc.Check]:
    """The slope between two neighbours; that it passes T."""
    k, rate, eta, x, T = sc.symbols("k lambda eta x T")

    def divergence(steps: Any, fraction: Any) -> Any:
        return eta * fraction * (-steps * rate) - eta * fraction + eta

    slope = (divergence(k, x) - divergence(k + 1, x / 2)) / (eta * x / 2)
    yield sc.equal(slope, -((k - 1) * rate) - 1, "slope")
    steps = trial["steps"]
    yield sc.equal((steps * T + 2 - 1) * rate + 1 - T, T * (steps * rate - 1) + rate + 1, "its size beyond T")
    yield sc.at_least(steps * logarithm(2), 1, "2 log 2")
