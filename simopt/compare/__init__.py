"""Comparing solvers on a declared problem: time to certified gap, memory, failures, profiles, scaling.

    >>> from simopt.compare import compare
    >>> runs = compare("landmarked-svr", ["newton", "clarabel"], sizes=[1000])      # a DataFrame   # doctest: +SKIP

Names are imported at first use.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from simopt.compare.benchopt_export import export_benchopt
    from simopt.compare.comparison import Comparison, compare, compare_solvers, load, measure, merge, rewrite
    from simopt.compare.record import Record
    from simopt.core.errors import Interrupted

_HOMES = {
    "Comparison": "simopt.compare.comparison",
    "Interrupted": "simopt.core.errors",
    "compare": "simopt.compare.comparison",
    "compare_solvers": "simopt.compare.comparison",
    "load": "simopt.compare.comparison",
    "measure": "simopt.compare.comparison",
    "merge": "simopt.compare.comparison",
    "rewrite": "simopt.compare.comparison",
    "Record": "simopt.compare.record",
    "export_benchopt": "simopt.compare.benchopt_export",
}

__all__ = ["Comparison", "Interrupted", "Record", "compare", "compare_solvers", "export_benchopt", "load", "measure", "merge", "rewrite"]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'simopt.compare' has no attribute {name!r}")
