"""Definite matrices: what floats prove holds in fractions, and what fractions decide is what flint's characteristic polynomial says."""

from fractions import Fraction
from typing import Any

import flint
import numpy as np
import pytest

from simopt.arithmetic import RATIONAL, Interval, definite, is_definite, least_eigenvalue, semidefinite_rank

U = 2.0**-53


def hilbert(n: int) -> np.ndarray:
    i = np.arange(n)
    return np.asarray(1.0 / (i[:, None] + i + 1))


def gram(rng: np.random.Generator, n: int, rank: int) -> np.ndarray:
    """Of small integers: exactly of this rank, or less."""
    factor = rng.integers(-3, 4, (n, rank)).astype(float)
    return np.asarray(factor @ factor.T)


def symmetric(upper: np.ndarray) -> np.ndarray:
    return np.asarray(np.triu(upper) + np.triu(upper, 1).T)


def shifted(matrix: np.ndarray, by: float) -> Any:
    """A − by·I in fractions."""
    return RATIONAL.lift(matrix) - RATIONAL.lift(np.eye(len(matrix))) * by


def decided(matrix: Any) -> int | None:
    """The same by the signs of the characteristic polynomial: all roots are ≥ 0 just if its coefficients alternate."""
    exact = RATIONAL.lift(matrix)
    flat = flint.fmpq_mat(len(exact), len(exact), [flint.fmpq(f.numerator, f.denominator) for f in exact.flat])
    coefficients = list(flat.charpoly())
    signs = [c * (-1) ** (len(exact) - k) for k, c in enumerate(coefficients)]
    return int(flat.rank()) if all(c >= 0 for c in signs) else None


HARD = {
    **{f"hilbert {n}": hilbert(n) for n in range(1, 14)},
    "scales": np.diag([1e150, 1e-150, 1.0]),
    "scales of all floats": np.diag([1.7e308, 5e-324, 1.0, 1e-310]),
    "scales with neighbours": np.array([[1e150, 0.5, 0.0], [0.5, 1e-150, 0.0], [0.0, 0.0, 1.0]]),
    "scales, indefinite": np.array([[1e150, 2.0], [2.0, 1e-150]]),
    "scales, neighbours that underflow": np.array([[1e-300, 1e-310], [1e-310, 1e-300]]),
    "hilbert, rows of all scales": hilbert(7) * np.outer(10.0 ** np.arange(-150, 151, 50), 10.0 ** np.arange(-150, 151, 50)),
    "singular": np.ones((2, 2)),
    "singular by an ulp above": np.array([[1.0, 1.0], [1.0, 1.0 + 2.0**-52]]),
    "indefinite by an ulp": np.array([[1.0, 1.0], [1.0, 1.0 - 2.0**-53]]),
    "zero": np.zeros((3, 3)),
    "zero row": np.diag([1.0, 0.0, 2.0]),
    "zero on the diagonal alone": np.array([[0.0, 1.0], [1.0, 5.0]]),
    "negative": -np.eye(2),
    "path": 2 * np.eye(30) - np.eye(30, k=1) - np.eye(30, k=-1),
    "path that is closed": 2 * np.eye(9) - np.roll(np.eye(9), 1, axis=0) - np.roll(np.eye(9), -1, axis=0),
    "overflow": np.array([[1e308, 1.7e308], [1.7e308, 1e308]]),
}
HARD["hilbert, rows of all scales"] = symmetric(HARD["hilbert, rows of all scales"])


@pytest.mark.parametrize("name", HARD)
def test_hard_cases(name: str) -> None:
    matrix = HARD[name]
    rank = semidefinite_rank(matrix)
    assert rank == decided(matrix)
    if is_definite(matrix):
        assert rank == len(matrix)
    least = least_eigenvalue(matrix)
    assert least == -np.inf if name == "overflow" else semidefinite_rank(shifted(matrix, least)) is not None
    if is_definite(matrix):
        assert least >= 0.0


def test_what_can_be_proven_is() -> None:
    definite = [*(f"hilbert {n}" for n in range(1, 11)), "path", "scales", "scales with neighbours"]
    for name in [*definite, "hilbert, rows of all scales", "scales, neighbours that underflow"]:
        assert is_definite(HARD[name]) and least_eigenvalue(HARD[name]) > 0.0, name
    assert is_definite(HARD["scales of all floats"])
    for name in ("singular", "singular by an ulp above", "zero", "zero row", "negative", "hilbert 13", "path that is closed"):
        assert not is_definite(HARD[name]), name
    assert least_eigenvalue(HARD["scales"]) == pytest.approx(1e-150, rel=1e-9)
    assert least_eigenvalue(HARD["scales with neighbours"]) >= 0.25e-150  # of some 0.75e-150, beside 1e150
    assert (semidefinite_rank(HARD["zero row"]), semidefinite_rank(HARD["zero"]), semidefinite_rank(HARD["singular"])) == (2, 0, 1)
    assert semidefinite_rank(HARD["path that is closed"]) == 8


@pytest.mark.parametrize("n", range(2, 11))
def test_the_least_eigenvalue_of_hilberts_matrix_is_bounded_closely(n: int) -> None:
    matrix = hilbert(n)
    with flint.ctx.workprec(400):
        true = min(value.real for value in flint.acb_mat(flint.arb_mat(n, n, [flint.arb(v) for v in matrix.ravel().tolist()])).eig())
        found = flint.arb(least_eigenvalue(matrix))
        assert 0 < found <= true
        assert true - found <= 4 * (n + 4) * U * float(np.trace(matrix)) + flint.arb(2) ** -50 * true


def test_random_grams_of_every_rank_with_a_shift_of_the_size_of_rounding() -> None:
    """Whatever is said to be definite is so in fractions, as often as not by a hair; the bound always holds and is near."""
    rng = np.random.default_rng(0)
    said = true = 0
    for _ in range(150):
        n = int(rng.integers(1, 9))
        scales = 10.0 ** rng.integers(-3, 4, n) if rng.uniform() < 0.5 else np.ones(n)
        matrix = gram(rng, n, int(rng.integers(1, n + 1))) * np.outer(scales, scales)
        matrix = symmetric(matrix + np.diag(np.diag(matrix)) * rng.choice([-1, 1]) * 2.0 ** rng.uniform(-54, -35))
        rank = semidefinite_rank(matrix)
        assert rank == decided(matrix)
        proven, least = is_definite(matrix), least_eigenvalue(matrix)
        assert rank == n or not proven
        assert semidefinite_rank(shifted(matrix, least)) is not None
        assert least >= np.linalg.eigvalsh(matrix)[0] - 40 * n * (n + 4) * U * np.max(np.diag(matrix))
        said, true = said + proven, true + (rank == n)
    assert 20 < said < true < 150


def test_a_factorisation_that_ends_by_the_grace_of_rounding_proves_nothing() -> None:
    """Of exactly singular matrices many have a factor in floats; that of the shifted matrix they must not have."""
    rng = np.random.default_rng(3)
    ended = 0
    for _ in range(60):
        n = int(rng.integers(3, 9))
        factor = rng.integers(-(2**23), 2**23, (n, n - 1)).astype(float)
        matrix = factor @ factor.T  # exact: below 2⁵³
        assert semidefinite_rank(matrix) == n - 1
        try:
            np.linalg.cholesky(matrix)
            ended += 1
        except np.linalg.LinAlgError:
            pass
        assert not is_definite(matrix)
        least = least_eigenvalue(matrix)
        assert least <= 0.0 and semidefinite_rank(shifted(matrix, least)) is not None
    assert ended > 5


@pytest.mark.parametrize("n", [1, 5, 60])
def test_what_is_factored_has_been_shifted_by_what_rounding_may_do(n: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The worst case, (n + 2)u/(1 − 2(n + 2)u) tr(C), which no example here comes near."""
    factored: list[np.ndarray] = []
    cholesky = np.linalg.cholesky
    monkeypatch.setattr(np.linalg, "cholesky", lambda given: factored.append(given.copy()) or cholesky(given))
    matrix = 1.5 * np.eye(n) + 0.25 * np.eye(n, k=1) + 0.25 * np.eye(n, k=-1)
    assert is_definite(4.0**20 * matrix) and len(factored) == 1
    share = Fraction(n + 2) * Fraction(U)
    needed = share / (1 - 2 * share) * sum(map(Fraction, np.diag(factored[0]).tolist()))
    assert all(needed <= Fraction(1.5) - Fraction(entry) <= 5 * needed for entry in np.diag(factored[0]).tolist())
    assert np.array_equal(factored[0] - np.diag(np.diag(factored[0])), matrix - np.diag(np.diag(matrix)))


def test_fractions_decide_what_is_singular_or_not_by_the_least_of_them() -> None:
    rng = np.random.default_rng(1)
    for _ in range(40):
        n = int(rng.integers(2, 8))
        rank = int(rng.integers(1, n + 1))
        matrix = RATIONAL.lift(gram(rng, n, rank)) / 7
        found = semidefinite_rank(matrix)
        assert found is not None and found == decided(matrix) <= rank
        below = matrix - RATIONAL.lift(np.eye(n)) * Fraction(1, 10**30)
        assert semidefinite_rank(below) == decided(below) == (n if found == n else None)


def test_a_matrix_of_intervals_is_definite_if_all_its_members_are() -> None:
    rng = np.random.default_rng(2)
    assert is_definite(Interval(np.eye(3), 0.3)) and not is_definite(Interval(np.eye(3), 0.34))
    assert not is_definite(Interval(np.eye(2), np.inf))
    for _ in range(40):
        n = int(rng.integers(1, 6))
        matrix, radius = gram(rng, n, n) + np.eye(n), np.full((n, n), float(10.0 ** rng.uniform(-17, 0)))
        interval = Interval(matrix, radius)
        proven, least = is_definite(interval), least_eigenvalue(interval)
        for _ in range(5):
            member = RATIONAL.lift(matrix) + RATIONAL.lift(symmetric(rng.choice([-1.0, 1.0], (n, n)))) * RATIONAL.lift(radius)
            assert semidefinite_rank(member) == n or not proven
            assert semidefinite_rank(member - RATIONAL.lift(np.eye(n)) * least) is not None


@pytest.mark.parametrize("judge", [is_definite, least_eigenvalue, semidefinite_rank])
def test_matrices_that_are_not_symmetric_are_refused_by_entry(judge: Any) -> None:
    for matrix, message in (
        (np.array([[1.0, 2.0], [2.5, 1.0]]), r"2.0 at \(0, 1\) and 2.5 at \(1, 0\)|2 at \(0, 1\) and 5/2 at \(1, 0\)"),
        (np.ones((2, 3)), r"shape \(2, 3\)"),
        (np.ones(3), r"shape \(3,\)"),
        (np.zeros((0, 0)), r"shape \(0, 0\)"),
    ):
        with pytest.raises(ValueError, match=message):
            judge(matrix)
    for value in (np.nan, np.inf):
        with pytest.raises((ValueError, OverflowError)):
            judge(np.array([[1.0, value], [value, 1.0]]))


@pytest.mark.parametrize("n", [1, 2, 5, 20, 30])
@pytest.mark.parametrize("sunk", [0.0, 1e-15, 1e-9, 0.5])
def test_a_matrix_with_its_shift_is_semidefinite_in_fractions(n: int, sunk: float) -> None:
    """Of any rank, entries of uneven sizes, indefinite by nothing, by rounding and by much; the shift is not much larger than needed."""
    rng = np.random.default_rng([n, int(1e16 * sunk)])
    for rank in {1, (n + 1) // 2, n}:
        sizes = 2.0 ** rng.uniform(-4, 4, n)
        A = (gram(rng, n, rank) * 0.1 - sunk * np.eye(n)) * sizes[:, None] * sizes
        A = np.triu(A) + np.triu(A, 1).T
        shift = definite.semidefinite_shift(A)
        assert semidefinite_rank(definite.shifted(A, shift)) is not None
        assert (shift == 0.0) or semidefinite_rank(A) is None or n > definite.EXACT_ROWS
        below = max(-float(np.linalg.eigvalsh(A)[0]), 0.0)
        assert shift <= 1.1 * below + 8 * (n + 4) * U * (np.trace(np.abs(A)) + n * below)


def test_integers_and_definite_matrices_need_no_shift_and_zero_neither() -> None:
    rng = np.random.default_rng(5)
    for A in (gram(rng, 12, 3), np.zeros((4, 4)), np.ones((2, 2)), np.diag([1e-12, 1.0]), gram(rng, 300, 320) + np.eye(300)):
        assert definite.semidefinite_shift(A) == 0.0


def test_where_sums_overflow_there_is_no_shift() -> None:
    assert definite.semidefinite_shift(np.full((30, 30), 1.7e308)) == np.inf


@pytest.mark.parametrize("least", [-0.5, 0.0, 0.25])
def test_of_a_large_sparse_matrix_the_least_eigenvalue_is_found_to_rounding_of_few_terms(least):
    """I − (P + Pᵀ)/2, P the cycle of n points, has the least eigenvalue 0."""
    n = 500
    cycle = np.roll(np.eye(n), 1, axis=1)
    matrix = (1.0 + least) * np.eye(n) - (cycle + cycle.T) / 2
    found = least_eigenvalue(matrix)
    assert found <= least
    assert found >= (least / 2 if least > 0.0 else least - 1e-12)
    rows = 2.0 ** np.arange(-8, 8).repeat(32)[:n]
    scaled = least_eigenvalue(rows[:, None] * matrix * rows)
    assert np.sign(scaled) == np.sign(least) or (least == 0.0 and -1e-8 <= scaled <= 0.0)


def test_rows_of_a_large_sparse_matrix_may_be_of_all_sizes() -> None:
    """The square of a power of two that scales such a row may overflow."""
    for size in (5e-324, 1e-318, 1e300):
        matrix = np.diag([size, *np.ones(129)])
        matrix[1, 2] = matrix[2, 1] = 0.5
        assert least_eigenvalue(matrix) <= min(size, 0.5)
    assert least_eigenvalue(1e-318 * np.eye(130)) <= 1e-318
