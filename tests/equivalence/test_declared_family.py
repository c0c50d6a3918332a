"""Families that are declared problems: no radius is smaller than the distance to the true function, and none is given without a proof."""

import math

import cvxpy as cp
import numpy as np
import pytest

from simopt.core.errors import InvalidProblem
from simopt.data.similarities import Gaussian, Linear
from simopt.equivalence.declared_family import learned
from simopt.equivalence.equivalence import Answer
from simopt.equivalence.map_search import find_map
from simopt.equivalence.training import TrainingSet
from simopt.model import uniform_convexity
from simopt.problems.kernel_ridge import KernelRidge
from simopt.theorems.ak.families import kernel_ridge, kernel_ridge_ball, m_power_rls


def sample(n, similarity, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n, 2))
    return TrainingSet(X, np.sin(6 * X[:, 0]) + 0.1 * rng.normal(size=n), similarity)


REGULAR, NEARLY_SINGULAR, SINGULAR = sample(10, Gaussian(0.3)), sample(40, Gaussian(0.6)), sample(12, Linear())


def coefficients(Z):
    alpha = cp.Variable(Z.n, name="alpha")
    return Z.gram @ alpha, cp.quad_form(alpha, cp.psd_wrap(Z.gram))


def coordinates(Z):
    w = cp.Variable(Z.features.shape[1], name="w")
    return Z.features @ w, cp.sum_squares(w), cp.norm(w)


def doubled(Z):
    f, square, norm = coordinates(Z)
    return f, square, 2 * norm


def risk(f, Z):
    return cp.sum_squares(Z.targets - f) / Z.n


def by(build, norm, penalty=None, bound=None, sense=1):
    """min risk + penalty(λ, ‖f‖² or ‖f‖), or subject to the norm ≤ bound(λ)."""

    def pose(lam, Z):
        f, *norms = build(Z)
        goal = risk(f, Z) + (0 if penalty is None else penalty(lam, norms[norm]))
        rows = [] if bound is None else [norms[norm] <= bound(lam)]
        return cp.Problem(cp.Minimize(goal) if sense > 0 else cp.Maximize(-goal), rows)

    return pose


KRR, BALL = kernel_ridge(), kernel_ridge_ball()
PROVEN = {
    "ridge, coefficients": (by(coefficients, 0, lambda lam, q: lam * q), KRR, "objective"),
    "ridge, coordinates": (by(coordinates, 0, lambda lam, q: lam * q), KRR, "objective"),
    "ridge, a maximum": (by(coordinates, 0, lambda lam, q: lam * q, sense=-1), KRR, "objective"),
    "ridge in two parts": (by(coordinates, 0, lambda lam, q: lam / 4 * q + 0.75 * lam * q), KRR, "objective"),
    "square of the norm": (by(coordinates, 1, lambda lam, t: lam * t**2), KRR, "power"),
    "cube of the norm": (by(coordinates, 1, lambda lam, t: lam * cp.power(t, 3)), m_power_rls(3.0), "power"),
    "cube of twice the norm": (by(coordinates, 1, lambda lam, t: lam / 8 * cp.power(2 * t, 3)), m_power_rls(3.0), "power"),
    "power 1.5": (by(coordinates, 1, lambda lam, t: lam * cp.power(t, 1.5)), m_power_rls(1.5), "power"),
    "power 4 of coefficients": (by(coefficients, 0, lambda lam, q: lam * cp.power(q, 2)), m_power_rls(4.0), "Lagrangian"),
    "ball": (by(coordinates, 1, bound=lambda r: r), BALL, "ball"),
    "ball of twice the norm": (by(doubled, 1, bound=lambda r: 2 * r), BALL, "ball"),
    "ball of squares": (by(coordinates, 0, bound=lambda r: r**2), BALL, "Lagrangian"),
    "ball of coefficients": (by(coefficients, 0, bound=lambda r: r**2), BALL, "Lagrangian"),
}


@pytest.mark.parametrize("tol", [1e-9, pytest.param(1e-4, marks=pytest.mark.thorough)])
@pytest.mark.parametrize("name", PROVEN)
def test_the_radius_holds_the_true_function(name, tol):
    pose, truth, rule = PROVEN[name]
    family = learned(name, pose, tol=tol)
    for Z in (REGULAR, NEARLY_SINGULAR, SINGULAR):
        if "coefficients" in name and Z is not REGULAR:
            continue  # whose Gram matrices nobody proves to be semidefinite
        for lam in (0.03, 0.4):
            f, found = family.solved(lam, Z)
            g = truth(lam, Z)
            assert f.distance(g) <= f.error + g.error
            assert f.error == found.value <= (0.05 if tol < 1e-6 else 0.5) * max(f.norm(), 0.1), found
            assert rule in found.why


def unproven(weights):
    def pose(lam, Z):
        alpha = cp.Variable(Z.n, name="alpha")
        return cp.Problem(cp.Minimize(risk(Z.gram @ alpha, Z) + lam * cp.quad_form(alpha, cp.psd_wrap(weights(Z.gram)))))

    return pose


def norm_of(which):
    def pose(lam, Z):
        w = cp.Variable(Z.features.shape[1], name="w")
        return cp.Problem(cp.Minimize(risk(Z.features @ w, Z) + lam * which(w)))

    return pose


def in_a_ball(which):
    def pose(radius, Z):
        w = cp.Variable(Z.features.shape[1], name="w")
        return cp.Problem(cp.Minimize(risk(Z.features @ w, Z)), [which(w) <= radius])

    return pose


@pytest.mark.parametrize(
    "pose",
    [
        unproven(lambda K: K + 1e-3 * np.eye(len(K))),
        unproven(lambda K: 1.1 * K),
        unproven(lambda K: np.eye(len(K))),
        norm_of(lambda w: cp.norm(w, 1)),
        norm_of(cp.norm),
        norm_of(lambda w: cp.sum_squares(w[1:])),
        norm_of(lambda w: cp.power(cp.norm(w[1:]), 3)),
        norm_of(lambda w: cp.power(cp.norm(w - 1), 3)),
        norm_of(lambda w: cp.power(cp.norm(cp.multiply(np.arange(1, w.size + 1), w)), 3)),
        norm_of(lambda w: cp.norm(w, 1) ** 2),
        in_a_ball(lambda w: cp.norm(cp.multiply(np.arange(1, w.size + 1), w))),
        in_a_ball(lambda w: cp.norm(cp.multiply(np.arange(w.size), w))),
        in_a_ball(lambda w: cp.norm(cp.hstack([w[:1], 0.5 * w[1:]]))),
        in_a_ball(lambda w: cp.norm(w - 1)),
        in_a_ball(lambda w: cp.norm(w, 1)),
    ],
)
def test_where_no_term_proves_it_the_radius_is_infinite_and_says_why(pose):
    family = learned("unproven", pose)
    found = family.radius(0.1, REGULAR)
    assert found.value == math.inf and "write lam *" in found.why
    answer = find_map(family, KRR, 0.1, REGULAR)
    assert answer.answer is Answer.UNDECIDED


def test_a_norm_that_stands_twice_proves_no_more_than_the_diameter():
    """Its multiplier then has a part from each place, and the rule of the ball is about one."""

    def pose(r, Z):
        w = cp.Variable(Z.features.shape[1], name="w")
        t = cp.norm(w)
        return cp.Problem(cp.Minimize(risk(Z.features @ w, Z) + 0.2 * t), [t <= r])

    loose, close = (learned("twice", pose, tol=tol) for tol in (1e-4, 1e-11))
    f, found = loose.solved(0.2, REGULAR)
    assert found.why == "the diameter of the ball" and f.error == pytest.approx(0.4)
    assert f.distance(close(0.2, REGULAR)) <= 2 * f.error


def test_a_multiple_that_rounds_nothing_counts():
    half, whole = (learned("half", unproven(lambda K, k=k: k * K)) for k in (0.5, 1.0))
    f, g = half(0.2, REGULAR), whole(0.1, REGULAR)
    assert f.distance(g) <= f.error + g.error < 1e-5


def test_an_open_gap_is_no_radius():
    def unbounded(lam, Z):
        w = cp.Variable(Z.features.shape[1], name="w")
        return cp.Problem(cp.Minimize(cp.sum(w) + lam * cp.pos(cp.sum(w))))

    with pytest.raises(ArithmeticError, match="no point"):
        learned("unbounded", unbounded)(0.1, REGULAR)


def test_a_variable_that_is_given_is_taken_for_the_coefficients():
    def pose(lam, Z):
        a = cp.Variable(Z.n)
        return cp.Problem(cp.Minimize(risk(Z.gram @ a, Z) + lam * cp.quad_form(a, cp.psd_wrap(Z.gram)))), a

    f, g = learned("ridge", pose)(0.1, REGULAR), KRR(0.1, REGULAR)
    assert f.distance(g) <= f.error + g.error < 1e-5


def one(name, size):
    x = cp.Variable(size, name=name)
    return cp.Problem(cp.Minimize(cp.sum_squares(x - 1)))


@pytest.mark.parametrize(
    ("pose", "message"),
    [
        (lambda lam, Z: one("beta", Z.n), "it has beta"),
        (lambda lam, Z: one("alpha", Z.n + 1), f"{REGULAR.n} needed"),
        (lambda lam, Z: one("w", 1), "entries"),
        (lambda lam, Z: (one("alpha", Z.n), cp.Variable(Z.n, name="stranger")), "stranger is none of the problem"),
        (lambda lam, Z: 3.0, "float given"),
        (lambda lam, Z: unproven(lambda K: K)(lam, SINGULAR), "declare w in Z.features"),
    ],
)
def test_what_is_no_learner_is_refused(pose, message):
    with pytest.raises(InvalidProblem, match=message):
        learned("none", pose)(0.1, REGULAR)


def test_the_features_are_coordinates():
    rng = np.random.default_rng(3)
    for Z in (REGULAR, NEARLY_SINGULAR, SINGULAR):
        w = rng.normal(size=Z.features.shape[1])
        f = Z.of_features(w)
        assert np.allclose(Z.features @ Z.features.T, Z.gram, atol=1e-12)
        assert abs(f.norm() - np.linalg.norm(w)) <= f.error + 1e-12 * np.linalg.norm(w)


@pytest.mark.parametrize("m", [1.1, 1.5, 1.9, 2.0, 3.0, 5.0])
def test_uniform_convexity_needs_no_bound_of_the_optimum(m):
    """On the line min λ|f|^m + c f: the radius holds for all points, and no worse than a few times their distance where it matters."""
    lam, rng = 0.3, np.random.default_rng(1)
    for best in (0.2, 1.0, 7.0):
        c = -lam * m * best ** (m - 1)
        for f in best * (1.0 + rng.normal(size=20) * 10.0 ** rng.uniform(-6, 1, size=20)):
            gap = lam * abs(f) ** m + c * f - (lam * best**m + c * best)
            noise = 1e-15 * (lam * abs(f) ** m + abs(c * f))
            assert abs(f - best) <= uniform_convexity.distance(max(gap, 0.0) + noise, abs(f), lam, m) * (1 + 1e-9)


def test_numbers_that_leave_the_floats_prove_no_radius():
    def huber(lam, Z):
        f, square, _ = coordinates(Z)
        return cp.Problem(cp.Minimize(cp.sum(cp.huber(Z.targets - f)) + lam * square))

    family = learned("huber", huber)
    known = family.radius(1e308, REGULAR)
    assert known.value == math.inf and "leave the floats" in known.why
    assert family(1e308, REGULAR).error == math.inf


def test_a_radius_has_the_rounding_of_the_function_in_it():
    """A distance that is said to be 0 leaves what the coefficients may have lost."""
    family = learned("exact", lambda lam, Z: KernelRidge(Z.gram, Z.targets, lam), radius=lambda problem, solution: 0.0)
    f = family(0.1, REGULAR)
    assert 0.0 < f.error <= 1e-10 * f.norm()
