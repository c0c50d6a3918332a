"""Trials, as the tests of claims make them."""

from simopt.claims import Trial, catalogue
from simopt.claims.kinds import Effort


def quick(name: str, seed: int = 0) -> Trial:
    """The trial of quick effort in which a claim of the catalogue makes its instances."""
    return Trial(name, seed, -1, Effort.QUICK, catalogue.find(name).knobs)
