"""Herds: the certified error against the true one in fractions and extended precision, what ends a run, bad input, files, pictures."""

import pickle
import warnings
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
from labelled_points import sample

from simopt.core.errors import Interrupted, InvalidFile, InvalidProblem, UnknownName
from simopt.data.similarities import Gaussian, Laplacian, Linear, Normalised, Polynomial, Precomputed, Sigmoid
from simopt.estimators.herding import herd_task
from simopt.estimators.herding.herd import Herd, HerdProgress, herd
from simopt.estimators.herding.herd_plot import plot_errors
from simopt.solvers.herding.frank_wolfe import STEPS
from simopt.solvers.herding.mean_function import mean_function


def true_error(result, x, y, mu, p=None):
    """‖ω − ω̃‖ for the Gaussian similarity, in extended precision."""
    c = np.full(len(x), np.longdouble(1) / len(x)) if p is None else p.astype(np.longdouble)
    np.subtract.at(c, result.indices, result.weights.astype(np.longdouble))
    x = x.astype(np.longdouble)
    kernel = np.exp(-np.sum((x[:, None] - x[None]) ** 2, axis=-1) / np.longdouble(mu))
    return np.sqrt(max((y * c) @ kernel @ (y * c), np.longdouble(0)))


def true_linear_error_squared(result, x, y):
    """‖ω − ω̃‖² for the linear similarity, without rounding."""
    c = [Fraction(1, len(x))] * len(x)
    for i, w in zip(result.indices, result.weights, strict=True):
        c[i] -= Fraction(w)
    total = [sum(Fraction(v) * int(s) * k for v, s, k in zip(column, y, c, strict=True)) for column in x.T]
    return sum(v * v for v in total)


UGLY = {
    "plain": lambda x: x,
    "collinear": lambda x: np.outer(x[:, 0], np.ones(x.shape[1])),
    "all equal": np.ones_like,
    "duplicated": lambda x: np.repeat(x[::2], 2, axis=0),
    "tied on a grid": np.round,
    "tiny": lambda x: x * 1e-7,
    "huge": lambda x: x * 1e7,
    "far away": lambda x: x + 1e5,
    "a zero point": lambda x: x * (np.arange(len(x)) > 0)[:, None],
}


@pytest.mark.parametrize("steps", list(STEPS))
@pytest.mark.parametrize("name", list(UGLY))
def test_the_certified_error_holds_on_ugly_points(steps, name):
    x, y = sample(48, 3, seed=2)
    x = UGLY[name](x)
    for settings in ({"error": 0.1}, {"error": 1e-5, "max_iter": 60}, {"atoms": 7}, {"atoms": 7, "reweight": True}):
        found = herd(x, y, Gaussian(3.0), steps=steps, **settings)
        assert true_error(found, x, y, 3.0) <= found.error
        assert found.error <= true_error(found, x, y, 3.0) + 1e-6
        assert found.reached == (found.target_error is None or found.error <= found.target_error)
        assert found.weights.min() > 0 and found.weights.sum() == pytest.approx(1, abs=1e-14)
        assert len(set(found.indices)) == len(found) <= settings.get("atoms", 48)
        np.testing.assert_array_equal(found.points, x[found.indices])
        np.testing.assert_array_equal(found.labels, y[found.indices])


@pytest.mark.parametrize("steps", list(STEPS))
@pytest.mark.parametrize("scale", [1.0, 2.0**-200, 2.0**200])
def test_the_certified_error_in_fractions(steps, scale):
    rng = np.random.default_rng(7)
    x = scale * rng.integers(-5, 6, size=(40, 3)).astype(float)
    x[3] = 0.0
    x[5:8] = x[4]
    y = rng.choice([-1.0, 1.0], 40)
    for reweight in (False, True):
        found = herd(x, y, Linear(), error=0.3 * scale, steps=steps, reweight=reweight)
        assert true_linear_error_squared(found, x, y) <= Fraction(found.error) ** 2
        assert found.reached and found.error <= 0.3 * scale


@pytest.mark.parametrize("precision", ["float32", "float64", "direct", "auto"])
@pytest.mark.parametrize("error", [3e-2, 2e-3, 3e-6])
def test_precision_grows_until_the_error_is_certified(precision, error, monkeypatch):
    """float32 is enough for 3e-2; below, its rounding would hide the error, and the run goes on in float64 from where it was."""
    monkeypatch.setattr(herd_task, "SMALL", 0)
    x, y = sample(150, 2, seed=4)
    found = herd(x, y, Gaussian(2.0), error=error, steps="fully-corrective", precision=precision)
    assert found.reached and true_error(found, x, y, 2.0) <= found.error <= error
    if precision == "float32" and error < 1e-2:
        assert found.provenance["precision"] == "float64"
    if error == 3e-2 and precision == "auto":
        assert found.provenance["precision"] == "float32"


def test_a_certificate_that_fails_sends_the_run_on(monkeypatch):
    """The run's own estimate is not believed: with its allowance for rounding taken away it asks too early, and has to go on."""
    monkeypatch.setattr(herd_task, "SMALL", 0)
    monkeypatch.setattr(herd_task.HerdTask, "_rounding", lambda task: 0.0)
    x, y = sample(150, 2, seed=4)
    asked = []
    real = herd_task.error_bound

    def counted(*arguments):
        asked.append(real(*arguments))
        return asked[-1]

    monkeypatch.setattr(herd_task, "error_bound", counted)
    found = herd(x, y, Gaussian(2.0), error=6e-3, precision="float32")
    assert found.reached and found.error <= 6e-3 and found.provenance["precision"] == "float32"
    assert len(asked) > 1 and asked[0].error > 6e-3


def test_going_over_to_finer_precision_in_mid_run(monkeypatch):
    monkeypatch.setattr(herd_task, "SMALL", 0)
    x, y = sample(120, 2, seed=1)
    for steps in STEPS:
        found = herd(x, y, Gaussian(2.0), atoms=60, steps=steps, precision="float32", max_iter=4000)
        assert true_error(found, x, y, 2.0) <= found.error
        if steps == "fully-corrective":
            assert found.provenance["precision"] == "float64" and found.error < 1e-4  # float32 certifies no less than 1e-3
        if steps == "uniform":
            np.testing.assert_allclose(found.weights, [np.mean(found.picks == i) for i in found.indices], atol=1e-15)


def test_uniform_herding_has_weights_of_picks():
    x, y = sample(64, 2)
    found = herd(x, y, Gaussian(2.0), error=0.03)
    counts = np.bincount(found.picks, minlength=64)
    np.testing.assert_array_equal(found.weights, counts[found.indices] / len(found.picks))
    assert set(found.indices) == set(found.picks)
    assert list(found.indices) == list(dict.fromkeys(found.picks.tolist()))
    gram = y[:, None] * Gaussian(2.0).gram(x) * y
    mean, total = gram.mean(axis=1), np.zeros(64)
    for t, pick in enumerate(found.picks):
        score = mean - (total / t if t else 0.0)
        assert score[pick] >= score.max() - 1e-12
        total += gram[pick]


def test_the_trace_is_the_error_step_by_step():
    x, y = sample(50, 2)
    found = herd(x, y, Gaussian(2.0), error=0.02, steps="fully-corrective")
    steps, atoms, errors = found.trace.T
    np.testing.assert_array_equal(steps, np.arange(1, len(steps) + 1))
    assert np.all(np.diff(errors) < 0) and atoms[-1] == len(found)
    assert errors[-1] == pytest.approx(found.error, rel=1e-6)
    short = herd(x, y, Gaussian(2.0), atoms=5, steps="fully-corrective")
    assert errors[4] == pytest.approx(short.error, rel=1e-6)


def test_fewer_atoms_by_correcting_weights():
    x, y = sample(400, 3, seed=3)
    size = {steps: len(herd(x, y, Gaussian(6.0), error=1e-2, steps=steps)) for steps in STEPS}
    assert max(size["fully-corrective"], size["blended"]) < size["uniform"]


def test_best_weights_at_the_end_only_help():
    x, y = sample(200, 3, seed=5)
    for steps in STEPS:
        plain = herd(x, y, Gaussian(6.0), atoms=20, steps=steps, max_iter=300)
        better = herd(x, y, Gaussian(6.0), atoms=20, steps=steps, reweight=True, max_iter=300)
        assert set(better.indices) <= set(plain.indices)
        assert better.error <= plain.error
        assert true_error(better, x, y, 6.0) <= better.error
    assert better.provenance["reweight"]


def test_out_of_reach_is_said_and_not_looped():
    x, y = sample(60, 2, seed=6)
    for steps in STEPS:
        found = herd(x, y, Gaussian(2.0), error=1e-3, candidates=[3, 7, 20], steps=steps)
        assert not found.reached and set(found.indices) <= {3, 7, 20}
        assert "out of reach" in found.message or "no step" in found.message
        assert true_error(found, x, y, 2.0) <= found.error
    distance = float(found.message.split("at least ")[1].split()[0]) if "at least" in found.message else 0.0
    assert distance <= herd(x, y, Gaussian(2.0), atoms=3, candidates=[3, 7, 20], steps="fully-corrective").error + 1e-9
    floor = herd(x, y, Gaussian(2.0), error=1e-14, steps="fully-corrective")
    assert not floor.reached and floor.error < 2e-6 and "no further digits" in floor.message
    stopped = herd(x, y, Gaussian(2.0), error=1e-4, max_iter=25)
    assert not stopped.reached and len(stopped.picks) == 25 and "25 steps" in stopped.message
    few = herd(x, y, Gaussian(2.0), error=1e-4, atoms=4, steps="blended")
    assert not few.reached and len(few) <= 4 and "atoms asked for" in few.message


@pytest.mark.parametrize("steps", STEPS)
def test_reached_means_certified_to_the_error_asked_for(steps):
    """Below the least error of a whole run nothing is reached; a rule that does not descend may have had it before the end."""
    x, y = sample(60, 2, seed=9)
    first = herd(x, y, Gaussian(2.0), atoms=6, steps=steps)
    below = herd(x, y, Gaussian(2.0), error=0.99 * first.trace[:, 2].min(), atoms=6, steps=steps)
    assert below.error > below.target_error and not below.reached and "not reached" in str(below)
    above = herd(x, y, Gaussian(2.0), error=1.01 * first.error, atoms=6, steps=steps)
    assert above.error <= above.target_error and above.reached


def test_candidates_and_target_weights():
    x, y = sample(70, 2, seed=8)
    p = np.random.default_rng(0).exponential(size=70)
    p[:10] = 0.0
    p /= p.sum()
    chosen = np.arange(0, 70, 2)
    for steps in STEPS:
        found = herd(x, y, Gaussian(2.0), atoms=12, candidates=chosen, target=p, steps=steps, max_iter=500)
        assert set(found.indices) <= set(chosen) and set(found.picks) <= set(chosen)
        assert true_error(found, x, y, 2.0, p) <= found.error <= true_error(found, x, y, 2.0, p) + 1e-7
    whole = herd(x, y, Gaussian(2.0), error=1e-5, target=p, steps="fully-corrective")
    assert whole.reached


def test_legal_corners():
    one = herd([[1.0, 2.0]], [-1.0], Gaussian(1.0), error=1e-3)
    assert one.reached and list(one.indices) == [0] and one.predict([[1.0, 2.0]]) == -1.0
    x = np.repeat(np.random.default_rng(0).normal(size=(8, 2)), 2, axis=0)
    nothing = herd(x, np.tile([1.0, -1.0], 8), Gaussian(1.0), error=1e-5)
    assert nothing.reached and "ω = 0 to rounding" in nothing.message
    assert list(nothing.predict(x[:3])) == [0.0, 0.0, 0.0]
    zero = herd(np.zeros((5, 3)), np.ones(5), Linear(), error=1e-5)
    assert zero.reached and zero.error == 0.0
    same = herd(np.ones((6, 2)), np.ones(6), Gaussian(1.0), error=1e-6)
    assert same.reached and len(same) == 1
    positive = herd(np.random.default_rng(1).normal(size=(30, 2)), None, Gaussian(2.0), error=0.05)
    assert positive.reached and np.all(positive.labels == 1)


def test_the_bound_on_the_classifier():
    x, y = sample(90, 3, seed=9)
    new = np.random.default_rng(1).normal(size=(50, 3)) * 3
    for kernel in (Gaussian(6.0), 4.0 * Gaussian(6.0), Laplacian(4.0), Normalised(Polynomial(3, 1.0, 1.0))):
        found = herd(x, y, kernel, error=0.05)
        apart = np.abs(mean_function(x, y, kernel).decision(new) - found.decision(new))
        assert np.all(apart <= found.bound_at(new) + 1e-15)
        assert np.all(found.bound_at(new) <= found.sup_error)
        assert found.sup_error == pytest.approx(found.error * np.sqrt(kernel.bound))
        np.testing.assert_allclose(found.decision(new), kernel(new, found.points) @ (found.weights * found.labels), atol=1e-14)
        np.testing.assert_allclose(found.function(new), found.decision(new), atol=1e-14)
        assert found.function.error == found.error
    loose = herd(x, y, Polynomial(2, 1.0, 1.0), error=0.5)
    with pytest.raises(InvalidProblem, match=r"polynomial has no bound.*bound_at\(X\).*Normalised"):
        _ = loose.sup_error
    apart = np.abs(mean_function(x, y, Polynomial(2, 1.0, 1.0)).decision(new) - loose.decision(new))
    assert np.all(apart <= loose.bound_at(new))


def test_precomputed_similarities():
    x, y = sample(40, 2)
    kernel = Precomputed(Gaussian(2.0).gram(x))
    found = herd(kernel.points, y, kernel, error=0.05)
    assert list(found.picks) == list(herd(x, y, Gaussian(2.0), error=0.05, precision="direct").picks)
    np.testing.assert_array_equal(found.points[:, 0], found.indices)


def test_bad_input():
    x, y = sample(20, 2)
    wrong = y.copy()
    wrong[[4, 9]] = [0.0, 3.0]
    for arguments, message in (
        ((x, wrong, Gaussian(1.0)), "2 of 20 labels are none of -1, 1 (first at index 4: 0)"),
        ((x, y[:-1], Gaussian(1.0)), "points has 20 rows, labels has 19"),
        ((x[:, 0], y, Gaussian(1.0)), "expected a matrix"),
        ((np.where(x == x[3, 1], np.nan, x), y, Gaussian(1.0)), "row 3, column 1"),
        ((x, y, Sigmoid(1.0, 0.0)), "positive semidefinite"),
    ):
        with pytest.raises(InvalidProblem) as caught:
            herd(*arguments, error=0.1)
        assert message in str(caught.value)
    for options, message in (
        ({}, "give the error"),
        ({"error": 0.0}, "error: 0 given, a number > 0"),
        ({"error": -1.0}, "error: -1 given"),
        ({"error": np.nan}, "not finite"),
        ({"atoms": 21}, "21 asked, but there are only 20 points"),
        ({"atoms": 0}, "a whole number >= 1"),
        ({"atoms": 3, "candidates": [1, 2]}, "only 2 candidates"),
        ({"error": 0.1, "candidates": [1, 25]}, "entry 1 is 25"),
        ({"error": 0.1, "candidates": [1, 1]}, "point 1 is there 2 times"),
        ({"error": 0.1, "max_iter": 0}, "max_iter: 0 given"),
        ({"error": 0.1, "memory": -1}, "memory: -1 given"),
    ):
        with pytest.raises(InvalidProblem) as caught:
            herd(x, y, Gaussian(1.0), **options)
        assert message in str(caught.value)
    with pytest.raises(UnknownName, match="line-search"):
        herd(x, y, Gaussian(1.0), error=0.1, steps="linesearch")
    with pytest.raises(UnknownName, match="float64"):
        herd(x, y, Gaussian(1.0), error=0.1, precision="float65")


@pytest.mark.parametrize("steps", list(STEPS))
def test_an_interrupt_keeps_the_herd_so_far(steps, monkeypatch):
    monkeypatch.setattr(herd_task, "REPORT", 0.0)
    x, y = sample(80, 3, seed=1)
    seen = []

    def stop(now):
        assert isinstance(now, HerdProgress)
        seen.append(now)
        if now.steps == 6:
            raise KeyboardInterrupt

    with pytest.raises(Interrupted) as caught:
        herd(x, y, Gaussian(3.0), error=1e-3, steps=steps, progress=stop)
    found = caught.value.done
    assert found.message == "interrupted" and not found.reached
    assert len(found.picks) == 6 and 1 <= len(found) <= 6
    assert true_error(found, x, y, 3.0) <= found.error
    assert [now.steps for now in seen] == [1, 2, 3, 4, 5, 6]
    again = pickle.loads(pickle.dumps(caught.value))
    np.testing.assert_array_equal(again.done.weights, found.weights)


@pytest.mark.parametrize("steps", list(STEPS))
def test_an_interrupt_in_the_middle_of_a_step(steps, monkeypatch):
    """Wherever it comes, what is kept is a herd whose error is certified."""
    x, y = sample(60, 3, seed=1)
    from simopt.solvers.herding.atoms import LazyAtoms

    make = LazyAtoms.make_column
    calls = []

    def interrupted(self, j):
        calls.append(j)
        if len(calls) == 9:
            raise KeyboardInterrupt
        return make(self, j)

    monkeypatch.setattr(LazyAtoms, "make_column", interrupted)
    with pytest.raises(Interrupted) as caught:
        herd(x, y, Gaussian(3.0), error=1e-6, steps=steps)
    found = caught.value.done
    assert found.weights.sum() == pytest.approx(1, abs=1e-14)
    assert true_error(found, x, y, 3.0) <= found.error


def test_an_interrupt_before_there_is_a_herd(monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(herd_task, "embed", interrupted)
    with pytest.raises(KeyboardInterrupt) as caught:
        herd(*sample(10, 2), Gaussian(1.0), error=0.1)
    assert not isinstance(caught.value, Interrupted)


@pytest.mark.parametrize("suffix", [".npz", ".json"])
def test_files_give_the_same_herd_back(tmp_path, suffix):
    x, y = sample(60, 3)
    found = herd(x, y, 2.0 * Gaussian(1 / 3) + Laplacian(0.1), error=0.05, steps="blended")
    path = tmp_path / f"herd{suffix}"
    found.save(path)
    again = Herd.load(path)
    for name in ("indices", "weights", "points", "labels", "picks", "trace"):
        one, two = getattr(found, name), getattr(again, name)
        np.testing.assert_array_equal(one, two)
        assert one.dtype == two.dtype
    for name in ("similarity", "error", "target_error", "reached", "message", "seconds", "provenance"):
        assert getattr(found, name) == getattr(again, name)
    np.testing.assert_array_equal(found.decision(x), again.decision(x))
    third = pickle.loads(pickle.dumps(found))
    np.testing.assert_array_equal(third.weights, found.weights)
    with pytest.raises(ValueError, match="read-only"):
        found.weights[0] = 1.0


def test_files_that_are_no_herds(tmp_path):
    found = herd(*sample(20, 2), Gaussian(1.0), atoms=3)
    with pytest.raises(InvalidProblem, match=r"ends in \.csv"):
        found.save(tmp_path / "herd.csv")
    with pytest.raises(FileNotFoundError):
        found.save(tmp_path / "nowhere" / "herd.npz")
    for name, content in (("a.npz", b"not a zip"), ("b.json", b"{}"), ("c.json", b'{"format": "simopt-herd-1", "indices": []}')):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(InvalidFile):
            Herd.load(tmp_path / name)
    np.savez(tmp_path / "d.npz", x=np.ones(2))
    with pytest.raises(InvalidFile, match="not a herd"):
        Herd.load(tmp_path / "d.npz")


def test_pictures():
    x, y = sample(60, 6)
    found = herd(x, y, Gaussian(6.0), error=0.05)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        plain = found.plot()
        both = found.plot(images=(2, 3))
        several = plot_errors({steps: herd(x, y, Gaussian(6.0), error=0.05, steps=steps) for steps in STEPS})
        for figure in (plain, both, several):
            figure.canvas.draw()
    line = plain.axes[0].lines[0]
    np.testing.assert_array_equal(line.get_xdata(), found.trace[:, 1])
    np.testing.assert_array_equal(line.get_ydata(), found.trace[:, 2])
    assert len(several.axes[0].get_legend().texts) == len(STEPS)
    canvas = both.axes[1].images[0].get_array()
    heaviest = int(np.argmax(found.weights))
    shades = (found.points - found.points.min()) / np.ptp(found.points)
    if len(found) <= 40:
        np.testing.assert_allclose(canvas[:2, :3], found.labels[heaviest] * shades[heaviest].reshape(2, 3))
    with pytest.raises(InvalidProblem, match="4 × 4 is 16 pixels, but points have 6"):
        found.plot(images=(4, 4))
    with pytest.raises(InvalidProblem, match="none given"):
        plot_errors({})


def test_points_that_stay_on_disk(tmp_path):
    x, y = sample(500, 3, seed=2)
    away = np.memmap(tmp_path / "points", dtype=np.float64, mode="w+", shape=x.shape)
    away[:] = x
    for steps in ("uniform", "fully-corrective"):
        for precision in ("float64", "direct"):
            near = herd(x, y, Gaussian(6.0), error=0.05, steps=steps, precision=precision)
            far = herd(away, y, Gaussian(6.0), error=0.05, steps=steps, precision=precision, memory=4000.0)
            np.testing.assert_array_equal(near.picks, far.picks)
            np.testing.assert_allclose(near.weights, far.weights, atol=1e-10)
    da = pytest.importorskip("dask.array")
    away = da.from_array(x, chunks=(100, 3))
    np.testing.assert_array_equal(herd(away, y, Gaussian(6.0), error=0.2, memory=4000.0).picks, herd(x, y, Gaussian(6.0), error=0.2).picks)
    assert "500 points" in str(near) and "reached" in str(near)


def test_before_the_first_atom_rounding_is_that_of_the_embedding():
    empty = SimpleNamespace(
        embedding=SimpleNamespace(square_error=1.0, value_errors=np.array([0.5, 1.5])), run=SimpleNamespace(walk=SimpleNamespace(mass=0.0))
    )
    assert herd_task.HerdTask._rounding(empty) == 3.0
