"""Audiffren and Kadri, Equivalence of Learning Algorithms."""
