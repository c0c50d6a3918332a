"""CVXPY's solvers behind one adapter: one table of options, cones and native status codes."""
