"""Find a data set: in a folder that is named, in the source tree, in the cache, on the network if asked, or in a CSV file of one's own."""

import gzip
import hashlib
import io
import logging
import os
import stat
import sys
import zipfile
from pathlib import Path

import numpy as np

from simopt.core.arrays import Array
from simopt.core.errors import InvalidProblem, MissingDataset, NotAvailable, UnknownName
from simopt.core.foreign_text import in_utf8
from simopt.core.writing import write_bytes
from simopt.data.datasets import tables
from simopt.data.datasets.dataset import Dataset
from simopt.data.datasets.description import Description, describe
from simopt.data.datasets.packed import bounded, gunzip
from simopt.data.datasets.synthetic import friedman

FOLDER = "SIMOPT_DATA"
CACHE = "SIMOPT_CACHE"
log = logging.getLogger("simopt.data.datasets")
Content = tables.NumberTable | bytes  # the content of an npz file
TEXT = 2**31  # bytes of a CSV file, packed or not
AGREEMENT = 1e-4  # relative difference allowed to known values of a fetched table: some copies are rounded


def load_dataset(
    name: str | os.PathLike[str],
    *,
    target: str | None = None,
    folder: str | os.PathLike[str] | None = None,
    fetch: bool = False,
    rng: np.random.Generator | None = None,
) -> Dataset:
    """The data set called `name`, or the CSV file with a header at that path (a name that ends in .csv or .csv.gz).

    Names are looked up in `folder` (default: the folder that SIMOPT_DATA names). Then come data/ of the source tree, if simopt is installed
    from one by `pip install -e`, and the cache (SIMOPT_CACHE, or the user's cache folder). With `fetch=True` OpenML and UCI come next; a
    fetched set is logged with its terms and stored in the cache. The working folder is never searched. `target` is the name of the column
    to predict: by default the one called target of a known set, the last one of a file. "friedman" is drawn from `rng` (default: seed 0).

    Raises
    ------
    UnknownName
        for a name that is no data set, or a target that is no column, with the nearest.
    MissingDataset
        when the data set is known but not here, with what to do.
    NotAvailable
        when there is no such file or folder.
    InvalidProblem
        when a file is damaged or has another checksum, wherever it was found, or is not what it is called; it names file, line and column.
        Also for a file of another format, a pipe or a device, and for more than 2 GB of text.
    """
    spelled = os.fspath(name)
    if spelled.casefold().endswith((".csv", ".csv.gz")):
        return _from_file(Path(spelled), target)
    if spelled.casefold() == "friedman":
        return friedman(np.random.default_rng(0) if rng is None else rng)
    if Path(spelled).suffix or Path(spelled).name != spelled:  # no data set is called like that
        raise InvalidProblem(f"{spelled}: data are read from .csv and .csv.gz files only; save them as such, or pass arrays")
    description = describe(spelled)
    path = where(description, folder)
    if path is not None:
        content, source = _read(description, path), str(path)
    elif fetch and description.fetch:
        content, source = _fetched(description)
    else:
        raise missing(description)
    if isinstance(content, tables.NumberTable):
        return _described(description, content, source, target)
    if target not in (None, "target"):
        raise UnknownName("target column", str(target), ["target"])
    return _from_npz(description, content, source)


def missing(*entries: Description) -> MissingDataset:
    """The error for data sets that are not here: why the repository does not carry them, and what to do."""
    names, several = [entry.name for entry in entries], len(entries) > 1
    terms = ", ".join(dict.fromkeys(entry.terms for entry in entries if not entry.carried))
    text = f"data set{'s' * several} {', '.join(names)} {'are' if several else 'is'} not here" + (f" (terms: {terms})" if terms else "")
    hand = f"put their files in a folder and set {FOLDER} to that folder" if several else entries[0].by_hand
    fetched = any(entry.fetch for entry in entries)
    how = (
        f"`simopt datasets fetch {' '.join(names)}` downloads what it can"
        if fetched
        else "neither OpenML nor UCI has it in a form that simopt reads"
    )
    return MissingDataset(names, f"{text}: {hand}; {how}")


def where(description: Description, folder: str | os.PathLike[str] | None = None) -> Path | None:
    """The file of a data set: the first of `folder` (default: SIMOPT_DATA), the source tree and the cache that has it.

    Raises
    ------
    NotAvailable
        if the folder named does not exist.
    """
    chosen = folder if folder is not None else os.environ.get(FOLDER)
    if chosen and not Path(chosen).is_dir():
        word = "folder" if folder is not None else FOLDER
        raise NotAvailable(f"{word}={chosen}: no such folder; name the one that holds {description.file}, or unset {FOLDER}")
    places = (Path(chosen) if chosen else None, source_tree(), cache_folder())
    found = (place / description.file for place in places if place is not None)
    return next((path for path in found if path.is_file()), None)


def source_tree() -> Path | None:
    """The folder data/ of the source tree that an editable install runs from, by the path of this module; None for a plain install."""
    root = Path(__file__).resolve().parents[3]
    return root / "data" if (root / "pyproject.toml").is_file() and (root / "data").is_dir() else None


def cache_folder() -> Path:
    """The folder of fetched data sets: SIMOPT_CACHE, or simopt in the user's cache folder of this platform."""
    chosen = os.environ.get(CACHE)
    if chosen:
        return Path(chosen)
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "simopt"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "simopt"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "simopt"


def _read(description: Description, path: Path) -> Content:
    """The content of a file whose SHA-256 is the one described or, in the cache, the one that was noted when the file was fetched."""
    raw = _bytes(path)
    found = hashlib.sha256(raw).hexdigest()
    cached = path.parent == cache_folder()
    if found != description.sha256 and not (cached and _noted(path) == found):
        again = (
            f"delete {path} to have it fetched again" if cached else "copy it again, or pass its path to load it as a CSV file of your own"
        )
        expected = description.sha256 if not cached else _noted(path) or description.sha256
        raise InvalidProblem(f"{path}: damaged or another version, its SHA-256 is {found[:12]}… and not {expected[:12]}…; {again}")
    if path.suffix == ".npz":
        return raw
    table = tables.read_csv(_text(path, raw), str(path))
    if found != description.sha256:  # fetched, perhaps by a version of simopt that described it otherwise
        _agree(description, table, str(path), rounded=any(place.get("rounded", False) for place in description.fetch))
    return table


def _note(path: Path) -> Path:
    """Beside a fetched file: its checksum, as `sha256sum --check` reads it. Copies on the network are rounded, so each has its own."""
    return path.with_name(f"{path.name}.sha256")


def _noted(path: Path) -> str:
    return _bytes(_note(path)).decode("utf-8", errors="replace").partition(" ")[0] if _note(path).is_file() else ""


def _fetched(description: Description) -> tuple[Content, str]:
    from simopt.data.datasets import fetch as network  # not every Python has ssl, and few sets are fetched

    path = cache_folder() / description.file
    log.warning("fetching %s into %s; its terms: %s", description.name, path.parent, description.licence)
    table, address, rounded = network.download(description)
    _agree(description, table, address, rounded=rounded)
    path.parent.mkdir(parents=True, exist_ok=True)
    packed = gzip.compress(tables.write_csv(table).encode(), mtime=0)
    write_bytes(_note(path), f"{hashlib.sha256(packed).hexdigest()}  {path.name}\n".encode())
    write_bytes(path, packed)
    return table, address


def _agree(description: Description, table: tables.NumberTable, where: str, *, rounded: bool) -> None:
    """Check that a table whose file has another checksum is the one described: its CSV text has the checksum of that.

    Errors say what is wrong where that can be seen. The checksum of a copy that is known to be `rounded` is not known. Its columns, number
    of rows, known values and target are checked, and a log says that this is all.
    """
    if table.columns != description.columns:
        raise InvalidProblem(f"{where}: the columns are {', '.join(table.columns)}, expected {', '.join(description.columns)}")
    if table.values.shape[0] != description.n:
        raise InvalidProblem(f"{where}: {table.values.shape[0]} rows, {description.name} has {description.n}")
    y = table.column("target")
    checks = [(f"{column} in row {row}", float(table.column(column)[row]), value) for column, row, value in description.known_values]
    checks += [("mean of the target", float(y.mean()), description.target_mean), ("its deviation", float(y.std()), description.target_std)]
    for what, found, expected in checks:
        if abs(found - expected) > AGREEMENT * max(abs(expected), description.target_std if "target" in what else 0.0):
            raise InvalidProblem(f"{where}: not {description.name} as it is described, {what} is {found:.9g} and not {expected:.9g}")
    sum_ = hashlib.sha256(tables.write_csv(table).encode()).hexdigest()
    if sum_ == description.csv_sha256:
        return
    if not rounded:
        told = (
            f"not {description.name} as it is described, the SHA-256 of its numbers is {sum_[:12]}… and not {description.csv_sha256[:12]}…"
        )
        raise InvalidProblem(f"{where}: {told}; {description.by_hand}")
    log.warning("%s: a rounded copy of %s, of which only known values and the target could be checked", where, description.name)


def _bytes(path: Path) -> bytes:
    try:
        with open(path, "rb", opener=lambda name, flags: os.open(name, flags | getattr(os, "O_NONBLOCK", 0))) as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):  # nobody waits for a pipe
                raise InvalidProblem(f"{path}: is no plain file but a pipe or a device; write its content to a file first")
            return bounded(file, TEXT, str(path))
    except OSError as error:
        raise InvalidProblem(f"{path}: cannot be read ({error.strerror})") from error


def _text(path: Path, raw: bytes) -> str:
    if path.suffix.casefold() == ".gz":
        raw = gunzip(raw, TEXT, str(path))
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        raise InvalidProblem(f"{path}: line {line} is not UTF-8 text; save the file as UTF-8") from error


def _split(table: tables.NumberTable, target: str | None, aside: tuple[str, ...]) -> tuple[Array, tuple[str, ...], Array]:
    chosen = table.columns[-1] if target is None else target
    if chosen not in table.columns:
        raise UnknownName("target column", chosen, table.columns)
    kept = [j for j, column in enumerate(table.columns) if column != chosen and column not in aside]
    return table.values[:, kept], tuple(table.columns[j] for j in kept), table.column(chosen)


def _from_file(path: Path, target: str | None) -> Dataset:
    if path.is_dir():
        raise InvalidProblem(f"{path}: is a folder, a CSV file is needed")
    if not path.exists():
        raise NotAvailable(f"{path}: no such file")
    table = tables.read_csv(_text(path, _bytes(path)), str(path))
    if len(table.columns) < 2:
        raise InvalidProblem(f"{path}: one column only; at least one feature and the target are needed (separated by commas)")
    features, names, y = _split(table, target, ())
    return Dataset(in_utf8(path.name), features, names, y, source=str(path))


def _described(description: Description, table: tables.NumberTable, source: str, target: str | None) -> Dataset:
    features, names, y = _split(table, target, description.group_columns)
    groups = folds = None
    if description.group_columns:
        folds, groups = (table.column(column) for column in description.group_columns)
    elif description.block_sizes:
        groups = np.repeat(np.arange(1.0, len(description.block_sizes) + 1), description.block_sizes)
    task = description.task if target in (None, "target") else "regression"
    return Dataset(description.name, features, names, y, task, source, groups, folds)


def _from_npz(description: Description, content: bytes, source: str) -> Dataset:
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as archive:
            arrays = {key: np.asarray(archive[key], dtype=np.float64) for key in ("x_train", "y_train", "x_test", "y_test")}
    except (KeyError, ValueError, OSError, zipfile.BadZipFile) as error:
        raise InvalidProblem(f"{source}: damaged ({error}); copy it again") from error
    names = tuple(f"pixel{j}" for j in range(description.d))
    test = Dataset(f"{description.name} (test)", arrays["x_test"], names, arrays["y_test"], description.task, source)
    return Dataset(description.name, arrays["x_train"], names, arrays["y_train"], description.task, source, test=test)
