"""The search for bounds of a `cvxpy.Problem`: what is tried, one after the other, until a certificate closes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import cvxpy as cp

from simopt.arithmetic import FLOAT, INTERVAL, Arithmetic
from simopt.backends import table
from simopt.backends.table import BackEnd
from simopt.certificates.assessment import Assessment, judge
from simopt.core.arrays import Multipliers, Point
from simopt.duality.declared import Declared
from simopt.duality.helping_solves import none_tighter
from simopt.duality.quadratic.quadratic_programme import QUADRATIC
from simopt.solving.attempt import attempt
from simopt.solving.back_end_solves import Answer, answers
from simopt.solving.best_bounds import assessed, joined
from simopt.solving.cvxpy_values import read, untouched
from simopt.solving.faces import closing_bound, on_faces
from simopt.solving.helped_solutions import is_refined
from simopt.solving.linear_and_quadratic import by_matrices, by_vertex


@dataclass(frozen=True, eq=False)
class BoundSearch:
    """A search for bounds that close.

    Parameters
    ----------
    point : dict or None
        the values of the variables, if there are any.
    known : dict
        multipliers of rows.
    point_stays : bool
        whether the upper bound is to be that of the point, even where a solve finds a better one.
    anywhere : bool
        whether bounds may come from other values and multipliers than these.
    reasons : list of str
        the reasons of what fails are appended.
    """

    declared: Declared
    point: Point | None
    known: Multipliers
    backend: BackEnd
    num: Arithmetic
    tol: float
    point_stays: bool = False
    anywhere: bool = False
    reasons: list[str] = field(default_factory=list)

    def best(self) -> Assessment | None:
        """The best assessment of what is tried until a certificate closes.

        First comes what costs little: the vertex of a linear programme, the values and one solve, briefly, and faces of cones. The matrices
        of a quadratic programme come first where it takes pivots to make the multipliers stationary. Where kinks are variables in them they
        come last, before a thorough search. Bounds of the brief search are not confirmed, and are forgotten then.
        """
        proven = self._proven_first()
        if self._ends_search(proven):
            return proven
        brief = replace(self, declared=self.declared.briefly(self.tol, helped=not is_refined(self.declared, self.backend)), reasons=[])
        best = self._joined(proven, brief.by_solves())
        if self.declared.cones and not self._closed(best):
            best = proven = self._on_faces(best)
        if self._closed(best) or (best is not None and best.certificate.gap < math.inf and not self._may_be_tighter):
            return best
        if self._from_matrices and proven is None:
            proven = self._by_matrices()
            if self._ends_search(proven):
                return proven
        return self._joined(proven, self.by_solves())

    def by_solves(self, known_answers: Sequence[Answer] | None = None) -> Assessment | None:
        """The best assessment of the point, if there is one, and of those of solves, until one closes.

        The answers of the solves may be known. Where no solve is to help to make them feasible, they are judged once more with help. A
        brief search in intervals asks floats first whether the point closes.
        """
        declared, point = self.declared, self.point
        best = roughly = None
        if point is not None and not known_answers:
            roughly = self._of_values(point, FLOAT) if declared.brief and self.num is INTERVAL else None
            best = self._of_values(point, self.num) if roughly is None or self._closed(roughly) else None
            if self._closed(best):
                return best
        upper = next((each.certificate.upper for each in (best, roughly) if each is not None), -math.inf)  # of the point
        seen: list[Answer] = []
        for other, more, judged in answers(declared, self.backend, self.tol, self.reasons) if known_answers is None else known_answers:
            seen.append((other, more, None))
            last = None
            for at in (other,) if point is None else (point,) if self.point_stays else (other, point):
                if last is not None and upper >= last.certificate.upper and last.certificate.gap < math.inf:
                    continue  # these multipliers prove no more with a larger upper bound
                is_assessed_at = judged is not None and at is other and self.num is FLOAT
                last = judged if is_assessed_at else self._assessed_at(declared, at, more)
                best = self._joined(best, last)
                if self._closed(best):
                    return best
            if not declared.helped:
                break
            if declared.brief:
                if last is not None and last.certificate.gap < math.inf:  # nothing is drawn inside where there is a bound
                    return self._with_values(best, roughly)
                best = self._joined(best, self._assessed_at(declared.briefly(self.tol, draws_inside=True), at, more))
                return best if self._closed(best) else self._with_values(best, roughly)
        return self._with_values(best, roughly) if declared.helped else replace(self, declared=declared.briefly(self.tol)).by_solves(seen)

    def _of_values(self, point: Point, num: Arithmetic) -> Assessment | None:
        return attempt(lambda: assessed(self.declared, point, self.known, num, self.tol), self.reasons)

    def _with_values(self, best: Assessment | None, roughly: Assessment | None) -> Assessment | None:
        """The assessment, with that of the point where floats find one of its bounds better by more than the tolerance."""
        if roughly is None or self.point is None:
            return best
        if best is not None and best.certificate.gap < math.inf:
            known, other = best.certificate, roughly.certificate
            slack = self.tol * max(abs(known.lower), abs(known.upper))
            if known.lower >= other.lower - slack and known.upper <= other.upper + slack:
                return best
        return self._joined(best, self._of_values(self.point, self.num))

    def _assessed_at(self, declared: Declared, point: Point, multipliers: Multipliers) -> Assessment | None:
        return attempt(lambda: judge(declared, point, multipliers, self.num, enough=self.tol), self.reasons)

    def closing_bound(self, best: Assessment) -> str:
        """A bound on variables with which the certificate would close; empty where none is known, or the problem has no cones."""
        if not (self.declared.cones and self._may_be_tighter):
            return ""

        def gap(problem: cp.Problem) -> float:
            found = BoundSearch(read(problem).briefly(self.tol), None, {}, self.backend, self.num, self.tol).by_solves()
            return math.inf if found is None else found.certificate.gap_over_upper

        with untouched(self.declared.programme.problem):
            return attempt(lambda: closing_bound(self.declared, best, gap), []) or ""

    def _closed(self, best: Assessment | None) -> bool:
        return best is not None and best.certificate.closes(self.tol)

    def _ends_search(self, proven: Assessment | None) -> bool:
        """Whether the certificate closes, or says why none can."""
        return self._closed(proven) or (proven is not None and proven.certificate.open != "")

    def _joined(self, one: Assessment | None, other: Assessment | None) -> Assessment | None:
        return joined(self.declared, one, other, self.num)

    @property
    def _may_be_tighter(self) -> bool:
        """Whether another solve may give tighter multipliers."""
        return not none_tighter(self.declared.programme, self.backend.solver)

    @property
    def _from_matrices(self) -> bool:
        return self.anywhere and self.backend is table.CLARABEL

    def _proven_first(self) -> Assessment | None:
        """What a vertex proves, or else the matrices, where no term has a kink and the multipliers are not stationary."""
        if not self._from_matrices:
            return None
        proven = attempt(lambda: by_vertex(self.declared, self.point, self.num, self.tol), [])
        smooth = all(isinstance(term.atom, QUADRATIC) for term in self.declared.programme.terms)
        if proven is None and smooth and not self.declared.is_stationary(self.known):
            return self._by_matrices()
        return proven

    def _by_matrices(self) -> Assessment | None:
        return attempt(lambda: by_matrices(self.declared, self.point, self.known, self.num, self.tol), [])

    def _on_faces(self, best: Assessment | None) -> Assessment | None:
        """The assessment, or the better one on faces of cones."""
        notes = list[str]()
        with untouched(self.declared.programme.problem):
            faced = attempt(lambda: on_faces(self.declared, best, self.backend.solver, self.num, self.tol, self.point_stays, notes), [])
        best = best if faced is None else faced
        self.reasons.extend(notes if best is None or best.certificate.upper == math.inf else [])
        return best
