"""The curve B ↦ ε₀(B): breakpoints against exact values, ladders, rigorous values in between, records, the smallest bound on it."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simopt.arithmetic import RATIONAL
from simopt.core.errors import InvalidFile, InvalidProblem
from simopt.problems.examples.goodness import four_points
from simopt.problems.goodness import Goodness
from simopt.problems.smallest_bound import SmallestBound
from simopt.solvers.goodness.curve import goodness_breakpoints, goodness_curve
from simopt.solvers.goodness.curve_record import GoodnessCurve, plot_curves
from simopt.solvers.goodness.exact import exact_goodness, exact_smallest_bound
from simopt.solvers.goodness.parametric import ParametricSimplex
from simopt.solvers.goodness.smallest_bound import newton_on_curve
from simopt.solving.entry_points import solve


def dyadic(seed: int, n: int, loss: str = "insensitive", bound: float = 1.0) -> Goodness:
    """Random data in eighths, so that fractions stay short."""
    rng = np.random.default_rng(seed)
    gram, y = rng.integers(-8, 9, size=(n, n)) / 8.0, rng.integers(-12, 13, size=n) / 8.0
    return Goodness(gram, np.where(y > 0, 1.0, -1.0) if loss == "hinge" else y, bound, np.full(n, 1.0 / n), loss)


@pytest.mark.parametrize("loss", ["insensitive", "hinge"])
def test_between_breakpoints_the_exact_values_are_on_the_chords(loss: str) -> None:
    for seed in range(4):
        problem = dyadic(seed, 8, loss)
        curve = goodness_breakpoints(problem, 40.0)
        assert curve.breakpoints and np.all(np.diff(curve.bounds) > 0) and curve.bounds[-1] == 40.0
        assert float(np.max(curve.gaps)) <= 1e-12
        slopes = np.diff(np.concatenate([[curve.at_zero], curve.upper])) / np.diff(np.concatenate([[0.0], curve.bounds]))
        assert np.all(np.diff(slopes)[:-1] > 1e-12)  # each breakpoint is one; the end need not be
        for bound in np.random.default_rng(seed).uniform(0.0, 40.0, size=12):
            exact = exact_goodness(problem.gram, problem.targets, float(bound), [Fraction(1, 8)] * 8, loss)
            assert exact.exact
            assert curve(bound) == pytest.approx(float(exact.lower), abs=1e-11)


def test_the_four_points_have_the_breakpoints_of_the_closed_form() -> None:
    gram, y, p = four_points(0.25, 0.125)
    curve = goodness_breakpoints(Goodness(gram, y, 1.0, p, "hinge"), 60.0)
    root = exact_smallest_bound(gram, y, 0.125, p.tolist(), "hinge")
    assert root.lower == 16  # 1/(8 ε₁ γ²) with ε₁ = 1/8, γ = 1/4
    low, high = curve.smallest_bound(0.125)
    assert low == pytest.approx(16.0, rel=1e-12) and high == pytest.approx(16.0, rel=1e-12)
    assert curve(16.0) == pytest.approx(0.125, abs=1e-14)


def test_breakpoints_of_an_interval_are_those_of_the_whole() -> None:
    problem = dyadic(7, 10)
    whole = goodness_breakpoints(problem, 30.0)
    part = goodness_breakpoints(problem, 20.0, 3.0)
    inside = whole.bounds[(whole.bounds > 3.0) & (whole.bounds < 20.0)]
    np.testing.assert_allclose(part.bounds, np.concatenate([[3.0], inside, [20.0]]), rtol=1e-9)


@pytest.mark.parametrize("loss", ["insensitive", "hinge", "squared"])
def test_a_ladder_holds_the_values_of_single_solves_and_encloses_those_between(loss: str) -> None:
    problem = dyadic(3, 12, loss)
    curve = goodness_curve(problem, [5.0, 0.5, 2.0, 2.0, 11.0])
    np.testing.assert_array_equal(curve.bounds, [0.5, 2.0, 5.0, 11.0])
    assert not curve.breakpoints and len(curve) == 4
    for k, bound in enumerate(curve.bounds):
        found = solve(dyadic(3, 12, loss, float(bound)), tol=1e-9)
        assert found.certificate is not None
        assert curve.lower[k] <= found.certificate.upper + 1e-12 and found.certificate.lower <= curve.upper[k] + 1e-12
        assert curve.certificate(problem, k).relative_gap <= 1e-8
    rational = curve.certificate(problem, 1, RATIONAL)
    assert rational.lower <= curve.upper[1] + 1e-12 and rational.gap >= 0.0
    for bound in (0.1, 1.0, 3.0, 8.0, 20.0):
        low, high = curve.enclose(bound)
        value = solve(dyadic(3, 12, loss, bound), tol=1e-9).value
        assert low - 1e-9 <= value <= high + 1e-9
    assert curve.enclose(0.0)[1] == curve.at_zero


def test_the_smallest_bound_is_between_the_lines_and_the_chords() -> None:
    problem = dyadic(5, 10)
    curve = goodness_curve(problem, np.geomspace(0.1, 30.0, 12))
    level = 0.5 * curve.at_zero
    low, high = curve.smallest_bound(level)
    value = solve(SmallestBound(problem.gram, problem.targets, level, problem.masses), tol=1e-9).value
    assert low - 1e-9 <= value <= high + 1e-9 and high <= 1.5 * low
    assert curve.smallest_bound(2.0 * curve.at_zero) == (0.0, 0.0)
    flat = goodness_curve(Goodness(np.zeros((2, 2)), np.ones(2), 1.0), [1.0])
    assert flat.smallest_bound(0.5) == (np.inf, np.inf)


def test_a_proof_that_no_bound_suffices_has_no_gap_left() -> None:
    """With K = 1 everywhere f is constant: 3, 2 and 1 are not all within ε. The first multipliers give a number, the last prove it."""
    problem = SmallestBound(np.ones((3, 3)), np.array([3.0, 2.0, 1.0]), 0.1, np.full(3, 1 / 3))
    *_, before, last = newton_on_curve(problem, 50)
    assert before.multipliers is not None and last.multipliers is not None
    assert problem.dual_bound(before.multipliers) < np.inf == problem.dual_bound(last.multipliers)
    assert (before.gap, last.gap) == (np.inf, 0.0)


def test_a_curve_survives_its_files(tmp_path: Path) -> None:
    curve = goodness_breakpoints(dyadic(1, 6), 10.0)
    for name in ("curve.npz", "curve.json"):
        curve.save(tmp_path / name)
        again = GoodnessCurve.load(tmp_path / name)
        for field in ("bounds", "upper", "lower", "slopes", "weights", "prices"):
            np.testing.assert_array_equal(getattr(again, field), getattr(curve, field))
        assert again.breakpoints and again.fingerprint == curve.fingerprint and str(again) == str(curve)
        with pytest.raises(ValueError, match="read-only"):
            again.upper[0] = 0.0
    record = json.loads((tmp_path / "curve.json").read_text())
    del record["slopes"]
    (tmp_path / "broken.json").write_text(json.dumps(record))
    with pytest.raises(InvalidFile, match="not a whole goodness curve"):
        GoodnessCurve.load(tmp_path / "broken.json")
    with pytest.raises(InvalidProblem, match="fingerprint differs"):
        curve.certificate(dyadic(2, 6), 0)


@pytest.mark.parametrize("loss", ["insensitive", "hinge", "squared"])
def test_a_ladder_may_begin_at_zero(loss: str) -> None:
    problem = dyadic(3, 12, loss)
    curve, without = goodness_curve(problem, [0.0, 0.5, 2.0]), goodness_curve(problem, [0.5, 2.0])
    assert curve.bounds[0] == 0.0 and curve.lower[0] == pytest.approx(curve.upper[0], rel=1e-15) and curve.upper[0] == curve.at_zero
    assert curve(0.0) == curve.at_zero and np.all(curve.weights[0] == 0.0)
    line = curve.lower[0] + curve.slopes[0] * without.bounds
    assert curve.slopes[0] <= curve.slopes[1] < 0.0 and np.all(line <= without.upper + 1e-12)
    np.testing.assert_allclose(curve([0.1, 0.5, 1.7]), without([0.1, 0.5, 1.7]), rtol=1e-12)
    for level in (0.7, 0.95, 1.5):
        one, other = curve.smallest_bound(level * curve.at_zero), without.smallest_bound(level * curve.at_zero)
        assert other[0] - 1e-12 <= one[0] <= one[1] and one[1] == pytest.approx(other[1], rel=1e-9)
    assert len(curve.plot().axes[0].lines) == 2 and len(plot_curves({"ε₀": curve}, logarithmic=False).axes[0].lines) == 2
    with pytest.raises(InvalidProblem, match="bound: 0 given"):
        curve.certificate(problem, 0)
    with pytest.raises(InvalidProblem, match="only B = 0"):
        goodness_curve(problem, [0.0]).plot()


@pytest.mark.parametrize("loss", ["insensitive", "hinge", "squared"])
def test_lines_and_chords_that_touch_do_not_cross(loss: str) -> None:
    """At B = 0 and all along the first piece they are the same line, of which the sums of a kernel of BLAS may make two."""
    for seed in range(20):
        problem = dyadic(seed, 7, loss)
        problem = replace(problem, gram=problem.gram / 3.0, targets=problem.targets if loss == "hinge" else problem.targets / 7.0)
        curve = goodness_curve(problem, [0.0, 1e-3, 1e-2, 0.1, 3.0])
        assert curve.enclose(0.0) == (curve.at_zero, curve.at_zero)
        np.testing.assert_array_equal(curve(curve.bounds), curve.upper)
        low, high = curve.enclose(np.linspace(0.0, 0.1, 50))
        assert np.all(low <= high)


def test_a_number_in_a_number_out() -> None:
    curve = goodness_curve(dyadic(3, 12), [0.5, 2.0])
    assert isinstance(curve(1.0), float) and all(isinstance(side, float) for side in curve.enclose(np.float64(1.0)))
    assert curve([1.0]).shape == (1,) and curve(np.array([1.0, 2.0])).shape == (2,) and curve([1.0])[0] == curve(1.0)


def test_a_curve_draws_itself() -> None:
    curve = goodness_curve(dyadic(1, 6), [0.5, 1.0, 4.0])
    assert len(curve.plot().axes[0].lines) == 2
    assert len(plot_curves({"one": curve, "two": curve}).axes[0].lines) == 4
    with pytest.raises(InvalidProblem, match="none given"):
        plot_curves({})


def test_what_a_curve_refuses() -> None:
    problem = dyadic(0, 4)
    for bounds, message in (([1.0, -0.5], "bounds: entry 1 is -0.5, numbers ≥ 0"), ([], "no values"), ([np.nan], "not finite")):
        with pytest.raises(InvalidProblem, match=message):
            goodness_curve(problem, bounds)
    with pytest.raises(InvalidProblem, match="low: 3 given, a number below high = 2"):
        goodness_breakpoints(problem, 2.0, 3.0)
    with pytest.raises(InvalidProblem, match="has no breakpoints"):
        goodness_breakpoints(dyadic(0, 4, "squared"), 2.0)
    with pytest.raises(InvalidProblem, match="bound: entry 0 is -1"):
        goodness_curve(problem, [1.0]).enclose(-1.0)


def test_a_similarity_that_says_nothing_has_a_flat_curve() -> None:
    curve = goodness_breakpoints(Goodness(np.zeros((3, 3)), np.array([1.0, 2.0, -1.0]), 1.0), 5.0)
    np.testing.assert_array_equal(curve.bounds, [5.0])
    np.testing.assert_allclose(curve.upper, [4.0 / 3.0])
    single = goodness_breakpoints(Goodness(np.array([[2.0]]), np.array([3.0]), 1.0), 5.0)
    np.testing.assert_allclose(single.bounds, [1.5, 5.0])


WIDTHS = {"insensitive": (0.0, 0.5), "hinge": (0.0,)}
KINDS = ("gaussian", "duplicated", "rank 2", "wide", "constant", "wide masses")


@st.composite
def coarse(draw: st.DrawFn) -> Goodness:
    """Few values of everything: rows, columns, targets and masses are tied, zero, dependent or equal."""
    n = draw(st.integers(1, 7))
    loss = draw(st.sampled_from(("insensitive", "hinge")))
    gram = np.array(draw(st.lists(st.integers(-2, 2), min_size=n * n, max_size=n * n)), dtype=float).reshape(n, n)
    twin = np.array(draw(st.lists(st.integers(0, n - 1), min_size=n, max_size=n)))
    y = np.array(draw(st.lists(st.sampled_from((-1.0, 1.0) if loss == "hinge" else (-2.0, -1.0, 0.0, 1.0)), min_size=n, max_size=n)))
    p = np.array(draw(st.lists(st.integers(0, 2), min_size=n, max_size=n)), dtype=float)
    p[0] += 1.0
    width = draw(st.sampled_from(WIDTHS[loss]))
    return Goodness(gram[np.ix_(twin, twin)] if draw(st.booleans()) else gram, y, 1.0, p / p.sum(), loss, width)


@given(problem=coarse(), fraction=st.floats(0.0, 1.0))
def test_breakpoints_of_tied_data_are_all_and_exact(problem: Goodness, fraction: float) -> None:
    curve = goodness_breakpoints(problem, 64.0)
    assert curve.breakpoints and float(np.max(curve.gaps)) <= 1e-12
    bound = max(64.0 * fraction**4, 2.0**-10)
    masses = [Fraction(float(p)) for p in problem.mass]
    exact = exact_goodness(problem.gram, problem.targets, bound, [p / sum(masses) for p in masses], problem.loss, Fraction(problem.epsilon))
    assert exact.exact
    assert curve(bound) == pytest.approx(float(exact.lower), abs=1e-11)
    ladder = goodness_curve(problem, [0.0, 0.5 * bound, bound])
    assert ladder.upper[-1] == pytest.approx(float(exact.lower), abs=1e-11) and float(np.max(ladder.gaps)) <= 1e-12


def awkward(kind: str, seed: int, n: int = 24) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Ill-conditioned, dependent or badly scaled similarities; targets; masses."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 2))
    if kind == "duplicated":
        x = x[rng.integers(0, n // 3, size=n)]
    gram = np.exp(-np.sum((x[:, None] - x) ** 2, axis=2) / 2)
    if kind == "rank 2":
        gram = x @ x.T
    elif kind == "wide":
        gram = gram * 10.0 ** rng.uniform(-14, 0, size=(n, n))
    elif kind == "constant":
        gram = np.ones((n, n))
    p = 10.0 ** rng.uniform(-13, 0, size=n) if kind == "wide masses" else rng.exponential(size=n)
    return gram, np.sin(2 * x[:, 0]) + 0.3 * rng.normal(size=n), p / p.sum()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("loss", ["insensitive", "hinge"])
def test_curves_of_awkward_data_close_in_all_units(loss: str, kind: str) -> None:
    for seed in range(3):
        gram, y, p = awkward(kind, seed)
        problem = Goodness(gram, np.where(y > 0, 1.0, -1.0) if loss == "hinge" else y, 1.0, p, loss)
        bounds = np.geomspace(0.5, 3000.0, 12)
        curve = goodness_curve(problem, bounds)
        assert float(np.max(curve.gaps)) <= 1e-9 * problem.scale()
        for factor in (2.0**-400, 2.0**400):
            scaled = goodness_curve(replace(problem, gram=gram * factor), bounds / factor)
            np.testing.assert_array_equal(scaled.upper, curve.upper)
        pieces = goodness_breakpoints(problem, 3000.0)
        assert pieces.breakpoints and float(np.max(pieces.gaps)) <= 1e-9 * problem.scale()
        np.testing.assert_allclose(pieces(bounds), curve.upper, atol=2e-9 * problem.scale())
        for bound, value in zip(bounds, curve.lower, strict=True):
            found = solve(replace(problem, bound=float(bound)), "simplex", tol=1e-9).certificate
            assert found is not None and value <= found.upper + 1e-9 * problem.scale()


def test_where_the_walk_ends_highs_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    problem, bounds = dyadic(3, 12), [0.5, 2.0, 7.0]
    walked = goodness_curve(problem, bounds)

    def stuck(*_: object, **__: object) -> float:
        raise ArithmeticError("stuck")

    monkeypatch.setattr(ParametricSimplex, "advance", stuck)
    np.testing.assert_allclose(goodness_curve(problem, bounds).upper, walked.upper, atol=1e-12)
    with pytest.raises(ArithmeticError, match="stuck"):
        goodness_breakpoints(problem, 7.0)


def test_what_the_walk_gets_wrong_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """A walk that forgets pivots: its gaps open, HiGHS closes them, and corners between are found from the lines."""
    problem = dyadic(3, 8)
    whole = goodness_breakpoints(problem, 40.0)
    advance, calls = ParametricSimplex.advance, []

    def skipping(self: ParametricSimplex, bound: float, *, single: bool = False) -> float:
        calls.append(bound)
        at = bound
        for _ in range(1 + (len(calls) - 1) % 3):
            at = advance(self, bound, single=single)
        return at

    monkeypatch.setattr(ParametricSimplex, "advance", skipping)
    again = goodness_breakpoints(problem, 40.0)
    assert again.breakpoints
    inside = whole.bounds > again.bounds[0]
    np.testing.assert_allclose(again.bounds[1:], whole.bounds[inside], rtol=1e-9)
