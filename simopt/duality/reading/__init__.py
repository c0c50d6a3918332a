"""From a `cvxpy.Problem` to terms: what of CVXPY is known, and what is refused by name."""
