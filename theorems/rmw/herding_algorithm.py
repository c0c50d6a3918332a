r"""Algorithm 1: herding is the Frank–Wolfe algorithm with line search, when it ends, uniform weights, and what a step costs.

The step as printed maximises E_P 𝒦(z, z') − Σ α 𝒦(z, z') over z' ∈ S; Frank–Wolfe minimises the linearisation of ½‖ω_P − ω‖² over
C = co ψ(S). They are written separately, by kernel values and by vectors, and compared step by step without rounding.

**Uniform weights**: herding as a recursion on a vector, and as Frank–Wolfe with the step 1/(t + 1).
Recursion: w_{t+1} = w_t + ω_P − ψ(z_{t+1}), z_{t+1} = argmax ⟨w_t, ψ(z)⟩. Frank–Wolfe: ω_{t+1} = (1 − 1/(t+1)) ω_t + ψ(z_{t+1})/(t+1),
z_{t+1} = argmax ⟨ω_P − ω_t, ψ(z)⟩. If w_t = t(ω_P − ω_t), both pick the same point (also among equals, t being positive) and

    w_{t+1} = w_t + ω_P − ψ = (t + 1)(ω_P − ω_{t+1}).

The induction begins at t = 1 with w_1 = ω_P − ψ(z_1), that is with w_0 = 0. With w_0 = ω_P, the other start in use,
w_t = (t + 1)(ω_P − ν_t) for ν_t = (1/(t+1)) Σ ψ(z_s). This is Frank–Wolfe with steps 1/(t+2) from ν_0 = 0, which need not lie in the hull.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import islice
from typing import Any

import simopt.claims as sc
from simopt.core.arrays import Array
from simopt.theorems.rmw.counted_numbers import Counter
from simopt.theorems.rmw.exact_frank_wolfe import FrankWolfeIterate, herding, largest, line_search, mean_of, squared_errors, uniform
from simopt.theorems.rmw.hull_geometry import squared_diameter
from simopt.theorems.rmw.labelled_samples import atoms_of, samples
from simopt.theorems.rmw.rational_sets import general
from simopt.theorems.small_worlds.exact_svm import Gram, gram
from simopt.theorems.small_worlds.worlds import add, dot, minus, squared

ALGORITHM_1 = "Section 6, Algorithm 1"
EXACT_RUN = 6


def targets_within_reach(trial: sc.Trial) -> Iterator[sc.Instance]:
    """Sets in 2 to 4 dimensions; ω_P in the hull, or at distance 1/4 from it, and ε above that distance."""
    for i in range(trial.count(12, 80)):
        n, p = int(trial.rng.integers(3, 7)), int(trial.rng.integers(2, 5))
        atoms = general(trial.rng, n, p)
        if i % 2:
            yield beside_a_face(atoms, Fraction(1, 4))
        else:
            shares = [Fraction(int(k)) for k in trial.rng.integers(1, 9, size=n)]
            yield {"atoms": atoms, "target": mean_of(atoms, [s / sum(shares) for s in shares]), "distance": Fraction(0)}


def beside_a_face(atoms: list[list[Fraction]], distance: Fraction) -> sc.Instance:
    """The atoms shifted to x_1 ≥ 0, with (0, ±½, 0, …) among them, and ω_P = (−distance, 0, …), whose nearest point in the hull is 0."""
    least = min(atom[0] for atom in atoms)
    face = [[Fraction(0), Fraction(sign, 2), *[Fraction(0)] * (len(atoms[0]) - 2)] for sign in (1, -1)]
    moved = [[(atom[0] - least) / 2, *(x / 2 for x in atom[1:])] for atom in atoms]
    return {"atoms": face + moved, "target": [-distance, *[Fraction(0)] * (len(atoms[0]) - 1)], "distance": distance}


def targets_out_of_reach(trial: sc.Trial) -> Iterator[sc.Instance]:
    """ω_P farther from the hull than ε."""
    for _ in range(4):
        yield beside_a_face(general(trial.rng, 4, 2), Fraction(1, 4)) | {"epsilon": Fraction(6, 25)}


@sc.claim(
    "RMW-Alg1",
    place=ALGORITHM_1,
    kind=sc.ALGORITHM,
    says=r"Let ψ(z_1), …, ψ(z_n) be given, C their hull, D its diameter, and **dist(ω_P, C) < ε**. Algorithm 1 is the Frank–Wolfe "
    r"algorithm with line search for min_{ω∈C} ‖ω_P − ω‖²: z* minimises the linearisation at ω over C, and λ* = clip(⟨ω_P − ω, ψ(z*) − ω⟩ "
    r"/ ‖ψ(z*) − ω‖², 0, 1). Its weights stay non-negative with sum 1, and it returns an error ≤ ε after at most "
    r"⌈4D²/(ε² − dist²)⌉ steps.",
    instances=targets_within_reach,
    resolution=0.0,
    knobs={"share": 1},
    mutants={"λ*/2 for λ*": {"share": Fraction(1, 2)}, "dist(ω_P, C) > ε": {"instances": targets_out_of_reach}},
    note="The paper states no hypothesis; if dist(ω_P, C) > ε the while loop does not end. Where it prints argmin over λ of a "
    "term in ψ(z), ψ(z*) is meant. The bound on the steps is the standard one, of Frank–Wolfe with curvature D².",
)
def herding_is_frank_wolfe(
    atoms: list[list[Fraction]], target: list[Fraction], distance: Fraction, trial: sc.Trial, epsilon: Fraction | None = None
) -> Iterator[sc.Check]:
    """Six steps by kernel values against vectors, without rounding; then enclosures up to the bound on the number of steps."""
    share = trial["share"]

    def step(count: int, best: Fraction) -> Fraction:
        return Fraction(share) * line_search(count, best)

    before: FrankWolfeIterate | None = None
    for k, now in zip(range(EXACT_RUN), herding(atoms, target, line_search if share == 1 else step), strict=False):
        yield from one_step(atoms, target, before, now, k + 1)
        before = now
    epsilon = distance + Fraction(1, 8) if epsilon is None else epsilon
    steps = math.ceil(4 * squared_diameter(atoms) / abs(epsilon**2 - distance**2))
    errors = squared_errors(atoms, target, 1 + min(steps, 400))
    yield sc.at_most(min(error.high for error in errors), epsilon**2, "smallest ‖ω_P − ω_m‖² within the bound on the steps")


def one_step(
    atoms: Sequence[Sequence[Fraction]], target: Sequence[Fraction], before: FrankWolfeIterate | None, now: FrankWolfeIterate, m: int
) -> Iterator[sc.Check]:
    """The choice of the atom, of λ, and the weights, at the m-th atom."""
    weights = before.weights if before is not None else (Fraction(0),) * len(atoms)
    kernel = [[dot(a, b) for b in atoms] for a in atoms]
    similar = [dot(target, atom) - add(w * kernel[i][j] for i, w in enumerate(weights)) for j, atom in enumerate(atoms)]
    yield sc.equal(similar[now.pick], max(similar), f"the printed score of z* is the largest, m = {m}")
    if before is not None:
        slope = minus(before.point, target)
        for atom in atoms:
            yield sc.at_most(dot(slope, atoms[now.pick]), dot(slope, atom), f"ψ(z*) minimises the linearisation, m = {m}")
        derivative = dot(minus(now.point, target), minus(atoms[now.pick], before.point))
        inside = 0 < now.step < 1
        yield (
            sc.equal(derivative, 0, f"d/dλ at λ*, m = {m}")
            if inside
            else sc.at_most(derivative * (2 * now.step - 1), 0, f"λ* at an end, m = {m}")
        )
    yield sc.equal(sum(now.weights), 1, f"sum of the weights, m = {m}")
    yield sc.at_least(min(now.weights), 0, f"least weight, m = {m}")
    yield sc.equal(squared(minus(mean_of(atoms, now.weights), now.point)), 0, f"the weights give ω, m = {m}")


@sc.claim(
    "RMW-unif",
    place="Section 6, after Algorithm 1",
    kind=sc.IDENTITY,
    says=r"If λ = 1/(m + 1) in each step, **m the number of atoms added so far, repeated ones counted as often as they were added**, then "
    r"an atom added c times among m has the weight c/m, for every m.",
    exhaustive=True,
    knobs={"ahead": 1},
    mutants={"λ = 1/(m + 2)": {"ahead": 2}},
    note="Induction over m from c = m = 1, in symbols: the weight of an atom that is not chosen, and of one that is. The paper "
    "writes |R| with R undefined; were R the set of different atoms, a repeated atom would end the uniformity (RMW-unif-set).",
)
def weights_stay_uniform(trial: sc.Trial) -> Iterator[sc.Check]:
    """c/m → c/(m + 1) or (c + 1)/(m + 1)."""
    c, m = sc.symbols("c m")
    step = 1 / (m + trial["ahead"])
    yield sc.equal((1 - step) * (c / m), c / (m + 1), "weight of an atom that is not added")
    yield sc.equal((1 - step) * (c / m) + step, (c + 1) / (m + 1), "weight of the atom that is added")


def one_atom_twice(trial: sc.Trial) -> Iterator[sc.Instance]:
    """ω_P near the first of two atoms, which is taken twice in a row."""
    yield {"atoms": [[Fraction(1), Fraction(0)], [Fraction(0), Fraction(1)]], "target": [Fraction(9, 10), Fraction(1, 10)]}


@sc.claim(
    "RMW-unif-set",
    place="Section 6, after Algorithm 1, our example",
    kind=sc.COUNTEREXAMPLE,
    says=r"ψ = (1, 0), (0, 1) and ω_P = (9/10, 1/10). With λ = 1/(m + 1), m counting repetitions, the weights after 10 steps are 9/10 and "
    r"1/10, and ω_10 = ω_P; with m the number of different atoms they are not multiples of 1/10.",
    instances=one_atom_twice,
    resolution=0.0,
    knobs={"multiset": True},
    mutants={"m counts different atoms": {"multiset": False}},
)
def repetitions_count(atoms: list[list[Fraction]], target: list[Fraction], trial: sc.Trial) -> Iterator[sc.Check]:
    """Ten steps."""
    runs = [steps_of(atoms, target, kept, 10) for kept in (trial["multiset"], False)]
    yield sc.equal(runs[0][0], Fraction(9, 10), "weight of the first atom")
    yield sc.equal(runs[0][1], Fraction(1, 10), "weight of the second atom")
    yield sc.true((10 * runs[1][0]).denominator > 1, "weights without repetitions", evidence=sc.EXACT)


@sc.claim(
    "RMW-unif-proof",
    place="Section 6, after Algorithm 1",
    kind=sc.EQUIVALENCE,
    says=r"Herding with λ = 1/(t+1) is Frank–Wolfe: if w_1 = ω_P − ψ(z_1) (**w_0 = 0**, the first pick given) and ω_1 = ψ(z_1), the "
    r"recursion w_{t+1} = w_t + ω_P − ψ(z_{t+1}) and the step 1/(t+1) keep w_t = t(ω_P − ω_t); the criteria ⟨w_t, ψ⟩ and ⟨ω_P − ω_t, ψ⟩ "
    r"differ by the factor t > 0. With w_0 = ω_P they keep w_t = (t+1)(ω_P − ν_t), ν_0 = 0.",
    knobs={"start": 0},
    mutants={"w_0 = ω_P, from the first atom": {"start": 1}},
    note="Base and step of the induction in symbols, on the line: all is linear.",
)
def recursion_and_frank_wolfe_are_one(trial: sc.Trial) -> Iterator[sc.Check]:
    """Base case and induction step, for both starts."""
    t, target, here, psi = sc.symbols("t p w psi")
    yield sc.equal(trial["start"] * target + target - psi, 1 * (target - psi), "t = 1")
    step = (1 - 1 / (t + 1)) * here + psi / (t + 1)
    yield sc.equal(t * (target - here) + target - psi, (t + 1) * (target - step), "t → t + 1")
    yield sc.equal(target, (0 + 1) * (target - 0 * t), "w_0 = ω_P: t = 0")
    step = (1 - 1 / (t + 2)) * here + psi / (t + 2)
    yield sc.equal((t + 1) * (target - here) + target - psi, (t + 2) * (target - step), "w_0 = ω_P: t → t + 1")


def recursion(G: Gram, start: Sequence[Fraction], first: int) -> Iterator[tuple[int, list[Fraction], list[int]]]:
    """The herding recursion seen through h_i = ⟨w_t, ψ_i⟩ alone: pick z, then h ← h + b − G_z with b_i = ⟨ω_P, ψ_i⟩, ω_P the mean.

    Yields the pick, h and how often each atom has been picked, from the first pick on.
    """
    b = [sum(row, Fraction(0)) / len(G) for row in G]
    h, counts, pick = list(start), [0] * len(G), first
    while True:
        counts[pick] += 1
        h = [x + y - z for x, y, z in zip(h, b, G[pick], strict=True)]
        yield pick, h, list(counts)
        pick = largest(h)


@sc.claim(
    "RMW-unif-steps",
    place="Section 6, after Algorithm 1",
    kind=sc.ALGORITHM,
    says=r"Step by step in exact arithmetic: from the atom most similar to ω_S on, the herding recursion with w_0 = 0 and Frank–Wolfe with "
    r"the step 1/(t+1) pick the same atoms (the first of equals), with the weights (times picked)/t, and w_t = t(ω_S − ω_t) against every "
    r"atom.",
    instances=samples,
    knobs={"start": 0, "steps": 40},
    mutants={"w_0 = ω_S": {"start": 1}},
    note="Two programs: the recursion keeps only h_i = ⟨w_t, ψ_i⟩ and works with the Gram matrix, Frank–Wolfe keeps weights and the vector "
    "ω_t.",
)
def recursion_and_frank_wolfe_take_the_same_steps(labels: list[int], features: list[list[Fraction]], trial: sc.Trial) -> Iterator[sc.Check]:
    """Picks, weights and ⟨w_t, ψ_i⟩ of both programs."""
    atoms = atoms_of(labels, features)
    G, steps = gram(atoms), trial["steps"]
    target = mean_of(atoms)
    similar = [dot(target, atom) for atom in atoms]
    start = [trial["start"] * value for value in similar]
    one = list(islice(recursion(G, start, largest(similar)), steps))
    two = list(islice(herding(atoms, target, uniform), steps))
    same = [a[0] for a in one] == [b.pick for b in two]
    yield sc.true(same, f"the same {steps} picks", evidence=sc.Evidence.EXACT)
    for t in (1, 2, 3, steps // 2, steps):
        (_, h, counts), iterate = one[t - 1], two[t - 1]
        yield sc.equal([Fraction(count, t) for count in counts], list(iterate.weights), f"weights after {t} picks")
        left = minus(target, iterate.point)
        yield sc.equal(h, [t * dot(left, atom) for atom in atoms], f"⟨w_t, ψ_i⟩ = t⟨ω_S − ω_t, ψ_i⟩, t = {t}")


def steps_of(atoms: Any, target: Any, multiset: bool, steps: int) -> tuple[Fraction, ...]:
    """Weights after `steps` atoms with λ = 1/(m + 1)."""
    added: set[int] = set()

    def rule(count: int, best: Fraction) -> Fraction:
        return uniform(count if multiset else len(added), best)

    weights: tuple[Fraction, ...] = ()
    for now in islice(herding(atoms, target, rule), steps):
        added.add(now.pick)
        weights = now.weights
    return weights


def growing_sets(trial: sc.Trial) -> Iterator[sc.Instance]:
    """Gram matrices of n random vectors."""
    for n in (5, 10, 20, 40):
        yield {"features": trial.rng.normal(size=(n, 3)), "steps": trial.count(25, 100)}


@sc.claim(
    "RMW-cost",
    place="Section 6.2",
    kind=sc.ALGORITHM,
    says=r"After the kernel matrix and its n row means are there (n² kernel values), every iteration of Algorithm 1, whichever it is, "
    r"can be done with at most 8n + 20 additions, multiplications, divisions and comparisons of numbers (counted for n = 5 to 40).",
    instances=growing_sets,
    resolution=0.0,
    knobs={"kept": True},
    mutants={"Kα formed anew in each step": {"kept": False}},
    note="Operations of one program are counted, on numbers that count them; its picks are those of exact herding (tests). The gradient K "
    "α − K p changes by a multiple of itself and of one column. They are at most 2n − 1 for the pick, 3n for Kα, n for the weights and 25 "
    "for the rest, whatever n is.",
)
def an_iteration_is_linear_in_n(features: Array, steps: int, trial: sc.Trial) -> Iterator[sc.Check]:
    """Operations before the first iteration, and of each."""
    gram = features @ features.T
    n = len(gram)
    counter = Counter()
    counts = counter.herding(gram, steps, updated=trial["kept"])
    yield sc.at_most(counter.start, 2 * n * n + 20 * n + 20, f"operations before the first iteration, n = {n}")
    for m, count in enumerate(counts, 2):
        yield sc.at_most(count, 8 * n + 20, f"operations of iteration {m}, n = {n}")
