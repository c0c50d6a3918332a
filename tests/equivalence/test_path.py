"""The search along a path on families so plain that every answer is known: two orthonormal points, B(t) = (a(t), b(t))."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from simopt.data.similarities import Linear
from simopt.equivalence.equivalence import Answer
from simopt.equivalence.family import POSITIVE, Family, Interval
from simopt.equivalence.path_search import PathSearch
from simopt.equivalence.training import TrainingSet
from simopt.equivalence.weak import NoImage, WeakReport, _flat, _separations, _slopes, mapped

Z = TrainingSet(np.eye(2), np.array([1.0, 2.0]), Linear())


def path(curve, error=0.0):
    """t ↦ (a, b) over the domain (0, ∞), t = log μ."""
    return Family("a path", lambda mu, Z: Z.function(np.array(curve(math.log(mu)), dtype=float), error))


def search(f, curve, error=0.0, own=0.0, reach=300.0, start=1.0):
    return PathSearch(Z.function(np.array(f, dtype=float), own), path(curve, error), Z, reach, start)


def test_both_vanish_only_where_both_are_zero_without_error() -> None:
    assert search((0, 0), lambda t: (0, 0), reach=8.0).vanishes()
    assert not search((1, 0), lambda t: (0, 0), reach=8.0).vanishes()
    assert not search((0, 0), lambda t: (0, 1), reach=8.0).vanishes()
    assert not search((0, 0), lambda t: (0, 0), own=1e-3, reach=8.0).vanishes()
    assert not search((0, 0), lambda t: (0, 0), error=1e-3, reach=8.0).vanishes()


@pytest.mark.parametrize("at", [0.3, -2.7, 5.1])
def test_a_jump_of_the_norm_is_found_to_the_last_float_and_excludes_what_it_passes(at: float) -> None:
    found = search((1.5, 0), lambda t: (1, 0) if t < at else (2, 0))
    bracket = next(found.brackets())
    assert bracket[0] < at <= bracket[1] and bracket[0] < bracket[1]
    t = found.root(*bracket)
    assert abs(t - at) <= 1e-14 * max(1.0, abs(at)) and found.differs(t)
    low, high = found.enclosure(t)
    assert low < at <= high == math.nextafter(low, math.inf)
    assert found.excluded(low, high)


@pytest.mark.parametrize("start", [1.0, math.exp(4.5), math.exp(-4.5)])
def test_nothing_is_fitted_beyond_the_reach(start: float) -> None:
    """No norm of the path comes near that of f, so that the ladder is climbed to both ends."""
    found = search((100, 0), lambda t: (1 + 0.1 * math.tanh(t), 0), reach=5.0, start=start)
    assert [*found.brackets()] == []
    assert (min(found.known), max(found.known)) == (-5.0, 5.0)


def test_a_norm_that_passes_is_found_and_enclosed() -> None:
    found = search((math.exp(0.5), 0), lambda t: (math.exp(t), 0), reach=20.0)
    assert next(found.brackets()) == (0.0, 1.0)
    t = found.root(0.0, 1.0)
    assert t == pytest.approx(0.5, abs=1e-14)
    low, high = found.enclosure(t)
    assert low < 0.5 < high and high - low < 1e-9
    left = search((math.exp(-3.0), 0), lambda t: (math.exp(t), 0), reach=20.0)
    assert next(left.brackets()) == (-4.0, -2.0)


def test_where_no_norm_differs_within_reach_the_enclosure_is_open() -> None:
    still = search((1, 0), lambda t: (1, 0))
    assert still.enclosure(0.0) == (-math.inf, math.inf)
    assert search((1, 0), lambda t: (1, 0) if abs(t) <= 290 else (2, 0)).enclosure(0.0) == (-300.0, 300.0)

    def breaks(t: float) -> tuple[float, float]:
        if abs(t) > 10:
            raise OverflowError("too far")
        return 1, 0

    assert search((1, 0), breaks).enclosure(0.0) == (-math.inf, math.inf)
    assert search((1, 0), lambda t: (1, 0), reach=1e5).high < math.log(np.finfo(float).max)


def test_steps_towards_the_function_lead_to_it() -> None:
    circle = search((math.cos(0.5), math.sin(0.5)), lambda t: (math.cos(t), math.sin(t)))
    assert circle.refined(0.3) == pytest.approx(0.5, abs=1e-11)

    def quarter(t: float) -> tuple[float, float]:
        if abs(t) > 1.0:
            raise OverflowError("nothing is fitted beyond the reach")
        return math.cos(t), math.sin(t)

    for end in (-1.0, 1.0):
        edge = search((math.cos(0.9 * end), math.sin(0.9 * end)), quarter, reach=1.0)
        assert edge.refined(end) == pytest.approx(0.9 * end, abs=1e-8)
    line = search((2, 0), lambda t: (t, 0), own=1.5)  # known so badly that its norm may be any along the line
    assert line.refined(1.0) == pytest.approx(2.0, abs=1e-9)


def test_nothing_is_excluded_that_the_errors_allow() -> None:
    def aside(t: float) -> tuple[float, float]:
        return 1, 0.5

    assert search((1, 0), aside).excluded(-1.0, 1.0)
    assert not search((1, 0), aside, own=1.0).excluded(-1.0, 1.0)
    assert not search((1, 0), aside, error=1.0).excluded(-1.0, 1.0)
    assert not search((1, 0), aside, own=0.3, error=0.3).excluded(-1.0, 1.0)
    assert not search((1, 0), lambda t: (1, t)).excluded(-1.0, 1.0), "it passes through f between two fits that do not"


def test_a_path_rests_only_if_its_errors_are_small_too() -> None:
    def closed(error: float, curve=lambda t: (2, 0)) -> bool:
        found = search((1, 0), curve, error=error, reach=64.0)
        list(found.brackets())
        return found.closed()

    assert closed(0.0) and not closed(0.01) and not closed(0.0, lambda t: (2 + abs(t), 0))
    assert not closed(0.0, lambda t: (2, 0) if abs(t) < 100 else (1, 0)), "it moves beyond the reach"
    assert closed(0.0, lambda t: (2, 0) if abs(t) < 100 else 1 / 0), "what cannot be fitted beyond it says nothing"
    short = search((1, 0), lambda t: (2, 0), reach=8.0)
    list(short.brackets())
    assert not short.closed(), "a reach of 8 is too short to say that anything rests"


def test_an_image_is_blurred_relative_to_itself() -> None:
    def decided(image: float, low: float, high: float, accuracy: float) -> bool:
        with pytest.raises(NoImage) as none:
            mapped(lambda lam, Z: image, 1.0, Z, Interval(low, high), accuracy)
        return none.value.decided

    assert decided(1e-20, 1e-12, 1.0, 1e-9), "far below, in its own units"
    assert not decided(1e-12 * (1 - 1e-10), 1e-12, 1.0, 1e-9)
    assert not decided(1e6 * (1 + 1e-10), 1.0, 1e6, 1e-9) and decided(1e6 * (1 + 1e-8), 1.0, 1e6, 1e-9)
    assert not decided(0.0, 0.0, 1.0, 0.0) and not decided(math.nan, 0.0, 1.0, 0.0) and decided(-1.0, 0.0, 1.0, 0.0)


def test_nothing_measured_is_undecided() -> None:
    assert WeakReport("empty", 1, "", True, (), 1e-8).answer is Answer.UNDECIDED


def claimed(images: dict[float, float], accuracy: float, **more):
    """As much of an equivalence as the findings ask for."""
    return SimpleNamespace(map=lambda lam, Z: images[lam], accuracy=accuracy, intervals=lambda Z: (POSITIVE, POSITIVE), **more)


def test_images_nearer_than_their_blur_neither_rise_nor_fall_nor_meet() -> None:
    apart = 1.5e-3  # in the coordinate: less than two blurs of 1e-3, more than one
    falls = claimed({1.0: 1.0, math.e: math.exp(-apart)}, 1e-3)
    (slope,) = _slopes(falls, Z, [1.0, math.e])
    assert slope.low == pytest.approx(-apart - 2e-3, rel=1e-6) and slope.high == pytest.approx(-apart + 2e-3, rel=1e-6)
    (near,) = _separations(falls, Z, [1.0, math.e])
    assert near.low == pytest.approx(apart - 2e-3, rel=1e-6) and near.high == pytest.approx(apart + 2e-3, rel=1e-6)
    assert not slope.refuted and not near.refuted and near.at[:2] == (math.exp(-apart), 1.0)


def test_a_piece_that_is_called_flat_is_measured_over_its_whole_length() -> None:
    bends = path(lambda t: (1, 0) if t <= math.log(1.8) else (1, 1))
    still = path(lambda t: (1, 0))
    piece = SimpleNamespace(source=(1.0, 3.0), target=(1.0, 3.0))
    findings = list(_flat(SimpleNamespace(source=bends, target=still, flat=lambda Z: [piece]), Z))
    assert [finding.at for finding in findings] == [(1.0, 1.0), (1.0, 2.0), (1.0, 3.0)] * 2
    assert [finding.refuted for finding in findings] == [False, True, True, False, False, False]
