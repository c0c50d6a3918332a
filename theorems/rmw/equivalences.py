"""The equivalences of sections 3 and 6.6, each on the range where it is one: the ends of the intervals are part of the statement."""

from __future__ import annotations

import math

import numpy as np

from simopt.equivalence.equivalence import Equivalence, Flat, Strength, equivalence
from simopt.equivalence.family import Interval
from simopt.equivalence.gram_spectrum import EPS
from simopt.equivalence.training import TrainingSet
from simopt.theorems.rmw.families import (
    Mass,
    active_range,
    class_masses,
    exact_path,
    exact_ray,
    hinge_svm,
    hinge_svm_ball,
    hinge_svm_hull,
    kernel_density,
    labels,
    mean_ball,
    mean_function,
    mean_penalised,
    mmd_witness,
    same_mass,
    threshold,
)


def no_mean(Z: TrainingSet) -> str | None:
    """Why nothing corresponds to anything on Z: ω_S = 0, to rounding."""
    largest = math.sqrt(max(float(np.max(np.diagonal(Z.gram))), 0.0))
    if mean_function(Z).norm() <= 16 * EPS * largest:
        return "ω_S = 0, so the mean classifier has no direction, and the SVM is 0 for every parameter"
    return None


def _same(parameter: float, Z: TrainingSet) -> float:
    return parameter


@equivalence("hinge-svm-to-mean", summary="SVM → mean, Φ = λ, on λ > λ* = max_i y_i f_S(x_i); strong there, false below")
def hinge_svm_to_mean() -> Equivalence:
    """The SVM is the mean classifier ω_S/λ exactly for λ ≥ λ*(Z): one map for all sets, on intervals that differ."""

    def high(Z: TrainingSet) -> Interval:
        return Interval(threshold(Z), math.inf)

    return Equivalence(
        name="SVM to mean",
        source=hinge_svm(),
        target=mean_penalised(),
        map=_same,
        inverse=_same,
        source_interval=high,
        target_interval=high,
        strength=Strength.STRONG,
        accuracy=0.0,
        exists=no_mean,
    )


@equivalence("mean-penalised-to-ball", summary="mean penalised → mean in a ball, c = ‖ω_S‖²/λ²; weak")
def mean_penalised_to_ball() -> Equivalence:
    """ω_S/λ ↔ √c ω_S/‖ω_S‖: the scale of the same classifier."""
    return Equivalence(
        name="mean penalised to mean in a ball",
        source=mean_penalised(),
        target=mean_ball(),
        map=lambda lam, Z: (mean_function(Z).norm() / lam) ** 2,
        inverse=lambda capacity, Z: mean_function(Z).norm() / math.sqrt(capacity),
        accuracy=64 * EPS,
        exists=no_mean,
    )


def moving_range(Z: TrainingSet) -> Interval:
    """(λ₀, ∞): below λ₀ the SVM's solution stands still at the least minimiser of the hinge loss."""
    last = exact_path(Z)[-1]
    return Interval(float(last.high) if last.high is not None else 0.0, math.inf)


def flat_pieces(Z: TrainingSet) -> tuple[Flat, ...]:
    """The pieces above λ₀ on which the SVM's solution stands still; there are none if the k(x_i, ·) are independent."""
    pieces = [piece for piece in exact_path(Z)[:-1] if piece.flat and piece.high is not None]
    return tuple(Flat((float(p.low), float(p.high or 0)), (float(p.squared_norm(p.low)),) * 2) for p in pieces)


def norm_on_path(lam: float, Z: TrainingSet) -> float:
    """‖f_λ‖² = ‖p‖² + ‖q‖²/λ² on the piece of λ."""
    piece = next(piece for piece in exact_path(Z) if piece.low <= lam)
    return float(piece.still_square) + float(piece.moving_square) / lam**2


def strength_on_path(capacity: float, Z: TrainingSet) -> float:
    """λ with ‖f_λ‖² = c: ‖q‖/√(c − ‖p‖²) on the piece that reaches c first as λ falls."""
    path = exact_path(Z)
    piece = next(piece for piece in path if piece.low == 0 or piece.squared_norm(piece.low) >= capacity)
    rest = capacity - float(piece.still_square)
    return math.sqrt(float(piece.moving_square) / rest) if rest > 0 and not piece.flat else float(piece.high or 0)


@equivalence("hinge-svm-to-ball", summary="SVM → SVM in a ball, c = ‖f_λ‖², (λ₀, ∞) onto (0, c₁) when ω_S ≠ 0, with flat pieces; weak")
def hinge_svm_to_ball() -> Equivalence:
    """The penalised SVM and the constrained one, on the λ for which the solution moves and the c for which the ball binds.

    Every λ ≤ λ₀ gives the function of c₁, and every c ≥ c₁ has it among its solutions: nothing corresponds there. For small sets: the ends
    come from the exact path. Source: section 3.2, on its true range.
    """
    return Equivalence(
        name="SVM to SVM in a ball",
        source=hinge_svm(),
        target=hinge_svm_ball(),
        map=norm_on_path,
        inverse=strength_on_path,
        source_interval=moving_range,
        target_interval=active_range,
        accuracy=1e-12,
        flat=flat_pieces,
        exists=no_mean,
    )


@equivalence("hinge-svm-ball-to-mean-ball", summary="SVM in a ball → mean in a ball, Φ = c, on c < c* = ‖ω_S‖²/λ*²; strong there")
def hinge_svm_ball_to_mean_ball() -> Equivalence:
    """The constrained SVM is √c ω_S/‖ω_S‖ for c ≤ c*(Z), which is at least 1 if k(x, x) ≤ 1 (the paper's c)."""

    def small(Z: TrainingSet) -> Interval:
        return Interval(0.0, (mean_function(Z).norm() / threshold(Z)) ** 2)

    return Equivalence(
        name="SVM in a ball to mean in a ball",
        source=hinge_svm_ball(),
        target=mean_ball(),
        map=_same,
        inverse=_same,
        source_interval=small,
        target_interval=small,
        strength=Strength.STRONG,
        accuracy=0.0,
        exists=no_mean,
    )


def only_herding(Z: TrainingSet) -> str | None:
    """Why the SVM on the hull is the mean at λ = 1 only: the ray through ω_S meets the hull in ω_S alone."""
    reason = no_mean(Z)
    if reason is None and exact_ray(Z)[0] == exact_ray(Z)[1]:
        reason = "ω_S/λ lies in the hull for λ = 1 only, where the SVM on the hull is herding's ω_S"
    return reason


@equivalence("hinge-svm-hull-to-mean", summary="SVM on the hull → mean, Φ = λ, where ω_S/λ is in the hull: around λ = 1, or there only")
def hinge_svm_hull_to_mean() -> Equivalence:
    """The point of the hull nearest to ω_S/λ is ω_S/λ for 1/t₁ ≤ λ ≤ 1/t₀ (≤ ∞ if t₀ ≤ 0), an interval around herding's λ = 1.

    If it is the single point λ = 1, there is nothing to map: `exists` says so. Source: section 6.6, on its true range.
    """

    def around_one(Z: TrainingSet) -> Interval:
        low, high = exact_ray(Z)
        return Interval(float(1 / high), float(1 / low) if low > 0 else math.inf)

    return Equivalence(
        name="SVM on the hull to mean",
        source=hinge_svm_hull(),
        target=mean_penalised(),
        map=_same,
        inverse=_same,
        source_interval=around_one,
        target_interval=around_one,
        strength=Strength.STRONG,
        accuracy=0.0,
        exists=only_herding,
    )


def unequal_classes(Z: TrainingSet) -> str | None:
    """Why the mean is not the witness of the MMD: classes of different size (or one only), or ω_S = 0."""
    y = labels(Z)
    if int(np.sum(y)) != 0:
        return f"{int(np.sum(y > 0))} positive and {int(np.sum(y < 0))} negative labels; ω_S is parallel to μ₊ − μ₋ for equal classes"
    return no_mean(Z)


@equivalence("mmd-witness-to-mean", summary="witness of the MMD → mean in a ball, Φ = c, for classes of equal size; strong among these")
def mmd_witness_to_mean() -> Equivalence:
    """ω_S = ½(μ₊ − μ₋) for equal classes (section 3.1)."""
    return Equivalence(
        name="MMD witness to mean",
        source=mmd_witness(),
        target=mean_ball(),
        map=_same,
        inverse=_same,
        strength=Strength.STRONG,
        accuracy=0.0,
        exists=unequal_classes,
    )


@equivalence(
    "mean-to-kernel-density", summary="mean → kernel density rule, κ = λ/Z, if k ≥ 0 and ∫ k(x, x') dx averages to Z in both classes; weak"
)
def mean_to_kernel_density(mass: Mass = same_mass) -> Equivalence:
    """ω_S/λ is the difference of the weighted density estimates at the unit κ = λ/Z (section 3.3, with the hypothesis that it needs).

    Strong for a constant ∫ k(x, x') dx, the default, which is refused where k(x, x) varies: then k(x, x') is no k(x − x').
    """

    def no_density(Z: TrainingSet) -> str | None:
        """Why the map is not defined on Z: negative values, masses that differ, or no mean; None where it is."""
        if float(np.min(Z.gram)) < 0.0:
            return "k(x, x') < 0 for two points of the sample: the estimates are no densities"
        own = np.diagonal(Z.gram)
        if mass is same_mass and float(np.ptp(own)) > 16 * EPS * float(np.max(own)):
            return f"k(x, x) runs from {np.min(own):.6g} to {np.max(own):.6g}: ∫ k(x, x') dx may depend on x', so `mass` has to say it"
        found = class_masses(Z, mass)
        if max(found.values()) - min(found.values()) > 16 * EPS * max(found.values()):
            return f"∫ k(x, x') dx has the mean {found[1]:.6g} in the positive and {found[-1]:.6g} in the negative class"
        return no_mean(Z)

    def unit(Z: TrainingSet) -> float:
        return max(class_masses(Z, mass).values())

    return Equivalence(
        name="mean to kernel density rule",
        source=mean_penalised(),
        target=kernel_density(mass),
        map=lambda lam, Z: lam / unit(Z),
        inverse=lambda kappa, Z: kappa * unit(Z),
        strength=Strength.STRONG if mass is same_mass else Strength.WEAK,
        accuracy=32 * EPS,
        exists=no_density,
    )
