"""`simopt certify script.py`: bounds on the optimum of every CVXPY problem that a script solves, a function returns or a file holds."""

from __future__ import annotations

import re
import traceback
from collections.abc import Iterator
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
# between the command and the script
OURS = re.compile(r".*[/\\]simopt[/\\](cli|compare)[/\\]|<frozen |.*[/\\](runpy|importlib[/\\]__init__)\.py$")


@dataclass(frozen=True)
class ProblemFinding:
    """One problem: where it was met, what its bounds are, and why it has none or they do not close."""

    name: str
    sense: str
    status: Status
    certificate: Certificate | None
    note: str
    solver: str = ""  # with all solvers: the one that has solved it; empty for the values that the problem had


def certify(
    target: Annotated[
        str,
        typer.Argument(
            metavar="SCRIPT.py|WHAT",
            help="A script to run; or problems as compare takes them: own.py:NAME, MODULE:NAME, files, a folder, a name of the catalogue.",
        ),
    ],
    arguments: Annotated[list[str] | None, typer.Argument(metavar="[-- ARGUMENT …]", help="Arguments of the script.")] = None,
    rigorous: Annotated[bool, typer.Option("--rigorous", help="Evaluate the bounds in interval arithmetic.")] = False,
    solver: Annotated[
        str, typer.Option("--solver", metavar="NAME|all", help="Back end for multipliers that are missing; all: a row for each.")
    ] = "clarabel",
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

    Problems that a function returns without having solved them are solved, and so are those of files (.mps, .qps, .lp or .cbf, also with
    .gz) and those of the catalogue, of generated data. With --solver all each problem has a row for every solver that can take it, beside
    the values that a script has found.

    With --save each problem is also written to a file of its own: the conic form into which CVXPY writes it, a point, multipliers and two
    bounds as exact numbers, which `simopt recheck FILE` proves without simopt. The bounds are those of that form.

    Exit status 0: all certified to the tolerance, and saved; 1: one is not, or the script failed; 2: bad input; 130: interrupted.
    """
    from simopt.backends import table
    from simopt.cli.every_solver import EVERY
    from simopt.core.errors import InvalidProblem, UnknownName
    from simopt.core.writing import try_target

    check_output(output)
    every = solver.lower() == EVERY
    if not every and table.find(solver) is None:
        raise UnknownName("solver", solver, [backend.name for backend in table.FIRST_CLASS])
    if not 0.0 < tol < 1.0:
        raise InvalidProblem(f"--tol: must be a positive number below 1, got {tol!r}")
    if save is not None:
        try_target(save)
    run = _ScriptRun(rigorous, table.CLARABEL.name if every else solver, tol, save, every)
    with reserved(as_json):
        failure, stopped = run.all_of(target, arguments or [])
    if not run.findings and not failure and not stopped:
        raise InvalidProblem(f"{target}: no cvxpy.Problem was solved; name a function that returns some as file.py:function")
    said = {"format": "simopt-certificates/1", "target": target, "tol": tol, "failure": failure, "problems": run.findings}
    if every:
        said["unsuitable"] = run.unsuitable
    emit(said, as_json, output, lambda: _show(run))
    closed = all(finding.certificate is not None and finding.certificate.closes(tol) for finding in run.findings)
    raise typer.Exit(INTERRUPTED if stopped else 0 if closed and not failure and not run.unsaved else 1)


class _ScriptRun:
    def __init__(self, rigorous: bool, solver: str, tol: float, save: Path | None, every: bool) -> None:
        self.rigorous, self.solver, self.tol, self.save, self.every = rigorous, solver, tol, save, every
        self.unsuitable: dict[str, dict[str, str]] = {}
        self.unsaved = 0
        self.findings: list[ProblemFinding] = []
        self._occurrences: dict[str, int] = {}

    def all_of(self, target: str, arguments: list[str]) -> tuple[str, bool]:
        """Why the script failed, or nothing; whether it was interrupted. Earlier findings stay."""
        from simopt.compare.interception import run_script
        from simopt.compare.own_problems import is_geometric
        from simopt.core.errors import InvalidProblem
        from simopt.files.formats import READ, ending, read
        from simopt.model.problem import is_cvxpy

        colon, pattern = ":" in target, bool(re.search(r"[*?]", target))
        try:
            if ending(target) in READ and not pattern:
                if arguments:
                    raise InvalidProblem(f"{target}: a file takes no arguments, {len(arguments)} given")
                self.met(target, read(target), False, ours=True)
            elif colon or pattern or Path(target).is_dir() or not (Path(target).suffix or Path(target).exists()):
                for label, problem in _named(target):
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
        fresh = ours and getattr(problem, "status", None) is None  # whatever its variables hold was left there by another problem
        if self.every and fresh and self.save is None and self._by_every_solver(label, problem):
            return
        finding = self._finding(label, problem, gp, fresh)
        if self.save is not None:  # now: a script may change its parameters before the next solve
            finding = replace(finding, note="; ".join(filter(None, [finding.note, self._saved(problem, gp)])))
        self.findings.append(finding)
        if self.every and not fresh:
            self._by_every_solver(label, problem)

    def _by_every_solver(self, label: str, problem: Any) -> bool:
        """The findings of every solver that can take the problem, each in a process of its own: a script sees nothing of it.

        False where the problem cannot be read.
        """
        from simopt.cli.every_solver import solvers_for
        from simopt.cli.solving_process import processes_for, solved_in
        from simopt.compare.own_problems import OwnProblem
        from simopt.core.errors import InvalidProblem
        from simopt.model.problem import is_cvxpy

        try:
            made = OwnProblem.of(label, problem) if is_cvxpy(problem) else problem
            names, self.unsuitable[label], _ = solvers_for(made)
        except InvalidProblem:  # its finding says so
            return False
        sense = _sense(problem)
        common = {"tol": self.tol, "rigorous": self.rigorous}
        with processes_for(made, common) as pool:
            for name in names:
                solution, stopped = solved_in(pool, made, name, common, {})
                bounds = solution.certificate
                note = (bounds.open if bounds else "") or solution.message
                self.findings.append(ProblemFinding(label, sense, solution.status, bounds, note, name))
                if stopped:
                    raise KeyboardInterrupt
        return True

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

    def _finding(self, label: str, problem: Any, gp: bool, fresh: bool) -> ProblemFinding:
        import cvxpy as cp

        import simopt
        from simopt.arithmetic import arithmetic_for
        from simopt.cli.errors import expected
        from simopt.core.errors import InvalidProblem
        from simopt.duality.reading.integers import has_integers
        from simopt.model.problem import Problem
        from simopt.model.status import Status
        from simopt.solving import dispatch

        if isinstance(problem, Problem):
            solution = simopt.solve(problem, rigorous=self.rigorous, tol=self.tol)
            return ProblemFinding(label, "min", solution.status, solution.certificate, solution.message)
        sense = _sense(problem)
        try:
            if not isinstance(problem, cp.Problem):
                raise InvalidProblem(f"{type(problem).__name__} given, a cvxpy.Problem needed")
            if fresh:
                solver = None if has_integers(problem) else self.solver  # CVXPY's for integers
                solution = simopt.solve(problem, solver, rigorous=self.rigorous, tol=self.tol, gp=gp)
                bounds = solution.certificate
                return ProblemFinding(label, sense, solution.status, bounds, (bounds.open if bounds else "") or solution.message)
            num = arithmetic_for(self.rigorous)  # the script's own values are certified, not those of a solve of ours
            found = dispatch.certify(problem, None, None, num, self.solver, self.tol, gp=gp, values_stay=True)
        except Exception as error:
            said = expected(error)
            status = Status.UNSUPPORTED if isinstance(error, InvalidProblem) else Status.FAILED
            return ProblemFinding(label, sense, status, None, said or f"{type(error).__name__}: {error}")
        return ProblemFinding(label, sense, _status(found, self.tol), found, found.open)


def _sense(problem: Any) -> str:
    import cvxpy as cp

    return "max" if isinstance(getattr(problem, "objective", None), cp.Maximize) else "min"


def _named(target: str) -> Iterator[tuple[str, Any]]:
    """The problems that a text names as `compare` takes them, with their labels; those of the catalogue on generated data."""
    from simopt.compare.own_problems import is_own, named_problems
    from simopt.compare.plan import generated_problem

    if not is_own(target):
        yield target, generated_problem(target)
        return
    for name, problem, settings in named_problems(target):
        arguments = ", ".join(f"{field}={value!r}" for field, value in settings.items())
        yield name + (f"({arguments})" if arguments else ""), problem


def _status(certificate: Certificate, tol: float) -> Status:
    from simopt.model.status import Status

    proven = {Status.OPTIMAL: certificate.closes(tol), Status.INFEASIBLE: certificate.infeasible, Status.UNBOUNDED: certificate.unbounded}
    return next((status for status, holds in proven.items() if holds), Status.GAP_OPEN)


def _theirs(trace: TracebackType | None) -> TracebackType | None:
    """The trace from the first frame that is the script's."""
    while trace is not None and trace.tb_next is not None and OURS.match(trace.tb_frame.f_code.co_filename):
        trace = trace.tb_next
    return trace


def _show(run: _ScriptRun) -> None:
    from simopt.cli.every_solver import by_reason

    findings = run.findings
    if not findings:
        return
    out = console()
    headings = ("problem", *(["solver"] if run.every else []), "sense", "lower", "upper", "gap", "gap/scale", "arithmetic", "status", "")
    notes: dict[str, dict[str, str]] = {}
    rows = []
    for finding in findings:
        c = finding.certificate
        bounds = ["", "", "", "", ""] if c is None else [
            f"{c.lower:.12g}", f"{c.upper:.12g}", number(c.gap, ".1e"), number(c.relative_gap, ".1e"), c.arithmetic
        ]  # fmt: skip
        solver = [finding.solver or "its values"] if run.every else []
        if run.every and finding.note:
            notes.setdefault(finding.name, {})[solver[0]] = finding.note
        rows.append([finding.name, *solver, finding.sense, *bounds, finding.status.name, "" if run.every else finding.note])
    for made in fitted(headings, rows, right=("lower", "upper", "gap", "gap/scale"), out=out):
        out.print(made)
    for word, said in (("", notes), ("not suitable for ", run.unsuitable)):
        for label, reasons in said.items():
            for line in by_reason(reasons):
                out.print(f"{word}{label}: {line}", soft_wrap=True)
