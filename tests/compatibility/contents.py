"""What the files of this folder hold: how each object was made, and the numbers that it says.

`python tests/compatibility/contents.py FOLDER` writes such files with the simopt that is imported. Names stand here as users wrote them at
commit ba5b89f7; each object is made of data that are drawn from one seed.
"""

from __future__ import annotations

import json
import pickle
import sys
import tempfile
import warnings
import zipfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

import simopt

SAVED = ("herd", "index-model", "monotone-function", "ordinal-rule", "ranker", "sparse-fit", "goodness-curve")  # what has `save` and `load`
SOLVED = ("exc-ordinal", "kernel-ridge", "landmarked-svr", "lipschitz-isotonic", "sparse-landmarked")
INFEASIBLE, UNBOUNDED = "infeasible", "unbounded"
# attributes of records, as they were called
ATTRIBUTES = {
    "cell": ("word", "ours"),
    "exact-bound": ("prices", "lower", "upper", "weights"),
    "exact-goodness": ("prices", "lower", "upper", "weights", "influence"),
    "leaf": ("places", "shape"),
    "profile": ("shares", "ratios"),
    "reproduction": ("asked", "complete"),
    "summary-row": ("times", "solver"),
    "term": ("bend", "sign"),
}
NEW_POINTS = np.random.default_rng(1).normal(size=(4, 2))


def samples(n: int = 24) -> tuple[Any, Any]:
    """Points of the plane and a noisy function of them, between 0 and 1."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 2))
    return X, np.clip(0.5 + 0.2 * X[:, 0] + 0.05 * rng.normal(size=n), 0.0, 1.0)


def problems() -> Iterator[tuple[str, Any]]:
    """The first example of each registered problem."""
    from simopt.ground import registry

    registry.load("problems")
    for name in sorted(registry.names("problem")):
        yield name, next(iter(registry.find("problem", name).examples(np.random.default_rng(0)))).problem


def solutions() -> Iterator[tuple[str, Any]]:
    """Of registered problems, and of a `cvxpy.Problem` that has an optimum, of one without points and of one without end."""
    import cvxpy as cp

    for name, problem in problems():
        if name in SOLVED:
            yield name, simopt.solve(problem)
    x = cp.Variable(2, name="x")
    yield "cvxpy", simopt.solve(cp.Problem(cp.Minimize(cp.sum_squares(x - [1.0, 2.0])), [cp.sum(x) <= 1]))
    yield INFEASIBLE, simopt.solve(cp.Problem(cp.Minimize(cp.sum(x)), [x >= 1, cp.sum(x) <= 1]))
    yield UNBOUNDED, simopt.solve(cp.Problem(cp.Minimize(cp.sum(x)), [x <= 1]))


def estimators() -> Iterator[tuple[str, Any]]:
    """Each estimator with its default settings, fitted; two folds where it chooses."""
    from simopt import estimators as module

    X, y = samples()
    for name in module.__all__:
        model = getattr(module, name)()
        options = model.get_params()
        few = {"cv": 2, "regularizations": [1e-2, 1e-4], "powers": [2.0], "random_state": 3, "n_landmarks": 4, "count": 4, "max_iter": 20}
        model.set_params(**{key: value for key, value in few.items() if key in options})
        targets = np.digitize(y, [0.4, 0.6]) if "Ordinal" in name else np.where(y > 0.5, "up", "down")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # few iterations are enough here
            model.fit(X[:, :1] if "Isotonic" in name else X, targets if hasattr(model, "classes_") or "Classifier" in name else y)
        yield name, model


def records() -> Iterator[tuple[str, Any]]:
    """What functions return that fit without scikit-learn."""
    from simopt.data.similarities import Gaussian
    from simopt.estimators.herding.herd import herd
    from simopt.estimators.index_models.isotron import l_isotron
    from simopt.estimators.ordinal.ordinal import ordinal
    from simopt.estimators.ranking.ranker import rank
    from simopt.problems.goodness import Goodness
    from simopt.solvers.goodness.curve import goodness_curve
    from simopt.solvers.sparse.forward_selection import forward_selection

    X, y = samples()
    signs, labels = np.where(y > 0.5, 1, -1), 1 + np.digitize(y, [0.4, 0.6])
    yield "herd", herd(X, signs, Gaussian(2.0), error=1e-2)
    fit = l_isotron(X, y, max_iter=5)
    yield "index-model", fit.model
    yield "index-fit", fit
    yield "monotone-function", fit.model.transfer
    yield "ordinal-rule", ordinal(X, labels, Gaussian(1.0), landmarks=4)
    yield "ranker", rank(X, labels - 1, np.repeat(np.arange(6), 4), Gaussian(1.0), landmarks=4, regularization=0.1)
    yield "sparse-fit", forward_selection(Gaussian(1.0)(X, X[:8]), y, count=3)
    kernel = Gaussian(1.0)(X[:8], X[:8])
    yield "goodness-curve", goodness_curve(Goodness(kernel, signs[:8].astype(float), 1.0), [0.5, 1.0, 4.0])


def parts() -> Iterator[tuple[str, Any]]:
    """What solutions are made of, and what else has numbers."""
    from simopt.data.landmarks import LandmarkMap
    from simopt.data.similarities import Gaussian, Laplacian, Normalised, Polynomial
    from simopt.equivalence.training import TrainingSet

    X, y = samples(6)
    solution = dict(solutions())["kernel-ridge"]
    yield "certificate", solution.certificate
    yield "trace", solution.trace
    yield "provenance", solution.provenance
    yield "status", solution.status
    yield "training-set", TrainingSet(X, y, Gaussian(2.0))
    yield "landmark-map", LandmarkMap(Normalised(Polynomial(2, 1.0)) + Laplacian(1.0), X[:3])
    unknown = simopt.UnknownName("problem", "nobody", ["somebody"])
    yield "errors", (simopt.InvalidProblem("targets: wrong"), unknown, simopt.NotAvailable("no data"))


def attributes() -> Iterator[tuple[str, Any]]:
    """Records of which an attribute is called otherwise today."""
    import cvxpy as cp

    from simopt.claims import AUDIFFREN_KADRI, Effort
    from simopt.claims.reproduction import Reproduction
    from simopt.claims.tables import Cell, Row, Table
    from simopt.compare import statistics
    from simopt.duality import read
    from simopt.solvers.goodness.exact import exact_goodness, exact_smallest_bound

    gram, signs = [[2, 1, 0], [1, 2, 1], [0, 1, 2]], [1, 1, -1]
    yield "exact-goodness", exact_goodness(gram, signs, 1, loss="hinge")
    yield "exact-bound", exact_smallest_bound(gram, signs, "1/2", loss="hinge")
    cell = Cell("row", "column", 1.0, printed=1.5)
    table = Table("table", AUDIFFREN_KADRI, "nowhere", "an example", ("row", "other"), print)
    yield "cell", cell
    yield "reproduction", Reproduction(table, Effort.QUICK, 0, [Row("row", (cell,))], ("row",))
    yield "profile", statistics.Profile("clarabel", (1.0, 2.0), (0.5, 1.0), 2, 0)
    numbers = (1.0, 1.0, 2.0, 0.5, 0.5, 1e-9)
    yield "summary-row", statistics.Row("one", "here", "scs", 3, None, "", 2, 2, "OPTIMAL", "", *numbers, (0.1, 0.2), 1.0, 1.0, 1.0, 9.0)
    X, t = cp.Variable((2, 2), name="X", symmetric=True), cp.Variable(2, name="t")
    programme = read(cp.Problem(cp.Minimize(cp.sum_squares(cp.pos(t)) + cp.sum(cp.abs(X)))))
    yield "leaf", next(replace(leaf, variable=None) for leaf in programme.leaves.values() if leaf.places is not None)
    yield "term", next(replace(term, source=None) for term in programme.terms if np.any(term.bend))


MAKERS: Mapping[str, Callable[[], Iterator[tuple[str, Any]]]] = {
    "problem": problems,
    "solution": solutions,
    "estimator": estimators,
    "record": records,
    "part": parts,
    "attribute": attributes,
}


def plain(value: Any) -> Any:
    """A value as JSON holds it: arrays as lists of numbers, mappings and tuples item by item; of an unknown object its own values."""
    if isinstance(value, Mapping):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, BaseException):
        return [type(value).__name__, *map(str, value.args)]
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, np.generic):
        return plain(value.item())
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if np.isfinite(value) else repr(value)
    if hasattr(value, "to_json"):
        return plain(value.to_json())
    if is_dataclass(value):
        return {item.name: plain(getattr(value, item.name)) for item in fields(value) if not item.name.startswith("_")}
    return str(value)


def values(kind: str, name: str, made: Any) -> Any:
    """The numbers that an object says, by public names."""
    if kind == "problem":
        return {"name": made.name, "fingerprint": made.fingerprint(), "fields": [item.name for item in fields(made)]}
    if kind == "estimator":
        at = NEW_POINTS[:, :1] if "Isotonic" in name else NEW_POINTS
        methods = ("predict", "decision_function", "transform")
        said = {method: plain(getattr(made, method)(at)) for method in methods if hasattr(made, method)}
        return {"params": {key: plain(value) for key, value in made.get_params().items()}, **said}
    if kind == "attribute":
        return {each: plain(getattr(made, each)) for each in ATTRIBUTES[name]}
    if name == "index-fit":
        return {"predictions": plain(made.model(NEW_POINTS)), "errors": plain(made.errors)}
    if name == "index-model":
        return plain(made(NEW_POINTS))
    if name == "monotone-function":
        return plain(made(np.linspace(-2.0, 2.0, 9)))
    if name == "landmark-map":
        return plain(made(NEW_POINTS))
    if name == "status":
        return made.name
    if name in ("ordinal-rule", "ranker"):
        return {"scores": plain(made.scores(NEW_POINTS)), **plain(made)}
    if name == "herd":
        return {"decision": plain(made.decision(NEW_POINTS)), **plain(made)}
    return plain(made)


def write(folder: Path) -> None:
    """All files: pickles in an archive, records as JSON, and the numbers that each says."""
    said: dict[str, Any] = {}
    with zipfile.ZipFile(folder / "pickles.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for kind, maker in MAKERS.items():
            for name, made in maker():
                said[f"{kind}/{name}"] = values(kind, name, made)
                archive.writestr(zipfile.ZipInfo(f"{kind}/{name}.pickle"), pickle.dumps(made, protocol=4), zipfile.ZIP_DEFLATED)
                if name in SAVED:
                    made.save(folder / f"{name}.json")
    (folder / "values.json").write_text(json.dumps(said, ensure_ascii=False, separators=(",", ":")) + "\n", encoding="utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp()))
