"""CVXPY's solvers behind one adapter: one table of options, cones and native status codes."""

from simopt.backends.table import BackEnd, add_back_end

__all__ = ["BackEnd", "add_back_end"]
