"""The lists of the ranking problems: grouped by query, their normalised relevance η, and the documents of a data set."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import numpy.typing as npt

from simopt.core import validate
from simopt.core.arrays import Array
from simopt.core.errors import InvalidProblem
from simopt.core.fields import Axes
from simopt.data.queries import Queries, defined
from simopt.data.relevance import LOGARITHMS
from simopt.model.problem import Problem, freeze
from simopt.problems import recipes

if TYPE_CHECKING:
    from simopt.data.datasets import Dataset

GROUP = "qid"


def identifiers(_: str, qid: Any) -> npt.NDArray[Any]:
    """An array of numbers or texts."""
    ids = np.asarray(qid)
    return ids.astype(str) if ids.dtype.kind == "O" else ids


Relevance = Annotated[Array, Axes("n", leads=True)]
Identifiers = Annotated[npt.NDArray[Any], identifiers]


class RankedLists(Problem):
    """Documents with a relevance and a query id each; a form declares the fields, in the order of its formula.

    `queries` holds the lists, `targets` their η stacked, (n,): as computed in float64 they are the data that certificates are about.
    """

    relevance: Array
    qid: npt.NDArray[Any]
    logarithm: str
    queries: Queries
    targets: Array

    def _check_lists(self) -> None:
        if not isinstance(self.logarithm, str):
            raise InvalidProblem(f"logarithm: {self.logarithm!r} given, one of {', '.join(LOGARITHMS)} needed")
        validate.choice("logarithm", self.logarithm, LOGARITHMS)
        lists = Queries.of(self.relevance, self.qid)
        freeze(self, relevance=lists.relevance, qid=identifiers("qid", self.qid))
        self._set_lists(lists)

    def _set_lists(self, lists: Queries) -> None:
        freeze(self, queries=lists, targets=lists.eta(self.logarithm))

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self._set_lists(Queries.of(self.relevance, self.qid))  # which is no field


def documents(
    dataset: Dataset, rng: np.random.Generator, queries: int | None, standardise: bool
) -> tuple[Array, Array, npt.NDArray[Any], tuple[str, ...]]:
    """Inputs (n, p), relevances (n,) and query ids (n,) of at most `queries` queries (None: all), and the names of those left out.

    Query ids are the groups of the data set, or a column called `qid` of a file of one's own, which is no feature then. Queries of one
    document, or without a relevant one, have no η and are left out. Queries are drawn without replacement; columns are standardised over
    the documents drawn.

    Raises
    ------
    InvalidProblem
        for data without query ids, and for negative relevances.
    """
    inputs, ids = dataset.features, dataset.groups
    if ids is None:
        names = list(dataset.feature_names)
        if GROUP not in names:
            raise InvalidProblem(
                f"data set {dataset.name}: no query ids, which a ranking needs; name a column {GROUP}, or take a ranking set (ohsumed)"
            )
        column = names.index(GROUP)
        inputs, ids = np.delete(inputs, column, axis=1), inputs[:, column]
    keep = defined(dataset.targets, ids)
    known, order = np.unique(ids[keep], return_index=True)
    known = known[np.argsort(order)]
    if not len(known):
        raise InvalidProblem(f"data set {dataset.name}: no query has two documents, one of them relevant")
    if queries is not None and validate.whole("queries", queries, minimum=1) < len(known):
        known = known[np.sort(rng.choice(len(known), size=int(queries), replace=False))]
    rows = np.flatnonzero(keep & np.isin(ids, known))
    chosen = inputs[rows]
    left = tuple(f"{item:.15g}" for item in np.unique(ids[~keep]).tolist())
    return (recipes.standardised(chosen) if standardise else chosen), dataset.targets[rows], ids[rows], left
