"""Modules, classes and fields that have another path or name: the old one works for one release, with a DeprecationWarning.

The warning names the new one. Old pickles name old paths, classes and fields, too, and are read through them.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

UNTIL = "0.2"  # the release without old paths
SOLVERS = ("goodness", "herding", "hinges", "isotonic", "ordinal", "power", "sparse", "squares", "svm")
ESTIMATORS = {
    "": ("base", "class_labels", "leave_one_out", "one_against_rest", "one_fit", "sample_weights", "widths"),
    "cross_validation": ("kernel_folds", "landmark_folds", "selection"),
    "herding": ("herded_mean", "mean_classifier"),
    "index_models": ("glm_tron", "index_scaling", "l_isotron", "lipschitz_isotonic"),
    "kernel_regression": ("m_power", "m_power_cv", "nadaraya_watson"),
    "landmarked": (
        *("landmark_transformer", "landmarked_ridge", "landmarked_ridge_cv", "landmarked_svr", "landmarked_svr_cv"),
        *("selected_landmarks", "sparse_landmarked_svr"),
    ),
    "ordinal": ("landmarked_ordinal", "landmarked_ordinal_cv"),
    "svm": ("hinge_svm", "hinge_svm_cv"),
}
# old path -> new ones; of several the first that has a name gives it. A package stands for all of its modules that are not named.
MOVED: dict[str, tuple[str, ...]] = {
    "simopt.ground": ("simopt.core",),
    "simopt.ground.diagonals": ("simopt.backends.diagonals",),
    "simopt.ground.lent": ("simopt.core.frozen_matrix",),
    "simopt.ground.worker": ("simopt.processes.worker",),
    "simopt.registry": ("simopt.core.registry",),
    "simopt.similarities": ("simopt.data.similarities",),
    "simopt.solving.backends": ("simopt.backends",),
    "simopt.solving.certificate": ("simopt.solving.entry_points", "simopt.certificates.certificate", "simopt.certificates.assessment"),
    "simopt.solving.entries": ("simopt.model.entries",),
    "simopt.solving.forms": ("simopt.model.forms",),
    "simopt.solving.judgement": ("simopt.certificates.assessment", "simopt.certificates.certificate", "simopt.model.gap_unit"),
    "simopt.solving.problem": ("simopt.model.problem",),
    "simopt.solving.uniform_convexity": ("simopt.model.uniform_convexity",),
    "simopt.duality.as_written": ("simopt.solving.as_written",),
    "simopt.duality.no_optimum": ("simopt.duality.infeasibility",),
    "simopt.duality.points": ("simopt.duality.feasibility",),
    "simopt.duality.sweeps": ("simopt.duality.evaluation",),
    "simopt.duality.sweeps.absorbers": ("simopt.duality.evaluation.closing_terms",),
    "simopt.duality.sweeps.held": ("simopt.duality.evaluation.fixed_multipliers",),
    "simopt.duality.stationarity.settling": ("simopt.duality.stationarity.closure",),
    "simopt.duality.atoms.concave_gauge": ("simopt.duality.atoms.concave_homogeneous",),
    "simopt.cli.interception": ("simopt.compare.interception",),
    "simopt.claims.apart": ("simopt.claims.isolation",),
    "simopt.claims.given": ("simopt.claims.input_origins",),
    "simopt.claims.refutation": ("simopt.coq.refutation",),
    "simopt.claims.sending": ("simopt.claims.serialization",),
    "simopt.claims.telling": ("simopt.claims.looseness",),
    "simopt.problems.losses.shares": ("simopt.problems.sample_weights",),
    "simopt.problems.cases": ("simopt.problems.examples",),
    **{f"simopt.problems.cases.{kind}_cases": (f"simopt.problems.examples.{kind}",) for kind in ("chain", "exc", "goodness", "ordinal")},
    "simopt.problems.cases.margin_cases": ("simopt.problems.examples.margins",),
    "simopt.problems.cases.recipes": ("simopt.problems.recipes",),
    **{f"simopt.solvers.{family}.ways_in": (f"simopt.solvers.{family}.solvers",) for family in SOLVERS},
    "simopt.estimators.facades": ("simopt.estimators",),
    "simopt.estimators.landmark_choice": ("simopt.estimators.landmarked.landmark_choice",),
    "simopt.estimators.landmark_predictor": ("simopt.estimators.landmarked.landmark_predictor",),
    **{
        f"simopt.estimators.facades.{name}": (".".join(filter(None, ("simopt.estimators", family, name))),)
        for family, names in ESTIMATORS.items()
        for name in names
    },
}
# classes, functions and constants that have another name, by the path that they had
RENAMED: dict[str, dict[str, str]] = {
    "simopt.claims.tables": {"Row": "TableRow"},
    "simopt.compare.cell": {"Cell": "PlannedRun"},
    "simopt.compare.statistics": {"Row": "SummaryRow", "Scaling": "PowerLaw"},
    "simopt.equivalence.gram_spectrum": {"Spectrum": "GramSpectrum"},
    "simopt.equivalence.map_search": {"FoundMap": "MapValue", "Outcome": "MapOutcome"},
    "simopt.equivalence.strong": {"Witness": "StrongWitness"},
    "simopt.equivalence.training": {"_Kernel": "_GramCache"},
    "simopt.solvers.herding.frank_wolfe_steps": {"MOVED": "STEP_TAKEN"},
    "simopt.ground.compiled": {"Kernel": "CompiledKernel"},
    "simopt.ground.fields": {"Asked": "FieldChecks"},
    "simopt.ground.lent": {"Lent": "FrozenMatrix", "lent": "freeze_matrix", "owner": "base_of", "times": "matvec"},
    "simopt.solving.certificate": {"Judgement": "Assessment"},
    "simopt.solving.judgement": {"Judgement": "Assessment"},
    "simopt.duality.atoms.concave_gauge": {"ConcaveGauge": "ConcaveHomogeneous"},
    "simopt.duality.stationarity.settling": {"settled": "close_stationarity"},
    "simopt.duality.sweeps.absorbers": {"Absorber": "ClosingTerm", "absorbers": "closing_terms"},
    "simopt.duality.sweeps.bounds": {"Box": "VariableBox"},
    "simopt.duality.sweeps.equalities": {"System": "EqualitySystem"},
    "simopt.duality.sweeps.held": {"Held": "FixedMultipliers", "Settlement": "DualRepair"},
    "simopt.problems.losses.shares": {"Shares": "SampleWeights"},
}
# fields and properties that have another name, by the path and name that their class has today
FIELDS: dict[str, dict[str, dict[str, str]]] = {
    "simopt.claims.reproduction": {"Reproduction": {"asked": "requested"}},
    "simopt.claims.tables": {"Cell": {"word": "agreement"}},
    "simopt.compare.statistics": {"Profile": {"shares": "fractions"}, "SummaryRow": {"times": "seconds_to_gap"}},
    "simopt.duality.evaluation.closing_terms": {"ClosingTerm": {"host": "epigraph_parent"}},
    "simopt.duality.graph.programme": {"Leaf": {"places": "entry_index"}, "Term": {"bend": "monotonicity"}},
    "simopt.problems.convex_potential": {"ConvexPotential": {"charged": "support"}},
    "simopt.problems.mean_classifier": {"MeanClassifier": {"shares": "sample_weights"}},
    "simopt.solvers.goodness.exact": {"ExactBound": {"prices": "multipliers"}, "ExactGoodness": {"prices": "multipliers"}},
}


def new_paths(old: str) -> tuple[str, ...]:
    """The new paths of a module; none if it has not moved."""
    package, rest = old, ""
    while package and package not in MOVED:
        package, _, last = package.rpartition(".")
        rest = f".{last}{rest}"
    return tuple(new + rest for new in MOVED.get(package, ()))


class _Moved(MetaPathFinder, Loader):
    """Finds old paths, before all other finders: the folder of a module that has moved may be left with nothing but old byte code."""

    def find_spec(self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> ModuleSpec | None:
        if not fullname.startswith("simopt.") or not new_paths(fullname):
            return None
        return ModuleSpec(fullname, self, is_package=True)

    def exec_module(self, module: ModuleType) -> None:
        old = module.__name__
        paths = new_paths(old)
        try:
            homes = [import_module(path) for path in paths]
        except ModuleNotFoundError as error:
            if error.name in paths:
                raise ModuleNotFoundError(f"No module named {old!r}", name=old) from None
            raise
        text = f"{old} has moved to {' and '.join(paths)}; the old path goes with simopt {UNTIL}"
        warnings.warn(text, DeprecationWarning, stacklevel=2)  # frames of the import do not count

        def get(name: str) -> Any:
            new = RENAMED.get(old, {}).get(name, name)
            for home in homes:
                if hasattr(home, new):
                    return getattr(home, new)
            raise AttributeError(f"module {old!r} has no attribute {name!r}; it has moved to {' and '.join(paths)}")

        vars(module).update(__getattr__=get, __doc__=homes[0].__doc__)


class _Renamed(MetaPathFinder):
    """Finds, through the other finders, a module with new names in it; once it has been run, it answers to the old ones as well."""

    def find_spec(self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> ModuleSpec | None:
        if fullname not in RENAMED and fullname not in FIELDS:
            return None
        others = (finder.find_spec(fullname, path, target) for finder in sys.meta_path if finder is not self)
        spec = next(filter(None, others), None)
        if spec is not None and spec.loader is not None:
            run = spec.loader.exec_module

            def run_and_add(module: ModuleType) -> None:
                run(module)
                _add_old_names(module, RENAMED.get(fullname, {}))
                for name, fields in FIELDS.get(fullname, {}).items():
                    _add_old_fields(getattr(module, name), fields)

            vars(spec.loader)["exec_module"] = run_and_add
        return spec


def _warn(kind: str, old: str, new: str) -> None:
    warnings.warn(f"{kind}{old} is called {new}; the old name goes with simopt {UNTIL}", DeprecationWarning, stacklevel=3)


def _add_old_names(module: ModuleType, names: Mapping[str, str]) -> None:
    """Have a module give its classes, functions and constants by their old names as well."""

    def get(name: str) -> Any:
        if name not in names:
            raise AttributeError(f"module {module.__name__!r} has no attribute {name!r}")
        _warn("", name, names[name])
        return getattr(module, names[name])

    if names:
        vars(module)["__getattr__"] = get


def _add_old_fields(kind: type, names: Mapping[str, str]) -> None:
    """Have a class give its fields by their old names as well, and read pickles that have these."""

    def reader(old: str, new: str) -> Callable[[Any], Any]:
        """A property that reads `new` and warns of `old`."""

        def read(record: Any) -> Any:
            _warn(f"{kind.__name__}.", old, new)
            return getattr(record, new)

        read.__doc__ = f"The old name of `{new}`."
        return read

    def restore(record: Any, state: Mapping[str, Any]) -> None:
        vars(record).update({names.get(name, name): value for name, value in state.items()})

    members: dict[str, Any] = {old: property(reader(old, new)) for old, new in names.items()}
    if not hasattr(kind, "__setstate__"):
        members["__setstate__"] = restore
    for name, member in members.items():
        setattr(kind, name, member)


def install() -> None:
    """Have old paths and names found."""
    for finder in (_Renamed, _Moved):
        if not any(isinstance(each, finder) for each in sys.meta_path):
            sys.meta_path.insert(0, finder())
