"""The judge: brackets that hold whatever point and multipliers it is given."""

import dataclasses
import warnings
from fractions import Fraction

import numpy as np
import pytest
from frame_toy import Toy, toy
from hypothesis import given, settings
from hypothesis import strategies as st

from simopt import certify, solve
from simopt.arithmetic import BY_NAME, FLOAT, INTERVAL, RATIONAL
from simopt.arrays import Multipliers, Point
from simopt.certificate import judge, ratio
from simopt.errors import InvalidProblem

numbers = st.floats(allow_nan=False, allow_infinity=False, width=32)


@settings(max_examples=150, deadline=None)
@given(st.lists(numbers, min_size=4, max_size=4), st.lists(numbers, min_size=12, max_size=12), st.sampled_from(list(BY_NAME)))
def test_any_point_and_any_multipliers_bracket_the_optimum(x: list[float], nu: list[float], name: str) -> None:
    problem = toy(radius=0.3)
    best = solve(problem, "cyclic", tol=1e-14).certificate
    assert best is not None
    found = certify(problem, {"x": np.array(x)}, {"predictions": np.array(nu)}, BY_NAME[name])
    slack = 1e-12 * best.scale
    assert found.lower <= best.upper + slack and found.upper >= best.lower - slack
    assert found.gap >= 0.0 and found.upper - found.lower <= found.gap + slack + 1e-15 * abs(found.lower)


def test_rational_and_interval_bounds_are_rigorous() -> None:
    problem = toy(radius=0.3)
    solution = solve(problem, "cyclic", tol=1e-10)
    assert solution.point is not None and solution.multipliers is not None
    point, multipliers = dict(solution.point), dict(solution.multipliers)
    for num in (INTERVAL, RATIONAL):
        judgement = judge(problem, point, multipliers, num)
        found, kept = judgement.certificate, judgement.multipliers
        assert kept is not None  # those of the solver or those that the point suggests: they differ by rounding, and so do their gaps
        exact_upper = problem.objective(problem.restore(point, RATIONAL), RATIONAL)
        exact_lower = problem.dual_bound(kept, RATIONAL)
        exact_gap = problem.gap(problem.restore(point, RATIONAL), kept, RATIONAL)
        assert isinstance(exact_upper, Fraction) and exact_gap == exact_upper - exact_lower >= 0
        assert Fraction(found.upper) >= exact_upper and Fraction(found.lower) <= exact_lower and Fraction(found.gap) >= exact_gap
        assert found.arithmetic == num.name and found.closes(1e-9)


def test_the_trivial_point_is_optimal_only_where_it_is() -> None:
    problem = toy()
    assert certify(problem, problem.trivial_point()).relative_gap > 0.01
    zero = dataclasses.replace(problem, targets=np.zeros(12))
    found = certify(zero, zero.trivial_point())
    assert (found.gap, found.relative_gap, found.gap_over_upper, found.scale) == (0.0, 0.0, 0.0, 0.0)
    assert not certify(zero, {"x": np.full(4, 1e-9)}).closes(1e-8), "0 is the optimum: any other point is infinitely far in units of 0"


def test_a_point_that_is_not_finite_is_refused() -> None:
    for bad in (np.nan, np.inf):
        with pytest.raises(InvalidProblem, match="point: x is not finite"):
            certify(toy(), {"x": np.array([0.0, bad, 0.0, 0.0])})


def test_multipliers_that_are_not_finite_are_ignored() -> None:
    judged = judge(toy(), toy().trivial_point(), {"predictions": np.full(12, np.nan)})
    assert judged.certificate.multipliers_from == "point" and np.isfinite(judged.certificate.lower)


def test_the_better_of_two_candidates_is_kept() -> None:
    problem = toy(radius=0.3)
    solution = solve(problem, "cyclic", tol=1e-12)
    assert solution.multipliers is not None
    far = {"x": np.full(4, 0.3)}
    good = certify(problem, far, dict(solution.multipliers))
    bad = certify(problem, far, {"predictions": np.full(12, 1e3)})
    assert good.multipliers_from == "solver" and bad.multipliers_from == "point"
    assert good.lower > bad.lower and good.upper == bad.upper


def test_without_multipliers_there_is_no_lower_bound() -> None:
    class Silent(Toy):
        """Suggests nothing."""

        def multipliers(self, point: Point) -> Multipliers | None:
            """None."""
            return None

    found = certify(toy(kind=Silent), toy().trivial_point())
    assert found.lower == -np.inf and found.gap == np.inf and found.multipliers_from == "none" and not found.closes(1e300)


def test_bounds_that_contradict_each_other_never_close() -> None:
    class Wrong(Toy):
        """A dual bound above the optimum."""

        def dual_bound(self, multipliers: Multipliers, num: object = None, upper: float = 0.0) -> float:
            """Too much."""
            return 1e3

        def gap(self, point: Point, multipliers: Multipliers, num: object = None) -> float:
            """P − D."""
            return float(self.objective(point)) - 1e3

    found = certify(toy(kind=Wrong), toy().trivial_point())
    assert not found.closes(1e-3) and found.gap > 900


def test_infeasibility_measures_the_repair() -> None:
    found = certify(toy(radius=1.0), {"x": np.array([3.0, 0.0, 0.0, 0.0])})
    assert found.infeasibility == pytest.approx(1.0)


def test_an_arithmetic_that_the_problem_lacks_is_named() -> None:
    class FloatOnly(Toy):
        """No rigour."""

        arithmetics = ("float",)

    with pytest.raises(InvalidProblem, match=r"arithmetic: toy has no rational bounds; it has float"):
        certify(toy(kind=FloatOnly), toy().trivial_point(), None, RATIONAL)


def test_ratio() -> None:
    assert (
        ratio(0.0, 0.0) == 0.0
        and ratio(1.0, 0.0) == ratio(1.0, np.inf) == np.inf
        and ratio(1.0, 4.0) == 0.25
        and ratio(1.0, np.nan) == np.inf
    )


def test_fingerprints_see_every_entry_and_nothing_else() -> None:
    one = toy(n=3000, d=2)
    matrix = one.matrix.copy()
    matrix[1500, 1] += 1e-12
    assert one.fingerprint() == toy(n=3000, d=2).fingerprint()
    assert one.fingerprint() == dataclasses.replace(one, matrix=np.asfortranarray(one.matrix)).fingerprint()
    assert one.fingerprint() != dataclasses.replace(one, matrix=matrix).fingerprint()
    assert one.fingerprint() != dataclasses.replace(one, radius=2.0).fingerprint()


def test_pickled_problems_stay_read_only() -> None:
    import pickle

    one = toy()
    two = pickle.loads(pickle.dumps(one))
    assert two.fingerprint() == one.fingerprint()
    with pytest.raises(ValueError, match="read-only"):
        two.matrix[0, 0] = 1.0


def test_bounds_that_contradict_each_other_never_close_whatever_the_gap_says() -> None:
    class Wrong(Toy):
        """A dual bound above the optimum beside a gap that looks fine."""

        def dual_bound(self, multipliers: Multipliers, num: object = None, upper: float = 0.0) -> float:
            """Too much."""
            return upper + 5.0

        def gap(self, point: Point, multipliers: Multipliers, num: object = None) -> float:
            """Fine."""
            return 1e-12

    for num in (FLOAT, INTERVAL):
        assert certify(toy(kind=Wrong), toy().trivial_point(), None, num).gap > 4.99


@pytest.mark.parametrize("name", list(BY_NAME))
@pytest.mark.parametrize("size", [1e-300, 1e-30, 1e30, 1e150, 1e250])
def test_no_multipliers_leak_a_warning_or_a_wrong_bound(size: float, name: str) -> None:
    problem = toy(radius=0.3)
    best = solve(problem, "cyclic", tol=1e-14).certificate
    assert best is not None
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = certify(problem, {"x": np.full(4, size)}, {"predictions": size * np.linspace(-1.0, 1.0, 12)}, BY_NAME[name])
    assert found.lower <= best.upper + 1e-12 and found.upper >= best.lower - 1e-12


def test_entries_of_the_wrong_size_or_name_are_named() -> None:
    problem = toy()
    for point, multipliers, message in (
        ({"x": np.zeros(3)}, None, r"point: x has shape \(3,\), expected \(4,\)"),
        ({"y": np.zeros(4)}, None, r"point: no entry 'x', only 'y'"),
        ({"x": ["a"] * 4}, None, "point: x is not an array of numbers"),
        ({"x": np.zeros(4)}, {"predictions": np.zeros(1)}, r"multipliers: predictions has shape \(1,\), expected \(12,\)"),
        ({"x": np.zeros(4)}, {"predictons": np.zeros(12)}, r"multipliers: no entry 'predictions', only 'predictons'"),
        ({"x": np.zeros(4)}, {}, r"multipliers: no entry 'predictions', only none at all"),
    ):
        with pytest.raises(InvalidProblem, match=message):
            certify(problem, point, multipliers)
    column = certify(problem, {"x": np.zeros((4, 1))}, {"predictions": [0.1] * 12})
    assert column.upper == certify(problem, {"x": np.zeros(4)}).upper
