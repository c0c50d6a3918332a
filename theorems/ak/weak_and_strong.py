r"""Equivalence on a training set, weak and strong equivalence: the definitions of section 3 as tests that can come out either way.

Exact learners: KRR at μ, w = argmin (1/n) Σ (y − f(x))² + μ ‖f‖²; KRR with ν/n in the place of μ. Also M-RLSR for even m, whose parameter
λ = 2μ/(m ‖w‖^{m−2}) is rational where μ and w are. Each is recognised by its own first-order condition.

Finite worlds: a path is a tuple of functions, one for each of k parameters. All pairs of paths of a small world are tried, so that what
the definitions say about any learners whatever is seen without choosing learners.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import permutations, product
from typing import Any

import simopt.claims as sc
from simopt.theorems.ak.rational_ridge import Sample, dot, minus, random_samples, ridge, size, slope

Path = tuple[int, ...]


def drawn_sets(trial: sc.Trial) -> Iterator[sc.Instance]:
    """Training sets in the plane with K Y ≠ 0, and a parameter of KRR."""
    made = 0
    while made < trial.count(20, 200):
        samples = random_samples(trial.rng, int(trial.rng.integers(1, 5)))
        if any(ridge(samples, 1, 2)):
            made += 1
            yield {"samples": samples, "ridge": Fraction(2) ** int(trial.rng.integers(-6, 6)), "power": 2 * int(trial.rng.integers(1, 4))}


def power_parameter(w: Sequence[Any], mu: Fraction, m: int) -> Any:
    """λ at which M-RLSR(m), m even, has KRR's w at μ for its solution: 2μ/(m ‖w‖^{m−2})."""
    return 2 * mu / (m * dot(w, w) ** ((m - 2) // 2))


def power_residual(samples: Sequence[Sample], w: Sequence[Any], lam: Any, m: int) -> list[Any]:
    """Gradient at w of (1/n) Σ (y − ⟨w, x⟩)² + λ ‖w‖^m, m even."""
    weight = lam * m * dot(w, w) ** ((m - 2) // 2)
    return [a + weight * b for a, b in zip(slope(samples, w), w, strict=True)]


def over_n(samples: Sequence[Sample], nu: Any) -> list[Any]:
    """Modified KRR: argmin (1/n) Σ (y − ⟨w, x⟩)² + (ν/n) ‖w‖²."""
    return ridge(samples, nu, 2)


def over_n_residual(samples: Sequence[Sample], w: Sequence[Any], nu: Any) -> list[Any]:
    """Half the gradient at w of modified KRR's own objective (1/n) Σ (y − ⟨w, x⟩)² + (ν/n) ‖w‖²."""
    return [a / 2 + nu / size(samples) * b for a, b in zip(slope(samples, w), w, strict=True)]


@sc.claim(
    "AK-D3.2",
    place="Definition 3.2",
    kind=sc.DEFINITION,
    compares=("kernel-ridge ~ kernel-ridge-over-n",),
    says=r"Two algorithms are equivalent on Z iff A(Z) = B(Z) as functions (distance 0 in H, whatever the coefficients). KRR at λ and "
    r"modified KRR at λ|Z| (a fixed number) are equivalent on Z; on a set Z' of another size, with K'Y' ≠ 0, they are not.",
    instances=drawn_sets,
    knobs={"factor": Fraction(1), "more": 1},
    mutants={"another parameter": {"factor": Fraction(2)}, "Z' of the size of Z": {"more": 0}},
)
def equal_on_one_set_and_not_on_another(
    instance: sc.Instance, samples: list[tuple[int, list[Fraction], Fraction]], trial: sc.Trial
) -> Iterator[sc.Check]:
    """Compare on Z, and on Z with each sample taken `more` times more."""
    mu = instance["ridge"]
    n = size(samples)
    nu = trial["factor"] * mu * n
    apart = minus(ridge(samples, n * mu, 2), over_n(samples, nu))
    yield sc.equal(dot(apart, apart), 0, "‖A(Z) − B(Z)‖² on Z")
    yield sc.equal(over_n_residual(samples, ridge(samples, n * mu, 2), nu), [0, 0], "A(Z) solves B's first-order condition")
    other = [(count + trial["more"], x, y) for count, x, y in samples]
    apart = minus(ridge(other, size(other) * mu, 2), over_n(other, nu))
    yield sc.distinct(dot(apart, apart), 0, "‖A(Z') − B(Z')‖² on Z'")
    # Two expansions of one function: a sample seen twice may share its coefficient in any way.
    twice = [(1, x, y) for _, x, y in samples for _ in range(2)]
    yield sc.equal(ridge(twice, 2 * n * mu, 2), ridge(samples, n * mu, 2), "every sample twice")


def worlds_and_learners(trial: sc.Trial) -> Iterator[sc.Instance]:
    """Every path of two, three (or four) parameters through three functions, then learners."""
    for k in range(2, trial.count(3, 4) + 1):
        for path in product(range(3), repeat=k):
            yield {"path": path}
    yield from drawn_sets(trial)


def matched(one: Path, two: Path) -> bool:
    """Whether a bijection φ of the parameters gives one[i] = two[φ(i)] for all i: tried one after the other."""
    return any(all(one[i] == two[j] for i, j in enumerate(order)) for order in permutations(range(len(two))))


def multiplicities(path: Path) -> Counter[int]:
    """How many parameters lead to each function."""
    return Counter(path)


@sc.claim(
    "AK-D3.3",
    place="Definition 3.3",
    kind=sc.EQUIVALENCE,
    compares=("kernel-ridge ~ kernel-ridge-over-n", "m-power-rls ~ kernel-ridge", "m-power-rls ~ kernel-ridge-over-n"),
    says=r"A and B are weakly equivalent iff for every Z there is a bijection Φ(·, Z) of (0, ∞) with A(λ)(Z) = B(Φ(λ, Z))(Z). This is so "
    r"iff for every Z each function has equally many parameters λ in both paths (equal cardinality), and it is reflexive, symmetric and "
    r"transitive. For K Y ≠ 0, KRR, modified KRR and M-RLSR (m = 2, 4, 6) are weakly equivalent, with increasing Φ between any two, "
    r"which compose.",
    instances=worlds_and_learners,
    knobs={"same": multiplicities, "exponent": 1},
    mutants={"equal images instead of multiplicities": {"same": set}, "λ² for λ": {"exponent": 2}},
    note="Φ(·, Z) takes {λ: A(λ)(Z) = f} one to one onto {μ: B(μ)(Z) = f} for each f, and such bijections, one for each f, are together a "
    "Φ(·, Z); identity, inverse and composition give the three laws. Increasing Φ: AK-P5.1+, and ν = nμ. The rule of multiplicities is "
    "tried on all pairs of paths with 2 and 3 (full effort: 4) parameters and 3 functions; exact rationals throughout.",
)
def weak_equivalence_is_equality_of_multiplicities(instance: sc.Instance, trial: sc.Trial) -> Iterator[sc.Check]:
    """Either one path against all others of its world, or three learners on one training set."""
    if "path" in instance:
        path: Path = tuple(instance["path"])
        same = trial["same"]
        others = list(product(range(3), repeat=len(path)))
        wrong = sum(matched(path, other) != (same(path) == same(other)) for other in others)
        yield sc.equal(wrong, 0, "pairs on which the rule is wrong")
        yield sc.equal(sum(matched(path, other) != matched(other, path) for other in others), 0, "pairs on which it is not symmetric")
        return
    samples, mu, m = instance["samples"], instance["ridge"], instance["power"]
    n = size(samples)
    w = ridge(samples, n * mu, 2)
    lam = power_parameter(w, mu, m) ** trial["exponent"]
    yield sc.equal(power_residual(samples, w, lam, m), [0, 0], f"M-RLSR({m}) at Φ(μ) has the function of KRR at μ")
    # M-RLSR → modified KRR, by composition through KRR: ν = n (m/2) λ ‖w‖^{m−2}.
    nu = n * Fraction(m, 2) * lam * dot(w, w) ** ((m - 2) // 2)
    yield sc.equal(over_n(samples, nu), w, "composed map, M-RLSR to modified KRR")
    yield sc.equal(over_n_residual(samples, w, nu), [0, 0], "modified KRR at ν has the function of KRR at μ")
    doubled = power_parameter(ridge(samples, 2 * n * mu, 2), 2 * mu, m)
    yield sc.at_least(doubled / power_parameter(w, mu, m), 2, "doubling μ at least doubles λ: increasing, and onto (0, ∞)")


def pairs_of_worlds(trial: sc.Trial) -> Iterator[sc.Instance]:
    """All learners A with three parameters and two functions on two training sets, then KRR pairs on sets of several sizes."""
    for first, second in product(product(range(2), repeat=3), repeat=2):
        yield {"on Z": first, "on Z'": second}
    yield from drawn_sets(trial)


@sc.claim(
    "AK-D3.4",
    place="Definition 3.4",
    kind=sc.DEFINITION,
    compares=("kernel-ridge ~ kernel-ridge-over-n",),
    says=r"A and B are strongly equivalent iff one bijection Φ of (0, ∞) serves all Z: A(λ) = B(Φ(λ)) on every Z. Strong equivalence "
    r"implies weak; not conversely. KRR and argmin (1/n) Σ (y − f(x))² + 3λ ‖f‖² are strongly equivalent with Φ = λ/3; KRR and modified "
    r"KRR are weakly, not strongly, equivalent: where K Y ≠ 0 their only Φ is λ|Z|, which differs between sets of different sizes.",
    instances=pairs_of_worlds,
    knobs={"factor": Fraction(1, 3), "converse": False, "more": 1},
    mutants={
        "Φ = λ/2": {"factor": Fraction(1, 2)},
        "weak implies strong": {"converse": True},
        "sets of one size": {"more": 0},
    },
    note="The implication is tried on all 4096 pairs of learners of a world with three parameters, two functions and two training sets.",
)
def strong_equivalence_implies_weak(instance: sc.Instance, trial: sc.Trial) -> Iterator[sc.Check]:
    """Either one learner of the finite world against all others, or KRR against its two variants on Z and on a larger Z'."""
    if "on Z" in instance:
        one, two = tuple(instance["on Z"]), tuple(instance["on Z'"])
        yield sc.equal(
            sum(_breaks(one, two, trial["converse"], *other) for other in product(product(range(2), repeat=3), repeat=2)), 0, "pairs"
        )
        return
    samples, lam = instance["samples"], instance["ridge"]
    for Z in (samples, samples[:1], [(count + 1, x, y) for count, x, y in samples]):
        phi = trial["factor"] * lam
        yield sc.equal(ridge(Z, size(Z) * lam, 2), ridge(Z, 3 * size(Z) * phi, 2), "one Φ for all Z")
    larger = [(count + trial["more"], x, y) for count, x, y in samples]
    here, there = (_only_parameter(Z, lam) for Z in (samples, larger))
    yield sc.equal(here, lam * size(samples), "Φ(λ, Z) of KRR and modified KRR")
    yield sc.true(here != there, "Φ(λ, Z) ≠ Φ(λ, Z')", evidence=sc.EXACT)


def _breaks(one: Path, two: Path, converse: bool, first: Path, second: Path) -> bool:
    """Whether the implication between strong and weak equivalence fails for learners (one, two) and (first, second) on (Z, Z')."""
    weak = matched(one, first) and matched(two, second)
    strong = any(all(one[i] == first[j] and two[i] == second[j] for i, j in enumerate(order)) for order in permutations(range(len(first))))
    return weak and not strong if converse else strong and not weak


def _only_parameter(samples: Sequence[Sample], lam: Fraction) -> Any:
    """ν at which modified KRR has KRR's w ≠ 0 at λ: from the first-order condition (ν/n) w = −∇risk(w)/2, the ratio of one coordinate."""
    w = ridge(samples, size(samples) * lam, 2)
    j = 0 if w[0] != 0 else 1
    return -size(samples) * slope(samples, w)[j] / (2 * w[j])
