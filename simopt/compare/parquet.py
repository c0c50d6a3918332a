"""Records as two Parquet files: runs.parquet, one row a run, and traces.parquet, one row a certified point."""

from __future__ import annotations

import math
from collections import defaultdict
from pathlib import Path
from typing import Any

from simopt.compare.cell import FORMAT
from simopt.compare.record import POINT, Record, check_format, from_row
from simopt.core import reading
from simopt.core.errors import InvalidFile
from simopt.core.extras import needed
from simopt.core.writing import replacing

LABEL = b"simopt"  # where the format stands in the metadata of the schema


def arrow() -> tuple[Any, Any]:
    """pyarrow and pyarrow.parquet.

    Raises
    ------
    NotAvailable
        naming the extra.
    """
    pyarrow, parquet = (needed(name, "tables in Parquet need", "compare") for name in ("pyarrow", "pyarrow.parquet"))
    return pyarrow, parquet


def write(folder: Path, records: list[Record]) -> None:
    """Both files."""
    pa, _ = arrow()
    text, number, whole, truth = pa.string(), pa.float64(), pa.int64(), pa.bool_()
    kinds = {"str": text, "float": number, "float | None": number, "int": whole, "int | None": whole, "bool": truth}
    fields = [pa.field("key", text)] + [pa.field(name, kinds[kind]) for name, kind in columns()]
    rows = [record.row() for record in records]
    _write_table(pa.Table.from_pylist(rows, schema=pa.schema(fields)), folder / "runs.parquet")
    points = [
        {"key": record.cell.key, "machine": record.machine, "started": record.started, **{name: point[name] for name in POINT}}
        for record in records
        for point in record.points
    ]
    names = [pa.field(name, text) for name in ("key", "machine", "started")] + [pa.field(name, number) for name in POINT]
    _write_table(pa.Table.from_pylist(points, schema=pa.schema(names)), folder / "traces.parquet")


def columns() -> list[tuple[str, str]]:
    """Names of the flat columns with their annotations."""
    import dataclasses

    from simopt.compare.cell import PlannedRun

    found = [(item.name, str(item.type)) for item in dataclasses.fields(PlannedRun)]
    return found + [(item.name, str(item.type)) for item in dataclasses.fields(Record) if item.name not in ("cell", "points")]


def _write_table(table: Any, target: Path) -> None:
    _, pq = arrow()
    with replacing(target) as out:
        pq.write_table(table.replace_schema_metadata({LABEL: FORMAT.encode()}), out)


def read(folder: Path) -> list[Record]:
    """The records of both files.

    Raises
    ------
    InvalidFile
        for files of another format, damaged ones, and where one of the two is missing.
    """
    runs, traces = (_read_table(folder / name) for name in ("runs.parquet", "traces.parquet"))
    points: dict[tuple[str, str, str], list[dict[str, Any]]] = defaultdict(list)
    for row in traces:
        points[_run_key(row)].append({name: math.nan if row.get(name) is None else row[name] for name in POINT})
    return [from_row(row, points[_run_key(row)], str(folder / "runs.parquet")) for row in runs]


def _run_key(row: dict[str, Any]) -> tuple[str, str, str]:
    """Which run a row is of; what is missing or no text becomes one that no run has, which `from_row` refuses."""
    key, machine, started = (str(row.get(name)) for name in ("key", "machine", "started"))
    return key, machine, started


def _read_table(path: Path) -> list[dict[str, Any]]:
    pa, pq = arrow()
    if not path.is_file():
        raise InvalidFile(f"{path}: no such file, though the other of the two tables is there")
    try:
        with path.open("rb") as source, pq.ParquetFile(source) as file:  # a path with a colon would be read as an address
            groups = [file.metadata.row_group(i).total_byte_size for i in range(file.metadata.num_row_groups)]
            if file.metadata.num_rows > reading.ROWS or sum(groups) > reading.BYTES:
                raise InvalidFile(f"{path}: larger than the {reading.ROWS} rows and {reading.BYTES >> 20} MB that a table may have")
            table = file.read()
        rows: list[dict[str, Any]] = table.to_pylist()
    except InvalidFile:
        raise
    except (pa.ArrowException, OSError, ValueError, OverflowError) as error:
        raise InvalidFile(f"{path}: not a Parquet file, or a damaged one ({' '.join(str(error).split())[:120]})") from error
    found = (table.schema.metadata or {}).get(LABEL)
    check_format(found.decode(errors="replace") if found is not None else None, str(path))
    return rows
