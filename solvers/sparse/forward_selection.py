r"""Fully corrective forward selection for the squared loss: orthogonal matching pursuit, and orthogonal least squares.

One column after the other is added to S; after each, w is the best fit of y on X_S:
    "omp" (matching pursuit): the column of largest |⟨x_j, r⟩|;        "ols" (least squares): the one whose addition lowers ‖r‖² most.
Kar & Jain 2012, §4, take it (with d landmarks as columns) for what they call the fully corrective version of forward greedy selection. How:
`orthogonal_rows` on rows of XᵀX, and nothing is solved until the end. For X in memory the rows may be guessed (`feature_gram` says when and
how), and are computed in float64 where the guessed picks are. The picks are replayed with those; at the first that differs the guess starts
again from there. The result is that of float64 alone.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import numpy.typing as npt

from simopt.core import validate
from simopt.core.arrays import Array
from simopt.core.errors import InvalidProblem
from simopt.data.rows import MEMORY
from simopt.solvers.sparse.feature_gram import METHODS, FeatureGram
from simopt.solvers.sparse.fit import SparseFit, back_substitution
from simopt.solvers.sparse.gram_rows import GramRows, KnownGram
from simopt.solvers.sparse.orthogonal_rows import DEPENDENT, DONE, EXHAUSTED, FREE, NEEDED, NEGATIVE, NOT_FINITE, SILENT, Indices, Selection
from simopt.solving import provenance

CRITERIA = ("omp", "ols")
AHEAD = 16  # rows fetched in one pass where picks cannot be guessed
CORRECTIONS = 3


def forward_selection(
    features: Any,
    targets: npt.ArrayLike,
    *,
    count: int | None = None,
    tolerance: float | None = None,
    criterion: str = "omp",
    method: str = "auto",
    memory: float = MEMORY,
) -> SparseFit:
    """Pick columns of X one by one; after every pick w is the best fit of y on the columns picked.

    Ends after `count` columns, or as soon as ‖y − Xw‖² ≤ `tolerance` · ‖y‖², or when no further column lowers the residual, and says which.
    The residual is then 0 or orthogonal to all columns independent of those picked, to rounding. Among equal scores the column of lowest
    index wins; among equal columns only one is ever picked; a column of zeros never is. Thus `count` may exceed the rank of X, or n.

    Time: that of X_SᵀX in float64 and O(dk²); with guesses in float32 that of XᵀX in float32 besides, and then 12d² bytes besides X and the
    rows, 8d² of which stay.

    Parameters
    ----------
    features : (n, d) array, memory map or Dask array
        X. Data outside of memory are read in blocks: once if 8d² bytes fit into half of `memory`, else once more every few picks. In the
        end the weights take up to four passes (see `corrected`).
    targets : (n,) array
        y.
    count : int, optional
        most columns, 1 ≤ count ≤ d; default d. One of `count` and `tolerance` is needed.
    tolerance : float, optional
        fraction of ‖y‖² at which to stop, ≥ 0.
    criterion : "omp" or "ols"
    method : str
        "auto"; "gram" (all of XᵀX in float64), "float32" (guesses of it all), "sample" (guesses from 512 rows of X), "rows" (rows of XᵀX as
        they are needed).
    memory : float
        bytes for Gram matrices and blocks.

    Raises
    ------
    InvalidProblem
        data that are not finite (with the place), lengths that disagree, more columns asked than there are, neither count nor tolerance.
    """
    start = time.perf_counter()
    source = FeatureGram(features, targets, memory)
    most, tolerance = stopping_rule(count, tolerance, source.width)
    validate.choice("criterion", criterion, CRITERIA)
    source.prepare(validate.choice("method", method, METHODS), most, criterion == "ols")
    return _fit(source, most, tolerance, criterion, start, {"n": source.data.n, "d": source.width, "method": method})


def forward_selection_gram(
    gram: npt.ArrayLike,
    products: npt.ArrayLike,
    square: float,
    *,
    count: int | None = None,
    tolerance: float | None = None,
    criterion: str = "omp",
) -> SparseFit:
    """The same from XᵀX, Xᵀy and ‖y‖². O(dk²).

    Only the diagonal and the rows of the picks are read. The residuals are those of ‖y‖² − ‖q‖², to about 1e-16 ‖y‖².

    Raises
    ------
    InvalidProblem
        for a matrix that is not square, of another size than the products, or not positive semidefinite where it was looked at.
    """
    start = time.perf_counter()
    source = KnownGram(gram, products, square)
    most, tolerance = stopping_rule(count, tolerance, source.width)
    validate.choice("criterion", criterion, CRITERIA)
    fit = _fit(source, most, tolerance, criterion, start, {"d": source.width, "method": "given"})
    source.check(fit.indices)
    return fit


def stopping_rule(count: int | None, tolerance: float | None, width: int) -> tuple[int, float | None]:
    """The largest number of columns and the fraction of ‖y‖² to stop at, checked."""
    if count is None and tolerance is None:
        raise InvalidProblem("count: give the number of columns or the tolerance")
    most = width if count is None else validate.whole("count", count, minimum=1)
    if most > width:
        raise InvalidProblem(f"count: {most} columns asked, but there are only {width}")
    return most, None if tolerance is None else validate.nonnegative("tolerance", tolerance)


def select(source: GramRows, count: int, enough: float, criterion: str) -> tuple[Selection, int]:
    """Picks from rows in float64, each fetched before it is used; the state at the end, and why it ended."""
    by_gain = criterion == "ols"
    diagonal = source.diagonal() if by_gain else np.ones(source.width)
    state = Selection.begin(source.products, source.square, diagonal, count, by_gain)
    while True:
        why = state.advance(source.rows, source.row_of, enough)
        if why in (NEGATIVE, NOT_FINITE):
            word = "positive semidefinite" if why == NEGATIVE else "finite"
            raise InvalidProblem(f"gram: not {word} (column {state.wanted} after the picks {state.picks.tolist()})")
        if why != NEEDED:
            return state, why
        ahead: Indices = state.promising(AHEAD)
        guess = source.approximation()
        if guess is not None:
            trial = state.copy()
            for _ in range(2 * count):  # most of them are picked, unless nearly all that is left depends on the picks
                if trial.advance(guess.rows, guess.row_of, enough, guess.unit) != NEEDED:
                    break
                guess.fetch([trial.wanted])
            ahead = trial.picks[state.size :]
        source.fetch([state.wanted, *ahead.tolist()])


def _fit(source: GramRows, count: int, tolerance: float | None, criterion: str, start: float, made: dict[str, Any]) -> SparseFit:
    enough = 0.0 if tolerance is None else tolerance * source.square
    state, why = select(source, count, enough, criterion)
    picks = state.picks.copy()
    factor, coordinates, residuals = state.factor, state.coordinates[: state.size].copy(), state.residuals[: state.size + 1].copy()
    weights, residuals[-1] = corrected(source, picks, factor, back_substitution(factor, coordinates), float(residuals[-1]))
    met = tolerance is not None and residuals[-1] <= tolerance * source.square * (1.0 + 1e-12)
    return SparseFit(
        indices=picks,
        coefficients=weights,
        residuals=residuals,
        width=source.width,
        factor=factor,
        shares=coordinates,
        criterion=criterion,
        reached=bool(met or (len(picks) == count and tolerance is None)),
        message=_message(state, why, count, tolerance),
        dependent=np.flatnonzero(state.marks == DEPENDENT),
        seconds=time.perf_counter() - start,
        provenance={**made, "versions": provenance.versions()},
    )


def corrected(source: GramRows, picks: Indices, factor: Array, weights: Array, square: float) -> tuple[Array, float]:
    """Weights after at most three steps w ← w + (RᵀR)^{-1} X_Sᵀ(y − X_S w), as long as they lower ‖y − X_S w‖²; and that square.

    R comes from XᵀX, where small singular values of X_S lose twice the digits they have in X_S; these steps give them back.
    """
    found = source.column_products(picks, weights)
    if found is None:
        return weights, square
    for _ in range(CORRECTIONS if len(picks) else 0):
        step = back_substitution(factor, back_substitution(factor, found[0], transposed=True))
        after = source.column_products(picks, weights + step)
        if after is None or not after[1] < found[1]:
            break
        weights, gained, found = weights + step, found[1] - after[1], after
        if gained <= 1e-14 * found[1]:
            break
    return weights, found[1]


def _message(state: Selection, why: int, count: int, tolerance: float | None) -> str:
    if not state.residuals[0] > 0.0:
        return "the targets are 0, and so is w"
    if why == DONE:
        ended = f"‖r‖² ≤ {tolerance:g} ‖y‖²" if tolerance else f"the residual is 0 after {state.size}"
        return f"{count} columns" if state.size == count else ended
    left = int(np.count_nonzero(state.marks == SILENT) + np.count_nonzero(state.marks == FREE))
    if why == EXHAUSTED and left:
        return f"the residual is orthogonal to all columns, to rounding, after {state.size}"
    return f"all columns depend on the {state.size} picked, to rounding"
