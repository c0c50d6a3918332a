r"""Definitions 1 and 2: when a similarity is (ε_0, B)-good. On finite domains both ask for the value of a programme."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np

from simopt.claims import (
    DEFINITION,
    HOLDS,
    INEQUALITY,
    KAR_JAIN,
    Check,
    Instance,
    Trial,
    at_least,
    at_most,
    between,
    claim,
    equal,
)
from simopt.problems.goodness import Goodness
from simopt.solvers.goodness.exact import exact_goodness, exact_smallest_bound
from simopt.solving.driver import solve
from simopt.theorems.kj.goodness.finite_domains import (
    HALF,
    ONE,
    ZERO,
    domain,
    insensitive_loss,
    least_loss,
    least_violation,
    mean,
    predicted,
    random_domain,
    random_domains,
    with_targets_in_weights,
)

SECTION = "regression"
FAR = Fraction(10**6)  # a bound beyond which the curves of the small domains here are flat; that they are is checked


def violated(trial: Trial) -> Iterator[Instance]:
    """Diagonal similarities, at bounds where a point is just reached and just not; constant ones with a disturbed target; random ones."""
    masses = [Fraction(1, 2), Fraction(1, 3), Fraction(1, 6)]
    diagonal = [[2, 0, 0], [0, -1, 0], [0, 0, 4]]
    for bound in ("9/10", "1", "3/2", "2", "3"):
        yield domain(masses, diagonal, [1, -3, 2], bound=Fraction(bound), kind="diagonal")
    yield domain(masses, diagonal, [1, 0, 2], bound=HALF, kind="diagonal")
    for moved in (Fraction(1, 10), Fraction(1, 10**4)):
        yield domain(masses, [[1] * 3] * 3, [1, 1, 1 + moved], bound=Fraction(2), kind="constant")
    for _ in range(trial.count(6, 15)):
        made = random_domain(trial.rng, int(trial.rng.integers(2, 4)), targets=[-1, 1, 2])
        yield made | {"bound": Fraction(int(trial.rng.integers(1, 5))), "kind": "any"}


@claim(
    "KJ-Def1",
    paper=KAR_JAIN,
    section=SECTION,
    place="Definition 1",
    kind=DEFINITION,
    expected=HOLDS,
    says=r"K is (ε_0, B)-good if some w: X → [−B, B] has y(x) = E[w(x') y(x') K(x, x')] on mass ≥ 1 − ε_0: iff ε_0 ≥ ε_0*(B), the least "
    r"mass of {y ≠ f}, a minimum on finite domains. It falls in B. For diagonal K it is the mass of {y ≠ 0, p|K|B < 1}: steps, so that "
    r"it is not convex in B. It is rigid, as the paper says: with K = 1 any change of one target, however small, costs the mass of that "
    r"point.",
    instances=violated,
    knobs={"reached": True, "cost": ONE},
    mutants={"p|K|B ≤ 1": {"reached": False}, "half the mass": {"cost": HALF}},
    note="By enumeration of the sets on which f = y, each decided by an exact linear programme.",
    cost=0.6,
)
def least_violated_mass(instance: Instance, trial: Trial) -> Iterator[Check]:
    """The mass against its closed form, or against the mass at 2B."""
    bound, masses = instance["bound"], instance["masses"]
    found = least_violation(with_targets_in_weights(instance), bound)
    if instance["kind"] == "diagonal":
        own = [p * abs(row[i]) * bound for i, (p, row) in enumerate(zip(masses, instance["gram"], strict=True))]
        out = [y != 0 and (v < 1 if trial["reached"] else v <= 1) for y, v in zip(instance["targets"], own, strict=True)]
        yield equal(found, mean(instance, [Fraction(flag) for flag in out]), "least violated mass")
    elif instance["kind"] == "constant":
        yield equal(found, trial["cost"] * masses[-1], "mass of the point that was moved")
    else:
        yield at_most(least_violation(with_targets_in_weights(instance), 2 * bound), found, "least violated mass at 2B")


def domains(trial: Trial) -> Iterator[Instance]:
    """Random domains of two to four points."""
    yield from random_domains(trial.rng, trial.count(20, 50))


def _dual(instance: Instance, q: Any, bound: Fraction) -> Fraction:
    """Σ q y − ε Σ|q| − B Σ_j p_j |Σ_i q_i K_ij|: with |q_i| ≤ p_i, q_i(f_i − y_i) ≥ −p_i ℓ_ε(f_i − y_i) − ε|q_i|."""
    q = [max(-p, min(p, v)) for p, v in zip(instance["masses"], q, strict=True)]
    pull = [sum((a * row[j] for a, row in zip(q, instance["gram"], strict=True)), ZERO) for j in range(len(q))]
    fixed = sum((a * y - instance["epsilon"] * abs(a) for a, y in zip(q, instance["targets"], strict=True)), ZERO)
    return Fraction(fixed - bound * mean(instance, [abs(g) for g in pull]))


@claim(
    "KJ-Def2",
    paper=KAR_JAIN,
    section=SECTION,
    place="Definition 2",
    kind=DEFINITION,
    expected=HOLDS,
    says=r"K is (ε_0, B)-good for ℓ if some w: X → [−B, B] has E ℓ(f(x), y(x)) ≤ ε_0, f(x) = E[w(x') K(x, x')]: iff ε_0 ≥ ε_0(B). For "
    r"ℓ_ε on a finite domain ε_0(B) is a minimum, and equals the largest of Σ q_i y_i − ε Σ|q_i| − B Σ_j p_j |Σ_i q_i K(x_i, x_j)| over "
    r"|q_i| ≤ p_i. It depends on K and B through BK only.",
    instances=domains,
    knobs={"reach": ONE},
    mutants={"multipliers at 9B/10": {"reach": Fraction(9, 10)}},
    note="Weights and multipliers of every instance are found, and judged here by their formulas in fractions.",
    cost=0.5,
)
def value_of_a_programme(instance: Instance, trial: Trial) -> Iterator[Check]:
    """Weights within B, whose loss is the value of the multipliers; the same value for 2K and B/2."""
    bound, gram = instance["bound"], instance["gram"]
    found = exact_goodness(gram, instance["targets"], bound, instance["masses"], epsilon=instance["epsilon"])
    yield at_most(max(map(abs, found.weights)), bound, "max |w|")
    loss = insensitive_loss(instance, predicted(instance, found.weights), instance["epsilon"])
    yield equal(loss, _dual(instance, found.prices, trial["reach"] * bound), "loss of w, and value of q")
    doubled = instance | {"gram": [[2 * k for k in row] for row in gram]}
    yield equal(least_loss(doubled, bound / 2, instance["epsilon"]), loss, "2K and B/2")


def curves(trial: Trial) -> Iterator[Instance]:
    """Random domains for the exact curve of ℓ_ε, larger ones in floats for the squared loss."""
    for made in random_domains(trial.rng, trial.count(7, 20)):
        yield made | {"loss": "insensitive"}
    for _ in range(trial.count(4, 8)):
        size = int(trial.rng.integers(5, 20))
        yield {"loss": "squared", "gram": trial.rng.normal(size=(size, size)), "targets": trial.rng.normal(size=size),
               "masses": trial.rng.dirichlet(np.ones(size)), "bound": 2.0}  # fmt: skip


@claim(
    "KJ-Def2-mono",
    paper=KAR_JAIN,
    section=SECTION,
    place="After Definition 2: convex losses; implicit",
    kind=INEQUALITY,
    expected=HOLDS,
    says=r"For a convex loss B ↦ ε_0(B) is nonincreasing and convex. For ℓ_ε on a finite domain it is constant from some B_max on, and "
    r"larger before. (Midpoints at B_max/4, …, 5B_max/4 exactly; the squared loss to the certified gaps.)",
    instances=curves,
    knobs={"half": HALF, "flat": ONE},
    mutants={"9/20 of the sum at the ends": {"half": Fraction(9, 20)}, "constant from 9B_max/10 on": {"flat": Fraction(9, 10)}},
    note="B_max by Newton's method in fractions. On infinite domains the infimum over B need not be reached: K = 1{x = x'} with masses "
    "2^{−i} and y = 1 has ε_0(B) > 0 for every B, and ε_0(B) → 0.",
    cost=1.0,
)
def falling_and_convex(instance: Instance, trial: Trial) -> Iterator[Check]:
    """The curve at five bounds, and where it becomes flat."""
    if instance["loss"] == "squared":
        yield from _squared_curve(instance, trial["half"])
        return
    gram, y, p, epsilon = (instance[key] for key in ("gram", "targets", "masses", "epsilon"))
    floor = exact_goodness(gram, y, FAR, p, epsilon=epsilon)
    yield equal(floor.influence, 0, "slope at B = 10⁶")
    last = exact_smallest_bound(gram, y, floor.upper, p, epsilon=epsilon).upper
    if not last:  # w = 0 is optimal
        yield equal(least_loss(instance, ZERO, epsilon), floor.upper, "constant")
        return
    values = [Fraction(least_loss(instance, Fraction(k, 4) * last, epsilon).high) for k in range(6)]
    for low, middle, high in zip(values, values[1:], values[2:], strict=False):
        yield at_most(middle, trial["half"] * (low + high), "midpoint")
        yield at_most(high, middle, "nonincreasing")
    yield at_most(least_loss(instance, trial["flat"] * last, epsilon), floor.upper, "ε_0(B_max)")
    yield at_least(least_loss(instance, Fraction(99, 100) * last, epsilon), floor.upper, "before B_max", strict=True)


def _squared_curve(instance: Instance, half: Fraction) -> Iterator[Check]:
    values = []
    for k in (1, 2, 3):
        problem = Goodness(instance["gram"], instance["targets"], k * instance["bound"], instance["masses"], "squared")
        found = solve(problem, "interior-point", tol=1e-10)
        if found.certificate is None:
            raise ArithmeticError("no certificate for the squared loss")
        values.append((found.certificate.lower, found.certificate.upper))
    bound = between(*(float(half) * (values[0][end] + values[2][end]) for end in (0, 1)))
    yield at_most(between(*values[1]), bound, "midpoint, squared loss")
    yield at_most(between(*values[2]), between(*values[0]), "nonincreasing, squared loss")
