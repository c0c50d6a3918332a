r"""Multipliers inside of sets of matrices: what a Slater point is to restoration, for the dual.

A solve leaves multipliers U of rank r < n, on the boundary of the cone, where no correction of stationarity keeps them. The perturbed
problem min f − δ Σ tr Z, with (1 − δ)φ in place of a norm φ and (1 − δ)λ_max(Z) + (δ/n) tr Z in place of λ_max, has multipliers which,
together with δI, are multipliers ū of the problem itself, and inside by δ. Then (1 − θ)u + θū is as nearly stationary as both, is inside by
θδ, and loses θ times what ū loses. The least θ on a grid is taken with which the sweep is proven. There are such ū if the optimal points of
the problem are bounded.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import cvxpy as cp
import numpy as np

from simopt.arithmetic import FLOAT, Arithmetic
from simopt.core.arrays import Array, Multipliers
from simopt.core.errors import NotAvailable
from simopt.duality.atoms.base import ConjugateDomain
from simopt.duality.atoms.semidefinite_cone import SemidefiniteCone
from simopt.duality.atoms.symmetric_matrix import SymmetricMatrixAtom
from simopt.duality.evaluation.backward import Backward, backward
from simopt.duality.graph.affine import Key
from simopt.duality.graph.programme import Term
from simopt.duality.graph_form import TIGHT, GraphForm, one_solve
from simopt.duality.stationarity.pivots import Pivoting
from simopt.duality.stationarity.repair import completed, joined

if TYPE_CHECKING:
    from simopt.duality.declared import Declared

SOLVERS = ("CLARABEL", "SCS")
PERTURBATIONS = (1e-2, 1e-3, 1e-4, 1e-6)  # δ, of the largest eigenvalue of U; the problem is unbounded if it exceeds what the dual has
DECADES, QUARTERS = range(-9, 1), (0.75, 0.5, 0.25)  # θ: powers of ten, and the quarters of the decade below the first that does
NEGLIGIBLE = 1e-6  # of the largest multiplier of a cone: a smaller one does not set the size of its own perturbation


class PerturbedForm(GraphForm):
    """The graph form with functions whose multipliers lie inside of their domains."""

    def __init__(self, declared: Declared, fraction: float, sizes: Mapping[Key, float]) -> None:
        self.fraction, self.shifts = fraction, {key: fraction * size for key, size in sizes.items()}
        super().__init__(declared)

    def drawn(self, term: Term, e: Any, z: Any) -> Any:
        if isinstance(term.atom, SemidefiniteCone):
            return -self.shifts[term.key] * cp.trace(z)
        if isinstance(term.atom, SymmetricMatrixAtom):
            return term.atom.drawn(e, z, self.fraction)
        return (1.0 - self.fraction) * e if term.atom.conjugate_domain is ConjugateDomain.BALL else e

    def multipliers_of(self, duals: Mapping[str, Any]) -> Multipliers:
        found = super().multipliers_of(duals)
        for term in self.declared.programme.terms:
            if term.key in self.shifts and term.name in found:
                n = self.declared.cones[term.key].n
                found[term.name] = np.asarray(found[term.name]) + self.shifts[term.key] * np.eye(n).reshape(-1)
        return found


class InwardMultipliers:
    """The multipliers of perturbed problems, a solve for each δ, and which δ and θ proved a bound: they are the first tried again."""

    def __init__(self, declared: Declared) -> None:
        self.declared = declared
        self.solutions: dict[float, dict[Key, Array] | None] = {}
        self.first: dict[tuple[float, str], float] = {}
        self.useful: list[float] = []
        self.useless: set[tuple[float, str]] = set()

    def proven(self, num: Arithmetic, candidates: Mapping[Key, Array]) -> Backward | None:
        """The sweep with the least θ that gives a bound; None where no δ does."""
        for fraction in self.useful or PERTURBATIONS:
            if (fraction, num.name) in self.useless:
                continue
            if fraction not in self.solutions:
                self.solutions[fraction] = self._solved(fraction, candidates)
            inner = self.solutions[fraction]
            if inner is None:
                continue
            known = self.first.get((fraction, num.name))
            sweep = self._least(num, candidates, inner, known)
            if sweep is not None:
                step, found = sweep
                self.first[fraction, num.name] = step if known is None else min(step, known)
                self.useful = [fraction]
                return found
            if known is None:
                self.useless.add((fraction, num.name))
        return None

    def _least(
        self, num: Arithmetic, outer: Mapping[Key, Array], inner: Mapping[Key, Array], known: float | None
    ) -> tuple[float, Backward] | None:
        """The least θ, or the first one from a known θ on that proves a bound, and its sweep."""
        steps = [10.0**power for power in DECADES] if known is None else [known, 10.0 * known, 100.0 * known]
        for number, step in enumerate(steps):
            found = self._swept(num, _mixed(outer, inner, min(step, 1.0)))
            if not found.open:
                for quarter in QUARTERS if known is None and number > 0 else ():
                    nearer = step * 10.0**-quarter
                    tried = self._swept(num, _mixed(outer, inner, nearer))
                    if not tried.open:
                        return nearer, tried
                return step, found
        return None

    def _swept(self, num: Arithmetic, mixed: Mapping[Key, Array]) -> Backward:
        """The sweep with these multipliers, corrected by pivots unless a cone is what is missing."""
        programme, plan = self.declared.programme, self.declared.plan
        tried = backward(num, programme, plan, mixed)
        if not tried.missing or len(tried.open) > len(tried.missing) or self._lacks_cone(tried):
            return tried
        multipliers, wanted = completed(programme, plan, mixed)
        return Pivoting(num, programme, plan, multipliers, joined(wanted, tried.missing)).swept({})

    def _lacks_cone(self, sweep: Backward) -> bool:
        cones = (each for each in self.declared.plan if each.term.atom.conjugate_domain is ConjugateDomain.CONE)
        return any(each.leaf.key in sweep.missing and sweep.missing[each.leaf.key][each.columns].any() for each in cones)

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
        sizes = {key: 0.0 for key in self.declared.cones}
        for key, cone in self.declared.cones.items():
            if key in candidates:
                sizes[key] = float(np.max(np.abs(np.linalg.eigvalsh(cone.dual_matrix(FLOAT, candidates[key])))))
        largest = max(sizes.values(), default=0.0) or 1.0
        sizes = {key: size if size > NEGLIGIBLE * largest else largest for key, size in sizes.items()}
        for solver in SOLVERS:
            try:
                yield one_solve(PerturbedForm(self.declared, fraction, sizes), solver, TIGHT[solver])[1]
            except NotAvailable:
                continue


def _mixed(outer: Mapping[Key, Array], inner: Mapping[Key, Array], step: float) -> dict[Key, Array]:
    """(1 − θ)u + θū; a missing multiplier is 0."""
    return {key: (1.0 - step) * outer.get(key, 0.0) + step * inner.get(key, 0.0) for key in {**outer, **inner}}
