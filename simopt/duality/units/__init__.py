"""Natural units of the variables and rows of a declaration."""
