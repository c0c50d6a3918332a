"""Every registered family keeps what families promise, and a family that lies is found out by the check that guards it."""

import math
from dataclasses import replace

import numpy as np
import pytest

from simopt.conformance import NotConforming
from simopt.conformance.families import check_family, family_rows
from simopt.core import registry
from simopt.equivalence.family import Family
from simopt.equivalence.samples import sample_for, synthetic
from simopt.theorems.ak.families import kernel_ridge

REAL = sample_for([], synthetic(8)).Z
registry.load("theorems")
FAMILIES = {name: entry for name, entry in registry.items("family") if entry.build.__module__.startswith("simopt.")}
SAME = {  # other computations of the same learners
    "kernel-ridge": ["kernel-ridge-cvxpy"],
    "m-power-rls": ["m-power-rls-cvxpy"],
    "m-power-rls-ball": ["m-power-rls-ball-cvxpy"],
    "kernel-ridge-cvxpy": ["kernel-ridge"],
    "m-power-rls-cvxpy": ["m-power-rls"],
    "m-power-rls-ball-cvxpy": ["m-power-rls-ball"],
}
SLOW = [name for name in FAMILIES if name.endswith("-cvxpy") or name.startswith(("landmarked-", "hinge-svm", "exc-", "imc-"))]
OPTIONS = {  # the same learner by another solver or to another tolerance
    "hinge-svm": {"tol": 1e-6},
    "hinge-svm-ball": {"tol": 1e-6},
    "landmarked-svr": {"tol": 1e-6},
    "landmarked-svr-penalised": {"tol": 1e-6},
}


@pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.slow] * (name in SLOW)) for name in sorted(FAMILIES)])
def test_a_registered_family_keeps_its_promises(name):
    others = [FAMILIES[other].build() for other in SAME.get(name, ())]
    others += [FAMILIES[name].build(**OPTIONS[name])] if name in OPTIONS else []
    check_family(FAMILIES[name].build(), others=others)


RIDGE = kernel_ridge()


def radius_too_small(lam, Z):
    f = RIDGE(lam, Z)
    order = 1.0 if Z.targets[0] < Z.targets[-1] else -1.0  # an error that depends on how the samples are numbered
    return replace(f * (1.0 + 1e-6 * order), error=1e-8 * f.norm())


RANDOM = np.random.default_rng(0)


def not_unique(lam, Z):
    return replace(RIDGE(lam, Z) * (1.0 + 1e-3 * RANDOM.normal()), error=0.0)


def jumping(lam, Z):
    return RIDGE(lam if lam < 0.7 else 2.0 * lam, Z)


def rising_and_falling(lam, Z):
    return RIDGE(lam, Z) * (2.0 + math.sin(3.0 * math.log(lam)))


def everywhere(lam, Z):
    return RIDGE.fit(abs(lam) if 0.0 < abs(lam) < math.inf else 1.0, Z)


class Everywhere(Family):
    def __call__(self, parameter, Z):
        return self.fit(parameter, Z)


def never(lam, Z):
    raise ArithmeticError("never")


LIARS = {
    "order of the samples": Family("a radius too small", radius_too_small),
    "perturbed solves": Family("not unique", not_unique),
    "continuity": Family("jumping", jumping),
    "monotone norms": Family("rising and falling", rising_and_falling),
    "domain": Everywhere("everywhere", everywhere),
    "members": Family("never", never),
}


@pytest.mark.parametrize("guard", LIARS)
def test_a_family_that_lies_is_found_out(guard):
    rows = [row for row in family_rows(LIARS[guard], REAL) if row.failure is not None]
    assert guard in [row.check for row in rows], rows
    with pytest.raises(NotConforming, match=guard):
        check_family(LIARS[guard], REAL)


def test_a_norm_that_comes_back_between_the_parameters_is_found_out():
    """It rises from 2 to 9, and falls elsewhere; the five parameters are 30 apart."""
    bulge = Family("bulge", lambda lam, Z: RIDGE(lam * (1.0 + 3.0 * math.exp(-(((math.log(lam) - 1.7) / 0.3) ** 2))), Z))
    with pytest.raises(NotConforming, match="monotone norms"):
        check_family(bulge)


def broken(*arguments):
    raise IndexError("no entry")


@pytest.mark.parametrize(
    ("family", "Z"),
    [(Family("fit", broken), None), (Family("domain", RIDGE.fit, broken), None), (Family("domain", RIDGE.fit, broken), REAL)],
)
def test_a_family_whose_code_breaks_does_not_conform(family, Z):
    with pytest.raises(NotConforming, match="raised IndexError: no entry"):
        check_family(family, Z)


def test_what_is_not_claimed_is_not_asked_for():
    check_family(LIARS["continuity"], continuous=False)
    check_family(LIARS["monotone norms"], monotone=False)
    check_family(replace(LIARS["continuity"], continuous=False))
    check_family(replace(LIARS["monotone norms"], monotone=False))


def test_a_radius_is_held_against_another_computation():
    vague = Family("another", lambda lam, Z: replace(RIDGE(lam, Z) * 1.001, error=1e-9))
    with pytest.raises(NotConforming, match="computed by another"):
        check_family(RIDGE, others=[vague])
    honest = Family("another", lambda lam, Z: replace(f := RIDGE(lam, Z) * 1.001, error=2e-3 * f.norm()))
    check_family(RIDGE, others=[honest])


def test_the_jump_is_named():
    (row,) = [row for row in family_rows(LIARS["continuity"], REAL, np.array([0.1, 1.0, 10.0])) if row.failure]
    low, high = (float(word) for word in row.failure.split(" the function")[0].removeprefix("between ").split(" and "))
    assert low <= 0.7 <= high and high - low < 1e-8


@pytest.mark.slow
def test_a_declared_family_is_held_against_looser_and_other_solves():
    import cvxpy as cp

    from simopt.conformance.families import perturbed
    from simopt.equivalence.declared_family import learned

    def absolute(lam, Z):
        w = cp.Variable(Z.features.shape[1], name="w")
        return cp.Problem(cp.Minimize(cp.norm1(Z.targets - Z.features @ w) / Z.n + lam * cp.sum_squares(w)))

    family = learned("absolute loss", absolute)
    others = list(perturbed(family))
    assert {other.solver for other in others} > {"clarabel"} and max(other.tol for other in others) > family.tol
    check_family(family, parameters=[0.03, 0.3, 3.0])
