"""Which modules are mutated, how often each kind of them, and which tests concern a module: quick ones first, the first failure ends.

A problem's tests are those that are parametrised by problems, for it alone, and all those that import its file. A file that several
problems share has the tests of the problems that build on it, the nearest first.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MOST_PROBLEMS = 3  # of those that build on a shared file
NO_FORMULAS = ("/examples/", "problems/recipes.py", "__init__.py")  # instances and options
WITHOUT = ("examples", "instances", "recipe", "from_data", "laws")  # likewise
UNDECIDED = ("__init__.py", "papers.py", "catalogue.py", "figure.py", "each_set.py")  # of simopt/claims: lists and pictures
EVERY = ("problems/test_every_problem", "problems/test_declared_duals", "conformance/test_conformance")  # parametrised by problems
MOST_FILES = 12  # of tests of a solver or an estimator
NO_METHODS = ("__init__.py", "_plot.py", "papers.py")  # of solvers/ and estimators/: lists and pictures
DUALITY = (  # what a derived bound rests on; what only suggests multipliers, points and units can make it worse, and not false
    *("affine", "products", "library", "expressions", "cones", "kernel_element", "definitions", "epigraphs", "bounds"),
    *("closing_terms", "backward", "forward", "implied", "infeasible", "declared"),
)
WRITTEN = ("as_written", "best_bounds", "linear_and_quadratic", "no_optimum", "problem_sense")  # of simopt/solving, what decides likewise


@dataclass(frozen=True)
class Tests:
    """A file of tests; of those that are parametrised by a name only the ones by these, where names are given."""

    path: str
    names: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Group:
    """Modules of a kind, and the weight that they have among all in how many mutants are theirs."""

    name: str
    weight: int
    modules: tuple[str, ...]


def groups() -> list[Group]:
    """What decides whether an answer is right."""
    claims = [path for path in listed("simopt/claims") if not path.endswith(UNDECIDED)]
    formulas = [path for path in listed("problems") if not any(part in path for part in NO_FORMULAS)]
    equivalences = [path for path in listed("simopt/equivalence") if not path.endswith("__init__.py")]
    return [
        Group(
            "certificate", 80, ("simopt/certificates/assessment.py", "simopt/certificates/certificate.py", "simopt/solving/entry_points.py")
        ),
        Group("claims", 240, tuple(claims)),
        Group("arithmetic", 140, tuple(listed("simopt/arithmetic"))),
        Group(
            "duality",
            240,
            (
                *listed("simopt/duality/atoms"),
                *(path_of("simopt/duality", name) for name in DUALITY),
                *(path_of("simopt/solving", name) for name in WRITTEN),
            ),
        ),
        Group("equivalence", 220, (*equivalences, path_of("simopt", "monotone_function"))),
        Group("problems", 360, tuple(formulas)),
        Group("solvers", 500, tuple(methods("solvers"))),
        Group("estimators", 300, tuple(methods("estimators"))),
    ]


def listed(folder: str) -> list[str]:
    """The modules of a folder and those below it."""
    return [path.relative_to(ROOT).as_posix() for path in sorted((ROOT / folder).rglob("*.py"))]


def methods(folder: str) -> list[str]:
    """The modules of solvers/ or estimators/ that compute."""
    return [path for path in listed(folder) if not path.endswith(NO_METHODS)]


def path_of(folder: str, name: str) -> str:
    """The one module of that name in the folder, at any depth."""
    [path] = (ROOT / folder).rglob(f"{name}.py")
    return path.relative_to(ROOT).as_posix()


def all_of(folder: str) -> list[str]:
    """Every file of tests of a folder."""
    return [path.relative_to(ROOT).as_posix() for path in sorted((ROOT / "tests" / folder).glob("test_*.py"))]


def named(*files: str) -> list[Tests]:
    """Files of tests, whole."""
    return [Tests(f"tests/{name}.py") for name in files]


BY_NAME = (  # pairs of a problem and a solver, then what is parametrised by names of estimators
    "tests/conformance/test_conformance.py",
    *(f"tests/estimators/test_{name}.py" for name in ("methods", "weights", "selection", "sparse_points", "weighted_choice")),
    *(f"tests/estimators/test_{name}.py" for name in ("landmark_features", "defaults", "from_sklearn", "fit_cost", "checks")),
)
SOME = frozenset({"kernel-ridge", "landmarked-svr", "m-power-rls", "lipschitz-isotonic"})
BY_GROUP = {
    "certificate": [
        *named("frame/test_judged", "frame/test_certificate"),
        Tests("tests/adversarial/test_lying_solvers.py", SOME),
        *named(
            "frame/test_driver", "frame/test_chain", "duality/test_as_written", "duality/test_at_their_best", "duality/test_unit_of_a_gap"
        ),
        Tests("tests/problems/test_every_problem.py", SOME),
    ],
    "arithmetic": [
        *named("frame/test_radii", "frame/test_arithmetic", "frame/test_elementary", "frame/test_definite", "frame/test_linear"),
        *named("frame/test_certificate"),
        Tests("tests/problems/test_every_problem.py", SOME),
    ],
    "duality": [
        *named(
            *("duality/test_edges", "duality/test_remainders", "duality/test_recent", "duality/test_sweeps", "duality/test_attack"),
            *("duality/test_atoms", "duality/test_affine", "duality/test_reader", "duality/test_pivots", "duality/test_implied"),
        ),
        *(Tests(path) for path in all_of("duality")),
    ],
    "claims": [
        *named(
            *("claims/test_parts", "claims/test_steps", "claims/test_checks", "claims/test_hostile_claims", "claims/test_engine"),
            *("claims/test_registration", "claims/test_planted", "claims/test_evidence", "claims/test_hostile_proofs"),
        ),
        *(Tests(path) for path in all_of("claims")),
        *named("theorems/rmw/test_section_3", "theorems/rmw/test_concentration"),
    ],
    "equivalence": [
        *named("equivalence/test_path", "equivalence/test_training", "equivalence/test_answers"),
        *(Tests(path) for path in all_of("equivalence")),
        *named("theorems/rmw/test_equivalences", "frame/test_monotone_function"),
    ],
}

FIRST = {  # of a group's tests those that know the module, or all of its folder, best
    "check": "claims/test_checks",
    "statistics": "claims/test_checks",
    **dict.fromkeys(("engine", "tally", "trial", "attack", "runner", "claim"), "claims/test_engine"),
    **dict.fromkeys(("expression", "enclosure", "transcendent", "statement", "proof", "witness", "replay"), "claims/test_evidence"),
    "equivalence": "equivalence/test_equivalence",
    "measured": "claims/test_record",
    **dict.fromkeys(("tables", "reproduction"), "test_reproduce"),
    "picture": "cli/test_equivalence",
    "traced": "claims/test_traced",
    "elementary": "frame/test_elementary",
    "definite": "frame/test_definite",
    "linear": "frame/test_linear",
    "monotone_function": "frame/test_monotone_function",
    "path_search": "equivalence/test_path",
    "map_search": "equivalence/test_find_map",
    "weak": "equivalence/test_answers",
    "strong": "equivalence/test_answers",
    "atoms": "duality/test_atoms",
    **dict.fromkeys(("affine", "products"), "duality/test_affine"),
    **dict.fromkeys(("library", "expressions", "cones", "definitions", "epigraphs", "bounds"), "duality/test_reader"),
    "kernel_element": "duality/test_kernel_element",
    "implied": "duality/test_implied",
    "infeasible": "duality/test_feasible",
    **dict.fromkeys(WRITTEN, "duality/test_as_written"),
}


def tests_of(group: str, module: str) -> list[Tests]:
    """The tests that concern a module of a group."""
    own = [Tests("tests/test_doctests.py", frozenset({dotted(module)}))] if ">>> " in (ROOT / module).read_text(encoding="utf-8") else []
    if group in ("solvers", "estimators"):
        every = all_of("estimators") if group == "estimators" else ()  # those of solvers take minutes
        return [*dict.fromkeys([*nearest(module), *own, *(Tests(path) for path in every)])]
    if group != "problems":
        best = FIRST.get(Path(module).stem) or FIRST.get(Path(module).parent.name)
        return [*dict.fromkeys([*named(*filter(None, [best])), *BY_GROUP[group]]), *own]
    names = frozenset(problems_on(module))
    direct = [Tests(path) for path in importing(module) if path.startswith(("tests/problems", "tests/solvers"))]
    shared = Tests("tests/problems/test_shared_formulas.py")
    quick = [shared] if shared in direct or Path(module).name.startswith("_") else []
    every = [Tests(f"tests/{name}.py", names) for name in EVERY]
    return list(dict.fromkeys([*quick, *every[:2], *direct, *own, *every[2:]]))


@cache
def nearest(module: str) -> tuple[Tests, ...]:
    """Files of tests that import the module, then those that import what builds on it, and so on; at last those that name what does.

    Of those that are equally near the ones come first that import the fewest modules of solvers and estimators.
    """
    layer, order, files = [module], [module], list[str]()
    while layer:
        importers = {test for path in layer for test in importing(path)} - {*files}
        files += sorted(importers, key=lambda test: (_breadth(test), test))
        layer = [path for path in _methods() if path not in order and any(dotted(near) in imports(path) for near in layer)]
        order += layer
    whole = [Tests(path) for path in files if path not in BY_NAME][:MOST_FILES]
    pairs = [name for path in order for name in _pairs(path)]
    estimators = [name for path in order for name in _estimator_names(path)][:MOST_PROBLEMS]
    return (
        *whole,
        *(Tests(path, frozenset(pairs)) for path in BY_NAME[:1] if pairs),
        *(Tests(path, frozenset(estimators)) for path in BY_NAME[1:] if estimators),
    )


@cache
def _methods() -> tuple[str, ...]:
    return tuple((*listed("solvers"), *listed("estimators")))


@cache
def _breadth(test: str) -> int:
    """How many modules of solvers and estimators a file of tests imports."""
    return sum(dotted(path) in imports(test) for path in _methods())


@cache
def _pairs(module: str) -> tuple[str, ...]:
    """problem-solver of the solvers that a file registers, for the problems that it imports; some are of no pair there is."""
    text = (ROOT / module).read_text(encoding="utf-8")
    solvers = re.findall(r'^(?:@solver\(\s*|NAME = )"(.*?)"', text, re.M) if "@solver(" in text else []
    problems = [name for path in listed("problems") if dotted(path) in imports(module) for name in named_in(path)]
    return tuple(f"{problem}-{solver}" for problem in problems for solver in solvers)


@cache
def _estimator_names(module: str) -> tuple[str, ...]:
    """Names of the public estimators that a file defines."""
    public = re.findall(r'^    "(\w+)": "', (ROOT / "estimators" / "__init__.py").read_text(encoding="utf-8"), re.M)
    defined = re.findall(r"^class (\w+)", (ROOT / module).read_text(encoding="utf-8"), re.M)
    return tuple(name for name in defined if name in public)


def dotted(module: str) -> str:
    """The name under which a file is imported."""
    name = module.removesuffix(".py").replace("/", ".")
    return name if name.startswith("simopt.") else f"simopt.{name}"


@cache
def imports(path: str) -> frozenset[str]:
    """Modules that a file imports, and what it imports from them."""
    found: set[str] = set()
    for node in ast.walk(ast.parse((ROOT / path).read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            found |= {str(node.module), *(f"{node.module}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    return frozenset(found)


def importing(module: str) -> Iterator[str]:
    """Files of tests that import a module themselves."""
    for path in sorted((ROOT / "tests").glob("*/test_*.py")):
        if dotted(module) in imports(path.relative_to(ROOT).as_posix()):
            yield path.relative_to(ROOT).as_posix()


@cache
def named_in(module: str) -> tuple[str, ...]:
    """Names of the problems of a file, one for each form."""
    return tuple(
        re.findall(
            r'^(?:    name(?:: ClassVar\[str\])? =|            "name":) "(.*?)",?$', (ROOT / module).read_text(encoding="utf-8"), re.M
        )
    )


@cache
def problems_on(module: str) -> tuple[str, ...]:
    """Names of the problem of a file, or of those that build on it: on the fewest files besides, a few of them."""
    own = named_in(module)
    if own:
        return own
    near, seen = [module], {module}
    found: list[str] = []
    while near and len(found) < MOST_PROBLEMS:
        near = [path for path in listed("problems") if path not in seen and any(dotted(known) in imports(path) for known in near)]
        seen |= set(near)
        found += [name for path in near for name in named_in(path)]
    return tuple(found[:MOST_PROBLEMS])
