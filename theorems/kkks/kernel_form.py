r"""Sections 1 and 2: the algorithms need inner products only, and so run in any kernel's space: w^t = Σ α_i φ(x_i).

α^{t+1} = α^t + (y − ŷ)/m and w^t·φ(x) = Σ α_i k(x_i, x); what is known of the samples is the Gram matrix K.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import islice, product

import simopt.claims as sc
from simopt.theorems.kkks.index_models import ball_point, random_model, transfer
from simopt.theorems.kkks.piecewise_linear import ONE, ZERO
from simopt.theorems.kkks.rational_tron import Fit, Vector, fitted, iterates, known
from simopt.theorems.small_worlds.worlds import dot, squared


def feature_map(x: Vector) -> list[Fraction]:
    """φ(x) = (x, x ⊗ x)/2, of norm ≤ 1 for ‖x‖ ≤ 1."""
    return [value / 2 for value in (*x, *(a * b for a, b in product(x, repeat=2)))]


def kernel(a: Vector, b: Vector, square: Fraction = ONE) -> Fraction:
    """(s + s²)/4 with s = ⟨a, b⟩; `square` stands for the 1 before s²."""
    s = Fraction(dot(a, b))
    return (s + square * s * s) / 4


def kernel_iterates(
    gram: Sequence[Vector], labels: Vector, fit: Fit, counts: Sequence[int], mean: bool = True
) -> Iterator[tuple[list[Fraction], list[Fraction]]]:
    """(α^t, ŷ^t) without end, from α^1 = 0; sample i is counted counts[i] times, and α_i is the sum of the coefficients of its copies."""
    total = sum(counts) if mean else 1
    alpha = [ZERO] * len(labels)
    while True:
        predictions = fit([Fraction(dot(row, alpha)) for row in gram])
        yield alpha, predictions
        alpha = [a + c * (y - p) / total for a, c, y, p in zip(alpha, counts, labels, predictions, strict=True)]


def samples(trial: sc.Trial) -> Iterator[sc.Instance]:
    """Random models in up to three dimensions, with a point at which to predict."""
    for _ in range(trial.count(12, 60)):
        drawn = random_model(trial.rng, ONE)
        yield drawn | {"new": ball_point(trial.rng, len(drawn["w"]))}


@sc.claim(
    "KK-kernel",
    place="Section 1, 'easily kernelizable'; Section 2, 'kernel feature space'",
    kind=sc.ALGORITHM,
    says=r"GLM-tron, L-Isotron and Isotron depend on the samples by their inner products only. With α^1 = 0, f^t = Kα^t, ŷ^t = u(f^t), "
    r"LPAV(f^t, y) or PAV(f^t, y), and α^{t+1} = α^t + (y − ŷ^t)/m, K_ij = k(x_i, x_j) = φ(x_i)·φ(x_j): the run on the features φ(x_i) has "
    r"w^t = Σ α_i^t φ(x_i) and the same ŷ^t, scores w^t·φ(x) = Σ α_i^t k(x_i, x) at any x, and ‖w^t‖² = α^t·f^t. (Tried with k = (s + "
    r"s²)/4, s = ⟨x, x'⟩, φ(x) = (x, x ⊗ x)/2; six rounds.)",
    instances=samples,
    knobs={"square": ONE, "mean": True},
    mutants={"k = s/4": {"square": ZERO}, "a sum for the mean": {"mean": False}},
    note="By induction: w^{t+1} − w^t = (1/m) Σ (y_i − ŷ_i^t) φ(x_i). m² kernel values, and m² multiplications a round; "
    "estimators/index_models/kernel_isotron.py does it in floats.",
)
def kernel_run_is_the_linear_run(
    features: list[list[Fraction]],
    labels: list[Fraction],
    counts: list[int],
    knots: list[Fraction],
    values: list[Fraction],
    new: list[Fraction],
    trial: sc.Trial,
) -> Iterator[sc.Check]:
    """Both runs of the three algorithms in fractions."""
    mapped = [feature_map(x) for x in features]
    gram = [[kernel(a, b, trial["square"]) for b in features] for a in features]
    cross = [kernel(a, new, trial["square"]) for a in features]
    rules = {
        "GLM-tron": known(transfer(knots, values)),
        "L-Isotron": fitted(labels, counts),
        "Isotron": fitted(labels, counts, None),
    }
    for name, fit in rules.items():
        linear = iterates(mapped, labels, fit, counts)
        for t, (now, (alpha, predictions)) in enumerate(
            islice(zip(linear, kernel_iterates(gram, labels, fit, counts, trial["mean"]), strict=False), 6), 1
        ):
            yield sc.equal(predictions, now.predictions, f"{name}: ŷ^{t}")
            combined = [sum((a * z for a, z in zip(alpha, column, strict=True)), ZERO) for column in zip(*mapped, strict=True)]
            yield sc.equal(combined, now.w, f"{name}: w^{t}")
            yield sc.equal(Fraction(dot(cross, alpha)), Fraction(dot(now.w, feature_map(new))), f"{name}: score at a new x, t = {t}")
            scores = [Fraction(dot(row, alpha)) for row in gram]
            yield sc.equal(Fraction(dot(alpha, scores)), Fraction(squared(now.w)), f"{name}: ‖w^{t}‖²")
