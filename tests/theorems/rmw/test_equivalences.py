"""The registered equivalences of the second paper: each holds on the range that it names, as strongly as it says, and nowhere beyond."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from simopt.core import registry
from simopt.core.errors import InvalidProblem
from simopt.data.similarities import Gaussian, Linear
from simopt.equivalence.equivalence import Answer, Equivalence, Strength
from simopt.equivalence.family import Interval
from simopt.equivalence.strong import verify_strong
from simopt.equivalence.training import TrainingSet
from simopt.equivalence.weak import verify_weak
from simopt.theorems.rmw.equivalences import (
    hinge_svm_ball_to_mean_ball,
    hinge_svm_hull_to_mean,
    hinge_svm_to_ball,
    hinge_svm_to_mean,
    mean_penalised_to_ball,
    mean_to_kernel_density,
    mmd_witness_to_mean,
)
from simopt.theorems.rmw.families import (
    active_range,
    exact_path,
    hinge_svm,
    hinge_svm_ball,
    hinge_svm_hull,
    kernel_density,
    margins,
    mean_ball,
    mean_function,
    mean_penalised,
    mmd_witness,
    threshold,
)

EVERY = {
    "svm to mean": hinge_svm_to_mean(),
    "mean to ball": mean_penalised_to_ball(),
    "svm to ball": hinge_svm_to_ball(),
    "ball to mean ball": hinge_svm_ball_to_mean_ball(),
    "hull to mean": hinge_svm_hull_to_mean(),
    "mmd": mmd_witness_to_mean(),
    "density": mean_to_kernel_density(),
    "svm ball mean": hinge_svm_to_mean().then(mean_penalised_to_ball()),
}
RESOLUTION = 1e-5  # radii are square roots of gaps near 1e-16


def points(seed: int, width: int, n: int = 6) -> np.ndarray:
    X = np.random.default_rng(seed).normal(size=(n, width))
    return X / (1.001 * np.max(np.linalg.norm(X, axis=1)))


def balanced(seed: int, kind: str) -> TrainingSet:
    """Six points, three of each class: a Gaussian kernel, or a linear one in the plane or on the line."""
    X = points(seed, {"gaussian": 3, "plane": 2, "line": 1}[kind])
    y = np.ones(6)
    y[np.argsort(X[:, 0])[:3]] = -1.0  # separated on the line
    if kind == "line":
        y[[np.argmax(X[:, 0]), np.argmin(X[:, 0])]] *= -1.0
    return TrainingSet(X, y, Gaussian(1.0) if kind == "gaussian" else Linear())


@pytest.mark.parametrize("kind", ["gaussian", "plane", "line"])
@pytest.mark.parametrize("name", EVERY)
def test_weak_equivalence_holds_on_the_named_range(name: str, kind: str) -> None:
    link, Z = EVERY[name], balanced(2, kind)
    if name == "hull to mean" and kind == "gaussian":
        assert "λ = 1 only" in (link.exists(Z) or "")
        return
    if name == "density" and kind != "gaussian":
        assert "no densities" in (link.exists(Z) or "")
        return
    chosen = link.intervals(Z)[0].spaced(7, reach=math.log(30.0))
    report = verify_weak(link, Z, chosen, resolution=RESOLUTION)
    assert report.reason is None and not report.refuted
    assert report.holds, report.undecided
    assert report.increasing == (name not in ("svm to ball", "mean to ball", "svm ball mean"))


@pytest.mark.parametrize("name", EVERY)
def test_strength_is_as_declared(name: str) -> None:
    link = EVERY[name]
    kinds = {"hull to mean": ("plane",) * 3, "density": ("gaussian",) * 3}.get(name, ("gaussian", "plane", "line"))
    sets = [balanced(seed, kind) for seed, kind in enumerate(kinds)]
    sets = [Z for Z in sets if link.exists(Z) is None]
    low = max(link.intervals(Z)[0].low for Z in sets)
    high = min(link.intervals(Z)[0].high for Z in sets)
    split_run = Interval(low, high)
    chosen = list(split_run.spaced(3, reach=1.0))
    report = verify_strong(link, sets, chosen, resolution=RESOLUTION)
    assert report.comparisons >= 6
    assert report.answer is (Answer.HOLDS if link.strength is Strength.STRONG else Answer.FAILS), report.reason
    # A map that ignores Z is the same for all sets, and need not be an equivalence on one.
    shifted = replace(link, map=lambda lam, Z: 1.01 * lam, inverse=lambda mu, Z: mu / 1.01)
    false = verify_strong(shifted, sets, [lam for lam in chosen if all(1.01 * lam in link.intervals(Z)[1] for Z in sets)])
    assert false.answer is Answer.FAILS and false.witnesses
    assert all(each.witness is not None for each in false.weak)
    for witness in report.witnesses[:2]:
        assert witness.replay(link).stands


def test_all_are_registered() -> None:
    registry.load("theorems")
    names = {name for name, _ in registry.items("equivalence")}
    assert {
        "hinge-svm-to-mean", "mean-penalised-to-ball", "hinge-svm-to-ball", "hinge-svm-ball-to-mean-ball", "hinge-svm-hull-to-mean",
        "mmd-witness-to-mean", "mean-to-kernel-density",
    } <= names  # fmt: skip
    families = {name for name, _ in registry.items("family")}
    assert {"mean-penalised", "mean-ball", "hinge-svm", "hinge-svm-ball", "hinge-svm-hull", "mmd-witness", "kernel-density"} <= families


@pytest.mark.parametrize("kind", ["gaussian", "plane", "line"])
def test_svm_is_the_mean_from_the_threshold_on_and_not_below(kind: str) -> None:
    Z = balanced(3, kind)
    edge = threshold(Z)
    assert edge == pytest.approx(max(margins(Z))) and mean_function(Z).norm() ** 2 <= edge <= mean_function(Z).norm() <= 1
    for share, same in ((1.0, True), (1.05, True), (0.95, False), (0.6, False)):
        f, g = hinge_svm()(share * edge, Z), mean_penalised()(share * edge, Z)
        assert (f.distance(g) <= f.error + g.error) is same


def test_a_claimed_range_that_begins_too_early_is_refuted() -> None:
    Z = balanced(3, "gaussian")

    def wider(Z: TrainingSet) -> Interval:
        return Interval(0.6 * threshold(Z), math.inf)

    report = verify_weak(replace(hinge_svm_to_mean(), source_interval=wider, target_interval=wider), Z, resolution=RESOLUTION)
    assert {finding.what for finding in report.refuted} == {"distance"}


def test_constrained_svm_by_clarabel_lies_on_the_path() -> None:
    Z = balanced(4, "gaussian")
    link = hinge_svm_to_ball()
    _, high = hinge_svm_ball().domain(Z).low, hinge_svm_ball().domain(Z).high
    for share in (0.02, 0.3, 0.9):
        f = hinge_svm_ball("clarabel", 1e-9)(share * high, Z)
        g = hinge_svm()(link.back(share * high, Z), Z)
        assert f.error < 0.01 * f.norm()
        assert f.distance(g) <= f.error + g.error
        assert f.norm() ** 2 == pytest.approx(share * high, rel=1e-6)


def test_flat_pieces_of_points_on_a_line() -> None:
    Z = TrainingSet(np.array([[1.0], [0.5], [0.25]]), np.ones(3), Linear())
    link = hinge_svm_to_ball()
    pieces = link.flat(Z)
    assert [piece.target[0] for piece in pieces] == pytest.approx([1.0, 4.0])
    assert link.intervals(Z)[1].high == pytest.approx(16.0)
    report = verify_weak(link, Z, resolution=RESOLUTION)
    assert report.holds
    assert sum(finding.what == "flat" for finding in report.findings) == 12
    inside = 0.5 * sum(pieces[0].source)
    assert hinge_svm()(inside, Z)(np.array([[1.0]]))[0] == pytest.approx(1.0)
    with pytest.raises(InvalidProblem, match="flat piece"):
        link.back(pieces[0].target[0], Z)


def test_independent_points_have_no_flat_piece_but_the_last() -> None:
    Z = balanced(5, "gaussian")
    assert [piece.flat for piece in exact_path(Z)] == [False] * (len(exact_path(Z)) - 1) + [True]
    assert active_range(Z).high == pytest.approx(float(exact_path(Z)[-1].squared_norm(exact_path(Z)[-1].high or 1)))


def test_svm_on_the_hull_at_one_is_herding_for_every_sample() -> None:
    for kind in ("gaussian", "plane", "line"):
        for seed in range(3):
            Z = balanced(seed, kind)
            f, g = hinge_svm_hull()(1.0, Z), mean_function(Z)
            assert f.distance(g) <= f.error + g.error
    Z = balanced(0, "gaussian")
    for lam in (0.5, 2.0):
        f, g = hinge_svm_hull()(lam, Z), mean_penalised()(lam, Z)
        assert f.distance(g) > 10 * (f.error + g.error)
    with pytest.raises(InvalidProblem, match="linear on the hull only"):
        hinge_svm_hull()(1.0, TrainingSet(2.0 * Z.inputs, Z.targets, Linear()))


def test_density_rule_needs_equal_masses() -> None:
    Z = TrainingSet(np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([1.0, 1.0, -1.0, -1.0]), Gaussian(2.0))

    def growing(inputs: np.ndarray) -> np.ndarray:
        return 1.0 + inputs[:, 0]

    def symmetric(inputs: np.ndarray) -> np.ndarray:
        return 2.0 + np.abs(inputs[:, 0] - 1.5)

    assert "positive" in (mean_to_kernel_density(growing).exists(Z) or "")
    uphill = TrainingSet(1.0 + Z.inputs, Z.targets, Linear())
    assert "k(x, x) runs from 1 to 16" in (mean_to_kernel_density().exists(uphill) or "")
    f, g = kernel_density(growing)(1.0, Z), mean_penalised()(1.0, Z)
    assert f.inner(g) < 0.999 * f.norm() * g.norm()
    link = mean_to_kernel_density(symmetric)
    assert link.exists(Z) is None and link(3.0, Z) == pytest.approx(1.0)
    assert verify_weak(link, Z).holds


def test_what_has_no_answer_is_said() -> None:
    nothing = TrainingSet(np.ones((2, 1)), np.array([1.0, -1.0]), Linear())
    assert all("ω_S = 0" in (link.exists(nothing) or "") for link in EVERY.values())
    with pytest.raises(InvalidProblem, match="no ball binds"):
        active_range(nothing)
    assert mean_ball()(1.0, nothing).norm() == 0.0
    with pytest.raises(InvalidProblem, match="both classes have the same mean"):
        mmd_witness()(1.0, nothing)
    one_class = TrainingSet(np.ones((2, 1)), np.ones(2), Linear())
    assert "2 positive and 0 negative" in (mmd_witness_to_mean().exists(one_class) or "")
    with pytest.raises(InvalidProblem, match="one class only"):
        mmd_witness()(1.0, one_class)
    with pytest.raises(InvalidProblem, match="targets"):
        threshold(TrainingSet(np.ones((2, 1)), np.array([1.0, 2.0]), Linear()))


def test_equivalences_are_of_the_declared_type() -> None:
    assert all(isinstance(link, Equivalence) for link in EVERY.values())
