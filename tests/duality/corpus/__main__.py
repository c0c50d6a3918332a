"""What CVXPY's tests solve, and what is certified of it.

`python tests/duality/corpus` runs the tests, lists their problems (problems.jsonl) and counts what is in the list (README.md).
`python tests/duality/corpus --certify` judges the problems that have no line in results.jsonl yet, and writes CERTIFIED.md: an interrupt
loses nothing, and a run of --again begins anew. --seconds is what one problem may take of a processor. With --results FILE the lines go
there, and no page is written. It is said what the CVXPY that is installed makes otherwise than results.jsonl; status 1 where it must not.
"""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import against
import certified
import cvxpy as cp
import numpy as np
import page
from corpus import LIST, CorpusSolve, wanted
from fingerprint import attributes, fingerprint
from intercept import Intercepted, intercepted

DIGITS, ZERO = 6, 1e-6


def left_out(each: Intercepted) -> str:
    """Why a solve is no continuous convex programme to be judged, or nothing."""
    if each.failure:
        return "cannot be copied (a function inside of the test is its parameter)"
    problem = each.problem()
    leaves = [*problem.variables(), *problem.parameters(), *problem.constants()]
    if each.grammar == "gp":
        return "solved as a geometric programme (gp=True)"
    if each.grammar == "nlp":
        return "solved as a nonlinear programme (nlp=True)"
    if problem.is_mixed_integer():
        return "integer or boolean variables"
    if not problem.is_dcp():
        return "not DCP: quasiconvex (qcp=True)" if each.grammar == "qcp" else "not DCP: the test is of the error"
    if any(parameter.value is None for parameter in problem.parameters()):
        return "a parameter without value: the test is of the error"
    if any(leaf.is_complex() for leaf in leaves):
        return "complex variables or data"
    if not all(np.all(np.isfinite(_entries(leaf))) for leaf in leaves if not isinstance(leaf, cp.Variable)):
        return "data that are not finite"
    if not sum(variable.size for variable in problem.variables()):
        return "no variable"
    return "every variable is set equal to a constant: one point" if _is_a_point(problem) else ""


def _entries(leaf: cp.Expression) -> np.ndarray:
    value: Any = leaf.value
    return np.asarray(value.data if hasattr(value, "tocoo") else value, dtype=float)


def _is_a_point(problem: cp.Problem) -> bool:
    rows = [row.args for row in problem.constraints if type(row).__name__ == "Equality"]
    fixed = {side.id for a, b in rows for side, other in ((a, b), (b, a)) if isinstance(side, cp.Variable) and other.is_constant()}
    return all(variable.id in fixed for variable in problem.variables())


def distinct(counted: Counter[str]) -> Iterator[tuple[Intercepted, str]]:
    """(solve, fingerprint), the first of those that agree; `counted` says what became of all."""
    seen: set[str] = set()
    for each in intercepted():
        reason = left_out(each)
        name = "" if reason else fingerprint(each.problem())
        if name in seen:
            reason = "met before"
        counted[reason] += 1
        if not reason:
            seen.add(name)
            yield each, name


def described(each: Intercepted, name: str) -> CorpusSolve:
    """The line of a problem; it is solved for it."""
    problem = each.problem()
    structure = {name for variable in problem.variables() for name, _ in attributes(variable)}
    structure |= {f"{variable.ndim} dimensions" for variable in problem.variables() if variable.ndim > 2}
    return CorpusSolve(
        each.id,
        name,
        sum(variable.size for variable in problem.variables()),
        sum(row.size for row in problem.constraints),
        sorted(atom.__name__ for atom in problem.atoms()),
        sorted(structure),
        *answered(problem),
    )


def answered(problem: cp.Problem) -> tuple[str, float | None]:
    """CLARABEL's status, and the optimum where it has one; no limit of time, which would be one of the machine."""
    try:
        problem.solve(solver="CLARABEL")
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # CLARABEL panics, which is no Exception, where powers miss a sum of 1 by a rounding
        return type(error).__name__, None
    if problem.status not in ("optimal", "optimal_inaccurate"):
        return problem.status, None
    return problem.status, float(f"{problem.value:.{DIGITS}g}") if abs(problem.value) > ZERO else 0.0


def main() -> int:
    """Write the list and its page, or the certificates and theirs."""
    parser = argparse.ArgumentParser(prog="python tests/duality/corpus", description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--certify", action="store_true", help="judge the problems of the list")
    parser.add_argument("--again", action="store_true", help="forget the results that are there")
    parser.add_argument("--seconds", type=float, default=20.0, help="for one problem (default %(default)s)")
    parser.add_argument("--results", type=Path, default=certified.RESULTS, help="for the lines of another CVXPY")
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # CVXPY's, about inaccurate answers and approximations that the tests ask for
    if not options.certify:
        _list()
        return 0
    if options.again:
        options.results.unlink(missing_ok=True)
    certified.certify(options.seconds, options.results)
    if options.results != certified.RESULTS:
        return against.reported(certified.results(options.results))
    Path(__file__).with_name("CERTIFIED.md").write_text(page.certificates(list(certified.counted())), encoding="utf-8")
    return 0


def _list() -> None:
    counted: Counter[str] = Counter()
    found: list[CorpusSolve] = []
    for each, name in distinct(counted):
        found.append(described(each, name))
        print(f"\r{len(found)} problems, {counted.total()} solves", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    made = {each.id: fingerprint(each.problem()) for each in intercepted(wanted(found), moved=True)}
    answers = [entry for entry in found if made.get(entry.id, entry.fingerprint) != entry.fingerprint]
    counted[""] -= len(answers)
    counted["its numbers are a solver's answer to another problem"] += len(answers)
    found = [entry for entry in found if entry not in answers]
    LIST.write_text("".join(json.dumps(asdict(entry), ensure_ascii=False) + "\n" for entry in found), encoding="utf-8")
    Path(__file__).with_name("README.md").write_text(page.page(found, counted), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
