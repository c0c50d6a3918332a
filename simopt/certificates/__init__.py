"""Bounds on the optimum from a point and multipliers, and what decides whether they close."""
