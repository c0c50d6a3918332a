"""path(): one canonicalisation for many values, the same answers as fresh solves."""

from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from frame_toy import Toy, toy

from simopt import Certificate, path, solve
from simopt.core.errors import InvalidProblem, UnknownName

VALUES = [0.05, 0.1, 0.2, 0.4]


@pytest.fixture
def declared(monkeypatch: pytest.MonkeyPatch) -> list[Toy]:
    """Instances whose declaration was asked for."""
    seen: list[Toy] = []
    original = Toy.declare

    def counting(self: Toy, **keywords: Any) -> Any:
        seen.append(self)
        return original(self, **keywords)

    monkeypatch.setattr(Toy, "declare", counting)
    return seen


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """One entry for each canonicalisation (a cached one does not build a chain)."""
    seen: list[int] = []
    original = cp.Problem._construct_chain

    def counting(self: cp.Problem, *args: Any, **keywords: Any) -> Any:
        seen.append(1)
        return original(self, *args, **keywords)

    monkeypatch.setattr(cp.Problem, "_construct_chain", counting)
    return seen


@pytest.mark.parametrize("name", ["clarabel", "ecos", "scs"])
@pytest.mark.parametrize("field", ["radius", "regularization"])
def test_a_sweep_canonicalises_once_and_agrees_with_fresh_solves(name: str, field: str, declared: list[Toy], compiled: list[int]) -> None:
    problem = toy(radius=0.3)
    found = list(path(problem, field, VALUES, name, tol=1e-6))
    assert len(declared) == 1 and len(compiled) == 1
    assert [value for value, _ in found] == VALUES
    for value, solution in found:
        fresh = solve(toy(**{"radius": 0.3, field: value}), name, tol=1e-6)
        assert solution.optimal and fresh.optimal and solution.certificate is not None and fresh.certificate is not None
        assert solution.provenance.fingerprint == fresh.provenance.fingerprint, "judged for the problem with that value"
        assert abs(solution.value - fresh.value) <= solution.certificate.gap + fresh.certificate.gap + 1e-14 * fresh.value


def test_tightening_does_not_canonicalise_again(declared: list[Toy], compiled: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    """Gaps are measured in a unit so small that the first attempt cannot be enough."""
    monkeypatch.setattr(Certificate, "closes", lambda self, tol: self.gap <= 1e-7 * tol)
    solution = solve(toy(n=60, d=50, radius=0.1, regularization=1e-6), "scs", tol=1e-6)
    assert len(solution.trace.samples) > 1
    assert len(declared) == 1 and len(compiled) == 1


def test_hand_written_solvers_and_other_fields_are_solved_one_by_one() -> None:
    assert all(solution.provenance.solver == "cyclic" and solution.optimal for _, solution in path(toy(), "radius", VALUES))


def test_data_that_change_with_the_parameter_are_declared_afresh(declared: list[Toy]) -> None:
    class Rescaled(Toy):
        """Natural units that depend on the radius."""

        def normalised(self) -> Any:
            """The base's, with other targets."""
            from dataclasses import replace

            from simopt.model.problem import Rescale

            unit = self.radius

            def back(values: Any) -> Any:
                return {name: unit * np.asarray(value) for name, value in values.items()}

            return replace(self, targets=self.targets / unit, radius=1.0), Rescale(back, back)

    for value, solution in path(toy(kind=Rescaled), "radius", VALUES, "clarabel"):
        assert solution.optimal
        assert solution.value == pytest.approx(solve(toy(radius=value), "cyclic").value, rel=1e-7)
    assert len(declared) == len(VALUES)


def test_an_unknown_field_is_an_error_at_the_call() -> None:
    with pytest.raises(UnknownName, match="did you mean 'radius'"):
        path(toy(), "radios", VALUES)
    with pytest.raises(UnknownName, match="solver of toy"):
        path(toy(), "radius", VALUES, "no such solver")


def test_values_that_are_no_numbers_are_named() -> None:
    for bad in ("wide", np.nan, None, -1.0):
        with pytest.raises(InvalidProblem, match="radius"):
            list(path(toy(), "radius", [bad]))
