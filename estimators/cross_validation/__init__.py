"""Choosing parameters by cross-validation, the whole grid of a fold at once."""
