"""Certificates of a problem whose optimum is a number: ½‖x − b‖² + ½‖x‖² is least at b/2, where it is ‖b‖²/4."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from frame_toy import Toy

from simopt import certify
from simopt.arithmetic import FLOAT, INTERVAL, RATIONAL, Arithmetic, Interval
from simopt.certificates import assessment
from simopt.certificates.assessment import HIDDEN, MOVED, judge
from simopt.model.gap_unit import ratio

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
    assert outside.infeasibility == 1.0 and outside.multipliers_from == "zero"


@pytest.mark.parametrize(("rigorous", "name"), [(True, "interval"), ("interval", "interval"), ("rational", "rational"), (False, "float")])
def test_rigorous_names_the_arithmetic(rigorous: bool | str, name: str) -> None:
    assert certify(halves(), {"x": B / 2}, BEST, rigorous=rigorous).arithmetic == name


@pytest.mark.parametrize(("lower", "upper", "gap", "holds"), [
    (-1e-12, 2e-12, 3e-12, True),
    (1.0, 1.5, 2.0, True),
    (1.0, 1.5, 0.5, False),
    (0.0, 0.0, 0.0, False),
    (-np.inf, 1.0, np.inf, False),
    (-1.0, np.inf, np.inf, False),
])  # fmt: skip
def test_a_bracket_holds_zero_only_between_finite_bounds(lower: float, upper: float, gap: float, holds: bool) -> None:
    bounds = replace(certify(halves(), {"x": B / 2}, BEST), lower=lower, upper=upper, gap=gap, scale=max(abs(lower), abs(upper)))
    assert bounds.holds_zero is holds


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


def test_multipliers_that_prove_nothing_at_the_end_of_their_domain_are_moved_inside() -> None:
    """Those of the solver give no bound. A step inside they do, and a better one than 0 does."""

    class Edge(Toy):
        """The dual is finite only where the first prediction is below ½, which is its best value."""

        def dual_bound(self, multipliers: Any, num: Any = FLOAT, upper: float = np.inf) -> Any:
            return -np.inf if multipliers["predictions"][0] >= 0.5 else super().dual_bound(multipliers, num, upper)

        def gap(self, point: Any, multipliers: Any, num: Any = FLOAT) -> Any:
            return np.inf if multipliers["predictions"][0] >= 0.5 else super().gap(point, multipliers, num)

        def moved_inside(self, multipliers: Any) -> Any:
            yield {"predictions": multipliers["predictions"] - 1e-6}

    found = certify(halves(Edge), {"x": B / 2}, BEST)
    assert found.multipliers_from == "solver, moved inside" and found.closes(1e-9)
    assert found.lower == pytest.approx(LEAST, rel=1e-9)


def test_bounds_on_a_maximum_are_those_on_the_minimum_of_minus_f_with_the_signs_and_the_ends_changed() -> None:
    """−4 ≤ min −f ≤ −1, where a point has −1: 1 ≤ max f ≤ 4. What says that nothing is feasible, or nothing bounded, says so of both."""
    least = replace(certify(halves(), {"x": B / 2}, BEST), upper=-1.0, lower=-4.0, gap=3.0)
    most = least.of_the_maximum()
    assert most == replace(least, upper=4.0, lower=1.0, maximises=True) and (least.value, most.value) == (-1.0, 1.0)
    for infinite, word in ((np.inf, "infeasible"), (-np.inf, "unbounded")):
        nothing = replace(least, upper=infinite, lower=infinite)
        for found in (nothing, nothing.of_the_maximum()):
            assert [name for name in ("infeasible", "unbounded") if getattr(found, name)] == [word]


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


@pytest.mark.parametrize("unit", [1.0, 2.0**-40])
def test_a_lower_bound_above_the_upper_one_closes_nothing_however_wide_the_intervals_are_that_explain_it(unit: float) -> None:
    class Sunken(Toy):
        """Value 1 and bound 1.5, both known to a unit only; the gap comes out as 0."""

        def objective(self, point: Any, num: Any = FLOAT) -> Any:
            return Interval.hull(0.0, 2.0 * unit) if num is INTERVAL else unit

        def dual_bound(self, multipliers: Any, num: Any = FLOAT, upper: float = np.inf) -> Any:
            return Interval.hull(0.0, 2.0 * unit) if num is INTERVAL else 1.5 * unit

        def gap(self, point: Any, multipliers: Any, num: Any = FLOAT) -> Any:
            return Interval.hull(0.0, 1e-9 * unit) if num is INTERVAL else 0.0

    found = certify(halves(Sunken), {"x": np.zeros(2)}, BEST)
    assert found.gap >= 0.5 * unit and not found.closes(0.33)  # of 1.5 units


@pytest.mark.parametrize("size", [5e-324, 1e-300, 1e-150])
def test_where_there_is_no_unit_a_zero_that_sank_gives_way_to_one_that_is_exact(size: float) -> None:
    """½‖x‖² + ½‖x‖² with targets 0: the squares of these entries are 0 in floats, and the scale is 0."""
    problem = Toy(np.eye(2), np.zeros(2), 1.0, 1.0)
    sunk = certify(problem, {"x": np.array([size, -size])}, {"predictions": np.zeros(2)})
    assert sunk.scale == sunk.gap == 0.0 and sunk.infeasibility == size, "the trivial point takes its place, where 0 is exact"
    assert certify(problem, {"x": np.zeros(2)}, {"predictions": np.zeros(2)}).closes(0.0)


def test_intervals_are_evaluated_for_gaps_up_to_the_scale_and_no_larger_ones() -> None:
    """Every perturbed dual moves, so that nothing is stable."""
    asked: list[float] = []

    class Recording(Toy):
        """Its dual is another one whenever it is asked; its intervals are counted."""

        def dual_bound(self, multipliers: Any, num: Any = FLOAT, upper: float = np.inf) -> Any:
            bound = super().dual_bound(multipliers, num, upper)
            if num is INTERVAL:
                asked.append(factor)
            q = np.asarray(multipliers["predictions"])
            return bound if num is INTERVAL or np.array_equal(q, factor * B / 2) or not q.any() else bound - 1.0

        def multipliers(self, point: Any) -> Any:
            """None."""

    for factor, least, most in ((1.9, 0.9, 1.0), (2.4, 1.0, 1.0)):  # of 2.4 the bound is below 0, and the multipliers 0 give 0
        found = certify(halves(Recording), {"x": np.zeros(2)}, {"predictions": factor * B / 2})
        assert least <= found.relative_gap <= most
    assert set(asked) == {1.9}


def test_entries_are_perturbed_by_signs_that_are_as_often_plus_as_minus_and_by_sizes_from_a_half_to_one() -> None:
    r = assessment._factors(10_000)
    assert np.abs(r).min() >= 0.5 and np.abs(r).max() <= 1.0
    assert abs(np.mean(r)) < 0.05 and np.mean(r * r) == pytest.approx(7 / 12, rel=0.05)


def test_what_restoring_takes_back_is_measured_by_the_largest_entry_of_either_sign() -> None:
    assert assessment._apart({"x": np.array([1.0, -4.0])}, {"x": np.array([3.0, -4.0])}) == 0.5
    assert assessment._apart({"x": np.array([3.0, -4.0])}, {"x": np.array([1.0, -4.0])}) == 0.5


def test_a_square_that_moves_as_far_as_it_may_hides_half_of_what_may_be_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of n entries, (7/12)δ²‖α‖² is the movement and n² eps‖α‖² what rounding hides: their quotient is that of MOVED and HIDDEN/2."""
    deltas = []
    perturbed = assessment._perturbed

    def remember(values: Any, delta: float) -> Any:
        deltas.append(abs(delta))
        return perturbed(values, delta)

    monkeypatch.setattr(assessment, "_perturbed", remember)
    certify(halves(), {"x": B / 2}, BEST)
    moved, hidden = 7 / 12 * deltas[0] ** 2, 2**2 * 2.0**-52
    assert moved / hidden == pytest.approx(MOVED / (HIDDEN / 2))


def reported(problem: Toy, x: Any, nu: Any) -> list[str]:
    """What the judge says of its last step."""
    said: list[tuple[str, str]] = []
    judge(problem, {"x": np.asarray(x)}, {"predictions": np.asarray(nu)}, report=lambda step, text: said.append((step, text)))
    return [text for step, text in said if step == "perturb"]


@pytest.mark.parametrize(("roundings", "more"), [(0, False), (5, False), (40, True)])
def test_a_difference_of_a_few_roundings_is_not_put_to_intervals(roundings: int, more: bool) -> None:
    """Sums of n terms may differ by n + 4 roundings of the sizes, here by six."""

    class Differs(Toy):
        def gap(self, point: Any, multipliers: Any, num: Any = FLOAT) -> Any:
            gap = super().gap(point, multipliers, num)
            return gap if num is not FLOAT or multipliers["predictions"][0] == 0.0 else gap + roundings * 2.0**-52 * 2 * LEAST

    said = reported(halves(Differs), B / 2, B / 2)
    assert any("the two formulas of the gap differ" in text for text in said) is more


@pytest.mark.parametrize(("left", "skipped"), [(0.0, True), (1e-12, True), (1e-3, False)])
def test_a_gap_that_is_all_of_the_scale_to_rounding_is_not_put_to_intervals(left: float, skipped: bool) -> None:
    """Multipliers near 0 prove next to nothing: whether rounding makes the gap a little less than the upper bound is of no interest."""
    said = reported(halves(), np.zeros(2), left * B)
    assert any("skipped" in text for text in said) is skipped


def test_what_restoring_may_lose_is_taken_from_what_a_perturbation_may_move() -> None:
    """A third of MOVED·scale: an objective that moves by 0.8 of it may have moved by more before the point was restored roughly."""

    class Moves(Toy):
        by = 0.0

        def objective(self, point: Any, num: Any = FLOAT) -> Any:
            there = np.array_equal(np.asarray(point["x"]), B / 2) if num is FLOAT else True
            return num.lift(LEAST) if there else num.lift(LEAST * (1.0 + self.by * MOVED))

    for by, stable in ((0.0, True), (0.5, True), (0.8, False), (1.2, False)):
        problem = halves(type("Moved", (Moves,), {"by": by}))
        evaluation = assessment._PointEvaluation(problem, problem.restore({"x": B / 2}), FLOAT)
        lower = evaluation.evaluate(BEST)[1]
        assert evaluation._stable(lower, BEST, LEAST) == (stable, True), by


def test_of_a_coarse_gap_neither_the_multipliers_0_nor_the_terms_are_asked() -> None:
    class Sparing(Toy):
        def gap_over_terms(self, point: Any, upper: float, lower: float, gap: float) -> float:
            raise AssertionError("the terms are asked")

        def dual_bound(self, multipliers: Any, num: Any = FLOAT, upper: float = float("inf")) -> Any:
            assert np.any(multipliers["predictions"]), "the multipliers 0 are asked"
            return super().dual_bound(multipliers, num, upper)

    far = judge(halves(Sparing), {"x": -B}, {"predictions": 2 * B}, coarse=True)
    found = far.certificate
    assert far.coarse and found.gap == pytest.approx(found.upper - found.lower) and found.gap_over_terms == np.inf
    assert found.lower <= 0.0 <= found.upper  # where the multipliers 0 would be tried
    with pytest.raises(AssertionError, match="are asked"):
        judge(halves(Sparing), {"x": -B}, {"predictions": 2 * B})


def test_formulas_that_contradict_each_other_are_found_out_far_from_the_optimum_too() -> None:
    class Contradicts(Toy):
        def dual_bound(self, multipliers: Any, num: Any = FLOAT, upper: float = float("inf")) -> Any:
            return super().dual_bound(multipliers, num, upper) + num.lift(0.25 * LEAST)

    found = judge(halves(Contradicts), {"x": 0 * B}, BEST, coarse=True).certificate
    assert found.gap == np.inf and "contradict each other" in found.open


@pytest.mark.parametrize(("x", "near"), [(B / 2, 1e-8), (B / 2 + 1e-6, 1e-8), (0 * B, 0.51)])
def test_a_gap_that_may_close_is_never_a_coarse_one(x: Any, near: float) -> None:
    coarse, whole = (judge(halves(), {"x": x}, BEST, near=near, coarse=asked) for asked in (True, False))
    assert coarse.certificate == whole.certificate and not coarse.coarse
    assert judge(halves(), {"x": B / 2 + 1e-3}, BEST, near=1e-8, coarse=True).coarse
    assert not judge(halves(), {"x": 0 * B}, BEST, INTERVAL, near=1e-8, coarse=True).coarse
