"""One shared suite for every (problem, solver) pair."""

executed: dict[str, int] = {}
"""Solver name -> number of solves that really ran in this process; the suite counts here, the test report prints it."""
