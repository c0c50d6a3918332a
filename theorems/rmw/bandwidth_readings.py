r"""§8: what "a Gaussian kernel with bandwidth 1" can mean on images, and the mean classifier's test accuracy under each reading.

A reading says how the pixels are prepared and gives K(x, x') = exp(−c ‖x − x'‖²), or exp(−‖x − x'‖). Scores are formed relative to the
largest K(x, x_i) of a test image x. The kernel exp(−c ‖x − x'‖²) with c of the order of 1 needs that: its values leave float32, and for
pixels up to 255 float64. No decision notices the factor.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from simopt.core.arrays import Array
from simopt.core.errors import InvalidProblem
from simopt.data.datasets import Dataset
from simopt.solvers.herding.gaussian_tiles import Floats

BLOCK = 512
MEDIAN_OF = 1000  # images among which the median distance is taken


@dataclass(frozen=True)
class Images:
    """Prepared training and test images (float32, one a row) and their labels ±1."""

    train: Array
    labels: Array
    test: Array
    truth: Array


def unit_interval(train: Array, test: Array) -> tuple[Array, Array]:
    """Pixels in [0, 1], as the paper says."""
    return train / 255, test / 255


def as_they_are(train: Array, test: Array) -> tuple[Array, Array]:
    """Pixels from 0 to 255."""
    return train, test


def unit_length(train: Array, test: Array) -> tuple[Array, Array]:
    """Images of Euclidean length 1."""
    first, second = (X / np.linalg.norm(X, axis=1, keepdims=True) for X in (train, test))
    return first, second


def standardised(train: Array, test: Array) -> tuple[Array, Array]:
    """Pixels with mean 0 and variance 1 over the training images; constant ones are 0."""
    mean, deviation = train.mean(axis=0), train.std(axis=0)
    deviation[deviation == 0] = np.inf
    return (train - mean) / deviation, (test - mean) / deviation


Prepare = Callable[[Array, Array], tuple[Array, Array]]
Rate = Callable[[Array], float]


@dataclass(frozen=True)
class BandwidthReading:
    """One reading: the preparation of pixels, and −log K as a function of the squared distance."""

    name: str
    prepare: Prepare
    rate: Rate
    rooted: bool = False

    def images(self, data: Dataset) -> Images:
        """The prepared training and test part of a data set.

        Raises
        ------
        InvalidProblem
            if the data set has no test part.
        """
        if data.test is None:
            raise InvalidProblem(f"dataset: {data.name} has no test part; load one that keeps its test samples apart, such as mnist_3v8")
        train, test = self.prepare(data.features, data.test.features)
        return Images(train.astype(np.float32), data.targets, test.astype(np.float32), data.test.targets)

    def exponents(self, squared: Array, c: float) -> Array:
        """−log K for squared distances, in place."""
        if self.rooted:
            np.sqrt(squared, out=squared)
        else:
            squared *= np.float32(c)
        return squared


def one(train: Array) -> float:
    """c = 1."""
    return 1.0


def half(train: Array) -> float:
    """c = 1/2."""
    return 0.5


def per_pixel(train: Array) -> float:
    """c = 1/p for p pixels."""
    return 1.0 / len(train[0])


def per_median(train: Array) -> float:
    """c = 1/(2m²), m the median distance between the first training images."""
    D = squared_distances(train[:MEDIAN_OF], train[:MEDIAN_OF])
    return 0.5 / float(np.median(D[np.triu_indices(len(D), 1)]))


READINGS = (
    BandwidthReading("[0, 1], exp(−|x−x'|²/2)", unit_interval, half),
    BandwidthReading("[0, 1], exp(−|x−x'|²)", unit_interval, one),
    BandwidthReading("[0, 1], exp(−|x−x'|²/p)", unit_interval, per_pixel),
    BandwidthReading("[0, 1], exp(−|x−x'|²/(2 median²))", unit_interval, per_median),
    BandwidthReading("[0, 1], exp(−|x−x'|)", unit_interval, one, rooted=True),
    BandwidthReading("0…255, exp(−|x−x'|²/2)", as_they_are, half),
    BandwidthReading("unit length, exp(−|x−x'|²/2)", unit_length, half),
    BandwidthReading("unit length, exp(−|x−x'|²)", unit_length, one),
    BandwidthReading("standardised, exp(−|x−x'|²/2)", standardised, half),
    BandwidthReading("standardised, exp(−|x−x'|²/p)", standardised, per_pixel),
)
"""What was tried; the first one is the reading that the rest of the figure uses."""


def squared_distances(A: Array, B: Array) -> Array:
    """‖a_i − b_j‖² in the arithmetic of the inputs, never negative."""
    D: Array = A @ B.T
    D *= -2
    D += np.einsum("ij,ij->i", A, A)[:, None]
    D += np.einsum("ij,ij->i", B, B)[None, :]
    return np.maximum(D, 0, out=D)


def relative_similarities(images: Images, reading: BandwidthReading) -> Iterator[tuple[slice, Array]]:
    """K(x, x_i) / max_i K(x, x_i) of the test images x, a block of rows at a time; shape (block, n), float32."""
    c = reading.rate(images.train)
    for start in range(0, len(images.test), BLOCK):
        rows = slice(start, start + BLOCK)
        E = reading.exponents(squared_distances(images.test[rows], images.train), c)
        E -= E.min(axis=1, keepdims=True)
        yield rows, np.exp(np.negative(E, out=E), out=E)


def correct(images: Images, reading: BandwidthReading) -> int:
    """How many test images the mean classifier sign Σ y_i K(x, x_i) gets right; a score of 0 counts as wrong. O(n_test n p) time."""
    right = 0
    for rows, K in relative_similarities(images, reading):
        plus, minus = (K[:, images.labels == sign].sum(axis=1, dtype=np.float64) for sign in (1, -1))
        right += int(np.sum(np.sign(plus - minus) == images.truth[rows]))
    return right


def signed_gram(images: Images, reading: BandwidthReading) -> Floats:
    """y_i y_j K(x_i, x_j) in float32, n² · 4 bytes; tiles of the upper half are mirrored."""
    X, y = images.train, images.labels.astype(np.float32)
    c, n = reading.rate(X), len(X)
    G: Floats = np.empty((n, n), dtype=np.float32)
    size = 4 * BLOCK
    for i in range(0, n, size):
        rows = slice(i, i + size)
        for j in range(i, n, size):
            columns = slice(j, j + size)
            E = reading.exponents(squared_distances(X[rows], X[columns]), c)
            K = np.exp(np.negative(E, out=E), out=E)
            K *= y[rows, None]
            K *= y[None, columns]
            G[rows, columns] = K
            G[columns, rows] = K.T
        tile = G[rows, rows]  # products of a tile with itself need not be symmetric to the last bit
        tile += tile.T.copy()
        tile *= np.float32(0.5)
    np.fill_diagonal(G, 1.0)
    return G
