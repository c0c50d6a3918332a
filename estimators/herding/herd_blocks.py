r"""Herding in blocks: the mean is a mean of means, so herds of parts are a herd of the whole (Lemma 18), and a herd can be herded again.

Points are split into disjoint groups with shares λ_i = Σ_{j in i} p_j. If ‖ω_i − ω̃_i‖ ≤ ε_i for the mean of each group, then

    ‖ω − Σ λ_i ω̃_i‖ ≤ Σ λ_i ε_i ≤ max ε_i          (van Rooyen, Menon & Williamson 2015, Lemma 18).

Errors of random groups point in different directions, and the union is better than that by about the root of their number. A certificate of
the whole shows it (`certify=True`, n²/2 similarities). Groups are herded through joblib, so the same call runs in processes, threads or,
under `joblib.parallel_config(backend="dask")`, on a Dask cluster.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from simopt.core import validate
from simopt.core.arrays import Array
from simopt.core.errors import Interrupted, InvalidProblem, UnknownName
from simopt.core.threads import hands, in_order
from simopt.data.rows import MEMORY, Indices
from simopt.data.similarities import Similarity, SimilarityRule
from simopt.data.similarities.defaults import DEFAULT_OF_RECIPES
from simopt.estimators.herding.herd_error import error_bound
from simopt.estimators.herding.herd_record import Herd
from simopt.estimators.herding.herd_task import HerdProgress, herd_whole
from simopt.solvers.herding.gaussian_tiles import Fast
from simopt.solvers.herding.mean_embedding import MeanEmbedding, embed
from simopt.solvers.herding.sample import EPS, WeightedSample
from simopt.solving import provenance

OPTIONS = ("steps", "reweight", "precision", "max_iter")  # of `herd` that a block takes as they are


def partition(n: int, block_size: int, seed: int | None = 0) -> list[Indices]:
    """Disjoint groups of at most `block_size` of n indices, of sizes that differ by 1 at most: at random, or (None) consecutive."""
    size, n = validate.whole("block_size", block_size, minimum=1), validate.whole("n", n, minimum=1)
    order = np.arange(n) if seed is None else np.random.default_rng(validate.seed("seed", seed)).permutation(n)
    return [np.sort(part) for part in np.array_split(order, math.ceil(n / size))]


def herd_blocks(
    points: Any,
    labels: npt.ArrayLike | None,
    similarity: str | SimilarityRule | Similarity = DEFAULT_OF_RECIPES,
    *,
    block_size: int,
    error: float | None = None,
    atoms: int | None = None,
    target: npt.ArrayLike | None = None,
    jobs: int | None = None,
    seed: int | None = 0,
    certify: bool = False,
    finished: Mapping[int, Herd] | None = None,
    memory: float = MEMORY,
    progress: Callable[[HerdProgress], None] | None = None,
    **options: Any,
) -> Herd:
    """The union of herds of disjoint groups of at most `block_size` points, weighted by the groups' shares.

    Parameters
    ----------
    points, labels, similarity, target, memory
        as in `herd`.
    error, atoms
        asked of every block; the error also of the union.
    jobs : int, optional
        of joblib's `Parallel`; None takes what `joblib.parallel_config` says (one, if nothing), or the threads of `threads.at_once`.
    seed : int or None
        groups are drawn at random; None takes consecutive points.
    certify : bool
        also bound the union's error by itself, and keep the better bound: n²/2 similarities.
    finished : mapping, optional
        herds of blocks that were done when an earlier call was interrupted; with the same arguments the others are added. Their points are
        checked to be those of these blocks; their errors are believed.
    progress : callable, optional
        called with blocks done, atoms, the largest error of a block, and seconds.
    **options
        `steps`, `reweight`, `precision`, `max_iter` of `herd`.

    Raises
    ------
    InvalidProblem
        as `herd`; for a finished herd that is not one of its block.
    UnknownName
        for an option that blocks do not take.
    Interrupted
        on Ctrl-C; `done` has the herds of the blocks that were done, for `finished`.
    """
    start = time.perf_counter()
    _known("herd_blocks", options, OPTIONS)
    sample = WeightedSample.of(points, labels, similarity, target, memory=memory)
    target_error = None if error is None else validate.positive("error", error)
    groups = [group[sample.target[group] > 0.0] for group in partition(sample.n, block_size, seed)]
    smallest = min(len(group) for group in groups)
    if atoms is not None and validate.whole("atoms", atoms, minimum=1) > smallest:
        raise InvalidProblem(f"atoms: {atoms} asked of each block, but a block has only {smallest} points")
    if jobs is not None:
        jobs = validate.jobs("jobs", jobs, len(groups))
    done = _finished(sample, groups, finished or {})
    todo = [i for i, group in enumerate(groups) if len(group) and i not in done]
    settings = {**options, "error": target_error, "atoms": atoms, "memory": memory}
    try:
        for i, result in _in_parallel(sample, groups, todo, settings, jobs):
            done[i] = result
            if progress is not None:
                worst = max(part.error for part in done.values())
                progress(HerdProgress(len(done), sum(len(part) for part in done.values()), worst, time.perf_counter() - start))
    except KeyboardInterrupt:
        raise Interrupted(done) from None
    return _union(sample, groups, done, target_error, certify, start)


def _known(call: str, options: Mapping[str, Any], allowed: tuple[str, ...]) -> None:
    for name in options:
        if name not in allowed:
            raise UnknownName(f"option of {call}", name, allowed)


def _finished(sample: WeightedSample, groups: list[Indices], finished: Mapping[int, Herd]) -> dict[int, Herd]:
    """The herds given, if each has points of its block: a herd of other blocks would make the bound of the union wrong."""
    for i, part in finished.items():
        if i not in range(len(groups)):
            raise InvalidProblem(f"finished: block {i!r}, but there are only the blocks 0 to {len(groups) - 1}")
        size = len(groups[i])
        same = part.provenance.get("n") == size and part.similarity == sample.similarity and np.all(part.indices < size)
        if same:
            rows = groups[i][part.indices]
            same = np.array_equal(sample.rows.take(rows), part.points) and np.array_equal(sample.labels[rows], part.labels)
        if not same:
            raise InvalidProblem(f"finished: the herd of block {i} is not one of its {size} points; give the arguments of the earlier call")
    return dict(finished)


def _in_parallel(
    sample: WeightedSample, groups: list[Indices], todo: list[int], settings: dict[str, Any], jobs: int | None
) -> Iterator[tuple[int, Herd]]:
    tasks = (
        (i, sample.rows.take(groups[i]), sample.labels[groups[i]], sample.similarity, sample.target[groups[i]], settings) for i in todo
    )
    if jobs is None and hands() > 1:
        yield from in_order(lambda task: _herd_one(*task), tasks)
        return
    from joblib import Parallel, delayed

    yield from Parallel(n_jobs=jobs, return_as="generator_unordered")(delayed(_herd_one)(*task) for task in tasks)


def _herd_one(
    number: int, points: Array, labels: Array, similarity: Similarity, target: Array, settings: dict[str, Any]
) -> tuple[int, Herd]:
    return number, herd_whole(points, labels, similarity, target=target / np.sum(target), **settings)


def _union(
    sample: WeightedSample, groups: list[Indices], done: Mapping[int, Herd], target_error: float | None, certify: bool, start: float
) -> Herd:
    parts = [(groups[i], float(np.sum(sample.target[groups[i]])), done[i]) for i in sorted(done)]
    indices = np.concatenate([group[part.indices] for group, _, part in parts])
    weights = np.concatenate([share * part.weights for _, share, part in parts])
    weights = weights / math.fsum(weights)
    # shares, weights divided by them and put together again are off by a few units of themselves
    rounding = 16.0 * EPS * (1.0 + math.log2(sample.n + 1.0)) * float(sample.target @ sample.lengths() + np.max(sample.lengths()))
    bound = (math.fsum(share * part.error for _, share, part in parts) + rounding) * (1.0 + 8.0 * EPS)
    message = f"{len(parts)} block{'' if len(parts) == 1 else 's'}, Lemma 18"
    if certify:
        direct = error_bound(sample, whole_embedding(sample), indices, weights).error
        message += f" gives {bound:.6g}, a certificate of the union {direct:.6g}"
        bound = min(bound, direct)
    first = next(iter(done.values()))
    blocks = [{"points": len(group), "atoms": len(part), "error": part.error, "message": part.message} for group, _, part in parts]
    return Herd(
        indices=indices,
        weights=weights,
        points=np.concatenate([part.points for _, _, part in parts]),
        labels=np.concatenate([part.labels for _, _, part in parts]),
        similarity=sample.similarity,
        error=bound,
        target_error=target_error,
        reached=target_error is None or bound <= target_error,
        message=message,
        picks=np.concatenate([group[part.picks] for group, _, part in parts]),
        seconds=time.perf_counter() - start,
        provenance={**first.provenance, "n": sample.n, "blocks": blocks, "versions": dict(provenance.versions())},
    )


def whole_embedding(sample: WeightedSample) -> MeanEmbedding:
    """The mean of all points in the precision in which a certificate is computed."""
    return embed(sample, Fast.of(sample.similarity, sample.rows, "float64"))


def herd_again(
    points: Any,
    labels: npt.ArrayLike | None,
    similarity: str | SimilarityRule | Similarity = DEFAULT_OF_RECIPES,
    *,
    error: float,
    until: int,
    block_size: int | None = None,
    seed: int | None = 0,
    certify: bool = True,
    memory: float = MEMORY,
    **options: Any,
) -> list[Herd]:
    """Recursive herding: herd the data to ε, then the herd (a weighted mean of its atoms) to ε, and so on.

    Ends at `until` atoms or fewer, or when a level has as many atoms as the one before. The error of level r is at most that of level r − 1
    plus what the step added. With `certify` it is also bounded directly, and the better bound is kept. With a `block_size` every level is
    herded in blocks. `indices` of every level are indices of the data. Every step has the error ε (`provenance["step_error"]`); `error` and
    `reached` are about the distance to the mean of the data, which may grow from level to level.

    Source: van Rooyen, Menon & Williamson 2015, §8, where levels follow until 100 points are left.

    Raises
    ------
    InvalidProblem
        as `herd`.
    UnknownName
        for an option that has no meaning here: a target and candidates are of one level only.
    """
    _known("herd_again", options, ("atoms", "jobs", "progress", *OPTIONS))
    sample = WeightedSample.of(points, labels, similarity, memory=memory)
    least = validate.whole("until", until, minimum=1)
    known = whole_embedding(sample) if certify else None
    jobs = options.pop("jobs", None)
    step = herd_whole if block_size is None else partial(herd_blocks, block_size=block_size, jobs=jobs, seed=seed)
    levels: list[Herd] = []
    here = np.arange(sample.n)
    target: Array | None = None
    while True:
        source = sample.rows if target is None and block_size is None else sample.rows.take(here)
        result = step(source, sample.labels[here], sample.similarity, error=error, target=target, memory=memory, **options)
        indices = here[result.indices]
        bound = result.error + (levels[-1].error if levels else 0.0)
        if known is not None:
            bound = min(bound, error_bound(sample, known, indices, result.weights).error)
        stuck = len(result) >= len(here)
        if stuck and levels:
            return levels
        levels.append(_level(result, indices, here[result.picks], bound * (1.0 + 4.0 * EPS), sample.n, len(levels)))
        if stuck or len(result) <= least:
            return levels
        here, target = indices, result.weights


def _level(result: Herd, indices: Indices, picks: Indices, bound: float, n: int, level: int) -> Herd:
    record = {**result.provenance, "n": n, "level": level, "step_error": result.error}
    message = f"level {level}, {result.error:.3g} from the one before"
    reached = result.target_error is None or bound <= result.target_error
    return replace(result, indices=indices, picks=picks, error=bound, reached=reached, message=message, provenance=record)
