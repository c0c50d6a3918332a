"""A certificate is of the data that a problem has when it is made: owned, in a file that is mapped, or written on by others."""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pytest

from simopt.arithmetic import BY_NAME, INTERVAL
from simopt.core import registry
from simopt.core.arrays import Array
from simopt.core.errors import InvalidProblem
from simopt.core.memory_maps import chain_of_bases
from simopt.model.status import Status
from simopt.problems import recipes
from simopt.problems.bounds import Penalty
from simopt.problems.hinge_svm import HingeSVM
from simopt.problems.kernel_ridge import KernelRidge
from simopt.problems.landmarked_svr import LandmarkedSVR
from simopt.problems.multiple_kernel_mean import MultipleKernelMean
from simopt.solving.entry_points import certify, solve

registry.load("problems")
OURS = {name: cls for name, cls in registry.items("problem") if cls.__module__.startswith("simopt.problems.")}


def first_example(name: str) -> Any:
    return next(example.problem for example in OURS[name].examples(np.random.default_rng(33)) if not example.degenerate)


def mapped(problem: Any, path: Path) -> Any:
    joblib.dump(problem, path)
    return joblib.load(path, mmap_mode="r")


def memory(array: Array) -> np.memmap[Any, Any]:
    """Another view of the file, on which one can write."""
    found = next(each for each in chain_of_bases(array) if isinstance(each, np.memmap))
    order: Any = "F" if found.flags.fnc else "C"
    return np.memmap(found.filename, found.dtype, "r+", found.offset, found.shape, order)


@pytest.mark.parametrize("name", list(OURS))
def test_what_is_mapped_has_the_fingerprint_and_the_certificates_of_what_is_in_memory(tmp_path: Path, name: str) -> None:
    problem = first_example(name)
    other = mapped(problem, tmp_path / "problem")
    assert other.fingerprint() == problem.fingerprint()
    point = problem.trivial_point()
    for arithmetic in problem.arithmetics:
        num = BY_NAME[arithmetic]
        here, there = (certify(one, point, one.multipliers(one.restore(point)), num) for one in (problem, other))
        assert (there.upper, there.judged) == (pytest.approx(here.upper, rel=1e-12), here.judged)
        assert there.lower == pytest.approx(here.lower, rel=1e-9, abs=1e-9 * problem.scale())


def test_some_problem_is_mapped(tmp_path: Path) -> None:
    other = mapped(first_example("kernel-ridge"), tmp_path / "problem")
    assert isinstance(memory(other.targets), np.memmap)


@pytest.mark.parametrize("num", [BY_NAME["float"], INTERVAL])
@pytest.mark.parametrize("change", ["indefinite", "another", "skew"])
def test_a_gram_matrix_that_others_write_on_is_refused(tmp_path: Path, change: str, num: Any) -> None:
    """Its formulas would take K ⪰ 0 and K = Kᵀ for granted."""
    rng = np.random.default_rng(33)
    X = rng.normal(size=(20, 3))
    problem = mapped(KernelRidge(recipes.gram(X, "gaussian"), X[:, 0], 1e-2), tmp_path / "problem")
    point = problem.trivial_point()
    before = certify(problem, point, None, num)
    K = memory(problem.gram.base.base)
    if change == "indefinite":
        K[0, 0] = -1.0
    elif change == "another":
        K[:] = np.eye(20)
    else:
        K[0, 1] += 1.0
    with pytest.raises(InvalidProblem, match="gram: changed since"):
        certify(problem, point, None, num)
    again = replace(problem, gram=np.eye(20))
    assert certify(again, point, None, num).upper == before.upper


@pytest.mark.parametrize("change", ["indefinite", "skew"])
def test_a_mapped_gram_matrix_that_is_none_when_it_is_first_looked_at_is_refused(tmp_path: Path, change: str) -> None:
    problem = mapped(KernelRidge(np.eye(5), np.ones(5), 1e-2), tmp_path / "problem")
    memory(problem.gram.base.base)[1, 1 if change == "indefinite" else 2] = -2.0
    with pytest.raises(InvalidProblem, match="gram: not"):
        certify(problem, problem.trivial_point())


def test_large_gram_matrices_are_not_owned_and_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("simopt.model.problem.OWNED", 0)
    rng = np.random.default_rng(33)
    K = recipes.gram(rng.normal(size=(20, 3)), "gaussian").copy()
    problem = HingeSVM(K, np.sign(rng.normal(size=20)), Penalty(1e-2))
    found = solve(problem, rigorous=True)
    assert found.optimal
    K[3, 3] = 5.0
    for how in ({}, {"rigorous": True}):
        with pytest.raises(InvalidProblem, match="gram: changed since"):
            certify(problem, found.point, found.multipliers, **how)
    with pytest.raises(InvalidProblem, match="gram: changed since"):
        solve(problem)


def test_features_that_others_write_on_are_judged_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where products with them, or the longest of them, were remembered."""
    monkeypatch.setattr("simopt.model.problem.OWNED", 0)
    rng = np.random.default_rng(33)
    features, targets = rng.normal(size=(30, 4)), rng.normal(size=30)
    problem = LandmarkedSVR(features, targets, Penalty(1e-2), 0.1)
    found = solve(problem)
    features *= 3.0
    fresh = LandmarkedSVR(features.copy(), targets.copy(), Penalty(1e-2), 0.1)
    for how in (BY_NAME["float"], INTERVAL):
        assert certify(problem, found.point, found.multipliers, how) == certify(fresh, found.point, found.multipliers, how)
    again = solve(problem)
    assert again.status is Status.OPTIMAL
    assert again.value == solve(fresh).value


@pytest.mark.parametrize("name", [name for name in OURS if any(item.name in ("labels", "targets") for item in fields(OURS[name]))])
def test_what_is_remembered_of_data_that_others_write_on_is_forgotten(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The order of the samples is turned round in memory, labels and targets alone: the certificate is that of a problem made anew."""
    monkeypatch.setattr("simopt.model.problem.OWNED", 0)
    problem = first_example(name)
    field = next(item.name for item in fields(problem) if item.name in ("labels", "targets"))
    values = np.array(getattr(problem, field))
    problem = replace(problem, **{field: values})
    point = problem.trivial_point()
    certify(problem, point, problem.multipliers(problem.restore(point)))
    values[:] = values[::-1].copy()
    fresh = replace(problem, **{field: values.copy()})
    assert fresh.fingerprint() == problem.fingerprint()
    candidate = fresh.multipliers(fresh.restore(point))
    assert certify(problem, point, candidate) == certify(fresh, point, candidate)


@pytest.mark.parametrize("num", [BY_NAME["float"], INTERVAL])
def test_several_gram_matrices_that_others_write_on_are_judged_as_they_are_or_refused(num: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("simopt.model.problem.OWNED", 0)
    grams, labels = np.stack([np.eye(4), 2.0 * np.eye(4)]), np.array([1.0, -1.0, 1.0, 1.0])
    problem = MultipleKernelMean(grams, labels)
    point = {"alpha": np.full((2, 4), 0.1)}
    certify(problem, point, None, num)
    grams[0] *= 3.0
    assert certify(problem, point, None, num) == certify(MultipleKernelMean(grams.copy(), labels), point, None, num)
    grams[1, 0, 0] = -1.0
    with pytest.raises(InvalidProblem, match=r"grams\[1\]: not positive semidefinite"):
        certify(problem, point, None, num)


def test_a_matrix_that_was_set_behind_the_problems_back_is_looked_at() -> None:
    problem = KernelRidge(np.eye(3), np.ones(3), 1e-2)
    object.__setattr__(problem, "gram", np.diag([1.0, -1.0, 2.0]))
    for num in (BY_NAME["float"], INTERVAL):
        with pytest.raises(InvalidProblem, match="gram: not positive semidefinite"):
            certify(problem, problem.trivial_point(), None, num)
