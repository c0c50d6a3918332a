"""Landmarked SVR by Newton and by the interior-point method: certified on ugly data, equal to CLARABEL and LIBLINEAR.

Each part is tested by its own mathematics. The features are also streamed from memory maps and Dask arrays.
"""

from __future__ import annotations

import math
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from simopt.core.errors import InvalidProblem, UnknownName
from simopt.data.row_blocks import RowBlocks, RowPass
from simopt.model.gap_unit import ROUNDING
from simopt.model.status import Status
from simopt.problems.bounds import Ball, Penalty
from simopt.problems.landmarked_svr import LandmarkedSVR
from simopt.solvers.hinges import newton, two_hinges, weight_bounds
from simopt.solvers.hinges.hinge_interior import Interior, interior
from simopt.solvers.hinges.hinge_stage import HingeStage, WeightedFreeRows, hinge_fits
from simopt.solvers.hinges.stage import BlockUpdate
from simopt.solvers.hinges.two_hinges import Hinges, left_over
from simopt.solving.driver import choose
from simopt.solving.entry_points import certify, solve

SOLVERS = ["newton", "interior-point"]


def sample(n: int, d: int, seed: int = 0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) / np.sqrt(d)
    return X, X @ rng.normal(size=d) + 0.3 * rng.laplace(size=n)


def ugly():
    """Name, features, targets, ε."""
    X, y = sample(300, 8)
    n, d = X.shape
    yield "plain", X, y, 0.1
    yield "duplicated landmarks", np.hstack([X, X[:, :5], X[:, :1]]), y, 0.1
    yield "no features", np.zeros((n, d)), y, 0.1
    yield "a feature that is 0", np.hstack([X, np.zeros((n, 1))]), y, 0.1
    yield "ε above every |y|", X, y, 1.01 * np.max(np.abs(y))
    yield "ε just below the largest |y|", X, y, 0.99 * np.max(np.abs(y))
    yield "ε = 0 with ties", X, np.round(y), 0.0
    yield "ties everywhere", np.round(3 * X), np.round(y), 0.5
    yield "fewer samples than features", X[:6], y[:6], 0.05
    yield "one sample", X[:1], y[:1], 0.0
    yield "two contradicting samples", np.ones((2, 3)), np.array([1.0, -1.0]), 0.0
    yield "features over 8 orders of magnitude", X * 10.0 ** np.linspace(-8, 0, d), y, 0.1
    yield "samples over 8 orders of magnitude", X * 10.0 ** np.linspace(-8, 0, n)[:, None], y, 0.1
    yield "an exact fit", X, X @ np.arange(1.0, d + 1), 0.0
    yield "an exact fit in the tube", X, X @ np.arange(1.0, d + 1), 0.05
    yield "constant targets", X, np.ones(n), 0.1
    yield "constant targets and a narrow tube", np.round(3 * X), np.ones(n), 1e-6
    yield "few samples over 8 orders of magnitude", X[:8] * 10.0 ** np.linspace(-8, 0, 8)[:, None], y[:8], 0.0
    yield "one constant feature", np.ones((n, 1)), np.full(n, 3.0), 0.0
    yield "duplicated samples", np.repeat(X[:30], 10, axis=0), y, 0.1
    yield "heavy tails", X, y * np.exp(3 * np.sin(np.arange(n))), 0.1
    yield "an outlier", np.vstack([X, 1e3 * X[:1]]), np.append(y, 1e5), 0.1


NAMES = [name for name, *_ in ugly()]


def problems(X, y, epsilon, unit=1.0, beta=math.inf):
    """Strong and weak penalties, small and large balls (the smallest leaves every sample outside the tube), in some unit of y."""
    for strength in (1e-8, 1e-4, 1.0, 1e3):
        yield LandmarkedSVR(X, y * unit, Penalty(strength / unit), epsilon * unit, beta / unit)
    for radius in (1e-6, 1.0, 100.0):
        yield LandmarkedSVR(X, y * unit, Ball(radius * unit), epsilon * unit, beta / unit)


def test_newton_is_the_default():
    for form in LandmarkedSVR.each_form():
        assert choose(form, None).name == "newton"


@pytest.mark.thorough
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("beta", [math.inf, 2.0])
def test_the_certificate_closes_on_ugly_data(name, solver, beta):
    X, y, epsilon = next(rest for case, *rest in ugly() if case == name)
    for unit in (1.0, 1e-12, 1e12):
        for problem in problems(X, y, epsilon, unit, beta):
            solution = solve(problem, solver, tol=1e-9)
            found = certify(problem, solution.point, solution.multipliers)  # judged once more, from what is returned
            assert found.closes(1e-9) is solution.optimal
            # where next to nothing is left of the loss at 0, no gap of 1e-9 of that remains in floats: then it is the rounding of that loss
            assert solution.optimal or found.gap <= ROUNDING * problem.scale(), (problem, solution.message)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("beta", [math.inf, 3.0])
def test_clarabel_agrees_within_the_gaps(name, beta):
    X, y, epsilon = next(rest for case, *rest in ugly() if case == name)
    X, y = X[::6], y[::6]
    for problem in (LandmarkedSVR(X, y, Penalty(0.02), epsilon, beta), LandmarkedSVR(X, y, Ball(0.7), epsilon, beta)):
        ours, theirs = solve(problem, "newton").certificate, solve(problem, "clarabel").certificate
        allowed = 1e-12 * problem.scale()
        assert ours.lower <= theirs.upper + allowed
        assert theirs.lower <= ours.upper + allowed
        assert abs(ours.upper - theirs.upper) <= ours.gap + theirs.gap + allowed


@pytest.mark.parametrize("cost", [0.01, 1.0, 100.0])
def test_liblinear_agrees_as_far_as_it_gets(cost):
    svm = pytest.importorskip("sklearn.svm")
    X, y = sample(400, 6, 3)
    problem = LandmarkedSVR(X, y, Penalty(1.0 / (400 * cost)), 0.1)
    solution = solve(problem, tol=1e-11)
    peer = svm.LinearSVR(epsilon=0.1, C=cost, fit_intercept=False, loss="epsilon_insensitive", dual=True, tol=1e-8, max_iter=100_000)
    w = peer.fit(X, y).coef_
    theirs = float(problem.objective({"w": w}))
    assert solution.certificate.lower <= theirs + 1e-12
    assert theirs <= solution.value + 1e-4 * problem.scale()
    # P(w) − P* ≥ (λ/2)‖w − w*‖²
    apart = problem.distance(theirs - solution.certificate.lower) + problem.distance(solution.certificate.gap)
    assert np.linalg.norm(w - solution.point["w"]) <= apart


@pytest.mark.parametrize("beta", [math.inf, 5.0])
def test_both_solvers_and_both_forms_meet(beta):
    X, y = sample(2000, 12, 4)
    penalised = LandmarkedSVR(X, y, Penalty(1e-3), 0.1, beta)
    one, two = solve(penalised, "newton", tol=1e-12), solve(penalised, "interior-point", tol=1e-12)
    apart = penalised.distance(one.certificate.gap) + penalised.distance(two.certificate.gap)
    assert np.linalg.norm(one.point["w"] - two.point["w"]) <= apart
    ball = LandmarkedSVR(X, y, Ball(float(np.linalg.norm(one.point["w"]))), 0.1, beta)
    three = solve(ball, "newton", tol=1e-12)
    loss = float(ball.objective(one.point))
    assert abs(three.value - loss) <= three.certificate.gap + one.certificate.gap + 1e-13


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("beta", [math.inf, 1e6])
def test_units_of_single_features_do_not_matter_in_a_wide_ball(solver, beta):
    # what keeps a factor of the curvature going has to be small beside every feature's own curvature, not beside the largest
    X, y = sample(300, 5, 20)
    units = 10.0 ** np.linspace(-8, 0, 5)
    for problem in (LandmarkedSVR(X * units, np.round(y), Ball(1e4), 0.0, beta), LandmarkedSVR(X * units, y, Penalty(1e-10), 0.0, beta)):
        assert solve(problem, solver, tol=1e-9).optimal


def test_the_first_width_is_that_of_the_loss():
    # targets that are all alike, in a narrow tube: the ends hardly differ, and yet all of them are far from f = 0
    alike = Hinges(np.full(9, 3.0 - 1e-6), np.full(9, 3.0 + 1e-6), np.full(9, 1 / 9))
    assert alike.first_width() == pytest.approx(0.9, rel=1e-5)
    spread = Hinges(np.array([-1.0, 1.0]) - 4.0, np.array([-1.0, 1.0]) + 4.0, np.full(2, 0.5))
    assert spread.first_width() == pytest.approx(0.3 * math.sqrt(17.0))


def test_closed_forms():
    # one sample: (|w − y| − ε)_+ + λw²/2 with y = 4, ε = ½ is least at min(1/λ, 3.5); in a ball at min(B, 3.5)
    X, y = np.ones((1, 1)), np.array([4.0])
    for strength in (0.1, 0.5, 2.0):
        problem = LandmarkedSVR(X, y, Penalty(strength), 0.5)
        solution = solve(problem, tol=1e-12)
        assert abs(solution.point["w"][0] - min(1 / strength, 3.5)) <= problem.distance(solution.certificate.gap)
    assert solve(LandmarkedSVR(X, y, Ball(2.0), 0.5), tol=1e-12).point["w"][0] == pytest.approx(2.0, abs=1e-11)
    # no sample reaches its tube from a small ball: the loss is linear in it, and w points along Σ sign(y_i) ψ_i
    X, y = sample(50, 3, 5)
    y = np.sign(y) * (5.0 + np.abs(y))
    pull = np.sign(y) @ X / 50
    solution = solve(LandmarkedSVR(X, y, Ball(1e-3), 0.1), tol=1e-12)
    best = 1e-3 * pull / np.linalg.norm(pull)
    assert solution.value == pytest.approx(np.mean(np.abs(y)) - 0.1 - pull @ best, abs=1e-11)
    assert solution.point["w"] == pytest.approx(best, abs=1e-6)


@pytest.mark.parametrize("solver", SOLVERS)
def test_bounds_hold_in_interval_arithmetic(solver):
    X, y = sample(200, 5, 6)
    for problem in (LandmarkedSVR(X, y, Penalty(1e-3), 0.1), LandmarkedSVR(X, y, Ball(1.0), 0.1, 4.0)):
        solution = solve(problem, solver, rigorous=True)
        assert solution.status is Status.OPTIMAL
        assert solution.certificate.arithmetic == "interval"


def test_inputs_are_not_changed_in_any_layout():
    X, y = sample(900, 6, 7)
    values = []
    for layout in (X, np.asfortranarray(X), np.repeat(X, 2, axis=1)[:, ::2], X.astype(np.float32).astype(float)):
        before = layout.copy()
        values.append(solve(LandmarkedSVR(layout, y, Penalty(1e-4), 0.1), tol=1e-10).value)
        assert np.array_equal(layout, before)
    assert values[:3] == pytest.approx([values[0]] * 3, abs=1e-9)


@given(st.integers(0, 10**6), st.integers(1, 40), st.integers(1, 6), st.floats(-6, 2), st.sampled_from([0.0, 0.2]))
@example(2136, 26, 1, -1.02734375, 0.0)  # w + s = 0 in the search for the multiplier of the ball
@settings(max_examples=40, deadline=None)
def test_random_instances(seed, n, d, exponent, epsilon):
    rng = np.random.default_rng(seed)
    X, y = rng.integers(-3, 4, size=(n, d)) / 2.0, rng.integers(-4, 5, size=n) / 2.0
    for problem in (LandmarkedSVR(X, y, Penalty(10.0**exponent), epsilon), LandmarkedSVR(X, y, Ball(10.0**exponent), epsilon)):
        for solver in SOLVERS:
            solution = solve(problem, solver, tol=1e-8)
            found = solution.certificate
            # a fit without residuals at the bound of the ball, from which solvers keep a little away
            zero = found.reading.startswith("zero to") and found.gap_over_terms <= 1e-8
            assert solution.optimal or zero, (solver, solution.message, found)


def test_the_gap_left_over_is_that_of_fenchel_and_young():
    # s(h) + a²/(2β) − ah, and for β = ∞ [h]_+ − ah
    for h in np.linspace(-2, 3, 41):
        for a in np.linspace(0, 1, 11):
            for shift in (0.0, 0.1, 2.0):
                best = max(b * h - 0.5 * shift * b * b for b in [*np.linspace(0, 1, 201), min(max(h / shift, 0), 1) if shift else 0.0])
                assert left_over(float(h), float(a), shift) == pytest.approx(best + 0.5 * shift * a * a - a * h, abs=1e-12)


def level(n=200, d=5, width=0.2, shift=0.0, bound=None, seed=8):
    X, y = sample(n, d, seed)
    rng = np.random.default_rng(seed)
    hinges = Hinges(y - 0.1, y + 0.1, rng.uniform(0.5, 1.5, size=n) / n, shift)
    out = HingeStage(
        RowBlocks(X), hinges, bound or weight_bounds.QuadraticPenalty(1e-2), rng.normal(size=d) / 10, 0.1 * rng.normal(size=d), width
    )
    out.centres.below[:], out.centres.above[:] = rng.integers(0, 2, size=(2, n)) * rng.uniform(size=(2, n))
    out.set_predictions()
    out.sweep()
    return out


def stage_loss(of: HingeStage, w):
    """Penalty + ⟨fixed, w⟩ + Σ c max over a in [0, 1] of ah − a²/(2β) − width (a − a⁰)²/2, directly."""
    f = of.rows.take(slice(None)) @ w
    total = 0.5 * of.bound.strength * w @ w + of.fixed @ w
    for h, centre in ((of.hinges.low - f, of.centres.below), (f - of.hinges.high, of.centres.above)):
        a = np.clip((h + of.width * centre) / (of.width + of.hinges.shift), 0, 1)
        total += np.sum(of.hinges.sample_weight * (a * h - 0.5 * of.hinges.shift * a * a - 0.5 * of.width * (a - centre) ** 2))
    return total


@pytest.mark.parametrize("streamed", [True, False])
@pytest.mark.parametrize("shift", [0.0, 0.3])
def test_a_sweep_gives_gradient_and_curvature_of_the_stage(shift, streamed, monkeypatch):
    if streamed:  # bent rows are copied
        monkeypatch.setattr(RowBlocks, "in_memory", None)
    here = level(shift=shift)
    w, d = here.w.copy(), here.w.size
    numeric = [(stage_loss(here, w + 1e-5 * e) - stage_loss(here, w - 1e-5 * e)) / 2e-5 for e in np.eye(d)]
    assert here.g + here.bound.strength * w == pytest.approx(np.array(numeric), abs=1e-8)
    H = here._free_rows.curvature(1.0 / (here.width + shift))
    f = here.rows.take(slice(None)) @ w
    bent = np.zeros(f.size)
    for h, centre in ((here.hinges.low - f, here.centres.below), (f - here.hinges.high, here.centres.above)):
        x = (h + here.width * centre) / (here.width + shift)
        bent += (x > 0) & (x < 1)
    X = here.rows.take(slice(None))
    whole = (X * (here.hinges.sample_weight * bent / (here.width + shift))[:, None]).T @ X
    assert np.tril(H) == pytest.approx(np.tril(whole), abs=1e-12)


@pytest.mark.parametrize("at_hand", [True, False])
@pytest.mark.parametrize("shift", [0.0, 0.3])
def test_newton_steps_reach_the_minimum_of_the_stage(shift, at_hand, monkeypatch):
    monkeypatch.setattr(RowBlocks, "at_hand", at_hand)  # f goes first, or with the gradient
    here = level(shift=shift)
    before = stage_loss(here, here.w)
    for _ in range(40):
        if not here.newton():
            break
        assert stage_loss(here, here.w) <= before + 1e-15
        before = stage_loss(here, here.w)
    best = minimize(lambda w: stage_loss(here, w), here.w, method="BFGS", options={"gtol": 1e-10}).fun
    assert before <= best + 1e-10
    assert here.excess <= 1e-20


def test_the_parts_of_the_gap_add_up():
    for bound in (weight_bounds.QuadraticPenalty(1e-2), weight_bounds.WeightBall(0.8)):
        here = level(bound=bound)
        here.fixed[:] = 0.0
        here.update_gap()
        c, X = here.hinges.sample_weight, here.rows.take(slice(None))
        f = X @ here.w
        primal = float(np.sum(c * (np.maximum(here.hinges.low - f, 0) + np.maximum(f - here.hinges.high, 0))))
        dual = float(np.sum(c * (here.multipliers.below * here.hinges.low - here.multipliers.above * here.hinges.high)))
        g = (c * (here.multipliers.above - here.multipliers.below)) @ X
        if isinstance(bound, weight_bounds.QuadraticPenalty):
            primal, dual = primal + 0.5e-2 * here.w @ here.w, dual - g @ g / 2e-2
        else:
            dual -= 0.8 * np.linalg.norm(g)
        assert here.gap == pytest.approx(primal - dual, abs=1e-13)


def test_a_working_set_loses_nothing():
    here = level(n=400, width=0.01)
    for _ in range(20):
        here.newton()
    here.recentre(0.5)
    rows = here.near(8.0)
    assert 0 < rows.size < 400
    part = here.part(rows)
    part.sweep()
    here.sweep()
    assert part.g == pytest.approx(here.g, abs=1e-13)
    assert part._free_rows.curvature(1.0) == pytest.approx(here._free_rows.curvature(1.0), abs=1e-13)
    # what is frozen stands where its multiplier says: it adds nothing to the gap
    assert part.rest == pytest.approx(here.rest, abs=1e-14)


def test_many_free_rows_are_represented_by_some():
    rng = np.random.default_rng(9)
    X = rng.normal(size=(5000, 3))
    bends = WeightedFreeRows(RowBlocks(X))
    for start in range(0, 5000, 500):
        bends.add(start, X[start : start + 500], np.arange(500), np.full(500, 1 / 5000))
    assert bends.count <= 2 * 20 * 3
    assert bends.stride * sum(float(np.sum(shares)) for _, shares in bends.panels()) == pytest.approx(1.0, rel=0.1)
    assert np.diag(bends.curvature(1.0)) == pytest.approx(np.ones(3), rel=0.5)


@given(st.integers(0, 10**6), st.integers(1, 6), st.integers(0, 8), st.floats(-3, 3))
@settings(max_examples=60, deadline=None)
def test_the_step_in_the_ball_is_the_best_one(seed, d, rank, exponent):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(min(rank, d), d))
    H, g = np.asfortranarray(A.T @ A), rng.normal(size=d)
    ball = weight_bounds.WeightBall(10.0**exponent)
    w = rng.normal(size=d)
    w *= ball.radius * rng.uniform() / np.linalg.norm(w)
    v = w + ball.step(np.asfortranarray(np.tril(H)), g, w, 0.0)
    slope = g + H @ (v - w)
    assert np.linalg.norm(v) <= ball.radius * (1 + 1e-9)
    # ⟨slope, u − v⟩ ≥ 0 for every u of the ball: −slope is a multiple of v, or 0
    model = float(slope @ v) + ball.radius * np.linalg.norm(slope)
    assert model <= 1e-6 * ball.radius * (np.linalg.norm(g) + np.linalg.norm(H) * ball.radius)


@pytest.mark.parametrize("seed", range(5))
def test_no_step_leaves_the_ball_whatever_rounding_does_to_the_curvature(seed):
    # features that are multiples of one another but for 1e-10: the length of w + s jumps with the rounding of the factor
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(300, 1)) @ rng.normal(size=(1, 10)) + 1e-10 * rng.normal(size=(300, 10))
    ball, w = weight_bounds.WeightBall(100.0), np.zeros(10)
    for size in 10.0 ** -np.arange(6.0):
        g = size * (X.T @ rng.normal(size=300)) / 300
        w = w + ball.step(np.asfortranarray(X.T @ X / 300), g, w, 1e-9)
        assert np.linalg.norm(w) <= ball.radius * (1 + 1e-14)


def test_the_interior_point_method_starts_on_the_central_path():
    X, y = sample(60, 4, 10)
    hinges = Hinges(y - 0.1, y + 0.1, np.full(60, 1 / 60))
    start = Interior(RowBlocks(X), hinges, weight_bounds.QuadraticPenalty(0.1), np.zeros(4), np.zeros(4), 0.3)
    for k, h in ((0, hinges.low), (4, -hinges.high)):
        a, b, x, s = start._state[k : k + 4]
        assert a + b == pytest.approx(np.ones(60))
        assert a * s == pytest.approx(np.full(60, 0.3))
        assert b * x == pytest.approx(np.full(60, 0.3))
        assert x - s == pytest.approx(h, abs=1e-12)


def test_the_ball_costs_the_interior_point_method_no_more_than_the_penalty():
    X, y = sample(1000, 20, 11)
    hinges = Hinges(y - 0.1, y + 0.1, np.full(1000, 1e-3))
    goal, width = 1e-9 * hinges.loss_at_zero(), hinges.first_width()
    zero = np.zeros(20)
    for strength in (1e-2, 1e-4, 1e-6):
        one = list(interior(RowBlocks(X), hinges, weight_bounds.QuadraticPenalty(strength), zero, zero, width, goal))
        two = list(interior(RowBlocks(X), hinges, weight_bounds.WeightBall(float(np.linalg.norm(one[-1].w))), zero, zero, width, goal))
        assert one[-1].gap <= goal
        assert two[-1].gap <= goal
        assert len(two) <= len(one) + 10


def test_ends_of_any_kind():
    # thresholds instead of y ∓ ε: missing ends, ends that cross, weights; against CVXPY
    cp = pytest.importorskip("cvxpy")
    rng = np.random.default_rng(12)
    X, y = sample(120, 4, 12)
    low, high = y - rng.uniform(-0.3, 0.5, size=120), y + rng.uniform(-0.3, 0.5, size=120)
    low[::5], high[1::5] = -1e30, 1e30
    hinges = Hinges(low, high, rng.uniform(0.5, 2.0, size=120) / 150)
    assert np.any(low > high)
    w = cp.Variable(4)
    loss = hinges.sample_weight @ (cp.pos(np.maximum(low, -1e3) - X @ w) + cp.pos(X @ w - np.minimum(high, 1e3)))
    for bound, cost, rows in (
        (weight_bounds.QuadraticPenalty(0.01), 0.005 * cp.sum_squares(w), []),
        (weight_bounds.WeightBall(0.5), 0.0, [cp.norm(w) <= 0.5]),
    ):
        best = cp.Problem(cp.Minimize(loss + cost), rows).solve(solver="CLARABEL")
        *_, fit = hinge_fits(RowPass(X), hinges, bound, goal=1e-10)
        assert fit.gap <= 1e-10
        f = X @ fit.w
        ours = float(hinges.sample_weight @ (np.maximum(low - f, 0) + np.maximum(f - high, 0))) + (
            0.005 * fit.w @ fit.w if rows == [] else 0.0
        )
        assert ours == pytest.approx(best, abs=1e-7)


def test_a_stall_is_left_to_the_interior_point_method(monkeypatch):
    X, y = sample(600, 6, 13)
    monkeypatch.setattr(HingeStage, "newton", lambda self: False)
    solution = solve(LandmarkedSVR(X, y, Penalty(1e-4), 0.1), "newton", tol=1e-9)
    assert solution.optimal
    assert "stalled" in solution.reported_status


@pytest.mark.parametrize(
    ("where", "name", "wrong"),
    [
        (weight_bounds.QuadraticPenalty, "step", lambda self, H, g, w, rest: weight_bounds.solve(weight_bounds.factor(H, 1.0), g)),
        (weight_bounds.WeightBall, "step", lambda self, H, g, w, rest: np.zeros_like(w)),
        (Interior, "_pulled", lambda self: np.zeros_like(self.w)),
        (HingeStage, "_update_block", lambda self, part, block: BlockUpdate((part, block), 0.0, None, *np.zeros((2, 0), dtype=int))),
    ],
)
def test_mutants_are_caught(monkeypatch, where, name, wrong):
    """A solver with a wrong part does not certify (or not within its iterations)."""
    X, y = sample(600, 6, 14)
    problem = LandmarkedSVR(X, y, Ball(1.0), 0.1) if where is weight_bounds.WeightBall else LandmarkedSVR(X, y, Penalty(1e-4), 0.1)
    solvers = ["interior-point"] if where is Interior else ["newton"]
    monkeypatch.setattr(newton, "compact", lambda level, goal: iter(()))
    monkeypatch.setattr(where, name, wrong)
    assert not any(solve(problem, solver, tol=1e-9, time_limit=2.0).optimal for solver in solvers)


def test_wrong_multipliers_do_not_close():
    X, y = sample(300, 6, 15)
    problem = LandmarkedSVR(X, y, Penalty(1e-3), 0.1)
    solution = solve(problem, tol=1e-10)
    shifted = {key: value[::-1] for key, value in solution.multipliers.items()}
    assert problem.gap(solution.point, shifted) > 1e-3


class TestStreams:
    """Memory maps and Dask arrays: the same answer, no copy of Ψ."""

    def written(self, tmp_path, n=6000, d=12, dtype=np.float64):
        X, y = sample(n, d, 16)
        out = np.memmap(tmp_path / "features", dtype=dtype, mode="w+", shape=(n, d))
        out[:] = X
        out.flush()
        return np.memmap(tmp_path / "features", dtype=dtype, mode="r", shape=(n, d)), np.asarray(out, dtype=float), y

    def test_blocks_cover_the_rows(self):
        da = pytest.importorskip("dask.array")
        X, _ = sample(1000, 7, 17)
        for features in (X, da.from_array(X, chunks=(230, 3))):
            for numbers in (100, 1000, 10**6):
                rows = RowBlocks(features, numbers)
                assert np.array_equal(np.concatenate([block for _, block in rows]), X)
                assert [part for part, _ in rows] == rows.parts
                assert np.array_equal(rows.take(slice(3, None, 8)), X[3::8])
                assert np.array_equal(rows.take(np.array([0, 5, 229, 230, 999])), X[[0, 5, 229, 230, 999]])

    @pytest.mark.parametrize("dtype", [np.float64, np.float32])
    def test_memory_maps(self, tmp_path, dtype, monkeypatch):
        monkeypatch.setattr("simopt.data.row_blocks.RESIDENT", 1000)
        mapped, X, y = self.written(tmp_path, dtype=dtype)
        for make in (lambda Z: LandmarkedSVR(Z, y, Penalty(1e-3), 0.1), lambda Z: LandmarkedSVR(Z, y, Ball(1.0), 0.1)):
            streamed, held = solve(make(mapped), tol=1e-10), solve(make(X), tol=1e-10)
            assert streamed.optimal
            assert streamed.value == pytest.approx(held.value, abs=1e-9)
        assert make(mapped).features.dtype == dtype
        assert np.shares_memory(make(mapped).features, mapped)

    def test_dask_arrays(self, tmp_path, monkeypatch):
        da = pytest.importorskip("dask.array")
        monkeypatch.setattr("simopt.data.row_blocks.RESIDENT", 1000)
        mapped, X, y = self.written(tmp_path)
        lazy = da.from_array(mapped, chunks=(900, 12))
        problem = LandmarkedSVR(lazy, y, Penalty(1e-3), 0.1)
        assert problem.features is lazy
        assert problem.fingerprint() == LandmarkedSVR(da.from_array(X, chunks=(500, 12)), y, Penalty(1e-3), 0.1).fingerprint()
        assert problem.fingerprint() != LandmarkedSVR(da.from_array(-X, chunks=(900, 12)), y, Penalty(1e-3), 0.1).fingerprint()
        solution = solve(problem, tol=1e-10, rigorous=True)
        assert solution.optimal
        assert solution.value == pytest.approx(solve(LandmarkedSVR(X, y, Penalty(1e-3), 0.1), tol=1e-10).value, abs=1e-9)
        assert solve(problem, "interior-point", tol=1e-9).optimal

    def test_what_was_computed_of_other_data_is_not_remembered(self, tmp_path, monkeypatch):
        """Products are remembered for one evaluation: between two of them, or two values, a memory map may be written on."""
        mapped, X, y = self.written(tmp_path)
        problem, point = LandmarkedSVR(mapped, y, Penalty(1e-3), 0.1), {"w": np.linspace(-1.0, 1.0, 12)}
        passes = []
        read = RowBlocks.__iter__
        monkeypatch.setattr(RowBlocks, "__iter__", lambda rows: passes.append(1) or read(rows))
        values = [problem.objective(point), problem.objective(point)]
        assert values[0] == values[1] and len(passes) == 2
        found = certify(problem, point)
        assert len(passes) - 2 == 2, "Ψw and Ψᵀv, of multipliers, objective, dual bound and gap"
        other = np.memmap(mapped.filename, dtype=mapped.dtype, mode="r+", shape=mapped.shape)
        turned = X[::-1].copy()
        other[:] = turned
        other.flush()
        anew = LandmarkedSVR(turned, y, Penalty(1e-3), 0.1)
        assert problem.objective(point) == anew.objective(point) != values[0]
        assert certify(problem, point) == certify(anew, point) != found

    def test_a_cluster_makes_chunks_ahead_and_the_answer_stays_the_same(self, tmp_path, monkeypatch):
        """In their order, in a copy of some rows, too, and no more of them at once than the workers and what is in use."""
        da, distributed = pytest.importorskip("dask.array"), pytest.importorskip("distributed")
        monkeypatch.setattr("simopt.data.row_blocks.RESIDENT", 1000)
        mapped, X, y = self.written(tmp_path)
        problem = LandmarkedSVR(da.from_array(mapped, chunks=(900, 12)), y, Penalty(1e-3), 0.1)
        alone = solve(problem, tol=1e-10)
        cluster = distributed.LocalCluster(n_workers=1, threads_per_worker=2, processes=False, dashboard_address=None)
        with cluster, distributed.Client(cluster) as client:
            asked = []
            monkeypatch.setattr(client, "compute", lambda made, compute=client.compute: asked.append(made) or compute(made))
            rows = RowBlocks(problem.features)
            first, _ = next(iter(rows))
            assert first.start == 0 and len(asked) == 1 + 1 + 1, "the one in use, one for the worker, and one more"
            np.testing.assert_array_equal(np.concatenate([block for _, block in rows]), X)
            chosen = np.array([5, 899, 900, 2801])
            np.testing.assert_array_equal(rows.take(chosen), X[chosen])
            together = solve(problem, tol=1e-10)
        np.testing.assert_array_equal(together.point["w"], alone.point["w"])
        assert together.optimal and together.certificate.upper == alone.certificate.upper

    def test_bad_values_are_named(self, monkeypatch):
        da = pytest.importorskip("dask.array")
        monkeypatch.setattr("simopt.data.row_blocks.RESIDENT", 1000)
        X, y = sample(3000, 5, 18)
        X[2345, 3] = np.inf
        with pytest.raises(ValueError, match="row 2345, column 3"):
            LandmarkedSVR(da.from_array(X, chunks=(500, 5)), y, Ball(1.0))

    def test_little_memory_changes_the_way_not_the_answer(self):
        X, y = sample(20000, 10, 19)
        problem = LandmarkedSVR(X, y, Penalty(1e-4), 0.1)
        much, little = solve(problem, tol=1e-10), solve(problem, tol=1e-10, memory_limit=200_000)
        assert little.optimal
        assert little.value == pytest.approx(much.value, abs=1e-9)

    @pytest.mark.parametrize("solver", [None, "newton"])
    def test_the_old_name_of_the_memory_limit_is_accepted_with_a_warning(self, solver: str | None):
        problem = LandmarkedSVR(*sample(300, 10, 19), Penalty(1e-2), 0.1)
        with pytest.warns(DeprecationWarning, match="newton: the option room is called memory_limit now"):
            old = solve(problem, solver, room=200_000)
        new = solve(problem, solver, memory_limit=200_000)
        assert old.value == new.value and dict(old.provenance.options) == dict(new.provenance.options) == {"memory_limit": 200_000.0}

    def test_the_old_and_the_new_name_of_an_option_together_are_refused(self):
        problem = LandmarkedSVR(*sample(30, 3, 19), Penalty(1e-2), 0.1)
        with pytest.raises(InvalidProblem, match="room: memory_limit is given, too, and that is its new name; leave room out"):
            solve(problem, room=200_000, memory_limit=200_000)
        with pytest.raises(UnknownName, match="room"):
            solve(problem, "interior-point", room=200_000)


def test_missing_ends_add_nothing():
    # ±1e30 stands for a missing end: the multiplier is 0 and adds exactly nothing
    f = np.zeros(3)
    out = [np.zeros(3) for _ in range(3)]
    rest = two_hinges.audit(f, np.full(3, -1e30), np.full(3, 1e30), np.ones(3), 0.0, *out)
    assert rest == 0.0


def test_nothing_is_compiled_while_the_clock_runs() -> None:
    """The warm-up leaves every kernel compiled for the arrays of a problem that takes subsamples, working sets and the interior point."""
    script = """
import gc
import numpy as np
import simopt.solving.run
from simopt.core import registry
from simopt.problems.bounds import Ball, Penalty
from simopt.problems.landmarked_svr import LandmarkedSVR
from simopt.solving.entry_points import solve
from simopt.core.compiled import CompiledKernel

registry.load("solvers")
kernels = [item for item in gc.get_objects() if isinstance(item, CompiledKernel)]
compiled = lambda: {(k.__module__, k.__name__, s) for k in kernels if k._compiled is not None for s in k._compiled.signatures}
before, warm_up = [], simopt.solving.run.warm_up
def watched(*arguments):
    warm_up(*arguments)
    before.append(compiled())
simopt.solving.run.warm_up = watched
rng = np.random.default_rng(0)
X = rng.normal(size=(6000, 20)) / np.sqrt(20)
y = X @ rng.normal(size=20) + 0.3 * rng.laplace(size=6000)
for problem in (LandmarkedSVR(X, y, Penalty(1e-3), 0.1), LandmarkedSVR(X, y, Ball(3.0), 0.1), LandmarkedSVR(X, y, Penalty(1e-3), 0.1, 5.0)):
    for name in ("newton", "interior-point"):
        assert solve(problem, name, tol=1e-9).optimal
        extra = compiled() - before[-1]
        assert len(before[-1]) >= 5 and not extra, sorted(map(str, extra))
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("exponent", [-2.0, 0.0, 2.0])
def test_newton_finds_the_multiplier_of_the_ball_in_a_few_turns(exponent, monkeypatch):
    """1/‖w + s‖ is nearly linear in μ: five turns are enough from 0 on, where halving a bracket would need dozens."""
    monkeypatch.setattr(weight_bounds, "TURNS", 6)
    rng = np.random.default_rng(4)
    A = rng.normal(size=(8, 6))
    ball, g, w = weight_bounds.WeightBall(10.0**exponent), 1e3 * rng.normal(size=6), np.zeros(6)
    v = ball.step(np.asfortranarray(np.tril(A.T @ A)), g, w, 0.0)
    assert np.linalg.norm(v) == pytest.approx(ball.radius, rel=1e-9)
    slope = g + A.T @ (A @ v)
    assert float(slope @ v) + ball.radius * np.linalg.norm(slope) <= 1e-6 * ball.radius * np.linalg.norm(slope)


def test_panels_of_free_rows_use_one_array_again_and_again(monkeypatch):
    monkeypatch.setattr("simopt.solvers.hinges.stage.PANEL", 40)
    X = np.arange(60.0).reshape(15, 4)
    free = WeightedFreeRows(RowBlocks(X))
    free.add(0, X, np.arange(15), np.ones(15))
    arrays, rows = set(), []
    for _ in range(2):
        for panel, _ in free.panels():
            arrays.add(panel.__array_interface__["data"][0])
            rows.append(panel.copy())
    assert len(arrays) == 1 and np.array_equal(np.vstack(rows), np.vstack([X, X]))
