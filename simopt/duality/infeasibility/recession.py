"""The recession problem of a declared one: directions in which points stay feasible without end, and the slope of the objective along them.

The recession function of a closed convex f is f_∞(d) = lim_{t → ∞} f(x + td)/t = sup{⟨u, d⟩ : f*(u) < ∞}, and f(x + td) ≤ f(x) + t f_∞(d).
Each constant becomes 0, and each function φ its φ_∞. For a homogeneous φ (norms, maxima, means, relative entropies, sums of eigenvalues)
φ_∞ = φ, and

    e^z               0 for d ≤ 0, else ∞          log(1 + e^z)      max(d, 0)
    −log z, −z^p      0 for d ≥ 0, else ∞          log Σ e^{z_i}     max d_i
    z², z^p           0 for d = 0, else ∞          Huber's           2M|d|
    z log z           0 for d = 0, else ∞          zᵀPz              0 for Pd = 0, else ∞
    −log det Z        0 for D ⪰ 0, else ∞          tr Z log Z        0 for D = 0, else ∞
    tr Z⁻¹            0 for D ⪰ 0, else ∞

with p < 1 on the left of the second line and p > 1 on that of the third. In φ(z(x)) with z convex φ rises where z can be. Hence φ_∞(z_∞(d))
is not below the recession function of the whole: the minimised function may be above f_∞, and is never below.

Logarithms and powers −z^p, 0 < p < 1, have the slope 0 and still fall without end. Where they are added to the objective the rest may have
the slope 0, and they count as −z_∞(d), and −log det Z as −tr D. f falls without end if that sum is below 0 and f_∞(d) ≤ 0.

Rows g ≤ 0 become g_∞ ≤ 0, affine rows h = 0 their linear parts, and existing bounds 0; cones stay as they are. −1 ≤ d ≤ 1 is added.

Source: R. T. Rockafellar, Convex Analysis (1970), theorems 8.5 and 13.3.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from operator import add
from typing import Any

import cvxpy as cp
import numpy as np
from cvxpy.atoms.affine.binary_operators import DivExpression
from cvxpy.atoms.affine.diag import diag_vec
from cvxpy.atoms.affine.unary_operators import NegExpression
from cvxpy.constraints import Inequality
from cvxpy.transforms.indicator import indicator
from cvxpy.transforms.partial_optimize import PartialProblem

from simopt.backends.copies import with_arguments
from simopt.core.errors import Unreadable
from simopt.duality.graph.matrix_terms import SEMIDEFINITE
from simopt.duality.reading.expressions import SELECTING, WRAPS

PRODUCTS = (cp.multiply, cp.MulExpression, cp.kron, cp.conv, cp.convolve, DivExpression)  # of a constant and an expression
LINEAR = (cp.AddExpression, cp.Sum, cp.Trace, cp.cumsum, NegExpression, diag_vec, *SELECTING, *WRAPS)
HOMOGENEOUS = (
    *(cp.abs, cp.norm1, cp.norm_inf, cp.Pnorm, cp.PnormApprox, cp.maximum, cp.minimum, cp.max, cp.min, cp.sum_largest),
    *(cp.dotsort, cp.cummax, cp.rel_entr, cp.kl_div, cp.GeoMean, cp.GeoMeanApprox),
    *(cp.lambda_max, cp.lambda_sum_largest, cp.sigma_max, cp.normNuc, cp.MatrixFrac),
)
NORMS = (cp.abs, cp.norm1, cp.norm_inf, cp.Pnorm, cp.PnormApprox)
SLOW = (cp.log, cp.log_det, cp.Power, cp.PowerApprox, cp.quantum_rel_entr)
STRUCTURES = ("symmetric", "diag", "sparsity")


class Recession:
    """Reads expressions into their recession functions; `rows` are the conditions under which these are finite.

    Attributes
    ----------
    problem : cvxpy.Problem
        to be solved for a direction; the objective is unbounded if a value below 0 (for a maximum: above) is feasible.
    linear_rate : bool
        whether that value is the slope; False where logarithms and powers are counted.
    """

    def __init__(self, problem: cp.Problem, names: dict[int, str]) -> None:
        """The problem, and the name of each of its variables by its id."""
        self.names = names
        self.variables: dict[int, Any] = {}
        self.rows: list[Any] = []
        self.linear_rate = True
        self._known: dict[int, tuple[Any, Any]] = {}
        slope = self.of(problem.objective.expr)
        goal = self._slow(problem.objective.expr)
        self._constrain(problem.constraints)
        if not self.linear_rate:
            self.rows += at_most_zero(-slope if isinstance(problem.objective, cp.Maximize) else slope)
        self.problem = cp.Problem(type(problem.objective)(goal), self.rows)

    def of(self, e: Any) -> Any:
        """The recession function of an expression.

        Raises
        ------
        Unreadable
            where a function has no known recession function.
        """
        if id(e) not in self._known:
            self._known[id(e)] = (e, self._new(e))
        return self._known[id(e)][1]

    def _new(self, e: Any) -> Any:
        kind = type(e)
        if kind is cp.Variable:
            return self._variable(e)
        if kind is indicator:
            self._constrain(e.args)
            return cp.Constant(0.0)
        if kind is PartialProblem:
            self._constrain(e.args[0].constraints)
            return self.of(e.args[0].objective.expr)
        if e.is_constant():
            return cp.Constant(np.zeros(e.shape))
        if kind is cp.perspective:
            return cp.perspective(self._moved(e.f), self.of(e.args[0]))
        if kind in PRODUCTS or kind is cp.dotsort:
            return with_arguments(e, [argument if argument.is_constant() else self.of(argument) for argument in e.args])
        if kind is cp.AddExpression:
            return self._sum(e)
        if kind in LINEAR or kind in HOMOGENEOUS:
            return with_arguments(e, [self.of(argument) for argument in e.args])
        if kind in FUNCTIONS:
            return FUNCTIONS[kind](self, e)
        raise Unreadable(f"the recession function of {kind.__name__} is not known", str(e))

    def _slow(self, e: Any) -> Any:
        """The recession function of a sum in which each logarithm and power counts as its argument."""
        if e.is_constant() or not (type(e) in SLOW or type(e) in PRODUCTS or type(e) in LINEAR):
            return self.of(e)
        if type(e) not in SLOW:
            return with_arguments(
                e, [argument if argument.is_constant() and type(e) in PRODUCTS else self._slow(argument) for argument in e.args]
            )
        if type(e) is cp.log_det:
            self.linear_rate = False
            return cp.trace(self.of(e.args[0]))
        if type(e) is cp.quantum_rel_entr:
            if not e.args[0].is_constant():
                return self.of(e)
            self.linear_rate = False
            return -cp.sum(cp.multiply(e.args[0], self.of(e.args[1])))  # tr MD > 0: along D ⪰ 0 the part of M in its range falls
        if type(e) is not cp.log and not 0.0 < float(e.p.value) < 1.0:
            return self.of(e)
        self.linear_rate = False
        return self.of(e.args[0])

    def _constrain(self, constraints: list[Any]) -> None:
        for each in constraints:
            args = [self.of(argument) for argument in each.args]
            if isinstance(each, (Inequality, cp.NonPos, cp.NonNeg)):
                self.rows += at_most_zero(args[0] - args[1] if len(args) > 1 else -args[0] if isinstance(each, cp.NonNeg) else args[0])
            elif isinstance(each, cp.SOC) and args[0].is_constant():
                self.rows.append(args[1] == 0)
            elif any(not argument.is_constant() for argument in args):
                self.rows.append(each.copy(args))

    def _sum(self, e: Any) -> Any:
        total = reduce(add, [self.of(argument) for argument in e.args if not argument.is_constant()])
        return total if total.shape == e.shape else total + np.zeros(e.shape)

    def _moved(self, e: Any) -> Any:
        """The expression itself, as a function of the direction."""
        if type(e) is cp.Variable:
            return self._variable(e)
        if type(e) in (cp.perspective, indicator, PartialProblem):  # they have variables outside of their arguments
            raise Unreadable(f"{type(e).__name__} in a perspective", str(e))
        return e if e.is_constant() else with_arguments(e, [self._moved(argument) for argument in e.args])

    def _variable(self, v: Any) -> Any:
        """d, of the same structure and sign; ≥ 0 where v has a least value, ≤ 0 where it has a greatest one."""
        if not v.size:
            return v
        if v.id not in self.variables:
            structures: dict[str, Any] = {name: v.attributes[name] for name in STRUCTURES if v.attributes.get(name)}
            up, down = bool(v.is_nonneg()), bool(v.is_nonpos())
            least, most = v.attributes.get("bounds") or (None, None)
            box = [_end(_ended(least, -1) | up, -1.0), _end(_ended(most, 1) | down, 1.0)]
            sign = next((sign for name, sign in SEMIDEFINITE.items() if v.attributes.get(name)), 0)
            structures |= {"symmetric": True} if sign else {}
            d = self.variables[v.id] = cp.Variable(v.shape, name=self.names[v.id], nonneg=up, nonpos=down, bounds=box, **structures)
            self.rows += [sign * d >> 0] if sign else []
        return self.variables[v.id]

    def _falls(self, e: Any) -> Any:
        """0, for d ≤ 0."""
        self.rows += at_most_zero(self.of(e.args[0]))
        return cp.Constant(np.zeros(e.shape))

    def _rises(self, e: Any) -> Any:
        """0, for d ≥ 0."""
        self.rows += at_most_zero(-self.of(e.args[0]))
        return cp.Constant(np.zeros(e.shape))

    def _definite(self, e: Any) -> Any:
        """0, for D ⪰ 0."""
        self.rows.append(self.of(e.args[0]) >> 0)
        return cp.Constant(np.zeros(e.shape))

    def _stays(self, e: Any) -> Any:
        """0, for d = 0; for a convex argument ≥ 0 it is d ≤ 0, for a concave one ≤ 0 it is d ≥ 0."""
        z = e.args[0]
        if z.is_affine():
            self.rows.append(self.of(z) == 0)
            return cp.Constant(np.zeros(e.shape))
        if z.is_convex() and z.is_nonneg():
            return self._falls(e)
        if z.is_concave() and z.is_nonpos():
            return self._rises(e)
        raise Unreadable(f"{type(e).__name__} of an expression whose sign is not known", str(e))

    def _relative_entropy(self, e: Any) -> Any:
        """D of the directions; of a constant first argument 0, for E ⪰ 0, and of a constant second one 0, for D = 0."""
        x, y = e.args
        if y.is_constant():
            return self._stays(e)
        if not x.is_constant():
            return with_arguments(e, [self.of(x), self.of(y)])
        self.rows.append(self.of(y) >> 0)
        return cp.Constant(np.zeros(e.shape))

    def _power(self, e: Any) -> Any:
        p = float(e.p.value)
        if p == 1.0:
            return self.of(e.args[0])
        return self._stays(e) if p > 1.0 else self._rises(e)

    def _squares_over(self, e: Any) -> Any:
        return self._stays(e) if e.args[1].is_constant() else with_arguments(e, [self.of(argument) for argument in e.args])

    def _form(self, e: Any) -> Any:
        z, matrix = e.args
        plain = matrix.args[0] if isinstance(matrix, cp.psd_wrap) else matrix
        self.rows.append((plain + plain.T) @ self.of(z) == 0)
        return cp.Constant(np.zeros(e.shape))

    def _huber(self, e: Any) -> Any:
        return 2 * cp.multiply(e.M, cp.abs(self.of(e.args[0])))

    def _logistic(self, e: Any) -> Any:
        return cp.pos(self.of(e.args[0]))

    def _log_sum_exp(self, e: Any) -> Any:
        return cp.max(self.of(e.args[0]), axis=e.axis, keepdims=e.keepdims)


def at_most_zero(e: Any) -> list[Any]:
    """Rows equivalent to e ≤ 0 that have slack where possible: z = 0 for |z| ≤ 0, each part ≤ 0 for a sum of parts ≥ 0."""
    kind, args = type(e), e.args
    if e.is_constant():
        return [] if np.all(e.value <= 0.0) else [e <= 0]
    if kind in NORMS and args[0].is_affine() and getattr(e, "p", 1) >= 1:
        return [args[0] == 0]
    if kind in (cp.maximum, cp.max) or (kind in (*NORMS, cp.Sum, cp.AddExpression) and all(part.is_nonneg() for part in args)):
        return [row for part in args for row in at_most_zero(part)]
    if kind in (cp.multiply, cp.MulExpression) and args[0].is_constant() and args[0].size == 1 and np.all(args[0].value > 0.0):
        return at_most_zero(args[1])
    return [e <= 0]


def _ended(end: Any, sign: int) -> Any:
    """Entries that have an end; an expression counts as an end everywhere."""
    if end is None or isinstance(end, cp.Expression):
        return np.asarray(end is not None)
    return np.asarray(end.toarray() if hasattr(end, "toarray") else end, dtype=float) != sign * np.inf


def _end(ended: Any, free: float) -> Any:
    """The end of the box in a direction; one number if all variables have the same, as CVXPY requires of diagonal and sparse ones."""
    ends = np.where(ended, 0.0, free)
    return ends if ends.ndim else float(ends)


FUNCTIONS: dict[type, Callable[[Recession, Any], Any]] = {
    cp.exp: Recession._falls,
    cp.log: Recession._rises,
    cp.entr: Recession._stays,
    cp.Power: Recession._power,
    cp.PowerApprox: Recession._power,
    cp.quad_over_lin: Recession._squares_over,
    cp.QuadForm: Recession._form,
    cp.huber: Recession._huber,
    cp.logistic: Recession._logistic,
    cp.log_sum_exp: Recession._log_sum_exp,
    cp.log_det: Recession._definite,
    cp.tr_inv: Recession._definite,
    cp.von_neumann_entr: Recession._stays,
    cp.quantum_rel_entr: Recession._relative_entropy,
}
