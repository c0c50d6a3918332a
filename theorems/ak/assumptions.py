r"""Assumptions 1 and 2 of section 4: one half of the first is redundant, and kernel ridge regression violates the second.

Assumption 1 (1): |Φ(λ, Z₁) − Φ(λ, Z₂)| ≤ c H(Z₁, Z₂); (2): |Φ(λ, Z) − Φ(λ, Z^i)| ≤ C(|Z|), C decreasing to 0. All uniformly in λ.
Consider the shortest path between two sets by removals and insertions, where a step between sizes n − 1 and n costs C(n). Its length is the
largest distance of the two values among all maps with (2), so (1) has to be compared with it.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator
from fractions import Fraction

import simopt.claims as sc
from simopt.equivalence.hamming import hamming
from simopt.theorems.ak.metric import LARGEST, LETTERS, Letters, multisets
from simopt.theorems.ak.rational_ridge import Sample, dot, minus, ridge

COSTS: dict[str, Callable[[int], Fraction]] = {
    "1/n": lambda n: Fraction(1, n),
    "1/n²": lambda n: Fraction(1, n * n),
    "2^-n": lambda n: Fraction(1, 2**n),
}


def distances(start: Letters, cost: Callable[[int], Fraction]) -> dict[Letters, Fraction]:
    """Lengths of the shortest ways from one multiset to all others through sets of at most 5 elements, never through ∅ (Dijkstra)."""
    known: dict[Letters, Fraction] = {}
    heap: list[tuple[Fraction, Letters]] = [(Fraction(0), start)]
    while heap:
        length, word = heapq.heappop(heap)
        if word in known:
            continue
        known[word] = length
        smaller = [word[:i] + word[i + 1 :] for i in range(len(word)) if len(word) > 1]
        larger = [tuple(sorted((*word, letter))) for letter in range(LETTERS) if len(word) <= LARGEST]
        for other in smaller + larger:
            heapq.heappush(heap, (length + cost(max(len(word), len(other))), other))
    return known


def extremal_maps(trial: sc.Trial) -> Iterator[sc.Instance]:
    """A set from which the extremal map measures, and how fast C falls."""
    for name in COSTS:
        for word in multisets():
            yield {"set": list(word), "C": name}


@sc.claim(
    "AK-A1",
    place="Assumption 1",
    kind=sc.DEFINITION,
    says=r"Part (2) of Assumption 1 implies part (1) with c = 2 C(2), the best such constant: an exchange is an insertion and a removal. "
    r"Part (1) does not imply part (2): Φ(λ, Z) = λ + |Z| has c = 1, but changes by 1 with every sample.",
    instances=extremal_maps,
    knobs={"factor": Fraction(2), "map": len},
    mutants={"c = 1.9 C(2)": {"factor": Fraction(19, 10)}, "Φ = λ + 2|Z|": {"map": lambda word: 2 * len(word)}},
    note="Not 2 C(1): as ∅ is not a training set, no way leads through it and C(2) does. Extremal maps on all "
    "multisets of at most 4 elements over 3 letters, C = 1/n, 1/n², 2^-n.",
)
def small_changes_make_a_lipschitz_map(instance: sc.Instance, C: str, trial: sc.Trial) -> Iterator[sc.Check]:
    """Shortest ways from one set to all others against H."""
    start, cost = tuple(instance["set"]), COSTS[C]
    found = distances(start, cost)
    others = [word for word in multisets() if word != start]
    c = trial["factor"] * cost(2)
    yield sc.at_most([found[word] for word in others], [c * hamming(start, word) for word in others], "|Φ(λ, Z₁) − Φ(λ, Z₂)|")
    phi = trial["map"]
    yield sc.at_most([abs(phi(start) - phi(word)) for word in others], [hamming(start, word) for word in others], "λ + |Z| against H")
    if len(start) > 1:
        yield sc.equal(abs(phi(start) - phi(start[1:])), 1, "λ + |Z| after a removal")


def spectra(trial: sc.Trial) -> Iterator[sc.Instance]:
    """Samples on two axes, down to small eigenvalues of K/n; λ₁ = near · δ, λ₂ = 2λ₁; and a small input ε."""
    for k in range(trial.count(4, 8)):
        small = Fraction(1, 2**k)
        for near in (Fraction(1, 1000), Fraction(1, 10), Fraction(3)):
            yield {"scales": [small], "targets": [Fraction(1)], "counts": [k + 1], "near": near, "epsilon": small / 3}
            yield {
                "scales": [small * int(j) for j in trial.rng.integers(1, 5, size=2)],
                "targets": [Fraction(int(j), 4) for j in trial.rng.integers(1, 5, size=2)],
                "counts": trial.rng.integers(1, 4, size=2).tolist(),
                "near": near,
                "epsilon": Fraction(1, 10 ** (k + 1)),
            }


@sc.claim(
    "AK-A2",
    place="Assumption 2",
    kind=sc.DEFINITION,
    says=r"A is γ-Lipschitz in λ: ‖A(λ₁)(Z) − A(λ₂)(Z)‖ ≤ γ |λ₁ − λ₂| for all Z and λ₁, λ₂ > 0. For KRR with |y| ≤ C_y this holds with "
    r"γ = C_y δ^{-3/2}, and no less, on the sets Z whose K/|Z| has no eigenvalue in (0, δ). On all Z no γ does, for KRR nor for M-RLSR(m), "
    r"m = 2, 3, 4: with one sample x = ε, y = 1 the quotient tends to (m/2) ε^{-(m+1)} as λ → 0.",
    instances=spectra,
    knobs={"exponent": 3, "power": 1},
    mutants={"γ = C_y / δ": {"exponent": 2}, "(m/2) ε^{-(m+2)}": {"power": 2}},
)
def ridge_is_lipschitz_only_away_from_small_eigenvalues(
    counts: list[int], scales: list[Fraction], targets: list[Fraction], near: Fraction, epsilon: Fraction, trial: sc.Trial
) -> Iterator[sc.Check]:
    """Differences of KRR between two parameters, squared; then one small input."""
    n = sum(counts)
    delta = min(count * scale**2 for count, scale in zip(counts, scales, strict=True)) / n
    axes = ((1, 0), (0, 1))
    samples: list[Sample] = [
        (count, [scale * e for e in axis], y) for count, scale, axis, y in zip(counts, scales, axes, targets, strict=False)
    ]
    lam = delta * near
    apart = minus(ridge(samples, n * lam, 2), ridge(samples, n * 2 * lam, 2))
    squared = max(targets) ** 2 / delta ** trial["exponent"] * lam**2
    yield sc.at_most(dot(apart, apart), squared, "‖A(λ₁) − A(λ₂)‖² ≤ γ² |λ₁ − λ₂|²", scale=squared)
    eps = epsilon
    for m in (2, 3, 4):
        # M-RLSR on one sample: w = (1 − t)/ε at λ = 2εt/(m w^{m−1}).
        points = [((1 - t) / eps, 2 * eps * t / (m * ((1 - t) / eps) ** (m - 1))) for t in (Fraction(1, 1000), Fraction(1, 500))]
        (w, lam), (v, mu) = points
        yield sc.equal(m * lam * w ** (m - 1), 2 * eps * (1 - eps * w), f"m = {m}: first-order condition")
        limit = Fraction(m, 2) / eps ** (m + trial["power"])
        yield sc.at_least(abs(w - v) / abs(lam - mu), Fraction(98, 100) * limit, f"m = {m}: quotient near λ = 0")
    yield _difference_of_ridge()


def _difference_of_ridge() -> sc.Check:
    """ε/(ε² + λ₁) − ε/(ε² + λ₂) = (λ₂ − λ₁) ε/((ε² + λ₁)(ε² + λ₂)), in symbols: so the supremum of the quotient is ε^{-3}."""
    eps, one, two = sc.symbols("eps one two")
    sample: list[Sample] = [(1, [eps], 1)]
    (w,), (v,) = ridge(sample, one, 1), ridge(sample, two, 1)
    return sc.equal(w - v, (two - one) * eps / ((eps**2 + one) * (eps**2 + two)), "difference of KRR on one sample")
