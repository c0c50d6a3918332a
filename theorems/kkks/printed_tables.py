"""Tables 1 and 2 as printed, and the data sets that they may mean."""

from __future__ import annotations

from dataclasses import dataclass

from simopt.core.arrays import Array
from simopt.data.datasets import Dataset
from simopt.theorems.kkks.protocol import METHODS

Pair = tuple[float, float]
OTHERS = METHODS[1:]
ROUNDED = 0.005  # half a unit of the last printed place

# Table 1: mean squared error over the variance of y, mean and standard deviation over ten folds, in the order of METHODS.
TABLE_1: dict[str, tuple[Pair, ...]] = {
    "communities": ((0.34, 0.04), (0.34, 0.03), (0.35, 0.04), (0.35, 0.04), (0.34, 0.03), (0.36, 0.05)),
    "concrete": ((0.35, 0.06), (0.40, 0.07), (0.36, 0.06), (0.39, 0.08), (0.39, 0.08), (0.35, 0.06)),
    "housing": ((0.27, 0.12), (0.28, 0.11), (0.27, 0.12), (0.28, 0.12), (0.27, 0.11), (0.26, 0.09)),
    "parkinsons": ((0.89, 0.04), (0.92, 0.04), (0.89, 0.04), (0.90, 0.04), (0.90, 0.04), (0.92, 0.03)),
    "winequality": ((0.78, 0.07), (0.81, 0.07), (0.78, 0.07), (0.73, 0.08), (0.73, 0.08), (0.79, 0.07)),
}
# Table 2: the error less that of L-Isotron, in the order of OTHERS.
TABLE_2: dict[str, tuple[Pair, ...]] = {
    "communities": ((0.01, 0.01), (0.01, 0.02), (0.02, 0.02), (0.01, 0.02), (0.02, 0.03)),
    "concrete": ((0.04, 0.03), (0.00, 0.01), (0.04, 0.03), (0.04, 0.03), (0.00, 0.02)),
    "housing": ((0.02, 0.05), (0.00, 0.07), (0.02, 0.05), (0.01, 0.05), (-0.01, 0.06)),
    "parkinsons": ((0.03, 0.02), (0.00, 0.01), (0.02, 0.01), (0.02, 0.01), (0.04, 0.04)),
    "winequality": ((0.03, 0.02), (0.00, 0.01), (-0.05, 0.03), (-0.05, 0.03), (0.01, 0.01)),
}


@dataclass(frozen=True)
class Source:
    """A data set for a row of the tables; `first` is the first column that counts as a feature."""

    dataset: str
    printed: str
    first: int = 0

    def features(self, data: Dataset) -> Array:
        """The columns that count."""
        return data.features[:, self.first :]


# The first three columns of the Parkinson's data are age, sex and time; the other sixteen are measures of the voice. Where a printed name
# may mean several, the first is the one taken.
SOURCES = {
    "communities": Source("communities_crime", "communities"),
    "concrete": Source("concrete", "concrete"),
    "housing": Source("boston_housing", "housing"),
    "parkinsons, total, voice": Source("parkinsons_total", "parkinsons", 3),
    "parkinsons, motor, voice": Source("parkinsons_motor", "parkinsons", 3),
    "parkinsons, total, all features": Source("parkinsons_total", "parkinsons"),
    "parkinsons, motor, all features": Source("parkinsons_motor", "parkinsons"),
    "winequality, white": Source("wine_white", "winequality"),
    "winequality, red": Source("wine_red", "winequality"),
}


def is_other(row: str) -> bool:
    """Whether a row is another reading of its printed name than the one taken, which is the first."""
    return row != next(name for name, source in SOURCES.items() if source.printed == SOURCES[row].printed)
