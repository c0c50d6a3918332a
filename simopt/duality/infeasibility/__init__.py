"""Proofs that no point is feasible, or that the objective falls without end."""
