"""The problems that CVXPY's own tests solve: their list, and the problems themselves, made again by running the tests."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import cvxpy as cp
from fingerprint import fingerprint
from intercept import intercepted, missing_files

LIST = Path(__file__).with_name("problems.jsonl")
FURTHER = Path(__file__).with_name("further.jsonl")
DUALS = frozenset(f"test_KKT.py::TestKKT_PCPs::test_pcp_{solve}" for solve in ("4#3", "4#4", "5#3", "6#2"))
"""Their constants are the dual values that SCS found a solve before, with a tolerance of 10⁻⁶: the last digits are the machine's."""


GEOMETRIC, COMPLEX, INTEGER = "geometric", "complex", "integer"


@dataclass(frozen=True)
class CorpusSolve:
    """A line of the list: the k-th solve of a test (test#k), what it is made of, and what CLARABEL answers, to six digits."""

    id: str
    fingerprint: str
    variables: int
    rows: int
    atoms: list[str]
    structure: list[str]
    status: str
    optimum: float | None

    @property
    def test(self) -> str:
        """The test that solves it."""
        return self.id.rpartition("#")[0]

    @property
    def ordinal(self) -> int:
        """Which of the test's solves it is, from 0."""
        return int(self.id.rpartition("#")[2])


@dataclass(frozen=True)
class FurtherSolve(CorpusSolve):
    """A line of the second list: a geometric, complex or integer problem. `kind` names what it is, by two words joined by "and" if both."""

    kind: str = ""

    @property
    def geometric(self) -> bool:
        """Whether it is solved with gp=True."""
        return self.kind == GEOMETRIC

    @property
    def integer(self) -> bool:
        """Whether variables are integers."""
        return INTEGER in self.kind


class CorpusChanged(AssertionError):
    """Problems of the list that CVXPY's tests no longer solve, or with other numbers; each by its name."""


def entries() -> list[CorpusSolve]:
    """The committed list, in the order in which the tests run."""
    return [CorpusSolve(**json.loads(line)) for line in LIST.read_text(encoding="utf-8").splitlines()]


def further() -> list[FurtherSolve]:
    """The second list: what is geometric, complex or has integers."""
    return [FurtherSolve(**json.loads(line)) for line in FURTHER.read_text(encoding="utf-8").splitlines()]


def wanted(chosen: Iterable[CorpusSolve]) -> dict[str, set[int]]:
    """Test → ordinals of its solves, as `intercepted` takes them."""
    ordinals: dict[str, set[int]] = defaultdict(set)
    for entry in chosen:
        ordinals[entry.test].add(entry.ordinal)
    return ordinals


def problems(chosen: Iterable[CorpusSolve] | None = None) -> Iterator[tuple[str, cp.Problem]]:
    """(id, problem) of the chosen entries, of all by default, one after the other and none kept.

    Only problems whose fingerprint is that of the list are given, and those of `DUALS` with other numbers in what is the same otherwise. At
    the end `CorpusChanged` names the others, if there are any.
    """
    left = {entry.id: entry for entry in (entries() if chosen is None else chosen)}
    changed = []
    for each in intercepted(wanted(left.values())) if left else ():
        entry, problem = left.pop(each.id), each.problem()
        if fingerprint(problem) == entry.fingerprint or (each.id in DUALS and _alike(problem, entry)):
            yield each.id, problem
        else:
            changed.append(each.id)
    missing = missing_files(wanted(left.values()))
    wrong = [f"{name}: other numbers or another structure" for name in changed]
    wrong += [f"{name}: never solved" + ", its file is missing" * (name.partition("::")[0] in missing) for name in left]
    if wrong:
        raise CorpusChanged(f"{len(wrong)} problems are not those of {LIST.name} (with CVXPY {cp.__version__}):\n" + "\n".join(wrong))


def _alike(problem: cp.Problem, entry: CorpusSolve) -> bool:
    """Whether a problem has the atoms and the size of a line."""
    size = sum(variable.size for variable in problem.variables()), sum(row.size for row in problem.constraints)
    return size == (entry.variables, entry.rows) and sorted(atom.__name__ for atom in problem.atoms()) == entry.atoms
