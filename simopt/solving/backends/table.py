"""What simopt knows of each CVXPY back end: option names, cones, and every native status code.

Sources: the status enumerations of Clarabel (`SolverStatus`), ECOS (`exitFlag`), SCS (`status_val`).
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from importlib.util import find_spec

from simopt.ground.errors import UnknownName
from simopt.ground.extras import install
from simopt.ground.registry import fold
from simopt.solving.solution import Status

SOC = frozenset({"soc"})
ALL = frozenset({"soc", "power", "exp"})


@dataclass(frozen=True)
class BackEnd:
    """A CVXPY solver.

    Attributes
    ----------
    name, cvxpy_name, package : str
        our name, CVXPY's name, the distribution whose version is recorded (of the first-class ones also the module).
    cones : frozenset of str
        which of "soc", "power", "exp" it takes.
    tolerance, max_iter, time_limit
        native option names for our three common options; no `time_limit` means that it runs in a child process.
    statuses : dict
        native code to (our status, its word); OPTIMAL here only says that the back end thinks so.
    native : tuple of str
        further native options that users may pass.
    licence : str
        of the package, where we depend on it.
    last_wheels : (int, int), optional
        the last Python that the package has wheels for.
    """

    name: str
    cvxpy_name: str
    package: str
    cones: frozenset[str] = SOC
    tolerance: tuple[str, ...] = ()
    max_iter: str | None = None
    time_limit: str | None = None
    default_max_iter: int | None = None
    statuses: dict[object, tuple[Status, str]] = field(default_factory=dict)
    native: tuple[str, ...] = ()
    interrupted: tuple[object, ...] = ()
    licence: str = ""
    last_wheels: tuple[int, int] | None = None

    @property
    def options(self) -> tuple[str, ...]:
        """Option names that a user may pass besides tol and time_limit."""
        return (("max_iter",) if self.max_iter else ()) + self.native

    @property
    def missing(self) -> str | None:
        """Why this environment cannot run it, and how to get it, in one line; None when it can."""
        return None if find_spec(self.package) else f"{self.name} is not installed: {self.to_install}"

    @property
    def to_install(self) -> str:
        """How to get it for this Python."""
        if self.has_wheels:
            return f"pip install {self.package}"
        version = ".".join(map(str, sys.version_info[:2]))
        return f"{install(self.name)}, with a C compiler (it has no wheels for Python {version})"

    @property
    def has_wheels(self) -> bool:
        """Whether it can be had for this Python without a compiler."""
        return self.last_wheels is None or sys.version_info[:2] <= self.last_wheels


CLARABEL = BackEnd(
    name="clarabel",
    cvxpy_name="CLARABEL",
    package="clarabel",
    cones=ALL,
    licence="Apache-2.0",
    tolerance=("tol_gap_abs", "tol_gap_rel", "tol_feas"),
    max_iter="max_iter",
    time_limit="time_limit",
    statuses={
        "Unsolved": (Status.NOT_SOLVED, "Unsolved"),
        "Solved": (Status.OPTIMAL, "Solved"),
        "AlmostSolved": (Status.GAP_OPEN, "AlmostSolved"),
        "PrimalInfeasible": (Status.INFEASIBLE, "PrimalInfeasible"),
        "AlmostPrimalInfeasible": (Status.INFEASIBLE, "AlmostPrimalInfeasible"),
        "DualInfeasible": (Status.UNBOUNDED, "DualInfeasible"),
        "AlmostDualInfeasible": (Status.UNBOUNDED, "AlmostDualInfeasible"),
        "MaxIterations": (Status.ITERATION_LIMIT, "MaxIterations"),
        "MaxTime": (Status.TIME_LIMIT, "MaxTime"),
        "NumericalError": (Status.FAILED, "NumericalError"),
        "InsufficientProgress": (Status.GAP_OPEN, "InsufficientProgress"),
        "CallbackTerminated": (Status.INTERRUPTED, "CallbackTerminated"),
    },
    native=("equilibrate_enable", "presolve_enable", "max_step_fraction", "iterative_refinement_enable", "direct_solve_method"),
)

ECOS = BackEnd(
    name="ecos",
    cvxpy_name="ECOS",
    package="ecos",
    cones=frozenset({"soc", "exp"}),
    licence="GPL-3.0 (simopt's own is BSD-3-Clause)",
    last_wheels=(3, 12),
    tolerance=("abstol", "reltol", "feastol"),
    max_iter="max_iters",
    time_limit=None,
    default_max_iter=200,
    statuses={
        0: (Status.OPTIMAL, "optimal"),
        1: (Status.INFEASIBLE, "primal infeasible"),
        2: (Status.UNBOUNDED, "dual infeasible"),
        10: (Status.GAP_OPEN, "optimal inaccurate"),
        11: (Status.INFEASIBLE, "primal infeasible inaccurate"),
        12: (Status.UNBOUNDED, "dual infeasible inaccurate"),
        -1: (Status.ITERATION_LIMIT, "maximum number of iterations"),
        -2: (Status.FAILED, "numerical problems"),
        -3: (Status.FAILED, "slack outside the cone"),
        -4: (Status.INTERRUPTED, "interrupted"),
        -7: (Status.FAILED, "fatal"),
    },
    native=("abstol_inacc", "reltol_inacc", "feastol_inacc"),
    interrupted=(-4,),
)

SCS = BackEnd(
    name="scs",
    cvxpy_name="SCS",
    package="scs",
    cones=ALL,
    licence="MIT",
    tolerance=("eps_abs", "eps_rel"),
    max_iter="max_iters",
    time_limit="time_limit_secs",
    default_max_iter=1_000_000,
    statuses={
        1: (Status.OPTIMAL, "solved"),
        2: (Status.GAP_OPEN, "solved (inaccurate)"),
        "iterations": (Status.ITERATION_LIMIT, "inaccurate - reached max_iters"),  # SCS says so in words, its code being 2, -6 or -7
        "time": (Status.TIME_LIMIT, "inaccurate - reached time_limit_secs"),  # likewise
        0: (Status.NOT_SOLVED, "unfinished"),
        -1: (Status.UNBOUNDED, "unbounded"),
        -2: (Status.INFEASIBLE, "infeasible"),
        -3: (Status.FAILED, "indeterminate"),
        -4: (Status.FAILED, "failed"),
        -5: (Status.INTERRUPTED, "interrupted"),
        -6: (Status.UNBOUNDED, "unbounded (inaccurate)"),
        -7: (Status.INFEASIBLE, "infeasible (inaccurate)"),
    },
    native=("eps_infeas", "alpha", "rho_x", "scale", "adaptive_scale", "normalize", "acceleration_lookback", "acceleration_interval"),
    interrupted=(-5,),
)

FIRST_CLASS = (CLARABEL, ECOS, SCS)
_OTHERS = (
    BackEnd("osqp", "OSQP", "osqp", frozenset(), ("eps_abs", "eps_rel"), "max_iter", "time_limit"),
    BackEnd("piqp", "PIQP", "piqp", frozenset(), ("eps_abs", "eps_rel"), "max_iter"),
    BackEnd("highs", "HIGHS", "highspy", frozenset(), ("primal_feasibility_tolerance", "dual_feasibility_tolerance"), None, "time_limit"),
    BackEnd("proxqp", "PROXQP", "proxsuite", frozenset(), ("eps_abs", "eps_rel"), "max_iter"),
    BackEnd("mosek", "MOSEK", "mosek", ALL),
    BackEnd("gurobi", "GUROBI", "gurobipy", SOC),
)


def installed() -> list[BackEnd]:
    """The first-class back ends that this environment can run."""
    return [backend for backend in FIRST_CLASS if backend.missing is None]


def find(name: str) -> BackEnd | None:
    """Return the back end called `name`: one of the three, another that CVXPY has installed, or None."""
    for known in FIRST_CLASS:
        if fold(known.name) == fold(name):
            return known
    import cvxpy as cp

    for other in _OTHERS:
        if fold(other.name) == fold(name) and other.cvxpy_name in cp.installed_solvers():
            return other
    for present in cp.installed_solvers():
        if fold(present) == fold(name):
            return BackEnd(present.lower(), present, present.lower())
    return None


def check_options(backend: BackEnd, options: dict[str, object]) -> None:
    """Raise UnknownName for an option that the back end does not have."""
    for option in options:
        if option not in backend.options:
            raise UnknownName(f"option of {backend.name}", option, backend.options)
