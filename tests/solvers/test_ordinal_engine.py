"""Ordinal regression by Newton and by interior points: certified on ugly data, equal to CLARABEL, each part by its own mathematics."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from simopt.data.row_blocks import RowBlocks
from simopt.model.gap_unit import ROUNDING
from simopt.model.status import Status
from simopt.problems.bounds import Ball, Penalty
from simopt.problems.exc_fixed import EXCFixed
from simopt.problems.exc_ordinal import EXCOrdinal
from simopt.problems.imc_ordinal import IMCOrdinal
from simopt.problems.kernel_exc import KernelEXC
from simopt.solvers.hinges import newton as two_hinge_newton
from simopt.solvers.hinges import weight_bounds
from simopt.solvers.hinges.stage import BlockUpdate
from simopt.solvers.ordinal import threshold_choice, threshold_stage
from simopt.solvers.ordinal.learned_thresholds import LEARNED, Ordinal, centred
from simopt.solvers.ordinal.threshold_hinges import ThresholdHinges, balance
from simopt.solvers.ordinal.threshold_interior import ThresholdInterior
from simopt.solvers.ordinal.threshold_stage import RESCUED, PooledFreeRows, ThresholdStage, interior_fits, threshold_fits
from simopt.solving.driver import choose
from simopt.solving.entry_points import certify, solve

SOLVERS = ["newton", "interior-point"]
PENALISED = tuple(kind.form("penalty") for kind in (EXCOrdinal, IMCOrdinal, EXCFixed))


def sample(n: int, d: int, classes: int = 5, seed: int = 0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) / np.sqrt(d)
    score = X @ rng.normal(size=d) + 0.3 * rng.normal(size=n)
    return X, 1.0 + np.floor(np.argsort(np.argsort(score)) * classes / n)


def ugly():
    """Name, features, labels, classes, γ, Δ."""
    X, y = sample(160, 8)
    n, d = X.shape
    rng = np.random.default_rng(1)
    line = X @ np.arange(1.0, d + 1)
    clear = np.min(np.abs(line[:, None] - np.array([-3.0, -1.0, 1.0, 3.0])), axis=1) > 0.2
    ranked = np.argsort(np.argsort(X[:, 0] + 0.1 * rng.normal(size=n)))
    yield "plain", X, y, 5, 1.0, 0.0
    yield "a spacing", X, y, 5, 1.0, 0.6
    yield "every spacing active", X, y, 5, 0.5, 30.0
    yield "spacing a million margins", X, y, 5, 1e-3, 1e3
    yield "tiny margin", X, y, 5, 1e-3, 0.0
    yield "huge margin", X, y, 5, 1e6, 0.0
    yield "duplicated columns", np.hstack([X, X[:, :5], X[:, :1]]), y, 5, 1.0, 0.1
    yield "collinear columns", np.hstack([X, X @ rng.normal(size=(d, 3)) + 1e-10 * rng.normal(size=(n, 3))]), y, 5, 1.0, 0.0
    yield "no features", np.zeros((n, d)), y, 5, 1.0, 0.3
    yield "a constant column", np.hstack([X, np.full((n, 1), 3.0)]), y, 5, 1.0, 0.0
    yield "nothing but a constant", np.ones((n, 1)), y, 5, 1.0, 0.0
    yield "features far from 0", X + 100.0, y, 5, 1.0, 0.0
    yield "ties everywhere", np.round(3 * X), y, 5, 1.0, 0.0
    yield "duplicated samples", np.repeat(X[:16], 10, axis=0), y, 5, 1.0, 0.0
    yield "empty classes", X, np.where(y >= 3, y + 3, y) + 1, 10, 1.0, 0.2
    yield "empty classes without spacing", X, np.where(y >= 3, y + 3, y) + 1, 10, 1.0, 0.0
    yield "two classes", X, 1.0 + (y > 2), 2, 1.0, 0.0
    yield "two classes of seven", X, 2.0 + 3 * (y > 2), 7, 1.0, 0.1
    yield "one class", X, np.full(n, 3.0), 4, 1.0, 0.1
    yield "one sample", X[:1], y[:1], 5, 1.0, 0.1
    yield "two samples", X[:2], np.array([1.0, 5.0]), 5, 1.0, 0.1
    yield "fewer samples than features", rng.normal(size=(12, 60)), np.arange(12.0) % 4 + 1, 4, 1.0, 0.0
    yield "separable", X, 1.0 + np.digitize(line, [-3, -1, 1, 3]), 5, 1e-3, 0.0
    yield "separable with a margin", X[clear], 1.0 + np.digitize(line[clear], [-3, -1, 1, 3]), 5, 0.1, 0.0
    yield "labels at random", X, rng.integers(1, 6, size=n).astype(float), 5, 1.0, 0.0
    yield (
        "one class has nearly all",
        X,
        np.where(np.arange(n) < 2, 1.0, np.where(np.arange(n) < 5, 2.0, 4.0 - (np.arange(n) > 5))),
        4,
        1.0,
        0.0,
    )
    yield "one sample each of four classes", X, np.where(np.arange(n) < 4, np.arange(n) + 1.0, 5.0), 5, 1.0, 0.5
    yield "features over 8 orders of magnitude", X * 10.0 ** np.linspace(-8, 0, d), y, 5, 1.0, 0.0
    yield "samples over 8 orders of magnitude", X * 10.0 ** np.linspace(-8, 0, n)[:, None], y, 5, 1.0, 0.0
    yield "fifteen classes", X, 1.0 + np.floor(ranked * 15 / n), 15, 1.0, 0.0
    yield "fifteen classes with a spacing", X, 1.0 + np.floor(ranked * 15 / n), 15, 0.1, 0.05
    yield "an outlier", np.vstack([X, 1e4 * X[:1]]), np.append(y, 1.0), 5, 1.0, 0.0


NAMES = [name for name, *_ in ugly()]


def case(name):
    return next(rest for found, *rest in ugly() if found == name)


def problems(form, X, y, classes, gamma, delta):
    """Strong and weak penalties, small and large balls."""
    strengths, radii = (1e-8, 1e-4, 1.0, 1e4), (1e-6, 1.0, 100.0)
    if form == "learned":
        yield from (EXCOrdinal(X, y, classes, gamma, delta, bound=Penalty(s)) for s in strengths)
        yield from (EXCOrdinal(X, y, classes, gamma, delta, bound=Ball(B)) for B in radii)
    elif form == "implicit":
        yield from (IMCOrdinal(X, y, classes, gamma, bound=Penalty(s)) for s in strengths)
        yield from (IMCOrdinal(X, y, classes, gamma, bound=Ball(B)) for B in radii)
    elif form == "fixed":
        cuts = max(delta, 0.5) * (np.arange(1, classes) - classes / 2)
        yield from (EXCFixed(X, y, classes, cuts, gamma, bound=Penalty(s)) for s in strengths)
        yield from (EXCFixed(X, y, classes, cuts, gamma, bound=Ball(B)) for B in radii)
    else:
        # weaker ones than 1e-4 leave a gap of rounding: ‖s‖²_K/(2λ) is a sum of terms of that size
        yield from (KernelEXC(X @ X.T, y, classes, gamma, delta, regularization=s) for s in (1e-4, 1.0, 1e4))


def parts_of(problem):
    parts = Ordinal.of(problem)
    return parts.rows, parts.chain.hinges, parts.bound


def test_newton_is_the_default():
    for form in (form for kind in (*LEARNED, EXCFixed) for form in kind.each_form()):
        assert choose(form, None).name == "newton"


@pytest.mark.thorough
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("form", ["learned", *(pytest.param(form, marks=pytest.mark.slow) for form in ("implicit", "fixed"))])
def test_the_certificate_closes_on_ugly_data(name, solver, form):
    for problem in problems(form, *case(name)):
        solution = solve(problem, solver, tol=1e-9)
        found = certify(problem, solution.point, solution.multipliers)  # judged once more, from what is returned
        assert found.closes(1e-9) is solution.optimal
        # where next to nothing is left of the loss at 0, no gap of 1e-9 of that remains in floats: then it is the rounding of that loss
        assert solution.optimal or found.gap <= ROUNDING * problem.scale(), (problem, solution.message)


# of a kernel whose entries are 1e4 and differ by 1, or where λγ is below the rounding of K, no certificate closes to 1e-9
IN_AN_RKHS = [name for name in NAMES if name not in ("features far from 0", "tiny margin")]


@pytest.mark.thorough
@pytest.mark.parametrize("name", IN_AN_RKHS)
@pytest.mark.parametrize("solver", SOLVERS)
def test_the_certificate_closes_in_an_rkhs(name, solver):
    X, y, *rest = case(name)
    for problem in problems("kernel", X[::3], y[::3], *rest):
        assert solve(problem, solver, tol=1e-9).optimal, problem


@pytest.mark.slow
@pytest.mark.parametrize(
    ("form", "name"),
    [(form, name) for form in ("learned", "implicit", "fixed") for name in NAMES] + [("kernel", name) for name in IN_AN_RKHS],
)
def test_clarabel_agrees_within_the_gaps(name, form):
    X, y, classes, gamma, delta = case(name)
    X, y = X[::4], y[::4]
    middle = {"learned": (1, 5), "implicit": (1, 5), "fixed": (1, 5), "kernel": (0,)}[form]
    chosen = [problem for k, problem in enumerate(problems(form, X, y, classes, gamma, delta)) if k in middle]
    for problem in chosen:
        ours, theirs = solve(problem, "newton").certificate, solve(problem, "clarabel").certificate
        allowed = 1e-12 * problem.scale()
        assert ours.lower <= theirs.upper + allowed
        assert theirs.lower <= ours.upper + allowed
        assert abs(ours.upper - theirs.upper) <= ours.gap + theirs.gap + allowed


@given(
    st.integers(0, 10**6),
    st.integers(1, 40),
    st.integers(1, 6),
    st.integers(2, 6),
    st.floats(-6, 2),
    st.sampled_from([0.0, 0.5, 3.0]),
    st.sampled_from([0.01, 1.0]),
)
@settings(max_examples=25, deadline=None)
@example(seed=0, n=1, d=1, classes=3, exponent=0.0, delta=3.0, gamma=0.01)  # the optimum is 0, at thresholds of very different size
@example(seed=0, n=1, d=1, classes=4, exponent=0.0, delta=3.0, gamma=0.01)  # and three of them, of which two are near
@example(seed=3, n=3, d=2, classes=2, exponent=0.0, delta=0.0, gamma=1.0)  # loss 0 at one point of the ball only, which is at its edge
@example(seed=128697, n=2, d=3, classes=6, exponent=-4.98, delta=0.5, gamma=0.01)  # an optimum that is 1e-8 of the hinges' terms
def test_random_instances(seed, n, d, classes, exponent, delta, gamma):
    rng = np.random.default_rng(seed)
    X, y = rng.integers(-3, 4, size=(n, d)) / 2.0, rng.integers(1, classes + 1, size=n).astype(float)
    for problem in (
        EXCOrdinal(X, y, classes, gamma, delta, bound=Penalty(10.0**exponent)),
        EXCOrdinal(X, y, classes, gamma, delta, bound=Ball(10.0**exponent)),
        IMCOrdinal(X, y, classes, gamma, bound=Penalty(10.0**exponent)),
    ):
        for solver in SOLVERS:
            found = solve(problem, solver, tol=1e-8)
            # gaps of rounding: of an optimum far below the terms that cancel in the hinges, 8 digits are too many
            assert found.optimal or found.certificate.gap <= 1e-8 * max(found.certificate.upper, 1e-4 * problem.scale())


@pytest.mark.parametrize("form", ["exc", "imc"])
def test_both_solvers_and_both_bounds_meet(form):
    X, y = sample(2000, 12, seed=4)
    penalised = EXCOrdinal(X, y, 5, bound=Penalty(1e-3)) if form == "exc" else IMCOrdinal(X, y, 5, bound=Penalty(1e-3))
    one, two = solve(penalised, "newton", tol=1e-12), solve(penalised, "interior-point", tol=1e-12)
    apart = penalised.distance(one.certificate.gap) + penalised.distance(two.certificate.gap)
    assert np.linalg.norm(one.point["w"] - two.point["w"]) <= apart
    radius = float(np.linalg.norm(one.point["w"]))
    ball = EXCOrdinal(X, y, 5, bound=Ball(radius)) if form == "exc" else IMCOrdinal(X, y, 5, bound=Ball(radius))
    three = solve(ball, "newton", tol=1e-12)
    assert abs(three.value - float(ball.objective(one.point))) <= three.certificate.gap + one.certificate.gap + 1e-13
    assert np.all(np.diff(three.point["thresholds"]) > 0)


def test_two_classes_with_one_threshold_are_a_support_vector_machine_with_intercept():
    svm = pytest.importorskip("sklearn.svm")
    X, y = sample(200, 4, 2, seed=5)
    strength = 1e-2
    ours = solve(EXCOrdinal(X, y, 2, bound=Penalty(strength)), tol=1e-11)
    peer = svm.SVC(kernel="linear", C=1.0 / (200 * strength), tol=1e-10).fit(X, y)
    apart = EXCOrdinal(X, y, 2, bound=Penalty(strength)).distance(ours.certificate.gap)
    assert np.linalg.norm(peer.coef_[0] - ours.point["w"]) <= apart + 1e-4
    assert ours.point["thresholds"][0] == pytest.approx(-peer.intercept_[0], abs=1e-3)


def test_the_kernel_form_is_the_linear_one_in_coordinates():
    X, y = sample(120, 5, seed=6)
    linear = solve(EXCOrdinal(X, y, 5, delta=0.4, bound=Penalty(1e-2)), tol=1e-11)
    kernel = solve(KernelEXC(X @ X.T, y, 5, delta=0.4, regularization=1e-2), tol=1e-11)
    assert kernel.value == pytest.approx(linear.value, abs=1e-10)
    assert X.T @ kernel.point["alpha"] == pytest.approx(linear.point["w"], abs=1e-4)


@pytest.mark.parametrize("solver", SOLVERS)
def test_bounds_hold_in_interval_arithmetic(solver):
    X, y = sample(200, 5, seed=7)
    for problem in (EXCOrdinal(X, y, 5, delta=0.5, bound=Penalty(1e-3)), EXCOrdinal(X, y, 5, bound=Ball(1.0))):
        solution = solve(problem, solver, rigorous=True)
        assert solution.status is Status.OPTIMAL
        assert solution.certificate.arithmetic == "interval"


def test_what_is_found_does_not_depend_on_memory_or_layout():
    X, y = sample(20000, 10, seed=8)
    problem = EXCOrdinal(X, y, 5, bound=Penalty(1e-4))
    much, little = solve(problem, tol=1e-10), solve(problem, tol=1e-10, memory_limit=200_000)
    other = solve(EXCOrdinal(np.asfortranarray(X), y, 5, bound=Penalty(1e-4)), tol=1e-10)
    assert little.optimal
    assert [little.value, other.value] == pytest.approx([much.value] * 2, abs=1e-9)


# The parts.


def level(every=False, n=200, d=5, width=0.2, seed=8, delta=0.0):
    rng = np.random.default_rng(seed)
    X, y = sample(n, d, 4, seed)
    hinges = ThresholdHinges(y.astype(np.intp) - 1, delta * np.arange(3), 0.4, 1.0 / n, every)
    start = rng.normal(size=d) / 10, rng.normal(size=3) / 100
    out = ThresholdStage(RowBlocks(X), hinges, weight_bounds.QuadraticPenalty(1e-2), *start, 0.3 * rng.normal(size=d), np.zeros(3), width)
    ends = hinges.first()[:, None] + np.arange(hinges.columns)
    out.centre[:] = np.where((ends >= 0) & (ends < 3), rng.integers(0, 2, size=out.a.shape) * rng.uniform(size=out.a.shape), 0.0)
    out.set_predictions()
    out.sweep()
    return out


def smooth(of: ThresholdStage, f, b):
    """⟨fixed_b, b⟩ + c Σ max over a in [0, 1] of ax − width (a − a⁰)²/2, directly."""
    h, total = of.hinges, of.fixed_b @ b
    for i, rank in enumerate(h.rank):
        for k in range(h.columns):
            j = k if h.every else rank - 1 + k
            if 0 <= j < h.count:
                x = (b[j] - f[i] if j < rank else f[i] - b[j]) + h.gamma
                a = min(max(x / of.width + of.centre[i, k], 0.0), 1.0)
                total += h.sample_weight * (a * x - 0.5 * of.width * (a - of.centre[i, k]) ** 2)
    return total


@pytest.mark.parametrize("every", [False, True])
@pytest.mark.parametrize("delta", [0.0, 0.7])
def test_the_thresholds_are_the_best_ones(every, delta):
    here = level(every, delta=delta)
    value = smooth(here, here.f, here.b)
    rng = np.random.default_rng(9)
    steps = here.hinges.steps
    if not every:
        assert np.all(np.diff(here.b - steps) >= -1e-15)
    for size in (1e-3, 1e-1, 1.0):
        for _ in range(30):
            other = here.b + size * rng.normal(size=3)
            if not every:
                other = np.maximum.accumulate(other - steps) + steps
            assert smooth(here, here.f, other) >= value - 1e-12
    # what pulls a pool adds up to nothing
    for pool in range(here._pools[-1] + 1):
        assert abs(np.sum(here.g_b[here._pools == pool])) <= 1e-14


@pytest.mark.parametrize("every", [False, True])
def test_a_sweep_gives_gradient_and_curvature_of_the_stage(every):
    here = level(every)
    X, d = here.rows.take(slice(None)), here.w.size

    def at(w):
        other = level(every)
        other.w = w
        other.set_predictions()
        other.sweep()
        return other, smooth(other, other.f, other.b) + other.fixed @ w

    numeric = [(at(here.w + 1e-5 * e)[1] - at(here.w - 1e-5 * e)[1]) / 2e-5 for e in np.eye(d)]
    assert here.g == pytest.approx(np.array(numeric), abs=1e-8)
    H = here.curvature()
    # directly: Σ over bent hinges of (ψ, −e_j)(ψ, −e_j)ᵀ c/width, of which the pools are eliminated
    ends = here.hinges.first()[:, None] + np.arange(here.hinges.columns)
    bent = [(i, ends[i, k]) for i, k in zip(*np.nonzero((here.a > 0) & (here.a < 1)), strict=True)]
    pools = np.eye(here._pools[-1] + 1)
    rows = np.array([np.concatenate([X[i], -pools[here._pools[j]]]) for i, j in bent]) * math.sqrt(here.hinges.sample_weight / here.width)
    whole = rows.T @ rows
    direct = whole[:d, :d] - whole[:d, d:] @ np.linalg.solve(whole[d:, d:], whole[d:, :d])
    assert np.tril(H) == pytest.approx(np.tril(direct), abs=1e-10)


@pytest.mark.parametrize("every", [False, True])
def test_newton_steps_reach_the_minimum_of_the_stage(every):
    here = level(every)

    def stage(w):
        other = level(every)
        other.w = w
        other.set_predictions()
        other.sweep()
        return smooth(other, other.f, other.b) + other.fixed @ w + 0.5e-2 * w @ w

    for _ in range(40):
        if not here.newton():
            break
    assert here.excess <= 1e-20
    assert stage(here.w) <= minimize(stage, np.zeros(5), method="BFGS", options={"gtol": 1e-9}).fun + 1e-10


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
    assert part.b == pytest.approx(here.b, abs=1e-12)
    assert part.g == pytest.approx(here.g, abs=1e-12)
    assert part.g_b == pytest.approx(here.g_b, abs=1e-13)
    assert part.rest == pytest.approx(here.rest, abs=1e-14)


def test_a_working_set_holds_every_threshold_on_both_sides():
    here = level(n=400, width=1e-9)
    rows = here.near(1e-6)
    for j in range(3):
        arguments = here.f[rows] - here.b[j] + np.where(here.hinges.rank[rows] > j, -1.0, 1.0) * here.hinges.gamma
        near = np.isin(here.hinges.rank[rows], (j, j + 1))
        assert np.any(arguments[near] > 0)
        assert np.any(arguments[near] <= 0)


def test_free_multipliers_take_what_a_threshold_cannot_say():
    rng = np.random.default_rng(10)
    rank = rng.integers(0, 4, size=60)
    hinges = ThresholdHinges(rank, np.zeros(3), 1.0, 1 / 60)
    ends = hinges.first()[:, None] + np.arange(2)
    a = np.where((ends >= 0) & (ends < 3), rng.uniform(0.1, 0.9, size=(60, 2)), 0.0)
    sign = np.where(ends < rank[:, None], -1.0, 1.0)
    pulls = np.array([np.sum((sign * a)[ends == j]) for j in range(3)]) / 60
    out = a.copy()
    wanted = pulls + np.array([1e-9, -2e-9, 3e-9])
    balance(hinges, wanted, out)
    assert np.max(np.abs(out - a)) < 1e-7
    assert np.array([np.sum((sign * out)[ends == j]) for j in range(3)]) / 60 == pytest.approx(wanted, abs=1e-16)


def test_many_free_rows_are_represented_by_some():
    rng = np.random.default_rng(11)
    X, ends = rng.normal(size=(6000, 3)), rng.integers(0, 2, size=6000)
    bends = PooledFreeRows(RowBlocks(X))
    for start in range(0, 6000, 500):
        bends.add(start, X[start : start + 500], np.arange(500), ends[start : start + 500])
    assert bends.count <= 2 * 20 * 3
    assert np.diag(bends.curvature(1 / 6000, np.array([0, 1]))) == pytest.approx(np.ones(3), rel=0.5)


def test_the_interior_point_method_eliminates_thresholds_exactly():
    X, y = sample(80, 4, 4, 12)
    hinges = ThresholdHinges(y.astype(np.intp) - 1, 0.3 * np.arange(3), 0.5, 1 / 80)
    state = ThresholdInterior(
        RowBlocks(X), hinges, weight_bounds.QuadraticPenalty(0.1), np.zeros(4), np.zeros(3), np.zeros(4), hinges.steps, np.zeros(2), 0.3
    )
    S, cross, H_b = state._curvatures()
    weights = np.zeros((80, 3))
    weights[state._sample, state._end] = state._weight / 80
    whole_b = np.tril(H_b) + np.tril(H_b, -1).T
    assert cross == pytest.approx(-X.T @ weights, abs=1e-13)
    direct = (X * weights.sum(axis=1)[:, None]).T @ X - cross @ np.linalg.solve(whole_b, cross.T)
    assert np.tril(S) == pytest.approx(np.tril(direct), abs=1e-11)


def test_columns_far_from_0_are_centred_and_constants_vanish():
    rng = np.random.default_rng(13)
    X = np.hstack([rng.normal(size=(50, 2)) + 1e6, np.full((50, 1), 1e6 / 3)])
    out, mean = centred(X)
    assert np.all(out[:, 2] == 0.0)
    assert out[:, :2] + mean[:2] == pytest.approx(X[:, :2])
    large = rng.normal(size=(60_000, 5)) + 1.0
    assert centred(large)[0] is large
    large[:, 0] += 1e4
    assert abs(np.mean(centred(large)[0][:, 0])) < 1e-8


@pytest.mark.parametrize("bound", [weight_bounds.QuadraticPenalty(1e-3), weight_bounds.WeightBall(1.5)])
def test_fits_end_within_the_goal_they_state(bound):
    X, y = sample(3000, 6, seed=14)
    hinges = ThresholdHinges(y.astype(np.intp) - 1, 0.2 * np.arange(4), 1.0, 1 / 3000)
    for fits in (threshold_fits, interior_fits):
        *_, fit = fits(RowBlocks(X), hinges, bound, goal=1e-10)
        assert fit.gap <= 1e-10


def test_thresholds_that_are_not_for_the_engines_cost_nothing():
    X, y = sample(60, 3, 3, 15)
    problem = EXCOrdinal(X, np.where(y == 1, 3.0, np.where(y == 2, 6.0, 7.0)), 10, delta=0.2, bound=Penalty(1e-2))
    chain = Ordinal.of(problem).chain
    assert list(chain.needed) == [2, 4, 5]  # those next to the classes 3, 6 and 7, between 3 and 7
    solution = solve(problem, tol=1e-10)
    assert np.all(np.diff(solution.point["thresholds"]) >= 0.2 - 1e-12)
    few = solve(EXCOrdinal(X, y, 3, delta=0.2, bound=Penalty(1e-2)), tol=1e-10)
    assert solution.value >= few.value - 1e-9  # thresholds further apart cost more, not less


def test_a_stall_is_left_to_the_interior_point_method(monkeypatch):
    X, y = sample(600, 6, seed=16)
    monkeypatch.setattr(ThresholdStage, "newton", lambda self: False)
    solution = solve(EXCOrdinal(X, y, 5, bound=Penalty(1e-4)), "newton", tol=1e-9)
    assert solution.optimal
    assert "stalled" in solution.reported_status


@pytest.mark.parametrize(("n", "d"), [(800, 10), (600, 20), (1200, 20)])
@pytest.mark.parametrize("tol", [1e-8, 1e-9])
def test_spacings_of_a_margin_end_optimal_by_newton(n, d, tol):
    """Many thresholds with active order rows: in a working set single ones of them have no best place of their own."""
    for seed in range(2):
        X, y = sample(n, d, 10, seed)
        penalised = solve(EXCOrdinal(X, y, 10, 1.0, 1.0, bound=Penalty(1e-3)), "newton", tol=tol)
        ball = solve(EXCOrdinal(X, y, 10, 1.0, 1.0, bound=Ball(float(np.linalg.norm(penalised.point["w"])))), "newton", tol=tol)
        for solution in (penalised, ball):
            assert solution.optimal
            assert solution.reported_status == "converged"  # by Newton's steps, without a net


def test_a_threshold_without_a_best_place_moves_with_its_pool():
    # what is fixed pulls the second threshold up and the third down, each by more than its hinges could hold
    pulls = np.array([0.0, -400.0, 400.0])
    for delta in (0.0, 0.7):
        here = level(delta=delta)
        here.fixed_b = pulls * here.hinges.sample_weight
        here.sweep()
        assert np.all(np.isfinite(here.b))
        assert here._pools[1] == here._pools[2]
        value = smooth(here, here.f, here.b)
        rng, steps = np.random.default_rng(20), here.hinges.steps
        for size in (1e-3, 1e-1, 1.0, 10.0):
            for _ in range(30):
                other = np.maximum.accumulate(here.b + size * rng.normal(size=3) - steps) + steps
                assert smooth(here, here.f, other) >= value - 1e-12


@pytest.mark.parametrize("every", [False, True])
@pytest.mark.parametrize("pulls", [(-400.0, 0.0, 0.0), (0.0, 0.0, 400.0), (400.0, 400.0, 400.0), (-400.0, -400.0, -400.0)])
def test_thresholds_that_are_pulled_without_end_stay_in_order(every, pulls):
    here = level(every, delta=0.7)
    here.fixed_b = np.array(pulls) * here.hinges.sample_weight
    here.sweep()
    assert np.all(np.isfinite(here.b))
    if not every:
        assert np.all(np.diff(here.b - here.hinges.steps) >= -1e-15)


def test_a_gap_that_was_not_seen_is_left_to_the_interior_point_method(monkeypatch):
    """Thresholds of a working set that balance nothing make the gap of its stage 0; it is computed anew."""
    X, y = sample(600, 6, seed=21)
    problem = EXCOrdinal(X, y, 5, bound=Penalty(1e-4))
    best = threshold_stage.choose

    def nonsense(*args):
        best(*args)
        if args[0].size < 600:
            args[-2].fill(-1e58)

    monkeypatch.setattr(threshold_stage, "choose", nonsense)
    solution = solve(problem, "newton", tol=1e-9)
    assert solution.optimal
    fits = list(threshold_fits(*parts_of(problem), goal=1e-9 * problem.scale()))
    assert fits[-1].status_text == RESCUED


@pytest.mark.parametrize(
    ("where", "name", "wrong"),
    [
        (ThresholdStage, "_update_block", lambda self, part, block: BlockUpdate((part, block), 0.0, None, *np.zeros((2, 0), dtype=int))),
        (ThresholdStage, "curvature", lambda self: np.zeros((6, 6), order="F")),
        (threshold_stage, "choose", lambda *args: args[-2].fill(0.0)),
        (ThresholdInterior, "_gradients", lambda self, pulls: (self.fixed.copy(), self.fixed_b.copy())),
    ],
)
def test_mutants_are_caught(monkeypatch, where, name, wrong):
    """A solver with a wrong part does not certify (or not within its iterations)."""
    X, y = sample(600, 6, seed=17)
    problem = EXCOrdinal(X, y, 5, bound=Penalty(1e-4))
    solver = "interior-point" if where is ThresholdInterior else "newton"
    monkeypatch.setattr(two_hinge_newton, "compact", lambda level, goal: iter(()))
    monkeypatch.setattr(threshold_stage, "rescued", lambda level, goal: iter(()))
    monkeypatch.setattr(where, name, wrong)
    assert not solve(problem, solver, tol=1e-9, time_limit=2.0).optimal


def test_wrong_multipliers_do_not_close():
    X, y = sample(300, 6, seed=18)
    problem = EXCOrdinal(X, y, 5, bound=Penalty(1e-3))
    solution = solve(problem, tol=1e-10)
    shifted = {key: value[::-1] for key, value in solution.multipliers.items()}
    assert problem.gap(solution.point, shifted) > 1e-3


def test_the_root_of_the_ramps():
    # Σ clip((b − u)/h, 0, 1) = aim, as bisection finds it
    rng = np.random.default_rng(19)
    for aim in (0.3, 5.0, 7.5, 11.4):  # the last is nearer to all 12 than to 11
        u, width = np.sort(rng.normal(size=12)), 0.3
        segments = np.array([0, 6, 12])
        found = threshold_choice.root(u, segments, 0, 0, np.zeros(1), np.array([aim]), width, 100.0)
        assert np.sum(np.clip((found - u) / width, 0, 1)) == pytest.approx(aim, abs=1e-12)
