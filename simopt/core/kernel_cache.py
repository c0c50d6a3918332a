"""Compiled kernels on disk, so that only the first process compiles. A kernel's key is all that it was compiled from.

numba's own cache knows a kernel by its file alone. But machine code depends on more: the kernels that are called, in whatever file they
are, named constants, and the layout of named tuples among the arguments. The stamp of a kernel is made of all of these and of our version;
whatever changes, the kernel is compiled anew. A cache that is damaged, full or cannot be written to costs time and nothing else. Machine
code that a disk has altered would end the process, or compute something else, so each file is compared with its digest before it is read.
Digests protect against accidents. A user who may write to the folder can run code here, as wherever Python stores compiled code.
"""

from __future__ import annotations

import hashlib
import logging
import pickle
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from importlib import import_module
from itertools import count
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np
from numba.core.types import BaseTuple

import simopt

caching: Any = import_module("numba.core.caching")  # some of it has types, and which part depends on its version
log = logging.getLogger("simopt.core.kernel_cache")
_reported: list[str] = []


def cache_of(function: Callable[..., Any]) -> Any:
    """The cache of a kernel, or None if there is no folder for it."""
    try:
        return KernelCache(function)
    except (RuntimeError, OSError) as error:
        warn_once(str(error))
        return None


def warn_once(reason: str) -> None:
    """Warn once that no kernel is stored."""
    if not _reported:
        log.warning(
            "compiled kernels cannot be kept (%s): each process compiles them anew; set NUMBA_CACHE_DIR to a folder of yours", reason
        )
    _reported.append(reason)


class KernelCache(caching.FunctionCache):  # type: ignore[misc]
    """The cache of one kernel, in the folder that numba chooses."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        self._cache_file = KernelFiles(self._cache_path, self._impl.filename_base, stamp(function))

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The code compiled for these arguments, or None, also where it cannot be read."""
        try:
            return super().load_overload(sig, target_context)
        except Exception:  # half a file, or of a version that wrote it otherwise: unpickling may raise anything
            with suppress(OSError):
                self.flush()
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Store the code compiled for these arguments, if that is possible."""
        try:
            super().save_overload(sig, data)
        except OSError as error:
            warn_once(f"{error.filename or self.cache_path}: {error.strerror}")

    def _index_key(self, sig: Any, codegen: Any) -> tuple[Any, ...]:
        return (*super()._index_key(sig, codegen), tuple(_fields(sig)))


class KernelFiles(caching.IndexDataCacheFile):  # type: ignore[misc]
    """The files of one kernel: one of machine code for each kind of arguments, and an index with the digests of these and of itself."""

    def save(self, key: Any, data: Any) -> None:
        """Store the code compiled for these arguments."""
        index = self._load_index()
        taken = {name for name, _ in index.values()}
        name = index[key][0] if key in index else next(name for name in map(self._data_name, count(1)) if name not in taken)
        content = self._dump(data)
        with self._open_for_write(self._data_path(name)) as file:
            file.write(content)
        self._save_index(index | {key: (name, hashlib.sha256(content).hexdigest())})

    def load(self, key: Any) -> Any:
        """The code compiled for these arguments; None if it is not there, or not as it was written."""
        name, digest = self._load_index().get(key, (None, None))
        content = _read(self._data_path(name)) if name else b""
        return pickle.loads(content) if hashlib.sha256(content).hexdigest() == digest else None

    def _load_index(self) -> dict[Any, tuple[str, str]]:
        """File and digest for each kind of arguments; nothing where the index is not as this version wrote it for this kernel."""
        content = _read(self._index_path)
        digest, body = content[: self._head_length], content[self._head_length :]
        index: dict[Any, tuple[str, str]] = pickle.loads(body) if digest == self._head(body) else {}
        return index

    def _save_index(self, index: dict[Any, tuple[str, str]]) -> None:
        body = self._dump(index)
        with self._open_for_write(self._index_path) as file:
            file.write(self._head(body) + body)

    def _head(self, body: bytes) -> bytes:
        """The digest of an index, of its name and of all that it is of; to numba's own eyes, the name of another version."""
        of = f"{self._version} {self._source_stamp} {self._index_name}\n".encode()
        return pickle.dumps(hashlib.sha256(of + body).hexdigest(), protocol=0)

    @property
    def _head_length(self) -> int:
        return len(self._head(b""))


def _read(path: str) -> bytes:
    """The content of a file; none of one that is not there."""
    try:
        with open(path, "rb") as file:
            return file.read()
    except FileNotFoundError:
        return b""


def stamp(function: Callable[..., Any]) -> str:
    """SHA-256 of all that is compiled into a kernel and does not come with its arguments."""
    digest = hashlib.sha256(f"{simopt.__version__} nogil\n".encode())
    for part in _parts(function, set()):
        digest.update(f"{len(part)}:".encode() + part)
    return digest.hexdigest()


def _parts(function: Any, seen: set[int]) -> Iterator[bytes]:
    """The file of a function, the values of the names that it uses, and the same of the kernels among them."""
    if id(function) in seen:
        return
    seen.add(id(function))
    yield _source(function.__code__.co_filename)
    names = sorted({name for code in _codes(function.__code__) for name in code.co_names})
    for name in names:
        value = function.__globals__.get(name)
        yield name.encode()
        if (inner := _kernel(value)) is not None:
            yield from _parts(inner, seen)
        elif isinstance(value, ModuleType):
            yield value.__version__.encode() if hasattr(value, "__version__") else _source(getattr(value, "__file__", None))
            for inner in (_kernel(getattr(value, attribute, None)) for attribute in names):
                if inner is not None:
                    yield from _parts(inner, seen)
        elif callable(value):
            yield _source(getattr(sys.modules.get(value.__module__), "__file__", None))
        elif isinstance(value, np.ndarray):
            yield f"{value.dtype}{value.shape}".encode() + value.tobytes()
        else:
            yield repr(value).encode()


def _kernel(value: Any) -> FunctionType | None:
    """The function that a kernel compiles."""
    found = getattr(value, "python", None)
    return found if isinstance(found, FunctionType) else None


def _codes(code: CodeType) -> Iterator[CodeType]:
    """The code of a function and of those inside it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def _source(path: str | None) -> bytes:
    try:
        with open(path or "", "rb") as file:
            return file.read()
    except OSError:  # built in, or typed in: numba has its own ways to tell those apart
        return (path or "").encode()


def _fields(types: Any) -> Iterator[tuple[str, ...]]:
    """The names of the fields of each named tuple among types, inner ones included."""
    for each in types:
        if isinstance(each, BaseTuple):
            yield tuple(getattr(each, "fields", ()))
            yield from _fields(getattr(each, "types", ()))
