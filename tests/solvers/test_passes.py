"""Passes over streamed features: how many a solve takes, and that one pass reads what several would have read.

Also that the certificate is about the data whose fingerprint is on record.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pytest

from simopt.arithmetic import FLOAT, INTERVAL
from simopt.core.threads import at_once
from simopt.data.row_blocks import Request, RowBlocks, RowPass
from simopt.model.problem import with_digest
from simopt.model.status import Status
from simopt.problems.bounds import Ball, Penalty
from simopt.problems.landmarked_svr import LandmarkedSVR
from simopt.problems.sparse_landmarked import SparseLandmarked
from simopt.solvers.hinges.hinge_stage import HingeStage, at_zero
from simopt.solvers.hinges.two_hinges import Hinges
from simopt.solvers.hinges.weight_bounds import QuadraticPenalty
from simopt.solving.entry_points import certify, solve
from simopt.solving.solution import Iterate
from simopt.solving.solver import SolverSpec


class Written(NamedTuple):
    """A memory map, the rows in memory, and targets."""

    mapped: np.memmap
    X: np.ndarray
    y: np.ndarray


def written(folder: Any, n: int = 40_000, d: int = 30) -> Written:
    rng = np.random.default_rng(5)
    X = rng.normal(size=(n, d)) / np.sqrt(d)
    y = X @ rng.normal(size=d) + 0.3 * rng.laplace(size=n)
    mapped = np.memmap(folder / "features", dtype=np.float64, mode="w+", shape=X.shape)
    mapped[:] = X
    mapped.flush()
    return Written(np.memmap(folder / "features", dtype=np.float64, mode="r", shape=X.shape), X, y)


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks so small that little data are many of them."""
    monkeypatch.setattr("simopt.data.row_blocks.RESIDENT", 1000)
    monkeypatch.setattr("simopt.solvers.hinges.newton.FAR", 1e6)
    monkeypatch.setattr("simopt.problems.losses.insensitive.LARGE", 1 << 16)
    monkeypatch.setattr(RowBlocks.__init__, "__defaults__", (1 << 15,))


def counted(monkeypatch: pytest.MonkeyPatch, n: int) -> list[str]:
    """Passes over all n rows, and rows taken out of them, as they come."""
    passes: list[str] = []
    read, take = RowBlocks.__iter__, RowBlocks.take

    def blocks(rows: RowBlocks) -> Iterator[Any]:
        if rows.shape[0] == n:
            passes.append("pass")
        return read(rows)

    def taken(rows: RowBlocks, chosen: Any) -> Any:
        if rows.shape[0] == n:
            passes.append("rows")
        return take(rows, chosen)

    monkeypatch.setattr(RowBlocks, "__iter__", blocks)
    monkeypatch.setattr(RowBlocks, "take", taken)
    return passes


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("bound", [Penalty(1e-3), Ball(3.0)])
def test_a_streamed_solve_takes_ten_passes(tmp_path: Any, monkeypatch: pytest.MonkeyPatch, bound: Any) -> None:
    """The checks, the unit of the features with the fingerprint, the solver, and the certificate with the fingerprint once more."""
    da = pytest.importorskip("dask.array")
    mapped, X, y = written(tmp_path)
    monkeypatch.setattr("simopt.certificates.assessment.PERTURBATION_LIMIT", 1e-4)  # as so many samples have it as are streamed
    passes = counted(monkeypatch, len(y))
    found = solve(LandmarkedSVR(da.from_array(mapped, chunks=(9000, 30)), y, bound, 0.1), tol=1e-9)
    assert found.optimal and len(passes) <= 10
    assert found.value == pytest.approx(solve(LandmarkedSVR(X, y, bound, 0.1), tol=1e-10).value, abs=1e-9)


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("kind", ["memory map", "Dask array", "float32"])
def test_the_digest_of_a_pass_is_the_fingerprint(tmp_path: Any, kind: str) -> None:
    mapped, X, y = written(tmp_path, 6000, 7)
    features: Any = X
    if kind == "memory map":
        features = mapped
    elif kind == "Dask array":
        features = pytest.importorskip("dask.array").from_array(mapped, chunks=(700, 3))
    else:
        other = np.memmap(tmp_path / "single", dtype=np.float32, mode="w+", shape=X.shape)
        other[:] = X
        features = other
    for problem in (LandmarkedSVR(features, y, Ball(1.0), 0.1), SparseLandmarked(features, y, 1.0, weights=np.arange(6000.0))):
        reader, digest = with_digest(problem)
        assert digest() is None, "nothing has been read"
        reader.normalised()
        # of float32 blocks are made, and the file is what is hashed
        assert digest() == (None if kind == "float32" else problem.fingerprint())
        reader.normalised()
        assert digest() is None, "read twice: which of the two was it?"
        reader, digest = with_digest(problem)
        assert reader.row_pass is not None
        next(iter(reader.row_pass))
        assert digest() is None, "not all of it"
        reader, digest = with_digest(problem)
        problem.normalised()
        assert digest() is None, "read by somebody else"


def test_consumers_join_one_pass() -> None:
    X = np.random.default_rng(4).normal(size=(1000, 3))
    for count in (1, 2):
        rows, own, others = RowPass(X, 200), [], []
        rows.join(lambda part, block, own=own: own.append(block))  # type: ignore[misc]
        rows.join(lambda part, block, others=others: others.append(part))  # type: ignore[misc]
        with at_once(count):
            for _ in rows:
                pass
            for _ in rows:
                pass
        np.testing.assert_array_equal(np.concatenate(own), X)
        assert others == rows.parts and rows.begun == rows.finished == 2


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("when", ["for good", "while it is judged"])
def test_the_certificate_is_about_the_data_on_record(tmp_path: Any, monkeypatch: pytest.MonkeyPatch, when: str) -> None:
    """Others write on the file before the one pass of the judge: what it reads is not what was read at first."""
    mapped, X, y = written(tmp_path, 5000, 7)
    monkeypatch.setattr("simopt.certificates.assessment.PERTURBATION_LIMIT", 0.0)
    problem = LandmarkedSVR(mapped, y, Penalty(1e-3), 0.1)
    other = np.memmap(mapped.filename, dtype=mapped.dtype, mode="r+", shape=mapped.shape)
    mark, answer = problem.fingerprint(), solve(LandmarkedSVR(X, y, Penalty(1e-3), 0.1), tol=1e-11)
    spoiled = answer.multipliers

    def writes(arguments: LandmarkedSVR, *, tol: float) -> Iterator[Iterate]:
        scale = float(np.max(np.abs(arguments.targets)) / np.max(np.abs(y)))
        other[-1] = 2.0 * X[-1]
        try:
            yield Iterate({"w": answer.point["w"] * scale}, spoiled, 0.0)
        finally:
            if when == "while it is judged":
                other[-1] = X[-1]

    monkeypatch.setattr("simopt.solving.driver.choose", lambda *_: SolverSpec("writes", writes, (LandmarkedSVR,), "", None, 0))
    found = solve(problem, tol=1e-3)
    if when == "for good":
        assert found.status is Status.FAILED and "changed during the solve" in found.message and found.certificate is None
    else:  # judged anew, from the data on record
        assert found.provenance.fingerprint == mark and found.certificate == certify(problem, found.point, found.multipliers)


@pytest.mark.usefixtures("small_blocks")
def test_products_that_are_prefetched_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    plain = RowPass(rng.normal(size=(5000, 11)))
    w, v = rng.normal(size=11), [rng.normal(size=part.stop - part.start) for part in plain.parts]
    passes = counted(monkeypatch, 5000)
    rows = plain.for_one_evaluation()
    rows.prefetch(
        [Request("matvec", FLOAT, w), Request("matvec", INTERVAL, INTERVAL.lift(w)), Request("rmatvec", FLOAT, v)], lambda part, f: 2.0 * f
    )
    assert len(passes) == 1
    images = rows.matvec(FLOAT, w), rows.matvec(INTERVAL, INTERVAL.lift(w))
    pulls = rows.rmatvec(FLOAT, v), rows.rmatvec(FLOAT, [2.0 * part for part in images[0]])
    assert len(passes) == 1
    for mine, its in zip(images[0], plain.matvec(FLOAT, w), strict=True):
        np.testing.assert_array_equal(mine, its)
    for mine, its in zip(images[1], plain.matvec(INTERVAL, INTERVAL.lift(w)), strict=True):
        np.testing.assert_array_equal(mine.mid, its.mid)
        np.testing.assert_array_equal(mine.rad, its.rad)
    np.testing.assert_array_equal(pulls[0], plain.rmatvec(FLOAT, v))
    np.testing.assert_array_equal(pulls[1], plain.rmatvec(FLOAT, [2.0 * part for part in images[0]]))


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("bound", [Penalty(1e-3), Ball(0.7)])
@pytest.mark.parametrize(("limit", "most"), [(0.0, 1), (1.0, 2)])  # perturbed in vain, there is another pass for intervals
def test_a_certificate_of_one_pass_is_that_of_many(bound: Any, limit: float, most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    X = np.random.default_rng(2).normal(size=(20_000, 9))
    y = X[:, 0] + np.sin(np.arange(20_000.0))
    problem = LandmarkedSVR(X, y, bound, 0.1)
    found = solve(problem, tol=1e-7)
    monkeypatch.setattr("simopt.certificates.assessment.PERTURBATION_LIMIT", limit)
    passes = counted(monkeypatch, 20_000)
    one = certify(problem, found.point, found.multipliers)
    few = len(passes)
    monkeypatch.setattr(LandmarkedSVR, "prefetch", lambda *_: None)
    assert certify(problem, found.point, found.multipliers) == one
    assert few <= most < len(passes) - few


def stage_of(X: np.ndarray, y: np.ndarray) -> HingeStage:
    n = len(y)
    stage = at_zero(RowBlocks(X, 700), Hinges(y - 0.1, y + 0.1, np.full(n, 1.0 / n)), QuadraticPenalty(1e-3))
    stage.w, stage.width = np.linspace(-1.0, 1.0, X.shape[1]), 0.2
    return stage


def test_landing_is_entering_and_changing_the_width() -> None:
    X = np.random.default_rng(3).normal(size=(1000, 5))
    y = X @ np.arange(5.0)
    one, other = stage_of(X, y), stage_of(X, y)
    one.enter()
    one.recentre(0.1)
    one.sweep()
    other.land(0.1)
    for a, b in ((one.f, other.f), (one.pull, other.pull), *zip(one.multipliers, other.multipliers, strict=True)):
        np.testing.assert_array_equal(a, b)
    for a, b in zip(one.centres, other.centres, strict=True):
        np.testing.assert_array_equal(a, b)
    assert one.width == other.width and one.rest == pytest.approx(other.rest, rel=1e-12)
    np.testing.assert_allclose(one.g, other.g, rtol=0.0, atol=1e-12 * np.max(np.abs(one.g)))
    np.testing.assert_allclose(one.curvature(), other.curvature(), rtol=1e-12)


@pytest.mark.parametrize("chosen", [slice(3, None, 8), slice(0, None, 1), slice(999, None, 50), slice(120, None, 333)])
def test_rows_are_copied_as_a_pass_goes_by(chosen: slice) -> None:
    X = np.random.default_rng(4).normal(size=(1000, 3))
    rows = RowPass(X, 200)
    rows.copy_ahead(chosen)
    np.testing.assert_array_equal(np.concatenate([block for _, block in rows]), X)
    X[:] = 0.0  # what is taken was read before
    held = rows.take(chosen)
    assert held.any() and not rows.take(chosen).any(), "once"


@pytest.mark.usefixtures("small_blocks")
def test_a_working_set_that_claims_too_much_is_found_out(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Frozen samples that cross their kinks are no matter of a working set's gap: the certificate stays open, and the solver goes on."""
    mapped, X, y = written(tmp_path, 20_000, 8)
    claims: list[float] = []
    adopt = HingeStage.adopt

    def spy(stage: HingeStage, own: HingeStage, rows: np.ndarray) -> None:
        adopt(stage, own, rows)
        if not claims:  # as if frozen samples had been far on the other side
            stage.w = 1.5 * stage.w
        claims.append(stage.gap)

    monkeypatch.setattr(HingeStage, "adopt", spy)
    found = solve(LandmarkedSVR(mapped, y, Penalty(1e-3), 0.1), tol=1e-9)
    assert len(claims) > 1 and found.optimal
    assert certify(LandmarkedSVR(X, y, Penalty(1e-3), 0.1), found.point, found.multipliers).relative_gap <= 1e-9
