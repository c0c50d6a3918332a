"""Descriptions of data sets: names, columns, sizes, checksums, known values, and where they can be fetched."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any

from simopt.core.errors import UnknownName


@dataclass(frozen=True)
class Description:
    """One data set: n samples of d features, stored as `file` whose SHA-256 is `sha256`; `csv_sha256` is that of the CSV text in it.

    The second is the same whatever program packed the file; for a fetched table it is that of the text of `tables.write_csv`. The sources
    in `fetch` have another file; if its checksum is known, it belongs there as "sha256". A source is "rounded" if it, or a copy of it, is
    known to have fewer decimals.

    `known_values` are (column, row, value); `fetch` lists the sources to download from; `block_sizes` are numbers of consecutive rows of a
    subject. `papers` holds the keys of the papers that use the set. `carried`: the licence lets the set be passed on, and the source tree
    has it in data/.
    """

    name: str
    title: str
    n: int
    d: int
    task: str
    target: str
    file: str
    sha256: str
    features: tuple[str, ...]
    known_values: tuple[tuple[str, int, float], ...]
    target_mean: float
    target_std: float
    aliases: tuple[str, ...]
    papers: tuple[str, ...]
    origin: str
    licence: str
    note: str
    fetch: tuple[Mapping[str, Any], ...]
    group_columns: tuple[str, ...] = ()
    block_sizes: tuple[int, ...] = ()
    n_test: int = 0
    csv_sha256: str = ""
    carried: bool = False

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the CSV file, in order."""
        return (*self.group_columns, *self.features, "target")

    @property
    def terms(self) -> str:
        """The licence without the brackets after it."""
        return self.licence.partition(" (")[0]

    @property
    def by_hand(self) -> str:
        """The remedy if the set is not here and nothing is to be downloaded."""
        own = " (the source tree of simopt carries it in its folder data)" if self.carried else ""
        return f"put {self.file} in a folder and set SIMOPT_DATA to that folder{own}"

    def to_json(self) -> dict[str, Any]:
        """The part that a listing shows, as plain JSON values."""
        shown = ("name", "title", "n", "d", "task", "target", "origin", "licence", "carried", "note")
        return {key: getattr(self, key) for key in shown} | {"aliases": list(self.aliases), "papers": list(self.papers)}


@dataclass(frozen=True)
class _DatasetCatalogue:
    datasets: dict[str, Description]
    names_in_papers: dict[str, dict[str, tuple[str, ...]]] = field(default_factory=dict)


@cache
def _catalogue() -> _DatasetCatalogue:
    raw = json.loads(files("simopt.data.datasets").joinpath("descriptions.json").read_text(encoding="utf-8"))
    datasets = {}
    for entry in raw["datasets"]:
        known = tuple((str(column), int(row), float(value)) for column, row, value in entry.pop("known_values"))
        fields: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in entry.items()}
        datasets[entry["name"]] = Description(known_values=known, **fields)
    words = {paper: {name: tuple(names) for name, names in table.items()} for paper, table in raw["paper_words"].items()}
    return _DatasetCatalogue(datasets, words)


def descriptions() -> tuple[Description, ...]:
    """All data sets that simopt knows, in the order of the catalogue."""
    return tuple(_catalogue().datasets.values())


def describe(name: str) -> Description:
    """The description of the data set `name` (`-` and `_` alike, any case, or an alias).

    Raises
    ------
    UnknownName
        with the nearest name.
    """
    table = _catalogue().datasets
    spelled = {_fold(alias): key for key, entry in table.items() for alias in entry.aliases} | {_fold(key): key for key in table}
    if _fold(name) not in spelled:
        raise UnknownName("data set", name, [*table, "friedman"])
    return table[spelled[_fold(name)]]


def in_paper(paper: str, name: str) -> tuple[str, ...]:
    """The data sets that a paper (kj, ak, kkks, rmw) means by `name`: ("kkks", "wine") is both wines, ("ak", "wine") the white one."""
    words = _catalogue().names_in_papers
    if paper not in words:
        raise UnknownName("paper", paper, words)
    known = {_fold(key): names for key, names in words[paper].items()}
    return known[_fold(name)] if _fold(name) in known else (describe(name).name,)


def _fold(name: str) -> str:
    return name.casefold().replace("-", "_")
