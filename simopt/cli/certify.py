"""`simopt certify script.py`: bounds on the optimum of every CVXPY problem that a script solves, a function returns or a file holds."""

from __future__ import annotations

import re
import traceback
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Annotated, Any

import typer

from simopt.cli.console import Json, Output, check_output, console, emit, fitted, number, reserved

if TYPE_CHECKING:
    from simopt.certificates.certificate import Certificate
    from simopt.model.status import Status

INTERRUPTED = 130
OURS = re.compile(r".*[/\\]simopt[/\\]cli[/\\]|<frozen |.*[/\\](runpy|importlib[/\\]__init__)\.py$")  # between the command and the script


@dataclass(frozen=True)
class ProblemFinding:
    """One problem: where it was met, what its bounds are, and why it has none or they do not close."""

    name: str
    sense: str
    status: Status
    certificate: Certificate | None
    note: str


def certify(
    target: Annotated[
        str, typer.Argument(metavar="SCRIPT.py|MODULE:FUNCTION|FILE", help="What to run, or a file of a problem: .mps, .qps, .lp or .cbf.")
    ],
    arguments: Annotated[list[str] | None, typer.Argument(metavar="[-- ARGUMENT …]", help="Arguments of the script.")] = None,
    rigorous: Annotated[bool, typer.Option("--rigorous", help="Evaluate the bounds in interval arithmetic.")] = False,
    solver: Annotated[str, typer.Option("--solver", metavar="NAME", help="Back end for multipliers that are missing.")] = "clarabel",
    tol: Annotated[float, typer.Option("--tol", metavar="X", help="Relative gap to certify: gap / max(|lower|, |upper|).")] = 1e-8,
    save: Annotated[
        Path | None,
        typer.Option(
            "--save", metavar="FILE", help="Also write what proves the bounds in fractions; of a second problem to FILE-2, and so on."
        ),
    ] = None,
    as_json: Json = False,
    output: Output = None,
) -> None:
    """Bound the optimum of every cvxpy.Problem that a script solves, from the values that it finds, or that a function returns.

    Problems that a function returns without having solved them are solved, and so is the problem of a file: .mps, .qps, .lp or .cbf, also
    with .gz.

    With --save each problem is also written to a file of its own: the conic form into which CVXPY writes it, a point, multipliers and two
    bounds as exact numbers, which `simopt recheck FILE` proves without simopt. The bounds are those of that form.

    Exit status 0: all certified to the tolerance, and saved; 1: one is not, or the script failed; 2: bad input; 130: interrupted.
    """
    from simopt.backends import table
    from simopt.core.errors import InvalidProblem, UnknownName
    from simopt.core.writing import try_target

    check_output(output)
    if table.find(solver) is None:
        raise UnknownName("solver", solver, [backend.name for backend in table.FIRST_CLASS])
    if not 0.0 < tol < 1.0:
        raise InvalidProblem(f"--tol: must be a positive number below 1, got {tol!r}")
    if save is not None:
        try_target(save)
    run = _ScriptRun(rigorous, solver, tol, save)
    with reserved(as_json):
        failure, stopped = run.all_of(target, arguments or [])
    if not run.findings and not failure and not stopped:
        raise InvalidProblem(f"{target}: no cvxpy.Problem was solved; name a function that returns some as file.py:function")
    said = {"format": "simopt-certificates/1", "target": target, "tol": tol, "failure": failure, "problems": run.findings}
    emit(said, as_json, output, lambda: _show(run.findings))
    closed = all(finding.certificate is not None and finding.certificate.closes(tol) for finding in run.findings)
    raise typer.Exit(INTERRUPTED if stopped else 0 if closed and not failure and not run.unsaved else 1)


class _ScriptRun:
    def __init__(self, rigorous: bool, solver: str, tol: float, save: Path | None) -> None:
        self.rigorous, self.solver, self.tol, self.save = rigorous, solver, tol, save
        self.unsaved = 0
        self.findings: list[ProblemFinding] = []
        self._occurrences: dict[str, int] = {}

    def all_of(self, target: str, arguments: list[str]) -> tuple[str, bool]:
        """Why the script failed, or nothing; whether it was interrupted. Earlier findings stay."""
        from simopt.cli.interception import returned, run_script
        from simopt.compare.own_problems import is_geometric
        from simopt.core.errors import InvalidProblem
        from simopt.files.formats import READ, ending, read
        from simopt.model.problem import is_cvxpy

        home, colon, name = target.rpartition(":")
        try:
            if ending(target) in READ:
                if arguments:
                    raise InvalidProblem(f"{target}: a file takes no arguments, {len(arguments)} given")
                self.met(target, read(target), False, ours=True)
            elif colon and name.isidentifier():
                for label, problem in returned(home, name):
                    self.met(label, problem, is_cvxpy(problem) and is_geometric(problem), ours=True)
            else:
                run_script(Path(target), arguments, self.met)
        except KeyboardInterrupt:
            return "", True
        except SystemExit as end:
            return (f"ended with status {end.code}" if end.code else ""), False
        except Exception as error:
            from simopt.cli.errors import expected

            if not self.findings and expected(error) is not None:
                raise
            traceback.print_exception(type(error), error, _theirs(error.__traceback__))
            return f"{type(error).__name__}: {error}", False
        return "", False

    def met(self, name: str, problem: Any, gp: bool, ours: bool = False) -> None:
        """Judge one problem as it is now; one that is ours to solve is solved where nobody has.

        A script that is running must not see any of it: its problems keep their values, and a defect of ours is shown in the table.
        """
        times = self._occurrences[name] = self._occurrences.get(name, 0) + 1
        label = name if times == 1 else f"{name} ({times})"
        finding = self._finding(label, problem, gp, ours)
        if self.save is not None:  # now: a script may change its parameters before the next solve
            finding = replace(finding, note="; ".join(filter(None, [finding.note, self._saved(problem, gp)])))
        self.findings.append(finding)

    def _saved(self, problem: Any, gp: bool) -> str:
        """Write the certificate of one problem; what its file proves, or why there is none."""
        from simopt.cli.errors import expected
        from simopt.conic.file import save_certificate
        from simopt.core.errors import Unreadable

        assert self.save is not None
        number = len(self.findings) + 1
        path = self.save if number == 1 else self.save.with_stem(f"{self.save.stem}-{number}")
        try:
            if gp:
                raise Unreadable("the logarithms of a geometric programme have no exact proof in fractions")
            saved = save_certificate(problem, path)
        except Exception as error:
            self.unsaved += 1
            return f"not saved: {expected(error) or f'{type(error).__name__}: {error}'}"
        said = f"no optimum ({saved.states})" if saved.states != "bounds" else f"[{saved.lower:.12g}, {saved.upper:.12g}]"
        return "; ".join([f"saved to {path}: {said}", *saved.unproven])

    def _finding(self, label: str, problem: Any, gp: bool, ours: bool) -> ProblemFinding:
        import cvxpy as cp

        import simopt
        from simopt.arithmetic import arithmetic_for
        from simopt.cli.errors import expected
        from simopt.core.errors import InvalidProblem
        from simopt.model.status import Status
        from simopt.solving import dispatch

        sense = "max" if isinstance(getattr(problem, "objective", None), cp.Maximize) else "min"
        try:
            if not isinstance(problem, cp.Problem):
                raise InvalidProblem(f"{type(problem).__name__} given, a cvxpy.Problem needed")
            if ours and problem.status is None:  # whatever its variables hold was left there by another problem
                solution = simopt.solve(problem, self.solver, rigorous=self.rigorous, tol=self.tol, gp=gp)
                bounds = solution.certificate
                return ProblemFinding(label, sense, solution.status, bounds, (bounds.open if bounds else "") or solution.message)
            num = arithmetic_for(self.rigorous)  # the script's own values are certified, not those of a solve of ours
            found = dispatch.certify(problem, None, None, num, self.solver, self.tol, gp=gp, values_stay=True)
        except Exception as error:
            said = expected(error)
            status = Status.UNSUPPORTED if isinstance(error, InvalidProblem) else Status.FAILED
            return ProblemFinding(label, sense, status, None, said or f"{type(error).__name__}: {error}")
        return ProblemFinding(label, sense, _status(found, self.tol), found, found.open)


def _status(certificate: Certificate, tol: float) -> Status:
    from simopt.model.status import Status

    proven = {Status.OPTIMAL: certificate.closes(tol), Status.INFEASIBLE: certificate.infeasible, Status.UNBOUNDED: certificate.unbounded}
    return next((status for status, holds in proven.items() if holds), Status.GAP_OPEN)


def _theirs(trace: TracebackType | None) -> TracebackType | None:
    """The trace from the first frame that is the script's."""
    while trace is not None and trace.tb_next is not None and OURS.match(trace.tb_frame.f_code.co_filename):
        trace = trace.tb_next
    return trace


def _show(findings: list[ProblemFinding]) -> None:
    if not findings:
        return
    out = console()
    headings = ("problem", "sense", "lower", "upper", "gap", "gap/scale", "arithmetic", "status", "")
    rows = []
    for finding in findings:
        c = finding.certificate
        bounds = ["", "", "", "", ""] if c is None else [
            f"{c.lower:.12g}", f"{c.upper:.12g}", number(c.gap, ".1e"), number(c.relative_gap, ".1e"), c.arithmetic
        ]  # fmt: skip
        rows.append([finding.name, finding.sense, *bounds, finding.status.name, finding.note])
    for made in fitted(headings, rows, right=headings[2:6], out=out):
        out.print(made)
