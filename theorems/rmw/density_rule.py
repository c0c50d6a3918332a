r"""Section 3.3: when the Bayes rule of kernel density estimates is the mean classifier.

With A±(x) = Σ over x' ∈ S± of K(x, x') and Z± the mean over x' ∈ S± of ∫ K(x, x') dx, the estimates are P̃(x | ±1) = A±(x)/(|S±| Z±), and

    D(x) = P̃(Y = 1) P̃(x | 1) − P̃(Y = −1) P̃(x | −1) = (1/n) (A₊(x)/Z₊ − A₋(x)/Z₋),

whose sign is the rule. The mean is f(x) = (1/n) (A₊(x) − A₋(x)). On a finite X the integral is a sum.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import product
from typing import Any

import simopt.claims as sc
from simopt.theorems.small_worlds.worlds import add

Kernel = Sequence[Sequence[Any]]
Labelled = Sequence[Sequence[int]]


def mean_score(kernel: Kernel, sample: Labelled, x: int) -> Any:
    """f(x) = (1/n) Σ y K(x, x')."""
    return add(y * kernel[x][z] for z, y in sample) / len(sample)


def masses(kernel: Kernel, sample: Labelled) -> dict[int, Any]:
    """Z±, for the classes that occur."""
    found = {}
    for label in sorted({y for _, y in sample}):
        own = [z for z, y in sample if y == label]
        found[label] = add(kernel[x][z] for z in own for x in range(len(kernel))) / len(own)
    return found


def density_score(kernel: Kernel, sample: Labelled, x: int) -> Any:
    """D(x); a class that does not occur has P̃(Y) = 0 and adds nothing."""
    classes = masses(kernel, sample)
    return add(y * kernel[x][z] / classes[y] for z, y in sample) / len(sample)


def positive_kernels(trial: sc.Trial) -> Iterator[sc.Instance]:
    """Positive, positive semidefinite kernels on two points with K(x, x) ≤ 1 in tenths, and the sample {(a, 1), (b, −1)}."""
    tenths = [Fraction(k, 10) for k in range(1, 11, 2)] + [Fraction(1)]
    for a, b, c in product(tenths, repeat=3):
        if a * c >= b * b and (a == c or not trial["equal"]):
            yield {"kernel": [[a, b], [b, c]], "sample": [[0, 1], [1, -1]]}


@sc.claim(
    "RMW-KDE",
    place="Section 3.3",
    kind=sc.EQUIVALENCE,
    compares=("mean-penalised ~ kernel-density",),
    expected=sc.REFUTED,
    defect=sc.MISSING_HYPOTHESIS,
    says=r"Let K be a positive kernel (K ≥ 0, positive semidefinite). The Bayes optimal classifier of P̃, with P̃(x | ±1) ∝ (1/|S±|) Σ "
    r"over S± of K(x, x') and P̃(Y = 1) = |S₊|/|S|, is the rule of the mean: D(x) f(x) ≥ 0 for all x.",
    instances=positive_kernels,
    exhaustive=True,
    knobs={"equal": False},
    mutants={"K(a, a) = K(b, b)": {"equal": True}},
    note="X = {a, b}, K(a, ·) = (1, ½), K(b, ·) = (½, 3/10), S = {(a, 1), (b, −1)}: the mean votes 1 at b, since K(a, b) > K(b, b); the "
    "densities there are ⅓ and ⅜. Normalising gives a class with little kernel mass more weight than the mean does.",
)
def density_rule_is_the_mean_rule(kernel: list[list[Fraction]], sample: list[list[int]]) -> Iterator[sc.Check]:
    """Signs of the two scores at both points."""
    kernel = sc.inputs(K=kernel)
    for x in range(2):
        agreement = density_score(kernel, sample, x) * mean_score(kernel, sample, x)
        yield sc.at_least(agreement, 0, f"D(x) f(x) at x = {'ab'[x]}")


def translation_invariant() -> list[list[Any]]:
    """K(x, z) = k(x − z) on the cyclic group of three elements, k(1) = k(2)."""
    k0, k1 = sc.symbols("k0 k1")
    return [[k0 if x == z else k1 for z in range(3)] for x in range(3)]


def any_kernel() -> list[list[Any]]:
    """Any symmetric kernel on three points."""
    a, b, c, d, e, f = sc.symbols("a b c d e f")
    return [[a, b, c], [b, d, e], [c, e, f]]


def labelled_samples(trial: sc.Trial) -> Iterator[sc.Instance]:
    """Any sample (no data); all labelled samples of one, two and three of the three points, and one with every point in both classes."""
    yield {"kernel": trial["kernel"], "sample": None}
    pairs = list(product(range(3), (-1, 1)))
    for n in (1, 2, 3):
        for sample in product(pairs, repeat=n):
            if list(sample) == sorted(sample):
                yield {"kernel": trial["kernel"], "sample": [list(pair) for pair in sample]}
    yield {"kernel": "any kernel", "sample": [list(pair) for pair in pairs]}


@sc.claim(
    "RMW-KDE+",
    place="Section 3.3, corrected",
    kind=sc.EQUIVALENCE,
    says=r"Let K ≥ 0 and let **∫ K(x, x') dx have the same mean Z > 0 over x' ∈ S₊ and over x' ∈ S₋**; it has if it does not depend on "
    r"x', as for every K(x, x') = k(x − x') on ℝ^d. Then D = f/Z: the Bayes rule of the kernel density estimates is the mean classifier.",
    instances=labelled_samples,
    exhaustive=True,
    knobs={"kernel": "translation invariant"},
    mutants={"any kernel": {"kernel": "any kernel"}},
    corrects="RMW-KDE",
    note="For every sample and kernel: D from A±(x), the sizes of the classes and Z± as symbols. Then from the definitions: all "
    "translation-invariant symmetric kernels on three points with every labelled sample of at most three of them, and any kernel at all "
    "if both classes hold the same points.",
)
def equal_masses_make_the_rules_one(sample: Any, kernel: str) -> Iterator[sc.Check]:
    """Z± are equal, and Z D(x) = f(x) at one x: every translate of a sample is among the samples."""
    if sample is None:
        yield _any_sample(kernel == "any kernel")
        return
    K = any_kernel() if kernel == "any kernel" else translation_invariant()
    classes = list(masses(K, sample).values())
    yield sc.equal(classes[0], classes[-1], "Z₊ = Z₋")
    yield sc.equal(classes[0] * density_score(K, sample, 0), mean_score(K, sample, 0), "Z D = f")


def _any_sample(two_masses: bool) -> sc.Check:
    """Z (P̃(Y = 1) P̃(x | 1) − P̃(Y = −1) P̃(x | −1)) = f(x), P̃(Y = ±1) = n±/n and P̃(x | ±1) = A±(x)/(n± Z±)."""
    first, second, positive, negative, z, other = sc.symbols("A_plus A_minus n_plus n_minus Z Z_minus")
    n = positive + negative
    shares = positive / n * (first / positive / z), negative / n * (second / negative / (other if two_masses else z))
    return sc.equal(z * (shares[0] - shares[1]), (first - second) / n, "any sample: Z D = f")
