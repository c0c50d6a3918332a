"""Bad data are refused with the place and the remedy; good data come through unchanged."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simopt.core import validate
from simopt.core.errors import InvalidProblem, UnknownName


def test_values_that_are_not_finite_are_counted_and_the_first_is_named() -> None:
    y = np.ones(1030)
    y[[17, 20, 500]] = np.nan, np.inf, -np.inf
    with pytest.raises(
        InvalidProblem, match=r"^targets: 3 of 1030 values are not finite \(first at index 17\); remove or replace them first$"
    ):
        validate.vector("targets", y)
    X = np.zeros((3, 4))
    X[2, 1] = np.inf
    with pytest.raises(
        InvalidProblem, match=r"^features: 1 of 12 values is not finite \(first at row 2, column 1\); remove or replace them first$"
    ):
        validate.matrix("features", X)


@given(index=st.integers(0, 3 * validate.BLOCK))
@settings(max_examples=10, deadline=None)
def test_the_first_bad_place_is_found_across_blocks(index: int) -> None:
    x = np.zeros(3 * validate.BLOCK + 2)
    x[[index, -1]] = np.nan
    with pytest.raises(InvalidProblem, match=rf"2 of {x.size} values are not finite \(first at index {index}\)"):
        validate.vector("x", x)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: validate.vector("y", []), "y: no values, at least 1 needed"),
        (lambda: validate.vector("y", [1.0], minimum=2), "y: 1 value, at least 2 needed"),
        (lambda: validate.vector("y", [1.0, 2.0], length=3), "y: 2 values, expected 3"),
        (lambda: validate.vector("y", [[1.0]]), r"y: 2-dimensional with shape \(1, 1\), expected a vector"),
        (lambda: validate.vector("y", 1.0), r"y: 0-dimensional with shape \(\), expected a vector"),
        (lambda: validate.vector("y", ["a"]), "y: values that are not numbers"),
        (lambda: validate.vector("y", [1j]), "y: complex numbers, real ones needed"),
        (
            lambda: validate.matrix("X", [[1], [2, 3]]),
            "X: not a rectangular array of numbers, row 0 has 1 entry and row 1 has 2; rows of one length needed$",
        ),
        (
            lambda: validate.matrix("X", [np.ones((2, 1)), np.ones((2, 3))]),
            "X: not a rectangular array of numbers; rows of one length needed$",
        ),
        (lambda: validate.vector("y", [1, [2]]), "y: not a rectangular array of numbers; rows of one length needed$"),
        (lambda: validate.matrix("X", np.ones((0, 3))), "X: no rows, at least 1 needed"),
        (lambda: validate.matrix("X", np.ones((3, 0))), "X: no columns, at least 1 needed"),
        (lambda: validate.matrix("X", np.ones((3, 2)), rows=4), r"X: shape \(3, 2\) has 3 rows, expected 4"),
        (lambda: validate.matrix("X", np.ones((3, 1)), cols=4), r"X: shape \(3, 1\) has 1 column, expected 4"),
        (lambda: validate.same_length(features=np.ones(3), targets=np.ones(2)), "lengths disagree: features has 3, targets has 2"),
        (lambda: validate.positive("regularization", 0), "regularization: 0 given, a number > 0 needed"),
        (lambda: validate.positive("m", -1.5), "m: -1.5 given, a number > 0 needed"),
        (lambda: validate.positive("m", float("nan")), "m: nan is not finite"),
        (lambda: validate.positive("m", "two"), "m: 'two' is not a number"),
        (lambda: validate.nonnegative("epsilon", -1), "epsilon: -1 given, a number >= 0 needed"),
        (lambda: validate.whole("n", 2.5), "n: 2.5 given, a whole number >= 0 needed"),
        (lambda: validate.labels("labels", [1, -1, 0, 3]), r"labels: 2 of 4 labels are none of -1, 1 \(first at index 2: 0\)"),
        (lambda: validate.labels("labels", [1, 1], both=True), "labels: no sample has the label -1; each of -1, 1 must occur"),
        (lambda: validate.gram("gram", np.ones((2, 3))), r"gram: shape \(2, 3\) is not square"),
        (lambda: validate.gram("gram", np.eye(3), n=4), r"gram: shape \(3, 3\) has 3 rows, expected 4"),
        (lambda: validate.gram("gram", [[1, 2], [3, 9]]), r"gram: not symmetric, entry \(0, 1\) is 2 and \(1, 0\) is 3"),
        (lambda: validate.gram("gram", [[1, 2], [2, 1]]), "gram: not positive semidefinite, the smallest eigenvalue is -1 "),
        (lambda: validate.gram("gram", [[-2.0]]), "gram: not positive semidefinite, the smallest eigenvalue is -2 "),
    ],
)
def test_each_fault_has_its_message(call: object, message: str) -> None:
    assert callable(call)
    with pytest.raises(InvalidProblem, match=message):
        call()


def test_good_data_are_views_and_read_only() -> None:
    x = np.arange(3.0)
    out = validate.vector("x", x)
    assert np.shares_memory(out, x) and x.flags.writeable
    with pytest.raises(ValueError, match="read-only"):
        out[0] = 1
    assert validate.vector("x", out) is out
    assert validate.vector("x", [1, 2]).dtype == np.float64
    assert validate.positive("m", np.float32(0.5)) == 0.5
    assert validate.whole("n", 3.0) == 3
    assert validate.labels("y", [2, 3], allowed=(1, 2, 3)).tolist() == [2, 3]
    assert validate.choice("loss", "hinge", ("hinge", "square")) == "hinge"
    with pytest.raises(UnknownName, match="unknown loss 'hing'; did you mean 'hinge'"):
        validate.choice("loss", "hing", ("hinge", "square"))


def test_a_memory_mapped_matrix_is_not_copied(tmp_path: Path) -> None:
    mapped = np.memmap(tmp_path / "X.bin", dtype=np.float64, mode="w+", shape=(1000, 50))
    assert np.shares_memory(validate.matrix("X", mapped), mapped)


@given(seed=st.integers(0, 10**6), n=st.integers(1, 12), rank=st.integers(0, 12), exponent=st.integers(-200, 200))
@settings(max_examples=60, deadline=None)
def test_a_gram_matrix_passes_at_every_scale_and_rank(seed: int, n: int, rank: int, exponent: int) -> None:
    F = np.random.default_rng(seed).normal(size=(n, rank)) * 2.0**exponent
    K = F @ F.T
    assert np.array_equal(validate.gram("K", K), K)


@given(seed=st.integers(0, 10**6), n=st.integers(2, 12), exponent=st.integers(-200, 200), size=st.floats(1e-6, 1.0))
@settings(max_examples=60, deadline=None)
def test_a_clearly_negative_eigenvalue_is_found_and_named(seed: int, n: int, exponent: int, size: float) -> None:
    Q, _ = np.linalg.qr(np.random.default_rng(seed).normal(size=(n, n)))
    eigenvalues = np.linspace(1, 2, n)
    eigenvalues[0] = -size
    K = 4.0**exponent * (Q * eigenvalues) @ Q.T
    K = (K + K.T) / 2
    with pytest.raises(InvalidProblem, match="not positive semidefinite, the smallest eigenvalue is -") as caught:
        validate.gram("K", K)
    named = float(str(caught.value).split("eigenvalue is ")[1].split()[0])
    assert named == pytest.approx(-size * 4.0**exponent, rel=1e-4)
    assert np.array_equal(validate.gram("K", K, psd=False), K)


def test_tiny_negative_eigenvalues_are_rounding() -> None:
    X = np.random.default_rng(0).normal(size=(60, 3))
    K = np.exp(-((X[:, None] - X[None]) ** 2).sum(axis=2) / 50)
    K[0, 0] -= 1e-10
    assert validate.gram("K", K).shape == (60, 60)


def test_a_good_gram_matrix_costs_no_eigenvalues(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: object, **options: object) -> None:
        raise AssertionError("one Cholesky factorisation is enough")

    monkeypatch.setattr("scipy.linalg.eigh", refuse)
    F = np.random.default_rng(0).normal(size=(300, 20))
    assert validate.gram("K", F @ F.T).shape == (300, 300)
    with pytest.raises(AssertionError):
        validate.gram("K", F @ F.T - np.eye(300))


def test_numbers_beyond_all_floats_are_bad_input() -> None:
    for give in (lambda: validate.finite("n", 10**400), lambda: validate.whole("n", 10**400), lambda: validate.vector("y", [10**400, 1])):
        with pytest.raises(InvalidProblem, match="n:|y:"):
            give()


def test_matrices_that_multiply_otherwise_come_in_as_plain_arrays() -> None:
    out = validate.matrix("X", np.asmatrix(np.eye(2)))  # type: ignore[no-untyped-call]  # NumPy does not annotate it
    assert type(out) is np.ndarray and (out * out).tolist() == [[1, 0], [0, 1]]


def test_masked_values_are_missing_values() -> None:
    hidden = np.ma.array([1.0, 2.0, 3.0], mask=[False, True, False])
    with pytest.raises(InvalidProblem, match="y: 1 of 3 values is masked"):
        validate.vector("y", hidden)
    assert type(validate.vector("y", np.ma.array([1.0, 2.0]))) is np.ndarray


@pytest.mark.parametrize("unit", [1e-300, 1e-200, 1.0, 1e200, 1e300])
def test_the_test_of_definiteness_does_not_depend_on_the_unit(unit: float) -> None:
    F = np.random.default_rng(0).normal(size=(6, 3))
    assert validate.gram("K", unit * (F @ F.T)).shape == (6, 6)
    with pytest.raises(InvalidProblem, match="the smallest eigenvalue is -"):
        validate.gram("K", unit * np.array([[1.0, 2.0], [2.0, 1.0]]))
