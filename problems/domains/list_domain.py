r"""Rankings on a finite domain: N query-document pairs z, and lists x of them with probabilities; what goodness and kernel form share.

A list names its documents; a document may be in several lists, with another η in each. So with D_o the probability of the list of entry o,
E_x ‖f(x) − η(r(x))‖² = Σ_o D_o (f(z_o) − η_o)². The distribution μ of a document is that of a random entry, μ_z = Σ_{o: z_o = z} D_o/m with
m = Σ_o D_o, the mean length of a list. With r̃_z = E[η_o | z_o = z] the same number is m E_μ (f(z) − r̃(z))² + a constant, the paper's
form. Lists of unequal lengths are allowed: m need not be whole.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from numpy.typing import NDArray

from simopt.arithmetic import FLOAT, Arithmetic, Value
from simopt.core import validate
from simopt.core.arrays import Array, Multipliers, Point
from simopt.core.errors import InvalidProblem
from simopt.data.queries import grouped
from simopt.data.similarities import Similarity
from simopt.model.problem import Image, freeze
from simopt.problems import recipes
from simopt.problems.domains import ranked_lists, simplex
from simopt.problems.domains.ranked_lists import RankedLists
from simopt.problems.losses.prediction_losses import Loss, loss_named

if TYPE_CHECKING:
    from simopt.data.datasets import Dataset

Case = tuple[str, Array, dict[str, Any], bool]


class ListDomain(RankedLists):
    """Lists over a domain; a form declares the fields, in the order of its formula, and says what f may be."""

    gram: Array
    documents: npt.NDArray[np.intp] | None
    probabilities: Array | None

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_lists()
        n, size = len(self.relevance), len(self.gram)
        if self.documents is None:
            if n != size:
                raise InvalidProblem(f"gram: shape {self.gram.shape}, but the lists have {n} entries; say which documents they are")
        else:
            found = validate.vector("documents", self.documents, length=n, like="relevance")
            wrong = (found != np.floor(found)) | (found < 0) | (found >= size)
            if wrong.any():
                first = int(np.argmax(wrong))
                raise InvalidProblem(f"documents: entry {first} is {found[first]:g}, whole numbers from 0 to {size - 1} needed")
            freeze(self, documents=found.astype(np.intp))
        if self.probabilities is not None:
            values = simplex.probabilities("probabilities", self.probabilities, length=len(self.queries))
            if np.any(values == 0.0):
                empty = self.queries.names[int(np.argmax(values == 0.0))]
                raise InvalidProblem(f"probabilities: that of query {empty} is 0, so that it counts for nothing; leave it out")
            freeze(self, probabilities=values)

    @property
    def growth(self) -> int:
        """Squares."""
        return 2

    @cached_property
    def entries(self) -> NDArray[np.intp]:
        """z_o, the document of every entry, (n,)."""
        return np.arange(len(self.relevance)) if self.documents is None else self.documents

    @cached_property
    def mass(self) -> Array:
        """D_o as floats, (n,)."""
        q = len(self.queries)
        return (np.full(q, 1.0 / q) if self.probabilities is None else self.probabilities)[self.queries.groups]

    def masses_in(self, num: Arithmetic = FLOAT) -> Value:
        """D_o; 1/q in the arithmetic asked for if no probabilities were given."""
        n = len(self.relevance)
        return (num.zeros(n) + num.lift(1.0)) / len(self.queries) if self.probabilities is None else num.lift(self.mass)

    @property
    def length(self) -> float:
        """m, the mean length of a list."""
        return float(np.sum(self.mass))

    @cached_property
    def document_mass(self) -> Array:
        """m μ_z of every document, (N,); the floats are the data."""
        return np.asarray(np.bincount(self.entries, weights=self.mass, minlength=len(self.gram)), dtype=float)

    @cached_property
    def expected(self) -> Array:
        """r̃_z, the mean of η over the entries of a document, (N,); 0 where it is in no list."""
        total = np.bincount(self.entries, weights=self.mass * self.targets, minlength=len(self.gram))
        return np.divide(total, self.document_mass, out=np.zeros_like(total), where=self.document_mass > 0)

    @cached_property
    def rows(self) -> Array:
        """K(z_o, ·), (n, N); K itself where every document is one entry."""
        return self.gram if self.documents is None else np.ascontiguousarray(self.gram[self.entries])

    @cached_property
    def squared(self) -> Loss:
        """(f − η)²."""
        return loss_named("squared", 0.0, 1.0)

    def targets_in(self, num: Arithmetic = FLOAT) -> Value:
        """η_o."""
        return num.lift(self.targets)

    def mean_loss(self, num: Arithmetic, f: Value) -> Value:
        """Σ D_o (f_o − η_o)²."""
        return num.dot(self.masses_in(num), self.squared.value(num, f, self.targets_in(num)))

    def fixed_part(self, num: Arithmetic, q: Value, factor: Value) -> Value:
        """Σ c(q_o), the least over f of `factor` times the loss plus Σ q_o f_o: Σ q_o η_o − q_o²/(4 D_o factor)."""
        return num.sum(self.squared.dual_term(num, q, self.masses_in(num) * factor, self.targets_in(num)))

    def loss_gap(self, num: Arithmetic, q: Value, f: Value, factor: Value) -> Value:
        """The loss plus its conjugate plus Σ q_o f_o: Σ D_o factor (η_o − f_o − q_o/(2 D_o factor))²."""
        return num.sum(self.squared.slack(num, q, self.masses_in(num) * factor, self.targets_in(num), f))


def permuted(problem: Any, order: NDArray[np.intp], weight: float) -> Image:
    """The lists with their entries in another order, or each list twice with half its probability; documents stay."""
    twice = len(order) > len(problem.relevance)
    copies = np.arange(len(order)) % 2 if twice else np.zeros(len(order), dtype=np.intp)
    qid = 2 * problem.queries.groups[order] + copies
    firsts = np.unique(grouped(qid)[0], return_index=True)[1]
    old = problem.queries.groups[order][firsts]
    image = replace(
        problem,
        relevance=problem.relevance[order],
        qid=qid,
        documents=problem.entries[order],
        probabilities=None if problem.probabilities is None else problem.probabilities[old] * weight,
    )

    def carry(values: Multipliers) -> Multipliers:
        return {"predictions": np.asarray(values["predictions"])[order] * weight}

    return Image(image, 1.0, multipliers=carry)


def renumbered(problem: Any, rng: np.random.Generator) -> Image:
    """The documents of the domain in another order."""
    order = rng.permutation(len(problem.gram))
    new = np.empty_like(order)
    new[order] = np.arange(len(order))
    image = replace(problem, gram=problem.gram[np.ix_(order, order)], documents=new[problem.entries])

    def carry(values: Point) -> Point:
        return {key: np.asarray(value)[order] for key, value in values.items()}

    return Image(image, 1.0, carry)


def instances(rng: np.random.Generator, *, kernels: bool) -> Iterator[Case]:
    """Name, K, fields of the lists, degenerate; `kernels` keeps to positive semidefinite ones."""
    gaussian, _ = recipes.small_kernel(rng, 9)
    apart = {"relevance": np.array([2.0, 0, 1, 0, 0, 1, 3, 1, 0]), "qid": np.array([0, 0, 0, 1, 1, 1, 1, 2, 2])}
    yield "lists of their own", gaussian, apart, False
    yield "lists of their own, base 2", gaussian, {**apart, "logarithm": "binary"}, False
    shared = {
        "relevance": np.array([2.0, 0, 0, 1, 1, 2, 0, 2, 1, 0]),
        "qid": np.array(list("aabbccddee")),
        "documents": np.array([0, 1, 1, 2, 2, 0, 3, 0, 2, 3]),
        "probabilities": np.array([0.25, 0.125, 0.25, 0.125, 0.25]),
    }
    yield "shared documents", gaussian[:4, :4], shared, False
    factor = rng.normal(size=(9, 2))
    yield "rank 2", factor @ factor.T, apart, False
    if not kernels:
        signs = np.where(rng.uniform(size=(9, 9)) < 0.5, -1.0, 1.0)
        yield "random signs", signs, apart, False
        yield "asymmetric, shared documents", rng.normal(size=(4, 4)), shared, False
    one = {"relevance": np.array([0.0, 1.0]), "qid": np.zeros(2), "documents": np.array([2, 0])}
    yield "one list, a document in none", gaussian[:3, :3], one, True
    yield "zero similarity", np.zeros((9, 9)), apart, True
    yield "ties", gaussian, {**apart, "relevance": np.ones(9)}, True


def recipe(
    dataset: Dataset, rng: np.random.Generator, queries: int | None, standardise: bool, similarity: str | Similarity, logarithm: str
) -> tuple[Array, dict[str, Any]]:
    """K on the documents of a sample of queries, each in its one list, and the lists."""
    inputs, relevance, qid, _ = ranked_lists.documents(dataset, rng, queries, standardise)
    return recipes.gram(inputs, similarity), {"relevance": relevance, "qid": qid, "logarithm": logarithm}
