"""A statement about each of several data sets, as two claims: a clone decides the one about the sets that it carries."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import wraps
from typing import Any

from simopt.claims.claim import Instance, InvalidClaim, Verdicts, claim
from simopt.claims.trial import Trial
from simopt.data.datasets import describe

FETCHED = "-fetched"
SETS = "all the sets"  # stands in `says` for their names


def claim_on_each(
    id: str,
    sets: Mapping[str, str],
    *,
    says: str,
    instances: Callable[[Trial, Sequence[str]], Iterable[Instance]],
    covers: Sequence[str] = (),
    alone: Mapping[str, Mapping[str, Any]] | None = None,
    all_carried: bool = False,
    **rest: Any,
) -> Callable[[Verdicts], Verdicts]:
    """Register the function as two claims: `id` on the data sets that the repository carries, `id`-fetched on the others.

    The licences of the others do not let them be passed on. `sets` maps a set's name in the paper to its name here. A claim without
    sets is left out. The rows in `covers` get the same ending as the id (see `row`).

    `instances` is called with the trial and the names of the claim's sets; these take the place of "all the sets" in `says`. `alone` has
    fields of one claim, by its ending ("" or "-fetched"): its `says` is appended, its other fields replace the common ones. `all_carried`
    says that the repository carries all sets: the ids can then be read from the source. The rest is as in `claim`.

    Raises
    ------
    InvalidClaim
        if `all_carried` does not agree with what the repository carries.
    """
    if all_carried is (FETCHED in parts(sets)):
        raise InvalidClaim(
            f"claim {id}: all_carried={all_carried}, but the repository {'lacks some' if all_carried else 'carries all'} of its sets"
        )

    def decorate(function: Verdicts) -> Verdicts:
        """Register the function as one claim for the sets that the repository carries and one for those that are fetched."""
        for ending, names in parts(sets).items():
            own = dict((alone or {}).get(ending, {}))
            text = says.replace(SETS, listed(names)) + own.pop("says", "")
            for name in covers:
                text = text.replace(name, name + ending)
            claim(
                id + ending,
                says=text,
                instances=_only(instances, names),
                covers=[name + ending for name in covers],
                requires=[f"dataset:{sets[name]}" for name in names],
                **{**rest, **own},
            )(function)
        return function

    return decorate


def parts(sets: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """The names of the sets of each claim, by its ending: "" for those that are carried, "-fetched" for the others. None is empty."""
    carried = {name: describe(data).carried for name, data in sets.items()}
    by_ending = {ending: tuple(name for name in sets if carried[name] is (not ending)) for ending in ("", FETCHED)}
    return {ending: names for ending, names in by_ending.items() if names}


def row(name: str, trial: Trial) -> str:
    """The name of a covered row, with the ending of the claim that is being checked."""
    return name + FETCHED * trial.claim.endswith(FETCHED)


def listed(names: Sequence[str]) -> str:
    """Names as a list in a sentence: "a, b and c"."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _only(instances: Callable[[Trial, Sequence[str]], Iterable[Instance]], names: Sequence[str]) -> Callable[[Trial], Iterable[Instance]]:
    @wraps(instances)
    def chosen(trial: Trial) -> Iterable[Instance]:
        return instances(trial, names)

    return chosen
