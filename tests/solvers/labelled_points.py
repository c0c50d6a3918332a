"""Labelled points for herds and their targets."""

from __future__ import annotations

import numpy as np


def sample(n, p=3, seed=0, std=1.0):
    """Normal points, labelled by the side on which a noisy first coordinate lies."""
    rng = np.random.default_rng(seed)
    x = std * rng.normal(size=(n, p))
    return x, np.where(x[:, 0] + 0.3 * rng.normal(size=n) > 0, 1.0, -1.0)
