"""The judge: brackets that hold whatever point and multipliers it is given."""

import dataclasses
import itertools
import pickle
import warnings
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from frame_toy import Toy, toy
from hypothesis import given, settings
from hypothesis import strategies as st

from simopt import Status, certify, solve
from simopt.arithmetic import BY_NAME, FLOAT, INTERVAL, RATIONAL, Arithmetic, Interval
from simopt.certificates import assessment
from simopt.certificates.assessment import judge
from simopt.core.arrays import Multipliers, Point
from simopt.core.errors import InvalidProblem
from simopt.model.gap_unit import ratio
from simopt.model.problem import Problem, own, owns_its_data, twin
from simopt.problems.bounds import Capacity, Penalty
from simopt.problems.hinge_svm import HingeSVM
from simopt.problems.kernel_ridge import KernelRidge
from simopt.problems.m_power_rls import MPowerRLS, PowerPenalty
from simopt.problems.mean_classifier import MeanClassifier
from simopt.problems.smallest_bound import SmallestBound

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
    assert not certify(zero, {"x": np.full(4, 1e-3)}).closes(0.5), "0 is the optimum: any other point is far in units of 0"
    near = certify(zero, {"x": np.full(4, 1e-9)})
    assert near.closes(1e-8) and near.infeasibility == pytest.approx(1e-9), "it is repaired to the trivial point, and says by how much"


def test_a_point_that_is_not_finite_is_refused() -> None:
    for bad in (np.nan, np.inf):
        with pytest.raises(InvalidProblem, match="point: x is not finite"):
            certify(toy(), {"x": np.array([0.0, bad, 0.0, 0.0])})


def test_the_entry_that_is_not_finite_is_named() -> None:
    with pytest.raises(InvalidProblem, match=r"x is not finite \(first at index 1\)"):
        certify(toy(), {"x": np.array([0.0, np.nan, 0.0, np.inf])})


def test_multipliers_that_are_not_finite_are_ignored() -> None:
    judged = judge(toy(), toy().trivial_point(), {"predictions": np.full(12, np.nan)})
    assert judged.certificate.multipliers_from in ("point", "zero") and np.isfinite(judged.certificate.lower)


def test_the_better_of_two_candidates_is_kept() -> None:
    problem = toy(radius=0.3)
    solution = solve(problem, "cyclic", tol=1e-12)
    assert solution.multipliers is not None
    far = {"x": np.full(4, 0.3)}
    good = certify(problem, far, dict(solution.multipliers))
    bad = certify(problem, far, {"predictions": np.full(12, 1e3)})
    assert good.multipliers_from == "solver" and bad.multipliers_from == "zero"
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
    class DualBoundTooHigh(Toy):
        """A dual bound above the optimum, in floats."""

        arithmetics = ("float",)

        def dual_bound(self, multipliers: Multipliers, num: object = None, upper: float = 0.0) -> float:
            """Too much."""
            return 1e3

        def gap(self, point: Point, multipliers: Multipliers, num: object = None) -> float:
            """P − D."""
            return float(self.objective(point)) - 1e3

    found = certify(toy(kind=DualBoundTooHigh), toy().trivial_point())
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
    one = toy()
    two = pickle.loads(pickle.dumps(one))
    assert two.fingerprint() == one.fingerprint()
    with pytest.raises(ValueError, match="read-only"):
        two.matrix[0, 0] = 1.0


def test_bounds_that_contradict_each_other_never_close_whatever_the_gap_says() -> None:
    class DualBoundBesideAGoodGap(Toy):
        """A dual bound above the optimum beside a gap that looks fine."""

        def dual_bound(self, multipliers: Multipliers, num: object = None, upper: float = 0.0) -> float:
            """Too much."""
            return upper + 5.0

        def gap(self, point: Point, multipliers: Multipliers, num: object = None) -> float:
            """Fine."""
            return 1e-12

    for num in (FLOAT, INTERVAL):
        assert certify(toy(kind=DualBoundBesideAGoodGap), toy().trivial_point(), None, num).gap > 4.99


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
        ({"x": ["a"] * 4}, None, "point: x: values that are not numbers"),
        ({"x": np.zeros(4)}, {"predictions": np.zeros(1)}, r"multipliers: predictions has shape \(1,\), expected \(12,\)"),
        ({"x": np.zeros(4)}, {"predictons": np.zeros(12)}, r"multipliers: no entry 'predictions', only 'predictons'"),
        ({"x": np.zeros(4)}, {}, r"multipliers: no entry 'predictions', only none at all"),
    ):
        with pytest.raises(InvalidProblem, match=message):
            certify(problem, point, multipliers)
    column = certify(problem, {"x": np.zeros((4, 1))}, {"predictions": [0.1] * 12})
    assert column.upper == certify(problem, {"x": np.zeros(4)}).upper


@pytest.mark.parametrize("num", [FLOAT, INTERVAL, RATIONAL])
@pytest.mark.parametrize("deviation", [1e-3, 0.4, 0.9, 5.0])
def test_a_gap_that_its_bounds_contradict_is_open(deviation: float, num: Arithmetic) -> None:
    """Each of the three formulas wrong in turn, by little and by much, with the two others right or in league with it."""

    class OneFormulaShifted(Toy):
        shift: ClassVar[dict[str, float]] = {}

        def objective(self, point: Any, num: Any = FLOAT) -> Any:
            return super().objective(point, num) + num.lift(self.shift.get("objective", 0.0))

        def dual_bound(self, multipliers: Any, num: Any = FLOAT, upper: float = np.inf) -> Any:
            return super().dual_bound(multipliers, num, upper) + num.lift(self.shift.get("dual", 0.0))

        def gap(self, point: Any, multipliers: Any, num: Any = FLOAT) -> Any:
            return super().gap(point, multipliers, num) + num.lift(self.shift.get("gap", 0.0))

    best = solve(toy(radius=0.3), "cyclic", tol=1e-14)
    assert best.point is not None and best.multipliers is not None
    for shift in (
        {"dual": deviation},
        {"dual": -deviation},
        {"objective": deviation},
        {"objective": -deviation},
        {"gap": deviation},
        {"dual": deviation, "gap": -deviation},
    ):
        OneFormulaShifted.shift = shift
        found = certify(toy(radius=0.3, kind=OneFormulaShifted), dict(best.point), dict(best.multipliers), num)
        assert found.gap == np.inf and found.lower == -np.inf and not found.closes(0.999), shift
    OneFormulaShifted.shift = {}
    assert certify(toy(radius=0.3, kind=OneFormulaShifted), dict(best.point), dict(best.multipliers), num).closes(1e-12)


def test_what_rounding_explains_is_no_contradiction() -> None:
    """Coefficients of 1e9 cost upper − lower more digits than tol has; the formula of the gap keeps them, and intervals explain it.

    Rounding α to floats moves it by some δ and leaves a gap of ‖Kδ‖²/n, 9e-10 of the value on average. So tol 1e-9 is a matter of luck
    here, which differs with the BLAS.
    """
    gram = np.exp(-(np.subtract.outer(np.linspace(0, 1, 8), np.linspace(0, 1, 8)) ** 2))
    problem = KernelRidge(gram, np.sign(np.sin(9 * np.arange(8.0))), 1e-14)
    found = solve(problem, tol=1e-8)
    assert found.optimal and found.point is not None and np.max(np.abs(found.point["alpha"])) > 1e9


ALIKE, CONTRADICTED = np.ones((4, 4)), np.array([1.0, -1.0, 1.0, -1.0])  # no f is better than 0
UNSEEN: dict[str, Problem] = {
    "hinge-svm": HingeSVM(ALIKE, CONTRADICTED, Penalty(0.1)),
    "hinge-svm-bias": HingeSVM(ALIKE, CONTRADICTED, Penalty(0.1), intercept=True),
    "hinge-svm-ball-bias": HingeSVM(ALIKE, CONTRADICTED, Capacity(1.0), intercept=True),
    "m-power-rls": MPowerRLS(ALIKE, CONTRADICTED, PowerPenalty(0.1, 3.0)),
    "mean-classifier-penalised": MeanClassifier(ALIKE, CONTRADICTED, Penalty(0.5)),
}


@pytest.mark.parametrize("size", [1e17, 1e20, 1e150, 1e300])
@pytest.mark.parametrize("name", UNSEEN)
def test_what_cancels_without_a_trace_closes_nothing(name: str, size: float) -> None:
    """±size take 3 with them: Kα = 3 and αᵀKα = 9 are 0 in floats, in one order or another, and so are all witnesses."""
    problem, multipliers = UNSEEN[name], {"margins": np.full(4, 0.25), "predictions": CONTRADICTED / 2}
    honest = problem.trivial_point()
    assert certify(problem, honest, multipliers).closes(1e-6)
    for alpha in itertools.permutations((size, 3.0, -size, 0.0)):
        point = dict(honest) | {"alpha": np.array(alpha)}
        for known in (multipliers, None):
            found = judge(problem, point, known)
            # drawn into the ball 3 may have become small: then the point is as good as 0
            assert not found.certificate.closes(1e-6) or abs(sum(map(Fraction, map(float, found.point["alpha"])))) < 1e-3


def counted(monkeypatch: pytest.MonkeyPatch, kind: type[Problem]) -> list[str]:
    """The arithmetics in which objectives are evaluated from now on."""
    asked: list[str] = []
    ask = kind.objective

    def objective(self: Any, point: Any, num: Arithmetic = FLOAT) -> Any:
        asked.append(num.name)
        return ask(self, point, num)

    monkeypatch.setattr(kind, "objective", objective)
    return asked


def test_intervals_are_evaluated_for_small_gaps_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a solve once, when its gap has come down to tol; in a certificate where the gap is at most the scale; here nothing is stable."""
    asked = counted(monkeypatch, Toy)
    problem = toy(radius=0.3)
    far = {"predictions": np.full(12, 1e3)}
    monkeypatch.setattr(Toy, "multipliers", lambda self, point: None)
    monkeypatch.setattr("simopt.certificates.assessment._PointEvaluation._stable", lambda *_: (False, False))
    assert certify(problem, problem.trivial_point(), far).relative_gap >= 1.0 and "interval" not in asked
    found = solve(problem, "cyclic", tol=1e-9)
    assert found.optimal and "interval" in asked[-2:] and asked.count("interval") <= 2


def test_intervals_are_evaluated_only_where_bounds_are_not_stable(monkeypatch: pytest.MonkeyPatch) -> None:
    """An honest solve costs three evaluations in floats more, none in intervals; weights of 1e9 that K does not see need intervals."""
    asked = counted(monkeypatch, HingeSVM)
    rng = np.random.default_rng(0)
    features = rng.standard_normal((60, 4))
    problem = HingeSVM(features @ features.T, np.where(features[:, 0] + rng.standard_normal(60) > 0, 1.0, -1.0), Penalty(0.01))
    best = solve(problem, tol=1e-6)
    assert best.optimal and best.point is not None and best.multipliers is not None and "interval" not in asked
    asked.clear()
    assert certify(problem, dict(best.point), dict(best.multipliers)).closes(1e-6) and asked == ["float"] * 3
    unseen = np.linalg.svd(features.T)[2][-1]  # of the null space
    asked.clear()
    certify(problem, {"alpha": best.point["alpha"] + 1e9 * unseen}, dict(best.multipliers))
    assert "interval" in asked


@pytest.mark.parametrize("seed", range(6))
def test_a_gap_that_is_stable_when_perturbed_hides_nothing(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Weights u, v, −u − v of three equal samples, of all sizes: without intervals the bounds are those of fractions, to HIDDEN·scale."""
    asked = counted(monkeypatch, HingeSVM)
    rng = np.random.default_rng(seed)
    features = rng.integers(-3, 4, (3, 2)).astype(float)
    gram, honest = np.kron(np.ones((3, 3)), features @ features.T), rng.integers(-3, 4, 9) / 8
    problem = HingeSVM(gram, np.sign(rng.standard_normal(9)), Penalty(0.1))
    kept = []
    for size in 10.0 ** np.arange(21):
        u, v = size * rng.standard_normal((2, 3))
        point = {"alpha": honest + np.concatenate([u, v, -u - v])}
        asked.clear()
        found = judge(problem, point, {"margins": np.full(9, 0.05)}, near=np.inf).certificate
        if "interval" not in asked and np.isfinite(found.gap):
            kept.append(size)
            assert abs(found.upper - problem.objective(problem.restore(point, RATIONAL), RATIONAL)) <= 1e-5 * found.scale, size
    assert kept and max(kept) < 1e12


def test_a_float_point_that_intervals_move_closes_nothing() -> None:
    """Floats find ‖f‖ = 0 ≤ 1 and leave α as it is; intervals cannot tell, shrink it to 0, and prove that 0 is optimal."""
    problem = UNSEEN["hinge-svm-ball-bias"]
    point = {"alpha": np.array([1e20, 3.0, -1e20, 0.0]), "b": np.array(0.0)}
    known = {"margins": np.full(4, 0.25)}
    assert certify(problem, point, known, INTERVAL).closes(1e-6) and not certify(problem, point, known).closes(1e-6)


def test_formulas_that_divide_by_zero_in_intervals_confirm_no_gap(monkeypatch: pytest.MonkeyPatch) -> None:
    class Divides(Toy):
        """Floats only: in intervals value and gap are undefined."""

        def objective(self, point: Any, num: Any = FLOAT) -> Any:
            return 1.0 / 0.0 if num is INTERVAL else super().objective(point, num)

        def gap(self, point: Any, multipliers: Any, num: Any = FLOAT) -> Any:
            return 1.0 / 0.0 if num is INTERVAL else super().gap(point, multipliers, num)

    problem = Divides(np.eye(2), np.array([1.0, 0.25]), 1.0, 1.0)
    best = {"x": np.array([0.5, 0.125])}, {"predictions": np.array([0.5, 0.125])}
    assert certify(problem, *best).closes(1e-12)  # both bounds are stable, so that intervals are not asked
    monkeypatch.setattr(assessment._PointEvaluation, "_stable", lambda *_: (False, False))
    assert not certify(problem, *best).closes(1e-2)


@pytest.mark.parametrize("stable", [(True, False), (False, True)])
def test_where_one_bound_is_stable_the_other_alone_is_evaluated_in_intervals(stable: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    hidden = 0.0

    class Wide(Toy):
        """The unstable formula hides this much in its interval."""

        def objective(self, point: Any, num: Any = FLOAT) -> Any:
            if num is INTERVAL:
                asked.append("objective")
            return super().objective(point, num) + (Interval(0.0, hidden) if num is INTERVAL else 0.0)

        def dual_bound(self, multipliers: Any, num: Any = FLOAT, upper: float = np.inf) -> Any:
            if num is INTERVAL:
                asked.append("dual_bound")
            return super().dual_bound(multipliers, num, upper) + (Interval(0.0, hidden) if num is INTERVAL else 0.0)

        def gap(self, point: Any, multipliers: Any, num: Any = FLOAT) -> Any:
            if num is INTERVAL:
                asked.append("gap")
            return super().gap(point, multipliers, num) + (Interval(0.0, hidden) if num is INTERVAL else 0.0)

    monkeypatch.setattr(assessment._PointEvaluation, "_stable", lambda *_: stable)
    problem, best = Wide(np.eye(2), np.array([1.0, 0.25]), 1.0, 1.0), {"x": np.array([0.5, 0.125])}
    found = certify(problem, best, {"predictions": best["x"]})
    assert found.closes(1e-12) and set(asked) == {"dual_bound" if stable[0] else "objective"}
    hidden = 2 * assessment.WORST * found.scale  # more than may be hidden: all is evaluated, and the gap is what is proven
    found = certify(problem, best, {"predictions": best["x"]})
    assert found.gap >= hidden and "gap" in asked


def test_how_arrays_are_stored_changes_no_word(tmp_path: Path) -> None:
    """Mapped from a file, read-only, every second entry, Fortran's order: the same numbers, the same certificate."""
    problem = toy(n=30, d=5, radius=0.3)
    best = solve(problem, "cyclic", tol=1e-9)
    assert best.point is not None and best.multipliers is not None
    said = certify(problem, dict(best.point), dict(best.multipliers))
    np.save(tmp_path / "matrix.npy", problem.matrix)
    mapped = dataclasses.replace(problem, matrix=np.load(tmp_path / "matrix.npy", mmap_mode="r"))
    turned = dataclasses.replace(problem, matrix=np.asfortranarray(problem.matrix))

    def strided(x: Any) -> np.ndarray:
        out = np.repeat(np.asarray(x), 2)[::2]
        out.setflags(write=False)
        return out

    for other in (mapped, turned):
        for values in (dict(best.point), {name: strided(x) for name, x in best.point.items()}):
            found = certify(other, values, {name: strided(x) for name, x in best.multipliers.items()})
            assert found.closes(1e-9) and found.upper == pytest.approx(said.upper, rel=1e-14)


def test_the_objective_at_the_trivial_point_is_not_the_unit() -> None:
    class Endless(Toy):
        def scale(self) -> float:
            return np.inf

    best = solve(toy(radius=0.3), "cyclic", tol=1e-14)
    assert best.point is not None
    for point in (dict(best.point), {"x": np.full(4, 0.1)}):
        one, other = (certify(toy(radius=0.3, kind=kind), point, best.multipliers) for kind in (Toy, Endless))
        assert dataclasses.astuple(one) == dataclasses.astuple(other) and one.scale == max(abs(one.lower), abs(one.upper))


def test_a_point_that_suggests_nothing_is_judged_all_the_same() -> None:
    class Raises(Toy):
        def multipliers(self, point: Point) -> Multipliers | None:
            raise OverflowError

    found = certify(toy(kind=Raises), toy().trivial_point(), {"predictions": np.zeros(12)})
    assert found.multipliers_from == "solver" and np.isfinite(found.lower)


def test_sums_that_overflow_close_nothing() -> None:
    """1 − ⟨ω, f⟩ + ½‖f‖² at coefficients of 1e155: αᵀKα overflows to −∞ and the gap to 0."""
    problem = MeanClassifier(np.ones((2, 2)), -np.ones(2), Penalty(1.0))
    for num in (FLOAT, INTERVAL):
        found = certify(problem, {"alpha": np.array([-1e155, 1e156])}, None, num)
        assert found.upper == found.gap == np.inf and not found.closes(0.999)
    exact = certify(problem, {"alpha": np.array([-1e155, 1e156])}, None, RATIONAL)
    assert exact.upper == np.inf and exact.lower == 0.5


def test_an_infinite_bound_is_not_optimal() -> None:
    found = solve(MeanClassifier(np.array([[1, 0.5], [0.5, 1]]), np.ones(2), Penalty(1e-161)))
    assert found.status is not Status.OPTIMAL
    assert not dataclasses.replace(certify(toy(), toy().trivial_point()), gap=0.0, relative_gap=0.0, upper=np.inf).closes(0.5)
    assert not dataclasses.replace(certify(toy(), toy().trivial_point()), gap=0.0, relative_gap=0.0, lower=-np.inf).closes(0.5)


def test_an_infinite_bound_proves_infeasibility_only_where_there_is_some() -> None:
    class Overflows(Toy):
        def objective(self, point: Any, num: Any = FLOAT) -> Any:
            return num.lift(np.inf)

        def dual_bound(self, multipliers: Any, num: Any = FLOAT, upper: float = np.inf) -> Any:
            return num.lift(np.inf)

    for num in (FLOAT, INTERVAL):
        found = certify(toy(kind=Overflows), toy().trivial_point(), None, num)
        assert not found.infeasible and found.lower == -np.inf
    tiny = SmallestBound(np.full((2, 2), 1e-140), np.array([1.0, 1.0]), 1e-3)  # Σ c(q)/Σ p|g| may leave the floats: no proof either
    for size in (1e-200, 1e-300, 1e-320):
        assert not certify(tiny, tiny.trivial_point(), {"predictions": np.full(2, size), "level": np.array(size)}).infeasible


@pytest.mark.parametrize("entry", [None, "much", 1j * np.ones(4), [None] * 4, {"a": 1}, object(), np.ones(3), [[1.0], 2.0]])
def test_entries_that_are_no_numbers_are_named(entry: Any) -> None:
    with pytest.raises(InvalidProblem, match="point: x"):
        certify(toy(), {"x": entry})
    with pytest.raises(InvalidProblem, match="multipliers: predictions"):
        certify(toy(), toy().trivial_point(), {"predictions": entry})


@pytest.mark.parametrize("values", [None, 3.0, [("x", np.zeros(4))], np.zeros(4)])
def test_a_point_that_is_no_mapping_is_refused(values: Any) -> None:
    with pytest.raises(InvalidProblem, match="point: .* given, a mapping of names to arrays needed"):
        certify(toy(), values)


def test_a_problem_owns_its_data() -> None:
    matrix, targets = np.random.default_rng(0).standard_normal((12, 4)), np.arange(12.0)
    problem = Toy(matrix, targets)
    mark = problem.fingerprint()
    matrix[:], targets[:] = 0.0, 0.0  # the caller's arrays stay his
    for array in (problem.matrix, problem.targets, np.asfortranarray(matrix), matrix[::2, 1:]):
        mine = own(array)
        assert np.array_equal(mine, array) and mine.flags.c_contiguous | mine.flags.f_contiguous
        assert own(mine) is mine, "copied once"
        for start in (mine, mine.view(), mine[1:]):
            view: Any = start
            while isinstance(view, np.ndarray):
                with pytest.raises(ValueError, match="WRITEABLE"):
                    view.setflags(write=True)
                view = view.base
            assert isinstance(view, bytes)
    unpickled = pickle.loads(pickle.dumps(matrix))
    assert own(unpickled) is not unpickled and not own(unpickled).flags.writeable
    assert own(np.zeros((0, 3))).shape == (0, 3) and own(np.array(2.0)) == 2.0
    assert problem.fingerprint() == mark and owns_its_data(problem)


def test_a_gram_matrix_keeps_its_identity_and_its_factor() -> None:
    one = KernelRidge(np.eye(3) + 1.0, np.ones(3), 0.5)
    assert dataclasses.replace(one, regularization=2.0).gram is one.gram and twin(one).gram is one.gram
    assert twin(one).factor is one.factor and twin(one) is not one and owns_its_data(one)


def test_an_interval_that_overflowed_explains_no_difference() -> None:
    class Unknown(Toy):
        def gap(self, point: Any, multipliers: Any, num: Any = FLOAT) -> Any:
            return Interval(0.0, np.inf) if num is INTERVAL else 0.0

    assert certify(toy(kind=Unknown), toy().trivial_point()).gap == np.inf


def test_a_restored_point_that_overflowed_bounds_nothing() -> None:
    class Lost(Toy):
        def restore(self, point: Any, num: Any = FLOAT) -> Any:
            return super().restore(point, num) | {"f": np.full(12, np.inf)}

    assert certify(toy(kind=Lost), toy().trivial_point()).upper == np.inf
