"""The reader: what it makes of declarations, and what it refuses, by name."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from cvxpy.atoms.affine.wraps import nonneg_wrap
from cvxpy.atoms.suppfunc import SuppFuncAtom
from cvxpy.transforms.indicator import indicator
from cvxpy.transforms.partial_optimize import partial_optimize
from hypothesis import given, settings
from hypothesis import strategies as st

import simopt
import simopt.duality
from simopt.arithmetic import FLOAT, INTERVAL, Arithmetic
from simopt.core.errors import InvalidProblem, Unreadable
from simopt.duality import Declared, forward, read
from simopt.duality.graph.programme import Definition, Epigraph
from simopt.duality.reading.library import ATOMS

FOLDER = Path(simopt.duality.__file__).parent
SOURCES = (*FOLDER.rglob("*.py"), *(FOLDER.parent / "solving").glob("*.py"))  # what knows the inside of CVXPY
PRIVATE = {  # CVXPY does not export these from its root: a release that moves them fails here, by name
    "cvxpy.atoms.affine.binary_operators.DivExpression",
    "cvxpy.atoms.affine.binary_operators.MulExpression",
    "cvxpy.atoms.affine.concatenate.Concatenate",
    "cvxpy.atoms.affine.diag.diag_mat",
    "cvxpy.atoms.affine.diag.diag_vec",
    "cvxpy.atoms.affine.hstack.Hstack",
    "cvxpy.atoms.affine.index.index",
    "cvxpy.atoms.affine.index.special_index",
    "cvxpy.atoms.affine.promote.Promote",
    "cvxpy.atoms.affine.squeeze.squeeze",
    "cvxpy.atoms.affine.unary_operators.NegExpression",
    "cvxpy.atoms.affine.vstack.Vstack",
    "cvxpy.atoms.affine.wraps.Wrap",
    "cvxpy.atoms.affine.wraps.nonneg_wrap",
    "cvxpy.atoms.affine.wraps.nonpos_wrap",
    "cvxpy.atoms.affine.wraps.nsd_wrap",
    "cvxpy.atoms.affine.wraps.psd_wrap",
    "cvxpy.atoms.affine.wraps.symmetric_wrap",
    "cvxpy.atoms.atom.Atom",
    "cvxpy.atoms.elementwise.logic.And",
    "cvxpy.atoms.elementwise.logic.LogicExpression",
    "cvxpy.atoms.elementwise.logic.Not",
    "cvxpy.atoms.elementwise.logic.Or",
    "cvxpy.atoms.elementwise.logic.Xor",
    "cvxpy.atoms.suppfunc.SuppFuncAtom",
    "cvxpy.constraints.Equality",
    "cvxpy.constraints.Inequality",
    "cvxpy.constraints.PSD",
    "cvxpy.constraints.PowCone3DApprox",
    "cvxpy.constraints.constraint.Constraint",
    "cvxpy.expressions.leaf.Leaf",
    "cvxpy.reductions.Complex2Real",
    "cvxpy.reductions.Dgp2Dcp",
    "cvxpy.reductions.complex2real.canonicalizers.Complex2RealCanonMethods",
    "cvxpy.reductions.cone2cone.approx.OpRelEntrConeQuad_canon",
    "cvxpy.reductions.cone2cone.approx.RelEntrConeQuad_canon",
    "cvxpy.reductions.dcp2cone.canonicalizers.suppfunc_canon.suppfunc_canon",
    "cvxpy.reductions.dgp2dcp.canonicalizers.DgpCanonMethods",
    "cvxpy.reductions.solution.Solution",
    "cvxpy.transforms.indicator.indicator",
    "cvxpy.transforms.partial_optimize.PartialProblem",
}

x, X, t = cp.Variable(3, name="x"), cp.Variable((3, 2), name="X"), cp.Variable(name="t")
s, r = cp.Variable(nonneg=True, name="s"), cp.Variable(nonneg=True, name="r")
Q = cp.Parameter((3, 3), PSD=True, name="Q", value=np.eye(3) + np.ones((3, 3)))
P = np.array([[2.0, 0.5, 0.0], [0.5, 1.0, 0.0], [0.0, 0.0, 1.0]])
Z = cp.diag(x) + t * np.array([[1.0, 0.5, 0.0], [0.5, -1.0, 0.25], [0.0, 0.25, 0.5]])
FUNCTIONS = {
    "abs": cp.abs(x),
    "square": cp.square(x),
    "sum_squares": cp.sum_squares(X),
    "quad_over_lin": cp.quad_over_lin(x, 3.0),
    "quad_form": cp.quad_form(x, P),
    "negative quad_form": cp.quad_form(x, -P),
    "norm 1": cp.norm(X, 1),
    "norm 2": cp.norm(x, 2),
    "norm inf": cp.norm(x, "inf"),
    "norm 3": cp.norm(x, 3),
    "norm 1.25": cp.pnorm(x, 1.25),
    "Frobenius": cp.norm(X, "fro"),
    "norms of rows": cp.norm(X, 2, axis=1),
    "1-norms of columns": cp.norm(X, 1, axis=0),
    "largest of rows": cp.norm(X, "inf", axis=1),
    "mixed norm": cp.mixed_norm(X, 2, 1),
    "power 3": cp.power(cp.abs(x), 3),
    "power 4": cp.power(x, 4),
    "power 1.5": cp.power(cp.pos(x), 1.5, approx=False),
    "power of a norm": cp.power(cp.norm(x, 2), 1.5),
    "huber": cp.huber(x, 0.5),
    "logistic": cp.logistic(x),
    "exp": cp.exp(x),
    "log": cp.log(cp.abs(x.value if x.value is not None else np.ones(3)) + 1) + cp.log(t + 10),
    "log1p": cp.log1p(t + 9),
    "entr": cp.entr(t + 10),
    "log_sum_exp": cp.log_sum_exp(X),
    "log_sum_exp of rows": cp.log_sum_exp(X, axis=1),
    "max": cp.max(X),
    "max of columns": cp.max(X, axis=0),
    "min": cp.min(X, axis=1),
    "maximum": cp.maximum(x, 0.25, 2 * x[0]),
    "minimum": cp.minimum(x, t),
    "pos": cp.pos(x),
    "neg": cp.neg(x),
    "sum_largest": cp.sum_largest(x, 2),
    "dotsort": cp.dotsort(x, [3.0, -1.0, 1.0]) + cp.dotsort(x, [2.0, 0.5]),
    "cvar": cp.cvar(x, 0.5),
    "sum_smallest": cp.sum_smallest(x, 2),
    "geo_mean": cp.geo_mean(x + 10, [1, 2, 1]),
    "geo_mean with a weight 0": cp.geo_mean(x + 10, [1, 0, 1]),
    "geo_mean of one entry": cp.geo_mean(x + 10, [0, 1, 0]),
    "tv": cp.tv(x),
    "root": cp.sqrt(t + 10),
    "power 0.3": cp.power(t + 10, 0.3),
    "inverse": cp.inv_pos(t + 10) + cp.power(t + 10, -2.5),
    "norm 0.5": cp.pnorm(x + 10, 0.5),
    "harmonic_mean": cp.harmonic_mean(x + 10),
    "norm -1.5": cp.pnorm(x + 10, -1.5),
    "quad_over_lin of variables": cp.quad_over_lin(x, t + 10),
    "quad_over_lin of rows": cp.quad_over_lin(X, t + 10, axis=1),
    "rel_entr": cp.rel_entr(x + 10, t + 10),
    "kl_div": cp.kl_div(x + 10, 2.0),
    "kl_div of variables": cp.kl_div(x + 10, X[:, 0] + 10),
    "cummax": cp.cummax(X, axis=0) + cp.cummax(X, axis=1),
    "semidefinite quad_form": cp.quad_form(x, np.ones((3, 3))),
    "quad_form of a parameter": cp.quad_form(x, Q) - cp.quad_form(x, -1.5 * Q),
    "perspective": cp.perspective(cp.sum_squares(x) + cp.logistic(x[0]) + 2, s),
    "perspective of nested functions": cp.perspective(cp.square(cp.pos(cp.norm(x) - 0.25)) - 3 * x[1] + cp.max(x), s),
    "perspective of a concave function": cp.perspective(cp.log(t + 30) + 1, s),
    "perspective of a perspective": cp.perspective(cp.perspective(cp.square(t), s), r),
    "lambda_max": cp.lambda_max(Z),
    "lambda_min": cp.lambda_min(Z),
    "lambda_sum_largest": cp.lambda_sum_largest(Z, 2) + cp.lambda_sum_largest(Z, 1.5),
    "lambda_sum_smallest": cp.lambda_sum_smallest(Z, 2),
    "lambda_max of a diagonal": cp.lambda_max(cp.diag(x)),
    "log_det": cp.log_det(Z + 10 * np.eye(3)),
    "tr_inv": cp.tr_inv(Z + 10 * np.eye(3)),
    "von_neumann_entr": cp.von_neumann_entr(Z + 10 * np.eye(3)),
    "sigma_max": cp.sigma_max(X),
    "normNuc": cp.normNuc(X) + cp.normNuc(X.T),
    "matrix_frac": cp.matrix_frac(x, Z + 10 * np.eye(3)),
    "matrix_frac of a matrix": cp.matrix_frac(X, Z + 10 * np.eye(3)),
    "nested": cp.sum(cp.pos(cp.abs(x) - 0.5)) + cp.exp(cp.norm(x)),
}


@pytest.mark.parametrize("name", FUNCTIONS)
@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 2**30))
def test_the_forward_sweep_is_cvxpys_value(name: str, seed: int) -> None:
    e = FUNCTIONS[name]
    f = cp.sum(e)
    problem = cp.Problem(cp.Minimize(f) if f.is_convex() else cp.Maximize(f))
    rng = np.random.default_rng(seed)
    for variable in problem.variables():
        variable.value = rng.normal(size=variable.shape) if not variable.is_nonneg() else rng.uniform(0.5, 2.0)
    declared = read(problem)
    at = {key: np.asarray(leaf.variable.value, dtype=float).reshape(-1, order="F") for key, leaf in declared.leaves.items()}
    found = forward(FLOAT, declared, at)
    assert not found.violated
    assert found.objective * (-1 if declared.maximises else 1) == pytest.approx(float(f.value), rel=1e-12, abs=1e-12)


NEGATIVE = ("sum_smallest", "lambda_min", "lambda_sum_smallest")  # CVXPY itself writes them as less a convex function


@pytest.mark.parametrize("name", [name for name, f in FUNCTIONS.items() if not cp.sum(f).is_convex() and name not in NEGATIVE])
def test_terms_of_a_concave_function_have_a_negative_sign(name: str) -> None:
    assert {term.sign for term in read(cp.Problem(cp.Maximize(cp.sum(FUNCTIONS[name])))).terms} == {-1}


STAYS_LOW = ("power 3", "power of a norm")  # a norm in a power takes what is left, and in a box the sides have taken it all


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize(("num", "radius"), [(FLOAT, 1e-6), (FLOAT, 0.25), (INTERVAL, 0.25)], ids=["near", "far", "far in intervals"])
def test_the_tangent_at_a_point_bounds_a_function_on_a_box_around_it(name: str, num: Arithmetic, radius: float) -> None:
    """Multipliers that are the slopes at x give f(x) − Σ|f'| r, below f on all of |z − x| ≤ r; for a small r it is f(x)."""
    f = cp.sum(FUNCTIONS[name])
    rng = np.random.default_rng(3)
    point = {v.name(): rng.uniform(0.5, 2.0, size=v.shape) for v in f.variables()}
    rows = [row for v in f.variables() for row in (v >= point[v.name()] - radius, v <= point[v.name()] + radius)]
    declared = Declared.of(cp.Problem(cp.Maximize(f) if f.is_concave() else cp.Minimize(f), rows))
    slopes = declared.multipliers(point)
    assert slopes is not None
    lower, at_point = num.lower(declared.dual_bound(slopes, num)), declared.objective(point)
    corners = [{v: z + radius * rng.choice([-1.0, 1.0], size=z.shape) for v, z in point.items()} for _ in range(8)]
    assert lower <= min(declared.objective(corner) for corner in corners) + 1e-12 * (1.0 + abs(at_point))
    assert radius > 1e-3 or name in STAYS_LOW or at_point - lower <= 1e-4


def test_every_atom_of_the_table_is_read_by_the_test_above() -> None:
    seen: set[type] = set()

    def walk(e: Any) -> None:
        seen.add(type(e))
        for argument in e.args:
            walk(argument)

    for e in FUNCTIONS.values():
        walk(e)
    walk(cp.pnorm(x, 3, approx=False))
    walk(cp.geo_mean(t, approx=False) if "approx" in cp.geo_mean.__code__.co_varnames else cp.GeoMean(x + 10))
    # a maximum over its set, and what has tests of its own, as CVXPY's value is of X/tr X
    assert set(ATOMS) <= seen | {SuppFuncAtom, cp.quantum_rel_entr}


def private_names() -> set[str]:
    found = set()
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("cvxpy"):
                found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def test_every_private_name_of_cvxpy_is_listed_and_no_underscore_is_used() -> None:
    assert private_names() == PRIVATE
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Attribute) and node.attr.startswith("_") and not node.attr.startswith("__"):
                owner = node.value.id if isinstance(node.value, ast.Name) else ""
                own = owner in ("self", "Expressions", "Recession") or isinstance(node.value, ast.Attribute)
                assert own, (path.name, ast.unparse(node))


class UsersFunction(cp.exp):
    """A function of the user's own."""


REFUSED = {
    "not convex": (lambda: cp.Minimize(cp.log(x[0])), r"quasiconvex \(qcp=True\), which is not convex.*log"),
    "quasi-convex": (lambda: cp.Minimize(cp.ceil(t)), r"quasiconvex \(qcp=True\), which is not convex.*ceil"),
    "a function that is not known": (
        lambda: cp.Minimize(cp.sum(UsersFunction(x))),
        r"UsersFunction is not known in .*UsersFunction\(.*read are sums",
    ),
    "a promise of what is not known": (lambda: cp.Minimize(cp.sum_squares(nonneg_wrap(UsersFunction(x)))), "UsersFunction is not known"),
    "a power that varies": (lambda: cp.Minimize(cp.power(t, cp.Parameter(value=3.0))), "exponent is a parameter|not convex"),
    "a negative quotient": (lambda: cp.Minimize(cp.quad_over_lin(x, -1.0)), "denominator is not positive|not convex"),
    "weights that vary": (
        lambda: cp.Minimize(cp.dotsort(x, cp.Parameter(3, value=[1.0, 2.0, 3.0]))),
        "weights that are no numbers in dotsort",
    ),
    "an integer": (lambda: cp.Minimize(cp.square(cp.Variable(integer=True, name="n"))), "variable n: the attribute integer.*not convex"),
    "a boolean": (lambda: cp.Minimize(cp.square(cp.Variable(boolean=True, name="b"))), "variable b: the attribute boolean"),
    "complex": (lambda: cp.Minimize(cp.norm(cp.Variable(2, complex=True))), "attribute complex"),
    "no semidefinite matrix": (lambda: cp.Minimize(cp.quad_form(x, cp.psd_wrap(np.diag([1.0, 1.0, -1.0])))), "not proven semidefinite"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_known_is_refused_by_name_with_the_sub_expression(name: str) -> None:
    goal, message = REFUSED[name]
    with pytest.raises(Unreadable, match=message):
        read(cp.Problem(goal()))


def test_a_support_function_is_the_maximum_over_its_set() -> None:
    box = cp.suppfunc(x, [x <= 1, x >= -0.5])
    found = simopt.certify(cp.Problem(cp.Minimize(box(x - np.array([1.0, -2.0, 0.0])) + cp.sum_squares(x))), rigorous=True)
    assert found.closes(1e-6) and found.lower <= 2.1875 <= found.upper


@pytest.mark.parametrize("rigorous", [False, True])
def test_no_bound_follows_from_a_promise_that_is_broken(rigorous: bool) -> None:
    """(t² − 1)² is 0 at 1, and 1 at 0, where it would be least if t² − 1 were ≥ 0."""
    found = simopt.certify(cp.Problem(cp.Minimize(cp.square(nonneg_wrap(cp.square(t) - 1)))), rigorous=rigorous)
    assert found.lower <= 0.0 <= found.upper


def test_bad_data_are_named() -> None:
    with pytest.raises(InvalidProblem, match="no variables"):
        read(cp.Problem(cp.Minimize(0)))
    with pytest.raises(InvalidProblem, match="a cvxpy.Problem needed"):
        read(cp.Minimize(t))
    for bad in (np.nan, np.inf):
        with pytest.raises(InvalidProblem, match=r"entry \(1,\) is (nan|inf)"):
            read(cp.Problem(cp.Minimize(cp.sum_squares(x - np.array([0.0, bad, 0.0])))))
    with pytest.raises(InvalidProblem, match="no variables"):
        read(cp.Problem(cp.Minimize(cp.sum(cp.Variable(0, name="none")))))
    with pytest.raises(InvalidProblem, match="PowerApprox.*not proven to be in the domain"):
        read(cp.Problem(cp.Minimize(cp.square(t) + cp.inv_pos(cp.Parameter(value=-1.0, name="p")))))
    strength = cp.Parameter(nonneg=True, name="strength")
    with pytest.raises(InvalidProblem, match="parameter strength: it has no value"):
        read(cp.Problem(cp.Minimize(strength * cp.sum_squares(x))))
    with pytest.raises(InvalidProblem, match="2 constraints have this label"):
        read(cp.Problem(cp.Minimize(cp.sum_squares(x)), [(x >= 0).set_label("a"), (x <= 1).set_label("a")]))


def test_equalities_define_variables_and_circles_do_not() -> None:
    A = np.ones((4, 3))
    f, g = cp.Variable(4, name="f"), cp.Variable(4, name="g")
    found = read(cp.Problem(cp.Minimize(cp.sum_squares(f) + cp.sum_squares(x)), [f == A @ x, g == 2 * f, 3 * t == cp.sum(g)]))
    assert [node.name for node in found.nodes if isinstance(node, Definition)] == ["f", "g", "t"]
    assert [leaf.name for leaf in found.leaves.values()] == ["x"] and not found.rows
    circle = read(cp.Problem(cp.Minimize(cp.sum_squares(f)), [f == 2 * g, g == 3 * f + 1]))
    assert len(circle.leaves) == 1 and len(circle.rows) == 1  # g is f/2; what the second row says stays a row
    sign = cp.Variable(4, nonneg=True, name="sign")
    assert len(read(cp.Problem(cp.Minimize(cp.sum(sign)), [sign == A @ x])).rows) == 1  # a bounded variable is not a mere name


def test_an_equality_that_gives_some_entries_of_a_variable_only_does_not_define_it() -> None:
    pair, rest = cp.Variable(2, name="pair"), cp.Variable(name="rest")
    found = read(cp.Problem(cp.Minimize(cp.sum_squares(pair) + cp.square(rest)), [cp.hstack([pair[0], rest]) == np.array([1.0, 2.0])]))
    assert [leaf.name for leaf in found.leaves.values()] == ["pair", "rest"] and len(found.rows) == 1


def test_slacks_are_epigraphs_and_only_where_they_cost() -> None:
    s = cp.Variable(3, name="s")
    rows = [x - 1 <= s, s >= 0]
    found = read(cp.Problem(cp.Minimize(cp.sum(s) + cp.sum_squares(x)), rows))
    assert [node.name for node in found.nodes if isinstance(node, Epigraph)] == ["s"] and not found.rows
    for goal in (cp.sum_squares(x) - cp.sum(s), cp.sum_squares(x) + cp.sum_squares(s)):
        kept = read(cp.Problem(cp.Minimize(goal), [*rows, s <= 5]))
        assert "s" in [leaf.name for leaf in kept.leaves.values()]
    both = read(cp.Problem(cp.Minimize(cp.sum_squares(x) + cp.sum(s)), [*rows, s[0] - x[1] >= 0, s[0] == s[1]]))
    assert "s" in [leaf.name for leaf in both.leaves.values()]  # an equality asks more of s than to be large


def test_bounds_of_every_kind_are_read() -> None:
    b = cp.Variable(4, name="b", bounds=[np.array([0.0, -np.inf, 1.0, -2.0]), np.array([np.inf, 5.0, 2.0, 3.0])])
    declared = Declared.of(cp.Problem(cp.Minimize(cp.sum_squares(b)), [-2 * b <= 1, b[[0, 0]] <= np.array([4.0, 3.0]), b[3] >= -1]))
    high = declared.restore({"b": np.full(4, 100.0)})["b"]
    low = declared.restore({"b": np.full(4, -100.0)})["b"]
    np.testing.assert_array_equal(high, [3.0, 5.0, 2.0, 3.0])
    np.testing.assert_array_equal(low, [0.0, -0.5, 1.0, -0.5])
    signs = [cp.Variable(name=name, **{name: True}) for name in ("nonneg", "nonpos", "pos", "neg")]
    declared = Declared.of(cp.Problem(cp.Minimize(cp.sum_squares(cp.hstack(signs)))))
    assert {name: float(value) for name, value in declared.restore({v.name(): -2.0 for v in signs}).items()} == {
        "nonneg": 0.0,
        "nonpos": -2.0,
        "pos": 0.0,
        "neg": -2.0,
    }


def test_structured_variables_have_the_entries_that_they_say() -> None:
    """Of a symmetric variable one triangle counts, of a sparse one its pattern; both come back whole."""
    given = np.array([[1.0, 5.0], [2.0, 4.0]])
    for attributes, whole in (
        ({"symmetric": True}, [[1.0, 2.0], [2.0, 4.0]]),
        ({"diag": True}, [[1.0, 0.0], [0.0, 4.0]]),
        ({"sparsity": [(0, 1), (1, 1)]}, [[0.0, 5.0], [0.0, 4.0]]),
        ({"diag": True, "bounds": [-1.0, 2.0]}, [[1.0, 0.0], [0.0, 2.0]]),
    ):
        S = cp.Variable((2, 2), name="S", **attributes)
        declared = Declared.of(cp.Problem(cp.Minimize(cp.sum_squares(S - np.array([[0.0, 1.0], [2.0, 3.0]])))))
        point = declared.restore({"S": given})
        np.testing.assert_array_equal(point["S"], whole)
        expected = np.sum((np.array(whole) - np.array([[0.0, 1.0], [2.0, 3.0]])) ** 2)
        assert declared.objective(point) == declared.objective({"S": whole}) == expected


def test_bounds_that_are_expressions_are_read_live() -> None:
    p = cp.Parameter(2, name="p", value=[1.0, 2.0])
    b = cp.Variable(2, name="b", bounds=[-p, 2 * p])
    declared = Declared.of(cp.Problem(cp.Minimize(cp.sum_squares(b))))
    np.testing.assert_array_equal(declared.restore({"b": [9.0, -9.0]})["b"], [2.0, -2.0])
    p.value = np.array([3.0, 1.0])
    np.testing.assert_array_equal(declared.restore({"b": [9.0, -9.0]})["b"], [6.0, -1.0])


A = np.array([0.5, 0.25, 0.3])
INNER, OUTER = cp.Variable(3, name="inner"), cp.Variable(3, nonneg=True, name="outer")
RANGE = cp.Problem(cp.Minimize(cp.sum(INNER)), [INNER >= x, INNER >= -x])
BECOME_ROWS = {
    "power cones": ([cp.PowCone3D(x + 3, OUTER + 1, 2 * x, [0.5, 0.25, 0.3])], lambda x, y: (x + 3) ** A * (y + 1) ** (1 - A) - abs(2 * x)),
    "a power cone of a matrix": (
        [cp.PowConeND(cp.vstack([x + 3, OUTER + 1]), 2 * x, np.array([A, 1 - A]))],
        lambda x, y: (x + 3) ** A * (y + 1) ** (1 - A) - abs(2 * x),
    ),
    "exponential cones": ([cp.ExpCone(x, OUTER + 1, OUTER + 4)], lambda x, y: y + 4 - (y + 1) * np.exp(x / (y + 1))),
    "a second-order cone": ([cp.SOC(OUTER[0] + 1, x)], lambda x, y: y[:1] + 1 - np.linalg.norm(x)),
}


@pytest.mark.parametrize("name", BECOME_ROWS)
def test_cones_become_rows_that_hold_where_the_cone_does(name: str) -> None:
    constraints, slack = BECOME_ROWS[name]
    declared = Declared.of(cp.Problem(cp.Minimize(cp.sum_squares(x) + cp.sum_squares(OUTER)), constraints))
    rng, kept = np.random.default_rng(4), 0
    for _ in range(200):
        point = {"x": rng.normal(size=3), "outer": rng.uniform(0, 2, 3)}
        left = np.min(slack(point["x"], point["outer"]))
        assert np.isfinite(declared.objective(point)) == (left >= 0)
        kept += left >= 0
    assert 20 < kept < 180


def test_indicators_and_partial_optima_give_their_constraints_to_the_problem() -> None:
    found = read(cp.Problem(cp.Minimize(cp.sum_squares(x - 1) + indicator([cp.norm(x) <= 1]) + partial_optimize(RANGE, opt_vars=[INNER]))))
    assert [row.name for row in found.rows] == ["indicator 0"]
    assert len(found.leaves) == 1 and any(isinstance(node, Epigraph) for node in found.nodes)  # the inner variable is a slack
    with pytest.raises(Unreadable, match="indicator in a perspective"):
        read(cp.Problem(cp.Minimize(cp.perspective(cp.square(t) + indicator([t <= 1]), s))))
