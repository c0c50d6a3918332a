"""Predictors over landmarks have in common: the map they are trained with, their provenance, and how files hold them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import numpy as np
import numpy.typing as npt

from simopt.certificates.certificate import Certificate
from simopt.core import archive, validate
from simopt.core.errors import InvalidProblem
from simopt.data.landmarks import LandmarkMap, Values, similarity_name
from simopt.data.rows import Rows
from simopt.data.similarities import Similarity, SimilarityRule, from_json
from simopt.model.problem import Problem
from simopt.solving.solution import Solution


def landmark_map(
    rows: Rows, landmarks: int | npt.ArrayLike, similarity: str | SimilarityRule | Similarity | Values, seed: int
) -> LandmarkMap:
    """Ψ for points: so many of them as landmarks, drawn without replacement (all, where they are fewer), or the landmarks given.

    Raises
    ------
    InvalidProblem
        for a seed that is not a whole number ≥ 0, and for landmarks that are neither a number nor points.
    """
    rng = np.random.default_rng(validate.seed("seed", seed))
    if not isinstance(landmarks, list | tuple) and np.ndim(landmarks) == 0:
        count = min(validate.whole("landmarks", landmarks, minimum=1), rows.n)  # type: ignore[arg-type]  # a number, or refused
        return LandmarkMap.from_data(rows, count, rng, similarity)
    given = validate.matrix("landmarks", landmarks, cols=rows.width)
    chosen = LandmarkMap.from_data(rows, 1, rng, similarity).similarity if isinstance(similarity, str | SimilarityRule) else similarity
    return LandmarkMap(chosen, given)


def demand_one_bound(radius: float | None, regularization: float | None) -> None:
    """Refuse B and λ together: ‖w‖ is either bounded or penalised."""
    if radius is not None and regularization is not None:
        raise InvalidProblem("radius, regularization: both given; ‖w‖ is either bounded or penalised")


def provenance(problem: Problem, solution: Solution, samples: int) -> dict[str, Any]:
    """Problem, solver, status, samples, iterations, seconds, versions, and what bounds w."""
    made = solution.provenance
    return {
        "problem": problem.name,
        "solver": made.solver,
        "status": solution.status.value,
        "samples": samples,
        "iterations": made.iterations,
        "seconds": made.setup_seconds + made.solve_seconds,
        "versions": dict(made.versions),
        **{name: getattr(problem, name) for name in ("radius", "regularization") if name in problem.settable()},
    }


def similarity_record(similarity: Similarity | Values) -> dict[str, Any]:
    """The record of a similarity, as files hold it.

    Raises
    ------
    InvalidProblem
        for a Python function of one's own.
    """
    if not isinstance(similarity, Similarity):
        name = similarity_name(similarity)
        raise InvalidProblem(
            f"similarity: {name} is a function of your own, which no file can hold; pickle what uses it, or save its parts"
        )
    return similarity.to_json()


def parts_over_landmarks(record: Mapping[str, Any]) -> dict[str, Any]:
    """Similarity, landmarks, weights and certificate of a record.

    Raises
    ------
    KeyError, TypeError, ValueError
        for a part that is missing, of another kind, or does not fit the others.
    """
    weights = archive.numbers("weights", record["weights"])
    landmarks = archive.numbers("landmarks", record["landmarks"]).reshape(weights.size, -1)
    if weights.ndim != 1:
        raise ValueError(f"weights have the shape {weights.shape}")
    certificate = certificate_of(record["certificate"])
    return {"similarity": from_json(record["similarity"]), "landmarks": landmarks, "weights": weights, "certificate": certificate}


def certificate_of(record: Mapping[str, Any]) -> Certificate:
    """A certificate from its fields; JSON has no ∞, and leaves null where a bound is missing.

    Raises
    ------
    TypeError
        when `record` holds no fields, or others.
    """
    if not isinstance(record, Mapping):
        raise TypeError(f"the certificate is {type(record).__name__}, not a record")
    ends = {"lower": -math.inf}
    numbers = [item.name for item in fields(Certificate) if item.type == "float"]
    missing = {name: ends.get(name, math.inf) for name in numbers if record.get(name, 0.0) is None}
    return Certificate(**archive.entries(Certificate, record, **missing))
