"""Documents grouped by query: the lists behind a stacked table with a query id in every row, and NDCG over them.

Rows of a query need not be adjacent. Every message names the query and, where one is at fault, the document: its index in the list of
the query, and the row of the table.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
import numpy.typing as npt

from simopt.core import validate
from simopt.core.arrays import Array
from simopt.core.errors import InvalidProblem
from simopt.data import relevance as lists

Rows = npt.NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Queries:
    """q lists of documents, stacked to n rows.

    Attributes
    ----------
    relevance : Array (n,)
        r ≥ 0, one number a document.
    groups : integer array (n,)
        which list each row belongs to, 0, …, q − 1 in the order in which the queries appear.
    names : tuple of q strings
        names of the queries.
    """

    relevance: Array
    groups: Rows
    names: tuple[str, ...]

    @classmethod
    def of(cls, relevance: npt.ArrayLike, qid: npt.ArrayLike) -> Self:
        """Lists from one relevance and one query id (numbers or text) a row. O(n log n).

        Raises
        ------
        InvalidProblem
            for relevances that are not finite or negative, ids that are missing, and a list of one document. Also for a list without a
            relevant document, where η is undefined (`defined` says which rows to keep).
        """
        values = as_numbers(relevance)
        groups, names = grouped(qid, values.shape)
        found = cls(_admitted(values, groups, names), groups, names)
        for query, rows in enumerate(found.rows):
            if len(rows) == 1:
                raise InvalidProblem(
                    f"query {names[query]}: one document (row {int(rows[0])}), at least 2 are needed to rank; {lists.LEAVE_OUT}"
                )
            lists.defined_list(f"query {names[query]}", found.relevance[rows])
        found.relevance.flags.writeable = False
        return found

    @classmethod
    def stacked(cls, features: Iterable[npt.ArrayLike], relevance: Iterable[npt.ArrayLike]) -> tuple[Array, Self]:
        """One matrix (n, p) and the lists, from a matrix (m_k, p) and a vector (m_k,) for each query k.

        Raises
        ------
        InvalidProblem
            as `of`, and where queries differ in their number of features, or a query has more or fewer rows of features than
            relevances.
        """
        features, relevance = list(features), list(relevance)
        if len(features) != len(relevance):
            raise InvalidProblem(f"queries: {len(features)} lists of features and {len(relevance)} of relevance")
        if not features:
            raise InvalidProblem("queries: none given, at least 1 needed")
        tables, parts = [], []
        for query, (X, r) in enumerate(zip(features, relevance, strict=True)):
            parts.append(validate.vector(f"relevance of query {query}", r))
            tables.append(validate.matrix(f"features of query {query}", X, rows=len(parts[-1])))
            if tables[-1].shape[1] != tables[0].shape[1]:
                raise InvalidProblem(
                    f"features: the documents of query {query} have {tables[-1].shape[1]} features, those of query 0 {tables[0].shape[1]}; "
                    "all must have the same"
                )
        qid = np.repeat(np.arange(len(parts)), [len(part) for part in parts])
        return np.vstack(tables), cls.of(np.concatenate(parts), qid)

    def __len__(self) -> int:
        """q."""
        return len(self.names)

    @property
    def n(self) -> int:
        """Documents in all."""
        return len(self.relevance)

    @cached_property
    def rows(self) -> tuple[Rows, ...]:
        """The rows of each list, in the order of the table."""
        order = np.argsort(self.groups, kind="stable")
        return tuple(np.split(order, np.cumsum(np.bincount(self.groups))[:-1]))

    @cached_property
    def gains(self) -> tuple[Array, ...]:
        """G(r) of each list."""
        return tuple(lists.gain(self.relevance[rows]) for rows in self.rows)

    @property
    def sizes(self) -> Rows:
        """m_1, …, m_q."""
        return np.array([len(rows) for rows in self.rows], dtype=np.intp)

    def items(self) -> Iterator[tuple[str, Rows, Array]]:
        """Name, rows and relevances of every query."""
        for name, rows in zip(self.names, self.rows, strict=True):
            yield name, rows, self.relevance[rows]

    def eta(self, logarithm: str = lists.NATURAL) -> Array:
        """η of every list, stacked in the order of the table, (n,)."""
        out = np.empty(self.n)
        for name, rows, r in self.items():
            out[rows] = lists.eta(r, logarithm, name=f"query {name}")
        return out

    def rankings(self, scores: npt.ArrayLike) -> tuple[Rows, ...]:
        """For each query its rows of the table, from the highest score to the lowest; ties in the order of the table."""
        s = validate.vector("scores", scores, length=self.n, like="documents")
        return tuple(rows[lists.ranking(s[rows])] for rows in self.rows)

    def ndcg(self, scores: npt.ArrayLike, *, k: int | Sequence[int] | None = None, ties: str = lists.AVERAGE) -> Array:
        """NDCG@k of every query: (q,) for one k or None, (q, len(k)) for several. The figure that is reported is the mean over queries."""
        s = validate.vector("scores", scores, length=self.n, like="documents")
        single = k is None or np.ndim(k) == 0
        cuts: list[int | None] = [None] if k is None else validate.vector("k", np.atleast_1d(validate.numbers("k", k))).tolist()
        validate.choice("ties", ties, lists.TIES)
        found = np.array([lists.ndcg_at(s[rows], gains, cuts, ties) for rows, gains in zip(self.rows, self.gains, strict=True)])
        return found[:, 0] if single else found

    def subset(self, keep: npt.ArrayLike) -> tuple[Rows, Self]:
        """Some of the queries, by their numbers 0, …, q − 1 in the order wanted: their rows of the table, and the lists of those rows."""
        wanted = np.atleast_1d(validate.numbers("queries", keep))
        if wanted.ndim != 1 or not np.array_equal(wanted, np.round(wanted)):
            raise InvalidProblem(f"queries: a vector of whole numbers from 0 to {len(self) - 1} needed")
        chosen = wanted.astype(np.intp)
        if not len(chosen) or len(np.unique(chosen)) != len(chosen) or chosen.min() < 0 or chosen.max() >= len(self):
            raise InvalidProblem(f"queries: numbers from 0 to {len(self) - 1} needed, each at most once and at least one")
        rows = np.concatenate([self.rows[query] for query in chosen])
        groups = np.repeat(np.arange(len(chosen)), self.sizes[chosen])
        return rows, type(self)(self.relevance[rows], groups, tuple(self.names[query] for query in chosen))


def grouped(qid: npt.ArrayLike, shape: tuple[int, ...] | None = None) -> tuple[Rows, tuple[str, ...]]:
    """Group numbers in the order of first appearance, and the names of the queries; `shape` is that of the relevances.

    Raises
    ------
    InvalidProblem
        for ids that are missing (NaN, None), not a vector, or not as many as relevances.
    """
    ids = validate.entries("qid", qid)
    if ids.ndim != 1 or (shape is not None and ids.shape != shape):
        raise InvalidProblem(f"qid: shape {ids.shape}, one id for each document needed" + ("" if shape is None else f", shape {shape}"))
    if not len(ids):
        raise InvalidProblem("qid: no documents, at least 2 needed")
    missing = np.array([item is None or _differs(item) for item in ids.tolist()])
    if missing.any():
        raise InvalidProblem(f"qid: row {int(np.argmax(missing))} has none; every document needs one")
    distinct, first, inverse = np.unique(ids.astype(str) if ids.dtype.kind == "O" else ids, return_index=True, return_inverse=True)
    place = np.empty(len(distinct), dtype=np.intp)
    order = np.argsort(first)
    place[order] = np.arange(len(distinct))
    names = tuple(f"{item:.15g}" if isinstance(item, float) else str(item) for item in distinct[order].tolist())
    return place[inverse.reshape(-1)], names


def _differs(item: object) -> bool:
    """Whether an item differs from itself, as NaN and other missing values do."""
    try:
        return bool(item != item)
    except TypeError:  # of pandas.NA
        return True


def defined(relevance: npt.ArrayLike, qid: npt.ArrayLike) -> npt.NDArray[np.bool_]:
    """Which rows belong to a query with at least two documents, one of them relevant: those where η is defined, (n,)."""
    values = as_numbers(relevance)
    groups, names = grouped(qid, values.shape)
    _admitted(values, groups, names)
    keep = (np.bincount(groups) > 1) & (np.bincount(groups, weights=values) > 0.0)
    out: npt.NDArray[np.bool_] = keep[groups]
    return out


def as_numbers(relevance: npt.ArrayLike) -> Array:
    """Relevances as a new float64 array; those that are not finite are left in, for a message that names the query.

    Raises
    ------
    InvalidProblem
        for what is no array of real numbers, or masked.
    """
    return np.array(validate.numbers("relevance", relevance))


def _admitted(values: Array, groups: Rows, names: tuple[str, ...]) -> Array:
    """Relevances, if all are finite and within 0 and 500; the error names query and document."""
    wrong = ~((values >= 0.0) & (values <= lists.LARGEST))
    if wrong.any():
        row = int(np.argmax(wrong))
        document = int(np.count_nonzero(groups[:row] == groups[row]))
        raise InvalidProblem(
            f"relevance: document {document} of query {names[groups[row]]} (row {row}) has relevance {values[row]:g}; "
            f"numbers from 0 to {lists.LARGEST:g} needed"
        )
    return values
