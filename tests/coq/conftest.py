"""One folder of Coq for the tests of a file."""

import pytest

from simopt.coq.kernel import CoqKernel


@pytest.fixture(scope="module")
def kernel(tmp_path_factory: pytest.TempPathFactory) -> CoqKernel:
    """Which asks coqc, where there is one."""
    return CoqKernel(tmp_path_factory.mktemp("coq"))
