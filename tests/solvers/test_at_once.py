"""Several threads for the blocks of one computation: the same results to the last bit, whatever their number."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from simopt.core.errors import InvalidProblem
from simopt.core.threads import at_once, hands, in_order
from simopt.data.similarities import Gaussian
from simopt.estimators.herding.herd import herd
from simopt.problems.bounds import Ball, Penalty
from simopt.problems.exc_ordinal import EXCOrdinal
from simopt.problems.landmarked_svr import LandmarkedSVR
from simopt.solvers.herding.mean_embedding import mean_embedding
from simopt.solvers.herding.mean_function import mean_function
from simopt.solving.entry_points import certify, solve

COUNTS = (1, 2, 5)


def test_what_is_found_comes_in_order_and_the_threads_are_those_asked_for() -> None:
    busy, most, lock = [0], [0], threading.Lock()

    def work(i: int) -> int:
        with lock:
            busy[0] += 1
            most[0] = max(most[0], busy[0])
        time.sleep(0.002 * (5 - i % 5))
        with lock:
            busy[0] -= 1
        return i

    assert hands() == 1 and list(in_order(work, range(10))) == list(range(10)) and most == [1]
    with at_once(3):
        assert hands() == 3 and list(in_order(work, range(20))) == list(range(20)) and most == [3]
        with at_once(1):
            assert hands() == 1
        assert list(in_order(lambda i: (hands(), sum(in_order(abs, range(i)))), range(4))) == [(1, 0), (1, 0), (1, 1), (1, 3)]
    assert hands() == 1


def test_items_are_made_when_memory_admits_them() -> None:
    made: list[int] = []

    def items() -> Iterator[int]:
        for i in range(100):
            made.append(i)
            yield i

    with at_once(2):
        found = in_order(abs, items())
        assert next(found) == 0 and len(made) <= 5


def test_an_error_comes_out_and_what_is_under_way_is_waited_for() -> None:
    done: list[int] = []

    def work(i: int) -> None:
        if i == 0:
            raise ValueError("the first")
        time.sleep(0.02)
        done.append(i)

    with at_once(2):
        with pytest.raises(ValueError, match="the first"):
            list(in_order(work, range(5)))
        before = len(done)
        time.sleep(0.05)
        assert len(done) == before, "nothing writes on anything any more"


@pytest.mark.parametrize("count", [0, -1, 1.5, "two", None])
def test_a_count_is_a_whole_number_above_0(count: Any) -> None:
    with pytest.raises(InvalidProblem, match="count"), at_once(count):
        pass


def test_linear_algebra_takes_one_thread_for_each() -> None:
    from threadpoolctl import threadpool_info

    with at_once(2):
        assert all(pool["num_threads"] == 1 for pool in threadpool_info())


def same(answers: list[Any]) -> None:
    for other in answers[1:]:
        for a, b in zip(answers[0], other, strict=True):
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("precision", ["float32", "float64", "direct"])
@pytest.mark.parametrize("memory", [2**28, 40_000])
def test_gram_tiles(precision: str, memory: float) -> None:
    """In one triangle, and in blocks that are read one after another."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(1500, 5)), np.sign(rng.normal(size=1500))
    found = []
    for count in COUNTS:
        with at_once(count):
            mean = mean_embedding(X, y, Gaussian(4.0), precision=precision, memory=memory)
            found.append([mean.values, mean.square, mean.value_errors, mean.square_error])
    same(found)
    gram = np.exp(-((X[:, None] - X) ** 2).sum(axis=2) / 4.0)
    exact = y * (gram @ (y / 1500))
    assert np.all(np.abs(found[0][0] - exact) <= found[0][2] + 1e-13)


def test_decisions_of_the_mean() -> None:
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(1200, 4)), np.sign(rng.normal(size=1200))
    f = mean_function(X, y, Gaussian(3.0))
    found = []
    for count in COUNTS:
        with at_once(count):
            found.append([f.decision(X[::2])])
    same(found)


def test_blocks_of_a_herd() -> None:
    rng = np.random.default_rng(2)
    X, y = rng.uniform(size=(900, 3)), np.sign(rng.normal(size=900))
    found = []
    for count in COUNTS:
        with at_once(count):
            made = herd(X, y, Gaussian(1.0), block_size=200, atoms=10)
            found.append([made.indices, made.weights, made.error])
    same(found)


@pytest.mark.parametrize("bound", [Penalty(1e-3), Ball(2.0)])
@pytest.mark.parametrize("far", [1e5, 1e9])
def test_streamed_sweeps(bound: Any, far: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("simopt.solvers.hinges.newton.FAR", far)
    monkeypatch.setattr("simopt.problems.losses.insensitive.LARGE", 1 << 14)
    monkeypatch.setattr("simopt.data.row_blocks.RowBlocks.__init__.__defaults__", (1 << 13,))
    rng = np.random.default_rng(3)
    X = rng.normal(size=(9000, 20))
    y = X @ rng.normal(size=20) + 0.3 * rng.laplace(size=9000)
    problem = LandmarkedSVR(X, y, bound, 0.1)
    found = []
    for count in COUNTS:
        with at_once(count):
            solution = solve(problem, tol=1e-9)
            judged = certify(problem, solution.point, solution.multipliers)
        assert solution.optimal and solution.point is not None and solution.multipliers is not None
        found.append(
            [solution.point["w"], *solution.multipliers.values(), judged.upper, judged.lower, judged.gap, solution.provenance.iterations]
        )
    same(found)


def test_thresholds_that_are_learned(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sums over thresholds go through all blocks: these are not worked on at once, and nothing breaks."""
    monkeypatch.setattr("simopt.data.row_blocks.RowBlocks.__init__.__defaults__", (1 << 12,))
    problem = next(example.problem for example in EXCOrdinal.examples(np.random.default_rng(0)) if not example.degenerate)
    found = []
    for count in COUNTS:
        with at_once(count):
            solution = solve(problem, tol=1e-8)
        assert solution.optimal and solution.point is not None
        found.append(list(solution.point.values()))
    same(found)
