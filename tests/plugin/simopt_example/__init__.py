"""Quantile regression for simopt, found by entry points."""
