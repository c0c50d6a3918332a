"""Monotone piecewise linear functions: values, one-sided slopes, generalised inverses, rules beyond the nodes, JSON."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simopt.core.errors import InvalidFile, InvalidProblem, UnknownName
from simopt.core.monotone_function import MonotoneFunction

STAIRS = MonotoneFunction(np.array([0.0, 1.0, 2.0, 4.0]), np.array([0.0, 0.5, 0.5, 1.5]))


def with_rule(rule: str) -> MonotoneFunction:
    return MonotoneFunction(STAIRS.nodes, STAIRS.values, rule)


def test_values_and_slopes_on_a_function_with_a_flat_piece() -> None:
    np.testing.assert_array_equal(STAIRS([0.0, 0.5, 1.0, 1.5, 3.0]), [0.0, 0.25, 0.5, 0.5, 1.0])
    assert STAIRS(0.5).shape == () and STAIRS([[0.5]]).shape == (1, 1)
    np.testing.assert_array_equal(STAIRS.derivative([-1.0, 0.0, 1.0, 1.5, 2.0, 4.0]), [0.0, 0.5, 0.0, 0.0, 0.5, 0.0])
    np.testing.assert_array_equal(STAIRS.derivative([0.0, 1.0, 2.0, 4.0], side="left"), [0.0, 0.5, 0.0, 0.5])
    assert STAIRS.lipschitz == 0.5


def test_inverses_are_the_ends_of_the_interval_where_the_value_is_taken() -> None:
    np.testing.assert_array_equal(STAIRS.inverse([0.25, 0.5, 1.0, 1.5]), [0.5, 1.0, 3.0, 4.0])
    np.testing.assert_array_equal(STAIRS.inverse([0.0, 0.25, 0.5, 1.0], side="right"), [0.0, 0.5, 2.0, 3.0])
    np.testing.assert_array_equal(STAIRS.inverse([-1.0, 0.0, 2.0]), [-math.inf, -math.inf, math.inf])
    np.testing.assert_array_equal(STAIRS.inverse([-1.0, 1.5, 2.0], side="right"), [-math.inf, math.inf, math.inf])


def test_rules_beyond_the_nodes() -> None:
    np.testing.assert_array_equal(STAIRS([-2.0, 6.0]), [0.0, 1.5])
    linear = with_rule("linear")
    np.testing.assert_array_equal(linear([-2.0, 6.0]), [-1.0, 2.5])
    np.testing.assert_array_equal(linear.derivative([-2.0, 4.0]), [0.5, 0.5])
    for side in ("left", "right"):
        np.testing.assert_array_equal(linear.inverse([-1.0, 0.0, 1.5, 2.5], side=side), [-2.0, 0.0, 4.0, 6.0])
    strict = with_rule("refuse")
    np.testing.assert_array_equal(strict([0.0, 4.0]), [0.0, 1.5])
    np.testing.assert_array_equal(strict.derivative([0.0, 4.0], side="left"), [0.5, 0.5])
    np.testing.assert_array_equal(strict.inverse([0.0, 1.5]), [0.0, 4.0])
    with pytest.raises(InvalidProblem, match="t: 5 lies outside of .0, 4., and this function does not extrapolate"):
        strict([1.0, 5.0])
    with pytest.raises(InvalidProblem, match="v: 2 lies outside"):
        strict.inverse(2.0)
    one = MonotoneFunction(np.array([1.0]), np.array([3.0]), "linear")
    assert one(7.0) == 3.0 and one.derivative(1.0) == 0.0 and one.lipschitz == 0.0
    assert one.inverse(3.0) == -math.inf and one.inverse(3.0, side="right") == math.inf


steps = st.lists(st.tuples(st.floats(1e-3, 10.0), st.one_of(st.just(0.0), st.floats(1e-3, 10.0))), min_size=1, max_size=12)


@settings(deadline=None)
@given(steps, st.floats(-5.0, 5.0), st.floats(0.0, 1.0), st.sampled_from(["constant", "linear"]))
def test_inverse_and_values_fit_together(pieces: list[tuple[float, float]], start: float, fraction: float, rule: str) -> None:
    nodes, values = (start + np.concatenate([[0.0], np.cumsum([piece[k] for piece in pieces])]) for k in (0, 1))
    u = MonotoneFunction(nodes, values, rule)
    v = float(values[0] + fraction * (values[-1] - values[0]))
    left, right = float(u.inverse(v)), float(u.inverse(v, side="right"))
    assert left <= right + 1e-9
    for t in (left, right):
        if math.isfinite(t):
            assert float(u(t)) == pytest.approx(v, abs=1e-9)
    grid = np.linspace(nodes[0] - 2, nodes[-1] + 2, 101)
    assert np.all(np.diff(u(grid)) >= -1e-12) and np.all(np.diff(u(grid)) <= u.lipschitz * np.diff(grid) + 1e-9)
    t = float(nodes[0] + fraction * (nodes[-1] - nodes[0]))
    h = 1e-7
    assert float(u(t + h) - u(t)) <= h * max(float(u.derivative(t)), float(u.derivative(t + h))) + 1e-9


def test_json_brings_back_the_same_floats(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    u = MonotoneFunction(np.sort(rng.normal(size=50)), np.sort(rng.normal(size=50)) * 1e-300, "linear")
    again = MonotoneFunction.from_json(json.loads(json.dumps(u.to_json())))
    assert np.array_equal(again.nodes, u.nodes) and np.array_equal(again.values, u.values) and again.extrapolation == "linear"
    u.save(tmp_path / "u.json")
    assert np.array_equal(MonotoneFunction.load(tmp_path / "u.json").values, u.values)
    with pytest.raises(InvalidFile, match="expected the format"):
        MonotoneFunction.from_json({"nodes": [0.0]})
    with pytest.raises(InvalidFile, match="no entry 'values'"):
        MonotoneFunction.from_json({key: value for key, value in u.to_json().items() if key != "values"})


def test_archives_bring_back_the_same_floats_and_other_suffixes_are_refused(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    u = MonotoneFunction(np.sort(rng.normal(size=50)), np.sort(rng.normal(size=50)) * 1e-300, "refuse")
    u.save(tmp_path / "u.npz")
    again = MonotoneFunction.load(tmp_path / "u.npz")
    assert np.array_equal(again.nodes, u.nodes) and np.array_equal(again.values, u.values) and again.extrapolation == "refuse"
    with pytest.raises(InvalidProblem, match="ends in .csv; a monotone function is saved as .npz or .json"):
        u.save(tmp_path / "u.csv")
    (tmp_path / "broken.npz").write_bytes((tmp_path / "u.npz").read_bytes()[:100])
    with pytest.raises(InvalidFile, match="not a monotone function"):
        MonotoneFunction.load(tmp_path / "broken.npz")
    (tmp_path / "words.json").write_text(json.dumps(u.to_json() | {"nodes": ["a"] * 50}))
    with pytest.raises(InvalidProblem, match="nodes: values that are not numbers"):
        MonotoneFunction.load(tmp_path / "words.json")


def test_it_prints_as_one_line_and_draws_itself() -> None:
    assert str(STAIRS) == "monotone function with 4 nodes, from u(0) = 0 to u(4) = 1.5, slopes up to 0.5, beyond: constant"
    pytest.importorskip("matplotlib")
    for rule, ends in (("constant", (0.0, 1.5)), ("linear", (-0.16, 1.66)), ("refuse", (0.0, 1.5))):
        line = with_rule(rule).plot().axes[0].lines[0]
        places, values = (np.asarray(x, dtype=float) for x in line.get_data())
        assert (values[0], values[-1]) == pytest.approx(ends)
        assert (places[0] < 0.0) == (places[-1] > 4.0) == (rule != "refuse")


def test_ties_are_one_node_and_falls_are_refused() -> None:
    u = MonotoneFunction.through([0.0, 1.0, 1.0, 2.0], [0.0, 1.0, 1.0, 2.0])
    assert u.nodes.tolist() == [0.0, 1.0, 2.0] and not u.nodes.flags.writeable
    with pytest.raises(InvalidProblem, match="values: not non-decreasing, entry 0 is 1 and entry 1 is 0"):
        MonotoneFunction.through([0.0, 1.0], [1.0, 0.0])
    with pytest.raises(InvalidProblem, match="nodes: not increasing, entry 1 is 1 and entry 2 is 1"):
        MonotoneFunction(np.array([0.0, 1.0, 1.0]), np.arange(3.0))
    with pytest.raises(InvalidProblem, match="lengths disagree"):
        MonotoneFunction.through([0.0, 1.0], [1.0])
    with pytest.raises(UnknownName, match="extrapolation"):
        MonotoneFunction(np.zeros(1), np.zeros(1), "guess")
    with pytest.raises(UnknownName, match="side"):
        u.derivative(0.0, side="up")
    with pytest.raises(InvalidProblem, match="t: .* not finite"):
        u(np.nan)
    with pytest.raises(InvalidProblem, match="t: values that are not numbers"):
        u("one")
    assert u(np.array([[0, 1], [2, 3]])).shape == (2, 2) and u(1).shape == () and u([]).shape == (0,)
    assert repr(u) == f"<{u}>"
