"""One folder of Coq for the tests of a file."""

import pytest

from simopt.coq.kernel import Kernel


@pytest.fixture(scope="module")
def kernel(tmp_path_factory: pytest.TempPathFactory) -> Kernel:
    """Which asks coqc, where there is one."""
    return Kernel(tmp_path_factory.mktemp("coq"))
