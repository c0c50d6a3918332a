"""How many bins of equal frequency the sets of Table 1b have: inferred from the printed errors of KR, which has no parameter."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import lru_cache

import numpy as np

import simopt.claims as sc
from simopt.claims.tables import Run
from simopt.core.arrays import Array
from simopt.theorems.kj.experiments.ordinal_protocol import SPLITS, OrdinalSplit, binned
from simopt.theorems.kj.experiments.printed_ordinal import BINNED, TABLE_1B
from simopt.theorems.kj.experiments.printed_tables import KR, MANHATTAN, SIGMOID, SIMILARITIES
from simopt.theorems.kj.experiments.protocol import similarity_of

COUNTS = tuple(range(3, 16))
MOST = 1000

ByBins = dict[int, float]


def kernel_regression_by_bins(X: Array, targets: Array, similarity: str, rng: np.random.Generator, *, limit: int | None = None) -> Array:
    """Errors of rounded KR for all numbers of bins: one split and one set of weights, labels of each number of bins."""
    split = OrdinalSplit.of(X, np.arange(1.0, len(targets) + 1), len(targets), rng, limit=limit)
    places = [part.astype(np.intp) - 1 for part in (split.y, split.answers)]
    labels = np.column_stack([binned(targets, bins) for bins in COUNTS])
    weights = similarity_of(similarity, split.X)(split.queries, split.X)
    means = (weights @ labels[places[0]]) / weights.sum(axis=1, keepdims=True)
    rounded = np.clip(np.round(means), 1, np.array(COUNTS))
    out: Array = np.mean(np.abs(rounded - labels[places[1]]), axis=0)
    return out


def misfit(errors: Mapping[tuple[str, str], float]) -> float:
    """Mean of |log(ours / printed)| over the errors of KR by set and similarity."""
    return float(np.mean([abs(math.log(value / TABLE_1B[name][similarity, KR][0])) for (name, similarity), value in errors.items()]))


@lru_cache(maxsize=8)
def misfits(seed: int, effort: sc.Effort) -> ByBins:
    """The misfit of each number of bins over the four sets and both similarities, errors being means over the splits."""
    found: dict[tuple[str, str], Array] = {}
    for name, dataset in BINNED.items():
        run = Run("kj-bins", dataset, seed, effort)
        data = run.dataset(dataset)
        for similarity in (SIGMOID, MANHATTAN):
            rows = [
                kernel_regression_by_bins(
                    data.features, data.targets, SIMILARITIES[similarity], run.stream("split", k), limit=run.count(MOST, 4 * MOST)
                )
                for k in range(SPLITS)
            ]
            found[name, similarity] = np.mean(rows, axis=0)
    return {bins: misfit({pair: float(values[j]) for pair, values in found.items()}) for j, bins in enumerate(COUNTS)}


def best_count(bins: ByBins) -> int:
    """The number of bins with the least misfit."""
    return min(bins, key=lambda count: bins[count])
