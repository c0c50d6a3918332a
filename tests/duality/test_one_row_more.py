"""A registered problem whose programme somebody changes: never judged by the formulas of the old one."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest

import simopt
from simopt.data.similarities import Gaussian
from simopt.duality.declaration import DeclaredProblem
from simopt.model.problem import ALL_CONES
from simopt.problems.kernel_ridge import KernelRidge


def test_a_programme_of_its_own_is_not_judged_by_the_formulas_of_another() -> None:
    with pytest.raises(TypeError, match="Silent declares a programme of its own, but has name, objective, .* of KernelRidge"):

        class Silent(KernelRidge):
            def declare(self, *, cones: frozenset[str] = ALL_CONES) -> cp.Problem:
                return super().declare(cones=cones)


class Capped(DeclaredProblem, KernelRidge):
    """Kernel ridge regression with f ≤ ½."""

    name = "capped-kernel-ridge"

    def declare(self, *, cones: frozenset[str] = ALL_CONES) -> cp.Problem:
        plain = KernelRidge.declare(self, cones=cones)
        return cp.Problem(plain.objective, [*plain.constraints, (plain.var_dict["f"] <= 0.5).set_label("cap")])


def test_a_registered_problem_with_one_row_more_is_a_class_of_five_lines() -> None:
    X = np.random.default_rng(0).uniform(size=(20, 2))
    gram, targets = Gaussian(mu=0.3).gram(X), np.sin(6 * X[:, 0])
    free, capped = (simopt.solve(kind(gram, targets, regularization=1e-2), tol=1e-7) for kind in (KernelRidge, Capped))
    assert free.optimal and capped.optimal and capped.certificate is not None and free.certificate is not None
    assert capped.certificate.lower > free.certificate.upper + 1e-3
    assert capped.point.keys() == {"u"} and np.max(gram @ free.point["alpha"]) > 0.5
