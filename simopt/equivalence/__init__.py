"""Families of learning algorithms and the maps between their parameters: found, and verified numerically."""
