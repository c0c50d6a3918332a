"""What a solve with hinges cannot do without: its multiplications and the bytes of features that it reads, counted as it runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from time import process_time
from typing import Any
from unittest.mock import patch

import numpy as np
from pairs import one_thread, seconds
from scipy.linalg.blas import dsyrk

from simopt.data.row_blocks import RowBlocks
from simopt.solvers.hinges import weight_bounds
from simopt.solvers.hinges.hinge_interior import HingeRun
from simopt.solvers.hinges.hinge_stage import WeightedFreeRows
from simopt.solvers.hinges.stage import Stage
from simopt.solvers.ordinal.threshold_interior import ThresholdInterior
from simopt.solvers.ordinal.threshold_stage import PooledFreeRows


@dataclass
class Operations:
    """Multiplications of second derivatives (lower halves) and of Cholesky's factors, bytes of features in passes, and steps of Newton."""

    derivatives: float = 0.0
    factors: float = 0.0
    bytes: float = 0.0
    steps: int = 0

    @contextmanager
    def counting(self) -> Iterator[None]:
        """Count what runs inside."""

        def before(holder: Any, name: str, note: Callable[..., None]) -> Any:
            old = getattr(holder, name)

            def noted(*args: Any, **keywords: Any) -> Any:
                note(*args)
                return old(*args, **keywords)

            return patch.object(holder, name, noted)

        def count_curvature(rows: Any, *_: Any) -> None:
            self.derivatives += 0.5 * rows.count * rows.d**2

        def all_rows(run: Any) -> None:
            self.derivatives += 0.5 * run.rows.shape[0] * run.rows.shape[1] ** 2

        def factor(H: np.ndarray, _: Any) -> None:
            self.factors += H.shape[0] ** 3 / 6

        def step(*_: Any) -> None:
            self.steps += 1

        blocks = RowBlocks.__iter__

        def read(rows: RowBlocks) -> Iterator[Any]:
            for part, block in blocks(rows):
                self.bytes += block.nbytes
                yield part, block

        with (
            before(WeightedFreeRows, "curvature", count_curvature),
            before(PooledFreeRows, "curvature", count_curvature),
            before(HingeRun, "_curvature", all_rows),
            before(ThresholdInterior, "_curvatures", all_rows),
            before(weight_bounds, "factor", factor),
            before(Stage, "newton", step),
            patch.object(RowBlocks, "__iter__", read),
        ):
            yield


def limit(label: str, features: np.ndarray, work: Callable[[], object]) -> str:
    """The operations of `work` at the pace of BLAS on these features, beside the time that it takes, all by the processor's clock."""
    counted, (n, d) = Operations(), features.shape
    with counted.counting():
        work()
    sample = np.asfortranarray(features[: 20 * d].T)
    v = np.ones(d)
    with one_thread():
        mine = min(seconds(work, process_time) for _ in range(3))
        rate = 0.5 * sample.size * d / min(seconds(lambda: dsyrk(1.0, sample, lower=1), process_time) for _ in range(5))
        repeats = max(1, 4_000_000 // (n * d))
        pace = repeats * n * d * 8 / min(seconds(lambda: [features @ v for _ in range(repeats)], process_time) for _ in range(5))
    arithmetic, reading = (counted.derivatives + counted.factors) / rate, counted.bytes / pace
    return (
        f"limit, {label}: {counted.derivatives:.1e} multiplications in second derivatives and {counted.factors:.1e} in Cholesky's factors, "
        f"{1e3 * arithmetic:.2f} ms at dsyrk's {rate / 1e9:.0f} a ns; {counted.bytes / 1e6:.0f} MB of features in passes, "
        f"{counted.bytes / (8 * n * d):.1f} times all of them, {1e3 * reading:.2f} ms at {pace / 1e9:.0f} GB/s: together "
        f"{(arithmetic + reading) / mine:.0%} of {1e3 * mine:.2f} ms; the rest is that of {counted.steps} Newton steps, their loops over "
        f"samples and calls"
    )
