"""How good an estimator is by default, beside the same one tuned and scikit-learn's model tuned with a search of the same size.

The list of sets was written down before any default was chosen by it, and all of it is reported. Of each set at most 400 rows are drawn,
and two thirds of them are learned from. By default an estimator sees the columns as they are. A search sees standardised ones, draws 12
candidates at random and takes the one with the best score in three folds. Scores: R² of regression; the share of right labels, balanced
over the classes, of classification; 1 − (mean error of the label)/(that of the median label) of ordered labels.

What the defaults were before any of them was chosen is kept in defaults_before.json: what this script measured (`--record`) in the tree
of the commit that it names. Defaults were looked at on other draws of the rows than those of the table; the last line of a section counts
further draws.
"""

from __future__ import annotations

import argparse
import datetime
import json
import subprocess
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from pairs import machine

from simopt.core.errors import MissingDataset

ROWS = 400
CANDIDATES = 12
FOLDS = 3
CLOSE = 0.05  # of the tuned score, that a default may lose
TABLE, FURTHER = 1, (2, 3, 4)  # seeds of the draw of rows: of the table, and of what is only counted
BEFORE = Path(__file__).with_name("defaults_before.json")

REGRESSION = (
    *("abalone", "bodyfat", "boston_housing", "california_housing", "communities_crime", "concrete", "cpu_small", "energy", "bank8fm"),
    *("house8l", "parkinsons_total", "pumadyn8nh", "wine_red", "wine_white", "yacht", "diabetes", "friedman1", "friedman2", "friedman3"),
)
CLASSES = ("digits parity", "digits 3 against 8", "mnist_3v8", "breast_cancer", "wine first", "iris second", "moons", "circles", "rare")
ORDERED = ("wine_red", "wine_white", "abalone in 5", "boston_housing in 5", "bank8fm in 5", "diabetes in 5", "friedman1 in 5")


class TrainAndTest(NamedTuple):
    """What is learned from, and what is scored on."""

    X: Any
    y: Any
    X_test: Any
    y_test: Any


class Pair(NamedTuple):
    """An estimator of ours with its candidates (of standardised points), and those of scikit-learn's."""

    name: str
    beside: str
    sets: tuple[str, ...]
    default: Callable[[], Any]
    ours: Callable[[np.random.Generator, Any, Any], Any]
    peer: Callable[[np.random.Generator, Any, Any], Any]
    score: Callable[[Any, Any], float]


def points_of(name: str) -> tuple[Any, Any]:
    """All rows of a set of the list."""
    from sklearn import datasets

    import simopt

    rng = np.random.RandomState(0)
    if name.startswith("friedman"):
        return getattr(datasets, f"make_{name}")(n_samples=ROWS, noise=1.0 if name == "friedman1" else 0.1, random_state=rng)
    if name in ("moons", "circles"):
        return getattr(datasets, f"make_{name}")(n_samples=ROWS, noise=0.2, random_state=rng)
    if name == "rare":  # one class in ten
        return datasets.make_classification(ROWS, 10, n_informative=5, weights=[0.9], class_sep=1.5, random_state=rng)
    if name.startswith("digits"):
        X, y = datasets.load_digits(return_X_y=True)
        return (X, y % 2) if name.endswith("parity") else (X[np.isin(y, (3, 8))], y[np.isin(y, (3, 8))])
    if name in ("breast_cancer", "diabetes"):
        return getattr(datasets, f"load_{name}")(return_X_y=True)
    if name in ("wine first", "iris second"):
        X, y = getattr(datasets, f"load_{name.split(maxsplit=1)[0]}")(return_X_y=True)
        return X, (y == (0 if name == "wine first" else 1)).astype(int)
    data = simopt.load_dataset(name)
    return np.asarray(data.features), np.asarray(data.targets)


def split_of(name: str, seed: int = TABLE) -> TrainAndTest:
    """At most ROWS rows, two thirds to learn from; targets in five classes of equal frequency where the name says so."""
    X, y = points_of(name.removesuffix(" in 5"))
    if name.endswith(" in 5"):
        y = np.digitize(y, np.unique(np.quantile(y, (0.2, 0.4, 0.6, 0.8)))) + 1
    order = np.random.default_rng(seed).permutation(len(X))[:ROWS]
    cut = 2 * len(order) // 3
    here, there = order[:cut], order[cut:]
    return TrainAndTest(X[here], y[here], X[there], y[there])


def tuned(pair: Pair, candidate: Callable[[np.random.Generator, Any, Any], Any], data: TrainAndTest) -> float:
    """The score of the best of CANDIDATES, chosen in folds of what is learned from."""
    from sklearn.preprocessing import StandardScaler

    scaler = StandardScaler().fit(data.X)
    X, X_test = scaler.transform(data.X), scaler.transform(data.X_test)
    fold = np.random.default_rng(2).permutation(len(X)) % FOLDS
    best, chosen = -np.inf, None
    for seed in range(CANDIDATES):
        found = []
        for k in range(FOLDS):
            model = candidate(np.random.default_rng(seed), X, data.y).fit(X[fold != k], data.y[fold != k])
            found.append(pair.score(data.y[fold == k], model.predict(X[fold == k])))
        if np.mean(found) > best:
            best, chosen = float(np.mean(found)), seed
    assert chosen is not None
    return pair.score(data.y_test, candidate(np.random.default_rng(chosen), X, data.y).fit(X, data.y).predict(X_test))


def skill(y: Any, predicted: Any) -> float:
    """1 − mean |y − ŷ| over that of the median label."""
    return 1.0 - float(np.mean(np.abs(y - predicted)) / np.mean(np.abs(y - np.median(y))))


def width(rng: np.random.Generator, X: Any) -> float:
    """μ of exp(−‖x − x'‖²/μ), from a twentieth of the mean squared distance to five times it."""
    return float(2.0 * X.shape[1] * 10.0 ** rng.uniform(-1.3, 0.7))


def pairs() -> Iterator[Pair]:
    """Ours and theirs."""
    from sklearn import metrics
    from sklearn.kernel_approximation import Nystroem
    from sklearn.kernel_ridge import KernelRidge
    from sklearn.linear_model import Lasso, LogisticRegression, Ridge
    from sklearn.neighbors import KNeighborsRegressor, NearestCentroid
    from sklearn.pipeline import make_pipeline
    from sklearn.svm import SVC, LinearSVR

    from simopt import estimators
    from simopt.data.similarities import Gaussian

    def log(rng: np.random.Generator, low: float, high: float) -> float:
        return float(10.0 ** rng.uniform(low, high))

    def seeded(kind: Any, *arguments: Any, **options: Any) -> Any:
        return kind(*arguments, random_state=0, **options)

    yield Pair(
        "MPowerRegressor",
        "KernelRidge",
        REGRESSION,
        estimators.MPowerRegressor,
        lambda rng, X, y: estimators.MPowerRegressor(Gaussian(width(rng, X)), power=2.0, regularization=log(rng, -6, 0)),
        lambda rng, X, y: KernelRidge(kernel="rbf", gamma=1.0 / width(rng, X), alpha=len(X) * log(rng, -6, 0)),
        metrics.r2_score,
    )
    yield Pair(
        "LandmarkedSVRegressor",
        "Nystroem and LinearSVR",
        REGRESSION,
        lambda: estimators.LandmarkedSVRegressor(random_state=0),
        lambda rng, X, y: estimators.LandmarkedSVRegressor(
            Gaussian(width(rng, X)), landmarks=int(log(rng, 1.5, 2.4)), radius=None, regularization=log(rng, -8, -2), random_state=0
        ),
        lambda rng, X, y: make_pipeline(
            Nystroem(gamma=1.0 / width(rng, X), n_components=int(log(rng, 1.5, 2.2)), random_state=0),
            LinearSVR(C=log(rng, -2, 3), dual="auto", max_iter=10_000, random_state=0),
        ),
        metrics.r2_score,
    )
    yield Pair(
        "LandmarkedRidgeRegressor",
        "Nystroem and Ridge",
        REGRESSION,
        lambda: seeded(estimators.LandmarkedRidgeRegressor),
        lambda rng, X, y: seeded(
            estimators.LandmarkedRidgeRegressor,
            Gaussian(width(rng, X)),
            landmarks=int(log(rng, 1.5, 2.4)),
            regularization=log(rng, -10, -2),
        ),
        lambda rng, X, y: make_pipeline(
            Nystroem(gamma=1.0 / width(rng, X), n_components=int(log(rng, 1.5, 2.2)), random_state=0), Ridge(len(X) * log(rng, -6, 0))
        ),
        metrics.r2_score,
    )
    yield Pair(
        "SparseLandmarkedSVRegressor",
        "Nystroem and Lasso",
        REGRESSION,
        lambda: seeded(estimators.SparseLandmarkedSVRegressor),
        lambda rng, X, y: seeded(
            estimators.SparseLandmarkedSVRegressor,
            Gaussian(width(rng, X)),
            landmarks=int(log(rng, 1.5, 2.4)),
            radius=float(np.std(y)) * log(rng, 1, 4),
        ),
        lambda rng, X, y: make_pipeline(
            Nystroem(gamma=1.0 / width(rng, X), n_components=int(log(rng, 1.5, 2.2)), random_state=0),
            Lasso(float(np.std(y)) * log(rng, -5, -1), max_iter=10_000),
        ),
        metrics.r2_score,
    )
    yield Pair(
        "NadarayaWatsonRegressor",
        "KNeighborsRegressor",
        REGRESSION,
        estimators.NadarayaWatsonRegressor,
        lambda rng, X, y: estimators.NadarayaWatsonRegressor(Gaussian(width(rng, X))),
        lambda rng, X, y: KNeighborsRegressor(n_neighbors=int(log(rng, 0, 1.5)), weights="distance"),
        metrics.r2_score,
    )
    yield Pair(
        "HingeSVMClassifier",
        "SVC",
        CLASSES,
        estimators.HingeSVMClassifier,
        lambda rng, X, y: estimators.HingeSVMClassifier(Gaussian(width(rng, X)), regularization=log(rng, -6, 0)),
        lambda rng, X, y: SVC(gamma=1.0 / width(rng, X), C=log(rng, -2, 4)),
        metrics.balanced_accuracy_score,
    )
    for kind in (estimators.MeanSimilarityClassifier, estimators.HerdedMeanClassifier):
        yield Pair(
            kind.__name__,
            "NearestCentroid",
            CLASSES,
            kind,
            lambda rng, X, y, kind=kind: kind(Gaussian(width(rng, X))),
            lambda rng, X, y: NearestCentroid(shrink_threshold=log(rng, -2, 1)),
            metrics.balanced_accuracy_score,
        )
    yield Pair(
        "LandmarkedOrdinalClassifier",
        "LogisticRegression",
        ORDERED,
        lambda: estimators.LandmarkedOrdinalClassifier(random_state=0),
        lambda rng, X, y: estimators.LandmarkedOrdinalClassifier(
            Gaussian(width(rng, X)), landmarks=int(log(rng, 1.5, 2.4)), regularization=log(rng, -9, -3), random_state=0
        ),
        lambda rng, X, y: LogisticRegression(C=log(rng, -3, 3), max_iter=2000),
        skill,
    )


def close(score: float, tuned_score: float) -> bool:
    """Whether a default loses at most CLOSE of what was tuned."""
    return score >= tuned_score - CLOSE * abs(tuned_score)


def by_default(pair: Pair, data: TrainAndTest) -> float:
    """The score of the estimator as it comes."""
    return pair.score(data.y_test, pair.default().fit(data.X, data.y).predict(data.X_test))


def draw_of(pair: Pair, name: str, seed: int) -> TrainAndTest | None:
    """The rows, unless the set is not at hand, or a class of a classifier is missing in a part."""
    try:
        data = split_of(name, seed)
    except MissingDataset:  # one that may not be passed on
        return None
    return None if pair.sets is CLASSES and len(np.unique(data.y)) < len(np.unique(data.y_test)) else data


def commit() -> str:
    """The commit that is measured, with a mark where the tree differs from it."""
    done = subprocess.run(
        ["git", "describe", "--always", "--dirty"], cwd=Path(__file__).parent, capture_output=True, text=True, check=False
    )
    return done.stdout.strip() or "unknown"


def section(pair: Pair, sets: tuple[str, ...], before: dict[str, list[float]], further: tuple[int, ...]) -> dict[str, list[float]]:
    """Prints title, machine, a row a set and what they come to; default and tuned score by set."""
    print(f"\n## {pair.name} by default, tuned, and {pair.beside}\n{machine()}, commit {commit()}")
    print("| set | before | default | tuned | scikit-learn's, tuned |\n|---|---:|---:|---:|---:|", flush=True)
    found: dict[str, list[float]] = {}
    for name in sets:
        data = draw_of(pair, name, TABLE)
        if data is None:
            print(f"| {name} | not at hand | | | |", flush=True)
            continue
        scores = [by_default(pair, data), tuned(pair, pair.ours, data), tuned(pair, pair.peer, data)]
        found[name] = scores[:2]
        was = f"{before[name][0]:.3f}" if name in before else ""
        print(f"| {name} | {was} | {' | '.join(f'{score:.3f}' for score in scores)} |", flush=True)
    counts = []
    for seed in further:
        draws = [data for name in sets if (data := draw_of(pair, name, seed)) is not None]
        counts.append(f"{sum(close(by_default(pair, data), tuned(pair, pair.ours, data)) for data in draws)} of {len(draws)}")
    told = f"Within {CLOSE:.0%} of the tuned score: {sum(close(*scores) for scores in found.values())} of {len(found)} sets"
    if before:
        told += f", {sum(close(*before[name]) for name in found if name in before)} before"
    print(told + (f"; on other draws of rows {', '.join(counts)}" if counts else ""), flush=True)
    return found


def main() -> None:
    """A section for each pair."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="the first set of each pair, one draw")
    parser.add_argument("--only", metavar="A,B", help="these estimators of ours")
    parser.add_argument("--record", metavar="FILE", help="write default and tuned scores to FILE, and no counts of other draws")
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # a candidate may be far off
    before = json.loads(BEFORE.read_text(encoding="utf-8"))["scores"] if BEFORE.exists() else {}
    scores = {}
    for pair in pairs():
        if options.only is None or pair.name in options.only.split(","):
            further = () if options.quick or options.record else FURTHER
            scores[pair.name] = section(pair, pair.sets[:1] if options.quick else pair.sets, before.get(pair.name, {}), further)
    if options.record:
        record = {"commit": commit(), "day": datetime.date.today().isoformat(), "machine": machine(), "scores": scores}
        Path(options.record).write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
