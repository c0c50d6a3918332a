"""Kernels compile at the first call and keep the meaning, name and docstring of the Python function."""

import numpy as np

from simopt.core.compiled import kernel


@kernel
def running_product(x: np.ndarray) -> float:
    """Π x_i."""
    out = 1.0
    for i in range(len(x)):
        out *= x[i]
    return out


def test_a_kernel_compiles_when_it_is_called() -> None:
    x = np.array([1.5, 2.0, -3.0])
    fresh = kernel(running_product.python)
    assert fresh._compiled is None
    assert fresh(x) == running_product.python(x) == -9.0
    assert fresh._compiled is not None and fresh.compiled is fresh._compiled
    assert running_product.__name__ == "running_product" and running_product.__doc__ == "Π x_i."
