"""Bounds on the optimum of a declared convex problem, derived from the declaration alone.

**The graph.** CVXPY's expression tree is read as a list of values. Leaves x are variables. Each node is one of

* a term t = φ(z): φ is a convex function from `simopt.duality.atoms`, z = Ax + b affine in leaves and earlier nodes. For a concave function
  −φ is the atom, and the term counts with the sign −1;
* a definition: a variable that an equality gives, f = Ψx;
* an epigraph: a variable t that only has to satisfy t ≥ z_1, …, t ≥ z_k, and so is their maximum.

The remaining problem is: minimise an affine map f of all values, subject to rows g ≤ 0 and h = 0 that are affine in them, and to bounds on
leaves.

**Forward** the values are computed in order; the last one is the objective. It is an upper bound where all rows are proven to hold.

**Backward** the gradient is computed as in reverse mode, with one difference. A nonlinear term does not multiply by its derivative: its
adjoint s is replaced by a multiplier u, projected to its domain, and its conjugate is subtracted. Take any y ≥ 0 for the rows g, any v for
the rows h. The Lagrangian L = f + ⟨y, g⟩ + ⟨v, h⟩ is ≤ f at every feasible point, and affine in the values. Go through the nodes from the
last to the first. When a term t = φ(z) is reached, its coefficient s is final, and for s ≥ 0

    s φ(z) ≥ ⟨u, z⟩ − (sφ)*(u)      for every u   (Fenchel–Young, the definition of the conjugate).

Replacing s φ(z) by ⟨u, z⟩ − (sφ)*(u) leaves an affine function of earlier values that is nowhere larger. The result is

    f(x) ≥ L(x) ≥ D + ⟨r, x⟩      for every feasible x,

and f(x) ≥ D + min ⟨r, x⟩ over the bounds: for ANY y ≥ 0, v, u, whoever suggested them. The bound is finite if (sφ)*(u) is, which the
projection ensures, and if the residual r is 0 in every entry without a bound. Three mechanisms make it exactly 0:

* closing terms (`closing_terms`): entries of a leaf may stand by themselves in a square, a power, an entropy, or a norm ≤ B. Then they get
  the multiplier that cancels r exactly, after all others;
  A cone of semidefinite matrices is one as far as that multiplier is proven to lie in it (`inward`);
* pivots (`pivots`): without a closing term, as many other multipliers are corrected as there are entries, by a linear system that is solved
  in the arithmetic asked for;
* implied bounds (`implied`): the rest of r is taken by bounds that feasibility and f(x) ≤ U imply.

If r is still not known to be exactly 0, the answer is −∞ with a reason (`Backward.open`), because a small r bounds nothing.

**The gap** is the sum of the losses of all steps. They are s φ(z) + (sφ)*(u) − ⟨u, z⟩ of each term, y(−g) of each row, |r| times the
distance of x to the bound that takes it. Each is ≥ 0, and each atom computes its own without cancellation. The sum is a second formula for
f(x) − D, and `simopt.certify` checks that both agree.

**s ≥ 0** is guaranteed by DCP's rules: φ rises in an argument that is convex, so a projected u ≥ 0 there is no loss. The sweep does not
rely on them: it stops at a scale that is proven to be negative. If an interval reaches below 0, the number in it is ≥ 0 by DCP's rules,
unless these rest on the promise of a sign (`nonneg_wrap`): then it stops, too.

All of this is written once and runs in floats, intervals and fractions. A type that the reader does not know is refused by name
(`Unreadable`).

    >>> import cvxpy as cp, numpy as np
    >>> import simopt
    >>> from simopt.arithmetic import RATIONAL
    >>> from simopt.duality import Declared
    >>> w = cp.Variable(2, name="w")
    >>> fit = cp.sum(cp.huber(np.array([[1.0, 0.0], [1.0, 1.0]]) @ w - np.array([1.0, 3.0]), 0.5))
    >>> problem = Declared.of(cp.Problem(cp.Minimize(fit + 0.5 * cp.sum_squares(w))))
    >>> certificate = simopt.certify(problem, {"w": [1.0, 1.0]}, num=RATIONAL)
    >>> certificate.lower, certificate.upper
    (1.75, 1.75)

**The packages**, each using those before it: `graph` (maps as operators, terms and rows), `atoms`, `reading` (CVXPY's types), `evaluation`
(the two sweeps) and `feasibility`. Then come `stationarity` (without closing terms), `units` (in which all numbers are near 1),
`infeasibility`, and `vertices` (linear programmes by a basis). The modules on top are

* `declared`: the whole as a problem that `simopt.certify` judges; `recent` caches its last sweeps;
* `declaration`: a registered problem that is its declaration;
* `graph_form`: multipliers from one solve;
* `written_form`: the problem as its user wrote it;
* `dual_programme`: the backward sweep with CVXPY's variables.

**A feasible point** near a given one (`feasibility.restoration`): each leaf is clipped to its bounds. Equalities that define nothing are
solved in entries with a margin (`evaluation.equalities`): to rounding, in intervals that are proven to contain the solution, or in
fractions. If an inequality is violated, the point is moved by Newton's steps (`feasibility.newton`) or towards a Slater point
(`feasibility.slater`), as little as is proven to suffice. The least violation of the rows proves that there is no feasible point
(`infeasibility.infeasible`).

**No optimum.** Let the recession function of the objective be negative along a direction, and that of no row positive. Then a feasible
point and the direction prove that the problem is unbounded (`infeasibility.recession`, `infeasibility.unbounded`).
"""

from simopt.duality.declared import Declared
from simopt.duality.evaluation.backward import Backward, backward
from simopt.duality.evaluation.forward import Forward, forward
from simopt.duality.graph.programme import Programme
from simopt.duality.graph_form import GraphForm, solved
from simopt.duality.reading.reader import read

__all__ = ["Backward", "Declared", "Forward", "GraphForm", "Programme", "backward", "forward", "read", "solved"]
