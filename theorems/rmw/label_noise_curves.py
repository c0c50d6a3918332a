"""MNIST 3 against 8 with label noise: test accuracy of the mean classifier, the SVM and logistic regression over the rate of noise."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

import simopt.claims as sc
from simopt.claims.tables import Cell, Curve, Run, table
from simopt.core.arrays import Array
from simopt.data.similarities import Gaussian, Linear, Similarity
from simopt.solvers.svm.path import mean_threshold, svm_path

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from simopt.claims.reproduction import Reproduction

KERNELS: dict[str, Similarity] = {
    "linear": Linear(),
    "Gaussian, bandwidth 1": Gaussian.with_sigma(1.0),
    "Gaussian, bandwidth 2.5": Gaussian.with_sigma(2.5),
}
RATES = np.arange(10) / 20
SHOWN = (0.0, 0.2, 0.4, 0.45)
DRAWS = 3
COSTS = (1.0, 100.0)  # LIBSVM's C: λ = 1/(nC)
QUICK = 2000
TOLERANCE = 1e-4


@dataclass(frozen=True)
class Digits:
    """Training and test digits in the space of the kernel: Gram matrices, and for the linear kernel the features themselves."""

    gram: Array  # (n, n)
    across: Array  # (m, n), test against training
    labels: Array
    test_labels: Array
    features: Array | None
    test_features: Array | None

    def accuracy(self, scores: Array) -> float:
        """Share of test digits with the right sign; a score of 0 counts half."""
        signs = self.test_labels * scores
        return float(np.mean((signs > 0) + 0.5 * (signs == 0)))


def digits(row: str, run: Run) -> Digits:
    """Pixels in [0, 1]; for the linear kernel centred by the training mean and scaled so that ‖φ‖ ≤ 1. Quick effort draws 2000 of them."""
    source = run.dataset("mnist_3v8")
    if source.test is None:
        raise ValueError("mnist_3v8 comes with test digits")
    kept = np.arange(source.n) if run.effort is sc.Effort.FULL else np.sort(run.stream("digits").permutation(source.n)[:QUICK])
    train, test = source.features[kept] / 255.0, source.test.features / 255.0
    linear = isinstance(KERNELS[row], Linear)
    if linear:
        centre = train.mean(axis=0)
        size = float(np.sqrt(((train - centre) ** 2).sum(axis=1).max()))
        train, test = (train - centre) / size, (test - centre) / size
    kernel = KERNELS[row]
    features = (train, test) if linear else (None, None)
    return Digits(kernel.gram(train), kernel(test, train), source.targets[kept], source.test.targets, *features)


def mean(data: Digits, labels: Array) -> float:
    """Accuracy of ω_S."""
    return data.accuracy(data.across @ labels)


def svm(data: Digits, costs: Sequence[float], labels: Array) -> list[float]:
    """Accuracy of the hinge SVM without intercept at each λ = 1/(nC), by our solver along the path."""
    path = svm_path(data.gram, labels, [1.0 / (len(labels) * cost) for cost in costs], tol=TOLERANCE)
    return [data.accuracy(data.across @ point.coefficients) for point in path.points]


def logistic(data: Digits, cost: float, labels: Array) -> float:
    """Accuracy of scikit-learn's logistic regression with the same λ and no intercept; linear kernel only."""
    from sklearn.linear_model import LogisticRegression

    fitted = LogisticRegression(C=cost, fit_intercept=False, max_iter=5000, tol=1e-6).fit(data.features, labels)
    return data.accuracy(fitted.decision_function(data.test_features))


def accuracies(data: Digits, labels: Array) -> dict[str, float]:
    """Accuracy of each learner trained with these labels, by the name on its curve."""
    found = {"mean": mean(data, labels)}
    found |= {f"SVM, C = {cost:g}": value for cost, value in zip(COSTS, svm(data, COSTS, labels), strict=True)}
    if data.features is not None:
        found |= {f"logistic, C = {cost:g}": logistic(data, cost, labels) for cost in COSTS}
    return found


def noisy(labels: Array, rate: float, draw: Array) -> Array:
    """Labels flipped where the uniform draw lies below the rate, so that along a curve flipped labels stay flipped."""
    return np.where(draw < rate, -labels, labels)


def plot(figure: Figure, done: Reproduction) -> None:
    """One panel a kernel."""
    rows = [row for row in done.rows if row.curves]
    panels = np.atleast_1d(figure.subplots(1, max(1, len(rows)), sharey=True))
    figure.set_size_inches(4.0 * panels.size, 4.0)
    for axes, row in zip(panels, rows, strict=False):
        for curve, style in zip(row.curves, itertools.cycle(("o-", "s--", "^:", "d-.")), strict=False):  # curves may coincide
            axes.plot(curve.x, 100.0 * curve.y, style, markersize=3, label=curve.label)
        axes.set_title(row.name)
        axes.set_xlabel("rate of label noise σ")
        axes.legend(frameon=False, loc="lower left")
    panels[0].set_ylabel("test accuracy, %")


@table(
    "rmw-label-noise",
    place="Section 4.3, on the data of Section 8",
    rows=tuple(KERNELS),
    requires=("dataset:mnist_3v8", "sklearn"),
    says="Test accuracy on MNIST 3 against 8 when training labels are flipped at the rates 0, 0.05, …, 0.45: mean classifier, SVM without "
    "intercept (our solver) at λ = 1/(nC), and logistic regression (scikit-learn, linear features, the same λ), C = 1 and 100. The paper "
    "prints no such curves; its Theorem 8 is about P_σ, here noise falls on a sample, three times. Ours: quick effort draws 2000 of the "
    "11982 training digits, full effort takes all; pixels in [0, 1], for the linear kernel centred and scaled to ‖φ‖ ≤ 1; Gaussian "
    "exp(−‖x − x'‖²/(2s²)), s = 1 as in Section 8. 'Threshold / λ': max y_i f_S(x_i) over λ at C = 1; at ≤ 1 the SVM is the mean.",
    plot=plot,
)
def label_noise_curves(row: str, run: Run) -> Iterator[Cell | Curve]:
    """The curves, the accuracies at a few rates, and the threshold above which the SVM is the mean."""
    data = digits(row, run)
    n = len(data.labels)
    draws = [run.stream("noise", k).random(n) for k in range(DRAWS)]
    yield Cell(row, "training digits", float(n))
    measured = [[accuracies(data, noisy(data.labels, float(rate), draw)) for draw in draws] for rate in RATES]
    for label in measured[0][0]:
        values = [[each[label] for each in found] for found in measured]
        for rate, found in zip(RATES, values, strict=True):
            if float(rate) in SHOWN:
                yield Cell.of(row, f"{label}, σ = {rate:g}", found, unit="test accuracy")
        yield Curve(row, label, RATES, np.array([np.mean(found) for found in values]))
    for rate in SHOWN[:2]:
        labels = noisy(data.labels, rate, draws[0])
        yield Cell(row, f"threshold / λ at C = 1, σ = {rate:g}", n * mean_threshold(data.gram, labels))
