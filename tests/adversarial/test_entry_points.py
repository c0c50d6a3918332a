"""Whatever is handed to an entry point in the place of an array or a number: used rightly, or refused by name, index and remedy.

Entry points are derived (`internals`). One that has no valid call in `entry_points` fails here. The walk takes each parameter of each of
them through the catalogue of `strange`.
"""

from __future__ import annotations

import array
from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any

import numpy as np
import pandas as pd
import pytest
from entry_point import EntryPoint, fault
from entry_points import X, estimator_entry_points, problem_entry_points, rows, solver_entry_points
from internals import INTERNALS, NUMBER, OUTSIDE, entry_points, functions, is_internal, parameters
from strange import Strange

import simopt
from simopt.core import registry, validate
from simopt.core.errors import InvalidProblem
from simopt.data.landmarks import LandmarkMap
from simopt.data.queries import Queries
from simopt.data.similarities import Gaussian
from simopt.problems.kernel_ridge import KernelRidge

registry.load()
HAND = list(rows())
SWIFT = [found for found in HAND if not found.slow]
LENGTHY = [found for found in HAND if found.slow]
CORE = {
    *(
        "nan",
        "inf",
        "a true mask",
        "complex",
        "complex on the real line",
        "texts '1_000'",
        "the object '١٢'",
        "bytes",
        "dates",
        "durations",
    ),
    *("records", "pandas.NA", "empty", "sparse", "dtype float16", "big-endian", "spread out", "a list", "the text '١٢'", "masked", "True"),
    *("a number f2", "Decimal"),
}


def faults(entry: EntryPoint, only: set[str] | None = None) -> list[str]:
    """What is wrong, one line a strange value."""
    clean = entry.call()
    found = [
        (name, strange, fault(entry, name, strange, clean)) for name, strange in entry.walked() if only is None or strange.name in only
    ]
    return [f"{name} = {strange.name}: {said}" for name, strange, said in found if said]


@pytest.mark.parametrize("entry", SWIFT, ids=lambda entry: entry.key)
def test_strange_values_are_used_rightly_or_refused(entry: EntryPoint) -> None:
    assert faults(entry) == []


@pytest.mark.parametrize("entry", LENGTHY, ids=lambda entry: entry.key)
def test_the_worst_of_them_are_refused_where_a_call_takes_long(entry: EntryPoint) -> None:
    assert faults(entry, CORE) == []


@pytest.mark.slow
@pytest.mark.parametrize("entry", [*LENGTHY, *solver_entry_points()], ids=lambda entry: entry.key)
def test_all_strange_values_where_a_call_takes_long(entry: EntryPoint) -> None:
    assert faults(entry) == []


@pytest.mark.parametrize("entry", list(problem_entry_points()), ids=lambda entry: entry.key)
def test_fields_of_problems(entry: EntryPoint) -> None:
    assert faults(entry) == []


@pytest.mark.parametrize("every", [pytest.param(False, id="the worst"), pytest.param(True, id="all", marks=pytest.mark.slow)])
@pytest.mark.thorough
def test_estimators(every: bool) -> None:
    pytest.importorskip("sklearn")
    found = {
        entry.key: faults(entry, None if every else CORE - {"dtype float16", "a list", "spread out", "big-endian"})
        for entry in estimator_entry_points()
    }
    assert {key: said for key, said in found.items() if said} == {}


def estimator_kinds() -> set[str]:
    """module:class of every estimator of scikit-learn's kind; none where that is not installed."""
    from simopt import estimators

    if find_spec("sklearn") is None:
        return set()
    return {f"{getattr(estimators, name).__module__.removeprefix('simopt.')}:{name}" for name in estimators.__all__}


def test_every_entry_point_has_a_valid_call() -> None:
    known = {entry.key for entry in HAND}
    walked = estimator_kinds()  # by `test_every_estimator_is_walked`
    missing = [key for key, _ in entry_points() if key not in known and not is_internal(key) and not walked & {key, key.rpartition(".")[0]}]
    assert missing == [], "give each a valid call in tests/adversarial/entry_points.py, or a reason in tests/adversarial/internals.py"


def test_entry_points_are_derived_from_what_is_public_and_from_what_refuses() -> None:
    derived, known = {key for key, _ in entry_points()}, {entry.key for entry in HAND if entry.how is None}
    assert {"estimators.herding.herd:herd", "data.landmarks:LandmarkMap.from_data", "solvers.power.single_fit:power_fit"} <= derived
    assert len(derived & known) > 100 and len(known) > 200  # the others are walked, too


def test_every_estimator_is_walked() -> None:
    pytest.importorskip("sklearn")
    walked, kinds = {entry.key for entry in estimator_entry_points()}, estimator_kinds()
    methods = {key for key, _ in entry_points() if key.rpartition(".")[0] in kinds and not is_internal(key)}
    fits = {key for key in methods if key.split(".")[-1] in ("fit", "predict", "decision_function", "scores", "certify")}
    assert len(fits) > len(kinds) and fits <= walked and {key.rpartition(".")[0] for key in walked} == kinds


def test_what_is_named_exists() -> None:
    assert all(callable(entry.function) for entry in HAND)
    there = {key for key, _ in functions()}
    homes = {".".join(key.partition(":")[0].split(".")[: i + 1]) for key in there for i in range(key.count(".") + 1)}
    classes = {key.rpartition(".")[0] for key in there if "." in key.partition(":")[2]}
    assert {each for row in INTERNALS.values() for each in row} <= there | homes | classes
    needed = {key for key, _ in entry_points()}
    idle = {each for row in INTERNALS.values() for each in row if not any(key.startswith(each) for key in needed)}
    assert idle == set(), "these refuse nothing any more: take them off the list"


def test_a_row_gives_every_parameter_that_is_an_array_or_a_number() -> None:
    rowed = {entry.key: entry for entry in HAND if entry.how is None}
    left = []
    for key, function in functions():
        entry = rowed.get(key)
        if entry is None:
            continue
        for name, kind in parameters(function).items():
            wanted = (OUTSIDE.search(kind) or NUMBER.search(kind)) and not any(
                word in kind for word in ("Callable", "Validation", "Mapping", "tuple[")
            )
            if wanted and name not in {*entry.arguments, *entry.leaves}:
                left.append(f"{key}: {name}")
    assert left == [], "name them in the row, or in its `leaves` with the reason"


OWN: tuple[tuple[Any, str], ...] = (
    (pd.Series(["a", "b"], dtype="category"), "numbers"),
    (pd.Series(pd.to_timedelta([1, 2])), "durations"),
    (pd.Series(pd.to_datetime(["2020-01-01", "2021-01-01"])), "dates"),
    (pd.Series([True, None], dtype="boolean"), "numbers"),
    (pd.Series([1, None], dtype="Int64"), "numbers|finite"),
    (pd.Series(["1", "2"], dtype="string"), "numbers"),
    (np.array([1.0, np.array([2.0])], dtype=object), "numbers"),
    (np.array([1.0, np.ma.masked], dtype=object), "numbers"),
    (np.array([1.0, np.complex64(2j)], dtype=object), "numbers"),
    (np.array([1.0, pd.NaT], dtype=object), "numbers"),
    ((1.0, "2"), "numbers"),
    ([np.ma.array([1.0], mask=[True])[0], 1.0], "masked"),
    ([[1.0], [2.0]], "vector"),
    ([1.0, [2.0]], "rectangular"),
    (np.array([b"1", b"2"]), "text"),
    (np.array(["1", "2"], dtype=np.dtypes.StringDType()), "text"),
    (np.zeros(2, dtype="V8"), "records"),
    (range(0), "no values"),
    (memoryview(b""), "no values"),
    ((value for value in (1.0, 2.0)), "numbers"),
    (None, "numbers"),
    (True, "vector"),
)


@pytest.mark.parametrize(("value", "message"), OWN, ids=[f"{i} {type(value).__name__}" for i, (value, _) in enumerate(OWN)])
def test_a_vector_is_one_of_real_numbers(value: Any, message: str) -> None:
    with pytest.raises(InvalidProblem, match=rf"^y: .*{message}"):
        validate.vector("y", value)


@pytest.mark.parametrize(
    "value",
    [
        array.array("d", [1.0, 2.0]),
        memoryview(np.array([1.0, 2.0])),
        range(1, 3),
        np.array([np.array(1.0), 2.0], dtype=object),
        pd.Index([1.0, 2.0]),
    ],
    ids=lambda value: type(value).__name__,
)
def test_whatever_holds_real_numbers_is_read(value: Any) -> None:
    assert validate.vector("y", value).tolist() == [1.0, 2.0]


def test_whole_numbers_beyond_float64_stay_what_they_are() -> None:
    assert validate.seed("seed", 2**53 + 1) == 2**53 + 1
    assert validate.seed("seed", np.int64(2**60 + 1)) == 2**60 + 1
    with pytest.raises(InvalidProblem, match="^seed: 1e\\+308 given, a whole number >= 0 and at most 9007199254740992 needed"):
        validate.seed("seed", 1e308)  # a float that counts no longer


@pytest.mark.parametrize("count", [2**53 + 1, 1e16, 1e308, 2**63, 2**200, np.uint64(2**63), np.float32(1e38)])
def test_counts_that_nothing_gets_to_are_refused(count: Any) -> None:
    with pytest.raises(InvalidProblem, match="^max_iter: .* given, a whole number >= 1 and at most 9007199254740992 needed"):
        validate.whole("max_iter", count, minimum=1)


def lazy_points() -> Iterator[Strange]:
    """Dask arrays of points that are none."""
    import dask.array

    for name, values in (
        ("mask", np.ma.array(X, mask=X > 0)),
        ("complex", X + 1j),
        ("text", X.astype(str)),
        ("nan", np.where(X > 1, np.nan, X)),
    ):
        yield Strange(name, dask.array.from_array(values, chunks=2))


@pytest.mark.parametrize("strange", list(lazy_points()), ids=lambda strange: strange.name)
def test_lazy_points_are_looked_at_before_or_while_they_are_read(strange: Strange) -> None:
    with pytest.raises(InvalidProblem, match="^X: "):
        LandmarkMap(Gaussian(1.0), X).lazy(strange.value).compute()


@pytest.mark.parametrize("bad", [np.nan, np.inf, "1_000", 1j, None])
def test_stacked_queries_name_the_query(bad: Any) -> None:
    good = [[1.0, 2.0], [3.0, 4.0]]
    with pytest.raises(InvalidProblem, match="^features of query 1: "):
        Queries.stacked([good, [[1.0, bad], [3.0, 4.0]]], [[1.0, 0.0], [1.0, 0.0]])
    with pytest.raises(InvalidProblem, match="^relevance of query 1: "):
        Queries.stacked([good, good], [[1.0, 0.0], [bad, 0.0]])


def test_the_walk_can_fail() -> None:
    taken = EntryPoint("x", {"X": X}, how=lambda X: np.asarray(X, dtype=float))
    said = [fault(taken, name, strange, taken.call()) for name, strange in taken.walked() if strange.name in CORE]
    assert sum(line is not None for line in said) > 8


def test_the_issue_by_its_words() -> None:
    from simopt.solvers.power.single_fit import power_fit
    from simopt.solvers.sparse.forward_selection import forward_selection_gram

    K = Gaussian(1.0)
    hidden = np.ma.array(X, mask=X > 1)
    for points in (
        np.where(X > 1, np.nan, X),
        np.where(X > 1, np.inf, X),
        hidden,
        X + 1j,
        X[:0],
        X.astype("M8[s]"),
        X.astype(str),
        [["1_000", "١٢"]],
    ):
        with pytest.raises(InvalidProblem, match="^X: "):
            K.gram(points)
    with pytest.raises(InvalidProblem, match="power: 1e\\+308 given"):
        power_fit(K.gram(X), X[:, 0], 0.1, 1e308)
    with pytest.raises(InvalidProblem, match="square, products: entry 0"):
        forward_selection_gram(X.T @ X, X.T @ X[:, 0], 0.0, count=1)
    with pytest.raises(InvalidProblem, match="regularization, value 1: .* masked|regularization, value 1: masked"):
        list(simopt.path(KernelRidge(K.gram(X), X[:, 0], 0.1), "regularization", np.ma.array([0.1, 1.0], mask=[False, True])))
