"""Linear programmes: the basis of a simplex method proves both bounds, in fractions."""
