"""Problems in files: MPS, QPS, LP and CBF are read as `cvxpy.Problem`, and MPS, QPS and CBF are written of one.

    >>> import tempfile, pathlib
    >>> import cvxpy as cp
    >>> import simopt
    >>> x = cp.Variable(2, name="x")
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "small.mps"
    >>> simopt.write(cp.Problem(cp.Minimize(x[0] + 2 * x[1]), [x[0] + x[1] >= 1, x >= 0]), path)
    >>> simopt.certify(simopt.read(path)).lower
    1.0

Files are data: nothing in them is executed, no file that they name is opened, and what is larger than `simopt.files.content` allows is
refused before it is read.
"""
