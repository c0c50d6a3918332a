"""Sweeps that are remembered: found again by what arrays hold, and never for another question."""

from __future__ import annotations

from typing import Any

import cvxpy as cp
import numpy as np
import pytest

from simopt import certify
from simopt.arithmetic import FLOAT, INTERVAL, RATIONAL, Arithmetic, Interval
from simopt.duality import Declared, forward
from simopt.duality.atoms.maximum import Maximum
from simopt.duality.recent import Recent

A = np.array([[1.0, 2.0], [0.5, -1.0], [3.0, 0.25]])
B = np.array([1.0, -2.0, 0.5])


def test_content_counts_and_not_identity_and_the_oldest_goes() -> None:
    asked: list[float] = []

    def ask(recent: Recent[str, float], x: Any, kind: str = "") -> float:
        return recent.of(kind, {"x": x}, lambda inputs: asked.append(float(np.sum(INTERVAL.mid(inputs["x"])))) or asked[-1])

    recent: Recent[str, float] = Recent(2)
    one, other = np.array([1.0, 2.0]), np.array([4.0])
    assert ask(recent, one) == ask(recent, one.copy()) == 3.0 and len(asked) == 1
    assert ask(recent, one, "another") == 3.0 and len(asked) == 2
    assert ask(recent, other) == 4.0 and ask(recent, one) == 3.0 and asked == [3.0, 3.0, 4.0, 3.0]
    assert ask(recent, Interval(one)) == 3.0 and ask(recent, Interval(one, 0.5)) == 3.0 and len(asked) == 6, "an interval is no float"
    nan = np.array([np.nan])
    assert ask(recent, nan) != ask(recent, nan)
    assert len(asked) == 8, "nan is like nothing"


def test_the_order_of_names_is_part_of_a_question() -> None:
    """A matrix has its rows in this order; that of another one would prove that a feasible problem is infeasible, and did."""
    recent: Recent[str, str] = Recent(2)
    one, other = np.array([1.0]), np.array([2.0])
    assert recent.of("", {"a": one, "b": other}, "".join) == "ab"
    assert recent.of("", {"b": other, "a": one}, "".join) == "ba"
    assert recent.known("", {"a": one, "b": other}) == "ab"


def ridge(size: float = 0.5) -> tuple[Declared, Any]:
    w, strength = cp.Variable(2, name="w"), cp.Parameter(nonneg=True, name="strength", value=size)
    rows = [(cp.sum(w) <= 10.0).set_label("sum")]
    return Declared.of(cp.Problem(cp.Minimize(cp.sum(cp.abs(A @ w - B)) + strength * cp.sum_squares(w)), rows)), strength


@pytest.mark.parametrize("num", [FLOAT, INTERVAL, RATIONAL])
def test_what_is_remembered_is_what_a_problem_without_a_memory_says(num: Arithmetic) -> None:
    """At the same arrays, written on between the questions; with a parameter that changes; and after what was handed out was written on."""
    rng = np.random.default_rng(0)
    ours, strength = ridge()
    x, v = {"w": np.zeros(2)}, {"abs 1": np.zeros(3), "sum": np.zeros(1)}
    for _ in range(50):
        for array in (*x.values(), *v.values()):
            if rng.uniform() < 0.3:
                array[...] = rng.integers(-4, 5, array.shape) / 8
        if rng.uniform() < 0.3:
            strength.value = float(rng.integers(1, 5))
        for values in (ours.restore(x, num), ours.trivial_point(), ours.multipliers(x) or {}):
            for value in values.values():
                for array in (value.mid,) if isinstance(value, Interval) else (value,):
                    array[...] = 0
        alone, _ = ridge(strength.value)
        for said, true in (
            (ours.objective(x, num), alone.objective(x, num)),
            (ours.dual_bound(v, num), alone.dual_bound(v, num)),
            (ours.gap(x, v, num), alone.gap(x, v, num)),
            (ours.scale(), alone.scale()),
        ):
            assert num.lower(said) == num.lower(true) and num.upper(said) == num.upper(true)
        assert np.array_equal(ours.multipliers(x)["abs 1"], ridge(strength.value)[0].multipliers(x)["abs 1"])  # type: ignore[index]


def test_one_assessment_sweeps_each_point_once(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[bytes] = []

    def counted(num: Arithmetic, programme: Any, point: Any) -> Any:
        seen.append(b"".join(np.asarray(num.mid(value), dtype=float).tobytes() for value in point.values()) + num.name.encode())
        return forward(num, programme, point)

    for module in ("declared", "feasibility.restoration"):
        monkeypatch.setattr(f"simopt.duality.{module}.forward", counted)
    problem, _ = ridge()
    certify(problem, {"w": np.array([0.25, -0.5])}, {"abs 1": np.zeros(3)})
    assert len(seen) > 1 and len(set(seen)) == len(seen)


@pytest.mark.parametrize("num", [FLOAT, INTERVAL, RATIONAL])
def test_groups_that_lie_in_layers_are_groups(num: Arithmetic) -> None:
    rng = np.random.default_rng(1)
    group = np.tile(np.arange(5), 3)
    fixed = np.arange(15) >= 10
    order = rng.permutation(15)
    layered, mixed = Maximum(group, 5, fixed), Maximum(group[order], 5, fixed[order])
    assert layered.layers == 3 and mixed.layers == 0 and Maximum(np.zeros(4, dtype=int), 1).layers == 0
    z, u, s = rng.integers(-8, 9, 15) / 4, rng.integers(-1, 4, 15) / 4, rng.integers(0, 4, 5) / 2
    for one, other in (
        (layered.value(num, num.lift(z)), mixed.value(num, num.lift(z[order]))),
        (layered.project(num, num.lift(u), num.lift(s))[order], mixed.project(num, num.lift(u[order]), num.lift(s))),
    ):
        assert np.allclose(np.asarray(num.mid(one), dtype=float), np.asarray(num.mid(other), dtype=float), rtol=1e-15)
