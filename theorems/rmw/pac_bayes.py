r"""Theorem 19, the PAC-Bayes bound for linear loss (section 11), by enumeration of all samples.

For all δ together the bound with high probability says that P(X ≥ x) ≤ e^{−x} at every value x > 0 of X. Here X is what exceeds the bound
without log(1/δ), times βn.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import simopt.claims as sc
from simopt.arithmetic.precision import workprec
from simopt.theorems.rmw.posteriors import divergence, finite_learners
from simopt.theorems.small_worlds.exact_tails import BITS, ball, enclosed, multinomial, unit_ratios
from simopt.theorems.small_worlds.worlds import add


@sc.claim(
    "RMW-T19",
    place="Theorem 19",
    kind=sc.IN_EXPECTATION,
    says=r"For every P, prior π on a set of functions, β > 0 and learner S ↦ 𝒜(S), with "
    r"ℓ_ββ(P, Q) = −(1/β) log E_P E_{f~Q} e^{−β(1 − y f(x))}: E_S ℓ_ββ(P, 𝒜(S)) ≤ E_S [ℓ(S, Ā(S)) + D_KL(𝒜(S), π)/(βn)], and with "
    r"probability at least 1 − δ, ℓ_ββ(P, 𝒜(S)) ≤ ℓ(S, Ā(S)) + (D_KL(𝒜(S), π) + log(1/δ))/(βn), π, β and 𝒜 fixed before the draw.",
    instances=finite_learners,
    knobs={"divergence": 1, "level": Fraction(1)},
    mutants={"half of D_KL": {"divergence": Fraction(1, 2)}, "P(bad) ≤ δ/2": {"level": Fraction(1, 2)}},
    note="All samples of up to three draws from four examples, posteriors near the worst for each sample, logarithms enclosed. The bound "
    "with high probability is reached by one function and one draw.",
)
def annealed_loss_is_bounded(
    n: int,
    beta: Fraction,
    losses: list[list[Fraction]],
    chances: list[Fraction],
    posteriors: list[list[Fraction]],
    prior: list[Fraction],
    trial: sc.Trial,
) -> Iterator[sc.Check]:
    """The expectation of both sides, and P(bad)/δ for every δ, over all samples."""

    with workprec(BITS):
        shrunk = [[(-ball(beta * value)).exp() for value in row] for row in losses]
        left, right, over = ball(0), ball(0), []
        for (drawn, mass), posterior in zip(multinomial(n, tuple(chances)), posteriors, strict=True):
            mean = [sum((ball(q) * e for q, e in zip(posterior, row, strict=True)), ball(0)) for row in shrunk]
            annealed = -sum((ball(p) * e for p, e in zip(chances, mean, strict=True)), ball(0)).log() / ball(beta)
            seen = add(
                Fraction(k, n) * add(q * v for q, v in zip(posterior, row, strict=True)) for k, row in zip(drawn, losses, strict=True)
            )
            bound = ball(seen) + ball(trial["divergence"]) * divergence(posterior, prior) / ball(beta * n)
            left, right = left + ball(mass) * annealed, right + ball(mass) * bound
            over.append((ball(beta * n) * (annealed - bound), mass))
    yield sc.at_most(enclosed(left), enclosed(right), "in expectation")
    found = unit_ratios(over)
    yield sc.at_most(found, trial["level"], "P(bad)/δ") if found else sc.vacuous(True, "P(bad)/δ", evidence=sc.EXACT)
