"""Download a data set from OpenML or the UCI repository and bring it into the columns that simopt describes.

The addresses can be changed by SIMOPT_OPENML and SIMOPT_UCI (a mirror, or a server for tests). Nothing is fetched unless asked for.
"""

import io
import json
import os
import urllib.error
import urllib.parse
import urllib.request
import zipfile
from collections.abc import Mapping, Sequence
from typing import Any

from simopt.data.datasets import tables
from simopt.data.datasets.description import Description
from simopt.ground.errors import InvalidProblem, MissingDataset, NotAvailable

OPENML = "https://api.openml.org"
UCI = "https://archive.ics.uci.edu"
TIMEOUT = 60.0  # seconds without an answer
LIMIT = 200 * 2**20  # bytes; no data set here comes near it


def download(description: Description) -> tuple[tables.Table, str]:
    """The table of a described data set and the address it came from; the first place that has it in a readable form is taken.

    Raises
    ------
    MissingDataset
        when no place has it, with the reason for each.
    """
    reasons = []
    for place in description.fetch:
        try:
            return (_from_uci if place["kind"] == "uci" else _from_openml)(description, place)
        except (NotAvailable, InvalidProblem) as error:
            reasons.append(str(error))
    said = "; ".join([*reasons, description.by_hand])
    raise MissingDataset([description.name], f"data set {description.name} could not be fetched: {said}")


def _get(address: str) -> bytes:
    request = urllib.request.Request(address, headers={"User-Agent": "simopt"})
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT) as answer:
            content: bytes = answer.read(LIMIT + 1)
    except (urllib.error.URLError, OSError, ValueError) as error:
        raise NotAvailable(f"{address}: {getattr(error, 'reason', None) or error}") from error
    if len(content) > LIMIT:
        raise NotAvailable(f"{address}: more than {LIMIT >> 20} MB")
    return content


def _base(variable: str, default: str) -> str:
    base = os.environ.get(variable) or default
    if urllib.parse.urlsplit(base).scheme not in ("http", "https"):
        raise NotAvailable(f"{variable}={base}: not an http address")
    return base.rstrip("/")


def _from_uci(description: Description, place: Mapping[str, Any]) -> tuple[tables.Table, str]:
    address = f"{_base('SIMOPT_UCI', UCI)}/{place['path']}"
    member = str(place["member"])
    if member.endswith((".xls", ".xlsx")):
        raise NotAvailable(f"{address}: {member} is a spreadsheet, which simopt does not read")
    try:
        with zipfile.ZipFile(io.BytesIO(_get(address))) as archive:
            inside = next((name for name in archive.namelist() if name.rsplit("/", 1)[-1] == member), None)
            if inside is None:
                raise NotAvailable(f"{address}: no {member} inside")
            text = archive.read(inside).decode("utf-8", errors="replace")
    except zipfile.BadZipFile as error:
        raise InvalidProblem(f"{address}: not a zip file") from error
    where = f"{address} ({member})"
    rows = tables.cells(text, header=bool(place.get("header", False)))
    if place.get("drop_missing"):
        return _complete_columns(description, rows, int(place["skip"]), where), where
    return _by_position(description, rows, place["columns"], place.get("codes", {}), where), where


def _by_position(
    description: Description, rows: Sequence[tuple[int, Sequence[str]]], columns: Sequence[str | None], codes: tables.Codes, where: str
) -> tables.Table:
    """Columns are named by their place; those called None are dropped."""
    for line, row in rows:
        if len(row) != len(columns):
            raise InvalidProblem(f"{where}: line {line} has {len(row)} cells, expected {len(columns)}")
    order = [columns.index(name) for name in description.columns]
    kept = [(line, [row[j] for j in order]) for line, row in rows]
    return tables.Table(description.columns, tables.parse(kept, description.columns, codes, where))


def _complete_columns(description: Description, rows: Sequence[tuple[int, Sequence[str]]], skip: int, where: str) -> tables.Table:
    """Without the first `skip` columns, and without those in which a value is missing (`?`)."""
    width = len(rows[0][1]) if rows else 0
    full = [j for j in range(skip, width) if all(len(row) == width and row[j] != "?" for _, row in rows)]
    if len(full) != len(description.columns):
        raise InvalidProblem(f"{where}: {len(full)} columns without missing values, expected {len(description.columns)}")
    kept = [(line, [row[j] for j in full]) for line, row in rows]
    return tables.Table(description.columns, tables.parse(kept, description.columns, {}, where))


def _from_openml(description: Description, place: Mapping[str, Any]) -> tuple[tables.Table, str]:
    base = _base("SIMOPT_OPENML", OPENML)
    listing = f"{base}/api/v1/json/data/list/data_name/{urllib.parse.quote(place['name'])}/status/active"
    reasons = []
    for entry in _candidates(_json(listing), place["name"], description.n):
        details = _json(f"{base}/api/v1/json/data/{entry['did']}")
        about = details.get("data_set_description", {})
        if str(about.get("format", "")).upper() != "ARFF" or "file_id" not in about:
            reasons.append(f"{listing}: version {entry.get('version')} is not in ARFF")
            continue
        address = f"{base}/data/v1/download/{about['file_id']}"
        try:
            return _arff(description, place, _get(address).decode("utf-8", errors="replace"), address), address
        except InvalidProblem as error:
            reasons.append(str(error))
    raise NotAvailable("; ".join(reasons) or f"{listing}: no version with {description.n} samples")


def _json(address: str) -> dict[str, Any]:
    try:
        answer = json.loads(_get(address))
    except ValueError as error:
        raise NotAvailable(f"{address}: the answer is not JSON") from error
    return answer if isinstance(answer, dict) else {}


def _candidates(listing: Mapping[str, Any], name: str, n: int) -> list[Mapping[str, Any]]:
    """The entries with that very name and n samples, oldest version first."""
    found = []
    for entry in listing.get("data", {}).get("dataset", []):
        qualities = {quality.get("name"): quality.get("value") for quality in entry.get("quality", [])}
        samples = qualities.get("NumberOfInstances")
        if str(entry.get("name", "")).casefold() == name.casefold() and (samples is None or float(samples) == n):
            found.append(entry)
    return sorted(found, key=lambda entry: int(entry.get("version", 0)))


def _arff(description: Description, place: Mapping[str, Any], text: str, where: str) -> tables.Table:
    names, rows = tables.arff_cells(text, where)
    codes = place.get("codes", {})
    if "columns" in place:
        return _by_position(description, rows, place["columns"], codes, where)
    wanted = {name: place.get("rename", {}).get(name, name) for name in description.features} | {"target": place["target"]}
    have = {_letters(name): name for name in names}
    missing = [name for name in wanted.values() if _letters(name) not in have]
    if missing:
        raise InvalidProblem(f"{where}: no attribute {missing[0]!r}; there are {', '.join(names)}")
    ours = {have[_letters(theirs)]: name for name, theirs in wanted.items()}
    return _by_position(description, rows, [ours.get(name) for name in names], codes, where)


def _letters(name: str) -> str:
    return "".join(character for character in name.casefold() if character.isalnum())
