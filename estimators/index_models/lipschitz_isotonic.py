r"""Isotonic regression along one feature, with the slope bounded."""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any, Self

import numpy as np

from simopt.certificates.certificate import Certificate
from simopt.core import validate
from simopt.core.arrays import Array
from simopt.core.errors import InvalidProblem
from simopt.estimators.base import Certified, CheckedEstimator, open_gap
from simopt.estimators.sample_weights import deviation, weights_of
from simopt.estimators.scikit_learn import RegressorMixin, check_is_fitted
from simopt.solvers.isotonic.lipschitz import lipschitz_isotonic

AUTO, BEST = "auto", "best"
CLOSED = 1e-8  # relative gap of an exact algorithm
UNITS = "bring z, y and the weights to units near 1"


class LipschitzIsotonicRegressor(RegressorMixin, Certified, CheckedEstimator):
    r"""min_u Σ_i w_i (u(z_i) − y_i)²   over monotone u with slopes at most L;   f(x) = u(z), z one coordinate of x.

    L = ∞ is isotonic regression (pool adjacent violators). Exact, by a dynamic programme. Between the samples u is linear.

    Parameters
    ----------
    lipschitz : float, optional
        L ≥ 0, possibly ∞, in the units of y over those of z; by default 2 std(y)/std(z).
    feature : int or "best", optional
        which column of X is z: not needed where there is one column. "best": the one that correlates best with y in the direction that is
        allowed; the others are not used.
    increasing : True, False or "auto"
        whether u rises or falls; "auto": as the correlation does.
    low, high : float, optional
        bounds on the values of u.
    outside : str
        what becomes of targets outside of them: "refuse", "clip" or "keep".
    extrapolation : str
        "constant", "linear" or "refuse", beyond the samples.

    Attributes
    ----------
    fit_ : IsotonicFit
        u, the fit at the samples, and a plot.
    function_ : MonotoneFunction
        u by its fewest nodes, which `predict` calls.
    feature_, sign_, lipschitz_ : int, float and float
        which column, +1 where u rises and −1 where it falls, and L.
    certificate_ : Certificate
        bounds on the optimum, computed when first read, which takes longer than a fit. If L = ∞ a fit only proves that the gap is closed
        (`simopt.solvers.isotonic.pooled_gap`); with other L, or where it is not, the fit computes it, and warns where it is open.
    n_iter_, n_features_in_

    Source: Kakade, Kalai, Kanade & Shamir 2011, §4 (LPAV).

    Examples
    --------
    >>> from simopt.estimators import LipschitzIsotonicRegressor
    >>> model = LipschitzIsotonicRegressor(lipschitz=1.0).fit([[0.0], [1.0], [2.0]], [0.0, 2.0, 1.0])
    >>> model.predict([[0.0], [0.5], [2.0]]).round(12).tolist(), model.certificate_.closes(1e-8)
    ([0.333333333333, 0.833333333333, 1.333333333333], True)
    """

    def __init__(
        self,
        lipschitz: float | None = None,
        *,
        feature: Any = None,
        increasing: Any = True,
        low: float | None = None,
        high: float | None = None,
        outside: str = "refuse",
        extrapolation: str = "constant",
    ) -> None:
        self.lipschitz = lipschitz
        self.feature = feature
        self.increasing = increasing
        self.low = low
        self.high = high
        self.outside = outside
        self.extrapolation = extrapolation

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = self.feature is not None  # several columns, of which one is used
        return tags

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to X (n, p), y (n,) and weights w ≥ 0 (n,); a sample of weight 0 is left out.

        Raises
        ------
        InvalidProblem
            for several columns without a `feature`, a column that X does not have, weights that are negative or all 0, and for what
            `lipschitz_isotonic` refuses.
        """
        X, y = self._training(X, y)
        w = None
        if sample_weight is not None:
            w = weights_of(sample_weight, len(X))
            kept = w > 0
            X, y, w = X[kept], y[kept], w[kept]
        direction = validate.choice("increasing", self.increasing, (True, False, AUTO))
        best = isinstance(self.feature, str)
        if best and self.feature != BEST:
            raise InvalidProblem(f"feature: {self.feature!r} given, the number of a column or {BEST!r} needed")
        if self.feature is None and X.shape[1] > 1:
            raise InvalidProblem(
                f"X: {X.shape[1]} columns, 1 needed, since u is a function of one number; give feature=0, …, {X.shape[1] - 1}, "
                'or feature="best" for the column that correlates best with y'
            )
        correlation = correlations(X, y, w) if best or direction == AUTO else np.zeros(X.shape[1])
        self.feature_ = self._column(correlation)
        z, rising = X[:, self.feature_], correlation[self.feature_] >= 0 if direction == AUTO else direction
        self.sign_ = 1.0 if rising else -1.0
        self.lipschitz_ = 2.0 * deviation(y, w) / (deviation(z, w) or 1.0) if self.lipschitz is None else self.lipschitz
        self.fit_ = lipschitz_isotonic(
            z if rising else -z,
            y,
            self.lipschitz_,
            w,
            low=self.low,
            high=self.high,
            outside=self.outside,
            extrapolation=self.extrapolation,
        )
        self.function_ = self.fit_.function.shortest()
        self.n_iter_ = 1
        if not self.fit_.closes(CLOSED):
            self._certify()
        return self

    @cached_property
    def certificate_(self) -> Certificate:  # type: ignore[override]  # written once, like that of the others
        """Bounds on the optimum, of the fit's own copy of the samples."""
        check_is_fitted(self)
        return self._certify()

    def _certify(self) -> Certificate:
        certificate = self.fit_.certificate
        self._concluded(certificate, 1, "" if certificate.closes(CLOSED) else open_gap(certificate, CLOSED, UNITS))
        return self.certificate_

    def _column(self, correlation: Array) -> int:
        if self.feature is None:
            return 0
        if isinstance(self.feature, str):
            return int(np.argmax(np.abs(correlation) if self.increasing == AUTO else correlation if self.increasing else -correlation))
        column = validate.whole("feature", self.feature)
        if column >= len(correlation):
            raise InvalidProblem(f"feature: {column}, but X has the columns 0 to {len(correlation) - 1}")
        return column

    def predict(self, X: Any) -> Array:
        """u(z) at the rows of X, shape (m,)."""
        queries = self._queries(X)
        return self.function_(self.sign_ * queries[:, self.feature_])


def correlations(X: Array, y: Array, w: Array | None) -> Array:
    """Correlation of each column with y, 0 where one of them is constant; weighted by w."""
    share = np.full(len(y), 1.0 / len(y)) if w is None else w / w.sum()
    centred, rest = X - share @ X, y - share @ y
    unit = np.sqrt(share @ centred**2) * math.sqrt(float(share @ rest**2))
    out: Array = np.divide((share * rest) @ centred, unit, out=np.zeros(X.shape[1]), where=unit > 0)
    return out
