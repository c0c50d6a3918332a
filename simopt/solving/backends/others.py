"""Back ends that simopt knows beside its three: what they take, their options and limits, and every native status code.

Sources: the status enumerations and settings of OSQP, QOCO, DAQP, QPALM, PIQP, PROXQP and HiGHS, and what CVXPY hands on of them.
"""

from __future__ import annotations

from simopt.solving.backends import native
from simopt.solving.backends.table import ALL, SOC, BackEnd
from simopt.solving.solution import Status

QUADRATIC: frozenset[str] = frozenset()  # a quadratic objective, linear rows, no cones

OSQP = BackEnd(
    name="osqp",
    cvxpy_name="OSQP",
    package="osqp",
    cones=QUADRATIC,
    tolerance=("eps_abs", "eps_rel"),
    max_iter="max_iter",
    time_limit="time_limit",
    default_max_iter=1_000_000,  # CVXPY's own 10 000 end many a solve before its time
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
    cvxpy_name="QOCO",
    package="qoco",
    cones=SOC,
    tolerance=("abstol", "reltol"),
    max_iter="max_iters",
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
    cvxpy_name="DAQP",
    package="daqp",
    cones=QUADRATIC,
    tolerance=("primal_tol", "dual_tol"),
    max_iter="iter_limit",
    default_max_iter=100_000,
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
    cvxpy_name="PIQP",
    package="piqp",
    cones=QUADRATIC,
    tolerance=("eps_abs", "eps_rel", "eps_duality_gap_abs", "eps_duality_gap_rel"),
    max_iter="max_iter",
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
    cvxpy_name="PROXQP",
    package="proxsuite",
    cones=QUADRATIC,
    tolerance=("eps_abs", "eps_rel"),
    max_iter="max_iter",
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
    cvxpy_name="HIGHS",
    package="highspy",
    cones=QUADRATIC,
    licence="MIT",
    tolerance=("primal_feasibility_tolerance", "dual_feasibility_tolerance", "ipm_optimality_tolerance"),
    max_iter=("simplex_iteration_limit", "ipm_iteration_limit", "qp_iteration_limit"),
    time_limit="time_limit",
    floor=1e-10,  # what is smaller it refuses
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

MOSEK = BackEnd("mosek", "MOSEK", "mosek", ALL, native=None)
GUROBI = BackEnd("gurobi", "GUROBI", "gurobipy", SOC, native=None)

OTHERS = (OSQP, QOCO, DAQP, QPALM, PIQP, PROXQP, HIGHS, MOSEK, GUROBI)
