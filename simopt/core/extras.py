"""Packages that the extras of simopt install, and the one sentence that says how to get them."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from simopt.core.errors import NotAvailable

DISTRIBUTION = "simopt-convex"  # on the registries, where somebody else's option parser is called simopt


def install(extra: str) -> str:
    """The command that installs an extra of ours."""
    return f"pip install '{DISTRIBUTION}[{extra}]'"


def needed(module: str, what: str, extra: str) -> Any:
    """A module that an extra brings; `what` needs it, with the verb ("pictures of herds need").

    Raises
    ------
    NotAvailable
        when it cannot be imported, with the command that installs it.
    """
    try:
        return import_module(module)
    except ImportError as error:
        raise NotAvailable(f"{what} {module.partition('.')[0]}: {install(extra)} ({error})") from error
