"""Targets of any data set as labels ±1."""

from __future__ import annotations

import numpy as np

from simopt.core.arrays import Array
from simopt.data.datasets.dataset import Dataset


def binary_labels(dataset: Dataset, targets: Array) -> Array:
    """Some targets of the data set as ±1: as they are where all of its are ±1, the larger of two values as +1, else +1 above the median.

    If nothing is above the median, targets equal to it are +1.
    """
    values = np.unique(dataset.targets)
    if dataset.task == "binary" or np.all(np.abs(values) == 1.0):
        return targets
    middle = np.mean(values) if len(values) == 2 else np.median(dataset.targets)
    above = targets > middle if values[-1] > middle else targets >= middle
    return np.where(above, 1.0, -1.0)
