"""The precision of `flint`, which is one number for the whole process: threads take turns."""

from __future__ import annotations

from simopt.core.threads import lock

_lock = lock()


class workprec:
    """`with workprec(128):` computes with so many bits in `flint`; other threads that want some wait."""

    def __init__(self, count: int) -> None:
        self.count = count

    def __enter__(self) -> None:
        import flint

        self._context = flint.ctx
        _lock.acquire()
        self._before = self._context.prec
        self._context.prec = self.count

    def __exit__(self, *error: object) -> None:
        self._context.prec = self._before
        _lock.release()
