"""Oracles in ball arithmetic for the secular equation, and small kernel problems."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from flint import arb, ctx

sys.path.append(str(Path(__file__).parent))  # modules of cases beside the tests


class ExactPowerPath:
    """G(s) and log t(e^s) to 300 bits, from the floats d and b taken as exact."""

    def __init__(self, d, b, regularization, power, samples=None):
        ctx.prec = 300
        self.d = [arb(float(x)) for x in d]
        self.b = [arb(float(x)) for x in b]
        self.m = arb(float(power))
        self.level = (arb(len(self.d) if samples is None else samples) * arb(float(regularization)) * self.m / 2).log()

    def log_norm(self, s):
        mu = s.exp()
        return sum((d * (b / (d + mu)) ** 2 for d, b in zip(self.d, self.b, strict=True)), arb(0)).log() / 2

    def equation(self, s):
        return s - (self.m - 2) * self.log_norm(s) - self.level

    def holds_root(self, low, high):
        """Whether the root of the increasing function G is certainly in (low, high)."""
        return self.equation(arb(low)) < 0 and self.equation(arb(high)) > 0


@pytest.fixture
def exact():
    yield ExactPowerPath
    ctx.prec = 53


@pytest.fixture
def kernel_problem():
    """(n, p, seed) -> read-only Gaussian Gram matrix and noisy targets."""

    def build(n, p=3, seed=0, noise=0.1):
        rng = np.random.default_rng(seed)
        x = rng.uniform(size=(n, p))
        squares = np.sum((x[:, None] - x[None]) ** 2, axis=-1)
        gram = np.exp(-squares / (2 * np.median(squares)))
        targets = np.sin(6 * x[:, 0]) + noise * rng.normal(size=n)
        gram.setflags(write=False)
        targets.setflags(write=False)
        return gram, targets

    return build


@pytest.fixture
def small_fits_too(monkeypatch):
    """Send small problems through Lanczos as well."""
    monkeypatch.setattr("simopt.solvers.power.single_fit.SMALL", 0)
