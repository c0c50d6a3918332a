"""What a claim may ask of the run it is part of: seeded randomness, knobs, counts by effort, data sets."""

from __future__ import annotations

import hashlib
import importlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from simopt.claims.kinds import Effort
from simopt.errors import NotAvailable


class Trial:
    """One instance of one claim under one seed.

    `trial["c"]` is the knob c of the claim, altered where a mutant alters it: verdict code reads its constants here and nowhere else.
    """

    def __init__(self, claim: str, seed: int, index: int, effort: Effort, knobs: Mapping[str, Any], mutant: str = "") -> None:
        self.claim = claim
        self.seed = seed
        self.index = index
        self.effort = effort
        self.mutant = mutant
        self._knobs = dict(knobs)
        self._rng: np.random.Generator | None = None

    def __getitem__(self, knob: str) -> Any:
        if knob not in self._knobs:
            raise KeyError(f"{self.claim} has no knob {knob!r}; it declares {sorted(self._knobs) or 'none'}")
        return self._knobs[knob]

    @property
    def rng(self) -> np.random.Generator:
        """Generator seeded by (claim, seed, index) alone, so that a replay draws the same numbers on any machine."""
        if self._rng is None:
            digest = hashlib.sha256(f"{self.claim}|{self.seed}|{self.index}".encode()).digest()
            self._rng = np.random.default_rng(int.from_bytes(digest[:16], "big"))
        return self._rng

    @property
    def random(self) -> bool:
        """Whether anything asked for randomness; a run that did not is the same for every seed."""
        return self._rng is not None

    def count(self, quick: int, full: int) -> int:
        """Pick a count by effort; effort never fixes seconds."""
        return quick if self.effort is Effort.QUICK else full

    def dataset(self, name: str, **options: Any) -> Any:
        """Data set by name from the data folder or the cache, never downloaded; options go to `simopt.datasets.load_dataset`.

        Raises
        ------
        NotAvailable
            if it is not there; the claim is then NOT_RUN with this reason.
        """
        loader = importlib.import_module("simopt.datasets")
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
