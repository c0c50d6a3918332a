"""Affine maps: CVXPY's value, the adjoint, the pattern, in three arithmetics; parameters are read live, matrices are not copied."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp

from simopt.arithmetic import FLOAT, INTERVAL, RATIONAL, Arithmetic
from simopt.arithmetic.triangular import as_fraction
from simopt.duality.graph.affine import Map, Mixed, Picks
from simopt.duality.graph.vectors import floats, inner, vector
from simopt.duality.reading.expressions import Expressions
from simopt.duality.vertices.exact_entries import ExactEntries

rng = np.random.default_rng(3)
x, X, t = cp.Variable(3, name="x"), cp.Variable((3, 2), name="X"), cp.Variable(name="t")
p, v = cp.Parameter(nonneg=True, name="p", value=0.75), cp.Parameter(3, name="v", value=[1.0, -2.0, 0.5])
A, B = rng.integers(-4, 5, (4, 3)) / 4.0, rng.integers(-4, 5, (2, 5)) / 4.0
S = sp.csr_array(np.array([[0.0, 1.5, 0.0], [0.0, 0.0, 0.0], [2.0, -1.0, 0.5]]))
MAPS = {
    "sum": x - 2 * x + 1,
    "sum of three": x + 2 * x + 4 * x,
    "matrix @ vector": A @ x,
    "matrix @ matrix": A @ X,
    "vector @ matrix": A[0] @ X,
    "vector @ vector": A[0] @ x,
    "matrix of a variable @ matrix": X @ B,
    "matrix of a variable @ vector": X @ B[:, 0],
    "vector of a variable @ matrix": x @ A.T,
    "sparse": S @ x,
    "sparse on the right": X.T @ S,
    "product of constants @ vector": (2 * cp.Constant(A)) @ x,
    "parameter": p * x + cp.multiply(v, x),
    "quotient": x / 4 + x / p,
    "broadcast": X + t + cp.reshape(x, (3, 1), order="F"),
    "slices": x[1:] - x[:-1],
    "an entry": X[1, 0] + x[2],
    "fancy": x[[2, 0, 0, 1]],
    "reshape C": cp.reshape(X, (2, 3), order="C"),
    "transposed": X.T,
    "stacks": cp.hstack([x, t, 3.0]) - 1,
    "vstack": cp.vstack([x, x]),
    "block": cp.bmat([[X, X], [X, X]]),
    "sum of all": cp.sum(X),
    "sum of rows": cp.sum(X, axis=1),
    "sum of columns": cp.sum(X, axis=0, keepdims=True),
    "sums of which one is empty": cp.sum(cp.diag(x, 1), axis=0),
    "mean": cp.mean(X),
    "trace": cp.trace(B[:, :3] @ X),
    "diagonal matrix": cp.diag(x),
    "another diagonal": cp.diag(x, 1),
    "conjugate": cp.conj(x),
    "factor that is computed": cp.norm(cp.Constant([0.75, 1.0])) * x + cp.square(p) * x,
    "diagonal": cp.diag(B[:, :3] @ X),
    "upper triangle": cp.upper_tri(B[:, :3] @ X),
    "differences": cp.diff(x),
    "concatenate": cp.concatenate([x, x]),
    "kron": cp.kron(B[:, :2], X),
    "kron on the right": cp.kron(X, B[:, :2]),
    "conv": cp.conv(A[0], x),
    "convolve with a parameter": cp.convolve(v, x),
    "running sums": cp.cumsum(X, axis=0) + cp.cumsum(X, axis=1),
    "running sums of all": cp.cumsum(X),
    "floor": cp.floor(4 * p) * x + cp.ceil(p) * x,
    "stacks of products": np.arange(12.0).reshape(2, 2, 3) @ X,
    "products with a stack": cp.reshape(X, (1, 2, 3), order="F") @ np.arange(12.0).reshape(2, 3, 2),
    "of a vector and a stack": x @ np.arange(12.0).reshape(2, 3, 2),
}
each_map = pytest.mark.parametrize("expression", [pytest.param(e, id=name) for name, e in MAPS.items()])


def values(reader: Expressions, seed: int) -> tuple[dict[int, np.ndarray], dict[int, np.ndarray]]:
    """Values of the variables by our key, flat; the variables have them, too."""
    draw = np.random.default_rng(seed)
    flat = {}
    for key, variable in reader.variables.values():
        variable.value = draw.integers(-8, 9, variable.shape) / 4.0
        flat[key] = np.asarray(variable.value, dtype=float).reshape(-1, order="F")
    return flat, {key: np.zeros_like(value) for key, value in flat.items()}


def lifted(num: Arithmetic, at: dict[int, np.ndarray]) -> dict[int, Any]:
    return {key: num.lift(value) for key, value in at.items()}


def read(expression: Any) -> tuple[Expressions, Map]:
    reader = Expressions()
    return reader, reader.map(expression)


@each_map
@pytest.mark.parametrize("num", [FLOAT, INTERVAL, RATIONAL], ids=lambda num: num.name)
def test_a_map_has_cvxpys_value_and_the_adjoint_its_transposed(expression: Any, num: Arithmetic) -> None:
    reader, found = read(expression)
    at, zero = values(reader, 1)
    assert found.size == expression.size
    value = found.value(num, lifted(num, at))
    expected = np.asarray(expression.value, dtype=float).reshape(-1, order="F")
    np.testing.assert_allclose(floats(num, value), expected, rtol=1e-14, atol=1e-14)
    u = np.random.default_rng(2).integers(-8, 9, expression.size) / 8.0
    into: dict[int, Any] = {}
    constant = found.pull(num, num.lift(u), into)
    total = constant + sum((inner(num, into[key], num.lift(at[key])) for key in into), num.lift(0.0))
    if num is RATIONAL:  # ⟨u, Ax + b⟩ = ⟨Aᵀu, x⟩ + ⟨u, b⟩ exactly
        assert total == num.dot(num.lift(u), value)
    else:
        assert num.lower(total) - 1e-13 <= float(u @ expected) <= num.upper(total) + 1e-13
    offset = found.value(num, lifted(num, zero))
    linear = found.value(num, lifted(num, at), linear=True)
    np.testing.assert_allclose(floats(num, linear), floats(num, value) - floats(num, offset), atol=1e-13)


@each_map
def test_an_entry_in_fractions_has_the_value_of_the_map(expression: Any) -> None:
    reader, found = read(expression)
    at, _ = values(reader, 11)
    exact = ExactEntries()
    for i, value in enumerate(found.value(RATIONAL, lifted(RATIONAL, at))):
        gradient, b = exact.entry(found, i)
        assert sum((a * as_fraction(float(at[key][j])) for (key, j), a in gradient.items()), start=b) == as_fraction(value)


@each_map
def test_rows_are_the_gradients_of_the_entries(expression: Any) -> None:
    reader, found = read(expression)
    at, _ = values(reader, 7)
    width = 4
    gradients = {key: sp.random_array((len(value), width), density=0.5, random_state=key) for key, value in at.items()}
    rows = found.rows({key: value.tocsr() for key, value in gradients.items()}, width)
    assert sp.issparse(rows) and rows.shape == (found.size, width)
    columns = [found.value(FLOAT, {key: value.toarray()[:, j] for key, value in gradients.items()}, linear=True) for j in range(width)]
    np.testing.assert_allclose(rows.toarray(), np.column_stack(columns), atol=1e-13)


@each_map
def test_intervals_contain_the_exact_value(expression: Any) -> None:
    reader, found = read(expression)
    at, _ = values(reader, 4)
    exact, interval = found.value(RATIONAL, lifted(RATIONAL, at)), found.value(INTERVAL, lifted(INTERVAL, at))
    for i in range(found.size):
        assert Fraction(float(interval.low[i])) <= exact[i] <= Fraction(float(interval.high[i]))


@each_map
def test_a_pattern_is_what_the_map_does(expression: Any) -> None:
    reader, found = read(expression)
    at, zero = values(reader, 5)
    for key in at:
        pattern = found.pattern(key)
        moved = found.value(FLOAT, {**zero, key: at[key]}, linear=True)
        if pattern is None:
            assert key not in found.below and not moved.any()
        elif isinstance(pattern, Picks):
            taken = np.where(pattern.columns >= 0, at[key][pattern.columns], 0.0)
            known = np.isfinite(pattern.factors)
            assert np.all((pattern.columns < 0) == (pattern.factors == 0.0))
            np.testing.assert_array_equal(moved[known], (taken * pattern.factors)[known])
        else:
            assert isinstance(pattern, Mixed)
            ones = [np.flatnonzero(found.value(FLOAT, {**zero, key: unit}, linear=True)) for unit in np.eye(len(at[key]))]
            several = np.bincount(np.concatenate(ones), minlength=found.size).max() > 1
            assert several or "product of constants" in str(request_name(expression))


def request_name(expression: Any) -> str:
    return next(name for name, e in MAPS.items() if e is expression)


def test_parameters_are_read_when_the_map_is_evaluated() -> None:
    reader, found = read(p * x)
    at, _ = values(reader, 6)
    (key,) = at
    try:
        for number in (0.75, 3.0):
            p.value = number
            np.testing.assert_allclose(found.value(FLOAT, at), number * at[key])
        assert np.isnan(found.pattern(key).factors).all()  # type: ignore[union-attr]
    finally:
        p.value = 0.75


def test_a_matrix_is_the_users_array() -> None:
    large = np.random.default_rng(0).normal(size=(50, 3))
    constant = cp.Constant(large)
    _, found = read(constant @ x)
    assert np.shares_memory(found.matrix.read(), constant.value)  # type: ignore[attr-defined]


def test_a_product_that_rounds_is_no_exact_factor() -> None:
    _, found = read(10.0 * (0.1 * x))
    assert np.isnan(found.pattern(0).factors).all()  # type: ignore[union-attr]  # 0.1 · 10 is not 1, though floats say so


def test_a_sum_of_whole_factors_that_rounds_is_no_exact_factor() -> None:
    for expression in (2.0**53 * x + x, x + 2.0**53 * x):
        assert np.isnan(read(expression)[1].pattern(0).factors).all()  # type: ignore[union-attr]


def test_vectors_of_objects_stay_exact() -> None:
    assert vector(RATIONAL, RATIONAL.lift(np.array([[0.1, 0.2], [0.3, 0.4]])))[1] == Fraction(0.3)
