"""tr X log X − tr X log Y: the atoms, each multiplier proven inside or refused, and problems with one or both arguments variable."""

import math
from typing import Any

import cvxpy as cp
import numpy as np
import pytest

import simopt
from simopt.arithmetic import FLOAT, INTERVAL, RATIONAL, Arithmetic, Interval, NotRational
from simopt.core.errors import Unreadable
from simopt.duality import Declared
from simopt.duality.atoms.quantum_relative_entropy import QuantumRelativeEntropy
from simopt.duality.atoms.spectral_newton import second_differences
from simopt.duality.atoms.symmetric_matrix import triangle
from simopt.duality.atoms.trace_logarithm import NegativeTraceLogarithm
from simopt.duality.graph.vectors import known
from simopt.duality.infeasibility.unbounded import unbounded

CLOSED = 1e-7  # of max(1, |optimum|)
M = np.array(
    [
        [0.5377, 0.3188, 3.5784, 0.7254],
        [1.8339, -1.3077, 2.7694, -0.0631],
        [-2.2588, -0.4336, -1.3499, 0.7147],
        [0.8622, 0.3426, 3.0349, -0.2050],
    ]
)  # of CVXPY's own test: the nearest correlation matrix to MMᵀ
both = pytest.mark.parametrize("num", [FLOAT, INTERVAL], ids=lambda num: num.name)
sizes = pytest.mark.parametrize("n", [1, 2, 3, 5])


def definite(rng: np.random.Generator, n: int) -> np.ndarray:
    a = rng.normal(size=(n, n))
    return a @ a.T + 0.1 * np.eye(n)


def symmetric(rng: np.random.Generator, n: int) -> np.ndarray:
    a = rng.normal(size=(n, n))
    return a + a.T


def entries(a: np.ndarray) -> np.ndarray:
    i, j = triangle(len(a))
    return np.where(i == j, 1.0, 2.0) * a[i, j]


def multiplier(a: np.ndarray) -> np.ndarray:
    return a[triangle(len(a))]


def logm(a: np.ndarray) -> np.ndarray:
    values, vectors = np.linalg.eigh(a)
    return (vectors * np.log(values)) @ vectors.T


def relative_entropy(x: np.ndarray, y: np.ndarray) -> float:
    values = np.maximum(np.linalg.eigvalsh(x), 1e-300)
    return float(values @ np.log(values) - np.trace(x @ logm(y)))


def at_points(atom: Any, u: np.ndarray, s: np.ndarray, points: list[np.ndarray]) -> float:
    """The largest ⟨u, z⟩ − sφ(z) of these points: the conjugate is not below."""
    return max(float(u @ z - s @ atom.value(FLOAT, z)) for z in points)


@both
@sizes
def test_values_and_fenchel_and_youngs_inequality(num: Arithmetic, n: int) -> None:
    rng = np.random.default_rng(n)
    atom, s = QuantumRelativeEntropy(n), np.array([0.7])
    for _ in range(3):
        x, y, x0, y0 = (definite(rng, n) for _ in range(4))
        z, u = np.append(entries(x), entries(y)), atom.slope(np.append(entries(x0), entries(y0)), s)
        value = num.sum(atom.value(num, num.lift(z)))
        expected = relative_entropy(x, y)
        assert num.lower(value) - 1e-10 <= expected <= num.upper(value) + 1e-10
        kept = atom.project(num, num.lift(u), num.lift(s))
        assert num.upper(atom.conjugate(num, kept, num.lift(s))) == 0.0
        assert num.upper(atom.remainder(num, num.lift(z), kept, num.lift(s))) >= 0.0
        moved = np.asarray(num.mid(kept))
        assert float(moved @ z) <= 0.7 * expected + 1e-9
        at_slope = np.append(entries(x0), entries(y0))
        assert 0.0 <= num.upper(atom.remainder(num, num.lift(at_slope), kept, num.lift(s))) <= 1e-6 * (1.0 + np.linalg.norm(u))


@both
@sizes
@pytest.mark.parametrize("by", [1e-1, 1e-3, 1e-6, 1e-9])
def test_what_is_inside_is_proven_and_what_is_outside_is_refused(num: Arithmetic, n: int, by: float) -> None:
    """At (X₀, Y₀) the slope (G, −K) is on the boundary: −K − tI is inside, and −K + tI outside, as ⟨u, z⟩ − sφ(z) = t tr Y₀ there."""
    rng = np.random.default_rng([n, 7])
    atom, s, eye = QuantumRelativeEntropy(n), np.array([2.5]), np.append(np.zeros(n * (n + 1) // 2), multiplier(np.eye(n)))
    u = atom.slope(np.append(entries(definite(rng, n)), entries(definite(rng, n))), s)
    inside, outside = u - by * eye, u + by * eye
    assert num.upper(atom.conjugate(num, num.lift(inside), num.lift(s))) == 0.0
    assert np.array_equal(num.mid(atom.project(num, num.lift(inside), num.lift(s))), inside)
    assert float(num.mid(atom.margin(num, num.lift(inside), num.lift(s)))[0]) > 0.0
    assert not known(num, atom.conjugate(num, num.lift(outside), num.lift(s)))
    moved = atom.project(num, num.lift(outside), num.lift(s))
    assert num.upper(atom.conjugate(num, moved, num.lift(s))) == 0.0
    assert np.max(np.abs(np.asarray(num.mid(moved)) - outside)) <= 10.0 * by + 1e-8 * np.max(np.abs(u))


def test_no_multiplier_that_a_point_refutes_is_accepted() -> None:
    rng = np.random.default_rng(11)
    s, accepted = np.ones(1), 0
    for n in (2, 3):
        atom = QuantumRelativeEntropy(n)
        points = [np.append(entries(definite(rng, n)), entries(definite(rng, n))) for _ in range(300)]
        for _ in range(40):
            u = np.append(multiplier(symmetric(rng, n)), -multiplier(rng.uniform(0.1, 3.0) * definite(rng, n)))
            if known(INTERVAL, atom.conjugate(INTERVAL, INTERVAL.lift(u), INTERVAL.lift(s))):
                accepted += 1
                assert at_points(atom, u, s, points) <= 0.0
    assert accepted > 5


def test_commuting_multipliers_are_those_of_numbers() -> None:
    """Of diagonal matrices D is Σ x log(x/y), whose multipliers are v ≤ −e^(u − 1); Y ↦ tr exp(U − I + log Y) is linear along these."""
    atom, rng = QuantumRelativeEntropy(3), np.random.default_rng(5)
    for _ in range(5):
        t = rng.normal(size=3)
        for factor, finite in ((1.0 + 1e-6, True), (1.0 - 1e-6, False)):
            u = np.append(multiplier(np.diag(t)), -multiplier(np.diag(np.exp(t - 1.0) * factor)))
            assert known(INTERVAL, atom.conjugate(INTERVAL, INTERVAL.lift(u), INTERVAL.lift(np.ones(1)))) == finite


def test_a_multiplier_may_move_by_its_margin() -> None:
    rng = np.random.default_rng(4)
    atom, s = QuantumRelativeEntropy(2), np.array([0.5])
    u = atom.slope(np.append(entries(definite(rng, 2)), entries(definite(rng, 2))), s)
    u[3:] -= 0.05 * multiplier(np.eye(2))
    margin = atom.margin(FLOAT, u, s)
    for i in range(6):
        for side in (0.99, -0.99):
            moved = u.copy()
            moved[i] += side * margin[i]
            assert math.isfinite(atom.conjugate(FLOAT, moved, s))


@both
def test_scale_zero_and_what_is_not_finite(num: Arithmetic) -> None:
    for atom in (QuantumRelativeEntropy(2), NegativeTraceLogarithm(2, lambda num: num.lift(np.eye(2)))):
        zero, s = num.zeros(atom.length), num.zeros(1)
        assert num.upper(atom.conjugate(num, zero, s)) == 0.0
        assert known(num, atom.conjugate(num, atom.project(num, num.lift(np.ones(atom.length)), s), s))
        assert not known(num, atom.conjugate(num, num.lift(np.ones(atom.length)), s))
        for u in (np.full(atom.length, np.nan), np.full(atom.length, 1e200), np.full(atom.length, -1e200)):
            atom.conjugate(num, num.lift(u), num.lift(np.ones(1)))
    with pytest.raises(NotRational):
        QuantumRelativeEntropy(2).conjugate(RATIONAL, RATIONAL.lift(-np.ones(6)), RATIONAL.lift(np.ones(1)))


def test_the_conjugate_for_a_scale_that_may_be_zero_is_unknown() -> None:
    s = Interval(np.zeros(1), np.full(1, 2.0**-10))
    u = -multiplier(np.eye(2))
    trace = NegativeTraceLogarithm(2, lambda num: num.lift(np.eye(2)))
    assert not known(INTERVAL, trace.conjugate(INTERVAL, INTERVAL.lift(u), s))
    assert not known(INTERVAL, QuantumRelativeEntropy(2).conjugate(INTERVAL, INTERVAL.lift(np.append(u, u)), s))


@both
@sizes
def test_the_conjugate_of_a_trace_of_a_logarithm_is_the_supremum(num: Arithmetic, n: int) -> None:
    rng = np.random.default_rng(n)
    weight, y0, s = definite(rng, n), definite(rng, n), np.array([0.7])
    atom = NegativeTraceLogarithm(n, lambda num: num.lift(weight))
    u, z0 = atom.slope(entries(y0), s), entries(y0)
    conjugate, value = atom.conjugate(num, num.lift(u), num.lift(s)), num.sum(atom.value(num, num.lift(z0)))
    attained = float(u @ z0) + 0.7 * float(np.trace(weight @ logm(y0)))
    assert num.lower(value) - 1e-9 <= -np.trace(weight @ logm(y0)) <= num.upper(value) + 1e-9
    assert num.upper(conjugate) == pytest.approx(attained, abs=1e-7)
    assert num.upper(conjugate) >= attained - 1e-9
    assert num.upper(conjugate) >= at_points(atom, u, s, [entries(definite(rng, n)) for _ in range(50)]) - 1e-9
    assert not known(num, atom.conjugate(num, num.lift(-u), num.lift(s)))


def test_weights_are_proven_to_be_semidefinite() -> None:
    """The pure state of (1, 1)/√2 is of rank 1; a weight with an eigenvalue below 0 has no bound."""
    pure, wrong = np.array([[0.5, 0.5], [0.5, 0.5]]), np.diag([1.0, -1e-9])
    u = -multiplier(np.diag([2.0, 3.0]))
    atom = NegativeTraceLogarithm(2, lambda num: num.lift(pure))
    conjugate = atom.conjugate(INTERVAL, INTERVAL.lift(u), INTERVAL.lift(np.ones(1)))
    assert not atom.doubt(INTERVAL) and known(INTERVAL, conjugate)
    points = [entries(definite(np.random.default_rng(seed), 2)) for seed in range(100)]
    assert INTERVAL.upper(conjugate) >= at_points(atom, u, np.ones(1), points)
    atom = NegativeTraceLogarithm(2, lambda num: num.lift(wrong))
    assert "semidefinite" in atom.doubt(INTERVAL)
    assert not known(INTERVAL, atom.conjugate(INTERVAL, INTERVAL.lift(u), INTERVAL.lift(np.ones(1))))


def test_second_divided_differences_are_half_of_second_derivatives_where_all_are_one() -> None:
    values = np.array([1.0, 1.0 + 1e-7, 2.0, 2.0, 5.0])
    found = second_differences(values)
    assert found[0, 0, 0] == pytest.approx(-0.5) and found[0, 1, 0] == pytest.approx(-0.5, rel=1e-6)
    assert found[2, 3, 4] == pytest.approx((0.5 - math.log(2.5) / 3.0) / (2.0 - 5.0), rel=1e-12)
    assert found[0, 2, 4] == pytest.approx(((math.log(2.0)) - math.log(2.5) / 3.0) / (1.0 - 5.0), rel=1e-7)
    np.testing.assert_allclose(found, np.swapaxes(found, 0, 2), rtol=1e-9)


def test_conjugates_are_not_declared() -> None:
    for atom in (QuantumRelativeEntropy(2), NegativeTraceLogarithm(2, lambda num: num.lift(np.eye(2)))):
        with pytest.raises(Unreadable):
            atom.declared_conjugate(cp.Variable(atom.length), cp.Constant(np.ones(1)))


def closed(problem: cp.Problem) -> Any:
    """The certificate in intervals, which closes."""
    certificate = simopt.solve(problem, rigorous=True).certificate
    assert certificate.lower <= certificate.upper
    assert certificate.gap <= CLOSED * max(1.0, abs(certificate.upper))
    return certificate


def data() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(1)
    return definite(rng, 3), symmetric(rng, 3)


def test_to_a_constant() -> None:
    c, a = data()
    x = cp.Variable((3, 3), symmetric=True)
    closed(cp.Problem(cp.Minimize(cp.quantum_rel_entr(x, c)), [cp.trace(x) == 1, cp.trace(a @ x) == 0.3]))
    free = closed(cp.Problem(cp.Minimize(cp.quantum_rel_entr(x, c)), [cp.trace(x) == 1]))
    assert free.lower <= -math.log(np.trace(c)) + 1e-12 and free.upper >= -math.log(np.trace(c)) - 1e-12  # at C/tr C


def test_to_the_identity_it_is_the_entropy() -> None:
    x = cp.Variable((2, 2), symmetric=True)
    found = closed(cp.Problem(cp.Minimize(cp.quantum_rel_entr(x, np.eye(2))), [cp.trace(x) == 1, x >> 0]))
    assert found.lower <= -math.log(2.0) <= found.upper + 1e-15


def test_a_constant_that_is_not_definite_is_refused() -> None:
    x = cp.Variable((2, 2), symmetric=True)
    with pytest.raises(Unreadable, match="definite"):
        Declared.of(cp.Problem(cp.Minimize(cp.quantum_rel_entr(x, np.diag([1.0, 0.0])))))
    parameter = cp.Parameter((2, 2), symmetric=True, value=np.eye(2))
    for arguments in ((x, parameter), (parameter, x)):
        with pytest.raises(Unreadable, match="parameter"):
            Declared.of(cp.Problem(cp.Minimize(cp.quantum_rel_entr(*arguments))))


def test_of_a_constant_cvxpys_own_value_is_that_of_another_function() -> None:
    """CVXPY 1.9.3 takes the entropy of the eigenvalues divided by their sum, so its value is right for tr X = 1 only."""
    x, state = cp.Variable((4, 4), symmetric=True), M @ M.T
    problem = cp.Problem(cp.Minimize(cp.quantum_rel_entr(state, x)), [cp.diag(x) == 1])
    found = closed(problem)
    ours, trace, theirs = relative_entropy(state, x.value), float(np.trace(state)), float(problem.objective.value)
    assert found.lower == pytest.approx(107.7437, abs=1e-3) and ours == pytest.approx(found.upper, rel=1e-9)
    assert theirs == pytest.approx(-36.1928, abs=1e-3)
    values = np.linalg.eigvalsh(state)
    normalised = values / trace
    assert theirs == pytest.approx(ours - float(values @ np.log(values)) + float(normalised @ np.log(normalised)), rel=1e-9)


def test_of_both() -> None:
    c, a = data()
    x, y = (cp.Variable((3, 3), symmetric=True) for _ in range(2))
    closed(cp.Problem(cp.Minimize(cp.quantum_rel_entr(x, y) + cp.sum_squares(x - c)), [cp.trace(y) == 1.5, cp.trace(a @ y) == 0.3]))


def test_of_hermitian_matrices() -> None:
    """Of two states that commute with the Pauli matrix σ_y, the relative entropy of two numbers."""
    pauli = np.array([[0.0, -1.0j], [1.0j, 0.0]])
    state = 0.5 * np.eye(2) + 0.3 * pauli
    h = cp.Variable((2, 2), hermitian=True)
    expected = 0.8 * math.log(0.8 / 0.6) + 0.2 * math.log(0.2 / 0.4)
    for arguments in ((state, h), (h, state)):
        rows = [cp.trace(h) == 1, cp.real(cp.trace(pauli @ h)) <= 0.2]
        found = closed(cp.Problem(cp.Minimize(cp.quantum_rel_entr(*arguments)), rows))
        if arguments[0] is state:
            assert found.lower - 1e-9 <= expected <= found.upper + 1e-9
        else:
            assert found.lower - 1e-9 <= 0.6 * math.log(0.6 / 0.8) + 0.4 * math.log(0.4 / 0.2) <= found.upper + 1e-9


@pytest.mark.parametrize("state", [np.eye(2), np.array([[0.5, 0.5], [0.5, 0.5]])], ids=["mixed", "pure"])
def test_of_a_constant_it_falls_without_end_along_semidefinite_directions(state: np.ndarray) -> None:
    y = cp.Variable((2, 2), symmetric=True, name="Y")
    found = unbounded(Declared.of(cp.Problem(cp.Minimize(cp.quantum_rel_entr(state, y)), [y >> 0])))
    assert found is not None
    direction = np.asarray(found.direction["Y"])
    assert np.linalg.eigvalsh(direction)[0] >= 0.0 and np.trace(state @ direction) > 0.0
    assert unbounded(Declared.of(cp.Problem(cp.Minimize(cp.quantum_rel_entr(state, y)), [cp.trace(y) <= 1]))) is None


def test_along_directions_of_both_it_is_linear() -> None:
    """D(2X, 2Y) = 2D(X, Y) falls without end where D(X, Y) < 0 for X = I, Y = 2I, and not where Y ⪯ X."""
    x, y = (cp.Variable((1, 1), symmetric=True, name=name) for name in "XY")
    problem = cp.Problem(cp.Minimize(cp.quantum_rel_entr(x, y)), [y == 2 * x])
    assert unbounded(Declared.of(problem)) is not None
    bounded = cp.Problem(cp.Minimize(cp.quantum_rel_entr(x, y)), [y <= x])
    assert unbounded(Declared.of(bounded)) is None


def test_the_perspective_multiplies_constants_too() -> None:
    """t D(C, X/t) of the declaration at a point, against the formula."""
    c, _ = data()
    t, x = cp.Variable(pos=True, name="t"), cp.Variable((3, 3), symmetric=True, name="x")
    for arguments, formula in (
        ((c, x), lambda at, scale: scale * relative_entropy(c, at / scale)),
        ((x, c), lambda at, scale: scale * relative_entropy(at / scale, c)),
    ):
        declared = Declared.of(cp.Problem(cp.Minimize(cp.perspective(cp.quantum_rel_entr(*arguments), t)), [t == 2, x == 2 * np.eye(3)]))
        value = declared.objective({"t": np.array(2.0), "x": 2.0 * np.eye(3)}, FLOAT)
        assert float(value) == pytest.approx(formula(2.0 * np.eye(3), 2.0), rel=1e-12)
