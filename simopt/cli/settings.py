"""`--set field=value` and `--option name=value`: texts from the command line as values of the right type."""

from __future__ import annotations

import dataclasses
import inspect
import re
from collections.abc import Iterable
from typing import Any, get_type_hints

from simopt.core.errors import InvalidProblem, UnknownName
from simopt.core.registry import fold
from simopt.model.problem import Problem

BOOLEANS = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}


def pairs(flag: str, texts: Iterable[str]) -> dict[str, str]:
    """Split `name=value` texts.

    Raises
    ------
    InvalidProblem
        for a text without "=", and for a name given twice.
    """
    found: dict[str, str] = {}
    for text in texts:
        name, sign, value = text.partition("=")
        if not sign or not name.strip():
            raise InvalidProblem(f"{flag}: {text!r} given, name=value needed")
        if name.strip() in found:
            raise InvalidProblem(f"{flag}: {name.strip()!r} is given twice")
        found[name.strip()] = value.strip()
    return found


def with_options(flag: str, text: str, example: str) -> tuple[str, dict[str, Any]]:
    """`scs[max_iter=100]` as a name with options.

    Raises
    ------
    InvalidProblem
        for a name without letters or brackets that do not close.
    """
    match = re.fullmatch(r"\s*([^\[\],\s]+)\s*(?:\[(.*)\])?\s*", text)
    if match is None:
        raise InvalidProblem(f"{flag}: {text.strip()!r} given, {example} needed")
    options = pairs(flag, match[2].split(",")) if match[2] else {}
    return match[1], {name: guess(value) for name, value in options.items()}


def guess(text: str) -> Any:
    """Read a text as none, true or false, a whole number, a number, or else itself."""
    if text.lower() in ("none", "null"):
        return None
    if text.lower() in ("true", "false"):
        return BOOLEANS[text.lower()]
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def convert(name: str, text: str, annotation: str) -> Any:
    """Read a text as the annotation of the parameter asks: `int | None`, `float`, `bool`, `str`; anything else is guessed.

    Raises
    ------
    InvalidProblem
        when it cannot be read so.
    """
    kinds = [kind.strip() for kind in annotation.split("|")]
    if "None" in kinds and text.lower() in ("none", "null"):
        return None
    for kind in kinds:
        try:
            if kind == "bool" and text.lower() in BOOLEANS:
                return BOOLEANS[text.lower()]
            if kind == "int":
                return int(text)
            if kind == "float":
                return float(text)
        except ValueError:
            continue
    if "str" in kinds:
        return text
    if set(kinds) <= {"bool", "int", "float", "None"}:
        raise InvalidProblem(f"{name}: {text!r} given, {annotation} needed")
    return guess(text)


def settable_fields(kind: type[Problem]) -> dict[str, str]:
    """Fields of a problem that are neither arrays nor hold several numbers, with what they hold, and the numbers that fields hold."""
    plain = get_type_hints(kind)  # without what is checked of them
    single = [item.name for item in dataclasses.fields(kind) if not dataclasses.is_dataclass(plain[item.name])]
    found = {name: _annotation(plain[name]) for name in single}
    return {name: text for name, text in found.items() if "ndarray" not in text} | dict.fromkeys(kind.holding(), "float")


def assigned(kind: type[Problem], texts: dict[str, str]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Split `--set` into options of the recipe and fields that are replaced in what the recipe returns.

    Raises
    ------
    UnknownName
        for a name that is neither, with the nearest one.
    """
    options, fields = kind.recipe_options(), settable_fields(kind)
    for_recipe: dict[str, Any] = {}
    for_problem: dict[str, Any] = {}
    for given, text in texts.items():
        name = _known(given, [*options, *fields])
        if name in options:
            for_recipe[name] = convert(name, text, _annotation(options[name].annotation))
        elif name in fields:
            for_problem[name] = convert(name, text, fields[name])
        else:
            raise UnknownName(f"field of {kind.name}", given, {*options, *fields})
    return for_recipe, for_problem


def _known(value: str, names: Iterable[str]) -> str:
    return next((name for name in names if fold(name) == fold(value)), value)


def _annotation(annotation: Any) -> str:
    if isinstance(annotation, str):
        return annotation
    return "" if annotation is inspect.Parameter.empty else inspect.formatannotation(annotation)
