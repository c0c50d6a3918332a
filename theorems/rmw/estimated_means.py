r"""Section 6.2: Algorithm 1 without the kernel matrix, from an estimate of E_{z∼P} 𝒦(z, z′).

Let P be uniform on the n points of S. Take k draws z_1, …, z_k from P, the same for all z′. The estimate is (1/k) Σ 𝒦(z_j, z′), that is
⟨ω̂, ψ(z′)⟩ with ω̂ = (1/k) Σ ψ(z_j): kn kernel values. Then Algorithm 1 runs for ω̂, and asks for the n values of 𝒦(z*, ·) once for each
new member.

Its result is near ω̂. Towards ω_P nothing is gained by more iterations once ω̂ is reached: ω̂ ∈ C, and what is left is ‖ω_P − ω̂‖, of mean
square V/k, V = E‖ψ‖² − ‖ω_P‖² (RMW-6-MC+). So a tolerance ε > 0 needs k of the order of V/ε².
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import product

import simopt.claims as sc
from simopt.theorems.rmw.corrective_herding import corrective
from simopt.theorems.rmw.exact_frank_wolfe import herding, largest, mean_of
from simopt.theorems.rmw.rational_sets import Points, general, orthonormal
from simopt.theorems.small_worlds.worlds import add, dot, minus, squared

CITATION = "Section 6.2, 'by estimating E 𝒦(z, z′)'"


class LazyKernel:
    """𝒦 of n points, of which each row is computed when it is asked for, and every value counted."""

    def __init__(self, atoms: Points) -> None:
        self._atoms = atoms
        self._rows: dict[int, list[Fraction]] = {}

    @property
    def values(self) -> int:
        """Kernel values computed so far."""
        return len(self._rows) * len(self._atoms)

    def row(self, i: int) -> list[Fraction]:
        """𝒦(z_i, z) for all z."""
        if i not in self._rows:
            self._rows[i] = [Fraction(dot(self._atoms[i], atom)) for atom in self._atoms]
        return self._rows[i]


def herded(kernel: LazyKernel, draws: Sequence[int], most: int) -> Iterator[tuple[int, tuple[Fraction, ...], int]]:
    """Algorithm 1 by kernel values alone, from the draws: picks, weights, and kernel values computed before the next iteration."""
    mean = mean_of([kernel.row(i) for i in draws])  # ⟨ω̂, ψ(z)⟩
    n = len(mean)
    pick = largest(mean)
    weights = [Fraction(int(i == pick)) for i in range(n)]
    fitted = kernel.row(pick)  # ⟨ω, ψ(z)⟩
    for _ in range(most):
        yield pick, tuple(weights), kernel.values
        scores = minus(mean, fitted)
        pick = largest(scores)
        promise = scores[pick] - dot(weights, scores)
        if promise <= 0:
            return
        column = kernel.row(pick)
        length = column[pick] - 2 * fitted[pick] + dot(weights, fitted)
        step = min(Fraction(1), promise / length)
        weights = [(1 - step) * w + step * int(i == pick) for i, w in enumerate(weights)]
        fitted = [(1 - step) * a + step * b for a, b in zip(fitted, column, strict=True)]


def sets_and_draws(trial: sc.Trial) -> Iterator[sc.Instance]:
    """Random and orthonormal sets of n points, and k draws from them."""
    for n in (6, 12, 24):
        for k in (1, 2, 4):
            atoms = orthonormal(n) if k == 1 else general(trial.rng, n, 3, 6)
            yield {"atoms": atoms, "draws": [int(i) for i in trial.rng.integers(0, n, size=k)], "most": 5}


@sc.claim(
    "RMW-6.2-estimate",
    place=CITATION,
    kind=sc.ALGORITHM,
    says=r"Estimating E 𝒦(z, z′) by k draws, **their number fixed**, makes the initialisation of order n, namely kn kernel values for n², "
    r"and costs n kernel values between the new point and the sample in each iteration: at most n(k + m) after m of them, and never more "
    r"than n². The steps are those of Algorithm 1 for the mean ω̂ of the draws.",
    instances=sets_and_draws,
    resolution=0.0,
    knobs={"all": False},
    mutants={"the mean over all of S": {"all": True}},
    note="One run by kernel values, which counts them, against Algorithm 1 on vectors, both exact. The draws are the same for every z′; "
    "otherwise the estimates are those of no mean. ‖ω̂‖², for the test of tolerance, needs k² of the values. Whether the result is near "
    "ω_P: RMW-6.2-floor.",
)
def kernel_values_without_the_matrix(atoms: list[list[Fraction]], draws: list[int], most: int, trial: sc.Trial) -> Iterator[sc.Check]:
    """Picks and weights of both programs; kernel values at every iteration."""
    n, k = len(atoms), len(draws)
    kernel = LazyKernel(atoms)
    target = mean_of([atoms[i] for i in draws])
    used = list(range(n)) if trial["all"] else draws
    for m, (one, two) in enumerate(zip(herded(kernel, used, most), herding(atoms, target), strict=False), 1):
        if not trial["all"]:
            yield sc.true(one[0] == two.pick, f"the pick, m = {m}", evidence=sc.EXACT)
            yield sc.equal(list(one[1]), list(two.weights), f"the weights, m = {m}")
        yield sc.at_most(one[2], n * (k + m), f"kernel values, n = {n}, m = {m}")
        yield sc.at_most(one[2], n * n, f"kernel values against the whole matrix, n = {n}, m = {m}")


def few_points(trial: sc.Trial) -> Iterator[sc.Instance]:
    """Sets of two to four points, and k."""
    for n, most in ((2, 4), (3, 3), (4, 2)):
        for k in range(1, most + 1):
            yield {"atoms": orthonormal(n), "k": k}
            yield {"atoms": general(trial.rng, n, 2, 6), "k": k}


@sc.claim(
    "RMW-6.2-floor",
    place=CITATION + ", ours: what it costs in accuracy",
    kind=sc.IN_EXPECTATION,
    says=r"Let P be uniform on S, V = E‖ψ‖² − ‖ω_P‖². Herding with E 𝒦(z, z′) estimated by k draws comes, however many iterations follow, "
    r"to an error ‖ω_P − ω̃‖ of mean square **exactly V/k**. An error ≤ ε in this mean asks for k ≥ V/ε² draws: the initialisation is of "
    r"order n/ε², and saves on n² only for ε > √(V/n).",
    instances=few_points,
    resolution=0.0,
    knobs={"power": 1},
    mutants={"V/k²": {"power": 2}},
    note="Every sequence of draws is enumerated, and each run goes to its end, by fully corrective steps. On n orthonormal points "
    "V = 1 − 1/n. The paper states no accuracy here; Algorithm 1 promises ε.",
)
def iterations_do_not_make_up_for_draws(atoms: list[list[Fraction]], k: int, trial: sc.Trial) -> Iterator[sc.Check]:
    """The mean of ‖ω_P − ω̃‖² at the end of the run, over all n^k sequences of draws."""
    n, target = len(atoms), mean_of(atoms)
    spread = add(squared(atom) for atom in atoms) / n - squared(target)
    final: list[Fraction] = []
    for draws in product(range(n), repeat=k):
        *_, last = corrective(atoms, mean_of([atoms[i] for i in draws]))
        final.append(Fraction(squared(minus(target, mean_of(atoms, last.weights)))))
    yield sc.equal(add(final) / n**k, spread / k ** trial["power"], f"mean of ‖ω_P − ω̃‖², n = {n}, k = {k}")
