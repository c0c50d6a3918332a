r"""Section 11 takes 𝒩(ω, 𝟙) on the space of a kernel, which may have infinitely many dimensions: there is no such law there.

Let ω₁, ω₂, … be the coordinates of ω less its mean: independent, standard normal. ‖ω‖² ≥ ω₁² + … + ω_k² for each k, and by Markov's
inequality for e^{−(ω₁² + … + ω_k²)/2}, of mean 2^{−k/2}, P(ω₁² + … + ω_k² ≤ r) ≤ e^{r/2} 2^{−k/2} → 0. So no ball has any mass.

The proofs of Theorems 20 and 21 need only properties of it that do not depend on the dimension. Let V₁ ⊂ V₂ ⊂ … be finite-dimensional
subspaces, fixed before the draw. Let their union be dense in the span of the prior's mean and of the φ(x), and so of the sample and its
mean. With P_k φ for φ and 𝒩(·, 𝟙) on V_k the proofs hold, with the same β, n and δ. P_k v → v for every v in the span, so that all terms of
both bounds converge as k → ∞. An inequality with probability ≥ 1 − δ for each k holds in the limit with slack ε, for every ε > 0.
"""

from __future__ import annotations

from collections.abc import Iterator

import simopt.claims as sc


def radii(trial: sc.Trial) -> Iterator[sc.Instance]:
    """Squares r of a radius, and a number of coordinates that defeats each."""
    for r in (0, 1, 10, 10**3, 10**6):
        yield {"r": r, "k": 4 * r + 4}


def in_the_plane(trial: sc.Trial) -> Iterator[sc.Instance]:
    """Two coordinates, which are all there are."""
    for r in (1, 10):
        yield {"r": r, "k": 2}


@sc.claim(
    "RMW-11-normal",
    place="Section 11, before Theorem 20",
    kind=sc.EXISTENCE,
    expected=sc.REFUTED,
    defect=sc.MISSING_HYPOTHESIS,
    says=r"On the Hilbert space of a kernel there is a probability distribution 𝒩(ω, 𝟙), so that for some r the ball of radius √r around ω "
    r"has a mass of at least 1/2; of the first k coordinates, at most e^{r/2} 2^{−k/2} of the mass lies in it.",
    instances=radii,
    constants=("r",),
    defeats="k = 4r + 4 coordinates defeat r: e^{r/2} 2^{−k/2} ≤ (√e/4)^r/4 < 1/2.",
    resolution=0.0,
    knobs={},
    mutants={"two dimensions": {"instances": in_the_plane}},
    note="True in finitely many dimensions. The Gaussian kernel's space has infinitely many. Head of normal_in_hilbert_space.py.",
)
def a_ball_has_mass(r: int, k: int) -> Iterator[sc.Check]:
    """The logarithm of the bound on the mass of the ball, from the first k coordinates, against that of 1/2."""
    name = f"log of the mass of the ball, r = {r}, k = {k}"
    r, k = sc.inputs(r=r, k=k)
    yield sc.at_least((r - k * sc.log(2)) / 2, -sc.log(2), name)


@sc.claim(
    "RMW-11-normal+",
    place="Section 11, before Theorem 20, corrected",
    kind=sc.IDENTITY,
    says=r"**On a subspace of finitely many dimensions** 𝒩(a, 𝟙) exists, and what the proofs of Theorems 20 and 21 take from it is a sum "
    r"over coordinates, whatever their number: log(d𝒩(a, 𝟙)/d𝒩(b, 𝟙)) = (a − b)(ω − a) + ½(a − b)² in each, of mean ½(a − b)²; and "
    r"tωv − ½(ω − a)² = tav + ½t²v² − ½(ω − a − tv)², so that E e^{t⟨ω, v⟩} = e^{t⟨a, v⟩ + ½t²‖v‖²}.",
    remains="the limit over subspaces (head of normal_in_hilbert_space.py): with projections of φ the theorems hold as printed, and their "
    "terms converge",
    exhaustive=True,
    resolution=0.0,
    knobs={"half": 2},
    mutants={"(a − b)²": {"half": 1}},
    corrects="RMW-11-normal",
)
def each_coordinate_adds_its_own(trial: sc.Trial) -> Iterator[sc.Check]:
    """The log density ratio and the completed square, in one coordinate."""
    w, a, b, t, v = sc.symbols("w a b t v")
    ratio = ((w - b) ** 2 - (w - a) ** 2) / 2
    yield sc.equal(ratio, (a - b) * (w - a) + (a - b) ** 2 / trial["half"], "log density ratio")
    yield sc.equal(t * w * v - (w - a) ** 2 / 2, t * a * v + (t * v) ** 2 / trial["half"] - (w - a - t * v) ** 2 / 2, "completed square")
