"""Families drawn at random whose truth is known: no FOUND and no HOLDS of what is not so, no NO_MAP and no FAILS of what is."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import brentq

from simopt.data.similarities import Linear
from simopt.equivalence.equivalence import Answer, Equivalence
from simopt.equivalence.family import Family
from simopt.equivalence.map_search import MapOutcome, find_map
from simopt.equivalence.training import TrainingSet
from simopt.equivalence.weak import verify_weak

SCALES = np.array([1.0, 0.1, 0.001])
PATHS = {
    "ridge": lambda lam, y: y / (1 + lam),
    "flow": lambda lam, y: y * math.exp(-lam),
    "ridge of unequal eigenvalues": lambda lam, y: y * SCALES / (SCALES + lam),
    "lasso": lambda lam, y: np.sign(y) * np.maximum(np.abs(y) - lam, 0.0),
    "ball": lambda r, y: y * min(1.0, r / np.linalg.norm(y)),
}


def curves(rng):
    """Increasing functions of log μ: straight, with a step, flat in the middle, slow, with near rests, steep."""
    a, b = math.exp(rng.uniform(-2, 2)), rng.uniform(-30, 30)
    return [
        lambda t: a * t + b,
        lambda t: t + a * math.tanh(50 * (t - b / 10)) + b / 5,
        lambda t: a * t**3 / 100 + t / 10,
        lambda t: 5 * math.asinh(a * t) + b / 20,
        lambda t: a * t + 0.9 * a * math.sin(t),
        lambda t: 1e3 * a * t + b,
    ]


def norm(v):
    """‖v‖ without underflow."""
    unit = float(np.max(np.abs(v)))
    return unit * float(np.linalg.norm(v / unit)) if unit > 0 else 0.0


def deviating(v, radius, rng):
    """v moved in a random direction by at most `radius` of its norm."""
    step = rng.normal(size=v.size)
    return v + 0.99 * radius * norm(v) * step / np.linalg.norm(step)


def learner(path, radius, seed):
    """The path, each member off by nearly the radius that it reports (and the rounding of its own formula)."""

    def fit(lam, Z):
        v = path(lam, Z.targets)
        moved = deviating(v, radius, np.random.default_rng([seed, *np.abs(v).view(np.uint64)]))
        return replace(Z.function(moved), error=(radius + 1e-15) * norm(v))

    return Family(f"learner {seed}", fit)


@pytest.mark.parametrize("name", PATHS)
@pytest.mark.parametrize("kind", [0, 1, *(pytest.param(kind, marks=pytest.mark.slow) for kind in (2, 3, 4, 5))])
def test_random_families(name, kind):
    rng, path = np.random.default_rng([kind, len(name)]), PATHS[name]
    for trial in range(12):
        Z = TrainingSet(np.eye(3), rng.normal(size=3) * math.exp(rng.uniform(-3, 3)), Linear())
        sign, curve = rng.choice([-1.0, 1.0]), curves(rng)[kind]
        wrong = float(rng.choice([0.0, 0.0, 1e-11, 1e-9, 1e-6, 1e-3, 0.3]))
        aside = np.array([[1.0, -wrong, 0.0], [wrong, 1.0, 0.0], [0.0, 0.0, 1.0]])
        radii = [float(rng.choice([0.0, 1e-15, 1e-12, 1e-9, 1e-6, 1e-3, 0.1])) for _ in "AB"]

        def other(mu, y, sign=sign, curve=curve, aside=aside):
            return aside @ path(math.exp(min(max(sign * curve(math.log(mu)), -690.0), 690.0)), y)

        def there(lam, Z, sign=sign, curve=curve):
            return math.exp(brentq(lambda t: sign * curve(t) - math.log(lam), -1e4, 1e4, xtol=1e-15, rtol=1e-15))

        def back(mu, Z, sign=sign, curve=curve):
            return math.exp(sign * curve(math.log(mu)))

        A, B, lam = learner(path, radii[0], 2 * trial), learner(other, radii[1], 2 * trial + 1), math.exp(rng.uniform(-8, 8))
        lams = [lam, 2 * lam, lam / 3]
        found, report = find_map(A, B, lam, Z), verify_weak(Equivalence("drawn", A, B, there, back), Z, lams)
        functions = [path(x, Z.targets) for x in lams]
        differ = [norm(aside @ f - f) / norm(f) if np.any(f) else 0.0 for f in functions]
        if wrong == 0.0:
            assert found.outcome is not MapOutcome.NO_MAP, found
            assert report.answer is not Answer.FAILS, report.reason
        assert found.outcome is not MapOutcome.FOUND or differ[0] <= 1e-8, found
        assert report.answer is not Answer.HOLDS or max(differ) <= 1e-8, report
