"""Norms, what they bound, and the units that they are measured in."""
