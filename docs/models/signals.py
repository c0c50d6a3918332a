"""Signals and images: filters, beams, pictures from few numbers."""

import cvxpy as cp
import numpy as np


def basis_pursuit():
    r"""A sparse signal from few measurements.

    Chen, Donoho and Saunders (1998): the least $\|x\|_1$ with $Ax = b$.
    """
    rng = np.random.default_rng(0)
    A, signal = rng.normal(size=(15, 40)), np.r_[rng.normal(size=3), np.zeros(37)]
    x = cp.Variable(40, name="x")
    return cp.Problem(cp.Minimize(cp.norm1(x)), [A @ x == A @ signal])


def basis_pursuit_denoising():
    r"""A sparse signal from few noisy measurements.

    The least $\|x\|_1$ with $\|Ax - b\|_2 \le \varepsilon$.
    """
    rng = np.random.default_rng(0)
    A, signal = rng.normal(size=(20, 40)), np.r_[rng.normal(size=3), np.zeros(37)]
    b = A @ signal + 0.05 * rng.normal(size=20)
    x = cp.Variable(40, name="x")
    return cp.Problem(cp.Minimize(cp.norm1(x)), [cp.norm(A @ x - b) <= 0.3])


def total_variation_denoising():
    r"""A noisy picture.

    Rudin, Osher and Fatemi (1992): $\frac12\|U - Y\|_F^2 + \lambda\operatorname{TV}(U)$, TV the sum of the lengths of the gradients.
    """
    rng = np.random.default_rng(0)
    Y = np.outer(np.arange(8) > 3, np.arange(8) > 2) + 0.2 * rng.normal(size=(8, 8))
    U = cp.Variable((8, 8), name="U")
    return cp.Problem(cp.Minimize(cp.sum_squares(U - Y) / 2 + 0.2 * cp.tv(U)))


def total_variation():
    r"""A picture with missing pixels.

    One pixel in two is known; the others are filled in with the least total variation (Rudin, Osher and Fatemi 1992).
    """
    rng = np.random.default_rng(0)
    picture = np.outer(np.arange(6) > 2, np.arange(6) > 1) * 1.0
    known = (rng.uniform(size=(6, 6)) < 0.5) * 1.0
    U = cp.Variable((6, 6), name="U")
    return cp.Problem(cp.Minimize(cp.tv(U)), [cp.multiply(known, U) == known * picture])


def chebyshev_filter():
    r"""A low-pass filter of linear phase.

    The frequency response $H(\omega) = h_0 + 2\sum_k h_k\cos k\omega$ stays near 1 in the pass band, and is smallest in the stop band.
    Source: Wu, Boyd and Vandenberghe (1996).
    """
    omega = np.linspace(0, np.pi, 80)
    H = 2 * np.cos(np.outer(omega, np.arange(10)))
    H[:, 0] = 1
    h = cp.Variable(10, name="h")
    passed, stopped = H[omega <= 0.3 * np.pi], H[omega >= 0.5 * np.pi]
    return cp.Problem(cp.Minimize(cp.norm_inf(stopped @ h)), [passed @ h <= 1.1, passed @ h >= 0.9])


def antenna_array():
    r"""A beam to one side.

    Antennas at half a wavelength apart add $z_k e^{i\pi k\cos\theta}$. The gain at 60° is 1, and side lobes are smallest. The weights $z$
    are complex. Source: Lebret and Boyd, Antenna Array Pattern Synthesis (1997).
    """
    side = np.deg2rad(np.r_[0:46:5, 75:181:5])
    A = np.exp(1j * np.pi * np.outer(np.cos(side), np.arange(8)))
    z = cp.Variable(8, complex=True, name="z")
    target = np.exp(1j * np.pi * np.cos(np.pi / 3) * np.arange(8))
    return cp.Problem(cp.Minimize(cp.norm_inf(A @ z) + 0.01 * cp.norm(z)), [target @ z == 1])


def minimum_variance_beam():
    r"""A beam that hears no one else.

    Capon (1969): the least power $\|F z\|^2$ of what the antennas hear, at a gain of 1 to the direction $a$: $a^* z = 1$.
    """
    rng = np.random.default_rng(0)
    F = rng.normal(size=(20, 6)) + 1j * rng.normal(size=(20, 6))
    a = np.exp(1j * np.pi * np.arange(6) / 3)
    z = cp.Variable(6, complex=True, name="z")
    return cp.Problem(cp.Minimize(cp.sum_squares(F @ z) / 20), [np.conj(a) @ z == 1])


def spectral_line_fit():
    r"""Few frequencies.

    A signal as a sum of few oscillations on a grid, of complex amplitudes: $\|y - Fz\|^2/2 + \lambda\sum_k|z_k|$.
    """
    rng = np.random.default_rng(0)
    F = np.exp(2j * np.pi * np.outer(np.arange(16), np.arange(24) / 24))
    y = F[:, 5] + 0.5 * F[:, 14] + 0.1 * (rng.normal(size=16) + 1j * rng.normal(size=16))
    z = cp.Variable(24, complex=True, name="z")
    return cp.Problem(cp.Minimize(cp.sum_squares(F @ z - y) / 2 + 2 * cp.norm1(z)))


def emission_tomography():
    r"""Tomography by counts.

    Detector $k$ counts $n_k$ particles, Poisson with mean $(Ax)_k$; the likelihood of the densities $x \ge 0$ is largest. Source: Vardi,
    Shepp and Kaufman (1985).
    """
    rng = np.random.default_rng(0)
    A = rng.uniform(size=(40, 12))
    counts = rng.poisson(A @ rng.uniform(1, 5, 12))
    x = cp.Variable(12, name="x")
    return cp.Problem(cp.Minimize(cp.sum(A @ x) - counts @ cp.log(A @ x)), [x >= 0])


def image_tomography():
    r"""A picture from its projections.

    Sums of rows, columns and diagonals of a picture are measured with noise; the picture is smooth and not negative.
    """
    rng = np.random.default_rng(0)
    picture = np.outer(np.arange(6) > 2, np.arange(6) > 1) * 1.0
    masks = [np.eye(6)[i][:, None] * np.ones(6) for i in range(6)]
    masks += [mask.T for mask in masks] + [np.eye(6, k=k) for k in range(-5, 6)]
    A = np.array([mask.ravel() for mask in masks])
    U = cp.Variable((6, 6), name="U")
    misfit = cp.sum_squares(A @ cp.vec(U, order="C") - A @ picture.ravel() - 0.1 * rng.normal(size=len(A)))
    return cp.Problem(cp.Minimize(misfit + 0.05 * cp.sum_squares(cp.diff(U)) + 0.05 * cp.sum_squares(cp.diff(U, axis=1))), [U >= 0])


def deconvolution():
    r"""A blurred signal.

    What is seen is the signal convolved with a kernel, with noise; the signal is not negative, and the least $\|h * x - y\|^2 +
    \lambda\|x\|_1$.
    """
    rng = np.random.default_rng(0)
    h = np.exp(-(np.linspace(-2, 2, 9) ** 2))
    signal = np.zeros(30)
    signal[[5, 12, 14]] = 1.0, 0.5, 0.8
    y = np.convolve(h, signal) + 0.02 * rng.normal(size=38)
    x = cp.Variable(30, name="x")
    return cp.Problem(cp.Minimize(cp.sum_squares(cp.convolve(h, x) - y) + 0.1 * cp.norm1(x)), [x >= 0])


def phase_retrieval():
    r"""A signal from the sizes of its measurements.

    Candès, Strohmer and Voroninski (2013): $|a_k^* x|^2$ is linear in $X = xx^*$; rank 1 becomes a small trace of $X \succeq 0$,
    Hermitian.
    """
    rng = np.random.default_rng(0)
    A = rng.normal(size=(20, 4)) + 1j * rng.normal(size=(20, 4))
    x = rng.normal(size=4) + 1j * rng.normal(size=4)
    seen = np.abs(A.conj() @ x) ** 2 + 0.1 * rng.normal(size=20)
    X = cp.Variable((4, 4), hermitian=True, name="X")
    sizes = np.array([np.outer(a.conj(), a).ravel() for a in A]) @ cp.vec(X, order="C")
    return cp.Problem(cp.Minimize(cp.sum_squares(cp.real(sizes) - seen) + 0.5 * cp.real(cp.trace(X))), [X >> 0])


def exact_phase_retrieval():
    r"""The same without noise.

    With enough exact measurements $xx^*$ is the only feasible point: no point lies inside, and the face on which it lies is irrational.
    """
    rng = np.random.default_rng(0)
    A = rng.normal(size=(20, 4)) + 1j * rng.normal(size=(20, 4))
    x = rng.normal(size=4) + 1j * rng.normal(size=4)
    seen = np.abs(A.conj() @ x) ** 2
    X = cp.Variable((4, 4), hermitian=True, name="X")
    sizes = np.array([np.outer(a.conj(), a).ravel() for a in A]) @ cp.vec(X, order="C")
    return cp.Problem(cp.Minimize(cp.real(cp.trace(X))), [X >> 0, cp.real(sizes) == seen])
