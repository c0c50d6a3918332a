r"""Multipliers inside of sets of matrices: what a Slater point is to restoration, for the dual.

A solve leaves multipliers U of rank r < n, on the boundary of the cone, where no correction of stationarity keeps them. The perturbed
problem min f − δ Σ tr Z has (1 − δ)φ in place of a norm φ, and (1 − δ)λ_max(Z) + (δ/n) tr Z in place of λ_max. A matrix fraction and a
relative entropy of matrices are φ(X, P) − δ tr P there. Its multipliers, with δI added to those of cones, are multipliers ū of the problem
itself, and inside by δ. Then (1 − θ)u + θū is as nearly stationary as both, is inside by θδ, and loses θ times what ū loses. θ = 0 is
tried first: multipliers that were refined (`simopt.backends.refinement`) lie inside themselves. Else it is nearly the least θ of a grid
with which the sweep is proven. There are such ū if the optimal points of the problem are bounded.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import cvxpy as cp
import numpy as np

from simopt.arithmetic import FLOAT, INTERVAL, RATIONAL, Arithmetic
from simopt.core.arrays import Array, Multipliers
from simopt.core.errors import NotAvailable
from simopt.duality.atoms.base import ConjugateDomain
from simopt.duality.atoms.matrix_fraction import MatrixFraction
from simopt.duality.atoms.quantum_relative_entropy import QuantumRelativeEntropy
from simopt.duality.atoms.semidefinite_cone import SemidefiniteCone
from simopt.duality.atoms.symmetric_matrix import SymmetricMatrixAtom, decomposed
from simopt.duality.evaluation.backward import Backward, backward
from simopt.duality.evaluation.bounds import box
from simopt.duality.evaluation.closing_terms import ClosingTerm
from simopt.duality.graph.affine import Key
from simopt.duality.graph.matrix_terms import has_large_cones
from simopt.duality.graph.programme import Programme, Term
from simopt.duality.graph_form import GraphForm, one_solve
from simopt.duality.recent import Recent
from simopt.duality.stationarity.pivots import Pivoting
from simopt.duality.stationarity.repair import INSIDE, completed, joined, matched

if TYPE_CHECKING:
    from simopt.duality.declared import Declared

PRECISION, WITHIN = 1e-7, 1e-2  # of SCS: the highest, and the part of δ; an error of these multipliers counts θ times
# δ, of the largest eigenvalue of U. The perturbed problem is unbounded if δ exceeds what the dual has. Multipliers that are far from
# stationary need a larger one.
PERTURBATIONS = (1e-3, 1e-2, 1e-4, 1e-6)
STEPS, NEAR = tuple(10.0 ** np.arange(-13.0, -0.9, 0.25)), 24  # θ, and the index of one that multipliers of a tight solve rarely exceed
FARTHER = (1, 3, 7, 15)  # indices from the θ of floats that are tried in intervals
LITTLE = 1e-10  # of the bound: no smaller θ is sought for less
NEGLIGIBLE = 1e-6  # of the largest multiplier of a cone, or of all where cones have none: a smaller one does not set its own perturbation


class PerturbedForm(GraphForm):
    """The graph form with functions whose multipliers lie inside of their domains."""

    def __init__(self, declared: Declared, fraction: float, sizes: Mapping[Key, float]) -> None:
        self.fraction, self.shifts = fraction, {key: fraction * size for key, size in sizes.items()}
        super().__init__(declared)

    def drawn(self, term: Term, e: Any, args: Sequence[Any]) -> Any:
        if term.key in self.shifts:
            return e - self.shifts[term.key] * cp.trace(args[-1])
        if isinstance(term.atom, SymmetricMatrixAtom):
            return term.atom.drawn(e, args[0], self.fraction)
        return (1.0 - self.fraction) * e if term.atom.conjugate_domain is ConjugateDomain.BALL else e

    def shifted(self) -> Any:
        """−δΣ x_j of entries with a lower end, δΣ x_j of those with an upper one."""
        parts = [
            self.shifts[key] * (side @ cp.vec(self.written(self.declared.programme.leaves[key].variable), order="F"))
            for key, side in one_sided(self.declared.programme, self.declared.plan).items()
            if key in self.shifts
        ]
        return -cp.sum(parts) if parts else super().shifted()

    def multipliers_of(self, duals: Mapping[str, Any]) -> Multipliers:
        found = super().multipliers_of(duals)
        for term in self.declared.programme.terms:
            if isinstance(term.atom, SemidefiniteCone) and term.name in found:
                n = term.atom.n
                found[term.name] = np.asarray(found[term.name]) + self.shifts[term.key] * np.eye(n).reshape(-1)
        return found


class InwardMultipliers:
    """The multipliers of perturbed problems, a solve for each δ; one that proved a bound before is tried first."""

    def __init__(self, declared: Declared) -> None:
        self.declared = declared
        self.solutions: dict[float, dict[Key, Array] | None] = {}
        self.useful: set[float] = set()
        self.inside_of_bounds: dict[float, bool] = {}
        self.unbounded = np.inf  # the least δ with which a back end found the problem unbounded, as it is with a larger one
        self.steps: Recent[Key, dict[tuple[str, float], int]] = Recent(4)
        self.last: dict[tuple[str, float], int] = {}  # the index of θ that proved a bound, of whichever multipliers
        self.unmixed: Recent[Key, Backward] = Recent(2)  # sweeps in floats with θ = 0

    def proven(self, num: Arithmetic, candidates: Mapping[Key, Array], solves: bool = True) -> Backward | None:
        """The sweep with θ = 0, else with nearly the least θ that gives a bound; None where no δ does, or a solve is not allowed."""
        unmixed = self._unmixed(candidates)
        if num is RATIONAL or not unmixed.open:  # of refined answers
            first = unmixed if num is FLOAT else self._swept(num, candidates, 0.0)
            if not first.open:
                return first
        value = float(unmixed.value)
        for fraction in sorted(PERTURBATIONS, key=lambda each: each not in self.useful) if solves else ():
            if fraction >= self.unbounded:
                continue
            if fraction not in self.solutions:
                self.solutions[fraction] = self._solved(fraction, candidates)
            inner = self.solutions[fraction]
            if inner is None:
                continue
            found = self._least(num, candidates, inner, fraction, value)
            if found is None:  # the candidates are far from any multipliers, as slopes at a point are
                found = self._swept(num, inner, fraction, self._inside_of_bounds(fraction))
            if not found.open:
                self.useful.add(fraction)
                return found
        return None

    def _least(
        self, num: Arithmetic, outer: Mapping[Key, Array], inner: Mapping[Key, Array], fraction: float, value: float
    ) -> Backward | None:
        """The sweep with the least θ of the grid that proves a bound, or one that LITTLE parts from the value of θ = 0, by bisection.

        The last θ of these multipliers is tried first. Sweeps in intervals cost more, so that their search starts at the θ of floats.
        """
        known = self.steps.of("steps", outer, lambda _: {})
        if num is INTERVAL and (FLOAT.name, fraction) not in known:
            self._least(FLOAT, outer, inner, fraction, value)
        first = known.get((num.name, fraction), known.get((FLOAT.name, fraction)))
        starts = [*self._starts(num, fraction, first), NEAR, len(STEPS) - 1]
        failing, proving, best = -1, len(STEPS), None
        while proving - failing > 1:
            index = next((start for start in starts if failing < start < proving), (failing + proving) // 2)
            tried = self._swept(num, _mixed(outer, inner, STEPS[index]), STEPS[index] * fraction, self._inside_of_bounds(fraction))
            if tried.open:
                failing = index
                continue
            proving, best = index, tried
            if index == first or abs(float(num.mid(tried.value)) - value) <= LITTLE * abs(value):
                break
        if best is not None:
            known[num.name, fraction] = self.last[num.name, fraction] = proving
        return best

    def _starts(self, num: Arithmetic, fraction: float, first: int | None) -> list[int]:
        """The indices of θ that are tried first: a known one and, where intervals are too wide for it, the last one and its neighbour."""
        if first is None or num is FLOAT:
            return [] if first is None else [first]
        last = self.last.get((num.name, fraction))
        return [first, *(() if last is None else (last - 1, last)), *(first + more for more in FARTHER)]

    def _unmixed(self, candidates: Mapping[Key, Array]) -> Backward:
        """The sweep in floats with θ = 0."""
        return self.unmixed.of("unmixed", candidates, lambda _: self._swept(FLOAT, candidates, 0.0))

    def _inside_of_bounds(self, fraction: float) -> bool:
        """Whether the residual of the perturbed problem's multipliers has the right sign at all entries with one end.

        The errors of a back end may exceed the slack of many small entries.
        """
        if fraction not in self.inside_of_bounds:
            programme, plan, inner = self.declared.programme, self.declared.plan, self.solutions[fraction] or {}
            sweep = backward(FLOAT, programme, plan, matched(programme, plan, inner, max(fraction, 2 * INSIDE)))
            self.inside_of_bounds[fraction] = not self._lacks_sign(sweep)
        return self.inside_of_bounds[fraction]

    def _swept(self, num: Arithmetic, mixed: Mapping[Key, Array], by: float, inside_of_bounds: bool = True) -> Backward:
        """The sweep with these multipliers, corrected by pivots unless a cone or the sign at an entry with one end is what is missing.

        A larger θ changes both; the second only where the multipliers that are mixed in lie inside of bounds. The multipliers of constants
        are drawn inside `by`.
        """
        programme, plan = self.declared.programme, self.declared.plan
        by = max(by, 2 * INSIDE)
        tried = backward(num, programme, plan, matched(programme, plan, mixed, by))
        if not tried.missing or len(tried.open) > len(tried.missing) or self._lacks_cone(tried):
            return tried
        if inside_of_bounds and self._lacks_sign(tried):
            return tried
        multipliers, wanted = completed(programme, plan, mixed, by=by)
        return Pivoting(num, programme, plan, multipliers, joined(wanted, tried.missing)).swept({})

    def _lacks_cone(self, sweep: Backward) -> bool:
        cones = (each for each in self.declared.plan if each.term.atom.conjugate_domain is ConjugateDomain.CONE)
        return any(each.leaf.key in sweep.missing and sweep.missing[each.leaf.key][each.columns].any() for each in cones)

    def _lacks_sign(self, sweep: Backward) -> bool:
        sides = one_sided(self.declared.programme, self.declared.plan)
        return any(sweep.missing[key][side != 0.0].any() for key, side in sides.items() if key in sweep.missing)

    def _solved(self, fraction: float, candidates: Mapping[Key, Array]) -> dict[Key, Array] | None:
        """The multipliers of the problem perturbed by δ; None where no back end finds any. The variables keep their values."""
        before = [(v, v.value) for v in self.declared.programme.problem.variables()]
        try:
            for multipliers in self._solutions(fraction, candidates):
                found = self.declared.candidates(multipliers)
                if all(np.isfinite(u).all() for u in found.values()):
                    return found
        finally:
            for v, value in before:
                v.save_value(value)
        return None

    def _solutions(self, fraction: float, candidates: Mapping[Key, Array]) -> Iterator[Multipliers]:
        sizes: dict[Key, float] = {}
        for term in self.declared.programme.terms:
            atom = term.atom
            if isinstance(atom, (SemidefiniteCone, MatrixFraction, QuantumRelativeEntropy)):
                cone = atom if isinstance(atom, SemidefiniteCone) else atom.cone
                u = candidates.get(term.key, np.zeros(atom.length))[-cone.length :]
                size = float(np.max(np.abs(decomposed(cone.dual_matrix(FLOAT, u))[0])))
                sizes[term.key] = size if np.isfinite(size) else 0.0
        residuals = self._unmixed(candidates).residuals
        for key, side in one_sided(self.declared.programme, self.declared.plan).items():
            size = float(np.max(np.abs(residuals[key][side != 0.0]))) if key in residuals else 0.0
            sizes[key] = size if np.isfinite(size) else 0.0
        largest, of_all = (
            max(sizes.values(), default=0.0),
            max((float(np.max(np.abs(u), initial=0.0)) for u in candidates.values()), default=0.0),
        )
        largest = largest if largest > NEGLIGIBLE * of_all else of_all if 0.0 < of_all < np.inf else 1.0
        sizes = {key: size if size > NEGLIGIBLE * largest else largest for key, size in sizes.items()}
        for solver in (cp.SCS,) if has_large_cones(self.declared.programme) else (cp.CLARABEL, cp.SCS):
            form = PerturbedForm(self.declared, fraction, sizes)
            try:
                by_scs = solver == cp.SCS
                precision = max(PRECISION, WITHIN * fraction)
                options = self.declared.iterations.options(precision) if by_scs else {"max_iter": 200, "warm_start": False}
                yield one_solve(form, solver, options)[1]
            except NotAvailable:
                if form.problem.status in cp.settings.INF_OR_UNB:
                    self.unbounded = min(self.unbounded, fraction)
                    return


def one_sided(programme: Programme, plan: Sequence[ClosingTerm]) -> dict[Key, Array]:
    """The entries of leaves whose residual must have one sign: 1 where there is a lower end only, −1 where an upper one only, else 0.

    Those of closing terms are 0, as these take what has the wrong sign.
    """
    found = {}
    for key, leaf in programme.leaves.items():
        ends = box(FLOAT, programme, leaf)
        side = 1.0 * ends.below - 1.0 * ends.above
        for each in plan:
            if each.leaf.key == key:
                side[each.columns] = 0.0
        if side.any():
            found[key] = side
    return found


def _mixed(outer: Mapping[Key, Array], inner: Mapping[Key, Array], step: float) -> dict[Key, Array]:
    """(1 − θ)u + θū; a missing multiplier is 0."""
    return {key: np.asarray((1.0 - step) * outer.get(key, 0.0) + step * inner.get(key, 0.0)) for key in {**outer, **inner}}
