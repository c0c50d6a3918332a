r"""Theorem 17: noise rates σ(x, y) that depend on the instance and the label.

An event is a point with a label: its mass, its rate, and the losses ℓ(y, f(x)) there of the functions f of a finite class. With
ℓ(1, ·) + ℓ(−1, ·) = C the flipped label costs C − ℓ; a label-free loss costs the same. Linear loss on scores in [−1, 1] is any loss
between 0 and C = 2, and every non-negative loss with the sum rule is that up to scale.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

import simopt.claims as sc
from simopt.core.arrays import Array
from simopt.theorems.rmw.loss_orders import noisy
from simopt.theorems.small_worlds.worlds import add

CITATION = "Theorem 17 and Appendix 18"
TWO = Fraction(2)
HALF = Fraction(1, 2)


def risks(events: Sequence[Sequence[Any]], total: Any) -> tuple[list[Any], list[Any]]:
    """(ℓ(P, f), ℓ(P_σ, f)) for each f; `total` is C, or None for a label-free loss."""
    clean, rough = [], []
    for k in range(2, len(events[0])):
        clean.append(add(event[0] * event[k] for event in events))
        rough.append(add(p * noisy(loss[k - 2], loss[k - 2] if total is None else total - loss[k - 2], r) for p, r, *loss in events))
    return clean, rough


def linear_scores(trial: sc.Trial) -> Iterator[sc.Instance]:
    """ℓ = −yv on two points of label 1, rates 0 and 2/5, scores (0, 1) and (3/10, 0)."""
    first = [HALF, Fraction(0), Fraction(0), -Fraction(3, 10)]
    yield {"events": [first, [HALF, Fraction(2, 5), Fraction(-1), Fraction(0)]], "sum": Fraction(0)}


def shifted_scores(trial: sc.Trial) -> Iterator[sc.Instance]:
    """The same scores under linear loss 1 − yv."""
    for instance in linear_scores(trial):
        yield {"events": [[p, r, *(1 + loss for loss in losses)] for p, r, *losses in instance["events"]], "sum": TWO}


def non_negative(trial: sc.Trial) -> Iterator[sc.Instance]:
    """Sharp pairs, a class with a perfect function, label-free losses, and random classes."""
    for c in (Fraction(1, 5), HALF, Fraction(99, 100)):  # two functions of equal noisy risk, the worse one 1/c times as bad
        rate = (1 - c) / 2
        yield {"events": [[HALF, Fraction(0), 2 * c, Fraction(0)], [HALF, rate, Fraction(0), TWO]], "sum": TWO}
    zero = Fraction(0)
    yield {"events": [[HALF, Fraction(2, 5), zero, Fraction(1)], [HALF, zero, zero, zero]], "sum": TWO}
    yield {"events": [[HALF, Fraction(2, 5), TWO, Fraction(1)], [HALF, zero, zero, Fraction(3)]], "sum": None}
    yield from shifted_scores(trial)
    for _ in range(trial.count(100, 1000)):
        count, size = int(trial.rng.integers(1, 5)), int(trial.rng.integers(2, 6))
        masses = trial.rng.integers(1, 6, count)
        events = [
            [Fraction(int(m), int(masses.sum())), Fraction(int(trial.rng.integers(0, 50)), 100)]
            + [Fraction(int(v), 8) for v in trial.rng.integers(0, 17, size)]
            for m in masses
        ]
        yield {"events": events, "sum": TWO}


def two_events(point: Array, trial: sc.Trial) -> sc.Instance:
    """Two events and two functions, on a lattice."""
    p, r1, r2, *losses = (Fraction(round(100 * float(u)), 100) for u in point)
    a, b, c, d = (2 * loss for loss in losses)
    return {"events": [[p, r1 * Fraction(49, 100), a, b], [1 - p, r2 * Fraction(49, 100), c, d]], "sum": TWO}


def compare(events: Sequence[Sequence[Fraction]], total: Fraction | None, share: Fraction) -> Iterator[sc.Check]:
    """The clean risk of every minimiser of the noisy one, beside the bound."""
    clean, rough = risks(events, total)
    least = min(1 - 2 * event[1] for event in events if event[0] > 0)
    worst = max(risk for risk, seen in zip(clean, rough, strict=True) if seen == min(rough))
    yield sc.at_most(worst, share * min(clean) / least, "clean risk of a minimiser under noise")


@sc.claim(
    "RMW-T17",
    place=CITATION,
    kind=sc.INEQUALITY,
    expected=sc.REFUTED,
    defect=sc.MISSING_HYPOTHESIS,
    says=r"For every P, class ℱ, noise function σ(x, y) < ½ and every ℓ: {−1, 1} × ℝ → ℝ that is robust to label noise, "
    r"ℓ(P, f_σ*) ≤ ℓ(P, f*)/min(1 − 2σ(x, y)), f_σ* and f* minimising ℓ(P_σ, ·) and ℓ(P, ·) over ℱ.",
    instances=linear_scores,
    knobs={"share": Fraction(1)},
    mutants={"ℓ = 1 − yv on the same scores": {"instances": shifted_scores}, "non-negative losses": {"instances": non_negative}},
    note="The last step of the proof drops factors 1 − 2σ ≤ 1, which needs ℓ ≥ 0; losses are real-valued in section 1. For ℓ = −yv on two "
    "points with rates 0 and 2/5: −0.15 ≤ −0.5/0.2 = −2.5 is false. No score is 0 where its sign matters: conventions play no part.",
)
def risk_under_variable_noise(instance: sc.Instance, events: list[list[Fraction]], trial: sc.Trial) -> Iterator[sc.Check]:
    """Exact risks of a finite class."""
    yield from compare(events, instance["sum"], trial["share"])


@sc.claim(
    "RMW-T17+",
    place=CITATION + ", corrected",
    kind=sc.INEQUALITY,
    says=r"If also **ℓ ≥ 0** (and inf(1 − 2σ(x, y)) > 0), then ℓ(P, f_σ*) ≤ ℓ(P, f*)/min(1 − 2σ(x, y)) for every minimiser f_σ*, the "
    r"minimum over the support of P. The factor is sharp: masses ½, rates 0 and (1 − c)/2, losses (2c, 0) and (0, 2) give equality. In "
    r"particular ℓ(P, f*) = 0 makes ℓ(P, f_σ*) = 0.",
    instances=non_negative,
    decode=two_events,
    dimension=7,
    evaluations=(300, 3000),
    knobs={"share": Fraction(1)},
    mutants={"constant 1 % smaller": {"share": Fraction(99, 100)}, "ℓ = −yv": {"instances": linear_scores}},
    corrects="RMW-T17",
    note="Robust losses are those with the sum rule and the label-free ones (RMW-T13); for the latter f_σ* = f*. Misclassification loss is "
    "among them under convention C, under A and B if no score is 0.",
)
def risk_of_non_negative_losses_under_variable_noise(
    instance: sc.Instance, events: list[list[Fraction]], trial: sc.Trial
) -> Iterator[sc.Check]:
    """Exact risks of a finite class."""
    yield from compare(events, instance["sum"], trial["share"])
