"""Tikhonov and Ivanov forms of landmarked SVR: an exact path that proves itself, an equivalence that holds where it says and only there."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from simopt.core import registry
from simopt.core.errors import InvalidProblem
from simopt.data.landmarks import LandmarkMap
from simopt.data.similarities import Gaussian
from simopt.equivalence.strong import verify_strong
from simopt.equivalence.training import TrainingSet
from simopt.equivalence.weak import verify_weak
from simopt.theorems.kj.regression.equivalences import tikhonov_to_ivanov
from simopt.theorems.kj.regression.exact_svr import ExactSVR, dual_value, objective, path
from simopt.theorems.kj.regression.svr_families import LandmarkKernel, features_of, landmarked_svr, landmarked_svr_penalised
from simopt.theorems.small_worlds.exact_svm import piece_at

RESOLUTION = 1e-3  # radii are square roots of gaps near 1e-15, which small λ and small ‖g‖ enlarge


def training_set(seed: int, landmarks: int | None = 3, targets=None) -> TrainingSet:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(8, 2))
    y = np.round(2 * np.sin(2 * X[:, 0]) + rng.normal(size=8)) / 2 if targets is None else targets
    return TrainingSet(X, y, LandmarkKernel(LandmarkMap(Gaussian(1.0), X[:landmarks])) if landmarks else Gaussian(1.0))


@pytest.mark.parametrize("epsilon", [Fraction(0), Fraction(1, 4), Fraction(1, 2)])
def test_the_exact_path_has_no_gap_anywhere(epsilon):
    # targets and features on a grid: ties, samples on kinks for no λ in particular, dependent rows
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X = [[Fraction(int(v), 4) for v in row] for row in rng.integers(-6, 7, size=(7, 2))]
        G = [[sum((a * b for a, b in zip(one, two, strict=True)), Fraction(0)) for two in X] for one in X]
        sample = ExactSVR(G, [Fraction(int(v), 4) for v in rng.integers(-6, 7, size=7)], epsilon)
        pieces = path(sample)
        assert pieces[0].high is None
        assert pieces[-1].low == 0
        assert pieces[-1].flat
        assert all(one.low == two.high for one, two in pairwise(pieces))
        for strength in [Fraction(3) ** k for k in range(-8, 4)]:
            c = piece_at(pieces, strength).coefficients(strength)
            assert objective(sample, c, strength) == dual_value(sample, [strength * x for x in c], strength)


@pytest.mark.parametrize("landmarks", [3, None])
@pytest.mark.parametrize("epsilon", [0.0, 0.25])
def test_the_equivalence_holds_on_its_range(landmarks, epsilon):
    Z = training_set(1, landmarks)
    link = tikhonov_to_ivanov(epsilon)
    report = verify_weak(link, Z, link.intervals(Z)[0].spaced(5, reach=np.log(1e3)), resolution=RESOLUTION)
    assert report.holds, (report.refuted, report.undecided)
    assert not report.increasing


def test_flat_pieces_are_declared_and_have_no_inverse():
    Z = training_set(3)
    link = tikhonov_to_ivanov(0.25)
    pieces = link.flat(Z)
    assert pieces
    for piece in pieces:
        low, high = piece.source
        assert link(low * 1.0001, Z) == link(high * 0.9999, Z) == pytest.approx(piece.target[0])
        with pytest.raises(InvalidProblem, match="flat piece"):
            link.back(piece.target[0], Z)
    # undeclared, they refute strict monotonicity
    inside = [piece.source[0] + share * (piece.source[1] - piece.source[0]) for piece in pieces[:1] for share in (0.2, 0.5, 0.8)]
    assert not verify_weak(replace(link, flat=lambda Z: ()), Z, inside, resolution=RESOLUTION).holds


@pytest.mark.parametrize(
    "mutant",
    [
        {"map": lambda lam, Z: tikhonov_to_ivanov(0.25).map(lam, Z) ** 2},
        {"map": lambda lam, Z: tikhonov_to_ivanov(0.25).map(1.01 * lam, Z)},
        {"inverse": lambda ball, Z: 2.0 * tikhonov_to_ivanov(0.25).inverse(ball, Z)},
        {"target": landmarked_svr(0.3)},
    ],
)
def test_another_map_is_refuted(mutant):
    Z = training_set(1)
    link = replace(tikhonov_to_ivanov(0.25), **mutant)
    report = verify_weak(link, Z, link.intervals(Z)[0].spaced(5, reach=np.log(1e3)), resolution=RESOLUTION)
    assert report.refuted


def test_the_norm_saturates_outside_the_intervals():
    Z = training_set(1)
    link = tikhonov_to_ivanov(0.25)
    source, target = link.intervals(Z)
    one, two = (landmarked_svr_penalised(0.25)(share * source.low, Z) for share in (0.9, 0.2))
    assert one.distance(two) <= one.error + two.error
    assert one.norm() == pytest.approx(target.high, abs=one.error)
    with pytest.raises(InvalidProblem, match="outside"):
        link(0.5 * source.low, Z)
    with pytest.raises(InvalidProblem, match="outside"):
        link.back(1.1 * target.high, Z)


def test_nothing_moves_when_the_tube_holds_all_targets():
    Z = training_set(1)
    link = tikhonov_to_ivanov(float(np.max(np.abs(Z.targets))))
    assert "w = 0" in link.exists(Z)
    with pytest.raises(InvalidProblem, match="w = 0"):
        link(1.0, Z)


def test_it_is_not_strong():
    # changing one target changes the map
    Z = training_set(1)
    other = training_set(1, targets=Z.targets + np.where(np.arange(8) == 0, 1.0, 0.0))
    link = tikhonov_to_ivanov(0.25)
    low = max(link.intervals(each)[0].low for each in (Z, other))
    report = verify_strong(link, [Z, other], [2.0 * low, 10.0 * low])
    assert report.witnesses
    assert report.witnesses[0].replay(link).stands


def test_features_belong_to_the_kernel():
    for landmarks in (3, None):
        Z = training_set(2, landmarks)
        F = features_of(Z)
        assert F @ F.T == pytest.approx(Z.gram, abs=1e-12)


def test_it_is_registered():
    registry.load("theorems")
    assert "landmarked-svr-tikhonov-to-ivanov" in dict(registry.items("equivalence"))
