"""From a `cvxpy.Problem` to terms: what of CVXPY is known, and what is refused by name."""

from simopt.duality.reading.version import known_version

known_version()  # before anything of CVXPY is imported that another version may lack
