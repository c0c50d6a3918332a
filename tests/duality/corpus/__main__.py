"""What CVXPY's tests solve, and what is certified of it.

`python tests/duality/corpus` runs the tests, lists their problems (problems.jsonl, and further.jsonl for what is geometric, complex or has
integers) and counts what is in the lists (README.md).
`python tests/duality/corpus --certify` judges the problems that have no line in results.jsonl or further_results.jsonl yet, and writes
CERTIFIED.md: an interrupt loses nothing, and a run of --again begins anew. --seconds is what one problem may take of a processor. With
--results FILE the lines of the first list go there, and no page is written. It is said what the CVXPY that is installed makes otherwise
than results.jsonl; status 1 where it must not.
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
from corpus import COMPLEX, FURTHER, GEOMETRIC, INTEGER, LIST, CorpusSolve, FurtherSolve, entries, further, wanted
from fingerprint import attributes, fingerprint
from intercept import Intercepted, intercepted

DIGITS, ZERO = 6, 1e-6
POINT = "every variable is set equal to a constant: one point"


def left_out(each: Intercepted) -> str:
    """Why a solve is no continuous convex programme to be judged, or nothing."""
    if each.failure:
        return "cannot be copied (a function inside of the test is its parameter)"
    problem = each.problem()
    leaves = [*problem.variables(), *problem.parameters(), *problem.constants()]
    if each.grammar == "nlp":
        return "solved as a nonlinear programme (nlp=True)"
    if kind_of(each):
        return _left_out_of_further(each, problem)
    if not problem.is_dcp():
        return "not DCP: quasiconvex (qcp=True)" if each.grammar == "qcp" else "not DCP: the test is of the error"
    if any(parameter.value is None for parameter in problem.parameters()):
        return "a parameter without value: the test is of the error"
    if not all(np.all(np.isfinite(_entries(leaf))) for leaf in leaves if not isinstance(leaf, cp.Variable)):
        return "data that are not finite"
    if not sum(variable.size for variable in problem.variables()):
        return "no variable"
    return POINT if _is_a_point(problem) else ""


def kind_of(each: Intercepted) -> str:
    """What a problem of the second list is; nothing for those of the first."""
    if each.failure or each.grammar == "nlp":
        return ""
    problem = each.problem()
    if each.grammar == "gp":
        return GEOMETRIC
    leaves = [*problem.variables(), *problem.parameters(), *problem.constants()]
    kinds = [INTEGER] * problem.is_mixed_integer() + [COMPLEX] * any(leaf.is_complex() for leaf in leaves)
    return " and ".join(kinds if problem.is_mixed_integer() or problem.is_dcp() else ())


def _left_out_of_further(each: Intercepted, problem: cp.Problem) -> str:
    if not (problem.is_dgp() if each.grammar == "gp" else problem.is_dcp()):
        return "geometric, complex or integer, and not by CVXPY's rules: the test is of the error"
    if any(parameter.value is None for parameter in problem.parameters()):
        return "a parameter without value: the test is of the error"
    if not sum(variable.size for variable in problem.variables()):
        return "no variable"
    return POINT if _is_a_point(problem) else ""


def _entries(leaf: cp.Expression) -> np.ndarray:
    value: Any = leaf.value
    return np.asarray(value.data if hasattr(value, "tocoo") else value, dtype=float)


def _is_a_point(problem: cp.Problem) -> bool:
    rows = [row.args for row in problem.constraints if type(row).__name__ == "Equality"]
    fixed = {side.id for a, b in rows for side, other in ((a, b), (b, a)) if isinstance(side, cp.Variable) and other.is_constant()}
    return all(variable.id in fixed for variable in problem.variables())


def distinct(counted: Counter[str]) -> Iterator[tuple[Intercepted, str, str]]:
    """(solve, kind, fingerprint), the first of those that agree; `counted` says what became of all."""
    seen: set[str] = set()
    for each in intercepted():
        reason = left_out(each)
        kind = "" if reason else kind_of(each)
        name = "" if reason else fingerprint(each.problem())
        if kind + name in seen:
            reason = "met before"
        counted[reason or (page.SECOND if kind else "")] += 1
        if not reason:
            seen.add(kind + name)
            yield each, kind, name


def described(each: Intercepted, name: str, kind: str = "") -> CorpusSolve:
    """The line of a problem; it is solved for it."""
    problem = each.problem()
    structure = {name for variable in problem.variables() for name, _ in attributes(variable)}
    structure |= {f"{variable.ndim} dimensions" for variable in problem.variables() if variable.ndim > 2}
    line = CorpusSolve(
        each.id,
        name,
        sum(variable.size for variable in problem.variables()),
        sum(row.size for row in problem.constraints),
        sorted(atom.__name__ for atom in problem.atoms()),
        sorted(structure),
        *answered(problem, kind),
    )
    return FurtherSolve(**asdict(line), kind=kind) if kind else line


def answered(problem: cp.Problem, kind: str = "") -> tuple[str, float | None]:
    """CLARABEL's status, and the optimum where it has one; no limit of time, which would be one of the machine.

    Integers are those of HiGHS, or of the back end that CVXPY takes where HiGHS has no such cones.
    """
    try:
        if INTEGER not in kind:
            problem.solve(solver="CLARABEL", gp=kind == GEOMETRIC)
        elif COMPLEX in kind:
            problem.solve()
        else:
            try:
                problem.solve(solver="HIGHS")
            except cp.SolverError:
                problem.solve()
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # CLARABEL panics, which is no Exception, where powers miss a sum of 1 by a rounding
        return type(error).__name__, None
    if problem.status not in ("optimal", "optimal_inaccurate"):
        return problem.status, None
    value = float(np.real(problem.value))
    return problem.status, float(f"{value:.{DIGITS}g}") if abs(value) > ZERO else 0.0


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
    ours = options.results == certified.RESULTS
    if ours and options.again:
        certified.FURTHER_RESULTS.unlink(missing_ok=True)
    certified.certify(options.seconds, entries(), options.results)
    if not ours:
        return against.reported(certified.results(options.results))
    certified.certify(options.seconds, further(), certified.FURTHER_RESULTS)
    text = page.certificates(list(certified.counted()), list(certified.counted_further()))
    Path(__file__).with_name("CERTIFIED.md").write_text(text, encoding="utf-8")
    return 0


def _list() -> None:
    counted: Counter[str] = Counter()
    found: list[CorpusSolve] = []
    for each, kind, name in distinct(counted):
        found.append(described(each, name, kind))
        print(f"\r{len(found)} problems, {counted.total()} solves", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    made = {each.id: fingerprint(each.problem()) for each in intercepted(wanted(found), moved=True)}
    answers = [entry for entry in found if made.get(entry.id, entry.fingerprint) != entry.fingerprint]
    for entry in answers:
        counted[page.SECOND if isinstance(entry, FurtherSolve) else ""] -= 1
    counted["its numbers are a solver's answer to another problem"] += len(answers)
    found = [entry for entry in found if entry not in answers]
    both = [entry for entry in found if not isinstance(entry, FurtherSolve)], [entry for entry in found if isinstance(entry, FurtherSolve)]
    for path, lines in zip((LIST, FURTHER), both, strict=True):
        path.write_text("".join(json.dumps(asdict(entry), ensure_ascii=False) + "\n" for entry in lines), encoding="utf-8")
    Path(__file__).with_name("README.md").write_text(page.page(*both, counted), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
