"""Reading a `cvxpy.Problem`: which of CVXPY's types are which terms and rows."""

from simopt.duality.reading.version import known_version

known_version()  # before anything of CVXPY is imported that another version may lack
