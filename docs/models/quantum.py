"""Quantum states: density matrices $X \\succeq 0$, $\\operatorname{tr}X = 1$."""

import cvxpy as cp
import numpy as np


def maximal_entropy_state():
    r"""The state of the largest entropy.

    Von Neumann's entropy $-\operatorname{tr}X\log X$ of a density matrix whose energy $\operatorname{tr}HX$ is bounded.
    """
    rng = np.random.default_rng(0)
    H = rng.normal(size=(4, 4))
    H = (H + H.T) / 2
    X = cp.Variable((4, 4), PSD=True, name="X")
    return cp.Problem(cp.Maximize(cp.von_neumann_entr(X)), [cp.trace(X) == 1, cp.trace(H @ X) <= -0.5])


def least_energy():
    r"""The least energy.

    The least $\operatorname{tr}HX$ of density matrices is the least eigenvalue of the Hermitian $H$.
    """
    rng = np.random.default_rng(0)
    H = rng.normal(size=(4, 4)) + 1j * rng.normal(size=(4, 4))
    H = (H + H.conj().T) / 2
    X = cp.Variable((4, 4), hermitian=True, name="X")
    return cp.Problem(cp.Minimize(cp.real(cp.trace(H @ X))), [X >> 0, cp.real(cp.trace(X)) == 1])


def state_tomography():
    r"""A state from measurements.

    Hradil (1997): observables were measured with noise, $y_k \approx \operatorname{tr}A_kX$; least squares over density matrices.
    """
    rng = np.random.default_rng(0)
    A = rng.normal(size=(12, 3, 3)) + 1j * rng.normal(size=(12, 3, 3))
    A = (A + A.conj().transpose(0, 2, 1)) / 2
    v = rng.normal(size=3) + 1j * rng.normal(size=3)
    seen = np.real(np.einsum("kij,ji->k", A, np.outer(v, v.conj()) / (v.conj() @ v))) + 0.1 * rng.normal(size=12)
    X = cp.Variable((3, 3), hermitian=True, name="X")
    values = cp.real(A.transpose(0, 2, 1).reshape(12, 9) @ cp.vec(X, order="C"))
    return cp.Problem(cp.Minimize(cp.sum_squares(values - seen)), [X >> 0, cp.real(cp.trace(X)) == 1])


def state_discrimination():
    r"""Telling states apart.

    Eldar, Megretski and Verghese (2003): one of three states is prepared; measurements $M_k \succeq 0$ with $\sum_kM_k = I$ name it with
    the largest probability $\frac13\sum_k\operatorname{tr}\rho_kM_k$.
    """
    rng = np.random.default_rng(0)
    V = rng.normal(size=(3, 3, 2)) + 1j * rng.normal(size=(3, 3, 2))
    states = [v @ v.conj().T / np.sum(np.abs(v) ** 2) for v in V]
    M = [cp.Variable((3, 3), hermitian=True, name=f"M{k}") for k in range(2)]
    M.append(np.eye(3) - M[0] - M[1])
    right = sum(cp.real(cp.trace(state @ each)) for state, each in zip(states, M, strict=True)) / 3
    return cp.Problem(cp.Maximize(right), [each >> 0 for each in M])


def entanglement_test():
    r"""How entangled two bits are.

    Peres (1996): of a state that is not entangled the partial transpose is $\succeq 0$. How much noise makes the transpose of a Bell
    state so?
    """
    bell = np.zeros((4, 4))
    bell[np.ix_([0, 3], [0, 3])] = 0.5
    transposed = bell.reshape(2, 2, 2, 2).transpose(0, 3, 2, 1).reshape(4, 4)
    N, t = cp.Variable((4, 4), PSD=True, name="N"), cp.Variable(name="t")
    flipped = cp.bmat([[N[:2, :2].T, N[:2, 2:].T], [N[2:, :2].T, N[2:, 2:].T]])
    return cp.Problem(cp.Minimize(t), [cp.trace(N) == t, transposed + flipped >> 0, flipped >> 0])


def relative_entropy_of_states():
    r"""The nearest state of small energy.

    Umegaki (1962): the least quantum relative entropy $\operatorname{tr}X(\log X - \log C)$ to a state $C$, of all states $X$ whose
    energy is bounded.
    """
    C, H = np.array([[0.6, 0.2], [0.2, 0.4]]), np.array([[1.0, 0.5], [0.5, -1.0]])
    X = cp.Variable((2, 2), symmetric=True, name="X")
    return cp.Problem(cp.Minimize(cp.quantum_rel_entr(X, C)), [cp.trace(X) == 1, cp.trace(H @ X) <= 0.0])
