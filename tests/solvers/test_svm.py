"""The hinge SVM by pairs and polish: certified on ugly data, equal to CLARABEL and LIBSVM, each part by its own mathematics."""

from __future__ import annotations

import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from svm_cases import gaussian, linear, noisy, ugly

from simopt.core.errors import InvalidProblem
from simopt.model.status import Status
from simopt.problems.bounds import Penalty
from simopt.problems.hinge_svm import HingeSVM
from simopt.solvers.svm import fit as svm_fit
from simopt.solvers.svm import polish as svm_polish
from simopt.solvers.svm.dual import best_intercept, box, complementarity, product, weighted_intercept
from simopt.solvers.svm.fit import contiguous, svm_fits
from simopt.solvers.svm.pair_selection import ascend, ascend_balanced, best_in_box, largest
from simopt.solvers.svm.polish import polish
from simopt.solving.driver import choose
from simopt.solving.entry_points import certify, solve

FORMS = [HingeSVM.form("penalty"), HingeSVM.form("penalty_intercept")]
PLAIN, BIASED = FORMS
NAMES = [name for name, _, _ in ugly(40, 0)]


def at_cost(form, gram, labels, cost):
    """The problem with LIBSVM's C."""
    return HingeSVM(gram, labels, Penalty(1.0 / (len(labels) * cost)), form is BIASED)


def last(fits):
    *_, fit = fits
    return fit


def dual(gram, labels, cost, weights):
    """Σ y w − (C/2) wᵀKw."""
    return float(labels @ weights - 0.5 * cost * weights @ gram @ weights)


def test_it_is_the_default_solver():
    for form in FORMS:
        assert choose(form, None).name == "svm"


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("cost", [1e-4, 1.0, 1e4])
def test_the_certificate_closes_on_ugly_data(form, name, cost):
    gram, labels = next((K, y) for case, K, y in ugly(40, 1) if case == name)
    for unit in (1.0, 1e-12, 1e12):
        problem = at_cost(form, gram * unit, labels, cost / unit)
        solution = solve(problem, "svm", tol=1e-8)
        assert solution.status is Status.OPTIMAL, solution.message
        # judged once more, from what is returned
        assert certify(problem, solution.point, solution.multipliers).relative_gap <= 1e-8


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", NAMES)
def test_clarabel_agrees_within_the_gaps(form, name):
    gram, labels = next((K, y) for case, K, y in ugly(24, 2) if case == name)
    problem = at_cost(form, gram, labels, 3.0)
    ours, theirs = solve(problem, "svm").certificate, solve(problem, "clarabel").certificate
    assert ours.lower <= theirs.upper + 1e-12
    assert theirs.lower <= ours.upper + 1e-12
    assert abs(ours.upper - theirs.upper) <= ours.gap + theirs.gap + 1e-12


@pytest.mark.parametrize("cost", [0.05, 1.0, 100.0])
def test_libsvm_agrees_on_the_form_with_intercept(cost):
    svc = pytest.importorskip("sklearn.svm").SVC
    gram, labels = noisy(150, 3)
    problem = at_cost(BIASED, gram, labels, cost)
    solution = solve(problem, "svm", tol=1e-10)
    peer = svc(kernel="precomputed", C=cost, tol=1e-8).fit(gram, labels)
    alpha = np.zeros(150)
    alpha[peer.support_] = peer.dual_coef_[0]
    theirs = certify(problem, {"alpha": alpha, "bias": peer.intercept_[0]})
    assert solution.status is Status.OPTIMAL
    assert theirs.lower - 1e-12 <= solution.value <= theirs.upper + 1e-12
    # ‖f − f'‖ is at most the sum of both distances to the solution, and |f(x)| ≤ ‖f‖ for this kernel
    apart = problem.distance(theirs.gap) + problem.distance(solution.certificate.gap)
    difference = solution.point["alpha"] - alpha
    assert math.sqrt(max(difference @ gram @ difference, 0.0)) <= apart
    assert np.max(np.abs(gram @ difference)) <= apart + 1e-12


@pytest.mark.parametrize("form", FORMS)
def test_bounds_hold_in_interval_arithmetic(form):
    gram, labels = noisy(60, 4)
    solution = solve(at_cost(form, gram, labels, 5.0), "svm", rigorous=True)
    assert solution.status is Status.OPTIMAL
    assert solution.certificate.arithmetic == "interval"


def test_one_sample_in_closed_form():
    # (1 − f)_+ + f²/(2C κ) with κ = K(x, x): f = min(1, Cκ)
    for kappa, cost in ((2.0, 0.1), (2.0, 10.0), (0.5, 1.0)):
        solution = solve(at_cost(PLAIN, np.array([[kappa]]), np.array([-1.0]), cost))
        assert kappa * solution.point["alpha"][0] == pytest.approx(-min(1.0, cost * kappa), abs=1e-14)


def test_two_samples_with_intercept_in_closed_form():
    # x = ±1 on the line: f(x) = x·min(1, 2C) and no intercept
    gram, labels = np.array([[1.0, -1.0], [-1.0, 1.0]]), np.array([1.0, -1.0])
    for cost in (0.1, 0.4, 3.0):
        solution = solve(at_cost(BIASED, gram, labels, cost))
        assert gram @ solution.point["alpha"] == pytest.approx(labels * min(1.0, 2 * cost), abs=1e-12)


def test_contradicting_samples_share_a_loss_of_two():
    gram, labels = np.ones((2, 2)), np.array([1.0, -1.0])
    for form in FORMS:
        assert solve(at_cost(form, gram, labels, 7.0)).value == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("options", [{"shrinking": False}, {"polishing": False}, {"shrinking": False, "polishing": False}])
def test_options_change_the_way_not_the_solution(form, options):
    gram, labels = noisy(300, 5)
    problem = at_cost(form, gram, labels, 2.0)
    one, two = solve(problem, "svm", tol=1e-9), solve(problem, "svm", tol=1e-9, **options)
    assert one.status is two.status is Status.OPTIMAL
    difference = one.point["alpha"] - two.point["alpha"]
    assert math.sqrt(max(difference @ gram @ difference, 0.0)) <= problem.distance(one.certificate.gap) + problem.distance(
        two.certificate.gap
    )


def test_options_are_validated():
    problem = at_cost(PLAIN, *noisy(20, 6), 1.0)
    for options in ({"shrinking": "no"}, {"polishing": None}):
        with pytest.raises(InvalidProblem):
            solve(problem, "svm", **options)


@pytest.mark.parametrize("form", FORMS)
def test_inputs_are_not_changed_in_any_layout(form):
    gram, labels = noisy(240, 7)
    values = []
    for layout in (np.array(gram, order="C"), np.array(gram, order="F"), np.repeat(gram, 2, axis=1)[:, ::2]):
        before, given_labels = layout.copy(), labels.copy()
        solution = solve(at_cost(form, layout, given_labels, 20.0), "svm")
        assert np.array_equal(layout, before)
        assert np.array_equal(given_labels, labels)
        values.append(solution.value)
    assert max(values) - min(values) <= 2e-8


@pytest.mark.parametrize("balanced", [False, True])
def test_any_start_leads_to_the_same_function(balanced):
    gram, labels = noisy(120, 8)
    gram = contiguous(gram)
    cold = last(svm_fits(gram, labels, 10.0, goal=1e-11, balanced=balanced))
    again = last(svm_fits(gram, labels, 10.0, goal=1e-11, balanced=balanced, start=cold.weights))
    assert again.pair_steps == again.newton_steps == 0
    rng = np.random.default_rng(8)
    start = labels * rng.random(120)
    if balanced:
        start[labels > 0] *= -start[labels < 0].sum() / start[labels > 0].sum()
        start *= min(1.0, 1.0 / np.max(np.abs(start)))
    warm = last(svm_fits(gram, labels, 10.0, goal=1e-11, balanced=balanced, start=start))
    assert warm.gap <= 1e-11
    difference = warm.coefficients - cold.coefficients
    # f is unique, and (1/2C)‖f − f*‖² ≤ n·gap for each of the two
    assert difference @ gram @ difference <= 2 * 2 * 10.0 * 120 * (warm.gap + cold.gap)


@pytest.mark.parametrize("balanced", [False, True])
def test_fits_certify_themselves(balanced):
    gram, labels = noisy(200, 9)
    form = BIASED if balanced else PLAIN
    problem = at_cost(form, gram, labels, 50.0)
    for fit in svm_fits(contiguous(gram), labels, 50.0, goal=1e-9, balanced=balanced):
        low, high = box(labels)
        assert np.all((low <= fit.weights) & (fit.weights <= high))
        assert abs(np.sum(fit.weights)) <= 1e-12 or not balanced
        if math.isfinite(fit.gap):
            point = {"alpha": fit.coefficients, "bias": fit.intercept}
            judged = certify(problem, point, {"margins": fit.multipliers})
            assert judged.gap == pytest.approx(fit.gap, rel=1e-6, abs=1e-12)
            assert fit.residual == pytest.approx(labels - gram @ fit.coefficients - fit.intercept, abs=1e-10)
    assert fit.gap <= 1e-9


def test_samples_left_out_too_early_come_back(monkeypatch):
    monkeypatch.setattr(svm_fit, "FEWEST", 8)
    monkeypatch.setattr(svm_fit, "SHRUNK", 0.95)
    smallest = []
    subset = svm_fit._InPlay.subset
    monkeypatch.setattr(svm_fit._InPlay, "subset", lambda play, keep: smallest.append(int(keep.sum())) or subset(play, keep))
    for name, gram, labels in ugly(40, 10):
        for balanced in (False, True):
            for cost in (1.0, 1e4):
                assert last(svm_fits(contiguous(gram), labels, cost, goal=1e-8, balanced=balanced)).gap <= 1e-8, name
    assert smallest and min(smallest) < 20


def rough(gram, labels, cost, balanced, steps):
    """All samples in play, after some pair steps."""
    gram = contiguous(gram)
    play = svm_fit._InPlay(gram, labels, np.zeros(len(labels)), labels.copy(), None, 0.0 if balanced else None)
    play.ascend(cost, steps)
    return play


@pytest.mark.parametrize("balanced", [False, True])
@pytest.mark.parametrize("cost", [1.0, 100.0])
def test_what_is_left_out_is_idle_and_what_is_kept_knows_of_it(balanced, cost):
    gram, labels = noisy(200, 20)
    play = rough(gram, labels, cost, balanced, 600)
    keep = play.worth_keeping()
    assert 0 < np.count_nonzero(~keep) < 200
    outward = labels * (play.residual - play.intercept())
    full, none = np.abs(play.weights) == 1.0, play.weights == 0.0
    inward = np.max(np.where(full, 0.0, outward)), np.max(np.where(none, 0.0, -outward))
    assert np.all(keep[~full & ~none])
    assert np.array_equal(~keep, (full & (outward > max(inward))) | (none & (outward < -max(inward))))
    part = play.subset(keep)
    assert np.array_equal(part.gram, gram[np.ix_(keep, keep)])
    assert part.total is None or part.total == pytest.approx(np.sum(part.weights), abs=1e-12)
    assert part.intercept() == pytest.approx(play.intercept(), abs=1e-14)
    assert part.gap() == pytest.approx(play.gap(), rel=1e-12)
    others = play.subset(~(full & (labels > 0)))
    assert others.total is None or others.total == pytest.approx(-np.count_nonzero(full & (labels > 0)), abs=1e-12)
    smaller = part.subset(np.arange(len(part.labels)) % 2 == 0)
    assert np.array_equal(smaller.index, np.flatnonzero(keep)[::2])


def test_those_in_play_stay_when_others_come_back():
    gram, labels = noisy(100, 21)
    everything = rough(gram, labels, 10.0, False, 20)
    solve_state = svm_fit._Solve(everything, 10.0, 1e-6, True, True)
    solve_state.play = everything.subset(np.arange(100) < 30)
    missed = np.zeros(100, dtype=bool)
    missed[90:] = True
    before, svm_fit.FEWEST = svm_fit.FEWEST, 10
    try:
        solve_state._choose(missed)
    finally:
        svm_fit.FEWEST = before
    assert np.array_equal(solve_state.play.index, [*range(30), *range(90, 100)])


@pytest.mark.parametrize("balanced", [False, True])
def test_a_choice_that_leaves_out_too_many_is_given_up(balanced, monkeypatch):
    monkeypatch.setattr(svm_fit, "FEWEST", 10)
    monkeypatch.setattr(svm_fit._InPlay, "worth_keeping", lambda play: np.arange(len(play.labels)) < 25)
    gram, labels = noisy(100, 22)
    assert last(svm_fits(contiguous(gram), labels, 10.0, goal=1e-9, balanced=balanced)).gap <= 1e-9


def test_a_gap_that_rounding_forbids_ends_the_solve():
    gram, labels = noisy(60, 11)
    fits = list(svm_fits(contiguous(gram), labels, 100.0, goal=0.0))
    assert 0.0 <= fits[-1].gap <= 1e-12


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(1, 25),
    rank=st.integers(1, 6),
    log_cost=st.floats(-4, 4),
    balanced=st.booleans(),
    integers=st.booleans(),
)
def test_random_problems(seed, n, rank, log_cost, balanced, integers):
    rng = np.random.default_rng(seed)
    inputs = rng.integers(-1, 2, size=(n, rank)).astype(float) if integers else rng.normal(size=(n, rank))
    labels = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    problem = at_cost(BIASED if balanced else PLAIN, linear(inputs), labels, 10.0**log_cost)
    solution = solve(problem, "svm", tol=1e-8)
    assert solution.status is Status.OPTIMAL


# The parts.


@given(st.lists(st.floats(0, 1e300), min_size=1, max_size=600))
def test_largest_is_the_argmax(values):
    gains = np.array(values)
    assert largest(gains) == int(np.argmax(gains))


@settings(max_examples=200)
@given(st.data())
def test_best_in_box_beats_every_grid_point(data):
    number = st.floats(-3, 3)
    a, b, c, d = (data.draw(number) for _ in range(4))
    factor = np.array([[a, b], [c, d]])
    curvature = factor @ factor.T + np.diag([1e-3, 1e-3])
    if data.draw(st.booleans()):  # a flat direction
        curvature = np.outer(factor[0], factor[0]) + np.diag([1e-300, 1e-300])
        curvature[[0, 1], [0, 1]] = np.maximum(curvature[[0, 1], [0, 1]], 1e-6)
        curvature[0, 1] = curvature[1, 0] = math.copysign(math.sqrt(curvature[0, 0] * curvature[1, 1]), curvature[0, 1])
    g = np.array([data.draw(number), data.draw(number)])
    low, high = -np.array([data.draw(st.floats(0, 2)), data.draw(st.floats(0, 2))]), np.array([0.5, 1.5])

    def value(x, y):
        return g[0] * x + g[1] * y - 0.5 * (curvature[0, 0] * x * x + 2 * curvature[0, 1] * x * y + curvature[1, 1] * y * y)

    x, y = best_in_box(*g, curvature[0, 0], curvature[0, 1], curvature[1, 1], low[0], high[0], low[1], high[1])
    assert low[0] <= x <= high[0]
    assert low[1] <= y <= high[1]
    xs, ys = np.meshgrid(np.linspace(low[0], high[0], 41), np.linspace(low[1], high[1], 41))
    best = float(np.max(value(xs, ys)))
    assert value(x, y) >= best - 1e-9 * (1 + abs(best))


@pytest.mark.parametrize("balanced", [False, True])
@pytest.mark.parametrize("name", NAMES)
def test_pair_steps_ascend(balanced, name):
    gram, labels = next((K, y) for case, K, y in ugly(40, 12) if case == name)
    low, high = box(labels)
    diagonal = np.maximum(np.diagonal(gram), 1e-12)
    weights, residual, buffers = np.zeros(40), labels.copy(), np.empty((4, 40))
    step = ascend_balanced if balanced else ascend
    before = 0.0
    for _ in range(40):
        if step(contiguous(gram), diagonal, weights, residual, low, high, 2.0, buffers, 1) == 0:
            break
        now = dual(gram, labels, 2.0, weights)
        assert now >= before - 1e-12
        before = now
        assert np.all((low <= weights) & (weights <= high))
        assert abs(np.sum(weights)) <= 1e-12 or not balanced
    assert residual == pytest.approx(labels - 2.0 * gram @ weights, abs=1e-9)
    assert before > 0.0 or balanced


def test_the_first_pair_has_the_largest_gain_of_all_pairs_of_its_sample():
    gram, labels = noisy(30, 13)
    low, high = box(labels)
    weights, residual = np.zeros(30), labels.copy()
    ascend(contiguous(gram), np.diagonal(gram).copy(), weights, residual, low, high, 0.4, np.empty((4, 30)), 1)
    i, *_ = (k for k in np.flatnonzero(weights))
    best = 0.0
    for j in range(30):
        if j != i:
            pair = np.zeros(30)
            steps = best_in_box(labels[i] / 0.4, labels[j] / 0.4, 1.0, gram[i, j], 1.0, low[i], high[i], low[j], high[j])
            pair[[i, j]] = steps
            best = max(best, dual(gram, labels, 0.4, pair))
    assert dual(gram, labels, 0.4, weights) == pytest.approx(best, rel=1e-9)


def test_the_first_balanced_pair_has_the_largest_gain_of_all_pairs_of_its_sample():
    inputs = np.random.default_rng(23).normal(size=(30, 4)) * np.linspace(0.3, 2.0, 30)[:, None]
    gram, labels = linear(inputs), np.where(np.arange(30) % 2 > 0, 1.0, -1.0)
    low, high = box(labels)
    weights, residual = np.zeros(30), labels.copy()
    ascend_balanced(contiguous(gram), np.diagonal(gram).copy(), weights, residual, low, high, 1e3, np.empty((4, 30)), 1)
    (i,) = np.flatnonzero(weights > 0)
    gains = [2.0 / (gram[i, i] + gram[j, j] - 2 * gram[i, j]) for j in np.flatnonzero(labels < 0)]
    assert dual(gram, labels, 1e3, weights) == pytest.approx(max(gains) / 1e3, rel=1e-9)


@pytest.mark.parametrize("total", [None, 0.0])
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("cost", [0.5, 1e4])
def test_the_polish_is_never_worse_and_gets_to_the_end(total, name, cost):
    gram, labels = next((K, y) for case, K, y in ugly(40, 14) if case == name)
    gram = contiguous(gram)
    low, high = box(labels)
    weights, residual = np.zeros(40), labels.copy()
    step = ascend if total is None else ascend_balanced
    step(gram, np.maximum(np.diagonal(gram), 1e-12), weights, residual, low, high, cost, np.empty((4, 40)), 60)
    given_weights, given_residual = weights.copy(), residual.copy()
    reached = complementarity(labels, weights, residual - (0.0 if total is None else best_intercept(labels, residual)))
    for polished in polish(gram, labels, cost, weights, residual, goal=40 * 1e-9, total=total):
        assert polished.gap <= reached
        reached = polished.gap
        assert np.all((low <= polished.weights) & (polished.weights <= high))
    assert reached <= 40 * 1e-9
    assert np.array_equal(weights, given_weights)
    assert np.array_equal(residual, given_residual)


@pytest.mark.parametrize("total", [None, 0.0])
def test_the_polish_takes_the_same_steps_in_every_unit_of_the_kernel(total):
    """Only the product C K counts."""
    gram, labels = linear(np.random.default_rng(3).normal(size=(40, 3))), np.where(np.arange(40) % 3 > 0, 1.0, -1.0)
    runs = [
        list(polish(contiguous(gram * unit), labels, 8.0 / unit, np.zeros(40), labels.copy(), goal=40 * 1e-9, total=total))
        for unit in (1.0, 2.0**-20, 2.0**20)
    ]
    for run in runs[1:]:
        assert [polished.gap for polished in run] == [polished.gap for polished in runs[0]]
        assert np.array_equal(run[-1].weights, runs[0][-1].weights)


@pytest.mark.parametrize("width", [1e-6, 1e6])
@pytest.mark.parametrize("total", [None, 0.0])
def test_a_width_that_does_not_fit_is_corrected(width, total, monkeypatch):
    monkeypatch.setattr(svm_polish, "BALANCE", math.inf)
    monkeypatch.setattr(svm_polish._PolishState, "_first_width", lambda stage: width)
    for seed in range(6):
        # kernels of rank 2, far from the solution: the matrix of Newton's step is singular but for the width
        gram, labels = linear(np.random.default_rng(seed).normal(size=(60, 2))), np.where(np.arange(60) % 3 > 0, 1.0, -1.0)
        assert last(polish(contiguous(gram), labels, 1e3, np.zeros(60), labels.copy(), goal=60 * 1e-6, total=total)).gap <= 60 * 1e-6


@pytest.mark.parametrize("width", [1e-6, 1e-3, 1e6])
@pytest.mark.parametrize("total", [None, 0.0])
@pytest.mark.parametrize("name", NAMES)
def test_a_width_that_does_not_fit_is_corrected_on_ugly_data(name, total, width, monkeypatch):
    """Samples that change sides at one b, a K that is 0 (no step can be made, and none is needed), samples in any order."""
    monkeypatch.setattr(svm_polish, "BALANCE", math.inf)
    monkeypatch.setattr(svm_polish._PolishState, "_first_width", lambda stage: width)
    gram, labels = next((K, y) for case, K, y in ugly(40, 0) if case == name)
    for order in (np.arange(40), np.random.default_rng(0).permutation(40)):
        gram, labels = np.ascontiguousarray(gram[np.ix_(order, order)]), labels[order]
        assert last(polish(gram, labels, 1e3, np.zeros(40), labels.copy(), goal=40 * 1e-6, total=total)).gap <= 40 * 1e-6


@pytest.mark.parametrize(("name", "total"), [("collinear and separable", None), ("smooth on a line", 0.0)])
def test_what_a_new_width_alone_has_reached_is_returned(name, total):
    """The last digits may come with the change of the width, and not with a step."""
    gram, labels = next((K, y) for case, K, y in ugly(40, 0) if case == name)
    assert last(polish(contiguous(gram), labels, 1.0, np.zeros(40), labels.copy(), goal=40 * 1e-6, total=total)).gap <= 40 * 1e-6


@settings(max_examples=100)
@given(seed=st.integers(0, 10**6), n=st.integers(1, 12))
def test_best_intercept_minimises_the_loss(seed, n):
    rng = np.random.default_rng(seed)
    labels = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    residual = rng.integers(-4, 5, size=n) / 2.0

    def loss(b):
        return float(np.sum(np.maximum(labels * (residual - b), 0.0)))

    assert loss(best_intercept(labels, residual)) <= min(loss(b) for b in residual) + 1e-12


def test_best_intercept_counts_the_samples_left_out():
    rng = np.random.default_rng(16)
    labels, residual = np.where(rng.random(50) < 0.5, 1.0, -1.0), rng.normal(size=50)
    b = best_intercept(labels, residual)
    # those beyond 1 on either side are at a bound: full weight inside the margin, none beyond it
    kept = np.abs(residual - b) < 1.0
    weights = np.where(labels * (residual - b) > 0, labels, 0.0)
    assert best_intercept(labels[kept], residual[kept], -float(np.sum(weights[~kept]))) == pytest.approx(b, abs=1e-14)


def test_product_by_rows_is_the_product():
    gram, _ = noisy(37, 17)
    rng = np.random.default_rng(17)
    for count in (0, 1, 5, 18, 37):
        weights = np.zeros(37)
        weights[rng.choice(37, size=count, replace=False)] = rng.normal(size=count)
        assert product(contiguous(gram), weights) == pytest.approx(gram @ weights, abs=1e-12)


def test_natural_units_do_not_matter():
    gram, labels = noisy(50, 18)
    problem = at_cost(PLAIN, gram, labels, 4.0)
    value = solve(problem, "svm", tol=1e-10).value
    for unit in (1e-100, 1e-9, 1e9, 1e100):
        scaled = replace(problem, gram=gram * unit, bound=Penalty(problem.regularization * unit))
        assert solve(scaled, "svm", tol=1e-10).value == pytest.approx(value, abs=2e-10)


def test_gaussian_gram_of_equal_points_is_constant():
    labels = np.array([1.0, 1.0, -1.0, 1.0])
    # all inputs equal: f is one number, and the loss 3(1 − f)_+ + (1 + f)_+ over 4 is least at f = 1 for weak penalties
    solution = solve(at_cost(PLAIN, gaussian(np.zeros((4, 1))), labels, 1e3))
    assert np.ones((4, 4)) @ solution.point["alpha"] == pytest.approx(np.ones(4), abs=1e-6)


@pytest.mark.parametrize("seed", range(6))
def test_the_weighted_intercept_is_the_best_of_all(seed):
    """Σ c_i [1 − y_i (f_i + b)]_+ − total b has a kink at each r_i = y_i − f_i, and its minimum at one of them, or between two."""
    rng = np.random.default_rng(seed)
    labels, scores = rng.choice([-1.0, 1.0], size=25), rng.normal(size=25)
    caps = rng.integers(0, 4, size=25) / 4.0
    residual = labels - scores

    def loss(b):
        return float(caps @ np.maximum(1.0 - labels * (scores + b), 0.0))

    b = weighted_intercept(labels, residual, caps)
    assert loss(b) <= min(loss(kink) for kink in residual) + 1e-12
    same = np.full(25, 0.5)
    assert weighted_intercept(labels, residual, same) == pytest.approx(best_intercept(labels, residual), abs=1e-12)


@pytest.mark.parametrize(("gap", "chosen"), [(1.0, True), (0.01, False)])
def test_samples_in_play_are_chosen_anew_while_the_gap_is_open(gap, chosen):
    asked = []
    whole = SimpleNamespace(
        gram=np.eye(2), labels=np.ones(2), weights=np.zeros(2), residual=np.zeros(2), index=None,
        gap=lambda: gap, worth_keeping=lambda: np.ones(2, dtype=bool),
    )  # fmt: skip
    state = SimpleNamespace(everything=whole, play=whole, cost=1.0, goal=0.1, shrinking=True, target=0.1, _choose=asked.append)
    assert svm_fit._Solve.overall_gap(state) == gap and bool(asked) is chosen
