"""Multipliers made dual feasible: pivots, repair, implied bounds."""
