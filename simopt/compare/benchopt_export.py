"""A comparison as a benchopt benchmark: a folder with an objective, data sets and solvers, that `benchopt run` takes as it is.

The objective is the certified relative gap of `simopt.certify`, so benchopt's curves are absolute and need no best value seen.
"""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from simopt.backends.table import BackEnd
from simopt.compare import plan as plans
from simopt.compare.own_problems import OwnProblem, is_own
from simopt.core.errors import InvalidProblem
from simopt.core.extras import DISTRIBUTION
from simopt.core.foreign_text import in_utf8
from simopt.core.writing import write_bytes
from simopt.data.datasets import Dataset
from simopt.model.problem import Problem
from simopt.processes.worker import pickled

LEAST = "1.8"  # of benchopt, whose `evaluate_result` and `skip` are as we use them

CRITERION = '''"""When to stop; each solver has a criterion of its own."""

from benchopt.stopping_criterion import StoppingCriterion


class CertifiedGap(StoppingCriterion):
    """Stop once the certified gap is at most `tol`: it is absolute, so that there is nothing to wait for."""

    def __init__(self, tol={tol!r}, strategy=None, key_to_monitor="value", minimize=True):
        super().__init__(tol=tol, strategy=strategy, key_to_monitor=key_to_monitor, minimize=minimize)
        self.tol = tol

    def check_convergence(self, objective_list):
        reached = objective_list[-1][self.key_to_monitor_]
        return reached <= self.tol, 0.0
'''

OBJECTIVE = '''"""The certified relative gap of {title}."""

from benchopt import BaseObjective

from simopt import certify


class Objective(BaseObjective):
    name = {name!r}
    url = ""
    min_benchopt_version = {least!r}
    requirements = ["pip::{distribution}"]
    sampling_strategy = "callback"

    def set_data(self, problem):
        self.problem = problem

    def get_objective(self):
        return {{"problem": self.problem}}

    def evaluate_result(self, point, multipliers):
        """`value` is (upper - lower bound) / scale; without a lower bound it is 1e30, since benchopt counts infinity as divergence."""
        found = certify(self.problem, point, multipliers)
        return {{
            "value": min(found.relative_gap, 1e30),
            "upper": found.upper,
            "lower": found.lower,
            "infeasibility": found.infeasibility,
        }}

    def get_one_result(self):
        return {{"point": self.problem.trivial_point(), "multipliers": None}}
'''

DATASET = '''"""Instances of {name}: the recipe of simopt on generated or real data."""

import json
from pathlib import Path

from benchopt import BaseDataset

from simopt.core import registry
from simopt.compare import instances
from simopt.data.datasets import load_dataset

FOLDER = Path(__file__).resolve().parents[1]


class Dataset(BaseDataset):
    name = "simopt"
    requirements = ["pip::{distribution}"]
    parameters = {parameters}
    test_parameters = {test_parameters}

    def get_data(self):
        data = None
        if self.data != "generated":
            own = FOLDER / "csv" / self.data
            data = load_dataset(own if own.is_file() else self.data, target={target!r}, fetch=True)
        problem = instances.build(
            registry.find("problem", {name!r}),
            data,
            size=self.size,
            conditioning=self.conditioning,
            settings=json.loads(self.settings),
            seed=self.seed,
        )
        return {{"problem": problem}}
'''

OWN_DATASET = '''"""Problems of one's own, as they were when this benchmark was written, whatever random numbers they were made of."""

import pickle
from pathlib import Path

from benchopt import BaseDataset

FOLDER = Path(__file__).resolve().parents[1] / "problems"
FILES = {files}


class Dataset(BaseDataset):
    name = "simopt"
    requirements = ["pip::{distribution}"]
    parameters = {{"problem": [*FILES]}}
    test_parameters = {{"problem": [*FILES][:1]}}

    def get_data(self):
        return {{"problem": pickle.loads((FOLDER / FILES[self.problem]).read_bytes()).read()}}
'''

ITERATES = '''"""{solver} of simopt, sampled by its iterates: benchopt stops the clock while one is certified."""

from benchmark_utils import CertifiedGap
from benchopt import BaseSolver

from simopt.compare.stepping import Stepper


class Solver(BaseSolver):
    name = {label!r}
    sampling_strategy = "callback"
    stopping_criterion = CertifiedGap()
    requirements = ["pip::{distribution}"]

    def run(self, cb):
        self.stepper.iterate(cb)
'''

SWEEP = '''"""{solver} by way of CVXPY. It shows no iterates: each point is a run from the declaration on, at one tolerance."""

from benchmark_utils import CertifiedGap
from benchopt import BaseSolver

from simopt.compare.stepping import Stepper


class Solver(BaseSolver):
    name = {label!r}
    sampling_strategy = "tolerance"
    stopping_criterion = CertifiedGap()
    requirements = ["pip::{distribution}", "pip::{package}"]

    def get_next(self, tolerance):
        return min(1e-2, tolerance * 1e-2)

    def run(self, tolerance):
        self.stepper.run(tolerance)
'''

# how both go on
EITHER = """
    def skip(self, problem):
        reason = Stepper(problem, {solver!r}, tol={tol!r}, time_limit={time_limit!r}).reason_against()
        return reason is not None, reason

    def set_objective(self, problem):
        self.stepper = Stepper(problem, {solver!r}, tol={tol!r}, time_limit={time_limit!r}, **{options!r})

    def warm_up(self):
        self.stepper.warm_up()

    def get_result(self):
        point, multipliers = self.stepper.result()
        return {{"point": point, "multipliers": multipliers}}
"""

README = """# {name}: certified gap against time

Written by `simopt compare {command} --benchopt`. Run it with

    benchopt run . -n 30 -r 3

`objective_value` is the certified relative gap (upper - lower bound) / scale, so look at curves of the objective, not of suboptimality.
Solvers written by hand are sampled by iterates, CVXPY back ends by runs at one tolerance after another.
"""


def export_benchopt(
    folder: str | os.PathLike[str],
    problem: Any,
    solvers: Sequence[plans.SolverName] | None = None,
    **design: Any,
) -> Path:
    """Write the comparison with these arguments (see `compare`) as a benchopt benchmark into a new or empty folder; its path.

    A problem of the catalogue is found by its name, as its solvers are, so that both have to be registered; CSV files are copied in.
    Anything else that `compare_solvers` takes is written as it is now: problems of CVXPY, files of problems, "own.py:NAME". Their data sets
    are pickles, for the versions of simopt and CVXPY that wrote them.

    Raises
    ------
    UnknownName, InvalidProblem, NotAvailable
        as `compare`; InvalidProblem also for an instance or a Dataset, which have no name, for problems of the catalogue beside others,
        and for a folder that is not empty.
    OSError
        when the folder cannot be written.
    """
    if isinstance(problem, Problem) or any(isinstance(entry, Dataset) for entry in design.get("data") or ()):
        raise InvalidProblem("benchopt: a benchmark names its problem and its data; an instance or a Dataset in memory has no name")
    if isinstance(problem, type) or (isinstance(problem, str) and not is_own(problem)):
        plan = plans.make(plans.Design(problem, solvers, repetitions=1, threads=1, **design))
        benchmark = _of_catalogue(plan, design)
    else:
        plan = plans.make_all(problem, solvers, repetitions=1, threads=1, **design)
        benchmark = _of_own(plan)
    target = Path(folder)
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise InvalidProblem(f"benchopt: {target} exists and is not empty; name a new folder")
    cell = plan.instances[0].cell
    texts = {"least": LEAST, "distribution": DISTRIBUTION, "tol": cell.tol, "time_limit": cell.time_limit, **benchmark.texts}
    files = {
        "objective.py": OBJECTIVE.format(**texts),
        "benchmark_utils/__init__.py": CRITERION.format(**texts),
        "README.md": README.format(**texts),
        "datasets/simopt.py": benchmark.dataset.format(**texts),
        **dict(_solvers(plan, texts)),
    }
    for name, content in {**benchmark.files, **{name: text.encode() for name, text in files.items()}}.items():
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        write_bytes(target / name, content)
    return target


@dataclass(frozen=True)
class _Benchmark:
    """What benchmarks of the catalogue and of one's own do not share: words of the texts, the text of the data sets, and files beside."""

    texts: dict[str, Any]
    dataset: str
    files: dict[str, bytes]


def _of_catalogue(plan: plans.Plan, design: dict[str, Any]) -> _Benchmark:
    kind = plan.instances[0].kind
    texts = {"name": kind.name, "command": kind.name, "title": kind.title or kind.name, "target": design.get("target"), **_parameters(plan)}
    return _Benchmark(texts, DATASET, {f"csv/{name}": path.read_bytes() for name, path in _files(design.get("data")).items()})


def _of_own(plan: plans.Plan) -> _Benchmark:
    problems = {instance.cell.instance: instance.problem for instance in plan.instances}
    if not all(isinstance(problem, OwnProblem) for problem in problems.values()):
        raise InvalidProblem("benchopt: a benchmark is of one problem of the catalogue, or of your own ones; name either")
    files = {name: f"{number}.pickle" for number, name in enumerate(problems)}
    title = next(iter(problems)) if len(problems) == 1 else f"{len(problems)} problems"
    texts = {"name": title, "command": "WHAT", "title": title, "files": repr(files)}
    return _Benchmark(texts, OWN_DATASET, {f"problems/{file}": pickled(problems[name]) for name, file in files.items()})


def _solvers(plan: plans.Plan, texts: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """A file for each solver; one that cannot take a problem skips it."""
    used: set[str] = set()
    candidates = {
        plans.task(group.instances[0], candidate, 0).cell.candidate: candidate for group in plan.groups for candidate in group.candidates
    }
    for name, candidate in candidates.items():
        label = name.replace("[", " ").replace("]", "").replace(",", " ").replace("/", "-")
        label, stem = next(_spellings(label, used))
        used.add(stem)
        own = {**texts, "solver": candidate.chosen.name, "label": label, "options": candidate.options}
        if isinstance(candidate.chosen, BackEnd):
            yield f"solvers/{stem}.py", (SWEEP + EITHER).format(**own, package=candidate.chosen.distribution or candidate.chosen.package)
        else:
            yield f"solvers/{stem}.py", (ITERATES + EITHER).format(**own)


def _spellings(label: str, used: set[str]) -> Iterator[tuple[str, str]]:
    """A label and the name of its file, numbered until no other solver has it: names that differ by a sign would share a file."""
    for number in itertools.count(1):
        spelled = label if number == 1 else f"{label} {number}"
        stem = re.sub("[^a-z0-9]+", "_", spelled.lower())
        if stem not in used:
            yield spelled, stem


def _files(data: Sequence[plans.Data] | None) -> dict[str, Path]:
    """CSV files by the name that their copies have."""
    found: dict[str, Path] = {}
    named = [data] if isinstance(data, (str, os.PathLike)) else data or ()
    for path in (Path(entry) for entry in named if not isinstance(entry, Dataset)):
        name = in_utf8(path.name)
        if name.casefold().endswith((".csv", ".csv.gz")) and found.setdefault(name, path) != path:
            raise InvalidProblem(f"benchopt: two data files are called {name}; rename one of them")
    return found


def _parameters(plan: plans.Plan) -> dict[str, str]:
    """The grid of instances as benchopt's parameters, and the first point of it for its tests."""
    cells = [instance.cell for instance in plan.instances]
    grid = {
        name: list(dict.fromkeys(getattr(cell, name) for cell in cells)) for name in ("data", "size", "conditioning", "settings", "seed")
    }
    first = {name: values[:1] for name, values in grid.items()}
    return {"parameters": repr(grid), "test_parameters": repr(first)}
