"""Every problem that a test of CVXPY gives to `Problem.solve`, taken at that moment: a plug-in of pytest, and the process that it runs in.

A test may change a parameter between two solves, leave values in variables, or end in an error. So each problem is copied (pickled) before
it is solved, and what a test did before it failed counts. The tests run in a process of their own: they turn warnings into errors, seed
numpy and need other plug-ins of pytest than we do.

The same problems come wherever CVXPY of the same version runs: numpy's generator is seeded before every test, and sets are walked in one
order. Only the back ends that CVXPY itself brings count as installed; the tests of others are skipped. Another version may lack a file of
tests: it is passed over, and `missing_files` names it.
"""

from __future__ import annotations

import os
import pickle
import random
import subprocess
import sys
import tempfile
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pytest

BROUGHT = ("CLARABEL", "OSQP", "SCS", "HIGHS", "SCIPY")
OTHER_GRAMMARS = ("gp", "qcp", "nlp")  # solve(gp=True) reads the same expression as another problem
FIRST_ID = 10**9  # of a variable over there, so that it is never that of a variable made here
MOVED = 1e-6  # relatively; tests compare to five places
PIPE, WANTED, MOVE = "CORPUS_PIPE", "CORPUS_WANTED", "CORPUS_MOVE"


@dataclass(frozen=True)
class Intercepted:
    """The k-th solve of a test: what was asked for beside DCP, and the problem as bytes, or why it could not be copied."""

    test: str
    ordinal: int
    grammar: str
    pickled: bytes
    failure: str = ""

    @property
    def id(self) -> str:
        """Names the solve: the test, and which of its solves."""
        return f"{self.test}#{self.ordinal}"

    def problem(self) -> Any:
        """The problem as it was, without what was found for it before."""
        import cvxpy as cp

        if self.failure:
            raise ValueError(f"{self.id}: {self.failure}")
        objective, constraints = pickle.loads(self.pickled)
        problem = cp.Problem(objective, constraints)
        for variable in [*problem.variables(), *(dual for row in constraints for dual in row.dual_variables)]:
            variable.save_value(None)
        return problem


def _folder() -> Path:
    import cvxpy.tests

    return Path(next(iter(cvxpy.tests.__path__)))


def missing_files(wanted: Mapping[str, Collection[int]]) -> list[str]:
    """The files of the wanted tests that this CVXPY does not have."""
    return sorted(file for file in {test.partition("::")[0] for test in wanted} if not (_folder() / file).exists())


def intercepted(wanted: Mapping[str, Collection[int]] | None = None, *, moved: bool = False) -> Iterator[Intercepted]:
    """Run CVXPY's tests, or those wanted (test → ordinals), and give each solve as it comes; at most one pipe full waits.

    With `moved` every answer is changed a little before the test sees it: problems made of answers then have other numbers.
    """
    folder = _folder()
    files = ["."] if wanted is None else sorted({test.partition("::")[0] for test in wanted} - {*missing_files(wanted)})
    if not files:
        return
    read, write = os.pipe()
    paths = [str(Path(__file__).parent), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(paths), "PYTHONHASHSEED": "0", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    environment |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", PIPE: str(write)}
    options = ["-c", os.devnull, "--rootdir", str(folder), "-p", "intercept", "-p", "no:cacheprovider", "-W", "ignore"]
    options += ["-q", "--tb=no", "--assert=plain"]  # nobody reads why a test fails, and rewritten modules would be compiled anew
    with tempfile.TemporaryDirectory() as elsewhere, open(read, "rb") as stream:
        wishes, log = Path(elsewhere, "wanted"), Path(elsewhere, "log")
        wishes.write_bytes(pickle.dumps(wanted))
        with log.open("wb") as output:
            child = subprocess.Popen(
                [sys.executable, "-m", "pytest", *options, *(str(folder / file) for file in files)],
                env=environment | {WANTED: str(wishes), MOVE: "yes" if moved else ""},
                pass_fds=[write],
                cwd=elsewhere,
                stdout=output,
                stderr=subprocess.STDOUT,
            )
        os.close(write)
        try:
            yield from _read(stream)
            status = child.wait()
        finally:
            child.kill()
            child.wait()
        none = wanted is not None and status == pytest.ExitCode.NO_TESTS_COLLECTED  # this version has none of them
        if status not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED) and not none:
            last = log.read_text(encoding="utf-8", errors="replace")[-2000:]
            raise RuntimeError(f"CVXPY's tests broke off with status {status}:\n{last}")


def _read(stream: BinaryIO) -> Iterator[Intercepted]:
    while True:
        try:
            yield pickle.load(stream)
        except EOFError:
            return


class Enough(BaseException):
    """Ends a test of whose solves no more is wanted; no exception that a test would catch."""


class Interceptor:
    """Stands before `Problem.solve` while the tests run."""

    def __init__(self, stream: BinaryIO, wanted: Mapping[str, Collection[int]] | None, move: bool) -> None:
        self.stream, self.wanted, self.move = stream, wanted, move
        self.test, self.ordinal, self.inside, self.set_up = "", 0, False, False

    def begin(self, test: str) -> None:
        """A test begins: the same numbers for it, whichever tests ran before."""
        self.test, self.ordinal, self.inside, self.set_up = test, 0, False, False
        random.seed(0)
        np.random.seed(0)  # noqa: NPY002 — it is this generator that the tests draw from

    def around(self, solve: Callable[..., Any]) -> Callable[..., Any]:
        """`solve`, which now hands out its problem first. What a solve solves on its way (bisection) is not the test's."""

        def intercepting(problem: Any, *arguments: Any, **options: Any) -> Any:
            if self.inside:
                return solve(problem, *arguments, **options)
            self._hand_out(problem, options)
            self.inside = True
            try:
                return solve(problem, *arguments, **options)
            finally:
                self.inside = False
                if self.move:
                    for variable in problem.variables():
                        if variable.sparse_idx is None and variable.value is not None:
                            variable.save_value(variable.value * (1 + MOVED))

        return intercepting

    def _hand_out(self, problem: Any, options: Mapping[str, Any]) -> None:
        ordinal, self.ordinal = self.ordinal, self.ordinal + 1
        if self.wanted is None or ordinal in self.wanted[self.test]:
            pickled, failure = b"", ""
            try:
                pickled = pickle.dumps((problem.objective, problem.constraints))
            except Exception as error:
                failure = f"{type(error).__name__}: {error}"
            grammar = next((name for name in OTHER_GRAMMARS if options.get(name)), "")
            pickle.dump(Intercepted(self.test, ordinal, grammar, pickled, failure), self.stream)
            self.stream.flush()
        if self.set_up and self.wanted is not None and ordinal >= max(self.wanted[self.test]):
            raise Enough  # a fixture that ends so would end the tests after it, too


KEY = pytest.StashKey[Interceptor]()


def pytest_configure(config: pytest.Config) -> None:
    """Put the interceptor in place; in the process of the tests only."""
    import cvxpy as cp
    from cvxpy.lin_ops import lin_utils
    from cvxpy.reductions.solvers import defines

    for name, backend in [*defines.SOLVER_MAP_CONIC.items(), *defines.SOLVER_MAP_QP.items(), *defines.SOLVER_MAP_NLP.items()]:
        if name not in BROUGHT:
            backend.is_installed = lambda: False  # type: ignore[method-assign]
    for installed in (defines.INSTALLED_SOLVERS, defines.INSTALLED_CONIC_SOLVERS, defines.INSTALLED_MI_SOLVERS):
        installed[:] = [name for name in installed if name in BROUGHT]
    lin_utils.ID_COUNTER.count = FIRST_ID
    wanted = pickle.loads(Path(os.environ[WANTED]).read_bytes())
    config.stash[KEY] = interceptor = Interceptor(os.fdopen(int(os.environ[PIPE]), "wb"), wanted, bool(os.environ[MOVE]))
    cp.Problem.solve = interceptor.around(cp.Problem.solve)  # type: ignore[method-assign]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Only the tests that are wanted, and none that Hypothesis draws: another version of it draws others."""
    wanted = config.stash[KEY].wanted
    items[:] = [item for item in items if not _is_drawn(item) and (wanted is None or item.nodeid in wanted)]


def _is_drawn(item: pytest.Item) -> bool:
    return getattr(getattr(item, "obj", None), "is_hypothesis_test", False)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Seed before what the test sets up."""
    item.config.stash[KEY].begin(item.nodeid)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> None:
    """Its fixtures are there."""
    item.config.stash[KEY].set_up = True
