"""Points and multipliers from a back end: of the graph form, then of the problem as written at tighter and tighter tolerances."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import islice

from simopt.backends import adapter, table
from simopt.backends.table import BackEnd
from simopt.certificates.assessment import Assessment
from simopt.core.arrays import Multipliers, Point
from simopt.core.errors import InvalidProblem, NotAvailable, UnknownName
from simopt.duality.declared import Declared
from simopt.duality.graph_form import best_of, candidates
from simopt.duality.helping_solves import CANDIDATE, none_tighter
from simopt.duality.written_form import WrittenForm
from simopt.solving.attempt import attempt
from simopt.solving.cvxpy_values import untouched

TIGHTER, SMALLEST, TIME_LIMIT = 3, 1e-13, 60.0  # solves of the problem as written: how many, least tolerance, seconds of each
Answer = tuple[Point, Multipliers, Assessment | None]


def back_end(name: str) -> BackEnd:
    """The back end of that name.

    Raises
    ------
    UnknownName, NotAvailable
    """
    known = table.find(name)
    if known is None:
        raise UnknownName("solver", name, [each.name for each in table.FIRST_CLASS])
    if known.missing is not None:
        raise NotAvailable(known.missing)
    return known


def answers(declared: Declared, backend: BackEnd, tol: float, reasons: list[str]) -> Iterator[Answer]:
    """The answers of one solve after the other; the problem's values are restored after each.

    Those of one solve of the graph form come with their assessment in floats. Of a linear programme HiGHS's vertex comes before the default
    back end: its residuals are rounding, those of an interior point are the tolerance.
    """
    at_a_vertex = backend is table.CLARABEL and table.HIGHS.missing is None and declared.programme.problem.is_lp()
    for chosen in (*([table.HIGHS] if at_a_vertex else []), backend):
        solves = candidates(declared, chosen.solver, tol / 2)
        with untouched(declared.programme.problem):
            found = attempt(lambda solves=solves: best_of(list(islice(solves, 1 if declared.brief else None))), reasons)  # type: ignore[misc]
        if found is not None:
            above, below = found
            yield above.point, below.multipliers, above.assessment if above is below else None
    written, previous = WrittenForm(declared.programme).with_iterations(declared.iterations), math.nan
    for power in range(TIGHTER):
        native = max(tol * 1e-2**power, SMALLEST, backend.floor)
        if native == previous or (power and not backend.tolerance):
            return
        previous = native
        with untouched(declared.programme.problem):
            other = attempt(lambda native=native: _answer_as_written(written, backend, native), reasons)  # type: ignore[misc]
        if other is None:
            return
        yield *other, None


def _answer_as_written(written: WrittenForm, backend: BackEnd, tol: float) -> tuple[Point, Multipliers]:
    """The answer of a solve, whose iterations count in the budget of the certificate where it is one by SCS of large cones."""
    budget = written.iterations if none_tighter(written.programme, backend.solver) else None
    most = None if budget is None else int(budget.options(tol, CANDIDATE)["max_iters"])
    try:
        form, back = written.normalised()
        result = adapter.run(form.for_back_ends(cones=backend.cones), backend, tol=tol, max_iter=most, time_limit=TIME_LIMIT, options={})
    except (adapter.Refused, InvalidProblem) as error:
        raise NotAvailable(str(error)) from error
    if budget is not None:
        budget.left -= result.iterations
    if result.point is None:
        raise NotAvailable(f"{backend.name} returned no point of the problem as written, and said {result.status_text}")
    return back.point(result.point), back.multipliers(result.multipliers or {})
