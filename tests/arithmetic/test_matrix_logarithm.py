"""Logarithms of matrices and their derivatives, in floats and intervals, against 1200 bits."""

import math
from typing import Any

import flint
import numpy as np
import pytest

from simopt.arithmetic import FLOAT, INTERVAL, RATIONAL, Interval, NotRational
from simopt.arithmetic.matrix_logarithm import EnclosedSpectrum, divided_differences, matrix_logarithm
from simopt.arithmetic.precision import workprec

BITS, ROOTS = 1200, 60
KINDS = ("dense", "conditioned", "tied", "nearly tied", "graded", "sparse", "tiny", "huge", "one")


def exact(a: Any) -> Any:
    return flint.arb_mat(*a.shape, [flint.arb(flint.fmpq(*float(x).as_integer_ratio())) for x in a.flat])


def midpoints(a: Any) -> Any:
    return flint.arb_mat(a.nrows(), a.ncols(), [x.mid() for x in a.entries()])


def identity(n: int) -> Any:
    return flint.arb_mat(n, n, [int(i == j) for i in range(n) for j in range(n)])


def root(a: Any) -> Any:
    """A^½ by Denman and Beavers' iteration, for entries near 1."""
    x, y = a, identity(a.nrows())
    for _ in range(100):
        inverse = midpoints(x.inv())
        x, y, before = midpoints((x + y.inv()) * flint.arb("0.5")), midpoints((y + inverse) * flint.arb("0.5")), x
        if all(abs(v.mid()) < flint.arb(2) ** (60 - BITS) for v in (x - before).entries()):
            break
    return x


def logarithm(a: Any) -> Any:
    """log A = 2^k log A^(1/2^k), of 2^p A for entries near 1."""
    n, power = a.nrows(), -math.frexp(max(float(abs(x.mid())) for x in a.entries()))[1]
    a = a * flint.arb(2) ** power
    for _ in range(ROOTS):
        a = root(a)
    e = a - identity(n)
    product, total = e, e
    for k in range(2, 18):
        product = midpoints(product * e)
        total = total + product * (flint.arb((-1) ** (k + 1)) / k)
    return total * (flint.arb(2) ** ROOTS) - identity(n) * (flint.arb.const_log2() * power)


def encloses(interval: Interval, reference: Any) -> bool:
    entries = reference.entries()
    slack = flint.arb(2) ** -300
    return all(
        abs(entries[k].mid() - flint.arb(float(mid))) <= flint.arb(float(rad)) + slack
        for k, (mid, rad) in enumerate(zip(interval.mid.flat, interval.rad.flat, strict=True))
        if math.isfinite(rad)
    )


def matrix(kind: str, n: int, rng: np.random.Generator) -> np.ndarray:
    q = np.linalg.qr(rng.normal(size=(n, n)))[0]
    values = rng.uniform(0.5, 2.0, n)
    if kind == "conditioned":
        values = np.logspace(0.0, -10.0, n)
    if kind == "tied":
        values = np.where(np.arange(n) < n - 1, 1.5, 0.25)
    if kind == "nearly tied":
        values = 1.0 + 1e-9 * np.arange(n)
    a = (q * values) @ q.T
    a = (a + a.T) / 2
    if kind == "graded":
        d = np.ldexp(1.0, -6 * np.arange(n))
        a = d[:, None] * a * d
    if kind == "sparse":
        a[0, 1:] = a[1:, 0] = 0.0
    if kind in ("tiny", "huge"):
        a = a * (2.0**-700 if kind == "tiny" else 2.0**700)
    return np.eye(n) if kind == "one" else a


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [1, 2, 4])
def test_the_logarithm_is_enclosed(kind: str, n: int) -> None:
    rng = np.random.default_rng([n, KINDS.index(kind)])
    for _ in range(3):
        a = matrix(kind, n, rng)
        found, near = matrix_logarithm(INTERVAL, a), matrix_logarithm(FLOAT, a)
        assert found is not None and near is not None
        with workprec(BITS):
            assert encloses(found, logarithm(exact(a)))
        condition = np.linalg.cond(a)
        assert np.max(found.rad) <= 2e-13 * condition * max(1.0, np.max(np.abs(found.mid)))
        assert np.all(np.abs(near - found.mid) <= found.rad + 1e-12 * condition * max(1.0, np.max(np.abs(near))))
        assert np.array_equal(found.mid, found.mid.T) or kind == "sparse"


def test_of_an_interval_matrix_the_logarithms_of_all_matrices_are_enclosed() -> None:
    rng = np.random.default_rng(3)
    a, rad = matrix("dense", 3, rng), 1e-3
    found = matrix_logarithm(INTERVAL, Interval(a, np.full((3, 3), rad)))
    assert found is not None
    with workprec(BITS):
        for _ in range(5):
            e = rng.choice([-rad, rad], size=(3, 3))
            assert encloses(found, logarithm(exact(a + np.triu(e) + np.triu(e, 1).T)))


def test_a_diagonal_matrix_has_the_logarithms_of_its_entries() -> None:
    d = np.array([1.0, 3.0, 1e-200, 5e100])
    found = matrix_logarithm(INTERVAL, np.diag(d))
    assert found is not None
    own = INTERVAL.log(INTERVAL.lift(d))
    assert np.array_equal(np.diag(found.mid), own.mid) and np.array_equal(np.diag(found.rad), own.rad)
    off = ~np.eye(4, dtype=bool)
    assert not found.mid[off].any() and not found.rad[off].any() and found.rad[0, 0] == 0.0


def test_what_is_not_proven_to_be_definite_has_no_logarithm() -> None:
    for num in (FLOAT, INTERVAL):
        for a in (np.ones((2, 2)), np.diag([1.0, 0.0]), np.diag([1.0, -1.0]), np.full((2, 2), np.nan)):
            assert matrix_logarithm(num, a) is None
        with pytest.raises(ValueError, match="symmetric"):
            matrix_logarithm(num, np.array([[2.0, 1.0], [0.0, 2.0]]))
    assert matrix_logarithm(INTERVAL, Interval(np.eye(2), np.ones((2, 2)))) is None
    with pytest.raises(NotRational):
        matrix_logarithm(RATIONAL, np.eye(2))
    with pytest.raises(NotRational):
        EnclosedSpectrum.of(RATIONAL, np.ones(2), np.eye(2))


def test_vectors_that_are_not_orthogonal_are_refused() -> None:
    assert EnclosedSpectrum.of(INTERVAL, np.ones(2), np.array([[1.0, 1.0], [0.0, 1.0]])) is None


def test_divided_differences_do_not_cancel() -> None:
    values = np.array([1.0, np.nextafter(1.0, 2.0), 1.0 + 1e-9, 1.0, 7.0, 1e-12, 1e12, 1e-200, 1e200])
    found, near = divided_differences(INTERVAL, values), divided_differences(FLOAT, values)
    with workprec(BITS):
        for i, x in enumerate(values):
            for j, y in enumerate(values):
                a, b = (flint.arb(flint.fmpq(*float(v).as_integer_ratio())) for v in (x, y))
                slope = 1 / a if x == y else (a.log() - b.log()) / (a - b)
                assert abs(slope.mid() - flint.arb(float(found.mid[i, j]))) <= flint.arb(float(found.rad[i, j])) + flint.arb(2) ** -400
                assert found.rad[i, j] <= 1e-14 * found.mid[i, j]
                assert near[i, j] == pytest.approx(float(slope.mid()), rel=1e-14)


@pytest.mark.parametrize("kind", ["dense", "conditioned", "tied", "nearly tied"])
def test_the_derivative_of_the_logarithm_is_enclosed(kind: str) -> None:
    """By a difference quotient with a step of 2⁻³⁰⁰, at the matrix QΛQᵀ with a polar factor of 1200 bits."""
    rng = np.random.default_rng(KINDS.index(kind))
    n = 3
    values, q = np.linalg.eigh(matrix(kind, n, rng))
    direction = rng.normal(size=(n, n))
    direction += direction.T
    spectrum = EnclosedSpectrum.of(INTERVAL, values, q)
    assert spectrum is not None
    found = spectrum.turned_back(spectrum.derivative(INTERVAL.lift(direction)))
    with workprec(BITS):
        polar = exact(q)
        for _ in range(8):  # Newton's iteration for the polar factor
            polar = midpoints((polar + polar.transpose().inv()) * flint.arb("0.5"))
        assert encloses(spectrum.vectors, polar)
        a = midpoints(polar * exact(np.diag(values)) * polar.transpose())
        step = flint.arb(2) ** -300
        quotient = (logarithm(a + exact(direction) * step) - logarithm(a)) * (1 / step)
        assert encloses(found, midpoints(quotient))
    assert np.max(found.rad) <= 1e-13 / np.min(values) ** 2
