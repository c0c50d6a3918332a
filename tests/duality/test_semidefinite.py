"""Semidefinite terms: atoms against their definitions, declarations of every kind against optima that are known, and models of practice."""

from __future__ import annotations

import inspect
import math
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from importlib import import_module
from typing import Any

import cvxpy as cp
import numpy as np
import pytest

import simopt
import simopt.duality.atoms
from simopt.arithmetic import FLOAT, INTERVAL, RATIONAL, Arithmetic, Interval, NotRational
from simopt.core.errors import InvalidProblem, Unreadable
from simopt.duality import Declared, read
from simopt.duality.atoms.base import Atom
from simopt.duality.atoms.log_determinant import NegativeLogDeterminant
from simopt.duality.atoms.matrix_fraction import MatrixFraction
from simopt.duality.atoms.matrix_norm import NuclearNorm, SpectralNorm
from simopt.duality.atoms.quantum_entropy import NegativeQuantumEntropy
from simopt.duality.atoms.semidefinite_cone import SemidefiniteCone
from simopt.duality.atoms.sum_largest_eigenvalues import SumLargestEigenvalues
from simopt.duality.atoms.symmetric_matrix import SymmetricMatrixAtom, fold
from simopt.duality.atoms.trace_inverse import TraceInverse
from simopt.duality.atoms.trace_logarithm import NegativeTraceLogarithm
from simopt.duality.graph.vectors import known
from simopt.model.status import Status

N = 3
LOWER = np.tril_indices(N)
Matrix = np.ndarray


def symmetric(rng: np.random.Generator, n: int = N) -> Matrix:
    a = rng.normal(size=(n, n))
    return a + a.T


def definite(rng: np.random.Generator, n: int = N) -> Matrix:
    a = rng.normal(size=(n, n))
    return a @ a.T + 0.1 * np.eye(n)


def of_eigenvalues(matrix: Matrix, function: Callable[[Matrix], Matrix]) -> Matrix:
    values, vectors = np.linalg.eigh(matrix)
    return (vectors * function(values)) @ vectors.T


def largest(matrix: Matrix, k: float) -> float:
    falling = np.linalg.eigvalsh(matrix)[::-1]
    return float(np.clip(k - np.arange(len(falling)), 0.0, 1.0) @ falling)


@dataclass(frozen=True)
class MatrixFormula:
    """An atom of one symmetric matrix, its function and the conjugate's domain, written once more."""

    atom: Any
    value: Callable[[Matrix], float]
    domain: Callable[[Matrix, float], float]  # how far inside U lies; below 0 outside
    maximiser: Callable[[Matrix, float], Matrix]  # of ⟨U, Z⟩ − s φ(Z); near it, where none is
    conjugate: Callable[[Matrix, float], float]
    everywhere: bool = False  # whether φ is finite for all Z


def least(matrix: Matrix) -> float:
    return float(np.linalg.eigvalsh(matrix)[0])


def of_largest(k: float) -> MatrixFormula:
    return MatrixFormula(
        SumLargestEigenvalues(N, k),
        lambda z: largest(z, k),
        lambda u, s: min(least(u), least(s * np.eye(N) - u), -abs(np.trace(u) - k * s) + 1e-12 * s),
        lambda u, s: 0.0 * u,
        lambda u, s: 0.0,
        True,
    )


SYMMETRIC_CASES = {
    "cone": MatrixFormula(SemidefiniteCone(N), lambda z: 0.0, lambda u, s: least(-u), lambda u, s: 1e-300 * u, lambda u, s: 0.0),
    "log det": MatrixFormula(
        NegativeLogDeterminant(N),
        lambda z: -float(np.log(np.linalg.det(z))),
        lambda u, s: least(-u),
        lambda u, s: s * np.linalg.inv(-u),
        lambda u, s: -s * N + s * N * math.log(s) - s * math.log(np.linalg.det(-u)),
    ),
    "trace of the inverse": MatrixFormula(
        TraceInverse(N),
        lambda z: float(np.trace(np.linalg.inv(z))),
        lambda u, s: least(-u),
        lambda u, s: math.sqrt(s) * of_eigenvalues(-u, lambda v: v**-0.5),
        lambda u, s: -2.0 * math.sqrt(s) * float(np.sum(np.sqrt(np.linalg.eigvalsh(-u)))),
    ),
    "entropy": MatrixFormula(
        NegativeQuantumEntropy(N),
        lambda z: float(np.sum((v := np.maximum(np.linalg.eigvalsh(z), 1e-300)) * np.log(v))),
        lambda u, s: math.inf,
        lambda u, s: of_eigenvalues(u, lambda v: np.exp(v / s - 1.0)),
        lambda u, s: s * float(np.sum(np.exp(np.linalg.eigvalsh(u) / s - 1.0))),
    ),
    "largest": of_largest(1.0),
    "two largest": of_largest(2.0),
    "1.5 largest": of_largest(1.5),
    "0.5 largest": of_largest(0.5),
}
cases = pytest.mark.parametrize("case", [pytest.param(case, id=name) for name, case in SYMMETRIC_CASES.items()])
floats_and_intervals = pytest.mark.parametrize("num", [FLOAT, INTERVAL], ids=lambda num: num.name)


def argument(case: MatrixFormula, z: Matrix) -> Matrix:
    return np.asarray(fold(N, case.atom.trace) @ z.reshape(-1, order="F"))


def inside(case: MatrixFormula, rng: np.random.Generator, s: float) -> Matrix:
    """A multiplier matrix in the domain of the conjugate."""
    if not isinstance(case.atom, SumLargestEigenvalues):
        return symmetric(rng) if case.atom.conjugate_domain.name == "FULL" else -definite(rng)
    vectors, k = np.linalg.eigh(symmetric(rng))[1], case.atom.k
    weights = k / N + min(k / N, 1.0 - k / N) * 0.9 * np.array([-1.0, 0.25, 0.75])
    return s * (vectors * weights) @ vectors.T


@cases
@pytest.mark.parametrize("num", [FLOAT, INTERVAL, RATIONAL], ids=lambda num: num.name)
def test_a_matrix_and_its_multiplier_are_vectors_with_the_same_inner_product(case: MatrixFormula, num: Arithmetic) -> None:
    """⟨u, T vec Z⟩ = ⟨U, Z⟩; T takes the symmetric part; tr U = Σu where it is fixed. Dyadic numbers, so that nothing is rounded."""
    rng, atom = np.random.default_rng(1), case.atom
    z, dual = (rng.integers(-32, 33, size=(N, N)) / 8.0 for _ in range(2))
    dual = (dual + dual.T) / 2
    u, t = atom.coordinates(dual), argument(case, z)
    assert u @ t == np.sum(dual * z)
    np.testing.assert_array_equal(num.mid(atom.matrix(num, num.lift(t))), (z + z.T) / 2)
    np.testing.assert_array_equal(num.mid(atom.dual_matrix(num, num.lift(u))), dual)
    np.testing.assert_array_equal(atom.declared_dual(cp.Constant(u)).value, dual)
    if atom.trace:
        assert u.sum() == np.trace(dual)
    else:
        np.testing.assert_array_equal(u, dual[LOWER])
        np.testing.assert_array_equal(t, np.where(LOWER[0] == LOWER[1], 1.0, 2.0) * ((z + z.T) / 2)[LOWER])


@cases
@floats_and_intervals
def test_value_conjugate_and_remainder_are_those_of_the_definition(case: MatrixFormula, num: Arithmetic) -> None:
    rng, atom = np.random.default_rng(2), case.atom
    for _ in range(10):
        s = float(rng.uniform(0.25, 3.0))
        z, dual = symmetric(rng) if case.everywhere else definite(rng), inside(case, rng, s)
        t, u, scale = (num.lift(x) for x in (argument(case, z), atom.coordinates(dual), np.array([s])))
        value, conjugate = case.value(z), case.conjugate(dual, s)
        size = 1.0 + s * abs(value) + abs(conjugate) + float(np.sum(np.abs(dual * z)))
        left = s * value + conjugate - float(np.sum(dual * z))
        assert left >= -1e-12 * size  # Fenchel and Young
        for enclosure, expected in (
            (num.sum(atom.value(num, t)), value),
            (atom.conjugate(num, u, scale), conjugate),
            (atom.remainder(num, t, u, scale), left),
        ):
            assert num.lower(enclosure) - 1e-12 * size <= expected <= num.upper(enclosure) + 1e-12 * size
            assert num.upper(enclosure) - num.lower(enclosure) <= 1e-9 * size
        assert np.all(atom.inside(num, t, np.zeros(len(u), dtype=bool)))
        assert known(num, atom.conjugate(num, u, scale)) and atom.distance(num, u, scale) > 0.0


@cases
def test_the_conjugate_is_the_supremum(case: MatrixFormula) -> None:
    """No matrix exceeds it, and one attains it, or comes near."""
    rng, atom = np.random.default_rng(3), case.atom
    for s in (0.5, 1.0, 2.0):
        dual = inside(case, rng, s)
        conjugate = atom.conjugate(FLOAT, atom.coordinates(dual), np.array([s]))
        best = case.maximiser(dual, s)
        attained = float(np.sum(dual * best)) - s * (case.value(best) if np.any(np.abs(best) > 1e-299) else 0.0)
        assert attained == pytest.approx(conjugate, rel=1e-9, abs=1e-12)
        for _ in range(50):
            z = best + 0.3 * symmetric(rng) if case.everywhere else of_eigenvalues(best + 0.3 * symmetric(rng), lambda v: np.abs(v) + 1e-6)
            assert np.sum(dual * z) - s * case.value(z) <= conjugate + 1e-9 * (1.0 + abs(conjugate))


@cases
@floats_and_intervals
def test_outside_of_the_domain_the_conjugate_is_unknown_and_what_is_projected_is_inside(case: MatrixFormula, num: Arithmetic) -> None:
    rng, atom, seen = np.random.default_rng(4), case.atom, [0, 0]
    for number in range(40):
        s = float(rng.uniform(0.5, 2.0))
        dual = inside(case, rng, s)
        if number % 4 == 1:
            dual = dual + 0.25 * s * symmetric(rng)
        elif number % 4 == 3:  # just outside
            depth = 0.0 if atom.trace or case.domain(dual, s) == math.inf else case.domain(dual, s)
            dual = dual + (1e-6 + depth) * (-1.0 if atom.trace and number % 8 == 7 else 1.0) * np.eye(N)
        u, scale, depth = num.lift(atom.coordinates(dual)), num.lift(np.array([s])), float(case.domain(dual, s))
        if abs(depth) > 1e-9 or atom.trace:
            assert known(num, atom.conjugate(num, u, scale)) == (depth > 0.0)
            seen[depth > 0.0] += 1
        projected = atom.project(num, u, scale)
        assert known(num, atom.conjugate(num, projected, scale))
        again = np.asarray(num.mid(atom.project(num, projected, scale)), dtype=float)
        np.testing.assert_allclose(again, np.asarray(num.mid(projected), dtype=float), rtol=1e-9, atol=1e-9)
        if depth > 1e-6:
            np.testing.assert_allclose(np.asarray(num.mid(projected), dtype=float), num.mid(u), rtol=1e-9, atol=1e-9)
    assert min(seen) >= 5 or atom.conjugate_domain.name == "FULL"


@pytest.mark.parametrize(
    ("k", "weights"), [(1.5, (1.1, 0.3, 0.1)), (2.0, (1.1, 0.8, 0.1)), (2.0, (1.0, 1.1, -0.1)), (0.5, (0.7, -0.1, -0.1))]
)
@floats_and_intervals
def test_of_the_right_trace_eigenvalues_below_0_or_above_the_scale_are_outside(
    k: float, weights: tuple[float, ...], num: Arithmetic
) -> None:
    atom, vectors = SumLargestEigenvalues(N, k), np.linalg.eigh(symmetric(np.random.default_rng(13)))[1]
    for s in (0.5, 1.0):
        u, scale = num.lift(atom.coordinates(s * (vectors * np.array(weights)) @ vectors.T)), num.lift(np.array([s]))
        assert not known(num, atom.conjugate(num, u, scale)) and atom.distance(num, u, scale) < 0.0
        assert known(num, atom.conjugate(num, atom.project(num, u, scale), scale))


@floats_and_intervals
def test_projected_multipliers_of_a_large_matrix_are_proven_to_be_some(num: Arithmetic) -> None:
    """The trace is a sum of 5050 entries: an interval as wide as their roundings leads out of the domain."""
    atom, v = SumLargestEigenvalues(100, 1.0), np.random.default_rng(15).normal(size=100)
    u, scale = num.lift(atom.coordinates(np.outer(v, v) / (v @ v))), num.lift(np.ones(1))
    assert known(num, atom.conjugate(num, atom.project(num, u, scale), scale))


@pytest.mark.parametrize("k", [0.5, 1.0, 2.0])
def test_what_is_drawn_inside_keeps_the_trace_of_its_slopes(k: float) -> None:
    """It rises by k from Z to Z + I, and its slope has eigenvalues of at least δk/n."""
    z, atom = symmetric(np.random.default_rng(14)), SumLargestEigenvalues(N, k)

    def drawn(matrix: Matrix) -> float:
        Z = cp.Constant(matrix)
        return float(atom.drawn(cp.lambda_sum_largest(Z, k), Z, 0.25).value)

    low = np.linalg.eigh(z)[1][:, 0]
    assert drawn(z + np.eye(N)) - drawn(z) == pytest.approx(k, rel=1e-9)
    assert drawn(z + 1e-3 * np.outer(low, low)) - drawn(z) == pytest.approx(1e-3 * 0.25 * k / N, rel=1e-6)


@cases
def test_slopes_attain_equality(case: MatrixFormula) -> None:
    rng, atom = np.random.default_rng(5), case.atom
    for _ in range(20):
        z, s = symmetric(rng) if case.everywhere else definite(rng), rng.uniform(0.25, 2.0, 1)
        t = argument(case, z)
        u = atom.slope(t, s)
        size = 1.0 + float(s[0]) * abs(case.value(z)) + float(np.abs(u) @ np.abs(t))
        assert 0.0 <= atom.remainder(FLOAT, t, u, s) <= (1e-12 * size if not isinstance(atom, SemidefiniteCone) else 0.0)
        step = 1e-5 * symmetric(rng)
        rise = (case.value(z + step) - case.value(z - step)) / 2
        assert np.sum(atom.dual_matrix(FLOAT, u) * step) == pytest.approx(float(s[0]) * rise, rel=1e-5, abs=1e-9)


@cases
def test_entries_may_move_by_the_margin(case: MatrixFormula) -> None:
    rng, atom, s = np.random.default_rng(6), case.atom, np.ones(1)
    u = atom.coordinates(inside(case, rng, 1.0))
    margin = np.asarray(atom.margin(FLOAT, u, s))
    if atom.total is None:  # else no entry moves by itself
        for i in range(len(u)):
            for side in (0.999, -0.999):
                step = np.zeros(len(u))
                step[i] = side * min(margin[i], 1e3)
                assert known(FLOAT, atom.conjugate(FLOAT, u + step, s))
    assert np.all(margin > 0.0)


@cases
def test_degrees_and_scale_zero(case: MatrixFormula) -> None:
    atom, z = case.atom, definite(np.random.default_rng(7))
    if atom.degree is not None:
        assert atom.value(FLOAT, argument(case, 2.0 * z))[0] == pytest.approx(2.0**atom.degree * case.value(z), rel=1e-12)
    for num in (FLOAT, INTERVAL):
        assert num.upper(atom.conjugate(num, num.zeros(atom.length), num.zeros(1))) <= 1e-300
        u = num.lift(atom.coordinates(np.eye(N)))
        assert not known(num, atom.conjugate(num, u, num.zeros(1)))
        assert known(num, atom.conjugate(num, atom.project(num, u, num.zeros(1)), num.zeros(1))) or isinstance(atom, NegativeQuantumEntropy)


@pytest.mark.parametrize("name", [name for name in SYMMETRIC_CASES if name != "entropy"])
def test_the_declared_conjugate_is_the_conjugate(name: str) -> None:
    case, rng = SYMMETRIC_CASES[name], np.random.default_rng(8)
    for s in (0.5, 2.0):
        dual = inside(case, rng, s)
        multiplier = cp.Variable(case.atom.length)
        cost, rows = case.atom.declared_conjugate(multiplier, cp.Constant([s]))
        solved = cp.Problem(cp.Minimize(cost), [*rows, multiplier == case.atom.coordinates(dual)]).solve(solver="CLARABEL")
        assert solved == pytest.approx(case.conjugate(dual, s), rel=1e-5, abs=1e-6)


def test_the_conjugate_of_an_entropy_is_not_declared() -> None:
    X = cp.Variable((2, 2), PSD=True)
    with pytest.raises(Unreadable, match=r"von_neumann_entr 1: tr e\^\{U\}, the conjugate of a quantum entropy"):
        simopt.dual(cp.Problem(cp.Maximize(cp.von_neumann_entr(X)), [cp.trace(X) == 1]))


def test_fractions_decide_singular_matrices_and_take_no_roots() -> None:
    thirds = np.array([Fraction(1, 3), Fraction(1, 3), Fraction(1, 3), Fraction(1, 3), Fraction(1, 3), Fraction(1, 3)], dtype=object)
    cone, one = SemidefiniteCone(N), RATIONAL.lift(np.ones(1))
    assert RATIONAL.upper(cone.conjugate(RATIONAL, -thirds, one)) == 0.0
    shorter = thirds.copy()
    shorter[2] -= Fraction(1, 10**30)
    assert not known(RATIONAL, cone.conjugate(RATIONAL, -shorter, one))
    doubled = thirds * np.array([1, 2, 1, 2, 2, 1], dtype=object)
    assert cone.inside(RATIONAL, doubled, np.zeros(6, dtype=bool)).all()
    diagonal = np.array([Fraction(1, 3), 0, Fraction(1, 7), 0, 0, Fraction(-1, 2)], dtype=object)
    whole = fold(N, True) @ np.diag([1.0, 0.0, 0.0]).reshape(-1)
    assert SumLargestEigenvalues(N, 1.0).value(RATIONAL, RATIONAL.lift(whole))[0] == 1
    assert TraceInverse(1).value(RATIONAL, diagonal[:1])[0] == 3
    with pytest.raises(NotRational):
        NegativeLogDeterminant(N).value(RATIONAL, RATIONAL.lift(np.array([2.0, 1.0, 2.0, 0.0, 0.0, 1.0])))


FRACTION = MatrixFraction(N, 2)


def fraction_argument(x: Matrix, p: Matrix) -> Matrix:
    return np.concatenate([x.reshape(-1, order="F"), fold(N) @ p.reshape(-1, order="F")])


@pytest.mark.parametrize("num", [FLOAT, INTERVAL, RATIONAL], ids=lambda num: num.name)
def test_a_matrix_fraction_is_that_of_the_definition(num: Arithmetic) -> None:
    rng = np.random.default_rng(9)
    for _ in range(5):
        x, y, s = rng.normal(size=(N, 2)), rng.normal(size=(N, 2)), float(rng.uniform(0.5, 2.0))
        p = np.round(8 * definite(rng)) / 8 + 8 * np.eye(N)
        w = -y @ y.T / (4 * s) - 1e-3 * np.eye(N)
        t, scale = fraction_argument(x, p), num.lift(np.array([s]))
        value = float(np.trace(x.T @ np.linalg.solve(p, x)))
        found = FRACTION.value(num, num.lift(t))[0]
        assert num.lower(found) - 1e-12 <= value <= num.upper(found) + 1e-12
        u = np.concatenate([y.reshape(-1, order="F"), w[LOWER]])
        left = s * value - float(np.sum(y * x) + np.sum(w * p))
        assert left >= -1e-12
        remainder = FRACTION.remainder(num, num.lift(t), num.lift(u), scale)
        assert num.lower(remainder) - 1e-10 <= left <= num.upper(remainder) + 1e-10
        assert num.upper(FRACTION.conjugate(num, num.lift(u), scale)) == 0.0
        u[FRACTION.n * FRACTION.m] += 2e-3 + float(y[0] @ y[0])  # W_00 is above 0 less what Y asks for
        assert not known(num, FRACTION.conjugate(num, num.lift(u), scale))
        if num is not RATIONAL:
            projected = FRACTION.project(num, num.lift(u), scale)
            assert num.upper(FRACTION.conjugate(num, projected, scale)) == 0.0
    assert FRACTION.inside(num, num.lift(t), np.zeros(len(t), dtype=bool)).all()
    assert not FRACTION.inside(num, num.lift(fraction_argument(x, -p)), np.zeros(len(t), dtype=bool)).any()


@pytest.mark.parametrize("least", [1e-2, 1e-8, 1e-12])
def test_the_condition_of_a_matrix_costs_its_fraction_no_digits(least: float) -> None:
    rng = np.random.default_rng(3)
    q = np.array([[1, 1, 1, 1], [1, -1, 1, -1], [1, 1, -1, -1], [1, -1, -1, 1]]) / 2
    p, x = q @ np.diag([least, *rng.uniform(1.0, 2.0, 3)]) @ q, q @ np.append(0.0, rng.normal(size=3))
    atom, z = MatrixFraction(4, 1), np.concatenate([x, fold(4) @ p.reshape(-1)])
    exact, ball = Fraction(atom.value(RATIONAL, RATIONAL.lift(z))[0]), atom.value(INTERVAL, INTERVAL.lift(z))
    low, high = Fraction(float(ball.low[0])), Fraction(float(ball.high[0]))
    assert low <= exact <= high and high - low <= exact / 10**12


def test_slopes_of_a_matrix_fraction_attain_equality_and_a_multiplier_is_matched_to_a_constant() -> None:
    rng = np.random.default_rng(10)
    x, p, s = rng.normal(size=(N, 2)), definite(rng), np.array([0.75])
    t = fraction_argument(x, p)
    u = FRACTION.slope(t, s)
    assert abs(float(s[0]) * FRACTION.value(FLOAT, t)[0] - u @ t) <= 1e-12 * (np.abs(u) @ np.abs(t))
    other = u.copy()
    other[: N * 2] *= 0.5
    matched = FRACTION.matched(other, s, t, 0.0)
    np.testing.assert_allclose(matched, u, rtol=1e-6, atol=1e-6)  # roots of eigenvalues of 1e-16
    assert FRACTION.distance(FLOAT, FRACTION.matched(u, s, t, 1e-3), s) > 0.0
    y = rng.normal(size=(N, 2))
    lowered = FRACTION.project(FLOAT, np.concatenate([y.reshape(-1, order="F"), np.zeros(6)]), s)
    np.testing.assert_allclose(lowered[N * 2 :], (-y @ y.T / 3.0)[LOWER], rtol=1e-9, atol=1e-9)  # −YYᵀ/(4s), and no more


@pytest.mark.parametrize(("kind", "order", "dual"), [(SpectralNorm, 2, "nuc"), (NuclearNorm, "nuc", 2)])
@pytest.mark.parametrize("shape", [(2, 4), (4, 2), (3, 1), (1, 1)])
@floats_and_intervals
def test_norms_of_matrices_and_their_dual_norms(kind: Any, order: Any, dual: Any, shape: tuple[int, int], num: Arithmetic) -> None:
    rng, atom = np.random.default_rng(11), kind(shape)
    for _ in range(5):
        z, u, s = rng.normal(size=shape), rng.normal(size=shape), np.array([1.5])
        flat = z.reshape(-1, order="F")
        value, need = (float(np.linalg.norm(x, o)) for x, o in ((z, order), (u, dual)))
        assert num.lower(atom.value(num, num.lift(flat))[0]) - 1e-12 <= value <= num.upper(atom.value(num, num.lift(flat))[0]) + 1e-12
        v = u.reshape(-1, order="F")
        for ratio in (1.0 - 1e-9, 1.0 + 1e-9):
            assert known(num, atom.conjugate(num, num.lift(v * (1.5 * ratio / need)), num.lift(s))) == (ratio < 1.0)
        assert known(num, atom.conjugate(num, atom.project(num, num.lift(10 * v), num.lift(s)), num.lift(s)))
        slope = atom.slope(flat, s)
        assert np.linalg.norm(slope.reshape(shape, order="F"), dual) == pytest.approx(1.5, rel=1e-12)
        assert slope @ flat == pytest.approx(1.5 * value, rel=1e-12)


def test_half_of_the_smallest_floats_is_enclosed() -> None:
    """½ 2⁻¹⁰⁷⁴ is no float, neither as an entry nor as a radius."""
    cone, tiny = SemidefiniteCone(2), 2.0**-1074
    for z in (Interval(np.array([1.0, 3 * tiny, 1.0])), Interval(np.array([1.0, 0.0, 1.0]), np.array([0.0, tiny, 0.0]))):
        found = cone.matrix(INTERVAL, z)
        entry = (Fraction(float(found.mid[1, 0])), Fraction(float(found.rad[1, 0])))
        for end in (Fraction(float(z.mid[1])) - Fraction(float(z.rad[1])), Fraction(float(z.mid[1])) + Fraction(float(z.rad[1]))):
            assert abs(end / 2 - entry[0]) <= entry[1]


def test_every_function_of_a_symmetric_matrix_has_a_case() -> None:
    kinds = set()
    for module in pkgutil.iter_modules(simopt.duality.atoms.__path__):
        for cls in vars(import_module(f"{simopt.duality.atoms.__name__}.{module.name}")).values():
            if isinstance(cls, type) and issubclass(cls, Atom) and issubclass(cls, SymmetricMatrixAtom) and not inspect.isabstract(cls):
                kinds.add(cls)
    elsewhere = {NegativeTraceLogarithm}  # in test_quantum_relative_entropy.py
    assert kinds == {type(case.atom) for case in SYMMETRIC_CASES.values()} | elsewhere


def test_fractions_take_no_singular_matrix_below_a_matrix_fraction() -> None:
    none = np.zeros(FRACTION.length, dtype=bool)
    for matrix, definite_one in ((np.eye(N), True), (np.ones((N, N)), False)):
        z = RATIONAL.lift(fraction_argument(np.ones((N, 2)), matrix))
        assert FRACTION.inside(RATIONAL, z, none).all() == definite_one


C = np.array([[1.0, 2.0, 0.0], [2.0, -1.0, 1.0], [0.0, 1.0, 3.0]])
SKEW = np.array([[0.0, 5.0, 0.0], [-5.0, 0.0, 1.0], [0.0, -1.0, 0.0]])
HERMITIAN = C + 1j * np.array([[0.0, 1.0, 0.0], [-1.0, 0.0, 2.0], [0.0, -2.0, 0.0]])
LOW, SECOND, HIGH = np.linalg.eigvalsh(C)
Make = Callable[[], cp.Problem]


def with_matrix(make: Callable[[cp.Variable], cp.Problem], **attributes: Any) -> Make:
    return lambda: make(cp.Variable((N, N), name="X", **attributes))


def least_of(f: Callable[[Any], Any], *rows: Callable[[Any], Any]) -> Callable[[cp.Variable], cp.Problem]:
    return lambda X: cp.Problem(cp.Minimize(f(X)), [row(X) for row in rows])


def greatest_of(f: Callable[[Any], Any], *rows: Callable[[Any], Any]) -> Callable[[cp.Variable], cp.Problem]:
    return lambda X: cp.Problem(cp.Maximize(f(X)), [row(X) for row in rows])


def of_batch() -> cp.Problem:
    X = cp.Variable((2, N, N), name="X")
    return cp.Problem(cp.Minimize(cp.trace(C @ X[0]) - 2 * cp.trace(C @ X[1])), [X >> 0, cp.trace(X[0]) == 1, cp.trace(X[1]) == 1])


def of_numbers(make: Callable[[cp.Variable], cp.Problem], n: int = 1) -> Make:
    return lambda: make(cp.Variable(n, name="t"))


def one_trace(X: Any) -> Any:
    return cp.trace(X) == 1


def inner(X: Any) -> Any:
    return cp.trace(C @ X)


DIAGONAL = np.diag([1.0, 2.0, 4.0])
KNOWN: dict[str, tuple[Make, float]] = {
    "a semidefinite variable": (with_matrix(least_of(inner, one_trace), PSD=True), LOW),
    "a negative one, a maximum": (with_matrix(greatest_of(inner, lambda X: cp.trace(X) == -1), NSD=True), -LOW),
    "a constraint": (with_matrix(least_of(inner, one_trace, lambda X: X >> 0), symmetric=True), LOW),
    "a constraint from above": (
        with_matrix(least_of(cp.trace, lambda X: X >> C, lambda X: X << 9 * np.eye(N)), symmetric=True),
        np.trace(C),
    ),
    "a variable without symmetry": (with_matrix(least_of(lambda X: inner(X) + cp.sum_squares(X - X.T), one_trace, lambda X: X >> 0)), LOW),
    "semidefinite, and no entry below 0": (with_matrix(least_of(inner, one_trace), PSD=True, nonneg=True), -1.0),
    "semidefinite, with bounds": (
        with_matrix(least_of(cp.sum, lambda X: cp.diag(X) == 1), PSD=True, bounds=[-0.25, 1.0]),
        1.5,
    ),
    "of size 1": (lambda: cp.Problem(cp.Minimize(3 * (X := cp.Variable((1, 1), name="X"))[0, 0]), [X - 2 >> 0]), 6.0),
    "a diagonal": (
        of_numbers(lambda t: cp.Problem(cp.Minimize(cp.sum_squares(t + np.array([1.0, -2.0, 3.0]))), [cp.diag(t) >> 0]), N),
        10.0,
    ),
    "a batch": (of_batch, LOW - 2 * HIGH),
    "no symmetry": (of_numbers(lambda t: cp.Problem(cp.Minimize(t[0]), [t[0] * np.eye(N) + C + SKEW >> 0])), -LOW),
    "a singular constant": (of_numbers(lambda t: cp.Problem(cp.Minimize(t[0] ** 2 + t[0]), [cp.Constant(np.ones((N, N))) >> 0])), -0.25),
    "lambda_max": (of_numbers(lambda t: cp.Problem(cp.Minimize(cp.lambda_max(C + t[0] * np.eye(N)) + t[0] ** 2))), HIGH - 0.25),
    "lambda_min": (with_matrix(greatest_of(cp.lambda_min, one_trace), PSD=True), 1 / 3),
    "lambda_sum_largest": (
        of_numbers(lambda t: cp.Problem(cp.Minimize(cp.lambda_sum_largest(C + t[0] * np.eye(N), 2) + t[0] ** 2))),
        HIGH + SECOND - 1.0,
    ),
    "lambda_sum_largest of all": (of_numbers(lambda t: cp.Problem(cp.Minimize(cp.lambda_sum_largest(C * t[0], 3) + t[0] ** 2))), -2.25),
    "lambda_sum_smallest": (with_matrix(greatest_of(lambda X: cp.lambda_sum_smallest(X, 2), one_trace), symmetric=True), 2 / 3),
    "lambda_max of a batch": (
        of_numbers(
            lambda t: cp.Problem(
                cp.Minimize(cp.sum(cp.lambda_max(cp.stack([C + t[0] * np.eye(N), t[1] * np.eye(N) - C]))) + cp.sum_squares(t))
            ),
            2,
        ),
        HIGH - LOW - 0.5,
    ),
    "log_det": (with_matrix(greatest_of(cp.log_det, lambda X: cp.trace(X) == 6), PSD=True), 3 * math.log(2.0)),
    "log_det with a matrix": (with_matrix(least_of(lambda X: cp.trace(DIAGONAL @ X) - cp.log_det(X)), PSD=True), 3 + math.log(8.0)),
    "tr_inv": (with_matrix(least_of(lambda X: cp.tr_inv(X) + cp.trace(DIAGONAL @ X)), PSD=True), 2 * (1 + math.sqrt(2.0) + 2)),
    "von_neumann_entr": (with_matrix(greatest_of(lambda X: cp.von_neumann_entr(X) - cp.trace(DIAGONAL @ X), one_trace), PSD=True), 0.0),
    "normNuc": (with_matrix(least_of(lambda X: cp.normNuc(X) + cp.sum_squares(X - 2 * C))), math.nan),
    "sigma_max": (with_matrix(least_of(cp.sigma_max, lambda X: X[0, :] == np.array([3.0, 4.0, 0.0]))), 5.0),
    "matrix_frac": (with_matrix(least_of(lambda X: cp.matrix_frac(np.array([1.0, 2.0, 2.0]), X) + cp.trace(X) / 4), PSD=True), 3.0),
    "matrix_frac of a matrix": (with_matrix(least_of(lambda X: cp.matrix_frac(np.diag([1.0, 2.0, 2.0]), X) + cp.trace(X)), PSD=True), 10.0),
    "Hermitian": (
        lambda: cp.Problem(
            cp.Minimize(cp.real(cp.trace(HERMITIAN @ (X := cp.Variable((N, N), hermitian=True, name="X"))))),
            [X >> 0, cp.real(cp.trace(X)) == 1],
        ),
        float(np.linalg.eigvalsh(HERMITIAN)[0]),
    ),
    "tr_inv of a Hermitian matrix": (
        lambda: cp.Problem(cp.Minimize(cp.tr_inv(X := cp.Variable((N, N), hermitian=True, name="X")) + cp.real(cp.trace(DIAGONAL @ X)))),
        2 * (1 + math.sqrt(2.0) + 2),
    ),
    "entropy of a Hermitian matrix": (
        lambda: cp.Problem(
            cp.Maximize(cp.von_neumann_entr(X := cp.Variable((N, N), hermitian=True, name="X"))), [cp.real(cp.trace(X)) == 1]
        ),
        math.log(3.0),
    ),
    "two largest of a Hermitian matrix": (
        of_numbers(lambda t: cp.Problem(cp.Minimize(cp.lambda_sum_largest(HERMITIAN + t[0] * np.eye(N), 2) + t[0] ** 2))),
        float(np.linalg.eigvalsh(HERMITIAN)[1:].sum()) - 1.0,
    ),
}
SHRUNK = np.linalg.svd(2 * C)[1]
EXPECTED = {name: value for name, (_, value) in KNOWN.items()}
EXPECTED["von_neumann_entr"] = math.log(np.exp([-1.0, -2.0, -4.0]).sum())
EXPECTED["normNuc"] = float(np.sum(np.where(SHRUNK > 0.5, SHRUNK - 0.25, SHRUNK**2)))
known_optima = pytest.mark.parametrize("name", KNOWN)


def but(names: Any, reasons: dict[str, str]) -> Any:
    """The names as parameters, some of them expected to fail."""
    return pytest.mark.parametrize(
        "name",
        [pytest.param(name, marks=pytest.mark.xfail(strict=True, reason=reasons[name])) if name in reasons else name for name in names],
    )


@known_optima
@pytest.mark.parametrize("rigorous", [False, True])
def test_the_optimum_lies_between_the_bounds_and_they_close(name: str, rigorous: bool) -> None:
    problem, expected = KNOWN[name][0](), EXPECTED[name]
    found = simopt.certify(problem, rigorous=rigorous)
    size = max(1.0, abs(expected))
    assert found.lower - 1e-12 * size <= expected <= found.upper + 1e-12 * size
    assert found.upper - found.lower <= 1e-6 * size and found.closes(1e-6), found.open


@but(KNOWN, {"lambda_min": "slopes of λ_max at I/3 are one of many; no graph form is solved after them"})
def test_a_solution_is_put_back_and_its_values_and_dual_values_close_again(name: str) -> None:
    problem = KNOWN[name][0]()
    solution = simopt.solve(problem, rigorous=True, tol=1e-6)
    assert solution.optimal and problem.status == cp.OPTIMAL, solution.message
    assert problem.value == pytest.approx(EXPECTED[name], rel=1e-6, abs=1e-6)
    for constraint in problem.constraints:
        assert np.all(constraint.violation() <= 1e-9)
    again = simopt.certify(problem, solver=None, rigorous=True)
    assert again.upper == pytest.approx(EXPECTED[name], rel=1e-6, abs=1e-6) or problem.constraints
    assert again.closes(1e-5) or not problem.constraints  # multipliers of terms are not kept in a problem


@known_optima
def test_the_dual_programme_has_the_same_optimum(name: str) -> None:
    if name in ("von_neumann_entr", "entropy of a Hermitian matrix"):
        pytest.skip("its conjugate is not declared")
    assert simopt.dual(KNOWN[name][0]()).solve(solver="CLARABEL") == pytest.approx(EXPECTED[name], rel=1e-5, abs=1e-5)


UNIQUE = (
    "a constraint",
    "a constraint from above",
    "a diagonal",
    "a batch",
    "no symmetry",
    "of size 1",
    "Hermitian",
    "a semidefinite variable",
)


@pytest.mark.parametrize("name", UNIQUE)
def test_dual_values_are_those_of_cvxpy(name: str) -> None:
    ours, theirs = KNOWN[name][0](), KNOWN[name][0]()
    simopt.solve(ours)
    theirs.solve(solver="CLARABEL", tol_gap_abs=1e-10, tol_gap_rel=1e-10, tol_feas=1e-10)
    for one, other in zip(ours.constraints, theirs.constraints, strict=True):
        np.testing.assert_allclose(one.dual_value, other.dual_value, rtol=1e-5, atol=1e-5)


def test_a_multiplier_by_its_name_is_the_semidefinite_matrix() -> None:
    """U ⪰ 0 with n² entries, as CVXPY's dual value: max over U of the bound on min ⟨C, X⟩, X ⪰ 0, tr X = 1."""
    X = cp.Variable((N, N), name="X", symmetric=True)
    problem = cp.Problem(cp.Minimize(cp.trace(C @ X)), [(X >> 0).set_label("cone"), (cp.trace(X) == 1).set_label("trace")])
    for level in (LOW - 1.0, LOW - 1e-9):
        multipliers = {"cone": C - level * np.eye(N), "trace": np.array(-level)}
        assert INTERVAL.lower(Declared.of(problem).dual_bound(multipliers, INTERVAL)) == pytest.approx(level, rel=1e-9)
    wrong = simopt.certify(problem, {"X": np.eye(N) / N}, {"cone": C - SECOND * np.eye(N), "trace": -SECOND}, solver=None, rigorous=True)
    assert wrong.lower <= LOW
    values, vectors = np.linalg.eigh(C)
    best = simopt.certify(problem, {"X": np.outer(vectors[:, 0], vectors[:, 0])}, solver=None, rigorous=True)
    assert best.upper == pytest.approx(values[0], abs=1e-7)


def test_of_a_matrix_that_is_not_semidefinite_a_bound_is_none_or_right() -> None:
    """Multipliers and points at random, also of the wrong trace or sign: no bound is beyond the optimum."""
    rng, finite = np.random.default_rng(12), 0
    for name in (
        "a semidefinite variable",
        "lambda_max",
        "lambda_sum_largest",
        "log_det with a matrix",
        "tr_inv",
        "matrix_frac",
        "sigma_max",
    ):
        problem = KNOWN[name][0]()
        declared = Declared.of(problem)
        for _ in range(4):
            multipliers = {term: rng.normal(size=size) for term, (_, _, size) in declared.names.items()}
            point = {v.name(): symmetric(rng) for v in problem.variables()} if "t" not in problem.var_dict else {"t": rng.normal(size=1)}
            found = simopt.certify(problem, point, multipliers, solver=None, rigorous=True)
            assert found.lower <= EXPECTED[name] + 1e-9 and found.upper >= EXPECTED[name] - 1e-9
            finite += math.isfinite(found.upper) + math.isfinite(found.lower)
    assert finite >= 30


def test_parameters_are_read_anew() -> None:
    A = cp.Parameter((N, N), symmetric=True, name="A", value=C)
    t = cp.Variable(name="t")
    for problem in (
        cp.Problem(cp.Minimize(t), [t * np.eye(N) >> A]),
        cp.Problem(cp.Minimize(cp.lambda_max(A + t * np.eye(N)) + cp.square(t)), []),
    ):
        shift = -0.25 if not problem.constraints else 0.0
        declared = Declared.of(problem)
        for factor in (1.0, -2.0, 0.5):
            A.value = factor * C
            expected = max(factor * LOW, factor * HIGH) + shift
            solution = simopt.solve(declared, rigorous=True, tol=1e-6)
            assert solution.optimal and solution.certificate.lower <= expected + 1e-12 and expected <= solution.certificate.upper + 1e-12
        A.value = C


def test_labels_name_cones_and_have_to_differ() -> None:
    X = cp.Variable((2, N, N), name="X")
    names = {term.name for term in read(cp.Problem(cp.Minimize(cp.sum(X)), [(X >> 0).set_label("both"), X <= 1])).terms}
    assert names == {"both (0,)", "both (1,)"}
    Y = cp.Variable((2, 2), PSD=True, name="Y")
    assert {term.name for term in read(cp.Problem(cp.Minimize(cp.trace(Y)), [Y >> np.eye(2)])).terms} == {"row 0", "Y PSD"}
    with pytest.raises(InvalidProblem, match="2 constraints have this label"):
        read(cp.Problem(cp.Minimize(cp.trace(Y)), [(Y >> 1).set_label("a"), (Y << 3).set_label("a")]))


INFEASIBLE: dict[str, Make] = {
    "a negative inner product": with_matrix(least_of(cp.trace, lambda X: cp.trace(C @ C @ X) == -1), PSD=True),
    "entries that are fixed": with_matrix(least_of(cp.trace, lambda X: cp.diag(X) == 1, lambda X: X[0, 1] == 2), PSD=True),
    "entries with bounds": with_matrix(least_of(cp.trace, lambda X: cp.diag(X) <= 1, lambda X: X[1, 0] <= -2), PSD=True),
    "two cones": with_matrix(least_of(cp.trace, lambda X: X >> np.eye(N), lambda X: X << 0.5 * np.eye(N)), symmetric=True),
    "a constant": of_numbers(lambda t: cp.Problem(cp.Minimize(t[0] ** 2), [cp.Constant(np.ones((N, N)) - 0.5 * np.eye(N)) >> 0])),
    "a domain": with_matrix(greatest_of(cp.log_det, lambda X: X << 0, lambda X: cp.trace(X) <= -1), symmetric=True),
}
UNBOUNDED: dict[str, Make] = {
    "a direction in the cone": with_matrix(least_of(inner), PSD=True),
    "log_det": with_matrix(greatest_of(cp.log_det), PSD=True),
    "log_det along a direction": with_matrix(greatest_of(lambda X: cp.log_det(X) + cp.trace(X)), PSD=True),
    "lambda_max": with_matrix(least_of(lambda X: cp.lambda_max(X) - cp.trace(X)), symmetric=True),
}


@pytest.mark.parametrize("name", INFEASIBLE)
def test_where_no_matrix_is_feasible_it_is_proven(name: str) -> None:
    problem = INFEASIBLE[name]()
    solution = simopt.solve(problem)
    assert solution.status is Status.INFEASIBLE and problem.status == "infeasible", solution.message


@pytest.mark.parametrize("name", UNBOUNDED)
def test_where_the_objective_has_no_end_it_is_proven(name: str) -> None:
    problem = UNBOUNDED[name]()
    solution = simopt.solve(problem)
    assert solution.status is Status.UNBOUNDED and problem.status == "unbounded", solution.message


def test_fractions_certify_where_no_eigenvalue_is_asked_for() -> None:
    X = cp.Variable((2, 2), PSD=True, name="X")
    problem = cp.Problem(cp.Minimize(cp.trace(X)), [X[0, 0] == 1, X[1, 0] >= 2])
    point, cone = {"X": np.array([[1.0, 2.0], [2.0, 4.0]])}, np.array([[4.0, -2.0], [-2.0, 1.0]])
    found = simopt.certify(problem, point, {"X PSD": cone, "row 0": 3.0, "row 1": 4.0}, RATIONAL, solver=None)
    assert found.lower == found.upper == 5
    t = cp.Variable(2, name="t", bounds=[-1.0, 1.0])
    with pytest.raises((NotRational, InvalidProblem), match="eigenvalues|formulas"):
        simopt.certify(
            cp.Problem(cp.Minimize(cp.lambda_max(cp.diag(t) + np.ones((2, 2))))), {"t": np.zeros(2)}, None, RATIONAL, solver=None
        )
    whole = simopt.certify(cp.Problem(cp.Minimize(cp.lambda_max(cp.diag(t)))), {"t": np.array([-1.0, -1.0])}, None, RATIONAL, solver=None)
    assert whole.upper == -1


def test_what_cannot_be_read_is_named() -> None:
    X = cp.Variable((2, 2), PSD=True, name="X")
    for made, message in (
        (lambda: cp.Problem(cp.Minimize(cp.condition_number(X))), "quasiconvex.*condition_number"),
        (lambda: cp.Problem(cp.Maximize(cp.lambda_max(X))), "not convex by CVXPY's rules.*lambda_max"),
        (lambda: cp.Problem(cp.Minimize(cp.quad_form(cp.Variable(2), cp.psd_wrap(np.diag([1.0, -1.0]))))), "not proven semidefinite"),
    ):
        for function in (simopt.solve, simopt.certify):
            with pytest.raises(Unreadable, match=message):
                function(made())


def with_semidefinite(make: Callable[[cp.Variable, np.random.Generator], cp.Problem], n: int = 4, **attributes: Any) -> Make:
    return lambda: make(cp.Variable((n, n), **attributes), np.random.default_rng(n))


def maximal_cut(X: Any, rng: Any) -> cp.Problem:
    return cp.Problem(cp.Maximize(cp.trace(symmetric(rng, 4) @ X)), [cp.diag(X) == 1])


def nearest_correlation(X: Any, rng: Any) -> cp.Problem:
    return cp.Problem(cp.Minimize(cp.sum_squares(X - symmetric(rng, 4))), [cp.diag(X) == 1])


def lovasz(X: Any, rng: Any) -> cp.Problem:
    edges = np.triu(rng.random((4, 4)) < 0.3, 1).astype(float)
    return cp.Problem(cp.Maximize(cp.sum(X)), [X >> 0, cp.trace(X) == 1, cp.multiply(edges + edges.T, X) == 0])


def low_rank(rng: Any) -> tuple[Matrix, Matrix]:
    return rng.normal(size=(4, 2)) @ rng.normal(size=(2, 4)), (rng.random((4, 4)) < 0.6).astype(float)


def completion(X: Any, rng: Any) -> cp.Problem:
    matrix, seen = low_rank(rng)
    return cp.Problem(cp.Minimize(cp.normNuc(X)), [cp.multiply(seen, X) == seen * matrix])


def completion_with_noise(X: Any, rng: Any) -> cp.Problem:
    matrix, seen = low_rank(rng)
    return cp.Problem(cp.Minimize(cp.normNuc(X) + cp.sum_squares(cp.multiply(seen, X - matrix))))


def robust_components(X: Any, rng: Any) -> cp.Problem:
    matrix = low_rank(rng)[0] + 5 * (rng.random((4, 4)) < 0.2)
    return cp.Problem(cp.Minimize(cp.normNuc(X) + cp.sum(cp.abs(matrix - X)) / 2))


def covariance_selection(X: Any, rng: Any) -> cp.Problem:
    covariance = np.cov(rng.normal(size=(4, 12)))
    return cp.Problem(cp.Minimize(-cp.log_det(X) + cp.trace(covariance @ X) + 0.1 * cp.sum(cp.abs(X))))


def smallest_ellipsoid(X: Any, rng: Any) -> cp.Problem:
    b = cp.Variable(4)
    return cp.Problem(cp.Minimize(-cp.log_det(X)), [cp.norm(X @ point + b) <= 1 for point in rng.normal(size=(12, 4))])


def largest_ellipsoid(X: Any, rng: Any) -> cp.Problem:
    centre, normals = cp.Variable(4, bounds=[-5.0, 5.0]), rng.normal(size=(12, 4))
    return cp.Problem(cp.Maximize(cp.log_det(X)), [cp.norm(X @ g) + g @ centre <= 1.5 for g in normals])


def lyapunov(X: Any, rng: Any) -> cp.Problem:
    a = rng.normal(size=(4, 4))
    a -= np.eye(4) * (np.max(np.linalg.eigvals(a).real) + 0.5)
    return cp.Problem(cp.Minimize(cp.trace(X)), [a.T @ X + X @ a << -np.eye(4), X >> 0])


def design(criterion: Callable[[Any, Any], Any]) -> Make:
    def make() -> cp.Problem:
        rng, w = np.random.default_rng(4), cp.Variable(20, nonneg=True)
        vectors = rng.normal(size=(4, 20))
        return cp.Problem(criterion(vectors @ cp.diag(w) @ vectors.T, rng.normal(size=4)), [cp.sum(w) == 1])

    return make


def graph(rng: Any) -> Matrix:
    above = np.triu(rng.random((4, 4)) < 0.6, 1)
    return np.asarray(above | above.T | np.eye(4, dtype=bool))


def fastest_mixing(X: Any, rng: Any) -> cp.Problem:
    rows = [cp.sum(X, axis=1) == 1, X >= 0, cp.multiply((~graph(rng)).astype(float), X) == 0]
    return cp.Problem(cp.Minimize(cp.sigma_max(X - np.ones((4, 4)) / 4)), rows)


def fastest_mixing_by_inequalities(X: Any, rng: Any) -> cp.Problem:
    s, gap = cp.Variable(), X - np.ones((4, 4)) / 4
    rows = [gap << s * np.eye(4), gap >> -s * np.eye(4), cp.sum(X, axis=1) == 1, X >= 0, cp.multiply((~graph(rng)).astype(float), X) == 0]
    return cp.Problem(cp.Minimize(s), rows)


def sparse_components(X: Any, rng: Any) -> cp.Problem:
    return cp.Problem(cp.Maximize(cp.trace(np.cov(rng.normal(size=(4, 8))) @ X) - 0.1 * cp.sum(cp.abs(X))), [cp.trace(X) == 1])


def combination(x: Any, rng: Any) -> Any:
    return symmetric(rng, 4) + sum(x[i] * symmetric(rng, 4) for i in range(3))


def three_largest() -> cp.Problem:
    x = cp.Variable(3)
    return cp.Problem(cp.Minimize(cp.lambda_sum_largest(combination(x, np.random.default_rng(4)), 3) + cp.sum_squares(x)))


def largest_in_a_box() -> cp.Problem:
    x = cp.Variable(3)
    return cp.Problem(cp.Minimize(cp.lambda_max(combination(x, np.random.default_rng(4)))), [x <= 1, x >= -1])


def maximal_entropy(X: Any, rng: Any) -> cp.Problem:
    return cp.Problem(cp.Maximize(cp.von_neumann_entr(X)), [cp.trace(X) == 1, cp.trace(symmetric(rng, 4) @ X) == 0.1])


def h_infinity(X: Any, rng: Any) -> cp.Problem:
    a, b, c, g = rng.normal(size=(4, 4)), rng.normal(size=(4, 2)), rng.normal(size=(2, 4)), cp.Variable()
    a -= np.eye(4) * (np.max(np.linalg.eigvals(a).real) + 0.5)
    return cp.Problem(cp.Minimize(g), [cp.bmat([[a.T @ X + X @ a + c.T @ c, X @ b], [b.T @ X, -g * np.eye(2)]]) << 0])


def distances(X: Any, rng: Any) -> cp.Problem:
    points, seen = rng.normal(size=(4, 2)), np.triu(rng.random((4, 4)) < 0.8, 1).astype(float)
    squares = np.sum((points[:, None] - points[None]) ** 2, axis=-1)
    column = cp.reshape(cp.diag(X), (4, 1), order="F") @ np.ones((1, 4))
    error = cp.sum(cp.abs(cp.multiply(seen, column + column.T - 2 * X - squares)))
    return cp.Problem(cp.Minimize(error + 0.01 * cp.trace(X)))


PRACTICE: dict[str, Make] = {
    "MAX-CUT": with_semidefinite(maximal_cut, PSD=True),
    "nearest correlation": with_semidefinite(nearest_correlation, PSD=True),
    "Lovász θ": with_semidefinite(lovasz, symmetric=True),
    "completion": with_semidefinite(completion),
    "completion with noise": with_semidefinite(completion_with_noise),
    "robust components": with_semidefinite(robust_components),
    "covariance selection": with_semidefinite(covariance_selection, PSD=True),
    "smallest ellipsoid": with_semidefinite(smallest_ellipsoid, PSD=True),
    "largest ellipsoid": with_semidefinite(largest_ellipsoid, PSD=True),
    "Lyapunov": with_semidefinite(lyapunov, symmetric=True),
    "D-optimal design": design(lambda m, c: cp.Maximize(cp.log_det(m))),
    "E-optimal design": design(lambda m, c: cp.Maximize(cp.lambda_min(m))),
    "A-optimal design": design(lambda m, c: cp.Minimize(cp.tr_inv(m))),
    "c-optimal design": design(lambda m, c: cp.Minimize(cp.matrix_frac(c, m))),
    "fastest mixing": with_semidefinite(fastest_mixing, symmetric=True),
    "fastest mixing by inequalities": with_semidefinite(fastest_mixing_by_inequalities, symmetric=True),
    "sparse components": with_semidefinite(sparse_components, PSD=True),
    "three largest": three_largest,
    "largest in a box": largest_in_a_box,
    "maximal entropy": with_semidefinite(maximal_entropy, PSD=True),
    "H∞ norm": with_semidefinite(h_infinity, PSD=True),
    "distances": with_semidefinite(distances, PSD=True),
}


@pytest.mark.parametrize("name", PRACTICE)
def test_models_of_practice_close_in_intervals(name: str) -> None:
    problem = PRACTICE[name]()
    found = simopt.certify(problem, rigorous=True)
    assert found.closes(1e-6), found.open
    value = problem.solve(solver="CLARABEL")
    assert found.lower - 1e-5 * abs(value) <= value <= found.upper + 1e-5 * abs(value)
