"""Every data set that is here is what its description says; those that the repository may not carry are skipped where they are not."""

import numpy as np
import pytest

from simopt.data import datasets


@pytest.mark.parametrize("name", [entry.name for entry in datasets.descriptions()])
def test_every_data_set_that_is_here_is_what_it_is_described_as(name: str) -> None:
    entry = datasets.describe(name)
    data = datasets.load_dataset(name)
    assert (data.n, data.d, data.task) == (entry.n, entry.d, entry.task)
    if entry.file.endswith(".csv.gz"):
        assert data.feature_names == entry.features
        assert data.targets.mean() == pytest.approx(entry.target_mean, rel=1e-12)
        for column, row, value in entry.known_values:
            found = data.targets[row] if column == "target" else None
            if column in data.feature_names:
                found = data.features[row, data.feature_names.index(column)]
            assert found is None or found == value
    else:
        assert data.test is not None and data.test.n == entry.n_test
        assert set(np.unique(data.targets)) == {-1.0, 1.0}
        assert data.features.sum() == 349117089 and data.test.features.sum() == 58753333
    if name.startswith("parkinsons"):
        assert data.groups is not None and np.unique(data.groups).size == 42
    if name == "ohsumed":
        assert data.groups is not None and np.unique(data.groups).size == 106
        assert data.folds is not None and set(np.unique(data.folds)) == {1, 2, 3, 4, 5}
