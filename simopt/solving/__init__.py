"""Solvers and the driver that runs one on a problem, the solutions, and the solving chain."""
