"""The table of valid calls: one row an entry point, which is a function that takes arrays or numbers from outside."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import Any

import dask.array
import numpy as np
from entry_point import EntryPoint, Fresh

import simopt
from simopt.core import registry
from simopt.core.monotone_function import MonotoneFunction
from simopt.data.landmarks import LandmarkMap
from simopt.data.queries import Queries
from simopt.data.rows import Rows
from simopt.data.similarities import (
    Euclidean,
    Gaussian,
    Laplacian,
    Linear,
    Manhattan,
    Normalised,
    Polynomial,
    Precomputed,
    Scaled,
    Sigmoid,
    Similarity,
)
from simopt.equivalence.family import Interval
from simopt.equivalence.samples import synthetic
from simopt.equivalence.stability_bounds import Change
from simopt.equivalence.training import KernelFunction, TrainingSet
from simopt.problems.kernel_ridge import KernelRidge
from simopt.solvers.goodness.enclosure import enclosure

RNG = np.random.default_rng(18)
X = RNG.normal(size=(6, 2))
QUERIES = RNG.normal(size=(3, 2))
K = Gaussian(2.0).gram(X)
Y = np.array([1.0, -1.0, 1.0, 1.0, -1.0, -1.0])
TARGETS = RNG.normal(size=6)
CLASSES = np.array([1.0, 2.0, 3.0, 1.0, 2.0, 3.0])
RELEVANCE = np.array([0.0, 2.0, 1.0, 1.0, 0.0, 3.0])
QID = np.array([1.0, 1.0, 1.0, 2.0, 2.0, 2.0])
WEIGHTS = np.array([0.1, 0.3, 0.1, 0.2, 0.2, 0.1])
SORTED = np.array([0.0, 0.5, 1.0, 1.5, 2.5, 4.0])
LAMBDAS = np.array([0.1, 1.0])
MEMORY = float(1 << 20)
GENERATOR = Fresh(lambda: np.random.default_rng(0))
NOT_FINITE = (
    *(f"{bad}{how}" for bad in ("nan", "inf", "-inf") for how in ("", " in a list")),
    *("pandas with NA", "Dask with nan", "a long double beyond float64"),
)
LAZY = ("Dask", "Dask in single precision", "Dask with nan", "Dask with a mask", "Dask of complex", "Dask of text")
ANY_SHAPE = ("0-d", "a number", "one axis more", "one axis less", "empty")
QIDS = {
    "qid": (
        *(
            "nan",
            "nan in a list",
            "a true mask",
            "a mask without an entry",
            "None",
            "pandas.NA",
            "pandas with NA",
            "not a time",
            "empty",
            "0-d",
        ),
        *("a number", "one axis more", "a list", "a tuple", "big-endian", "spread out", "backwards", "read-only", "Dask", "Dask with nan"),
        *("masked numbers in a list", "Dask with a mask", "a set", "a dict", "an object", "dtype int64"),
    )
}


@cache
def training() -> TrainingSet:
    """Six samples."""
    return TrainingSet(X, TARGETS, Gaussian(2.0))


@cache
def power_law() -> Any:
    """m-power RLS to ridge regression."""
    return registry.get("equivalence", "m-power-rls-to-kernel-ridge").build()


@cache
def of_entry(kind: str, name: str) -> Any:
    """A family or an equivalence."""
    return registry.get(kind, name).build()


@cache
def carried() -> Any:
    """A map between two families, measured at two parameters."""
    from simopt.equivalence.parameter_map import transfer

    return transfer([0.1, 1.0], of_entry("family", "kernel-ridge"), of_entry("family", "kernel-ridge-over-n"), training())


def declared_ridge(lam: float, Z: TrainingSet) -> Any:
    """Ridge regression in coordinates."""
    import cvxpy as cp

    w = cp.Variable(Z.features.shape[1], name="w")
    return cp.Problem(cp.Minimize(cp.sum_squares(Z.targets - Z.features @ w) + lam * cp.sum_squares(w)))


@cache
def own_family() -> Any:
    """A family that is a declared problem."""
    from simopt.equivalence.declared_family import learned

    return learned("ridge", declared_ridge)


def monotone() -> MonotoneFunction:
    """Three nodes."""
    return MonotoneFunction(np.array([0.0, 1.0, 3.0]), np.array([0.0, 2.0, 2.5]))


def landmark_map() -> LandmarkMap:
    """Two landmarks."""
    return LandmarkMap(Gaussian(2.0), X[:2])


@cache
def goodness() -> Any:
    """A goodness problem."""
    from simopt.problems.goodness import Goodness

    return Goodness(K, TARGETS, 1.0)


@cache
def curve() -> Any:
    """Its curve."""
    from simopt.solvers.goodness.curve import goodness_curve

    return goodness_curve(goodness(), np.array([0.5, 1.0, 2.0]))


@cache
def sparse_fit() -> Any:
    """One column of two."""
    from simopt.solvers.sparse.forward_selection import forward_selection

    return forward_selection(X, TARGETS, count=1)


@cache
def sparse_problem() -> Any:
    """Smooth."""
    from simopt.problems.sparse_landmarked import SparseLandmarked

    return SparseLandmarked(X, TARGETS, 1.0, smoothness=1.0)


@cache
def mean_function() -> Any:
    """The mean classifier."""
    from simopt.solvers.herding.mean_function import mean_function

    return mean_function(X, Y, Gaussian(2.0))


@cache
def a_herd() -> Any:
    """A herd."""
    from simopt.estimators.herding.herd import herd

    return herd(X, Y, Gaussian(2.0), atoms=3)


@cache
def index_fit() -> Any:
    """A few rounds of L-Isotron."""
    from simopt.estimators.index_models.isotron import l_isotron

    return l_isotron(X, np.abs(TARGETS), max_iter=3)


@cache
def ordinal_rule() -> Any:
    """A rule for three classes."""
    from simopt.estimators.ordinal.ordinal import ordinal

    return ordinal(X, CLASSES, Gaussian(2.0), landmarks=2)


@cache
def ranker() -> Any:
    """A ranker."""
    from simopt.estimators.ranking.ranker import rank

    return rank(X, RELEVANCE, QID, Gaussian(2.0), landmarks=2)


def grid() -> Any:
    """Fits on a grid."""
    from simopt.solvers.power.grid import power_grid

    return power_grid(K, TARGETS, LAMBDAS, np.array([1.5]))


def smoother() -> Any:
    """Nadaraya and Watson's."""
    from simopt.solvers.squares.kernel_regression import NadarayaWatson

    return NadarayaWatson(Gaussian(2.0), X, TARGETS)


def linear_index() -> Any:
    """⟨w, x⟩."""
    from simopt.estimators.index_models.index_record import LinearIndex

    return LinearIndex(np.array([1.0, -1.0]))


def changes() -> Any:
    """What leaving one out changes."""
    from simopt.equivalence.stability import leave_one_out

    return leave_one_out(training(), 0.1)


SIMILARITIES: dict[str, Callable[[], Similarity]] = {
    "radial:Gaussian": lambda: Gaussian(2.0),
    "radial:Laplacian": lambda: Laplacian(2.0),
    "inner:Linear": Linear,
    "inner:Polynomial": Polynomial,
    "indefinite:Sigmoid": lambda: Sigmoid(1.0),
    "indefinite:Manhattan": Manhattan,
    "indefinite:Euclidean": Euclidean,
    "combine:Sum": lambda: Gaussian(2.0) + Linear(),
    "combine:Product": lambda: Gaussian(2.0) * Linear(),
    "combine:Normalised": lambda: Normalised(Linear()),
    "precomputed:Precomputed": lambda: Precomputed(K),
    "scaled:Scaled": lambda: Scaled(Gaussian(2.0), (1.0,) * X.shape[1]),
}


def entry(
    key: str,
    /,
    *,
    on: Any = None,
    then: Any = None,
    named: Any = None,
    admits: Any = None,
    leaves: Any = None,
    only: Any = None,
    slow: bool = False,
    undefined: bool = False,
    how: Any = None,
    foreign: tuple[str, ...] = (),
    **arguments: Any,
) -> EntryPoint:
    """A row."""
    return EntryPoint(key, arguments, on, then, named or {}, admits or {}, leaves or {}, only or {}, slow, undefined, how, foreign)


def similarity_entry_points() -> Iterator[EntryPoint]:
    """The same four entry points of every similarity."""
    for home, made in SIMILARITIES.items():
        key = f"data.similarities.{home}"
        numbers = home.startswith("precomputed")
        points, others = (np.array([[0.0], [2.0], [1.0]]), np.array([[1.0]])) if numbers else (X, QUERIES)
        yield entry(f"{key}.__call__", on=made, X=points, Y=others)
        yield entry(f"{key}.diagonal", on=made, X=points)
        yield entry(f"{key}.gram", on=made, X=points, memory=MEMORY)
        yield entry(f"{key}.gram_blocks", on=made, X=points, Y=others, memory=MEMORY)


def rows() -> Iterator[EntryPoint]:
    """All rows that are written by hand."""
    yield from similarity_entry_points()
    s = "data.similarities"
    yield entry(f"{s}.radial:Gaussian", mu=2.0)
    yield entry(f"{s}.radial:Gaussian.with_sigma", sigma=2.0)
    yield entry(f"{s}.radial:Gaussian.mean_squared_distance", X=X, weights=WEIGHTS, named={"X": "inputs"})
    yield entry(f"{s}.radial:Gaussian.mean_distance", X=X, weights=WEIGHTS, named={"X": "inputs"})
    yield entry(f"{s}.radial:Laplacian", width=2.0, norm=1)
    yield entry(f"{s}.radial:Laplacian.mean_distance", X=X, weights=WEIGHTS, norm=1, named={"X": "inputs"})
    yield entry(f"{s}.inner:Polynomial", degree=2, a=1.0, c=1.0)
    yield entry(f"{s}.indefinite:Sigmoid", a=1.0, r=-1.0)
    yield entry(f"{s}.indefinite:Sigmoid.for_dimension", dimension=2)
    yield entry(f"{s}.combine:Sum", terms=(Linear(), Linear()), weights=[1.0, 2.0], admits={"weights": ("empty",)})
    yield entry(f"{s}.precomputed:Precomputed", matrix=K, then=lambda made: made.matrix)
    yield entry(f"{s}.scaled:Scaled", base=Gaussian(2.0), factors=(1.0, 2.0))
    yield entry(f"{s}.scaled:Scaled.standardised", rule=lambda X, weights: Gaussian(2.0), X=X, weights=WEIGHTS)
    yield entry(f"{s}.rules:GaussianWidth", factor=1.0)
    yield entry("estimators.widths:LeaveOneOutWidth", widths=np.array([0.5, 1.0]), admits={"widths": GRIDS["powers"]})
    yield entry(f"{s}.named:named", name="gaussian", X=X, weights=WEIGHTS, named={"X": "inputs"})

    d = "data.landmarks"
    yield entry(f"{d}:LandmarkMap", similarity=Gaussian(2.0), landmarks=X, then=lambda made: made.landmarks)
    yield entry(
        f"{d}:LandmarkMap.from_data", X=X, count=2, rng=GENERATOR, similarity=Gaussian(2.0), memory=MEMORY, named={"count": "landmarks"}
    )
    yield entry(f"{d}:LandmarkMap.__call__", on=landmark_map, X=QUERIES, memory=MEMORY)
    yield entry(f"{d}:LandmarkMap.blocks", on=landmark_map, X=QUERIES, memory=MEMORY)
    yield entry(f"{d}:LandmarkMap.predict", on=landmark_map, X=QUERIES, w=np.array([1.0, 2.0]), memory=MEMORY)
    yield entry(f"{d}:LandmarkMap.write", on=landmark_map, X=QUERIES, out=Fresh(lambda: np.empty((3, 2))), memory=MEMORY)
    yield entry(f"{d}:LandmarkMap.lazy", how=lambda X: landmark_map().lazy(dask.array.asarray(X)).compute(), X=QUERIES, only={"X": LAZY})
    yield entry(f"{d}:scaled", similarities=K)
    yield entry(f"{d}:checked_values", values=K, shape=(6, 6), named={"values": "similarity"}, leaves={"first": "counted by the caller"})

    q = "data.queries"
    yield entry(f"{q}:Queries.of", relevance=RELEVANCE, qid=QID, only=QIDS)
    yield entry(
        f"{q}:Queries.stacked", how=lambda features, relevance: Queries.stacked([features], [relevance]), features=X, relevance=RELEVANCE
    )
    yield entry(f"{q}:Queries.rankings", on=lambda: Queries.of(RELEVANCE, QID), scores=TARGETS)
    yield entry(
        f"{q}:Queries.ndcg",
        on=lambda: Queries.of(RELEVANCE, QID),
        scores=TARGETS,
        k=2,
        admits={"k": ("a list", "an array", "the text bytearray(b'3')")},
    )
    yield entry(f"{q}:Queries.subset", on=lambda: Queries.of(RELEVANCE, QID), keep=[1, 0], named={"keep": "queries"})
    yield entry(f"{q}:defined", relevance=RELEVANCE, qid=QID, only=QIDS)
    yield entry(f"{q}:grouped", qid=QID, only=QIDS)
    yield entry(
        f"{q}:as_numbers",
        relevance=RELEVANCE,
        admits={
            "relevance": (
                *(f"{bad}{how}" for bad in ("nan", "inf", "-inf") for how in ("", " in a list")),
                *ANY_SHAPE,
                "pandas with NA",
                "Dask with nan",
                "a long double beyond float64",
            )
        },
    )

    r = "data.relevance"
    yield entry(f"{r}:discount", t=np.array([1.0, 2.0, 3.0]), named={"t": "positions"}, admits={"t": ANY_SHAPE})
    yield entry(f"{r}:discounts", m=3)
    yield entry(f"{r}:eta", r=RELEVANCE, named={"r": "relevance"})
    yield entry(f"{r}:gain", r=RELEVANCE, named={"r": "relevance"}, admits={"r": ANY_SHAPE})
    yield entry(f"{r}:list_norm", v=RELEVANCE, k=2)
    yield entry(f"{r}:ndcg", scores=TARGETS, r=RELEVANCE, k=2, named={"r": "relevance"})
    yield entry(f"{r}:ndcg_loss", scores=TARGETS, r=RELEVANCE, named={"r": "relevance"})
    yield entry(f"{r}:positions", scores=TARGETS)
    yield entry(f"{r}:random_ndcg", r=RELEVANCE, k=2, named={"r": "relevance"})
    yield entry(f"{r}:ranking", scores=TARGETS)
    yield entry(
        f"{r}:relevance", name="relevance", r=RELEVANCE, minimum=2, named={"r": "relevance"}, leaves={"minimum": "a constant of the caller"}
    )

    yield entry("data.rows:Rows", name="points", points=X, memory=MEMORY, then=lambda rows: [block for _, block in rows.blocks()])
    yield entry("data.rows:Rows.of", name="points", points=X, memory=MEMORY, then=lambda rows: [block for _, block in rows.blocks()])
    yield entry("data.row_blocks:feature_rows", name="features", features=X)
    yield entry("data.datasets.dataset:Dataset", name="made", features=X, feature_names=("a", "b"), targets=TARGETS, groups=QID, folds=QID)
    yield entry("data.datasets.synthetic:friedman", rng=GENERATOR, n=5, noise=1.0)

    e = "equivalence"
    yield entry(f"{e}.training:TrainingSet", inputs=X, targets=TARGETS, similarity=Gaussian(2.0))
    yield entry(f"{e}.training:TrainingSet.without", on=training, i=2, named={"i": "sample"})
    yield entry(
        f"{e}.training:TrainingSet.replace",
        on=training,
        i=2,
        x=np.array([1.0, 2.0]),
        y=1.0,
        named={"i": "sample"},
        admits={"x": ("one axis less",)},
    )
    yield entry(f"{e}.training:TrainingSet.subset", on=training, indices=[0, 2], named={"indices": "sample"})
    yield entry(f"{e}.training:TrainingSet.with_targets", on=training, targets=TARGETS)
    yield entry(f"{e}.training:TrainingSet.function", on=training, coefficients=TARGETS, error=0.1, admits={"error": ("inf",)})
    yield entry(
        f"{e}.training:KernelFunction",
        similarity=Gaussian(2.0),
        centres=X,
        coefficients=TARGETS,
        error=0.1,
        log_norm=1.0,
        admits={"error": ("inf",), "log_norm": ("inf", "-inf", "nan"), "centres": ("empty",)},
    )
    yield entry(f"{e}.training:KernelFunction.__call__", on=lambda: KernelFunction(Gaussian(2.0), X, TARGETS), X=QUERIES)
    yield entry(f"{e}.training:zero", similarity=Gaussian(2.0), dimension=2)
    yield entry(f"{e}.stability:leave_one_out", Z=training(), regularization=0.1, power=2.0)
    yield entry(f"{e}.stability:swap", Z=training(), x=np.array([1.0, 2.0]), y=1.0, regularization=0.1, power=2.0)
    yield entry(f"{e}.stability:Changes.losses", on=changes, X=QUERIES, y=np.array([1.0, 2.0, 3.0]))
    yield entry(f"{e}.stability:Changes.worst_losses", on=changes, X=QUERIES, target_bound=1.0)
    yield entry(f"{e}.stability:Changes.function", on=changes, i=1)
    b = f"{e}.stability_bounds"
    bounds: dict[str, Any] = {"regularization": 0.1, "power": 2.0, "target_bound": 1.0, "kappa": 1.0}
    yield entry(f"{b}:norm_bound", regularization=0.1, power=2.0, target_bound=1.0)
    yield entry(f"{b}:admissibility", **bounds)
    yield entry(f"{b}:loss_bound", distance=0.1, **bounds)
    yield entry(f"{b}:theorem3", n=5, **bounds)
    for name in ("distance_bound", "sharpened", "subquadratic"):
        yield entry(f"{b}:{name}", n=5, **bounds, change=Change.SWAP)
    yield entry(f"{e}.family:Interval", low=0.0, high=2.0, admits={"low": ("-inf",), "high": ("inf",)})
    yield entry(f"{e}.family:Interval.spaced", on=lambda: Interval(0.0, 2.0), count=3, centre=0.0, reach=1.0)
    yield entry(f"{e}.training:TrainingSet.of_features", on=training, w=np.ones(6))
    yield entry(
        f"{e}.declared_family:learned",
        name="ridge",
        pose=declared_ridge,
        tol=1e-6,
        time_limit=10.0,
        admits={"time_limit": ("inf", "100000000")},
    )
    for name in ("solved", "radius"):
        yield entry(f"{e}.declared_family:DeclaredFamily.{name}", on=own_family, parameter=0.1, Z=training(), slow=True)
    yield entry(f"{e}.declared_family:DeclaredFamily.again", on=own_family, tol=1e-6)
    ridge, modified = of_entry("family", "kernel-ridge"), of_entry("family", "kernel-ridge-over-n")
    yield entry(
        f"{e}.parameter_map:transfer",
        grid=[0.1, 1.0],
        from_=ridge,
        to=modified,
        sample=training(),
        resolution=1e-8,
        named={"grid": "parameters"},
        admits={"grid": ("a set", "a dict")},
    )
    for name in ("__call__", "enclosure"):
        yield entry(f"{e}.parameter_map:ParameterMap.{name}", on=carried, parameter=0.2)
    yield entry(f"{e}.matrix:matrix", names=["kernel-ridge"], samples=4, resolution=1e-5, jobs=1, slow=True)
    yield entry(f"{e}.family:Family.inside", on=lambda: of_entry("family", "kernel-ridge"), parameter=0.1, Z=training())
    yield entry(f"{e}.family:Family.__call__", on=lambda: of_entry("family", "kernel-ridge"), parameter=0.1, Z=training())
    yield entry(f"{e}.equivalence:Equivalence.__call__", on=power_law, parameter=0.1, Z=training())
    yield entry(f"{e}.equivalence:Equivalence.back", on=power_law, parameter=0.1, Z=training())
    yield entry(f"{e}.strong:compare", equivalence=power_law(), parameter=0.1, Z=training(), other=training().without(1), undefined=True)
    yield entry(
        f"{e}.strong:verify_strong",
        equivalence=of_entry("equivalence", "kernel-ridge-to-kernel-ridge-over-n"),
        sets=[training()],
        parameters=[0.1, 1.0],
        resolution=1e-8,
        slow=True,
        admits={"parameters": ("empty",)},
    )
    yield entry(
        f"{e}.weak:verify_weak",
        equivalence=power_law(),
        Z=training(),
        parameters=[0.1, 1.0],
        resolution=1e-8,
        slow=True,
        admits={"parameters": ("empty", "a set", "a dict")},
    )
    yield entry(
        f"{e}.map_search:find_map",
        source=of_entry("family", "kernel-ridge"),
        target=of_entry("family", "kernel-ridge-over-n"),
        parameter=0.1,
        Z=training(),
        reach=300.0,
        resolution=1e-8,
        slow=True,
        undefined=True,
    )
    pair = {"source": of_entry("family", "kernel-ridge"), "target": of_entry("family", "kernel-ridge-over-n")}
    some: dict[str, Any] = {"parameters": [0.1, 1.0], "resolution": 1e-8, "slow": True, "admits": {"parameters": ("a set", "a dict")}}
    yield entry(f"{e}.decide:decide", **pair, Z=training(), **some)
    yield entry(f"{e}.decide_strong:decide_strong", **pair, sets=[training()], **some)
    yield entry(f"{e}.samples:sample_for", families=list(pair.values()), dataset=synthetic(6), samples=5, similarity=Gaussian(2.0))
    yield entry(f"{e}.samples:synthetic", count=6, named={"count": "samples"})
    yield entry(
        f"{e}.map_search:recovered",
        source=of_entry("family", "kernel-ridge"),
        target=of_entry("family", "kernel-ridge-over-n"),
        resolution=1e-8,
        then=lambda found: found(0.1, training()),
        slow=True,
    )

    yield entry("core.threads:at_once", count=2)
    m = "core.monotone_function:MonotoneFunction"
    yield entry(m, nodes=SORTED, values=SORTED)
    yield entry(f"{m}.through", positions=SORTED, values=SORTED, named={"positions": "positions|nodes"})
    yield entry(f"{m}.__call__", on=monotone, t=SORTED, admits={"t": ANY_SHAPE})
    yield entry(f"{m}.derivative", on=monotone, t=SORTED, admits={"t": ANY_SHAPE})
    yield entry(f"{m}.inverse", on=monotone, v=SORTED, admits={"v": ANY_SHAPE})

    ridge = KernelRidge(K, TARGETS, 0.1)
    yield entry(":solve", problem=ridge, tol=1e-8, time_limit=60.0, max_iter=4, admits={"time_limit": ("inf", "100000000")})
    yield entry(
        ":certify",
        how=lambda alpha, v, tol: simopt.certify(ridge, {"alpha": alpha}, {"predictions": v}, tol=tol),
        alpha=TARGETS,
        v=TARGETS,
        tol=1e-8,
        named={"v": "predictions"},
        admits={"alpha": ("one axis more",), "v": (*NOT_FINITE, "one axis more")},  # flat or not; multipliers that are no use are not used
    )
    yield entry(
        ":path",
        problem=ridge,
        field="regularization",
        values=[0.1, 1.0],
        tol=1e-8,
        named={"values": "regularization"},
        admits={"values": ("empty", "a set")},
    )
    yield entry("problems.norms.gram_factor:checked", name="gram", gram=K, n=6, leaves={"n": "counted by the caller"})

    yield entry("claims.statistics:clopper_pearson", bad=2, n=10, alpha=0.01)
    yield entry("claims.statistics:error_part", k=2, alpha=0.001)

    p = "solvers.power"
    yield entry(f"{p}.single_fit:power_fit", gram=K, targets=TARGETS, regularization=0.1, power=1.5, tol=1e-12)
    yield entry(f"{p}.grid:power_grid", gram=K, targets=TARGETS, regularizations=LAMBDAS, powers=np.array([1.5, 2.0]), admits=GRIDS)
    yield entry(f"{p}.grid:PowerGrid.coefficients", on=grid, row=0, column=1)
    yield entry(f"{p}.grid:PowerGrid.certify", on=grid, row=0, column=1, gram=K, targets=TARGETS)
    yield entry(f"{p}.stationary:stationary_points", gram=K, targets=TARGETS, regularization=0.1, power=0.5)
    yield entry(
        "solvers.squares.constrained_fit:constrained_fit", gram=K, targets=TARGETS, norm_bound=0.5, named={"norm_bound": "norm bound"}
    )
    yield entry(
        "solvers.squares.cross_validation:cross_validate",
        gram=K,
        targets=TARGETS,
        regularizations=LAMBDAS,
        powers=np.array([1.5, 2.0]),
        folds=2,
        admits=GRIDS,
    )
    yield entry(
        "solvers.squares.kernel_regression:NadarayaWatson",
        similarity=Gaussian(2.0),
        points=X,
        targets=TARGETS,
        shift=0.5,
        fallback=0.0,
        then=lambda made: made(QUERIES),
    )
    yield entry(
        "solvers.squares.kernel_regression:NadarayaWatson.__call__", on=smoother, X=QUERIES, memory=MEMORY, named={"X": "X|queries"}
    )
    yield entry(
        "solvers.svm.path:svm_path",
        gram=K,
        labels=Y,
        regularizations=LAMBDAS,
        tol=1e-8,
        admits={"regularizations": ("0-d", "a number", "one axis less")},
    )
    yield entry("solvers.svm.path:mean_threshold", gram=K, labels=Y)
    yield entry("solvers.svm.path:margin_data", gram=K, labels=Y)
    yield entry(
        "solvers.isotonic.lipschitz:lipschitz_isotonic",
        z=SORTED,
        y=TARGETS,
        lipschitz=1.0,
        weights=WEIGHTS,
        lower_slopes=np.zeros(5),
        upper_slopes=np.ones(5),
        low=-9.0,
        high=9.0,
        named={"z": "positions", "y": "targets"},
        admits={
            "lipschitz": ("inf",),
            "upper_slopes": ("inf", "inf in a list", "Dask with inf", "a long double beyond float64"),
            "low": ("-inf",),
            "high": ("inf",),
        },
    )
    f = "solvers.sparse"
    streamed: dict[str, Any] = {"features": X, "targets": TARGETS, "count": 2, "memory": MEMORY}
    products: dict[str, Any] = {"gram": X.T @ X, "products": X.T @ TARGETS, "square": float(TARGETS @ TARGETS), "count": 2}
    yield entry(f"{f}.forward_selection:forward_selection", **streamed, tolerance=0.0)
    yield entry(f"{f}.forward_selection:forward_selection_gram", **products, tolerance=0.0)
    yield entry(f"{f}.foba:forward_swap", **streamed, max_moves=9)
    yield entry(f"{f}.foba:forward_swap_gram", **products, max_moves=9)
    yield entry(f"{f}.foba:forward_backward", **streamed, tolerance=0.0, ratio=0.5, max_moves=9)
    yield entry(f"{f}.foba:forward_backward_gram", **products, tolerance=0.0, ratio=0.5, max_moves=9)
    yield entry(f"{f}.forward_selection:stopping_rule", count=1, tolerance=0.1, width=2, leaves={"width": "counted by the caller"})
    yield entry(f"{f}.fit:SparseFit.predict", on=sparse_fit, X=QUERIES)
    yield entry(f"{f}.fit:SparseFit.first", on=sparse_fit, count=1)
    yield entry(f"{f}.forward_greedy:forward_greedy", problem=sparse_problem(), tolerance=0.1, steps=5)
    yield entry(f"{f}.forward_greedy:iteration_count", problem=sparse_problem(), tolerance=0.1)
    h = "solvers.herding"
    yield entry(f"{h}.mean_embedding:mean_embedding", points=X, labels=Y, similarity=Gaussian(2.0), target=WEIGHTS, memory=MEMORY)
    yield entry(
        f"{h}.mean_function:mean_function",
        points=X,
        labels=Y,
        similarity=Gaussian(2.0),
        target=WEIGHTS,
        memory=MEMORY,
        then=lambda f: f.decision(QUERIES),
    )
    yield entry(f"{h}.mean_function:MeanFunction.decision", on=mean_function, X=QUERIES)
    yield entry(f"{h}.mean_function:MeanFunction.predict", on=mean_function, X=QUERIES)
    yield entry(
        f"{h}.mean_function:weighted_sums",
        similarity=Gaussian(2.0),
        centres=Rows("points", X),
        coefficients=TARGETS,
        points=QUERIES,
        memory=MEMORY,
        named={"points": "X"},
        leaves={"coefficients": "an Array: of a checked sample"},
    )
    yield entry(f"{h}.sample:WeightedSample.of", points=X, labels=Y, similarity=Gaussian(2.0), target=WEIGHTS, memory=MEMORY)

    g = "solvers.goodness"
    yield entry(
        f"{g}.curve:goodness_curve",
        problem=goodness(),
        bounds=np.array([0.5, 1.0]),
        named={"bounds": "bound"},
        admits={"bounds": ("0-d", "a number", "one axis less")},
    )
    yield entry(f"{g}.curve:goodness_breakpoints", problem=goodness(), high=1.0, low=0.0)
    yield entry(
        f"{g}.curve_record:GoodnessCurve.enclose", on=curve, bound=1.0, admits={"bound": ("a list", "an array", "the text bytearray(b'3')")}
    )
    yield entry(
        f"{g}.curve_record:GoodnessCurve.__call__",
        on=curve,
        bound=1.0,
        admits={"bound": ("a list", "an array", "the text bytearray(b'3')")},
    )
    yield entry(f"{g}.curve_record:GoodnessCurve.smallest_bound", on=curve, level=0.5)
    small: dict[str, Any] = {"gram": K[:3, :3], "masses": WEIGHTS[:3] / 0.5}
    exact = {
        **dict.fromkeys(("gram", "targets", "masses", "thresholds"), FRACTIONS),
        **dict.fromkeys(("bound", "level", "epsilon", "margin", "gamma", "delta"), FRACTION),
    }
    yield entry(f"{g}.exact:exact_goodness", **small, targets=TARGETS[:3], bound=1.0, epsilon=0.1, margin=1.0, admits=exact, slow=True)
    yield entry(
        f"{g}.exact:exact_smallest_bound", **small, targets=TARGETS[:3], level=0.9, epsilon=0.1, margin=1.0, admits=exact, slow=True
    )
    yield entry(
        f"{g}.ordinal_exact:exact_ordinal_goodness",
        **small,
        labels=[1.0, 2.0, 1.0],
        classes=2,
        bound=1.0,
        gamma=1.0,
        delta=0.0,
        admits=exact,
        slow=True,
    )
    yield entry(
        f"{g}.ordinal_exact:exact_ordinal_bound",
        **small,
        labels=[1.0, 2.0, 1.0],
        classes=2,
        level=0.9,
        gamma=1.0,
        delta=0.0,
        admits=exact,
        slow=True,
    )
    yield entry(
        f"{g}.direct_reduction:direct_reduction_goodness",
        **small,
        labels=[1.0, 2.0, 1.0],
        classes=2,
        bound=1.0,
        thresholds=[0.5],
        most=20000,
        admits=exact,
        slow=True,
    )
    yield entry(f"{g}.choice:exhaustive", problem=choice(), tol=1e-9, slow=True)
    yield entry(
        f"{g}.enclosure:enclosure",
        how=lambda v, q, bits: enclosure(goodness(), {"v": v}, {"predictions": q}, bits),
        v=TARGETS,
        q=TARGETS,
        bits=106,
        named={"v": "v", "q": "predictions"},
    )

    i = "estimators.index_models"
    rounds: dict[str, Any] = {
        "X": X,
        "y": np.abs(TARGETS),
        "max_iter": 3,
        "tol": 1e-10,
    }
    yield entry(f"{i}.isotron:glm_tron", **rounds, start=np.array([0.1, 0.2]), rate=1.0, leaves={"patience": "needs held out samples, too"})
    yield entry(
        f"{i}.isotron:l_isotron",
        **rounds,
        start=np.array([0.1, 0.2]),
        lipschitz=1.0,
        weights=WEIGHTS,
        rate=1.0,
        leaves={"patience": "needs held out samples, too", "held_weights": "needs held out samples, too"},
        admits={"lipschitz": ("inf",)},
    )
    yield entry(f"{i}.isotron:isotron", X=X, y=np.abs(TARGETS), max_iter=3)
    yield entry(
        f"{i}.alternating_sim:alternating_sim",
        **rounds,
        lipschitz=1.0,
        descents=2,
        admits={"lipschitz": ("inf",)},
        leaves={"patience": "needs held out samples, too"},
    )
    yield entry(
        f"{i}.kernel_isotron:kernel_l_isotron",
        training=training(),
        lipschitz=1.0,
        weights=WEIGHTS,
        max_iter=3,
        admits={"lipschitz": ("inf",)},
        leaves={"held_weights": "needs held out samples, too"},
    )
    yield entry(f"{i}.kernel_isotron:kernel_glm_tron", training=training(), max_iter=3)
    yield entry(f"{i}.kernel_isotron:kernel_isotron", training=training(), max_iter=3)
    yield entry(f"{i}.index_model:IndexModel.__call__", on=lambda: index_fit().model, X=QUERIES, admits={"X": ("empty",)})
    yield entry(f"{i}.index_model:IndexModel.error", on=lambda: index_fit().model, X=QUERIES, y=np.array([1.0, 2.0, 3.0]))
    yield entry(f"{i}.index_record:LinearIndex.__call__", on=linear_index, X=QUERIES, admits={"X": ("empty",)})
    yield entry(f"{i}.transfer:clipped_linear", slope=1.0, intercept=0.0, then=lambda made: made(np.array([0.1, 0.2])))
    yield entry(f"{i}.transfer:checked_transfer", u=np.tanh, lipschitz=1.0, admits={"lipschitz": ("inf",)})
    yield entry(f"{i}.transfer:find_fault", u=np.tanh, lipschitz=1.0, admits={"lipschitz": ("inf",)})

    o = "estimators.ordinal"
    yield entry(
        f"{o}.ordinal:ordinal",
        points=X,
        labels=CLASSES,
        similarity=Gaussian(2.0),
        classes=3,
        landmarks=2,
        radius=1.0,
        gamma=1.0,
        delta=0.0,
        weights=WEIGHTS,
        tol=1e-8,
        time_limit=60.0,
        seed=0,
        admits={"time_limit": ("inf", "100000000"), "landmarks": ("a matrix",)},
        leaves={"thresholds": "in the next row", "regularization": "in the next row"},
        slow=True,
    )
    yield entry(
        f"{o}.ordinal:ordinal",
        points=X,
        labels=CLASSES,
        similarity=Gaussian(2.0),
        landmarks=X[:2],
        regularization=0.1,
        thresholds=[1.5, 2.5],
        leaves={
            name: "in the row above"
            for name in ("points", "labels", "classes", "radius", "gamma", "delta", "weights", "tol", "time_limit", "seed")
        },
        slow=True,
    )
    yield entry(f"{o}.ordinal_rule:OrdinalRule.scores", on=ordinal_rule, X=QUERIES)
    yield entry(f"{o}.ordinal_rule:OrdinalRule.predict", on=ordinal_rule, X=QUERIES)
    yield entry(f"{o}.ordinal_rule:OrdinalRule.margins", on=ordinal_rule, X=QUERIES, labels=[1.0, 2.0, 3.0])
    yield entry(f"{o}.ordinal_rule:OrdinalRule.evaluate", on=ordinal_rule, X=QUERIES, labels=[1.0, 2.0, 3.0])
    yield entry(
        f"{o}.ordinal_rule:OrdinalRule.labels_of",
        on=ordinal_rule,
        scores=TARGETS,
        admits={"scores": ("inf", "-inf", "inf in a list", "-inf in a list", "a long double beyond float64", *ANY_SHAPE)},
    )
    yield entry(
        f"{o}.ordinal_rule:OrdinalRule.checked",
        on=ordinal_rule,
        labels=[1.0, 2.0, 3.0],
        length=3,
        leaves={"length": "counted by the caller"},
    )
    yield entry(f"{o}.ordinal:equispaced", classes=3)
    k = "estimators.ranking.ranker"
    yield entry(
        f"{k}:rank",
        points=X,
        relevance=RELEVANCE,
        qid=QID,
        similarity=Gaussian(2.0),
        landmarks=2,
        radius=1.0,
        tol=1e-8,
        time_limit=60.0,
        seed=0,
        only=QIDS,
        admits={"time_limit": ("inf", "100000000"), "landmarks": ("a matrix",)},
        leaves={"regularization": "as of ordinal"},
        slow=True,
    )
    yield entry(f"{k}:LandmarkedRanker.scores", on=ranker, X=QUERIES)
    yield entry(f"{k}:LandmarkedRanker.rankings", on=ranker, X=X, qid=QID, only=QIDS)
    yield entry(
        f"{k}:LandmarkedRanker.evaluate",
        on=ranker,
        X=X,
        relevance=RELEVANCE,
        qid=QID,
        cuts=2,
        only=QIDS,
        admits={"cuts": ("a list", "an array", "the text bytearray(b'3')")},
    )
    r = "estimators.herding"
    yield entry(
        f"{r}.herd:herd",
        points=X,
        labels=Y,
        similarity=Gaussian(2.0),
        error=0.3,
        atoms=3,
        target=WEIGHTS,
        candidates=[0.0, 2.0, 4.0],
        leaves={name: "walked of herd_blocks" for name in ("block_size", "jobs", "seed")},
        max_iter=20,
        memory=MEMORY,
    )
    yield entry(
        f"{r}.herd_task:herd_whole",
        points=X,
        labels=Y,
        similarity=Gaussian(2.0),
        error=0.3,
        atoms=3,
        target=WEIGHTS,
        candidates=[0.0, 2.0, 4.0],
        max_iter=20,
        memory=MEMORY,
    )
    yield entry(
        f"{r}.herd_blocks:herd_blocks",
        points=X,
        labels=Y,
        similarity=Gaussian(2.0),
        block_size=3,
        error=0.3,
        atoms=3,
        target=WEIGHTS,
        jobs=1,
        seed=0,
        memory=MEMORY,
        slow=True,
        leaves={"jobs": "starts processes"},
    )
    yield entry(
        f"{r}.herd_blocks:herd_again",
        points=X,
        labels=Y,
        similarity=Gaussian(2.0),
        error=0.3,
        until=4,
        block_size=3,
        seed=0,
        memory=MEMORY,
        slow=True,
    )
    yield entry(f"{r}.herd_blocks:partition", n=6, block_size=3, seed=0)
    yield entry(f"{r}.herd_record:Herd.decision", on=a_herd, X=QUERIES)
    yield entry(f"{r}.herd_record:Herd.predict", on=a_herd, X=QUERIES)
    yield entry(f"{r}.herd_record:Herd.bound_at", on=a_herd, X=QUERIES)

    for name, field in (("Ridge", "regularization"), ("Ball", "radius"), ("Penalty", "regularization"), ("Capacity", "capacity")):
        yield entry(f"problems.bounds:{name}", **{field: 1.0})
    c = "problems.examples"
    yield entry(f"{c}.goodness:four_points", gamma=0.1, epsilon1=0.2)
    yield entry(f"{c}.ordinal:two_points", gamma=0.1, epsilon1=0.2, gamma1=1.0)
    yield entry("problems.convex_potential:three_points", gamma=0.1, noise=0.2)
    yield entry("problems.thresholds.constant_scores:equispaced", classes=3, spacing=1.0, centre=0.0)


GRIDS = {name: ("0-d", "a number", "one axis less") for name in ("regularizations", "powers")}
FRACTIONS = ("numbers as text", "numbers as text in a list", "Dask of text", "pandas text", "beyond 2^53")
FRACTION = (*(f"the text {text!r}" for text in ("0.0", "0.1", "0.9", "1.0")), "the text np.str_('3')")


@cache
def choice() -> Any:
    """A goodness problem with a choice."""
    from simopt.problems.goodness_choice import GoodnessChoice

    return GoodnessChoice(K, TARGETS, 1.0, 0.5)


def problem_entry_points() -> Iterator[EntryPoint]:
    """Every field of every problem, of its first example; a bound is walked through its own number."""
    registry.load()
    for name, cls in sorted(registry.items("problem")):
        example = next(iter(cls.examples(np.random.default_rng(0)))).problem
        fields = {item.name: getattr(example, item.name) for item in dataclasses.fields(example) if item.init}
        walked = {
            field: value for field, value in fields.items() if isinstance(value, np.ndarray | float | int) and not isinstance(value, bool)
        }
        ids = {field for field, value in walked.items() if isinstance(value, np.ndarray) and value.dtype.kind not in "f"}
        made = {
            field: 1.0 if isinstance(value, float) and np.isinf(value) else value for field, value in walked.items() if field not in ids
        }

        def how(cls: Any = cls, fields: Any = fields, **values: Any) -> Any:
            return cls(**{**fields, **values})

        yield entry(
            f"problems:{name}",
            how=how,
            admits=PROBLEMS.get(name, {}) | {"low": ("-inf",), "high": ("inf",)},
            named={"relevance": "relevance|qid"},
            **made,
        )


PROBLEMS: dict[str, dict[str, tuple[str, ...]]] = {
    name: {field: ("inf",)}
    for name, field in (
        ("lipschitz-isotonic", "lipschitz"),
        ("sup-distance", "lipschitz"),
        ("landmarked-svr", "smoothness"),
        ("landmarked-svr-penalised", "smoothness"),
        ("sparse-landmarked", "smoothness"),
    )
}


def solver_entry_points() -> Iterator[EntryPoint]:
    """Every option of every hand-written solver that is a number, on the first example of its problem."""
    registry.load()
    for name, spec in sorted(registry.items("solver")):
        if not spec.solves[0].__module__.startswith("simopt."):  # one of other tests, which may work for as long as it is told
            continue
        example = next(iter(spec.solves[0].examples(np.random.default_rng(0)))).problem
        options = {
            option: value for option, value in spec.options.items() if isinstance(value, int | float) and not isinstance(value, bool)
        }
        if not options or spec.reason_against(example):
            continue

        def how(example: Any = example, spec: Any = spec, **values: Any) -> Any:
            return simopt.solve(example, spec.name, **values).point

        yield entry(f"solvers:{name}", how=how, slow=True, **options)


ESTIMATORS: dict[str, dict[str, Any]] = {
    "GLMTronRegressor": {"radius": 10.0},
    "HerdedMeanClassifier": {"error": 0.3, "atoms": 3, "max_iter": 20},
    "HingeSVMClassifier": {"regularization": 0.1},
    "HingeSVMClassifierCV": {"regularizations": LAMBDAS, "tol": 1e-6},
    "LIsotronRegressor": {"lipschitz": 1.0, "rate": 1.0, "max_iter": 5, "validation_fraction": 0.2, "patience": 3, "tol": 1e-6},
    "LandmarkedOrdinalClassifier": {"landmarks": 2, "radius": 1.0, "gamma": 1.0, "delta": 0.0},
    "LandmarkTransformer": {"landmarks": 2},
    "LandmarkedOrdinalClassifierCV": {"landmarks": 2, "regularizations": LAMBDAS, "gamma": 1.0, "delta": 0.0, "tol": 1e-6},
    "LandmarkedSVRegressorCV": {"landmarks": 2, "regularizations": LAMBDAS, "epsilon": 0.1, "tol": 1e-6},
    "LandmarkedRidgeCV": {"landmarks": 2, "regularizations": LAMBDAS, "radii": np.array([1.0, 2.0])},
    "LandmarkedRidgeRegressor": {"landmarks": 2, "regularization": 0.1},
    "LandmarkedSVRegressor": {"landmarks": 2, "radius": 1.0, "epsilon": 0.1},
    "LipschitzIsotonicRegressor": {"lipschitz": 1.0, "feature": 1, "low": -9.0, "high": 9.0},
    "MPowerRegressor": {"power": 1.5, "regularization": 0.1},
    "MPowerRegressorCV": {"regularizations": LAMBDAS, "powers": np.array([1.5, 2.0])},
    "MeanSimilarityClassifier": {"tol": 1e-8},
    "NadarayaWatsonRegressor": {"shift": 0.5, "fallback": 0.0},
    "SparseLandmarkedSVRegressor": {"landmarks": 2, "radius": 1.0, "epsilon": 0.1, "smoothness": 1.0},
}


ADMITTED: dict[str, dict[str, tuple[str, ...]]] = {
    "LIsotronRegressor": {"lipschitz": ("inf",)},
    "HingeSVMClassifierCV": {"regularizations": ("0-d",)},
    "MPowerRegressorCV": {"powers": GRIDS["powers"], "regularizations": ("0-d",)},
    "LandmarkedOrdinalClassifier": {"landmarks": ("a matrix",)},
    "LandmarkTransformer": {"landmarks": ("a matrix",)},
    "LandmarkedOrdinalClassifierCV": {"landmarks": ("a matrix",), "regularizations": ("0-d",)},
    "LandmarkedSVRegressorCV": {"landmarks": ("a matrix",), "regularizations": ("0-d",)},
    "LandmarkedRidgeCV": {"landmarks": ("a matrix",), "regularizations": ("0-d",), "radii": GRIDS["powers"]},
    "LandmarkedRidgeRegressor": {"landmarks": ("a matrix",)},
    "LandmarkedSVRegressor": {"landmarks": ("a matrix",)},
    "SparseLandmarkedSVRegressor": {"landmarks": ("a matrix",), "smoothness": ("inf",)},
    "LipschitzIsotonicRegressor": {"lipschitz": ("inf",), "low": ("-inf",), "high": ("inf",)},
    "HerdedMeanClassifier": {"sample_weight": ("beyond 2^53",)},
}
LABELS = (
    "a true mask",
    "a mask without an entry",
    "a list",
    "read-only",
    "spread out",
    "backwards",
    "big-endian",
    "nan",
    "inf",
    "None",
    "pandas with NA",
)


def fitted_prediction(
    kind: Any, values: dict[str, Any], labels: Any, X: Any = X, y: Any = None, sample_weight: Any = None, **changed: Any
) -> Any:
    """What an estimator with these parameters predicts, or makes of queries, once it is fitted."""
    weights = {} if sample_weight is None else {"sample_weight": sample_weight}
    model = kind(**{**values, **changed}).fit(X, labels if y is None else y, **weights)
    return model.predict(QUERIES) if hasattr(model, "predict") else model.transform(QUERIES)


def estimator_entry_points() -> Iterator[EntryPoint]:
    """`fit` with every parameter that is a number, and what a fitted estimator does with queries."""
    from sklearn.utils.validation import has_fit_parameter

    from simopt import estimators

    for name in estimators.__all__:
        kind, numbers = getattr(estimators, name), ESTIMATORS[name]
        folds = {"cv": 2} if "Classifier" in name and "cv" in kind._get_param_names() else {}
        seed = folds | {"random_state": 0} if "random_state" in kind._get_param_names() else folds
        classes = "Classifier" in name
        y = (CLASSES if "Ordinal" in name else Y) if classes else TARGETS

        weights = {"sample_weight": WEIGHTS} if has_fit_parameter(kind, "sample_weight") else {}

        labels = {"only": {"y": LABELS}} if classes else {}
        key = f"{kind.__module__.removeprefix('simopt.')}:{name}"
        yield entry(
            f"{key}.fit",
            how=partial(fitted_prediction, kind, {**numbers, **seed}, y),
            X=X,
            **({} if name.endswith("Transformer") else {"y": y}),  # which looks at no y
            slow=True,
            foreign=("X", "y"),
            # beside a huge weight the others vanish: one class is left, or an empty fold
            named={"sample_weight": "sample_weight|y|cv|patience"},
            admits=ADMITTED.get(name, {}),
            **weights,
            **numbers,
            **labels,
        )
        model = kind(**numbers, **seed).fit(X, y)
        for method in ("predict", "decision_function", "scores", "certify", "transform"):
            if hasattr(model, method):
                yield entry(f"{key}.{method}", how=getattr(model, method), X=QUERIES, foreign=("X",))
