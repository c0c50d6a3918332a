"""Quadratic programmes: both bounds from the matrices of the declaration, at the values of an accurate solve."""
