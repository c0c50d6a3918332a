"""A claim on its way to another process, which has it already, imports it, or unpickles it."""

from __future__ import annotations

import importlib
import pickle
import sys
from contextlib import suppress
from dataclasses import dataclass

from simopt.claims import catalogue
from simopt.claims.claim import Claim
from simopt.processes.worker import pickled


@dataclass(frozen=True)
class Sent:
    """The message about a claim to another process: its id, its module, the search path of modules, and its pickle, if there is one."""

    id: str
    module: str
    value: bytes
    path: tuple[str, ...] = ()


def sent(claim: Claim) -> Sent:
    """The claim, fit to be sent."""
    try:
        value = pickled(claim)
    except Exception:  # whatever its knobs raise
        value = b""
    return Sent(claim.id, claim.module, value, tuple(sys.path))


def received(one: Sent) -> Claim:
    """The claim that is registered here, or is when its module has been imported; of a script or a notebook, the one that came along.

    Raises
    ------
    ImportError
        where its module is not here and the claim cannot be pickled.
    """
    if (known := _registered(one.id)) is not None:
        return known
    if one.module != "__main__":
        sys.path += [folder for folder in one.path if folder not in sys.path]  # a process that is kept began with those of then
        with suppress(*[ImportError] if one.value else []):
            importlib.import_module(one.module)
        if (known := _registered(one.id)) is not None:
            return known
    claim: Claim = pickle.loads(one.value)
    return claim


def _registered(name: str) -> Claim | None:
    return next((claim for claim in catalogue.registered() if claim.id == name), None)
