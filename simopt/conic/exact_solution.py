"""A solution of Mu = r in fractions near floats that solve it up to rounding: only pivots move."""

from __future__ import annotations

from typing import Any

import flint
import numpy as np
import scipy.linalg
import scipy.sparse as sp

from simopt.core.arrays import Array

LARGEST = 700  # rows of a dense system that is solved in fractions; its numbers have some 100 bits a row
LEAST, RANK = 1e-5, 1e-10  # least relative weight of a column; least pivot of an independent row
STABLE, FAR = 1e-3, 100.0  # least pivot in parts of its row; how many times as far as needed a pivot may move
Rationals = list[Any]  # fmpq
ZERO = flint.fmpq(0)


class TooLarge(Exception):
    """The system has too many rows to be solved in fractions."""


def rational(x: float) -> Any:
    """The float as a fraction."""
    return flint.fmpq(*x.as_integer_ratio())


def exact_solution(matrix: Any, right: Rationals, start: Array, weights: Array) -> Rationals | None:
    """u with Mu = r, near `start`; None where the rows contradict each other.

    Rows with a column of their own are put aside, one after the other; what is left is solved by pivots, and the rows put aside follow in
    the reverse order. Columns of large weight are taken first, those of weight 0 stay.

    Parameters
    ----------
    matrix : sparse matrix
    right : list of fmpq
    start : array
        the floats near u.
    weights : array
        how far each entry of u may move; ∞ for a free one.

    Raises
    ------
    TooLarge
        for more than 700 rows that have no column of their own.
    """
    by_rows = sp.csr_array(matrix)
    rows = [
        list(zip(by_rows.indices[a:b].tolist(), by_rows.data[a:b].tolist(), strict=True))
        for a, b in zip(by_rows.indptr[:-1], by_rows.indptr[1:], strict=True)
    ]
    u = [rational(float(x)) for x in start]
    residual = [value - sum((rational(a) * u[j] for j, a in row), ZERO) for row, value in zip(rows, right, strict=True)]
    alone = _rows_with_a_column(by_rows, rows, np.array([_size(value) for value in residual]), weights)
    aside = {row for row, _ in alone}
    core = [i for i in range(len(rows)) if i not in aside]
    moves, dependent = _solved_by_pivots(by_rows, core, {j for _, j in alone}, residual, weights)
    below = flint.fmpz(1)
    for move in moves.values():
        below = below.lcm(move.q)
    whole = {j: move.p * (below // move.q) for j, move in moves.items()}  # sums of products are integers over one denominator
    if any(_product(rows[i], whole, below) != residual[i] for i in dependent):
        return None
    followers: dict[int, Any] = {}
    for i, j in reversed(alone):
        left = residual[i] - _product(rows[i], whole, below) - sum((rational(a) * followers[k] for k, a in rows[i] if k in followers), ZERO)
        if left:
            followers[j] = left / rational(next(a for k, a in rows[i] if k == j))
    for j, move in (*moves.items(), *followers.items()):
        u[j] += move
    return u


def _product(row: list[tuple[int, float]], whole: dict[int, Any], below: Any) -> Any:
    """Σ_j a_j whole_j / below: the entries are doubles, so that a power of 2 makes integers of them."""
    parts = [(*a.as_integer_ratio(), whole[j]) for j, a in row if j in whole]
    power = max((low for _, low, _ in parts), default=1)
    return flint.fmpq(sum((top * (power // low) * value for top, low, value in parts), flint.fmpz(0)), power * below)


def _size(value: Any) -> float:
    top, below = int(value.p), int(value.q)
    return abs(top) / below if top.bit_length() - below.bit_length() < 1000 else np.inf


def _rows_with_a_column(by_rows: Any, rows: list[list[tuple[int, float]]], residual: Array, weights: Array) -> list[tuple[int, int]]:
    """(row, column), in the order in which rows are put aside: the column has no entry in any row that is left."""
    by_columns = sp.csc_array(by_rows)
    members = [set(by_columns.indices[a:b].tolist()) for a, b in zip(by_columns.indptr[:-1], by_columns.indptr[1:], strict=True)]
    left = [j for j, rows_of in enumerate(members) if len(rows_of) == 1 and weights[j] > 0]
    order: list[tuple[int, int]] = []
    put_aside: set[int] = set()
    while left:
        following: list[int] = []
        for i in dict.fromkeys(next(iter(members[j])) for j in left if len(members[j]) == 1):
            if i in put_aside:
                continue
            largest = max(abs(a) for _, a in rows[i])
            fit = [
                (min(weights[j], 1.0) * abs(a), j)
                for j, a in rows[i]
                if members[j] == {i} and weights[j] * abs(a) > FAR * residual[i] and abs(a) >= STABLE * largest
            ]
            if not fit:
                continue
            order.append((i, max(fit)[1]))
            put_aside.add(i)
            for j, _ in rows[i]:
                members[j].discard(i)
                if len(members[j]) == 1 and weights[j] > 0:
                    following.append(j)
        left = following
    return order


def _solved_by_pivots(
    by_rows: Any, rows: list[int], taken: set[int], residual: Rationals, weights: Array
) -> tuple[dict[int, Any], list[int]]:
    """The moves of as many columns as there are independent rows; and the other rows, which hold after them or not."""
    if not rows:
        return {}, []
    if len(rows) > LARGEST:
        raise TooLarge(f"{len(rows)} equations are to be solved in fractions together, and {LARGEST} are the most")
    part = sp.csc_array(by_rows[rows])
    columns = np.array([j for j in np.flatnonzero(np.diff(part.indptr)) if j not in taken and weights[j] > 0], dtype=int)
    if not columns.size:
        return {}, rows
    finite = weights[columns][np.isfinite(weights[columns])]
    top = max(float(finite.max(initial=0.0)), 1e-300)
    scale = np.clip(np.where(np.isfinite(weights[columns]), weights[columns] / top, 1.0), LEAST, 1.0)
    dense = part[:, columns].toarray()
    sizes = np.abs(dense).max(axis=1)
    scaled = dense * scale / np.where(sizes > 0, sizes, 1.0)[:, None]
    triangle, order = scipy.linalg.qr(scaled, mode="r", pivoting=True)
    pivots = np.abs(np.diagonal(triangle))
    rank = int((pivots > RANK * pivots.max(initial=0.0)).sum())
    chosen = order[:rank]
    independent = np.arange(len(rows)) if rank == len(rows) else scipy.linalg.qr(scaled[:, chosen].T, mode="r", pivoting=True)[1][:rank]
    if not rank:
        return {}, rows
    entries = [rational(a) for a in dense[np.ix_(independent, chosen)].ravel().tolist()]
    right = flint.fmpq_mat(rank, 1, [residual[rows[i]] for i in independent])
    try:
        solution = flint.fmpq_mat(rank, rank, entries).solve(right)
    except ZeroDivisionError:
        return {}, rows
    moves = {int(columns[j]): value for j, value in zip(chosen, solution.entries(), strict=True) if value}
    return moves, [row for i, row in enumerate(rows) if i not in set(independent.tolist())]
