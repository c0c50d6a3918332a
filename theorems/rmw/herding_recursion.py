r"""Section 6: herding as a recursion on a vector, and as Frank–Wolfe with the step 1/(t + 1), step by step.

Recursion: w_{t+1} = w_t + ω_P − ψ(z_{t+1}), z_{t+1} = argmax ⟨w_t, ψ(z)⟩. Frank–Wolfe: ω_{t+1} = (1 − 1/(t+1)) ω_t + ψ(z_{t+1})/(t+1),
z_{t+1} = argmax ⟨ω_P − ω_t, ψ(z)⟩. If w_t = t(ω_P − ω_t), both pick the same point (also among equals, t being positive) and

    w_{t+1} = w_t + ω_P − ψ = (t + 1)(ω_P − ω_{t+1}).

The induction begins at t = 1 with w_1 = ω_P − ψ(z_1), that is with w_0 = 0. With w_0 = ω_P, the other start in use,
w_t = (t + 1)(ω_P − ν_t) for ν_t = (1/(t+1)) Σ ψ(z_s): Frank–Wolfe with steps 1/(t+2) from ν_0 = 0, which need not lie in the hull.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import islice

from simopt.claims import *
from simopt.theorems.rmw.exact_frank_wolfe import herding, largest, mean_of, uniform
from simopt.theorems.rmw.labelled_samples import atoms_of, samples
from simopt.theorems.small_worlds.exact_svm import Gram, gram
from simopt.theorems.small_worlds.worlds import dot, minus


def once(trial: Trial) -> Iterator[Instance]:
    """A single instance without data: the checks are identities in symbols."""
    yield {}


@claim(
    "RMW-unif-proof",
    paper=VAN_ROOYEN_MENON_WILLIAMSON,
    place="Section 6, after Algorithm 1",
    kind=EQUIVALENCE,
    expected=HOLDS,
    says=r"Herding with λ = 1/(t+1) is Frank–Wolfe: if w_1 = ω_P − ψ(z_1) (**w_0 = 0**, the first pick given) and ω_1 = ψ(z_1), the "
    r"recursion w_{t+1} = w_t + ω_P − ψ(z_{t+1}) and the step 1/(t+1) keep w_t = t(ω_P − ω_t); the criteria ⟨w_t, ψ⟩ and ⟨ω_P − ω_t, ψ⟩ "
    r"differ by the factor t > 0. With w_0 = ω_P they keep w_t = (t+1)(ω_P − ν_t), ν_0 = 0.",
    instances=once,
    knobs={"start": 0},
    mutants={"w_0 = ω_P, from the first atom": {"start": 1}},
    note="Base and step of the induction in symbols, on the line: all is linear.",
)
def recursion_and_frank_wolfe_are_one(instance: Instance, trial: Trial) -> Iterator[Check]:
    """Base case and induction step, for both starts."""
    t, target, here, psi = symbols("t p w psi")
    yield equal(trial["start"] * target + target - psi, 1 * (target - psi), "t = 1")
    step = (1 - 1 / (t + 1)) * here + psi / (t + 1)
    yield equal(t * (target - here) + target - psi, (t + 1) * (target - step), "t → t + 1")
    yield equal(target, (0 + 1) * (target - 0 * t), "w_0 = ω_P: t = 0")
    step = (1 - 1 / (t + 2)) * here + psi / (t + 2)
    yield equal((t + 1) * (target - here) + target - psi, (t + 2) * (target - step), "w_0 = ω_P: t → t + 1")


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


@claim(
    "RMW-unif-steps",
    paper=VAN_ROOYEN_MENON_WILLIAMSON,
    place="Section 6, after Algorithm 1",
    kind=ALGORITHM,
    expected=HOLDS,
    says=r"Step by step in exact arithmetic: from the atom most similar to ω_S on, the herding recursion with w_0 = 0 and Frank–Wolfe with "
    r"the step 1/(t+1) pick the same atoms (the first of equals), with the weights (times picked)/t, and w_t = t(ω_S − ω_t) against every "
    r"atom.",
    instances=samples,
    knobs={"start": 0, "steps": 40},
    mutants={"w_0 = ω_S": {"start": 1}},
    note="Two programs: the recursion keeps only h_i = ⟨w_t, ψ_i⟩ and works with the Gram matrix, Frank–Wolfe keeps weights and the vector "
    "ω_t.",
    cost=1.5,
)
def recursion_and_frank_wolfe_take_the_same_steps(instance: Instance, trial: Trial) -> Iterator[Check]:
    """Picks, weights and ⟨w_t, ψ_i⟩ of both programs."""
    atoms = atoms_of(instance)
    G, steps = gram(atoms), trial["steps"]
    target = mean_of(atoms)
    similar = [dot(target, atom) for atom in atoms]
    start = [trial["start"] * value for value in similar]
    one = list(islice(recursion(G, start, largest(similar)), steps))
    two = list(islice(herding(atoms, target, uniform), steps))
    same = [a[0] for a in one] == [b.pick for b in two]
    yield true(same, f"the same {steps} picks", evidence=Evidence.EXACT)
    for t in (1, 2, 3, steps // 2, steps):
        (_, h, counts), iterate = one[t - 1], two[t - 1]
        yield equal([Fraction(count, t) for count in counts], list(iterate.weights), f"weights after {t} picks")
        left = minus(target, iterate.point)
        yield equal(h, [t * dot(left, atom) for atom in atoms], f"⟨w_t, ψ_i⟩ = t⟨ω_S − ω_t, ψ_i⟩, t = {t}")
