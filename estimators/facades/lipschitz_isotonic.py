r"""Isotonic regression along one feature, with the slope bounded."""

from __future__ import annotations

import math
from typing import Any, Self

import numpy as np
from sklearn.base import RegressorMixin

from simopt.estimators.facades.base import Certified, CheckedEstimator, open_gap
from simopt.estimators.facades.sample_weights import weights_of
from simopt.ground import validate
from simopt.ground.arrays import Array
from simopt.ground.errors import InvalidProblem
from simopt.solvers.isotonic.lipschitz import lipschitz_isotonic

AUTO = "auto"
CLOSED = 1e-8  # relative gap of an exact algorithm
UNITS = "bring z, y and the weights to units near 1"


class LipschitzIsotonicRegressor(RegressorMixin, Certified, CheckedEstimator):
    r"""min_u Σ_i w_i (u(z_i) − y_i)²   over monotone u with slopes at most L;   f(x) = u(z), z one coordinate of x.

    L = ∞ is isotonic regression (pool adjacent violators). Exact, by a dynamic programme. Between the samples u is linear.

    Parameters
    ----------
    lipschitz : float, optional
        L ≥ 0, possibly ∞, in the units of y over those of z; by default 2 std(y)/std(z).
    feature : int, optional
        which column of X is z; by default the one that correlates best with y in the direction that is allowed.
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
    certificate_, n_iter_, n_features_in_

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
        feature: int | None = None,
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

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to X (n, p), y (n,) and weights w ≥ 0 (n,); a sample of weight 0 is left out.

        Raises
        ------
        InvalidProblem
            for a column that X does not have, weights that are negative or all 0, and for what `lipschitz_isotonic` refuses.
        """
        X, y = self._training(X, y)
        w = weights_of(sample_weight, len(X))
        kept = w > 0
        X, y, w = X[kept], y[kept], w[kept]
        correlation, spread = correlations(X, y, w)
        self.feature_ = self._column(correlation)
        direction = validate.choice("increasing", self.increasing, (True, False, AUTO))
        rising = correlation[self.feature_] >= 0 if direction == AUTO else direction
        self.sign_ = 1.0 if rising else -1.0
        usual = 2.0 * math.sqrt(float(w @ (y - np.average(y, weights=w)) ** 2 / w.sum())) / (spread[self.feature_] or 1.0)
        self.lipschitz_ = usual if self.lipschitz is None else self.lipschitz
        self.fit_ = lipschitz_isotonic(
            self.sign_ * X[:, self.feature_],
            y,
            self.lipschitz_,
            w,
            low=self.low,
            high=self.high,
            outside=self.outside,
            extrapolation=self.extrapolation,
        )
        self.function_ = self.fit_.function.shortest()
        certificate = self.fit_.certificate
        self._concluded(
            certificate,
            1,
            "" if certificate.closes(CLOSED) else open_gap(certificate, CLOSED, UNITS),
        )
        return self

    def _column(self, correlation: Array) -> int:
        if self.feature is None:
            return int(np.argmax(np.abs(correlation) if self.increasing == AUTO else correlation if self.increasing else -correlation))
        column = validate.whole("feature", self.feature)
        if column >= len(correlation):
            raise InvalidProblem(f"feature: {column}, but X has the columns 0 to {len(correlation) - 1}")
        return column

    def predict(self, X: Any) -> Array:
        """u(z) at the rows of X, shape (m,)."""
        queries = self._queries(X)
        return self.function_(self.sign_ * queries[:, self.feature_])


def correlations(X: Array, y: Array, w: Array) -> tuple[Array, Array]:
    """Correlation of each column with y (0 where one of them is constant), and the standard deviations of the columns; weighted by w."""
    share = w / w.sum()
    centred, rest = X - share @ X, y - share @ y
    spread, size = np.sqrt(share @ centred**2), math.sqrt(float(share @ rest**2))
    unit = spread * size
    return np.divide((share * rest) @ centred, unit, out=np.zeros(X.shape[1]), where=unit > 0), spread
