"""The active set on the ℓ₁ ball against CLARABEL and a linear programme; its pieces against brute force; hard and degenerate cases."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simopt.model.status import Status
from simopt.problems.sparse_landmarked import SparseLandmarked
from simopt.solvers.sparse.active_columns import ActiveSet, SmoothedLoss, accelerated
from simopt.solvers.sparse.l1_face import model_minimiser, project
from simopt.solving.entry_points import solve


def gauss(n, d, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, X[:, :3].sum(axis=1) + 0.3 * rng.normal(size=n)


def landmarks(n, d, seed=0):
    rng = np.random.default_rng(seed)
    Z = rng.uniform(size=(n, 3))
    squares = ((Z[:, None, :] - Z[None, rng.choice(n, d, replace=False), :]) ** 2).sum(axis=2)
    return np.exp(-squares), np.sin(6 * Z[:, 0]) + Z[:, 1] ** 2 + 0.1 * rng.normal(size=n)


@pytest.mark.parametrize("make", [gauss, landmarks])
@pytest.mark.parametrize("radius", [0.5, 5.0, 50.0])
@pytest.mark.parametrize("beta", [1.0, 30.0, 1e4, math.inf])
def test_it_closes_the_gap_where_clarabel_agrees(make, radius, beta):
    X, y = make(150, 40)
    problem = SparseLandmarked(X, y, radius, 0.05, beta)
    ours, peer = solve(problem, "active-set", tol=1e-9), solve(problem, "clarabel", tol=1e-7)
    assert ours.status is Status.OPTIMAL
    # ours is at most its own gap, of up to 1e-9 of the scale, above the optimum; the peer's point, however close, is not below that
    assert ours.value <= peer.value + ours.certificate.gap + 1e-12
    assert ours.certificate.gap <= 1e-9 * problem.scale()
    assert ours.certificate.lower >= peer.certificate.lower - 1e-6 * problem.scale()
    assert np.sum(np.abs(ours.point["w"])) <= radius


def test_what_gains_nothing_more_is_handed_over():
    X, y = landmarks(150, 40)
    for radius in (5.0, 50.0):  # rounding leaves about 1e-11 of the gap; before, 2000 looks went by in which nothing happened
        found = solve(SparseLandmarked(X, y, radius, 0.05, math.inf), "active-set", tol=1e-12)
        assert found.certificate.relative_gap <= 1e-10 and found.provenance.iterations < 200


def test_the_insensitive_loss_is_a_linear_programme():
    from scipy.optimize import linprog

    X, y = landmarks(60, 20, seed=1)
    n, d = X.shape
    rows = np.vstack([np.hstack([X, -X, -np.eye(n)]), np.hstack([-X, X, -np.eye(n)]), np.r_[np.ones(2 * d), np.zeros(n)][None]])
    right = np.concatenate([y + 0.1, 0.1 - y, [4.0]])
    value = linprog(np.r_[np.zeros(2 * d), np.full(n, 1 / n)], A_ub=rows, b_ub=right, bounds=(0, None), method="highs").fun
    found = solve(SparseLandmarked(X, y, 4.0, 0.1, math.inf), "active-set", tol=1e-8)
    assert found.optimal and found.value == pytest.approx(value, abs=1e-7)


@pytest.mark.parametrize("beta", [5.0, math.inf])
def test_gradient_steps_take_over_where_many_columns_have_weight(beta):
    X, y = gauss(200, 60)
    y = y + X @ np.random.default_rng(4).normal(size=60) / 4
    problem = SparseLandmarked(X, y, 15.0, 0.05, beta)
    dense, sparse = (solve(problem, "active-set", tol=1e-5, dense=limit, wide=0) for limit in (5, 400))
    assert np.count_nonzero(sparse.point["w"]) > 30
    assert dense.optimal and sparse.optimal
    assert dense.value == pytest.approx(sparse.value, abs=2e-5 * problem.scale())


@pytest.mark.parametrize("make", [gauss, landmarks])
@pytest.mark.parametrize("radius", [1e-3, 5.0, 25.0])
@pytest.mark.parametrize("beta", [1e-3, 30.0, 1e5, math.inf])
def test_the_interior_point_method_agrees_with_the_active_set(make, radius, beta):
    X, y = make(150, 40)
    problem = SparseLandmarked(X, y, radius, 0.05, beta)
    inner, active = solve(problem, "interior-point"), solve(problem, "active-set", tol=1e-9)
    # of a far too large ball B times the rounding errors of the gradient remain of its gap
    assert active.optimal and (inner.optimal or inner.certificate.gap <= 1e-8 * problem.scale())
    assert inner.value == pytest.approx(active.value, abs=2e-8 * problem.scale())


@pytest.mark.parametrize("beta", [5.0, 1e4, math.inf])
def test_the_interior_point_method_takes_over_where_many_columns_have_weight(beta):
    X, y = gauss(200, 60)
    y = y + X @ np.random.default_rng(4).normal(size=60) / 4
    problem = SparseLandmarked(X, y, 15.0, 0.05, beta)
    handed, alone = solve(problem, "active-set", dense=5), solve(problem, "active-set", dense=400)
    assert handed.optimal and alone.optimal
    assert handed.value == pytest.approx(alone.value, abs=2e-8 * problem.scale())
    assert np.all(handed.point["w"] != 0.0)  # interior points have no zeros


def test_targets_that_are_interpolated_in_a_large_ball():
    rng = np.random.default_rng(1)
    X, y = np.round(rng.normal(size=(8, 20))), rng.normal(size=8)
    for beta in (10.0, 1e6, 1e8):
        assert solve(SparseLandmarked(X, y, 1e6, 0.0, beta)).optimal


def test_equal_and_zero_columns_few_samples_and_zero_targets():
    X, y = gauss(30, 5)
    twice = np.column_stack([X, X, np.zeros((30, 2))])
    one, two = (solve(SparseLandmarked(features, y, 1.0, 0.1, 10.0), "active-set") for features in (X, twice))
    assert one.optimal and two.optimal and one.value == pytest.approx(two.value, rel=1e-6)
    wide = np.random.default_rng(5).normal(size=(4, 50))
    assert solve(SparseLandmarked(wide, np.arange(4.0), 100.0, 0.0, 10.0), "active-set").value < 1e-6
    assert solve(SparseLandmarked(X, np.zeros(30), 1.0), "active-set").optimal
    assert solve(SparseLandmarked(np.zeros((5, 3)), np.ones(5), 1.0), "active-set").optimal


def test_memory_maps_and_dask_arrays(tmp_path):
    da = pytest.importorskip("dask.array")
    X, y = landmarks(300, 20)
    np.save(tmp_path / "x.npy", X)
    plain = solve(SparseLandmarked(X, y, 3.0), "active-set")
    for lazy in (np.load(tmp_path / "x.npy", mmap_mode="r"), da.from_array(X, chunks=(70, 20))):
        found = solve(SparseLandmarked(lazy, y, 3.0), "active-set")
        assert found.optimal and found.value == pytest.approx(plain.value, rel=1e-7)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 12))
def test_projection_onto_the_ball(seed, d):
    rng = np.random.default_rng(seed)
    v, radius = rng.normal(size=d) * 3, float(rng.uniform(0.1, 3.0))
    w = project(v, radius)
    assert np.sum(np.abs(w)) <= radius * (1 + 1e-12)
    # ⟨v − w, u − w⟩ ≤ 0 for every vertex u of the ball
    for j in range(d):
        for sign in (1.0, -1.0):
            u = np.zeros(d)
            u[j] = sign * radius
            assert (v - w) @ (u - w) <= 1e-9


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 9), st.booleans())
def test_the_minimiser_of_the_model_satisfies_its_conditions(seed, s, full):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(s + 1, s))
    H, g, radius = A.T @ A, rng.normal(size=s) * 2, 1.5
    z = rng.uniform(size=s) * (rng.uniform(size=s) < 0.6)
    total = float(np.sum(z))
    z = z * (radius / total) if full and total > 0 else z * min(1.0, 0.5 * radius / max(total, 1e-9))
    best = model_minimiser(H, g, z, radius, z > 0)
    assert np.all(best >= 0.0) and np.sum(best) <= radius * (1 + 1e-12)
    gradient = g + H @ (best - z)
    mu = max(0.0, -float(np.min(gradient)))
    # optimality over the simplex: ⟨gradient, best⟩ = min over its vertices 0 and B e_j
    assert gradient @ best == pytest.approx(min(0.0, radius * float(np.min(gradient))), abs=1e-7 * (1 + mu))


def test_the_best_step_is_where_the_slope_vanishes():
    rng = np.random.default_rng(6)
    for beta in (0.5, 10.0, 1e4):
        loss = SmoothedLoss(np.zeros(40), 0.1, beta)
        for _ in range(20):
            r, image = rng.normal(size=40), rng.normal(size=40)
            image *= -np.sign(image @ loss.slopes(r))
            t = loss.best_step(r, image)
            before, after = (float(image @ loss.slopes(r + u * image)) for u in (t - 1e-6, t + 1e-6))
            assert before <= 0.0 and (after >= 0.0 or t == 1.0)


def test_projected_gradients_lower_the_gap():
    X, y = gauss(80, 20)
    active = ActiveSet(X, SmoothedLoss(y, 0.1, 5.0), 3.0)
    before = active.gap(active.gradient(active.loss.slopes(active.residual)))
    accelerated(active, 300)
    assert active.gap(active.gradient(active.loss.slopes(active.residual))) < 1e-3 * before
    values = np.linalg.eigvalsh(X.T @ X / 80)
    assert values[-1] * 0.9 <= active.largest_square <= values[-1] * 1.06
