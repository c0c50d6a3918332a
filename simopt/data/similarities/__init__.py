"""Similarity functions and their Gram matrices.

A new one is a subclass of `Similarity` (`base`) in the file of its family; with a rule in `named` it is known by name. One of your own
package or script is a subclass too, and `add_similarity` makes it known by name.

>>> from simopt.data.similarities import Manhattan
>>> K = Manhattan()
>>> K([[0.0, 0.0], [1.0, 2.0]], [[1.0, 1.0]])              # (n, p) and (m, p) to (n, m)
array([[-2.],
       [-1.]])
>>> K.psd, K.bounded
(False, False)
"""

from simopt.data.similarities.base import Similarity, from_json, kinds
from simopt.data.similarities.combine import Normalised, Product, Sum
from simopt.data.similarities.indefinite import Euclidean, Manhattan, Sigmoid
from simopt.data.similarities.inner import Linear, Polynomial
from simopt.data.similarities.named import add_similarity, named
from simopt.data.similarities.precomputed import Precomputed
from simopt.data.similarities.radial import Gaussian, Laplacian
from simopt.data.similarities.rules import GaussianWidth, SimilarityRule
from simopt.data.similarities.scaled import Scaled

__all__ = [
    "Euclidean",
    "Gaussian",
    "GaussianWidth",
    "Laplacian",
    "Linear",
    "Manhattan",
    "Normalised",
    "Polynomial",
    "Precomputed",
    "Product",
    "Scaled",
    "Sigmoid",
    "Similarity",
    "SimilarityRule",
    "Sum",
    "add_similarity",
    "from_json",
    "kinds",
    "named",
]
