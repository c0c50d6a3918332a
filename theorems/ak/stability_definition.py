r"""Appendix D, Definition D.1 and its Assumptions 3 and 4, on exact ridge regression: row AK-D.1/A3/A4.

KRR is M-RLSR at m = 2, and Theorem 3 then reads β = C²κ²/(λn), C = 2 C_y (1 + κ/√λ). Each set is checked for both assumptions before its
changes of loss are: they are what keeps these below β.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import simopt.claims as sc
from simopt.theorems.ak.rational_ridge import UNIT, Sample, dot, loss_change, random_samples, ridge, size, without
from simopt.theorems.ak.uniform_stability import CONVENTIONS

INSIDE = Fraction(255, 256)  # |y| < C_y and k(x, x) < κ² are strict


def scaled(samples: list[Sample], x_scale: Fraction, y_scale: Fraction) -> list[Sample]:
    """The samples with inputs and targets multiplied."""
    return [(count, [x_scale * Fraction(value) for value in x], y_scale * y) for count, x, y in samples]


def bounded_sets(trial: sc.Trial) -> Iterator[sc.Instance]:
    """Sets with |y| < C_y and ‖x‖ < κ (linear kernel); the first ones, with λ large, make β nearly sharp."""
    e1, one = [Fraction(1), Fraction(0)], Fraction(1)
    for root in (Fraction(1, 4), Fraction(3), Fraction(1000)):
        for n in (1, 2, 5, 100):
            pair: list[Sample] = [(n - 1, e1, one), (1, e1, -one)]
            yield {"samples": scaled(pair[n == 1 :], INSIDE, INSIDE), "root": root, "target_bound": one, "kappa": one}
    for _ in range(trial.count(20, 200)):
        C_y, kappa = (Fraction(int(k), 4) for k in trial.rng.integers(1, 17, size=2))
        samples = random_samples(trial.rng, int(trial.rng.integers(1, 6)))
        root = Fraction(2) ** int(trial.rng.integers(-3, 7))
        yield {"samples": scaled(samples, INSIDE * kappa, INSIDE * C_y), "root": root, "target_bound": C_y, "kappa": kappa}


def large_targets(trial: sc.Trial) -> Iterator[sc.Instance]:
    """The same with targets twice as large."""
    for instance in bounded_sets(trial):
        yield instance | {"samples": scaled(instance["samples"], Fraction(1), Fraction(2))}


def large_inputs(trial: sc.Trial) -> Iterator[sc.Instance]:
    """The same with inputs twice as large."""
    for instance in bounded_sets(trial):
        yield instance | {"samples": scaled(instance["samples"], Fraction(2), Fraction(1))}


def boundary_sets(trial: sc.Trial) -> Iterator[sc.Instance]:
    """The same with |y| = C_y for some y."""
    for instance in bounded_sets(trial):
        yield instance | {"samples": scaled(instance["samples"], Fraction(1), 1 / INSIDE)}


@sc.claim(
    "AK-D.1/A3/A4",
    place="Appendix D, Definition D.1, Assumptions 3 and 4",
    kind=sc.DEFINITION,
    says=r"(D.1) Z ↦ f_Z is β uniformly stable iff |c(y, f_Z, x) − c(y, f_{Z^i}, x)| ≤ β for all n ≥ 1, i, Z and (x, y), c the squared "
    r"loss; (A3) |Y| < C_y; (A4) sup_x k(x, x) < κ². Under both assumptions KRR is β(n, λ)-stable, β = C²κ²/(λn), C = 2 C_y (1 + κ/√λ), "
    r"with Z^i divided by n or by n − 1 and f_∅ = 0.",
    instances=bounded_sets,
    knobs={"assumed": True, "wrong": Fraction(1)},
    mutants={
        "without A3": {"instances": large_targets, "assumed": False},
        "without A4": {"instances": large_inputs, "assumed": False},
        "|y| = C_y": {"instances": boundary_sets},
        "β/2": {"wrong": Fraction(1, 2)},
    },
    note="Printed with one β for all n; Theorem 3 shows that it is meant to depend on n, as in Definition 4.2 (AK-D4.2). Without A3 or A4 "
    "the bound fails: the mutants. The sup of the change over the open set of (x, y) is approached at its boundary, where it is evaluated.",
)
def bounded_changes_of_loss(
    samples: list[tuple[int, list[Fraction], Fraction]], target_bound: Fraction, kappa: Fraction, root: Fraction, trial: sc.Trial
) -> Iterator[sc.Check]:
    """The assumptions, then every removal, at the inputs of Z and around the ball of radius κ, with the worst y, ±C_y."""
    C_y = target_bound
    lam, n = root**2, size(samples)
    if trial["assumed"]:
        yield sc.at_most(max(abs(y) for _, _, y in samples), C_y, "Assumption 3", strict=True)
        yield sc.at_most(max(dot(x, x) for _, x, _ in samples), kappa**2, "Assumption 4", strict=True)
    points = [x for _, x, _ in samples] + [[kappa * Fraction(value) for value in x] for x in UNIT]
    C = 2 * C_y * (1 + kappa / root)
    beta = trial["wrong"] * C**2 * kappa**2 / (lam * n)
    whole = ridge(samples, lam * n, 2)
    for c, name in CONVENTIONS:
        worst = Fraction(0)
        for i in range(len(samples)):
            left = ridge(without(samples, i), lam * (n if c == 1 else n - 1), 2)
            worst = max(worst, *(loss_change(x, y, whole, left) for x in points for y in (-C_y, C_y)))
        yield sc.at_most(worst, beta, f"change, {name}", scale=beta)
