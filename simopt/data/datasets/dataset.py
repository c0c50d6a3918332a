"""A data set in memory: features, targets, and where they came from."""

from __future__ import annotations

from dataclasses import dataclass

from simopt.core import validate
from simopt.core.arrays import Array
from simopt.core.errors import InvalidProblem


@dataclass(frozen=True, eq=False)
class Dataset:
    """n samples with d features each. Arrays are read-only float64.

    Attributes
    ----------
    name : str
    features : Array, shape (n, d)
    feature_names : tuple of d names
    targets : Array, shape (n,)
    task : str
        regression, ordinal, binary (targets -1 and +1) or ranking.
    source : str
        the file, address or formula that the numbers came from.
    groups : Array, shape (n,), or None
        what must not be split between training and test: the subject, or the query of a ranking.
    folds : Array, shape (n,), or None
        the part that the source puts each sample in.
    test : Dataset or None
        the test samples, where the source keeps them apart.
    """

    name: str
    features: Array
    feature_names: tuple[str, ...]
    targets: Array
    task: str = "regression"
    source: str = ""
    groups: Array | None = None
    folds: Array | None = None
    test: Dataset | None = None

    def __post_init__(self) -> None:
        features = validate.matrix("features", self.features)
        object.__setattr__(self, "features", features)
        object.__setattr__(self, "targets", validate.vector("targets", self.targets, length=features.shape[0]))
        object.__setattr__(self, "feature_names", tuple(self.feature_names))
        if len(self.feature_names) != features.shape[1]:
            raise InvalidProblem(f"feature_names: {len(self.feature_names)} names for {features.shape[1]} columns")
        for name in ("groups", "folds"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, validate.vector(name, getattr(self, name), length=features.shape[0]))

    @property
    def n(self) -> int:
        """Number of samples."""
        return int(self.features.shape[0])

    @property
    def d(self) -> int:
        """Number of features."""
        return int(self.features.shape[1])
