"""One shared suite for every (problem, solver) pair."""
