"""What people hand in where an array or a number is meant, each with what it means: a float64 array or a number, or nothing at all.

What means something may be used as if the clean value had been given, or be refused; what means nothing has to be refused.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse

from simopt.core.arrays import Array

NOTHING = object()  # what no number is meant by
BEYOND = {"1e308": 1e308, "1e16": 1e16, "2^63": 2**63, "2^200": 2**200, "a NumPy 2^63": np.uint64(2**63)}  # counts that nothing gets to
TEXTS = ("1_000", "١٢", " 3 ", "0x10", "nan", "")


@dataclass(frozen=True)
class Strange:
    """One value in the place of a clean one. `index` is where the fault stands, which a refusal has to say."""

    name: str
    value: Any
    means: Any = NOTHING
    index: tuple[int, ...] | None = None


def last(a: Array) -> tuple[int, ...]:
    """The index of the last entry."""
    return tuple(size - 1 for size in a.shape)


def planted(a: Array, value: Any, dtype: Any = None) -> Any:
    """A copy with `value` in the place of the last entry."""
    out = a.astype(object) if dtype is object else a.astype(dtype or a.dtype)
    out[last(a)] = value
    return out


def strided(a: Array) -> Array:
    """The same numbers with others between them: neither contiguous nor aligned to anything."""
    wide = np.full([2 * size for size in a.shape], np.nan)
    wide[tuple(slice(None, None, 2) for _ in a.shape)] = a
    return wide[tuple(slice(None, None, 2) for _ in a.shape)]


def backwards(a: Array) -> Array:
    """The same numbers behind negative strides."""
    turn = tuple(slice(None, None, -1) for _ in a.shape)
    return np.ascontiguousarray(a[turn])[turn]


def read_only(a: Array) -> Array:
    """A copy that cannot be written to."""
    out = a.copy()
    out.flags.writeable = False
    return out


def arrays(clean: Any) -> Iterator[Strange]:
    """Strange values in the place of a vector or a matrix of real numbers."""
    a = np.asarray(clean, dtype=np.float64)
    index, some = last(a), a.reshape(-1)[0]
    for name, bad in (("nan", np.nan), ("inf", np.inf), ("-inf", -np.inf)):
        yield Strange(name, planted(a, bad), index=index)
        yield Strange(f"{name} in a list", planted(a, bad).tolist(), index=index)
    mask = np.zeros(a.shape, dtype=bool)
    mask[index] = True
    yield Strange("a true mask", np.ma.array(a, mask=mask), index=index)
    yield Strange("a mask without an entry", np.ma.array(a, mask=np.zeros(a.shape, dtype=bool)), a)
    yield Strange("an array with nomask", np.ma.array(a), a)
    yield Strange("complex", planted(a.astype(complex), some + 1j))
    yield Strange("complex on the real line", a.astype(complex), a)
    yield Strange("complex objects", planted(a, 1j, object), index=index)
    for text in TEXTS:
        yield Strange(f"texts {text!r}", np.full(a.shape, text))
        yield Strange(f"the object {text!r}", planted(a, text, object), index=index)
    yield Strange("numbers as text", a.astype(str))
    yield Strange("numbers as text in a list", a.astype(str).tolist())
    yield Strange("bytes", a.astype("S16"))
    yield Strange("bytes as an object", planted(a, b"3", object), index=index)
    yield Strange("dates", np.full(a.shape, "2020-01-01", dtype="M8[D]"))
    yield Strange("durations", np.full(a.shape, 3, dtype="m8[s]"))
    yield Strange("not a time", np.full(a.shape, "NaT", dtype="M8[s]"))
    yield Strange("dates as objects", planted(a, datetime.date(2020, 1, 1), object), index=index)
    yield Strange("durations as objects", planted(a, np.timedelta64(3, "s"), object), index=index)
    records = np.zeros(a.shape, dtype=[("a", float)])
    records["a"] = a
    yield Strange("records", records)
    yield Strange("a recarray", records.view(np.recarray))
    yield Strange("objects", a.astype(object), a)
    yield Strange("None", planted(a, None, object), index=index)
    yield Strange("pandas.NA", planted(a, pd.NA, object), index=index)
    yield Strange("Decimal and Fraction", planted(planted(a, Decimal(1), object), Fraction(1), object), planted(a, 1.0))
    yield Strange("empty", a[:0])
    yield Strange("0-d", np.array(some))
    yield Strange("a number", float(some))
    yield Strange("one axis more", a[None])
    yield Strange("one axis less", a[0])
    yield Strange("a text", "1 2 3")
    yield Strange("a set", {1.0, 2.0})
    yield Strange("a dict", {"a": 1.0})
    yield Strange("an object", object())
    yield Strange("a list", a.tolist(), a)
    yield Strange("a tuple", tuple(a.tolist()), a)
    for kind in ("f2", "f4", "i8", "i1", "?", "g"):
        with np.errstate(all="ignore"):
            cut = a.astype(kind)
        yield Strange(f"dtype {cut.dtype}", cut, cut.astype(np.float64))
    yield Strange("big-endian", a.astype(">f8"), a)
    yield Strange("little-endian", a.astype("<f8"), a)
    yield Strange("spread out", strided(a), a)
    yield Strange("backwards", backwards(a), a)
    yield Strange("Fortran's order", np.asfortranarray(a), a)
    yield Strange("read-only", read_only(a), a)
    yield Strange("subnormal", planted(a, 5e-324), planted(a, 5e-324))
    yield Strange("beyond 2^53", planted(a, 2**53 + 1, np.int64), planted(a.astype(np.int64).astype(float), 2.0**53))
    yield Strange("a long double beyond float64", planted(a, np.longdouble("1e400"), np.longdouble), index=index)
    yield Strange("an int beyond float64", planted(a, 10**400, object), index=None)
    if a.ndim == 1:
        yield Strange("pandas", pd.Series(a), a)
        yield Strange("pandas Float64", pd.Series(a, dtype="Float64"), a)
        yield Strange("pandas with NA", pd.Series([*a[:-1], None], dtype="Float64"), index=index)
        yield Strange("pandas text", pd.Series(a.astype(str)))
        yield Strange("masked numbers in a list", [*a[:-1].tolist(), np.ma.masked])
    if a.ndim == 2:
        yield Strange("np.matrix", np.asmatrix(a), a)  # type: ignore[no-untyped-call]  # NumPy does not annotate it
        yield Strange("pandas", pd.DataFrame(a), a)
        yield Strange("pandas with NA", pd.DataFrame(a, dtype="Float64").mask(mask), index=index)
        yield Strange("pandas dates", pd.DataFrame(np.full(a.shape, "2020-01-01", dtype="M8[s]")))
        yield Strange("sparse", scipy.sparse.csr_array(a), a)
        yield Strange("ragged", [*a[:-1].tolist(), [*a[-1].tolist(), 1.0]])
        yield Strange("masked rows in a list", [np.ma.array(row, mask=m) for row, m in zip(a, mask, strict=True)])


def lazy_arrays(clean: Any) -> Iterator[Strange]:
    """Dask arrays in the place of a vector or a matrix."""
    import dask.array

    a = np.asarray(clean, dtype=np.float64)
    mask = np.zeros(a.shape, dtype=bool)
    mask[last(a)] = True
    yield Strange("Dask", dask.array.from_array(a, chunks=2), a)
    yield Strange("Dask in single precision", dask.array.from_array(a.astype("f4"), chunks=2), a.astype("f4").astype("f8"))
    yield Strange("Dask with nan", dask.array.from_array(planted(a, np.nan), chunks=2), index=last(a))
    yield Strange("Dask with a mask", dask.array.from_array(np.ma.array(a, mask=mask), chunks=2))
    yield Strange("Dask of complex", dask.array.from_array(a + 1j, chunks=2))
    yield Strange("Dask of text", dask.array.from_array(a.astype(str), chunks=2))


def numbers(clean: float) -> Iterator[Strange]:
    """Strange values in the place of one real or whole number."""
    v, whole = clean, isinstance(clean, int)
    for bad in (np.nan, np.inf, -np.inf, np.float32("nan"), 10**400):
        yield Strange(f"{bad}"[:9], bad)
    for text in (*TEXTS, str(v), b"3", bytearray(b"3"), np.str_("3"), np.bytes_(b"3")):
        yield Strange(f"the text {text!r}", text)
    for other in (
        complex(v, 1),
        np.complex128(complex(v, 1)),
        np.datetime64("2020-01-01"),
        np.timedelta64(3, "s"),
        pd.Timedelta(3),
        object(),
    ):
        yield Strange(repr(other)[:24], other)
    yield Strange("complex on the real line", complex(v), v)
    yield Strange("a NumPy complex on the real line", np.complex128(v), v)
    yield Strange("masked", np.ma.masked)
    yield Strange("pandas.NA", pd.NA)
    yield Strange("a masked 0-d array", np.ma.array(float(v), mask=True))
    yield Strange("a list", [v])
    yield Strange("an array", np.array([v]))
    yield Strange("a matrix", np.array([[v, v]]))
    yield Strange("no entry", np.array([]))
    yield Strange("a record", np.zeros(1, dtype=[("a", float)])[0])
    yield Strange("sparse", scipy.sparse.csr_array([[float(v)]]))
    yield Strange("True", True, 1)
    yield Strange("NumPy's True", np.True_, 1)
    for kind in ("f2", "f4", "f8", "g", ">f8"):
        with np.errstate(over="ignore"):
            cut = np.array(v, dtype=kind)
        yield Strange(f"a 0-d array {kind}", cut, float(cut))
        yield Strange(f"a number {kind}", cut[()], float(cut))
    yield Strange("Fraction", Fraction(v), v)
    yield Strange("Decimal", Decimal(v), v)
    if whole:
        yield Strange("np.int32", np.int32(v), v)
        yield Strange("a real number", float(v), v)
        yield Strange("between whole numbers", v + 0.5)
        for name, many in BEYOND.items():
            yield Strange(name, many)


def extremes(clean: float) -> Iterator[Strange]:
    """Numbers at which formulas break: refused, or nothing that comes out is nan."""
    for value in (
        (0, -1) if isinstance(clean, int) else (0.0, -0.0, -1.0, 5e-324, 1e-300, 1e-160, 1e160, 1e300, 1e308, 1.7976931348623157e308)
    ):
        yield Strange(f"{value:g}", value)


Catalogue = Callable[[Any], Iterator[Strange]]
