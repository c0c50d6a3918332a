r"""Herding: a few labelled points whose weighted mean lies within ε of the mean of all of them, with a proof.

ω = Σ p_i y_i φ(x_i) is the mean classifier. `herd` picks points and weights by Frank–Wolfe steps (van Rooyen, Menon & Williamson 2015, §6)
until ‖ω − ω̃‖ ≤ ε. It returns a `Herd` whose `error` is a bound that holds in exact arithmetic. An ε may be out of reach: the hull of the
candidates is too far, float64 has no more digits, the steps or atoms allowed are used up. Then the herd says so; nothing loops.

Time is spent on ⟨ω, ψ_i⟩ and ‖ω‖², n²/2 similarities. For Gaussian similarities that is done in float32 first if the bound on its rounding
leaves a margin below ε. When the run comes near that bound, it is done again in float64, and the run goes on from where it was.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy.typing as npt

from simopt.core.errors import InvalidProblem
from simopt.data.rows import MEMORY
from simopt.data.similarities import Similarity, SimilarityRule
from simopt.data.similarities.defaults import DEFAULT_OF_RECIPES
from simopt.estimators.herding.herd_blocks import herd_blocks
from simopt.estimators.herding.herd_record import Herd
from simopt.estimators.herding.herd_task import HerdProgress, herd_whole
from simopt.solvers.herding.frank_wolfe_steps import StepRule

__all__ = ["Herd", "HerdProgress", "herd"]


def herd(
    points: Any,
    labels: npt.ArrayLike | None,
    similarity: str | SimilarityRule | Similarity = DEFAULT_OF_RECIPES,
    *,
    error: float | None = None,
    atoms: int | None = None,
    steps: str | StepRule = "uniform",
    reweight: bool = False,
    candidates: npt.ArrayLike | None = None,
    target: npt.ArrayLike | None = None,
    precision: str = "auto",
    max_iter: int | None = None,
    memory: float = MEMORY,
    progress: Callable[[HerdProgress], None] | None = None,
    block_size: int | None = None,
    jobs: int | None = None,
    seed: int | None = 0,
) -> Herd:
    """Weighted points with ‖ω − Σ_j w_j y_j φ(x_j)‖ ≤ ε, ω = Σ p_i y_i φ(x_i).

    Parameters
    ----------
    points : (n, p) array, memory map or Dask array
    labels : (n,) array or None
        y_i = ±1, one class allowed; None: all +1.
    similarity : str, SimilarityRule or Similarity
        positive semidefinite.
    error : float, optional
        ε > 0, in the norm of the space; at least one of `error` and `atoms` is needed.
    atoms : int, optional
        the most points that may have weight; steps end when another one would be picked.
    steps : str or StepRule
        "uniform" (kernel herding: every pick weighs the same; cheapest), "line-search", "away", "pairwise", "blended" or
        "fully-corrective" (few atoms); or a rule of one's own, see `simopt.solvers.herding.frank_wolfe_steps.StepRule`.
    reweight : bool
        at the end, solve for the best weights on the atoms found.
    candidates : array of indices, optional
        the points that may be picked; all by default.
    target : (n,) array, optional
        p ≥ 0 with sum 1; 1/n each by default.
    precision : str
        "auto", or where to begin: "float32", "float64", "direct" (see `mean_embedding`). The error is certified in any case.
    max_iter : int, optional
        the most steps.
    memory : float
        bytes for blocks and columns, beside the points (and a copy or two of them, if they are in memory) and vectors of n numbers.
    progress : callable, optional
        called with a `HerdProgress` a few times a second.
    block_size, jobs, seed : int
        with a `block_size`, herd blocks of at most so many points in parallel and return the union: see `herd_blocks`. (A herd of a herd,
        and so on: `simopt.estimators.herding.herd_blocks.herd_again`.)

    Raises
    ------
    InvalidProblem
        labels that are not ±1 (with the index), lengths that disagree, values that are not finite, ε ≤ 0, more atoms than points, a
        similarity that is not positive semidefinite.
    Interrupted
        on Ctrl-C once there are atoms; `done` is the herd so far, with its certified error.
    """
    if block_size is not None and candidates is not None:
        raise InvalidProblem("candidates: not with block_size, where every block has its own points as candidates")
    options: dict[str, Any] = {"error": error, "atoms": atoms, "steps": steps, "reweight": reweight, "precision": precision}
    options |= {"max_iter": max_iter, "target": target, "memory": memory, "progress": progress}
    if block_size is not None:
        return herd_blocks(points, labels, similarity, block_size=block_size, jobs=jobs, seed=seed, **options)
    return herd_whole(points, labels, similarity, candidates=candidates, **options)
