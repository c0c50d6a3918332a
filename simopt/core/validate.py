"""Validation of data, all in one module.

Every function takes the name of the thing first. It returns the thing as read-only float64: itself where it is that already, a view where
the input is float64. It raises `InvalidProblem` with what is wrong, where, and what would be right. Large inputs are checked in blocks of
rows, so a memory-mapped matrix is never copied as a whole.

Input of users is annotated `npt.ArrayLike`, `float`, `int` or `Any` and is validated here once; `Array` says that it has been.
Anything but a real number is refused rather than read as one. This covers text ("1_000" and "١٢" are numbers to `float`), dates, durations,
records, complex numbers, masked and missing values, and a truth value in place of a number.
"""

import math
import os
from collections.abc import Collection, Iterator
from numbers import Integral
from typing import Any, SupportsFloat, TypeVar

import numpy as np
import numpy.typing as npt

from simopt.core.arrays import Array
from simopt.core.errors import InvalidProblem, NotFinite, UnknownName

SYMMETRY = 1e-10  # |K - K^T| allowed, relative to the largest |entry|
INDEFINITE = 1e-8  # -lambda_min allowed, relative to the largest eigenvalue, where only a norm is needed, and in what estimators lift
ROUNDED = 8 * 2.0**-52  # times n + SUMMED: -lambda_min allowed of a Gram matrix, relative to the largest eigenvalue: what rounding makes
SUMMED = 1000  # terms of an entry, whose rounding is forgiven, too
EXACT = 2**53  # float64 holds all whole numbers up to here
BLOCK = 1 << 18  # numbers checked in one go
LONGEST = 1e8  # seconds: three years, of which systems can wait a multiple
FEW = 1 << 10  # numbers up to which a call costs more than what it does
SQUARABLE = (2.0**-480, 2.0**500)  # sizes (3e-145, 3e150) whose squares, and sums and small fractions of them, stay inside float64

NEVER_REAL = (complex, np.complexfloating, np.datetime64, np.timedelta64, np.void, np.character)
NOT_REAL = {  # by the kind of a dtype: what it is, and what helps
    "U": "text; turn it into real numbers first",
    "S": "text; turn it into real numbers first",
    "T": "text; turn it into real numbers first",
    "M": "dates; divide the time since one of them by a unit first",
    "m": "durations; divide them by a unit, np.timedelta64(1, 's') say, first",
    "V": "records; put their fields into columns first",
}

Choice = TypeVar("Choice")


def vector(name: str, x: npt.ArrayLike, *, length: int | None = None, like: str = "", minimum: int = 1) -> Array:
    """A finite vector of at least `minimum` entries; of exactly `length` entries if that is given. O(n), no copy of float64.

    `like` says what has that length, for the error.
    """
    out = _array(name, x, 1)
    if length is not None and out.shape[0] != length:
        raise InvalidProblem(f"{name}: {counted(out.shape[0], 'value')}, expected {length}" + (f", as many as {like}" if like else ""))
    if out.shape[0] < minimum:
        raise InvalidProblem(f"{name}: {counted(out.shape[0], 'value')}, at least {minimum} needed")
    all_finite(name, out)
    return frozen(out)


def matrix(name: str, X: npt.ArrayLike, *, rows: int | None = None, cols: int | None = None, minimum: int = 1) -> Array:
    """A finite matrix with at least `minimum` rows and one column; `rows` and `cols` fix its shape. O(rows cols), no copy of float64."""
    out = _array(name, X, 2)
    for axis, (noun, wanted) in enumerate((("row", rows), ("column", cols))):
        if wanted is not None and out.shape[axis] != wanted:
            raise InvalidProblem(f"{name}: shape {out.shape} has {counted(out.shape[axis], noun)}, expected {wanted}")
    if out.shape[0] < minimum:
        raise InvalidProblem(f"{name}: {counted(out.shape[0], 'row')}, at least {minimum} needed")
    if out.shape[1] < 1:
        raise InvalidProblem(f"{name}: no columns, at least 1 needed")
    all_finite(name, out)
    return frozen(out)


def squarable(name: str, x: Array) -> Array:
    """x, if float64 holds the squares of its largest entries: max |x| is 0 or lies within `SQUARABLE`. O(n).

    Beyond that a mean square is 0 or infinite, and no gap could be measured against it.
    """
    largest = max(float(x.max(initial=0.0)), -float(x.min(initial=0.0)))
    low, high = SQUARABLE
    if largest > 0.0 and not low <= largest <= high:
        raise InvalidProblem(
            f"{name}: the largest entry is {largest:.3g} in modulus, and float64 cannot hold its square; "
            f"change the unit so that it lies between {low:.0e} and {high:.0e}"
        )
    return x


def kernel_data(gram: npt.ArrayLike, targets: npt.ArrayLike) -> tuple[Array, Array]:
    """K and y of one kernel fit: finite, and of one size. O(n²).

    It does not check that K is symmetric and positive semidefinite, which would cost as much as a fit; `gram` does.
    """
    y = squarable("targets", vector("targets", targets))
    K = matrix("gram", gram, rows=y.size, cols=y.size)
    squarable("gram", np.diagonal(K))  # which holds the largest entry
    return K, y


def grid(name: str, values: npt.ArrayLike, *, low: float, strict: bool, hint: str = "") -> Array:
    """One number or a vector of them, finite and ≥ `low` (> `low` if `strict`)."""
    out = vector(name, np.atleast_1d(numbers(name, values)))
    wrong = (out <= low) if strict else (out < low)
    if np.any(wrong):
        first = int(np.argmax(wrong))
        raise InvalidProblem(f"{name}: entry {first} is {out[first]:g}, numbers {'>' if strict else '≥'} {low:g} needed{hint}")
    return out


def numbers(name: str, x: npt.ArrayLike) -> Array:
    """x as a plain float64 array of any shape, if it is one of real numbers; they need not be finite. O(n), no copy of float64."""
    if type(x) is np.ndarray and x.dtype == np.float64:
        return x
    raw = entries(name, x)
    if raw.dtype.kind == "O":
        return _each_real(name, raw)
    if raw.dtype.kind not in "biuf":
        if raw.dtype.kind == "c":
            raise InvalidProblem(f"{name}: complex numbers, real ones needed; give the real part if that is what is meant")
        raise InvalidProblem(f"{name}: values that are not numbers{_first(raw)} but {NOT_REAL.get(raw.dtype.kind, raw.dtype)}")
    with np.errstate(over="ignore"):  # a long double beyond float64 is refused for being infinite
        out: Array = raw.astype(np.float64, copy=False)
    return out


def entries(name: str, x: Any) -> npt.NDArray[Any]:
    """x as a plain array of whatever it holds: dense, rectangular, masked nowhere."""
    if hasattr(x, "toarray"):
        raise InvalidProblem(f"{name}: a sparse matrix, a dense one needed: give its toarray()")
    if isinstance(x, list | tuple):
        _unmasked_rows(name, x)
    elif isinstance(getattr(x, "_meta", None), np.ma.MaskedArray):  # of Dask, whose `__array__` forgets the masks
        x = x.compute()
    try:
        given = np.asanyarray(x)
    except (ValueError, OverflowError) as error:
        raise InvalidProblem(f"{name}: not a rectangular array of numbers{_uneven(x)}; rows of one length needed") from error
    if isinstance(given, np.ma.MaskedArray):
        _unmasked(name, given)
    return np.asarray(given)  # np.matrix multiplies otherwise


def lazy(name: str, x: Any) -> None:
    """Refuse a Dask array that says of itself that its blocks are not of real numbers, or masked. Nothing is computed."""
    block = getattr(x, "_meta", None)
    if isinstance(block, np.ma.MaskedArray):
        raise InvalidProblem(f"{name}: a lazy array of masked blocks; remove or fill what is masked first")
    if isinstance(block, np.ndarray) and block.dtype.kind != "O":
        numbers(name, np.empty(0, block.dtype))


def all_finite(name: str, x: Array) -> Array:
    """x, of any shape, if there is neither NaN nor ∞ in it. O(n)."""
    if x.size <= FEW:
        if np.logical_and.reduce(np.isfinite(x), axis=None):
            return x
    else:
        with np.errstate(over="ignore", invalid="ignore"):
            if math.isfinite(x.sum()):  # at the speed of memory; an infinite sum may be an overflow
                return x
    bad, first = 0, 0
    for start, block in _blocks(x):
        wrong = ~np.isfinite(block)
        here = int(np.count_nonzero(wrong))
        if here and not bad:
            first = start * block[0].size + int(np.argmax(wrong))
        bad += here
    if bad:
        verb = "is" if bad == 1 else "are"
        raise NotFinite(f"{name}: {bad} of {x.size} values {verb} not finite (first{_at(first, x.shape)}); remove or replace them first")
    return x


def bound(name: str, v: SupportsFloat) -> float:
    """One number, or ±∞ where there is no bound."""
    return float(v) if isinstance(v, float) and math.isinf(v) else finite(name, v)


def same_length(**arrays: Array) -> int:
    """The common first dimension of the named arrays; an error that lists them all if they disagree."""
    lengths = {name: int(array.shape[0]) for name, array in arrays.items()}
    if len(set(lengths.values())) > 1:
        raise InvalidProblem("lengths disagree: " + ", ".join(f"{name} has {n}" for name, n in lengths.items()))
    return next(iter(lengths.values()), 0)


def finite(name: str, v: SupportsFloat, *, needed: str = "a finite number needed") -> float:
    """One finite number as a float; `needed` ends the error about anything else."""
    if isinstance(v, float):
        out = float(v)
    elif is_number(v) and not isinstance(v, bool | np.bool_):
        try:
            out = float(v)
        except (TypeError, ValueError) as error:
            raise InvalidProblem(f"{name}: {shown(v)} is not a number; {needed}") from error
        except OverflowError as error:
            raise InvalidProblem(f"{name}: larger than every floating-point number; {needed}") from error
    else:
        raise InvalidProblem(f"{name}: {shown(v)} is not a number; {needed}")
    if not math.isfinite(out):
        raise NotFinite(f"{name}: {out} is not finite; {needed}")
    return out


def positive(name: str, v: SupportsFloat) -> float:
    """One finite number > 0."""
    out = finite(name, v)
    if out <= 0:
        raise InvalidProblem(f"{name}: {out:g} given, a number > 0 needed")
    return out


def seconds(name: str, v: Any) -> float:
    """Seconds > 0. A time longer than LONGEST, ∞ included, becomes LONGEST, which every system can wait for."""
    number: Any = v if is_number(v) and not isinstance(v, bool | np.bool_) else 0
    if not number > 0:
        raise InvalidProblem(f"{name}: must be positive seconds, got {shown(v)}")
    return LONGEST if number > LONGEST else float(number)


def nonnegative(name: str, v: SupportsFloat) -> float:
    """One finite number >= 0."""
    out = finite(name, v)
    if out < 0:
        raise InvalidProblem(f"{name}: {out:g} given, a number >= 0 needed")
    return out


def between_0_and_1(name: str, v: SupportsFloat) -> float:
    """One number in (0, 1)."""
    out = finite(name, v)
    if not 0.0 < out < 1.0:
        raise InvalidProblem(f"{name}: {out:g} given, a number between 0 and 1 needed")
    return out


def whole(name: str, v: SupportsFloat, *, minimum: int = 0, largest: float = EXACT) -> int:
    """One whole number >= `minimum` and at most `largest`; as a float at most 2⁵³, up to which a float counts exactly.

    No count gets beyond that: 1e308 rounds have no end.
    """
    if type(v) is int and minimum <= v <= EXACT:
        return v
    out = finite(name, v, needed=f"a whole number >= {minimum} needed")
    if out != int(out) or out < minimum:
        raise InvalidProblem(f"{name}: {out:g} given, a whole number >= {minimum} needed")
    found = int(v) if isinstance(v, Integral) else int(out)
    if found > (largest if isinstance(v, Integral) else EXACT):
        raise InvalidProblem(f"{name}: {out:g} given, a whole number >= {minimum} and at most {EXACT} needed")
    return found


def seed(name: str, v: SupportsFloat) -> int:
    """The seed of a generator of random numbers: a whole number >= 0, of any size where it is an integer."""
    return whole(name, v, largest=math.inf)


def jobs(name: str, v: SupportsFloat | None, most: int = EXACT) -> int:
    """How many of `most` tasks run at a time, at least 1.

    Given is a whole number other than 0, where None and −1 mean one for each core that this process may use, −2 one fewer, and so on.
    """
    found = -1 if v is None else whole(name, v, minimum=-EXACT)
    if found == 0:
        raise InvalidProblem(f"{name}: 0 given, a whole number other than 0 needed (-1: one for each core)")
    if found < 0:
        found += 1 + (len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)
    return max(1, min(found, most))


def truth(name: str, v: object) -> bool:
    """True or false."""
    if not isinstance(v, bool | np.bool_):
        raise InvalidProblem(f"{name}: {v!r} given, True or False needed")
    return bool(v)


def weights(name: str, w: npt.ArrayLike, *, length: int | None = None, like: str = "") -> Array:
    """A vector of numbers ≥ 0, not all 0."""
    out = vector(name, w, length=length, like=like)
    if np.any(out < 0):
        i = int(np.argmax(out < 0))
        raise InvalidProblem(f"{name}: entry {i} is {out[i]:g}, numbers >= 0 needed")
    if not np.any(out):
        raise InvalidProblem(f"{name}: all are 0, at least one must be positive and not zero")
    return out


def labels(
    name: str, y: npt.ArrayLike, *, allowed: Collection[float] = (-1.0, 1.0), length: int | None = None, both: bool = False
) -> Array:
    """A vector whose entries all lie in `allowed` (default: -1 and +1). `both=True` asks that each of them occurs."""
    out = vector(name, y, length=length)
    values = np.asarray(sorted(allowed), dtype=np.float64)
    wrong = ~np.isin(out, values)
    missing = values[~np.isin(values, out)] if both else values[:0]
    if not (wrong.any() or missing.size):
        return out
    listed = ", ".join(f"{value:g}" for value in values[:12]) + (", …" if values.size > 12 else "")
    if not wrong.any():
        raise InvalidProblem(f"{name}: no sample has the label {float(missing[0]):g}; each of {listed} must occur")
    first = int(np.argmax(wrong))
    remedy = "; labels 0 and 1 become -1 and 1 as 2 y - 1" if set(values) == {-1.0, 1.0} and np.isin(out, (0.0, 1.0)).all() else ""
    raise InvalidProblem(
        f"{name}: {int(wrong.sum())} of {out.size} labels are none of {listed} (first at index {first}: {float(out[first]):g}){remedy}"
    )


def gram(name: str, K: npt.ArrayLike, *, n: int | None = None, psd: bool = True) -> Array:
    """A symmetric matrix K, positive semidefinite if `psd`.

    Symmetric means |K - K^T| <= 1e-10 max |K|. Positive semidefinite means lambda_min >= -8 (n + 1000) eps lambda_max, what rounding
    explains: with less K has no norm, and a problem with it no optimum. One Cholesky factorisation of K shifted by as much tells,
    O(n^3 / 3). Only if that breaks down is the smallest eigenvalue computed, to name it, and what helps.
    """
    out = matrix(name, K, rows=n)
    if out.shape[0] != out.shape[1]:
        raise InvalidProblem(f"{name}: shape {out.shape} is not square")
    _symmetric(name, out)
    if psd:
        semidefinite(name, out)
    return out


def semidefinite(name: str, K: Array) -> None:
    """Refuse a symmetric matrix that is not positive semidefinite to rounding; see `gram`."""
    import scipy.linalg

    n = K.shape[0]
    largest = max(float(np.max(np.abs(block))) for _, block in _blocks(K))
    if largest == 0:
        return
    unit = math.ldexp(1.0, math.frexp(largest)[1] - 1)  # a power of two: squares of the entries in this unit neither overflow nor vanish
    scaled = np.array(K, order="F")
    scaled /= unit
    scale = _largest_eigenvalue(scaled)
    allowed = ROUNDED * (n + SUMMED) * scale
    # |K_ij| <= sqrt(K_ii K_jj) for a PSD matrix, so a negative diagonal entry decides at once below.
    if float(np.min(np.diagonal(scaled))) >= -allowed:
        scaled.flat[:: n + 1] += allowed
        _, info = scipy.linalg.lapack.dpotrf(scaled, lower=1, overwrite_a=1, clean=0)
        if info == 0:
            return
        scaled = np.asfortranarray(K / unit)
    lowest = float(scipy.linalg.eigh(0.5 * (scaled + scaled.T), eigvals_only=True, subset_by_index=[0, 0])[0])
    if lowest < -allowed:
        little = -lowest <= INDEFINITE * scale
        raise InvalidProblem(
            f"{name}: not positive semidefinite, the smallest eigenvalue is {lowest * unit:.6g} (the largest in modulus about "
            f"{scale * unit:.6g}); at least {-allowed * unit:.3g} needed"
            + (f", as of K + {-1.02 * lowest * unit:.3g} * numpy.eye({n})" if little else "")
        )


def choice(name: str, value: Choice, allowed: Collection[Choice]) -> Choice:
    """`value`, if it is one of `allowed`; else an error that names the nearest of them."""
    if value not in allowed:
        raise UnknownName(name, str(value), [str(item) for item in allowed])
    return value


def counted(k: int, noun: str, plural: str = "") -> str:
    """As in 3 values, 1 value, no values."""
    return f"{k if k else 'no'} {noun if k == 1 else plural or noun + 's'}"


def is_number(v: object) -> bool:
    """Whether v is one number: `float` also reads text and durations, and drops masks and imaginary parts."""
    if isinstance(v, np.ndarray):
        return v.ndim == 0 and v.dtype.kind in "biuf" and not np.ma.is_masked(v)
    if getattr(getattr(v, "dtype", None), "kind", "f") not in "biuf":  # a lazy number, say
        return False
    return (hasattr(type(v), "__float__") or hasattr(type(v), "__index__")) and not isinstance(v, NEVER_REAL)


def shown(value: object) -> str:
    """A value as messages show it: in one line."""
    text = repr(value)
    return text if len(text) <= 60 and "\n" not in text else f"a {type(value).__name__}"


def _array(name: str, x: npt.ArrayLike, ndim: int) -> Array:
    out = numbers(name, x)
    if out.ndim != ndim:
        raise InvalidProblem(f"{name}: {out.ndim}-dimensional with shape {out.shape}, expected {'a vector' if ndim == 1 else 'a matrix'}")
    return out


def _each_real(name: str, raw: np.ndarray[Any, Any]) -> Array:
    """An array of objects as one of numbers, each of which is one."""
    for number, value in enumerate(raw.flat):
        if not is_number(value):
            raise InvalidProblem(f"{name}: values that are not numbers ({shown(value)}{_at(number, raw.shape)}); real numbers needed")
    try:
        out: Array = raw.astype(np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise InvalidProblem(f"{name}: values that are not numbers ({error}); real numbers needed") from error
    return out


def _unmasked(name: str, x: Any) -> None:
    mask = np.ma.getmaskarray(x)
    masked = int(np.count_nonzero(mask))
    if masked:
        verb, where = "is" if masked == 1 else "are", _at(int(np.argmax(mask)), mask.shape)
        raise InvalidProblem(f"{name}: {masked} of {mask.size} values {verb} masked (first{where}); remove or fill them first")


def _unmasked_rows(name: str, rows: Any) -> None:
    """NumPy makes an array of masked rows and drops the masks silently."""
    for row in rows:
        if isinstance(row, np.ma.MaskedArray):
            _unmasked(name, row)
        elif isinstance(row, list | tuple):
            _unmasked_rows(name, row)


def _at(number: int, shape: tuple[int, ...]) -> str:
    """The position of the entry of that number in an array, row by row."""
    index = [int(i) for i in np.unravel_index(number, shape)] if shape else []
    if not index:
        return ""
    return (
        f" at index {index[0]}"
        if len(index) == 1
        else f" at row {index[0]}, column {index[1]}"
        if len(index) == 2
        else f" at {tuple(index)}"
    )


def _first(raw: np.ndarray[Any, Any]) -> str:
    return f" ({shown(raw.item(0))}{_at(0, raw.shape)})" if raw.size else ""


def _uneven(x: Any) -> str:
    """Which rows of nested lists differ in length, as far as one can tell."""
    try:
        lengths = [len(row) for row in x]
    except TypeError:
        return ""
    other = next((i for i, length in enumerate(lengths) if length != lengths[0]), None)
    return "" if other is None else f", row 0 has {counted(lengths[0], 'entry', 'entries')} and row {other} has {lengths[other]}"


def frozen(x: Array) -> Array:
    """x itself if nobody can write on it through this array, else a view on which nobody can. O(1)."""
    if not x.flags.writeable:
        return x
    view = x.view()
    view.flags.writeable = False
    return view


def _blocks(x: Array) -> Iterator[tuple[int, Array]]:
    x = np.atleast_1d(x)
    width = x.size // max(1, len(x))
    step = max(1, BLOCK // max(1, width))
    for start in range(0, x.shape[0], step):
        yield start, x[start : start + step]


def _symmetric(name: str, K: Array) -> None:
    largest = worst = 0.0
    index = (0, 0)
    for start, block in _blocks(K):
        difference = np.abs(block - K[:, start : start + block.shape[0]].T)
        largest = max(largest, float(np.max(np.abs(block))))
        here = int(np.argmax(difference))
        if difference.flat[here] > worst:
            row, column = divmod(here, K.shape[1])
            worst, index = float(difference.flat[here]), (start + row, column)
    if worst > SYMMETRY * largest:
        i, j = index
        raise InvalidProblem(f"{name}: not symmetric, entry ({i}, {j}) is {float(K[i, j]):.6g} and ({j}, {i}) is {float(K[j, i]):.6g}")


def _largest_eigenvalue(K: Array) -> float:
    """max |lambda(K)| from below, by eight steps of the power iteration from a fixed start: sharp enough to set a tolerance with."""
    v = 1.0 + np.arange(1, K.shape[0] + 1, dtype=np.float64) % 7 / 8
    v /= np.linalg.norm(v)
    size = 0.0
    for _ in range(8):
        w = K @ v
        size = float(np.linalg.norm(w))
        if size == 0.0:
            break
        v = w / size
    longest_column = float(np.sqrt(np.max(np.einsum("ij,ij->j", K, K))))
    return max(size, longest_column)
