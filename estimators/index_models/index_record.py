"""The two parts of a single-index predictor, and how files hold them: an index function, linear or of a kernel, and a transfer function."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from simopt.core import archive, validate
from simopt.core.arrays import Array
from simopt.core.errors import InvalidProblem
from simopt.core.monotone_function import MonotoneFunction
from simopt.data.similarities import Similarity, from_json
from simopt.equivalence.training import KernelFunction
from simopt.estimators.index_models.transfer import Ramp, Transfer, clipped_linear, known_transfer
from simopt.problems.losses.transfers import TRANSFERS

Function = Callable[[Array], Array]
FORMAT = "simopt index model 1"
WHAT = "an index model"
REMEDY = "pickle it, or save its parts yourself"


@dataclass(frozen=True, eq=False)
class LinearIndex:
    """x ↦ ⟨w, x⟩, w of shape (d,)."""

    direction: Array

    def __str__(self) -> str:
        return f"⟨w, x⟩ with w in dimension {self.direction.size}, ‖w‖ = {float(np.linalg.norm(self.direction)):.4g}"

    def __call__(self, X: npt.ArrayLike) -> Array:
        """Xw, shape (k, d) → (k,)."""
        out: Array = validate.matrix("X", X, cols=self.direction.size, minimum=0) @ self.direction
        return out


def record(index: Function, transfer: Function) -> dict[str, Any]:
    """The record of a predictor with these parts, as files hold it.

    Raises
    ------
    InvalidProblem
        where a part is a Python function of one's own, which no file describes.
    """
    return {"format": FORMAT, "index": _of_index(index), "transfer": _of_transfer(transfer)}


def parts_of(record: Mapping[str, Any]) -> tuple[Function, Function]:
    """Index and transfer function of a record.

    Raises
    ------
    KeyError, TypeError, ValueError
        for a record that is not whole.
    """
    return _index(record["index"]), _transfer(record["transfer"])


def _of_index(index: Function) -> dict[str, Any]:
    if isinstance(index, LinearIndex):
        return {"kind": "linear", "direction": index.direction}
    if isinstance(index, KernelFunction) and isinstance(index.similarity, Similarity):
        return {
            "kind": "kernel",
            "similarity": index.similarity.to_json(),
            "centres": index.centres,
            "coefficients": index.coefficients,
        }
    raise InvalidProblem(f"index: {_name(index)} is neither linear nor of a similarity of simopt, so that no file can hold it; {REMEDY}")


def _index(record: Mapping[str, Any]) -> Function:
    if record["kind"] == "linear":
        direction = archive.numbers("direction", record["direction"])
        if direction.ndim != 1:
            raise ValueError(f"the direction has the shape {direction.shape}")
        return LinearIndex(direction)
    if record["kind"] != "kernel":
        raise ValueError(f"index of kind {record['kind']!r}")
    centres, coefficients = (archive.numbers(name, record[name]) for name in ("centres", "coefficients"))
    return KernelFunction(from_json(record["similarity"]), centres, coefficients)


def _of_transfer(transfer: Function) -> dict[str, Any]:
    inner = transfer.function if isinstance(transfer, Transfer) else transfer
    if isinstance(inner, MonotoneFunction):
        return {"kind": "piecewise linear", "function": inner.record()}
    if isinstance(inner, Ramp):
        return {"kind": "ramp", "slope": inner.slope, "intercept": inner.intercept}
    if isinstance(transfer, Transfer) and transfer.proven and transfer.name in TRANSFERS:
        return {"kind": "known", "name": transfer.name}
    raise InvalidProblem(f"transfer: {_name(transfer)} is a function of your own, which no file can hold; {REMEDY}")


def _transfer(record: Mapping[str, Any]) -> Function:
    if record["kind"] == "piecewise linear":
        return MonotoneFunction.from_json(record["function"])
    if record["kind"] == "ramp":
        slope, intercept = (float(archive.numbers(name, record[name])) for name in ("slope", "intercept"))
        return clipped_linear(slope, intercept)
    if record["kind"] != "known":
        raise ValueError(f"transfer of kind {record['kind']!r}")
    return known_transfer(record["name"])


def _name(part: Function) -> str:
    return str(getattr(part, "name", type(part).__name__))
