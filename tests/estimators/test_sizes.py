"""Data of any size that float64 holds: a fit and finite predictions, or an error that names the field, its largest entry and the remedy."""

import re
from typing import Any

import numpy as np
import pytest
from made_data import data, seeded, targets_for
from sklearn.base import is_regressor

from simopt import estimators
from simopt.core.errors import InvalidProblem

SIZES = [1e-310, 1e-300, 1e-150, 1e100, 1e155, 1e300, 1e308]
MESSAGES = re.compile(
    r"^(X|y|inputs|features|targets|positions|similarity): the largest entry is \S+ in modulus, and float64 cannot hold its square; "
    r"change the unit"
)
WITHOUT_INTERCEPT = {"similarity": "linear", "fit_intercept": False}
FORMS = [
    *((name, {}) for name in estimators.__all__),
    ("GLMTronRegressor", WITHOUT_INTERCEPT),
    ("GLMTronRegressor", WITHOUT_INTERCEPT | {"transfer": "identity"}),
    ("HerdedMeanClassifier", {"similarity": "laplacian"}),
    ("HingeSVMClassifier", WITHOUT_INTERCEPT),
    ("LIsotronRegressor", {"lipschitz": np.inf, "validation_fraction": 0.2}),
    ("LIsotronRegressor", {"similarity": "gaussian"}),
    ("LandmarkTransformer", {"similarity": "linear"}),
    ("LandmarkedOrdinalClassifier", {"similarity": "manhattan", "form": "imc"}),
    ("LandmarkedRidgeCV", {"similarity": "linear"}),
    ("LandmarkedRidgeRegressor", {"similarity": "linear"}),
    ("LandmarkedSVRegressor", {"similarity": "linear"}),
    ("LandmarkedSVRegressor", {"similarity": "linear", "radius": 1.0, "epsilon": 0.0}),
    ("LipschitzIsotonicRegressor", {"lipschitz": np.inf, "increasing": "auto"}),
    ("MPowerRegressor", {"similarity": "linear"}),
    ("SparseLandmarkedSVRegressor", {"similarity": "linear"}),
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(("name", "options"), FORMS, ids=lambda part: part if isinstance(part, str) else "-".join(map(str, part.values())))
def test_data_of_any_size_are_fitted_or_refused_by_name(name: str, options: dict[str, Any], size: float) -> None:
    model = seeded(name, **options)
    X, y = data(np.random.default_rng(0), 40)
    X, y = X / np.abs(X).max(), y / np.abs(y).max()
    targets = targets_for(model, y)
    cases = [(X * size, targets), (X * size, targets * size), (X, targets * size)] if is_regressor(model) else [(X * size, targets)]
    for points, labels in cases:
        try:
            with np.errstate(all="ignore"):
                said = getattr(model.fit(points, labels), "transform" if name == "LandmarkTransformer" else "predict")(points)
        except InvalidProblem as error:
            assert MESSAGES.search(str(error))
        else:
            assert said.dtype.kind != "f" or np.isfinite(said).all()
            assert all(np.isfinite(value).all() for key, value in vars(model).items() if key in ("coef_", "dual_coef_", "intercept_"))


@pytest.mark.parametrize("size", [1e-305, 1e-200, 1e200])
def test_the_index_model_is_the_same_in_every_unit(size: float) -> None:
    X, y = data(np.random.default_rng(3), 50)
    scaled = 2.0 ** np.round(np.log2(size))
    one, two = estimators.LIsotronRegressor().fit(X, y), estimators.LIsotronRegressor().fit(X * scaled, y)
    np.testing.assert_allclose(two.predict(X * scaled), one.predict(X), rtol=1e-9)
    np.testing.assert_allclose(two.coef_ * scaled, one.coef_, rtol=1e-9)
