r"""Better supports of the same size: exchanges of columns, and forward selection that may take columns back (FoBa).

`forward_swap` begins with forward selection. It makes the exchange (one column out, one in) that lowers ‖r‖² most, as long as one does.
That is by more than 1e-15 ‖y‖² and a millionth of what the column out costs. So, unless moves run out, no support that is better by more
differs from the result in one column. `forward_backward` adds the column of largest gain. Then it removes columns but the last one,
cheapest first, while that costs at most a fraction ν of a gain (Zhang 2008, with the exact gains). That gain is the one that the present
number of columns had brought when it was last reached by an addition. Both go by the exact costs of `support_moves`; moves are guessed
where `forward_selection` does so, and made again in float64.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from simopt.core import validate
from simopt.core.arrays import Array
from simopt.core.errors import InvalidProblem
from simopt.data.rows import MEMORY
from simopt.solvers.sparse.feature_gram import METHODS, FeatureGram
from simopt.solvers.sparse.fit import SparseFit, back_substitution
from simopt.solvers.sparse.forward_selection import AHEAD, CRITERIA, corrected, select, stopping_rule
from simopt.solvers.sparse.gram_rows import GramRows, KnownGram
from simopt.solvers.sparse.orthogonal_rows import EXHAUSTED, NEEDED, Indices
from simopt.solvers.sparse.support_moves import STALE, Support
from simopt.solving import provenance

FEW = 2  # passes up to which guesses are good: exchanges lean on them harder than picks do
MOVES = 10_000  # at most, unless said otherwise
Move = Callable[[Support, npt.NDArray[Any], Indices, float], tuple[int, int]]


def forward_swap(
    features: Any,
    targets: npt.ArrayLike,
    *,
    count: int,
    criterion: str = "omp",
    max_moves: int = MOVES,
    method: str = "auto",
    memory: float = MEMORY,
) -> SparseFit:
    """Forward selection of `count` columns, then the best exchanges until none lowers ‖y − Xw‖², or moves run out.

    Time: that of forward selection, then O(kd) an exchange. Arguments as for `forward_selection`; `max_moves` bounds additions and
    removals of the exchanges. `visited` of the result is ‖r‖² after every move: it rises when a column goes and falls when one comes.

    Raises
    ------
    InvalidProblem
        as `forward_selection`.
    """
    start = time.perf_counter()
    source = _source(features, targets, count, method, memory)
    return _swapped(source, stopping_rule(count, None, source.width)[0], criterion, max_moves, start)


def forward_swap_gram(
    gram: npt.ArrayLike, products: npt.ArrayLike, square: float, *, count: int, criterion: str = "omp", max_moves: int = MOVES
) -> SparseFit:
    """The same from XᵀX, Xᵀy and ‖y‖²."""
    start = time.perf_counter()
    source = KnownGram(gram, products, square)
    fit = _swapped(source, stopping_rule(count, None, source.width)[0], criterion, max_moves, start)
    source.check(fit.indices)
    return fit


def forward_backward(
    features: Any,
    targets: npt.ArrayLike,
    *,
    count: int | None = None,
    tolerance: float | None = None,
    ratio: float = 0.5,
    max_moves: int = MOVES,
    method: str = "auto",
    memory: float = MEMORY,
) -> SparseFit:
    """FoBa: additions of largest gain, each followed by removals that cost at most `ratio` (ν) of the gain that reached this size.

    Ends with `count` columns, or with ‖y − Xw‖² ≤ `tolerance` · ‖y‖², or where no addition helps, or when `max_moves` additions and
    removals are made. With 0 ≤ ν < 1 every size is reached with a smaller residual each time, so that it ends. Other arguments as for
    `forward_selection`.

    Raises
    ------
    InvalidProblem
        as `forward_selection`, and for a ratio outside [0, 1).
    """
    start = time.perf_counter()
    source = _source(features, targets, count, method, memory)
    return _walked(source, count, tolerance, ratio, max_moves, start)


def forward_backward_gram(
    gram: npt.ArrayLike,
    products: npt.ArrayLike,
    square: float,
    *,
    count: int | None = None,
    tolerance: float | None = None,
    ratio: float = 0.5,
    max_moves: int = MOVES,
) -> SparseFit:
    """The same from XᵀX, Xᵀy and ‖y‖²."""
    start = time.perf_counter()
    source = KnownGram(gram, products, square)
    fit = _walked(source, count, tolerance, ratio, max_moves, start)
    source.check(fit.indices)
    return fit


def _source(features: Any, targets: npt.ArrayLike, count: int | None, method: str, memory: float) -> FeatureGram:
    source = FeatureGram(features, targets, memory)
    source.prepare(validate.choice("method", method, METHODS), stopping_rule(count, 0.0, source.width)[0], demanding=True)
    return source


def _swapped(source: GramRows, count: int, criterion: str, max_moves: int, start: float) -> SparseFit:
    state, _ = select(source, count, 0.0, validate.choice("criterion", criterion, CRITERIA))
    source.limit_passes(FEW if source.passes <= FEW else 0)
    first = state.picks.copy()
    support = Support(source.products, source.square, source.diagonal(), max(len(first), 1), validate.whole("max_moves", max_moves))
    support.refit(first, source.rows, source.row_of)
    why = _played(source, support, Support.exchange)
    ended = "no exchange lowers the residual" if why == EXHAUSTED else f"stopped after {max_moves} moves"
    note = f"{len(support.visited) // 2} exchanges after {criterion}; {ended}"
    return _fit(source, support, f"{criterion} + swaps", len(first) == count and why == EXHAUSTED, note, start)


def _walked(source: GramRows, count: int | None, tolerance: float | None, ratio: float, max_moves: int, start: float) -> SparseFit:
    most, tolerance = stopping_rule(count, tolerance, source.width)
    ratio = validate.finite("ratio", ratio)
    if not 0.0 <= ratio < 1.0:
        raise InvalidProblem(f"ratio: {ratio:g} given, a number in [0, 1) needed")
    enough = 0.0 if tolerance is None else tolerance * source.square
    source.limit_passes(FEW)
    support = Support(source.products, source.square, source.diagonal(), most, validate.whole("max_moves", max_moves))

    def move(state: Support, rows: npt.NDArray[Any], row_of: Indices, unit: float) -> tuple[int, int]:
        return state.forward_backward(rows, row_of, unit, most, ratio, enough)

    why = _played(source, support, move)
    size = len(support.columns)
    met = size == most if tolerance is None else support.left <= enough
    removed = (len(support.visited) - size) // 2
    ended = "no addition helps" if why == EXHAUSTED else f"{size} columns"
    return _fit(source, support, f"FoBa, ν = {ratio:g}", bool(met), f"{ended}, {removed} taken back", start)


def _played(source: GramRows, support: Support, move: Move) -> int:
    """Moves in float64, rows fetched before they are used: all those that the same moves in float32 would need, if there are guesses."""
    while True:
        why, wanted = move(support, source.rows, source.row_of, 1.0)
        if why == STALE:
            support.refit(support.columns, source.rows, source.row_of)
        elif why != NEEDED:
            return why
        else:
            ahead = {wanted}
            guess = source.approximation()
            if guess is None:
                ahead |= set(support.promising(AHEAD).tolist())
            else:
                trial = support.copy()
                before = trial.tableau.inside.copy()
                trial.tableau.state[2] = np.inf
                guess.fetch(support.columns)
                while (found := move(trial, guess.rows, guess.row_of, guess.unit))[0] == NEEDED:
                    guess.fetch([found[1]])
                    ahead.add(found[1])  # it may go again before the end
                ahead |= set(np.flatnonzero(trial.tableau.inside & ~before).tolist())
            source.fetch(sorted(ahead))


def _fit(source: GramRows, support: Support, criterion: str, reached: bool, message: str, start: float) -> SparseFit:
    """The record, with the columns in the order in which least squares would pick them."""
    columns = np.sort(support.columns)
    inner = KnownGram(source.among(columns), source.products[columns], source.square) if len(columns) else None
    weights, factor, coordinates = np.zeros(0), np.zeros((0, 0)), np.zeros(0)
    residuals = np.array([source.square])
    if inner is not None:
        state, _ = select(inner, len(columns), 0.0, "ols")
        columns, factor, coordinates = columns[state.picks], state.factor, state.coordinates[: state.size].copy()
        residuals = state.residuals[: state.size + 1].copy()
        weights = back_substitution(factor, coordinates)
    weights, residuals[-1] = corrected(source, columns, factor, weights, float(residuals[-1]))
    visited: Array = support.visited
    return SparseFit(
        indices=columns,
        coefficients=weights,
        residuals=residuals,
        width=source.width,
        factor=factor,
        shares=coordinates,
        criterion=criterion,
        reached=reached,
        message=message,
        visited=tuple(visited.tolist()),
        seconds=time.perf_counter() - start,
        provenance={"d": source.width, "versions": provenance.versions()},
    )
