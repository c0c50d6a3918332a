"""The unit of measurement: one solver on one instance of a problem, one repetition."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

FORMAT = "simopt-compare/1"
GENERATED = "generated"  # the name of data that are made for a size
HANDED_OVER = "given"  # the name of data of a problem that was handed over as it is
INTEGERS = "(integer points, bound of the relaxation)"  # at the end of the name of an own problem that has integers
OWN = "own"  # the name of data of a problem that is not of the catalogue, and has a name of its own


@dataclass(frozen=True)
class PlannedRun:
    """One run. Two cells that agree in all but solver, options and repetition are about one and the same instance.

    Attributes
    ----------
    problem, data : str
        names; an own problem has that of its file and of what makes it. `data` is a data set, a CSV file, "generated", "given", or "own".
    size : int or None
        samples (or queries, for a recipe that counts those); None: all of them.
    conditioning : float or None
        condition number that the matrix of the problem is given; None: as the data make it.
    settings, options : str
        options of the recipe with replaced fields (of an own problem, the arguments of its function), and options of the solver, as JSON
        with sorted keys.
    seed : int
        of the recipe and of generated data.
    tol : float
        relative gap, certified, at which a run is a success.
    time_limit : float
        seconds on the solver's clock; for a back end, of each run of its sweep.
    threads : int
        threads that linear algebra may use.
    repetition : int
        0, 1, …; the runs of one repetition follow one another.
    fingerprint : str
        of the data (own files, given problems), so that a changed file is another cell.
    """

    problem: str
    data: str
    size: int | None
    conditioning: float | None
    settings: str
    seed: int
    solver: str
    options: str
    tol: float
    time_limit: float
    threads: int
    repetition: int
    fingerprint: str = ""

    @property
    def key(self) -> str:
        """Name of the cell: a hash of all its fields."""
        text = json.dumps([FORMAT, dataclasses.asdict(self)], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:20]

    @property
    def frame(self) -> PlannedRun:
        """The cell without solver and repetition: what runs have in common that may be compared."""
        return replace(self, solver="", options="{}", repetition=0)

    @property
    def has_integers(self) -> bool:
        """Whether the problem has integers, and is held against its relaxation."""
        return self.data == OWN and self.problem.endswith(INTEGERS)

    @property
    def instance(self) -> str:
        """The instance in words."""
        parts = [self.problem] if self.data == OWN else [self.problem, self.data]
        parts += [] if self.size is None else [f"n = {self.size}"]
        parts += [] if self.conditioning is None else [f"κ = {self.conditioning:g}"]
        parts += [f"{name} = {value}" for name, value in json.loads(self.settings).items()]
        parts += [f"seed {self.seed}"] if self.seed else []
        return ", ".join(parts)

    @property
    def candidate(self) -> str:
        """The solver, with its options where it has any."""
        own = json.loads(self.options)
        return self.solver + (f"[{','.join(f'{name}={value}' for name, value in own.items())}]" if own else "")

    @property
    def label(self) -> str:
        """Solver, instance and repetition in one line."""
        return f"{self.candidate} on {self.instance} (run {self.repetition + 1})"


def as_text(values: dict[str, object]) -> str:
    """Options as JSON with sorted keys. Arrays are named by shape and hash, what else JSON does not know by its repr."""
    return json.dumps(values, sort_keys=True, ensure_ascii=False, default=_name)


def _name(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):  # a repr leaves out the middle of a long array
        return f"array{value.shape} {hashlib.sha256(value.tobytes()).hexdigest()[:12]}"
    return repr(value)
