"""The register of content: problems, solvers, theorems and equivalences, ours and other people's.

Content registers itself with decorators when its module is imported. A name of our three content packages imports its own module only
(`find`); listings import everything (`load`). Other people's packages are found through the entry-point groups of the same names (back
ends: `simopt.backends`, similarities: `simopt.similarities`). A module that fails to import becomes a row in `failures()`, so that one
broken plug-in does not take the others down. So does one that registers a name that is taken. Our names stay ours, whatever is imported
first.
"""

from __future__ import annotations

import importlib
import logging
import pkgutil
import sys
import threading
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from simopt.core import sources
from simopt.core.errors import UnknownName

GROUPS = ("problems", "solvers", "theorems")
KINDS = ("problem", "solver", "claim", "family", "equivalence", "table", "backend", "similarity")
GROUP_OF = {"problem": "problems", "solver": "solvers", "backend": "backends", "similarity": "similarities"}  # of all other kinds: theorems


log = logging.getLogger("simopt.core.registry")


class DuplicateName(ValueError):
    """Two modules register one name."""


@dataclass(frozen=True)
class Failure:
    """A module or plug-in that could not be imported, and whether standard error has `reported` it already."""

    group: str
    source: str
    reason: str
    trace: str
    reported: bool = False


_entries: dict[str, dict[str, Any]] = {kind: {} for kind in KINDS}
_modules: dict[tuple[str, str], str] = {}
_origins: dict[tuple[str, str], str] = {}
_loaded: set[str] = set()  # groups whose modules and plug-ins are all imported
_plugged: set[str] = set()  # groups whose plug-ins are imported; of their own modules perhaps only some are
_failures: dict[tuple[str, str], Failure] = {}
_under_way = threading.local()  # has an attribute `_mark` while this thread loads: content may ask for names while it is being imported


def register(kind: str, name: str, entry: Any, module: str, origin: str = "") -> None:
    """Add `entry` under `name`; the same name from another module is an error that names both modules.

    `origin` is the qualified name of what is registered. Within one module a name may come again only from the same origin, as when the
    module is executed a second time.
    """
    if kind not in _entries:
        raise ValueError(f"registry: there is no kind {kind!r}; kinds are {', '.join(KINDS)}")
    if not _ours(module):
        _load_registering(kind, name)
        alike = next((known for known in _entries[kind] if known != name and fold(known) == fold(name)), None)
        if alike is not None:
            raise DuplicateName(f"{kind} {name!r}, of {module}, is {alike!r}, of {_modules[(kind, alike)]}, in other letters; rename one")
    owner = _modules.get((kind, name))
    if owner is not None and owner != module:
        raise DuplicateName(f"{kind} {name!r} is registered twice: by {owner} and by {module}; rename one of them")
    before = _origins.get((kind, name), "")
    if owner == module and module != "__main__" and name in _entries[kind] and before != origin:
        raise DuplicateName(f"{kind} {name!r} is registered twice in {module}: by {before} and by {origin}; rename one of them")
    _origins[(kind, name)] = origin
    _entries[kind][name] = entry
    _modules[(kind, name)] = module


def load(*groups: str) -> None:
    """Import every module of the given content packages and their plug-ins, once."""
    for group in groups or GROUPS:
        if group not in GROUPS:
            raise UnknownName("content group", group, GROUPS)
        if _is_needed(_loaded, group):
            with _loading(_loaded, group):
                for name in _module_names(f"simopt.{group}"):
                    importlib.import_module(name)
                load_plugins(group)


def load_plugins(group: str) -> None:
    """Import other people's packages of a group, once."""
    if _is_needed(_plugged, group):
        with _loading(_plugged, group):
            for entry_point in entry_points(group=f"simopt.{group}"):
                _load_plugin(group, entry_point)


def _mark(finished: set[str], group: str) -> str:
    return f"{group} {id(finished)}"


def _is_needed(finished: set[str], group: str) -> bool:
    """Whether a group is neither finished nor being loaded by this very thread."""
    return group not in finished and not hasattr(_under_way, _mark(finished, group))


@contextmanager
def _loading(finished: set[str], group: str) -> Iterator[None]:
    """Add the group to those `finished` if all goes well. Until then other threads load it, too, and wait for each module's import."""
    mark = _mark(finished, group)
    setattr(_under_way, mark, True)
    try:
        yield
        finished.add(group)
    finally:
        delattr(_under_way, mark)


def _ours(module: str) -> bool:
    return module.startswith(tuple(f"simopt.{group}." for group in GROUPS))


def _load_registering(kind: str, name: str) -> None:
    """Import those modules of ours that register this name, if there are any; a solver is registered as `name@problem`."""
    if kind in ("backend", "similarity"):
        return  # ours stand in tables
    if kind == "solver" and "@" in name:
        _, _, problem = name.partition("@")
        with suppress(sources.Unread):
            for module in sources.solving(problem):
                importlib.import_module(module)
    else:
        load_saying(kind, name)


def load_saying(kind: str, name: str) -> None:
    """Import those modules of ours that may register `name`: all whose source has it in quotes."""
    group = GROUP_OF.get(kind, "theorems")
    if group not in _loaded:
        for module in sources.saying(group, name):
            importlib.import_module(module)


def load_solvers(problem: str) -> None:
    """Import those modules of ours that register solvers of the problem of this name, and all plug-ins: solvers of it may be theirs."""
    if "solvers" in _loaded:
        return
    try:
        wanted = sources.solving(problem)
    except sources.Unread:
        load("solvers")
        return
    for module in wanted:
        importlib.import_module(module)
    load_plugins("solvers")


def find(kind: str, name: str) -> Any:
    """`get`, after importing the modules that may register the name, and the whole group if they do not.

    Raises
    ------
    UnknownName
        with the nearest name of all.
    """
    load_saying(kind, name)
    if not has(kind, name):
        load(GROUP_OF.get(kind, "theorems"))
    return get(kind, name)


def has(kind: str, name: str) -> bool:
    """Whether a name is registered by now."""
    return fold(name) in map(fold, list(_entries[kind]))  # a copy: another thread may register something


def foreign(*groups: str) -> bool:
    """Whether other people may have registered something in these groups: by a plug-in or a script."""
    return any(entry_points(group=f"simopt.{group}") for group in groups) or any(
        GROUP_OF.get(kind, "theorems") in groups and not module.startswith("simopt.") for (kind, _), module in list(_modules.items())
    )


def _load_plugin(group: str, entry_point: EntryPoint) -> None:
    source = f"{entry_point.name} = {entry_point.value}"
    _failures.pop((group, source), None)
    before = set(_modules)
    try:
        entry_point.load()
    except KeyboardInterrupt:  # Ctrl-C, or what cannot be told from it
        raise
    except BaseException as error:  # SystemExit, GeneratorExit, and what compiled modules raise beside Exception
        half = [key for key in _modules.keys() - before if _modules[key] not in sys.modules]
        for kind, name in half:  # half a plug-in is none
            del _entries[kind][name], _modules[(kind, name)]
        reported = isinstance(error, DuplicateName)
        if reported:
            log.warning("simopt: the plug-in %s is left out: %s", source, error)
        _failures[group, source] = Failure(group, source, f"{type(error).__name__}: {error}", traceback.format_exc(), reported)


def _module_names(package: str) -> Iterator[str]:
    root = importlib.import_module(package)
    for module in pkgutil.walk_packages(root.__path__, prefix=f"{package}."):
        yield module.name


def failures() -> tuple[Failure, ...]:
    """Plug-ins that did not import, with the reason."""
    return tuple(_failures.values())


def names(kind: str) -> list[str]:
    """Registered names of a kind, in the order of registration."""
    return list(_entries[kind])


def items(kind: str) -> list[tuple[str, Any]]:
    """Registered (name, entry) pairs of a kind."""
    return list(_entries[kind].items())


def get(kind: str, name: str) -> Any:
    """Return the entry called `name` (`-` and `_` alike, any case).

    Raises
    ------
    UnknownName
        with the nearest registered name.
    """
    table = _entries[kind]
    if name in table:
        return table[name]
    folded = {fold(known): known for known in list(table)}
    if fold(name) in folded:
        return table[folded[fold(name)]]
    raise UnknownName(kind, name, list(table))


def module_of(kind: str, name: str) -> str:
    """Module that registered the entry."""
    return _modules[(kind, name)]


def fold(name: str) -> str:
    """Fold a name for comparison: case and the difference between `-` and `_` do not matter."""
    return name.lower().replace("_", "-")
