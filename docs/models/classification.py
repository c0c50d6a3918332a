"""Classification: lines between classes, and metrics."""

import cvxpy as cp
import numpy as np


def support_vector_machine():
    r"""The support vector machine.

    Cortes and Vapnik (1995): a wide margin, and few samples inside of it: $\frac12\|w\|^2 + C\sum_k\max(0, 1 - y_k(w^\top x_k + b))$.
    """
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 4))
    y = np.where(X @ np.ones(4) + rng.normal(size=80) > 0, 1.0, -1.0)
    w, b = cp.Variable(4, name="w"), cp.Variable(name="b")
    return cp.Problem(cp.Minimize(cp.sum_squares(w) / 2 + 0.5 * cp.sum(cp.pos(1 - cp.multiply(y, X @ w + b)))))


def nu_svm():
    r"""The ν-SVM.

    Schölkopf et al. (2000): the margin $\rho$ is a variable, and a fraction $\nu$ of the samples at most may miss it: $\frac12\|w\|^2 -
    \nu\rho + \frac1m\sum_k\max(0, \rho - y_k(w^\top x_k + b))$.
    """
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    y = np.where(X @ np.ones(4) + rng.normal(size=60) > 0, 1.0, -1.0)
    w, b, margin = cp.Variable(4, name="w"), cp.Variable(name="b"), cp.Variable(nonneg=True, name="margin")
    hinges = cp.pos(margin - cp.multiply(y, X @ w + b))
    return cp.Problem(cp.Minimize(cp.sum_squares(w) / 2 - 0.6 * margin + cp.sum(hinges) / 60))


def kernel_svm_dual():
    r"""The dual of a kernel SVM.

    With $K$ a Gaussian kernel and $0 \le \alpha \le C$, $y^\top\alpha = 0$ the largest $\mathbf 1^\top\alpha - \frac12(\alpha\circ
    y)^\top K(\alpha\circ y)$.
    """
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2))
    y = np.where(X[:, 0] * X[:, 1] > 0, 1.0, -1.0)
    K = np.exp(-((X[:, None] - X) ** 2).sum(axis=2))
    a = cp.Variable(40, name="a")
    value = cp.sum(a) - cp.quad_form(cp.multiply(a, y), cp.psd_wrap(K)) / 2
    return cp.Problem(cp.Maximize(value), [a >= 0, a <= 10, y @ a == 0])


def logistic_regression():
    r"""Logistic regression, sparse.

    The negative log-likelihood $\frac1m\sum_k\log(1 + e^{-y_k(w^\top x_k + b)})$ of two classes that overlap, and $\lambda\|w\|_1$.
    """
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 5))
    y = np.where(X @ np.ones(5) + 2 * rng.normal(size=60) > 0, 1.0, -1.0)
    w, b = cp.Variable(5, name="w"), cp.Variable(name="b")
    return cp.Problem(cp.Minimize(cp.sum(cp.logistic(-cp.multiply(y, X @ w + b))) / 60 + 0.02 * cp.norm1(w)))


def multinomial_regression():
    r"""Several classes.

    Column $c$ of $W$ scores class $c$; the negative log-likelihood is $\sum_k\log\sum_c e^{x_k^\top w_c} - x_k^\top w_{y_k}$.
    """
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 4))
    Y = np.eye(3)[rng.integers(3, size=50)]
    W = cp.Variable((4, 3), name="W")
    loss = cp.sum(cp.log_sum_exp(X @ W, axis=1)) - cp.sum(cp.multiply(Y, X @ W))
    return cp.Problem(cp.Minimize(loss / 50 + 0.01 * cp.sum_squares(W)))


def support_vector_data_description():
    r"""What is normal.

    Tax and Duin (2004): a small ball that has most of the samples inside, $R + C\sum_k(\|x_k - c\|^2 - R)_+$ with $R$ the squared radius.
    """
    rng = np.random.default_rng(0)
    X = rng.standard_t(3, size=(40, 2))
    c, R = cp.Variable((1, 2), name="c"), cp.Variable(nonneg=True, name="R")
    distances = cp.sum(cp.square(X - np.ones((40, 1)) @ c), axis=1)
    return cp.Problem(cp.Minimize(R + 0.1 * cp.sum(cp.pos(distances - R))))


def fair_classifier():
    r"""A classifier that does not know a group.

    Zafar et al. (2017): logistic loss, where the score has a small covariance with the membership $z$ of a group: $|\frac1m\sum_k(z_k -
    \bar z)\,w^\top x_k| \le c$.
    """
    rng = np.random.default_rng(0)
    X, z = rng.normal(size=(60, 4)), rng.integers(2, size=60)
    X[:, 0] += z
    y = np.where(X @ np.ones(4) + rng.normal(size=60) > 0, 1.0, -1.0)
    w = cp.Variable(4, name="w")
    covariance = (z - z.mean()) @ X @ w / 60
    return cp.Problem(cp.Minimize(cp.sum(cp.logistic(-cp.multiply(y, X @ w))) / 60), [cp.abs(covariance) <= 0.02])


def metric_learning():
    r"""A metric in which similar samples are near.

    Xing et al. (2003): $d(x, x')^2 = (x - x')^\top M(x - x')$ with $M \succeq 0$; squares of similar pairs are small, and distances of
    the others sum to 1 at least.
    """
    rng = np.random.default_rng(0)
    near, far = rng.normal(size=(20, 4)) * [1.0, 1.0, 0.2, 0.2], rng.normal(size=(20, 4))
    M = cp.Variable((4, 4), PSD=True, name="M")
    squares = [np.array([np.outer(d, d).ravel() for d in each]) @ cp.vec(M, order="C") for each in (near, far)]
    return cp.Problem(cp.Minimize(cp.sum(squares[0])), [cp.sum(cp.sqrt(squares[1])) >= 1])


def sparse_principal_component():
    r"""A principal component of few columns.

    d'Aspremont et al. (2007): $xx^\top$ of a unit vector becomes $X \succeq 0$ with $\operatorname{tr}X = 1$; the largest
    $\operatorname{tr}\Sigma X - \rho\sum_{ij}|X_{ij}|$.
    """
    rng = np.random.default_rng(0)
    F = rng.normal(size=(12, 6))
    S = F.T @ F / 12
    X = cp.Variable((6, 6), PSD=True, name="X")
    return cp.Problem(cp.Maximize(cp.sum(cp.multiply(S, X)) - 0.2 * cp.sum(cp.abs(X))), [cp.trace(X) == 1])
