"""Certificates as files: the conic form of a problem, exact proofs of bounds on its optimum, and how they are written."""
