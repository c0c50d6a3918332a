"""Labels that are no labels of one type are refused by their indices, before NumPy makes text of them or fails to sort them."""

import datetime
from typing import Any

import numpy as np
import pandas as pd
import pytest
from made_data import CHOOSING, seeded
from sklearn.base import is_classifier

from simopt import estimators
from simopt.core.errors import InvalidProblem

CLASSIFIERS = [name for name in estimators.__all__ if is_classifier(getattr(estimators, name)())]
X = np.random.default_rng(0).normal(size=(12, 2))


def of(*labels: Any) -> list[Any]:
    """Twelve labels, by turns."""
    return [labels[i % len(labels)] for i in range(12)]


def objects(*labels: Any) -> Any:
    """The same as an array of objects."""
    out = np.empty(12, dtype=object)
    out[:] = of(*labels)
    return out


MIXED = {
    "str and int": (of("a", 1), "str at index 0, int at index 1; use one type"),
    "int and str": (objects(1, 1, "b"), "int at index 0, str at index 2; use one type"),
    "bool and str": (of(True, "x"), "bool at index 0, str at index 1; use one type"),
    "float and str": (objects(0.5, "x"), "float at index 0, str at index 1; use one type"),
    "three": (objects("x", 2, (1,)), "str at index 0, int at index 1, tuple at index 2; use one type"),
    "date and str": (objects("x", datetime.date(2020, 1, 1)), "str at index 0, date at index 1; use one type"),
    "None and str": (of(None, "b"), "None at index 0 is no label; remove"),
    "None and numbers": (objects(1, None), "None at index 1 is no label; remove"),
    "nan and str": (of("a", "b", float("nan")), "nan at index 2 is no label; remove"),
    "NumPy's nan": (objects("a", np.float32("nan")), "index 1 is no label; remove"),
    "pandas.NA": (pd.Series(of("a", pd.NA), dtype="string"), "<NA> at index 1 is no label; remove"),
    "NaT": (objects("a", pd.NaT), "NaT at index 1 is no label; remove"),
    "categories": (pd.Series(pd.Categorical(of("a", "b", 3))), "str at index 0, int at index 2; use one type"),
    "a missing category": (pd.Series(pd.Categorical(of("a", "b", None))), "nan at index 2 is no label; remove"),
    "bytes and str": (of("a", b"b"), r"b'b' at index 1; bytes are no labels; decode"),
    "bytes": (np.array(of(b"a", b"b")), "bytes are no labels; decode"),
}


@pytest.mark.parametrize("case", MIXED)
@pytest.mark.parametrize("name", CLASSIFIERS)
def test_mixed_labels_are_refused_by_index(name: str, case: str) -> None:
    labels, said = MIXED[case]
    with pytest.raises(InvalidProblem, match=rf"^y: .*{said}"):
        seeded(name).fit(X, labels)


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_labels_of_one_type_are_taken(name: str) -> None:
    for labels in (of("a", "b"), objects("a", np.str_("b")), of(True, False), of(1, 2.0), pd.Series(of("a", "b"), dtype="string")):
        if name in CHOOSING or not isinstance(labels, list):
            seeded(name).fit(X, labels)
        else:
            assert set(seeded(name).fit(X, labels).predict(X).tolist()) <= set(labels)


def test_an_order_of_mixed_labels_is_refused() -> None:
    with pytest.raises(InvalidProblem, match="^order: labels of mixed types: str at index 0, int at index 1"):
        estimators.LandmarkedOrdinalClassifier(order=["a", 1]).fit(X, of("a", "b"))
