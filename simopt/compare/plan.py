"""The runs of a comparison: every instance, every solver, every repetition, in the order in which they are run."""

from __future__ import annotations

import hashlib
import itertools
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from numbers import Real
from typing import Any

from simopt.backends.table import BackEnd, check_options, installed, usable
from simopt.compare import instances, own_problems
from simopt.compare.cell import GENERATED, HANDED_OVER, OWN, PlannedRun, as_text
from simopt.compare.child import ChildTask
from simopt.compare.own_problems import OwnProblem
from simopt.core import registry, validate
from simopt.core.errors import InvalidProblem, UnknownName, nearest
from simopt.data.datasets import Dataset, load_dataset
from simopt.model.problem import Problem, is_cvxpy
from simopt.solving.driver import choose
from simopt.solving.solver import SolverSpec, solvers_of

USUAL_SIZE = 1000
FOR_CATALOGUE = ("sizes", "conditionings", "data", "target", "settings", "seeds")  # arguments that say which instances are built
SolverName = str | tuple[str, Mapping[str, Any]]
Data = str | os.PathLike[str] | Dataset


@dataclass(frozen=True)
class Design:
    """The request: the arguments of `compare` of these names, as the caller passed them."""

    problem: str | type[Problem] | Problem | OwnProblem
    solvers: Sequence[SolverName] | None = None
    sizes: Sequence[float] | None = None
    conditionings: Sequence[float] | None = None
    data: Sequence[Data] | None = None
    target: str | None = None
    settings: Mapping[str, Any] | None = None
    seeds: Sequence[int] = (0,)
    repetitions: int = 3
    tol: float = 1e-8
    time_limit: float = 60.0
    threads: int = 1


@dataclass(frozen=True)
class Instance:
    """One instance: the cell without solver and repetition, and what a child needs to build it."""

    cell: PlannedRun
    kind: type[Problem]
    problem: Problem | OwnProblem | None
    data: Dataset | None
    settings: dict[str, Any]


@dataclass(frozen=True)
class SolverChoice:
    """A solver with its options."""

    chosen: SolverSpec | BackEnd
    options: dict[str, Any]


@dataclass(frozen=True)
class Group:
    """Instances that the same solvers are compared on.

    `unsuitable` has the back ends that are left out since they cannot take the problem, each with its reason.
    """

    instances: tuple[Instance, ...]
    candidates: tuple[SolverChoice, ...]
    unsuitable: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Plan:
    """In each group, instances × candidates × repetitions."""

    groups: tuple[Group, ...]
    repetitions: int

    @property
    def instances(self) -> tuple[Instance, ...]:
        """Those of all groups."""
        return tuple(instance for group in self.groups for instance in group.instances)

    @property
    def candidates(self) -> tuple[SolverChoice, ...]:
        """Those of the first group."""
        return self.groups[0].candidates

    def wave(self, repetition: int) -> Iterator[ChildTask]:
        """One repetition: instance by instance, so that the runs of a pair follow one another; every other time in the other order."""
        for group in self.groups:
            order = group.candidates if repetition % 2 == 0 else group.candidates[::-1]
            for instance in group.instances:
                for candidate in order:
                    yield task(instance, candidate, repetition)

    @property
    def unsuitable(self) -> list[tuple[str, str, str]]:
        """Back ends that were left out: instance in words, name, reason."""
        return [(group.instances[0].cell.instance, name, reason) for group in self.groups for name, reason in group.unsuitable]

    @property
    def size(self) -> int:
        """Number of runs."""
        return sum(len(group.instances) * len(group.candidates) for group in self.groups) * self.repetitions


def task(instance: Instance, candidate: SolverChoice, repetition: int) -> ChildTask:
    """One run, as a process is given it."""
    cell = replace(instance.cell, solver=candidate.chosen.name, options=as_text(candidate.options), repetition=repetition)
    return ChildTask(cell, instance.kind, instance.problem, instance.data, instance.settings, candidate.chosen, candidate.options)


def make(design: Design) -> Plan:
    """The plan of a comparison.

    Raises
    ------
    UnknownName, InvalidProblem, NotAvailable
        before anything is run.
    """
    return _playable(_made(design))


def _made(design: Design) -> Plan:
    """As `make`, but where no solver that is named can take the problem the plan is empty: others may be able to take other problems."""
    if not (isinstance(design.tol, Real) and 0 < design.tol < 1):
        raise InvalidProblem(f"tol: must be a positive number below 1, got {design.tol!r}")
    kind, given = _kind(design.problem)
    frame = PlannedRun(
        kind.name, HANDED_OVER, None, None, "{}", 0, "", "{}", float(design.tol), validate.seconds("time_limit", design.time_limit),
        validate.whole("threads", design.threads, minimum=1), 0,
    )  # fmt: skip
    if design.conditionings is not None:
        instances.check_conditioning(kind)
    found = tuple(_instances(frame, kind, design) if given is None else _own_problem(frame, kind, given, design))
    group = (
        _group_of(kind, given, found, design) if isinstance(given, OwnProblem) else Group(found, tuple(_candidates(kind, design.solvers)))
    )
    return Plan((group,), validate.whole("repetitions", design.repetitions, minimum=1))


def generated_problem(name: str) -> Problem:
    """The problem of the catalogue on generated data of the usual size, as a comparison has it.

    Raises
    ------
    UnknownName
    """
    kind: type[Problem] = registry.find("problem", name)
    return instances.build(kind, None, size=USUAL_SIZE, conditioning=None, settings={}, seed=0)


def make_all(problems: Any, solvers: Sequence[SolverName] | None, **design: Any) -> Plan:
    """The plan of a comparison on several problems, of the catalogue and of one's own; those not of the catalogue are taken as they are.

    Raises
    ------
    UnknownName, InvalidProblem, NotAvailable
        before anything is run.
    """
    arguments = [each.name for each in fields(Design)][2:]
    for name in design:
        if name not in arguments:
            raise UnknownName("argument", name, arguments)
    wanted = list(own_problems.in_order(problems))
    as_they_are = {name: value for name, value in design.items() if name not in FOR_CATALOGUE}
    catalogue = any(isinstance(each, (str, type)) for each in wanted)  # sizes and the like are meant for those
    plans = [
        _made(Design(each, solvers, **(as_they_are if catalogue and not isinstance(each, (str, type)) else design))) for each in wanted
    ]
    return _playable(Plan(tuple(_each_once(group for plan in plans for group in plan.groups)), plans[0].repetitions))


def _each_once(groups: Iterable[Group]) -> Iterator[Group]:
    """The groups without instances that an earlier one has: a problem that is named twice is run once."""
    seen = set[PlannedRun]()
    for group in groups:
        own = tuple(instance for instance in group.instances if instance.cell not in seen)
        seen |= {instance.cell for instance in own}
        if own:
            yield replace(group, instances=own)


def _playable(plan: Plan) -> Plan:
    """Refuse a plan in which no solver that is named can take any problem.

    Raises
    ------
    InvalidProblem
        with the reasons.
    """
    if not plan.size:
        reasons = "; ".join(dict.fromkeys(f"{name}: {reason}" for _, name, reason in plan.unsuitable))
        raise InvalidProblem(f"solvers: none of those that are named can take a problem that is named ({reasons}); name others")
    return plan


def _group_of(kind: type[Problem], own: OwnProblem, built: tuple[Instance, ...], design: Design) -> Group:
    """An own problem with those that can take it: of the solvers that are named, or else of all back ends.

    A solver that cannot take a problem is not run on it: that is no failure, and takes no time limit.
    """
    wanted = [SolverChoice(each, {}) for each in usable()] if design.solvers is None else list(_candidates(kind, design.solvers))
    backends = [each.chosen for each in wanted if isinstance(each.chosen, BackEnd)]
    taken, refused = own_problems.suitable(own, {backend.name: backend for backend in backends}.values())
    if design.solvers is None:
        refused |= own_problems.copies(own, taken)
    candidates = tuple(each for each in wanted if each.chosen.name not in refused)
    if not candidates and design.solvers is None:
        reasons = "; ".join(f"{name}: {reason}" for name, reason in refused.items())
        raise InvalidProblem(f"{own.name}: no installed back end can take it ({reasons}); install one that can")
    return Group(built, candidates, tuple(refused.items()))


def _kind(problem: str | type[Problem] | Problem | OwnProblem) -> tuple[type[Problem], Problem | OwnProblem | None]:
    if is_cvxpy(problem):
        problem = OwnProblem.of("problem", problem)
    if isinstance(problem, OwnProblem):
        from simopt.duality.declared import Declared

        return Declared, problem
    if isinstance(problem, Problem):
        return type(problem), problem
    if isinstance(problem, str):
        found: type[Problem] = registry.find("problem", problem)
        return found, None
    if isinstance(problem, type) and issubclass(problem, Problem):
        return problem, None
    raise InvalidProblem(f"problem: a name, a problem class or a problem is needed, got {problem!r}")


def _some(name: str, values: Iterable[Any]) -> list[Any]:
    if isinstance(values, (str, bytes)):
        raise InvalidProblem(f"{name}: a list is needed, got {values!r}")
    found = list(dict.fromkeys(values))
    if not found:
        raise InvalidProblem(f"{name}: at least one is needed")
    return found


def _numbers(conditionings: Sequence[float] | None) -> list[float | None]:
    if conditionings is None:
        return [None]
    found: list[float | None] = []
    for number in _some("conditionings", conditionings):
        if validate.positive("conditionings", number) < 1.0:
            raise InvalidProblem(f"conditionings: condition numbers are at least 1, got {number!r}")
        found.append(float(number))
    return found


def _sizes(sizes: Sequence[float] | None, kind: type[Problem], data: Sequence[Data] | None) -> list[int | None]:
    if sizes is None:
        return [USUAL_SIZE] if data is None else [None]
    if data is not None and instances.counts(kind) is None:
        raise InvalidProblem(f"sizes: the recipe of {kind.name} takes all of a data set")
    return [*sorted({validate.whole("sizes", size, minimum=1) for size in _some("sizes", sizes)})]


def _data(data: Sequence[Data] | None, target: str | None) -> list[Dataset | None]:
    if data is None:
        if target is not None:
            raise InvalidProblem("target: there is no data set to take it from; name one")
        return [None]
    found: list[Dataset | None] = []
    for entry in [data] if isinstance(data, (str, os.PathLike, Dataset)) else list(data):
        found.append(entry if isinstance(entry, Dataset) else load_dataset(entry, target=target, fetch=True))
    if not found:
        raise InvalidProblem("data: at least one data set is needed")
    return found


def _fingerprint(data: Dataset) -> str:
    digest = hashlib.sha256()
    for array in (data.features, data.targets, data.groups):
        if array is not None:
            digest.update(str(array.shape).encode() + array.tobytes())
    return digest.hexdigest()[:12]


def _own_problem(frame: PlannedRun, kind: type[Problem], problem: Problem | OwnProblem, design: Design) -> Iterator[Instance]:
    """A problem that was handed over, as it is or with other condition numbers."""
    is_seeded = _some("seeds", design.seeds) != [*Design.seeds]
    if design.sizes is not None or design.data is not None or design.settings or is_seeded:
        raise InvalidProblem("problem: an instance was given, so sizes, data, settings and seeds have no meaning; give its name for those")
    frame = replace(frame, fingerprint=problem.fingerprint())
    if isinstance(problem, OwnProblem):
        frame = replace(frame, problem=problem.label, data=OWN, settings=as_text(problem.settings))
    for number in _numbers(design.conditionings):
        yield Instance(replace(frame, conditioning=number), kind, problem, None, {})


def _instances(frame: PlannedRun, kind: type[Problem], design: Design) -> Iterator[Instance]:
    """Problems that are built: data × sizes × condition numbers × seeds × settings."""
    settings, counted, numbers = design.settings or {}, instances.counts(kind), _numbers(design.conditionings)
    if counted in settings and (design.sizes is not None or design.data is None):
        raise InvalidProblem(f"settings: {counted} is what sizes count; leave it out and give sizes")
    data, sizes = _data(design.data, design.target), _sizes(design.sizes, kind, design.data)
    instances.split(kind, dict(settings))  # an unknown name is told before anything runs
    swept = [[(name, v) for v in (_some(name, value) if isinstance(value, list) else [value])] for name, value in settings.items()]
    seeds = [validate.seed("seeds", seed) for seed in _some("seeds", design.seeds)]
    for one, size, number, seed in itertools.product(data, sizes, numbers, seeds):
        for chosen in itertools.product(*swept):
            values = dict(chosen)
            cell = replace(
                frame,
                data=GENERATED if one is None else one.name,
                fingerprint="" if one is None else _fingerprint(one),
                size=size,
                conditioning=number,
                settings=as_text(values),
                seed=seed,
            )
            yield Instance(cell, kind, None, one, values)


def _chosen(kind: type[Problem], name: str) -> SolverSpec | BackEnd:
    """The solver of this name. An unknown one is told with those that can be named here, all of them."""
    try:
        return choose(kind, name)
    except UnknownName as error:
        here = [*(spec.name for spec in solvers_of(kind)), *(backend.name for backend in usable())]
        raise UnknownName(error.kind, name, here if nearest(name, error.known) is None else error.known, most=len(here)) from error


def _candidates(kind: type[Problem], solvers: Sequence[SolverName] | None) -> Iterator[SolverChoice]:
    if isinstance(solvers, str):
        raise InvalidProblem(f"solvers: a list is needed, got {solvers!r}")
    usual: list[SolverName] = [*(s.name for s in solvers_of(kind)), *(b.name for b in installed())]
    names = usual if solvers is None else list(solvers)
    if not names:
        raise InvalidProblem("solvers: at least one is needed")
    seen = set()
    for entry in names:
        name, options = (entry, {}) if isinstance(entry, str) else (entry[0], dict(entry[1]))
        chosen = _chosen(kind, name)
        if isinstance(chosen, SolverSpec):
            chosen.check_options(options)
        else:
            check_options(chosen, options)
        label = (chosen.name, as_text(options))
        if label not in seen:
            seen.add(label)
            yield SolverChoice(chosen, options)
