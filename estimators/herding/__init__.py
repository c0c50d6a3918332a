"""Herds: few weighted points for the mean of many."""
