"""Kinds of declarations of which a review got a proven bound beyond the optimum; each stands for its kind, with a truth known by hand."""

import math

import cvxpy as cp
import numpy as np
import pytest
from cvxpy.atoms.affine.wraps import nonneg_wrap

import simopt
from simopt.arithmetic import INTERVAL, RATIONAL
from simopt.backends.copies import with_arguments
from simopt.core.errors import InvalidProblem, Unreadable
from simopt.duality.atoms.sum_largest import SumLargest
from simopt.duality.declared import Declared
from simopt.duality.infeasibility.unbounded import unbounded
from simopt.duality.reading.leaves import unique

LARGE = 2**53 + 1  # the least whole number that no float is
BELOW_E = 1.4456468917292502e-16  # e less the float next to it


def enclosed(truth: float, problem: cp.Problem, within: float = math.inf, **options: object) -> None:
    certificate = simopt.certify(problem, rigorous=True, **options)
    assert certificate.lower <= truth <= certificate.upper and certificate.gap <= within, certificate


@pytest.mark.parametrize("attributes", [{}, {"boolean": True}])
def test_a_symmetry_of_a_parameter_s_first_value_says_nothing_of_the_next(attributes):
    x, p = cp.Variable((2, 2), symmetric=True), cp.Parameter((2, 2), **attributes)
    problem = cp.Problem(cp.Maximize(x[0, 1]), [cp.lambda_max(cp.multiply(p, x)) <= 2, x[0, 0] == 1, x[1, 1] == 1])
    p.value = np.ones((2, 2))
    enclosed(1.0, problem)
    p.value = np.array([[1.0, 0.0], [1.0, 1.0]])  # now Z = Zᵀ asks for x_01 = 0
    enclosed(0.0, problem)


@pytest.mark.parametrize("attributes", [{"bounds": [-0.1, 0.1]}, {"bounds": [0.1, 0.2]}, {"nonpos": True}, {"nonneg": True}])
def test_numbers_that_attributes_make_equal_are_not_taken_for_symmetric_ones(attributes):
    x = cp.Variable((2, 2), **attributes)
    sign = -1.0 if "nonpos" in attributes else 1.0
    held = [x[0, 0] == 0.1 * sign, x[1, 1] == 0.1 * sign, x[1, 0] == 0.1 * sign, cp.lambda_max(x) <= 1.0]
    enclosed(0.1, cp.Problem(cp.Minimize(cp.abs(x[0, 1] - 0.2 * sign)), held))  # Z = Zᵀ asks for x_01 = ±0.1


def test_a_sign_that_is_cut_off_does_not_lead_out_of_the_range_of_a_matrix():
    y, p = cp.Variable(3), np.array([[1.0, 1.0, 0.0], [1.0, 2.0, 1.0], [0.0, 1.0, 1.0]])
    problem = cp.Problem(cp.Minimize(cp.quad_form(cp.abs(y), p) - y[2]))
    declared = Declared.of(problem)
    y.value = np.array([0.0, 0.0, 0.5])
    form = next(term for term in declared.programme.terms if term.name.startswith("QuadForm"))
    inward = 1e-12 * np.array([1.0, 2.0, 1.0])  # so that stationarity needs no other multipliers
    for slip in (1e-7, 5e-7, 1e-6, 0.1):  # in the range, and outside of it without the first entry
        for num in (INTERVAL, RATIONAL):
            bound = declared.dual_bound({form.name: np.array([-slip, 1.0 - slip, 1.0]) + inward}, num)
            assert num.lower(bound) <= -0.25
    certificate = simopt.certify(problem, rigorous=True, solver=None)
    assert certificate.gap <= 1e-12  # the slope at y, moved within the range until its sign is proven


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("others", [0, 2])
def test_sums_of_the_largest_of_constants_are_enclosed_from_both_sides(sign, others):
    x, rounded = cp.Variable(), math.e - cp.exp(cp.Constant([1.0]))
    entries = rounded if not others else cp.hstack([rounded, cp.Constant([-1.0, -2.0])])
    enclosed(-sign * 1e16 * BELOW_E, cp.Problem(cp.Minimize(x), [x >= sign * 1e16 * cp.sum_largest(entries, 1)]))
    enclosed(-sign * 1e16 * BELOW_E, cp.Problem(cp.Minimize(x), [x >= sign * 1e16 * cp.dotsort(rounded, np.array([1.0]))]))


def test_fractions_that_round_to_one_float_are_sorted_as_fractions():
    z = RATIONAL.lift(np.array([1.0, 1.0]))
    z[0] = z[0] + RATIONAL.lift(np.array([2.0**-80]))[0]
    for order in ([0, 1], [1, 0]):
        assert SumLargest(1.0).value(RATIONAL, z[order])[0] == z[0]


@pytest.mark.parametrize(("exponent", "cost", "truth"), [(0.5, 4.0, 4 * (2 - 2.0898949e0)), (-1.0, 0.4, 0.8 - 1.04494745)])
def test_a_concave_norm_whose_scale_may_be_0_takes_the_largest_scale(exponent, cost, truth):
    x, y = cp.Variable(), cp.Variable()
    scale = 1e32 * cp.square(cp.exp(cp.Constant(1.0)) - math.e)  # 2.0898949: intervals only know that it is in [0, 9]
    goal = cp.Minimize(-scale * cp.pnorm(cp.hstack([x, y]), exponent) + cost * (x + y))
    enclosed(truth, cp.Problem(goal, [x >= 0, y >= 0, x <= 1, y <= 1]))


@pytest.mark.parametrize("value", [LARGE, np.int64(LARGE), np.uint64(LARGE), -LARGE, 2**70 + 1, np.longdouble(1) / 3])
def test_a_parameter_that_no_float_is_is_refused(value):
    if isinstance(value, np.longdouble) and float(value) == value:
        pytest.skip("this machine has no longer floats")
    x, p = cp.Variable(), cp.Parameter(value=1.0)
    problem = cp.Problem(cp.Minimize(x), [x >= p])
    enclosed(1.0, problem)
    p.value = value
    with pytest.raises(InvalidProblem, match=r"parameter param\d+: it is .*, which no float is; the nearest is"):
        simopt.certify(problem, rigorous=True)


def test_a_next_whole_number_is_seen_as_a_change():
    x, p = cp.Variable(), cp.Parameter(value=2**53)
    problem = cp.Problem(cp.Minimize(x), [x >= p])
    enclosed(2.0**53, problem)
    p.value = LARGE
    with pytest.raises(InvalidProblem, match=str(LARGE)):
        simopt.certify(problem, rigorous=True)


@pytest.mark.parametrize("attributes", [{}, {"integer": True}])
def test_bounds_that_no_float_is_are_refused(attributes):
    x = cp.Variable(2, name="x", bounds=[np.array([0, LARGE]), np.array([2**60, 2**60])], **attributes)
    with pytest.raises(InvalidProblem, match=rf"variable x.*: entry \(1,\) is {LARGE}, which no float is"):
        simopt.certify(cp.Problem(cp.Minimize(cp.sum(x))), rigorous=True)
    y = cp.Variable(pos=True, name="y", bounds=[1, LARGE])
    with pytest.raises(InvalidProblem, match=str(LARGE)):
        simopt.certify(cp.Problem(cp.Minimize(1 / y)), rigorous=True, gp=True)


@pytest.mark.parametrize("shape", [(2, 2), (3, 2, 2), (2, 3, 4, 4)])
def test_traces_are_those_of_the_matrices_of_the_last_two_axes(shape):
    x = cp.Variable(shape, bounds=[1, 2])
    weights = np.arange(1.0, 1.0 + np.prod(shape[:-2])).reshape(shape[:-2])
    enclosed(shape[-1] * float(weights.sum()), cp.Problem(cp.Minimize(cp.sum(cp.multiply(weights, cp.trace(x))))))


def test_zeros_beside_a_diagonal_are_no_ones_in_a_geometric_programme():
    v = cp.Variable(3, pos=True)
    with pytest.raises(Unreadable, match="diagonal matrix in a geometric programme"):
        simopt.certify(cp.Problem(cp.Minimize(cp.sum(cp.diag(v))), [v >= 1]), rigorous=True, gp=True)


def test_a_promise_about_a_sign_is_not_relied_on_by_linear_programmes_nor_by_directions():
    x = cp.Variable()
    broken = nonneg_wrap(cp.Constant(-1.0)) * cp.abs(x)
    x.value = 0.0
    enclosed(1.0, cp.Problem(cp.Minimize(x), [broken <= -1, x >= 0]))
    enclosed(1.0, cp.Problem(cp.Minimize(cp.square(x)), [broken <= -1, x >= 0]))
    y = cp.Variable(2)
    falling = cp.Problem(cp.Minimize(y[0]), [nonneg_wrap(cp.Constant(-1.0)) * cp.abs(y[0] - 5) <= -1, y[1] == 0])
    assert unbounded(Declared.of(falling)) is None


def test_names_of_variables_are_their_own():
    assert unique(["x", "x (2)", "x", "x"]) == ["x", "x (2)", "x (3)", "x (4)"]
    assert unique(["x", "x", "x (2)"]) == ["x", "x (3)", "x (2)"]
    variables = [cp.Variable(name=name) for name in ("x", "x (2)", "x")]
    enclosed(6.0, cp.Problem(cp.Minimize(sum(variables)), [v >= i for i, v in enumerate(variables, 1)]))


ROWS, WEIGHTS = np.array([[3.0, -4.0, 0.0], [1.0, 0.5, 2.0]]), np.array([[1.0], [10.0]])


@pytest.mark.parametrize(("order", "truth"), [(1, 42.0), ("inf", 24.0)])
def test_norms_keep_their_axes_in_loops_of_integers_and_of_complex_numbers(order, truth):
    def total(z):
        return cp.sum(cp.multiply(WEIGHTS, cp.norm(z, order, axis=1, keepdims=True)))

    loop = [cp.Variable((2, 3)) for _ in range(9)]
    enclosed(9 * truth, cp.Problem(cp.Minimize(sum(total(z) for z in loop)), [z == ROWS for z in loop]))
    z = cp.Variable((2, 3), boolean=True)
    enclosed(truth, cp.Problem(cp.Minimize(total(z + ROWS - 1.0)), [z >= 1]))
    z = cp.Variable((2, 3), complex=True)
    enclosed(truth, cp.Problem(cp.Minimize(total(z)), [z == 1j * ROWS]))


def test_a_copy_of_another_shape_is_refused():
    e = cp.norm(cp.Variable((2, 3)), 1, axis=1, keepdims=True)
    assert with_arguments(e, [cp.Variable((2, 3))]).shape == e.shape == (2, 1)
    with pytest.raises(Unreadable, match=r"a copy of Sum with the shape \(3,\) and not \(2,\)"):
        with_arguments(cp.sum(cp.Variable((2, 3)), axis=1), [cp.Variable((3, 2))])


P, M = cp.Parameter(3, pos=True, value=[1.0, 2.0, 4.0]), np.array([[2.0, 1.0], [1.0, 2.0]])
CONSTANTS = {
    "absolute": (cp.abs(cp.Constant(0.5)), 0.5),
    "difference": (5 - cp.Constant(0.5), 4.5),
    "spectral norm": (cp.norm(cp.Constant(M), 2), 3.0),
    "deviation": (cp.std(cp.Constant([1.0, 2.0, 4.0])), math.sqrt(14 / 9)),
    "range": (cp.ptp(P), 3.0),
    "sum of the largest": (cp.sum_largest(P, 2), 6.0),
    "running sum": (cp.cumsum(P)[2], 7.0),
    "whole": (cp.ceil(2.1) * P[1], 6.0),
    "product": (cp.prod(P), 8.0),
}


@pytest.mark.parametrize("name", CONSTANTS)
def test_constants_of_a_geometric_programme_are_the_numbers_that_they_are(name):
    x, (number, truth) = cp.Variable(pos=True), CONSTANTS[name]
    enclosed(truth, cp.Problem(cp.Minimize(x), [x >= number]), 1e-6, gp=True)
    enclosed(truth, cp.Problem(cp.Minimize(number * x), [x >= 1]), 1e-6, gp=True)


def test_what_has_no_rule_in_a_geometric_programme_is_refused():
    x, y = cp.Variable(pos=True), cp.Variable((3, 1), pos=True)
    for e in (5 - cp.prod(P) / 2, cp.sum(cp.cumprod(y, axis=None)), cp.sum(cp.trace(cp.Variable((2, 2, 2), pos=True)))):
        with pytest.raises(Unreadable, match="in a geometric programme"):
            simopt.certify(cp.Problem(cp.Minimize(x), [x >= e, y >= 1]), rigorous=True, gp=True)


@pytest.mark.parametrize("below", [1 + 1j, 2.0, 2j, -0.5j, -3 + 0.25j])
@pytest.mark.parametrize("kind", ["constant", "parameter", "array"])
def test_quotients_of_complex_numbers_are_quotients(below, kind):
    z, value = cp.Variable(2, complex=True), np.array([1 + 2j, -3j])
    number = {"constant": below, "parameter": cp.Parameter(complex=True, value=below), "array": np.array([below, below])}[kind]
    quotient = z / number
    for e, truth in (
        (cp.real(quotient), (value / below).real),
        (cp.imag(quotient), (value / below).imag),
        (cp.abs(quotient), np.abs(value / below)),
    ):
        for weight in np.eye(2):
            certificate = simopt.certify(cp.Problem(cp.Minimize(weight @ e), [z == value]), rigorous=True)
            assert certificate.lower - 1e-12 <= weight @ truth <= certificate.upper + 1e-12 and certificate.gap <= 1e-9
