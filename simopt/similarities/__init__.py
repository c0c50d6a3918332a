"""Similarity functions and their Gram matrices.

>>> from simopt.similarities import Manhattan
>>> K = Manhattan()
>>> K([[0.0, 0.0], [1.0, 2.0]], [[1.0, 1.0]])              # (n, p) and (m, p) to (n, m)
array([[-2.],
       [-1.]])
>>> K.psd, K.bounded
(False, False)
"""

from simopt.similarities.base import Similarity, from_json, kinds
from simopt.similarities.combine import Normalised, Product, Sum
from simopt.similarities.indefinite import Euclidean, Manhattan, Sigmoid
from simopt.similarities.inner import Linear, Polynomial
from simopt.similarities.named import named
from simopt.similarities.precomputed import Precomputed
from simopt.similarities.radial import Gaussian, Laplacian

__all__ = [
    "Euclidean",
    "Gaussian",
    "Laplacian",
    "Linear",
    "Manhattan",
    "Normalised",
    "Polynomial",
    "Precomputed",
    "Product",
    "Sigmoid",
    "Similarity",
    "Sum",
    "from_json",
    "kinds",
    "named",
]
