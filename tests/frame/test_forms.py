"""One class under several names: what is made is of the form that its bound tells, and every name keeps what it had."""

from __future__ import annotations

import pickle
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from simopt import path
from simopt.core import registry
from simopt.core.errors import InvalidProblem
from simopt.data.datasets import load_dataset
from simopt.model.forms import Formed
from simopt.model.problem import Problem, changed
from simopt.problems.bounds import Ball, Bound, Penalty, Ridge
from simopt.problems.exc_fixed import EXCFixed
from simopt.problems.landmarked_least_squares import LandmarkedLeastSquares
from simopt.problems.m_power_rls import MPowerRLS, PowerBall, PowerPenalty
from simopt.solving.solver import solvers_of

registry.load("problems")
FORMS = [kind for _, kind in registry.items("problem") if issubclass(kind, Formed)]


def fit(bound: Any, **more: Any) -> EXCFixed:
    return EXCFixed(np.eye(3), np.array([1.0, 2.0, 2.0]), 2, np.array([0.5]), bound=bound, **more)


def test_an_instance_is_of_the_form_that_its_bound_tells() -> None:
    ball, penalty = fit(Ball(2.0)), fit(Penalty(0.1))
    assert (type(ball), type(penalty)) == EXCFixed.each_form()
    assert (ball.name, penalty.name) == ("exc-fixed", "exc-fixed-penalised")
    assert isinstance(ball, EXCFixed) and isinstance(penalty, EXCFixed)
    assert (ball.radius, ball.regularization, penalty.radius, penalty.regularization) == (2.0, 0.0, np.inf, 0.1)
    assert ball.fingerprint() != penalty.fingerprint() != fit(Penalty(0.2)).fingerprint()


def test_forms_change_into_each_other_and_are_pickled() -> None:
    ball = fit(Ball(2.0), gamma=0.5)
    penalty = replace(ball, bound=Penalty(0.1))
    assert penalty.name == "exc-fixed-penalised" and replace(penalty, bound=Ball(2.0)).fingerprint() == ball.fingerprint()
    for problem in (ball, penalty):
        again = pickle.loads(pickle.dumps(problem))
        assert type(again) is type(problem) and again.fingerprint() == problem.fingerprint()
    assert changed(ball, radius=3.0, gamma=0.25).bound == Ball(3.0)
    assert [(value, solution.optimal) for value, solution in path(ball, "radius", [0.5, 1.0])] == [(0.5, True), (1.0, True)]


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.name)
def test_every_name_is_registered_for_its_form_and_its_numbers_can_be_set(form: type[Problem]) -> None:
    assert registry.find("problem", form.name) is form
    assert all(form in spec.solves for spec in solvers_of(form))
    example: Any = next(form.examples(np.random.default_rng(0))).problem
    assert type(example) is form
    for name in form.holding():
        assert getattr(changed(example, **{name: 0.375}), name) == 0.375


def test_old_names_of_fields_are_read_with_a_word() -> None:
    with pytest.warns(DeprecationWarning, match=r"EXCFixed: radius is old, write bound=Ball\(radius\)"):
        old = EXCFixed(np.eye(3), np.array([1.0, 2.0, 2.0]), 2, np.array([0.5]), radius=2.0)  # type: ignore[call-arg]
    assert old.fingerprint() == fit(Ball(2.0)).fingerprint()


def test_two_numbers_of_a_bound_are_read_and_changed_one_by_one_and_together() -> None:
    data = np.eye(2), np.ones(2)
    penalty, ball = MPowerRLS(*data, PowerPenalty(0.5, 3.0)), MPowerRLS(*data, PowerBall(2.0, 3.0))
    assert [kind.name for kind in (MPowerRLS, type(penalty), type(ball))] == ["m-power-rls", "m-power-rls", "m-power-rls-ball"]
    with pytest.warns(
        DeprecationWarning, match=r"MPowerRLS: regularization, power is old, write bound=PowerPenalty\(regularization, power\)"
    ):
        old = MPowerRLS(*data, regularization=0.5, power=3.0)  # type: ignore[call-arg]
    assert old.fingerprint() == penalty.fingerprint()
    with pytest.warns(DeprecationWarning, match=r"MPowerRLS: radius is old, write bound=PowerBall\(radius\)"):
        assert MPowerRLS(*data, radius=2.0).bound == PowerBall(2.0, 2.0)  # type: ignore[call-arg]
    for name, changed_to in (("regularization", PowerPenalty(0.25, 3.0)), ("power", PowerPenalty(0.5, 0.25))):
        with pytest.warns(DeprecationWarning, match=f"MPowerRLS: {name} is old"):
            assert replace(penalty, **{name: 0.25}).bound == changed_to, "the other number stays"
    with pytest.warns(DeprecationWarning, match="power is old"):
        assert replace(ball, power=1.5).bound == PowerBall(2.0, 1.5)  # type: ignore[call-arg]
    assert changed(ball, power=1.5).bound == PowerBall(2.0, 1.5)
    assert changed(ball, radius=1e300, power=12.0).bound == PowerBall(1e300, 12.0)
    assert changed(MPowerRLS(*data, PowerBall(1.0, 0.5)), radius=1e300, power=12.0).radius == 1e300, "at once: Γ^(1/m) = 1e600 in between"
    assert [solution.optimal for _, solution in path(penalty, "power", [1.5, 2.0])] == [True, True]


def test_what_is_no_bound_is_refused_by_name() -> None:
    with pytest.raises(InvalidProblem, match=r"bound: 3\.0 given, Ball\(radius\) or Penalty\(regularization\) needed"):
        fit(3.0)
    with pytest.raises(InvalidProblem, match=r"Ridge\(regularization=0\.1\) given, .* or Penalty\(regularization\) needed"):
        fit(Ridge(0.1))
    with pytest.raises(InvalidProblem, match=r"Penalty\(regularization=0\.1\) given, .* or Ridge\(regularization\) needed"):
        LandmarkedLeastSquares(np.eye(2), np.ones(2), Penalty(0.1))
    kinds: list[tuple[type[Bound], str]] = [(Ball, "radius"), (Penalty, "regularization"), (Ridge, "regularization")]
    for kind, name in kinds:
        for bad in (0.0, -1.0, np.nan):
            with pytest.raises(InvalidProblem, match=name):
                kind(bad)  # type: ignore[call-arg]
    data, rng = load_dataset("concrete"), np.random.default_rng(0)
    with pytest.raises(InvalidProblem, match="regularization: exc-fixed has none; give radius"):
        EXCFixed.form("ball").from_data(data, rng, samples=20, landmarks=3, regularization=0.1)
