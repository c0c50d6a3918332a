"""The gap of a pooled fit, proven in one pass: never below the exact one, and no proof of what is not so."""

import time
import warnings
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from simopt.arithmetic import RATIONAL
from simopt.core.arrays import Array
from simopt.estimators import LipschitzIsotonicRegressor
from simopt.problems.lipschitz_isotonic import LipschitzIsotonic
from simopt.solvers.isotonic import lipschitz
from simopt.solvers.isotonic.lipschitz import IsotonicFit, lipschitz_isotonic
from simopt.solvers.isotonic.pooled_gap import relative_gap
from simopt.solving.entry_points import certify


def fits() -> list[IsotonicFit]:
    rng = np.random.default_rng(0)
    found = []
    for trial in range(24):
        n = int(rng.integers(2, 40))
        z = rng.normal(size=n) if trial % 2 else rng.integers(0, 9, size=n) * 1.0
        y = z + rng.normal(size=n) + (1e6 if trial % 5 == 0 else 0.0)
        w = None if trial % 3 else 10.0 ** rng.uniform(-6, 6, n)
        ends = {} if trial % 4 else {"low": float(np.median(y)), "high": float(np.max(y)) + 1.0, "outside": "keep"}
        found.append(lipschitz_isotonic(z, y, np.inf, w, **ends))  # type: ignore[arg-type]
    return found


def exact(problem: LipschitzIsotonic, x: Array, tau: Array) -> Fraction:
    """(P − D)/P in fractions, where x is feasible as it is."""
    gap = problem.gap({"x": x}, problem.as_multipliers(tau), RATIONAL)
    value = Fraction(problem.objective({"x": x}, RATIONAL))
    return Fraction(gap) / value if value else Fraction(gap and 10**300)


def test_it_is_never_below_the_exact_gap_and_not_far_above() -> None:
    closed = 0
    for number, fit in enumerate(fits()):
        said = relative_gap(fit.problem, fit.x, fit.tau)
        assert Fraction(said) * (1 + Fraction(1, 10**12)) >= exact(fit.problem, fit.x, fit.tau)  # P is one of floats
        closed += said <= 1e-8
        moved = np.maximum.accumulate(fit.x + 0.1 * np.random.default_rng(number).uniform(size=fit.x.size))  # another monotone function
        moved = moved[np.searchsorted(fit.problem.positions, fit.problem.positions)]
        if fit.problem.high is None:
            truth = exact(fit.problem, moved, fit.tau)
            assert float(truth) * (1 - 1e-9) <= relative_gap(fit.problem, moved, fit.tau) <= float(truth) * (1 + 1e-5) + 1e-8
    assert closed >= 22, closed


@pytest.mark.parametrize("ends", [(-0.5, 0.0), (0.0, -0.5), (-0.25, -0.5), (0.0, 0.0)])
def test_multipliers_of_the_ends_cost_their_distance_to_them(ends: tuple[float, float]) -> None:
    """|τ_0|(x_1 − lo) and |τ_n|(hi − x_n) are parts of the gap at a point inside of the range."""
    rng = np.random.default_rng(7)
    z, y = np.arange(20.0), np.arange(20.0) / 4 + rng.normal(size=20)
    fit = lipschitz_isotonic(z, y, np.inf, low=-3.0, high=9.0, outside="keep")
    x, tau = np.clip(fit.x + 0.2, -2.0, 8.0), fit.tau.copy()
    tau[0], tau[-1] = ends
    truth = float(exact(fit.problem, x, tau))
    assert truth * (1 - 1e-9) <= relative_gap(fit.problem, x, tau) <= truth * (1 + 1e-9)


def test_what_is_not_feasible_is_not_proven() -> None:
    rng = np.random.default_rng(1)
    z, y = np.arange(30.0), rng.normal(size=30)
    fit = lipschitz_isotonic(z, y, np.inf)
    assert relative_gap(fit.problem, fit.x, fit.tau) < 1e-12
    falling, wrong = fit.x.copy(), fit.tau.copy()
    k = int(np.argmin(np.diff(fit.x)))
    falling[k + 1] = np.nextafter(falling[k], -np.inf)
    wrong[k + 1] = 1e-300
    ended = fit.tau.copy()
    ended[0] = -1e-300
    assert relative_gap(fit.problem, falling, fit.tau) == relative_gap(fit.problem, fit.x, wrong) == np.inf
    assert relative_gap(fit.problem, fit.x, ended) == relative_gap(fit.problem, np.full(30, np.nan), fit.tau) == np.inf
    bounded, light = lipschitz_isotonic(z, y, 5.0), lipschitz_isotonic(z, y, np.inf, np.arange(30.0))
    constant = lipschitz_isotonic(z, np.ones(30), np.inf)
    assert all(relative_gap(f.problem, f.x, f.tau) == np.inf for f in (bounded, light, constant))
    assert bounded.closes(1e-8) and light.closes(1e-8) and constant.closes(1e-8)  # by their certificates


def test_a_fit_proves_its_gap_and_leaves_the_bounds_for_who_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []

    def counted(*args: Any) -> Any:
        asked.append(args)
        return certify(*args)

    monkeypatch.setattr(lipschitz, "certify", counted)
    rng = np.random.default_rng(2)
    X = rng.normal(size=(300, 2))
    y = X[:, 1] + rng.normal(size=300)
    model = LipschitzIsotonicRegressor(np.inf, feature="best")
    assert not hasattr(model, "certificate_")
    model.fit(X, y)
    assert not asked and "certificate_" not in vars(model)
    assert model.certificate_.closes(1e-8) and model.certificate_ is model.certificate_ and len(asked) == 1
    assert model.fit(X, -y).certificate_.upper != 0.0 and len(asked) == 2  # that of the new fit
    LipschitzIsotonicRegressor(1.0, feature="best").fit(X, y)
    assert len(asked) == 3  # no proof in one pass for steps with bounds: the certificate is computed at once


def test_a_wrong_fit_is_told_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(3)
    z = rng.normal(size=(200, 1))
    y = z[:, 0] + rng.normal(size=200)
    right = lipschitz.fit_problem

    def wrong(problem: LipschitzIsotonic) -> tuple[Array, Array]:
        x, tau = right(problem)
        return 1.1 * x, tau  # as monotone as the right one

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        LipschitzIsotonicRegressor(np.inf).fit(z, y)
    monkeypatch.setattr(lipschitz, "fit_problem", wrong)
    with pytest.warns(ConvergenceWarning, match="relative gap") as said:
        LipschitzIsotonicRegressor(np.inf).fit(z, y)
    assert said[0].filename == __file__


def test_the_proof_costs_less_than_the_certificate() -> None:
    rng = np.random.default_rng(4)
    fit = lipschitz_isotonic(np.arange(200_000.0), rng.normal(size=200_000), np.inf)
    assert fit.closes(1e-8)
    seconds = []
    for work in (lambda: fit.closes(1e-8), lambda: fit.certificate):
        begin = time.process_time()
        work()
        seconds.append(time.process_time() - begin)
    assert 5.0 * seconds[0] < seconds[1], seconds
