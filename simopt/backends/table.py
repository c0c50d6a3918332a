"""The table of CVXPY's back ends: option names, cones, and every native status code.

Sources: the status enumerations of Clarabel (`SolverStatus`), ECOS (`exitFlag`), SCS (`status_val`) and of the others, with the settings
that CVXPY passes to them.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from typing import Any

from simopt.backends import native
from simopt.core import registry
from simopt.core.errors import UnknownName
from simopt.core.extras import install
from simopt.core.registry import fold
from simopt.model.status import Status

SOC = frozenset({"soc"})
ALL = frozenset({"soc", "power", "exp"})
COPIES = {"ecos_bb": "ecos", "glpk_mi": "glpk", "scipy": "highs"}  # the code of another, or that with branching


@dataclass(frozen=True)
class BackEnd:
    """A solver that takes declarations through CVXPY.

    Attributes
    ----------
    name, cvxpy_name, package : str
        our name, CVXPY's name, the module, which has the name of the distribution whose version is recorded.
    distribution : str
        the name of that where it is another one.
    cones : frozenset of str
        which of "soc", "power", "exp" it takes.
    tolerance : tuple of str
        native options that our `tol` sets.
    max_iter, time_limit : str or tuple of str, str
        native options of these two. Without a native time limit, ECOS and back ends that run `apart` have a process each; for others the
        limit is checked between solves only.
    apart : bool
        whether it runs in a process that is ended when the time is over (`simopt.backends.clockless`).
    floor : float
        the smallest tolerance that it takes; a smaller one becomes this.
    default_max_iter : int, optional
        default number of iterations, if its own (or CVXPY's) is not enough for our tolerances.
    statuses : dict
        native code to (our status, its name); OPTIMAL here only is the back end's opinion. If empty, CVXPY's statuses are taken.
    native : tuple of str, optional
        further native options that users may pass; None: any name is passed, and the back end rejects unknown ones.
    warm : bool
        whether CVXPY starts it from its last answer where a declaration is solved again, and that helps.
    read : callable, optional
        (native code, iterations) of a native result; without it CVXPY's status and count are taken.
    present : callable, optional
        a native result in a form from which CVXPY unpacks a point whatever the status is.
    make : callable, optional
        gives the `cvxpy` solver object of a back end that CVXPY does not know by name.
    licence : str
        of the package, if simopt depends on it.
    last_wheels : (int, int), optional
        the last Python that the package has wheels for.
    documented : float
        the largest of the tolerances at which it stops by itself when CVXPY calls it: of residuals and of the gap, relative to the sizes
        of the numbers or absolute. What it claims is held against ten times as much (`simopt.compare.solver_claims`).
    documented_gap : float
        the relative gap at which it stops by itself on a problem with integers.
    in_seconds : int
        numbers in a dense matrix of data up to which a solve takes seconds, where that has been measured; 0: it has not.
    """

    name: str
    cvxpy_name: str
    package: str
    cones: frozenset[str] = SOC
    tolerance: tuple[str, ...] = ()
    max_iter: str | tuple[str, ...] | None = None
    time_limit: str | None = None
    default_max_iter: int | None = None
    statuses: dict[object, tuple[Status, str]] = field(default_factory=dict)
    native: tuple[str, ...] | None = ()
    interrupted: tuple[object, ...] = ()
    licence: str = ""
    last_wheels: tuple[int, int] | None = None
    floor: float = 0.0
    warm: bool = False
    read: Callable[[Any], tuple[object, int]] | None = None
    present: Callable[[Any], Any] | None = None
    make: Callable[[], Any] | None = None
    apart: bool = False
    distribution: str = ""
    documented: float = 1e-4
    documented_gap: float = 1e-3
    in_seconds: int = 0

    @property
    def options(self) -> tuple[str, ...]:
        """Option names that a user may pass besides tol and time_limit; an option that sets a tolerance replaces tol there."""
        common = ("max_iter",) if self.max_iter else ()
        return common + self.tolerance + (self.native or ())

    @property
    def version(self) -> str:
        """Of the distribution that is installed; empty where there is none."""
        with suppress(PackageNotFoundError):
            return version(self.distribution or self.package)
        return ""

    @property
    def missing(self) -> str | None:
        """Why this environment cannot run it, and how to get it, in one line; None when it can."""
        return None if find_spec(self.package) else f"{self.name} is not installed: {self.to_install}"

    @property
    def to_install(self) -> str:
        """How to get it for this Python."""
        if self.has_wheels:
            return f"pip install {self.distribution or self.package}"
        version = ".".join(map(str, sys.version_info[:2]))
        return f"{install(self.name)}, with a C compiler (it has no wheels for Python {version})"

    @property
    def has_wheels(self) -> bool:
        """Whether it can be installed for this Python without a compiler."""
        return self.last_wheels is None or sys.version_info[:2] <= self.last_wheels

    @property
    def solver(self) -> Any:
        """The `solver` argument of `cvxpy.Problem.solve`."""
        return self.cvxpy_name if self.make is None else self.make()


CLARABEL = BackEnd(
    name="clarabel",
    documented=1e-8,  # tol_gap_abs, tol_gap_rel (of the objective), tol_feas (of the norms): its DefaultSettings
    in_seconds=10**7,
    cvxpy_name="CLARABEL",
    package="clarabel",
    cones=ALL,
    licence="Apache-2.0",
    read=native.clarabel,
    present=native.clarabel_present,
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
    documented=1e-8,  # feastol, abstol, reltol: ECOS's own, which CVXPY leaves alone
    in_seconds=10**5,
    cvxpy_name="ECOS",
    package="ecos",
    cones=frozenset({"soc", "exp"}),
    licence="GPL-3.0 (simopt's own is BSD-3-Clause)",
    last_wheels=(3, 12),
    read=native.ecos,
    present=native.ecos_present,
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
    documented=1e-5,  # eps_abs + eps_rel of the norms: set by scs_conif.py of CVXPY (SCS's own are 1e-4)
    in_seconds=5 * 10**4,
    cvxpy_name="SCS",
    package="scs",
    cones=ALL,
    licence="MIT",
    warm=True,
    read=native.scs,
    present=native.scs_present,
    tolerance=("eps_abs", "eps_rel"),
    max_iter="max_iters",
    time_limit="time_limit_secs",
    default_max_iter=1_000_000,
    statuses={
        1: (Status.OPTIMAL, "solved"),
        2: (Status.GAP_OPEN, "solved (inaccurate)"),
        "iterations": (Status.ITERATION_LIMIT, "inaccurate - reached max_iters"),  # from SCS's status text, as its code is 2, -6 or -7
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

QUADRATIC: frozenset[str] = frozenset()  # a quadratic objective, linear rows, no cones

OSQP = BackEnd(
    name="osqp",
    documented=1e-5,  # eps_abs + eps_rel of the norms: set by osqp_qpif.py of CVXPY (OSQP's own are 1e-3)
    cvxpy_name="OSQP",
    package="osqp",
    cones=QUADRATIC,
    tolerance=("eps_abs", "eps_rel"),
    max_iter="max_iter",
    time_limit="time_limit",
    default_max_iter=1_000_000,  # CVXPY's own 10 000 end many solves too early
    warm=True,
    read=native.valued,
    statuses={
        1: (Status.OPTIMAL, "solved"),
        2: (Status.GAP_OPEN, "solved inaccurate"),
        3: (Status.INFEASIBLE, "primal infeasible"),
        4: (Status.INFEASIBLE, "primal infeasible inaccurate"),
        5: (Status.UNBOUNDED, "dual infeasible"),
        6: (Status.UNBOUNDED, "dual infeasible inaccurate"),
        7: (Status.ITERATION_LIMIT, "maximum iterations reached"),
        8: (Status.TIME_LIMIT, "run time limit reached"),
        9: (Status.FAILED, "problem non convex"),
        10: (Status.INTERRUPTED, "interrupted"),
        11: (Status.NOT_SOLVED, "unsolved"),
    },
    interrupted=(10,),
    native=(
        "rho", "sigma", "alpha", "scaling", "adaptive_rho", "adaptive_rho_interval", "adaptive_rho_tolerance", "adaptive_rho_fraction",
        "check_termination", "polishing", "polish_refine_iter", "delta", "eps_prim_inf", "eps_dual_inf", "scaled_termination",
    ),
)  # fmt: skip

QOCO = BackEnd(
    name="qoco",
    documented=1e-7,  # abstol + reltol of the norms: its default settings
    cvxpy_name="QOCO",
    package="qoco",
    cones=SOC,
    tolerance=("abstol", "reltol"),
    max_iter="max_iters",
    apart=True,
    read=native.qoco,
    present=native.qoco_present,
    statuses={
        "QOCO_UNSOLVED": (Status.NOT_SOLVED, "unsolved"),
        "QOCO_SOLVED": (Status.OPTIMAL, "solved"),
        "QOCO_SOLVED_INACCURATE": (Status.GAP_OPEN, "solved inaccurately"),
        "QOCO_NUMERICAL_ERROR": (Status.FAILED, "numerical problem"),
        "QOCO_MAX_ITER": (Status.ITERATION_LIMIT, "maximum iterations reached"),
    },
    native=(
        "abstol_inacc", "reltol_inacc", "ir_tol", "max_ir_iters", "ruiz_iters", "kkt_static_reg_P", "kkt_static_reg_A", "kkt_static_reg_G",
        "kkt_dynamic_reg", "algebra",
    ),
)  # fmt: skip

DAQP = BackEnd(
    name="daqp",
    documented=1e-6,  # primal_tol, absolute: its default settings (dual_tol is 1e-12)
    cvxpy_name="DAQP",
    package="daqp",
    cones=QUADRATIC,
    tolerance=("primal_tol", "dual_tol"),
    max_iter="iter_limit",
    default_max_iter=100_000,
    apart=True,
    read=native.daqp,
    statuses={
        1: (Status.OPTIMAL, "optimal"),
        2: (Status.GAP_OPEN, "soft optimal"),
        -1: (Status.INFEASIBLE, "infeasible"),
        -2: (Status.FAILED, "cycling"),
        -3: (Status.UNBOUNDED, "unbounded"),
        -4: (Status.ITERATION_LIMIT, "iteration limit"),
        -5: (Status.FAILED, "nonconvex"),
        -6: (Status.INFEASIBLE, "infeasible equalities"),
        -7: (Status.TIME_LIMIT, "time limit"),
    },
    native=("zero_tol", "pivot_tol", "progress_tol", "cycle_tol", "fval_bound", "eps_prox", "eta_prox"),
)

QPALM = BackEnd(
    name="qpalm",
    documented=1e-8,  # eps_abs; eps_rel is 1e-9: set by qpalm_qpif.py of CVXPY (QPALM's own are 1e-4)
    cvxpy_name="QPALM",
    package="qpalm",
    cones=QUADRATIC,
    tolerance=("eps_abs", "eps_rel"),
    max_iter="max_iter",
    time_limit="time_limit",
    default_max_iter=100_000,
    warm=True,
    read=native.valued,
    statuses={
        1: (Status.OPTIMAL, "solved"),
        2: (Status.GAP_OPEN, "dual terminated"),
        -2: (Status.ITERATION_LIMIT, "maximum iterations reached"),
        -3: (Status.INFEASIBLE, "primal infeasible"),
        -4: (Status.UNBOUNDED, "dual infeasible"),
        -5: (Status.TIME_LIMIT, "time limit exceeded"),
        -6: (Status.INTERRUPTED, "user cancelled"),
        -10: (Status.NOT_SOLVED, "unsolved"),
        0: (Status.FAILED, "error"),
    },
    interrupted=(-6,),
    native=(
        "inner_max_iter", "eps_abs_in", "eps_rel_in", "eps_prim_inf", "eps_dual_inf", "rho", "theta", "delta", "sigma_init", "sigma_max",
        "proximal", "gamma_init", "gamma_upd", "gamma_max", "scaling", "nonconvex", "reset_newton_iter", "factorization_method",
    ),
)  # fmt: skip

PIQP = BackEnd(
    name="piqp",
    documented=1e-8,  # eps_abs, eps_duality_gap_abs; the relative ones are 1e-9: its default settings
    cvxpy_name="PIQP",
    package="piqp",
    cones=QUADRATIC,
    tolerance=("eps_abs", "eps_rel", "eps_duality_gap_abs", "eps_duality_gap_rel"),
    max_iter="max_iter",
    apart=True,
    read=native.named,
    statuses={
        "PIQP_SOLVED": (Status.OPTIMAL, "solved"),
        "PIQP_MAX_ITER_REACHED": (Status.ITERATION_LIMIT, "max iterations reached"),
        "PIQP_PRIMAL_INFEASIBLE": (Status.INFEASIBLE, "primal infeasible"),
        "PIQP_DUAL_INFEASIBLE": (Status.UNBOUNDED, "dual infeasible"),
        "PIQP_NUMERICS": (Status.FAILED, "numerics"),
        "PIQP_UNSOLVED": (Status.NOT_SOLVED, "unsolved"),
        "PIQP_INVALID_SETTINGS": (Status.FAILED, "invalid settings"),
    },
    native=(
        "backend", "rho_init", "delta_init", "reg_lower_limit", "reg_finetune_lower_limit", "check_duality_gap", "preconditioner_iter",
        "preconditioner_scale_cost", "iterative_refinement_always_enabled", "iterative_refinement_max_iter", "tau",
    ),
)  # fmt: skip

PROXQP = BackEnd(
    name="proxqp",
    documented=1e-8,  # eps_abs; eps_rel is 0: set by proxqp_qpif.py of CVXPY (PROXQP's own is 1e-5)
    cvxpy_name="PROXQP",
    package="proxsuite",
    cones=QUADRATIC,
    tolerance=("eps_abs", "eps_rel"),
    max_iter="max_iter",
    apart=True,
    read=native.named,
    statuses={
        "PROXQP_SOLVED": (Status.OPTIMAL, "solved"),
        "PROXQP_MAX_ITER_REACHED": (Status.ITERATION_LIMIT, "maximum iterations reached"),
        "PROXQP_PRIMAL_INFEASIBLE": (Status.INFEASIBLE, "primal infeasible"),
        "PROXQP_SOLVED_CLOSEST_PRIMAL_FEASIBLE": (Status.INFEASIBLE, "solved for the closest feasible problem"),
        "PROXQP_DUAL_INFEASIBLE": (Status.UNBOUNDED, "dual infeasible"),
        "PROXQP_NOT_RUN": (Status.NOT_SOLVED, "not run"),
    },
    native=("backend", "rho", "mu_eq", "mu_in"),
)

HIGHS = BackEnd(
    name="highs",
    documented_gap=1e-4,  # mip_rel_gap
    documented=1e-7,  # primal_ and dual_feasibility_tolerance, absolute: its options (ipm_optimality_tolerance is 1e-8)
    cvxpy_name="HIGHS",
    package="highspy",
    cones=QUADRATIC,
    licence="MIT",
    tolerance=("primal_feasibility_tolerance", "dual_feasibility_tolerance", "ipm_optimality_tolerance"),
    max_iter=("simplex_iteration_limit", "ipm_iteration_limit", "qp_iteration_limit"),
    time_limit="time_limit",
    floor=1e-10,  # it refuses smaller ones
    warm=True,
    read=native.highs,
    statuses={
        "kNotset": (Status.NOT_SOLVED, "kNotset"),
        "kLoadError": (Status.FAILED, "kLoadError"),
        "kModelError": (Status.FAILED, "kModelError"),
        "kPresolveError": (Status.FAILED, "kPresolveError"),
        "kSolveError": (Status.FAILED, "kSolveError"),
        "kPostsolveError": (Status.FAILED, "kPostsolveError"),
        "kModelEmpty": (Status.OPTIMAL, "kModelEmpty"),
        "kOptimal": (Status.OPTIMAL, "kOptimal"),
        "kInfeasible": (Status.INFEASIBLE, "kInfeasible"),
        "kUnboundedOrInfeasible": (Status.INFEASIBLE, "kUnboundedOrInfeasible"),
        "kUnbounded": (Status.UNBOUNDED, "kUnbounded"),
        "kObjectiveBound": (Status.GAP_OPEN, "kObjectiveBound"),
        "kObjectiveTarget": (Status.GAP_OPEN, "kObjectiveTarget"),
        "kTimeLimit": (Status.TIME_LIMIT, "kTimeLimit"),
        "kIterationLimit": (Status.ITERATION_LIMIT, "kIterationLimit"),
        "kSolutionLimit": (Status.GAP_OPEN, "kSolutionLimit"),
        "kUnknown": (Status.FAILED, "kUnknown"),
        "kInterrupt": (Status.INTERRUPTED, "kInterrupt"),
        "kHighsInterrupt": (Status.INTERRUPTED, "kHighsInterrupt"),
        "kMemoryLimit": (Status.FAILED, "kMemoryLimit"),
    },
    interrupted=("kInterrupt", "kHighsInterrupt"),
    native=(
        "solver", "presolve", "parallel", "threads", "random_seed", "run_crossover", "simplex_strategy", "simplex_scale_strategy",
        "primal_residual_tolerance", "dual_residual_tolerance", "kkt_tolerance", "qp_nullspace_limit", "qp_regularization_value",
        "small_matrix_value", "large_matrix_value", "user_bound_scale", "user_objective_scale", "highs_options",
    ),
)  # fmt: skip

MOSEK = BackEnd(
    "mosek", "MOSEK", "mosek", ALL, native=None, documented=1e-8, documented_gap=1e-4
)  # MSK_DPAR_INTPNT_(CO_)TOL_*, as CVXPY asks for no basis; MSK_DPAR_MIO_TOL_REL_GAP: its manual
GUROBI = BackEnd(
    "gurobi", "GUROBI", "gurobipy", SOC, native=None, documented=1e-6, documented_gap=1e-4
)  # FeasibilityTol, OptimalityTol, BarQCPConvTol; MIPGap: its manual
CVXOPT = BackEnd(
    "cvxopt", "CVXOPT", "cvxopt", SOC, tolerance=("abstol", "reltol", "feastol"), native=None, apart=True, documented=1e-6
)  # reltol; abstol and feastol are 1e-7: cvxopt/coneprog.py
SDPA = BackEnd(
    name="sdpa",
    documented=1e-7,  # epsilonStar, epsilonDash, relative: sdpap/param.py
    cvxpy_name="SDPA",
    package="sdpap",
    distribution="sdpa-python",
    cones=QUADRATIC,
    tolerance=("epsilonStar", "epsilonDash"),
    apart=True,
    native=None,
)
SCIPY = BackEnd(
    "scipy", "SCIPY", "scipy", QUADRATIC, native=None, apart=True, documented=HIGHS.documented, documented_gap=HIGHS.documented_gap
)  # its linprog and milp are HiGHS
GLPK = BackEnd("glpk", "GLPK", "cvxopt", QUADRATIC, native=None, apart=True, documented=1e-7)  # tol_bnd, tol_dj, absolute: its manual
GLPK_MI = BackEnd(
    "glpk_mi", "GLPK_MI", "cvxopt", QUADRATIC, native=None, apart=True, documented=GLPK.documented, documented_gap=1e-7
)  # mip_gap is 0, its rows hold to tol_bnd
ECOS_BB = BackEnd("ecos_bb", "ECOS_BB", "ecos", ECOS.cones, native=None, apart=True, documented=ECOS.documented)  # mi_rel_eps is 1e-3

OTHERS = (OSQP, QOCO, DAQP, QPALM, PIQP, PROXQP, HIGHS, MOSEK, GUROBI, CVXOPT, SDPA, SCIPY, GLPK, GLPK_MI, ECOS_BB)
FIRST_CLASS = (CLARABEL, ECOS, SCS)


def installed() -> list[BackEnd]:
    """The first-class back ends that are installed here."""
    return [backend for backend in FIRST_CLASS if backend.missing is None]


def listed() -> list[BackEnd]:
    """All known back ends, installed or not: the three first-class ones, the others in this table, and those of other packages."""
    registry.load_plugins("backends")
    return [*FIRST_CLASS, *OTHERS, *(entry for _, entry in registry.items("backend"))]


def usable() -> list[BackEnd]:
    """All back ends that can be named here: the listed ones that are installed, and any other that CVXPY finds installed."""
    import cvxpy as cp

    present = cp.installed_solvers()
    known = [backend for backend in listed() if backend.missing is None and (backend.make is not None or backend.cvxpy_name in present)]
    taken = {backend.cvxpy_name for backend in listed()}
    return known + [_described(name) for name in present if name not in taken]


def find(name: str) -> BackEnd | None:
    """Return the back end called `name`: one of the three, another that can be run here, or None."""
    for known in FIRST_CLASS:
        if fold(known.name) == fold(name):
            return known
    return next((backend for backend in usable() if fold(backend.name) == fold(name)), None)


def add_back_end(backend: BackEnd) -> BackEnd:
    """Register a back end of one's own by its name, for `solve`, `compare` and every command.

    A package calls it in a module that it names in the entry-point group `simopt.backends`; a script just calls it.

    Raises
    ------
    DuplicateName
        for a name that another module, or simopt itself, has taken.
    """
    module = sys._getframe(1).f_globals.get("__name__", "unknown")
    for known in (*FIRST_CLASS, *OTHERS):
        if fold(known.name) == fold(backend.name):
            raise registry.DuplicateName(f"back end {backend.name!r}, of {module}, has the name of one that simopt knows; rename it")
    registry.register("backend", backend.name, backend, module, f"{module}.{backend.name}")
    return backend


def _described(name: str) -> BackEnd:
    """A back end that is in no table here, as CVXPY describes it."""
    from cvxpy.constraints import SOC as Quadratic
    from cvxpy.constraints import ExpCone, PowCone3D
    from cvxpy.reductions.solvers import defines

    conic = defines.SOLVER_MAP_CONIC.get(name)
    taken = () if conic is None else conic.SUPPORTED_CONSTRAINTS
    cones = {"soc": Quadratic, "exp": ExpCone, "power": PowCone3D}
    package = next((guess for guess in (name.lower(), name.lower().partition("_")[0]) if find_spec(guess)), "cvxpy")
    return BackEnd(name.lower(), name, package, frozenset(cone for cone, kind in cones.items() if kind in taken), native=None)


def check_options(backend: BackEnd, options: dict[str, object]) -> None:
    """Raise UnknownName for an option that the back end does not have, as far as its options are known."""
    for option in options:
        if option not in backend.options and backend.native is not None:
            raise UnknownName(f"option of {backend.name}", option, backend.options)
