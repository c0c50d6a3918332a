"""Herds of blocks: Lemma 18 against the true error, every way joblib can run it, what an interrupt keeps, herds of herds."""

import pickle

import joblib
import numpy as np
import pytest
from labelled_points import sample

from simopt.core.errors import Interrupted, InvalidProblem, UnknownName
from simopt.data.similarities import Gaussian, Linear
from simopt.estimators.herding import herd_blocks as module
from simopt.estimators.herding.herd import Herd, herd
from simopt.estimators.herding.herd_blocks import herd_again, herd_blocks, partition
from simopt.solvers.herding.frank_wolfe import STEPS

KERNEL = Gaussian(6.0)


def true_error(result, x, y, kernel=KERNEL, p=None):
    c = np.full(len(x), 1 / len(x)) if p is None else p.copy()
    np.subtract.at(c, result.indices, result.weights)
    return np.sqrt(max((y * c) @ kernel(x, x) @ (y * c), 0.0))


def test_partitions_are_disjoint_and_complete():
    for n, size in ((10, 3), (12, 4), (5, 9), (1, 1)):
        for seed in (0, None):
            parts = partition(n, size, seed)
            assert sorted(np.concatenate(parts)) == list(range(n))
            assert max(map(len, parts)) <= size and max(map(len, parts)) - min(map(len, parts)) <= 1
    assert [list(part) for part in partition(7, 3, None)] == [[0, 1, 2], [3, 4], [5, 6]]
    assert not np.array_equal(np.concatenate(partition(50, 50, 1)), np.concatenate(partition(50, 9, 1)))
    with pytest.raises(InvalidProblem, match="block_size"):
        partition(5, 0)


@pytest.mark.parametrize("steps", list(STEPS))
def test_the_error_of_the_union_is_at_most_the_mean_of_the_errors(steps):
    x, y = sample(230)
    p = np.random.default_rng(2).exponential(size=230)
    p /= p.sum()
    for target in (None, p):
        found = herd_blocks(x, y, KERNEL, block_size=60, error=0.05, steps=steps, target=target, reweight=True)
        blocks = found.provenance["blocks"]
        assert [block["points"] for block in blocks] == [58, 58, 57, 57]
        shares = [1 / 230 * 58, 1 / 230 * 58, 1 / 230 * 57, 1 / 230 * 57]
        if target is not None:
            shares = [p[part].sum() for part in partition(230, 60)]
        mean = np.dot(shares, [block["error"] for block in blocks])
        assert true_error(found, x, y, p=target) <= found.error + 1e-12
        assert found.error == pytest.approx(mean, rel=1e-9) and found.error <= 0.05 and found.reached
        assert len(found) == sum(block["atoms"] for block in blocks)
        assert found.weights.sum() == pytest.approx(1, abs=1e-14) and found.weights.min() > 0
        for part, share in zip(partition(230, 60), shares, strict=True):
            inside = np.isin(found.indices, part)
            assert found.weights[inside].sum() == pytest.approx(share, abs=1e-13)
        np.testing.assert_array_equal(found.points, x[found.indices])
        np.testing.assert_array_equal(found.labels, y[found.indices])


def test_every_block_is_a_herd_of_its_own():
    x, y = sample(90)
    found = herd_blocks(x, y, KERNEL, block_size=30, error=0.1)
    start = 0
    for part in partition(90, 30):
        alone = herd(x[part], y[part], KERNEL, error=0.1)
        np.testing.assert_array_equal(found.indices[start : start + len(alone)], part[alone.indices])
        np.testing.assert_allclose(found.weights[start : start + len(alone)], alone.weights / 3, atol=1e-15)
        start += len(alone)


def test_certifying_the_union_shows_that_errors_average_out():
    x, y = sample(400, seed=5)
    loose = herd_blocks(x, y, KERNEL, block_size=25, error=0.08)
    tight = herd_blocks(x, y, KERNEL, block_size=25, error=0.08, certify=True)
    assert tight.error < 0.5 * loose.error
    assert true_error(tight, x, y) <= tight.error <= true_error(tight, x, y) + 1e-9


@pytest.mark.parametrize("backend", ["sequential", "threading", "loky"])
def test_any_backend_gives_the_same_herd(backend):
    x, y = sample(120)
    one = herd_blocks(x, y, KERNEL, block_size=40, error=0.1)
    with joblib.parallel_config(backend=backend, n_jobs=2):
        two = herd_blocks(x, y, KERNEL, block_size=40, error=0.1)
    np.testing.assert_array_equal(one.indices, two.indices)
    np.testing.assert_array_equal(one.weights, two.weights)
    assert one.error == two.error


def test_on_a_dask_cluster():
    distributed = pytest.importorskip("distributed")
    x, y = sample(120)
    one = herd_blocks(x, y, KERNEL, block_size=40, error=0.1)
    cluster = distributed.LocalCluster(n_workers=1, threads_per_worker=2, processes=False, dashboard_address=None)
    with cluster, distributed.Client(cluster), joblib.parallel_config(backend="dask"):
        two = herd_blocks(x, y, KERNEL, block_size=40, error=0.1)
        three = herd(x, y, KERNEL, error=0.1, block_size=40)
    for other in (two, three):
        np.testing.assert_array_equal(one.indices, other.indices)
        np.testing.assert_array_equal(one.weights, other.weights)


def test_an_interrupt_keeps_the_blocks_that_are_done(monkeypatch):
    x, y = sample(120)
    whole = herd_blocks(x, y, KERNEL, block_size=30, error=0.1)
    done = []

    def stop(now):
        done.append(now.steps)
        if now.steps == 2:
            raise KeyboardInterrupt

    with pytest.raises(Interrupted) as caught:
        herd_blocks(x, y, KERNEL, block_size=30, error=0.1, progress=stop)
    finished = pickle.loads(pickle.dumps(caught.value)).done
    assert sorted(finished) == [0, 1] and done == [1, 2]
    work = module._herd_one
    ran = []

    def counted(number, *rest):
        ran.append(number)
        return work(number, *rest)

    monkeypatch.setattr(module, "_herd_one", counted)
    again = herd_blocks(x, y, KERNEL, block_size=30, error=0.1, finished=finished)
    assert ran == [2, 3]
    np.testing.assert_array_equal(again.indices, whole.indices)
    np.testing.assert_array_equal(again.weights, whole.weights)
    assert again.error == whole.error


def test_points_without_weight_are_left_out():
    x, y = sample(60)
    p = np.zeros(60)
    p[:20] = 1 / 20
    found = herd_blocks(x, y, KERNEL, block_size=20, seed=None, error=0.1, target=p)
    assert set(found.indices) <= set(range(20)) and len(found.provenance["blocks"]) == 1
    assert true_error(found, x, y, p=p) <= found.error


def test_points_on_disk_are_herded_block_by_block(tmp_path):
    x, y = sample(300)
    away = np.memmap(tmp_path / "points", dtype=np.float64, mode="w+", shape=x.shape)
    away[:] = x
    near = herd_blocks(x, y, KERNEL, block_size=100, error=0.1, certify=True)
    far = herd_blocks(away, y, KERNEL, block_size=100, error=0.1, certify=True, memory=4000.0)
    np.testing.assert_array_equal(near.indices, far.indices)
    assert far.error == pytest.approx(near.error, rel=1e-9)


@pytest.mark.parametrize("block_size", [None, 50])
@pytest.mark.parametrize("certify", [True, False])
def test_herds_of_herds(block_size, certify):
    x, y = sample(300, seed=4)
    levels = herd_again(x, y, KERNEL, error=0.05, until=12, block_size=block_size, certify=certify)
    sizes = [len(level) for level in levels]
    assert sizes == sorted(sizes, reverse=True) and len(set(sizes)) == len(sizes)
    above = set(range(300))
    total = 0.0
    for level in levels:
        assert set(level.indices) <= above and set(level.picks) <= above
        above = set(level.indices)
        assert true_error(level, x, y) <= level.error
        assert level.provenance["step_error"] <= 0.05
        total += level.provenance["step_error"]
        assert level.error <= total * (1 + 1e-12)
        assert level.reached == (level.error <= 0.05)
        np.testing.assert_array_equal(level.points, x[level.indices])
    if not certify:
        assert levels[-1].error == pytest.approx(total)


def test_recursion_ends_where_a_herd_cannot_shrink():
    levels = herd_again(np.eye(6), np.ones(6), Linear(), error=1e-9, until=2)
    assert len(levels) == 1 and len(levels[0]) == 6


def test_bad_input():
    x, y = sample(30)
    with pytest.raises(InvalidProblem, match="block_size: 0"):
        herd_blocks(x, y, KERNEL, block_size=0, error=0.1)
    with pytest.raises(InvalidProblem, match="12 asked of each block, but a block has only 10"):
        herd_blocks(x, y, KERNEL, block_size=10, atoms=12)
    with pytest.raises(InvalidProblem, match="give the error"):
        herd_blocks(x, y, KERNEL, block_size=10)
    with pytest.raises(InvalidProblem, match="candidates: not with block_size"):
        herd(x, y, KERNEL, error=0.1, block_size=10, candidates=[1])
    with pytest.raises(InvalidProblem, match="until"):
        herd_again(x, y, KERNEL, error=0.1, until=0)
    with pytest.raises(InvalidProblem, match="first at index 2"):
        herd_blocks(x, np.where(np.arange(30) == 2, 0.0, y), KERNEL, block_size=10, error=0.1)
    for options, message in (
        ({"atoms": "x"}, "atoms: 'x' is not a number"),
        ({"atoms": 2.5}, "atoms: 2.5 given, a whole number"),
        ({"jobs": 0}, "jobs: 0 given"),
        ({"jobs": "two"}, "jobs: 'two' is not a number"),
        ({"seed": -1}, "seed: -1 given"),
        ({"seed": "a"}, "seed: 'a' is not a number"),
    ):
        with pytest.raises(InvalidProblem, match=message):
            herd(x, y, KERNEL, block_size=10, **{"error": 0.1, **options})


def test_options_that_have_no_meaning_for_blocks_or_levels():
    x, y = sample(30)
    with pytest.raises(UnknownName, match="candidates"):
        herd_blocks(x, y, KERNEL, block_size=10, atoms=1, candidates=[0])
    with pytest.raises(UnknownName, match="did you mean 'steps'"):
        herd_blocks(x, y, KERNEL, block_size=10, atoms=1, step="away")
    for options in ({"target": np.full(30, 1 / 30)}, {"candidates": [0, 1]}, {"certfy": False}):
        with pytest.raises(UnknownName, match="option of herd_again"):
            herd_again(x, y, KERNEL, error=0.3, until=5, **options)


def test_finished_herds_of_other_blocks_are_refused():
    x, y = sample(30)
    part = herd(x, y, KERNEL, error=0.2)
    with pytest.raises(InvalidProblem, match="finished: block 3, but there are only the blocks 0 to 2"):
        herd_blocks(x, y, KERNEL, block_size=10, error=0.2, finished={3: part})
    group = partition(30, 10)[1]
    own = herd(x[group], y[group], KERNEL, error=0.2)
    kept = herd_blocks(x, y, KERNEL, block_size=10, error=0.2, finished={1: own})
    assert true_error(kept, x, y) <= kept.error
    for number, wrong, kernel in ((1, part, KERNEL), (0, own, KERNEL), (1, own, Gaussian(7.0))):
        with pytest.raises(InvalidProblem, match=f"finished: the herd of block {number} is not one of its 10 points"):
            herd_blocks(x, y, kernel, block_size=10, error=0.2, finished={number: wrong})
    flipped = np.where(np.arange(30) == group[own.indices[0]], -y, y)
    with pytest.raises(InvalidProblem, match="finished: the herd of block 1"):
        herd_blocks(x, flipped, KERNEL, block_size=10, error=0.2, finished={1: own})


def test_an_error_whose_square_is_no_float():
    x, y = sample(20)
    for found in (herd(x, y, KERNEL, error=1e200), herd(x, y, KERNEL, error=1e200, block_size=5)):
        assert found.reached and true_error(found, x, y) <= found.error < 3.0


def test_a_union_goes_through_files(tmp_path):
    x, y = sample(80)
    found = herd_blocks(x, y, KERNEL, block_size=20, error=0.1, certify=True)
    for suffix in ("npz", "json"):
        found.save(tmp_path / f"union.{suffix}")
        again = Herd.load(tmp_path / f"union.{suffix}")
        assert again.provenance == found.provenance
        np.testing.assert_array_equal(again.decision(x), found.decision(x))


def test_the_error_of_a_union_has_its_rounding_in_it():
    """Shares times errors are summed in floats: the bound is above their sum, and by no more than rounding."""
    X, y = sample(60)
    found = herd_blocks(X, y, KERNEL, block_size=20, atoms=5, certify=False)
    blocks = found.provenance["blocks"]
    mean = sum(block["points"] / 60 * block["error"] for block in blocks)
    assert mean < found.error <= mean * (1 + 1e-9) + 1e-12


@pytest.mark.parametrize("processors", [2, 8])
def test_blocks_are_herded_by_threads_where_there_is_more_than_one_processor(processors, monkeypatch):
    def none(*_, **__):
        raise AssertionError("no process is needed")

    monkeypatch.setattr(module, "hands", lambda: processors)
    monkeypatch.setattr(joblib, "Parallel", none)
    x, y = sample(60)
    assert herd_blocks(x, y, KERNEL, block_size=20, atoms=5).indices.size >= 5
