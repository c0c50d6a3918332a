"""Download a data set from OpenML or the UCI repository and bring it into the columns that simopt describes.

The addresses can be changed by SIMOPT_OPENML and SIMOPT_UCI, to a mirror that speaks https. Nothing is fetched unless asked for.
"""

import hashlib
import json
import os
import urllib.parse
from collections.abc import Mapping, Sequence
from typing import Any

from simopt.core.errors import InvalidProblem, MissingDataset, NotAvailable
from simopt.data.datasets import tables
from simopt.data.datasets.description import Description
from simopt.data.datasets.https import DownloadSession, is_https
from simopt.data.datasets.packed import zip_member
from simopt.data.datasets.tables import shown

OPENML = "https://api.openml.org"
UCI = "https://archive.ics.uci.edu"
SECONDS = 600.0  # for a data set, whatever it takes to find it
LIMIT = 16 * 2**20  # bytes of a file, and of what is packed in it; no data set here comes near it
ANSWER = 2**20  # bytes of what OpenML says of its data sets
VERSIONS = 10  # of a data set that are tried


def download(description: Description) -> tuple[tables.NumberTable, str, bool]:
    """The table of a described data set, the address it came from, and whether copies there are known to be rounded.

    The first source that has the set in a readable form is taken. If the description has the SHA-256 of its file, nothing else is unpacked
    or parsed.

    Raises
    ------
    MissingDataset
        when no source has it, with the reason for each.
    """
    reasons, session = [], DownloadSession(SECONDS)
    for source in description.fetch:
        try:
            table, address = (_from_uci if source["kind"] == "uci" else _from_openml)(session, description, source)
            return table, address, bool(source.get("rounded", False))
        except (NotAvailable, InvalidProblem) as error:
            reasons.append(str(error))
    said = "; ".join([*reasons, description.by_hand])
    raise MissingDataset([description.name], f"data set {description.name} could not be fetched: {said}")


def _file(session: DownloadSession, source: Mapping[str, Any], address: str) -> bytes:
    """The bytes at an address; those that the description knows, if it knows them."""
    content = session.get(address, LIMIT)
    found, known = hashlib.sha256(content).hexdigest(), source.get("sha256")
    if known is not None and found != known:
        raise InvalidProblem(f"{address}: another file than the one described, its SHA-256 is {found[:12]}… and not {known[:12]}…")
    return content


def _base(variable: str, default: str) -> str:
    base = os.environ.get(variable) or default
    if not is_https(base):
        raise NotAvailable(f"{variable}={base}: not an https address; data sets come over nothing else")
    return base.rstrip("/")


def _from_uci(session: DownloadSession, description: Description, source: Mapping[str, Any]) -> tuple[tables.NumberTable, str]:
    address = f"{_base('SIMOPT_UCI', UCI)}/{source['path']}"
    member = str(source["member"])
    if member.endswith((".xls", ".xlsx")):
        raise NotAvailable(f"{address}: {member} is a spreadsheet, which simopt does not read")
    where = f"{address} ({member})"
    text = zip_member(_file(session, source, address), member, LIMIT, address).decode("utf-8", errors="replace")
    rows = tables.cells(text, where, header=bool(source.get("header", False)))
    if source.get("drop_missing"):
        return _complete_columns(description, rows, int(source["skip"]), where), where
    return _by_position(description, rows, source["columns"], source.get("codes", {}), where), where


def _by_position(
    description: Description, rows: Sequence[tuple[int, Sequence[str]]], columns: Sequence[str | None], codes: tables.Codes, where: str
) -> tables.NumberTable:
    """Columns are named by their order; those called None are dropped."""
    for line, row in rows:
        if len(row) != len(columns):
            raise InvalidProblem(f"{where}: line {line} has {len(row)} cells, expected {len(columns)}")
    order = [columns.index(name) for name in description.columns]
    kept = [(line, [row[j] for j in order]) for line, row in rows]
    return tables.NumberTable(description.columns, tables.parse(kept, description.columns, codes, where))


def _complete_columns(description: Description, rows: Sequence[tuple[int, Sequence[str]]], skip: int, where: str) -> tables.NumberTable:
    """Without the first `skip` columns, and without those in which a value is missing (`?`)."""
    width = len(rows[0][1]) if rows else 0
    full = [j for j in range(skip, width) if all(len(row) == width and row[j] != "?" for _, row in rows)]
    if len(full) != len(description.columns):
        raise InvalidProblem(f"{where}: {len(full)} columns without missing values, expected {len(description.columns)}")
    kept = [(line, [row[j] for j in full]) for line, row in rows]
    return tables.NumberTable(description.columns, tables.parse(kept, description.columns, {}, where))


def _from_openml(session: DownloadSession, description: Description, source: Mapping[str, Any]) -> tuple[tables.NumberTable, str]:
    base = _base("SIMOPT_OPENML", OPENML)
    listing = f"{base}/api/v1/json/data/list/data_name/{urllib.parse.quote(source['name'])}/status/active"
    reasons = []
    for version, identity in _versions(_json(session, listing), source["name"], description.n, listing)[:VERSIONS]:
        try:
            file = _file_of(_json(session, f"{base}/api/v1/json/data/{identity}"), f"{listing}: version {version}")
            address = f"{base}/data/v1/download/{file}"
            text = _file(session, source, address).decode("utf-8", errors="replace")
            return _arff(description, source, text, address), address
        except (NotAvailable, InvalidProblem) as error:
            reasons.append(str(error))
    raise NotAvailable("; ".join(reasons) or f"{listing}: no version with {description.n} samples")


def _json(session: DownloadSession, address: str) -> Any:
    try:
        return json.loads(session.get(address, ANSWER))
    except (ValueError, RecursionError) as error:
        raise NotAvailable(f"{address}: the answer is not JSON") from error


def _versions(listing: Any, name: str, n: int, where: str) -> list[tuple[int, int]]:
    """(version, number) of the data sets with that very name and n samples, oldest version first."""
    found = []
    try:
        for entry in listing["data"]["dataset"]:
            qualities = {quality["name"]: quality.get("value") for quality in entry.get("quality", [])}
            samples = qualities.get("NumberOfInstances")
            if str(entry["name"]).casefold() == name.casefold() and (samples is None or float(samples) == n):
                found.append((int(entry.get("version", 0)), int(entry["did"])))
    except _OTHERWISE as error:
        raise NotAvailable(f"{where}: not the list that OpenML's interface describes ({_why(error)})") from error
    return sorted(found)


def _file_of(answer: Any, where: str) -> int:
    """The number of the ARFF file of a data set."""
    try:
        about = answer["data_set_description"]
        if str(about.get("format", "")).upper() != "ARFF" or "file_id" not in about:
            raise NotAvailable(f"{where} is not in ARFF")
        return int(about["file_id"])
    except _OTHERWISE as error:
        raise NotAvailable(f"{where} is not what OpenML's interface describes ({_why(error)})") from error


_OTHERWISE = (AttributeError, LookupError, OverflowError, TypeError, ValueError)  # what an answer of another shape raises


def _why(error: Exception) -> str:
    return shown(f"no {error.args[0]}" if isinstance(error, KeyError) else str(error))


def _arff(description: Description, source: Mapping[str, Any], text: str, where: str) -> tables.NumberTable:
    names, rows = tables.arff_cells(text, where)
    codes = source.get("codes", {})
    if "columns" in source:
        return _by_position(description, rows, source["columns"], codes, where)
    wanted = {name: source.get("rename", {}).get(name, name) for name in description.features} | {"target": source["target"]}
    have = {_letters(name): j for j, name in enumerate(names)}
    missing = [name for name in wanted.values() if _letters(name) not in have]
    if missing:
        there = ", ".join(map(shown, names[: len(wanted)])) + (", …" if len(names) > len(wanted) else "")
        raise InvalidProblem(f"{where}: no attribute {missing[0]!r}; there are {there}")
    ours = {have[_letters(theirs)]: name for name, theirs in wanted.items()}
    return _by_position(description, rows, [ours.get(j) for j in range(len(names))], codes, where)


def _letters(name: str) -> str:
    return "".join(character for character in name.casefold() if character.isalnum())
