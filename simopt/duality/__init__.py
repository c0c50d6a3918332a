r"""Bounds on the optimum of a declared convex problem, derived from the declaration alone.

**The graph.** CVXPY's expression tree is read as a list of values. Leaves x are variables. Each node is one of

* a term t = φ(z), φ a convex function from `simopt.duality.atoms`, z = Ax + b affine in leaves and earlier nodes (of a concave function
  −φ is the atom, and the term counts with the sign −1);
* a definition: a variable that an equality gives, f = Ψx;
* an epigraph: a variable t that only has to satisfy t ≥ z_1, …, t ≥ z_k, and so is their maximum.

What remains is: minimise an affine map f of all values, subject to rows g ≤ 0 and h = 0 that are affine in them, and to bounds on leaves.

**Forward** the values are computed in order; the last one is the objective. It is an upper bound where all rows are proven to hold.

**Backward** the gradient is computed as reverse mode does it, except that a nonlinear term does not multiply by its derivative: it puts a
multiplier u, projected to where that is allowed, in the place of its adjoint s, and pays its conjugate. Take any y ≥ 0 for the rows g, any
v for the rows h. The Lagrangian L = f + ⟨y, g⟩ + ⟨v, h⟩ is ≤ f at every feasible point, and affine in the values. Go through the nodes
from the last to the first. When a term t = φ(z) is reached, nobody else will add to its coefficient s, and for s ≥ 0

    s φ(z) ≥ ⟨u, z⟩ − (sφ)*(u)      for every u   (Fenchel–Young, which is what the conjugate means),

so that putting ⟨u, z⟩ − (sφ)*(u) for s φ(z) leaves an affine function of earlier values that is nowhere larger. At the end stands

    f(x) ≥ L(x) ≥ D + ⟨r, x⟩      for every feasible x,

and f(x) ≥ D + min ⟨r, x⟩ over the bounds: for ANY y ≥ 0, v, u, whoever suggested them. The bound is finite if (sφ)*(u) is, which
projection sees to, and if r is 0 in every entry that no bound limits. That is not left to chance: entries of a leaf that stand by
themselves in a square, a power, an entropy, a norm ≤ B, are given the multiplier that cancels r exactly, as the last of all (`closing_terms`).
Where nothing absorbs r, as many other multipliers are corrected as there are entries, by a linear system that is solved in the arithmetic
asked for (`pivots`); what cannot be corrected is taken by bounds that feasibility and f(x) ≤ U imply (`implied`). Where r is not known to
be exactly 0 all the same the answer is −∞, and why (`Backward.open`): a small r bounds nothing.

**The gap** is the sum of what each step gave away: s φ(z) + (sφ)*(u) − ⟨u, z⟩ of each term, y(−g) of each row, |r| times the distance of x
to the bound that takes it. Each is ≥ 0, and each atom knows its own without cancellation. It is a second witness of f(x) − D, and
`simopt.certify` asks that both agree.

**That s ≥ 0** is what DCP's rules mean: φ rises in an argument that is convex, so a projected u ≥ 0 there is no loss. The sweep does not
rely on them: a scale that is proven to be negative is an end of the bound. Of a ball that reaches below 0 the rules say that the number
in it does not.

All of this is written once and runs in floats, balls and fractions. What the reader does not know it refuses by name (`Unreadable`).

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

The rooms, from the ground up: `graph` (maps as operators, terms and rows), `atoms`, `reading` (what CVXPY's types mean), `sweeps`, `points`
(feasible ones), `stationarity` (where nothing conjugate_domain) and `units` (in which all numbers are near 1). On these stand `declared` (all of it
as a problem that `simopt.certify` judges; `recent` keeps its last sweeps), `graph_form` (multipliers from one solve), `dual_programme` (the
sweep with CVXPY's variables), `no_optimum`, `as_written` (a problem for those who wrote it) and `declaration` (a registered problem that is
its declaration).

**A feasible point** near a given one (`restoration`): each leaf is drawn into its bounds, equalities that define nothing are solved in some
entries with room (`equalities`: to rounding, in balls that are proven to hold the solution, or in fractions), and where an inequality is
violated the point is drawn towards one inside (`slater`), as little as is proven to do. That there is none is proven by the least violation
of the rows (`infeasible`).

**No optimum.** A point that is feasible and a direction whose recession is proven to fall, in the objective, and not to rise, in any row,
show that there is none (`recession`, `unbounded`).
"""

from simopt.duality.declared import Declared
from simopt.duality.evaluation.backward import Backward, backward
from simopt.duality.evaluation.forward import Forward, forward
from simopt.duality.graph.programme import Programme
from simopt.duality.graph_form import GraphForm, solved
from simopt.duality.reading.reader import read

__all__ = ["Backward", "Declared", "Forward", "GraphForm", "Programme", "backward", "forward", "read", "solved"]
