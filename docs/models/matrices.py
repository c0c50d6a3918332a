"""Matrices and graphs: semidefinite and of low rank."""

import cvxpy as cp
import numpy as np


def max_cut():
    r"""The largest cut of a graph.

    Goemans and Williamson (1995): $\frac14\sum_{ij}W_{ij}(1 - X_{ij})$ with $X \succeq 0$, $X_{ii} = 1$ is at most 1.139 times the
    largest cut.
    """
    rng = np.random.default_rng(0)
    W = np.triu(rng.random((10, 10)) < 0.4, 1) * 1.0
    W = W + W.T
    X = cp.Variable((10, 10), PSD=True, name="X")
    return cp.Problem(cp.Maximize(cp.sum(cp.multiply(W, 1 - X)) / 4), [cp.diag(X) == 1])


def lovasz_theta():
    r"""How many nodes without an edge.

    Lovász (1979): no set of nodes without an edge between them is larger than $\vartheta$, the largest $\sum_{ij}X_{ij}$ with
    $\operatorname{tr}X = 1$, $X_{ij} = 0$ on the edges and $X \succeq 0$.
    """
    rng = np.random.default_rng(0)
    E = np.triu(rng.random((8, 8)) < 0.4, 1) * 1.0
    X = cp.Variable((8, 8), PSD=True, name="X")
    return cp.Problem(cp.Maximize(cp.sum(X)), [cp.trace(X) == 1, cp.multiply(E, X) == 0])


def nearest_correlation():
    r"""The nearest correlation matrix.

    Higham (2002): a matrix $C$ with errors is replaced by the nearest $X \succeq 0$ with ones on the diagonal.
    """
    rng = np.random.default_rng(0)
    C = rng.uniform(-1, 1, (8, 8))
    C = (C + C.T) / 2
    X = cp.Variable((8, 8), PSD=True, name="X")
    return cp.Problem(cp.Minimize(cp.norm(X - C, "fro")), [cp.diag(X) == 1])


def covariance_selection():
    r"""Which variables depend on each other directly.

    Banerjee, El Ghaoui and d'Aspremont (2008): the inverse covariance $S$ with the largest likelihood $\log\det S -
    \operatorname{tr}\hat\Sigma S$, less $\lambda\sum_{ij}|S_{ij}|$.
    """
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 6))
    C = X.T @ X / 20
    S = cp.Variable((6, 6), PSD=True, name="S")
    return cp.Problem(cp.Maximize(cp.log_det(S) - cp.sum(cp.multiply(C, S)) - 0.1 * cp.sum(cp.abs(S))))


def matrix_completion():
    r"""A matrix from some of its entries.

    Candès and Recht (2009): of all matrices with the known entries the one of the least nuclear norm.
    """
    rng = np.random.default_rng(0)
    M = rng.normal(size=(8, 2)) @ rng.normal(size=(2, 7))
    known = (rng.random((8, 7)) < 0.6) * 1.0
    X = cp.Variable((8, 7), name="X")
    return cp.Problem(cp.Minimize(cp.normNuc(X)), [cp.multiply(known, X) == known * M])


def robust_principal_components():
    r"""A matrix of low rank, with gross errors.

    Candès, Li, Ma and Wright (2011): $M$ is split into $L$ of low rank and a sparse rest by the least $\|L\|_* + \lambda\sum_{ij}|M_{ij}
    - L_{ij}|$.
    """
    rng = np.random.default_rng(0)
    M = np.outer(rng.normal(size=8), rng.normal(size=8)) + 5 * (rng.random((8, 8)) < 0.1)
    L = cp.Variable((8, 8), name="L")
    return cp.Problem(cp.Minimize(cp.normNuc(L) + cp.sum(cp.abs(M - L)) / np.sqrt(8)))


def positive_matrix_completion():
    r"""A positive matrix from some of its entries.

    A geometric programme: missing entries of a positive matrix are chosen with product 1 so that the Perron–Frobenius eigenvalue, its
    spectral radius, is least. Source: Agrawal, Diamond and Boyd, Disciplined Geometric Programming (2019).
    """
    known = np.array([[1.0, 0.0, 1.9], [0.0, 0.8, 0.0], [3.2, 5.9, 0.0]])
    X = cp.Variable((3, 3), pos=True, name="X")
    rows = [X[i, j] == known[i, j] for i, j in zip(*np.nonzero(known), strict=True)]
    return cp.Problem(cp.Minimize(cp.pf_eigenvalue(X)), [*rows, X[0, 1] * X[1, 0] * X[1, 2] * X[2, 2] == 1])


def sum_of_squares():
    r"""A bound of a polynomial.

    Shor (1987), Parrilo (2000): $p(t) = t^4 - t^2 - 3t + 2$ is at least $\gamma$ if $p - \gamma = z^\top Qz$ with $z = (1, t, t^2)$ and
    $Q \succeq 0$; in one variable the best $\gamma$ is the minimum.
    """
    Q, g = cp.Variable((3, 3), PSD=True, name="Q"), cp.Variable(name="g")
    rows = [Q[0, 0] == 2 - g, 2 * Q[0, 1] == -3, 2 * Q[0, 2] + Q[1, 1] == -1, Q[1, 2] == 0, Q[2, 2] == 1]
    return cp.Problem(cp.Maximize(g), rows)


def largest_eigenvalues():
    r"""A graph with small eigenvalues.

    Weights of the edges that do not change the sum; the sum of the two largest eigenvalues of the matrix is least. Source: Overton and
    Womersley (1993).
    """
    rng = np.random.default_rng(0)
    E = np.triu(rng.random((8, 8)) < 0.5, 1) * 1.0
    A = cp.Variable((8, 8), symmetric=True, name="A")
    absent = 1.0 - E - E.T - np.eye(8)
    rows = [cp.multiply(absent, A) == 0, cp.diag(A) == 0, cp.sum(A) == E.sum() * 2, A >= 0]
    return cp.Problem(cp.Minimize(cp.lambda_sum_largest(A, 2)), rows)
