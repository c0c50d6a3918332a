"""The services of a run for a claim: seeded randomness, knobs, counts by effort, data sets."""

from __future__ import annotations

import hashlib
import importlib
from collections.abc import Iterator, Mapping
from typing import Any, Protocol

import numpy as np

from simopt.claims.kinds import Effort
from simopt.core.errors import NotAvailable


class Draws(Protocol):
    """Whoever collects the draws of an instance, and knows when there are enough."""

    def begin(self) -> int:
        """Open a loop of draws; returns its mark."""
        ...

    def enough(self, mark: int) -> bool:
        """Whether every group that was drawn since the mark is decided."""
        ...

    def end(self) -> None:
        """Close a loop of draws."""
        ...


class Trial:
    """One instance of one claim under one seed.

    `trial["c"]` is the knob c of the claim, altered where a mutant alters it: verdict code reads its constants here and nowhere else.
    `accessed` records requests that depend on the seed or on the effort: only without any can instances be all there are.
    """

    def __init__(self, claim: str, seed: int, index: int, effort: Effort, knobs: Mapping[str, Any], mutant: str = "") -> None:
        self.claim = claim
        self.index = index
        self.mutant = mutant
        self.origin = seed, index, effort  # for the records of the engine: to read it is not to ask
        self.accessed: set[str] = set()
        self.pool: Draws | None = None
        self._knobs = dict(knobs)
        self._rng: np.random.Generator | None = None

    def __getitem__(self, knob: str) -> Any:
        if knob not in self._knobs:
            raise KeyError(f"{self.claim} has no knob {knob!r}; it declares {sorted(self._knobs) or 'none'}")
        return self._knobs[knob]

    @property
    def seed(self) -> int:
        """Seed of the run."""
        self.accessed.add("seed")
        return self.origin[0]

    @property
    def effort(self) -> Effort:
        """Effort of the run."""
        self.accessed.add("effort")
        return self.origin[2]

    @property
    def rng(self) -> np.random.Generator:
        """Generator seeded by (claim, seed, index) alone, so that a replay draws the same numbers on any machine."""
        self.accessed.add("rng")
        if self._rng is None:
            digest = hashlib.sha256(f"{self.claim}|{self.origin[0]}|{self.index}".encode()).digest()
            self._rng = np.random.default_rng(int.from_bytes(digest[:16], "big"))
        return self._rng

    def count(self, quick: int, full: int) -> int:
        """Pick a count by effort; effort never fixes seconds."""
        if quick == full:
            return quick
        self.accessed.add("count")
        return quick if self.origin[2] is Effort.QUICK else full

    def draws(self, most: int) -> Iterator[int]:
        """Count draws from 0 until every group drawn in this loop is decided, at most to `most`; what follows the loop is read as well."""
        mark = 0 if self.pool is None else self.pool.begin()
        try:
            for k in range(most):
                yield k
                if self.pool is not None and self.pool.enough(mark):
                    return
        finally:
            if self.pool is not None:
                self.pool.end()

    def dataset(self, name: str, **options: Any) -> Any:
        """Data set by name from the data folder or the cache, never downloaded; options go to `simopt.data.datasets.load_dataset`.

        Raises
        ------
        NotAvailable
            if it is not there; the claim is then NOT_RUN with this reason.
        """
        loader = importlib.import_module("simopt.data.datasets")
        return loader.load_dataset(name, **{**options, "fetch": False})

    def require(self, module: str) -> Any:
        """Import an optional module.

        Raises
        ------
        NotAvailable
            if it is not installed; the claim is then NOT_RUN with this reason.
        """
        try:
            return importlib.import_module(module)
        except ImportError as error:
            raise NotAvailable(f"{module} is not installed ({error})") from error
