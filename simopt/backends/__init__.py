"""CVXPY solvers behind one adapter and one table of options and statuses."""
