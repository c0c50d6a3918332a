"""`simopt equivalence A B`: two learners, are they one? The map between their parameters with error bars, or what speaks against one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NoReturn

import typer

from simopt.cli import completion
from simopt.cli.console import Json, Output, Steps, check_output, console, emit, fitted, reserved

if TYPE_CHECKING:
    from collections.abc import Callable

    from simopt.equivalence.decide import Decision
    from simopt.equivalence.decide_strong import StrongDecision
    from simopt.equivalence.family import Family
    from simopt.equivalence.map_search import MapValue
    from simopt.equivalence.samples import TrainingSample
    from simopt.equivalence.training import TrainingSet

INTERRUPTED = 130
FAMILY = "Family of learners: NAME, NAME[option=value,…] or FILE.py:NAME."
FORMAT = "simopt-equivalence/1"
MATRIX = "simopt-equivalences/1"
SIMILARITY, RESOLUTION = "standardised-gaussian", 1e-8  # DEFAULT_KERNEL, and as .weak has it: both are slow to import
ALONE = "leave A, B and all but --jobs, --json and --output out"
HEADINGS = ("value", "±", "low", "high", "norm", "distance", "radii", "outcome")


def equivalence(
    a: Annotated[str | None, typer.Argument(metavar="A", help=FAMILY, autocompletion=completion.families)] = None,
    b: Annotated[str | None, typer.Argument(metavar="B", help="The one to compare it with.", autocompletion=completion.families)] = None,
    data: Annotated[
        str | None,
        typer.Option("--data", metavar="NAME|FILE.csv", help="Data set or file (default: synthetic).", autocompletion=completion.datasets),
    ] = None,
    target: Annotated[str | None, typer.Option("--target", metavar="COLUMN", help="Column to predict (default: the last).")] = None,
    samples: Annotated[int | None, typer.Option("--samples", metavar="N", help="Rows at most (default: 20; synthetic: 12).")] = None,
    targets: Annotated[
        Literal["real", "labels", "classes"] | None,
        typer.Option("--targets", help="Targets as they are, ±1, or classes (default: the first that suits both)."),
    ] = None,
    similarity: Annotated[str, typer.Option("--similarity", metavar="NAME", help="Kernel of the hypothesis space.")] = SIMILARITY,
    parameters: Annotated[
        list[str] | None, typer.Option("--lambda", metavar="X,…", help="Parameters of A (default: nine over 1e-4 … 1e4).")
    ] = None,
    resolution: Annotated[
        float, typer.Option("--resolution", metavar="X", help="Relative distance up to which functions count as equal.")
    ] = RESOLUTION,
    strong: Annotated[bool, typer.Option("--strong", help="Ask also for one map for all samples.")] = False,
    every: Annotated[bool, typer.Option("--all", help="Every pair of registered families, some minutes.")] = False,
    jobs: Annotated[int | None, typer.Option("--jobs", metavar="N", min=1, help="Processes of --all (default: one a core).")] = None,
    plot: Annotated[Path | None, typer.Option("--plot", metavar="FILE.png|.svg", help="Draw the map, the norms and the distance.")] = None,
    as_json: Json = False,
    output: Output = None,
) -> None:
    """Decide whether two families of learners are weakly equivalent on a sample, and find the map between their parameters.

    With --strong also whether one map serves samples near this one. With --all instead the matrix of all pairs of registered families.

    Exit status 0: decided, either way; 1: undecided; 2: bad input, or a file could not be written; 130: interrupted.
    """
    from simopt.cli.families import family_of
    from simopt.core.errors import InvalidProblem
    from simopt.equivalence import decision_record, picture
    from simopt.equivalence.strong import neighbours

    check_output(output)
    if every:
        usual = similarity == SIMILARITY and resolution == RESOLUTION and not strong
        if not usual or any(x is not None for x in (a, plot, data, target, samples, targets, parameters)):
            raise InvalidProblem("--all: it measures every registered family on a sample of its own, and draws nothing; " + ALONE)
        _every_pair(jobs, as_json, output)
    if jobs is not None:
        raise InvalidProblem("--jobs: only with --all")
    if a is None or b is None:
        raise InvalidProblem("A, B: two families needed, or --all")
    if plot is not None:
        picture.check_picture(plot)
        check_output(plot)
    asked = {"parameters": None if parameters is None else _numbers(parameters), "resolution": resolution}
    with reserved(as_json):
        families = family_of(a), family_of(b)
        sample = _sample(families, data, target, samples, similarity=similarity, kind=targets)
        decision, stopped = _decided(families, sample, asked)
        one_map = None
        if strong and not stopped:
            one_map, stopped = _decided_strong(families, neighbours(sample.Z), asked)
    said: dict[str, Any] = {
        "format": FORMAT,
        "data": {"name": sample.name, "targets": sample.kind, "remarks": sample.remarks, "similarity": similarity},
        **decision_record.described(decision),
        "strong": None if one_map is None else decision_record.described_strong(one_map),
    }
    draw: list[Callable[[], object]] = [] if plot is None else [lambda: picture.save(decision, plot)]
    emit(said, as_json, output, lambda: _show(decision, one_map, sample, plot), *draw)
    raise typer.Exit(INTERRUPTED if stopped else 1 if "undecided" in {x.answer.value for x in (decision, one_map) if x is not None} else 0)


def _every_pair(jobs: int | None, as_json: bool, output: Path | None) -> NoReturn:
    """The matrix of all pairs."""
    from simopt.core.errors import Interrupted
    from simopt.equivalence.matrix import matrix

    with reserved(as_json), Steps("pairs", 0) as steps:
        try:
            found, stopped = matrix(jobs=jobs, progress=_progress(steps)), False
        except Interrupted as stop:
            found, stopped = stop.done, True
    emit({"format": MATRIX, **vars(found)}, as_json, output, lambda: console().print(str(found), soft_wrap=True))
    raise typer.Exit(INTERRUPTED if stopped else 0)


def _numbers(texts: list[str]) -> list[float]:
    from simopt.cli.compare import numbers

    return [float(x) for text in texts for x in numbers("--lambda", text)]


def _decided(families: tuple[Family, Family], sample: TrainingSample, options: dict[str, Any]) -> tuple[Decision, bool]:
    """The decision, and whether Ctrl-C has cut it short."""
    from simopt.core.errors import Interrupted
    from simopt.equivalence.decide import decide

    with Steps("equivalence", 0) as steps:
        try:
            return decide(*families, sample.Z, progress=_progress(steps), **options), False
        except Interrupted as stop:
            return stop.done, True


def _decided_strong(families: tuple[Family, Family], sets: list[TrainingSet], options: dict[str, Any]) -> tuple[StrongDecision, bool]:
    from simopt.core.errors import Interrupted
    from simopt.equivalence.decide_strong import decide_strong

    with Steps("one map for all", 0) as steps:
        try:
            return decide_strong(*families, sets, progress=_progress(steps), **options), False
        except Interrupted as stop:
            return stop.done, True


def _sample(families: tuple[Family, Family], data: str | None, target: str | None, samples: int | None, **options: Any) -> TrainingSample:
    from simopt.data.datasets import load_dataset
    from simopt.equivalence.samples import SAMPLES, SYNTHETIC, sample_for, synthetic

    usual = SYNTHETIC if data is None else SAMPLES
    count = usual if samples is None else samples
    dataset = synthetic(count) if data is None else load_dataset(data, target=target, fetch=True)
    return sample_for(families, dataset, samples=count, **options)


def _progress(steps: Steps) -> Callable[[int, int, str], None]:
    def progress(done: int, wanted: int, text: str) -> None:
        steps.total = wanted
        steps.step(text)

    return progress


def _show(decision: Decision, one_map: StrongDecision | None, sample: TrainingSample, plot: Path | None) -> None:
    out = console()
    out.print(decision.sentence, soft_wrap=True)  # one line, however narrow the screen
    if one_map is not None:
        out.print(one_map.sentence, soft_wrap=True)
    out.print()
    out.print(f"sample      {sample.name}, n = {decision.samples}" + "".join(f"; {remark}" for remark in sample.remarks))
    out.print(f"A           {decision.source}, λ in {decision.domains[0]}")
    out.print(f"B           {decision.target}, μ in {decision.domains[1]}")
    out.print(f"Φ           {_direction(decision)}")
    for piece in decision.plateaus:
        name, symbol = (decision.source, "λ") if piece.side == "source" else (decision.target, "μ")
        how = "one function" if piece.proven else "functions that the radii do not tell apart"
        both = "; so has the other family" if piece.matched else ""
        out.print(f"flat        {name} has {how} from {symbol} = {piece.low:.6g} to {piece.high:.6g}{both}")
    for jump in decision.jumps:
        name = decision.source if jump.side == "source" else decision.target
        out.print(f"jump        the norm of {name} jumps from {jump.before:.6g} to {jump.after:.6g} at {jump.low:.6g}")
    if not decision.plateaus:
        out.print("flat        no pieces among the parameters measured")
    if not decision.jumps:
        out.print("jumps       none met")
    for title, symbol, rows in (
        (f"Φ, from λ of {decision.source} to μ of {decision.target}; ± is relative", "λ", decision.forward),
        (f"Back, from μ of {decision.target} to λ of {decision.source}", "μ", decision.backward),
    ):
        if rows:
            out.print()
            for made in fitted((symbol, *HEADINGS), [_line(row) for row in rows], right=(symbol, *HEADINGS[:-1]), title=title, out=out):
                out.print(made)
            for row in rows:
                if row.reason:
                    out.print(f"{symbol} = {row.parameter:.6g}: {row.reason}", soft_wrap=True)
    if one_map is not None:
        _show_strong(one_map, sample, out)
    if plot is not None:
        out.print(f"\npicture: {plot}")


def _show_strong(decision: StrongDecision, sample: TrainingSample, out: Any) -> None:
    from simopt.equivalence.strong import NEIGHBOURS, neighbours

    names: dict[str, str] = {}
    for name, near in zip(NEIGHBOURS, neighbours(sample.Z), strict=False):
        names.setdefault(near.fingerprint(), name)
    out.print()
    for i, Z in enumerate(decision.sets):
        out.print(f"sample {i}    {names[Z.fingerprint()]}, n = {Z.n}")
    for reason in decision.left_out:
        out.print(f"left out    {reason}")
    if decision.sets:
        out.print(f"one size    among the samples of size {decision.sets[0].n}: {decision.among_one_size.value}")
    if decision.rows:
        heads = ("λ", "one Φ", "worst distance", "radii")
        rows = [[f"{r.parameter:.6g}", f"{r.value:.9g}", f"{r.distance:.2e}", f"{r.error:.1e}"] for r in decision.rows]
        for made in fitted(heads, rows, right=heads, title="the best one Φ for all samples, distances relative to the norm", out=out):
            out.print(made)


def _direction(decision: Decision) -> str:
    words = {"not told": "monotone or not: not told by the error bars", "not monotone": "not monotone"}
    way = words.get(decision.monotone, f"strictly {decision.monotone} at the parameters measured")
    forward, backward = decision.counts
    return f"{way}; found at {forward} of {decision.wanted[0]} λ, back at {backward} of {decision.wanted[1]} μ"


def _line(row: MapValue) -> list[str]:
    from simopt.equivalence.map_search import MapOutcome

    bar = f"{row.relative_bar:.0e}" if row.outcome is MapOutcome.FOUND else ""
    ends = [f"{x:.9g}" for x in (row.low, row.high)]
    return [
        f"{row.parameter:.6g}",
        f"{row.value:.9g}",
        bar,
        *ends,
        f"{row.norm:.6g}",
        f"{row.distance:.1e}",
        f"{row.errors:.1e}",
        _outcome(row),
    ]


def _outcome(row: MapValue) -> str:
    return row.outcome.name.lower().replace("_", " ")
