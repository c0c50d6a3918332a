"""Which public functions take arrays or numbers, as far as their signatures tell, and which of them stand behind the entry, with the reason.

A parameter annotated `Array` holds what has been through the entry already, as do problems, spectra and the like; `npt.ArrayLike`, `Any`,
`Number` and `SupportsFloat` come from outside, and so do numbers of a function that takes nothing that was checked before.
"""

from __future__ import annotations

import dataclasses
import inspect
import re
from collections.abc import Callable, Iterator
from importlib import import_module
from pkgutil import walk_packages
from typing import Any

import simopt

SCANNED = (
    *("simopt.core", "simopt.data", "simopt.model", "simopt.certificates", "simopt.backends", "simopt.processes", "simopt.duality"),
    *("simopt.solving", "simopt.equivalence", "simopt.claims.statistics"),
)
GROUPS = ("problems", "solvers", "estimators")
OUTSIDE = re.compile(r"ArrayLike|_SupportsArray|\bAny\b|SupportsFloat|\bNumber\b|Annotated")
CHECKED = re.compile(
    r"\b(Array|Value|ndarray|Floats|Indices|NDArray|Arithmetic|Problem|Fit|Rows|Hinges|Spectrum|Expression|Affine|Side|Stage|Level|Walk|Factor"
    r"|Support|Bounds|Fraction|Exact)\b"
)
NUMBER = re.compile(r"\b(float|int)\b")

INTERNALS: dict[str, tuple[str, ...]] = {
    "declarations: CVXPY has checked their numbers": (
        *("duality.atoms", "duality.graph", "duality.graph_form", "duality.infeasibility", "duality.reading", "duality.recent"),
        *("duality.stationarity", "duality.evaluation", "duality.units", "problems.norms.power_units"),
    ),
    "algorithms: the driver calls them, and has checked the problem and their options": (
        *(
            f"solvers.{room}.solvers"
            for room in ("goodness", "herding", "hinges", "isotonic", "ordinal", "power", "sparse", "squares", "svm")
        ),
        *("solvers.sparse.sparse_interior:interior_point", "solving.run", "backends", "solving.solver:SolverSpec.check_options"),
    ),
    "engines: they run on fields of a checked problem, or on what a function with a row has checked": (
        *("solvers.goodness.ball_hinges", "solvers.goodness.box_hinges", "solvers.goodness.box_squares", "solvers.goodness.curve:Place"),
        *(
            "solvers.goodness.curve:Walk",
            "solvers.goodness.exact_programme",
            "solvers.goodness.highs_programme",
            "solvers.goodness.parametric",
            "solvers.goodness.simplex",
        ),
        *("solvers.goodness.knapsack_squares", "solvers.goodness.ordinal_exact:OrdinalWorld", "solvers.goodness.ordinal_hinges"),
        *(
            "solvers.goodness.ordinal_regions",
            "solvers.goodness.kernel_ranking",
            "solvers.goodness.smallest_bound",
            "solvers.herding.atoms",
        ),
        *("solvers.herding.frank_wolfe", "solvers.herding.walk", "solvers.hinges", "solvers.interior", "solvers.isotonic.chain_programme"),
        *("solvers.isotonic.chain_band:node_places",),
        *("solvers.isotonic.matching_loss", "solvers.ordinal", "solvers.power.grid:spectral_grid", "solvers.sparse.active_columns"),
        *("solvers.herding.gaussian_tiles:Coordinates.row", "solvers.sparse.feature_gram"),
        *("solvers.sparse.gram_rows", "solvers.sparse.newton", "solvers.sparse.orthogonal_rows", "solvers.sparse.sparse_interior"),
        *("solvers.sparse.support_moves", "solvers.squares.landmarked", "solvers.squares.spectrum", "solvers.squares.tridiagonal_path"),
        *(
            "solvers.svm.ball",
            "equivalence.path_search",
            "data.rows:Rows.block",
            "data.rows:Rows.blocks",
            "data.row_blocks:RowBlocks",
            "data.row_blocks:RowPass",
        ),
        *("data.row_blocks:Chunk", "data.row_blocks:Request"),
        "core.threads:Hands",
        *(
            "data.similarities.distances",
            "estimators.index_models.index_scaling",
            "estimators.landmarked.landmark_predictor",
            "problems.norms.gram_factor:Factor",
        ),
        *(
            "estimators.index_models.isotron:held_out",
            "estimators.index_models.isotron:masses",
            "solvers.isotonic.lipschitz:IsotonicFit.closes",
            "solvers.isotonic.pooled_gap",
            "solvers.sparse.forward_selection:select",
            "estimators.herding.herd_task:HerdProgress",
            "estimators.ordinal.ordinal:thresholds_of",
            "claims.statistics:Mean",
            "claims.statistics:Pool",
            "claims.statistics:Probability",
            "problems.thresholds.threshold_problem",
        ),
    ),
    "measures that a report of verify_weak, verify_strong or find_map is made of": (
        *(
            "equivalence.weak:Finding",
            "equivalence.weak:apart",
            "equivalence.weak:blur_of",
            "equivalence.weak:mapped",
            "equivalence.weak:slack",
        ),
        *("equivalence.weak:relative_distance", "equivalence.weak:sensitivity", "equivalence.weak:check_resolution"),
        *(f"equivalence.family:Interval.{name}" for name in ("coordinate", "at", "rounding")),
    ),
    "formulas of points and multipliers: the judge has checked them": (
        *(
            f"problems.bounds:{kind}.{name}"
            for kind in ("Ball", "Bound", "Capacity", "Penalised", "UnitBall")
            for name in ("distance", "length")
        ),
        *(f"problems.bounds:{kind}.of_length" for kind in ("Ball", "Capacity", "InBall", "UnitBall")),
        "problems.bounds:Penalised.of_strength",
        *(f"problems.bounds:{kind}.in_units" for kind in ("Ball", "Bound", "Capacity", "Penalised", "UnitBall")),
        *("problems.m_power_rls:PowerBall.in_units", "problems.m_power_rls:PowerPenalty.in_units"),
        *("problems.norms.squares", "problems.losses.sample_weights", "certificates", "model.problem", "solving.solution:frozen"),
        *("model.gap_unit", "model.uniform_convexity", "equivalence.declared_radius"),
    ),
    "checks: the entry itself, walked wherever it is used": (
        *("core.validate", "core.fields", "model.entries", "problems.domains.chain", "problems.domains.finite_domain:square"),
        *(
            "problems.domains.simplex",
            "problems.domains.ranked_lists:identifiers",
            "problems.goodness_choice:share",
            "equivalence.training:point",
            "equivalence.decide:listed",
        ),
        *(
            "data.similarities.points",
            "problems.losses.insensitive:positive_or_infinite",
            "problems.multiple_kernel_mean:stack",
            "problems.norms.norm_power:representable",
        ),
        *("problems.ranking_goodness:square", "problems.smallest_bound:level", "problems.thresholds.constant_scores:listed"),
        *("problems.thresholds.constant_scores:number_of_classes", "problems.thresholds.kinds:increasing", "estimators.base"),
        "estimators.sample_weights",
        *(
            "estimators.one_against_rest:signs_of_classes",
            "estimators.ordinal.landmarked_ordinal:categories_of",
            "estimators.ordinal.landmarked_ordinal:Needed",
            "estimators.ordinal.landmarked_ordinal:Needed.of_the_problem",
            "data.row_blocks:is_lazy",
        ),
        *("estimators.class_labels", "estimators.one_fit"),
        *(
            "estimators.cross_validation.selection",
            "estimators.cross_validation.landmark_folds",
            "estimators.landmarked.landmarked_svr_cv:TwoHinges",
        ),
        *("estimators.ordinal.landmarked_ordinal_cv:Ordered", "estimators.leave_one_out", "estimators.widths"),
        *(
            "estimators.ordinal.landmarked_ordinal:ranked",
            "estimators.ordinal.ordinal:training_labels",
            "estimators.ordinal.ordinal:cuts_and_margins",
            "problems.losses.prediction_losses",
        ),
    ),
    "examples and recipes, made of random numbers and data sets": (
        *("problems.examples.chain", "problems.examples.exc", "problems.examples.margins", "problems.examples.recipes"),
        *("problems.examples.goodness:recipe", "problems.examples.goodness:selected", "problems.examples.ordinal:selected"),
        *("problems.examples.ordinal:reversed_labels",),
        *("problems.domains.list_domain", "problems.domains.ranked_lists:documents", "problems.domains.weighted_mean"),
    ),
    "bounds on files, servers and time, numbers of ours: tests/hostile attacks what they bound": (
        *("data.datasets.https", "data.datasets.packed", "core.allowance", "core.memory_maps", "core.reading"),
    ),
    "no arrays or numbers: names, texts, hashable samples, any value at all": (
        *(
            "core.archive",
            "backends.diagonals",
            "core.errors",
            "core.figures",
            "core.jsonio",
            "core.kernel_cache",
            "core.registry",
            "processes.worker",
            "data.datasets.tables",
            "solving.driver:unanswered",
        ),
        *(
            "equivalence.family:first_line",
            "data.similarities.base:of_checked",
            "data.similarities.named:add_similarity",
            "data.similarities.named:takes_sparse",
        ),
    ),
    "records: functions with a row make them, and a file's are checked by what reads it": (
        *(
            "data.similarities.base:from_json",
            "core.monotone_function:MonotoneFunction.from_json",
            "solvers.goodness.curve_record:GoodnessCurve",
        ),
        *(
            "equivalence.decision_record:recalled",
            "solvers.sparse.fit:SparseFit",
            "estimators.herding.herd_record:Herd",
            "estimators.ordinal.ordinal_rule:OrdinalRule",
        ),
        *("estimators.ranking.ranker:LandmarkedRanker", "estimators.index_models.index_record:parts_of"),
    ),
    "pictures of what functions with a row take": (
        *("estimators.herding.herd_plot", "estimators.herding.herd_record:Herd.plot", "estimators.index_models.index_model:IndexFit.plot"),
        *("estimators.index_models.index_plot", "estimators.ordinal.ordinal_plot", "estimators.ordinal.ordinal_rule:OrdinalRule.plot"),
    ),
    "abstract: every subclass has rows": (
        *("data.similarities.base:Similarity", "estimators.one_against_rest:OneAgainstRestMixin"),
        *(f"data.similarities.base:Similarity.{name}" for name in ("diagonal", "__call__", "gram_blocks", "gram")),
    ),
}


def is_internal(key: str) -> bool:
    """Whether a function, its class or its module stands in the list; a class stands for its constructor only, an engine for all of it."""
    home, _, path = key.partition(":")
    parts = home.split(".")
    modules = {".".join(parts[: i + 1]) for i in range(len(parts))}
    listed = {entry for entries in INTERNALS.values() for entry in entries}
    engines = {entry for entry in listed if entry.split(":")[-1] in ENTIRE}
    return key in listed or bool(modules & listed) or f"{home}:{path.split('.')[0]}" in engines


ENTIRE = {
    "Place",
    "Walk",
    "OrdinalWorld",
    "Factor",
    "RowBlocks",
    "RowPass",
    "Finding",
    "OneAgainstRestMixin",
    "Pool",
}  # classes that are behind with their methods


def public_functions() -> Iterator[tuple[str, Callable[..., Any]]]:
    """Every public function, constructor and method that takes arrays or numbers from outside, as `module:name` below simopt."""
    names = [item.name for item in walk_packages(simopt.__path__, "simopt.") if item.name.startswith(SCANNED)]
    for group in GROUPS:
        names += [item.name for item in walk_packages(import_module(f"simopt.{group}").__path__, f"simopt.{group}.")]
    for name in names:
        module = import_module(name)
        for word, item in sorted(vars(module).items()):
            if not word.startswith("_") and getattr(item, "__module__", None) == name:
                for path, function in _callables(word, item):
                    if takes_numbers(function):
                        yield f"{name.removeprefix('simopt.')}:{path}", function


def _callables(word: str, item: Any) -> Iterator[tuple[str, Callable[..., Any]]]:
    if inspect.isfunction(item):
        yield word, item
    if not inspect.isclass(item) or issubclass(item, Exception | simopt.Problem):  # of a problem the fields are walked
        return
    if not dataclasses.is_dataclass(item) or hasattr(item, "__post_init__"):  # others are bare records
        yield word, item
    for name, member in vars(item).items():
        function = member.__func__ if isinstance(member, classmethod | staticmethod) else member
        if inspect.isfunction(function) and (name == "__call__" or not name.startswith("_")):
            yield f"{word}.{name}", function


def parameters(function: Callable[..., Any]) -> dict[str, str]:
    """Names of the parameters, with their annotations as text."""
    try:
        found = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return {}
    named = [p for p in found if p.name not in ("self", "cls") and p.kind is not p.VAR_KEYWORD]
    return {p.name: p.annotation if isinstance(p.annotation, str) else repr(p.annotation) for p in named}


def takes_numbers(function: Callable[..., Any]) -> bool:
    """Whether it takes arrays or numbers that nobody has looked at yet."""
    kinds = parameters(function)
    if next(iter(kinds), "") == "num":  # a formula, in any arithmetic
        return False
    outside = any(OUTSIDE.search(kind) for kind in kinds.values())
    checked = any(CHECKED.search(kind) and not OUTSIDE.search(kind) for kind in kinds.values())
    return outside or (not checked and any(NUMBER.search(kind) for kind in kinds.values()))
