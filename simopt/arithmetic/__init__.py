"""One formula, three arithmetics: the bounds of a certificate are written once and evaluated in FLOAT, INTERVAL or RATIONAL numbers.

The package also decides whether a symmetric matrix is positive definite, proven in floats or exactly in fractions.

A formula takes `num` and uses its methods together with + - * /. FLOAT is float64. INTERVAL encloses the real value of the formula in an
interval (midpoint and radius, NumPy, a few times the cost of FLOAT). RATIONAL is exact and refuses what leaves the rational numbers.

    >>> import numpy as np
    >>> from simopt.arithmetic import FLOAT, INTERVAL, RATIONAL
    >>> def variance(num, x):
    ...     centred = num.lift(x) - num.sum(num.lift(x)) / len(x)
    ...     return num.dot(centred, centred) / len(x)
    >>> x = np.array([0.0, 0.5, 1.0])
    >>> print(variance(RATIONAL, x))
    1/6
    >>> enclosure = variance(INTERVAL, x)
    >>> bool(enclosure.low < 1 / 6 < enclosure.high)
    True
"""

from simopt.arithmetic.base import Arithmetic, NotRational, Value
from simopt.arithmetic.definite import is_definite, least_eigenvalue, semidefinite_rank
from simopt.arithmetic.floating import FLOAT
from simopt.arithmetic.interval import INTERVAL, Interval
from simopt.arithmetic.rational import RATIONAL
from simopt.core.errors import UnknownName

BY_NAME: dict[str, Arithmetic] = {num.name: num for num in (FLOAT, INTERVAL, RATIONAL)}


def arithmetic_for(rigorous: bool | str) -> Arithmetic:
    """INTERVAL for True, FLOAT for False, or the one of that name."""
    if isinstance(rigorous, str):
        if rigorous not in BY_NAME:
            raise UnknownName("arithmetic", rigorous, BY_NAME)
        return BY_NAME[rigorous]
    return INTERVAL if rigorous else FLOAT


__all__ = [
    "BY_NAME",
    "FLOAT",
    "INTERVAL",
    "RATIONAL",
    "Arithmetic",
    "Interval",
    "NotRational",
    "Value",
    "arithmetic_for",
    "is_definite",
    "least_eigenvalue",
    "semidefinite_rank",
]
