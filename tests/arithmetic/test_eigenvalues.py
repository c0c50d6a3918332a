"""Eigenvalues, singular values, least bounds and log det in intervals, against exact counts of eigenvalues in fractions.

All roots of the characteristic polynomial of a symmetric matrix are real. So by Descartes' rule as many of them are above t as p(x + t)
has changes of sign, and as many are t as it has zeros at the end. This is exact for any matrix of fractions, ties and all scales.
"""

import math
from collections import Counter
from fractions import Fraction
from itertools import pairwise
from typing import Any

import flint
import numpy as np
import pytest

from simopt.arithmetic import FLOAT, INTERVAL, RATIONAL, Interval, NotRational
from simopt.arithmetic.eigenvalues import eigenvalues, is_semidefinite, least_bound, log_determinant, singular_values
from simopt.arithmetic.precision import workprec

KINDS = ("dense", "conditioned", "planted", "tied", "graded", "singular", "tiny", "huge", "sparse", "nearly semidefinite")


def exactly(x: Any) -> Any:
    return flint.fmpq(*x.as_integer_ratio())


def matrix_of(a: Any) -> Any:
    return flint.fmpq_mat(*a.shape, [exactly(x) for x in a.flat])


def changes(polynomial: Any) -> int:
    signs = [c > 0 for c in polynomial if c != 0]
    return sum(x != y for x, y in pairwise(signs))


class Spectrum:
    """The eigenvalues of a symmetric matrix of fractions, which are only counted."""

    def __init__(self, a: Any) -> None:
        self.size = a.nrows()
        self.polynomial = a.charpoly()

    def below(self, t: Any) -> int:
        """How many are < t."""
        moved = self.polynomial(flint.fmpq_poly([exactly(t), 1]))
        zeros = next(k for k, c in enumerate(moved) if c != 0)
        return int(self.size - changes(moved) - zeros)

    def up_to(self, t: Any) -> int:
        """How many are ≤ t."""
        return int(self.size - changes(self.polynomial(flint.fmpq_poly([exactly(t), 1]))))

    def contains(self, k: int, low: Any, high: Any) -> bool:
        """Whether the k-th, in rising order and from 0, is between the two."""
        return self.below(low) <= k < self.up_to(high)


def ends(x: Interval, k: int) -> tuple[Fraction, Fraction]:
    mid, rad = Fraction(float(x.mid[k])), Fraction(float(x.rad[k]))
    return mid - rad, mid + rad


def wrong(values: Interval, spectrum: Spectrum) -> int:
    """How many enclosures are wrong; those of infinite radius never are."""
    return sum(not spectrum.contains(k, *ends(values, k)) for k in range(len(values)) if math.isfinite(values.rad[k]))


def is_log_determinant(value: Interval, exact: Any) -> bool:
    """Whether the interval contains log det, by 300 bits."""
    with workprec(300):
        low, high = (flint.arb(exactly(end)) for end in ends(value[None], 0))
        logarithm = flint.arb(exact.det()).log()
        return bool(low <= logarithm and logarithm <= high)


def symmetric(a: Any) -> Any:
    return np.triu(a) + np.triu(a, 1).T


def reflected(rng: np.random.Generator, diagonal: Any) -> Any:
    """HDH for an exact reflection H, without rounding: of eigenvalues that are known."""
    n = len(diagonal)
    v = np.zeros(n)
    m = 1 << (n.bit_length() - 1)
    v[rng.permutation(n)[:m]] = rng.choice([-1.0, 1.0], m)
    h = np.eye(n) - 2.0 / m * np.outer(v, v)
    return h @ np.diag(diagonal) @ h


def turned(rng: np.random.Generator, diagonal: Any) -> Any:
    q = np.linalg.qr(rng.normal(size=(len(diagonal), len(diagonal))))[0]
    return symmetric(q @ np.diag(diagonal) @ q.T)


def drawn(rng: np.random.Generator, kind: str, n: int) -> Any:
    """A symmetric matrix of this kind."""
    normal = symmetric(rng.normal(size=(n, n)))
    if kind == "conditioned":
        return turned(rng, rng.choice([-1.0, 1.0], n, p=[0.2, 0.8]) * 10.0 ** -np.linspace(0.0, rng.uniform(0.0, 18.0), n))
    if kind == "planted":
        return reflected(rng, rng.integers(-9, 10, n).astype(float))
    if kind == "tied":
        return reflected(rng, rng.integers(0, 2, n).astype(float))
    if kind == "graded":
        scales = 10.0 ** rng.uniform(-75, 75, n)
        start = normal if rng.random() < 0.5 else normal @ normal.T + np.eye(n)
        return symmetric(start * scales[:, None] * scales)
    if kind in ("singular", "nearly semidefinite"):
        factor = rng.integers(-3, 4, (n, max(n - 1, 1))).astype(float)
        gram = factor @ factor.T / 32
        if kind == "nearly semidefinite":
            i = int(rng.integers(n))
            gram[i, i] = np.nextafter(gram[i, i], rng.choice([-1.0, 9.0]))
        return gram
    if kind == "sparse":
        return symmetric(normal * (rng.random((n, n)) < 0.3))
    return normal * {"dense": 1.0, "tiny": 1e-305, "huge": 1e305}[kind]


def with_radius(rng: np.random.Generator, a: Any) -> tuple[Interval, Any]:
    """An interval matrix around A, whose radii need not be symmetric, and a random symmetric member of it, in fractions."""
    largest = np.max(np.abs(a), initial=0.0)
    rad = largest * 10.0 ** rng.uniform(-16, -1) * rng.random(a.shape) * (rng.random(a.shape) < 0.8)
    share = rng.integers(-8, 9, a.shape)
    least = np.minimum(rad, rad.T)
    member = np.empty(a.shape, dtype=object)
    for i, j in np.ndindex(a.shape):
        s = Fraction(int(share[min(i, j), max(i, j)]), 8)
        member[i, j] = Fraction(float(a[i, j])) + s * Fraction(float(least[i, j]))
    return Interval(a, rad), member


def tally(seed: int, matrices: int) -> Counter[str]:
    """Enclosures of eigenvalues by what they are."""
    rng, counted = np.random.default_rng(seed), Counter[str]()
    for number in range(matrices):
        kind = KINDS[number % len(KINDS)]
        a = drawn(rng, kind, int(rng.integers(1, 9)))
        interval, member = (Interval(a), a) if rng.random() < 0.7 else with_radius(rng, a)
        values, spectrum = eigenvalues(INTERVAL, interval), Spectrum(matrix_of(member))
        counted["all"] += len(values)
        counted["wrong"] += wrong(values, spectrum)
        counted["finite"] += int(np.isfinite(values.rad).sum())
        if not interval.rad.any():
            size = np.max(np.abs(values.mid))
            counted["sharp"] += int((values.rad <= 1e-13 * size).sum())
            counted["exact matrices"] += len(values)
        bound = least_bound(INTERVAL, interval)
        counted["bounds"] += 1
        counted["wrong bounds"] += math.isfinite(bound) and spectrum.below(Fraction(bound)) > 0
        counted["no bounds"] += not math.isfinite(bound)
        proven = is_semidefinite(INTERVAL, interval)
        counted["wrongly semidefinite"] += proven and spectrum.below(0.0) > 0
        counted["below 0"] += proven and bound < 0.0
        if not interval.rad.any():
            counted["semidefinite"] += proven
            counted["undecided"] += proven != (spectrum.below(0.0) == 0)
    return counted


def agree(counted: Counter[str]) -> None:
    assert counted["wrong"] == counted["wrong bounds"] == counted["wrongly semidefinite"] == 0, counted
    assert counted["finite"] == counted["all"] and counted["no bounds"] == 0, counted
    assert counted["sharp"] == counted["exact matrices"] > 0.5 * counted["all"], counted
    assert counted["undecided"] == counted["below 0"] == 0 and counted["semidefinite"] > 0.1 * counted["bounds"], counted


def test_eigenvalues_are_in_their_intervals() -> None:
    counted = tally(1, 100)
    assert counted["all"] > 400
    agree(counted)


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(4))
def test_many_eigenvalues_are_in_their_intervals(seed: int) -> None:
    counted = tally(100 + seed, 1000)
    assert counted["all"] > 4000
    agree(counted)


def test_intervals_that_are_too_narrow_are_seen() -> None:
    """The count itself: floats alone are not the eigenvalues, and neither is the next eigenvalue."""
    rng, missed, enclosures = np.random.default_rng(2), 0, 0
    for _ in range(20):
        a = drawn(rng, "dense", 6)
        values, spectrum = eigenvalues(INTERVAL, a), Spectrum(matrix_of(a))
        assert wrong(values, spectrum) == 0 and wrong(values[[1, 2, 3, 4, 5, 0]], spectrum) == 6
        missed += wrong(Interval(values.mid), spectrum)
        enclosures += 6
    assert missed > 0.9 * enclosures


SPOILT = {  # decompositions of A, each with an error that only one of the bounds covers
    "values": (lambda w, q, t: (w + t, q), lambda u, w, vt, t: (u, w + t, vt)),
    "left": (lambda w, q, t: (w * (1 + t) ** 2, q * (1 + t)), lambda u, w, vt, t: (u * (1 + t), w / (1 + t), vt)),
    "right": (lambda w, q, t: (w / (1 + t) ** 2, q / (1 + t)), lambda u, w, vt, t: (u, w * (1 + t), vt * (1 + t))),
    "vectors": (lambda w, q, t: (w, q + t * np.cos(np.arange(25.0)).reshape(5, 5)), lambda u, w, vt, t: (u + t, w, vt - t / 2)),
}


@pytest.mark.parametrize("noise", [1e-12, 1e-6, 1e-2, 1.0])
@pytest.mark.parametrize("part", SPOILT)
def test_bad_floats_only_widen_intervals(part: str, noise: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """The decompositions are not trusted: here they are wrong, and ones that are far off prove nothing."""
    rng, (eigh, svd, cholesky) = np.random.default_rng(11), (np.linalg.eigh, np.linalg.svd, np.linalg.cholesky)
    monkeypatch.setattr(np.linalg, "eigh", lambda a: SPOILT[part][0](*eigh(a), noise))
    monkeypatch.setattr(np.linalg, "svd", lambda a, **options: SPOILT[part][1](*svd(a, **options), noise))
    monkeypatch.setattr(np.linalg, "cholesky", lambda a: np.tril(cholesky(a) + noise * rng.uniform(-1, 1, a.shape)))
    widest, finite = 0.0, 0
    for _ in range(20):
        a = turned(rng, rng.uniform(0.5, 2.0, 5))
        exact = matrix_of(a)
        values, singular, determinant = eigenvalues(INTERVAL, a), singular_values(INTERVAL, a), log_determinant(INTERVAL, a)
        assert wrong(values, Spectrum(exact)) == wrong(singular[::-1], Spectrum(exact)) == 0  # A is definite: they are the same
        assert determinant is None or is_log_determinant(determinant, exact)
        widest = max(widest, float(np.max(values.rad)))
        finite += int(np.isfinite(values.rad).all() and np.isfinite(singular.rad).all() and determinant is not None)
    assert widest > noise / 4 and (noise > 1e-3 or finite == 20)


def test_planted_eigenvalues_are_exact() -> None:
    rng = np.random.default_rng(3)
    for n in (2, 4, 8):
        diagonal = np.sort(rng.integers(-5, 6, n)).astype(float)
        a = reflected(rng, diagonal)
        values = eigenvalues(INTERVAL, a)
        assert np.all(np.abs(values.mid - diagonal) <= values.rad) and np.max(values.rad) < 1e-12
        np.testing.assert_allclose(eigenvalues(FLOAT, a), diagonal, atol=1e-13)


def test_rows_that_meet_no_other_are_exact() -> None:
    a = np.diag([3.0, 1e-300, -1.0, 0.0, 1e300])
    for num in (INTERVAL, RATIONAL):
        values = eigenvalues(num, num.lift(a))
        np.testing.assert_array_equal(num.mid(values), np.sort(np.diag(a)))
    assert not eigenvalues(INTERVAL, a).rad.any()
    np.testing.assert_array_equal(singular_values(INTERVAL, a).mid, [1e300, 3.0, 1.0, 1e-300, 0.0])
    assert not singular_values(INTERVAL, a[:, :4]).rad.any()
    assert least_bound(INTERVAL, a) == -1.0 and least_bound(INTERVAL, np.diag([3.0, 1e-300])) == 1e-300
    block = np.zeros((3, 3))
    block[1:, 1:] = [[2.0, 1.0], [1.0, 2.0]]
    values = eigenvalues(INTERVAL, block)
    assert values.mid[0] == values.rad[0] == 0.0 and is_semidefinite(INTERVAL, block)
    edge = Interval(np.diag([1.0, 2.0]), np.diag([1.0, 0.0]))
    assert is_semidefinite(INTERVAL, edge) and not is_semidefinite(INTERVAL, Interval(edge.mid, 2 * edge.rad))


def test_fractions_are_decided_or_refused() -> None:
    a = RATIONAL.lift(np.array([[1.0, 1.0], [1.0, 1.0]]))
    assert is_semidefinite(RATIONAL, a) and least_bound(RATIONAL, a) == 0.0
    less = a.copy()
    less[0, 0] -= Fraction(1, 10**40)
    assert not is_semidefinite(RATIONAL, less) and least_bound(RATIONAL, less) == -math.inf
    for refused in (eigenvalues, singular_values, log_determinant):
        with pytest.raises(NotRational):
            refused(RATIONAL, a)


def test_floats_take_what_is_off_by_rounding() -> None:
    rng = np.random.default_rng(4)
    for n in (3, 30):
        factor = rng.normal(size=(n, n // 2))
        a = symmetric(factor @ factor.T)
        assert is_semidefinite(FLOAT, a) and 0.0 <= least_bound(FLOAT, a) < 1e-10
        assert not is_semidefinite(FLOAT, a - 1e-9 * np.eye(n)) and least_bound(FLOAT, a - 1e-9 * np.eye(n)) < 0.0


def singular_tally(seed: int, matrices: int) -> Counter[str]:
    rng, counted = np.random.default_rng(seed), Counter[str]()
    for number in range(matrices):
        p, q = rng.integers(1, 8, 2)
        n = max(p, q)
        a = drawn(rng, KINDS[number % len(KINDS)], int(n))[:p, :q]
        rad = np.zeros(a.shape)
        member = RATIONAL.lift(a)
        if rng.random() < 0.3:
            rad = np.max(np.abs(a)) * 1e-6 * rng.random(a.shape)
            member = member + RATIONAL.lift(rad) * RATIONAL.lift(rng.integers(-4, 5, a.shape) / 4.0)
        values = singular_values(INTERVAL, Interval(a, rad))
        assert len(values) == min(p, q)
        exact = matrix_of(member if p >= q else member.T)
        squares = Spectrum(exact.transpose() * exact)
        rising = values[::-1]
        for k in range(len(rising)):
            low, high = ends(rising, k)
            counted["all"] += 1
            counted["finite"] += math.isfinite(rising.rad[k])
            counted["sharp"] += bool(rad.any() or rising.rad[k] <= 1e-13 * values.mid[0])
            counted["wrong"] += high < 0 or not squares.contains(k, max(low, Fraction(0)) ** 2, high**2)
    return counted


def test_singular_values_are_in_their_intervals() -> None:
    counted = singular_tally(5, 60)
    assert counted["wrong"] == 0 and counted["all"] == counted["finite"] == counted["sharp"] > 150, counted


@pytest.mark.thorough
def test_many_singular_values_are_in_their_intervals() -> None:
    counted = singular_tally(6, 1500)
    assert counted["wrong"] == 0 and counted["all"] == counted["finite"] == counted["sharp"] > 4000, counted


def definite(rng: np.random.Generator, kind: str, n: int) -> Any:
    """A matrix that is as a rule positive definite; of condition 10¹⁸ at most, once it is scaled."""
    a = turned(rng, 10.0 ** -np.linspace(0.0, rng.uniform(0.0, 18.0), n))
    scales = {"even": np.ones(n), "graded": 2.0 ** rng.integers(-240, 240, n), "tiny": np.full(n, 2.0**-480), "huge": np.full(n, 2.0**500)}
    return a * scales[kind][:, None] * scales[kind]


def determinant_tally(seed: int, matrices: int) -> Counter[str]:
    rng, counted = np.random.default_rng(seed), Counter[str]()
    for number in range(matrices):
        n = int(rng.integers(1, 9))
        a = definite(rng, ("even", "graded", "tiny", "huge")[number % 4], n)
        interval, member = Interval(a), a
        if number % 3 == 2:
            rad = np.outer(np.sqrt(np.diag(a)), np.sqrt(np.diag(a))) * 10.0 ** rng.uniform(-18, -3)
            interval, member = Interval(a, rad), RATIONAL.lift(a) + RATIONAL.lift(rad * symmetric(rng.integers(-4, 5, (n, n)))) / 4
        value, exact = log_determinant(INTERVAL, interval), matrix_of(member)
        is_definite = Spectrum(exact).up_to(0.0) == 0
        counted["all"] += 1
        if value is None:
            counted["undecided"] += is_definite and not interval.rad.any()
            counted["unknown"] += is_definite
            continue
        counted["wrong"] += not (is_definite and is_log_determinant(value, exact))
        counted["sharp"] += not interval.rad.any() and value.rad <= 1e-10 * max(1.0, abs(float(value.mid)))
        counted["floats"] += not interval.rad.any()
    return counted


def test_log_determinants_are_in_their_intervals() -> None:
    counted = determinant_tally(7, 120)
    assert counted["wrong"] == counted["undecided"] == 0, counted
    assert counted["sharp"] > 0.85 * counted["floats"] > 50 and counted["unknown"] < 0.2 * counted["all"], counted


@pytest.mark.thorough
def test_many_log_determinants_are_in_their_intervals() -> None:
    counted = determinant_tally(8, 4000)
    assert counted["wrong"] == counted["undecided"] == 0, counted
    assert counted["sharp"] > 0.85 * counted["floats"] > 2000 and counted["unknown"] < 0.2 * counted["all"], counted


def test_log_determinants_of_small_and_large_matrices() -> None:
    assert log_determinant(INTERVAL, np.array([[1.0, 1.0], [1.0, 1.0]])) is None
    assert log_determinant(INTERVAL, Interval(np.eye(2), 0.5)) is None
    value = log_determinant(INTERVAL, np.diag([1e-300, 1e300, 2.0]))
    exact = math.log(2.0) + math.log(1e-300) + math.log(1e300)
    assert abs(INTERVAL.mid(value) - exact) < 1e-11
    rng = np.random.default_rng(9)
    a = turned(rng, 10.0 ** -np.linspace(0.0, 12.0, 60))
    value = log_determinant(INTERVAL, a)
    assert value.rad < 1e-10 and abs(float(value.mid) - log_determinant(FLOAT, a)) < 1e-2
    assert is_log_determinant(value, matrix_of(a))


def test_large_matrices_have_sharp_eigenvalues() -> None:
    rng = np.random.default_rng(10)
    a = symmetric(rng.normal(size=(100, 100)))
    values = eigenvalues(INTERVAL, a)
    np.testing.assert_allclose(values.mid, np.linalg.eigvalsh(a), atol=1e-12)
    assert np.max(values.rad) < 1e-11 * np.max(np.abs(values.mid))
    assert np.max(singular_values(INTERVAL, a[:, :50]).rad) < 1e-10


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    "a",
    [
        np.full((3, 3), np.nan),
        np.array([[1.0, np.nan], [2.0, 1.0]]),
        np.array([[1.0, np.inf], [-np.inf, 1.0]]),
        np.full((3, 3), 1.7e308),
        np.full((3, 3), 5e-324),
        np.array([[1.0, 1e200], [1e200, 1.0]]),
        5e-324 * np.array([[0.0, 1.0], [1.0, 1.0]]),
        5e-324 * np.array([[3.0, 1.0], [1.0, 5.0]]),
        np.array([[1e300, 1e-300], [1e-300, 1e-310]]),
        np.array([[1e150, 1e-150, 0.0], [1e-150, 1e-150, 1.0], [0.0, 1.0, 0.0]]),
    ],
    ids=["nan", "one nan", "infinite", "overflow", "subnormal", "golden", "between", "indefinite", "far apart", "graded"],
)
@pytest.mark.parametrize("rad", [0.0, 1e-3, math.inf, math.nan], ids=lambda rad: f"radius {rad}")
def test_numbers_at_the_ends_of_the_floats_raise_nothing(a: Any, rad: float) -> None:
    interval, known = Interval(a, rad), bool(np.isfinite(a).all() and math.isfinite(rad))
    values, singular = eigenvalues(INTERVAL, interval), singular_values(INTERVAL, interval)
    assert len(values) == len(singular) == len(a)
    assert not np.isnan(values.mid).any() and not np.isnan(singular.rad).any()
    if known:
        spectrum, bound = Spectrum(matrix_of(a)), least_bound(INTERVAL, interval)
        assert wrong(values, spectrum) == 0 and (math.isinf(bound) or spectrum.below(Fraction(bound)) == 0)
    else:
        assert np.isinf(values.rad).all() and np.isinf(singular.rad).all()
        assert least_bound(INTERVAL, interval) == -math.inf
        assert not is_semidefinite(INTERVAL, interval) and log_determinant(INTERVAL, interval) is None
    log_determinant(INTERVAL, interval), is_semidefinite(INTERVAL, interval)
    if not np.isfinite(a).all():
        assert np.isnan(eigenvalues(FLOAT, a)).all() and np.isnan(singular_values(FLOAT, a)).all()
        assert least_bound(FLOAT, a) == -math.inf and not is_semidefinite(FLOAT, a) and log_determinant(FLOAT, a) is None


@pytest.mark.parametrize("num", [FLOAT, INTERVAL, RATIONAL])
def test_matrices_that_are_not_symmetric_are_refused(num: Any) -> None:
    for function in (eigenvalues, is_semidefinite, least_bound):
        with pytest.raises(ValueError, match=r"\(0, 1\)"):
            function(num, num.lift(np.array([[1.0, 2.0], [3.0, 1.0]])))
        with pytest.raises(ValueError, match="square"):
            function(num, num.lift(np.zeros((2, 3))))
    if num is not RATIONAL:
        with pytest.raises(ValueError, match="axes"):
            singular_values(num, num.lift(np.zeros(3)))
        assert len(singular_values(num, num.lift(np.zeros((3, 0))))) == 0
