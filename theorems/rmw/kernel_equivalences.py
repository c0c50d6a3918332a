"""Section 3.2 on kernels, in floats: the registered equivalences of the SVM, measured with the error radii of their certificates."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

import simopt.claims as sc
from simopt.core.arrays import Array
from simopt.data.similarities import Gaussian, Linear, Similarity
from simopt.equivalence.equivalence import Answer, Equivalence
from simopt.equivalence.family import Interval
from simopt.equivalence.strong import verify_strong
from simopt.equivalence.training import TrainingSet
from simopt.equivalence.weak import verify_weak
from simopt.theorems.rmw.equivalences import hinge_svm_to_ball, hinge_svm_to_mean
from simopt.theorems.rmw.families import hinge_svm, mean_penalised, threshold

REACH = float(np.log(1e3))  # of the parameters around the middle of their interval, in its coordinate
KERNELS: dict[str, Similarity] = {"gaussian": Gaussian(1.0), "linear": Linear(), "line": Linear()}


def kernel_samples(trial: sc.Trial) -> Iterator[sc.Instance]:
    """Points of the unit ball (of the unit interval for "line") with labels that a direction explains in part; seven samples."""
    for i in range(trial.count(3, 9)):
        kernel = list(KERNELS)[i % 3]
        X = trial.rng.normal(size=(7, 1 if kernel == "line" else 3))
        X /= 1.001 * np.max(np.linalg.norm(X, axis=1))
        signs = np.where(X[:, 0] + 0.3 * trial.rng.normal(size=7) > 0, 1.0, -1.0)
        yield {"kernel": kernel, "inputs": X, "labels": signs}


def training_set(kernel: str, inputs: Array, labels: Array) -> TrainingSet:
    """The sample with the kernel of that name."""
    return TrainingSet(inputs, labels, KERNELS[kernel])


def findings(link: Equivalence, Z: TrainingSet, resolution: float) -> Iterator[sc.Check]:
    """The findings of `verify_weak`, one check a sort of finding: the worst of those that refute it, or of all."""
    report = verify_weak(link, Z, link.intervals(Z)[0].spaced(5, reach=REACH), resolution=resolution)
    for what in sorted({finding.what for finding in report.findings}):
        mine = [finding for finding in report.findings if finding.what == what]
        worst = min([finding for finding in mine if finding.refuted] or mine, key=lambda finding: finding.low)
        if np.isfinite(worst.low):
            yield sc.at_least(sc.between(worst.low, worst.high), 0.0, f"{link.name}: {what}", strict=worst.strict)
        else:
            yield sc.true(False, f"{link.name}: {what} outside its interval")
    yield sc.true(report.increasing == (link.name == "SVM to mean"), f"{link.name}: direction")


@sc.claim(
    "RMW-SVMl-kernels",
    place="Section 3.2",
    kind=sc.EQUIVALENCE,
    compares=("hinge-svm ~ mean-penalised",),
    says=r"For Gaussian and linear kernels: SVM(λ) and the mean classifier ω_S/λ are equivalent on λ > λ* = max_i y_i f_S(x_i), with Φ = λ "
    r"for every sample (strongly, where both samples are above their thresholds), and differ for λ < λ* (seen at 0.9 λ*).",
    instances=kernel_samples,
    resolution=1e-4,
    knobs={"edge": 1.0, "factor": 1.0},
    mutants={"λ > λ*/2": {"edge": 0.5}, "Φ = 1.01 λ, one map for every sample that serves none": {"factor": 1.01}},
    note="The SVM is solved for every λ, above λ* too, and certified in intervals; the radii are square roots of gaps near 1e-15 and grow "
    "like √λ beside ‖f‖, so the resolution is 1e-4. RMW-SVMl is exact.",
)
def kernel_svm_is_equivalent_to_the_mean(kernel: str, inputs: Array, labels: Array, trial: sc.Trial) -> Iterator[sc.Check]:
    """`verify_weak` above the threshold, `verify_strong` between the sample and two others, and a gap at 0.9 λ*."""
    Z = training_set(kernel, inputs, labels)

    def high(Z: TrainingSet) -> Interval:
        return Interval(trial["edge"] * threshold(Z), np.inf)

    factor = trial["factor"]
    link = replace(hinge_svm_to_mean(), source_interval=high, target_interval=high, map=lambda lam, Z: factor * lam)
    yield from findings(link, Z, 1e-4)
    others = [Z, training_set(kernel, inputs, -labels[::-1]), Z.without(Z.n - 1)]
    edge = max(threshold(other) for other in others)
    report = verify_strong(link, others, [1.01 * edge, 3.0 * edge], resolution=1e-4)
    yield sc.true(report.comparisons == 12, "three samples, each beside two others")
    for w in sorted(report.compared, key=lambda w: w.slack)[:1]:
        yield sc.at_least(sc.between(*w.slack), 0.0, "one map for three samples")
    for weak in report.weak:
        yield sc.at_least(sc.between(weak.worst("distance").low, weak.worst("distance").high), 0.0, "an equivalence on each of the samples")
    lam = 0.9 * threshold(Z)
    f, g = hinge_svm()(lam, Z), mean_penalised()(lam, Z)
    yield sc.distinct(f.distance(g) / g.norm(), 0.0, "λ < λ*: f_λ ≠ ω_S/λ", error=(f.error + g.error) / g.norm())


@sc.claim(
    "RMW-SVMc-kernels",
    place="Section 3.2",
    kind=sc.EQUIVALENCE,
    compares=("hinge-svm ~ hinge-svm-ball",),
    says=r"For Gaussian and linear kernels: SVM(λ), λ₀ < λ < ∞, and the SVM under ‖f‖² ≤ c, 0 < c < c₁, are weakly equivalent with "
    r"Φ(λ, Z) = ‖f_λ‖², decreasing and onto, up to the flat pieces that a linear kernel has; not strongly: changing a label can change Φ.",
    instances=kernel_samples,
    resolution=1e-4,
    knobs={"power": 2.0},
    mutants={"‖f‖ in the place of ‖f‖²": {"power": 1.0}},
    note="By RMW-SVMc-range. A flat piece with independent ψ_i has all margins ≥ 1, hence loss 0: a margin < 1 would hold a_i = λc_i at "
    "1/n while λ moves. For two points with K(x, x) = 1, K(x_1, x_2) ≠ 0 and λ ≥ 1, ‖f_λ‖² = (1 + y_1y_2K(x_1, x_2))/(2λ²). Each side is "
    "solved and certified for itself; Φ and the ends λ₀, c₁ come from the exact path. The radii are square roots of gaps near 1e-16, so "
    "the resolution is 1e-4. RMW-SVMc-range is exact.",
)
def kernel_svm_is_equivalent_to_its_constrained_form(kernel: str, inputs: Array, labels: Array, trial: sc.Trial) -> Iterator[sc.Check]:
    """`verify_weak` on the true range, and a witness against strong equivalence."""
    Z = training_set(kernel, inputs, labels)
    whole = hinge_svm_to_ball()
    link = replace(
        whole, map=lambda lam, Z: whole.map(lam, Z) ** (trial["power"] / 2), flat=whole.flat if trial["power"] == 2 else lambda Z: ()
    )
    yield from findings(link, Z, 1e-4)
    flipped = training_set(kernel, inputs, labels * np.where(np.arange(Z.n) == 0, -1.0, 1.0))
    lam = 0.7 * max(threshold(Z), threshold(flipped))
    sets = [Z, flipped]
    shared = [lam for lam in (lam, 2.0 * lam) if all(lam in whole.intervals(each)[0] for each in sets)]
    report = verify_strong(whole, sets, shared, resolution=1e-4)
    alone = all(weak.answer is not Answer.FAILS for weak in report.weak)  # each map serves its own sample, so that what fails is the change
    yield sc.true(alone and bool(report.witnesses) and report.witnesses[0].replay(whole).stands, "not strongly equivalent")
