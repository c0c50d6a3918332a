"""The source of a problem's declaration, whole: `declare`, and what it calls to build variables, losses and rows."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np


def example(cls: type) -> Any:
    """The first of the problem's examples."""
    return next(iter(cls.examples(np.random.default_rng(0)))).problem


def code(problem: Any) -> str:
    """The source of `declare` and of all that builds expressions for it, each once, in the order in which they are called."""
    pieces = dict.fromkeys(source(function) for function in builders(type(problem).declare, problem, set()))
    return "\n".join(pieces)


def source(function: Callable[..., Any]) -> str:
    """The function's source, from the margin."""
    return textwrap.dedent(inspect.getsource(function))


def builders(function: Any, holder: Any, seen: set[Any]) -> Iterator[Any]:
    """The function, and what it calls of `simopt.problems` that speaks of CVXPY itself."""
    seen.add(function)
    yield function
    for call in ast.walk(ast.parse(source(function))):
        if isinstance(call, ast.Call):
            called = meant(call.func, function, holder)
            inner = inspect.unwrap(getattr(called, "__func__", called))
            if (
                inspect.isfunction(inner)
                and inner not in seen
                and inner.__module__.startswith("simopt.problems.")
                and "cp." in source(inner)
            ):
                yield from builders(inner, getattr(called, "__self__", None), seen)


def meant(name: ast.expr, function: Any, holder: Any) -> Any:
    """What a name or a chain of attributes stands for in the function, where that is known before it runs; else None."""
    if isinstance(name, ast.Name):
        return holder if name.id == "self" else function.__globals__.get(name.id)
    return getattr(meant(name.value, function, holder), name.attr, None) if isinstance(name, ast.Attribute) else None
