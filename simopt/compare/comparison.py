"""What scripts call: `compare` and `measure`, earlier runs loaded and merged, and a comparison with its tables and pictures."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simopt.compare import folder as files
from simopt.compare import plan as plans
from simopt.compare.record import Record
from simopt.compare.work import BUDGET, PlanRun, Progress
from simopt.core import registry, validate
from simopt.core.errors import Interrupted, InvalidProblem
from simopt.core.extras import needed
from simopt.model.problem import Problem

if TYPE_CHECKING:
    import pandas as pd


@dataclass(repr=False)
class Comparison:
    """Runs, and what they say: `print` shows the tables. Frames are pandas DataFrames, made when they are asked for."""

    records: list[Record] = field(default_factory=list)
    planned: int = 0
    complete: bool = True
    unsuitable: list[tuple[str, str, str]] = field(default_factory=list)  # back ends left out: instance, name, reason
    left_out: int = 0  # repetitions that the budget had no seconds for
    others: list[Record] = field(default_factory=list)  # runs in the folder on instances that the command does not name

    def __repr__(self) -> str:
        from simopt.compare.answer import answers

        return f"<{len(self.records)} runs: {'; '.join(answers(self.records, self.complete))}>"

    def __str__(self) -> str:
        return self.text()

    @property
    def tol(self) -> float:
        """The largest gap that counted as success."""
        return max((record.cell.tol for record in self.records), default=1e-8)

    def frame(self) -> pd.DataFrame:
        """One row a run: see `Record`. `seconds` is set-up and solve together, nan where the certificate did not close.

        `time_to_1e-02` … are seconds to a certified relative gap (inf: never; nan: beyond the tolerance asked for).
        """
        from simopt.compare import frames

        return frames.runs(self.records)

    def traces(self) -> pd.DataFrame:
        """One row a certified point of a run."""
        from simopt.compare import frames

        return frames.traces(self.records)

    def summary(self) -> pd.DataFrame:
        """One row an instance and solver: medians over the repetitions, successes, failures with their reason."""
        from simopt.compare import frames

        return frames.summary(self.records)

    def profile(self, gap: float | None = None) -> pd.DataFrame:
        """The performance profile of Dolan and Moré for the time to `gap` (default: the tolerance of each run), of each machine."""
        from simopt.compare import frames

        return frames.profile(self.records, gap)

    def scaling(self) -> pd.DataFrame:
        """Exponents b of seconds ≈ a nᵇ with their intervals."""
        from simopt.compare import frames

        return frames.scaling(self.records)

    def text(self) -> str:
        """The tables in Markdown."""
        from simopt.compare import table

        return table.markdown(self.records, complete=self.complete, unsuitable=self.unsuitable, others=self.others)

    def page(self) -> str:
        """The page as HTML. Needs jinja2."""
        needed("jinja2", "pages of comparisons need", "compare")
        from simopt.compare import page

        return page.render(self.records, complete=self.complete, planned=self.planned, unsuitable=self.unsuitable, others=self.others)

    def plot(self, folder: str | os.PathLike[str]) -> list[Path]:
        """Draw curves, profile, scaling and memory into a folder; the paths. Needs matplotlib."""
        from simopt.compare import plots

        return plots.draw(self.records, folder)

    def write(self, folder: str | os.PathLike[str]) -> None:
        """index.html, table.md, comparison.json, runs.parquet and traces.parquet, as far as packages for them are installed.

        The tables in Parquet have the other runs, too: a folder may come without the files of its runs.
        """
        Path(folder).mkdir(parents=True, exist_ok=True)
        texts = {files.TABLE: self.text()} | ({files.PAGE: self.page()} if files.installed("jinja2") else {})
        files.write_summary(Path(folder), self.document(), texts, [*self.records, *self.others])

    def document(self) -> dict[str, Any]:
        """Everything but the single runs as plain data, for JSON."""
        from simopt.compare import table

        counts = {"complete": self.complete, "planned": self.planned, "left_out_by_budget": self.left_out, "other_runs": len(self.others)}
        return {**counts, **table.plain(self.records, self.unsuitable, self.complete)}


def measure(
    problem: str | type[Problem] | Problem,
    solvers: Sequence[plans.SolverName] | None = None,
    *,
    jobs: int | None = None,
    budget: float = BUDGET,
    folder: str | os.PathLike[str] | None = None,
    retry: bool = False,
    progress: Progress | None = None,
    **design: Any,
) -> Comparison:
    """Compare solvers: as `compare`, whose arguments it has, but the answer also has traces, summaries and plots.

    Raises
    ------
    Interrupted
        on Ctrl-C; `done` is the comparison so far, which is in `folder` already.
    """
    plan = plans.make(plans.Design(problem, solvers, **design))
    return _run(plan, jobs=jobs, budget=budget, folder=folder, retry=retry, progress=progress)


def compare_solvers(
    problems: Any,
    solvers: Sequence[plans.SolverName] | None = None,
    *,
    jobs: int | None = None,
    budget: float = BUDGET,
    folder: str | os.PathLike[str] | None = None,
    retry: bool = False,
    progress: Progress | None = None,
    **design: Any,
) -> Comparison:
    """Compare solvers on any problems: each one on each problem, every answer judged by certified bounds on the optimum.

    A `cvxpy.Problem` is taken as it is, with the present values of its parameters. Gaps of a maximum are those of min −f.

    Parameters
    ----------
    problems : list or dict
        each entry a `cvxpy.Problem`, a problem of simopt, a name of the catalogue, or a text such as "own.py:NAME",
        "MODULE:NAME" or "own.py:portfolio(n=[100, 1000])". A dictionary gives names to its problems. A single problem is a list of one.
    solvers : list of names or (name, options)
        default: for a `cvxpy.Problem` all installed back ends that can take it, the others stand in `unsuitable` with their reason; for a
        problem of the catalogue as `compare`.
    jobs, budget, folder, retry, progress, **design
        as `compare`; sizes, data and the like concern the names of the catalogue.

    Returns
    -------
    Comparison
        of what is named here, with `text()`, `frame()`, `traces()`, `summary()` and `plot(folder)`. What else `folder` has is in `others`.

    Raises
    ------
    UnknownName, InvalidProblem, NotAvailable
        before anything runs, naming the entry and what would be right.
    Interrupted
        on Ctrl-C; `done` is the comparison so far.
    """
    plan = plans.make_all(problems, solvers, **design)
    return _run(plan, jobs=jobs, budget=budget, folder=folder, retry=retry, progress=progress)


def _run(
    plan: plans.Plan,
    *,
    jobs: int | None,
    budget: float,
    folder: str | os.PathLike[str] | None,
    retry: bool,
    progress: Progress | None,
) -> Comparison:
    """What is missing of the plan, run.

    Raises
    ------
    Interrupted
        on Ctrl-C.
    """
    validate.positive("budget", budget)
    if jobs is not None:
        jobs = validate.jobs("jobs", jobs, plan.size)
    place = None if folder is None else files.prepare(folder)
    with files.alone(place):
        known = [] if place is None else files.newest(files.resumed(place))
        work = PlanRun(plan, place, known, budget, jobs, retry, progress)
        if place is not None:  # so that what is planned is known if this process dies
            files.write_document(place, _of_plan(plan, known, complete=False).document(), len(known))
        try:
            work.all()
        except KeyboardInterrupt:
            raise Interrupted(_finished(work, complete=False)) from None
        return _finished(work, complete=True)


def _finished(work: PlanRun, complete: bool) -> Comparison:
    made = _of_plan(work.plan, files.newest(work.records), complete)
    made.left_out = work.left_out
    if work.folder is not None:
        made.write(work.folder)
    return made


def _of_plan(plan: plans.Plan, records: Sequence[Record], complete: bool) -> Comparison:
    """The comparison of what a command names. Runs of other problems, numbers, tolerances and limits have no part in its answer.

    An older version of a problem stays in the folder, where it is another problem.
    """
    named = {instance.cell for instance in plan.instances}
    own, others = list[Record](), list[Record]()
    for record in records:
        (own if record.cell.frame in named else others).append(record)
    return Comparison(own, plan.size, complete, plan.unsuitable, others=others)


def load(*folders: str | os.PathLike[str]) -> Comparison:
    """The runs of one or several folders, merged; nothing is run or written.

    Raises
    ------
    InvalidFile
        for files of another format, or damaged ones.
    NotAvailable
        for a folder that is not there, or holds nothing.
    """
    records = files.newest(files.merged([], folders))
    return Comparison(records, len(records))


def rewrite(folder: str | os.PathLike[str]) -> Comparison:
    """Write page and tables of a folder again from the runs that it holds; nothing is run.

    Raises
    ------
    InvalidFile, NotAvailable
        when it cannot be read, or holds nothing.
    OSError
        when it cannot be written, or another comparison is under way there.
    """
    files.load(folder)
    return merge(folder, [])


def merge(folder: str | os.PathLike[str], others: Sequence[str | os.PathLike[str]], problem: str | None = None) -> Comparison:
    """Take the runs of other folders, such as of other machines, over into `folder`, and write page and tables; nothing is run.

    Raises
    ------
    InvalidFile, NotAvailable
        when one of the folders cannot be read; `folder` is not touched then.
    InvalidProblem
        when one holds runs of another problem than `problem` (default: any); `folder` is not touched then, either.
    OSError
        when `folder` cannot be written.
    """
    taken = files.merged([], others)
    states = [files.state(each) for each in (folder, *others)]
    if problem is not None:
        for other in others:
            _only(files.load(other), problem, other)
    place = files.prepare(folder)
    with files.alone(place):
        own = files.resumed(place)
        if problem is not None:
            _only(own, problem, folder)
        known = {(r.cell.key, r.machine, r.started) for r in own}
        records = files.newest([*own, *taken])
        for record in records:
            if (record.cell.key, record.machine, record.started) not in known:
                files.save(place, record, len(own))
        planned = states[0].planned + states[0].other_runs if not others and states[0].planned else len(records)
        unsuitable = list(dict.fromkeys(row for each in states for row in each.unsuitable))
        made = Comparison(records, planned, all(each.complete for each in states), unsuitable)
        made.write(place)
    return made


def _only(records: Sequence[Record], problem: str, folder: str | os.PathLike[str]) -> None:
    """Refuse runs of another problem."""
    wanted = registry.find("problem", problem).name
    if strange := sorted({record.cell.problem for record in records} - {wanted}):
        raise InvalidProblem(f"merge: {os.fspath(folder)} holds runs of {', '.join(strange)}, not of {wanted}")


def compare(problem: str | type[Problem] | Problem, solvers: Sequence[plans.SolverName] | None = None, **options: Any) -> pd.DataFrame:
    """Time solvers on a declared problem to a *certified* relative gap; one row a run.

    Each run has a process of its own with `threads` threads. Hand-written solvers are traced by their iterates, the clock standing still
    while one is certified (column `sampling`: "iterates"). CVXPY back ends show none, and are traced by runs at one tolerance after another
    ("tolerance"). Gaps are (upper − lower bound)/scale and need no best value seen. Solvers take turns: instance by instance, forwards and
    backwards in turn, `repetitions` times.

    Parameters
    ----------
    problem : str, problem class or problem
        its name, a class, or an instance, which is then compared on as it is.
    solvers : list of names or (name, options)
        default: the hand-written ones of the problem, clarabel, ecos (where it is installed) and scs.
    sizes : list of int
        samples of each instance (queries, where the recipe counts those). Default: 1000 of generated data, or what the recipe takes.
    conditionings : list of float
        condition numbers that the matrix of the problem is given. Default: as the data make it.
    data : list of names, CSV files or Datasets
        default: generated (Friedman's function with noise).
    target : str
        column to predict in CSV files; by default the last.
    settings : dict
        options of the recipe, or fields of the problem; a list of values is swept.
    seeds : list of int
        of recipes and generated data; each makes instances of its own.
    repetitions : int
        runs of each solver on each instance; fewer where they would take longer than `budget` seconds.
    tol : float
        relative gap at which a run is a success.
    time_limit : float
        seconds on the solver's clock.
    threads, jobs : int
        threads of one run; runs at a time (default 1: others at the same time disturb; joblib's `parallel_config` is followed).
    folder : path
        where runs are kept as they are done; those that are there are not run again (failures are, with `retry=True`).
    progress : callable
        called with (done, all, Record).

    Raises
    ------
    UnknownName, InvalidProblem, NotAvailable
        before anything runs.
    OSError
        when `folder` cannot be written; what it holds is kept.
    InvalidFile
        for runs of another format.
    Interrupted
        on Ctrl-C; what is done is in `folder`.
    """
    return measure(problem, solvers, **options).frame()
