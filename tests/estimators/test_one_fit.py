"""A fit is one step: interrupted anywhere it leaves the old model whole, or none. Of two equal fits the same is stored."""

import copy
import pickle
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pytest
from made_data import CHOOSING, data, seeded, targets_for
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

import simopt
from simopt import estimators

NAMES = estimators.__all__
OURS = (str(Path(simopt.__file__).parent), str(Path(estimators.__file__).parent))
QUERIES = np.random.default_rng(9).normal(size=(7, 2))

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def made(name: str, seed: int = 0) -> tuple[Any, Any, Any]:
    """An estimator, points and targets."""
    X, y = data(np.random.default_rng(seed), 40)
    model = seeded(name)
    return model, X, targets_for(model, y) if hasattr(model, "predict") else y


def output(model: Any) -> Any:
    """What it says of the queries."""
    return model.predict(QUERIES) if hasattr(model, "predict") else model.transform(QUERIES)


def same(model: Any) -> Any:
    """Another object with the same attributes."""
    out = object.__new__(type(model))
    out.__dict__ = dict(vars(model))
    return out


def at_line(number: int, call: Callable[[], Any]) -> int:
    """Call, interrupted before the line of simopt of that number is executed; how many lines there were (-1: never interrupt)."""
    count = 0

    def trace(frame: Any, event: str, _: Any) -> Any:
        nonlocal count
        if not frame.f_code.co_filename.startswith(OURS):
            return None
        if event == "line":
            count += 1
            if count == number:
                sys.settrace(None)
                raise KeyboardInterrupt
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        call()
    finally:
        sys.settrace(before)
    return count


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("fitted", [False, True])
def test_an_interrupted_fit_leaves_the_old_model_or_none(name: str, fitted: bool) -> None:
    rng = np.random.default_rng(len(name))
    (model, X, y), (_, other_X, other_y) = made(name), made(name, 1)
    new = output(seeded(name).fit(other_X, other_y))
    old = output(model.fit(X, y)) if fitted else None
    assert vars(model).keys() > vars(seeded(name)).keys() or not fitted
    lines = at_line(-1, lambda: same(model).fit(other_X, other_y))
    for number in {1, 2, 3, *rng.integers(1, lines, size=9).tolist(), *range(lines - 5, lines + 1)}:
        tried = same(model)
        with pytest.raises(KeyboardInterrupt):
            at_line(number, lambda tried=tried: tried.fit(other_X, other_y))  # type: ignore[misc]
        if number == lines:  # the `return` behind the assignment
            np.testing.assert_array_equal(output(tried), new)
        elif fitted:
            np.testing.assert_array_equal(output(tried), old)
        else:
            with pytest.raises(NotFittedError):
                check_is_fitted(tried)
            with pytest.raises(NotFittedError):
                output(tried)


@pytest.mark.parametrize("name", NAMES)
def test_refused_data_leave_the_old_model(name: str) -> None:
    model, X, y = made(name)
    old = output(model.fit(X, y))
    with pytest.raises(ValueError, match="NaN|not finite"):
        model.fit(np.where(X > 1.0, np.nan, X), y)
    np.testing.assert_array_equal(output(model), old)


@pytest.mark.parametrize("name", NAMES)
def test_equal_fits_are_stored_alike(name: str) -> None:
    model, X, y = made(name)
    first = joblib.hash(model.fit(X, y))
    output(model)
    again, *_ = made(name)
    assert joblib.hash(model) == first == joblib.hash(again.fit(X, y)) == joblib.hash(again.fit(X, y))
    stored = pickle.loads(pickle.dumps(model))
    if name not in CHOOSING:  # whose `cv_results_` holds masked arrays, as GridSearchCV's does: joblib fails on a loaded one
        assert joblib.hash(stored) == first
    np.testing.assert_array_equal(output(stored), output(model))
    assert joblib.hash(again.fit(X + 1.0, y)) != first


def test_clocks_are_read_on_the_model_itself_and_not_stored() -> None:
    model, X, y = made("LandmarkedSVRegressor")
    model.fit(X, y)
    assert model.solution_.provenance.solve_seconds > 0.0
    stored = copy.deepcopy(model)
    assert np.isnan(stored.solution_.provenance.solve_seconds)
    herded, X, y = made("HerdedMeanClassifier")
    herded.fit(X, y)
    stored = copy.deepcopy(herded)
    assert herded.herd_.seconds > 0.0 and np.isnan(stored.herd_.seconds) and stored.herd_ is stored.herds_[0]


def test_what_is_not_of_a_fit_stays() -> None:
    model, X, y = made("LandmarkedSVRegressor")
    model.note = "mine"
    assert model.fit(X, y) is model and model.note == "mine"


def test_a_class_of_ones_own_is_fitted_at_once_too() -> None:
    class Mine(estimators.LandmarkedRidgeRegressor):
        def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
            super().fit(X, y, sample_weight)
            self.mine_ = 1
            raise KeyboardInterrupt

    X, y = data(np.random.default_rng(0))
    model = Mine()
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    with pytest.raises(NotFittedError):
        model.predict(X)
