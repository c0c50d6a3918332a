"""Counts, seeds and numbers of jobs of the estimators: what is none is refused by its name, and nothing runs without end."""

from typing import Any

import numpy as np
import pytest
from made_data import data, seeded, targets_for

from simopt import estimators
from simopt.core.errors import InvalidProblem
from simopt.data.similarities import Gaussian
from simopt.estimators.base import seed_of
from simopt.estimators.herding.herd import herd
from simopt.estimators.herding.herd_blocks import herd_blocks

NONE = [1e308, 1e16, np.nan, np.inf, True, "3", 2.5]
COUNTS = ("atoms", "feature", "landmarks", "max_iter", "n_jobs", "patience", "random_state")
OF_ESTIMATORS = [(name, count) for name in estimators.__all__ for count in COUNTS if count in getattr(estimators, name)._get_param_names()]
X, Y = data(np.random.default_rng(0), 30)


def fit(name: str, **options: Any) -> Any:
    """A fit to thirty points; a hold-out where there may be one."""
    held = {"validation_fraction": 0.2} if name == "LIsotronRegressor" else {}
    model = seeded(name).set_params(**held, **options)
    return model.fit(X, targets_for(model, Y) if hasattr(model, "predict") else Y)


@pytest.mark.parametrize("bad", [*NONE, -3], ids=repr)
@pytest.mark.parametrize(("name", "count"), OF_ESTIMATORS)
def test_what_is_no_count_is_refused_by_its_name(name: str, count: str, bad: Any) -> None:
    if count == "n_jobs" and bad == -3:
        return  # all cores but two
    with pytest.raises(InvalidProblem, match=rf"^{count}: "):
        fit(name, **{count: bad})


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(("name", "count"), OF_ESTIMATORS)
def test_counts_may_be_numbers_of_any_kind(name: str, count: str) -> None:
    value = 1 if count == "feature" else 3
    expected = fit(name, **{count: value})
    for given in (np.int64(value), np.float32(value), float(value)):
        found = fit(name, **{count: given})
        assert found.n_features_in_ == expected.n_features_in_
        if hasattr(found, "predict"):
            np.testing.assert_array_equal(found.predict(X), expected.predict(X))


@pytest.mark.parametrize("seed", [2**63, 2**200])
def test_integers_of_any_size_are_seeds(seed: int) -> None:
    assert seed_of(seed) == seed
    assert fit("LandmarkedRidgeRegressor", random_state=seed).n_features_in_ == 2


@pytest.mark.parametrize("jobs", [*NONE, 0, 2**63, 2**200], ids=repr)
def test_blocks_are_herded_by_a_number_of_jobs(jobs: Any) -> None:
    with pytest.raises(InvalidProblem, match="^jobs: "):
        herd_blocks(X, None, Gaussian(1.0), error=0.5, block_size=15, jobs=jobs)


@pytest.mark.parametrize("count", [*NONE, 0, -1, 2**63, 2**200], ids=repr)
def test_a_herd_ends_after_a_number_of_steps(count: Any) -> None:
    with pytest.raises(InvalidProblem, match="^max_iter: "):
        herd(X, None, Gaussian(1.0), error=1e-9, max_iter=count)
