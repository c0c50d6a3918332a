"""Problems that are no entry of the catalogue: a `cvxpy.Problem` of a script, of a Python file or module, or read from a file.

A problem is built once, here, and goes to the processes of its runs by pickle. Building it anew there would give each solver another
problem wherever a function draws random numbers or reads what changes. Classes and functions of a Python file travel with it by value.
"""

from __future__ import annotations

import ast
import glob
import importlib.util
import inspect
import itertools
import os
import pickle
import re
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from importlib import import_module
from importlib.machinery import SourceFileLoader
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simopt.compare.cell import INTEGERS as WITH_INTEGERS
from simopt.compare.cell import as_text
from simopt.compare.interception import run_script
from simopt.core.errors import InvalidProblem, UnknownName, nearest
from simopt.model.problem import Problem, hashed, is_cvxpy
from simopt.processes.worker import pickled

if TYPE_CHECKING:
    import cvxpy as cp

    from simopt.backends.table import BackEnd
    from simopt.duality.declared import Declared

NEEDED = "a cvxpy.Problem, or a function that returns one or yields several"
NAMES = 12  # of a file that are listed
QUADRATIC, INTEGERS = "quadratic objective", "integers"  # of what a problem has, and a back end may not take
NamedProblem = tuple[str, Any, dict[str, Any]]  # its name, a cvxpy.Problem or one of ours, and the arguments that it was made with
WITH_NAME = re.compile(r"(?P<home>.+):(?P<name>[^\W\d]\w*)\s*(?:\((?P<arguments>.*)\))?\s*", re.DOTALL)


@dataclass(frozen=True)
class OwnProblem:
    """A `cvxpy.Problem` with the name and the arguments by which tables and records call it.

    `latest` is above every number that CVXPY has given to a part of the problem. `offset` is added to the
    logarithm of a geometric programme.
    """

    name: str
    problem: cp.Problem
    settings: dict[str, Any] = field(default_factory=dict)
    latest: int = 0
    offset: float = 0.0

    @classmethod
    def of(cls, name: str, problem: cp.Problem, settings: dict[str, Any] | None = None) -> OwnProblem:
        """The problem without what solves have left in it, which need not be picklable.

        Raises
        ------
        InvalidProblem
            where no bound can be derived for it, or a parameter has no value; with its name.
        """
        import cvxpy as cp
        from cvxpy.lin_ops.lin_utils import ID_COUNTER

        from simopt.duality.graph.leaf_values import value_of
        from simopt.duality.reading.integers import has_integers
        from simopt.solving.geometric import offset_of

        bare = cp.Problem(problem.objective, problem.constraints)
        offset = offset_of(bare) if not has_integers(bare) and is_geometric(bare) else 0.0
        made = cls(name, bare, settings or {}, ID_COUNTER.count, offset)
        try:
            made.read()
            for parameter in bare.parameters():
                value_of(parameter)
        except InvalidProblem as error:
            raise InvalidProblem(f"{name}: {error}") from error
        return made

    @property
    def label(self) -> str:
        """The name, and what bounds in a comparison are bounds on, where that is not the optimum of the problem as written."""
        from simopt.duality.reading.integers import has_integers

        if has_integers(self.problem):
            return f"{self.name} {WITH_INTEGERS}"
        return f"{self.name} (its logarithm {self.offset:+g})" if is_geometric(self.problem) else self.name

    def read(self) -> Declared:
        """The problem as the judge sees it: complex numbers as pairs of real ones, a geometric programme as that of logarithms."""
        from cvxpy.lin_ops.lin_utils import ID_COUNTER

        from simopt.compare.with_integers import WithIntegers
        from simopt.duality.declared import Declared
        from simopt.duality.reading.complex_numbers import is_complex, real_problem
        from simopt.duality.reading.geometric import log_problem
        from simopt.duality.reading.integers import has_integers

        # pickle keeps the numbers of variables: those that canonicalisation makes in this process must differ from them
        ID_COUNTER.count = max(ID_COUNTER.count, self.latest)
        if has_integers(self.problem):
            return WithIntegers.of(self.problem)
        if is_geometric(self.problem):
            form = log_problem(self.problem)
            form.offset.value = self.offset
            return Declared.of(form.problem)
        return Declared.of(real_problem(self.problem).problem if is_complex(self.problem) else self.problem)

    def fingerprint(self) -> str:
        """Hash of the formulas, the attributes of the variables and all numbers.

        Names that CVXPY has numbered count by their order alone: they differ from one program to the next.
        """
        from simopt.duality.graph.leaf_values import numbers

        names: dict[str, str] = {}
        text = re.sub(r"\b(var|param)\d+\b", lambda found: names.setdefault(found[0], f"{found[1]}:{len(names)}"), str(self.problem))
        leaves = [*self.problem.variables(), *self.problem.parameters()]
        values = [*self.problem.constants(), *self.problem.parameters()]
        attributes = tuple(as_text({"shape": leaf.shape, **leaf.attributes}) for leaf in leaves)
        return hashed((text, attributes, *(numbers(number.value) for number in values)))


def is_geometric(problem: cp.Problem) -> bool:
    """Whether a problem that nobody says how to solve is a geometric programme, and not convex as it is written."""
    return not problem.is_dcp() and problem.is_dgp()


def is_own(text: str) -> bool:
    """Whether a text names problems of the user's own: HOME:NAME, a file, a folder, or files by a pattern."""
    return (
        bool(re.search(r"[:*?/]", text) or Path(text).suffix) or Path(text).exists()
    )  # names of the catalogue have neither colons nor dots


def shown(text: str) -> str:
    """The text without folders: what is kept and published shows no paths."""
    return Path(text.strip().replace("\\", "/")).name if "(" not in text else shown(text[: text.index("(")]) + text[text.index("(") :]


def problems_of(text: str, arguments: Sequence[str] = ()) -> Iterator[OwnProblem | Problem]:
    """The problems that a text stands for (`named_problems`), ready to be compared.

    Raises
    ------
    InvalidProblem, UnknownName
        in one line that names the text and says what would be right; also where no bound can be derived for one of them.
    """
    for name, problem, settings in named_problems(text, arguments):
        yield OwnProblem.of(name, problem, settings) if is_cvxpy(problem) else problem


def named_problems(text: str, arguments: Sequence[str] = ()) -> Iterator[NamedProblem]:
    """The problems that HOME:NAME or HOME:NAME(arguments) stands for, those that a script solves, or files of problems, as they are.

    HOME is a Python file or a module. NAME is a problem, a list or a dictionary of them, or a function that makes them. A list among the
    arguments is swept. A script is run with its `arguments`, and each problem is taken as it is when it is solved.

    Raises
    ------
    InvalidProblem, UnknownName
        in one line that names the text and says what would be right.
    """
    if is_script(text):
        yield from _of_script(Path(text), arguments)
        return
    match = WITH_NAME.fullmatch(text.strip())
    if match is None:
        yield from _of_files(text)
        return
    home, name, settled = match["home"], match["name"], match["arguments"]
    label = f"{shown(home)}:{name}"
    known = names_of(home)
    if name not in known:
        raise UnknownName(f"name in {shown(home)}", name, [each for each in known if not each.startswith("_")])
    value = known[name]
    if inspect.isfunction(value) or (callable(value) and not _is_problem(value)):
        for settings in _swept(label, value, settled or ""):
            yield from _named(label, _called(label, value, settings, str(known.get("__file__", ""))), settings)
    elif settled is not None:
        raise InvalidProblem(f"{label}: it is {_kind(value)} and takes no arguments; give {label}")
    else:
        yield from _named(label, value, {})


def is_script(text: str) -> bool:
    """Whether a text names a Python file, and no problem in it."""
    return text.endswith(".py") and Path(text).is_file()


def _of_script(script: Path, arguments: Sequence[str]) -> Iterator[NamedProblem]:
    """The problems that a script solves, with their parameters as they are then."""
    found: list[NamedProblem] = []

    def met(site: str, problem: cp.Problem, gp: bool) -> None:
        bare = type(problem)(problem.objective, problem.constraints)  # without what solvers have left in it
        before = sum(name == site or name.startswith(f"{site} (") for name, _, _ in found)
        found.append((f"{site} ({before + 1})" if before else site, pickle.loads(pickled(bare)), {}))

    try:
        run_script(script, arguments, met)
    except (Exception, SystemExit) as error:
        if not isinstance(error, SystemExit) or error.code:
            raise InvalidProblem(f"{script.name}: it has failed: {_in_one_line(error)}{_line_of(error, str(script))}") from error
    if not found:
        raise InvalidProblem(f"{script.name}: no cvxpy.Problem was solved; name one in it: {script.name}:NAME{_defined(script)}")
    yield from found


def _of_files(text: str) -> Iterator[NamedProblem]:
    """The problems of a file, of the files of a folder, or of those that a pattern such as lp/*.mps.gz names, ordered by name."""
    from simopt.files import formats

    path = Path(text)
    if ":" in text:
        raise InvalidProblem(f"{text}: FILE.py:NAME, MODULE:NAME or FILE.py:NAME(n=100) needed")
    if path.is_file() and formats.ending(path) not in formats.READ:
        raise InvalidProblem(f"{text}: it is not known which problem this is; {', '.join(formats.READ)} are read, also with .gz")
    several = path.iterdir() if path.is_dir() else map(Path, glob.iglob(text, recursive=True)) if re.search(r"[*?]", text) else [path]
    chosen = sorted(each for each in several if formats.ending(each) in formats.READ and (each == path or each.is_file()))
    if not chosen or not chosen[0].exists():
        empty = f"no files in it; {', '.join(formats.READ)} are read"
        raise InvalidProblem(f"{text}: {f'no such file{_did_you_mean(path)}' if chosen or not path.is_dir() else empty}")
    for each in chosen:
        yield from _named(each.name, formats.read(each), {})


def _defined(path: Path) -> str:
    """The functions and names that a Python file has at its top, read and not executed; "" where there are none."""
    try:
        body = ast.parse(path.read_bytes()).body
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return ""
    names = [node.name for node in body if isinstance(node, ast.FunctionDef)]
    names += [target.id for node in body if isinstance(node, ast.Assign) for target in node.targets if isinstance(target, ast.Name)]
    public = [name for name in dict.fromkeys(names) if not name.startswith("_")]
    return f"; it defines {', '.join(public[:NAMES])}{', …' if len(public) > NAMES else ''}" if public else ""


def _did_you_mean(path: Path) -> str:
    """The file of a similar name beside the one that is not there."""
    there = [each.name for each in path.parent.iterdir() if each.is_file()] if path.parent.is_dir() else []
    near = nearest(path.name, there)
    return "" if near is None else f"; did you mean {path.with_name(near)}?"


def names_of(home: str) -> dict[str, Any]:
    """The names that a Python file or a module defines; files beside it can be imported, as when Python runs it."""
    is_file = home.endswith(".py")
    if is_file and not Path(home).is_file():
        raise InvalidProblem(f"{home}: no such file{_did_you_mean(Path(home))}")
    folder = str(Path(home).resolve().parent if is_file else Path.cwd())
    if folder not in sys.path:
        sys.path.insert(0, folder)  # for good: the processes of the runs are given this path of modules
    try:
        return _names_of_file(Path(home)) if is_file else vars(import_module(home))
    except ModuleNotFoundError as error:
        if not is_file and error.name is not None and home.startswith(error.name):
            raise InvalidProblem(
                f"{home}: there is no module of this name, here or installed; a file is named as {home}.py:NAME"
            ) from error
        raise InvalidProblem(f"{shown(home)}: {error}; install it, or put it beside the file") from error
    except (Exception, SystemExit) as error:
        line = _line_of(error, home) if is_file else ""
        raise InvalidProblem(f"{shown(home)}: it cannot be imported: {_in_one_line(error)}{line}") from error


class SourceAsItIs(SourceFileLoader):
    """Reads a file, and no byte code of it: Python takes that of a version with the same size and second for the file's own."""

    def path_stats(self, path: str | os.PathLike[str]) -> Mapping[str, Any]:
        raise OSError(f"{os.fspath(path)}: its byte code is neither read nor written")


def _names_of_file(path: Path) -> dict[str, Any]:
    """What the file defines. Its module is forgotten again: no process could import it, so that its objects are pickled by value."""
    name = f"own_problem_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path, loader=SourceAsItIs(name, str(path)))
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look their module up
    try:
        spec.loader.exec_module(module)
    finally:
        sys.modules.pop(name, None)
    return vars(module)


def _swept(label: str, function: Callable[..., Any], text: str) -> Iterator[dict[str, Any]]:
    """The arguments of each call: literals, by name; one for each combination of the entries of lists."""
    try:
        call = ast.parse(f"f({text})", mode="eval").body
        assert isinstance(call, ast.Call)
        positional = [_literal(label, node) for node in call.args]
        by_name = {str(word.arg): _literal(label, word.value) for word in call.keywords if word.arg is not None}
        if len(by_name) < len(call.keywords):
            raise SyntaxError("** has no meaning here")
    except (SyntaxError, AssertionError) as error:
        token = _token_at(f"f({text})", error.offset) if isinstance(error, SyntaxError) and error.offset else ""
        what = f"{token} is no literal, in ({text})" if token else f"({text}) given"
        raise InvalidProblem(f"{label}: {what}; arguments needed, such as (n=[100, 1000])") from error
    try:
        bound = inspect.signature(function).bind(*positional, **by_name)
    except (TypeError, ValueError) as error:
        takes = f"it takes {inspect.signature(function)}" if inspect.isfunction(function) else f"{NEEDED} needed"
        raise InvalidProblem(f"{label}: {error}; {takes}") from error
    arguments = dict(bound.arguments)
    for parameter in bound.signature.parameters.values():
        if parameter.kind is parameter.VAR_KEYWORD:
            arguments |= arguments.pop(parameter.name, {})
        elif parameter.kind in (parameter.VAR_POSITIONAL, parameter.POSITIONAL_ONLY) and parameter.name in arguments:
            raise InvalidProblem(f"{label}: arguments are given by name, and {parameter.name} has none")
    for name, value in arguments.items():
        if value == []:
            raise InvalidProblem(f"{label}: {name}=[] sweeps nothing; at least one value is needed")
    entries = [[(name, one) for one in (value if isinstance(value, list) else [value])] for name, value in arguments.items()]
    yield from (dict(chosen) for chosen in itertools.product(*entries))


def _token_at(text: str, offset: int) -> str:
    """The word around a column, counted from 1, where it begins as a number does: 4O is none, and no name either."""
    words = re.finditer(r"[\w.]+", text)
    return next((word[0] for word in words if word.start() < offset <= word.end() + 1 and word[0][0].isdigit()), "")


def _literal(label: str, node: ast.expr) -> Any:
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, MemoryError, RecursionError) as error:
        raise InvalidProblem(
            f"{label}: {ast.unparse(node):.60} given, a literal needed: a number, a text, or a list, which is swept"
        ) from error


def _called(label: str, function: Callable[..., Any], settings: dict[str, Any], file: str) -> Any:
    """What the function, which is in a file, makes, all of it."""
    call = f"{label}({', '.join(f'{name}={value!r}' for name, value in settings.items())})"
    try:
        made = function(**settings)
        return list(made) if isinstance(made, Iterator) else made
    except (Exception, SystemExit) as error:
        raise InvalidProblem(f"{call}: {_in_one_line(error)}{_line_of(error, file)}") from error


def _line_of(error: BaseException, file: str) -> str:
    """The last line of the file that the error went through, in brackets; a syntax error names its line itself."""
    place = Path(file).resolve()
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if Path(frame.filename).resolve() == place]
    return f" ({shown(file)}, line {lines[-1]})" if lines and not isinstance(error, SyntaxError) else ""


def _named(label: str, value: Any, settings: dict[str, Any]) -> Iterator[NamedProblem]:
    """A problem, or each of several, with its name."""
    if isinstance(value, Mapping):
        entries: Iterable[tuple[Any, Any]] = value.items()
    elif isinstance(value, (list, tuple)):
        pairs = all(isinstance(entry, tuple) and len(entry) == 2 and isinstance(entry[0], str) for entry in value)
        entries = value if pairs else enumerate(value)
    else:
        entries = [(None, value)]
    several = list(entries)
    if not several:
        raise InvalidProblem(f"{label}: it gives no problem; {NEEDED} is needed")
    for key, problem in several:
        name = label if key is None else f"{label}[{key}]"
        if not _is_problem(problem):
            raise InvalidProblem(f"{name}: {_kind(problem)} found, {NEEDED} needed")
        yield name, problem, settings


def _is_problem(value: Any) -> bool:
    return is_cvxpy(value) or isinstance(value, Problem)


def _kind(value: Any) -> str:
    return type(value).__name__


def _in_one_line(error: BaseException) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())[:300]}".rstrip(": ")


def in_order(problems: Any) -> Iterator[Any]:
    """The problems of a call of `compare_solvers`, one by one: catalogue names and problems as they are, others by name.

    Raises
    ------
    InvalidProblem, UnknownName
        naming the entry.
    """
    several = not isinstance(problems, (str, os.PathLike, type)) and not _is_problem(problems)
    if several and not isinstance(problems, Iterable):
        raise InvalidProblem(f"problems: {_kind(problems)} given, a list of problems or of names needed")
    named = problems.items() if isinstance(problems, Mapping) else None
    entries = list(named if named is not None else ((None, entry) for entry in (problems if several else [problems])))
    if not entries:
        raise InvalidProblem("problems: at least one is needed")
    for number, (key, entry) in enumerate(entries, start=1):
        if is_cvxpy(entry):
            yield OwnProblem.of(str(key) if key is not None else f"problem {number}" if len(entries) > 1 else "problem", entry)
        elif isinstance(entry, (str, os.PathLike)) and is_own(os.fspath(entry)):
            yield from problems_of(os.fspath(entry))
        else:
            yield entry


def suitable(own: OwnProblem | Declared, backends: Iterable[BackEnd]) -> tuple[list[BackEnd], dict[str, str]]:
    """Back ends that can take the problem; and of each of the others, by name, what it cannot take."""
    from simopt.backends import adapter
    from simopt.backends.table import CLARABEL
    from simopt.compare.with_integers import WithIntegers
    from simopt.duality.declared import Declared

    declared = own.read() if isinstance(own, OwnProblem) else own
    present: frozenset[str] = frozenset()
    with suppress(adapter.Refused, InvalidProblem):
        of = Declared if isinstance(declared, WithIntegers) else type(declared)  # of a problem with integers the relaxation
        convex = of.for_back_ends(declared, cones=CLARABEL.cones)
        present = parts(adapter.canonicalise(convex, CLARABEL)[0])
    if isinstance(declared, WithIntegers):
        present |= {INTEGERS}
    taken, refused = list[Any](), dict[str, str]()
    for backend in backends:
        try:
            adapter.canonicalise(declared.for_back_ends(cones=backend.cones), backend)
        except (adapter.Refused, InvalidProblem) as error:
            together = " with ".join(sorted(present & {QUADRATIC, INTEGERS}, reverse=True))
            lacking = sorted(present & _not_taken(backend.cvxpy_name)) or [together]
            refused[backend.name] = f"it takes no {' and no '.join(lacking)}" if any(lacking) else str(error)
        else:
            taken.append(backend)
    return taken, refused


def copies(own: OwnProblem | Declared, backends: Iterable[BackEnd]) -> dict[str, str]:
    """Of these back ends, by name, those that are the code of another one of them, with the reason; none where there are integers."""
    from simopt.backends.table import COPIES
    from simopt.compare.with_integers import WithIntegers

    if isinstance(own.read() if isinstance(own, OwnProblem) else own, WithIntegers):
        return {}
    names = {backend.name for backend in backends}
    return {name: f"it is the code of {COPIES[name]} where there are no integers" for name in COPIES if {name, COPIES[name]} <= names}


def parts(data: Mapping[str, Any]) -> frozenset[str]:
    """What a problem in conic form has beside linear rows, in words."""
    dims, P = data["dims"], data.get("P")
    present = {
        QUADRATIC: P is not None and P.nnz > 0,
        "second-order cones": bool(dims.soc),
        "exponential cones": bool(dims.exp),
        "power cones": bool(dims.p3d) or bool(getattr(dims, "pnd", ())),  # the older versions of CVXPY have only the first
        "semidefinite cones": bool(dims.psd),
    }
    return frozenset(words for words, there in present.items() if there)


def _not_taken(name: str) -> frozenset[str]:
    """What CVXPY says that a solver cannot take."""
    from cvxpy.constraints import PSD, SOC, ExpCone, PowCone3D
    from cvxpy.reductions.solvers import defines

    conic = defines.SOLVER_MAP_CONIC.get(name)
    cones: set[Any] = set() if conic is None else set(conic.SUPPORTED_CONSTRAINTS)
    words = {"second-order cones": SOC, "exponential cones": ExpCone, "power cones": PowCone3D, "semidefinite cones": PSD}
    found = {word for word, kind in words.items() if kind not in cones}
    if not any(getattr(known.get(name), "MIP_CAPABLE", False) for known in (defines.SOLVER_MAP_CONIC, defines.SOLVER_MAP_QP)):
        found.add(INTEGERS)
    return frozenset(found if SOC in cones or name in defines.SOLVER_MAP_QP else found | {QUADRATIC})
