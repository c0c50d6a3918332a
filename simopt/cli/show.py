"""`simopt show ID`: everything about one claim, paper, problem, solver, equivalence, data set or table."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from simopt.cli import completion
from simopt.cli.console import console

if TYPE_CHECKING:
    from simopt.claims import Claim
    from simopt.claims.tables import Table
    from simopt.model.problem import Problem

Line = tuple[str, str]


def show(
    name: Annotated[
        str,
        typer.Argument(
            metavar="ID", help="Id of a claim, key of a paper, or any name that `simopt list` lists.", autocompletion=completion.everything
        ),
    ],
    chain: Annotated[
        bool,
        typer.Option("--chain", help="Of a problem: the steps from its fields to a certificate, and the functions that do them."),
    ] = False,
) -> None:
    """Show one claim, paper, problem, solver, data set or table.

    Show a claim with its assumptions and its source, the declaration of a problem, or the options of a solver.
    """
    out = console()
    for title, text in chains(name) if chain else describe(name):
        out.print(f"{title:<13}{text.strip()}" if title and "\n" not in text else f"{title}\n{text}" if title else text, soft_wrap=True)


def describe(name: str) -> list[Line]:
    """Lines (heading, text) about whatever is called `name`; several things of one name come one after the other.

    Raises
    ------
    UnknownName
        with the nearest name of any sort.
    """
    from simopt.core import registry
    from simopt.core.errors import UnknownName

    registry.load()
    lines: list[Line] = []
    known: list[str] = []
    for names, tell in _things():
        known += names
        if any(registry.fold(each) == registry.fold(name) for each in names):
            lines += [("", ""), *tell(name)] if lines else tell(name)
    if not lines:
        raise UnknownName("name", name, known)
    return lines


def chains(name: str) -> Iterator[Line]:
    """The solving chain of a registered problem: by its default solver and, if that is a hand-written one, by a back end.

    Raises
    ------
    UnknownName
        where no problem has the name.
    """
    from simopt.backends.table import CLARABEL
    from simopt.core import registry
    from simopt.solving.chain import chain_of
    from simopt.solving.driver import choose

    registry.load()
    kind: type[Problem] = registry.get("problem", name)
    chosen = choose(kind, None)
    for number, solver in enumerate([chosen] if chosen is CLARABEL else [chosen, CLARABEL]):
        if number:
            yield "", ""
        steps = chain_of(kind, solver)
        yield "chain", f"{kind.name}: {steps.names}"
        for step in steps.steps:
            yield step.name, step.does
            yield "", f"             {step.by}"


def _things() -> Iterator[tuple[list[str], Any]]:
    from simopt.backends.table import listed
    from simopt.claims import catalogue
    from simopt.core import registry
    from simopt.data.datasets import descriptions

    everything = catalogue.claims()
    yield list({key for claim in everything for key in (claim.paper.key, claim.paper.prefix)}), lambda name: list(_paper(name))
    yield [row for claim in everything for row in claim.rows], lambda name: list(_claim(catalogue.find(name)))
    yield registry.names("problem"), lambda name: list(_problem(registry.get("problem", name)))
    yield [key.partition("@")[0] for key in registry.names("solver")], lambda name: list(_solver(name))
    yield [backend.name for backend in listed()], lambda name: list(_back_end(name))
    for kind in ("equivalence", "family"):
        yield registry.names(kind), lambda name, kind=kind: list(_built(kind, name))
    yield [spelled for entry in descriptions() for spelled in (entry.name, *entry.aliases)], lambda name: list(_dataset(name))
    yield registry.names("table"), lambda name: list(_table(registry.get("table", name)))


def _paper(name: str) -> Iterator[Line]:
    from simopt.claims import catalogue
    from simopt.core import registry

    found = catalogue.select([name])
    paper = found[0].paper
    yield "paper", f"{paper.key}: {paper}"
    yield "claims", ", ".join(claim.id for claim in found)
    yield "tables", ", ".join(each for each in registry.names("table") if each.startswith(f"{paper.key}-")) or "none"
    yield "check", f"simopt verify {paper.key}"


def _claim(claim: Claim) -> Iterator[Line]:
    from simopt.claims import catalogue

    yield "claim", claim.id + (f" (decides also {', '.join(claim.covers)})" if claim.covers else "")
    yield "paper", f"{claim.paper}" + (f", section {claim.section}" if claim.section else "")
    yield "place", claim.place
    yield "kind", f"{claim.kind}, quantifier {claim.quantifier}"
    yield "says", claim.says
    yield "expected", claim.expected + (f" ({claim.defect})" if claim.defect else "")
    if claim.corrects:
        yield "corrects", claim.corrects
    for other in catalogue.claims():
        if other.corrects == claim.id:
            yield "corrected by", other.id
    for pair in claim.compares:
        yield "compares", pair
    if claim.defeats:
        yield "every value", claim.defeats
    if claim.note:
        yield "note", claim.note
    yield (
        "instances",
        f"{_first_line(claim.instances)} ({'all there are' if claim.exhaustive else 'samples'}, resolution {claim.resolution:g})",
    )
    for row in claim.rows:
        if claim.left(row):
            yield "remains", f"{row + ': ' if claim.covers else ''}{claim.left(row)} (its proof file holds steps, not the whole sentence)"
    if claim.decode is not None:
        yield "attack", f"over [0, 1]^{claim.dimension}"
    for knob, value in claim.knobs.items():
        yield "knob", f"{knob} = {value}"
    for mutant, changes in claim.mutants.items():
        changed = [f"{key} = {value}" for key, value in changes.items() if key in claim.knobs]
        yield "mutant", "; ".join([mutant, *(change for change in changed if change != mutant)])
    if claim.no_mutant:
        yield "no mutant", claim.no_mutant
    if claim.requires:
        yield "requires", ", ".join(claim.requires)
    yield "source", _source(claim.function)


def _problem(kind: type[Problem]) -> Iterator[Line]:
    import dataclasses

    import numpy as np

    from simopt.solving.solver import solvers_of

    yield "problem", f"{kind.name}: {kind.title}" + (f" ({kind.source})" if kind.source else "")
    yield "statement", _indented(inspect.getdoc(kind) or "")
    yield "fields", ", ".join(f"{item.name}: {item.type}" for item in dataclasses.fields(kind))
    yield "recipe", _indented(inspect.getdoc(kind.from_data) or "")
    options = [f"{p.name}={p.default}" if p.default is not p.empty else p.name for p in kind.recipe_options().values()]
    yield "--set", ", ".join(options)
    yield "sweeps over", ", ".join(kind.parameters) or "nothing"
    yield "arithmetics", ", ".join(kind.arithmetics)
    names = [spec.name for spec in solvers_of(kind)] + ["clarabel", "ecos", "scs"]
    yield "solvers", ", ".join(names) + "; the first that takes the instance is the default"
    example = next(iter(kind.examples(np.random.default_rng(0))), None)
    if example is not None:
        yield "declared", _indented(declaration(example.problem))
    yield "source", _source(kind)


def declaration(problem: Problem) -> str:
    """The declaration of a problem as CVXPY prints it, data by name and size, constraints with their labels."""
    import numpy as np

    declared = problem.declare()
    with np.printoptions(threshold=4, edgeitems=1, precision=3):
        lines = [f"{type(declared.objective).__name__.lower()} {_brief(declared.objective.args[0])}"]
        for constraint in declared.constraints:
            lines.append(f"  {_brief(constraint)}")  # CVXPY prints the label itself
        variables = [f"{v.name()} {v.shape}" for v in declared.variables()]
        parameters = [f"{p.name()} = {p.value}" for p in declared.parameters()]
    lines += [f"variables {', '.join(variables)}"] + ([f"parameters {', '.join(parameters)}"] if parameters else [])
    return "\n".join(lines)


def _brief(expression: Any) -> str:
    return " ".join(str(expression).split())


def _solver(name: str) -> Iterator[Line]:
    from simopt.core import registry

    for key, spec in registry.items("solver"):
        if registry.fold(spec.name) == registry.fold(name):
            yield "solver", f"{spec.name} for {key.partition('@')[2]}: {spec.summary}"
            yield "options", ", ".join(f"{option}={default}" for option, default in spec.options.items())
            yield "about", _indented(inspect.getdoc(spec.run) or "")
            yield "source", _source(spec.run)


def _back_end(name: str) -> Iterator[Line]:
    from simopt.backends.table import listed
    from simopt.core import registry

    found = next((each for each in listed() if registry.fold(each.name) == registry.fold(name)), None)
    if found is not None:
        yield "solver", f"{found.name}, a CVXPY back end (package {found.package})"
        yield "version", "not installed here" if found.missing else found.version
        yield "licence", found.licence
        yield "install", found.to_install
        yield "problems", ", ".join(registry.names("problem"))
        yield "cones", ", ".join(sorted(found.cones))
        yield "options", ", ".join(found.options)
        yield "tolerances", ", ".join(found.tolerance)
        yield "its own", f"{found.documented:g}"


def _built(kind: str, name: str) -> Iterator[Line]:
    from simopt.core import registry

    entry = registry.get(kind, name)
    yield kind, f"{entry.name}: {entry.summary}"
    yield "options", str(inspect.signature(entry.build))
    yield "about", _indented(inspect.getdoc(entry.build) or "")
    yield "source", _source(entry.build)


def _dataset(name: str) -> Iterator[Line]:
    from simopt.data.datasets import describe as known
    from simopt.data.datasets.loader import where

    entry = known(name)
    yield "data set", f"{entry.name}: {entry.title}"
    yield "size", f"{entry.n} samples, {entry.d} features, {entry.task}"
    yield "target", entry.target
    yield "features", ", ".join(entry.features[:40]) + (", …" if len(entry.features) > 40 else "")
    yield "papers", ", ".join(entry.papers)
    for title in ("origin", "licence", "note"):
        if getattr(entry, title):
            yield title, getattr(entry, title)
    yield "carried", "yes, in data/ of the source tree" if entry.carried else "no, its terms do not let us pass it on"
    yield "found", str(where(entry) or f"not here: {entry.by_hand}" + (f", or `simopt datasets fetch {entry.name}`" if entry.fetch else ""))
    yield "file", f"{entry.file}, SHA-256 {entry.sha256}"


def _table(table: Table) -> Iterator[Line]:
    yield "table", table.name
    yield "paper", f"{table.paper}, {table.place}"
    yield "says", table.says
    yield "rows", "; ".join(table.rows)
    if table.requires:
        yield "requires", ", ".join(table.requires)
    yield "picture", "yes, with --plot" if table.plot else "none"
    yield "source", _source(table.compute)


def _indented(text: str) -> str:
    return "\n".join(f"    {line}".rstrip() for line in text.splitlines())


def _first_line(function: Any) -> str:
    return (inspect.getdoc(function) or str(getattr(function, "__name__", ""))).partition("\n")[0]


def _source(thing: Any) -> str:
    try:
        return f"{inspect.getsourcefile(thing)}:{inspect.getsourcelines(thing)[1]}"
    except (OSError, TypeError):
        return str(getattr(thing, "__module__", "unknown"))  # defined at a prompt: there is no file
