"""Certificates of a problem whose optimum is a number: ½‖x − b‖² + ½‖x‖² is least at b/2, where it is ‖b‖²/4."""

from typing import Any

import numpy as np
import pytest
from frame_toy import Toy

from simopt import certify
from simopt.arithmetic import FLOAT, INTERVAL, RATIONAL, Arithmetic, Interval
from simopt.certificate import ratio

B = np.array([1.0, 0.25])
LEAST = 0.265625
BEST = {"predictions": B / 2}


def halves(kind: type[Toy] = Toy) -> Toy:
    return kind(np.eye(2), B, 1.0, 1.0)


@pytest.mark.parametrize("num", [FLOAT, INTERVAL, RATIONAL])
def test_the_numbers_of_a_certificate_are_what_they_are(num: Arithmetic) -> None:
    best = certify(halves(), {"x": B / 2}, BEST, num)
    assert (best.upper, best.lower) == pytest.approx((LEAST, LEAST), rel=1e-14) and 0 <= best.gap < 1e-14 and best.closes(1e-12)
    start = certify(halves(), {"x": np.zeros(2)}, BEST, num)
    assert (start.upper, start.lower, start.gap, start.scale) == pytest.approx((2 * LEAST, LEAST, LEAST, 2 * LEAST), rel=1e-14)
    assert (start.relative_gap, start.gap_over_upper, start.infeasibility) == pytest.approx((0.5, 0.5, 0.0), rel=1e-14)
    assert start.multipliers_from == "solver" and not start.closes(0.49) and start.closes(0.51) and not start.infeasible
    outside = certify(halves(), {"x": np.array([-3.0, 0.0])}, None, num)
    assert outside.infeasibility == 1.0 and outside.multipliers_from == "point"


def test_a_ratio_is_a_ratio_in_small_units_too() -> None:
    assert ratio(1.0, 0.5) == 2.0 and ratio(1e-12, 1e-6) == pytest.approx(1e-6)


def test_a_gap_below_zero_by_rounding_is_no_better_than_zero() -> None:
    class Rounded(Toy):
        """The dual at the solver's multipliers comes out a few units above the primal value."""

        def objective(self, point: Any, num: Any = FLOAT) -> Any:
            return num.lift(1.0)

        def dual_bound(self, multipliers: Any, num: Any = FLOAT, upper: float = np.inf) -> Any:
            return num.lift(1.0 + 2.0**-51 * (multipliers["predictions"][0] == 0.5))

        def gap(self, point: Any, multipliers: Any, num: Any = FLOAT) -> Any:
            return num.lift(-(2.0**-51) * (multipliers["predictions"][0] == 0.5))

    found = certify(halves(Rounded), {"x": np.zeros(2)}, BEST)
    assert (found.gap, found.lower, found.multipliers_from) == (0.0, 1.0, "point")


def test_wide_enclosures_that_have_a_number_in_common_do_not_contradict_each_other() -> None:
    class Wide(Toy):
        """The value is known to lie in [0, 10] only, the gap in [1, 2]."""

        def objective(self, point: Any, num: Any = FLOAT) -> Any:
            return Interval.hull(0.0, 10.0) if num is INTERVAL else 5.0

        def dual_bound(self, multipliers: Any, num: Any = FLOAT, upper: float = np.inf) -> Any:
            return num.lift(0.0)

        def gap(self, point: Any, multipliers: Any, num: Any = FLOAT) -> Any:
            return Interval.hull(1.0, 2.0) if num is INTERVAL else 1.5

    found = certify(halves(Wide), {"x": np.zeros(2)}, BEST, INTERVAL)
    assert found.gap == pytest.approx(2.0) and (found.lower, found.upper) == (0.0, pytest.approx(10.0))


def test_beyond_floats_the_point_is_made_feasible_in_the_arithmetic_asked_for() -> None:
    class Halving(Toy):
        """Restores to half of the point, except in floats."""

        def restore(self, point: Any, num: Any = FLOAT) -> Any:
            restored = super().restore(point, num)
            return restored if num is FLOAT else {name: value / 2 for name, value in restored.items()}

    assert certify(halves(Halving), {"x": B / 2}, BEST, FLOAT).upper == LEAST
    for num in (INTERVAL, RATIONAL):
        assert certify(halves(Halving), {"x": B / 2}, BEST, num).upper == pytest.approx(1.25 * LEAST, rel=1e-14)
