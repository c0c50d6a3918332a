"""Directives that read simopt's registries, so that what the pages say of problems, solvers and claims cannot go stale.

    :::{problems} NAME NAME …       a table of problems with their hand-written solvers; below it the docstring and the declaration of each
    :::{problems}                   the same of all problems of ours that no page names; nothing where there is none
    :::{claims} PAPER               a table of the claims of the modules named in the body (theorems/PAPER/MODULE.py)

    :::{estimators}                 a table of scikit-learn estimators
    :::{atoms}                      a table of the convex functions of which certificates are derived
    :::{modules} PACKAGE            the docstrings of all public modules of a package

A name that is not registered, or a module without claims, fails the build.
"""

from __future__ import annotations

import inspect
import pkgutil
import re
from importlib import import_module
from typing import Any, ClassVar

import listed
import programme
from docutils import nodes
from docutils.statemachine import StringList
from sphinx.util.docutils import SphinxDirective

from simopt.core import registry
from simopt.solving.solver import solvers_of


def cell(text: str) -> str:
    """Text that may stand in a Markdown table: nothing in it is markup."""
    for mark in "\\|*_`<$[":
        text = text.replace(mark, f"\\{mark}")
    return text.replace("\n", " ")


def typeset(text: str) -> str:
    """Text for a Markdown table with its formulas as MathML, as the report has them."""
    from simopt.report.prose import Prose

    parts = re.split(r"(<[^>]*>)", str(Prose((), str)(text)))
    return "".join(part if part.startswith("<") else cell(part) for part in parts)


def declarations(names: list[str]) -> str:
    """The docstring and the whole declaration of each problem; of a class with several names once."""
    parts = []
    kinds = {f"{cls.__module__}.{cls.__name__}": cls for cls in (registry.get("problem", name) for name in reversed(names))}
    for home, cls in reversed(kinds.items()):
        parts.append(
            f"```{{eval-rst}}\n.. autoclass:: {home}\n   :no-index:\n```\n\n```python\n{programme.code(programme.example(cls))}```\n"
        )
    return "\n".join(parts)


def solver_table(names: list[str]) -> str:
    """One line a problem: its title, what `path` can sweep, and its solvers, the default first."""
    lines = ["| problem | | bounds in | `path` sweeps | hand-written solvers |", "|---|---|---|---|---|"]
    for name in names:
        cls = registry.get("problem", name)
        found = "; ".join(f"`{spec.name}`: {cell(spec.summary)}" for spec in solvers_of(cls)) or "–"
        swept = ", ".join(f"`{field}`" for field in cls.parameters) or "–"
        home = f"{{py:class}}`{cls.name} <{cls.__module__}.{cls.__name__}>`"
        lines.append(f"| {home} | {cell(cls.title)} | {', '.join(cls.arithmetics)} | {swept} | {found} |")
    return "\n".join(lines) + "\n"


def claim_table(paper: str, modules: list[str]) -> str:
    """One line a claim: its name, place, kind and the verdict that `simopt verify` has to reach."""
    lines = ["| claim | place | kind | verdict |", "|---|---|---|---|"]
    for module in modules:
        home = f"simopt.theorems.{paper}.{module}"
        found = [claim for name, claim in registry.items("claim") if registry.module_of("claim", name) == home]
        if not found:
            raise LookupError(f"{home} has no claims")
        for claim in found:
            verdict = claim.expected.value + (f": {claim.defect.value}" if claim.defect else "")
            lines.append(f"| {cell(claim.id)} | {cell(claim.place)} | {claim.kind.value} | {verdict} |")
    return "\n".join(lines) + "\n"


def estimator_table() -> str:
    """One line an estimator: what it is, and the problem or rule in the first line of its docstring."""
    from sklearn.base import ClassifierMixin, TransformerMixin

    from simopt import estimators

    lines = ["| estimator | | fits |", "|---|---|---|"]
    for name in estimators.__all__:
        cls = getattr(estimators, name)
        home = f"{{py:class}}`{name} <simopt.estimators.{name}>`"
        kind = "classifier" if issubclass(cls, ClassifierMixin) else "transformer" if issubclass(cls, TransformerMixin) else "regressor"
        lines.append(f"| {home} | {kind} | {typeset((inspect.getdoc(cls) or '').splitlines()[0])} |")
    return "\n".join(lines) + "\n"


def atom_table() -> str:
    """One line an atom, by its formulas, where φ has one: the others are what several share."""
    from simopt.duality import atoms
    from simopt.duality.atoms.base import Atom, ConjugateDomain

    closing = {
        ConjugateDomain.OTHER: "–",
        ConjugateDomain.FULL: "any multiplier",
        ConjugateDomain.CONE: "one that is proven to be in the domain",
        ConjugateDomain.BALL: "any, where its scale is free",
    }
    lines = ["| atom | φ(z) | φ*(u) | for u with | closes stationarity with | degree |", "|---|---|---|---|---|---|"]
    for found in pkgutil.iter_modules(atoms.__path__):
        module = import_module(f"{atoms.__name__}.{found.name}")
        for cls in vars(module).values():
            if isinstance(cls, type) and issubclass(cls, Atom) and cls.__module__ == module.__name__ and not inspect.isabstract(cls):
                home = f"{{py:class}}`{cls.__name__} <{cls.__module__}.{cls.__name__}>`"
                said = (cls.formula, cls.conjugate_formula, cls.domain_formula, closing[cls.conjugate_domain], cls.degree_formula)
                lines.append(f"| {home} | {' | '.join(map(cell, said))} |")
    return "\n".join(lines) + "\n"


def module_list(package: str) -> str:
    """What autodoc has to say of every public module; names that a module only lends are documented where they come from."""
    lines = ["```{eval-rst}"]
    for name in sorted(found.name for found in pkgutil.iter_modules(import_module(package).__path__)):
        if name.startswith("_"):
            continue
        module = import_module(f"{package}.{name}")
        lent = [item for item in getattr(module, "__all__", ()) if getattr(getattr(module, item), "__module__", None) != module.__name__]
        lines += [f".. automodule:: {module.__name__}", "   :members:", *([f"   :exclude-members: {', '.join(lent)}"] if lent else [])]
    return "\n".join([*lines, "```"]) + "\n"


class Registered(SphinxDirective):
    """A directive that writes Markdown."""

    required_arguments = 1
    final_argument_whitespace = True
    has_content = True

    def text(self) -> str:
        """The Markdown."""
        raise NotImplementedError

    def run(self) -> list[nodes.Node]:
        """Read the registries, and let MyST read what comes of it."""
        registry.load()
        try:
            text = self.text()
        except LookupError as missing:
            raise self.error(str(missing)) from missing
        if not text:
            return []
        holder = nodes.container()
        self.state.nested_parse(StringList(text.splitlines(), source=self.env.docname), self.content_offset, holder)
        return holder.children


class Problems(Registered):
    """`problems`."""

    required_arguments = 0
    optional_arguments = 1
    has_content = False

    def text(self) -> str:
        """Problems, their solvers and declarations."""
        names = self.arguments[0].split() if self.arguments else listed.unnamed()
        return f"{solver_table(names)}\n{declarations(names)}" if names else ""


class Claims(Registered):
    """`claims`."""

    option_spec: ClassVar[dict[str, Any]] = {}

    def text(self) -> str:
        """The claims of the modules in the body."""
        return claim_table(self.arguments[0], " ".join(self.content).split())


class Estimators(Registered):
    """`estimators`."""

    required_arguments = 0
    has_content = False

    def text(self) -> str:
        """Estimators."""
        return estimator_table()


class Atoms(Registered):
    """`atoms`."""

    required_arguments = 0
    has_content = False

    def text(self) -> str:
        """Atoms."""
        return atom_table()


class Modules(Registered):
    """`modules`."""

    has_content = False

    def text(self) -> str:
        """The docstrings of a package."""
        return module_list(self.arguments[0])


def setup(app: Any) -> dict[str, bool]:
    """Add the directives."""
    app.add_directive("problems", Problems)
    app.add_directive("claims", Claims)
    app.add_directive("estimators", Estimators)
    app.add_directive("atoms", Atoms)
    app.add_directive("modules", Modules)
    return {"parallel_read_safe": True}
